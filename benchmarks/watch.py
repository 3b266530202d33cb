"""From a save to the verdict: `judge watch`, warm, beside `import torch` in the same run.

    python benchmarks/watch.py [RUNS]

Every round saves a right solution of pre-norm-vs-post-norm with one more comment, waits for the verdict that the
command prints, and imports torch once, which gives the next inputs the time to be drawn that a student's typing gives
them. The parts are measured in this process, by the same stations: what the save takes to be noticed, the judging,
the writing of the report.
"""

from __future__ import annotations

import io
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console

from judge.catalog import load_problem
from judge.processes.supervision import Engine
from judge.report import terminal
from judge.watch import Watch
from judge.watch_events import Judged, Judging

PROBLEM = "pre-norm-vs-post-norm"
RIGHT = Path(__file__).resolve().parent.parent / "submissions" / "examples" / f"{PROBLEM}-right.py"
LIMIT = 0.1
IMPORT = [sys.executable, "-c", "import torch"]
WATCH = [str(Path(sys.executable).with_name("judge")), "watch", PROBLEM, "--no-record"]


def import_torch() -> float:
    started = time.perf_counter()
    subprocess.run(IMPORT, check=True)
    return time.perf_counter() - started


def save(path: Path, number: int) -> float:
    path.write_text(f"{RIGHT.read_text(encoding='utf-8')}# {number}\n", encoding="utf-8")
    return time.perf_counter()


def whole(path: Path, runs: int) -> tuple[list[float], list[float]]:
    """Seconds from save to the verdict's line, and of `import torch`, in turn."""
    verdicts, imports = [], []
    save(path, 0)
    with subprocess.Popen([*WATCH, str(path)], stdout=subprocess.PIPE, text=True, encoding="utf-8") as process:
        assert process.stdout
        lines = iter(process.stdout)
        wait_for_verdict(lines)
        for number in range(runs + 1):
            seconds = import_torch()
            saved = save(path, number + 1)
            wait_for_verdict(lines)
            if number:  # the first round warms the caches
                verdicts.append(time.perf_counter() - saved)
                imports.append(seconds)
        process.terminate()
    return verdicts, imports


def wait_for_verdict(lines: Iterator[str]) -> None:
    verdict = next(line for line in lines if line[1:].startswith((" accepted", " wrong answer", " judge error")))
    if "accepted" not in verdict:
        sys.exit(f"not accepted: {verdict}")


def parts(path: Path, runs: int) -> dict[str, list[float]]:
    seconds: dict[str, list[float]] = {"noticed": [], "judged": [], "written": []}
    with Engine() as engine:
        events = Watch(load_problem(PROBLEM), engine, Engine, lambda: path).events()
        next(event for event in events if isinstance(event, Judged))
        for number in range(runs + 1):
            import_torch()
            saved = save(path, 1000 + number)
            next(event for event in events if isinstance(event, Judging))
            noticed = time.perf_counter()
            judged = next(event for event in events if isinstance(event, Judged))
            done = time.perf_counter()
            Console(file=io.StringIO(), width=100).print(terminal.render(judged.report))
            if number:
                for name, value in zip(
                    seconds, (noticed - saved, done - noticed, time.perf_counter() - done), strict=True
                ):
                    seconds[name].append(value)
        events.close()
    return seconds


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "answer.py")
        verdicts, imports = whole(path, runs)
        inside = parts(path, runs)
    print(f"medians of {runs}, in turn\n")
    for name, values in {"save to verdict": verdicts, "import torch": imports, **inside}.items():
        print(f"{name:24} {1000 * statistics.median(values):8.0f} ms   (least {1000 * min(values):.0f})")
    ratio = statistics.median(a / b for a, b in zip(verdicts, imports, strict=True))
    kept = "kept" if ratio <= LIMIT else "MISSED"
    print(f"\n{'save to verdict / import torch':40} {ratio:6.3f}   limit {LIMIT:g}: {kept}")


if __name__ == "__main__":
    main()
