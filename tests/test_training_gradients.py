"""Gradients in training against slopes of the output, on modules that run in this process."""

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from judge.draws import Draw
from judge.processes.run import Run
from judge.training_gradients import training_gradients


class Right(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.fc = nn.Linear(6, 32)
        self.dropout = nn.Dropout(p)

    def forward(self, x):
        return self.drop(torch.relu(self.fc(x))).cumsum(-1) + x.mean(-1, keepdim=True)

    def drop(self, hidden):
        return self.dropout(hidden)


class InFloat32(Right):
    def forward(self, x):
        hidden = torch.nn.functional.linear(x.float(), self.fc.weight.float(), self.fc.bias.float())
        return (self.drop(hidden.relu()).cumsum(-1) + x.float().mean(-1, keepdim=True)).double()


class Checkpointed(Right):
    def drop(self, hidden):
        return checkpoint(lambda h: self.dropout(h).tanh(), hidden, use_reentrant=False)


class LeftOut(Right):
    """Without a bias that has no influence, as a key's has none on a softmax."""

    def forward(self, x):
        hidden = torch.nn.functional.linear(x, self.fc.weight)
        return self.drop(hidden - hidden.mean(-1, keepdim=True))


class OwnGenerator(Right):
    def drop(self, hidden):
        self.generator = getattr(self, "generator", None) or torch.Generator().manual_seed(1)
        return hidden * 2 * (torch.rand(hidden.shape, generator=self.generator) > 0.5)


class Detached(Right):
    def drop(self, hidden):
        return hidden + (self.dropout(hidden) - hidden).detach()


class DetachedWhereKept(Right):
    def drop(self, hidden):
        return self.dropout(hidden).detach() + hidden - hidden.detach()


class Unscaled(Right):
    def drop(self, hidden):
        mask = (self.dropout(torch.ones_like(hidden)) > 0).double()
        return hidden * mask + (hidden * mask).detach()


class OtherMasksOnTheWayBack(Right):
    def drop(self, hidden):
        return checkpoint(lambda h: self.dropout(h).tanh(), hidden, use_reentrant=False, preserve_rng_state=False)


class NotANumber(Right):
    def drop(self, hidden):
        return self.dropout(hidden) + 0 * hidden.sub(hidden.detach()).square().sqrt()


class CutOffWithAnOwnGenerator(OwnGenerator):
    def forward(self, x):
        return super().forward(x).detach() + 0 * x.sum()


class NoGradientForTheInput(Right):
    def forward(self, x):
        return super().forward(x.detach()) + 0 * x.sum()


def complaint(block, seed):
    draw = Draw(torch.Generator().manual_seed(seed))
    state = {"fc.weight": draw.normal(32, 6) / 3, "fc.bias": draw.normal(32)}
    call, check = training_gradients(draw, "Block", {"p": 0.5}, state, draw.normal(2, 3, 6))
    run = Run(call.program, {"Block": block})
    run.execute()
    return check([run.values])


@pytest.mark.parametrize("block", [Right, InFloat32, Checkpointed, LeftOut, OwnGenerator])
def test_right_gradients_pass_under_every_seed(block):
    assert [seed for seed in range(40) if complaint(block, seed)] == []


@pytest.mark.parametrize(
    "block",
    [
        Detached,
        DetachedWhereKept,
        Unscaled,
        OtherMasksOnTheWayBack,
        NotANumber,
        CutOffWithAnOwnGenerator,
        NoGradientForTheInput,
    ],  # fmt: skip
)
def test_gradients_that_go_elsewhere_are_seen_under_every_seed(block):
    assert [seed for seed in range(40) if not complaint(block, seed)] == []
