"""Dropout judged exactly: every training run must equal one of the outputs that its masks can give.

    SITES = (Site("the attention weights", {"head": 2, "key": 2}),)

    @relation
    def weights_are_dropped(draw):
        "drops single attention weights in training"
        x, state = ...                       # one active sublayer, the other one's output weights and biases zero
        def predict(keep):                   # (patterns, head, key): 0 where dropped, 1 / (1 - p) where kept
            return ...                       # (patterns, batch, token, feature): the whole block's output
        runs = training_runs("Block", {..., "dropout": 0.5}, state, x)
        return runs, lambda observations: compare_dropout(observations[0], 0.5, SITES, predict)

A site is a place where elements are dropped; its axes are those of one unit's mask. A unit is a part of the output
that no other unit's mask reaches: a token by default. Sites that act on one unit together (attention weights and
the sublayer's output, say) are given together, and ``predict`` gets one ``keep`` for each; their elements count up
to 16. A token has to tell its masks apart: few elements, hidden preactivations positive, no zero weights.
Known mistakes are named when they explain all runs: a site that is forgotten or not scaled, and the author's own.
A sentence holds nothing that changes from run to run, so that it tells mutants apart and says the same twice.
No seed has to match, and what is called a fault has a chance below 1e-9 in right code.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import torch
from torch import Tensor

from judge.authoring import Call

TOLERANCE = 1e-5  # the judge's one threshold: code that computes in float32 inside is no dropout bug
CHANCE = 1e-12  # what is less likely than this in one place is no coincidence
LARGEST = 16  # elements of all sites together: 65,536 patterns

Predict = Callable[..., Tensor]


@dataclass(frozen=True, slots=True)
class Site:
    """A place where elements are dropped: ``name`` as in "nothing is dropped from <name>", ``axes`` name to size."""

    name: str
    axes: dict[str, int]

    @property
    def elements(self) -> int:
        return math.prod(self.axes.values())


@dataclass(frozen=True, slots=True)
class Mistake:
    """A wrong block whose runs would be explained by other sites: ``sentence`` says what is wrong."""

    sentence: str
    sites: Sequence[Site]
    predict: Predict


def training_runs(
    name: str, config: dict[str, Any], state: dict[str, Tensor], *args: Any, runs: int = 64, **kwargs: Any
) -> Call:
    """One module in training, applied ``runs`` times to the same inputs, observed as "run0", "run1", ...

    Half-way it is evaluated once ("evaluation") and goes back to training.
    64 runs see everything at p = 0.5; at p = 0.25 an element that is never dropped shows in 128 only.
    """
    one = Call()
    module = one.construct(name, **config)
    one.to(module)
    one.load_state(module, state)
    one.train(module)
    for index in range(runs):
        if index == runs // 2 > 0:
            one.eval(module)
            one.apply(module, *args, **kwargs).observe("evaluation")
            one.train(module)
        one.apply(module, *args, **kwargs).observe(f"run{index}")
    return one.random()


def compare_dropout(
    observation: dict[str, Any],
    p: float,
    sites: Sequence[Site],
    predict: Predict,
    units: Sequence[str] = ("batch row", "token"),
    mistakes: Sequence[Mistake] = (),
) -> str | None:
    """What is wrong with the masks of these runs, in one sentence, or None.

    ``units`` names the leading axes of an output; ``predict(*keeps)``, each keep (patterns, *axes of its site),
    gives (patterns, *units, feature).
    """
    if sum(site.elements for site in sites) > LARGEST:
        raise ValueError(f"{sum(site.elements for site in sites)} elements are too many; take at most {LARGEST}")
    runs = torch.stack([run for name, run in observation.items() if name.startswith("run")]).double()
    if runs.dim() != len(units) + 2:
        raise ValueError(f"a run has {runs.dim() - 1} dimensions but {len(units)} units and a feature axis are named")
    fits, dropped, kept = _decode(runs, p, sites, predict)
    if not fits.all():
        known = _forgotten(runs, p, sites, predict, units) or _known(runs, p, mistakes, units)
        return known or f"no choice of dropped elements of {_names(sites)} gives the outputs of the training runs"
    return _fault(dropped, kept, p, sites, units)


def _decode(
    runs: Tensor, p: float, sites: Sequence[Site], predict: Predict, kinds: Sequence[str] | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Which units (runs, *units) fit a pattern, and which elements (..., elements) were surely dropped, surely kept."""
    kinds = kinds or ["right"] * len(sites)
    count = sum(site.elements for site, kind in zip(sites, kinds, strict=True) if kind != "off")
    pattern = (torch.arange(2**count)[:, None] >> torch.arange(count)) & 1  # (patterns, elements), 1 = dropped
    keeps, start = [], 0
    for site, kind in zip(sites, kinds, strict=True):
        if kind == "off":
            keeps.append(torch.ones(len(pattern), *site.axes.values(), dtype=torch.float64))
            continue
        keep = 1.0 - pattern[:, start : start + site.elements].double()
        keeps.append(keep.reshape(-1, *site.axes.values()) / (1.0 if kind == "unscaled" else 1 - p))
        start += site.elements
    expected = predict(*keeps)
    if expected.shape[1:] != runs.shape[1:]:
        raise ValueError(f"predict gives {tuple(expected.shape[1:])} but a run has {tuple(runs.shape[1:])}")
    fits, may_drop, may_keep = [], [], []
    for run, right in zip(runs.flatten(1, -2).unbind(1), expected.flatten(1, -2).unbind(1), strict=True):
        distance = torch.cdist(run, right, compute_mode="donot_use_mm_for_euclid_dist")
        near = (distance <= TOLERANCE * right.norm(dim=-1).max()).float()  # NaN and inf are near nothing
        fits.append(near.any(-1))
        may_drop.append(near @ pattern.float() > 0)
        may_keep.append(near @ (1 - pattern).float() > 0)
    dropped, kept = (torch.stack(part, dim=1).reshape(*runs.shape[:-1], count) for part in (may_drop, may_keep))
    return torch.stack(fits, dim=1).reshape(runs.shape[:-1]), dropped & ~kept, kept & ~dropped


def _forgotten(runs: Tensor, p: float, sites: Sequence[Site], predict: Predict, units: Sequence[str]) -> str | None:
    """Whether every run is explained by some of the sites that drop nothing, or that don't scale.

    Of several explanations the one counts that leaves nothing else to complain about: at p = 0.5 a site that is
    never dropped looks like another one that is not scaled.
    """
    sentences = {
        "off": "nothing is dropped from {}",
        "unscaled": "what is kept of {} is not scaled by 1 / (1 - p)",
    }
    found = None
    for size in range(1, len(sites) + 1):
        for chosen in combinations(sites, size):
            for kind, sentence in sentences.items():
                kinds = [kind if site in chosen else "right" for site in sites]
                fits, dropped, kept = _decode(runs, p, sites, predict, kinds)
                if fits.all():
                    active = [site for site, kind in zip(sites, kinds, strict=True) if kind != "off"]
                    if not _fault(dropped, kept, p, active, units):
                        return sentence.format(_names(chosen))
                    found = found or sentence.format(_names(chosen))
    return found


def _known(runs: Tensor, p: float, mistakes: Sequence[Mistake], units: Sequence[str]) -> str | None:
    for mistake in mistakes:
        fits, dropped, kept = _decode(runs, p, mistake.sites, mistake.predict)
        if fits.all() and not _fault(dropped, kept, p, mistake.sites, units):
            return mistake.sentence
    return None


def _fault(dropped: Tensor, kept: Tensor, p: float, sites: Sequence[Site], units: Sequence[str]) -> str | None:
    sizes = [site.elements for site in sites]
    parts = list(zip(torch.split(dropped, sizes, -1), torch.split(kept, sizes, -1), sites, strict=True))
    for dropped_part, kept_part, site in parts:
        shape = (*dropped.shape[:-1], *site.axes.values())
        fault = _site_fault(dropped_part.reshape(shape), kept_part.reshape(shape), p, site, units)
        if fault:
            return fault
    for (dropped_one, kept_one, one), (dropped_other, kept_other, other) in combinations(parts, 2):
        if one.elements == other.elements:
            equal = int(((dropped_one & dropped_other) | (kept_one & kept_other)).sum())
            different = bool(((dropped_one & kept_other) | (kept_one & dropped_other)).any())
            if not different and equal >= _enough_equal(p):
                return f"one mask drops {one.name} and {other.name}; each has a mask of its own"
    return None


def _enough_equal(p: float) -> float:
    """How many pairs of elements are never all dropped or kept together by chance."""
    return math.log(CHANCE) / math.log(p * p + (1 - p) * (1 - p))


def _site_fault(dropped: Tensor, kept: Tensor, p: float, site: Site, units: Sequence[str]) -> str | None:
    """Masks (runs, *units, *axes) that no element-wise draw with probability p gives."""
    axes = [*units, *site.axes]
    known = dropped | kept
    enough = math.log(CHANCE) / math.log(max(p, 1 - p))
    stuck = (~dropped.any(0) | ~kept.any(0)) & (known.sum(0) >= enough)
    if stuck.any():
        if bool(stuck[known.any(0)].all()) and dropped.any():
            return f"the same elements of {site.name} are dropped at every call"
        index = stuck.nonzero()[0].tolist()
        often = "always" if dropped.any(0)[tuple(index)] else "never"
        place = ", ".join(f"{name} {i}" for name, i in zip(axes, index, strict=True))
        return f"an element of {site.name} ({place}) is {often} dropped in {len(known)} training runs"
    for dim, name in enumerate(axes, start=1):
        compared = known.sum(dim) >= 2
        if compared.sum() >= _enough_equal(p) and not (dropped.any(dim) & kept.any(dim)).any():
            return f"the mask of {site.name} is the same for every {name}; each element is dropped on its own"
    count, drops = int(known.sum()), int(dropped.sum())
    if abs(drops - p * count) > 8 * math.sqrt(count * p * (1 - p)):
        how = "more" if drops > p * count else "fewer"
        return f"{how} elements of {site.name} are dropped than the probability {p} gives"
    return None


def _names(sites: Sequence[Site]) -> str:
    return " and ".join(site.name for site in sites)
