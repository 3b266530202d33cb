"""Drawn inputs: the same generator draws the same, and every draw keeps what it promises."""

from __future__ import annotations

import pytest
import torch

from judge.draws import Draw, case_generator


def draw(seed=1, problem="p", case="c"):
    return Draw(case_generator(seed, problem, case))


def test_the_same_seed_problem_and_case_draw_the_same():
    assert draw().normal(5).equal(draw().normal(5))
    others = [draw(seed=2), draw(problem="q"), draw(case="d"), draw(seed=11, problem="1"), draw(problem="p/c", case="")]
    drawn = [one.normal(5) for one in (draw(), *others)]
    assert all(not a.equal(b) for number, a in enumerate(drawn) for b in drawn[:number])


def test_draws_leave_the_global_generator_alone():
    state = torch.default_generator.get_state()
    one = draw()
    one.mask(3, 4, hidden_rows=1)
    one.noncontiguous(one.stream(2, 3))
    one.permutation(5)
    assert torch.default_generator.get_state().equal(state)


def test_floating_draws_are_float64_of_the_given_shape():
    one = draw()
    for tensor in (one.normal(2, 3), one.stream(2, 3), one.uniform(-1, 1, 2, 3), one.weight(2, 3)):
        assert (tensor.dtype, tensor.shape) == (torch.float64, (2, 3))
    assert (one.normal().shape, one.gain(4).shape, one.bias(4).shape) == ((), (4,), (4,))


@pytest.mark.parametrize(
    ("name", "arguments", "mean", "spread"),
    [
        ("normal", (100, 100), 0, 1),
        ("stream", (100, 100), 3, 2),
        ("gain", (10_000,), 1, 0.5),
        ("bias", (10_000,), 0, 0.5),
        ("weight", (100, 100), 0, 0.1),
        ("weight", (100, 100, 5.0), 0, 0.5),
    ],
)
def test_draws_have_their_mean_and_spread(name, arguments, mean, spread):
    tensor = getattr(draw(), name)(*arguments)
    assert tensor.mean().item() == pytest.approx(mean, abs=0.05 * spread)
    assert tensor.std().item() == pytest.approx(spread, rel=0.05)


def test_uniform_and_integer_draws_stay_in_their_range_and_reach_all_of_it():
    one = draw()
    assert all(-2 <= value < 3 for value in one.uniform(-2, 3, 1000).tolist())
    numbers = one.integers(-2, 3, 10, 10)
    assert (numbers.dtype, numbers.shape) == (torch.int64, (10, 10))
    assert set(numbers.flatten().tolist()) == {-2, -1, 0, 1, 2}
    assert {one.integer(5, 8) for _ in range(100)} == {5, 6, 7}
    assert type(one.integer(5, 8)) is int
    assert sorted(one.permutation(6).tolist()) == list(range(6))


def test_states_have_the_keys_and_shapes_of_their_modules():
    one = draw()
    linear, norm = torch.nn.Linear(3, 2), torch.nn.LayerNorm(4)
    expected = {
        f"{name}.{key}": value.shape
        for name, module in (("l", linear), ("n", norm))
        for key, value in module.state_dict().items()
    }
    state = {**one.linear("l", 2, 3), **one.norm("n", 4)}
    assert {key: value.shape for key, value in state.items()} == expected
    assert list(one.linear("l", 2, 3, bias=False)) == ["l.weight"]
    assert list(one.norm("n", 4, bias=False)) == ["n.weight"]


@pytest.mark.parametrize("shape", [(4, 5), (3, 2), (2, 3, 4, 6)])
def test_every_row_of_a_mask_sees_a_key_and_misses_one(shape):
    for seed in range(20):
        rows = draw(seed).mask(*shape)
        assert (rows.dtype, rows.shape) == (torch.bool, shape)
        assert rows.any(-1).all()
        assert not rows.all(-1).any()


def test_masks_of_one_key_show_it():
    assert draw().mask(6, 1).all()


@pytest.mark.parametrize("hidden", [0, 1, 3, 8])
def test_exactly_the_asked_number_of_rows_may_see_nothing(hidden):
    mask = draw().mask(2, 4, 5, hidden_rows=hidden)
    assert int((~mask.any(-1)).sum()) == hidden


def test_rows_and_masks_differ_from_each_other():
    mask = draw().mask(6, 8)
    assert len({tuple(row) for row in mask.tolist()}) > 3
    assert not mask.equal(draw(seed=2).mask(6, 8))


def test_a_noncontiguous_tensor_has_the_same_values_and_noise_between():
    one = draw()
    x = one.normal(2, 3)
    strided = one.noncontiguous(x)
    assert strided.equal(x)
    assert strided.stride() == (6, 2)
    assert not strided.is_contiguous()
    memory = torch.empty(0, dtype=x.dtype).set_(strided.untyped_storage())
    assert memory[1::2].count_nonzero() == 6


def test_a_transposed_tensor_has_the_same_values_in_another_order_of_memory():
    one = draw()
    x = one.normal(2, 3, 4)
    moved = one.transposed(x)
    assert moved.equal(x)
    assert moved.stride() == (4, 8, 1)


def test_an_expanded_tensor_repeats_one_memory():
    one = draw()
    x = one.normal(3, 4)
    copies = one.expanded(x, 5)
    assert copies.shape == (5, 3, 4)
    assert copies.stride() == (0, 4, 1)
    assert copies[4].data_ptr() == x.data_ptr()
