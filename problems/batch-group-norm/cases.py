"""Cases of batch-group-norm: which values share their statistics, what is remembered of them, and when it is used."""

import torch

from judge.authoring import Call, case


@case
def training_batches(draw):
    "normalizes each channel over the batch and all positions, and updates the running values"
    return [
        _batch_norm(draw.stream(5, 4), *_parameters(draw, 4), True),
        _batch_norm(draw.stream(4, 3, 5), *_parameters(draw, 3), True),
        _batch_norm(draw.stream(70, 3), *_parameters(draw, 3), True),
        _batch_norm(draw.stream(2, 3, 70), *_parameters(draw, 3), True),
    ]


@case
def fresh_layers(draw):
    "scales and shifts, gradients included, also where gamma and beta are what a fresh layer has"
    return [
        _batch_norm(draw.stream(5, 4), *_fresh(4), *reversed(_fresh(4)), True),
        _batch_norm(draw.stream(3, 4, 2), *_fresh(4), *reversed(_fresh(4)), False),
        _group_norm(draw.stream(2, 4, 5), 2, *_fresh(4)),
        _on_data_in_evaluation(draw),
    ]


def _on_data_in_evaluation(draw):
    """Only gamma and beta need gradients: a layer that is trained with the running values as they are, on data."""
    one = Call()
    layer = one.given("linear", weight=draw.gain(4), bias=draw.bias(4))
    gamma, beta = one.attribute(layer, "weight"), one.attribute(layer, "bias")
    given = one.function("batch_norm_forward", draw.stream(5, 4), gamma, beta, *_parameters(draw, 4)[2:], False)
    one.gradients(layer, given[0]).observe("gradients")
    return one.values_only()


def _fresh(channels):
    """A gamma of ones and a beta of zeros; the other way round, a running mean and variance."""
    return torch.ones(channels).double(), torch.zeros(channels).double()


@case
def two_values_per_channel(draw):
    "divides by n in the result and by n - 1 in the running variance"
    return [
        _batch_norm(draw.stream(2, 5), *_parameters(draw, 5), training=True),
        _batch_norm(draw.stream(1, 3, 2), *_parameters(draw, 3), training=True),
        _batch_norm(draw.stream(1, 3, 5), *_parameters(draw, 3), training=True),
    ]


@case
def evaluation(draw):
    "normalizes by the running values in evaluation, also a batch of one, and returns them as they are"
    return [
        _batch_norm(draw.stream(5, 4), *_parameters(draw, 4), False),
        _batch_norm(draw.stream(2, 3, 4), *_parameters(draw, 3), False),
        _batch_norm(draw.stream(1, 6), *_parameters(draw, 6), training=False),
        _batch_norm(1e3 * draw.stream(4, 3), *_parameters(draw, 3), training=False),
    ]


@case
def momentum(draw):
    "weighs the batch with the momentum it is given, and the old values with the rest"
    x, parameters = draw.stream(3, 4, 2), _parameters(draw, 4)
    return [
        _batch_norm(x, *parameters, True, 0.3),
        _batch_norm(x, *parameters, True, momentum=0.0),
        _batch_norm(x, *parameters, True, momentum=1.0),
    ]


@case
def batch_eps(draw):
    "is right in both modes where a variance is as small as eps, or zero"
    tiny = draw.normal(6, 4) * 1e-3
    tiny[:, 2] = 0.5
    gamma, beta, running_mean, running_var = _parameters(draw, 4)
    narrow = draw.uniform(0.2, 3.0, 4) * 1e-5
    return [
        _batch_norm(tiny, gamma, beta, running_mean, running_var, True),
        _batch_norm(draw.stream(6, 4), gamma, beta, running_mean, running_var, True, 0.1, 0.37),
        _batch_norm(tiny, gamma, beta, running_mean * 1e-3, narrow, False),
        _batch_norm(draw.stream(6, 4), gamma, beta, running_mean, running_var, False, eps=2.5),
        _batch_norm(draw.normal(6, 4) * 1e-4, gamma, beta, running_mean, running_var, True, eps=1e-8),
        _batch_norm(tiny, gamma, beta, running_mean * 1e-3, narrow * 1e-3, False, eps=1e-8),
        _batch_eps_with_positions(draw),
    ]


def _batch_eps_with_positions(draw):
    steps = Call()
    for training in (True, False):
        parameters = _parameters(draw, 3)
        given = steps.function("batch_norm_forward", draw.stream(2, 3, 4), *parameters, training, eps=0.37)
        given.observe("training" if training else "evaluation")
    return steps.values_only()


@case
def batch_values(draw):
    "is right in both modes at any size, for batches of zeros, for large running values and for gains below 0"
    steps = Call()
    for training in (True, False):
        mode = "training" if training else "evaluation"
        for name, x in _batches(draw).items():
            gamma, *others = _parameters(draw, x.shape[1])
            steps.function("batch_norm_forward", x, -gamma, *others, training).observe(f"{mode}, {name}")
        gamma, beta, mean, variance = _parameters(draw, 3)
        huge = 300 * mean, 1e4 * variance
        steps.function("batch_norm_forward", draw.stream(4, 3), gamma, beta, *huge, training).observe(f"{mode}, huge")
    nearly_equal = 1e-4 * draw.normal(6, 3)
    tiny = 0 * mean, 1e-8 * variance
    steps.function("batch_norm_forward", nearly_equal, gamma, beta, *tiny, True).observe("a tiny running variance")
    return steps.values_only()


def _batches(draw):
    """Batches by their names; of those that are all alike no mean is rounded, in float32 neither."""
    shapes = (5, 4), (140, 3), (2, 3, 140), (140, 2, 3), (2, 140), (1, 3, 4), (3, 1, 2), (2, 2), (4, 4, 4), (1, 1, 7)
    batches = {f"x {shape}": draw.stream(*shape) for shape in shapes}
    batches["zeros (4, 3)"] = torch.zeros(4, 3).double()
    batches["zeros (2, 3, 4)"] = torch.zeros(2, 3, 4).double()
    batches["examples that are all alike"] = (torch.round(8 * draw.stream(3)) / 8).repeat(4, 1)
    return batches


@case
def train_then_evaluate(draw):
    "evaluates by what two training steps have left in the running values"
    gamma, beta, *running = _parameters(draw, 3)
    steps = Call()
    first = steps.function("batch_norm_forward", draw.stream(4, 3), gamma, beta, *running, True)
    shifted = 2 * draw.stream(5, 3, 2) - 9
    second = steps.function("batch_norm_forward", shifted, gamma, beta, first[1], first[2], True, 0.25)
    last = steps.function("batch_norm_forward", draw.stream(2, 3), gamma, beta, second[1], second[2], False)
    last.observe("output")
    return steps.values_only()


@case
def batch_large_mean(draw):
    "stays accurate where a channel's mean is millions of times its spread"
    rows = _far_from_zero(draw, 3, 4e6, 20).T  # (8, 3)
    long = _far_from_zero(draw, 3, 4e6, 20).reshape(3, 2, 4).transpose(0, 1)  # (2, 3, 4)
    single = _far_from_zero(draw, 3, 1e3, 9).T
    return [
        _batch_norm(rows, *_parameters(draw, 3), True, momentum=0.4),
        _batch_norm(long, *_parameters(draw, 3), True, momentum=0.4),
        _batch_norm(single, *_parameters(draw, 3), True, momentum=0.4).in_dtype(torch.float32),
    ]


@case
def batch_views_and_precision(draw):
    "accepts views with any strides, and keeps float32 and bfloat16"
    x = draw.noncontiguous(draw.stream(4, 3, 5))
    strided = [draw.noncontiguous(parameter) for parameter in _parameters(draw, 3)]
    return [
        _batch_norm(x, *strided, True),
        _batch_norm(draw.stream(5, 3, 4).transpose(0, 2), *strided, False),
        _batch_norm(draw.expanded(draw.stream(3, 2), 4), *_parameters(draw, 3), True),
        _batch_norm(_narrow_and_constant(draw, 6), *_parameters(draw, 3), True).in_dtype(torch.float32),
        _batch_norm(draw.normal(6, 3), *_parameters(draw, 3), True).in_dtype(torch.bfloat16),
        _batch_norm(draw.normal(6, 3), *_parameters(draw, 3), False).in_dtype(torch.bfloat16),
        _batch_norm(draw.normal(4, 3, 5), *_parameters(draw, 3), True).in_dtype(torch.bfloat16),
    ]


def _narrow_and_constant(draw, examples):
    """Three channels: one with a variance as small as eps, one whose values are all alike, and an ordinary one."""
    x = draw.normal(examples, 3)
    x[:, 0] *= 3e-3
    x[:, 1] = 0.5
    return x


@case
def groups_of_channels(draw):
    "normalizes each example's groups of consecutive channels by themselves"
    x = draw.stream(2, 6, 5) + 4 * torch.arange(6, dtype=torch.float64).unsqueeze(1)
    return [
        _group_norm(x, 3, draw.gain(6), draw.bias(6)),
        _group_norm(x, num_groups=2, gamma=draw.gain(6), beta=draw.bias(6)),
        _group_norm(draw.stream(2, 32, 3), 8, draw.gain(32), draw.bias(32)),
    ]


@case
def any_further_axes(draw):
    "takes any number of axes after the channels, also none"
    return [
        _group_norm(draw.stream(5, 6), 2, draw.gain(6), draw.bias(6)),
        _group_norm(draw.stream(2, 6, 4, 3), 3, draw.gain(6), draw.bias(6)),
        _group_norm(draw.stream(2, 6, 2, 1, 3), 2, draw.gain(6), draw.bias(6)),
    ]


@case
def one_or_all_groups(draw):
    "takes one group for all channels and one for each, and gives beta where a group is a single value"
    return [
        _group_norm(draw.stream(2, 4, 5), 1, draw.gain(4), draw.bias(4)),
        _group_norm(draw.stream(3, 4), 1, draw.gain(4), draw.bias(4)),
        _group_norm(draw.stream(2, 4, 5), 4, draw.gain(4), draw.bias(4)),
        # By name as no call of its shape before, which makes it one that is watched for what is made on the CPU.
        _group_norm(draw.stream(3, 4), num_groups=4, gamma=draw.gain(4), beta=draw.bias(4)),
        _group_norm(draw.stream(2, 4, 1), 4, draw.gain(4), draw.bias(4)),
    ]


@case
def equal_sizes(draw):
    "keeps channels apart from examples and positions also when all axes have one size"
    return [
        _group_norm(draw.stream(4, 4, 4), 2, draw.gain(4), draw.bias(4)),
        _batch_norm(draw.stream(4, 4), *_parameters(draw, 4), True),
        _batch_norm(draw.stream(4, 4, 4), *_parameters(draw, 4), True),
        _batch_norm(draw.stream(4, 4, 4), *_parameters(draw, 4), False),
    ]


@case
def smallest_sizes(draw):
    "works for a single channel, a single position and a single example"
    return [
        _batch_norm(draw.stream(5, 1), *_parameters(draw, 1), True),
        _batch_norm(draw.stream(4, 3, 1), *_parameters(draw, 3), True),
        _batch_norm(draw.stream(2, 3, 1), *_parameters(draw, 3), False),
        _batch_norm(draw.stream(1, 1, 1), *_parameters(draw, 1), False),
        _group_norm(draw.stream(1, 4, 1), 2, draw.gain(4), draw.bias(4)),
        _group_norm(draw.stream(3, 1, 4), 1, draw.gain(1), draw.bias(1)),
    ]


@case
def group_values(draw):
    "is right at any size, for examples of zeros, for examples that are all alike and for gains below 0"
    shapes = (140, 4), (2, 4, 140), (140, 4, 2), (1, 4), (1, 4, 1, 1), (3, 4, 2, 2), (4, 4, 4)
    examples = {f"x {shape}": draw.stream(*shape) for shape in shapes}
    examples["zeros (3, 4)"] = torch.zeros(3, 4).double()
    examples["zeros (2, 4, 5)"] = torch.zeros(2, 4, 5).double()
    examples["examples that are all alike"] = draw.stream(4, 5).repeat(3, 1, 1)
    steps = Call()
    for groups in (1, 2, 4):
        for name, x in examples.items():
            given = steps.function("group_norm_forward", x, groups, -draw.gain(4), draw.bias(4))
            given.observe(f"{name} in {groups} groups" if groups > 1 else f"{name} in 1 group")
    return steps.values_only()


@case
def group_eps(draw):
    "is right where a group's variance is as small as eps, or zero"
    tiny = draw.normal(2, 6, 3) * 1e-3
    tiny[1, :2] = -0.25
    return [
        _group_norm(tiny, 3, draw.gain(6), draw.bias(6)),
        _group_norm(draw.stream(2, 6, 3), 2, draw.gain(6), draw.bias(6), 0.37),
        _group_norm(draw.stream(2, 6, 3), 3, draw.gain(6), draw.bias(6), eps=2.5),
        _group_norm(draw.normal(2, 6, 3) * 1e-4, 2, draw.gain(6), draw.bias(6), eps=1e-8),
        _of_two_and_four_axes(draw, draw.stream(3, 6), draw.stream(2, 6, 2, 2), 2, eps=0.37),
    ]


@case
def group_large_mean(draw):
    "stays accurate where a group's mean is millions of times its spread"
    x = _far_from_zero(draw, 6, 4e6, 20).reshape(2, 6, 4)  # three groups of two channels: 8 values each
    single = _far_from_zero(draw, 6, 1e3, 9).reshape(2, 6, 4)
    farther = _far_from_zero(draw, 6, 9e6, 20)
    return [
        _group_norm(x, 3, draw.gain(6), draw.bias(6)),
        _group_norm(single, 3, draw.gain(6), draw.bias(6)).in_dtype(torch.float32),
        _of_two_and_four_axes(draw, farther.reshape(2, 24), farther.reshape(2, 6, 2, 2), 3),
    ]


@case
def indivisible_channels(draw):
    "refuses a number of groups that doesn't divide the channels with a ValueError"
    shapes = ((2, 10, 4), 4), ((5, 6, 4), 5), ((2, 3, 4), 7), ((4, 6), 4), ((2, 6, 2, 2), 4)
    return [
        _group_norm(draw.stream(*shape), groups, draw.gain(shape[1]), draw.bias(shape[1])).raises(
            ValueError, naming=groups
        )
        for shape, groups in shapes
    ]


@case
def group_views_and_precision(draw):
    "accepts views with any strides, and keeps float32 and bfloat16"
    strided = draw.noncontiguous(draw.gain(6)), draw.noncontiguous(draw.bias(6))
    narrow = draw.normal(2, 6, 5)
    narrow[0, :2] *= 3e-3
    narrow[1, :2] = -0.25
    return [
        _group_norm(draw.noncontiguous(draw.stream(2, 6, 5)), 3, *strided),
        _group_norm(draw.stream(2, 5, 6).transpose(1, 2), 2, *strided),
        _group_norm(draw.expanded(draw.stream(6, 5), 2), 2, draw.gain(6), draw.bias(6)),
        _group_norm(narrow, 3, draw.gain(6), draw.bias(6)).in_dtype(torch.float32),
        _group_norm(draw.normal(2, 6, 5), 3, draw.gain(6), draw.bias(6)).in_dtype(torch.bfloat16),
        _of_two_and_four_axes(draw, draw.normal(3, 6), draw.normal(2, 6, 3, 2), 2).in_dtype(torch.bfloat16),
    ]


@case
def two_calls(draw):
    "keeps apart what two calls need for their gradients, which are taken after both"
    batch, group = Call(), Call()
    for name in ("first", "second"):
        batch.function("batch_norm_forward", draw.stream(5, 4), *_parameters(draw, 4), True).observe(name)
        group.function("group_norm_forward", draw.stream(3, 4, 5), 2, draw.gain(4), draw.bias(4)).observe(name)
    return [batch.differentiate("first.0", "second.0"), group]


def _batch_norm(*args, **kwargs):
    """One call; gradients through y only."""
    one = Call()
    one.function("batch_norm_forward", *args, **kwargs).observe("output")
    return one.differentiate("output.0")


def _group_norm(*args, **kwargs):
    one = Call()
    one.function("group_norm_forward", *args, **kwargs).observe("output")
    return one


def _of_two_and_four_axes(draw, vectors, images, groups, **eps):
    """Both in one call of two steps, without gradients."""
    steps = Call()
    for name, x in (("two axes", vectors), ("four axes", images)):
        gamma, beta = draw.gain(x.shape[1]), draw.bias(x.shape[1])
        steps.function("group_norm_forward", x, groups, gamma, beta, **eps).observe(name)
    return steps.values_only()


def _parameters(draw, channels):
    """gamma, beta, running_mean and running_var, none of them what a fresh layer has."""
    return draw.gain(channels), draw.bias(channels), draw.stream(channels), draw.uniform(0.5, 4.0, channels)


def _far_from_zero(draw, count, ratio, bits):
    """``count`` sets of 8 values whose mean is ``ratio`` times their standard deviation, in multiples of 2**-bits.

    On such a grid neither the sum of 8 values, in any order, nor their mean is rounded: what error is left belongs to
    the formula. No set has a variance of exactly 1, which would survive the formula that loses digits.
    """
    sets = draw.normal(count, 8)
    sets = (sets - sets.mean(dim=-1, keepdim=True)) / sets.std(dim=-1, correction=0, keepdim=True)
    sign = 1 - 2 * draw.integers(0, 2, count, 1)
    sets = (sets + ratio * sign) * draw.uniform(3.3, 4.1, count, 1)
    return torch.round(sets * 2**bits) / 2**bits
