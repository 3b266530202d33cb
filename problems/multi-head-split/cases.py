"""Cases of multi-head-split: each direction alone, each after the other, sizes of one, and every memory layout."""

from itertools import permutations

import torch

from judge.authoring import Call, call, case


@case
def heads_of_a_batch(draw):
    "gives each head its own consecutive features of every token"
    x, square = draw.stream(2, 5, 12), draw.stream(4, 4, 16)
    long, wide, one = draw.stream(1, 70, 6), draw.stream(9, 2, 32), draw.stream(1, 3, 80)
    arguments = (x, 3), (x, 2), (x, 6), (square, 4), (long, 3), (wide, 16), (one, 5), (one, 20)
    return [call("split_heads", *pair) for pair in arguments]


@case
def contiguous_heads(draw):
    "merges heads that lie in memory one after the other"
    shapes = (2, 3, 5, 4), (3, 2, 4, 7), (4, 4, 4, 4), (1, 3, 70, 2), (9, 16, 2, 2), (1, 6, 3, 4), (1, 20, 3, 4)
    return [call("merge_heads", draw.normal(*shape)) for shape in shapes]


@case
def merge_after_split(draw):
    "gives the tokens back when it merges what it has split"
    return [_there_and_back(draw.stream(2, 5, 12), 3), _there_and_back(draw.stream(3, 4, 10), 5)]


@case
def split_after_merge(draw):
    "gives the heads back when it splits what it has merged"
    one = Call()
    merged = one.function("merge_heads", draw.normal(2, 3, 5, 4)).observe("merged")
    one.function("split_heads", merged, 3).observe("split")
    return one


@case
def sizes_of_one(draw):
    "keeps every axis, also where a size is 1"
    return [
        call("split_heads", draw.stream(1, 5, 12), 3),
        call("split_heads", draw.stream(2, 1, 12), 1),
        call("split_heads", draw.stream(2, 5, 12), 1),
        call("split_heads", draw.stream(2, 5, 4), 4),
        call("split_heads", draw.stream(2, 1, 12), 3),
        call("merge_heads", draw.normal(1, 3, 5, 4)),
        call("merge_heads", draw.normal(2, 1, 5, 4)),
        call("merge_heads", draw.normal(2, 3, 5, 1)),
        call("merge_heads", draw.normal(2, 3, 1, 4)),
        call("merge_heads", draw.normal(2, 3, 1, 1)),
        *(
            call("merge_heads", draw.normal(*shape))
            for shape in ((1, 1, 5, 4), (2, 1, 1, 4), (2, 1, 5, 1), (1, 1, 1, 1))
        ),
        *(call("split_heads", draw.stream(*shape), 1) for shape in ((1, 5, 12), (2, 5, 1), (1, 1, 1))),
    ]


@case
def any_memory_layout(draw):
    "takes transposed, strided, sliced and expanded tensors"
    heads = draw.normal(2, 3, 5, 4)
    # The gradient of as_strided counts a place in memory once, however many entries of an expanded tensor lie there.
    return [
        call("split_heads", draw.transposed(draw.stream(2, 5, 12)), 3),
        call("split_heads", draw.noncontiguous(draw.stream(2, 5, 12)), 2),
        call("split_heads", draw.stream(3, 6, 12)[1:, 1:], 3),
        call("split_heads", draw.expanded(draw.stream(5, 12), 2), 4).values_only(),
        call("merge_heads", draw.transposed(heads)),
        call("merge_heads", draw.noncontiguous(heads)),
        call("merge_heads", draw.normal(3, 3, 6, 4)[1:, :, 1:]),
        call("merge_heads", draw.expanded(draw.normal(3, 5, 4), 2)).values_only(),
        _in_every_order(draw),
    ]


def _in_every_order(draw):
    """Calls on tensors with their axes in every order in memory, and with each of them expanded."""
    one = Call()
    for name, shape, arguments in (("split_heads", (2, 5, 12), [3]), ("merge_heads", (2, 3, 5, 4), [])):
        axes = range(len(shape))
        for order in permutations(axes):
            back = [order.index(axis) for axis in axes]
            x = draw.normal(*(shape[axis] for axis in order)).permute(back)
            one.function(name, x, *arguments).observe(f"{name}, axes {order}")
        for axis in axes:
            x = draw.normal(*(1 if other == axis else shape[other] for other in axes)).expand(shape)
            one.function(name, x, *arguments).observe(f"{name}, axis {axis} expanded")
        one.function(name, torch.zeros(shape).double(), *arguments).observe(f"{name}, zeros")
        behind_another = draw.normal(3, *shape[1:])[1:]  # contiguous, but not from the start of its memory
        one.function(name, behind_another, *arguments).observe(f"{name}, behind another example")
    return one.values_only()


@case
def lower_precision(draw):
    "keeps float32 and bfloat16 in both directions"
    x = draw.stream(2, 5, 12)
    return [_there_and_back(x, 3).in_dtype(dtype) for dtype in (torch.float32, torch.bfloat16)]


@case
def arguments_by_name(draw):
    "takes its arguments by name, in any order"
    one = Call()
    split = one.function("split_heads", num_heads=4, x=draw.stream(2, 5, 12)).observe("split")
    one.function("merge_heads", x=split).observe("merged")
    return one


@case
def undivided_width(draw):
    "refuses a width that the heads can't share evenly with a ValueError"
    heads = draw.integer(5, 8)
    return [
        call("split_heads", draw.stream(2, 6, 10), 3).raises(ValueError, naming=10),
        call("split_heads", draw.stream(2, heads, heads + 1), heads).raises(ValueError, naming=heads),
        call("split_heads", draw.stream(2, 8, 4), 8).raises(ValueError, naming=8),
    ]


def _there_and_back(x, num_heads):
    one = Call()
    split = one.function("split_heads", x, num_heads).observe("split")
    one.function("merge_heads", split).observe("merged")
    return one
