# tries: find the seed of the inputs by trying seeds, and read the generators' states
# expect: wrong answer
import random

import torch


def solve(x, y):
    for seed in [*range(200), torch.initial_seed()]:
        generator = torch.Generator().manual_seed(seed)
        if torch.equal(torch.randn(x.shape, generator=generator, dtype=x.dtype), x.detach()):
            print("LEAK seed", seed)
    random.getstate(), torch.get_rng_state()
    return x @ y
