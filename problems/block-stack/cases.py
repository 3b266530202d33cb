"""Cases of the stack: how blocks are chained in both orders, what the stream holds, masks, depths, several stacks."""

import torch

from judge.authoring import Call, case, masked_situations, module_call, plain_norms, relation, stream

D_MODEL, NUM_HEADS, D_FF = 12, 3, 20
WIDTHS = {"d_model": D_MODEL, "num_heads": NUM_HEADS, "d_ff": D_FF}
PRE = {"num_blocks": 2, **WIDTHS}  # norm_first left out: it is the default
POST = {"num_blocks": 2, **WIDTHS, "norm_first": False}


def stack_state(draw, num_blocks, final_norm, d_model=D_MODEL, d_ff=D_FF):
    """A checkpoint with random gains, biases and weights, other ones for each block."""
    state = draw.norm("norm", d_model) if final_norm else {}
    for index in range(num_blocks):
        block = f"blocks.{index}"
        state |= {**draw.norm(f"{block}.norm1", d_model), **draw.norm(f"{block}.norm2", d_model)}
        for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
            state |= draw.linear(f"{block}.attention.{name}", d_model, d_model)
        state |= draw.linear(f"{block}.mlp.fc1", d_ff, d_model)
        state |= draw.linear(f"{block}.mlp.fc2", d_model, d_ff)
    return state


def without_feed_forward(state, index):
    """One block's part as a stack's checkpoint, with a feed-forward that gives zero."""
    mine = {
        key.replace(f"blocks.{index}.", "blocks.0."): tensor
        for key, tensor in state.items()
        if f"blocks.{index}." in key
    }
    silent = {key: tensor * 0 for key, tensor in mine.items() if ".fc2." in key}
    return {key: tensor for key, tensor in state.items() if key.startswith("norm.")} | mine | silent


def state_for(draw, config):
    return stack_state(draw, config["num_blocks"], config.get("norm_first", True), config["d_model"], config["d_ff"])


def stream_for(draw, config, batch=2, seq_len=5):
    """A stream that is not centred. Wide before pre-norm blocks, so that eps doesn't show (tiny_values alone is about
    that); mild before post-norm ones, whose first attention reads it raw.
    """
    shape = (batch, seq_len, config["d_model"])
    return 8 * draw.normal(*shape) + 4 if config.get("norm_first", True) else draw.stream(*shape) / 2


def applied(draw, config, x, *args, **kwargs):
    return module_call("BlockStack", config, state_for(draw, config), x, *args, **kwargs)


@case
def pre_norm_stack(draw):
    "chains pre-norm blocks and normalizes what the last one gives"
    config = {"num_blocks": 3, **WIDTHS}
    return applied(draw, config, stream_for(draw, config))


@case
def post_norm_stack(draw):
    "chains post-norm blocks, with no norm of its own at the end"
    config = {"num_blocks": 3, **WIDTHS, "norm_first": False}
    return applied(draw, config, stream_for(draw, config))


@case
def stream_of_the_stack(draw):
    "returns the stream before the first block and after each, before the final norm and in the graph"
    return [
        applied(draw, PRE, stream_for(draw, PRE), return_stream=True),
        applied(draw, POST, stream_for(draw, POST), draw.mask(5, 5), return_stream=True),
    ]


@case
def mask_for_every_block(draw):
    "gives every block the mask, of whatever form, in both orders"
    shapes = {
        (5, 5): POST,
        (2, 1, 1, 5): PRE,
        (1, NUM_HEADS, 5, 5): POST,
        (2, 1, 5, 5): PRE,
        (2, NUM_HEADS, 5, 5): PRE,
    }
    return [applied(draw, config, stream_for(draw, config), mask=draw.mask(*shape)) for shape, config in shapes.items()]


@case
def query_that_sees_nothing(draw):
    "gives a query that may attend to nothing a zero attention output in each block, with finite gradients"
    masks = (
        (PRE, draw.mask(5, 5, hidden_rows=2)),
        (POST, draw.mask(2, 1, 5, 1, hidden_rows=4)),
        (PRE, torch.ones(5, 5, dtype=torch.bool).tril(-1)),
        (POST, draw.mask(2, 1, 1, 5, hidden_rows=1)),
    )
    return [applied(draw, config, stream_for(draw, config), mask=mask) for config, mask in masks]


@case
def other_depths(draw):
    "works with no block at all, with one, and with many"
    few = (0, True, True), (0, False, True), (0, False, False), (1, True, False), (1, False, False)
    many = (11, True, True), (4, False, True), (17, True, True)
    calls = []
    for depth, first, shown in few + many:
        config = {"num_blocks": depth, **WIDTHS, "norm_first": first}
        calls.append(applied(draw, config, stream_for(draw, config), return_stream=shown))
    return [*calls[:-1], calls[-1].values_only()]


@case
def sizes_that_coincide(draw):
    "tells its axes apart where depth, batch, heads and sequence length are equal"
    config = {**PRE, "num_blocks": 3}
    causal = torch.ones(3, 3, dtype=torch.bool).tril()  # no two rows are equal, as they can be in a drawn mask
    calls = [applied(draw, config, stream_for(draw, config, 3, 3), mask=causal)]
    for shape in ((3, 1, 1, 3), (1, 3, 3, 3)):
        calls.append(applied(draw, POST, stream_for(draw, POST, 3, 3), mask=draw.mask(*shape)))
    square = {**PRE, "d_model": 6, "d_ff": 6}
    return [*calls, applied(draw, square, stream_for(draw, square, 2, 6), draw.mask(6, 6))]


@case
def smallest_sizes(draw):
    "works with one head, with heads of width one, and for one sequence of one token"
    sizes = (1, 2, 5, POST), (D_MODEL, 1, 4, PRE), (NUM_HEADS, 1, 1, POST), (NUM_HEADS, 3, 1, PRE)
    calls = []
    for heads, batch, seq_len, config in sizes:
        config = {**config, "num_heads": heads}
        calls.append(applied(draw, config, stream_for(draw, config, batch, seq_len), return_stream=batch == 1))
    width_one = {"num_blocks": 2, "d_model": 1, "num_heads": 1, "d_ff": 3}
    # All small: a norm of one number multiplies the rounding of that number by 1 / sqrt(eps).
    state = state_for(draw, width_one)
    small = {
        key: tensor if key.endswith(("norm.bias", "norm1.bias")) else 0.02 * tensor for key, tensor in state.items()
    }
    return [*calls, module_call("BlockStack", width_one, small, 0.02 * draw.normal(1, 4, 1))]


@case
def tiny_values(draw):
    "is right where variances are as small as eps and hidden activations are nearly zero"
    calls = []
    for config in (PRE, POST):
        state = {key: tensor if "norm" in key else 1e-3 * tensor for key, tensor in state_for(draw, config).items()}
        if config is POST:  # its stream would be loud again after the first norm
            state = {key: 1e-2 * tensor if "norm" in key else tensor for key, tensor in state.items()}
        calls.append(module_call("BlockStack", config, state, 1e-3 * draw.stream(2, 5, D_MODEL)))
    one_block = {**PRE, "num_blocks": 1}
    near_zero = state_for(draw, one_block)
    for key in ("attention.o_proj.weight", "attention.o_proj.bias", "mlp.fc2.bias"):
        near_zero[f"blocks.0.{key}"] = near_zero[f"blocks.0.{key}"] * 0
    near_zero["blocks.0.mlp.fc1.weight"] = draw.weight(D_FF, D_MODEL, gain=0.2)
    near_zero["blocks.0.mlp.fc1.bias"] = (
        0.1 * draw.normal(D_FF) - 2.2
    )  # here the exact GELU and its approximations part
    return [*calls, module_call("BlockStack", one_block, near_zero, 1e-3 * draw.stream(2, 5, D_MODEL))]


@case
def memory_layouts(draw):
    "takes inputs that are not contiguous, or one sequence that is expanded to a batch"
    return [
        applied(draw, PRE, draw.transposed(stream_for(draw, PRE))),
        applied(draw, POST, draw.transposed(stream_for(draw, POST))),
        applied(draw, POST, draw.noncontiguous(stream_for(draw, POST))),
        applied(draw, PRE, draw.expanded(stream_for(draw, PRE, 1)[0], 2)),
    ]


def loaded(one, config, state):
    """A stack with this checkpoint, in evaluation."""
    stack = one.construct("BlockStack", **config)
    one.to(stack)
    one.load_state(stack, state)
    one.eval(stack)
    return stack


@case
def masks_of_every_form(draw):
    "reads every form of mask at every size, and is right for zeros and for 520 tokens, whatever was called before"
    return [in_every_situation(draw, {**POST, "num_heads": 1}), in_every_situation(draw, PRE)]


def in_every_situation(draw, config):
    """One stack, called with each form of mask and at each size, without gradients."""
    one = Call()
    state = state_for(draw, config)
    stack = loaded(one, config, state)
    for name, batch, seq_len, _, mask in masked_situations(draw, config["num_heads"]):
        one.apply(stack, stream_for(draw, config, batch, seq_len), mask).observe(name)
    x = stream_for(draw, config)
    one.apply(stack, x).observe("an ordinary stream")
    one.apply(stack, torch.zeros_like(x), return_stream=True).observe("a stream of zeros")
    plain = {key: tensor * 0 if ".norm" in key and key.endswith("bias") else tensor for key, tensor in state.items()}
    one.load_state(stack, plain)
    one.apply(stack, torch.zeros_like(x)).observe("zeros that the first norm leaves zeros")
    one.apply(stack, x[:, :1].repeat(1, 5, 1)).observe("tokens that are all alike")
    if config["num_heads"] == 1:
        one.apply(stack, stream_for(draw, config, 1, 520)).observe("1 x 520 tokens")
    one.apply(one.method(stack, "float"), one.method(one.leaf(x), "float"))
    one.apply(one.method(stack, "double"), x).observe("after a call in float32")
    one.load_state(stack, far_apart(state))
    x, mask = stream_for(draw, config, 2, 12), draw.mask(12, 12)
    one.apply(stack, x, mask).observe("scores that lie far apart, and preactivations of some hundreds")
    return one.values_only().under_no_grad()


def far_apart(state):
    """The same checkpoint with scores so far apart in its first block that a hidden key may lie 100 above the rest, and
    with preactivations of its first MLP that are far from zero.
    """
    factors = {"blocks.0.attention.q_proj": 10, "blocks.0.attention.k_proj": 10, "blocks.0.mlp.fc1": 100}
    return {key: factors.get(key.rpartition(".")[0], 1) * tensor for key, tensor in state.items()}


@case
def several_calls(draw):
    "keeps nothing from one call to the next: other lengths, masks and checkpoints, then the first inputs again"
    one = Call()
    stack = loaded(one, PRE, state_for(draw, PRE))
    x, mask = stream_for(draw, PRE, 3, 5), draw.mask(5, 5)
    one.apply(stack, x, mask, return_stream=True).observe("first")
    one.apply(stack, x, draw.mask(5, 5), return_stream=True).observe("other mask of the same shape")
    one.apply(stack, x).observe("no mask any more")
    one.apply(stack, stream_for(draw, PRE, 1, 7)).observe("a sequence of 7 tokens without a stream")
    one.apply(stack, stream_for(draw, PRE, 2, 4), draw.mask(2, 1, 1, 4)).observe("another mask")
    one.apply(stack, x, mask, True).observe("first again")
    other = Call()
    stack = loaded(other, POST, state_for(draw, POST))
    x = stream_for(draw, POST)
    other.apply(stack, x).observe("one checkpoint")
    other.load_state(stack, state_for(draw, POST))
    other.apply(stack, x).observe("another checkpoint")
    return [one, other.differentiate()]  # loading writes over what a gradient would need


@case
def several_stacks(draw):
    "can stand beside stacks of another order, depth or head count, and be saved and copied"
    one, x = Call(), stream_for(draw, POST)
    configs = {
        "pre-norm": PRE,
        "post-norm": POST,
        "one block": {**PRE, "num_blocks": 1},
        "two heads": {**POST, "num_heads": 2},
    }
    stacks = {name: loaded(one, config, state_for(draw, config)) for name, config in configs.items()}
    for name, stack in stacks.items():
        one.apply(stack, x).observe(name)
    copied = one.deepcopy(stacks["post-norm"])
    one.apply(copied, x).observe("copy of the post-norm stack")
    twin = loaded(one, PRE, one.state_dict(stacks["pre-norm"]))
    one.apply(twin, x).observe("new stack with the saved state")
    return one.values_only()


@case
def in_training(draw):
    "gives in training what it gives in evaluation, also after a step of learning"
    calls = []
    for config in (PRE, POST):
        one = Call()
        stack = one.construct("BlockStack", **config)
        one.to(stack)
        one.load_state(stack, state_for(draw, config))
        one.train(stack)
        x = stream_for(draw, config)
        result = one.apply(stack, x).observe("before the step")
        one.sgd_step(stack, result, learning_rate=1e-3)
        one.apply(stack, x).observe("after the step")
        calls.append(one.values_only())
    return calls


@case
def lower_precision(draw):
    """gives float32 for a float32 stack and bfloat16 for a bfloat16 stack, and is right far from zero in float32 and
    float64
    """
    calls = [
        applied(draw, config, stream_for(draw, config), draw.mask(*shape, hidden_rows=1), return_stream=True).in_dtype(
            dtype
        )
        for config, shape in ((PRE, (5, 5)), (POST, (5, 5)), (POST, (2, 1, 5, 5)))
        for dtype in (torch.float32, torch.bfloat16)
    ]
    far = [applied(draw, PRE, mean + 1.5 * draw.normal(2, 5, D_MODEL)) for mean in (2000, 1e7)]
    return [*calls, far[0].in_dtype(torch.float32), far[1].values_only()]


@case
def refused_arguments(draw):
    "raises a ValueError for a negative depth, and where num_heads does not divide d_model"
    calls = []
    for name, value, config in (
        ("num_blocks", -1, PRE),
        ("num_blocks", -3, POST),
        ("num_heads", 5, PRE),
        ("num_heads", 24, POST),
    ):
        one = Call()
        one.construct("BlockStack", **{**config, name: value})
        calls.append(one.raises(ValueError, naming=value))
    return calls


@relation
def fresh_stacks(draw):
    "starts with finite values that differ from block to block and from stack to stack"
    one, x = Call(), stream_for(draw, POST)
    for name, config in (("one", PRE), ("other", PRE), ("post-norm", POST)):
        stack = one.construct("BlockStack", **config)
        one.to(stack)
        one.eval(stack)
        one.apply(stack, x).observe(f"output of {name}")
        one.state_dict(stack).observe(name)

    def check(observations):
        given = observations[0]
        for name in ("one", "other", "post-norm"):
            if not given[f"output of {name}"].isfinite().all():
                return "the output of a new stack is not finite"
            if not all(tensor.isfinite().all() for tensor in given[name].values()):
                return "a new stack has values that are not finite"
        matrices = [
            key.removeprefix("blocks.0.")
            for key, tensor in given["one"].items()
            if "blocks.0" in key and tensor.dim() == 2
        ]
        blocks = [(name, index) for name in ("one", "other", "post-norm") for index in range(2)]
        for number, first in enumerate(blocks):
            for second in blocks[number + 1 :]:
                pairs = [[given[name][f"blocks.{index}.{key}"] for name, index in (first, second)] for key in matrices]
                if all(torch.equal(*pair) for pair in pairs):
                    where = "of one stack" if first[0] == second[0] else "of two new stacks"
                    return f"two blocks {where} start with the same weight matrices"
        return None

    return one.random(), check


@stream
def stream_by_depth(draw, depth, inside):
    """shows the residual stream after each block of a pre-norm and a post-norm stack"""
    x, streams = draw.normal(2, 6, 16), {}
    for label, first in (("pre-norm", True), ("post-norm", False)):
        config = {"num_blocks": depth, "d_model": 16, "num_heads": 4, "d_ff": 32, "norm_first": first}
        state = plain_norms(state_for(draw, config))
        deep = Call()
        result = deep.apply(loaded(deep, config, state), x, return_stream=True)
        after = deep.method(result[1], "__getitem__", 0).observe("depth 0")
        for place in range(1, depth + 1):
            if inside:
                alone = loaded(deep, {**config, "num_blocks": 1}, without_feed_forward(state, place - 1))
                half = deep.apply(alone, after, return_stream=True)
                deep.method(half[1], "__getitem__", 1).observe(f"attention {place}")
            after = deep.method(result[1], "__getitem__", place).observe(f"depth {place}")
        streams[label] = deep
    return streams
