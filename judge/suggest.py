"""What was probably meant by a name that doesn't exist."""

from __future__ import annotations

from collections.abc import Iterable


def closest(text: str, names: Iterable[str]) -> str | None:
    """Find the name that is spelled most like ``text``, if one is at all."""
    from difflib import get_close_matches  # only a mistake pays for it

    close = get_close_matches(text, list(names), n=1)
    return close[0] if close else None


def did_you_mean(text: str, names: Iterable[str]) -> str:
    """Give "; did you mean layer-norm?" as the end of a message, or nothing."""
    close = closest(text, names)
    return f"; did you mean {close}?" if close else ""
