"""Classes, one for each promise; PyTorch's own attention is the measure, of the weights too, by identity values."""

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention as fused


def expected(query, key, value, mask=None, scale=None):
    mask = None if mask is None else torch.atleast_2d(mask)
    identity = torch.eye(key.shape[-2], dtype=key.dtype).expand(*key.shape[:-1], key.shape[-2])
    return tuple(fused(query, key, values, attn_mask=mask, scale=scale) for values in (value, identity))


def error(got, wanted):
    """The relative error norm, a number in float64; NaN and infinity give NaN."""
    assert got.shape == wanted.shape
    got, wanted = got.detach().double(), wanted.detach().double()
    return ((got - wanted).norm() / wanted.norm().clamp(min=1e-12)).item()


class Base:
    dtype = torch.float64
    tolerance = 1e-7

    def draw(self, *shape):
        return torch.randn(shape, dtype=torch.float64).to(self.dtype)

    def heads(self, q_len=4, k_len=6):
        return self.draw(2, 3, q_len, 5), self.draw(2, 3, k_len, 5), self.draw(2, 3, k_len, 8)

    def agree(self, impl, *inputs, **more):
        wide = [part.double() if torch.is_tensor(part) and part.is_floating_point() else part for part in inputs]
        results, wanted = impl(*inputs, **more), expected(*wide, **more)
        assert isinstance(results, tuple)
        for got, other in zip(results, wanted, strict=True):
            assert got.dtype is self.dtype
            assert error(got, other) <= self.tolerance


class TestFloat64(Base):
    def test_heads(self, impl):
        self.agree(impl, *self.heads())

    def test_self_attention(self, impl):
        x = self.draw(2, 3, 5, 6)
        self.agree(impl, x, x, x)
        self.agree(impl, x, x, x, torch.tensor([[True, True, False, True, True]]))

    def test_one_sequence_and_one_head(self, impl):
        self.agree(impl, self.draw(4, 5), self.draw(6, 5), self.draw(6, 8))

    def test_three_and_five_axes(self, impl):
        self.agree(impl, self.draw(3, 4, 5), self.draw(3, 6, 5), self.draw(3, 6, 8))
        self.agree(impl, self.draw(2, 1, 3, 4, 5), self.draw(2, 1, 3, 6, 5), self.draw(2, 1, 3, 6, 8))

    def test_single_things(self, impl):
        self.agree(impl, self.draw(1, 1, 1, 5), self.draw(1, 1, 6, 5), self.draw(1, 1, 6, 8))
        self.agree(impl, self.draw(1, 3, 4, 1), self.draw(1, 3, 1, 1), self.draw(1, 3, 1, 1))

    def test_heads_that_were_split_off(self, impl):
        query, key, value = (self.draw(2, n, 3, 4).transpose(1, 2) for n in (4, 6, 6))
        self.agree(impl, query, key, value)

    def test_by_name(self, impl):
        query, key, value = self.heads()
        output, _ = impl(value=value, key=key, query=query)
        assert error(output, expected(query.double(), key.double(), value.double())[0]) <= self.tolerance


class TestFloat32(TestFloat64):
    dtype = torch.float32
    tolerance = 3e-4

    def test_masked(self, impl):
        self.agree(impl, *self.heads(), torch.tensor([True, False, True, True, False, True]))


class TestBfloat16(Base):
    dtype = torch.bfloat16
    tolerance = 5e-2

    def test_heads(self, impl):
        self.agree(impl, *self.heads())

    def test_empty_rows(self, impl):
        mask = torch.ones(4, 6, dtype=torch.bool).tril(-1)
        self.agree(impl, *self.heads(), mask)


class TestMask(Base):
    mask = torch.tensor(
        [[1, 0, 1, 1, 0, 0], [0, 1, 1, 0, 0, 0], [1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 0, 1]], dtype=torch.bool
    )

    def test_two_axes(self, impl):
        self.agree(impl, *self.heads(), self.mask)

    def test_two_masks_of_one_shape(self, impl):
        self.agree(impl, *self.heads(), self.mask)
        self.agree(impl, *self.heads(), self.mask.flip(0))

    def test_one_axis(self, impl):
        self.agree(impl, *self.heads(), self.mask[0])

    def test_a_mask_for_each_head(self, impl):
        masks = torch.stack([self.mask, self.mask.flip(0), self.mask.flip(1)])
        self.agree(impl, *self.heads(), masks)

    def test_padding(self, impl):
        self.agree(impl, *self.heads(), (torch.arange(6) < torch.tensor([[2], [5]]))[:, None, None])

    def test_one_query(self, impl):
        self.agree(impl, *self.heads(q_len=1), self.mask[:1])

    def test_nothing_gets_through(self, impl):
        query, key, value = self.heads()
        hidden = torch.tensor([0, 0, 1, 0, 1, 1]).bool()
        plain = impl(query, key, value, ~hidden)
        key[..., hidden, :] = 1e30
        value[..., hidden, :] = -1e30
        for one, other in zip(impl(query, key, value, ~hidden), plain, strict=True):
            assert error(one, other) < 1e-7
        assert (plain[1][..., hidden] == 0).all()

    def test_with_a_scale(self, impl):
        for scale in (0.0, 0.2, 2):
            self.agree(impl, *self.heads(), self.mask, scale=scale)


class TestScale(Base):
    @pytest.mark.parametrize("scale", [0.0, 0.1, 1, 1.5])
    def test_by_name_and_by_position(self, impl, scale):
        self.agree(impl, *self.heads(), scale=scale)
        query, key, value = self.heads()
        output, weights = impl(query, key, value, None, scale)
        wanted = expected(query, key, value, scale=scale)
        assert error(output, wanted[0]) < 1e-7
        assert error(weights, wanted[1]) < 1e-7


class TestEmptyRows(Base):
    mask = torch.tensor([[1, 0, 1, 1, 0, 0], [0, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 0, 0]]).bool()

    def test_zeros(self, impl):
        output, weights = impl(*self.heads(), self.mask)
        for result in (output, weights):
            assert (result[..., [1, 3], :] == 0).all()
            assert (result[..., [0, 2], :].abs().sum(-1) > 0).all()

    def test_gradients(self, impl):
        inputs = [part.requires_grad_() for part in self.heads()]
        output, weights = impl(*inputs, self.mask)
        (output.square().sum() + weights.square().sum()).backward()
        got = [part.grad for part in inputs]
        for part in inputs:
            part.grad = None
        self.differentiate_by_hand(*inputs)
        for one, part in zip(got, inputs, strict=True):
            assert torch.isfinite(one).all()
            assert error(one, part.grad) < 1e-6

    def differentiate_by_hand(self, query, key, value):
        """Only the rows that see something take part."""
        output, weights = expected(query[..., [0, 2], :], key, value, self.mask[[0, 2]])
        (output.square().sum() + weights.square().sum()).backward()


class TestGradients(Base):
    @pytest.mark.parametrize("result", [0, 1])
    def test_of_each_result(self, impl, result):
        inputs = [part.requires_grad_() for part in self.heads()]
        wanted = expected(*inputs)[result]
        cotangent = torch.randn_like(wanted)
        got = torch.autograd.grad(impl(*inputs)[result], inputs[:2], cotangent)
        for one, other in zip(got, torch.autograd.grad(wanted, inputs[:2], cotangent), strict=True):
            assert error(one, other) < 1e-6


class TestLargeScores(Base):
    def tokens(self):
        """Scores of 8000 and of -8000, which differ by whole numbers from key to key."""
        query = torch.tensor([[80.0, 1.0], [-80.0, 1.0], [80.0, -1.0], [-80.0, 2.0]]).double()
        key = torch.stack([torch.full((6,), 100.0), torch.randperm(6) / 2.0], dim=1).double()
        return query, key, self.draw(6, 8)

    def test_of_both_signs(self, impl):
        self.agree(impl, *self.tokens(), scale=1.0)

    def test_masked(self, impl):
        self.agree(impl, *self.tokens(), torch.tensor([1, 1, 0, 1, 0, 1]).bool(), scale=1.0)

    def test_a_hidden_key_is_louder_than_all_others(self, impl):
        query, key, value = self.tokens()
        query[:, 0], key[:, 0] = 80.0, 0.0
        key[2, 0] = 100.0
        self.agree(impl, query, key, value, torch.arange(6) != 2, scale=1.0)


class TestArguments(Base):
    @pytest.mark.parametrize("masked", [True, False])
    def test_stay_as_they_are(self, impl, masked):
        mask = torch.tensor([[0, 0, 1, 1, 0, 1]]).bool() if masked else None
        arguments = *self.heads(), mask
        before = [None if part is None else part.clone() for part in arguments]
        impl(*arguments)
        for part, copy in zip(arguments, before, strict=True):
            assert part is copy is None or part.equal(copy)
