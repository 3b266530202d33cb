"""What is compiled runs as it is written, under the names that PyTorch gives it."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch
from torch import nn

from judge.processes import compiling


@pytest.fixture
def installed(monkeypatch):
    monkeypatch.setattr(torch, "compile", torch.compile)
    compiling.install()


def double(x):
    return 2 * x


def test_functions_are_given_back(installed):
    assert torch.compile(double) is double
    assert torch.compile(fullgraph=True, dynamic=False, backend="inductor", mode="max-autotune")(double) is double
    assert torch.compile()(double) is double
    assert torch.compile.__name__ == "compile"


def test_a_compiled_module_has_its_parameters_where_pytorch_puts_them(installed):
    module = torch.compile(nn.Linear(2, 3))
    assert set(module.state_dict()) == {"_orig_mod.weight", "_orig_mod.bias"}
    x = torch.randn(4, 2)
    assert torch.equal(module(x), module._orig_mod(x))
    plain = nn.Linear(2, 3)
    assert torch.compile(plain, disable=True) is plain


def test_nothing_is_compiled(installed):
    command = "import sys, torch\nfrom judge.processes import compiling\ncompiling.install()\n"
    command += "torch.compile(torch.nn.Linear(2, 3))(torch.ones(1, 2))\nassert 'torch._dynamo' not in sys.modules"
    subprocess.run([sys.executable, "-c", command], check=True)


def test_what_a_compiled_module_lacks_it_takes_from_the_other(installed):
    plain = nn.Linear(2, 3).eval()
    module = torch.compile(plain)
    assert module.in_features == 2
    assert module.weight is plain.weight
    assert not module.training
    module.train()
    assert plain.training
    with pytest.raises(AttributeError, match="nothing"):
        _ = module.nothing


def test_a_module_that_compiles_itself_works_as_before(installed):
    module = nn.Linear(2, 3)
    x = torch.randn(4, 2)
    before = module(x)
    module.compile()
    assert torch.equal(module(x), before)
