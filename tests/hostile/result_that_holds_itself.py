# tries: lead whoever looks for tensors in a result around in a circle
# expect: wrong answer
import torch


def solve(x, y):
    result = [torch.softmax(x @ y, -1)]
    result.append(result)
    return result
