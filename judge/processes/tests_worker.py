"""The locked child that runs a student's tests; what they test is in another process, behind the judge's.

    in   {"type": "setup", "source", "names", "alone", "lock", "memory_mib", "cpu_seconds", "seed", "backwards", "turn"}
    out  {"type": "locked", "level", "layers", "leaks"}   {"type": "loaded", "error"}
         {"type": "collected", "tests": [[name, sentence, line], ...], "error"}
         {"type": "begin", "test": 3}   {"type": "outcome", "test": 3, "outcome", "message", "line"}   ...
         {"type": "call", ...} and {"type": "backward", ...}, see implementation_worker, each answered by
    in   {"type": "answer"}, body
    out  {"type": "done"}

A worker is told nothing about the implementation, so nothing in it can tell a right one from a wrong one.
"""

from __future__ import annotations

import linecache
import os
import random
import sys
import tempfile
import types
from typing import Any

import numpy as np
import torch

from judge.processes import frames, lock, pytest_session, run, without_data
from judge.processes.faults import SUBMISSION
from judge.processes.pipes import reader, send
from judge.processes.remote import Remote, offered
from judge.processes.student_worker import LOADING, flush, hide_the_judge, mark


def main(commands: int, results: int) -> None:
    """Run one file's tests once."""
    read = reader(commands)
    setup, _ = frames.read(read)
    os.chdir(os.path.abspath(os.sep))
    tempfile.tempdir = os.environ["TMPDIR"]
    without_data.import_for(setup["source"])
    locked = lock.lock(lock.Plan(**setup["lock"]), setup["memory_mib"], setup["cpu_seconds"])
    send(results, {"type": "locked", "level": locked.level, "layers": locked.layers, "leaks": locked.leaks})
    if locked.leaks:
        return
    hide_the_judge()
    _seed(setup["seed"])

    def exchange(header: dict[str, Any], body: bytes) -> bytes:
        send(results, header, body)
        return frames.read(read)[1]

    def tell(message: dict[str, Any]) -> None:
        if message["type"] == "begin":
            mark(message["test"])
        flush()
        send(results, message)

    module = _load(setup["source"], tell)
    if module is not None:
        impl = offered(Remote(exchange), setup["names"], alone=setup["alone"])
        pytest_session.run(module, impl, tell, backwards=setup["backwards"], turn=setup["turn"])
        tell({"type": "done"})


def _load(source: str, tell: pytest_session.Tell) -> types.ModuleType | None:
    """Import the file and report; None if that fails."""
    module = types.ModuleType("submission")
    module.__file__ = SUBMISSION
    sys.modules["submission"] = module
    linecache.cache[SUBMISSION] = (len(source), None, source.splitlines(keepends=True), SUBMISSION)
    mark(LOADING)
    error = run.attempt(lambda: exec(pytest_session.compiled(source), module.__dict__))
    tell({"type": "loaded", "error": error})
    return None if error else module


def _seed(seed: int) -> None:
    """Every worker draws something else, although all are copies of one process."""
    torch.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed)
