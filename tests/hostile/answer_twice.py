# tries: send the frame of the right answer twice, by hand, and leave
# expect: wrong answer, runtime error
import os, sys

import torch


def solve(x, y):
    frame = sys._getframe()
    while "results" not in frame.f_locals or "read" not in frame.f_locals:
        frame = frame.f_back
    frames, wire, number = frame.f_globals["frames"], frame.f_globals["wire"], frame.f_locals["header"]["call"]
    value = wire.encode_result({"values": {"output": wire.encode_result(torch.softmax(x @ y, -1).detach())}})
    os.write(frame.f_locals["results"], 2 * frames.pack({"type": "observation", "call": number}, value))
    os._exit(0)
