"""The example of statement.md, computed with the reference."""

import torch

CALLS = (
    "sinusoidal_positions(3, 4)",
    "sinusoidal_positions(1, 4, offset=2)",
    "add_positions(torch.ones(1, 2, 2), offset=1)",
)
for call in CALLS:
    print(call)
    print(eval(call))

angle = torch.asin(sinusoidal_positions(1, 4, offset=1)[0, 2])
print(f"1 / 10000 ** (2 / 4) = {rounded(angle, 2)}")
