"""The example of statement.md, computed with the reference."""

import torch

module = PatchEmbedding(img_size=(4, 6), patch_size=(2, 3), in_channels=1, d_model=2)
bias = torch.tensor([0.0, 0.5])
lower_left = torch.tensor([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
weight = torch.stack([torch.ones(2, 3), lower_left]).unsqueeze(1)  # (d_model, 1, patch_height, patch_width)
module.load_state_dict({"projection.weight": weight, "projection.bias": bias})
images = torch.arange(24.0).view(1, 1, 4, 6)

for row in images[0, 0].int().tolist():
    print(*row[:3], "|", *row[3:])
print(f"`projection.bias[1]` is {bias[1]}")
PLACES = ("upper left", "upper right", "lower left", "lower right")
for index, (place, token) in enumerate(zip(PLACES, module(images)[0], strict=True)):
    print(f"token {index}, {place} {rounded(token, 1)}")
