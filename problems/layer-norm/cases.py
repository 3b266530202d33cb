"""Cases of layer-norm: each input makes one way to get axis, variance, eps, gamma or beta wrong a gross error."""

import torch

from judge.authoring import Call, call, case, leading_shapes


@case
def ordinary_tokens(draw):
    "normalizes ordinary tokens, with random gamma and beta"
    return call("layer_norm_forward", draw.stream(2, 5, 7), draw.gain(7), draw.bias(7))


@case
def arguments_by_name(draw):
    "takes its arguments by name, in any order"
    return call("layer_norm_forward", beta=draw.bias(6), eps=1e-5, x=draw.stream(2, 3, 6), gamma=draw.gain(6))


@case
def tiny_inputs(draw):
    "is right where the variance is as small as eps"
    x = draw.normal(2, 5, 7) * 1e-3
    return call("layer_norm_forward", x, draw.gain(7), draw.bias(7))


@case
def custom_eps(draw):
    "uses the eps it is given"
    x = draw.stream(2, 5, 7)
    gamma = draw.gain(7)
    beta = draw.bias(7)
    return [
        call("layer_norm_forward", x, gamma, beta, 0.37),
        call("layer_norm_forward", x, gamma, beta, eps=2.5),
        call("layer_norm_forward", draw.normal(2, 5, 7) * 1e-4, gamma, beta, eps=1e-8),
        _custom_eps_of_every_rank(draw),
    ]


def _custom_eps_of_every_rank(draw):
    one = Call()
    for shape in ((7,), (5, 7), (2, 3, 5, 7)):
        one.function("layer_norm_forward", draw.stream(*shape), draw.gain(7), draw.bias(7), 0.37).observe(f"x {shape}")
    return one.values_only()


@case
def plain_parameters(draw):
    "scales and shifts, gradients included, also where gamma is 1, 0 or negative and beta is 0"
    gamma = draw.gain(7)
    gamma[:2] = torch.tensor([0.0, -0.7])
    gamma = gamma[draw.permutation(7)]
    return [
        call("layer_norm_forward", draw.stream(2, 5, 7), torch.ones(7).double(), torch.zeros(7).double()),
        call("layer_norm_forward", draw.stream(2, 5, 7), gamma, draw.bias(7)),
    ]


@case
def large_mean(draw):
    "stays accurate where the mean is millions of times the spread"
    return call("layer_norm_forward", _far_from_zero(draw, 6, 4e6, 20), draw.gain(8), draw.bias(8))


@case
def large_mean_in_float32(draw):
    "stays accurate in float32 where the mean is a thousand times the spread"
    x = _far_from_zero(draw, 6, 1e3, 9)
    return call("layer_norm_forward", x, draw.gain(8), draw.bias(8)).in_dtype(torch.float32)


@case
def constant_tokens(draw):
    "gives beta for a token whose features are all equal, with finite gradients, in float32 too"
    x = draw.stream(3, 2, 8)
    x[0, 0] = 2.0
    x[1, 1] = -0.5
    x[2, 0] = 0.0
    narrow = x.clone()
    narrow[2, 1] = 3e-3 * draw.normal(8)
    return [
        call("layer_norm_forward", x, draw.gain(8), draw.bias(8)),
        call("layer_norm_forward", narrow, draw.gain(8), draw.bias(8)).in_dtype(torch.float32),
    ]


@case
def one_feature(draw):
    "gives beta when a token has a single feature"
    return [
        call("layer_norm_forward", draw.stream(3, 1), draw.gain(1), draw.bias(1)),
        call("layer_norm_forward", draw.stream(1, 4, 1), draw.gain(1), draw.bias(1)),
    ]


@case
def one_token(draw):
    "normalizes a single vector without leading axes"
    return call("layer_norm_forward", draw.stream(7), draw.gain(7), draw.bias(7))


@case
def two_axes(draw):
    "normalizes each row of a matrix by itself"
    return call("layer_norm_forward", draw.stream(5, 7), draw.gain(7), draw.bias(7))


@case
def four_axes(draw):
    "normalizes the last axis only, also behind three leading ones"
    return [call("layer_norm_forward", draw.stream(2, 3, 5, 7), draw.gain(7), draw.bias(7)), of_every_shape(draw)]


def of_every_shape(draw):
    """Calls on inputs of every shape, of a size where eps counts too, without gradients."""
    inputs = {f"x {(*shape, 7)}": draw.stream(*shape, 7) for shape in [*leading_shapes(7), (1, 200), (3, 150)]}
    inputs |= {f"x {(*shape, 7)}, tiny": 2e-3 * draw.stream(*shape, 7) for shape in leading_shapes(7)}
    inputs |= {f"zeros {(*shape, 7)}": torch.zeros(*shape, 7).double() for shape in ((), (4,), (2, 3))}
    inputs["tokens that are all alike"] = draw.stream(7).repeat(2, 5, 1)
    one = Call()
    for name, x in inputs.items():
        one.function("layer_norm_forward", x, draw.gain(7), draw.bias(7)).observe(name)
    return one.values_only()


@case
def equal_sizes(draw):
    "normalizes the last axis also when all axes have one size"
    return call("layer_norm_forward", draw.stream(6, 6, 6), draw.gain(6), draw.bias(6))


@case
def other_sizes(draw):
    "normalizes one token of each of many sequences, many tokens, many features, and huge ones"
    huge = 1e6 * draw.stream(2, 3, 6)
    return [
        call("layer_norm_forward", draw.stream(*shape), draw.gain(shape[-1]), draw.bias(shape[-1]))
        for shape in ((4, 1, 7), (300, 5), (2, 1100), (2, 768))
    ] + [call("layer_norm_forward", huge, draw.gain(6), draw.bias(6))]


@case
def views(draw):
    "accepts views with any strides, and one tensor as gamma and beta"
    every_second = draw.noncontiguous(draw.stream(2, 5, 7))
    transposed = draw.transposed(draw.stream(2, 5, 7))
    repeated = draw.expanded(draw.stream(5, 7), 2)
    gamma = draw.noncontiguous(draw.gain(7))
    beta = draw.noncontiguous(draw.bias(7))
    one_gain = draw.gain(1).expand(7)
    return [
        call("layer_norm_forward", every_second, gamma, beta),
        call("layer_norm_forward", transposed, one_gain, beta),
        call("layer_norm_forward", repeated, gamma, gamma),
    ]


@case
def two_calls(draw):
    "keeps apart what two calls need for their gradients, which are taken after both"
    one = Call()
    for name in ("first", "second"):
        one.function("layer_norm_forward", draw.stream(2, 5, 7), draw.gain(7), draw.bias(7)).observe(name)
    return one


@case
def frozen_inputs(draw):
    "gives their gradients to gamma and beta where x needs none, and to x where they need none"
    calls = []
    for frozen in (False, True):
        one = Call()
        parameters = one.given("linear", weight=draw.gain(7), bias=draw.bias(7), frozen=frozen)
        x = one.leaf(draw.stream(2, 5, 7)) if frozen else draw.stream(2, 5, 7)
        gamma, beta = (one.attribute(parameters, name) for name in ("weight", "bias"))
        output = one.function("layer_norm_forward", x, gamma, beta).observe("output")
        one.gradients(parameters, output, *([x] if frozen else [])).observe("gradients")
        calls.append(one.values_only())
    return calls


@case
def keeps_bfloat16(draw):
    "gives a bfloat16 result for bfloat16 inputs, ordinary and small ones"
    x = draw.normal(2, 5, 8)
    return [
        call("layer_norm_forward", size * x, draw.gain(8), draw.bias(8)).in_dtype(torch.bfloat16) for size in (1, 0.03)
    ]


def _far_from_zero(draw, tokens, ratio, bits):
    """Tokens of 8 features whose mean is ``ratio`` times their standard deviation, in multiples of 2**-bits.

    On such a grid the sum of 8 features has no rounding error in whatever order they are added, nor has the mean: what
    error is left belongs to the formula. The deviations differ from token to token, because a variance of exactly 1
    would survive the formula that loses digits.
    """
    rows = draw.normal(tokens, 8)
    rows = (rows - rows.mean(dim=-1, keepdim=True)) / rows.std(dim=-1, correction=0, keepdim=True)
    sign = 1 - 2 * draw.integers(0, 2, tokens, 1)
    rows = (rows + ratio * sign) * draw.uniform(3.3, 4.1, tokens, 1)
    return torch.round(rows * 2**bits) / 2**bits
