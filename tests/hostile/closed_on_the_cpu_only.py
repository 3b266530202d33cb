# tries: call a closed function on no device but the one where the values are compared
# expect: closed function used
import torch
import torch.nn.functional as F

KEPT = {"cpu": F.log_softmax}


def solve(x, y):
    kept = KEPT.get(x.device.type)
    return torch.softmax(x @ y, -1) if kept is None else kept(x @ y, -1).exp()
