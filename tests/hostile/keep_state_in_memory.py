# tries: leave something for the next submission in modules, the environment, torch's settings and classes
# expect: wrong answer
import builtins, os, sys

import torch

if hasattr(torch, "left_behind") or "LEFT_BEHIND" in os.environ or hasattr(builtins, "left_behind"):
    print("LEAK an earlier submission's state")
torch.left_behind = builtins.left_behind = torch.Tensor.left_behind = True
os.environ["LEFT_BEHIND"] = "1"
torch.softmax = torch.nn.functional.softmax = torch.Tensor.softmax = lambda scores, *args, **kwargs: scores
torch.set_default_dtype(torch.float64)
sys.modules["math"] = None


def solve(x, y):
    return torch.softmax(x @ y, -1)
