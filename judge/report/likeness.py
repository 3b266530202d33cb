"""The diagnosis in words: how strongly, and what the bug does."""

from __future__ import annotations

from collections.abc import Iterator

from judge.models import Diagnosis

_MOST = 3
_STRENGTHS = {
    "exactly": "your code behaves exactly like one that",
    "failing": "where it fails, your code behaves exactly like one that",
    "closest": "of the known bugs, yours is closest to code that",
    "same cases": "your code fails the same cases as one that",
}


def sentences(diagnosis: Diagnosis) -> Iterator[tuple[str, str, str]]:
    """Each claim in three pieces: what leads to it, what the bug does, what remains to be said."""
    named = diagnosis.mutants[:_MOST]
    parts = [mutant for mutant in named if mutant.part]
    if parts:
        yield from ((f"your {mutant.part} behaves exactly like one that", mutant.what, "") for mutant in parts)
        return
    between = " and that also " if diagnosis.together else " or one that "
    what = between.join(mutant.what for mutant in named)
    rest = f"(it explains {diagnosis.share:.0%} of the failing cases)" if diagnosis.share is not None else ""
    yield _STRENGTHS[diagnosis.strength], what, rest
