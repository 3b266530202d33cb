"""Callables that the judge gives to a submission: what they compute, what is noted, and what is seen of a call on them."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import nn

from judge.authoring import Call
from judge.compare import compare
from judge.observation import from_parts
from judge.processes import device, given, runner, wire

POOL = torch.randn(101, generator=torch.Generator().manual_seed(5), dtype=torch.float64)
X = torch.randn(2, 3, 4, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
WEIGHT = torch.randn(4, 4, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
BIAS = torch.tensor([1.0, 2.0, 3.0, 4.0], dtype=torch.float64)


def chain(x, blocks):
    for block in blocks:
        x = block(x)
    return x


def program(*, plain=False, graded=False, frozen=False, on=X, listed=False):
    """A call of f(x, blocks) with two named blocks, whose calls are observed."""
    one = Call()
    options = {"plain": plain, "graded": graded, "frozen": frozen}
    blocks = [
        one.given("linear", "block 0", weight=WEIGHT, bias=BIAS, **options),
        one.given("residual", "block 1", weight=WEIGHT, **options),
    ]
    stream = one.leaf(on, torch.ones_like(on)) if graded else on
    one.function("f", stream, one.module_list(*blocks) if listed else blocks).observe("output")
    one.calls().observe("calls")
    return one.differentiate()


def observe(one, f, *extras):
    data = wire.encode_call(replace(one.program, extras=extras))
    return from_parts(runner.observe({"f": f}, data, POOL, {"device": device.run_on_fake_device}))


def differences(one, f, *extras):
    """What is found beside the chain as it should be."""
    return [
        f"{found.subject} {found.message}"
        for found in compare(observe(one, f, *extras), observe(one, chain), one.program).differences
    ]


@pytest.mark.parametrize("plain", [False, True])
def test_blocks_compute_what_their_kind_says_and_their_calls_are_noted(plain):
    observed = observe(program(plain=plain), chain, "again", "device")
    linear = X @ WEIGHT.T + BIAS
    assert torch.allclose(observed.values["output"], linear + torch.tanh(linear @ WEIGHT.T))
    assert observed.values["calls"] == ["block 0(tensor)", "block 1(tensor)"]
    assert not observed.changed
    assert observed.repeat_error is observed.mixed is observed.gradient_error is None


def test_a_plain_callable_has_no_parameters_and_a_module_has():
    module, function = given.make("linear", {"weight": WEIGHT, "bias": BIAS}, [], plain=True)
    assert not isinstance(function, nn.Module)
    assert [name for name, _ in module.named_parameters()] == ["weight", "bias"]
    loss, same = given.make("squares", {"weight": BIAS}, [], frozen=True)
    assert loss is same
    assert not any(parameter.requires_grad for parameter in loss.parameters())
    assert float(loss(torch.ones(4, dtype=torch.float64))) == 10


@pytest.mark.parametrize("kind", given.SOURCES)
def test_the_text_of_a_kind_says_what_it_computes(kind):
    tensors = {"weight": WEIGHT} | ({"bias": BIAS} if kind == "linear" else {})
    if kind == "squares":
        tensors = {"weight": BIAS}
    _, function = given.make(kind, tensors, [])
    assert torch.equal(function(X), eval(given.SOURCES[kind], {"torch": torch, "x": X, **tensors}))


def test_the_calls_of_one_without_a_name_are_not_noted():
    calls = []
    given.make("residual", {"weight": WEIGHT}, calls)[1](X)
    assert calls == []


def test_a_second_call_and_another_order_are_seen():
    twice = differences(program(), lambda x, blocks: chain(x, blocks) + 0 * chain(x, blocks))
    assert twice == ["calls is a list of 4, expected a list of 2"]
    backwards = differences(program(), lambda x, blocks: chain(x, blocks[::-1]))
    assert "calls[0] is 'block 1(tensor)', expected 'block 0(tensor)'" in backwards


@pytest.mark.parametrize(("args", "kwargs"), [((X, None), {}), ((), {"x": X}), (([X],), {}), ((), {})])
def test_anything_but_the_stream_alone_is_refused(args, kwargs):
    calls = []
    with pytest.raises(TypeError, match="takes the stream alone"):
        given.make("residual", {"weight": WEIGHT}, calls, "block 0")[1](*args, **kwargs)
    assert len(calls) == 1


def backward(x, blocks):
    result = chain(x, blocks)
    if result.requires_grad:
        result.sum().backward()
    return result.detach()


def cleared(x, blocks):
    for block in blocks:
        block.zero_grad()
    return chain(x, blocks)


def unfrozen(x, blocks):
    for block in blocks:
        block.requires_grad_(True)
    return chain(x, blocks)


def silenced(x, blocks):
    for block in blocks:
        block.eval()
    return chain(x, blocks)


def hooked(x, blocks):
    blocks[1].register_forward_hook(lambda block, args, result: None)
    return chain(x, blocks)


def required(x, blocks):
    return chain(x.requires_grad_(), blocks).detach()


def test_gradients_and_flags_of_blocks_and_stream_are_watched():
    assert differences(program(graded=True), chain) == []
    changed = differences(program(graded=True), backward)
    assert any("weight is changed by the call (its .grad)" in text for text in changed)
    assert any(".0 is changed by the call (its .grad)" in text for text in changed)
    assert any("its .grad" in text for text in differences(program(graded=True), cleared))
    assert any("shape or flags" in text for text in differences(program(frozen=True), unfrozen))
    assert any("shape or flags" in text for text in differences(program(), required))


def test_a_gradient_that_was_not_there_is_seen():
    changed = differences(program(), backward)
    assert any("weight is changed by the call (its .grad)" in text for text in changed)
    assert any("exists, where there should be none" in text for text in changed)


def test_the_mode_and_the_hooks_of_blocks_are_watched():
    assert differences(program(), silenced) == [
        f"2.1.{i} is changed by the call (its mode or its hooks)" for i in (0, 1)
    ]
    assert differences(program(), hooked) == ["2.1.1 is changed by the call (its mode or its hooks)"]


def test_gradients_are_watched_where_only_a_function_is_given():
    changed = differences(program(graded=True, plain=True), backward)
    assert any("its .grad" in text for text in changed)


def test_a_call_under_no_grad_runs_there_each_time():
    seen = []

    def f(x, blocks):
        seen.append(torch.is_grad_enabled())
        return chain(x, blocks).detach()

    observe(program(), f)
    assert seen == [True, True]
    seen.clear()
    observed = observe(program().under_no_grad(), f, "again", "device")
    assert not any(seen)
    assert not observed.settings


def test_a_call_that_leaves_gradients_on_under_no_grad_is_told():
    def f(x, blocks):
        torch.set_grad_enabled(True)
        return chain(x, blocks).detach()

    assert observe(program().under_no_grad(), f).settings == ("grad mode",)
    assert torch.is_grad_enabled()


def test_numbers_that_were_read_may_be_anywhere_where_the_author_says_so():
    def f(x, blocks):
        return torch.tensor([chain(x, blocks).mean().item()])

    assert observe(program(), f, "device").elsewhere == ("output",)
    assert observe(program().anywhere(), f, "device").elsewhere == ()


def test_a_module_list_is_a_sequence_of_the_same_modules():
    def f(x, blocks):
        assert isinstance(blocks, nn.ModuleList)
        return chain(x, blocks)

    assert differences(program(listed=True), f, "again", "device") == []


def test_the_steps_survive_the_wire_in_the_dtype_of_the_call():
    one = program(graded=True).under_no_grad().anywhere()
    decoded = wire.decode_call(wire.encode_call(one.program))
    assert decoded.no_grad
    assert decoded.anywhere
    assert [step.kind for step in decoded.steps] == ["given", "given", "leaf", "function", "calls"]
    assert decoded.steps[0].name == "linear"
    assert decoded.steps[0].args == ({"name": "block 0", "plain": False, "frozen": False, "graded": True},)
    assert decoded.steps[0].kwargs["bias"].equal(BIAS)
