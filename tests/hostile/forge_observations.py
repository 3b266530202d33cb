# tries: answers that are values, but no observation: parts of wrong kinds, errors without a type, lists of numbers
# expect: runtime error, wrong answer, memory limit, output limit
# turns: 10
import os, sys

PARTS = [
    5, {1: 2}, {"error": {}},
    {"error": {"kind": "raised", "type": "\ud800", "message": "\ud800", "bases": [], "traceback": ["\ud800"], "line": 10**300}},
    {"error": {"kind": "memory", "type": "E" * 100_000, "message": "m" * 1_000_000, "bases": ["ValueError"], "traceback": ["t" * 100_000] * 100, "line": -7}},
    {"values": {"output": b"junk"}}, {"values": {}, "gradients": {"0.0": 5}}, {"values": {}, "changed": [["a"]]},
    {"values": {}, "detached": ["\x1b[31m" * 100_000] * 10},
    {"values": {}, "settings": ["[bold]" * 100_000], "overwritten": ["\ud800"]},
]  # fmt: skip


def solve(x, y):
    frame = sys._getframe()
    while "results" not in frame.f_locals or "read" not in frame.f_locals:
        frame = frame.f_back
    frames, wire, number = frame.f_globals["frames"], frame.f_globals["wire"], frame.f_locals["header"]["call"]
    body = wire.encode_result(PARTS[@TURN@])
    os.write(frame.f_locals["results"], frames.pack({"type": "observation", "call": number}, body))
    os._exit(0)
