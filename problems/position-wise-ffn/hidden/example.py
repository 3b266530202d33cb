"""The example of statement.md, computed with the reference."""

import torch

x = torch.tensor([[1.0, 2.0], [-1.0, 3.0]])
weight1 = torch.tensor([[1.0, 0.0], [0.0, -1.0], [1.0, 1.0]])
bias1 = torch.tensor([0.0, 1.0, -1.0])
weight2 = torch.tensor([[1.0, 2.0, 0.0], [0.0, 1.0, -1.0]])
bias2 = torch.tensor([0.5, 0.0])
print(f"x = torch.tensor({x.tolist()})")
print(f"weight1 = torch.tensor({weight1.tolist()})")
print(f"bias1 = torch.tensor({bias1.tolist()})")
print(f"weight2 = torch.tensor({weight2.tolist()})")
print(f"bias2 = torch.tensor({bias2.tolist()})")

first, second = x @ weight1.T + bias1
print(f"are `{rounded(first, 0)}` for the first token and `{rounded(second, 0)}` for the second")
CALLS = (
    "position_wise_ffn(x, weight1, bias1, weight2, bias2)",
    'position_wise_ffn(x, weight1, bias1, weight2, bias2, "gelu")',
)
for call in CALLS:
    print(call, "->", rounded(eval(call)))
