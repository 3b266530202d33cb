"""Closed functions and classes are seen under every name, with the line that reached them; open ones are not."""

from __future__ import annotations

import _thread
import sys
import threading
import types

import pytest
import torch

from judge.authoring import call
from judge.processes.faults import SUBMISSION
from judge.processes.guard import Guard

CLOSED = (
    "torch.nn.functional.layer_norm",
    "torch.layer_norm",
    "torch.native_layer_norm",
    "aten::native_layer_norm",
    "torch.softmax",
    "torch.Tensor.var",
    "torch.nn.functional.scaled_dot_product_attention(enable_gqa=True)",
)
HEAD = """
import functools, operator, torch
import torch.nn.functional as F
from functools import partial
from torch import nn
from torch.nn.functional import layer_norm as something_else
aliased = F.layer_norm
table = {"norm": [F.layer_norm]}
by_part = partial(F.layer_norm, normalized_shape=(3,))
"""


def load(body, head=HEAD):
    """The namespace of a submission whose f has this body; its last line is the one that counts."""
    namespace = {"__name__": "submission"}
    source = head + "\n\ndef f(x):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    exec(compile(source, SUBMISSION, "exec"), namespace)
    return namespace, len(source.splitlines())


def watched(body, closed=CLOSED, head=HEAD):
    """What the guard saw, and the number of the last line."""
    guard = Guard(closed)
    namespace, line = load(body, head)
    results = []
    namespace["done"] = lambda: results.append(True)
    one = call("f", torch.randn(2, 3))
    one.function("done")
    guard.run(one.program, namespace)
    assert results == [True], "the body raises"
    return guard.seen, line


@pytest.mark.parametrize(
    "body",
    [
        "return F.layer_norm(x, (3,))",
        "return torch.nn.functional.layer_norm(x, (3,))",
        "return something_else(x, (3,))",
        "return aliased(x, (3,))",
        "return table['norm'][0](x, (3,))",
        "return by_part(x)",
        "return getattr(F, 'layer' + '_norm')(x, (3,))",
        "return F.__dict__['layer_norm'](x, (3,))",
        "return operator.methodcaller('layer_norm', x, (3,))(F)",
        "return list(map(partial(F.layer_norm, normalized_shape=(3,)), [x]))[0]",
        "return (lambda norm: norm(x, (3,)))(F.layer_norm)",
        "return functools.reduce(lambda a, b: b(a, (3,)), [F.layer_norm], x)",
    ],
)
def test_a_closed_function_is_seen_under_every_name(body):
    seen, line = watched(body)
    assert seen["torch.nn.functional.layer_norm"] == line


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ("return torch.layer_norm(x, (3,))", "torch.layer_norm"),
        ("return torch._C._VariableFunctions.layer_norm(x, (3,))", "torch.layer_norm"),
        ("return torch.native_layer_norm(x, (3,), None, None, 1e-5)", "torch.native_layer_norm"),
        ("return torch.ops.aten.native_layer_norm(x, [3], None, None, 1e-5)", "aten::native_layer_norm"),
        ("return torch.ops.aten.layer_norm.default(x, [3])", "aten::native_layer_norm"),
        ("return torch.softmax(x, -1)", "torch.softmax"),
        ("return x.var(-1)", "torch.Tensor.var"),
        ("return torch.Tensor.var(x, -1)", "torch.Tensor.var"),
        ("return nn.LayerNorm(3)(x)", "torch.nn.functional.layer_norm"),
    ],
)
def test_each_closed_name_is_met_where_it_is_called(body, name):
    seen, line = watched(body)
    assert seen[name] == line


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_scripted_code_is_seen_by_its_operators():
    scripted = torch.jit.CompilationUnit("def norm(x):\n    return torch.nn.functional.layer_norm(x, [3])\n").norm
    guard = Guard(CLOSED)
    namespace, line = load("return scripted(x)")
    namespace["scripted"] = scripted
    guard.run(call("f", torch.randn(2, 3)).program, namespace)
    assert guard.seen == {"aten::native_layer_norm": line}


def test_a_function_may_be_closed_for_one_keyword_only():
    name = "torch.nn.functional.scaled_dot_product_attention(enable_gqa=True)"
    heads = "q = x.reshape(1, 2, 1, 3)\n"
    seen, line = watched(heads + "return F.scaled_dot_product_attention(q, q, q, enable_gqa=True)")
    assert seen == {name: line}
    assert watched(heads + "return F.scaled_dot_product_attention(q, q, q)")[0] == {}
    assert watched(heads + "return F.scaled_dot_product_attention(q, q, q, enable_gqa=False)")[0] == {}
    assert watched(heads + "return F.scaled_dot_product_attention(q, q, q, is_causal=True)")[0] == {}


@pytest.mark.parametrize(
    "body",
    [
        "return (x - x.mean(-1, keepdim=True)) / (x.square().mean(-1, keepdim=True) + 1e-5).sqrt()",
        "return F.softmax(x, -1)",
        "return x.softmax(-1)",
        "return torch.var(x, -1)",
        "return torch.var_mean(x, -1)",
        "return F.gelu(x) + F.dropout(x, 0.0) @ torch.eye(3)",
        "return nn.Linear(3, 3)(x)",
        "_ = F.layer_norm, nn.LayerNorm, torch.softmax\nreturn x",
        "layer_norm = lambda x: x\nreturn layer_norm(x)",
        "return F.group_norm(x, 1)",
    ],
)
def test_open_functions_are_not_seen(body):
    assert watched(body)[0] == {}


def test_what_an_open_function_calls_inside_is_not_the_submissions_use():
    assert watched("return F.group_norm(x, 1)", closed=["torch.group_norm"])[0] == {}
    assert watched("return torch.group_norm(x, 1)", closed=["torch.group_norm"])[0]


def test_a_use_is_seen_although_the_call_fails_afterwards():
    guard = Guard(CLOSED)
    namespace, _ = load("y = F.layer_norm(x, (3,))\nraise SystemExit")
    guard.run(call("f", torch.randn(2, 3)).program, namespace)
    assert "torch.nn.functional.layer_norm" in guard.seen


def test_the_line_is_the_submissions_innermost_and_the_first_use_counts():
    body = "helper(x)\nhelper(x)\nreturn x"
    head = HEAD + "\ndef helper(x):\n    return F.layer_norm(x, (3,))\n"
    seen, last = watched(body, head=head)
    assert seen["torch.nn.functional.layer_norm"] == len(head.splitlines()) < last - 2


@pytest.mark.parametrize(
    "body",
    [
        "if x.requires_grad:\n    return F.layer_norm(x, (3,))\nreturn x + 1",
        "class Identity(torch.autograd.Function):\n    forward = staticmethod(lambda ctx, x: x + 1)\n"
        "    backward = staticmethod(lambda ctx, g: F.layer_norm(g, (3,)))\nreturn Identity.apply(x)",
        "return torch.ops.aten.native_layer_norm(x, (3,), None, None, 1e-5)[0]",
    ],
)
def test_a_use_with_gradients_or_in_the_backward_pass_is_seen_in_a_run_with_them(body):
    guard = Guard(CLOSED, deep=False)
    namespace, _ = load(body)
    guard.run_with_gradients(call("f", torch.randn(2, 3, dtype=torch.float64)).program, namespace, torch.randn(7))
    assert guard.seen


def test_an_operator_that_is_taken_apart_before_it_is_dispatched_is_seen():
    closed = "aten::scaled_dot_product_attention"
    body = "return torch.ops.aten.scaled_dot_product_attention(x, x, x)"
    seen, _ = watched(body, closed=(closed,))
    assert closed in seen


@pytest.mark.parametrize(
    ("body", "seen"),
    [
        ("with ThreadPoolExecutor() as pool:\n    pool.submit(shelf.Norm, 3)\nreturn x", "shelf.Norm"),
        (
            "with ThreadPoolExecutor() as pool:\n    return pool.submit(F.layer_norm, x, (3,)).result()",
            "torch.nn.functional.layer_norm",
        ),
        (
            "class Mine(threading.Thread):\n    def run(self):\n        F.layer_norm(x, (3,))\n"
            "one = Mine()\none.start()\none.join()\nreturn x",
            "torch.nn.functional.layer_norm",
        ),
        (
            "done = threading.Event()\n_thread.start_new_thread(lambda: (F.layer_norm(x, (3,)), done.set()), ())\n"
            "done.wait()\nreturn x",
            "torch.nn.functional.layer_norm",
        ),
        (
            "class Mine(threading.Thread):\n    def _bootstrap(self):\n        F.layer_norm(x, (3,))\n"
            "        self._started.set()\n        done.set()\n"
            "done = threading.Event()\nMine(daemon=True).start()\ndone.wait()\nreturn x",
            "torch.nn.functional.layer_norm",
        ),
        (
            "one = threading.Timer(0, F.layer_norm, (x, (3,)))\none.start()\none.join()\nreturn x",
            "torch.nn.functional.layer_norm",
        ),
    ],
)
def test_what_a_thread_does_is_seen(monkeypatch, closed_class, body, seen):
    for module in (_thread, threading):
        for name in [name for name in vars(module) if name.lstrip("_").startswith(("start_new", "start_joinable"))]:
            monkeypatch.setattr(module, name, getattr(module, name))  # as it is, afterwards
    guard = Guard((*CLOSED, "shelf.Norm"))
    guard.watch_threads()
    namespace, _ = load(
        body, HEAD + "import _thread, shelf, threading\nfrom concurrent.futures import ThreadPoolExecutor\n"
    )
    guard.run(call("f", torch.randn(2, 3)).program, namespace)
    assert seen in guard.seen


def test_after_a_run_nothing_is_watched_anymore():
    guard = Guard(CLOSED)
    namespace, _ = load("return x")
    guard.run(call("f", torch.randn(2, 3)).program, namespace)
    torch.nn.functional.layer_norm(torch.randn(2, 3), (3,))
    torch.softmax(torch.randn(2), -1)
    assert guard.seen == {}


# Classes: a module of their own, since they stay watched


@pytest.fixture
def closed_class(monkeypatch):
    class Norm(torch.nn.Module):
        def __init__(self, d, *, eps=1e-5):
            super().__init__()
            self.d, self.eps = d, eps

        def forward(self, x):
            return x

    shelf = types.ModuleType("shelf")
    shelf.Norm = Norm
    monkeypatch.setitem(sys.modules, "shelf", shelf)
    return Norm


@pytest.mark.parametrize(
    "body",
    [
        "return shelf.Norm(3)(x)",
        "return getattr(shelf, 'No' + 'rm')(d=3, eps=1e-6)(x)",
        "return partial(shelf.Norm, 3)()(x)",
        "return nn.Sequential(shelf.Norm(3))(x)",
        "return [make(3) for make in (shelf.Norm,)][0](x)",
        "return type('Mine', (shelf.Norm,), {})(3)(x)",
    ],
)
def test_building_a_closed_class_is_seen(closed_class, body):
    seen, line = watched(body, ["shelf.Norm"], HEAD + "import shelf\n")
    assert seen == {"shelf.Norm": line}


def test_a_watched_class_works_as_before(closed_class):
    Guard(["shelf.Norm"])
    made = closed_class(3, eps=0.5)
    assert (made.d, made.eps) == (3, 0.5)


def test_subclassing_a_closed_class_is_seen_when_the_file_is_loaded(closed_class):
    guard = Guard(["shelf.Norm"])
    load("return x", HEAD + "import shelf\n\nclass Mine(shelf.Norm):\n    pass\n")
    assert guard.seen == {"shelf.Norm": len((HEAD + "import shelf\n\nclass").splitlines())}


def test_what_pytorch_builds_by_itself_is_not_the_submissions_use(closed_class):
    guard = Guard(["shelf.Norm"])
    closed_class(3)
    assert guard.seen == {}


def test_its_open_base_class_may_be_subclassed(closed_class):
    body = "class Mine(nn.Module):\n    pass\nMine()\nreturn nn.Linear(3, 3)(x)"
    assert watched(body, ["shelf.Norm"], HEAD + "import shelf\n")[0] == {}


def test_names_that_this_version_lacks_are_passed_over():
    guard = Guard(["torch.no_such_function", "torch.nn.NoSuchClass", "no_such_module.f", "aten::no_such_operator"])
    namespace, _ = load("return F.layer_norm(x, (3,))")
    guard.run(call("f", torch.randn(2, 3)).program, namespace)
    assert guard.seen == {}
