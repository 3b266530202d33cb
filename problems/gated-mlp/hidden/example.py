"""The example of statement.md, computed with the reference."""

import torch

x = torch.tensor([[1.0, 2.0]])
weight_gate = torch.tensor([[1.0, 0.0], [0.0, -1.0], [1.0, 1.0]])
weight_up = torch.tensor([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0]])
weight_down = torch.tensor([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
print(f"x = torch.tensor({x.tolist()})")
print(f"weight_gate = torch.tensor({weight_gate.tolist()})")
print(f"weight_up = torch.tensor({weight_up.tolist()})")
print(f"weight_down = torch.tensor({weight_down.tolist()})")
print(f"gates are `{rounded((x @ weight_gate.T)[0], 0)}`, the other branch is `{rounded((x @ weight_up.T)[0], 0)}`")

WITH_DIGITS = {
    'gated_mlp_forward(x, weight_gate, weight_up, weight_down, "relu")': 1,
    'gated_mlp_forward(x, weight_gate, weight_up, weight_down, "identity")': 1,
    "gated_mlp_forward(x, weight_gate, weight_up, weight_down)": 4,
}
for call, digits in WITH_DIGITS.items():
    print(call, "->", rounded(eval(call), digits))

COUNTS = (
    "mlp_parameter_count(2, 3)",
    "mlp_parameter_count(2, 3, gated=True)",
    "mlp_parameter_count(2, 3, gated=True, bias=False)",
    "matched_gated_width(16384, multiple_of=256)",
    "mlp_forward_flops(1, 2, 3, gated=True)",
)
for call in COUNTS:
    print(call, "->", eval(call))
