"""Cases of rms-norm: far from zero mean, near eps, at zero, and with axes that could be taken for one another."""

import torch

from judge.authoring import Call, call, case, leading_shapes


@case
def ordinary_tokens(draw):
    "normalizes tokens whose mean is not zero, small and large ones, with a random gain of either sign"
    return [
        call("rms_norm_forward", draw.stream(2, 5, 7), draw.gain(7)),
        call("rms_norm_forward", 3e3 * draw.stream(2, 4, 6), draw.normal(6)),
        call("rms_norm_forward", draw.stream(1, 2, 1100), draw.gain(1100)),
        call("rms_norm_forward", draw.stream(2, 768), draw.gain(768)),
    ]


@case
def plain_gain(draw):
    "scales, gradients included, also where gamma is 1 or 0"
    gamma = draw.gain(7)
    gamma[draw.integer(0, 7)] = 0.0
    return [
        call("rms_norm_forward", draw.stream(2, 5, 7), torch.ones(7).double()),
        call("rms_norm_forward", draw.stream(2, 5, 7), gamma),
    ]


@case
def arguments_by_name(draw):
    "takes its arguments by name, in any order"
    return call("rms_norm_forward", eps=1e-6, gamma=draw.gain(6), x=draw.stream(2, 3, 6))


@case
def tiny_tokens(draw):
    "is right where the mean square is as small as eps"
    return call("rms_norm_forward", draw.normal(2, 5, 7) * 1e-3, draw.gain(7))


@case
def custom_eps(draw):
    "uses the eps it is given"
    x, gamma = draw.stream(2, 5, 7), draw.gain(7)
    return [
        call("rms_norm_forward", x, gamma, 0.37),
        call("rms_norm_forward", x, gamma, eps=2.5),
        call("rms_norm_forward", draw.normal(2, 5, 7) * 1e-4, gamma, eps=1e-8),
    ]


@case
def tokens_of_zeros(draw):
    "gives zeros for a token of zeros, with finite gradients"
    x = draw.stream(3, 2, 7)
    x[0, 1] = 0.0
    x[2, 0] = 0.0
    return [
        call("rms_norm_forward", x, draw.gain(7)),
        call("rms_norm_forward", torch.zeros(2, 5, dtype=torch.float64), draw.gain(5), 0.25),
    ]


@case
def one_feature(draw):
    "normalizes a token that has a single feature"
    return [
        call("rms_norm_forward", _away_from_zero(draw, 4, 1), draw.gain(1), 0.5),
        call("rms_norm_forward", _away_from_zero(draw, 1, 3, 1) * 1e-3, draw.gain(1)),
    ]


@case
def one_token(draw):
    "normalizes a single vector without leading axes"
    return call("rms_norm_forward", draw.stream(7), draw.gain(7))


@case
def two_and_four_axes(draw):
    "normalizes the last axis only, behind one leading axis as behind three"
    return [
        call("rms_norm_forward", draw.stream(5, 7), draw.gain(7)),
        call("rms_norm_forward", draw.stream(2, 3, 4, 7), draw.gain(7)),
        call("rms_norm_forward", draw.stream(300, 5), draw.gain(5)),
        of_every_shape(draw),
    ]


def of_every_shape(draw):
    """Calls on inputs of every shape, of a size where eps counts too, without gradients."""
    inputs = {f"x {(*shape, 7)}": draw.stream(*shape, 7) for shape in [*leading_shapes(7), (1, 200), (3, 150)]}
    inputs |= {f"x {(*shape, 7)}, tiny": 3e-4 * draw.stream(*shape, 7) for shape in leading_shapes(7)}
    inputs |= {f"zeros {(*shape, 7)}": torch.zeros(*shape, 7).double() for shape in ((), (4,), (2, 3))}
    inputs["tokens that are all alike"] = draw.stream(7).repeat(2, 5, 1)
    one = Call()
    for name, x in inputs.items():
        one.function("rms_norm_forward", x, draw.gain(7)).observe(name)
    return one.values_only()


@case
def equal_sizes(draw):
    "normalizes the last axis also when all axes have one size"
    return call("rms_norm_forward", draw.stream(6, 6, 6), draw.gain(6))


@case
def views(draw):
    "accepts views with any strides, and one tensor as token and gain"
    every_second = draw.noncontiguous(draw.stream(2, 5, 7))
    transposed = draw.transposed(draw.stream(2, 5, 7))
    repeated = draw.expanded(draw.stream(5, 7), 2)
    twice = draw.stream(8)
    return [
        call("rms_norm_forward", every_second, draw.noncontiguous(draw.gain(7))),
        call("rms_norm_forward", transposed, draw.gain(1).expand(7)),
        call("rms_norm_forward", repeated, draw.gain(7)),
        call("rms_norm_forward", twice, twice),
    ]


@case
def two_calls(draw):
    "keeps apart what two calls need for their gradients, which are taken after both"
    one = Call()
    for name in ("first", "second"):
        one.function("rms_norm_forward", draw.stream(2, 5, 7), draw.gain(7)).observe(name)
    return one


@case
def frozen_inputs(draw):
    "gives its gradient to gamma where x needs none, and to x where gamma needs none"
    calls = []
    for frozen in (False, True):
        one = Call()
        parameters = one.given("squares", weight=draw.gain(7), frozen=frozen)
        x = one.leaf(draw.stream(2, 5, 7)) if frozen else draw.stream(2, 5, 7)
        output = one.function("rms_norm_forward", x, one.attribute(parameters, "weight")).observe("output")
        one.gradients(parameters, output, *([x] if frozen else [])).observe("gradients")
        calls.append(one.values_only())
    return calls


@case
def lower_precision(draw):
    "gives float32 for float32 and bfloat16 for bfloat16, also for tokens of zeros and tiny ones"
    x = draw.stream(2, 5, 8)
    x[0, 0] = 0.0
    x[1, 2] *= 3e-4
    return [
        call("rms_norm_forward", x, draw.gain(8)).in_dtype(torch.float32),
        call("rms_norm_forward", draw.stream(2, 5, 8), draw.gain(8)).in_dtype(torch.bfloat16),
        call("rms_norm_forward", 3e3 * draw.stream(2, 5, 8), draw.gain(8)).in_dtype(torch.bfloat16),
        call("rms_norm_forward", 0.02 * draw.stream(2, 5, 8), draw.gain(8)).in_dtype(torch.bfloat16),
    ]


def _away_from_zero(draw, *shape):
    """Entries of both signs with sizes in [0.5, 2): each is a token of its own, and eps must count in all of them.

    Where it doesn't, the gradient of a single feature nearly cancels, and computing in float32 inside would fail.
    """
    return draw.uniform(0.5, 2.0, *shape) * (1 - 2 * draw.integers(0, 2, *shape))
