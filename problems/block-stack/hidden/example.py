"""The example of statement.md, computed with the reference."""

import torch
from torch import nn

x = torch.tensor([[[1.0, 3.0, 2.0], [4.0, 0.0, 1.0]]], dtype=torch.float64)
for norm_first in (True, False):
    stack = BlockStack(num_blocks=2, d_model=3, num_heads=1, d_ff=3, norm_first=norm_first).double()
    for name, value in stack.named_parameters():
        if name.endswith("bias"):
            nn.init.zeros_(value)
        elif value.dim() == 1:
            nn.init.ones_(value)
        else:
            nn.init.eye_(value)
    output, stream = stack(x, return_stream=True)
    print(f"norm_first={norm_first}")
    for depth, state in enumerate(stream):
        print(f"stream[{depth}]", rounded(state[0]))
    print("output", rounded(output[0]))
