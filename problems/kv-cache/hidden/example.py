"""The example of statement.md, computed with the reference."""

import torch

one, nothing = torch.eye(2), torch.zeros(2, 2)
first = torch.tensor([[[1.0, 10.0], [3.0, 30.0]]])
then = torch.tensor([[[5.0, 50.0], [7.0, 70.0]]])
print(f"first = torch.tensor({first.tolist()})")
print(f"then = torch.tensor({then.tolist()})")

output, cache = attend_with_cache(first, None, 1, nothing, one, one, one)
print("# output", output)

output, longer = attend_with_cache(then, cache, 1, nothing, one, one, one)
print(f"# output tensor({rounded(output)})")  # a third of 90 is not exact
print("# longer[1]", longer[1])
print(f"and cache[1] still has {('no', 'one', 'two', 'three', 'four')[cache[1].shape[2]]} tokens")
print(f"(1 + 3 + 5) / 3 = {output[0, 0, 0]:.0f}")
print(f"(1 + 3 + 5 + 7) / 4 = {output[0, 1, 0]:.0f}")
