"""The fake accelerator: which operations mix devices, which place their result there, and what a call's run says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from judge.authoring import Call, call, module_call
from judge.processes.device import run_on_fake_device
from judge.processes.fake_device import DeviceMismatchError, Elsewhere, FakeDevice, put

ROOT = Path(__file__).resolve().parent.parent


def tensors():
    """Tensors there (x, w, and an index and a mask), and one here (c)."""
    return SimpleNamespace(
        x=put(torch.randn(2, 3)),
        w=put(torch.randn(3, 4)),
        index=put(torch.tensor([1, 0])),
        mask=put(torch.tensor([True, False])),
        c=torch.randn(2, 3),
    )


def under_device(device):
    with torch.device(device):
        return torch.zeros(3)


def after(change, tensor):
    change(tensor)
    return tensor


MIXED = {
    "c + x": lambda t: t.c + t.x,
    "x + c": lambda t: t.x + t.c,
    "x - vector": lambda t: t.x - torch.arange(3),
    "x * zeros(1)": lambda t: t.x * torch.zeros(1),
    "c + scalar there": lambda t: t.c + t.x.sum(),
    "x @ eye": lambda t: t.x @ torch.eye(3),
    "einsum": lambda t: torch.einsum("ij,jk->ik", t.c, t.w),
    "linear": lambda t: F.linear(t.x, torch.ones(4, 3)),
    "layer_norm": lambda t: F.layer_norm(t.x, (3,), torch.ones(3)),
    "attention mask": lambda t: F.scaled_dot_product_attention(t.x, t.x, t.x, attn_mask=torch.zeros(2, 2)),
    "embedding": lambda t: F.embedding(torch.tensor([0]), t.w),
    "cat": lambda t: torch.cat([t.x, t.c]),
    "cat with nothing": lambda t: torch.cat([torch.empty(0, 3), t.x]),
    "stack": lambda t: torch.stack((t.x, t.c)),
    "where": lambda t: torch.where(t.c > 0, t.x, t.x),
    "masked_fill": lambda t: t.x.masked_fill(torch.ones(2, 3) > 0, 0.0),
    "tril": lambda t: t.x * torch.tril(torch.ones(2, 3)),
    "gather": lambda t: t.x.gather(1, torch.zeros(2, 1, dtype=torch.int64)),
    "index_select": lambda t: t.x.index_select(0, torch.tensor([0])),
    "index here by there": lambda t: t.c[t.index],
    "mask here by there": lambda t: t.c[t.mask],
    "in place": lambda t: t.x.add_(t.c),
    "in place by operator": lambda t: t.x.__iadd__(t.c),
    "in place here": lambda t: t.c.mul_(t.x),
    "out": lambda t: torch.add(t.x, t.x, out=torch.empty(2, 3)),
    "keyword": lambda t: torch.add(t.x, other=t.c),
    "legacy constructor": lambda t: t.x + torch.Tensor([1, 2, 3]),
    "from a list": lambda t: t.x + torch.tensor(t.x.tolist()),
    "parameter": lambda t: t.x + nn.Parameter(torch.ones(3)),
    "taken away": lambda t: t.x.cpu() + t.x,
    "zeros_like of here": lambda t: t.x + torch.zeros_like(t.c),
    "equal": lambda t: torch.equal(t.x, t.c),
}
THERE = {
    "x + x": lambda t: t.x + t.x,
    "x + scalar here": lambda t: t.x + torch.tensor(2.0),
    "scalar here * x": lambda t: torch.tensor(2.0) * t.x,
    "x + number": lambda t: 2**t.x + 1,
    "matmul": lambda t: t.x @ t.w,
    "einsum": lambda t: torch.einsum("ij,jk->ik", t.x, t.w),
    "softmax": lambda t: F.softmax(t.x, -1),
    "dropout": lambda t: F.dropout(t.x, 0.5),
    "where": lambda t: torch.where(t.x > 0, t.x, torch.tensor(0.0)),
    "masked_fill": lambda t: t.x.masked_fill(t.x > 0, float("-inf")),
    "zeros device=": lambda t: torch.zeros(2, device=t.x.device),
    "zeros device type": lambda t: torch.zeros(2, device=t.x.device.type),
    "zeros device name": lambda t: torch.zeros(2, device="cuda:0"),
    "zeros device made": lambda t: torch.zeros(2, device=torch.device("cuda")),
    "device by question": lambda t: torch.ones(2, device=torch.device("cuda" if t.x.is_cuda else "cpu")),
    "device with index": lambda t: torch.ones(2, device=torch.device("cuda", 0)),
    "with device": lambda t: under_device(t.x.device),
    "arange": lambda t: torch.arange(3, device=t.x.device),
    "tensor": lambda t: torch.tensor([1.0], device=t.x.device),
    "full": lambda t: torch.full((2,), 1.0, device=t.x.device),
    "as_tensor": lambda t: torch.as_tensor(t.c, device=t.x.device),
    "zeros_like": lambda t: torch.zeros_like(t.x),
    "zeros_like there": lambda t: torch.zeros_like(t.c, device=t.x.device),
    "rand_like": lambda t: torch.rand_like(t.x),
    "new_zeros": lambda t: t.x.new_zeros(2),
    "new_tensor": lambda t: t.x.new_tensor([1.0]),
    "to device": lambda t: t.c.to(t.x.device),
    "to device and dtype": lambda t: t.c.to(t.x.device, torch.float64),
    "to device=": lambda t: t.c.to(device=t.x.device),
    "to name": lambda t: t.c.to("cuda"),
    "to like": lambda t: t.c.to(t.x),
    "to dtype": lambda t: t.x.to(torch.float64),
    "type_as": lambda t: t.c.type_as(t.x),
    "cuda": lambda t: t.c.cuda() + t.x.cuda(),
    "half": lambda t: t.x.half(),
    "index from here": lambda t: t.x[torch.tensor([1])],
    "mask from here": lambda t: t.x[torch.tensor([True, False])],
    "index from there": lambda t: t.x[t.index],
    "slice": lambda t: t.x[..., None, :2],
    "row": lambda t: next(iter(t.x)),
    "in place": lambda t: t.x.add_(t.x),
    "in place scalar": lambda t: t.x.mul_(torch.tensor(2.0)),
    "copy_": lambda t: t.x.copy_(t.c),
    "assigned from here": lambda t: after(lambda x: x.__setitem__(0, t.c[0]), t.x),
    "assigned at a mask": lambda t: after(lambda x: x.__setitem__(torch.tensor([True, False]), 0.0), t.x),
    "values of max": lambda t: t.x.max(-1).values,
    "indices of topk": lambda t: t.x.topk(2).indices,
    "part of split": lambda t: t.x.split(1)[1],
    "part of unbind": lambda t: t.x.unbind(0)[0],
    "part of var_mean": lambda t: torch.var_mean(t.x, -1)[1],
    "part of meshgrid": lambda t: torch.meshgrid(t.x[0], t.x[1], indexing="ij")[1],
    "stack of rows": lambda t: torch.stack([row * 2 for row in t.x]),
    "transposed": lambda t: t.x.T + t.x.mT,
    "detached clone": lambda t: t.x.detach().clone().contiguous(),
    "data": lambda t: t.x.data,
    "complex": lambda t: torch.view_as_complex(torch.stack([t.x, t.x], -1)),
    "expand_as here": lambda t: t.x.expand_as(torch.empty(2, 3)),
    "reshape_as here": lambda t: t.x.reshape_as(torch.empty(3, 2)),
    "parameter": lambda t: nn.Parameter(t.x) * 2,
}  # fmt: skip
HERE = {
    "zeros": lambda t: torch.zeros(2),
    "c + c": lambda t: t.c + t.c,
    "cpu": lambda t: t.x.cpu(),
    "to cpu": lambda t: t.x.to("cpu"),
    "to like here": lambda t: t.x.to(t.c),
    "type_as here": lambda t: t.x.type_as(t.c),
    "zeros_like on cpu": lambda t: torch.zeros_like(t.x, device="cpu"),
    "new_zeros on cpu": lambda t: t.x.new_zeros(2, device="cpu"),
    "copied to here": lambda t: t.c.copy_(t.x),
    "assigned to here": lambda t: after(lambda c: c.__setitem__(0, t.x[0]), t.c),
    "with here": lambda t: under_device(t.c.device),
    "shape there": lambda t: torch.ones(t.x.shape),
}


@pytest.mark.parametrize("name", MIXED)
def test_tensors_of_two_devices_are_caught(name):
    with pytest.raises(DeviceMismatchError, match="two devices, cuda:0 and cpu"), FakeDevice():
        MIXED[name](tensors())


@pytest.mark.parametrize("name", THERE)
def test_what_is_made_of_tensors_there_is_there(name):
    with FakeDevice():
        result = THERE[name](tensors())
    assert isinstance(result, Elsewhere)


@pytest.mark.parametrize("name", HERE)
def test_what_is_made_without_them_or_taken_away_is_here(name):
    with FakeDevice():
        result = HERE[name](tensors())
    assert isinstance(result, torch.Tensor)
    assert not isinstance(result, Elsewhere)


def test_questions_about_the_device_are_answered():
    t = tensors()
    with FakeDevice():
        assert t.x.device == torch.device("cuda", 0)
        assert (t.x.device.type, t.c.device.type) == ("cuda", "cpu")
        assert t.x.device != t.c.device
        assert (t.x.is_cuda, t.x.is_cpu, t.c.is_cuda, t.c.is_cpu) == (True, False, False, True)
        assert (t.x * 2).device == t.x.device


def test_values_are_real():
    t = tensors()
    with FakeDevice():
        assert (t.x.shape, t.x.dtype, t.x.dim()) == ((2, 3), torch.float32, 2)
        assert bool((t.x == t.x).all())
        assert t.x.sum().item() == pytest.approx(sum(map(sum, t.x.tolist())), rel=1e-4)
    one, other = torch.randn(2, 3), torch.randn(3)
    with FakeDevice():
        result = F.softmax(put(one) @ put(other), -1)
    assert result.as_subclass(torch.Tensor).equal(F.softmax(one @ other, -1))


def test_outside_there_is_no_accelerator():
    t = tensors()
    with FakeDevice():
        pass
    assert t.x.device.type == "cpu"
    assert (t.x + t.c).shape == (2, 3)


def test_inside_a_transformation_nothing_is_claimed():
    with pytest.raises(RuntimeError, match=r"torch\.func"), FakeDevice():
        torch.vmap(lambda row: row + torch.ones(3))(tensors().x)


# A call's run


def said(one, **namespace):
    return run_on_fake_device(one.program, namespace)


def stays(one, **namespace):
    """Whether nothing is wrong with a call, and that not only because another error ended it."""
    reached = []
    one.function("reached")
    found = said(one, **namespace, reached=lambda: reached.append(True))
    return found == {} and reached == [True]


def test_a_call_that_stays_on_its_device_has_nothing_wrong():
    one = call("f", torch.randn(2, 3), y=[torch.randn(3)])
    assert stays(one, f=lambda x, y: (x + y[0], x.shape, {"largest": x.max()}))


def test_a_call_that_mixes_is_described():
    found = said(call("f", torch.randn(2, 3)), f=lambda x: x + torch.ones(3))
    assert found["mixed"]["type"] == "DeviceMismatchError"
    assert found["mixed"]["message"] == "add got tensors of two devices, cuda:0 and cpu"


def test_results_elsewhere_than_the_inputs_are_named():
    found = said(call("f", torch.randn(2, 3)), f=lambda x: (x * 2, {"mask": torch.ones(2, 2).tril(), "count": 3}))
    assert found == {"elsewhere": ["output.1.mask"]}


def test_a_call_without_tensors_may_put_its_result_anywhere():
    assert stays(call("f", 3), f=lambda n: torch.ones(n, n).tril())


def test_other_errors_say_nothing_about_devices():
    def broken(x):
        raise ValueError("no")

    assert said(call("f", torch.randn(2)), f=broken) is None
    assert said(call("f", torch.randn(2)), f=lambda x: sys.exit(0)) is None


def test_gradients_are_not_needed_and_results_of_earlier_steps_stay_where_they_are():
    one = Call()
    first = one.function("f", torch.randn(2))
    one.function("g", first, torch.randn(2)).observe("output")
    assert "mixed" in said(one, f=lambda x: 2 * x, g=lambda y, z: y.cpu() + z)
    assert stays(one, f=lambda x: 2 * x, g=lambda y, z: y + z)


class Module(nn.Module):
    """Adds what it holds: a parameter, a buffer, a submodule's parameters, and ``own``, which is made in forward."""

    own = staticmethod(lambda x: 0.0)

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(3, 3)
        self.gain = nn.Parameter(torch.ones(3))
        self.register_buffer("shift", torch.ones(3), persistent=False)
        self.plain = torch.ones(3)

    def forward(self, x):
        return self.inner(x) * self.gain + self.shift + self.own(x)


class Forgetful(Module):
    def forward(self, x):
        return super().forward(x) + self.plain


def test_a_modules_parameters_and_buffers_move_with_it():
    x = torch.randn(2, 3).double()
    state = {name: parameter.detach().double() for name, parameter in Module().named_parameters()}
    found = said(module_call("Module", {}, state, x), Module=Forgetful)
    assert found["mixed"]["message"].startswith("add got tensors of two devices")
    assert stays(module_call("Module", {}, state, x), Module=Module)


@pytest.mark.parametrize(
    "moved",
    [
        lambda module, x: module.to(x.device),
        lambda module, x: module.to(device=x.device, dtype=torch.float64),
        lambda module, x: module.to(str(x.device)),
        lambda module, x: module.to(x),
        lambda module, x: module.to(tensor=x),
        lambda module, x: module.cuda(),
    ],
)
def test_a_module_made_in_a_function_is_moved_by_its_own_method(moved):
    one = call("f", torch.randn(2, 3).double())
    assert stays(one, f=lambda x: moved(Module().double(), x)(x))
    assert "mixed" in said(one, f=lambda x: moved(Module().double(), x).to("cpu")(x))


def test_a_module_moves_once_and_keeps_what_it_learned():
    one = Call()
    module = one.construct("Module")
    one.method(module, "forward", torch.randn(2, 3))
    one.load_state(module, {"weight": torch.ones(3, 3)})
    one.method(module, "forward", torch.randn(2, 3)).observe("output")
    assert stays(one, Module=lambda: nn.Linear(3, 3, bias=False))


def test_a_tensor_made_in_forward_has_to_be_on_the_inputs_device(monkeypatch):
    one = module_call("Module", {}, None, torch.randn(2, 3).double())
    monkeypatch.setattr(Module, "own", staticmethod(lambda x: torch.ones(3, dtype=x.dtype)))
    assert "mixed" in said(one, Module=Module)
    monkeypatch.setattr(Module, "own", staticmethod(lambda x: torch.ones(3, dtype=x.dtype, device=x.device)))
    assert stays(one, Module=Module)


def test_neither_the_accelerator_nor_the_guard_imports_the_compiler():
    source = """
import sys, torch
from judge.authoring import call, module_call
from judge.processes.device import run_on_fake_device
from judge.processes.guard import Guard
names = {"f": lambda x: torch.softmax(x, -1)[:1] + x.new_ones(1), "L": torch.nn.Linear}
for one in (call("f", torch.ones(2)), module_call("L", {"in_features": 2, "out_features": 2}, None, torch.ones(1, 2).double())):
    assert run_on_fake_device(one.program, names) == {}
    Guard(["torch.nn.functional.gelu", "aten::gelu", "torch.nn.GELU"]).run(one.program, names)
sys.exit("torch._dynamo" in sys.modules)
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    assert subprocess.run([sys.executable, "-c", source], env=environment, check=False).returncode == 0


def test_of_a_random_call_the_first_applications_are_enough():
    one, calls = Call(), []
    for number in range(9):
        one.function("f", torch.randn(2, dtype=torch.float64)).observe(str(number))
    one.random()
    assert run_on_fake_device(one.program, {"f": lambda x: calls.append(1) or x + 1}) == {}
    assert len(calls) == 2


@pytest.mark.parametrize(
    "f", [lambda x: x * torch.ones(2).type(x.type()), lambda x: x.type(torch.float64), lambda x: x.type("torch.cuda.FloatTensor")]
)  # fmt: skip
def test_the_name_of_a_type_names_the_accelerator(f):
    assert stays(call("f", torch.randn(2, dtype=torch.float64)), f=f)


@pytest.mark.parametrize("kind", ["torch.DoubleTensor", torch.DoubleTensor])
def test_a_type_of_the_cpu_leads_away_from_it(kind):
    one = call("f", torch.randn(2, dtype=torch.float64))
    assert said(one, f=lambda x: x.type(kind)) == {"elsewhere": ["output"]}
    assert "mixed" in said(one, f=lambda x: x * x.type(kind))
