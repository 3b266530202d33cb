"""One run of a program: its steps in order, each result kept, each input looked at before and after.

What a step may be is in judge/program.py. Inputs come freshly decoded; `judge/processes/runner.py` says how often a
call runs and what is compared.
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from judge.processes import given, hygiene, scratch, wire
from judge.processes.faults import StepError, describe
from judge.program import Program, Ref, ScratchPath, Step

Namespace = dict[str, Any]
_deepcopy = copy.deepcopy
_WARN = 1  # of PyTorch's deterministic modes the one that refuses nothing
_STUDENT_STEPS = ("function", "apply", "method")


class Run:
    """One run of a program. ``values`` are the live named results, ``snapshots`` their bytes when they were made.

    ``scale`` alters the inputs in place. ``needing``: only every second input needs a gradient, from the first one on
    (1) or from the second one on (0).
    """

    def __init__(
        self, program: Program, namespace: Namespace, *, with_gradients: bool = False, scale: float | None = None,
        needing: int | None = None,
    ):  # fmt: skip
        self.program = program
        self.namespace = namespace
        self.with_gradients = with_gradients
        self.scale = scale
        self.needing = needing
        self.results: list[Any] = []
        self.values: dict[str, Any] = {}
        self.snapshots: dict[str, bytes] = {}
        self.leaves: dict[str, torch.Tensor] = {}
        self.modules: dict[int, nn.Module] = {}
        self.calls: list[str] = []
        self.changed: list[list[str]] = []
        self.settings: list[str] = []
        self.generator = False
        self._training: set[int] = set()
        self._seen: set[int] = set()
        self._scaled: set[int] = set()

    def execute(self) -> None:
        """Run every step; raises whatever the submission raises."""
        hygiene.reseed()
        with torch.set_grad_enabled(torch.is_grad_enabled() and not self.program.no_grad):
            self._execute()

    def _execute(self) -> None:
        before = hygiene.settings()
        try:
            self._observed()
        finally:
            self.settings = hygiene.changed_settings(before)

    def _observed(self) -> None:
        for index, step in enumerate(self.program.steps):
            args, kwargs = self._arguments(index, step)
            snapshot = hygiene.Snapshot(_by_name(args, kwargs)) if step.kind in _STUDENT_STEPS else None
            target = None if step.target is None else self._resolve(step.target)
            module = hygiene.ModuleState(target) if snapshot and isinstance(target, nn.Module) else None
            state = hygiene.generator_state()
            try:
                result = self.step(index, step, args, kwargs)
            finally:  # what it refuses it leaves alone, too
                if snapshot:
                    self.changed += [[f"{index}.{path}", what] for path, what in snapshot.changes()]
                if module:
                    self.changed += [[f"{index}.the module", what] for what in module.changes()]
                if (snapshot or step.kind == "construct") and not hygiene.same_seed(state):
                    self.generator = True
                if snapshot and not (self._draws_freely(step) or hygiene.same_generator_state(state)):
                    self.generator = True
            self.results.append(result)
            if step.observe:
                self.values[step.observe] = result
                self.snapshots[step.observe] = wire.encode_result(result)

    def step(self, index: int, step: Step, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        target: Any = None if step.target is None else self._resolve(step.target)
        if step.kind == "function":
            return self._name(step)(*args, **kwargs)
        if step.kind == "construct":
            return self._constructed(index, _construct(self._name(step), kwargs))
        if step.kind == "constant":
            return self._name(step)
        if step.kind == "apply":
            return target(*args, **kwargs)
        if step.kind == "method":
            return getattr(target, str(step.name))(*args, **kwargs)
        if step.kind == "attribute":
            return operator.attrgetter(str(step.name))(target)
        if step.kind == "identical":
            return target is args[0]
        if step.kind == "given":
            self.modules[index], as_given = given.make(str(step.name), kwargs, self.calls, **args[0])
            return as_given
        if step.kind in ("leaf", "module_list"):
            return given.leaf(*args) if step.kind == "leaf" else nn.ModuleList(args)
        if step.kind == "calls":
            return list(self.calls)
        if step.kind == "seed":
            return hygiene.reseed(*args)
        return self._module_step(index, step, target, args)

    def encore(self, scale: float) -> tuple[int, Callable[[], Any]] | None:
        """Call the last module once more, on new tensors with other values; whatever it raises is no matter here.

        One that gives the same memory each time writes over its earlier result. Gives the number of its step and what
        calls it on these tensors again, edited in place to the values of the first call: it has to give the same again.
        """
        last = max((i for i, step in enumerate(self.program.steps) if step.kind in ("apply", "method")), default=None)
        if last is None:
            return None
        step = self.program.steps[last]
        args, kwargs = self._arguments(last, step)
        given = _scaled(args, scale), _scaled(kwargs, scale)
        failure = attempt(lambda: self.step(last, step, *given))

        def edited() -> Any:
            for _, tensor in hygiene.input_tensors(given):
                if tensor.is_floating_point():
                    tensor.div_(scale)
            return self.step(last, step, *given)

        deterministic = failure is None and step.kind == "apply" and not self._draws_freely(step)
        return (last, edited) if deterministic else None

    def floating_results(self) -> Iterator[tuple[str, torch.Tensor]]:
        """The floating tensors among the observed values that take part in the gradients, in a fixed order."""
        wanted = self.program.differentiate
        for name, value in self.values.items():
            for path, tensor in hygiene.input_tensors(value, name):
                asked = wanted is None or name in wanted or path in wanted
                if asked and wire.is_plain(tensor) and tensor.is_floating_point():
                    yield path, tensor

    def _module_step(self, index: int, step: Step, target: Any, args: tuple[Any, ...]) -> Any:
        if step.kind == "load_state":
            _check_state(target, args[0])
            return target.load_state_dict(args[0])
        if step.kind == "to":
            return target.to(getattr(torch, self.program.dtype))
        if step.kind in ("train", "eval"):
            (self._training.add if step.kind == "train" else self._training.discard)(id(target))
            return target.train() if step.kind == "train" else target.eval()
        if step.kind in ("write_file", "readable"):
            return scratch.write(*args) if step.kind == "write_file" else scratch.readable(*args)
        if step.kind == "listing":
            return scratch.listing(self)
        if step.kind == "deepcopy":
            return self._constructed(index, _deepcopy(target), training=id(target) in self._training)
        if step.kind == "state_dict":
            return {key: tensor.detach().clone() for key, tensor in target.state_dict().items()}
        if step.kind == "gradients":
            return _gradients(target, *args)
        return _sgd_step(target, *args)

    def _constructed(self, index: int, result: Any, training: bool = True) -> Any:
        if isinstance(result, nn.Module):
            self.modules[index] = result
            if training:
                self._training.add(id(result))
        return result

    def _arguments(self, index: int, step: Step) -> tuple[tuple[Any, ...], dict[str, Any]]:
        if self.with_gradients and step.kind in _STUDENT_STEPS:
            self._mark_leaves(index, step)
        if self.scale and step.kind in _STUDENT_STEPS:
            for _, tensor in hygiene.input_tensors(_by_name(step.args, step.kwargs)):
                self._alter_memory(tensor, self.scale)
        args = tuple(self._with_results(arg) for arg in step.args)
        return args, {key: self._with_results(value) for key, value in step.kwargs.items()}

    def _alter_memory(self, tensor: torch.Tensor, scale: float) -> None:
        """Alter what a tensor is a view of, once: an expanded tensor can't be written to.

        Floats are scaled; masks and integers are turned round, so that each stays what it may be.
        """
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in self._scaled:
            self._scaled.add(storage.data_ptr())
            whole = torch.empty(0, dtype=tensor.dtype).set_(storage)
            whole.copy_(whole * scale if tensor.is_floating_point() else whole.flip(0))

    def _mark_leaves(self, index: int, step: Step) -> None:
        """Let every floating input that was drawn require a gradient, once, under its first path."""
        for path, tensor in hygiene.input_tensors(_by_name(step.args, step.kwargs), str(index)):
            if tensor.is_floating_point() and id(tensor) not in self._seen:
                self._seen.add(id(tensor))
                if self.needing in (None, len(self._seen) % 2):
                    self.leaves[path] = tensor.requires_grad_()

    def _with_results(self, value: Any) -> Any:
        if isinstance(value, Ref):
            return self._resolve(value)
        if isinstance(value, ScratchPath):
            path = scratch.folder_of(self) / value.name
            return str(path) if value.text else path
        if isinstance(value, dict):
            return {key: self._with_results(part) for key, part in value.items()}
        if isinstance(value, list):
            return [self._with_results(part) for part in value]
        if isinstance(value, tuple):
            return tuple(self._with_results(part) for part in value)
        return value

    def _resolve(self, ref: Ref) -> Any:
        value = self.results[ref.step]
        for key in ref.path:
            value = value[key]
        return value

    def _name(self, step: Step) -> Any:
        return self.namespace[str(step.name)]

    def _draws_freely(self, step: Step) -> bool:
        if self.program.random:
            return True
        return step.target is not None and id(self._resolve(step.target)) in self._training


def _construct(make: Callable[..., Any], kwargs: dict[str, Any]) -> Any:
    """Call it where memory that nobody writes to holds NaN: torch.empty is no initialization."""
    before = torch.get_deterministic_debug_mode()
    torch.set_deterministic_debug_mode(_WARN)
    try:
        return make(**kwargs)
    finally:
        if torch.get_deterministic_debug_mode() == _WARN:  # else it was changed
            torch.set_deterministic_debug_mode(before)


def weighted_sum(result: torch.Tensor) -> torch.Tensor:
    """The sum of a result's entries, each times a number of its own: what the step "gradients" differentiates."""
    weights = torch.arange(1, result.numel() + 1, dtype=torch.float64).square().cos().reshape(result.shape)
    return (result * weights).sum()


class BareRun(Run):
    """A run that nothing is observed of but the named results."""

    def _execute(self) -> None:
        for index, step in enumerate(self.program.steps):
            args, kwargs = self._arguments(index, step)
            result = self.step(index, step, args, kwargs)
            self.results.append(result)
            if step.observe:
                self._named(step.observe, result)

    def _named(self, name: str, result: Any) -> None:
        self.values[name] = result


class KeptRun(BareRun):
    """A run of trusted code: of the named results the bytes are kept, too."""

    def _named(self, name: str, result: Any) -> None:
        super()._named(name, result)
        self.snapshots[name] = wire.encode_result(result)


def attempt(action: Callable[[], None]) -> dict[str, Any] | None:
    """Run student code, which may raise anything: the one blanket except. What it raises becomes a description."""
    try:
        action()
    except BaseException as exc:
        return describe(exc)
    return None


def _scaled(value: Any, scale: float) -> Any:
    """The same arguments with new floating tensors."""
    if isinstance(value, torch.Tensor):
        return value.detach() * scale if value.is_floating_point() else value
    if isinstance(value, dict):
        return {key: _scaled(part, scale) for key, part in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_scaled(part, scale) for part in value)
    return value


def _by_name(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    return {**{str(number): arg for number, arg in enumerate(args)}, **kwargs}


def _check_state(module: nn.Module, state: dict[str, torch.Tensor]) -> None:
    own = module.state_dict()
    wrong = [f"missing {key}" for key in state if key not in own]
    wrong += [f"not asked for: {key}" for key in own if key not in state]
    wrong += [
        f"{key} has shape {tuple(own[key].shape)} instead of {tuple(tensor.shape)}"
        for key, tensor in state.items()
        if key in own and not is_lazy(own[key]) and own[key].shape != tensor.shape
    ]
    trainable = {name for name, p in module.named_parameters(remove_duplicate=False) if p.requires_grad}
    wrong += [f"{key} is no trainable parameter" for key in state if key in own and key not in trainable]
    if wrong:
        raise StepError("state", "; ".join(wrong[:8]) + (f"; and {len(wrong) - 8} more" if len(wrong) > 8 else ""))


def _gradients(module: nn.Module, loss: torch.Tensor, *leaves: torch.Tensor) -> list[Any]:
    module.zero_grad()
    torch.autograd.backward(weighted_sum(loss))
    parameters = module.named_parameters(remove_duplicate=False)
    found = [{name: _gradient(parameter) for name, parameter in parameters}, *map(_gradient, leaves)]
    return _deepcopy(found)  # the next step's gradients are added to these


def _gradient(tensor: torch.Tensor) -> torch.Tensor | None:
    """None where none is asked for; a result may do without what has no influence, such as a key bias."""
    return torch.zeros_like(tensor) if tensor.grad is None and tensor.requires_grad else tensor.grad


def _sgd_step(module: nn.Module, result: torch.Tensor, learning_rate: float) -> None:
    module.zero_grad()
    torch.autograd.backward((result**2).sum())
    with torch.no_grad():
        for parameter in nn.Module.parameters(module):
            if parameter.grad is not None:
                parameter.sub_(learning_rate * parameter.grad)
