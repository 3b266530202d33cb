"""Cases of grouped-query-attention: groupings that tell apart every way to share a head, and every kind of mask."""

import torch

from judge.authoring import Call, call, case, masked_situations

ATTENTION = "grouped_query_attention"


@case
def grouped_heads(draw):
    "lets neighbouring query heads share a key and value head"
    return [
        call(ATTENTION, draw.normal(2, 5, 24), 6, 3, **_weights(draw, 24, 6, 3)),
        call(ATTENTION, draw.normal(2, 5, 24), 6, 2, **_weights(draw, 24, 6, 2)),
        call(ATTENTION, draw.normal(1, 133, 24), 6, 2, **_weights(draw, 24, 6, 2)),
        call(ATTENTION, draw.normal(9, 3, 32), 16, 4, **_weights(draw, 32, 16, 4)),
        call(ATTENTION, draw.normal(2, 5, 32), 16, 2, **_weights(draw, 32, 16, 2)),
    ]


@case
def one_key_and_value_head(draw):
    "shares a single key and value head among all query heads"
    return call(ATTENTION, draw.normal(2, 5, 24), 6, 1, **_weights(draw, 24, 6, 1))


@case
def as_many_as_query_heads(draw):
    "is multi-head attention when each query head has its own key and value head"
    return call(ATTENTION, draw.normal(2, 5, 24), 6, 6, **_weights(draw, 24, 6, 6))


@case
def sizes_of_one(draw):
    "works for a batch of one, a single token and heads of one feature"
    return [
        call(ATTENTION, draw.normal(1, 5, 24), 4, 2, **_weights(draw, 24, 4, 2)),
        call(ATTENTION, draw.normal(2, 5, 6), 1, 1, **_weights(draw, 6, 1, 1)),
        call(ATTENTION, draw.normal(2, 1, 6), 6, 3, **_weights(draw, 6, 6, 3)),
    ]


@case
def equal_sizes(draw):
    "is right where batch, tokens and heads are equally many"
    return [
        call(ATTENTION, draw.normal(4, 4, 16), 4, 2, **_weights(draw, 16, 4, 2), mask=draw.mask(4, 4)),
        call(ATTENTION, draw.normal(2, 2, 16), 4, 2, **_weights(draw, 16, 4, 2)),
    ]


@case
def padding_mask(draw):
    "hides the padding of each sequence in all of its heads"
    visible = torch.arange(5) < torch.tensor([[2], [4], [5], [1]])
    return call(ATTENTION, draw.normal(4, 5, 24), 6, 3, **_weights(draw, 24, 6, 3), mask=visible[:, None, None, :])


@case
def mask_shapes(draw):
    "accepts masks of two axes and of four, with one for each query head too"
    x, weights = draw.normal(2, 5, 24), _weights(draw, 24, 6, 3)
    shapes = ((5, 5), (1, 5), (2, 1, 5, 5), (1, 1, 5, 5), (2, 6, 5, 5), (1, 6, 1, 5))
    masks = [draw.mask(*shape) for shape in shapes] + [torch.ones(2, 1, 5, 5).bool()]
    return [call(ATTENTION, x, 6, 3, **weights, mask=mask) for mask in masks]


@case
def masks_of_every_form(draw):
    "reads every form of mask at every size, one head and one token too, whatever was called before"
    return [in_every_situation(draw, heads, shared) for heads, shared in ((1, 1), (6, 3))]


@case
def every_grouping(draw):
    "shares the heads evenly whatever their numbers are"
    one = Call()
    for heads in (1, 2, 3, 4, 6, 8, 9, 12, 32):
        x = draw.normal(2, 3, 2 * heads)
        for shared in (number for number in range(1, heads + 1) if heads % number == 0):
            given = one.function(ATTENTION, x, heads, shared, **_weights(draw, 2 * heads, heads, shared))
            given.observe(f"{heads} heads on {shared}")
    for heads, shared in ((22, 22), (46, 23)):  # where h / heads * shared rounds to below a whole number
        given = one.function(ATTENTION, draw.normal(1, 3, heads), heads, shared, **_weights(draw, heads, heads, shared))
        given.observe(f"{heads} heads on {shared}")
    return one.values_only()


def in_every_situation(draw, heads, shared):
    """Calls with each form of mask and at each size, without gradients."""
    one, weights = Call(), _weights(draw, 24, heads, shared)
    for name, batch, seq_len, _, mask in masked_situations(draw, heads):
        one.function(ATTENTION, draw.normal(batch, seq_len, 24), heads, shared, **weights, mask=mask).observe(name)
    x = draw.normal(2, 5, 24)
    for name, tokens in {"zeros": 0 * x, "tokens that are all alike": x[:, :1].expand(x.shape)}.items():
        one.function(ATTENTION, tokens, heads, shared, **weights, mask=draw.mask(5, 5)).observe(name)
    causal = torch.ones(260, 260).bool().tril()
    one.function(ATTENTION, draw.normal(1, 260, 24), heads, shared, **weights, mask=causal).observe("260 tokens")
    return one.values_only().under_no_grad()


@case
def fully_masked_rows(draw):
    "gives zeros and finite gradients to queries that see no key"
    x, weights = draw.normal(2, 5, 24), _weights(draw, 24, 6, 3)
    padding = torch.arange(5) < torch.tensor([[0], [3]])
    all_or_nothing = draw.permutation(5)[:, None] < 3  # (5, 1)
    one_of_two = torch.tensor([True, False]).reshape(2, 1, 1, 1)  # a single token, visible or not
    return [
        call(ATTENTION, x, 6, 3, **weights, mask=draw.mask(2, 6, 5, 5, hidden_rows=15)),
        call(ATTENTION, x, 6, 3, **weights, mask=padding[:, None, None, :]),
        call(ATTENTION, x, 6, 3, **weights, mask=all_or_nothing),
        call(ATTENTION, x, 6, 1, **_weights(draw, 24, 6, 1), mask=draw.mask(5, 5, hidden_rows=2)),
        call(ATTENTION, x, 6, 3, **weights, mask=torch.zeros(1, 1, 1, 1).bool()),
        call(ATTENTION, draw.normal(2, 1, 24), 6, 3, **weights, mask=one_of_two),
    ]


@case
def huge_padding(draw):
    "is untouched by padding of 1e30 that nobody looks at and that looks at nobody"
    x = draw.normal(2, 5, 24)
    token = torch.arange(5) < torch.tensor([[2], [4]])
    x = torch.where(token.unsqueeze(-1), x, 1e30 * torch.sign(x))
    mask = token[:, None, None, :] & token[:, None, :, None]
    return call(ATTENTION, x, 6, 3, **_weights(draw, 24, 6, 3), mask=mask)


@case
def low_scores(draw):
    "hides masked keys also where the visible ones have scores far below zero"
    # The first feature of each head is the same in all tokens and makes every score about -512. All is in multiples
    # of 1/4, so that these scores are exact in float32.
    x = torch.round(4 * draw.normal(2, 5, 24)) / 4
    x[..., 0] = 1.0
    weights = {name: torch.round(4 * weight) / 4 for name, weight in _weights(draw, 24, 6, 3).items()}
    for name, first in (("weight_q", 32.0), ("weight_k", -32.0)):
        weights[name][::4] = 0.0
        weights[name][::4, 0] = first
    mask = draw.mask(2, 1, 5, 5, hidden_rows=1)
    return call(ATTENTION, x, 6, 3, **weights, mask=mask).values_only()


@case
def any_memory_layout(draw):
    "takes transposed, strided and expanded tokens and weights"
    weights = _weights(draw, 24, 6, 3)
    strided = {name: draw.noncontiguous(weight) for name, weight in weights.items()}
    turned = {name: draw.transposed(weight) for name, weight in weights.items()}
    return [
        call(ATTENTION, draw.transposed(draw.normal(2, 5, 24)), 6, 3, **strided),
        call(ATTENTION, draw.expanded(draw.normal(5, 24), 2), 6, 3, **turned),
    ]


@case
def two_calls(draw):
    "keeps apart what two calls need for their gradients, which are taken after both"
    one = Call()
    for name in ("first", "second"):
        arguments = {**_weights(draw, 24, 6, 3), "mask": draw.mask(5, 5)}
        one.function(ATTENTION, draw.normal(2, 5, 24), 6, 3, **arguments).observe(name)
    return one


@case
def lower_precision(draw):
    "gives results in float32 and bfloat16 for inputs of these dtypes"
    x, weights, mask = draw.normal(2, 5, 24), _weights(draw, 24, 6, 3), draw.mask(2, 1, 5, 5, hidden_rows=2)
    dtypes = (torch.float32, torch.bfloat16)
    return [call(ATTENTION, x, 6, 3, **weights, mask=mask).in_dtype(dtype) for dtype in dtypes]


@case
def arguments_by_position_and_name(draw):
    "takes its arguments by position or by name, in any order"
    x, weights, mask = draw.normal(2, 5, 24), _weights(draw, 24, 6, 3), draw.mask(5, 5)
    return [
        call(ATTENTION, x, 6, 3, *weights.values(), mask),
        call(ATTENTION, mask=mask, **weights, num_kv_heads=3, num_heads=6, x=x),
    ]


@case
def uneven_groups(draw):
    "refuses query heads that the key and value heads can't share evenly with a ValueError"
    x = draw.normal(2, 5, 24)
    return [
        call(ATTENTION, x, 6, 4, **_weights(draw, 24, 6, 4)).raises(ValueError, naming=4),
        call(ATTENTION, x, 6, 5, **_weights(draw, 24, 6, 5)).raises(ValueError, naming=5),
        call(ATTENTION, x, 3, 6, **_weights(draw, 24, 3, 6)).raises(ValueError, naming=6),
    ]


@case
def undivided_width(draw):
    "refuses a width that the query heads can't share evenly with a ValueError"
    return [
        call(ATTENTION, draw.normal(2, 5, 20), 6, 3, **_weights(draw, 20, 6, 3)).raises(ValueError, naming=20),
        call(ATTENTION, draw.normal(2, 5, 20), 6, 2, **_weights(draw, 20, 6, 2)).raises(ValueError, naming=20),
    ]


def _weights(draw, d_model, num_heads, num_kv_heads):
    """The four weights in the order of the signature; scores of size one, far from a saturated softmax."""
    shared = num_kv_heads * (d_model // num_heads)
    return {
        "weight_q": draw.weight(d_model, d_model),
        "weight_k": draw.weight(shared, d_model),
        "weight_v": draw.weight(shared, d_model),
        "weight_o": draw.weight(d_model, d_model),
    }
