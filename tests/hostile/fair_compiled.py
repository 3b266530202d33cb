# tries: not an attack: scripted, vectorized and traced code, which reads its own source and imports late
# expect: accepted
import warnings

import torch

warnings.simplefilter("ignore")


@torch.jit.script
def scripted(scores: torch.Tensor) -> torch.Tensor:
    shifted = scores - scores.max(dim=-1, keepdim=True).values.detach()
    return shifted.exp() / shifted.exp().sum(-1, keepdim=True)


def solve(x, y):
    return scripted(torch.vmap(lambda row: row @ y)(x))
