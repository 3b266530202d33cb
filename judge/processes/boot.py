"""The first code of every process of the judge: `python -I -S -c <this file's source>`.

It appends the folders that hold torch by hand, so that no .pth file runs, and imports torch once, on one thread.
Meanwhile the parent compiles the harness, which comes over file descriptor 0 as marshalled code, so that this process
knows no path of ours.

A quarter of torch's import is for tensors without data (the meta device) and for the export of programs. It is left
out until somebody asks these modules for something or imports another one of torch; see also without_data.py.
"""

import gc
import importlib
import importlib.abc
import importlib.util
import json
import marshal
import os
import sys
import threading
import types
from importlib.machinery import ModuleSpec
from typing import Any

gc.disable()  # an import makes no garbage worth the passes; the zygote freezes what is there

TESTED = "2.13."  # the versions of torch of whose import something may be left out
LEFT_OUT = ("torch._meta_registrations", "torch.export")
WITH_THEM = (  # modules that only these import, and that others of torch take for granted as attributes
    "torch._custom_op.autograd", "torch._custom_op.impl", "torch._custom_ops", "torch._decomp", "torch._export",
    "torch._prims", "torch._prims_common.wrappers", "torch._refs", "torch.fx.passes.infra",
    "torch.testing._internal.common_dtype", "torch.utils._content_store",
)  # fmt: skip


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


class StandIn(types.ModuleType):
    """In the place of a module that is imported when it is asked for something."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__path__":  # what is asked of every module
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        left_out.bring_in()
        return getattr(importlib.import_module(self.__name__), name)


class Already(importlib.abc.Loader):
    """Gives a module that is there as it is.

    importlib goes by the ``__spec__`` of a module that came while it looked for one, and would run it again: until it
    is given, this one is the module's.
    """

    def __init__(self, module: types.ModuleType):
        self.module, self.own = module, module.__spec__
        self.spec = ModuleSpec(module.__name__, self, origin=self.own.origin if self.own else None)
        self.spec.submodule_search_locations = self.own.submodule_search_locations if self.own else None
        module.__spec__ = self.spec

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        return self.module

    def exec_module(self, module: types.ModuleType) -> None:
        module.__spec__ = self.own


class LeftOut(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds stand-ins while torch is imported. After that, whatever else of torch is imported finds it whole."""

    def __init__(self) -> None:
        self.importing = True
        self.stand_ins: dict[str, types.ModuleType] = {}
        self.lock = threading.RLock()

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if self.importing:
            tested = name in LEFT_OUT and sys.modules["torch"].__version__.startswith(TESTED)
            return importlib.util.spec_from_loader(name, self) if tested else None
        if self.stand_ins and name.startswith("torch.") and name not in sys.modules:  # that would be a reload
            self.bring_in()
            if name in sys.modules:  # it was a part of that; run once more, it would register all once more
                return Already(sys.modules[name]).spec
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        """Do what the modules that stay out would do for torch.Generator, and no more."""
        module.__class__ = StandIn
        self.stand_ins[module.__name__] = module
        torch = sys.modules["torch"]
        torch._C._set_generator_metaclass(sys.modules["torch._opaque_base"].OpaqueBaseMeta)

    def imported(self) -> None:
        """From now on whatever is missing is brought in."""
        self.importing = False
        for name in WITH_THEM if self.stand_ins else ():
            package, _, part = name.rpartition(".")
            vars(sys.modules[package]).setdefault(part, StandIn(name))

    def bring_in(self) -> None:
        """Import what was left out, in torch's own order: each is a part of many circles."""
        with self.lock:
            stand_ins, self.stand_ins = self.stand_ins, {}
            for name in stand_ins:
                del sys.modules[name]
            try:
                for name in stand_ins:
                    importlib.import_module(name)
            except BaseException:  # so that it says the same when it is asked again
                sys.modules.update(stand_ins)
                self.stand_ins = stand_ins
                raise


payload = json.loads(read_part())
sys.path.extend(payload["site"])
left_out = LeftOut()
early: dict[str, Any] = {"__name__": "judge.processes.ahead"}
exec(payload.pop("ahead"), early)
sys.meta_path[:0] = left_out, early["load"](payload["site"], LEFT_OUT)

import warnings  # noqa: E402

warnings.simplefilter("ignore")  # torch's own, on import; the workers decide for themselves

import torch  # noqa: E402

# What PyTorch imports later, but often: for its default device, to print a tensor, and to save one.
import torch._subclasses.schema_check_mode  # noqa: E402
import torch.utils._device  # noqa: E402
import torch.utils.serialization.config  # noqa: E402

torch.set_num_threads(1)
left_out.imported()
sys.meta_path[:2] = Harness(marshal.loads(read_part())), left_out

from judge.processes import zygote  # noqa: E402

zygote.main(payload["role"])
