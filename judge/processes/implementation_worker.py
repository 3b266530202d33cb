"""The locked child that is one implementation under test: a student's tests call it from another process.

    in   {"type": "setup", "source", "names", "lock", "memory_mib", "cpu_seconds"}
         {"type": "call", "call": 7, "name", "grad", "dtype", "forget": [3]}, body: (arguments, keyword arguments)
         {"type": "backward", "call": 7, "wanted": [0, 2]}, body: a gradient or None for each differentiable result
    out  {"type": "locked", "level", "layers", "leaks"}
         {"type": "answer"}, body: {"result" or "error", and what has become of the arguments}
         {"type": "answer"}, body: {"gradients" or "error"}

The code is ours; what comes with a call is a student's, and is decoded as hostile bytes. A call that ends this process
costs the run of the tests that made it.
"""

from __future__ import annotations

import os
import sys
import tempfile
import types
from typing import Any

import torch

from judge.processes import frames, lock
from judge.processes.handed import Arguments
from judge.processes.packing import pack
from judge.processes.pipes import reader, send
from judge.processes.raised import describe
from judge.processes.unpacking import unpack
from judge.processes.wire import DTYPES, WireError

_DEFAULTS = ("float64", "float32", "float16", "bfloat16")
_MOST_FORGOTTEN = 100_000


def main(commands: int, results: int) -> None:
    """Serve the calls of one run until they end."""
    read = reader(commands)
    setup, _ = frames.read(read)
    os.chdir(os.path.abspath(os.sep))
    tempfile.tempdir = os.environ["TMPDIR"]
    locked = lock.lock(lock.Plan(**setup["lock"]), setup["memory_mib"], setup["cpu_seconds"])
    module = types.ModuleType("implementation")
    sys.modules["implementation"] = module  # where its classes look for themselves
    exec(compile(setup["source"], "implementation.py", "exec", dont_inherit=True), module.__dict__)
    implementation = Implementation({name: module.__dict__[name] for name in setup["names"]})
    send(results, {"type": "locked", "level": locked.level, "layers": locked.layers, "leaks": locked.leaks})
    while True:
        header, body = frames.read(read)
        send(results, {"type": "answer"}, implementation.answer(header, body))


class Implementation:
    """The functions of one implementation, and the graphs of calls that may still be asked for gradients."""

    def __init__(self, functions: dict[str, Any]):
        self._functions = functions
        self._graphs: dict[int, tuple[list[torch.Tensor | None], list[torch.Tensor]]] = {}

    def answer(self, header: dict[str, Any], body: bytes) -> bytes:
        """The answer to one frame; what can't be read or passed is an error like one that was raised."""
        try:
            return self._call(header, body) if header.get("type") == "call" else self._backward(header, body)
        except WireError as exc:
            return pack({"error": describe(TypeError(str(exc)))})[0]

    def _call(self, header: dict[str, Any], body: bytes) -> bytes:
        number, forgotten = header.get("call"), header.get("forget")
        function, dtype = self._functions.get(str(header.get("name"))), header.get("dtype")
        if function is None or type(number) is not int or dtype not in _DEFAULTS or not _numbers(forgotten):
            raise WireError("a call that can't be read")
        for one in forgotten or ():
            self._graphs.pop(one, None)
        arguments = Arguments(unpack(body))
        args, kwargs = arguments.value
        if type(args) is not tuple or type(kwargs) is not dict or not all(type(key) is str for key in kwargs):
            raise WireError("a call that can't be read")
        answer: dict[str, Any] = {}
        before = torch.get_default_dtype()
        torch.set_default_dtype(DTYPES[dtype])
        try:
            with torch.set_grad_enabled(header.get("grad") is True):
                answer["result"] = function(*args, **kwargs)
        except Exception as exc:  # whatever it is, it is raised again on the other side
            answer["error"] = describe(exc)
        finally:
            torch.set_default_dtype(before)
        packed, parts = pack(answer | arguments.changes(), arguments.reference)
        outputs = [tensor for tensor in parts.tensors if tensor.requires_grad]
        if outputs:
            self._graphs[number] = (arguments.sources, outputs)
        return packed

    def _backward(self, header: dict[str, Any], body: bytes) -> bytes:
        number, wanted = header.get("call"), header.get("wanted")
        gradients = unpack(body).value
        if header.get("type") != "backward" or type(number) is not int or number not in self._graphs:
            raise WireError("a call that can't be read")
        sources, outputs = self._graphs[number]
        if not _numbers(wanted) or type(gradients) is not list or len(gradients) != len(outputs):
            raise WireError("a call that can't be read")
        asked = {one: source for one in wanted or () if one < len(sources) and (source := sources[one]) is not None}
        paths = [(output, one) for output, one in zip(outputs, gradients, strict=True) if one is not None]
        if not all(isinstance(one, torch.Tensor) for _, one in paths):
            raise WireError("a call that can't be read")
        try:
            found = torch.autograd.grad(
                [output for output, _ in paths], list(asked.values()), [one for _, one in paths],
                retain_graph=True, allow_unused=True,
            )  # fmt: skip
        except Exception as exc:  # a backward that fails fails on the other side, too
            return pack({"error": describe(exc)})[0]
        return pack({"gradients": dict(zip(asked, found, strict=True))})[0]


def _numbers(value: Any) -> bool:
    """Whether this is a list of small whole numbers, and not too many."""
    return type(value) is list and len(value) <= _MOST_FORGOTTEN and all(type(one) is int and one >= 0 for one in value)
