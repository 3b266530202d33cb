"""Runs a call against a namespace and observes it. The same code serves the submission, the reference and mutants.

A call runs twice, each time on freshly decoded inputs: (1) without requires_grad: values, and the inputs afterwards;
(2) with it: the gradients of every floating input and parameter, the same values, and those of the first run untouched.
Where the call asks for it ("apart"), the gradients follow where only every second input needs one. Where it asks for it
("again"), other inputs of the same shapes follow, and then (3) the first again, under no_grad; then these inputs edited
in place, and, of a module, two calls more under no_grad. What it gave is one dict, the observation:

    values       what the named steps gave, each encoded when it was made
    error        or the exception, as a dict
    gradients    {"x": tensor or None, "norm1.weight": ...}      detached     results that are cut off from the graph
    scales       of the reference's gradients only: what each is measured against at least
    repeat       the third run's values where they differ        tracked      the second's
    overwritten  names of first results that changed later
    stale        names of results that ignore that their inputs were changed in place since an earlier call
    apart        names of gradients that are missing, or others, where every second input needs none
    untouched    in a low dtype, what has no gradient; and infinite, what has one that is not finite
    changed      [[input, "values"], ...]                        settings     names of changed settings
    generator    whether a step used the random generator        device       see device.py
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from judge.processes import hygiene, wire
from judge.processes.gradients import along_a_stream, depending, gradients, reach
from judge.processes.run import BareRun, KeptRun, Namespace, Run, attempt
from judge.processes.trace import trace
from judge.program import Program

Extras = Mapping[str, Callable[[Program, Namespace], Any]]
_ALTERED = 0.5  # what other inputs of the same shapes are scaled by


def observe(
    namespace: Namespace,
    call: bytes,
    pool: torch.Tensor,
    extras: Extras,
) -> dict[str, Any]:
    """Everything that is observed of one call; ``pool`` holds the cotangents' entries, (n,) float64."""
    decode = wire.decoder(call)
    program = decode()
    if "trace" in program.extras:
        return trace(program, namespace)
    if "stream" in program.extras:
        return along_a_stream(Run(program, namespace, with_gradients=not program.light), pool)
    first = Run(program, namespace, with_gradients=_only_tracked(program))
    failure = attempt(first.execute)
    observation: dict[str, Any] = {
        "error": failure,
        "values": first.snapshots,
        "changed": first.changed,
        "settings": first.settings,
        "generator": first.generator,
    }
    if failure:
        return observation
    if program.light:
        observation["detached"] = _detached(first)
        observation |= reach(first, pool)
        observation["overwritten"] = sorted(_overwritten(first)) if len(first.values) > 1 else []
        for name in extras.keys() & program.extras:
            observation[name] = extras[name](decode(), namespace)
        return observation
    second = Run(decode(), namespace, with_gradients=True)
    observation |= gradients(second, pool)
    if not observation["gradient_error"]:
        observation["tracked"] = _differing(second, first)
        known, leaves = observation["gradients"], len(second.leaves)
        if "apart" in program.extras and len(known) > 1:
            observation["apart"] = depending(
                lambda needing: Run(decode(), namespace, with_gradients=True, needing=needing), known, leaves, pool
            )
    overwritten = _overwritten(first)
    if "again" in program.extras:
        further = _again(decode, namespace, first)
        overwritten |= further.pop("overwritten")
        observation |= further
    observation["settings"] = first.settings
    observation["overwritten"] = sorted(overwritten)
    for name in extras.keys() & program.extras:
        observation[name] = extras[name](decode(), namespace)
    return observation


def results(namespace: Namespace, call: bytes, pool: torch.Tensor) -> dict[str, Any]:
    """What trusted code gives in one run: values, or an error, and gradients with their natural sizes."""
    program = wire.decode_call(call)
    if "stream" in program.extras:
        return along_a_stream(Run(program, namespace, with_gradients=not program.light), pool)
    if program.light:
        first = KeptRun(program, namespace, with_gradients=_only_tracked(program))
        failure = attempt(first.execute)
        found = {} if failure else reach(first, pool, trusted=True)
        return {"error": failure, "values": first.snapshots, "detached": _detached(first), **found}
    run = KeptRun(program, namespace, with_gradients=True)
    observation = gradients(run, pool, trusted=True)
    return observation | {"error": observation["gradient_error"], "values": run.snapshots}


def _only_tracked(program: Program) -> bool:
    """Whether a light call's one run is on inputs that require grad: of low dtypes no gradients are measured."""
    return program.light and program.dtype != "float64" and not program.random


def _detached(run: Run) -> list[str]:
    return [name for name, tensor in run.floating_results() if run.with_gradients and not tensor.requires_grad]


def glance(namespace: Namespace, decode: Callable[[], Program]) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """What trusted code gives in one run that nothing is observed of but its error, or its values."""
    run = BareRun(decode(), namespace)
    failure = attempt(run.execute)
    plain = {
        name: value.detach() if type(value) is torch.Tensor else wire.decode_result(wire.encode_result(value))
        for name, value in run.values.items()
    }
    return failure, plain


def _again(decode: Callable[[], Program], namespace: Namespace, first: Run) -> dict[str, Any]:
    """The further runs: other inputs of the same shapes, the first ones again, and these edited in place."""
    altered = BareRun(decode(), namespace, scale=_ALTERED)
    attempt(altered.execute)
    overwritten = _overwritten(first)  # before the third run writes the same values again
    program = decode()
    third = Run(program, namespace)
    with torch.no_grad():  # as in evaluation; what differs there is no repetition
        failure = attempt(third.execute)
    if failure and "grad" in failure["message"]:  # code that differentiates by itself needs its gradients
        program = decode()
        third = Run(program, namespace)
        failure = attempt(third.execute)
    if failure:
        return {"repeat_error": failure, "overwritten": overwritten}
    first.changed += [change for change in third.changed if change not in first.changed]
    first.settings = sorted({*first.settings, *third.settings})
    repeat = _differing(third, first)
    overwritten |= _overwritten(first)
    edited = BareRun(program, namespace, scale=_ALTERED)
    attempt(edited.execute)
    encore = _encore(decode(), namespace)
    stale = sorted({*_unlike(altered, edited), *encore["stale"]})
    return {"repeat": repeat, "overwritten": overwritten | encore["overwritten"], "stale": stale}


def _encore(program: Program, namespace: Namespace) -> dict[str, set[str]]:
    """What further calls of the same module, without gradients, say about its memory: see ``Run.encore``."""
    found: dict[str, set[str]] = {"overwritten": set(), "stale": set()}
    if not any(step.kind in ("apply", "method") for step in program.steps):
        return found  # a function's memory is seen in the runs before
    run = Run(program, namespace)
    with torch.no_grad():
        if attempt(run.execute):
            return found
        further = run.encore(_ALTERED)
        found["overwritten"] = _overwritten(run)
        if further and not found["overwritten"]:
            last, edited = further
            results = [run.results[last]]
            if not attempt(lambda: results.append(edited())) and not _close(*results):
                found["stale"].add(program.steps[last].observe or "the result")
    return found


def _unlike(one: Run, other: Run) -> list[str]:
    """The results that differ, though the inputs have the same values: they depend on what was there before."""
    names = one.values.keys() & other.values.keys()
    return sorted(name for name in names if not _close(one.values[name], other.values[name]))


def _close(one: Any, other: Any) -> bool:
    pairs = zip(hygiene.input_tensors(one), hygiene.input_tensors(other), strict=False)
    alike = (wire.is_plain(a) and wire.is_plain(b) and a.shape == b.shape for (_, a), (_, b) in pairs)
    if not all(alike):
        return True  # of another form, which is another complaint
    pairs = zip(hygiene.input_tensors(one), hygiene.input_tensors(other), strict=False)
    return all(torch.allclose(a.double(), b.double(), rtol=1e-5, equal_nan=True) for (_, a), (_, b) in pairs)


def _differing(later: Run, first: Run) -> dict[str, bytes]:
    return {name: data for name, data in later.snapshots.items() if data != first.snapshots.get(name)}


def _overwritten(run: Run) -> set[str]:
    return {name for name, data in run.snapshots.items() if wire.encode_result(run.values[name]) != data}
