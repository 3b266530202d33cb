"""Cases of the diagnostics: what is measured and where, how the blocks are called, and what must stay as it was."""

import math

import torch

from judge.authoring import Call, call, case

BATCH, SEQ_LEN, D_MODEL = 2, 5, 7
KINDS = ("linear", "residual", "linear")


def stream(draw, batch=BATCH, seq_len=SEQ_LEN):
    """A stream whose mean is not zero and whose tokens differ in size."""
    return draw.stream(batch, seq_len, D_MODEL) * draw.uniform(0.2, 2.0, batch, seq_len, 1)


def given_blocks(one, draw, kinds=KINDS, **options):
    """Blocks that differ, whose calls are noted."""
    blocks = []
    for index, kind in enumerate(kinds):
        tensors = {"weight": draw.weight(D_MODEL, D_MODEL, gain=1.3)}
        if kind == "linear":
            tensors["bias"] = draw.bias(D_MODEL)
        blocks.append(one.given(kind, f"block {index}", **tensors, **options))
    return blocks


def given_loss(one, draw, x, **options):
    """A loss that weighs each element differently."""
    return one.given("squares", weight=draw.normal(*x.shape), **options)


def finished(one, result):
    """The call with its results observed; they need neither be differentiable nor be on the stream's device."""
    result.observe("norms")
    one.calls().observe("calls of the blocks")
    return one.differentiate().anywhere()


def stream_norms(draw, x, kinds=KINDS, container=list, **options):
    """A call of residual_stream_norms."""
    one = Call()
    return finished(one, one.function("residual_stream_norms", x, container(given_blocks(one, draw, kinds, **options))))


def stream_gradients(draw, x, kinds=KINDS, container=list, **options):
    """A call of gradient_norms."""
    one = Call()
    blocks = container(given_blocks(one, draw, kinds, **options))
    return finished(one, one.function("gradient_norms", x, blocks, given_loss(one, draw, x, **options)))


def in_training(draw, name, x, *, plain):
    """A call in the middle of training: the stream, the blocks and the loss have gradients already."""
    one = Call()
    leaf = one.leaf(x, draw.normal(*x.shape))
    blocks = given_blocks(one, draw, graded=True, plain=plain)
    loss = [given_loss(one, draw, x, graded=True, plain=plain)] if name == "gradient_norms" else []
    return finished(one, one.function(name, leaf, blocks, *loss))


def as_module_list(draw, name, x):
    """A call that gives the blocks as an nn.ModuleList."""
    one = Call()
    blocks = one.module_list(*given_blocks(one, draw))
    loss = [given_loss(one, draw, x)] if name == "gradient_norms" else []
    return finished(one, one.function(name, x, blocks, *loss))


@case
def norms_by_depth(draw):
    "gives the root mean square of the stream before the first block and after each"
    return stream_norms(draw, stream(draw))


@case
def gradients_by_depth(draw):
    "gives the L2 norm of the loss's gradient at the same places"
    return stream_gradients(draw, stream(draw))


@case
def one_block_or_many(draw):
    "works with one block and with many, in a list, a tuple or an nn.ModuleList, for one token and one sequence"
    many = ("linear", *["residual"] * 6)
    calls = []
    for give in (stream_norms, stream_gradients):
        calls += [
            give(draw, stream(draw, 1, 4), ("linear",)),
            give(draw, stream(draw, 1, 1), many, tuple),
            give(draw, stream(draw, 3, 1), many),
        ]
    names = ("residual_stream_norms", "gradient_norms")
    return [*calls, *(as_module_list(draw, name, stream(draw)) for name in names)]


@case
def a_block_that_comes_twice(draw):
    "calls a block as often as it stands in the sequence: a stack may share its weights over depth"
    calls = []
    for name in ("residual_stream_norms", "gradient_norms"):
        for listed in (False, True):
            one = Call()
            x = stream(draw)
            first, second = given_blocks(one, draw, ("residual", "linear"))
            blocks = [first, first, second, first]
            loss = [given_loss(one, draw, x)] if name == "gradient_norms" else []
            calls.append(finished(one, one.function(name, x, one.module_list(*blocks) if listed else blocks, *loss)))
    return calls


@case
def small_streams_and_gradients(draw):
    "is right for a stream and for gradients that have nearly faded, also where float32 cannot hold their squares"
    kinds, both = ("residual",) * 3, (stream_norms, stream_gradients)
    faded = [give(draw, 1e-12 * stream(draw), kinds, plain=True) for give in both]
    return [*faded, *(give(draw, 1e-25 * stream(draw), kinds, plain=True).in_dtype(torch.float32) for give in both)]


@case
def a_block_that_gives_zeros(draw):
    "is right where a block gives zeros, so that no gradient comes through it, and for a stream of zeros"
    zeros = torch.zeros(D_MODEL, D_MODEL, dtype=torch.float64)
    calls = []
    for name in ("residual_stream_norms", "gradient_norms"):
        one = Call()
        x = stream(draw)
        blocks = given_blocks(one, draw)
        blocks.insert(1, one.given("linear", "dead block", weight=zeros, bias=zeros[0]))
        loss = [given_loss(one, draw, x)] if name == "gradient_norms" else []
        calls.append(finished(one, one.function(name, x, blocks, *loss)))
    return [*calls, stream_norms(draw, 0 * stream(draw)), stream_gradients(draw, 0 * stream(draw))]


@case
def modes_that_differ(draw):
    "leaves each block in its mode: some are in training, some in evaluation, and some have parts in another mode"
    calls = []
    for name in ("residual_stream_norms", "gradient_norms"):
        one = Call()
        x = stream(draw)
        blocks = given_blocks(one, draw)
        one.eval(blocks[1])
        part = one.module_list()
        one.method(blocks[0], "add_module", "part", part)
        one.eval(part)  # while its block is in training
        loss = [given_loss(one, draw, x)] if name == "gradient_norms" else []
        measured = finished(one, one.function(name, x, blocks, *loss))
        one.attribute(part, "training").observe("whether a part that was in evaluation is in training")
        calls.append(measured)
    return calls


@case
def memory_layouts(draw):
    "takes a stream that is not contiguous, or one sequence that is expanded to a batch"
    layouts = (
        draw.transposed(stream(draw)),
        draw.noncontiguous(stream(draw)),
        draw.expanded(stream(draw)[0], 3),
    )
    return [give(draw, x, plain=True) for give in (stream_norms, stream_gradients) for x in layouts]


@case
def functions_as_blocks(draw):
    "takes blocks and losses that are functions, whose parameters nobody can ask for, and one that gives what it gets"
    one, x = Call(), stream(draw)
    blocks = given_blocks(one, draw)
    blocks.insert(2, one.attribute(blocks[0], "weight.__class__.contiguous"))  # it gives the very tensor that it gets
    same_again = finished(one, one.function("gradient_norms", x, blocks, given_loss(one, draw, x)))
    return [*(give(draw, stream(draw), plain=True) for give in (stream_norms, stream_gradients)), same_again]


@case
def frozen_blocks(draw):
    "needs nothing that requires a gradient, neither a parameter nor the stream"
    return [
        give(draw, stream(draw), frozen=True, plain=plain)
        for give in (stream_norms, stream_gradients)
        for plain in (False, True)
    ]


@case
def gradients_that_are_there(draw):
    "leaves every .grad and requires_grad of the stream and of the blocks' and the loss's parameters as it was"
    return [
        in_training(draw, name, stream(draw), plain=plain)
        for name in ("residual_stream_norms", "gradient_norms")
        for plain in (False, True)
    ]


@case
def inside_no_grad(draw):
    "works inside torch.no_grad(), which is still in force afterwards"
    return [
        *(give(draw, stream(draw)).under_no_grad() for give in (stream_norms, stream_gradients)),
        in_training(draw, "gradient_norms", stream(draw), plain=False).under_no_grad(),
        stream_gradients(draw, stream(draw), frozen=True, plain=True).under_no_grad(),
    ]


@case
def lower_precision(draw):
    "gives float64 norms for a float32 or bfloat16 stream, which the blocks get as it is"
    return [
        give(draw, stream(draw), plain=True).in_dtype(dtype)
        for give in (stream_norms, stream_gradients)
        for dtype in (torch.float32, torch.bfloat16)
    ]


@case
def exponent_of_norms(draw):
    "gives the least-squares slope of log(norm) against log(depth), the entry before the first block left out"
    sizes = 3 * (2 * draw.normal(3, 12)).exp()
    two_rows = 3 * (2 * draw.normal(2, 9)).exp()
    return [
        call("growth_exponent", sizes[0].tolist()),
        call("growth_exponent", tuple(sizes[1, :4].tolist())),
        call("growth_exponent", sizes[2]).values_only(),
        call("growth_exponent", two_rows.T[:, 1]).values_only(),
        call("growth_exponent", sizes[2].clone()).in_dtype(torch.float32),
    ]


@case
def norms_far_from_one(draw):
    "takes norms that have faded to nearly nothing, and norms that have blown up, as they are"
    sizes = draw.uniform(1.0, 9.0, 5)
    faded = sizes * torch.tensor([1.0, 1e-3, 1e-9, 1e-20, 1e-60], dtype=torch.float64)
    return [
        *(call("growth_exponent", norms.tolist()) for norms in (faded, 1e-20 * sizes.flip(0), 1e20 * sizes, 1 / faded)),
        call("growth_exponent", faded).values_only(),
    ]


@case
def three_norms(draw):
    "takes as few as three norms, of which the first may be anything"
    return [
        call("growth_exponent", [first, *draw.uniform(1.0, 9.0, 2).tolist()])
        for first in (1.0, 0.0, -2.0, math.nan, math.inf)
    ]


@case
def norms_through_to_the_exponent(draw):
    "gives norms that growth_exponent takes, and keeps nothing from one call to the next"
    one = Call()
    first, second = stream(draw), stream(draw, 1, 3)
    blocks, others = (given_blocks(one, draw, kinds, plain=True) for kinds in (KINDS, ("residual",) * 4))
    norms = one.function("residual_stream_norms", first, blocks).observe("norms")
    one.function("growth_exponent", norms).observe("exponent")
    gradients = one.function("gradient_norms", second, others, given_loss(one, draw, second)).observe("gradients")
    one.function("growth_exponent", gradients).observe("exponent of the gradients")
    one.function("residual_stream_norms", first, others).observe("norms of other blocks")
    one.function("residual_stream_norms", first, blocks).observe("norms again")
    return one.values_only().anywhere()


@case
def too_few_norms(draw):
    "raises a ValueError for fewer than three norms"
    norms = draw.uniform(1.0, 9.0, 2)
    return [
        *(call("growth_exponent", norms.tolist()[:count]).raises(ValueError, naming=count) for count in (2, 1, 0)),
        call("growth_exponent", norms).raises(ValueError, naming=2),
    ]


@case
def norms_without_a_logarithm(draw):
    "raises a ValueError for an entry after the first that is zero, negative, infinite or NaN"
    calls = []
    for value, name in ((0.0, "0"), (-1.5, "-1.5"), (math.inf, "inf"), (-math.inf, "inf"), (math.nan, "nan")):
        for place in (1, 2, 4):
            norms = draw.uniform(1.0, 9.0, 5).tolist()
            norms[place] = value
            calls.append(call("growth_exponent", norms).raises(ValueError, naming=name))
        three = [1.0, value, draw.uniform(1.0, 9.0, 1).item()]
        calls.append(call("growth_exponent", three).raises(ValueError, naming=name))
    tensor = draw.uniform(1.0, 9.0, 4)
    tensor[draw.integer(1, 4)] = 0.0
    return [*calls, call("growth_exponent", tensor).raises(ValueError, naming="0")]
