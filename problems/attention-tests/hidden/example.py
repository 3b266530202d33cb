"""The example of statement.md, computed with the reference and two of its seeded bugs."""

from pathlib import Path

import torch

from judge.mutants import load_mutants

sources = {mutant.name: mutant.source for mutant in load_mutants(Path(__file__).parents[1], for_tests=True)}


def with_bug(name):
    names = {}
    exec(sources[name], names)
    return names["scaled_dot_product_attention"]


def shown(result):
    """A row of a result: 0 only where it is exact, and three digits of a trace."""
    return ", ".join("0" if r == 0 else rounded(r, 4 if r > 1e-4 else 7) for r in result[0].tolist())


query, key = torch.tensor([[1.0]]), torch.tensor([[1.0], [0.0], [3.0]])
value = torch.tensor([[4.0, 0.0], [0.0, 8.0], [0.0, 100.0]])
mask = torch.tensor([True, True, False])
scores = rounded((query @ key.T)[0], 0).strip("[]").split(", ")
print(f"Scores {scores[0]}, {scores[1]} and {scores[2]}")
print("values", ", ".join(f"`{rounded(row, 0)}`" for row in value))

implementations = {
    "right": scaled_dot_product_attention,
    "masks after the softmax": with_bug("mask_after_the_softmax"),
    "fills masked scores with -10": with_bug("a_trace_behind_the_mask"),
}
for label, attention in implementations.items():
    output, weights = attention(query, key, value, mask)
    print(f"| {label} | {shown(weights)} | {shown(output)} |")

right, _, trace = (attention(query, key, value, mask)[0] for attention in implementations.values())
if (trace - right).norm() < 1e-3 * right.norm():
    print("A tolerance of 1e-3 forgives the second altogether")
