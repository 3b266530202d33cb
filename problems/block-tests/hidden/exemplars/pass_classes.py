"""Classes of tests with fixtures of their own; the formula is written once, in einsums, for one block."""

import math

import pytest
import torch


class Case:
    """A stream, the parameters of a block, and what a block or a stack should make of them."""

    def __init__(self, order, batch=2, seq_len=4, num_heads=2, d_head=3, d_ff=7):
        self.order, self.num_heads = order, num_heads
        d_model = num_heads * d_head
        self.x = self.normal(batch, seq_len, d_model) - 0.7
        self.params = {
            "weight_o": self.normal(d_model, d_model),
            "bias_o": self.normal(d_model),
            "ffn_weight1": self.normal(d_ff, d_model),
            "ffn_bias1": self.normal(d_ff),
            "ffn_weight2": self.normal(d_model, d_ff),
            "ffn_bias2": self.normal(d_model),
            "gamma1": self.normal(d_model) + 2,
            "beta1": self.normal(d_model),
            "gamma2": self.normal(d_model) - 2,
            "beta2": self.normal(d_model),
        }

    @staticmethod
    def normal(*shape):
        return torch.randn(shape, dtype=torch.float64)

    def block(self, impl, **options):
        functions = {"pre": impl.pre_norm_transformer_block_forward, "post": impl.post_norm_transformer_block_forward}
        return functions[self.order](self.x, self.num_heads, **self.params, **options)

    def stack(self, impl, num_blocks, **options):
        functions = {"pre": impl.stack_pre_norm_blocks, "post": impl.stack_post_norm_blocks}
        return functions[self.order](self.x, self.num_heads, {**self.params, **options}, num_blocks)

    def wanted(self, num_blocks=1, mask=None, eps=1e-5):
        stream = self.x
        for _ in range(num_blocks):
            if self.order == "pre":
                stream = stream + self._attention(self._norm(stream, 1, eps), mask)
                stream = stream + self._ffn(self._norm(stream, 2, eps))
            else:
                stream = self._norm(stream + self._attention(stream, mask), 1, eps)
                stream = self._norm(stream + self._ffn(stream), 2, eps)
        return stream

    def _norm(self, x, number, eps):
        centered = x - x.mean(-1, keepdim=True)
        deviation = torch.sqrt((centered**2).mean(-1, keepdim=True) + eps)
        return centered / deviation * self.params[f"gamma{number}"] + self.params[f"beta{number}"]

    def _attention(self, x, mask):
        heads = x.reshape(*x.shape[:2], self.num_heads, -1)
        scores = torch.einsum("bqhd,bkhd->bhqk", heads, heads) / math.sqrt(heads.shape[-1])
        shares = torch.exp(scores - scores.amax(-1, keepdim=True))
        if mask is not None:
            visible = mask.expand_as(scores)
            lowest = scores.masked_fill(~visible, -1e300).amax(-1, keepdim=True).clamp_min(-1e6)
            shares = torch.exp((scores - lowest).masked_fill(~visible, 0)) * visible
        total = shares.sum(-1, keepdim=True)
        weights = shares / torch.where(total > 0, total, 1)
        mixed = torch.einsum("bhqk,bkhd->bqhd", weights, heads).flatten(2)
        return mixed @ self.params["weight_o"].T + self.params["bias_o"]

    def _ffn(self, x):
        hidden = x @ self.params["ffn_weight1"].T + self.params["ffn_bias1"]
        hidden = hidden * (1 + torch.erf(hidden / math.sqrt(2))) / 2
        return hidden @ self.params["ffn_weight2"].T + self.params["ffn_bias2"]


def near(got, wanted, tolerance=1e-8):
    return got.shape == wanted.shape and bool((got - wanted).norm() <= tolerance * wanted.norm())


@pytest.fixture(params=["pre", "post"])
def order(request):
    return request.param


@pytest.fixture
def case(order):
    return Case(order)


@pytest.fixture
def causal():
    return torch.tril(torch.ones(4, 4, dtype=torch.bool))


@pytest.fixture
def watched(case):
    """The case with a gradient asked for everything."""
    for tensor in [case.x, *case.params.values()]:
        tensor.requires_grad_()
    return case


class TestOneBlock:
    def test_it_computes_the_formula(self, impl, case):
        assert near(case.block(impl), case.wanted())

    @pytest.mark.parametrize("sizes", [{"seq_len": 1}, {"batch": 1}, {"num_heads": 1}, {"d_head": 1}, {"batch": 4}])
    def test_it_takes_any_size(self, impl, order, sizes):
        case = Case(order, **sizes)
        assert near(case.block(impl), case.wanted())

    def test_its_stream_may_lie_in_memory_in_any_way(self, impl, case):
        case.x = case.normal(4, 2, 6).transpose(0, 1)
        assert near(case.block(impl), case.wanted())

    def test_its_gradients_are_those_of_the_formula(self, impl, watched, causal):
        inputs, cotangent = [watched.x, *watched.params.values()], watched.normal(2, 4, 6)
        got = torch.autograd.grad(watched.block(impl, mask=causal), inputs, cotangent)
        wanted = torch.autograd.grad(watched.wanted(mask=causal), inputs, cotangent)
        assert all(near(one, other, 1e-7) for one, other in zip(got, wanted, strict=True))

    @pytest.mark.parametrize("eps", [1e-8, 1.5])
    def test_it_uses_its_eps(self, impl, case, eps):
        case.x = case.x / 100
        assert near(case.block(impl, eps=eps), case.wanted(eps=eps))

    def test_its_eps_is_1e_5(self, impl, case):
        case.x = case.x / 500
        case.params["weight_o"] /= 500
        case.params["bias_o"] /= 500
        assert near(case.block(impl), case.wanted(eps=1e-5))

    def test_it_stays_accurate_where_the_mean_is_large(self, impl, case):
        case.x = case.x + 1e6
        case.params["weight_o"] *= 0
        offset = 1e6 if case.order == "pre" else 0
        assert near(case.block(impl) - offset, case.wanted() - offset, 1e-6)

    def test_it_stays_finite_where_scores_are_large(self, impl, case):
        case.x = 50 * case.x
        case.params["gamma1"] = 50 * case.params["gamma1"]
        assert near(case.block(impl), case.wanted())

    @pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
    def test_it_keeps_the_dtype(self, impl, case, dtype):
        case.x = case.x.to(dtype)
        case.params = {name: value.to(dtype) for name, value in case.params.items()}
        assert case.block(impl).dtype == dtype
        assert case.stack(impl, 2).dtype == dtype


class TestMasks:
    def test_causal(self, impl, order, causal):
        case = Case(order, batch=4)
        assert near(case.block(impl, mask=causal), case.wanted(mask=causal))

    @pytest.mark.parametrize("shape", [(4, 4), (1, 4), (2, 1, 1, 4), (1, 2, 4, 4), (2, 2, 4, 4)])
    def test_every_shape_with_rows_that_see_nothing(self, impl, case, shape):
        mask = torch.rand(shape) < 0.6
        mask[..., 0, :] = False
        assert near(case.block(impl, mask=mask), case.wanted(mask=mask))

    def test_gradients_of_rows_that_see_nothing(self, impl, watched, causal):
        causal[2] = False
        inputs, cotangent = [watched.x, *watched.params.values()], watched.normal(2, 4, 6)
        got = torch.autograd.grad(watched.block(impl, mask=causal), inputs, cotangent)
        wanted = torch.autograd.grad(watched.wanted(mask=causal), inputs, cotangent)
        assert all(near(one, other, 1e-7) for one, other in zip(got, wanted, strict=True))

    def test_a_hidden_key_stays_hidden_where_what_is_seen_scores_lower(self, impl):
        case = Case("post")
        case.x[:, 1] = -case.x[:, 0]
        case.x *= 60
        mask = torch.tensor([[0, 1, 0, 0], [1, 0, 0, 0], [1, 1, 1, 1], [1, 0, 1, 0]]).bool()
        assert near(case.block(impl, mask=mask), case.wanted(mask=mask))


class TestStacks:
    @pytest.mark.parametrize("num_blocks", range(4))
    def test_they_repeat_the_block(self, impl, case, num_blocks):
        assert near(case.stack(impl, num_blocks), case.wanted(num_blocks))

    def test_every_block_gets_mask_and_eps(self, impl, case, causal):
        assert near(case.stack(impl, 3, mask=causal, eps=0.6), case.wanted(3, mask=causal, eps=0.6))

    def test_the_gradient_reaches_the_stream_at_the_bottom(self, impl, watched):
        cotangent = watched.normal(2, 4, 6)
        (got,) = torch.autograd.grad(watched.stack(impl, 3), watched.x, cotangent)
        (wanted,) = torch.autograd.grad(watched.wanted(3), watched.x, cotangent)
        assert near(got, wanted, 1e-7)


class TestManners:
    def test_nothing_that_was_given_is_changed(self, impl, case, causal):
        given = {**case.params, "mask": causal}
        before = {name: value.clone() for name, value in given.items()}
        x = case.x.clone()
        case.block(impl, mask=causal)
        stack = impl.stack_pre_norm_blocks if case.order == "pre" else impl.stack_post_norm_blocks
        stack(case.x, 2, given, 2)
        assert given.keys() == before.keys()
        assert torch.equal(case.x, x)
        assert all(torch.equal(given[name], before[name]) for name in before)

    def test_a_width_without_equal_heads_is_refused(self, impl, case):
        case.num_heads = 4
        with pytest.raises(ValueError):
            case.block(impl)
        with pytest.raises(ValueError):
            case.stack(impl, 1)

    def test_a_negative_depth_is_refused(self, impl, case):
        with pytest.raises(ValueError):
            case.stack(impl, -2)
