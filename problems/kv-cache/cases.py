"""Cases of kv-cache: one sequence in many chunks, every position compared, and caches that are given to other calls.

Outside of the chunk cases tokens mostly come one at a time behind a prompt: few cases see a wrong mask for several.
"""

import torch

from judge.authoring import Call, call, case

ATTEND = "attend_with_cache"


@case
def whole_sequence(draw):
    "is causal attention when a whole sequence comes at once"
    weights = _weights(draw, 12)
    return [call(ATTEND, draw.normal(*shape, 12), None, 3, **weights) for shape in ((2, 7), (1, 70))]


@case
def prompt_and_rest(draw):
    "gives every position its result when a sequence comes as 3 + 4 or as 1 + 6 tokens"
    return [_fed(draw, 3, 4), _fed(draw, 1, 6)]


@case
def three_chunks(draw):
    "gives every position its result when a sequence comes as 2 + 3 + 2 tokens"
    return _fed(draw, 2, 3, 2)


@case
def token_by_token(draw):
    "gives every position its result when a sequence comes as single tokens"
    return _fed(draw, 1, 1, 1, 1, 1, 1, 1)


@case
def prompt_then_tokens(draw):
    "gives every position its result when single tokens follow a prompt of three"
    return _fed(draw, 3, 1, 1, 1, 1)


@case
def given_cache(draw):
    "continues from a cache that was computed elsewhere"
    keys, values = draw.normal(2, 3, 13, 4), draw.normal(2, 3, 13, 4)
    many = draw.normal(3, 6, 40, 2), draw.normal(3, 6, 40, 2)
    return [
        call(ATTEND, draw.normal(2, 4, 12), (keys, values), 3, **_weights(draw, 12)),
        call(ATTEND, draw.normal(2, 3, 12), (keys[:, :, 2:], values[:, :, 2:]), 3, **_weights(draw, 12)),
        call(ATTEND, draw.normal(3, 1, 12), many, 6, **_weights(draw, 12)),
    ]


@case
def long_past(draw):
    "has room for a past of any length"
    keys, values = draw.normal(1, 3, 2100, 4), draw.normal(1, 3, 2100, 4)
    return call(ATTEND, draw.normal(1, 2, 12), (keys, values), 3, **_weights(draw, 12))


@case
def low_scores(draw):
    "hides later tokens also where the visible ones have scores far below zero"
    x = torch.round(8 * draw.normal(2, 6, 12)) / 8
    # Multiples of powers of two: the scores are exact in float32, so a program that computes in it has no disadvantage.
    weights = {name: torch.round(16 * weight) / 16 for name, weight in _weights(draw, 12).items()}
    weights["weight_q"] = 64 * weights["weight_q"]  # some -100, and no two further apart than an exponential reaches
    return [_chunks(x, (4, 2), 3, weights).values_only(), _all_near(draw, 32.0, -32.0)]


@case
def high_scores(draw):
    "gives finite results where all scores are far above zero"
    return _all_near(draw, 64.0, 32.0)


def _all_near(draw, of_query, of_key):
    """Chunks where every score is about half this product: a feature of each head, the same in all tokens, sees to it.

    All is in multiples of 1/4, so that these scores are exact in float32.
    """
    x = torch.round(4 * draw.normal(2, 6, 12)) / 4
    x[..., 0] = 1.0
    weights = {name: torch.round(4 * weight) / 4 for name, weight in _weights(draw, 12).items()}
    for name, first in (("weight_q", of_query), ("weight_k", of_key)):
        weights[name][::4] = 0.0
        weights[name][::4, 0] = first
    return _chunks(x, (4, 2), 3, weights).values_only()


@case
def two_continuations(draw):
    "can continue from one cache twice, each time as if it were the first, inside torch.no_grad() too"
    return [_continued_twice(draw), _continued_twice(draw).values_only().under_no_grad()]


def _continued_twice(draw):
    weights = _weights(draw, 12)
    one = Call()
    prompt = one.function(ATTEND, draw.normal(2, 3, 12), None, 3, **weights).observe("prompt")
    for_one = one.function(ATTEND, draw.normal(2, 1, 12), prompt[1], 3, **weights).observe("first")
    for_other = one.function(ATTEND, draw.normal(2, 1, 12), prompt[1], 3, **weights).observe("second")
    one.function(ATTEND, draw.normal(2, 1, 12), for_one[1], 3, **weights).observe("first, one more")
    one.function(ATTEND, draw.normal(2, 1, 12), for_other[1], 3, **weights).observe("second, one more")
    return one


@case
def shortened_caches(draw):
    "can go back to an earlier token, by a cache that is cut there, and leaves the rest of it alone"
    weights = _weights(draw, 12)
    one = Call()
    prompt = one.function(ATTEND, draw.normal(2, 1, 12), None, 3, **weights).observe("prompt")
    longer = one.function(ATTEND, draw.normal(2, 3, 12), prompt[1], 3, **weights).observe("longer")
    for past_len in (3, 1, 2):
        shortened = tuple(one.method(longer[1][part], "narrow", 2, 0, past_len) for part in (0, 1))
        again = one.function(ATTEND, draw.normal(2, 1, 12), shortened, 3, **weights).observe(f"from {past_len}")
        one.function(ATTEND, draw.normal(2, 1, 12), again[1], 3, **weights).observe(f"from {past_len}, one more")
    one.function(ATTEND, draw.normal(2, 1, 12), longer[1], 3, **weights).observe("from the whole")
    return one.values_only()


@case
def interleaved_sequences(draw):
    "keeps two sequences apart that are read in turn"
    weights = _weights(draw, 12)
    one = Call()
    caches = {"first": None, "second": None}
    for chunk, new_len in enumerate((2, 1, 1)):
        for name in caches:
            step = one.function(ATTEND, draw.normal(2, new_len, 12), caches[name], 3, **weights)
            caches[name] = step.observe(f"{name}, chunk {chunk}")[1]
    return one


@case
def two_layers(draw):
    "works as two layers of a model, each with its own weights and cache"
    layers = [_weights(draw, 12), _weights(draw, 12)]
    one = Call()
    caches = [None, None]
    for chunk, new_len in enumerate((4, 1, 1)):
        x = draw.normal(2, new_len, 12)
        for depth, weights in enumerate(layers):
            step = one.function(ATTEND, x, caches[depth], 3, **weights).observe(f"chunk {chunk}, layer {depth}")
            x, caches[depth] = step[0], step[1]
    return one


@case
def sizes_of_one(draw):
    "works at any size, for a batch of one, a single head and heads of one feature too, and for tokens of zeros"
    weights = _weights(draw, 12)
    # A key of one feature that is nearly 0 would be judged by its own size: these are sums of positive terms.
    weights |= {name: draw.uniform(0.1, 0.4, 12, 12) for name in ("weight_k", "weight_v")}
    return [
        _fed(draw, 2, 1, batch=1),
        _fed(draw, 2, 2, batch=1),
        _fed(draw, 3, 2, num_heads=1),
        _chunks(draw.uniform(0.5, 1.5, 2, 2, 12), (1, 1), 12, weights).values_only(),
        _of_every_size(draw),
    ]


def _of_every_size(draw):
    """Chunks at many sizes, of zeros and of tokens that are all alike, without gradients."""
    one = Call()
    for batch, num_heads, d_head, chunk_lens in (
        (9, 2, 3, (2, 1)), (1, 16, 3, (3, 2)), (3, 3, 3, (3, 3)), (2, 1, 4, (1, 1)), (1, 2, 4, (150, 1, 140, 2)),
    ):  # fmt: skip
        d_model = num_heads * d_head
        x = draw.normal(batch, sum(chunk_lens), d_model)
        _feed(one, x, chunk_lens, num_heads, _weights(draw, d_model), f"{batch} x {num_heads} x {d_head}, ")
    x, weights = draw.normal(2, 6, 12), _weights(draw, 12)
    _feed(one, torch.cat([0 * x[:, :2], x[:, 2:]], dim=1), (2, 2, 2), 3, weights, "zeros first, ")
    _feed(one, torch.cat([x[:, :4], 0 * x[:, 4:]], dim=1), (2, 2, 1, 1), 3, weights, "zeros last, ")
    _feed(one, 0 * x, (2, 1, 3), 3, weights, "nothing but zeros, ")
    _feed(one, x[:, :1].repeat(1, 6, 1), (2, 1, 3), 3, weights, "all alike, ")
    return one.values_only()


@case
def any_memory_layout(draw):
    "takes transposed, strided and expanded tokens, weights and caches"
    weights = {name: draw.noncontiguous(weight) for name, weight in _weights(draw, 12).items()}
    turned = {name: draw.transposed(weight) for name, weight in _weights(draw, 12).items()}
    keys, values = draw.transposed(draw.normal(2, 3, 8, 4)), draw.noncontiguous(draw.normal(2, 3, 8, 4))
    shared = draw.expanded(draw.normal(3, 8, 4), 2)
    return [
        call(ATTEND, draw.transposed(draw.normal(2, 5, 12)), None, 3, **weights),
        call(ATTEND, draw.noncontiguous(draw.normal(2, 1, 12)), (keys, values), 3, **turned),
        call(ATTEND, draw.expanded(draw.normal(4, 12), 2), (shared, shared), 3, **turned),
        call(ATTEND, draw.normal(2, 1, 12), (values, draw.noncontiguous(draw.normal(2, 3, 8, 4))), 3, **turned),
    ]


@case
def frozen_inputs(draw):
    "gives the weights their gradients where tokens and cache need none, and the tokens where the weights need none"
    calls = []
    for frozen in (False, True):
        weights = _weights(draw, 12)
        one = Call()
        learned = one.given("linear", weight=weights["weight_k"], bias=weights["weight_v"], frozen=frozen)
        weights |= {"weight_k": one.attribute(learned, "weight"), "weight_v": one.attribute(learned, "bias")}
        tokens, later = draw.normal(2, 3, 12), draw.normal(2, 2, 12)
        if frozen:
            leaves = [one.leaf(tokens), one.leaf(later)]
        else:
            leaves = [one.leaf(weights[name]) for name in ("weight_q", "weight_o")]
            weights["weight_q"], weights["weight_o"] = leaves
        past = draw.normal(2, 3, 2, 4), draw.normal(2, 3, 2, 4)
        first = one.function(ATTEND, leaves[0] if frozen else tokens, past, 3, **weights).observe("first")
        then = one.function(ATTEND, leaves[1] if frozen else later, first[1], 3, **weights).observe("then")
        one.gradients(learned, then[0], *leaves).observe("gradients")
        calls.append(one.values_only())
    return calls


@case
def lower_precision(draw):
    "gives outputs and caches in float32 and bfloat16 for inputs of these dtypes"
    x, weights = draw.normal(2, 6, 12), _weights(draw, 12)
    return [_chunks(x, (5, 1), 3, weights).in_dtype(dtype) for dtype in (torch.float32, torch.bfloat16)]


@case
def arguments_by_position_and_name(draw):
    "takes its arguments by position or by name, in any order"
    x, weights = draw.normal(2, 4, 12), _weights(draw, 12)
    one = Call()
    step = one.function(ATTEND, x, None, 3, *weights.values()).observe("by position")
    one.function(ATTEND, **weights, num_heads=3, cache=step[1], x=draw.normal(2, 1, 12)).observe("by name")
    return one


@case
def undivided_width(draw):
    "refuses a width that the heads can't share evenly with a ValueError"
    x, weights = draw.normal(2, 5, 10), _weights(draw, 10)
    return [
        call(ATTEND, x, None, 3, **weights).raises(ValueError, naming=10),
        call(ATTEND, x, None, 20, **weights).raises(ValueError, naming=20),
        call(ATTEND, x, (draw.normal(2, 3, 4, 3), draw.normal(2, 3, 4, 3)), 3, **weights).raises(ValueError, naming=10),
    ]


def _fed(draw, *chunk_lens, batch=2, num_heads=3):
    return _chunks(draw.normal(batch, sum(chunk_lens), 12), chunk_lens, num_heads, _weights(draw, 12))


def _chunks(x, chunk_lens, num_heads, weights):
    """One call that feeds ``x`` (batch, seq_len, 12) in chunks, each with the cache that the one before has given."""
    one = Call()
    _feed(one, x, chunk_lens, num_heads, weights)
    return one


def _feed(one, x, chunk_lens, num_heads, weights, name=""):
    cache = None
    for number, chunk in enumerate(x.split(list(chunk_lens), dim=1)):
        cache = one.function(ATTEND, chunk.clone(), cache, num_heads, **weights).observe(f"{name}chunk {number}")[1]


def _weights(draw, d_model):
    """The four weights in the order of the signature; scores of size one, far from a saturated softmax."""
    return {f"weight_{letter}": draw.weight(d_model, d_model) for letter in "qkvo"}
