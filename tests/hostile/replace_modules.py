# tries: put own modules in place of those that the judge uses
# expect: wrong answer, runtime error
import json, os, struct, sys, traceback

import torch


class Liar(type(sys)):
    def __getattr__(self, name):
        return lambda *args, **kwargs: {}


for name in ("json", "struct", "traceback", "linecache", "copy", "ctypes", "contextlib", "importlib"):
    sys.modules[name] = Liar(name)
json.dumps = json.loads = struct.pack = lambda *args, **kwargs: "{}"
traceback.extract_tb = lambda *_: 1 / 0


def solve(x, y):
    return x @ y
