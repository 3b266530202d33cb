"""The example of statement.md, computed with the reference."""

import torch

x = torch.tensor([[[1.0, 2.0, 3.0, 0.0, 0.0, 0.0], [3.0, 4.0, 5.0, 0.0, 0.0, 0.0]]])
one = torch.eye(6)
nothing = torch.zeros(3, 6)
first_three = torch.eye(3, 6)
causal = torch.ones(2, 2, dtype=torch.bool).tril()
print(f"x = torch.tensor({x.tolist()})")

CALLS = (
    "grouped_query_attention(x, 6, 3, one, nothing, first_three, one)",
    "grouped_query_attention(x, 6, 3, one, nothing, first_three, one, mask=causal)",
    "grouped_query_attention(x, 6, 2, one, nothing[:2], first_three[:2], one, mask=causal)",
)
for call in CALLS:
    print(call)
    print(eval(call))
