"""Plain functions and plain loops: the expected numbers come from Python's own floats, one query at a time."""

import math

import pytest
import torch


def attend(query, key, value, visible, scale):
    """One head, in lists: the output's and the weights' rows."""
    outputs, weights = [], []
    for i, q in enumerate(query):
        scores = [scale * sum(a * b for a, b in zip(q, k, strict=True)) for k in key]
        seen = [j for j in range(len(key)) if visible[i][j]]
        peak = max((scores[j] for j in seen), default=0.0)
        shares = [math.exp(scores[j] - peak) if j in seen else 0.0 for j in range(len(key))]
        total = sum(shares) or 1.0
        row = [share / total for share in shares]
        weights.append(row)
        outputs.append([sum(w * v[c] for w, v in zip(row, value, strict=True) if w) for c in range(len(value[0]))])
    return outputs, weights


def compare(impl, query, key, value, mask=None, scale=None, rel=1e-7):
    """Call by position, compare every head of the batch."""
    arguments = [query, key, value, mask, scale]
    while arguments[-1] is None:
        arguments.pop()
    result = impl(*arguments)
    assert isinstance(result, tuple)
    output, weights = result
    q_len, k_len = query.shape[-2], key.shape[-2]
    assert tuple(output.shape) == (*query.shape[:-1], value.shape[-1])
    assert tuple(weights.shape) == (*query.shape[:-1], k_len)
    assert output.dtype == weights.dtype == query.dtype
    visible = torch.ones((), dtype=torch.bool) if mask is None else mask
    visible = visible.expand(*query.shape[:-2], q_len, k_len)
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    parts = (query, key, value, visible, output, weights)
    heads = [part.reshape(-1, *part.shape[-2:]).tolist() for part in parts]
    for q, k, v, m, out, wts in zip(*heads, strict=True):
        wanted_output, wanted_weights = attend(q, k, v, m, factor)
        for got, wanted in zip(out + wts, wanted_output + wanted_weights, strict=True):
            assert got == pytest.approx(wanted, rel=rel, abs=rel)


def normal(*shape):
    return torch.randn(*shape).double()


def test_a_batch_of_heads(impl):
    compare(impl, normal(2, 3, 4, 5), normal(2, 3, 6, 5), normal(2, 3, 6, 3))


def test_other_numbers_of_axes(impl):
    compare(impl, normal(4, 5), normal(6, 5), normal(6, 3))
    compare(impl, normal(2, 4, 5), normal(2, 6, 5), normal(2, 6, 3), torch.rand(2, 4, 6) < 0.5)
    compare(impl, normal(2, 1, 2, 4, 5), normal(2, 1, 2, 6, 5), normal(2, 1, 2, 6, 3))


def test_sizes_of_one(impl):
    compare(impl, normal(1, 1, 1, 1), normal(1, 1, 1, 1), normal(1, 1, 1, 1))
    compare(impl, normal(1, 2, 1, 4), normal(1, 2, 3, 4), normal(1, 2, 3, 1), torch.tensor([True, False, True]))
    compare(impl, normal(2, 2, 1, 4), normal(2, 2, 3, 4), normal(2, 2, 3, 1), torch.tensor([[False, True, True]]))


def test_self_attention(impl):
    x = normal(2, 2, 4, 3)
    compare(impl, x, x, x)
    compare(impl, x, x, x, torch.tensor([True, False, True, True]))


def test_scales(impl):
    for scale in (0.0, 0.05, 1, 3, 0.7):
        compare(impl, normal(2, 4, 5), normal(2, 6, 5), normal(2, 6, 3), None, scale)
        compare(impl, normal(2, 4, 5), normal(2, 6, 5), normal(2, 6, 3), torch.rand(4, 6) < 0.5, scale)


def test_names(impl):
    query, key, value = normal(2, 4, 5), normal(2, 6, 5), normal(2, 6, 3)
    mask = torch.rand(4, 6) < 0.5
    by_place = impl(query, key, value, mask, 0.3)
    by_name = impl(query=query, scale=0.3, key=key, mask=mask, value=value)
    for one, other in zip(by_place, by_name, strict=True):
        assert torch.allclose(one, other, rtol=1e-8, atol=1e-8)


def test_masks_of_every_shape(impl):
    for shape in ((6,), (4, 6), (1, 6), (4, 1), (3, 4, 6), (3, 1, 6), (2, 1, 4, 6), (2, 1, 1, 6), (2, 3, 1, 1)):
        for _ in range(2):
            mask = torch.rand(shape) < 0.6
            compare(impl, normal(2, 3, 4, 5), normal(2, 3, 6, 5), normal(2, 3, 6, 3), mask)


def test_padding_of_two_lengths(impl):
    mask = torch.arange(6).view(1, 1, 1, 6) < torch.tensor([2, 5]).view(2, 1, 1, 1)
    compare(impl, normal(2, 3, 4, 5), normal(2, 3, 6, 5), normal(2, 3, 6, 3), mask)


def test_queries_that_see_nothing(impl):
    mask = torch.rand(2, 3, 4, 6) < 0.7
    mask[:, 1, 2] = False
    mask[1, :, 0] = False
    compare(impl, normal(2, 3, 4, 5), normal(2, 3, 6, 5), normal(2, 3, 6, 3), mask)
    compare(impl, normal(2, 3, 4, 5), normal(2, 3, 6, 5), normal(2, 3, 6, 3), torch.zeros(1, 1).bool())


def test_hidden_tokens_may_hold_anything(impl):
    query, key, value = normal(4, 5), normal(6, 5), normal(6, 3)
    key[1], key[4] = 1e30, -1e30
    value[1], value[4] = -1e30, 1e30
    compare(impl, query, key, value, torch.tensor([True, False, True, True, False, True]))


def test_the_loudest_key_is_hidden(impl):
    query, key, value = normal(4, 5).abs(), normal(6, 5), normal(6, 3)
    key[3] = 2000.0
    compare(impl, query, key, value, torch.arange(6) != 3)


def test_scores_in_the_thousands(impl):
    """Both signs, gaps of moderate size, with and without a mask."""
    for signs in ((1, 1, 1, 1), (-1, -1, -1, -1), (1, -1, 1, -1)):
        query = torch.tensor([[60.0 * sign, 1.0] for sign in signs]).double()
        key = torch.tensor([[100.0, step] for step in (0.0, 2.0, 1.0, -1.0, 0.5, 3.0)]).double()
        compare(impl, query, key, normal(6, 3), None, 1.0)
        compare(impl, query, key, normal(6, 3), torch.tensor([True, False, True, True, False, True]), 1.0)
    key[:, 0] = torch.tensor([10.0, 70.0, 20.0, 70.0, 30.0, -70.0])
    compare(impl, query, key, normal(6, 3), None, 1.0)


def test_float32(impl):
    query, key, value = normal(2, 4, 5).float(), normal(2, 6, 5).float(), normal(2, 6, 3).float()
    compare(impl, query, key, value, rel=1e-3)
    compare(impl, query, key, value, torch.rand(2, 4, 6) < 0.5, rel=1e-3)


def test_bfloat16(impl):
    query, key, value = normal(2, 4, 5).bfloat16(), normal(2, 6, 5).bfloat16(), normal(2, 6, 3).bfloat16()
    for mask in (None, torch.arange(6) < 4):
        compare(impl, query, key, value, mask, rel=8e-2)


def test_views(impl):
    x = normal(2, 4, 3, 5)
    compare(impl, x.transpose(1, 2), x.transpose(1, 2), x.transpose(1, 2))
    compare(impl, normal(5, 4).t(), normal(12, 5)[::2], normal(6, 6)[:, ::2])


def gradients(function, inputs, mask, on_output, on_weights):
    leaves = [part.clone().requires_grad_() for part in inputs]
    output, weights = function(*leaves, mask)
    loss = (on_output * output).sum() + (on_weights * weights).sum()
    loss.backward()
    return [torch.zeros_like(leaf) if leaf.grad is None else leaf.grad for leaf in leaves]


def by_the_formula(query, key, value, mask):
    shares = torch.exp(query @ key.mT / math.sqrt(query.shape[-1])) * mask
    weights = shares / shares.sum(-1, keepdim=True).clamp(min=1e-300)
    return weights @ value, weights


def test_gradients(impl):
    inputs = normal(3, 4, 5), normal(3, 6, 5), normal(3, 6, 2)
    mask = torch.rand(4, 6) < 0.7
    mask[:, 0] = True
    mask[1] = False
    for on_output, on_weights in ((normal(3, 4, 2), 0), (0, normal(3, 4, 6)), (normal(3, 4, 2), normal(3, 4, 6))):
        wanted = gradients(by_the_formula, inputs, mask, on_output, on_weights)
        got = gradients(impl, inputs, mask, on_output, on_weights)
        for one, other in zip(got, wanted, strict=True):
            assert torch.allclose(one, other, rtol=1e-6, atol=1e-6)


def test_nothing_is_written_to_the_arguments(impl):
    for mask in (None, torch.tensor([[False, True, True, False]]), torch.zeros(3, 4).bool()):
        arguments = [normal(2, 3, 5), normal(2, 4, 5), normal(2, 4, 2), mask]
        copies = [part if part is None else part.clone() for part in arguments]
        impl(*arguments)
        for part, copy in zip(arguments, copies, strict=True):
            assert part is copy or torch.equal(part, copy)
