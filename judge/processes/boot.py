"""The first code of every process of the judge: `python -I -S -c <this file's source>`.

It appends the folders that hold torch by hand, so that no .pth file runs, and imports torch once, on one thread.
Meanwhile the parent compiles the harness, which comes over file descriptor 0 as marshalled code, so that this process
knows no path of ours.

Where the zygote has imported all of torch but the kernels for tensors without data, it looks whether an oracle worker
is wanted already, and forks it; in that worker they stay out.
"""

import gc
import importlib.abc
import importlib.util
import json
import marshal
import os
import select
import sys
import types
from importlib.machinery import ModuleSpec
from typing import Any

gc.disable()  # an import makes no garbage worth the passes; the zygote freezes what is there

TESTED = "2.13."  # the versions of torch of whose import the last part may stay out of an oracle worker


def read_exactly(count: int) -> bytes:
    data = b""
    while len(data) < count:
        part = os.read(0, count - len(data))
        if not part:
            os._exit(0)
        data += part
    return data


class Harness(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports the judge's worker modules from their code."""

    def __init__(self, codes: dict[str, types.CodeType]):
        self.codes = codes

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name not in self.codes:
            return None
        return importlib.util.spec_from_loader(name, self, is_package=name in ("judge", "judge.processes"))

    def exec_module(self, module: types.ModuleType) -> None:
        exec(self.codes[module.__name__], module.__dict__)


def read_part() -> bytes:
    return read_exactly(int.from_bytes(read_exactly(4), "little"))


class LastPart(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Stands before the last large module of torch's import: forks, and in the child stands in for that module."""

    def __init__(self) -> None:
        self.zygote: Any = None  # with what it has received so far

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name != "torch._meta_registrations":
            return None
        sys.meta_path.remove(self)
        if not sys.modules["torch"].__version__.startswith(TESTED) or not select.select([0], [], [], 0)[0]:
            return None  # another torch may need it, or the parent has not come that far
        receive_harness()
        from judge.processes import lock
        from judge.processes.zygote import Zygote

        lock.undumpable()
        self.zygote = Zygote()
        if not self.zygote.fork_oracle():
            return None
        payload["role"] = "oracle"
        return importlib.util.spec_from_loader(name, self)

    def exec_module(self, module: types.ModuleType) -> None:
        """Do what the modules that stay out would do for torch.Generator."""
        torch = sys.modules["torch"]
        torch._C._set_generator_metaclass(sys.modules["torch._opaque_base"].OpaqueBaseMeta)


def receive_harness() -> None:
    sys.meta_path.insert(0, Harness(marshal.loads(read_part())))


payload = json.loads(read_part())
sys.path.extend(payload["site"])
last_part = LastPart()
if payload["role"] == "early zygote":
    payload["role"] = "zygote"
    sys.meta_path.insert(0, last_part)

import warnings  # noqa: E402

warnings.simplefilter("ignore")  # torch's own, on import; the workers decide for themselves

import torch  # noqa: E402

torch.set_num_threads(1)
if last_part.zygote is None:
    receive_harness()

from judge.processes import zygote  # noqa: E402

zygote.main(payload["role"], last_part.zygote)
