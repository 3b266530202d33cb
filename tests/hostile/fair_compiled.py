# tries: not an attack: scripted, compiled, vectorized and traced code, which reads its own source and imports late
# expect: accepted
import warnings

import torch

warnings.simplefilter("ignore")


@torch.jit.script
def scripted(scores: torch.Tensor) -> torch.Tensor:
    shifted = scores - scores.max(dim=-1, keepdim=True).values.detach()
    return shifted.exp() / shifted.exp().sum(-1, keepdim=True)


@torch.compile
def compiled(scores):
    return scripted(scores)


@torch.compile(fullgraph=True, mode="max-autotune")
def product(x, y):
    return torch.vmap(lambda row: row @ y)(x)


def solve(x, y):
    return compiled(product(x, y))
