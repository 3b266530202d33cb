"""The example of statement.md, computed with the reference."""

import torch


def rows(mask):
    """Each row as ones and zeros."""
    return [" ".join(str(int(visible)) for visible in row) for row in mask]


for row in rows(causal_mask(2, k_len=5, offset=1)):
    print("#", row)

padding = padding_mask(torch.tensor([2, 0, 4]), max_len=4)
print("# shape", tuple(padding.shape))
for row in rows(padding[:, 0, 0]):
    print("#", row)

both = combine_masks(causal_mask(4), None, padding_mask(torch.tensor([2, 4]), 4))
print("# shape", tuple(both.shape))
for left, right in zip(rows(both[0, 0]), rows(both[1, 0]), strict=True):
    print("#", left, right)
