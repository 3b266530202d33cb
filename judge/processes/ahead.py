"""What boot.py does before it imports torch: two things at a time.

A thread loads torch's kernels, a fifth of the import, which needs nothing of Python. Meanwhile modules of the
standard library that torch imports are imported, and code of torch and numpy is read, until the library is there.
Whatever is missing here, or not needed after all, costs nothing but that: the import finds its modules as ever.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import importlib.abc
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType

_NOW, _FOR_ALL = 0x2, 0x100  # of dlopen
_LIBRARIES = (("libtorch_global_deps.so", _NOW | _FOR_ALL), ("libtorch_cpu.so", _NOW))  # as torch itself loads them
# The system loads one library at a time, so these come before the thread begins, if this version of Python has them.
_COMPILED = (
    "_bisect", "_blake2", "_bz2", "_contextvars", "_csv", "_datetime", "_hashlib", "_heapq", "_json", "_lzma",
    "_multiprocessing", "_opcode", "_pickle", "_posixshmem", "_posixsubprocess", "_queue", "_random", "_sha2",
    "_sha512", "_socket", "_ssl", "_struct", "_typing", "_uuid", "array", "binascii", "cmath", "fcntl", "grp",
    "math", "mmap", "select", "zlib",
)  # fmt: skip
_STANDARD = (
    "importlib.resources", "inspect", "typing_extensions", "dataclasses", "tempfile", "logging", "pickle",
    "tarfile", "zipfile", "platform", "difflib", "timeit", "glob", "argparse", "csv", "uuid", "pickletools",
    "pkgutil", "runpy", "gzip", "hashlib", "email.message", "importlib.metadata", "urllib.request", "unittest",
    "concurrent.futures.thread", "multiprocessing.spawn", "multiprocessing.connection",
    "multiprocessing.resource_tracker",
)  # fmt: skip
# Of these nearly every module is imported.
_FOLDERS = (
    "torch", "torch/nn/modules", "torch/nn", "numpy/_core", "numpy/lib", "torch/_higher_order_ops",
    "torch/distributions", "torch/optim", "torch/fx", "torch/autograd", "torch/_subclasses", "torch/jit",
    "torch/cuda", "torch/fx/passes", "torch/ao/quantization", "torch/_library", "torch/nn/parallel",
    "torch/nn/utils", "torch/package", "torch/ao/nn/quantized/modules", "torch/xpu", "numpy/linalg", "torch/masked",
    "torch/utils/data", "torch/linalg", "torch/distributed/rpc", "torch/utils/data/datapipes/iter", "torch/testing",
    "numpy", "torch/_prims_common", "torch/ao/nn/quantized/dynamic/modules", "torch/utils", "torch/distributed",
)  # fmt: skip


class Ahead(importlib.abc.MetaPathFinder):
    """Finds the modules whose code was read ahead, each with the loader and the place that it has anyway."""

    def __init__(self) -> None:
        self._specs: dict[str, ModuleSpec] = {}

    def read(self, name: str, folder: str) -> None:
        """Read a module's code from its folder; a file that Python can't read is left to the import."""
        spec = PathFinder.find_spec(name, [folder])
        if spec is None or not isinstance(spec.loader, SourceFileLoader):
            return
        with contextlib.suppress(OSError, ImportError, SyntaxError, ValueError):
            spec.loader.get_code = _once(spec.loader, spec.loader.get_code(name))  # type: ignore[assignment,method-assign]
            self._specs[name] = spec

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        return self._specs.pop(name, None)


def load(site: Sequence[str], without: Sequence[str]) -> Ahead:
    """Load and read until the library is there; gives the finder that the import of torch is to ask.

    ``without``: modules that won't be imported.
    """
    ahead = Ahead()
    folders = [folder for folder in site if os.path.exists(f"{folder}/torch/lib/libtorch_cpu.so")]
    if sys.platform != "linux" or not folders:
        return ahead
    for name in _COMPILED:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    thread = threading.Thread(target=_load_libraries, args=(f"{folders[0]}/torch/lib/",))
    thread.start()
    for name in _STANDARD:
        if thread.is_alive():
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
    for name, folder in _modules(site):
        if not thread.is_alive():
            break
        if name not in without:
            ahead.read(name, folder)
    thread.join()
    return ahead


def _load_libraries(folder: str) -> None:
    """Load them as a call of the system's own function, which lets other threads go on."""
    dlopen = ctypes.CDLL(None).dlopen
    dlopen.argtypes, dlopen.restype = (ctypes.c_char_p, ctypes.c_int), ctypes.c_void_p
    for name, flags in _LIBRARIES:
        dlopen(os.fsencode(folder + name), flags)


def _modules(site: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The names of the modules in ``_FOLDERS``, each with the folder that its finder is asked about."""
    for place in _FOLDERS:
        package = place.replace("/", ".")
        for root in site:
            folder = f"{root}/{place}"
            if os.path.isdir(folder):
                yield package, os.path.dirname(folder)
                for file in sorted(os.listdir(folder)):
                    name, extension = os.path.splitext(file)
                    if extension == ".py" and name != "__init__":
                        yield f"{package}.{name}", folder


def _once(loader: SourceFileLoader, code: CodeType | None) -> Callable[[str], CodeType | None]:
    """Gives the code to the import; whoever asks later is given it by the loader itself."""

    def get_code(name: str) -> CodeType | None:
        del loader.get_code
        return code

    return get_code
