"""One formula for both orders, and a table of inputs for each property, by pytest.mark.parametrize."""

import pytest
import torch
import torch.nn.functional as F

ORDERS = ["pre", "post"]
NAMES = [
    "weight_o",
    "bias_o",
    "ffn_weight1",
    "ffn_bias1",
    "ffn_weight2",
    "ffn_bias2",
    "gamma1",
    "beta1",
    "gamma2",
    "beta2",
]
both_orders = pytest.mark.parametrize("order", ORDERS)


def draw(*shape):
    return torch.randn(*shape, dtype=torch.float64)


def parameters(d_model=12, d_ff=20):
    shapes = [(d_model, d_model), (d_model,), (d_ff, d_model), (d_ff,), (d_model, d_ff), *5 * [(d_model,)]]
    drawn = {name: draw(*shape) / 2 for name, shape in zip(NAMES, shapes, strict=True)}
    return {**drawn, "gamma1": 1 + drawn["gamma1"], "gamma2": 1 + drawn["gamma2"]}


def mask_of(*shape):
    """At least one key is visible and one hidden in every row."""
    mask = torch.rand(shape) < 0.5
    mask[..., 0], mask[..., 1] = True, False
    return mask[..., torch.randperm(shape[-1])]


def block_of(impl, order):
    return getattr(impl, f"{order}_norm_transformer_block_forward")


def stack_of(impl, order):
    return getattr(impl, f"stack_{order}_norm_blocks")


def expected(order, x, num_heads, p, mask=None, eps=1e-5, depth=1):
    def attention(x):
        heads = x.unflatten(-1, (num_heads, -1)).transpose(1, 2)
        scores = heads @ heads.mT / heads.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf).masked_fill(~mask.any(-1, keepdim=True), 0)
        weights = scores.softmax(-1) if mask is None else scores.softmax(-1) * mask.any(-1, keepdim=True)
        return F.linear((weights @ heads).transpose(1, 2).flatten(2), p["weight_o"], p["bias_o"])

    def ffn(x):
        hidden = F.gelu(F.linear(x, p["ffn_weight1"], p["ffn_bias1"]))
        return F.linear(hidden, p["ffn_weight2"], p["ffn_bias2"])

    def norm(x, number):
        return F.layer_norm(x, x.shape[-1:], p[f"gamma{number}"], p[f"beta{number}"], eps)

    for _ in range(depth):
        if order == "pre":
            x = x + attention(norm(x, 1))
            x = x + ffn(norm(x, 2))
        else:
            x = norm(x + attention(x), 1)
            x = norm(x + ffn(x), 2)
    return x


def assert_near(got, wanted, tolerance=1e-8):
    assert got.dtype == wanted.dtype
    assert got.shape == wanted.shape
    assert (got - wanted).norm() <= tolerance * wanted.norm()


@both_orders
@pytest.mark.parametrize(
    ("batch", "seq_len", "num_heads", "d_model", "d_ff"),
    [(2, 5, 3, 12, 20), (3, 1, 3, 12, 20), (1, 4, 1, 6, 5), (2, 3, 4, 4, 7), (1, 1, 1, 2, 3)],
)
def test_values(impl, order, batch, seq_len, num_heads, d_model, d_ff):
    x, p = draw(batch, seq_len, d_model) + 1, parameters(d_model, d_ff)
    assert_near(block_of(impl, order)(x, num_heads, **p), expected(order, x, num_heads, p))


@both_orders
def test_arguments_by_position(impl, order):
    x, p = draw(2, 5, 12) + 1, parameters()
    got = block_of(impl, order)(x, 3, *[p[name] for name in NAMES], torch.ones(5, 5).bool().tril(), 0.2)
    assert_near(got, expected(order, x, 3, p, torch.ones(5, 5).bool().tril(), 0.2))


@both_orders
@pytest.mark.parametrize("shape", [(5, 5), (1, 5), (2, 1, 1, 5), (2, 3, 5, 5), (1, 3, 1, 5), (2, 1, 5, 5)], ids=str)
def test_masks(impl, order, shape):
    x, p, mask = draw(2, 5, 12) + 1, parameters(), mask_of(*shape)
    assert_near(block_of(impl, order)(x, 3, **p, mask=mask), expected(order, x, 3, p, mask))


@both_orders
def test_a_mask_as_large_as_the_batch(impl, order):
    x, p, causal = draw(4, 4, 12) + 1, parameters(), torch.ones(4, 4).bool().tril()
    assert_near(block_of(impl, order)(x, 2, **p, mask=causal), expected(order, x, 2, p, causal))


def gradients(result, inputs, cotangent):
    return torch.autograd.grad(result, inputs, cotangent)


@both_orders
@pytest.mark.parametrize("hidden", [[], [1], [0, 4], [0, 1, 2, 3, 4]], ids=str)
def test_gradients_also_of_rows_that_see_nothing(impl, order, hidden):
    x, p, mask = (draw(2, 5, 12) + 1).requires_grad_(), parameters(), mask_of(5, 5)
    mask[hidden] = False
    inputs = [x, *[value.requires_grad_() for value in p.values()]]
    cotangent = draw(2, 5, 12)
    got, wanted = block_of(impl, order)(x, 3, **p, mask=mask), expected(order, x, 3, p, mask)
    assert_near(got, wanted)
    for one, other in zip(gradients(got, inputs, cotangent), gradients(wanted, inputs, cotangent), strict=True):
        assert_near(one, other, 1e-7)


@both_orders
@pytest.mark.parametrize("eps", [1e-9, 0.4, 3.0])
def test_eps(impl, order, eps):
    x, p = draw(2, 5, 12), parameters()
    assert_near(block_of(impl, order)(x, 3, **p, eps=eps), expected(order, x, 3, p, eps=eps))


@both_orders
def test_the_default_eps_on_a_small_stream(impl, order):
    x, p = 1e-3 * draw(2, 5, 12), parameters()
    p["bias_o"] *= 1e-3
    assert_near(block_of(impl, order)(x, 3, **p), expected(order, x, 3, p))


@both_orders
@pytest.mark.parametrize("depth", [0, 1, 3])
@pytest.mark.parametrize("options", [{}, {"mask": torch.ones(5, 5).bool().tril()}, {"eps": 0.4, "mask": None}])
def test_stacks(impl, order, depth, options):
    x, p = (draw(2, 5, 12) + 1).requires_grad_(), parameters()
    got, wanted = stack_of(impl, order)(x, 3, {**p, **options}, depth), expected(order, x, 3, p, **options, depth=depth)
    cotangent = draw(2, 5, 12)
    assert_near(got, wanted)
    assert_near(*[gradients(result, x, cotangent)[0] for result in (got, wanted)], 1e-7)


@both_orders
def test_large_scores(impl, order):
    x, p = 40 * draw(2, 5, 12), parameters()
    assert_near(block_of(impl, order)(x, 3, **p), expected(order, x, 3, p))


def test_large_negative_scores(impl):
    x, p = draw(1, 4, 12), parameters()
    x = 40 * draw(12) * torch.tensor([1, -1, 1, -1])[:, None] + x
    only_the_next = torch.eye(4).roll(1, dims=1).bool()
    got = impl.post_norm_transformer_block_forward(x, 3, **p, mask=only_the_next)
    assert_near(got, expected("post", x, 3, p, only_the_next))


@both_orders
def test_a_stream_far_from_zero(impl, order):
    x, p, alone = draw(2, 5, 12) + 1e6, parameters(), torch.zeros(1, 1).bool()
    p["weight_o"], p["ffn_weight2"] = 1e6 * p["weight_o"], 1e6 * p["ffn_weight2"]
    got = block_of(impl, order)(x, 3, **p, mask=alone)
    assert_near(got, expected(order, x, 3, p, alone), 1e-6)


@both_orders
def test_a_stream_that_is_not_contiguous(impl, order):
    x, p = (draw(12, 5, 2) + 1).permute(2, 1, 0), parameters()
    assert_near(block_of(impl, order)(x, 3, **p), expected(order, x, 3, p))


@both_orders
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-3), (torch.bfloat16, 5e-2)])
def test_dtypes(impl, order, dtype, tolerance):
    x, p = draw(2, 5, 12).to(dtype), {name: (0.3 * value).to(dtype) for name, value in parameters().items()}
    got = block_of(impl, order)(x, 3, **p)
    assert got.dtype == dtype
    wanted = expected(order, x.double(), 3, {name: value.double() for name, value in p.items()})
    assert (got.double() - wanted).abs().max() <= tolerance * wanted.abs().max()


@both_orders
def test_arguments_stay_as_they_are(impl, order):
    x, params = draw(2, 5, 12), {**parameters(), "mask": mask_of(5, 5)}
    copies = {name: value.clone() for name, value in {"x": x, **params}.items()}
    block_of(impl, order)(x, 3, **params)
    stack_of(impl, order)(x, 3, params, 2)
    assert list(params) == [*NAMES, "mask"]
    for name, value in {"x": x, **params}.items():
        assert torch.equal(value, copies[name])


@both_orders
@pytest.mark.parametrize("num_heads", [5, 24])
def test_heads_that_do_not_divide_the_width(impl, order, num_heads):
    with pytest.raises(ValueError):
        block_of(impl, order)(draw(2, 5, 12), num_heads, **parameters())
    with pytest.raises(ValueError):
        stack_of(impl, order)(draw(2, 5, 12), num_heads, parameters(), 2)


@both_orders
def test_a_negative_depth(impl, order):
    with pytest.raises(ValueError):
        stack_of(impl, order)(draw(2, 5, 12), 3, parameters(), -1)
