"""The example of statement.md, computed with the reference."""

import torch

print("rotary_angles(torch.tensor([0, 1, 2]), 4)")
print(rotary_angles(torch.tensor([0, 1, 2]), 4))

x = torch.tensor([[1.0, 1.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
print(f"x = torch.tensor({x.tolist()})")
print("apply_rotary(x, torch.tensor([0, 1, 2]))")
print(apply_rotary(x, torch.tensor([0, 1, 2])))

first, second = rotary_angles(torch.tensor([1]), 4)[0].tolist()
print(f"which turn by {rounded(first, 0)} per position")
print(f"1 / 10000 ** (2 / 4) = {rounded(second, 2)}")
