"""Cases of scaled-dot-product-attention: moderate scores show the scale, masks of every shape, and the extremes."""

import torch

from judge.authoring import Call, call, case, masked_situations

ATTENTION = "scaled_dot_product_attention"


@case
def ordinary_heads(draw):
    "is right for a batch of heads without a mask"
    long_key, long_value = draw.normal(1, 2, 300, 11), draw.normal(1, 2, 300, 13)
    return [
        call(ATTENTION, *_tokens(draw, 2, 3)),
        call(ATTENTION, draw.normal(1, 2, 5, 11), long_key, long_value),
        call(ATTENTION, draw.normal(1, 2, 7, 11), draw.normal(1, 2, 4, 11), draw.normal(1, 2, 4, 13)),
        call(ATTENTION, *(draw.normal(1, 1, 150, width) for width in (140, 140, 70))),
    ]


@case
def arguments_by_name(draw):
    "takes its arguments by position or by name, in any order"
    query, key, value = _tokens(draw, 2, 3)
    mask = draw.mask(5, 7)
    return [
        call(ATTENTION, query, key, value, mask, 0.2),
        call(ATTENTION, scale=0.2, mask=mask, value=value, query=query, key=key),
    ]


@case
def no_leading_axes(draw):
    "works for one head of one sequence, without leading axes"
    x = draw.normal(5, 11)
    return [
        call(ATTENTION, *_tokens(draw)),
        call(ATTENTION, *_tokens(draw), mask=draw.mask(5, 7)),
        call(ATTENTION, x, x, x),
    ]


@case
def other_leading_axes(draw):
    "works for one leading axis and for three"
    return [
        call(ATTENTION, *_tokens(draw, 2), mask=draw.mask(2, 5, 7)),
        call(ATTENTION, *_tokens(draw, 2, 1, 3), mask=draw.mask(2, 1, 1, 5, 7)),
    ]


@case
def padding_mask(draw):
    "leaves out the padding of each sequence of a batch"
    mask = torch.arange(7) < torch.tensor([[3], [6], [7], [1]])
    return call(ATTENTION, *_tokens(draw, 4, 3), mask=mask[:, None, None, :])


@case
def mask_shapes(draw):
    "accepts every mask that broadcasts to the scores"
    tokens = _tokens(draw, 2, 3)
    shapes = ((7,), (5, 7), (3, 5, 7), (3, 1, 7), (2, 1, 5, 7), (1, 1, 5, 7), (2, 3, 5, 7))
    masks = [draw.mask(*shape) for shape in shapes] + [torch.ones(1, 1).bool(), torch.ones(2, 1, 5, 7).bool()]
    return [call(ATTENTION, *tokens, mask=mask) for mask in masks]


@case
def masks_of_every_form(draw):
    "reads every form of mask at every size, one head and one key too, whatever was called before"
    return [in_every_situation(draw, heads) for heads in (1, 3)] + [of_any_values(draw)]


def in_every_situation(draw, heads):
    """Calls with each form of mask and at each size, without gradients."""
    one = Call()
    for name, batch, q_len, k_len, mask in masked_situations(draw, heads, cross=True):
        tokens = ((q_len, 11), (k_len, 11), (k_len, 13))
        given = (draw.normal(batch, heads, *shape) for shape in tokens)
        one.function(ATTENTION, *given, mask).observe(name)
    return one.values_only().under_no_grad()


def of_any_values(draw):
    """Calls on zeros, on tokens that are all alike or one tensor, with masks of any rank, and on many tokens."""
    one = Call()
    query, key, value = _tokens(draw, 2, 3)
    for name, tokens in {
        "queries of zeros": (0 * query, key, value),
        "keys of zeros": (query, 0 * key, value),
        "values of zeros": (query, key, 0 * value),
        "tokens that are all alike": [token[:, :, :1].expand(token.shape) for token in (query, key, value)],
    }.items():
        one.function(ATTENTION, *tokens).observe(name)
        one.function(ATTENTION, *tokens, draw.mask(5, 7, hidden_rows=1)).observe(f"{name}, a mask")
    x = draw.normal(2, 3, 5, 11)
    one.function(ATTENTION, x, x, x, torch.arange(5) < 3).observe("one tensor for all three, padding")
    one.function(ATTENTION, query, key, value, draw.mask(1, 5, 7)).observe("a mask (1, 5, 7)")
    one.function(ATTENTION, query, key, value, torch.tensor(True)).observe("a mask without axes")
    one.function(ATTENTION, *_tokens(draw, 2, 1, 3), draw.mask(1, 3, 5, 7)).observe("five axes, a mask (1, 3, 5, 7)")
    long = [draw.normal(1, 2, 260, width) for width in (3, 3, 5)]
    one.function(ATTENTION, *long, torch.ones(260, 260).bool().tril()).observe("260 tokens, a causal mask")
    many, last = [draw.uniform(0.5, 1.5, 1, 1, count, 2) for count in (1, 600, 600)], torch.arange(600)[:, None] >= 512
    one.function(ATTENTION, many[0], many[1] + 0.3 * last, many[2], scale=3.0).observe("600 keys")
    return one.values_only().under_no_grad()


@case
def fully_masked_rows(draw):
    "gives zeros and finite gradients to queries that see no key"
    padding = torch.arange(7) < torch.tensor([[0], [4]])
    all_or_nothing = draw.permutation(5)[:, None] < 3  # (5, 1)
    return [
        call(ATTENTION, *_tokens(draw, 2, 3), mask=draw.mask(2, 3, 5, 7, hidden_rows=6)),
        call(ATTENTION, *_tokens(draw, 2, 3), mask=draw.mask(5, 7, hidden_rows=2)),
        call(ATTENTION, *_tokens(draw, 2, 3), mask=padding[:, None, None, :]),
        call(ATTENTION, *_tokens(draw, 2, 3), mask=all_or_nothing),
        call(ATTENTION, *_tokens(draw, 2, 3), mask=torch.zeros(1, 1, dtype=torch.bool)),
    ]


@case
def huge_masked_tokens(draw):
    "is untouched by keys and values of 1e30 behind the mask"
    query, key, value = _tokens(draw, 2, 3)
    visible = torch.arange(7) < torch.tensor([[4], [6]])
    behind = ~visible[:, None, :, None]  # (2, 1, 7, 1)
    key = torch.where(behind, 1e30 * torch.sign(key), key)
    value = torch.where(behind, 1e30 * torch.sign(value), value)
    return call(ATTENTION, query, key, value, mask=visible[:, None, None, :])


@case
def large_scores(draw):
    "is right, not only finite, for scores of ten thousand"
    query, key, value = _exact_tokens(draw)
    signs = _signs(draw)
    ladder = draw.permutation(7) - 3
    return [
        call(ATTENTION, _with_first(query, 1249.5 * signs), _with_first(key, 32.0), value),
        call(ATTENTION, _with_first(query, 416.0 * signs), _with_first(key, 32.0 * ladder), value),
    ]


@case
def loud_masked_keys(draw):
    "is right where masked keys have scores far above the visible ones"
    query, key, value = _exact_tokens(draw)
    visible = draw.mask(1, 7)
    key = _with_first(key, torch.where(visible[0], 32.0, -32.0))
    return call(ATTENTION, _with_first(query, 1249.5 * _signs(draw)), key, value, mask=visible)


@case
def given_scale(draw):
    "multiplies the scores by the scale it is given, and by nothing else"
    query, key, value = _tokens(draw, 2, 3)
    return [
        call(ATTENTION, query, key, value, scale=0.15),
        call(ATTENTION, query / 4, key, value, scale=1),
        call(ATTENTION, query / 8, key, value, scale=2.5),
    ]


@case
def zero_scale(draw):
    "spreads the weight evenly over the visible keys when scale is 0.0"
    return [
        call(ATTENTION, *_tokens(draw, 2, 3), scale=0.0),
        call(ATTENTION, *_tokens(draw, 2, 3), mask=draw.mask(2, 1, 5, 7), scale=0.0),
    ]


@case
def single_tokens(draw):
    "works for one query, one key and one feature"
    query, key, value = _tokens(draw, 2, 3)
    # Scores in multiples of 1/4, those of half of the queries between -30 and -150: exact in float32 too.
    low = 15.0 * torch.tensor([-2.0, 2.0, -2.0, 2.0, -2.0]).double()[:, None].expand(2, 3, 5, 1)
    positive = 1 + torch.round(8 * draw.uniform(0.0, 4.0, 2, 3, 7, 1)) / 8
    return [
        call(ATTENTION, low, positive, value, mask=draw.mask(5, 7)).values_only(),
        call(ATTENTION, query[..., :1, :], key, value, mask=draw.mask(2, 1, 1, 7)),
        call(ATTENTION, query, key[..., :1, :], value[..., :1, :1]),
        call(ATTENTION, query[..., :1], key[..., :1], value),
        call(ATTENTION, query[..., :1], key[..., :1], value, mask=draw.mask(5, 7)),
    ]


@case
def equal_sizes(draw):
    "is right where batch, heads, queries and keys have one size"
    stream = draw.stream(4, 4, 4, 8) / 4
    query, key, value = (draw.normal(4, 4, 4, width) for width in (8, 8, 6))
    return [
        call(ATTENTION, stream, stream, stream),
        call(ATTENTION, query, key, value, mask=draw.mask(4, 4)),
        call(ATTENTION, query, key, value, mask=draw.mask(4, 4, 4)),
        call(ATTENTION, query, key, value, mask=draw.mask(4)),
        call(ATTENTION, query[0], key[0], value[0], mask=draw.mask(4, 4)),
        call(ATTENTION, query, key, value, mask=draw.mask(4, 1, 1, 4)),
        call(ATTENTION, query, key, value, mask=draw.permutation(4)[:, None] < 2),
    ]


@case
def views(draw):
    "accepts inputs and masks that are views with any strides"
    query, key, value = _tokens(draw, 2, 3)
    shared_key = draw.normal(3, 7, 11).expand(2, 3, 7, 11)
    shared_value = draw.normal(7, 13).expand(2, 3, 7, 13)
    mask = draw.transposed(draw.mask(5, 7)).expand(2, 3, 5, 7)
    return [
        call(ATTENTION, draw.noncontiguous(query), draw.transposed(key), draw.noncontiguous(value), mask=mask),
        call(ATTENTION, query.transpose(1, 2).contiguous().transpose(1, 2), shared_key, shared_value),
    ]


@case
def two_calls(draw):
    "keeps apart what two calls need for their gradients, which are taken after both"
    one = Call()
    for name in ("first", "second"):
        one.function(ATTENTION, *_tokens(draw, 2, 3), mask=draw.mask(5, 7)).observe(name)
    return one


@case
def lower_precision(draw):
    "gives results in float32 and bfloat16 for inputs of these dtypes, also where scores are ten thousand"
    mask = draw.mask(2, 1, 5, 7, hidden_rows=2)
    tokens = _tokens(draw, 2, 3)
    dtypes = (torch.float32, torch.bfloat16)
    calls = [call(ATTENTION, *tokens, mask=mask).in_dtype(dtype) for dtype in dtypes]
    return calls + [_loud_and_plain(draw).in_dtype(dtype) for dtype in dtypes]


def _loud_and_plain(draw):
    """Scores of -10,000 and 10,000, all but one of each query's masked: no rounding changes this weight, which is 1.

    Then ordinary scores, with a given scale and no mask.
    """
    query = 100.0 * torch.tensor([[-1.0, -1.0], [1.0, 1.0]]).double()
    key, value, mask = torch.full((4, 2), 50.0).double(), draw.uniform(0.5, 1.5, 4, 3), draw.permutation(4) == 0
    one = Call()
    one.function(ATTENTION, query, key, value, mask, 1.0).observe("large scores")
    one.function(ATTENTION, *_tokens(draw, 2, 3), scale=0.2).observe("a given scale, no mask")
    return one


def _tokens(draw, *leading):
    """Query (..., 5, 11), key (..., 7, 11), value (..., 7, 13); scores of size one, far from a saturated softmax."""
    return draw.normal(*leading, 5, 11), draw.normal(*leading, 7, 11), draw.normal(*leading, 7, 13)


def _exact_tokens(draw):
    """Query (5, 16), key (7, 16), value (7, 3) in multiples of 1/8: even huge scores among them are exact in float32.

    So a program that computes in float32 inside has no excuse and no disadvantage.
    """
    return tuple(torch.round(8 * draw.normal(tokens, width)) / 8 for tokens, width in ((5, 16), (7, 16), (7, 3)))


def _with_first(tokens, feature):
    """The tokens with another first feature, which makes their scores huge; the other features make them differ."""
    changed = tokens.clone()
    changed[:, 0] = feature
    return changed


def _signs(draw):
    """Signs for five queries, both among them."""
    return torch.tensor([1.0, -1.0, 1.0, -1.0, -1.0], dtype=torch.float64)[draw.permutation(5)]
