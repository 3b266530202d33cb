"""How every message to an author, a student or a caller has to read."""

import re


def assert_reads_well(message: str) -> None:
    """One sentence, without a capital at its beginning or a full stop at its end, and nobody else's jargon."""
    assert message == message.strip()
    assert "\n" not in message
    assert not message.endswith((".", ",", ":", ";"))
    said = re.sub(r"^\S+/\S+: |^\S+\.(py|md|toml): ", "", message)  # the file that it is about
    assert not said[:1].isupper() or said[:2].isupper()
    assert not re.search(r"[.!?] [A-Z]", said)
    for foreign in ("pydantic", "validation error", "Traceback", "<unknown>", "Input should", "NoneType", "ast."):
        assert foreign not in message
