"""What the lock costs: a worker's way to its first line with all layers, without any, and with each by itself.

    python benchmarks/lock.py [RUNS]

Every round starts a worker of each kind, in turn, so that a drifting machine drifts for all. Wall-clock time is from
the request to the worker's word that it is locked (fork, inputs, lock, trial); processor time is the worker's own, as
the system accounts it. On a busy machine it, and the least wall-clock time, say more than the median does.
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from judge.models import Limits  # noqa: E402
from judge.processes import lock  # noqa: E402
from judge.processes.supervision import Engine  # noqa: E402
from judge.running import Runner  # noqa: E402

LIMIT_MS = 15.0
WHOLE = "all layers and the trial"
POOL = b'\x0e\0\0\0{"value":null}'
SETUP = {"source": "def solve(x, y):\n    return x\n", "names": ["solve"], "closed": []}
KINDS = {
    "no lock": list(lock.LAYERS),
    WHOLE: [],
    **{f"{layer} only": [other for other in lock.LAYERS if other != layer] for layer in lock.LAYERS},
}


def main() -> int:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    wall: dict[str, list[float]] = {kind: [] for kind in KINDS}
    own: dict[str, list[float]] = {kind: [] for kind in KINDS}
    layers: dict[str, str] = {}
    with Engine() as engine:
        began = time.perf_counter()
        plan = engine.lock_plan
        planning = 1000 * (time.perf_counter() - began)
        for round_number in range(runs + 2):
            for kind, without in KINDS.items():
                plan["without"] = without
                seconds, processor, in_force = start(engine)
                if round_number >= 2:  # the first rounds warm the caches
                    wall[kind].append(1000 * seconds)
                    own[kind].append(1000 * processor)
                    layers[kind] = ", ".join(in_force) or "none"
    print(f"medians of {runs}, in turn; the list of {len(plan['read'])} readable paths took {planning:.1f} ms, once\n")
    print(f"{'':26}{'wall':>10}{'more':>10}{'least':>10}{'processor':>12}{'more':>10}   layers in force")
    for kind in KINDS:
        medians = statistics.median(wall[kind]), more(wall, kind), min(wall[kind]), statistics.median(own[kind])
        columns = "{:26}{:7.1f} ms{:7.1f} ms{:7.1f} ms{:9.1f} ms{:7.1f} ms   {}"
        print(columns.format(kind, *medians, more(own, kind), layers[kind]))
    cost = more(wall, WHOLE)
    kept = cost <= LIMIT_MS
    print(f"\nthe whole lock: {cost:.1f} ms a worker   limit {LIMIT_MS:g}: {'kept' if kept else 'MISSED'}")
    return 0 if kept else 1


def more(milliseconds: dict[str, list[float]], kind: str) -> float:
    """The median of what a kind takes more than no lock in the same round."""
    pairs = zip(milliseconds[kind], milliseconds["no lock"], strict=True)
    return statistics.median(a - b for a, b in pairs)


def start(engine: Engine) -> tuple[float, float, list[str]]:
    """One student worker until it is locked: wall-clock seconds, its processor time until it waits, its layers."""
    setup = Runner(engine, Limits(), SETUP, lambda number, body: None)._setup
    began = time.monotonic()
    worker = engine.worker("student")
    worker.send(setup | {"seed": 1})
    worker.send({"type": "pool"}, POOL)
    worker.finish()  # nothing more is asked: it ends after the import of an empty file
    locked = worker.next_event(began + 60)
    assert locked is not None
    assert locked.kind == "frame", bytes(worker.log).decode()
    assert not locked.header["leaks"]
    while (event := worker.next_event(began + 60)) is not None and event.kind != "exit":
        pass
    assert event is not None
    worker.settle()
    return locked.at - began, event.header["cpu"], locked.header["layers"]


if __name__ == "__main__":
    sys.exit(main())
