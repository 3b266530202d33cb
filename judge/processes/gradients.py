"""The gradients of a run, of every floating input and parameter, for a random cotangent; and along a stream."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from judge.processes import hygiene, wire
from judge.processes.run import Run, attempt

_ALIKE = 1e-5
_HARDLY_ANY = 0.05  # of the largest gradient's norm, in a low dtype


def gradients(run: Run, pool: torch.Tensor, trusted: bool = False) -> dict[str, Any]:
    """Execute the run and differentiate its results, each times a cotangent from the pool, (n,) float64.

    Gives the gradients of inputs and parameters by name, results that are cut off, and what the backward pass changed;
    of ``trusted`` code the size that each gradient is measured against at least, and not what it changed.
    """
    found: dict[str, Any] = {}
    detached: list[str] = []
    sizes: dict[str, float] = {}
    handed: list[tuple[torch.Tensor, Any]] = []  # what the backward pass is given, and its bytes

    def note(given: torch.Tensor) -> None:
        handed.append((given, hygiene.memory_of(given)))

    def differentiate() -> None:
        run.execute()
        parameters = _parameters(run)
        if not run.leaves and not parameters:
            return
        total, size = None, 0.0
        position = 0
        for name, tensor in run.floating_results():
            if tensor.requires_grad:
                if not trusted:
                    tensor.register_hook(note)  # type: ignore[no-untyped-call]
                product = tensor * cotangent(pool, position, tensor)
                total = product.sum() if total is None else total + product.sum()
                size += _norm(product) ** 2 if trusted else 0.0
            else:
                detached.append(name)
            position += tensor.numel()
        watched = {} if trusted else run.leaves
        before = [(path, leaf, hygiene.memory_of(leaf)) for path, leaf in watched.items()]
        if total is not None:
            torch.autograd.backward(total)
        run.changed += [
            [path, "values, in the backward pass"]
            for path, leaf, memory in before
            if not hygiene.same_values(leaf, memory)
        ]
        if not all(hygiene.same_values(given, memory) for given, memory in handed):
            run.changed.append(["the gradient that the backward pass is given", "values"])
        for name, leaf in (*run.leaves.items(), *parameters.items()):
            found[name] = None if leaf.grad is None else _by_place(leaf, leaf.grad.to_dense())
            if trusted:
                sizes[name] = size**0.5 / (_norm(leaf) or 1.0)

    failure = attempt(differentiate)
    return {
        "gradient_error": failure,
        "gradients": found,
        "detached": detached,
        "grad_changed": run.changed,
        "scales": sizes,
    }


def reach(run: Run, pool: torch.Tensor, trusted: bool = False) -> dict[str, Any]:
    """Where the gradients of a run in a low dtype get to: what has none, and what has one that is not finite.

    Of ``trusted`` code, what has hardly any counts as having none: others may do without a key's bias.
    """
    tensors = {**run.leaves, **_parameters(run)}
    results = [tensor for _, tensor in run.floating_results() if tensor.requires_grad]
    if not run.with_gradients or not results:
        return {}
    total = sum(((tensor * cotangent(pool, 0, tensor)).sum().double() for tensor in results), torch.zeros(()))
    failure = attempt(lambda: torch.autograd.backward(total))
    gradients = {name: None if tensor.grad is None else tensor.grad.to_dense() for name, tensor in tensors.items()}
    norms = {name: 0.0 if gradient is None else _norm(gradient) for name, gradient in gradients.items()}
    least = _HARDLY_ANY * max(norms.values(), default=0.0) if trusted else -1.0
    return {
        "gradient_error": failure,
        "untouched": [name for name, gradient in gradients.items() if gradient is None or norms[name] <= least],
        "infinite": [name for name, gradient in gradients.items() if gradient is not None and not _finite(gradient)],
    }


def _finite(tensor: torch.Tensor) -> bool:
    return bool(tensor.isfinite().all())


def depending(
    run_of: Callable[[int], Run], known: Mapping[str, torch.Tensor | None], leaves: int, pool: torch.Tensor
) -> list[str]:
    """The gradients that are missing, or others than ``known``, in runs where every second input needs none."""
    largest = max((_norm(gradient) for gradient in known.values() if gradient is not None), default=0.0)
    names: dict[str, None] = {}
    for needing in (0, 1) if leaves > 1 else (0,):  # first those in front need none: tokens are data, and weights learn
        found = gradients(run_of(needing), pool)
        if found["gradient_error"]:
            return [name for name, gradient in known.items() if gradient is not None]
        parts = found["gradients"].items()
        names |= {name: None for name, gradient in parts if _differ(gradient, known.get(name), largest)}
    return list(names)


def _differ(one: torch.Tensor | None, other: torch.Tensor | None, largest: float) -> bool:
    """Whether two gradients of one input differ; a missing one is zero."""
    a, b = (torch.zeros(()) if part is None else part.double() for part in (one, other))
    if one is not None and other is not None and one.shape != other.shape:
        return True
    return _norm(a - b) > _ALIKE * max(_norm(b), largest / 10)


def _by_place(leaf: torch.Tensor, gradient: torch.Tensor) -> torch.Tensor:
    """The gradient, summed where an expanded leaf keeps many entries in one place: how they share it is free."""
    shared = [axis for axis in range(leaf.dim()) if leaf.stride(axis) == 0 and leaf.shape[axis] > 1]
    return gradient.sum(shared, keepdim=True) if shared else gradient


def along_a_stream(run: Run, pool: torch.Tensor) -> dict[str, Any]:
    """The residual stream at every observed place and, in a run with gradients, that of the last one there."""
    gradients: dict[str, Any] = {}

    def measure() -> None:
        run.execute()
        places = {
            name: tensor
            for name, tensor in run.values.items()
            if isinstance(tensor, torch.Tensor) and wire.is_plain(tensor) and tensor.requires_grad
        }
        for last in list(places.values())[-1:]:
            loss = (last * cotangent(pool, 0, last)).sum()
            found = torch.autograd.grad(loss, list(places.values()), allow_unused=True)
            gradients.update(zip(places, found, strict=True))

    return {"error": attempt(measure), "values": run.snapshots, "gradients": gradients}


def cotangent(pool: torch.Tensor, position: int, like: torch.Tensor) -> torch.Tensor:
    """A cotangent of the shape of ``like``, cut from the pool, which repeats.

    Its axes lie in memory in reverse order: gradients come in any layout, and a backward pass that is written by hand
    has to take them.
    """
    index = (torch.arange(like.numel()) + position) % pool.numel()
    values = pool[index].to(like.dtype).reshape(like.shape[::-1])
    return values.permute(tuple(reversed(range(like.dim()))))


def _norm(tensor: torch.Tensor) -> float:
    return float(torch.linalg.vector_norm(tensor.detach()))


def _parameters(run: Run) -> dict[str, torch.Tensor]:
    found: dict[str, torch.Tensor] = {}
    for index, module in run.modules.items():
        prefix = "" if len(run.modules) == 1 else f"{index}:"
        for name, parameter in module.named_parameters(remove_duplicate=False):
            found[prefix + name] = parameter
    return found
