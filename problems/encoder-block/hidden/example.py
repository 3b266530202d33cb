"""The example of statement.md, computed with the reference."""

import torch
from torch import nn

block = TransformerEncoderBlock(d_model=3, d_ff=3, num_heads=1).double()
for name, value in block.named_parameters():
    if name.endswith("bias"):
        nn.init.zeros_(value)
    elif value.dim() == 1:
        nn.init.ones_(value)
    else:
        nn.init.eye_(value)
x = torch.tensor([[[1.0, 0.0, 2.0], [0.0, 2.0, 0.0]]], dtype=torch.float64)
attention_output = block.attention(x)
y = block.addnorm1(x, attention_output)
print("x", rounded(x[0]))
print("attention(x)", rounded(attention_output[0]))
print("x + attention(x)", rounded((x + attention_output)[0]))
print("y, its norm", rounded(y[0]))
print("ffn(y)", rounded(block.ffn(y)[0]))
print("y + ffn(y)", rounded((y + block.ffn(y))[0]))
print("block(x), its norm", rounded(block(x)[0]))

mask = torch.tensor([[True, False], [False, False]])
print(f"the mask `{mask.tolist()}`")
print(f"gives `{rounded(block.attention(x, mask)[0], 0)}` and the block `{rounded(block(x, mask)[0])}`")
