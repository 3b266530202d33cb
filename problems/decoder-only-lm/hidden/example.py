"""The example of statement.md, computed with the reference."""

import torch
from torch import nn


def model_with(num_blocks):
    """Identity matrices and the embeddings of the example."""
    model = DecoderOnlyLM(vocab_size=3, max_len=3, d_model=4, d_ff=4, num_heads=2, num_blocks=num_blocks).double()
    for name, value in model.named_parameters():
        if name.endswith("bias"):
            nn.init.zeros_(value)
        elif value.dim() == 1:
            nn.init.ones_(value)
        else:
            nn.init.eye_(value)
    tokens = torch.tensor([[2.0, 0.0, 0.0, 0.0], [0.0, 2.0, 0.0, 0.0], [0.0, 0.0, 2.0, 0.0]])
    positions = torch.tensor([[0.0, 0.0, 0.0, 2.0], [2.0, 0.0, 0.0, 0.0], [0.0, 2.0, 0.0, 0.0]])
    model.load_state_dict({"tokens.weight": tokens, "positions.weight": positions}, strict=False)
    return model


ids = torch.tensor([[0, 2]])
model = model_with(num_blocks=0)
total = model.tokens(ids) + model.positions(torch.arange(2))
print("tokens.weight", rounded(model.tokens.weight, 0))
print("positions.weight", rounded(model.positions.weight, 0))
print("ids", ids.tolist())
print("sum of the embeddings", rounded(total))
print("final norm", rounded(model.norm(total)))
print("logits", rounded(model(ids)))
print("with offset=1", rounded(model(ids, offset=1)))

model = model_with(num_blocks=1)
block = model.blocks[0]
print("attention output", rounded(block.attention(block.norm1(total))))
print("after the block", rounded(block(total)))
print("logits", rounded(model(ids)))
