"""Dropout judged by its patterns: right implementations pass under any seed, and each known mistake gets its sentence."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from judge.authoring import Call
from judge.dropout import LARGEST, Mistake, Site, compare_dropout, training_runs

B, T, H, D, D_HEAD = 2, 2, 2, 4, 2
RUNS = 64


def normal(*shape, seed):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


X = 2 * normal(B, T, D, seed=1) + 3
WEIGHTS = torch.softmax(normal(B, H, T, T, seed=2), -1)
VALUE = normal(B, H, T, D_HEAD, seed=3)
OUT, BIAS = normal(D, D, seed=4), normal(D, seed=5)
SITES = (Site("the attention weights", {"head": H, "key": T}),)


def predict(keep):
    """The attention sublayer's output for each pattern, (patterns, batch, token, feature)."""
    heads = torch.einsum("bhqk,phk,bhkd->pbqhd", WEIGHTS, keep, VALUE).flatten(3)
    return X + heads @ OUT.T + BIAS


def block(weights):
    """The same sublayer with these attention weights."""
    return X + (weights @ VALUE).transpose(1, 2).flatten(2) @ OUT.T + BIAS


def keep(p, *shape):
    return (torch.rand(shape, dtype=torch.float64) > p).double()


@pytest.fixture(autouse=True)
def seeded():
    """One draw for all: what is called wrong may not depend on it, and the test does not change from run to run."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        yield


def complaint(drop, p=0.5, runs=RUNS, **how):
    return compare_dropout({f"run{i}": block(drop(WEIGHTS)) for i in range(runs)}, p, SITES, predict, **how)


# Right


@pytest.mark.parametrize(
    ("drop", "p", "runs"),
    [
        (lambda w: F.dropout(w, 0.5), 0.5, 64),
        (lambda w: F.dropout(w, 0.25), 0.25, 128),
        (lambda w: F.dropout(w, 0.75), 0.75, 128),
        (lambda w: w * keep(0.5, *w.shape) / 0.5, 0.5, 64),
        (lambda w: w * torch.bernoulli(torch.full_like(w, 0.5)) * 2, 0.5, 64),
        (lambda w: nn.Dropout(0.5)(w.transpose(-1, -2)).transpose(-1, -2), 0.5, 64),
        (lambda w: F.dropout(w.float(), 0.5).double(), 0.5, 64),
    ],
    ids=["function", "quarter", "three quarters", "own mask", "bernoulli", "module", "float32 inside"],
)
@pytest.mark.parametrize("seed", range(3))
def test_right_dropout_passes_under_every_seed(drop, p, runs, seed):
    torch.manual_seed(seed)
    assert complaint(drop, p, runs) is None


# Wrong


@pytest.mark.parametrize(
    ("drop", "said"),
    [
        (lambda w: w, "nothing is dropped from the attention weights"),
        (
            lambda w: w * keep(0.5, *w.shape),
            "what is kept of the attention weights is not scaled by 1 / (1 - p)",
        ),
        (
            lambda w: w * keep(0.5, B, 1, T, T) * 2,
            "the mask of the attention weights is the same for every head; each element is dropped on its own",
        ),
        (
            lambda w: w * keep(0.5, 1, H, T, T) * 2,
            "the mask of the attention weights is the same for every batch row; each element is dropped on its own",
        ),
        (
            lambda w: w * keep(0.5, B, H, 1, T) * 2,
            "the mask of the attention weights is the same for every token; each element is dropped on its own",
        ),
        (
            lambda w: w * keep(0.5, B, H, T, 1) * 2,
            "the mask of the attention weights is the same for every key; each element is dropped on its own",
        ),
        (
            lambda w: w * 2,
            "an element of the attention weights (batch row 0, token 0, head 0, key 0) is never dropped in 64 training runs",
        ),
        (
            lambda w: w * 1.5,
            "no choice of dropped elements of the attention weights gives the outputs of the training runs",
        ),
        (
            lambda w: F.dropout(F.dropout(w, 0.5), 0.5),
            "no choice of dropped elements of the attention weights gives the outputs of the training runs",
        ),
        (
            lambda w: F.dropout(w, 0.1),
            "no choice of dropped elements of the attention weights gives the outputs of the training runs",
        ),
        (
            lambda w: w * math.nan,
            "no choice of dropped elements of the attention weights gives the outputs of the training runs",
        ),
        (
            lambda w: w * math.inf,
            "no choice of dropped elements of the attention weights gives the outputs of the training runs",
        ),
        (
            lambda w: F.dropout(w, 0.5) * torch.tensor([0.0, 1.0]),
            "an element of the attention weights (batch row 0, token 0, head 0, key 0) is always dropped in 64 training runs",
        ),
        (
            lambda w: torch.cat([F.dropout(w, 0.5)[..., :1], 2 * w[..., 1:]], -1),
            "an element of the attention weights (batch row 0, token 0, head 0, key 1) is never dropped in 64 training runs",
        ),
        (
            lambda w: w * keep(0.8, *w.shape) * 2,
            "more elements of the attention weights are dropped than the probability 0.5 gives",
        ),
        (
            lambda w: w * keep(0.2, *w.shape) * 2,
            "fewer elements of the attention weights are dropped than the probability 0.5 gives",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_mistake_gets_its_sentence(drop, said):
    assert complaint(drop) == said


def test_an_inverted_probability_is_seen_away_from_a_half():
    assert complaint(lambda w: w * keep(0.75, *w.shape) / 0.75, 0.25, 128) == (
        "more elements of the attention weights are dropped than the probability 0.25 gives"
    )
    assert "no choice of dropped elements" in complaint(lambda w: w * keep(0.25, *w.shape) / 0.25, 0.25, 128)


def test_a_mask_that_is_drawn_once_is_the_same_at_every_call():
    mask = 2 * keep(0.5, *WEIGHTS.shape)
    assert complaint(lambda w: w * mask) == "the same elements of the attention weights are dropped at every call"


def test_a_sentence_holds_nothing_that_changes_from_run_to_run():
    for drop in (lambda w: w * keep(0.8, *w.shape) * 2, lambda w: w * keep(0.5, B, 1, T, T) * 2, lambda w: w * 1.5):
        assert len({complaint(drop) for _ in range(4)}) == 1


# Several sites


HIDDEN = torch.rand(B, T, 4, generator=torch.Generator().manual_seed(6), dtype=torch.float64) + 0.5
DOWN, SHIFT = normal(D, 4, seed=7), normal(D, seed=13)
BOTH = (Site("the hidden layer", {"feature": 4}), Site("the output", {"channel": D}))


def predict_both(hidden, output):
    return X + (torch.einsum("btf,pf,of->pbto", HIDDEN, hidden, DOWN) + SHIFT) * output[:, None, None]


def complaint_of_both(hidden, output, mistakes=()):
    runs = {f"run{i}": X + output(hidden(HIDDEN) @ DOWN.T + SHIFT) for i in range(RUNS)}
    return compare_dropout(runs, 0.5, BOTH, predict_both, mistakes=mistakes)


def test_one_mask_for_two_sites_is_seen():
    masks = [2 * keep(0.5, B, T, 4) for _ in range(RUNS)]
    runs = {f"run{i}": X + (HIDDEN * mask @ DOWN.T + SHIFT) * mask for i, mask in enumerate(masks)}
    assert compare_dropout(runs, 0.5, BOTH, predict_both) == (
        "one mask drops the hidden layer and the output; each has a mask of its own"
    )


def half(x):
    return F.dropout(x, 0.5)


def as_it_is(x):
    return x


@pytest.mark.parametrize(
    ("hidden", "output", "said"),
    [
        (half, half, None),
        (as_it_is, half, "nothing is dropped from the hidden layer"),
        (half, as_it_is, "nothing is dropped from the output"),
        (as_it_is, as_it_is, "nothing is dropped from the hidden layer and the output"),
        (half, lambda x: x * keep(0.5, *x.shape), "what is kept of the output is not scaled by 1 / (1 - p)"),
        (
            half,
            lambda x: x * keep(0.5, B, T, 1) * 2,
            "the mask of the output is the same for every channel; each element is dropped on its own",
        ),
    ],
    ids=lambda value: None,
)
def test_sites_that_act_together_are_told_apart(hidden, output, said):
    assert complaint_of_both(hidden, output) == said


def test_a_site_that_is_forgotten_is_no_other_one_without_its_scale():
    def predict_without_shift(hidden, output):
        return X + torch.einsum("btf,pf,of->pbto", HIDDEN, hidden, DOWN) * output[:, None, None]

    runs = {f"run{i}": X + half(HIDDEN) @ DOWN.T for i in range(RUNS)}
    assert compare_dropout(runs, 0.5, BOTH, predict_without_shift) == "nothing is dropped from the output"


def test_an_authors_mistake_is_named_where_it_explains_the_runs():
    residual = (Site("the stream", {"channel": D}),)

    def predict_residual(stream):
        return (X + HIDDEN @ DOWN.T) * stream[:, None, None]

    mistake = Mistake("drops from the residual stream", residual, predict_residual)
    runs = {f"run{i}": half(X + HIDDEN @ DOWN.T) for i in range(RUNS)}
    assert compare_dropout(runs, 0.5, BOTH, predict_both, mistakes=[mistake]) == "drops from the residual stream"
    assert "no choice" in compare_dropout(runs, 0.5, BOTH, predict_both)
    frozen = {f"run{i}": runs["run0"] for i in range(RUNS)}
    assert "no choice" in compare_dropout(frozen, 0.5, BOTH, predict_both, mistakes=[mistake])


def test_the_largest_joint_site_is_decoded():
    sites = (Site("one", {"feature": LARGEST - 4}), Site("other", {"channel": 4}))
    scale, signs = 1 + normal(LARGEST - 4, seed=8).abs(), normal(4, seed=9)

    def predict_sum(one, other):
        return ((one * scale).sum(-1)[:, None] * signs * other + signs)[:, None, None].expand(-1, 1, 1, 4)

    runs = {f"run{i}": (half(scale).sum() * half(signs) + signs)[None, None] for i in range(8)}
    assert compare_dropout(runs, 0.5, sites, predict_sum) is None


# How a call and a comparison are written


def test_other_units_than_tokens_can_be_named():
    sites = (Site("the rows", {"feature": 3}),)
    x = normal(5, 3, seed=10)

    def predict_rows(mask):
        return x * mask[:, None]

    runs = {f"run{i}": x * keep(0.5, 1, 3) * 2 for i in range(RUNS)}
    assert compare_dropout(runs, 0.5, sites, predict_rows, units=["row"]) == (
        "the mask of the rows is the same for every row; each element is dropped on its own"
    )


def test_what_is_not_named_run_is_left_out():
    runs = {f"run{i}": block(half(WEIGHTS)) for i in range(RUNS)}
    assert compare_dropout({**runs, "evaluation": block(WEIGHTS)}, 0.5, SITES, predict) is None


def test_an_authors_own_slips_are_named():
    runs = {f"run{i}": block(half(WEIGHTS)) for i in range(2)}
    with pytest.raises(ValueError, match="17 elements are too many; take at most 16"):
        compare_dropout(runs, 0.5, (Site("x", {"a": 17}),), predict)
    with pytest.raises(ValueError, match="a run has 3 dimensions but 1 units and a feature axis are named"):
        compare_dropout(runs, 0.5, SITES, predict, units=["token"])
    with pytest.raises(ValueError, match=r"predict gives \(2, 4\) but a run has \(2, 2, 4\)"):
        compare_dropout(runs, 0.5, SITES, lambda mask: predict(mask)[:, 0])


def test_training_runs_are_one_module_in_training_applied_many_times():
    x, state = normal(2, 3, seed=11), {"weight": normal(2, 3, seed=12)}
    one = training_runs("Block", {"dropout": 0.5}, state, x, runs=3, mask=None)
    assert isinstance(one, Call)
    evaluated = ["eval", "apply", "train"]
    kinds = ["construct", "to", "load_state", "train", "apply", *evaluated, "apply", "apply"]
    assert [step.kind for step in one.program.steps] == kinds
    applied = [step for step in one.program.steps if step.kind == "apply"]
    assert [step.observe for step in applied] == ["run0", "evaluation", "run1", "run2"]
    assert all(step.target.step == 0 and step.args[0] is x and step.kwargs == {"mask": None} for step in applied)
    assert one.program.random
    assert one.program.light
