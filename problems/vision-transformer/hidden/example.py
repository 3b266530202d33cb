"""The example of statement.md, computed with the reference."""

import torch
from torch import nn

model = VisionTransformer(
    img_size=(1, 2), patch_size=1, in_channels=1, num_classes=3, d_model=2, d_ff=2, num_heads=1, num_blocks=1
)
for name, value in model.blocks.named_parameters():
    if name.endswith("bias"):
        nn.init.zeros_(value)
    elif value.dim() == 1:
        nn.init.ones_(value)
    else:
        nn.init.eye_(value)
cls_token = torch.tensor([2.0, 0.0])
positions = torch.tensor([[0.0, 1.0], [0.0, 2.0], [0.0, 4.0]])
weight = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
bias = torch.tensor([0.0, 0.0, 0.5])
own = {
    "cls_token": cls_token.view(1, 1, 2),
    "positions": positions.unsqueeze(0),
    "patch_embedding.projection.weight": torch.tensor([1.0, 0.0]).view(2, 1, 1, 1),
    "patch_embedding.projection.bias": torch.zeros(2),
    "head.weight": weight,
    "head.bias": bias,
}
model.load_state_dict(own, strict=False)
images = torch.tensor([3.0, 1.0]).view(1, 1, 1, 2)

patches = model.patch_embedding(images)
tokens = torch.cat([model.cls_token, patches], dim=1) + model.positions
block = model.blocks[0]
print(f"`cls_token` is `{rounded(cls_token, 0)}`, `positions` are")
print(", ".join(f"`{rounded(position, 0)}`" for position in positions))
print(f"the head's weight is `{rounded(weight, 0)}` and its bias `[0, 0, {bias[2]}]`")
print("patches", rounded(patches[0]))
print("tokens with positions", rounded(tokens[0]))
print("after the attention", rounded((tokens + block.attention(block.norm1(tokens)))[0]))
print("after the MLP", rounded(block(tokens)[0]))
print("norm of the class token", rounded(model.norm(block(tokens))[0, 0]))
print("logits", rounded(model(images)[0]))
