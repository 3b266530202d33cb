# tries: find the harness by frames, modules and gc: an answer, the cotangents, the reference, a list of calls
# expect: wrong answer
import gc, sys

import torch


def solve(x, y):
    frame, seen = sys._getframe(), []
    while frame is not None:
        seen += frame.f_locals.values()
        frame = frame.f_back
    for module in list(sys.modules):
        if module.partition(".")[0] in ("judge", "reference", "problems", "cli"):
            print("LEAK module", module)
    for thing in [*seen, *gc.get_objects()]:
        if isinstance(thing, dict) and "scores" in thing and "total" in thing:
            print("LEAK", thing)
        if type(thing) is torch.Tensor and thing.shape == (len(x), y.shape[1]) and thing.is_floating_point():
            rows = thing.detach().sum(-1)
            if torch.allclose(rows, torch.ones_like(rows)):
                print("LEAK an answer")
                return thing
    return x @ y
