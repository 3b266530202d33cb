"""Proofs: milliseconds for each seeded bug, beside mutmut on the same inputs; all problems beside `import torch`.

    python benchmarks/verify.py [--all]

mutmut (pip install mutmut) changes the same reference and runs pytest tests that make the same calls and compare values
and gradients. ``--all`` proves every problem, once afresh and once from what was kept; that takes minutes.
"""

from __future__ import annotations

import importlib.util
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from judge.catalog import find_problem  # noqa: E402
from judge.processes.supervision import Engine  # noqa: E402
from judge.verify import Step, verify  # noqa: E402

SMALL = "layer-norm"
JUDGE = [str(Path(sys.executable).with_name("judge"))]
_PER_MUTANT, _TIMES_MUTMUT, _FRESH, _KEPT = 12.0, 8.0, 30.0, 3.0
_DRAW = """
import sys
import torch
from pathlib import Path
from judge.catalog import find_problem
from judge.drawn import DrawnProblem

problem = find_problem({name!r})
signatures = {{entry.name: dict(entry.signatures) for entry in problem.entry_points}}
drawn = DrawnProblem(problem.folder, problem.id, 1, signatures, [])
drawn.run_reference()
kept = {{}}
for call in drawn.calls:
    (step, *rest), expected = call.program.steps, drawn.expected[call.number].values
    if not rest and call.program.dtype == "float64" and not call.program.raises:
        kept.setdefault(call.case, []).append((step.name, step.args, step.kwargs, expected["output"]))
torch.save(kept, sys.argv[1])
"""
_TEST = """
import pytest
import torch

from answer import {entry}

torch.set_num_threads(1)
KEPT = torch.load({data!r}, weights_only=False)


@pytest.mark.parametrize("case", KEPT)
def test_case(case):
    for _, args, kwargs, expected in KEPT[case]:
        leaves = [arg.clone().requires_grad_() if isinstance(arg, torch.Tensor) else arg for arg in args]
        given = {entry}(*leaves, **kwargs)
        torch.testing.assert_close(given, expected)
        if given.requires_grad:
            given.square().sum().backward()
        assert all(leaf.grad is None or leaf.grad.isfinite().all() for leaf in leaves if isinstance(leaf, torch.Tensor))
"""
_SETTINGS = "[mutmut]\nsource_paths=src\npytest_add_cli_args_test_selection=tests\n"


def main() -> None:
    torch_seconds = statistics.median(timed([sys.executable, "-c", "import torch"]) for _ in range(5))
    print(f"import torch                {1000 * torch_seconds:8.0f} ms")
    own = per_mutant(SMALL)
    print(f"{SMALL + ', each bug':27} {1000 * own:8.1f} ms   limit {_PER_MUTANT:g}: {kept(1000 * own <= _PER_MUTANT)}")
    if importlib.util.find_spec("mutmut") is None:
        print("mutmut is not installed; pip install mutmut")
    else:
        other = mutmut_per_mutant(SMALL)
        times = other / own
        print(f"{'mutmut, each mutant':27} {1000 * other:8.1f} ms")
        print(
            f"{'times as fast as mutmut':27} {times:8.1f}      limit {_TIMES_MUTMUT:g}: {kept(times >= _TIMES_MUTMUT)}"
        )
    if "--all" in sys.argv[1:]:
        for words, limit in ((["--no-cache"], _FRESH), ([], None), ([], _KEPT)):
            ratio = timed([*JUDGE, "verify", *words]) / torch_seconds
            name = f"verify {' '.join(words) or ('kept' if limit else 'to keep')}"
            print(
                f"{name:27} {ratio:8.1f} x import torch"
                + (f"   limit {limit:g}: {kept(ratio <= limit)}" if limit else "")
            )


def timed(command: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return time.perf_counter() - started


def kept(yes: bool) -> str:
    return "kept" if yes else "MISSED"


def per_mutant(name: str) -> float:
    """Seconds for each seeded bug, on two processors: all cases of each."""
    seconds, began, now = 0.0, time.perf_counter(), "start"

    def step(progress: Step) -> None:
        nonlocal seconds, began, now
        seconds += (time.perf_counter() - began) * now.startswith("mutant")
        began, now = time.perf_counter(), progress.now

    with Engine() as engine:
        (proof,) = verify([find_problem(name)], engine, step, workers=2, seed=1)
    return seconds / len(proof.kills)


def mutmut_per_mutant(name: str) -> float:
    """Seconds for each mutant that mutmut makes and tries, on two processors."""
    problem = find_problem(name)
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        data = folder / "kept.pt"
        subprocess.run([sys.executable, "-c", _DRAW.format(name=name), str(data)], cwd=ROOT, check=True)
        for part in ("src", "tests"):
            (folder / part).mkdir()
        (folder / "src" / "answer.py").write_bytes((problem.folder / "hidden" / "reference.py").read_bytes())
        test = _TEST.format(entry=problem.entry_points[0].name, data=str(data))
        (folder / "tests" / "test_answer.py").write_text(test, encoding="utf-8")
        (folder / "setup.cfg").write_text(_SETTINGS, encoding="utf-8")
        command = [sys.executable, "-m", "mutmut", "run", "--max-children", "2"]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        started = time.perf_counter()
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - started
        tried = [line for line in done.stdout.replace("\r", "\n").splitlines() if "/" in line]
        count = max(int(part.split("/")[1]) for line in tried for part in line.split() if _is_share(part))
    return seconds / count


def _is_share(text: str) -> bool:
    left, slash, right = text.partition("/")
    return bool(slash) and left.isdigit() and right.isdigit()


if __name__ == "__main__":
    main()
