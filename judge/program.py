"""A call as a value: a straight-line program that runs inside one worker.

    construct("Block", d_model=12, ...)     -> result 0
    load_state(result 0, {...})             -> result 1
    apply(result 0, x, mask=mask)           -> result 2, observed as "output"

An argument is a drawn value or the result of an earlier step (or a part of it), taken in the worker with its
graph. What crosses the wire are these frozen dataclasses; they import nothing but the standard library.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

StepKind = Literal[
    "function",  # name(*args, **kwargs), a name of the submission
    "construct",  # name(**kwargs), a class of the submission
    "constant",  # name, a value of the submission
    "apply",  # target(*args, **kwargs)
    "method",  # target.name(*args, **kwargs)
    "attribute",  # target.name; a dotted name goes on from there
    "identical",  # whether target and args[0] are one object
    "load_state",  # target.load_state_dict(args[0]), strictly, keys and shapes checked first
    "to",  # target.to(the dtype of the call)
    "train",
    "eval",
    "deepcopy",
    "seed",  # seed PyTorch's random generator with args[0]
    "state_dict",  # a snapshot: detached copies
    "write_file",  # the judge writes args[1], bytes as a uint8 tensor, to the scratch path args[0]
    "listing",  # the sorted names in the run's scratch folder
    "readable",  # whether torch.load(weights_only=True) or safetensors reads the scratch path args[0]
    "given",  # a callable that the judge makes of kwargs' tensors: name its kind, args[0] its options; see given.py
    "leaf",  # args[0] as a tensor that requires a gradient and has the gradient args[1]
    "module_list",  # an nn.ModuleList of the given callables args
    "calls",  # what has been noted of the given callables' calls, in order
    "gradients",  # of a weighted sum of args[0]: [those of target's parameters by name, of the leaves args[1:]]
    "sgd_step",  # one step of plain gradient descent on the sum of target's last result
]


@dataclass(frozen=True, slots=True)
class Ref:
    """The result of an earlier step, or, by ``path``, a part of it."""

    step: int
    path: tuple[int | str, ...] = ()


@dataclass(frozen=True, slots=True)
class ScratchPath:
    """A path in the run's own scratch folder, given as an os.PathLike or as ``text``."""

    name: str
    text: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One step; ``observe`` names its result in the observation."""

    kind: StepKind
    name: str | None = None
    target: Ref | None = None
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    observe: str | None = None


@dataclass(frozen=True, slots=True)
class Program:
    """The steps of a call and what is taken from it.

    ``dtype``: of every floating input and module. ``random``: results may differ between runs (dropout in
    training). ``light``: one run only, without gradients. ``differentiate``: the observed names, or their parts'
    paths ("output.0"), whose cotangents are drawn (None: all). ``raises``: the built-in exception that is asked for
    ("KeyError", or "KeyError or ValueError"), ``naming`` the value that its message should name. ``extras``: further
    runs, "again", "apart", "device" (under the guard of closed functions) or "closed" alone; or instead one that
    measures a "stream", or one that notes what a module's parts get and give, a "trace". ``no_grad``: all runs are
    inside torch.no_grad(). ``anywhere``: results need not be on the inputs' device.
    """

    steps: tuple[Step, ...]
    dtype: str = "float64"
    random: bool = False
    light: bool = False
    differentiate: tuple[str, ...] | None = None
    raises: str | None = None
    naming: str | None = None
    extras: tuple[str, ...] = ()
    no_grad: bool = False
    anywhere: bool = False

    @property
    def entry(self) -> str:
        """The name of the submission that the call is about: the first function, class or constant it uses."""
        return next(
            step.name for step in self.steps if step.kind in ("function", "construct", "constant") and step.name
        )
