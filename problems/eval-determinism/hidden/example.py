"""The example of statement.md, computed with the reference."""

import itertools
import runpy
from pathlib import Path

import torch
from torch import nn

sizes = {"d_model": 2, "num_heads": 1, "d_ff": 2, "dropout": 0.5}
block = Block(**sizes).eval()
for name, value in block.named_parameters():
    if name.endswith("bias"):
        nn.init.zeros_(value)
    elif value.dim() == 1:
        nn.init.ones_(value)
    else:
        nn.init.eye_(value)
stub = runpy.run_path(str(Path(__file__).parents[1] / "stub.py"))["Block"](**sizes).eval()
stub.load_state_dict(block.state_dict())

x = torch.tensor([[[1.0, 3.0], [4.0, 0.0]]])
print(f"`d_model=2, num_heads=1, d_ff=2, dropout={sizes['dropout']}`")
print(f"For `x = {x.tolist()}`")
if {rounded(block(x)) for _ in range(5)} == {rounded(block(x))}:
    print(rounded(block(x)))

tokens = block.norm1(x)[0]  # query, key and value at once
weights = torch.softmax(tokens[0] @ tokens.T / 2**0.5, dim=-1)
print(f"{rounded(weights[1].item())} to the other token and {rounded(weights[0].item())} to itself")

seen = {rounded(stub(x)[0, 0]) for _ in range(100)}
possible = {}
for other, itself in itertools.product((0.0, 2.0), repeat=2):
    dropped = weights * torch.tensor([itself, other])
    stream = x[0, 0] + dropped @ tokens
    first = rounded(stream + block.mlp(block.norm2(stream)))
    possible[first] = " ".join(rounded(weight) for weight in dropped.tolist())
if seen == set(possible):
    for first, shown in possible.items():
        print(f"{shown} [{first}, ...]")
