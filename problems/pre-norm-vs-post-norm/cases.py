"""The cases of pre-norm against post-norm: both blocks, and both stacks that repeat one block.

The post-norm block's attention reads the stream itself, so its streams are drawn with a smaller spread: scores in the
tens would make every softmax one-hot and hide a wrong scale.
"""

import torch

from judge.authoring import Call, call, case, masked_situations, relation, same, stream

PRE_BLOCK = "pre_norm_transformer_block_forward"
POST_BLOCK = "post_norm_transformer_block_forward"
PRE_STACK = "stack_pre_norm_blocks"
POST_STACK = "stack_post_norm_blocks"
BLOCKS = (PRE_BLOCK, POST_BLOCK)

HEADS, D_MODEL, D_FF = 3, 12, 20


@case
def pre_norm_block(draw):
    """computes the pre-norm block, with an exact GELU where preactivations are negative too"""
    ordinary = call(PRE_BLOCK, draw.stream(2, 5, D_MODEL), HEADS, *parameters(draw).values())
    params = parameters(draw)
    params.update(ffn_weight1=0.3 * params["ffn_weight1"], ffn_bias1=params["ffn_bias1"] - 2)
    large = parameters(draw)
    large["ffn_weight1"] = 100 * large["ffn_weight1"]  # preactivations of some hundreds
    return [ordinary, *(call(PRE_BLOCK, draw.stream(2, 5, D_MODEL), HEADS, **given) for given in (params, large))]


@case
def post_norm_block(draw):
    """computes the post-norm block, on a stream with large entries too"""
    ordinary = call(POST_BLOCK, mild_stream(draw), HEADS, *parameters(draw).values())
    peaks = 60 * torch.eye(4, dtype=torch.float64).repeat(1, HEADS)  # (4, D_MODEL): scores of 1800, each token's own
    opposite = peaks.clone()
    opposite[1] = -opposite[0]  # tokens 0 and 1 see only each other, with a score of -1800
    only_each_other = torch.tensor([[0, 1, 0, 0], [1, 0, 0, 0], [1, 1, 1, 1], [1, 1, 0, 1]]).bool()
    return [
        ordinary,
        call(POST_BLOCK, draw.normal(2, 4, D_MODEL) + peaks, HEADS, **parameters(draw)),
        call(POST_BLOCK, draw.normal(2, 4, D_MODEL) + opposite, HEADS, **parameters(draw), mask=only_each_other),
    ]


@case
def masks(draw):
    """lets a query see exactly the keys that its mask allows"""
    shapes = [(5, 5), (2, 1, 1, 5), (2, 3, 5, 5)]
    drawn = [draw.mask(*shape) for shape in shapes]
    calls = []
    for mask in (*drawn, torch.ones(5, 5, dtype=torch.bool)):
        options = {**parameters(draw), "mask": mask}
        calls.append(call(PRE_BLOCK, draw.stream(2, 5, D_MODEL), HEADS, **options))
        calls.append(call(POST_BLOCK, mild_stream(draw), HEADS, **options))
    return calls


@case
def masks_of_every_form(draw):
    """reads every form of mask at every size, one head and one token too, whatever was called before"""
    return [
        in_every_situation(draw, block, heads) for block, heads in ((PRE_BLOCK, 1), (PRE_BLOCK, 3), (POST_BLOCK, 3))
    ] + [stacks_of_every_size(draw)]


def stacks_of_every_size(draw):
    """Calls of both stacks at each size, without gradients."""
    one, params = Call(), parameters(draw)
    for stack in (PRE_STACK, POST_STACK):
        for shape in ((1, 5), (3, 1), (1, 1), (3, 3), (2, D_MODEL), (1, 40)):
            one.function(stack, mild_stream(draw, *shape, D_MODEL), HEADS, params, 2).observe(f"{stack} of {shape}")
        x, in_order = mild_stream(draw), dict(sorted(params.items()))
        one.function(stack, x, HEADS, in_order, 2).observe(f"{stack}, its block_params in alphabetical order")
    return one.values_only().under_no_grad()


def in_every_situation(draw, block, heads):
    """Calls with each form of mask and at each size, without gradients."""
    one, params = Call(), parameters(draw)
    for name, batch, seq_len, _, mask in masked_situations(draw, heads):
        x = draw.stream(batch, seq_len, D_MODEL) if block == PRE_BLOCK else mild_stream(draw, batch, seq_len, D_MODEL)
        one.function(block, x, heads, **params, mask=mask).observe(name)
    one.function(block, torch.zeros(2, 5, D_MODEL).double(), heads, **params).observe("zeros")
    if block == PRE_BLOCK:  # the post-norm block's attention reads the stream itself, and would saturate
        one.function(block, 1e6 * draw.stream(2, 5, D_MODEL), heads, **params).observe("entries of millions")
    else:
        loud = params | {"ffn_weight1": 100 * params["ffn_weight1"]}
        one.function(block, mild_stream(draw), heads, **loud).observe("preactivations of some hundreds")
    if heads == 1:
        one.function(block, draw.stream(1, 520, D_MODEL), heads, **params).observe("1 x 520 tokens")
    return one.values_only().under_no_grad()


@case
def fully_masked_rows(draw):
    """gives zero attention where nothing may be seen, with finite gradients"""
    hidden = [
        draw.mask(5, 5, hidden_rows=2),
        draw.mask(2, 1, 5, 1, hidden_rows=4),
        torch.zeros(1, 1, dtype=torch.bool),
    ]
    calls = []
    for mask in hidden:
        calls.append(call(PRE_BLOCK, draw.stream(2, 5, D_MODEL), HEADS, **parameters(draw), mask=mask))
        calls.append(call(POST_BLOCK, mild_stream(draw), HEADS, **parameters(draw), mask=mask))
    return calls


@case
def custom_eps(draw):
    """uses the given eps in both norms"""
    return [
        call(PRE_BLOCK, draw.stream(2, 5, D_MODEL), HEADS, *parameters(draw).values(), None, 0.37),
        call(POST_BLOCK, mild_stream(draw), HEADS, **parameters(draw), eps=2.5),
        *(call(block, 1e-3 * draw.stream(2, 5, D_MODEL), HEADS, **parameters(draw), eps=1e-9) for block in BLOCKS),
    ]


@case
def tiny_inputs(draw):
    """is right where what a norm gets varies as little as eps"""
    tiny = 1e-3
    for_pre = parameters(draw)
    for_pre.update(weight_o=tiny * for_pre["weight_o"], bias_o=tiny * for_pre["bias_o"])
    for_post = parameters(draw)
    for name in ("bias_o", "gamma1", "beta1", "ffn_weight2", "ffn_bias2"):
        for_post[name] = tiny * for_post[name]
    return [
        call(PRE_BLOCK, tiny * draw.stream(2, 5, D_MODEL), HEADS, **for_pre),
        call(POST_BLOCK, tiny * draw.stream(2, 5, D_MODEL), HEADS, **for_post),
    ]


@case
def coinciding_sizes(draw):
    """is right where sizes are equal, or one"""
    causal = torch.ones(3, 3, dtype=torch.bool).tril()
    calls = []
    for block in (PRE_BLOCK, POST_BLOCK):
        x = mild_stream(draw, 3, 3, 9)
        calls.append(call(block, x, 3, **parameters(draw, 9, 9), mask=causal))
        calls.append(call(block, x, 3, **parameters(draw, 9, 9), mask=draw.mask(3, 1, 1, 3)))
        calls.append(call(block, mild_stream(draw, 1, 1, 8), 1, **parameters(draw, 8, 6)))
        calls.append(call(block, mild_stream(draw, 2, 3, 7), 7, **parameters(draw, 7, 5)))
        # One feature: what a norm gives is its beta.
        calls.append(call(block, mild_stream(draw, 2, 3, 1), 1, **parameters(draw, 1, 3)))
    return calls


@case
def strided_inputs(draw):
    """takes tensors that are not contiguous, are expanded, or are passed twice"""
    calls = []
    for block in (PRE_BLOCK, POST_BLOCK):
        params = parameters(draw)
        params.update(gamma2=params["gamma1"], beta2=params["beta1"])
        for name in ("weight_o", "ffn_weight1", "ffn_weight2"):
            params[name] = draw.transposed(params[name])
        calls.append(call(block, draw.transposed(mild_stream(draw)), HEADS, **params))
        calls.append(call(block, draw.noncontiguous(mild_stream(draw)), HEADS, **params))
        calls.append(call(block, draw.expanded(mild_stream(draw, 5, D_MODEL), 2), HEADS, **params))
    for stack in (PRE_STACK, POST_STACK):
        calls.append(call(stack, draw.transposed(mild_stream(draw)), HEADS, params, 2))
    return calls


@case(after="pre_norm_block")
def pre_norm_stack(draw):
    """stacks pre-norm blocks, 1 to 9 deep"""
    return [call(PRE_STACK, draw.stream(2, 5, D_MODEL), HEADS, parameters(draw), depth) for depth in (1, 2, 3, 9)]


@case(after="post_norm_block")
def post_norm_stack(draw):
    """stacks post-norm blocks, 1 to 9 deep"""
    return [call(POST_STACK, mild_stream(draw), HEADS, parameters(draw), depth) for depth in (1, 2, 3, 9)]


@case(after=("masks", "custom_eps"))
def mask_and_eps_in_a_stack(draw):
    """hands the mask and eps in block_params to every block"""
    calls = []
    for stack, x in ((PRE_STACK, draw.stream(2, 5, D_MODEL)), (POST_STACK, mild_stream(draw))):
        calls.append(call(stack, x, HEADS, {**parameters(draw), "mask": draw.mask(2, 1, 1, 5), "eps": 0.37}, 2))
        calls.append(call(stack, x, HEADS, {**parameters(draw), "mask": draw.mask(5, 5, hidden_rows=1)}, 3))
        calls.append(call(stack, x, HEADS, {"mask": None, "eps": 0.37, **parameters(draw)}, num_blocks=3))
    return calls


@case
def no_blocks(draw):
    """gives the stream as it came in where there are 0 blocks"""
    return [call(stack, draw.stream(2, 5, D_MODEL), HEADS, parameters(draw), 0) for stack in (PRE_STACK, POST_STACK)]


@case
def negative_depth(draw):
    """refuses a negative number of blocks with a ValueError"""
    x = draw.stream(2, 5, D_MODEL)
    return [
        call(stack, x, HEADS, parameters(draw), depth).raises(ValueError, naming=depth)
        for stack in (PRE_STACK, POST_STACK)
        for depth in (-1, -2)
    ]


@case
def indivisible_width(draw):
    """refuses a width that the heads do not divide with a ValueError"""
    x = draw.stream(2, 4, D_MODEL)
    calls = []
    for heads in (5, 8, 24):
        blocks = [call(block, x, heads, **parameters(draw)) for block in (PRE_BLOCK, POST_BLOCK)]
        stacks = [call(stack, x, heads, parameters(draw), 2) for stack in (PRE_STACK, POST_STACK)]
        calls += [one.raises(ValueError, naming=heads) for one in (*blocks, *stacks)]
    return calls


@case
def narrow_dtypes(draw):
    """keeps float32 and bfloat16 as they are"""
    calls = []
    for dtype in (torch.float32, torch.bfloat16):
        x = draw.normal(2, 5, D_MODEL)
        params = {name: 0.6 * value for name, value in parameters(draw).items()}
        for block in (PRE_BLOCK, POST_BLOCK):
            calls.append(call(block, x, HEADS, **params, mask=draw.mask(5, 5)).in_dtype(dtype))
        for stack in (PRE_STACK, POST_STACK):
            calls.append(call(stack, x, HEADS, params, 2).in_dtype(dtype))
            calls.append(call(stack, x, HEADS, {**params, "mask": draw.mask(5, 5), "eps": 0.37}, 2).in_dtype(dtype))
    far = 1e3 + draw.normal(2, 5, D_MODEL)  # the mean is a thousand times the spread
    calls.append(
        call(POST_BLOCK, far, HEADS, **parameters(draw), mask=torch.zeros(1, 1).bool()).in_dtype(torch.float32)
    )
    loud = parameters(draw)
    loud.update(weight_o=1e3 * loud["weight_o"], ffn_weight2=1e3 * loud["ffn_weight2"])
    calls.append(call(PRE_BLOCK, far, HEADS, **loud, mask=draw.mask(5, 5)).in_dtype(torch.float32))
    return calls


@relation
def a_stack_repeats_the_block(draw):
    """gives for a stack what its own block gives, called in a row"""
    calls = []
    for block, stack in ((PRE_BLOCK, PRE_STACK), (POST_BLOCK, POST_STACK)):
        x, params = mild_stream(draw), parameters(draw)
        one = Call()
        once = one.function(block, x, HEADS, **params).observe("one block")
        one.function(block, once, HEADS, **params).observe("two blocks")
        one.function(stack, x, HEADS, params, 1).observe("a stack of one")
        one.function(stack, x, HEADS, params, 2).observe("a stack of two")
        calls.append(one)

    def check(observations):
        for name, observed in zip((PRE_STACK, POST_STACK), observations, strict=True):
            if not same(observed["a stack of one"], observed["one block"]):
                return f"{name} with num_blocks=1 differs from one call of the block"
            if not same(observed["a stack of two"], observed["two blocks"]):
                return f"{name} with num_blocks=2 differs from the block called on its own output"
        return None

    return calls, check


@stream
def stream_by_depth(draw, depth, inside):
    """shows the residual stream after each block of the two stacks"""
    x = draw.normal(2, 6, 16)
    params = parameters_with_plain_norms(draw, 16, 32)
    silent = params | {name: params[name] * 0 for name in ("ffn_weight2", "ffn_bias2")}
    streams = {}
    for label, stack in (("pre-norm", PRE_STACK), ("post-norm", POST_STACK)):
        deep = Call()
        after = deep.function(stack, x, 4, params, 0).observe("depth 0")
        for number in range(1, depth + 1):  # a block at a time: every depth for the price of the deepest
            before = after
            if inside:
                deep.function(stack, before, 4, silent, 1).observe(f"attention {number}")
            after = deep.function(stack, before, 4, params, 1).observe(f"depth {number}")
        streams[label] = deep
    return streams


def mild_stream(draw, *shape):
    """A stream with mean 1.5 and spread 1: not centred, and attention scores of a few units."""
    return draw.stream(*(shape or (2, 5, D_MODEL))) / 2


def parameters(draw, d_model=D_MODEL, d_ff=D_FF):
    """The block's arguments after num_heads, in their order."""
    return {
        "weight_o": draw.weight(d_model, d_model),
        "bias_o": draw.bias(d_model),
        "ffn_weight1": draw.weight(d_ff, d_model),
        "ffn_bias1": draw.bias(d_ff),
        "ffn_weight2": draw.weight(d_model, d_ff),
        "ffn_bias2": draw.bias(d_model),
        "gamma1": draw.gain(d_model),
        "beta1": draw.bias(d_model),
        "gamma2": draw.gain(d_model),
        "beta2": draw.bias(d_model),
    }


def parameters_with_plain_norms(draw, d_model, d_ff):
    """The same with gains 1 and betas 0: what a norm gives has a root mean square of 1."""
    plain = {"gamma": torch.ones(d_model, dtype=torch.float64), "beta": torch.zeros(d_model, dtype=torch.float64)}
    return {name: plain.get(name[:-1], value) for name, value in parameters(draw, d_model, d_ff).items()}
