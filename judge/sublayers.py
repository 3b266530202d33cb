"""The first part of a module that differs, from what the parts of the submission and of the reference get and give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch

from judge.compare import TOLERANCE, relative_error
from judge.drawn import DrawnCall, DrawnProblem
from judge.observation import Observation, from_parts
from judge.processes import wire
from judge.processes.trace import GETS, trace
from judge.program import Program


def traced(calls: Sequence[DrawnCall]) -> tuple[DrawnCall, bytes] | None:
    """The first of these calls that applies a module, as bytes that ask for its trace; None if there is none."""
    call = next((call for call in calls if _watchable(call.program)), None)
    return None if call is None else (call, wire.encode_call(replace(call.program, extras=("trace",))))


def first_difference(problem: DrawnProblem, call: DrawnCall, observed: Observation) -> str | None:
    """Say which part is the first to get or to give something else than in the reference; None if nobody can tell."""
    expected = from_parts(trace(wire.decode_call(call.data), problem.reference)).values
    right: list[str] = []  # parts that gave what they should, the last one last
    taken: set[str] = set()
    for key, wanted in expected.items():
        what, _, part = key.partition(" ")
        alike = _alike(observed.values.get(key), wanted)
        if alike is None:
            continue
        if not alike:
            return _complaint(what, part, right, got_it=part in taken)
        if what == GETS:
            taken.add(part)
        else:
            right.append(part)
    if not right or [step.kind for step in call.program.steps].count("apply") > 1:  # only first calls were noted
        return None
    return f"every part gives what it should, {right[-1]} last: what is done with it differs"


def _complaint(what: str, part: str, right: list[str], *, got_it: bool) -> str | None:
    if what == GETS:
        if not right:
            return f"{part}, the first part, already gets something else than it should"
        return f"{right[-1]} still gives what it should, then {part} gets something else: what is between them differs"
    return f"{part} gets what it should and gives something else, as the first part that does" if got_it else None


def _alike(observed: object, wanted: list[torch.Tensor]) -> bool | None:
    """Whether the tensors are equal; None where they have another form, which a right submission may choose."""
    if not isinstance(observed, list) or not wanted or len(observed) != len(wanted):
        return None
    pairs = list(zip(observed, wanted, strict=True))
    if not all(isinstance(a, torch.Tensor) and a.shape == b.shape and a.is_floating_point() for a, b in pairs):
        return None
    return all(relative_error(a, b) <= TOLERANCE for a, b in pairs if b.is_floating_point())


def _watchable(program: Program) -> bool:
    kinds = [step.kind for step in program.steps]
    return "construct" in kinds and "apply" in kinds and not (program.random or program.raises)
