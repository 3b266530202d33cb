"""The example of statement.md, computed with the reference."""

import torch
from torch import nn

block = PreNormGatedBlock(d_model=2, num_heads=1, d_ff=2)
for value in block.parameters():
    if value.dim() == 1:
        nn.init.ones_(value)
    else:
        nn.init.eye_(value)

x = torch.tensor([[[1.0, 3.0], [4.0, 0.0]]])
positions = torch.arange(2)
attention_input = block.norm1(x)
attention_output = block.attention(attention_input, positions)
stream = x + attention_output
mlp_input = block.norm2(stream)
output = rounded(block(x)[0])
print("x", rounded(x[0]))
print("norm1(x)", rounded(attention_input[0]))
print("queries and keys, turned", rounded(rotate(attention_input, positions)[0]))
print("attention(norm1(x))", rounded(attention_output[0]))
print("x + attention(norm1(x))", rounded(stream[0]))
print("norm2 of that", rounded(mlp_input[0]))
print("mlp of that", rounded(block.mlp(mlp_input)[0]))
print("block(x)", output)

later = rounded(block(x, torch.tensor([7, 8]))[0])
print(f"With the positions 7 and 8 the result is {'the same' if later == output else later}")
print(f"with 0 and 3 it is `{rounded(block(x, torch.tensor([0, 3]))[0])}`")
print(f"with 1 and 0 `{rounded(block(x, torch.tensor([1, 0]))[0])}`")
