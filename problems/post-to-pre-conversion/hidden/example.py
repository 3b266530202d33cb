"""The example of statement.md, computed with the reference."""

import runpy
from pathlib import Path

import torch
from torch import nn

block = EncoderBlock(d_model=2, num_heads=1, d_ff=2)
for name, value in block.named_parameters():
    if name.endswith("bias"):
        nn.init.zeros_(value)
    elif value.dim() == 1:
        nn.init.ones_(value)
    else:
        nn.init.eye_(value)
stub = runpy.run_path(str(Path(__file__).parents[1] / "stub.py"))["EncoderBlock"](d_model=2, num_heads=1, d_ff=2)
stub.load_state_dict(block.state_dict())


def shown(stream):
    """The only token, rounded to whole numbers: the norms' eps doesn't show."""
    return f"`{rounded(stream[0, 0], 0)}`"


x = torch.tensor([[[3.0, 1.0]]])
print(f"`x = {x.tolist()}`")
SUBLAYERS = (("attention", "attention", "norm1"), ("MLP", "mlp", "norm2"))

stream = x
for label, sublayer, norm in SUBLAYERS:
    reads = stream
    adds = stub.get_submodule(sublayer)(reads)
    total = reads + adds
    stream = stub.get_submodule(norm)(total)
    print(f"| post-norm, {label} | {shown(reads)} | {shown(adds)} | {shown(total)}, normalized: {shown(stream)} |")

stream = x
for label, sublayer, norm in SUBLAYERS:
    reads = block.get_submodule(norm)(stream)
    adds = block.get_submodule(sublayer)(reads)
    stream = stream + adds
    print(f"| pre-norm, {label} | {shown(reads)} | {shown(adds)} | {shown(stream)} |")

print(f"the stub gives `{rounded(stub(x), 1)}` and the converted block `{rounded(block(x), 1)}`")
