"""Frames of a worker, mangled, through everything that reads them: a clean rejection or a verdict, never another error.

    python benchmarks/mangled_frames.py [COUNT] [SEED]

A frame is mangled as bytes, as the JSON trees in it, or as the Python value that it stands for, and goes the way of a
real answer: read from a pipe, decoded, checked as an observation, compared with the reference's, turned into findings.
"""

from __future__ import annotations

import io
import json
import random
import struct
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import torch  # noqa: E402

from judge.catalog import load_problem  # noqa: E402
from judge.drawn import DrawnProblem  # noqa: E402
from judge.models import Finding  # noqa: E402
from judge.observation import from_worker  # noqa: E402
from judge.oracle import _as_json  # noqa: E402
from judge.processes import frames, runner, wire  # noqa: E402

STRANGE: list[Any] = [
    None, True, -1, 0, 1, 1 << 31, 1 << 63, -(1 << 64), 0.5, float("nan"), "", "float64", "output", "\0\ud800", [], {},
    [0], [-1, 5], [[0]], {"t": ["float64", [0], 0]}, {"t": ["int8", [1 << 40, 0], 0]}, {"b": 4}, {"l": []}, {"i": "-9"},
    {"f": "inf"}, {"c": "bfloat16"}, {"o": "x" * 100}, {"r": [0, []]}, {"s": [{"i": "1"}]}, {"d": [[{"u": []}, None]]},
]  # fmt: skip
VALUES: list[Any] = [
    None, 5, -0.0, "text", b"bytes", [], (), {}, {1, 2}, torch.zeros(0), torch.tensor(float("nan")), torch.zeros(3, 5),
    torch.full((3, 5), float("inf"), dtype=torch.float64), torch.ones(3, 5, dtype=torch.complex128), 10**300, object(),
    torch.full((3, 5), 1e308, dtype=torch.float64), torch.arange(15).reshape(3, 5), torch.zeros((1,) * 12),
    torch.ones(5, 3).bool(),
]  # fmt: skip
Mangled = tuple[int, bytes]


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(1 << 32)
    torch.set_num_threads(1)
    started = time.monotonic()
    outcomes, faults = run(count, seed)
    print(f"{count} frames at seed {seed} in {time.monotonic() - started:.0f} s")
    for outcome, number in outcomes.most_common():
        print(f"  {number:8} {outcome}")
    for fault in faults[:20]:
        print(f"FAULT {fault}")
    return 1 if faults else 0


def run(count: int, seed: int) -> tuple[Counter[str], list[str]]:
    """Mangle so many frames; gives how they fared, and the errors that are no rejections."""
    draw = random.Random(seed)
    problem = _problem(seed)
    valid = list(_valid_frames(problem))
    outcomes: Counter[str] = Counter()
    faults: list[str] = []
    for number in range(count):
        call, frame = _mangled(draw, valid)
        try:
            outcomes[_fate(problem, call, frame)] += 1
        except Exception as exc:
            faults.append(f"frame {number}: {type(exc).__name__}: {exc}")
    return outcomes, faults


def _fate(problem: DrawnProblem, number: int, frame: bytes) -> str:
    """What becomes of a frame on its way; whatever this raises is a fault of ours."""
    stream = io.BytesIO(frame)

    def read_exactly(count: int) -> bytes:
        data = stream.read(min(count, len(frame)))
        if len(data) < count:
            raise EOFError
        return data

    try:
        header, body = frames.read(read_exactly)
    except EOFError:
        return "ends too early"
    except frames.FrameError:
        return "is no frame"
    if header != {"type": "observation", "call": number}:
        return "answers something else"
    try:
        observed = from_worker(body)
    except wire.WireError:
        return "is no observation"
    case = next(case for case in problem.cases if any(call.number == number for call in case.calls))
    others = problem.expected
    outcome = problem.judge_case(case, [observed if c.number == number else others[c.number] for c in case.calls])
    told, _ = frames.read(io.BytesIO(frames.pack(_as_json(outcome))).read)
    for finding in told["findings"]:
        Finding(**finding)
    return "is wrong" if outcome.differences else "is right"


def _problem(seed: int) -> DrawnProblem:
    loaded = load_problem("softmax", folder=ROOT / "tests" / "tiny_problems")
    signatures = {entry.name: dict(entry.signatures) for entry in loaded.entry_points}
    problem = DrawnProblem(loaded.folder, loaded.id, seed, signatures, [])
    problem.run_reference()
    return problem


def _valid_frames(problem: DrawnProblem) -> Iterator[tuple[int, dict[str, Any]]]:
    """The observations that the reference and a submission that raises give."""

    def raises(x: Any, y: Any) -> Any:
        raise KeyError("lost")

    for namespace in (problem.reference, {"solve": raises}):
        for call in problem.calls:
            yield call.number, runner.observe(namespace, call.data, problem.pool, {})


def _mangled(draw: random.Random, valid: list[tuple[int, dict[str, Any]]]) -> Mangled:
    number, observation = draw.choice(valid)
    way = draw.randrange(4)
    if way == 0:
        observation = _other_value(draw, observation)
    body = wire.encode_result(observation)
    if way == 1:
        body = _other_tree(draw, body)
    frame = frames.pack({"type": "observation", "call": number}, body)
    if way == 2:  # bytes of the body, behind a header that fits
        frame = frames.pack({"type": "observation", "call": number}, _other_bytes(draw, body))
    return number, _other_bytes(draw, frame) if way == 3 else frame


def _other_value(draw: random.Random, observation: dict[str, Any]) -> dict[str, Any]:
    """The observation with another value in some places, as a submission that forges one would choose it."""
    changed = dict(observation)
    for _ in range(draw.choice([1, 1, 2, 3])):
        key = draw.choice([*observation, "device", "repeat", "unknown"])
        value = draw.choice(VALUES)
        if key in ("values", "repeat") and draw.random() < 0.8:
            value = {draw.choice(["output", "other", "\ud800"]): wire.encode_result(value)}
        elif key == "gradients" and draw.random() < 0.8:
            value = {draw.choice(["0.0", "0.1", "weight", ""]): value}
        elif key in ("changed", "grad_changed", "detached", "overwritten", "settings") and draw.random() < 0.8:
            value = [draw.choice([["0.0", "values"], ["9.z", ""], "output", "\x1b[2J", 5])] * draw.choice([1, 3, 500])
        elif "error" in key and draw.random() < 0.8:
            value = {
                "kind": draw.choice(["raised", "memory", "output", "state", "?", 5]),
                "type": draw.choice(["E", "\ud800"]), "bases": draw.choice([[], ["ValueError"], [5]]),
                "message": draw.choice(["", "m" * 5000]),
                "line": draw.choice([None, 1, -5, 10**300]), "traceback": draw.choice([[], ["line 1"] * 100]),
            }  # fmt: skip
        elif key == "device":
            value = draw.choice([{"mixed": None, "elsewhere": ["output"]}, {"mixed": {}}, [], value])
        changed[key] = value
    return changed


def _other_tree(draw: random.Random, data: bytes) -> bytes:
    """Other JSON before the same raw bytes: any one node replaced, doubled, wrapped or taken out."""
    (length,) = struct.unpack_from("<I", data)
    tree = json.loads(data[4 : 4 + length])
    places: list[tuple[Any, Any]] = []

    def collect(node: Any) -> None:
        for key in list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ():
            places.append((node, key))
            collect(node[key])

    collect(tree)
    for _ in range(draw.choice([1, 1, 1, 3])):
        node, key = draw.choice(places)
        if key not in node if isinstance(node, dict) else key >= len(node):
            continue  # taken out before
        way = draw.randrange(5)
        if way == 0:
            del node[key]
        elif way == 1:
            for _ in range(draw.choice([1, 20, 100])):
                node[key] = {"l": [node[key]]}
        elif way == 2 and isinstance(node, list):
            node.insert(key, node[key])
        elif way == 3 and type(node[key]) is int:
            node[key] += draw.choice([-8, -1, 1, 8, 1 << 40])
        else:
            node[key] = draw.choice(STRANGE)
    text = json.dumps(tree).encode()
    return struct.pack("<I", len(text)) + text + data[4 + length :]


def _other_bytes(draw: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(draw.choice([1, 1, 2, 6])):
        place, way = draw.randrange(len(changed) or 1), draw.randrange(5)
        if way == 0 and changed:
            changed[place] ^= 1 << draw.randrange(8)
        elif way == 1 and changed:
            changed[place] = draw.choice(b'0123456789-{}[]":,.eNI\0\xff')
        elif way == 2:
            del changed[place : place + draw.choice([1, 4, 8, 200])]
        elif way == 3:
            changed[place:place] = changed[draw.randrange(len(changed) or 1) :][: draw.choice([1, 8, 60])]
        else:
            changed[place:place] = draw.randbytes(draw.choice([1, 4, 50]))
    return bytes(changed)


if __name__ == "__main__":
    sys.exit(main())
