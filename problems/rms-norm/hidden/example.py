"""The example of statement.md, computed with the reference."""

import torch

x = torch.tensor([[1.0, -1.0, 3.0, 5.0], [0.0, 0.0, 0.0, 0.0]])
gamma = torch.tensor([1.0, 2.0, 1.0, 0.5])
print(f"x = torch.tensor({x.tolist()})")
print(f"gamma = torch.tensor({gamma.tolist()})")
print(rms_norm_forward(x, gamma))

squares = x[0].square()
print(f"their mean is {squares.mean():.0f} and its root is {squares.mean().sqrt():.0f}")
print(f"The mean of the features, {x[0].mean():.0f}")
