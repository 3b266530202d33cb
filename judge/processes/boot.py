"""The first code of every process of the judge: `python -I -S -c <this file's source>`.

It appends the folders that hold torch by hand, so that no .pth file runs, and imports torch once, on one thread.
Meanwhile the parent compiles the harness, which comes over file descriptor 0 as marshalled code, so that this process
knows no path of ours.
"""

import gc
import importlib.abc
import importlib.util
import json
import marshal
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


payload = json.loads(read_part())
sys.path.extend(payload["site"])

import warnings  # noqa: E402

warnings.simplefilter("ignore")  # torch's own, on import; the workers decide for themselves

import torch  # noqa: E402

torch.set_num_threads(1)
sys.meta_path.insert(0, Harness(marshal.loads(read_part())))

from judge.processes import zygote  # noqa: E402

zygote.main(payload)
