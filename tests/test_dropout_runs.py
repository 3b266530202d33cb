"""Training runs of two modules in turn, and of long sequences, on modules that run in this process."""

import pytest
import torch
from torch import nn

from judge.dropout_runs import modes_of_each, runs_among_blocks, same_in_two_blocks, unlike_evaluation
from judge.processes.run import Run

STATE = {"fc.weight": torch.eye(6).double() + 0.1, "fc.bias": torch.ones(6).double()}
X = torch.ones(1, 40, 6).double()


class Right(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.fc = nn.Linear(6, 6)
        self.dropout = dropout

    def forward(self, x):
        return x + self.drop(self.fc(x))

    def drop(self, hidden):
        return nn.functional.dropout(hidden, self.dropout, self.training)


class OwnSeed(Right):
    """Every module draws the masks of one seed."""

    def drop(self, hidden):
        self.generator = getattr(self, "generator", None) or torch.Generator().manual_seed(0)
        return hidden * (torch.rand(hidden.shape, generator=self.generator) > self.dropout) / (1 - self.dropout)


class RateOfTheLast(Right):
    """The probability stands on the class."""

    def __init__(self, dropout):
        super().__init__(dropout)
        del self.dropout
        type(self).dropout = dropout


class FirstTokensOnly(Right):
    def drop(self, hidden):
        return torch.cat([super().drop(hidden[:, :32]), hidden[:, 32:]], dim=1)


def given(call, block):
    run = Run(call.program, {"Block": block})
    run.execute()
    return {name: value.detach() for name, value in run.values.items()}


@pytest.mark.parametrize(("block", "same"), [(Right, False), (OwnSeed, True)])
def test_two_modules_that_draw_the_same_masks_are_told(block, same):
    assert same_in_two_blocks(given(runs_among_blocks("Block", {"dropout": 0.75}, STATE, X), block)) is same


@pytest.mark.parametrize(("block", "share"), [(Right, 0.75), (RateOfTheLast, 0.25)])
def test_a_third_module_with_another_probability_is_made_before_the_runs(block, share):
    seen = given(runs_among_blocks("Block", {"dropout": 0.75}, STATE, X), block)
    assert list(seen) == [f"run{index}" for index in range(20)]
    dropped = torch.stack([run == X for run in seen.values()]).double().mean()
    assert abs(float(dropped) - share) < 0.05


def test_a_token_of_a_long_sequence_that_nothing_is_dropped_from_is_told():
    call = modes_of_each("Block", {}, {"the linear map": STATE}, X)
    assert unlike_evaluation(given(call, Right)) is None
    said = "nothing is dropped from the linear map at a token of a long sequence"
    assert unlike_evaluation(given(call, FirstTokensOnly)) == said
