# tries: not an attack: a product that is large enough for two threads of its own
# expect: accepted
import torch

torch.set_num_threads(2)


def solve(x, y):
    large = torch.ones(300, 300, dtype=x.dtype)
    torch.exp(large @ large).sum()
    return torch.softmax(x @ y, -1)
