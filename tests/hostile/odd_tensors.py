# tries: sparse, meta, quantized and nested tensors in place of plain ones
# expect: wrong answer
import torch


def solve(x, y):
    scores = (x @ y).detach()
    return [scores.to_sparse(), scores.to("meta"), torch.quantize_per_tensor(scores.float(), 0.1, 0, torch.qint8)]
