# tries: call a closed function only where gradients are asked for
# expect: closed function used
import torch
import torch.nn.functional as F

KEPT = {True: F.log_softmax, False: torch.softmax}


def solve(x, y):
    result = KEPT[x.requires_grad](x @ y, -1)
    return result.exp() if x.requires_grad else result
