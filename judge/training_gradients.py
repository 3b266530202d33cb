"""The gradients of a module that drops elements, held against the slopes of its own output.

    @relation
    def gradients_in_training(draw):
        "passes gradients back, in training, through exactly the elements that its output was computed with"
        return training_gradients(draw, "Block", {**CONFIG, "dropout": 0.5}, block_state(draw), x, mask=mask)

Seeded alike, a module drops the same elements again, so that its output is a function of its parameters and inputs.
Its slope along a direction is known from two more outputs, and has to be what the gradients say. A submission that
draws its masks from a generator of its own gives another output for the same seed: then some gradient is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from judge.authoring import Call, Draw, Observations, Result
from judge.processes.run import weighted_sum

DIRECTIONS = 6
STEP = 1e-6  # times a normal number
TOLERANCE = 0.01  # of the slopes' norm: a mask that the gradient doesn't go through changes them by more
NOISE = 10  # times the bend is forgiven, of all directions but one: the rounding of float32 inside


def training_gradients(
    draw: Draw, name: str, config: dict[str, Any], state: dict[str, Tensor], *inputs: Tensor, **kwargs: Any
) -> tuple[Call, Callable[[Observations], str | None]]:
    """A relation: the gradient of a weighted sum of the output is its slope, for the masks of one seed.

    Slopes are taken along random directions of all parameters and floating ``inputs`` at once; entries of ``state``
    that are one tensor, as tied weights are, move together.
    """
    seed = draw.integer(0, 1 << 40)
    moving = {id(tensor): tensor for tensor in (*state.values(), *inputs) if tensor.is_floating_point()}
    directions = [{key: draw.normal(*tensor.shape) for key, tensor in moving.items()} for _ in range(DIRECTIONS)]
    one = Call()
    module = one.construct(name, **config)
    one.to(module)
    one.train(module)

    def output(tensors: dict[str, Tensor], arguments: list[Any]) -> Result:
        one.load_state(module, tensors)
        one.seed(seed)
        return one.apply(module, *arguments, **kwargs)

    leaves = [one.leaf(tensor) if id(tensor) in moving else tensor for tensor in inputs]
    given = output(state, leaves).observe("output")
    one.gradients(module, given, *(leaf for leaf in leaves if isinstance(leaf, Result))).observe("gradients")
    output(state, list(inputs)).observe("again")
    for number, direction in enumerate(directions):
        for way, factor in (("forth", STEP), ("back", -STEP)):
            moved = {key: tensor + factor * direction[key] for key, tensor in moving.items()}
            arguments = [moved.get(id(tensor), tensor) for tensor in inputs]
            output({key: moved[id(tensor)] for key, tensor in state.items()}, arguments).observe(f"{way} {number}")

    def check(observations: Observations) -> str | None:
        seen = observations[0]
        of_parameters, *of_inputs = seen["gradients"]
        gradients = {id(state[key]): gradient for key, gradient in of_parameters.items() if gradient is not None}
        gradients |= {id(tensor): gradient for tensor, gradient in zip(floating, of_inputs, strict=True)}
        if not torch.equal(seen["output"], seen["again"]):
            return None if any(gradient.any() for gradient in gradients.values()) else "no gradient passes in training"
        found, slopes, bends = [], [], []
        here = float(weighted_sum(seen["output"].detach()))
        for number, direction in enumerate(directions):
            forth, back = (float(weighted_sum(seen[f"{way} {number}"].detach())) - here for way in ("forth", "back"))
            found.append(sum(float((gradient * direction[key]).sum()) for key, gradient in gradients.items()))
            slopes.append((forth - back) / (2 * STEP))
            bends.append((forth + back) / STEP)
        slope, bend = torch.tensor(slopes), torch.tensor(bends).abs()
        allowed = TOLERANCE * slope.norm() + NOISE * bend.kthvalue(DIRECTIONS - 1).values
        smooth = bend <= allowed / 2  # and not so at the corner of a ReLU
        right = (torch.tensor(found) - slope)[smooth].norm() <= allowed
        return None if right else "its gradients are not the slopes of its output: they go through other elements"

    floating = [tensor for tensor in inputs if id(tensor) in moving]
    return one.random(), check
