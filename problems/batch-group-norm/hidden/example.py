"""The example of statement.md, computed with the reference."""

import torch

x = torch.tensor([[1.0, 0.0], [3.0, 0.0], [5.0, 6.0], [7.0, 6.0]])
gamma, beta = torch.tensor([1.0, 2.0]), torch.tensor([0.0, 1.0])
zeros, ones = torch.zeros(2), torch.ones(2)
print(f"x = torch.tensor({x.tolist()})")
print(f"gamma, beta = torch.tensor({gamma.tolist()}), torch.tensor({beta.tolist()})")

y, mean, var = batch_norm_forward(x, gamma, beta, zeros, ones, training=True)
print("# y", rounded(y))
print("# mean", rounded(mean))
print("# var", rounded(var))

evaluated, _, _ = batch_norm_forward(x[:1], gamma, beta, mean, var, training=False)
print("#", rounded(evaluated))
print(f"0.9 · 1 + 0.1 · {rounded(x[:, 0].var().item())}")

x = torch.tensor([[[1.0, 3.0], [5.0, 7.0], [0.0, 0.0], [6.0, 6.0]]])
print(f"x = torch.tensor({x.tolist()}) # {tuple(x.shape)}")
print("#", rounded(group_norm_forward(x, 2, torch.ones(4), torch.zeros(4))))
