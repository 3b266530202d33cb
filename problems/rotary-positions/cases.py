"""Cases of rotary-positions: which features form a pair, which way and how far it turns, and at which position."""

import math

import torch

from judge.authoring import Call, call, case, relation

LAST = 100_000


@case
def angles_of_positions(draw):
    "gives one angle for each position and pair of features, in float64"
    return [
        call("rotary_angles", torch.arange(5), 8),
        call("rotary_angles", torch.arange(3, 10), 12),
    ]


@case
def arguments_by_name(draw):
    "takes its arguments by name, in any order"
    return [
        call("rotary_angles", base=300.0, d_head=6, positions=torch.arange(4)),
        call("apply_rotary", base=300.0, positions=torch.arange(4), x=draw.normal(2, 1, 4, 6)),
    ]


@case
def any_order(draw):
    "takes positions in any order, also repeated ones and int32"
    order = draw.permutation(9)
    repeated = torch.tensor([4, 4, 0, 17, 4], dtype=torch.int32)
    return [
        call("rotary_angles", order, 10),
        call("rotary_angles", repeated, 4),
        call("rotary_angles", torch.tensor([70_000, 300], dtype=torch.int32), 4),
        call("apply_rotary", draw.normal(2, 3, 9, 10), order),
        call("apply_rotary", draw.normal(5, 4), repeated),
    ]


@case
def other_base(draw):
    "uses the base it is given"
    positions, base = torch.arange(2, 8), draw.uniform(20.0, 500.0, 1).item()
    return [
        call("rotary_angles", positions, 8, 500000.0),
        call("rotary_angles", positions, 8, 2.5),
        call("apply_rotary", draw.normal(1, 3, 6, 8), positions, base),
    ]


@relation
def exact_angles(draw):
    "gives angles that are right to 1e-9 from position 0 to 100,000, for many positions and for a single one"
    d_head = 12
    base = 1 + draw.integer(3, 10) / 16 + 2**-24  # as far from every float32 as a number can be
    far = _far(draw)
    asked = [(far,), (far, base), (_near(draw),), (draw.integers(200, 2000, 1),)]
    calls = [call("rotary_angles", positions, d_head, *bases) for positions, *bases in asked]

    def check(observations):
        for one, (positions, *bases) in zip(observations, asked, strict=True):
            error = (one["output"] - _exact_angles(positions, d_head, *bases)).abs()
            if not bool((error <= 1e-9).all()):
                return f"are off by up to {error.max().item():.1e} with base {(*bases, 10000.0)[0]:g}, more than 1e-9"
        return None

    return calls, check


@case
def turned_tokens(draw):
    "turns each pair of features by the angle of its token's position"
    return [
        call("apply_rotary", draw.stream(2, 3, 5, 8), torch.arange(5)),
        call("apply_rotary", draw.stream(2, 3, 4, 12), torch.arange(40, 44)),
        call("apply_rotary", draw.stream(1, 2, 3, 128), torch.arange(3)),
        call("apply_rotary", draw.stream(3, 2, 3, 260), torch.arange(3)),
        call("apply_rotary", draw.stream(1, 1100, 4), torch.arange(1100)),
    ]


@case
def any_leading_axes(draw):
    "takes any number of axes before the tokens, also none, any number of heads, and any tokens, also zeros"
    positions = torch.arange(1, 6)
    calls = [call("apply_rotary", draw.normal(*shape, 5, 8), positions) for shape in ((), (3,), (2, 1, 3))]
    return [*calls, _any_tokens(draw)]


def _any_tokens(draw):
    """Calls at many sizes, on zeros and on tokens that are all alike, without gradients."""
    steps = Call()
    shapes = (2, 16, 3, 4), (1, 40, 2, 8), (40, 1, 3, 4), (12, 2, 1, 2), (2, 150, 6), (1, 1, 1, 64), (33, 6), (2, 2, 2)
    for shape in shapes:
        positions = draw.integer(1, 90) + torch.arange(shape[-2])
        steps.function("apply_rotary", draw.stream(*shape), positions).observe(f"x {shape}")
    positions = draw.permutation(5)
    steps.function("apply_rotary", torch.zeros(2, 3, 5, 8).double(), positions).observe("zeros")
    steps.function("apply_rotary", draw.stream(8).repeat(2, 3, 5, 1), positions).observe("tokens that are all alike")
    x, positions = draw.stream(2, 7, 8), torch.arange(3, 10)
    steps.function("apply_rotary", steps.method(steps.leaf(x), "bfloat16"), positions)
    steps.function("apply_rotary", x, positions).observe("after a call in bfloat16")
    return steps.values_only()


@case
def smallest_sizes(draw):
    "works for a single token and for a single pair"
    return [
        call("rotary_angles", torch.tensor([draw.integer(5, 60)]), 6),
        call("apply_rotary", draw.normal(2, 3, 1, 6), torch.tensor([draw.integer(5, 60)])),
        call("apply_rotary", draw.normal(1, 2, 7, 2), torch.arange(7)),
        call("apply_rotary", draw.normal(2, 3, 1, 6), torch.tensor([0])),
    ]


@case
def equal_sizes(draw):
    "tells heads, tokens and features apart also when all axes have one size"
    return [call("apply_rotary", draw.normal(*shape), torch.arange(4)) for shape in ((4, 4, 4, 4), (4, 4, 4), (4, 4))]


@case
def far_positions(draw):
    "turns tokens at positions up to 100,000 exactly, a single one and inside torch.no_grad() too"
    return [
        call("apply_rotary", draw.normal(2, 6, 12), _far(draw)),
        call("apply_rotary", draw.normal(2, 6, 12), _far(draw), 1.5).values_only().under_no_grad(),
        call("apply_rotary", draw.normal(2, 1, 12), _far(draw)[:1]).values_only(),
    ]


@relation
def far_positions_in_float32(draw):
    "turns float32 tokens by float64 angles: right to 1e-5 from position 0 to 100,000"
    x = draw.uniform(-1.0, 1.0, 2, 6, 12).float().double()
    asked = [(x, _far(draw)), (x, torch.arange(6)), (draw.uniform(0.5, 1.0, 6, 24).float().double(), _near(draw))]
    calls = [call("apply_rotary", *given).in_dtype(torch.float32) for given in asked]

    def check(observations):
        for one, (x, positions) in zip(observations, asked, strict=True):
            error = (one["output"].double() - _exactly_turned(x, positions)).abs()
            if not bool((error <= 1e-5).all()):
                return f"are off by up to {error.max().item():.1e}, more than 1e-5"
        return None

    return calls, check


@case
def bfloat16_tokens(draw):
    "keeps bfloat16, and tells positions above 256 apart there"
    positions = torch.tensor([257, 259, 511, 777, 1003])
    return call("apply_rotary", draw.normal(2, 3, 5, 8), positions).in_dtype(torch.bfloat16)


@case
def odd_widths(draw):
    "refuses an odd d_head with a ValueError, in both functions"
    return [
        call("rotary_angles", torch.arange(4), 7).raises(ValueError, naming=7),
        call("apply_rotary", draw.normal(2, 4, 9), torch.arange(4)).raises(ValueError, naming=9),
        call("apply_rotary", draw.normal(3, 1), torch.arange(3)).raises(ValueError, naming=1),
        call("rotary_angles", torch.arange(4, dtype=torch.int32), 5).raises(ValueError, naming=5),
    ]


@case
def unrelated_calls(draw):
    "is right whatever was turned, or done to the angles, before"
    steps, x = Call(), draw.normal(2, 3, 11, 6)
    steps.function("apply_rotary", x, torch.arange(11)).observe("from the start")
    steps.function("apply_rotary", x, torch.arange(30, 41)).observe("from 30")
    reordered = torch.arange(30, 41)
    reordered[1:-1] = reordered[1:-1].flip(0)  # the ends and the sum stay
    steps.function("apply_rotary", x, reordered).observe("the same positions in another order")
    steps.function("apply_rotary", x, torch.arange(30, 41), 50.0).observe("with base 50")
    edited = steps.function("rotary_angles", torch.arange(2, 13), 14)
    steps.method(edited, "zero_")
    steps.function("rotary_angles", torch.arange(2, 13), 14).observe("after an edit")
    return steps


@case
def views(draw):
    "accepts views with any strides, and leaves them as they were"
    heads_last = draw.stream(2, 5, 3, 8).transpose(1, 2)  # as a projection leaves them: (batch, heads, seq_len, d_head)
    every_second = torch.arange(0, 20, 2)[::2]
    return [
        call("apply_rotary", heads_last, every_second),
        call("apply_rotary", draw.noncontiguous(draw.stream(2, 5, 6)), torch.arange(5)),
        call("apply_rotary", draw.expanded(draw.normal(5, 6), 3), torch.tensor(9).expand(5)),
    ]


def _far(draw):
    """Six positions up to the last one for which exactness is asked, in no order."""
    positions = draw.integers(50_000, LAST, 6)
    positions[2] = LAST
    return positions


def _near(draw):
    """Six positions of an ordinary text, where float32 angles are off by more than 1e-5 all the same."""
    return draw.integers(2000, 4000, 6)


def _exact_angles(positions, d_head, base=10000.0):
    rows = [[int(position) * base ** (-2 * j / d_head) for j in range(d_head // 2)] for position in positions]
    return torch.tensor(rows, dtype=torch.float64)


def _exactly_turned(x, positions):
    half = x.shape[-1] // 2
    turned = torch.empty_like(x)
    for row, angles in enumerate(_exact_angles(positions, x.shape[-1]).tolist()):
        for j, angle in enumerate(angles):
            first, second = x[..., row, j], x[..., row, j + half]
            turned[..., row, j] = first * math.cos(angle) - second * math.sin(angle)
            turned[..., row, j + half] = first * math.sin(angle) + second * math.cos(angle)
    return turned
