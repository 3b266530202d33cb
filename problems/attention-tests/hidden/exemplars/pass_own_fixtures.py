"""Own fixtures; relations that hold for every correct implementation, and numbers that were worked out on paper."""

import math

import pytest
import torch

VISIBLE = torch.tensor([[1, 0, 1, 1, 0], [0, 1, 0, 1, 1], [1, 1, 1, 0, 0], [0, 0, 1, 0, 1]]).bool()


@pytest.fixture
def generator():
    return torch.Generator().manual_seed(7)


@pytest.fixture
def draw(generator):
    return lambda *shape: torch.randn(*shape, generator=generator, dtype=torch.float64)


@pytest.fixture
def inputs(draw):
    """Two sequences, three heads, four queries, five keys of width 6, values of width 2."""
    return draw(2, 3, 4, 6), draw(2, 3, 5, 6), draw(2, 3, 5, 2)


@pytest.fixture
def on_paper():
    """Scores ln 1, ln 2, ln 5 and 0, 0, 0 after the division by 2 = sqrt(4); weights in eighths and thirds."""
    query = torch.tensor([[2.0, 0, 0, 0], [0, 0, 0, 0]], dtype=torch.float64)
    key = torch.zeros(3, 4, dtype=torch.float64)
    key[:, 0] = torch.tensor([1.0, 2.0, 5.0]).double().log()
    value = torch.tensor([[8.0, 0], [0, 8.0], [16.0, -8.0]], dtype=torch.float64)
    weights = torch.tensor([[1 / 8, 2 / 8, 5 / 8], [1 / 3, 1 / 3, 1 / 3]], dtype=torch.float64)
    output = torch.tensor([[11.0, -3.0], [8.0, 0.0]], dtype=torch.float64)
    return query, key, value, output, weights


def close(one, other, tolerance=1e-7):
    assert one.shape == other.shape
    assert bool(((one - other).abs() <= tolerance * (1 + other.abs())).all())  # a NaN is not <= anything


def every_close(results, others):
    assert type(results).__mro__[-2] is tuple
    for one, other in zip(results, others, strict=True):
        close(one, other)


class TestOnPaper:
    def test_open(self, impl, on_paper):
        query, key, value, output, weights = on_paper
        every_close(impl(query=query, key=key, value=value), (output, weights))

    def test_masked(self, impl, on_paper):
        query, key, value, _, _ = on_paper
        output, weights = impl(query, key, value, torch.tensor([[True, False, True], [False, False, False]]))
        close(weights, torch.tensor([[1 / 6, 0, 5 / 6], [0, 0, 0]]).double())
        close(output, torch.tensor([[88 / 6, -40 / 6], [0, 0]]).double())

    @pytest.mark.parametrize(
        ("scale", "shares"), [(0.0, (1, 1, 1)), (1, (1, 4, 25)), (1.0, (1, 4, 25)), (-0.5, (10, 5, 2))]
    )
    def test_scaled(self, impl, on_paper, scale, shares):
        query, key, value, _, _ = on_paper
        weights = torch.tensor(shares).double() / sum(shares)
        got = impl(query, key, value, None, scale)
        every_close((got[0][:1], got[1][:1]), ((weights @ value)[None], weights[None]))

    @pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
    @pytest.mark.parametrize("mask", [None, torch.tensor([[True, True, False], [False, False, False]])])
    def test_dtypes(self, impl, on_paper, dtype, mask):
        query, key, value, output, weights = (part.to(dtype) for part in on_paper)
        got = impl(query, key, value, mask)
        assert [part.dtype for part in got] == [dtype, dtype]
        if mask is not None:
            weights = torch.tensor([[1 / 3, 2 / 3, 0], [0, 0, 0]])
            output = weights @ value.float()
        close(got[0].double(), output.double(), 5e-2)
        close(got[1].double(), weights.double(), 5e-2)


def test_rows_share_out_one(impl, inputs):
    output, weights = impl(*inputs)
    assert output.shape == (2, 3, 4, 2)
    assert weights.shape == (2, 3, 4, 5)
    close(weights.sum(-1), torch.ones(2, 3, 4).double())
    close(output, weights @ inputs[2])
    close(impl(*inputs, VISIBLE)[1].sum(-1), torch.ones(2, 3, 4).double())


def test_a_head_of_a_batch_is_a_head_alone(impl, inputs):
    mask = torch.stack([VISIBLE, VISIBLE.flip(0), VISIBLE.flip(1)])
    together = impl(*inputs, mask)
    for sequence in range(2):
        for head in range(3):
            query, key, value = (part[sequence, head] for part in inputs)
            alone = impl(query, key, value, mask[head])
            every_close(alone, [part[sequence, head] for part in together])


def test_sequences_have_masks_of_their_own(impl, inputs):
    padding = torch.arange(5) < torch.tensor([2, 4])[:, None, None, None]
    together = impl(*inputs, padding)
    for sequence, length in enumerate((2, 4)):
        query, key, value = (part[sequence] for part in inputs)
        output, weights = impl(query, key[:, :length], value[:, :length])
        close(together[0][sequence], output)
        close(together[1][sequence, ..., :length], weights)
        assert not together[1][sequence, ..., length:].any()


@pytest.mark.parametrize("leading", [(), (3,), (1, 1), (1, 2, 1), (2, 1, 2, 1)])
@pytest.mark.parametrize("q_len", [1, 2])
def test_axes_stay(impl, draw, leading, q_len):
    output, weights = impl(draw(*leading, q_len, 3), draw(*leading, 1, 3), draw(*leading, 1, 1))
    assert output.shape == (*leading, q_len, 1)
    assert weights.shape == (*leading, q_len, 1)


def test_a_hidden_key_is_as_good_as_none(impl, inputs):
    query, key, value = inputs
    visible = torch.tensor([True, False, True, True, False])
    without = impl(query, key[..., visible, :], value[..., visible, :])
    for mask in (visible, visible.expand(4, 5), visible.expand(3, 1, 5), visible.expand(2, 1, 4, 5)):
        for loud in (1.0, -1e4, 1e30):
            louder = loud * torch.where(visible, 1 / loud, 1.0)[:, None].double()
            output, weights = impl(query, key * louder, value * louder, mask)
            close(output, without[0])
            close(weights[..., visible], without[1])
            assert torch.count_nonzero(weights[..., ~visible]) == 0


@pytest.mark.parametrize("scale", [0.0, 1e-3, 0.5])
def test_a_hidden_key_is_as_good_as_none_at_any_scale(impl, inputs, scale):
    query, key, value = inputs
    visible = torch.tensor([True, False, True, True, False])
    without = impl(query, key[..., visible, :], value[..., visible, :], scale=scale)
    output, weights = impl(query, key, value, visible, scale)
    every_close((output, weights[..., visible]), without)


def test_one_query_of_many_is_one_query_alone(impl, inputs):
    query, key, value = inputs
    output, weights = impl(query, key, value, VISIBLE)
    for row in range(4):
        alone = impl(query[..., row : row + 1, :], key, value, VISIBLE[row : row + 1])
        every_close(alone, (output[..., row : row + 1, :], weights[..., row : row + 1, :]))


def test_the_past_sees_the_future(impl, draw):
    x = draw(5, 4)
    weights = impl(x, x, x)[1]
    assert bool((weights > 0).all())
    close(weights, torch.softmax(x @ x.T / 2, dim=1))


def test_memory_layout_is_of_no_importance(impl, inputs):
    query, key, value = inputs
    turned = [part.permute(3, 1, 0, 2).contiguous().permute(2, 1, 3, 0) for part in inputs]
    every_close(impl(*turned), impl(query, key, value))
    narrow = [torch.cat([part, part], -1)[..., : part.shape[-1]] for part in inputs]
    every_close(impl(*narrow, VISIBLE.T.contiguous().T), impl(query, key, value, VISIBLE))


@pytest.fixture(params=["positive", "negative", "mixed"])
def offsets(request):
    sizes = torch.tensor([5000.0, 6000.0, 7000.0, 8000.0], dtype=torch.float64)
    return {"positive": sizes, "negative": -sizes, "mixed": sizes * torch.tensor([1, -1, -1, 1])}[request.param]


@pytest.mark.parametrize("mask", [None, VISIBLE], ids=["open", "masked"])
def test_an_offset_of_all_scores_of_a_query_changes_nothing(impl, draw, offsets, mask):
    query, key, value = torch.ones(4, 1).double(), draw(5, 1), draw(5, 2)
    plain = impl(query, key, value, mask, 1.0)
    query, key = torch.cat([query, offsets[:, None]], 1), torch.cat([key, torch.ones(5, 1).double()], 1)
    every_close(impl(query, key, value, mask, 1.0), plain)


def test_large_gaps_between_scores(impl):
    key = torch.tensor([[0.0], [3000.0], [2999.0], [-4000.0]], dtype=torch.float64)
    weights = impl(torch.ones(1, 1).double(), key, key, scale=1.0)[1]
    close(weights, torch.tensor([[0, 1, math.exp(-1), 0]]).double() / (1 + math.exp(-1)))


@pytest.mark.parametrize("rows", [[0], [1, 3], [0, 1, 2, 3]])
def test_rows_that_see_nothing(impl, inputs, rows):
    mask = VISIBLE.clone()
    mask[rows] = False
    leaves = [part.requires_grad_() for part in inputs]
    output, weights = impl(*leaves, mask)
    assert torch.count_nonzero(output[..., rows, :]) == 0
    assert torch.count_nonzero(weights[..., rows, :]) == 0
    gradients = torch.autograd.grad([output, weights], leaves, [torch.ones_like(output), torch.ones_like(weights)])
    assert all(torch.isfinite(gradient).all() for gradient in gradients)
    assert not gradients[0][..., rows, :].any()


@pytest.mark.parametrize("mask", [None, VISIBLE], ids=["open", "masked"])
@pytest.mark.parametrize("which", [0, 1], ids=["output", "weights"])
def test_gradients_are_slopes(impl, draw, inputs, mask, which):
    """Along a random direction of each input the result changes as its gradient says."""
    leaves = [part.clone().requires_grad_() for part in inputs]
    result = impl(*leaves, mask)[which]
    cotangent = draw(*result.shape)
    (result * cotangent).sum().backward()
    for place in (0, 1) if which else (0, 1, 2):
        direction, step = draw(*inputs[place].shape), 1e-3
        ends = []
        for sign in (1, -1):
            moved = [part.clone() for part in inputs]
            moved[place] += sign * step * direction
            ends.append((impl(*moved, mask)[which] * cotangent).sum())
        slope = (ends[0] - ends[1]) / (2 * step)
        close((leaves[place].grad * direction).sum(), slope, 1e-3)


@pytest.mark.parametrize("masked", [False, True])
def test_arguments_are_left_alone(impl, inputs, masked):
    mask = [torch.tensor([[False, True, True, False, True]])] if masked else []
    before = [part.clone() for part in (*inputs, *mask)]
    first = [part.clone() for part in impl(*inputs, *mask)]
    assert all(torch.equal(part, copy) for part, copy in zip((*inputs, *mask), before, strict=True))
    if masked:
        impl(*inputs, ~mask[0])
    every_close(impl(*inputs, *mask), first)
