"""Cases of sinusoidal-positions: which column turns how fast, and how exactly it does so far from the start."""

import math

import torch

from judge.authoring import Call, call, case, relation

LAST = 100_000  # the last position for which accuracy is promised


@case
def first_rows(draw):
    "gives the vectors of the first positions, in float32 by default"
    return call("sinusoidal_positions", 5, 8)


@case
def arguments_by_name(draw):
    "takes its arguments by name, in any order"
    return call("sinusoidal_positions", dtype=torch.float64, base=300.0, offset=2, d_model=6, seq_len=4)


@case
def any_size(draw):
    "works for one position, for one pair of columns, and for many"
    return [
        call("sinusoidal_positions", seq_len, d_model, dtype=torch.float64)
        for seq_len, d_model in ((1, 2), (7, 2), (1, 10), (3, 4), (11, 24), (1100, 2), (3, 300))
    ]


@case
def other_base(draw):
    "uses the base it is given"
    return [
        call("sinusoidal_positions", 6, 8, 0, 100.0, torch.float64),
        call("sinusoidal_positions", 6, 8, base=draw.uniform(2.0, 50.0, 1).item(), dtype=torch.float64),
        call("sinusoidal_positions", 6, 8, base=draw.uniform(1.1, 1.4, 1).item(), dtype=torch.float64),
    ]


@case
def later_positions(draw):
    "begins at the offset and gives as many rows as asked for"
    return [
        call("sinusoidal_positions", 5, 12, 3, dtype=torch.float64),
        call("sinusoidal_positions", 3, 12, offset=draw.integer(20, 90), dtype=torch.float64),
        call("sinusoidal_positions", 150, 4, 7, dtype=torch.float64),
    ]


@case
def result_dtypes(draw):
    "gives the dtype it is asked for"
    return [
        call("sinusoidal_positions", 4, 6, dtype=torch.float64),
        call("sinusoidal_positions", 4, 6, dtype=torch.bfloat16).in_dtype(torch.bfloat16),
        call("sinusoidal_positions", 4, 6, 250, dtype=torch.bfloat16).in_dtype(torch.bfloat16),
        call("sinusoidal_positions", 4, 6, 3003, dtype=torch.bfloat16).in_dtype(torch.bfloat16),
    ]


@relation
def far_in_float64(draw):
    "is right to 1e-9 in float64 from position 0 to 100,000, for any number of rows, also after a table in float32"
    near, far, alone = draw.integer(6000, 8000), draw.integer(20_000, 90_000), draw.integer(50_000, 90_000)
    tables = [(6, 12, 0), (6, 24, near), (6, 12, far), (1, 12, alone), (1100, 4, LAST - 1099)]
    after_float32 = Call()
    after_float32.function("sinusoidal_positions", 6, 12, LAST - 5)
    after_float32.function("sinusoidal_positions", 6, 12, LAST - 5, dtype=torch.float64).observe("output")
    calls = [call("sinusoidal_positions", *table, dtype=torch.float64) for table in tables]
    return [*calls, after_float32], _as_exact_as(1e-9, [*(table[-1] for table in tables), LAST - 5])


@relation
def far_with_another_base(draw):
    "is right to 1e-9 in float64 up to position 100,000 with another base too"
    base = 1 + draw.integer(3, 10) / 16 + 2**-24  # as far from every float32 as a number can be
    one = call("sinusoidal_positions", 6, 12, LAST - 5, base, torch.float64)
    return one, _as_exact_as(1e-9, [LAST - 5], base)


@relation
def far_in_float32(draw):
    "is right to 1e-6 in float32 up to position 100,000, and so it is near the start"
    starts, sizes = (draw.integer(500, 2000), draw.integer(20_000, 90_000), LAST - 5), (6, 12)
    calls = [call("sinusoidal_positions", *sizes, start) for start in starts]
    return calls, _as_exact_as(1e-6, starts)


@case
def fresh_tables(draw):
    "gives a right table whatever was asked for, or done to a table, before"
    steps = Call()
    steps.function("sinusoidal_positions", 9, 10, dtype=torch.float64).observe("from the start")
    steps.function("sinusoidal_positions", 9, 10, 4, dtype=torch.float64).observe("from 4")
    steps.function("sinusoidal_positions", 9, 10, 4, 50.0, torch.float64).observe("with base 50")
    steps.function("sinusoidal_positions", 9, 10, 4, 50.0, torch.float32).observe("with base 50 in float32")
    edited = steps.function("sinusoidal_positions", 9, 14, dtype=torch.float64)
    steps.method(edited, "zero_")
    steps.function("sinusoidal_positions", 9, 14, dtype=torch.float64).observe("after an edit")
    edited = steps.function("sinusoidal_positions", 9, 16)
    steps.method(edited, "zero_")
    steps.function("sinusoidal_positions", 9, 16).observe("after an edit in float32")
    return steps


@case
def odd_widths(draw):
    "refuses an odd d_model with a ValueError, in both functions"
    return [
        call("sinusoidal_positions", 4, 7).raises(ValueError, naming=7),
        call("sinusoidal_positions", 3, 1, dtype=torch.float64).raises(ValueError, naming=1),
        call("sinusoidal_positions", 1, 5).raises(ValueError, naming=5),
        call("add_positions", draw.normal(2, 4, 9)).raises(ValueError, naming=9),
        call("add_positions", draw.normal(2, 4, 1)).raises(ValueError, naming=1),
    ]


@case(after="first_rows")
def added_to_tokens(draw):
    "adds each position's vector to the tokens that stand there, in every sequence"
    return [
        call("add_positions", draw.stream(3, 5, 8)),
        call("add_positions", draw.noncontiguous(draw.stream(2, 5, 6))),
        call("add_positions", draw.expanded(draw.normal(4, 6), 3)),
        call("add_positions", draw.normal(1, 3, 4)),
        call("add_positions", draw.normal(9, 2, 300)),
    ]


@case(after="first_rows")
def added_to_any_tokens(draw):
    "adds the same vectors at any size, to tokens of zeros and to tokens that are all alike"
    steps = Call()
    for shape in ((1, 1, 2), (40, 3, 6), (2, 150, 4), (1, 1, 64), (3, 2, 2), (2, 2, 2)):
        steps.function("add_positions", draw.stream(*shape)).observe(f"x {shape}")
        steps.function("add_positions", draw.stream(*shape), 5).observe(f"x {shape} from 5")
    steps.function("add_positions", torch.zeros(2, 5, 6).double()).observe("zeros")
    steps.function("add_positions", torch.zeros(2, 5, 6).double(), 3).observe("zeros from 3")
    steps.function("add_positions", draw.stream(6).repeat(2, 5, 1), 3).observe("tokens that are all alike")
    return steps.values_only()


@case
def added_later(draw):
    "adds the vectors of later positions where an offset is given"
    return [
        call("add_positions", draw.normal(2, 4, 6), 7),
        call("add_positions", draw.normal(2, 1, 6), offset=draw.integer(20, 90)),
    ]


@case
def equal_sizes(draw):
    "tells batch, positions and features apart also when all have one size"
    return call("add_positions", draw.normal(4, 4, 4))


@relation
def added_far(draw):
    "adds vectors that are right to 1e-9 in float64, and to 1e-6 in float32, from position 0 to 100,000"
    zeros, start = torch.zeros(2, 6, 12, dtype=torch.float64), LAST - 5
    double = call("add_positions", zeros, start)
    single = call("add_positions", zeros, start).in_dtype(torch.float32)
    from_the_start = call("add_positions", torch.zeros(1, 400, 12, dtype=torch.float64)).in_dtype(torch.float32)

    def check(observations):
        return _as_exact_as(1e-9, [start])(observations[:1]) or _as_exact_as(1e-6, [start, 0])(observations[1:])

    return [double, single, from_the_start], check


@case
def added_in_low_precision(draw):
    "keeps float32 and bfloat16 when it adds, and knows large positions there too"
    x, offset = draw.normal(2, 5, 8), 1003
    return [
        call("add_positions", x, offset).in_dtype(torch.float32),
        call("add_positions", x, offset).in_dtype(torch.bfloat16),
    ]


def _as_exact_as(tolerance, starts, base=10000.0):
    """A check that no entry of the tables that begin at ``starts`` is off by more than ``tolerance``."""

    def check(observations):
        for one, start in zip(observations, starts, strict=True):
            table = one["output"].double()
            error = (table - _exact_table(*table.shape[-2:], start, base)).abs()
            if not bool((error <= tolerance).all()):
                return f"are off by up to {error.max().item():.1e} from position {start} on, more than {tolerance:g}"
        return None

    return check


def _exact_table(seq_len, d_model, start, base):
    angles = [
        [position / base ** (2 * j / d_model) for j in range(d_model // 2)]
        for position in range(start, start + seq_len)
    ]
    rows = [[turn(angle) for angle in row for turn in (math.sin, math.cos)] for row in angles]
    return torch.tensor(rows, dtype=torch.float64)
