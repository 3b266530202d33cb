"""The example of statement.md, computed with the reference."""

import torch
from torch import nn

block = TransformerDecoderBlock(d_model=3, d_ff=3, num_heads=1).double()
for name, value in block.named_parameters():
    if name.endswith("bias"):
        nn.init.zeros_(value)
    elif value.dim() == 1:
        nn.init.ones_(value)
    else:
        nn.init.eye_(value)
x = torch.tensor([[[1.0, 0.0, 2.0], [0.0, 2.0, 0.0]]], dtype=torch.float64)
encoder_output = torch.tensor([[[2.0, 0.0, 0.0], [0.0, 0.0, 2.0], [0.0, 4.0, 0.0]]], dtype=torch.float64)
causal = torch.ones(2, 2, dtype=torch.bool).tril()

self_output = block.self_attention(x, x, causal)
y = block.addnorm1(x, self_output)
cross_output = block.cross_attention(y, encoder_output)
z = block.addnorm2(y, cross_output)
print("x", rounded(x[0]))
print("encoder_output", rounded(encoder_output[0]))
print("self_attention(x, x)", rounded(self_output[0]))
print("y", rounded(y[0]))
print("cross_attention(y, ...)", rounded(cross_output[0]))
print("z", rounded(z[0]))
print("ffn(z)", rounded(block.ffn(z)[0]))
print("the block's output", rounded(block(x, encoder_output)[0]))

cross_mask = torch.tensor([[True, True, False], [False, False, False]])
cross_output = block.cross_attention(y, encoder_output, cross_mask)
output = block(x, encoder_output, cross_mask=cross_mask)
print(f"`cross_mask = {cross_mask.tolist()}`")
print(f"gives `{rounded(cross_output[0])}` and the block `{rounded(output[0])}`")
