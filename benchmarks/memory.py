"""Whether memory stays as it is over many submissions: that of this process and of all that it has started.

    python benchmarks/memory.py [SUBMISSIONS]

One right file is judged again and again by `judge.batch`, with two workers. What all processes hold together (each
shared page counted once) is read twenty times on the way; the second half of the readings beside the first says whether
it grows, and the descriptors of this process are counted, too.
"""

from __future__ import annotations

import os
import re
import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from judge.batch import judge_all  # noqa: E402
from judge.catalog import find_problem  # noqa: E402
from judge.processes.supervision import Engine  # noqa: E402

PROBLEM = "layer-norm"
_READINGS = 20
_OPEN = 16  # descriptors: of a worker that begins while another ends
_FLAT = 1.05  # the second half of the readings to the first


def main() -> int:
    count = max(_READINGS, int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
    problem = find_problem(PROBLEM)
    file = problem.folder / "hidden" / "reference.py"
    held, open_files = [], []
    with Engine() as engine:
        for number, report in enumerate(judge_all(problem, [file] * count, engine, workers=2), start=1):
            if report.verdict != "accepted":
                sys.exit(f"not accepted: {report.failed}")
            if number % max(1, count // _READINGS) == 0:
                held.append(sum(map(_proportional_mib, _tree(os.getpid()))))
                open_files.append(len(os.listdir("/proc/self/fd")))
    halves = held[: len(held) // 2], held[len(held) // 2 :]
    first, second = map(statistics.median, halves)
    flat = second <= _FLAT * first and max(open_files) <= min(open_files) + _OPEN
    print(f"{count} submissions of {PROBLEM}, two at a time; medians of {len(halves[0])} readings\n")
    print(f"all processes, first half    {first:6.0f} MiB")
    print(f"all processes, second half   {second:6.0f} MiB   (most {max(held):.0f})")
    print(f"open descriptors here        {min(open_files)} to {max(open_files)}")
    print(f"\n{second / first:.2f} of the first half   limit {_FLAT:g}: {'kept' if flat else 'MISSED'}")
    return 0 if flat else 1


def _tree(process: int) -> list[int]:
    """A process and everything below it; whatever ends meanwhile is left out."""
    try:
        threads = Path(f"/proc/{process}/task").iterdir()
        children = [int(child) for thread in threads for child in (thread / "children").read_text().split()]
    except OSError:
        return []
    return [process, *(below for child in children for below in _tree(child))]


def _proportional_mib(process: int) -> float:
    """What a process holds, of shared pages its share; 0 if it has just ended."""
    try:
        found = re.search(r"^Pss:\s+(\d+) kB", Path(f"/proc/{process}/smaps_rollup").read_text(), re.MULTILINE)
    except OSError:
        return 0.0
    return int(found[1]) / 1024 if found else 0.0


if __name__ == "__main__":
    sys.exit(main())
