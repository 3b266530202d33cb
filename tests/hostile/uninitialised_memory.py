# tries: memory that was never written, hoping for the expected tensor's
# expect: wrong answer
import torch


def solve(x, y):
    found = [torch.empty(len(x), y.shape[1], dtype=x.dtype) for _ in range(200)]
    sums = [float(tensor.nan_to_num().sum(-1).sub(1).abs().sum()) for tensor in found]
    return found[sums.index(min(sums))]
