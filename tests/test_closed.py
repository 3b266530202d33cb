import re

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from wording import assert_reads_well

from judge.closed import GROUPS, canonical, expand, split_keyword

NORM = re.compile(r"(layer|rms|batch|group|instance|local_response)_norm")
ATTENTION = re.compile(r"(scaled_dot_product|flash|efficient|cudnn)_.*attention|triton_scaled_dot_attention")


def operators():
    return {name.partition(".")[0] for name in torch._C._dispatch_get_all_op_names() if name.startswith("aten::")}


class Recorder(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.seen = set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.seen.add(func._schema.name)
        return func(*args, **(kwargs or {}))


def test_every_norm_of_torch_is_closed_by_norms():
    there = {f"torch.nn.{name}" for name in dir(nn) if name.endswith(("Norm", "Norm1d", "Norm2d", "Norm3d", "LRN2d"))}
    there |= {f"torch.nn.functional.{name}" for name in dir(F) if NORM.search(name)}
    there |= {f"torch.{name}" for name in dir(torch) if NORM.search(name) and "backward" not in name}
    there |= {name for name in operators() if NORM.search(name) and "backward" not in name}
    assert there <= set(GROUPS["norms"])


def test_every_attention_module_of_torch_is_closed_by_attention_modules():
    there = {f"torch.nn.{name}" for name in dir(nn) if name.startswith(("Transformer", "MultiheadAttention"))}
    there |= {f"torch.nn.functional.{name}" for name in dir(F) if "multi_head_attention" in name}
    there |= {name for name in operators() if "multi_head" in name or "transformer" in name}
    assert there <= set(GROUPS["attention-modules"])


def test_every_fused_attention_of_torch_is_closed_by_fused_attention():
    there = {name for name in operators() if ATTENTION.search(name) and "backward" not in name}
    there |= {f"torch.nn.functional.{name}" for name in dir(F) if ATTENTION.search(name)}
    assert there <= set(GROUPS["fused-attention"])


@pytest.mark.parametrize("group", GROUPS)
def test_the_public_names_of_a_group_exist(group):
    for name in GROUPS[group]:
        if name.startswith(("torch.nn.functional.", "torch.nn.")) and "attention." not in name:
            value = torch
            for part in name.split(".")[1:]:
                value = getattr(value, part)


@pytest.mark.parametrize(
    "closed", [lambda x: F.layer_norm(x, (8,)), lambda x: F.group_norm(x, 3), F.instance_norm, nn.BatchNorm1d(6)]
)
def test_a_norm_shows_an_operator_of_its_group_when_it_runs(closed):
    with Recorder() as recorder:
        closed(torch.ones(2, 6, 8))
    assert recorder.seen & set(GROUPS["norms"])


@pytest.mark.parametrize("mask", [None, torch.ones(6, 6, dtype=torch.bool)])
def test_fused_attention_shows_an_operator_of_its_group_when_it_runs(mask):
    x = torch.ones(2, 3, 6, 8)
    with Recorder() as recorder:
        F.scaled_dot_product_attention(x, x, x, attn_mask=mask)
    assert recorder.seen & set(GROUPS["fused-attention"])


def test_what_stays_open_shows_no_closed_operator():
    x = torch.ones(2, 6, 8)
    with Recorder() as recorder:
        F.normalize(x), torch.var_mean(x), torch.softmax(x @ x.mT, -1), torch.linalg.vector_norm(x), x.norm()
    assert not recorder.seen & {name for group in GROUPS.values() for name in group}


def test_groups_and_names_expand_to_names_each_once():
    names = expand(["attention-modules", "torch.nn.Transformer", "torch.nn.functional.gelu", "aten::gelu"])
    assert names == (*GROUPS["attention-modules"], "torch.nn.functional.gelu", "aten::gelu")
    assert expand([]) == ()


@pytest.mark.parametrize(
    "name",
    ["norm", "Norms", "F.layer_norm", "torch", "nn.LayerNorm", "torch.nn.f(x=3)", "torch.f(x)", "aten::", "", "gelu"],
)
def test_what_is_neither_group_nor_full_name_is_refused(name):
    with pytest.raises(ValueError, match="group|full name") as caught:
        expand(["norms", name])
    assert repr(name) in str(caught.value)
    assert_reads_well(str(caught.value))


def test_a_keyword_is_split_from_its_name():
    assert split_keyword("torch.f(enable_gqa=True)") == ("torch.f", ("enable_gqa", True))
    assert split_keyword("torch.f(training=False)") == ("torch.f", ("training", False))
    assert split_keyword("torch.f") == ("torch.f", None)


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("torch.nn.LayerNorm", "torch.nn.LayerNorm"),
        ("torch.nn.modules.LayerNorm", "torch.nn.LayerNorm"),
        ("torch.nn.modules.normalization.LayerNorm.forward", "torch.nn.LayerNorm.forward"),
        ("torch.nn.modules.normalization.F.layer_norm", "torch.nn.functional.layer_norm"),
        ("torch._C._nn.scaled_dot_product_attention", "torch.nn.functional.scaled_dot_product_attention"),
        ("torch._C._VariableFunctions.layer_norm", "torch.layer_norm"),
        ("torch._VF.layer_norm", "torch.layer_norm"),
        ("torch._refs.nn.functional.layer_norm", "torch.nn.functional.layer_norm"),
        ("torch.ops.aten.native_layer_norm", "aten::native_layer_norm"),
        ("torch.ops.aten.native_layer_norm.default", "aten::native_layer_norm"),
        ("torch.nn.functional.layer_norm", "torch.nn.functional.layer_norm"),
        ("torch.mean", "torch.mean"),
    ],
)
def test_other_homes_of_a_function_lead_to_its_name(spelling, name):
    assert canonical(spelling) == name
