"""The trusted child: draws inputs, runs the reference, compares, diagnoses. Only here are hidden files opened.

    in   {"type": "problem", "root", "folder", "scratch", "id", "seed", "signatures", "only", "depth"}
    out  {"type": "plan", "cases", "streams", "constants", "order"}
         {"type": "pool"}, body   {"type": "call", "call": 3}, body ...
    in   {"type": "begin"}   {"type": "observation", "call": 3}, body ...   {"type": "end", "diagnose", "keep"}
    out  {"type": "unreadable", "call": 3, "message"}   {"type": "result", "cases", "diagnosis", "streams", "worst"}
    in   {"type": "mutants", "mutants", "seconds", "at_once", "keep"}   {"type": "equal pairs", "seconds"}
         {"type": "kinds"}   {"type": "oracle", "module"}   {"type": "script", "case", "seed"}
         {"type": "traced", "case"}   {"type": "parts", "call": 3}, body
    out  the same types with "name" and "fared", a frame for each mutant, "pairs", "kinds", "worst" and "complaints",
         "text", "call" and a body, "said"

A mistake of the problem's author ends it with {"type": "failed", "message"}.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

from judge.processes import frames, scratch
from judge.processes.pipes import reader, send


def main(commands: int, results: int) -> None:
    """Serve one problem until the commands end."""

    read = reader(commands)
    setup, _ = frames.read(read)
    _reach(setup["root"])
    scratch.use(setup["scratch"])
    from judge.drawn import DrawnProblem
    from judge.errors import ProblemError
    from judge.oracle import Oracle

    try:
        problem = DrawnProblem(
            Path(setup["folder"]), setup["id"], setup["seed"], setup["signatures"], setup["only"], setup["depth"]
        )
        send(results, _plan(problem))
        send(results, {"type": "pool"}, _pool(problem))
        for call in problem.calls:
            send(results, {"type": "call", "call": call.number}, call.data)
        problem.run_reference()
        oracle = Oracle(problem)
        while True:
            header, body = frames.read(read)
            for answer in oracle.answers(header, body):
                send(results, answer, answer.pop("body", b""))
    except ProblemError as exc:
        send(results, {"type": "failed", "message": str(exc)})


def _reach(root: str) -> None:
    """Let this process, and no other, import the judge's other modules and the oracles."""
    sys.path.insert(0, root)
    for name in ("judge", "judge.processes"):
        sys.modules[name].__path__ = [str(Path(root, *name.split(".")))]


def _plan(problem: Any) -> dict[str, Any]:
    order = [call.number for call in problem.calls]
    random.SystemRandom().shuffle(order)
    return {
        "type": "plan",
        "order": order,
        "streams": [call.number for call in problem.streams.values()],
        "constants": {
            call.number: {step.observe: step.name for step in call.program.steps if step.kind == "constant"}
            for call in problem.calls
        },
        "cases": [
            {
                "name": case.name,
                "entry": case.calls[0].program.entry,
                "sentence": case.sentence,
                "calls": [call.number for call in case.calls],
                "relation": case.check is not None,
                "after": list(case.after),
                "raises": case.raises,
                "inputs": "; ".join(call.description for call in case.calls),
            }
            for case in problem.cases
        ],
    }


def _pool(problem: Any) -> bytes:
    from judge.processes import wire

    return wire.encode_result(problem.pool)
