"""The first code of every process of the judge: `python -I -S -c <this file's source>`.

It gets the harness as source text over file descriptor 0, so that the process knows no path of ours; it appends the
folders that hold torch by hand, so that no .pth file runs; it imports torch once, on one thread, and hands over.
"""

import gc
import importlib.abc
import importlib.util
import json
import os
import sys
import types
from importlib.machinery import ModuleSpec

gc.disable()  # an import makes no garbage worth the passes; the zygote freezes what is there


def read_exactly(count: int) -> bytes:
    data = b""
    while len(data) < count:
        part = os.read(0, count - len(data))
        if not part:
            os._exit(0)
        data += part
    return data


class Harness(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports the judge's worker modules from source text."""

    def __init__(self, sources: dict[str, str]):
        self.sources = sources

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name not in self.sources:
            return None
        return importlib.util.spec_from_loader(name, self, is_package=name in ("judge", "judge.processes"))

    def exec_module(self, module: types.ModuleType) -> None:
        name = module.__name__
        exec(compile(self.sources[name], f"<{name}>", "exec"), module.__dict__)


payload = json.loads(read_exactly(int.from_bytes(read_exactly(4), "little")))
sys.path.extend(payload["site"])
sys.meta_path.insert(0, Harness(payload["modules"]))

import warnings  # noqa: E402

warnings.simplefilter("ignore")  # torch's own, on import; the workers decide for themselves

import torch  # noqa: E402

torch.set_num_threads(1)

from judge.processes import zygote  # noqa: E402

zygote.main(payload)
