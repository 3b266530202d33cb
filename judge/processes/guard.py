"""Sees closed functions being called, in further runs, and closed classes being built or subclassed.

A call on the fake accelerator is watched, and so is one of each entry point and dtype where it is, with its backward
pass: a submission may choose a closed function by device, by dtype, or by whether gradients are asked for.

Three nets: a TorchFunctionMode knows Python's names (torch.nn.functional.layer_norm, with its keyword arguments), a
TorchDispatchMode the operators that scripted code reaches (aten::native_layer_norm), and wrappers around `__init__` and
`__init_subclass__` the classes. This is a rule of the exercise, not a boundary.
"""

from __future__ import annotations

import _thread
import contextlib
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from judge.processes.faults import SUBMISSION
from judge.processes.gradients import gradients
from judge.processes.run import BareRun, Namespace, Run, attempt
from judge.program import Program

_ALTERED = 0.75  # what inputs are scaled by where gradients are asked for


class Guard:
    """Watches for the closed names; what it saw is in ``seen``: (name, line of the submission or None)."""

    def __init__(self, closed: Sequence[str], *, deep: bool = True):
        """``deep``: with the net for operators, which makes a run twice as slow."""
        self.deep = deep
        self.seen: dict[str, int | None] = {}
        self._operators = {name for name in closed if name.startswith("aten::")}
        self._functions: dict[int, tuple[str, str | None, Any]] = {}
        self._keep: list[Any] = []
        for name in closed:
            dotted, _, keyword = name.rstrip(")").partition("(")
            value = None if dotted.startswith("aten::") else _resolve(dotted)
            if isinstance(value, type):
                self._watch_class(dotted, value)
            elif value is not None:
                self._keep.append(value)
                self._functions[id(value)] = (dotted, *_keyword(keyword))

    def run(self, program: Program, namespace: Namespace) -> None:
        """Run the call once more where it is; what it raises is no matter here."""
        with self.watching():
            attempt(Run(program, namespace).execute)

    def run_with_gradients(self, program: Program, namespace: Namespace, pool: torch.Tensor) -> None:
        """Run the call, and its backward pass under both modes; one that is judged by values has none.

        On inputs of other values: of those that were there before, a submission may remember the results.
        """
        run = BareRun(program, namespace, with_gradients=True, scale=_ALTERED)
        with self.watching(deep=not program.light):
            if program.light:
                attempt(run.execute)
            else:
                gradients(run, pool)

    @contextlib.contextmanager
    def watching(self, *, deep: bool = False) -> Iterator[None]:
        """Within it, every call of a closed function is noted."""
        with self._function_mode(), self._dispatch_mode() if deep or self.deep else contextlib.nullcontext():
            yield

    def watch_threads(self) -> None:
        """Watch from now on whatever another thread does, however it is started: modes are a thread's own."""
        for name in ("start_new_thread", "start_new", "start_joinable_thread"):
            start = getattr(_thread, name, None)
            if start is not None:
                watched = self._watching_start(start)
                for module, known in ((_thread, name), (threading, f"_{name}")):
                    if hasattr(module, known):
                        setattr(module, known, watched)

    def _watching_start(self, start: Callable[..., Any]) -> Callable[..., Any]:
        def watched(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
            def run(*given: Any, **named: Any) -> Any:
                with self.watching():
                    return function(*given, **named)

            return start(run, *args, **kwargs)

        return watched

    def note(self, name: str) -> None:
        self.seen.setdefault(name, _line())

    @contextlib.contextmanager
    def _function_mode(self) -> Iterator[None]:
        guard = self

        class Mode(TorchFunctionMode):
            def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                operator = getattr(func, "_qualified_op_name", None) or getattr(func, "_schema", None)
                operator = getattr(operator, "name", operator)
                if operator in guard._operators:  # also one that is taken apart before it is dispatched
                    guard.note(operator)
                name, keyword, wanted = guard._functions.get(id(func), (None, None, None))
                if name and (keyword is None or (kwargs or {}).get(keyword) == wanted):
                    guard.note(name if keyword is None else f"{name}({keyword}={wanted})")
                return func(*args, **(kwargs or {}))

        with Mode():
            yield

    @contextlib.contextmanager
    def _dispatch_mode(self) -> Iterator[None]:
        guard = self

        class Mode(TorchDispatchMode):  # type: ignore[no-untyped-call]
            @classmethod
            def _should_skip_dynamo(cls) -> bool:  # wrapping it would import torch._dynamo, more than a second
                return False

            def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                name = func._schema.name
                if name in guard._operators:
                    guard.note(name)
                return func(*args, **(kwargs or {}))

        with Mode():  # type: ignore[no-untyped-call]
            yield

    def _watch_class(self, name: str, watched: Any) -> None:
        guard, build = self, watched.__init__

        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807 - it replaces one
            if _line() is not None or threading.current_thread() is not threading.main_thread():
                guard.note(name)
            build(self, *args, **kwargs)

        def __init_subclass__(cls: Any, **kwargs: Any) -> None:  # noqa: N807 - it replaces one
            guard.note(name)
            super(watched, cls).__init_subclass__(**kwargs)

        watched.__init__ = __init__
        watched.__init_subclass__ = classmethod(__init_subclass__)  # type: ignore[arg-type]


def _resolve(dotted: str) -> Any:
    """The object of that name, if it is there already: what a submission imports itself is left to the syntax tree."""
    module, parts = torch, dotted.split(".")
    for number in range(len(parts), 0, -1):
        if ".".join(parts[:number]) in sys.modules:
            module = sys.modules[".".join(parts[:number])]
            parts = parts[number:]
            break
    value: Any = module
    for part in parts:
        value = vars(value).get(part) if isinstance(value, ModuleType) else getattr(value, part, None)
    return value


def _keyword(text: str) -> tuple[str | None, Any]:
    if not text:
        return None, None
    name, _, value = text.partition("=")
    return name, {"True": True, "False": False}.get(value, value)


def _line() -> int | None:
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename == SUBMISSION:
            return frame.f_lineno
        frame = frame.f_back  # type: ignore[assignment]
    return None
