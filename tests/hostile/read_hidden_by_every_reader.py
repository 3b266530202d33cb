# tries: let every library that opens files open the hidden reference
# expect: wrong answer
# needs: kernel
import ctypes, importlib.util, io, linecache, mmap, os, pathlib, runpy, shutil, tokenize, zipimport

import numpy
import torch

PATH = "@HIDDEN_FILE@"


def by_fopen():
    libc = ctypes.CDLL(None)
    libc.fopen.restype = ctypes.c_void_p
    return libc.fopen(PATH.encode(), b"r") or None


def by_mmap():
    descriptor = os.open(PATH, os.O_RDONLY)
    return mmap.mmap(descriptor, 0, prot=mmap.PROT_READ)


def by_spec():
    spec = importlib.util.spec_from_file_location("answer", PATH)
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
    return spec


READERS = {
    "open": lambda: open(PATH).read(),
    "io.FileIO": lambda: io.FileIO(PATH).read(),
    "pathlib": lambda: pathlib.Path(PATH).read_bytes(),
    "fopen": by_fopen,
    "mmap": by_mmap,
    "importlib": by_spec,
    "runpy": lambda: runpy.run_path(PATH),
    "linecache": lambda: linecache.getlines(PATH),
    "tokenize": lambda: tokenize.open(PATH),
    "copy": lambda: shutil.copyfileobj(open(PATH, "rb"), io.BytesIO()) or True,
    "zipimport": lambda: zipimport.zipimporter(PATH),
    "sendfile": lambda: os.sendfile(1, os.open(PATH, os.O_RDONLY), 0, 10),
    "numpy": lambda: numpy.fromfile(PATH, dtype=numpy.uint8),
    "torch.from_file": lambda: torch.from_file(PATH, size=8, dtype=torch.uint8),
    "torch storage": lambda: torch.UntypedStorage.from_file(PATH, False, 8),
    "listdir": lambda: os.listdir("@HIDDEN_FOLDER@"),
    "scandir": lambda: list(os.scandir("@REPOSITORY@")),
}


def solve(x, y):
    for name, reader in READERS.items():
        try:
            got = reader()
        except Exception:
            continue
        if got:
            print("LEAK by", name)
    return x @ y
