"""Runs every measurement, one after the other, and writes docs/benchmarks.md: `python benchmarks/all.py` (minutes).

`python benchmarks/all.py submit.py watch.py` measures these anew and leaves the other sections as they are. Measure on
a machine that does nothing else; what counts are the ratios, each beside its limit.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "docs" / "benchmarks.md"
MEASUREMENTS = {
    "A submission from cold, and the list": ["submit.py"],
    "From save to verdict, warm": ["watch.py"],
    "Many submissions": ["batch.py"],
    "Memory": ["memory.py"],
    "What a diagnosis adds": ["diagnosis.py"],
    "The lock": ["lock.py"],
    "Tests as the answer": ["tests_kind.py"],
    "Proofs": ["verify.py"],
}
HEAD = """\
# Measurements

Written by `python benchmarks/all.py` on {processors} processors ({machine}), Python {python}, torch {torch}.
Milliseconds are this machine's; ratios are to what ran beside it in the same command, and limits are the project's own.
"""
FOOT = """
## Where the time goes

A submission from cold of 1.1 s: 0.07 s until our process begins to import torch; 0.64 s of import, which stops the
garbage collector, leaves out a quarter and ends without taking the interpreter down; 0.09 s to draw the inputs, while
the first student worker goes through the harness; 0.2 s of calls on two student workers, beside which the oracle worker
runs the reference on what is left of two processors; and 0.1 s for the rest of the reference, the comparison and the
report. What remains above the limits are the calls. Those of pre-norm-vs-post-norm take 53 ms by
themselves and 86 ms with each input, setting and generator looked at before and after; then come 85 ms for the second
run with its gradients, 35 ms for the runs on altered and edited inputs, 28 ms for the fake accelerator and 20 ms for
the runs that look for closed functions: 0.25 s in a process that has done it before, and 0.32 s in one that was just
forked and touches each page for the first time. A save in `judge watch` pays two thirds of that, on two processors
that share their caches, and a submission in a class the whole, with 20 ms to pass its answers on and 40 ms to compare
them. The lock is 3 ms. A proof takes every seeded bug through every case in this way, with a glance first: 20 ms of
calls for a bug of layer-norm, where mutmut stops at the first assertion that fails.
"""


def main() -> int:
    wanted = sys.argv[1:]
    unknown = set(wanted).difference(script for script, *_ in MEASUREMENTS.values())
    if unknown:
        print(f"no measurement is called {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    before = sections() if wanted else {}
    text = HEAD.format(
        processors=os.cpu_count(),
        machine=platform.machine(),
        python=platform.python_version(),
        torch=metadata.version("torch"),
    )
    for title, (script, *arguments) in MEASUREMENTS.items():
        if wanted and script not in wanted and title in before:
            text += before[title]
            continue
        print(f"{title} ...", file=sys.stderr)
        command = [sys.executable, str(ROOT / "benchmarks" / script), *arguments]
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode not in (0, 1):
            print(f"{script} ended with {done.returncode}", file=sys.stderr)
            return done.returncode
        text += (
            f"\n## {title}\n\n`python benchmarks/{' '.join((script, *arguments))}`\n\n```\n{done.stdout.strip()}\n```\n"
        )
    TABLE.write_text(text + FOOT, encoding="utf-8")
    return 0


def sections() -> dict[str, str]:
    """The sections of the file as it is, by title, each with its heading."""
    _, *parts = TABLE.read_text(encoding="utf-8").split("\n## ")
    return {part.partition("\n")[0]: f"\n## {part.rstrip()}\n" for part in parts}


if __name__ == "__main__":
    sys.exit(main())
