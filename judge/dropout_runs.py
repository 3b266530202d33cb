"""Training runs where masks can't all be listed: of two modules in turn, and of long sequences.

calls = [runs_among_blocks("Block", {**TINY, "dropout": 0.75}, state, x), modes_of_each("Block", TINY, states, long)]
...
return same_in_two_blocks(observations[0]) or unlike_evaluation(observations[1])
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from judge.authoring import Call

_RUNS = 20
_AS_IN_EVALUATION = 1e-6  # relative; what is kept is scaled, so a token equals its evaluation only if nothing drops


def runs_among_blocks(name: str, config: dict[str, Any], state: dict[str, Tensor], *args: Any, **kwargs: Any) -> Call:
    """Twenty training runs of two modules in turn, "run0" to "run19", beside a third one that drops a quarter."""
    one = Call()
    blocks = [one.construct(name, **given) for given in (config, config, {**config, "dropout": 0.25})]
    for block in blocks:
        one.to(block)
        one.load_state(block, state)
        one.train(block)
    for index in range(_RUNS):
        one.apply(blocks[index % 2], *args, **kwargs).observe(f"run{index}")
    return one.random()


def same_in_two_blocks(observation: Mapping[str, Tensor]) -> bool:
    """Whether each run of the first module is the second one's."""
    runs = list(observation.values())
    return all(torch.equal(*pair) for pair in zip(runs[::2], runs[1::2], strict=True))


def modes_of_each(name: str, config: dict[str, Any], states: Mapping[str, dict[str, Tensor]], x: Tensor) -> Call:
    """One module that drops three quarters, with each checkpoint by the name of what it drops from, in both modes."""
    one = Call()
    block = one.construct(name, **{**config, "dropout": 0.75})
    one.to(block)
    for dropped_from, state in states.items():
        one.load_state(block, state)
        for mode in (one.train, one.eval):
            mode(block)
            one.apply(block, x).observe(f"{dropped_from}, {'training' if mode == one.train else 'evaluation'}")
    return one.random()


def unlike_evaluation(observation: Mapping[str, Tensor]) -> str | None:
    """What is wrong if a token (..., d_model), in training, gets what it gets in evaluation."""
    outputs = iter(observation.items())
    for (name, training), (_, evaluation) in zip(outputs, outputs, strict=True):
        same = (training - evaluation).norm(dim=-1) <= _AS_IN_EVALUATION * evaluation.norm(dim=-1)
        if same.any():
            return f"nothing is dropped from {name.partition(',')[0]} at a token of a long sequence"
    return None
