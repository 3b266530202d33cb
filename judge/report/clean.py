"""Text from a submission made harmless for a terminal: no escape codes, no control characters, nothing invisible."""

from __future__ import annotations

import re
import unicodedata

_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # control sequences: colours, cursor movements
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f]).*?(?:\x07|\x1b\\|\x9c|$)"  # strings up to their end: titles, links
    r"|\x9b[0-?]*[ -/]*[@-~]"  # control sequences in their one-character form
    r"|\x1b[ -/]*[0-~]?",  # every other escape
    re.DOTALL,
)
_INVISIBLE = {"Cc", "Cf", "Cs", "Zl", "Zp"}  # Cf also turns the direction of what follows


def line(text: str) -> str:
    """Clean one line; indentation stays, and what a progress bar has overwritten goes."""
    overwritten, _, last = _ESCAPES.sub("", text).rstrip("\r\n").rpartition("\r")
    shown = (last or overwritten).expandtabs(4).replace("\n", " ")
    return "".join(character for character in shown if unicodedata.category(character) not in _INVISIBLE)


def lines(texts: tuple[str, ...]) -> list[str]:
    """Clean lines, each of which may hold several."""
    return [line(part) for text in texts for part in re.split(r"\r?\n", text)]
