"""What a call must leave as it was: inputs with their containers, settings, and the random generator."""

from __future__ import annotations

import math

import pytest
import torch

from judge.processes import hygiene
from judge.processes.hygiene import Snapshot, changed_settings, generator_state, input_tensors, same_generator_state


def inputs():
    return {
        "0": torch.tensor([[1.0, math.nan], [-0.0, 2.0]]),
        "params": {"gamma": torch.ones(3), "blocks": [torch.zeros(2), (torch.arange(2), {"last": torch.ones(1)})]},
        "mask": torch.tensor([True, False]),
        "eps": 1e-5,
        "name": None,
    }


def changes(change):
    given = inputs()
    snapshot = Snapshot(given)
    change(given)
    return snapshot.changes()


def test_every_tensor_is_found_with_its_path():
    assert [path for path, _ in input_tensors(inputs())] == [
        ".0", ".params.gamma", ".params.blocks.0", ".params.blocks.1.0", ".params.blocks.1.1.last", ".mask",
    ]  # fmt: skip
    x = torch.ones(1)
    assert list(input_tensors(x, "x")) == [("x", x)]
    assert list(input_tensors(3, "x")) == []


def test_inputs_that_were_only_read_are_unchanged():
    def read(given):
        _ = given["0"] * 2 + given["params"]["gamma"].sum()
        _ = given["0"].t().contiguous()[given["mask"]]
        _ = {**given["params"], "new": 1}

    assert changes(read) == []


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda g: g["0"].mul_(2), [["0", "values"]]),
        (lambda g: g["0"][1].add_(1e-7 + 1e-3), [["0", "values"]]),
        (lambda g: g["0"].nan_to_num_(), [["0", "values"]]),
        (lambda g: g["0"].data.fill_(0), [["0", "values"]]),
        (lambda g: g["mask"].logical_not_(), [["mask", "values"]]),
        (lambda g: g["params"]["blocks"][1][0].add_(1), [["params.blocks.1.0", "values"]]),
        (lambda g: g["params"]["blocks"][1][1]["last"].zero_(), [["params.blocks.1.1.last", "values"]]),
        (lambda g: g["0"].t_(), [["0", "shape or flags"]]),
        (lambda g: g["params"]["gamma"].unsqueeze_(0), [["params.gamma", "shape or flags"]]),
        (lambda g: g["0"].requires_grad_(), [["0", "shape or flags"]]),
        (lambda g: g["params"].update(beta=torch.ones(1)), [["params", "contents"]]),
        (lambda g: g["params"].pop("gamma"), [["params", "contents"]]),
        (lambda g: g["params"].update(gamma=torch.ones(3)), [["params", "contents"]]),
        (lambda g: g["params"]["blocks"].append(None), [["params.blocks", "contents"]]),
        (lambda g: g["params"]["blocks"].reverse(), [["params.blocks", "contents"]]),
        (lambda g: g["params"]["blocks"][1][1].clear(), [["params.blocks.1.1", "contents"]]),
        (lambda g: (g["0"].zero_(), g["mask"].zero_()), [["0", "values"], ["mask", "values"]]),
    ],
    ids=lambda value: None,
)
def test_each_way_to_change_an_input_is_seen(change, found):
    assert changes(change) == found


def test_a_tensor_behind_an_expanded_view_is_seen_too():
    memory = torch.ones(3)
    snapshot = Snapshot({"x": memory.expand(2, 3)})
    memory.zero_()
    assert snapshot.changes() == [["x", "values"]]


def test_an_input_that_requires_a_gradient_may_get_one_but_keeps_the_one_that_it_has():
    x = torch.ones(3, requires_grad=True)
    snapshot = Snapshot({"x": x})
    (2 * x).sum().backward()
    assert snapshot.changes() == []
    snapshot = Snapshot({"x": x})
    (2 * x).sum().backward()
    assert snapshot.changes() == [["x", "its .grad"]]
    x.grad = None
    assert snapshot.changes() == [["x", "its .grad"]]


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("grad mode", lambda: torch.set_grad_enabled(False)),
        ("default dtype", lambda: torch.set_default_dtype(torch.float64)),
        ("default device", lambda: torch.set_default_device("meta")),
        ("deterministic algorithms", lambda: torch._C._set_deterministic_algorithms(True)),
        ("anomaly detection", lambda: torch.autograd.set_detect_anomaly(True)),
        ("fast path of attention", lambda: torch.backends.mha.set_fastpath_enabled(False)),
        ("flushing of denormals", lambda: torch.set_flush_denormal(True)),
    ],
)
@pytest.mark.filterwarnings("ignore:Anomaly Detection")
def test_a_changed_setting_is_named(name, change):
    if "denormals" in name and not torch.set_flush_denormal(False):
        pytest.skip("this processor can't flush them")
    before = hygiene.settings()
    try:
        change()
        assert changed_settings(before) == [name]
    finally:
        torch.set_grad_enabled(True)
        torch.set_default_dtype(torch.float32)
        torch.set_default_device(None)
        torch._C._set_deterministic_algorithms(False)
        torch.autograd.set_detect_anomaly(False)
        torch.backends.mha.set_fastpath_enabled(True)
        torch.set_flush_denormal(False)
    assert changed_settings(before) == []


def test_settings_that_are_put_back_are_unchanged():
    before = hygiene.settings()
    with torch.no_grad(), torch.inference_mode():
        assert set(changed_settings(before)) == {"grad mode", "inference mode"}
    assert changed_settings(before) == []


def test_drawing_and_seeding_are_seen_and_an_own_generator_is_free():
    state = generator_state()
    torch.randn(3, generator=torch.Generator().manual_seed(1))
    assert same_generator_state(state)
    torch.randn(3)
    assert not same_generator_state(state)
    state = generator_state()
    torch.manual_seed(torch.initial_seed() + 1)
    assert not same_generator_state(state)


def test_a_fork_of_the_generator_leaves_it_as_it_was():
    state = generator_state()
    with torch.random.fork_rng():
        torch.manual_seed(1)
        torch.randn(3)
    assert same_generator_state(state)
