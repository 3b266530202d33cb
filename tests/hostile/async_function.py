# tries: a coroutine in place of a result
# expect: wrong answer, invalid submission
import torch


async def solve(x, y):
    return torch.softmax(x @ y, -1)
