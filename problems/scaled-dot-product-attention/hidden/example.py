"""The example of statement.md, computed with the reference."""

import torch

query = torch.tensor([[2.0, 0.0, 0.0, 0.0], [0.0, 2.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
key = torch.tensor([[1.0, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [3.0, 0.0, 0.0, 0.0]])
value = torch.tensor([[4.0, 0.0], [0.0, 8.0], [0.0, 100.0]])
mask = torch.tensor([[True, True, False], [True, True, False], [False, False, False]])
print(f"query = torch.tensor({query.tolist()})")
print(f"key = torch.tensor({key.tolist()})")
print(f"value = torch.tensor({value.tolist()})")
print(f"mask = torch.tensor({mask.tolist()})")

output, weights = scaled_dot_product_attention(query, key, value, mask)
print("# output", output)
print("# weights", weights)

scores = query[0] @ key.T
print(f"scores are {rounded(scores, 0)[1:-1]}, times 1/2 they are {rounded(scores / 2, 0)[1:-1]}")
first, second, _ = weights[0]
print(f"e / (e + 1) = {rounded(first)} and {rounded(second)}")
