"""A statement.md as what the student reads at once and the hints that are given one at a time.

# Layer normalization          the statement: everything up to the hints
...
## Hints                       the last section
### Symptom                    what one sees when it goes wrong
### Area                       where to look
### Idea                       what to think of; no code
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from judge.errors import ProblemError

STAGES = ("Symptom", "Area", "Idea")


def split_statement(text: str, where: str) -> tuple[str, tuple[str, str, str]]:
    """Split a statement into its text and its three hints; ``where`` is the file's name for messages."""
    lines = text.splitlines()
    headings = list(_headings(lines))
    starts = [number for number, level, title in headings if (level, title) == (2, "Hints")]
    if len(starts) != 1:
        raise ProblemError(f"{where}: has {len(starts)} sections '## Hints'; write one, as the last section")
    start = starts[0]
    later = [(number, level, title) for number, level, title in headings if number > start]
    for number, level, title in later:
        if level < 3:
            raise ProblemError(f"{where}: line {number + 1}: {title!r} follows the hints; move '## Hints' to the end")
    titles = tuple(title for _, level, title in later if level == 3)
    if titles != STAGES:
        raise ProblemError(
            f"{where}: the hints have the stages {', '.join(titles) or 'none'}; "
            f"write '### Symptom', '### Area' and '### Idea', in this order"
        )
    ends = [number for number, level, _ in later if level == 3] + [len(lines)]
    hints = ["\n".join(lines[ends[i] + 1 : ends[i + 1]]).strip() for i in range(3)]
    for stage, hint in zip(STAGES, hints, strict=True):
        if not hint:
            raise ProblemError(f"{where}: the hint '### {stage}' is empty; write two or three sentences")
    statement = "\n".join(lines[:start]).strip()
    if not statement:
        raise ProblemError(f"{where}: nothing stands before the hints; write the contract there")
    return statement + "\n", (hints[0], hints[1], hints[2])


def _headings(lines: list[str]) -> Iterator[tuple[int, int, str]]:
    """Give (line number from 0, level, title) of each heading outside fenced code."""
    fence = ""
    for number, line in enumerate(lines):
        mark = re.match(r" {0,3}(```+|~~~+)", line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
            fence = ""
        heading = re.match(r"(#{1,6})\s+(.*?)\s*#*$", line)
        if heading and not fence:
            yield number, len(heading[1]), heading[2]
