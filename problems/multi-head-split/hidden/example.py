"""The example of statement.md, computed with the reference."""

import torch

x = torch.tensor([[[0, 1, 2, 3, 4, 5], [10, 11, 12, 13, 14, 15]]])
print(f"x = torch.tensor({x.tolist()})")

heads = split_heads(x, 3)
print("# shape", tuple(heads.shape))
print(heads)
print(merge_heads(heads * torch.tensor([1, 0, -1]).view(1, 3, 1, 1)))
