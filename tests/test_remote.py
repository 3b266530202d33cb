"""A proxied implementation gives what a direct one gives: in one process here, with all bytes in between."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch

from judge.catalog import PROBLEMS, load_problem
from judge.drawn import DrawnProblem, load
from judge.processes import runner, wire
from judge.processes.implementation_worker import Implementation
from judge.processes.remote import Remote, offered

SIBLINGS = ("scaled-dot-product-attention", "pre-norm-vs-post-norm")
STYLES = [
    (problem, path)
    for problem in SIBLINGS
    for path in sorted((PROBLEMS / problem / "hidden").rglob("*.py"))
    if path.stem in ("reference", "named_tuple_einsum", "hand_written_backward", "in_place", "objects")
]


class Pair(NamedTuple):
    first: torch.Tensor
    second: Any


class WidthError(ValueError, KeyError):
    """An error type of the implementation's own."""


def remote(**functions: Callable[..., Any]) -> Any:
    """The functions as a student's tests get them."""
    implementation = Implementation(functions)

    def exchange(header: dict[str, Any], body: bytes) -> bytes:
        return implementation.answer(json.loads(json.dumps(header)), body)

    return offered(Remote(exchange), list(functions), alone=len(functions) == 1)


@pytest.mark.parametrize(("problem_id", "path"), STYLES, ids=lambda part: getattr(part, "stem", None))
def test_every_case_of_the_siblings_is_observed_alike(problem_id: str, path: Path):
    problem = load_problem(problem_id)
    signatures = {entry.name: dict(entry.signatures) for entry in problem.entry_points}
    drawn = DrawnProblem(problem.folder, problem_id, 5, signatures, [])
    direct = load(path)
    proxied = remote(**{name: direct[name] for name in signatures})
    namespace = {name: getattr(proxied, name, proxied) for name in signatures}
    for call in drawn.calls:
        if call.number not in {one.number for one in drawn.streams.values()}:
            one, other = (observed(names, call, drawn.pool) for names in (direct, namespace))
            assert wire.encode_result(one) == wire.encode_result(other), call.case


def observed(namespace: dict[str, Any], call: Any, pool: torch.Tensor) -> dict[str, Any]:
    extras: dict[str, Any] = {"device": lambda program, names: None, "closed": lambda program, names: None}
    found = runner.observe(namespace, call.data, pool, extras)
    if found.get("error"):
        found["error"] = {key: found["error"][key] for key in ("kind", "type", "bases", "message")}
    return found


def inputs() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(3)
    shapes = ((3, 4), (4,))
    x, y = (torch.randn(*shape, generator=generator, dtype=torch.float64) for shape in shapes)
    return x.requires_grad_(), y.requires_grad_()


def both(function: Callable[..., Any], use: Callable[..., Any]) -> tuple[Any, Any]:
    """What somebody sees who uses the function, and who uses the proxy: a value, or an error's type and message."""
    seen = []
    for impl in (function, remote(function=function)):
        try:
            seen.append(use(impl, *inputs()))
        except Exception as exc:
            seen.append((type(exc).__name__, [base.__name__ for base in type(exc).__mro__[1:4]], str(exc)))
    return seen[0], seen[1]


def test_a_result_that_is_an_argument_is_that_argument():
    assert both(lambda x: x, lambda impl, x, y: impl(x) is x) == (True, True)


def test_a_result_that_views_an_argument_views_it():
    def use(impl, x, y):
        view = impl(x)
        view.sum().backward()
        return view._base is x, view.stride(), view.data_ptr() == x.data_ptr(), x.grad.tolist()

    one, other = both(lambda x: x[1:].T, use)
    assert one == other


def test_results_that_share_memory_still_do():
    def halves(x, y):
        whole = x * 2
        return whole[:, :2], whole[:, 1:]

    def use(impl, x, y):
        with torch.no_grad():
            left, right = impl(x, y)
        left.zero_()
        return right.tolist(), left.stride()

    one, other = both(halves, use)
    assert one == other


@pytest.mark.parametrize("make", [
    lambda x, y: Pair(x * 2, y),
    lambda x, y: {"a": x + 1, "b": [y.exp(), 3, None, "text", 2.5, True, torch.float32]},
    lambda x, y: OrderedDict(b=(x * 1,), a=()),
    lambda x, y: [x.detach(), (x * y).bfloat16(), torch.ones(0, 3), torch.tensor(True), x.int()],
])  # fmt: skip
def test_containers_and_dtypes(make):
    def use(impl, x, y):
        result = impl(x, y)
        return str(result).partition("grad_fn")[0], type(result).__name__, getattr(result, "_fields", None)

    one, other = both(make, use)
    assert one == other


def test_gradients_through_containers_partly_and_repeatedly():
    def use(impl, x, y):
        result = impl(x, y)
        result["a"][0].sum().backward(retain_graph=True)
        first = x.grad.clone(), y.grad
        (result["a"][0] * result["b"]).sum().backward()
        return [None if one is None else one.tolist() for one in (*first, x.grad, y.grad)]

    one, other = both(lambda x, y: {"a": [x.exp()], "b": x * y}, use)
    assert one == other


def test_a_second_backward_without_retaining_the_graph_says_so():
    def use(impl, x, y):
        result = impl(x.exp(), y)
        result.sum().backward()
        result.sum().backward()

    one, other = both(lambda x, y: x.exp() * y, use)
    assert one == other
    assert "second time" in one[2]


def test_an_input_that_was_not_used_has_no_gradient():
    def use(impl, x, y):
        return torch.autograd.grad(impl(x, y).sum(), [x, y])

    one, other = both(lambda x, y: x * 2, use)
    assert one == other
    assert one[0] == "RuntimeError"


def test_gradcheck_passes():
    assert both(lambda x, y: (x @ y).tanh(), lambda impl, x, y: torch.autograd.gradcheck(impl, (x, y))) == (True, True)


def test_errors_keep_type_and_message():
    def fail(x):
        raise WidthError("no width", 3)

    one, other = both(fail, lambda impl, x, y: impl(x))
    assert one == other
    with pytest.raises(ValueError, match="no width"):
        remote(fail=fail)(1)


def test_a_wrong_call_raises_as_python_does():
    one, other = both(lambda x: x, lambda impl, x, y: impl(x, nothing=1))
    assert one == other
    assert one[0] == "TypeError"


@pytest.mark.parametrize("use", [
    lambda impl, x, y: impl(x),
    lambda impl, x, y: (impl(z := x * 2), z.tolist()),
    lambda impl, x, y: (impl(z := x.detach()[:, ::2]), x.tolist(), z.tolist(), z._version),
    lambda impl, x, y: (impl(x.detach().unsqueeze(0).expand(2, 3, 4)[0]), x.tolist()),
], ids=["leaf", "result", "view", "expanded"])  # fmt: skip
def test_writing_to_an_argument(use):
    def write(x):
        x.mul_(3)

    one, other = both(write, use)
    assert one == other


@pytest.mark.parametrize("change", [
    lambda x, d: x.unsqueeze_(0), lambda x, d: x.t_(), lambda x, d: x.requires_grad_(), lambda x, d: x.zero_(),
    lambda x, d: setattr(x, "data", x.data * 3), lambda x, d: d.pop("x"), lambda x, d: d.update(z=x * 2),
    lambda x, d: d["l"].append(d["x"]), lambda x, d: d.clear(),
])  # fmt: skip
def test_arguments_afterwards(change):
    def use(impl, x, y):
        x = x.detach()
        given = {"x": x, "y": y, "l": [1, 2]}
        inner = given["l"]
        impl(x, given)
        same = given.get("x") is x, given.get("l") is inner
        return str(given), x.tolist(), x.stride(), x.requires_grad, same

    def function(x, d):
        change(x, d)

    one, other = both(function, use)
    assert one == other


def test_grad_mode_and_default_dtype_cross():
    def use(impl, x, y):
        torch.set_default_dtype(torch.float64)
        try:
            with torch.no_grad():
                first, second = impl(x)
        finally:
            torch.set_default_dtype(torch.float32)
        return first.requires_grad, second.dtype

    assert both(lambda x: (x * 2, torch.ones(2)), use) == ((False, torch.float64),) * 2


def test_what_cannot_be_passed_is_a_type_error():
    with pytest.raises(TypeError, match="object can't be passed"):
        remote(function=lambda x: x)(object())
    with pytest.raises(TypeError, match="sparse|can't be passed"):
        remote(function=lambda x: x)(torch.eye(3).to_sparse())


def test_there_is_nothing_to_inspect():
    secret = "a secret constant"
    impl = remote(function=lambda x: secret)
    names = {
        **vars(impl),
        **{name: cell.cell_contents for name, cell in zip(impl.__code__.co_freevars, impl.__closure__, strict=True)},
    }
    assert set(names) == {"name", "remote"}
    assert secret not in str(impl.__code__.co_consts)
