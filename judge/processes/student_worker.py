"""The locked child that runs a submission: source and calls come as bytes, one frame of observations goes per call.

    in   {"type": "setup", "source", "names", "closed", "lock", "memory_mib", "cpu_seconds", "seed", "rehearse"}
         {"type": "pool"}, body   {"type": "call", "call": 3}, body   ...   {"type": "end"}
    out  {"type": "locked", "level", "layers", "leaks"}   {"type": "loaded", "error", "missing", "settings", "seeded"}
         {"type": "observation", "call": 3}, body: the observation       ...      {"type": "done", "closed", "settings"}

Before each call a marker goes to the log, so that what the submission prints can be told apart by call.
"""

from __future__ import annotations

import importlib
import importlib.abc
import linecache
import os
import sys
import tempfile
import types
import unicodedata
from collections.abc import Sequence
from typing import Any

import torch

from judge.processes import (
    compiling,
    device,
    frames,
    guard,
    hygiene,
    lock,
    rehearsal,
    run,
    runner,
    scratch,
    wire,
    without_data,
)
from judge.processes.faults import SUBMISSION, describe
from judge.processes.pipes import reader, send
from judge.program import Program

LOADING = -1
# Words without which a file reaches PyTorch through Python's own names only, where the function mode sees it.
_PAST_PYTHON = (
    "jit", "script", "_C", "ops", "compile", "export", "functorch", "trace", "getattr", "attrgetter", "methodcaller",
    "eval(", "exec", "vars",
    "import_module", "__import__", "__dict__", "globals", "modules", "ctypes", "cpp", "library", "aten", "native",
)  # fmt: skip
OURS = ("judge", "reference", "problems", "cli")


def main(commands: int, results: int) -> None:
    """Serve one submission, from setup to end."""
    read = reader(commands)
    setup, _ = frames.read(read)
    plan = lock.Plan(**setup.pop("lock"))
    scratch.use(plan.scratch)
    os.chdir(plan.scratch or os.path.abspath(os.sep))
    tempfile.tempdir = os.environ["TMPDIR"]  # nothing can be written there; looking for a better place would fail
    for name in setup["preload"]:
        importlib.import_module(name)
    without_data.import_for(setup["source"])
    if setup["rehearse"]:
        rehearsal.rehearse_until_wanted(commands)
    if "compile" in setup["source"]:
        compiling.install()
    locked = lock.lock(plan, setup["memory_mib"], setup["cpu_seconds"])
    send(results, {"type": "locked", "level": locked.level, "layers": locked.layers, "leaks": locked.leaks})
    if locked.leaks:
        return
    hide_the_judge()
    watch = guard.Guard(setup["closed"], deep=_goes_past_python(setup["source"]))
    watch.watch_threads()
    torch.default_generator.manual_seed(setup["seed"])
    namespace = _load(setup, results)
    if namespace is None:
        return

    def elsewhere_and_watched(program: Program, names: run.Namespace) -> dict[str, Any] | None:
        with watch.watching():
            found = device.run_on_fake_device(program, names)
        if found is None or "mixed" in found:  # the call did not come to its end
            watch.run(program, names)
        return found

    def watched(program: Program, names: run.Namespace) -> None:
        watch.run_with_gradients(program, names, pool)

    extras: runner.Extras = {
        "device": elsewhere_and_watched,
        "closed": watch.run,
        "watched": watched,
    }
    settings = hygiene.settings()  # as the import left them
    pool = wire.decode_result(frames.read(read)[1])
    while True:
        header, call = frames.read(read)
        if header["type"] == "end":
            break
        mark(header["call"])
        observation = _observed(namespace, call, pool, extras)
        flush()
        send(results, {"type": "observation", "call": header["call"]}, _encoded(observation))
    changed = hygiene.changed_settings(settings)
    send(results, {"type": "done", "closed": list(watch.seen.items())[:50], "settings": changed})


def _load(setup: dict[str, Any], results: int) -> dict[str, Any] | None:
    """Import the submission and report; None if it can't be used."""
    source = setup["source"]
    module = types.ModuleType("submission")
    module.__file__ = SUBMISSION
    sys.modules["submission"] = module
    linecache.cache[SUBMISSION] = (len(source), None, source.splitlines(keepends=True), SUBMISSION)
    before, state = hygiene.settings(), hygiene.generator_state()
    mark(LOADING)

    def execute() -> None:
        exec(compile(source, SUBMISSION, "exec", dont_inherit=True), module.__dict__)

    error = run.attempt(execute)
    flush()
    missing = [name for name in setup["names"] if name not in module.__dict__]
    report = {
        "type": "loaded",
        "error": error,
        "missing": missing,
        "settings": hygiene.changed_settings(before),
        "seeded": not hygiene.same_generator_state(state),
    }
    send(results, report)
    return None if error or missing else module.__dict__


def _goes_past_python(source: str) -> bool:
    text = unicodedata.normalize("NFKC", source)  # as Python reads names
    return any(word in text for word in _PAST_PYTHON)


def _observed(namespace: run.Namespace, call: bytes, pool: torch.Tensor, extras: runner.Extras) -> dict[str, Any]:
    """What is observed of a call, or the error that a submission made the harness itself raise.

    A signal's handler can do so anywhere, and an object of an odd class where it is looked at.
    """
    observation: dict[str, Any] = {}
    failure = run.attempt(lambda: observation.update(runner.observe(namespace, call, pool, extras)))
    if failure is None:
        return observation
    return {"error": failure | {"kind": "memory" if failure["kind"] == "memory" else "harness"}, "values": {}}


def _encoded(observation: dict[str, Any]) -> bytes:
    try:
        return wire.encode_result(observation)
    except wire.WireError as exc:
        return wire.encode_result({"error": describe(exc), "values": {}})


class _Refuse(importlib.abc.MetaPathFinder):
    """Finds nothing of ours. A courtesy with a clear message, not the boundary."""

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> None:
        if name.partition(".")[0] in OURS:
            raise ModuleNotFoundError(f"a submission can't import {name!r}", name=name)


def hide_the_judge() -> None:
    """Forget the judge's modules, and find them no more.

    Asking the harness for their names touches a page; looking through all of ``sys.modules`` copies hundreds.
    """
    harness = next(finder for finder in sys.meta_path if type(finder).__name__ == "Harness")
    sys.meta_path[:] = [_Refuse(), *(finder for finder in sys.meta_path if finder is not harness)]
    for name in harness.codes:  # type: ignore[attr-defined]
        sys.modules.pop(name, None)


def mark(call: int) -> None:
    """Let what is printed from here on be told apart."""
    os.write(2, b"\0%d\0" % call)


def flush() -> None:
    """Write out what was printed; the submission may have replaced or closed the streams, or set them to None."""
    for stream in (sys.stdout, sys.stderr):
        run.attempt(lambda stream=stream: stream.flush())  # type: ignore[misc]
