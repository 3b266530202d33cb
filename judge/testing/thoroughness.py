"""What the runs on mutants say: which test is the first to fail on each, and what no test notices."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from judge.models import Bug, Thoroughness
from judge.mutants import BEHAVIOURS
from judge.testing.implementations import Implementation
from judge.testing.said import Run

# What to vary to see each behaviour: the axis, not the test.
_ADVICE = {
    "values": "compare all numbers, of several draws, with what you compute yourself or know by hand",
    "masks": "give masks of every rank and shape that the contract allows, also where sizes are equal by chance, and "
    "look at what hidden entries change",
    "fully masked rows and their gradients": "hide everything from some queries, and look at values and at gradients",
    "scale": "vary the width, and give every scale that the contract names, the odd ones too",
    "stability": "go to the largest and smallest numbers that the contract promises to bear",
    "shapes": "vary every size by itself, down to 1, all distinct and all equal, the number of leading axes, and the "
    "memory layout of each argument, with several leading axes too",
    "dtype": "ask in each dtype that the contract names what dtype comes back, and whether it is right",
    "inputs unchanged": "keep copies of all arguments, dicts too, and compare them afterwards",
    "eps": "make the variance as small as eps, and give another eps than the default",
    "gamma and beta": "let gains and biases differ from each other and from 1 and 0, in each norm by itself",
    "depth": "vary the number of blocks, from none to several, and compare with blocks that are called in a row",
    "errors": "ask for everything that has to be refused, and look at what is raised",
}


def measure(
    names: Sequence[str], counted: Collection[int], correct: int, runs: Sequence[tuple[Implementation, Run | None]]
) -> Thoroughness:
    """The kill matrix; ``counted`` are the numbers of the tests that are valid, ``names`` those of all."""
    bugs = tuple(_bug(implementation, run, names, counted) for implementation, run in runs)
    open_ones = [bug.behaviour for bug in bugs if bug.caught_by is None]
    first = next((behaviour for behaviour in BEHAVIOURS if behaviour in open_ones), None)
    return Thoroughness(
        tests=tuple(names[number] for number in sorted(counted)),
        bugs=tuple(sorted(bugs, key=lambda bug: BEHAVIOURS.index(bug.behaviour))),
        correct=correct,
        advice=None if first is None else f"{first}: {_ADVICE[first]}",
    )


def _bug(implementation: Implementation, run: Run | None, names: Sequence[str], counted: Collection[int]) -> Bug:
    mutant = implementation.mutant
    assert mutant is not None
    if run is None:
        return Bug(behaviour=mutant.behaviour, remark="not reached")
    failed = [number for number, outcome in sorted(run.outcomes.items()) if outcome.kind == "failed"]
    catching = next((number for number in failed if number in counted), None)
    if catching is not None:
        named = {"mutant": mutant.name, "what": mutant.what, "idea": mutant.idea}
        return Bug(behaviour=mutant.behaviour, caught_by=names[catching], **named)
    if run.lost is not None:
        return Bug(behaviour=mutant.behaviour, remark=f"no test failed: {run.lost.message}")
    return Bug(behaviour=mutant.behaviour, remark="only a test that is not valid failed" if failed else None)
