"""Whole processes side by side: `judge submit` and `judge list` beside the interpreter starts that bound them.

    python benchmarks/submit.py [RUNS]

Every round runs each command once, in turn, so that a drifting machine drifts for all; ratios are taken pair by pair.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "submissions" / "examples"
PYTHON = sys.executable
JUDGE = [str(Path(PYTHON).with_name("judge"))]

SUBMIT = [*JUDGE, "submit", "pre-norm-vs-post-norm", "--no-record"]

COMMANDS = {
    "submit": [*SUBMIT, str(EXAMPLES / "pre-norm-vs-post-norm-right.py")],
    "submit, a syntax error": [*SUBMIT, "broken.py"],
    "submit, wrong": [*SUBMIT, str(EXAMPLES / "pre-norm-vs-post-norm-residual.py")],
    "import torch": [PYTHON, "-c", "import torch"],
    "import torch, os._exit": [PYTHON, "-c", "import torch, os; os._exit(0)"],
    "list": [*JUDGE, "list"],
    "python -c pass": [PYTHON, "-c", "pass"],
}
RATIOS = [
    ("submit", "import torch", 0.85),
    ("submit", "import torch, os._exit", 1.25),
    ("submit, a syntax error", "import torch", 0.25),
    ("submit, wrong", "import torch", None),
    ("list", "python -c pass", 18.0),
]


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    seconds: dict[str, list[float]] = {name: [] for name in COMMANDS}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "broken.py").write_text("def pre_norm_block(x:\n    return x\n", encoding="utf-8")
        for round_number in range(runs + 1):
            for name, command in COMMANDS.items():
                started = time.perf_counter()
                subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
                if round_number:  # the first round warms the caches
                    seconds[name].append(time.perf_counter() - started)
    print(f"medians of {runs}, in turn\n")
    for name, values in seconds.items():
        print(f"{name:24} {1000 * statistics.median(values):8.0f} ms   (least {1000 * min(values):.0f})")
    print()
    for name, base, limit in RATIOS:
        ratio = statistics.median(a / b for a, b in zip(seconds[name], seconds[base], strict=True))
        bound = "" if limit is None else f"   limit {limit:g}: {'kept' if ratio <= limit else 'MISSED'}"
        print(f"{name + ' / ' + base:40} {ratio:6.2f}{bound}")


if __name__ == "__main__":
    main()
