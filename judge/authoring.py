"""What a cases.py imports: cases, relations, the steps of a call, and draws of good inputs.

    from judge.authoring import Call, call, case, module_call, relation, same

    @case
    def tiny_inputs(draw):
        "is right where the variance is as small as eps"
        return call("layer_norm_forward", draw.normal(2, 5, 7) * 1e-3, gamma=draw.gain(7), beta=draw.bias(7))

A case returns a call or a list of calls; the judge takes every facet from each and compares it with the reference.
A relation returns calls and a function that gets what they gave, on the oracle side, and returns None or a sentence
that says what is wrong. Nothing that is drawn may depend on an observation.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

import torch

from judge.draws import Draw
from judge.program import Program, Ref, ScratchPath, Step, StepKind

__all__ = [
    "Call",
    "Case",
    "Draw",
    "Result",
    "ScratchPath",
    "call",
    "case",
    "leading_shapes",
    "masked_situations",
    "module_call",
    "module_stream",
    "plain_norms",
    "relation",
    "same",
    "stream",
]

BETWEEN = "attention"  # "attention 3" names the stream between the sublayers of block 3, all else its depths
Observations = list[dict[str, Any]]
Check = Callable[[Observations], str | None]
Drawing = Callable[["Draw"], "Call | Sequence[Call]"]


@dataclass(frozen=True, slots=True)
class Case:
    """One thing that is checked; ``sentence`` is what the student reads: "your layer norm <sentence>"."""

    name: str
    sentence: str
    draw: Callable[..., Any]
    is_relation: bool
    is_stream: bool = False
    after: tuple[str, ...] = ()


@overload
def case(function: Drawing) -> Case: ...
@overload
def case(*, after: str | Sequence[str]) -> Callable[[Drawing], Case]: ...
def case(function: Drawing | None = None, *, after: str | Sequence[str] = ()) -> Case | Callable[[Drawing], Case]:
    """Make a case of a function that draws calls; they are compared with the reference.

    ``after`` names earlier cases that this one builds on: a stack on its block. While one of these fails, this one's
    failure is no news, and it is shown as not reached. The first case of an entry point comes before all others of it.
    """
    if function is None:
        names = (after,) if isinstance(after, str) else tuple(after)
        return lambda function: Case(function.__name__, _sentence(function), function, is_relation=False, after=names)
    return Case(function.__name__, _sentence(function), function, is_relation=False)


def relation(function: Callable[[Draw], tuple[Call | Sequence[Call], Check]]) -> Case:
    """Make a relation of a function that draws calls and gives a check of what they gave.

    The check runs only when every result has the structure, shape and dtype of the reference's.
    """
    return Case(function.__name__, _sentence(function), function, is_relation=True)


def stream(function: Callable[[Draw, int, bool], dict[str, Call]]) -> Case:
    """Make the residual stream's measurement from a function of ``draw``, a depth, and whether to look into blocks.

    It returns, by label, a call that observes the stream before the first block and after each of as many blocks; where
    it is to look into them, also what block 3 would give if its feed-forward gave nothing, as "attention 3".
    """
    return Case(function.__name__, _sentence(function), function, is_relation=False, is_stream=True)


class Result(Ref):
    """The result of a step while a call is written; ``result[0]`` and ``result["key"]`` are its parts."""

    __slots__ = ("_call",)

    def __init__(self, owner: Call, step: int, path: tuple[int | str, ...] = ()):
        Ref.__init__(self, step, path)
        object.__setattr__(self, "_call", owner)

    def __getitem__(self, key: int | str) -> Result:
        return Result(self._call, self.step, (*self.path, key))  # type: ignore[attr-defined]

    def observe(self, name: str) -> Result:
        """Give this step's result the name under which it is observed and compared."""
        self._call._name(self.step, name)  # type: ignore[attr-defined]
        return self


class Call:
    """A straight-line program while it is written. Every method but the last group adds one step."""

    def __init__(self) -> None:
        self._steps: list[Step] = []
        self._observed: set[str] = set()
        self._judged: dict[str, Any] = {}  # how: fields of the program

    @property
    def program(self) -> Program:
        return Program(tuple(self._steps), **self._judged)

    def function(self, name: str, *args: Any, **kwargs: Any) -> Result:
        """Call a function of the submission."""
        return self._add("function", name=name, args=args, kwargs=kwargs)

    def construct(self, name: str, **kwargs: Any) -> Result:
        """Construct a module of the submission, by keyword."""
        return self._add("construct", name=name, kwargs=kwargs)

    def constant(self, name: str) -> Result:
        """Take a module-level value of the submission."""
        return self._add("constant", name=name)

    def apply(self, target: Result, *args: Any, **kwargs: Any) -> Result:
        """Call the result of an earlier step."""
        return self._add("apply", target=target, args=args, kwargs=kwargs)

    def method(self, target: Result, name: str, *args: Any, **kwargs: Any) -> Result:
        return self._add("method", name=name, target=target, args=args, kwargs=kwargs)

    def attribute(self, target: Result, name: str) -> Result:
        """``target.name``; a dotted name ("head.weight") goes on from there."""
        return self._add("attribute", name=name, target=target)

    def identical(self, one: Result, other: Result) -> Result:
        """Whether the results of two steps are one object."""
        return self._add("identical", target=one, args=(other,))

    def load_state(self, target: Result, state: dict[str, torch.Tensor] | Result) -> Result:
        """Load a state_dict strictly; keys and shapes are checked first, every key must be a trainable parameter."""
        return self._add("load_state", target=target, args=(state,))

    def to(self, target: Result) -> Result:
        """Move a module to the dtype of the call."""
        return self._add("to", target=target)

    def train(self, target: Result) -> Result:
        return self._add("train", target=target)

    def eval(self, target: Result) -> Result:
        return self._add("eval", target=target)

    def seed(self, number: int) -> Result:
        """Seed PyTorch's random generator: the same module draws the same masks again."""
        return self._add("seed", args=(number,))

    def deepcopy(self, target: Result) -> Result:
        return self._add("deepcopy", target=target)

    def state_dict(self, target: Result) -> Result:
        return self._add("state_dict", target=target)

    def gradients(self, target: Result, loss: Result, *leaves: Result) -> Result:
        """The gradients of a weighted sum of ``loss``: a dict of ``target``'s parameters', then one for each leaf."""
        return self._add("gradients", target=target, args=(loss, *leaves))

    def sgd_step(self, target: Result, loss: Result, learning_rate: float = 0.1) -> Result:
        """One step of gradient descent on ``target``'s parameters; the loss is the sum of squares of ``loss``."""
        return self._add("sgd_step", target=target, args=(loss, learning_rate))

    def write_file(self, path: ScratchPath, content: bytes) -> Result:
        """Let the judge write a file to the scratch folder."""
        return self._add("write_file", args=(path, torch.tensor(list(content), dtype=torch.uint8)))

    def listing(self) -> Result:
        """The sorted names in the scratch folder."""
        return self._add("listing")

    def readable(self, path: ScratchPath) -> Result:
        """Whether torch.load(weights_only=True) or safetensors reads the file."""
        return self._add("readable", args=(path,))

    def given(
        self, kind: str, name: str | None = None, *, plain: bool = False, frozen: bool = False, graded: bool = False,
        **tensors: torch.Tensor,
    ) -> Result:  # fmt: skip
        """A callable to give to the submission: "linear" (weight, bias), "residual" or the loss "squares" (weight).

        It is a module with parameters or, ``plain``, a function; its parameters may be ``frozen``, or ``graded``: have
        a gradient already. Calls of one with a ``name`` are noted, see ``calls``.
        """
        options = {"name": name, "plain": plain, "frozen": frozen, "graded": graded}
        return self._add("given", name=kind, args=(options,), kwargs=tensors)

    def leaf(self, tensor: torch.Tensor, gradient: torch.Tensor | None = None) -> Result:
        """The tensor as one that requires a gradient and has this gradient already."""
        return self._add("leaf", args=(tensor, gradient))

    def module_list(self, *modules: Result) -> Result:
        """An nn.ModuleList of given callables that are modules."""
        return self._add("module_list", args=modules)

    def calls(self) -> Result:
        """The calls of the given callables that have names, such as "block 1(tensor)", in order."""
        return self._add("calls")

    # How the call is judged: each returns the call itself.

    def in_dtype(self, dtype: torch.dtype) -> Call:
        """Give every floating input and module this dtype; values only, judged against float64 from the same inputs."""
        return self._with(dtype=str(dtype).removeprefix("torch."), light=True)

    def random(self) -> Call:
        """Results may differ from run to run (dropout in training): one run, for relations only."""
        return self._with(random=True, light=True)

    def under_no_grad(self) -> Call:
        """Run the call inside torch.no_grad()."""
        return self._with(no_grad=True)

    def anywhere(self) -> Call:
        """Results need not be on the inputs' device: numbers that were read from tensors."""
        return self._with(anywhere=True)

    def values_only(self) -> Call:
        """One run without gradients."""
        return self._with(light=True)

    def differentiate(self, *observed: str) -> Call:
        """Judge gradients through these observed results, or parts ("output.0"), only; the default is all of them."""
        return self._with(differentiate=observed)

    def raises(self, error: type[Exception] | tuple[type[Exception], ...], naming: object = None) -> Call:
        """The call must raise this built-in exception, or one of these; its message should name ``naming``."""
        asked = " or ".join(one.__name__ for one in (error if isinstance(error, tuple) else (error,)))
        return self._with(raises=asked, naming=None if naming is None else str(naming))

    def _with(self, **changes: Any) -> Call:
        self._judged |= changes
        return self

    def _add(self, kind: StepKind, **fields: Any) -> Result:
        self._steps.append(Step(kind, **fields))
        return Result(self, len(self._steps) - 1)

    def _name(self, index: int, name: str) -> None:
        if name in self._observed:
            raise ValueError(f"two steps of one call are observed as {name!r}; give each its own name")
        self._observed.add(name)
        self._steps[index] = replace(self._steps[index], observe=name)


def call(name: str, *args: Any, **kwargs: Any) -> Call:
    """One call of one function, observed as "output"."""
    one = Call()
    one.function(name, *args, **kwargs).observe("output")
    return one


def module_call(
    name: str, config: dict[str, Any], state: dict[str, torch.Tensor] | None, *args: Any, **kwargs: Any
) -> Call:
    """Construct a module, move it to the call's dtype, load ``state``, switch to evaluation, apply it once."""
    one = Call()
    module = one.construct(name, **config)
    one.to(module)
    if state is not None:
        one.load_state(module, state)
    one.eval(module)
    one.apply(module, *args, **kwargs).observe("output")
    return one


def leading_shapes(d: int) -> list[tuple[int, ...]]:
    """What may stand before a last axis of size ``d``: every rank, ones, many, and sizes that equal ``d``."""
    return [
        (), (1,), (9,), (d,), (1, 1), (6, 1), (1, 6), (d, d), (2, 33), (1, 1, 1), (2, 3, 4), (2, 1, 3, 2),
    ]  # fmt: skip


def masked_situations(
    draw: Draw, heads: int, cross: bool = False
) -> Iterator[tuple[str, int, int, int, torch.Tensor | None]]:
    """Names, batch sizes, numbers of queries and of keys, and masks: every form of mask, and sizes where code slips.

    For one call of many steps, ``values_only``: a step's result must depend neither on the steps before it nor on
    whether a size happens to be 1, or equal to another. ``cross``: there are other keys than queries.
    """
    batch, q_len, k_len = 2, 5, 7 if cross else 5
    for number, (name, mask) in enumerate(draw.mask_forms(batch, heads, q_len, k_len).items()):
        yield name, batch, q_len, k_len, mask
        if number % 6 == 0:
            yield f"no mask, time {number // 6 + 1}", batch, q_len, k_len, None
    sizes = [(1, 5, 5), (3, 1, 1), (1, 1, 1), (heads, heads, heads), (5, heads, heads), (2, 12, 12)]
    for batch, q_len, k_len in dict.fromkeys([(1, 5, 7), (3, 1, 4), (2, 5, 1), *sizes] if cross else sizes):
        shapes = (q_len, k_len), (batch, 1, 1, k_len), (batch, heads, q_len, k_len)
        for shape in dict.fromkeys(shapes):
            keys = f"{q_len} queries and {k_len} keys" if cross else f"{q_len} tokens"
            yield f"{batch} x {keys}, a mask {shape}", batch, q_len, k_len, draw.mask(*shape, hidden_rows=1)
    lengths = torch.tensor([k_len // 2, k_len - 1, k_len, 1])  # of the sizes that come last
    yield "four padded sequences", 4, q_len, k_len, (torch.arange(k_len) < lengths[:, None])[:, None, None, :]
    q_len, k_len = 5, 7 if cross else 5
    left = torch.arange(k_len) >= torch.tensor([2, 1])[:, None]
    yield "two sequences padded on the left", 2, q_len, k_len, left[:, None, None, :]
    yield "a mask that hides the past", 2, q_len, k_len, torch.ones(q_len, k_len, dtype=torch.bool).triu()
    yield "1 x 100 tokens", 1, 100, 100, None
    yield "1 x 33 tokens, a causal mask", 1, 33, 33, torch.ones(33, 33, dtype=torch.bool).tril()


def module_stream(
    name: str,
    config: dict[str, Any],
    states: Sequence[dict[str, torch.Tensor]],
    x: torch.Tensor,
    feed_forward: str | None = None,
) -> Call:
    """The stream through one block after the other, each with its own state, for ``@stream``.

    ``feed_forward``: look into each block, by setting this linear map, the feed-forward's last, to zero.
    """
    deep = Call()
    after = deep.leaf(x).observe("depth 0")
    for number, state in enumerate(states, start=1):
        before = after
        if feed_forward:
            silent = {
                key: tensor * 0 if key.startswith(f"{feed_forward}.") else tensor for key, tensor in state.items()
            }
            _loaded(deep, name, config, silent, before).observe(f"{BETWEEN} {number}")
        after = _loaded(deep, name, config, state, before).observe(f"depth {number}")
    return deep


def _loaded(deep: Call, name: str, config: dict[str, Any], state: dict[str, torch.Tensor], x: Result) -> Result:
    block = deep.construct(name, **config)
    deep.load_state(deep.to(block), state)
    return deep.apply(deep.eval(block), x)


def plain_norms(state: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The state with gains 1 and biases 0, so that what a norm gives has a root mean square of 1."""
    return {
        key: tensor if tensor.dim() > 1 else torch.full_like(tensor, float(key.endswith("weight")))
        for key, tensor in state.items()
    }


def same(observed: torch.Tensor, expected: torch.Tensor, tolerance: float = 1e-6) -> bool:
    """Whether two tensors of one shape agree to a relative error norm of ``tolerance``; NaN never does."""
    scale = max(float(torch.linalg.vector_norm(expected.double())), 1e-12)
    return bool(torch.linalg.vector_norm(observed.double() - expected.double()) <= tolerance * scale)


def _sentence(function: Callable[..., Any]) -> str:
    return " ".join((inspect.getdoc(function) or "").split())
