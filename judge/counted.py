"""Numbers with their nouns: 1 case, 2 cases."""

from __future__ import annotations


def counted(number: int, one: str, several: str = "") -> str:
    """Give "1 case" or "1,200 cases"; ``several`` where the plural takes more than an s."""
    return f"{number:,} {one if number == 1 else several or f'{one}s'}"
