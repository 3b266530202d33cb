"""Cases of multi-head-attention: self- and cross-attention, every bias, every kind of mask, all numbers of heads."""

import torch

from judge.authoring import Call, call, case, masked_situations

ATTENTION = "multi_head_attention"
BIASES = ("bias_q", "bias_k", "bias_v", "bias_o")


@case
def self_attention(draw):
    "is right when one tensor is query, key and value"
    weights = _weights(draw, 12, 12).values()
    return [call(ATTENTION, x, x, x, 3, *weights) for x in (draw.normal(2, 5, 12), draw.normal(1, 70, 12))]


@case
def cross_attention(draw):
    "takes queries, keys and values from three tensors, keys and values of another width"
    calls = []
    for d_key in (10, 20):
        query, key, value = draw.normal(2, 5, 12), draw.normal(2, 7, d_key), draw.normal(2, 7, d_key)
        calls.append(call(ATTENTION, query, key, value, 3, **_weights(draw, 12, d_key)))
    return calls


@case
def two_of_three_alike(draw):
    "is right when one tensor is two of query, key and value, and another is the third"
    x, other, weights = draw.normal(2, 5, 12), draw.normal(2, 5, 12), _weights(draw, 12, 12)
    return [call(ATTENTION, *tokens, 3, **weights) for tokens in ((x, x, other), (x, other, x))]


@case
def all_biases(draw):
    "adds each bias to the result of its own projection"
    x = draw.normal(2, 5, 12)
    return call(ATTENTION, x, x, x, 3, **_weights(draw, 12, 12), **_biases(draw, 12))


@case
def each_bias_alone(draw):
    "accepts any one or two of the biases without the others"
    tokens, weights = _tokens(draw), _weights(draw, 12, 10)
    given = [[name] for name in BIASES] + [["bias_q", "bias_v"], ["bias_k", "bias_o"]]
    return [call(ATTENTION, *tokens, 3, **weights, **{name: draw.bias(12) for name in names}) for names in given]


@case
def fresh_biases(draw):
    "adds biases that are still zero too: their gradients are not"
    zeros = {name: torch.zeros(12).double() for name in BIASES}
    return call(ATTENTION, *_tokens(draw), 3, **_weights(draw, 12, 10), **zeros)


@case
def padding_mask(draw):
    "hides the padding of each sequence in all of its heads"
    visible = torch.arange(7) < torch.tensor([[3], [6], [7], [1]])
    return call(ATTENTION, *_tokens(draw, batch=4), 3, **_weights(draw, 12, 10), mask=visible[:, None, None, :])


@case
def mask_shapes(draw):
    "accepts masks of two axes and of four, any of them of size 1"
    tokens, weights = _tokens(draw), _weights(draw, 12, 10)
    shapes = ((5, 7), (1, 7), (2, 1, 5, 7), (1, 1, 5, 7), (2, 3, 5, 7), (1, 3, 1, 7))
    masks = [draw.mask(*shape) for shape in shapes] + [torch.ones(2, 1, 5, 7).bool()]
    return [call(ATTENTION, *tokens, 3, **weights, mask=mask) for mask in masks]


@case
def masks_of_every_form(draw):
    "reads every form of mask at every size, one head and one token too, whatever was called before"
    return [in_every_situation(draw, heads) for heads in (1, 3)] + [of_any_values(draw)]


def in_every_situation(draw, heads):
    """Calls with each form of mask and at each size, without gradients."""
    one, weights = Call(), _weights(draw, 12, 10)
    for name, batch, q_len, k_len, mask in masked_situations(draw, heads, cross=True):
        one.function(ATTENTION, *_tokens(draw, batch, q_len, k_len), heads, **weights, mask=mask).observe(name)
    return one.values_only().under_no_grad()


def of_any_values(draw):
    """Calls on zeros, on tokens that are all alike, on many tokens, and of few features, without gradients."""
    one, weights, biases = Call(), _weights(draw, 12, 10), _biases(draw, 12)
    query, key, value = _tokens(draw)
    for name, tokens in {
        "queries of zeros": (0 * query, key, value),
        "keys and values of zeros": (query, 0 * key, 0 * value),
        "nothing but zeros": (0 * query, 0 * key, 0 * value),
        "tokens that are all alike": [token[:, :1].expand(token.shape) for token in (query, key, value)],
    }.items():
        one.function(ATTENTION, *tokens, 3, **weights, **biases).observe(name)
    causal = torch.ones(200, 200).bool().tril()
    one.function(ATTENTION, *_tokens(draw, 1, 200, 200), 3, **weights, mask=causal).observe("200 tokens")
    for number, d_head in ((1, 1), (2, 1), (1, 2), (32, 1)):
        x, small = draw.uniform(0.5, 1.5, 3, 6, number * d_head), _weights(draw, number * d_head, number * d_head)
        # One feature that is nearly 0 would be judged by its own size: these are sums of positive terms.
        small = {key: weight.abs() for key, weight in small.items()}
        one.function(ATTENTION, x, x, x, number, **small).observe(f"{number} x {d_head} features")
    return one.values_only().under_no_grad()


@case
def self_attention_with_masks(draw):
    "reads masks and single biases also when one tensor is query, key and value"
    one, x, weights = Call(), draw.normal(2, 5, 12), _weights(draw, 12, 12)
    padding = torch.arange(5) < torch.tensor([[3], [5]])
    given = {"mask": padding[:, None, None, :], "bias_v": draw.bias(12)}
    one.function(ATTENTION, x, x, x, 3, **weights, **given).observe("padding, and a bias of the values")
    given = {"mask": draw.mask(5, 5, hidden_rows=2), "bias_q": draw.bias(12)}
    one.function(ATTENTION, x, x, x, 3, **weights, **given).observe("two empty rows, and a bias of the queries")
    return one.values_only()


@case
def fully_masked_rows(draw):
    "leaves nothing but the output bias to queries that see no key"
    weights, biases = _weights(draw, 12, 10), _biases(draw, 12)
    padding = torch.arange(7) < torch.tensor([[0], [4]])
    all_or_nothing = draw.permutation(5)[:, None] < 3  # (5, 1)
    return [
        call(ATTENTION, *_tokens(draw), 3, **weights, **biases, mask=draw.mask(5, 7, hidden_rows=2)),
        call(ATTENTION, *_tokens(draw), 3, **weights, **biases, mask=padding[:, None, None, :]),
        call(ATTENTION, *_tokens(draw), 3, **weights, mask=draw.mask(2, 3, 5, 7, hidden_rows=8)),
        call(ATTENTION, *_tokens(draw), 3, **weights, mask=all_or_nothing),
        call(ATTENTION, *_tokens(draw), 1, **weights, mask=draw.mask(5, 7, hidden_rows=2)),
        call(ATTENTION, *_tokens(draw), 3, **weights, mask=torch.zeros(1, 1, 1, 1).bool()),
    ]


@case
def huge_masked_tokens(draw):
    "is untouched by tokens of 1e30 behind the mask"
    query, key, value = draw.normal(2, 5, 12), draw.normal(2, 7, 10), draw.normal(2, 7, 10)
    visible = torch.arange(7) < torch.tensor([[4], [6]])
    behind = ~visible[:, :, None]  # (2, 7, 1)
    key = torch.where(behind, 1e30 * torch.sign(key), key)
    value = torch.where(behind, 1e30 * torch.sign(value), value)
    return call(ATTENTION, query, key, value, 3, **_weights(draw, 12, 10), mask=visible[:, None, None, :])


@case
def low_scores(draw):
    "hides masked keys also where the visible ones have scores far below zero"
    # The first feature of each head is the same in all tokens and makes every score about -512. All is in multiples
    # of 1/4, so that these scores are exact in float32.
    query, context = (torch.round(4 * draw.normal(2, *shape)) / 4 for shape in ((5, 12), (7, 10)))
    query[..., 0] = context[..., 0] = 1.0
    weights = {name: torch.round(4 * weight) / 4 for name, weight in _weights(draw, 12, 10).items()}
    for name, first in (("weight_q", 32.0), ("weight_k", -32.0)):
        weights[name][::4] = 0.0
        weights[name][::4, 0] = first
    mask = draw.mask(2, 1, 5, 7, hidden_rows=1)
    return call(ATTENTION, query, context, context, 3, **weights, mask=mask).values_only()


@case
def numbers_of_heads(draw):
    "works for one head, for heads of one feature, and for single tokens"
    weights = _weights(draw, 12, 10)
    return [
        call(ATTENTION, *_tokens(draw), 1, **weights),
        call(ATTENTION, *_tokens(draw), 12, **weights),
        call(ATTENTION, *_tokens(draw, batch=1), 4, **weights),
        call(ATTENTION, *_tokens(draw, batch=9), 4, **weights, mask=draw.mask(1, 1, 5, 7)),
        call(ATTENTION, *_tokens(draw, q_len=1, k_len=1), 2, **weights),
        call(ATTENTION, *_tokens(draw, q_len=1, k_len=1), 2, **weights, mask=_one_of_two()),
    ]


@case
def equal_sizes(draw):
    "is right where batch, heads, queries and keys have one size"
    x, context = draw.normal(4, 4, 8), draw.normal(4, 4, 8)
    weights = _weights(draw, 8, 8)
    return [
        call(ATTENTION, x, context, context, 4, **weights, mask=draw.mask(4, 4)),
        call(ATTENTION, x, context, context, 4, **weights, mask=draw.mask(4, 1, 1, 4)),
        call(ATTENTION, x, context, context, 4, **weights, mask=draw.permutation(4)[None, None, :, None] < 2),
    ]


@case
def any_memory_layout(draw):
    "takes transposed, strided and expanded tokens, weights and masks"
    query, key, value = draw.normal(2, 5, 12), draw.normal(2, 7, 10), draw.normal(2, 7, 10)
    weights = _weights(draw, 12, 10)
    strided = {name: draw.noncontiguous(weight) for name, weight in weights.items()}
    turned = {name: draw.transposed(weight) for name, weight in weights.items()}
    mask = draw.transposed(draw.mask(5, 7)).expand(2, 3, 5, 7)
    shared = draw.expanded(draw.normal(7, 10), 2)
    strided |= {name: draw.noncontiguous(bias) for name, bias in _biases(draw, 12).items()}
    return [
        call(ATTENTION, draw.transposed(query), draw.transposed(key), draw.noncontiguous(value), 3, **strided),
        call(ATTENTION, draw.noncontiguous(query), shared, shared, 3, **turned, mask=mask),
    ]


@case
def two_calls(draw):
    "keeps apart what two calls need for their gradients, which are taken after both"
    one = Call()
    for name in ("first", "second"):
        arguments = {**_weights(draw, 12, 10), **_biases(draw, 12), "mask": draw.mask(5, 7)}
        one.function(ATTENTION, *_tokens(draw), 3, **arguments).observe(name)
    return one


@case
def lower_precision(draw):
    "gives results in float32 and bfloat16 for inputs of these dtypes"
    tokens, weights, biases = _tokens(draw), _weights(draw, 12, 10), _biases(draw, 12)
    mask = draw.mask(2, 1, 5, 7, hidden_rows=2)
    dtypes = (torch.float32, torch.bfloat16)
    calls = [call(ATTENTION, *tokens, 3, **weights, **biases, mask=mask).in_dtype(dtype) for dtype in dtypes]
    return [*calls, call(ATTENTION, *tokens, 3, **weights).in_dtype(torch.bfloat16)]


@case
def arguments_by_position_and_name(draw):
    "takes its arguments by position or by name, in any order"
    query, key, value = draw.normal(2, 5, 12), draw.normal(2, 7, 12), draw.normal(2, 7, 12)
    weights, biases, mask = _weights(draw, 12, 12), _biases(draw, 12), draw.mask(5, 7)
    named = {"mask": mask, **biases, **weights, "num_heads": 3, "value": value, "query": query, "key": key}
    return [
        call(ATTENTION, query, key, value, 3, *weights.values(), *biases.values(), mask),
        call(ATTENTION, **named),
    ]


@case
def undivided_width(draw):
    "refuses a d_model that the heads can't share evenly with a ValueError"
    query = draw.normal(2, 5, 10)
    return [
        call(ATTENTION, query, query, query, 3, **_weights(draw, 10, 10)).raises(ValueError, naming=10),
        call(ATTENTION, query, *_tokens(draw, d_key=12)[1:], 4, **_weights(draw, 10, 12), mask=draw.mask(5, 7)).raises(
            ValueError, naming=4
        ),
        call(ATTENTION, query, *_tokens(draw, d_key=20)[1:], 20, **_weights(draw, 10, 20)).raises(
            ValueError, naming=20
        ),
    ]


def _tokens(draw, batch=2, q_len=5, k_len=7, d_key=10):
    """Query (batch, q_len, 12), and a context (batch, k_len, d_key) twice: as key and as value."""
    context = draw.normal(batch, k_len, d_key)
    return draw.normal(batch, q_len, 12), context, context


def _weights(draw, d_model, d_key):
    """The four weights in the order of the signature; scores of size one, far from a saturated softmax."""
    return {
        "weight_q": draw.weight(d_model, d_model),
        "weight_k": draw.weight(d_model, d_key),
        "weight_v": draw.weight(d_model, d_key),
        "weight_o": draw.weight(d_model, d_model),
    }


def _one_of_two():
    """A mask of two sequences of one token, the second of which is hidden."""
    return torch.tensor([True, False]).reshape(2, 1, 1, 1)


def _biases(draw, d_model):
    return {name: draw.bias(d_model) for name in BIASES}
