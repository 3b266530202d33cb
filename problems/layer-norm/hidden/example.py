"""The example of statement.md, computed with the reference."""

import torch

x = torch.tensor([[1.0, 2.0, 3.0, 6.0], [5.0, 5.0, 5.0, 5.0]])
gamma = torch.tensor([1.0, 2.0, 1.0, 0.5])
beta = torch.tensor([0.0, 1.0, 0.0, -1.0])
print(f"x = torch.tensor({x.tolist()})")
print(f"gamma = torch.tensor({gamma.tolist()})")
print(f"beta = torch.tensor({beta.tolist()})")

result = layer_norm_forward(x, gamma, beta)
print(result)

variance = x[0].var(correction=0).item()
print(f"mean {x[0].mean():.0f} and variance (4 + 1 + 0 + 9) / 4 = {variance}")
print(f"2 · (2 - 3) / sqrt({rounded(variance + 1e-5, 5)}) + 1 = {rounded(result[0, 1])}")
