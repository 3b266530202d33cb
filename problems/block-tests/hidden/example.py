"""The example of statement.md, computed with the reference and two of its seeded bugs."""

from pathlib import Path

import torch

from judge.mutants import load_mutants

sources = {mutant.name: mutant.source for mutant in load_mutants(Path(__file__).parents[1], for_tests=True)}


def with_bug(name):
    names = {}
    exec(sources[name], names)
    return names["pre_norm_transformer_block_forward"]


def listed(tensor):
    return f"torch.tensor({tensor.tolist()})"


x = torch.tensor([[[3.0, 1.0], [1.0, 3.0]]])
eye, zeros, ones = torch.eye(2), torch.zeros(2), torch.ones(2)
attention = {"weight_o": torch.tensor([[1.0, 0.5], [0.0, 1.0]]), "bias_o": torch.tensor([0.0, 1.0])}
ffn = {"ffn_weight1": eye, "ffn_bias1": zeros, "ffn_weight2": eye, "ffn_bias2": zeros}
print(f"x = {listed(x)}")
print(f'attention = {{"weight_o": {listed(attention["weight_o"])}, "bias_o": {listed(attention["bias_o"])}}}')

wrong = with_bug("pre_first_norm_used_twice")
norms = {"gamma1": ones, "beta1": zeros, "gamma2": ones, "beta2": zeros}
results = {
    rounded(forward(x, 1, **attention, **ffn, **norms)) for forward in (pre_norm_transformer_block_forward, wrong)
}
print("# right and wrong:", *results)

norms |= {"gamma2": torch.tensor([2.0, 1.0]), "beta2": torch.tensor([0.0, 0.5])}
print(f'"gamma2": {listed(norms["gamma2"])}, "beta2": {listed(norms["beta2"])}')
print("# right:", rounded(pre_norm_transformer_block_forward(x, 1, **attention, **ffn, **norms)))
print("# wrong:", rounded(wrong(x, 1, **attention, **ffn, **norms)))

wrong = with_bug("default_eps_of_1e_6")
params = {name: tensor.double() for name, tensor in {**attention, **ffn, **norms}.items()}


def error(factor):
    """The relative error norm for factor * x."""
    right = pre_norm_transformer_block_forward(factor * x.double(), 1, **params)
    return ((wrong(factor * x.double(), 1, **params) - right).norm() / right.norm()).item()


print(f"by {round(error(1) * 1e6)}e-6 for `x`")
for factor in (0.01, 0.001):
    print(f"by {error(factor):.0%} for `{factor} * x`".replace("%", " %"))
