"""The example of statement.md, computed with the reference."""

import torch

x = torch.tensor([[[2.0, 0.0], [0.0, 1.0], [1.0, 1.0]]])
one = torch.eye(2)
weight_v = torch.tensor([[1.0, 0.0], [0.0, 10.0]])
weight_o = torch.tensor([[1.0, 0.0], [1.0, 1.0]])
causal = torch.ones(3, 3, dtype=torch.bool).tril()
print(f"x = torch.tensor({x.tolist()})")
print(f"weight_v = torch.tensor({weight_v.tolist()})")
print(f"weight_o = torch.tensor({weight_o.tolist()})")

for num_heads in (1, 2):
    output = multi_head_attention(x, x, x, num_heads, one, one, weight_v, weight_o, mask=causal)
    print(f"multi_head_attention(x, x, x, {num_heads}, one, one, weight_v, weight_o, mask=causal)")
    print(f"# tensor({rounded(output)})")

first, second = (output[0, 1] @ torch.linalg.inv(weight_o).T).tolist()  # of the second token's two heads
print(f"its result is (2 + 0) / 2 = {rounded(first, 0)}")
print(f"finds 10 · {rounded(second / 10)} = {rounded(second)}")
