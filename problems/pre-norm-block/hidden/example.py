"""The example of statement.md, computed with the reference."""

import torch
from torch import nn

block = PreNormBlock(d_model=2, num_heads=1, d_ff=2).double()
for name, value in block.named_parameters():
    if name.endswith("bias"):
        nn.init.zeros_(value)
    elif value.dim() == 1:
        nn.init.ones_(value)
    else:
        nn.init.eye_(value)
x = torch.tensor([[[1.0, 3.0], [4.0, 0.0]]], dtype=torch.float64)
attention_input = block.norm1(x)
attention_output = block.attention(attention_input)
stream = x + attention_output
mlp_input = block.norm2(stream)
print("x", rounded(x[0]))
print("norm1(x)", rounded(attention_input[0]))
print("attention(norm1(x))", rounded(attention_output[0]))
print("x + attention(norm1(x))", rounded(stream[0]))
print("norm2 of that", rounded(mlp_input[0]))
print("mlp of that", rounded(block.mlp(mlp_input)[0]))
print("block(x)", rounded(block(x)[0]))

mask = torch.tensor([[True, False], [False, False]])
print(f"the mask `{mask.tolist()}`")
print(f"gives `{rounded(block.attention(attention_input, mask)[0])}` and the block `{rounded(block(x, mask)[0])}`")
