"""One formula in float64, and parametrize for every axis along which calls differ."""

import pytest
import torch

TOLERANCE = {torch.float64: 1e-8, torch.float32: 1e-3, torch.bfloat16: 5e-2}
PADDING = torch.arange(7) < torch.tensor([3, 6])[:, None, None, None]


def tokens(*leading, q_len=5, k_len=7, d_k=6, d_v=3, dtype=torch.float64):
    sizes = ((q_len, d_k), (k_len, d_k), (k_len, d_v))
    return [torch.randn(*leading, *size, dtype=torch.float64).to(dtype) for size in sizes]


def formula(query, key, value, mask=None, scale=None):
    query, key, value = query.double(), key.double(), value.double()
    scores = query @ key.transpose(-2, -1)
    scores = scores / query.shape[-1] ** 0.5 if scale is None else scores * scale
    if mask is None:
        mask = torch.tensor(True)
    weights = scores.masked_fill(~mask, -torch.inf).softmax(-1).masked_fill(~mask, 0)
    return weights @ value, weights


def check(result, expected, dtype=torch.float64):
    assert isinstance(result, tuple)
    assert len(result) == 2
    for got, wanted in zip(result, expected, strict=True):
        assert got.shape == wanted.shape
        assert got.dtype == dtype
        size = wanted.abs().max().clamp(min=1e-6)
        torch.testing.assert_close(got.double() / size, wanted / size, rtol=0, atol=TOLERANCE[dtype])


@pytest.mark.parametrize("leading", [(), (2,), (2, 3), (1, 1), (2, 1, 3)], ids=str)
@pytest.mark.parametrize("with_mask", [False, True])
def test_leading_axes(impl, leading, with_mask):
    mask = torch.rand(*leading, 5, 7) < 0.6 if with_mask else None
    inputs = tokens(*leading)
    check(impl(*inputs, mask), formula(*inputs, mask))


@pytest.mark.parametrize(("q_len", "k_len", "d_k", "d_v"), [(1, 7, 6, 3), (5, 1, 6, 3), (4, 4, 1, 2), (4, 4, 8, 1)])
def test_sizes(impl, q_len, k_len, d_k, d_v):
    inputs = tokens(2, 3, q_len=q_len, k_len=k_len, d_k=d_k, d_v=d_v)
    check(impl(*inputs), formula(*inputs))
    mask = torch.rand(q_len, k_len) < 0.5
    check(impl(*inputs, mask), formula(*inputs, mask))


@pytest.mark.parametrize(
    "shape", [(7,), (5, 7), (1, 7), (5, 1), (3, 5, 7), (2, 1, 5, 7), (2, 3, 5, 7), (1, 1)], ids=str
)
def test_mask_shapes(impl, shape):
    inputs = tokens(2, 3)
    for _ in range(3):
        mask = torch.rand(shape) < 0.5
        check(impl(*inputs, mask=mask), formula(*inputs, mask))


def test_padding(impl):
    inputs = tokens(2, 3)
    check(impl(*inputs, mask=PADDING), formula(*inputs, PADDING))


@pytest.mark.parametrize("scale", [None, 0.0, 0.3, 1, 2.5])
@pytest.mark.parametrize("mask", [None, PADDING], ids=["open", "padded"])
def test_scale(impl, scale, mask):
    query, key, value = tokens(2, 3)
    check(impl(query, key, value, mask, scale), formula(query, key, value, mask, scale))
    by_name = impl(scale=scale, mask=mask, value=value, key=key, query=query)
    check(by_name, formula(query, key, value, mask, scale))


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("rows", [(), (0, 3), (0, 1, 2, 3, 4)], ids=["none", "some", "all"])
def test_dtypes_and_empty_rows(impl, dtype, rows):
    inputs = tokens(2, 3, dtype=dtype)
    mask = torch.rand(2, 1, 5, 7) < 0.6
    mask[0, 0, list(rows)] = False
    check(impl(*inputs, mask), formula(*inputs, mask), dtype)
    check(impl(*inputs), formula(*inputs), dtype)


@pytest.mark.parametrize("empty_row", [False, True])
@pytest.mark.parametrize("which", [0, 1])
def test_gradients(impl, empty_row, which):
    inputs = [part.requires_grad_() for part in tokens(2, 3)]
    mask = torch.rand(5, 7) < 0.7
    mask[:, 0] = True
    if empty_row:
        mask[2] = False
    cotangent = torch.randn(2, 3, 5, 3 if which == 0 else 7, dtype=torch.float64)
    wanted = torch.autograd.grad(formula(*inputs, mask)[which], inputs, cotangent, allow_unused=True)
    got = torch.autograd.grad(impl(*inputs, mask)[which], inputs, cotangent, allow_unused=True)
    for one, other in zip(got, wanted, strict=True):
        if other is not None:
            torch.testing.assert_close(one, other, rtol=0, atol=1e-7)


@pytest.mark.parametrize("behind", [1e30, -1e30])
def test_what_is_hidden_changes_nothing(impl, behind):
    query, key, value = tokens(2, 3)
    wanted = formula(query, key, value, PADDING)
    hidden = ~PADDING.transpose(-2, -1)
    check(impl(query, key.masked_fill(hidden, behind), value.masked_fill(hidden, behind), PADDING), wanted)


@pytest.mark.parametrize("sign", [1, -1])
def test_large_scores(impl, sign):
    """Scores near 4000 in size, of both signs among the queries, with gaps of size one between the keys."""
    signs = sign * torch.tensor([1.0, -1.0, 1.0, -1.0, 1.0], dtype=torch.float64)
    key = torch.stack([torch.full((7,), 64.0), torch.randn(7)], dim=-1).double()
    query = torch.stack([64 * signs, torch.ones(5)], dim=-1).double()
    value = torch.randn(7, 3, dtype=torch.float64)
    mask = torch.rand(5, 7) < 0.5
    mask[:, 3] = True
    check(impl(query, key, value, scale=1.0), formula(query, key, value, scale=1.0))
    check(impl(query, key, value, mask, scale=1.0), formula(query, key, value, mask, scale=1.0))


def test_the_loudest_key_is_hidden(impl):
    query, key, value = tokens(2, 3)
    key[..., 4, :] = 500 * query.sum(-2)
    mask = torch.arange(7) != 4
    check(impl(query, key, value, mask), formula(query, key, value, mask))


def test_views(impl):
    query, key, value = (part.transpose(1, 2).contiguous().transpose(1, 2) for part in tokens(2, 3))
    check(impl(query, key, value), formula(query, key, value))
    shared = key[:1].expand(2, 3, 7, 6)
    check(impl(query, shared, value), formula(query, shared, value))


@pytest.mark.parametrize("mask", [None, PADDING], ids=["open", "padded"])
def test_inputs_keep_their_values(impl, mask):
    inputs = [*tokens(2, 3), *([] if mask is None else [mask.clone()])]
    copies = [part.clone() for part in inputs]
    impl(*inputs)
    for part, copy in zip(inputs, copies, strict=True):
        assert torch.equal(part, copy)
