"""The example of statement.md, computed with the reference."""

import torch
from torch import nn

model = EncoderDecoder(source_vocab=3, target_vocab=2, d_model=4, d_ff=4, num_heads=1, num_blocks=1)
model.double()  # cos(0.01) is 0.9999500004: in float32 it would be shown as 0.9999
for name, value in model.named_parameters():
    if name.endswith("bias"):
        nn.init.zeros_(value)
    elif value.dim() == 1:
        nn.init.ones_(value)
    else:
        nn.init.eye_(value)
target_table = torch.tensor([[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0]])
model.load_state_dict({"target_tokens.weight": target_table}, strict=False)
source, target = torch.tensor([[0, 2, 1]]), torch.tensor([[1, 0]])

print(f"table is `{rounded(target_table, 0)}`. With `source = {source.tolist()}` and `target = {target.tolist()}`")
print("the source's sum", rounded(model.embed(model.source_tokens, source)[0]))
print("the target's sum", rounded(model.embed(model.target_tokens, target)[0]))
print("encode", rounded(model.encode(source)[0]))
print("logits", rounded(model(source, target)[0]))

lengths = torch.tensor([2])
first, second, _ = model.encode(source, lengths)[0]
logits = rounded(model(source, target, lengths)[0])
print(f"With `source_lengths = {lengths.tolist()}`")
print(f"are `{rounded(first)}` and `{rounded(second)}`")
if {rounded(model(torch.tensor([[0, 2, third]]), target, lengths)[0]) for third in range(3)} == {logits}:
    print(f"the logits `{logits}`, whatever the third source token is")
