"""The example of statement.md, computed with the reference."""

import torch

module = AddNorm(d_model=3, dropout=0.5)
module.load_state_dict({"norm.weight": torch.tensor([1.0, 2.0, 0.5]), "norm.bias": torch.tensor([0.0, 1.0, -1.0])})
standard = AddNorm(d_model=3)  # gain 1, bias 0
x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 0.0, 2.0]])
sublayer_output = torch.tensor([[1.0, 1.0, -2.0], [-4.0, 2.0, 2.0]])

print(f"gain `{rounded(module.norm.weight, 1)}` and bias `{rounded(module.norm.bias, 1)}`")
print("x", rounded(x))
print("sublayer_output", rounded(sublayer_output))
print("their sum", rounded(x + sublayer_output))
print("standardized", rounded(standard(x, sublayer_output)))
print("result", rounded(module.eval()(x, sublayer_output)))

dropped = torch.tensor([2.0, 0.0, -4.0])
result = rounded(module(x[0], dropped))
module.train()
print(f"`dropout={module.dropout.p}`")
print(f"`{rounded(x[0], 0)} + {rounded(dropped, 0)} = {rounded(x[0] + dropped, 0)}`")
if result in {rounded(module(x, sublayer_output)[0]) for _ in range(100)}:
    print(f"the result `{result}`")

refused = []
for other in (sublayer_output[0], sublayer_output[:1]):
    try:
        module(x, other)
    except ValueError:
        refused.append(f"`{tuple(other.shape)}`")
print(f"of shape {' or '.join(refused)}, the same `x` is refused")
