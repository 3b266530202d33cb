"""The example of statement.md, computed with the reference."""

import torch

FORMULAS = ("2 * s", "s + 1", "s + s ** 2")
blocks = [eval(f"lambda s: {formula}") for formula in FORMULAS]
x = torch.tensor([[[3.0, 4.0], [0.0, 0.0]]])

print("x", rounded(x, 1))
stream = x
for index, (formula, block) in enumerate(zip(FORMULAS, blocks, strict=True)):
    stream = block(stream)
    print(f"block {index}: {formula} {rounded(stream, 1)}")

for call in ("residual_stream_norms(x, blocks)", "gradient_norms(x, blocks, lambda s: s.sum())"):
    print(call, rounded(eval(call)))

for call, digits in {"growth_exponent([7.0, 1.0, 2.0, 4.0])": 4, "growth_exponent([0.0, 3.0, 12.0])": 1}.items():
    print(call, rounded(eval(call), digits))
try:
    growth_exponent([1.0, 2.0])
except ValueError:
    print("growth_exponent([1.0, 2.0]) ValueError")
