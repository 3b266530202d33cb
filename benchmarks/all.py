"""Runs every measurement, one after the other, and writes docs/benchmarks.md: `python benchmarks/all.py` (minutes).

Measure on a machine that does nothing else; what counts are the ratios, each beside its limit.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MEASUREMENTS = {
    "A submission from cold, and the list": ["submit.py"],
    "From save to verdict, warm": ["watch.py"],
    "Many submissions": ["batch.py"],
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


def main() -> int:
    text = HEAD.format(
        processors=os.cpu_count(),
        machine=platform.machine(),
        python=platform.python_version(),
        torch=metadata.version("torch"),
    )
    for title, (script, *arguments) in MEASUREMENTS.items():
        print(f"{title} ...", file=sys.stderr)
        command = [sys.executable, str(ROOT / "benchmarks" / script), *arguments]
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode not in (0, 1):
            print(f"{script} ended with {done.returncode}", file=sys.stderr)
            return done.returncode
        text += (
            f"\n## {title}\n\n`python benchmarks/{' '.join((script, *arguments))}`\n\n```\n{done.stdout.strip()}\n```\n"
        )
    (ROOT / "docs" / "benchmarks.md").write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
