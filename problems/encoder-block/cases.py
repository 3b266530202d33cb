"""Cases of the encoder block: its value and gradients, masks, sizes, checkpoints, and where dropout acts."""

import torch

from judge.authoring import Call, case, masked_situations, module_call, module_stream, plain_norms, relation, stream
from judge.dropout import Mistake, Site, compare_dropout, training_runs
from judge.dropout_runs import modes_of_each, runs_among_blocks, same_in_two_blocks, unlike_evaluation
from judge.training_gradients import training_gradients

BLOCK = "TransformerEncoderBlock"
D_MODEL, NUM_HEADS, D_FF = 12, 3, 20
CONFIG = {"d_model": D_MODEL, "d_ff": D_FF, "num_heads": NUM_HEADS}

# Dropout is judged on a block so small that all masks of a token can be listed.
TINY = {"d_model": 4, "d_ff": 4, "num_heads": 2}
WEIGHTS = Site("the attention weights", {"head": 2, "key": 2})
ATTENTION_OUTPUT = Site("the attention's output", {"channel": 4})
FFN_OUTPUT = Site("the feed-forward network's output", {"channel": 4})
# What is dropped besides or instead; a mistake that explains another one comes later.
FFN_MISTAKES = {
    "elements of the sums are dropped instead of the sublayers' outputs": ("total1", "total2"),
    "elements are dropped after the norms instead of before the adds": ("y", "result"),
    "hidden activations are dropped instead of the feed-forward network's output": ("activated",),
    "hidden activations are dropped, besides the feed-forward network's output": ("activated", "ffn_output"),
    "elements of the residual stream are dropped, besides the output": ("residual1", "residual2", "ffn_output"),
}
ATTENTION_MISTAKES = {
    "scores are dropped before the softmax instead of weights after it": ("scores", "attention_output"),
    "elements of the heads' results are dropped instead of attention weights": ("heads", "attention_output"),
}


def block_state(draw, d_model=D_MODEL, d_ff=D_FF):
    """A checkpoint with random gains, biases and weights."""
    # Queries and keys read the raw stream, which is large: small weights keep the softmax from saturating.
    gains = {"q_proj": 0.2, "k_proj": 0.2, "v_proj": 0.5, "o_proj": 1.0}
    state = {}
    for name, gain in gains.items():
        state |= draw.linear(f"attention.{name}", d_model, d_model, gain=gain)
    state |= draw.norm("addnorm1.norm", d_model)
    state["addnorm1.norm.weight"] *= 4  # so that the second norm's eps doesn't show: tiny_values is about that
    state |= {**draw.linear("ffn.fc1", d_ff, d_model), **draw.linear("ffn.fc2", d_model, d_ff)}
    return {**state, **draw.norm("addnorm2.norm", d_model)}


def wide_stream(draw, batch, seq_len, d_model=D_MODEL):
    """A stream that spreads so far that the first norm's eps doesn't show."""
    return 4 * draw.normal(batch, seq_len, d_model) + 2


def silence(state, *keys):
    """The same checkpoint with the weights and biases of these linear maps zero."""
    return {key: tensor * 0 if key.rpartition(".")[0] in keys else tensor for key, tensor in state.items()}


@case
def plain_block(draw):
    "gives the block's output and gradients for an ordinary stream without a mask"
    return module_call(BLOCK, CONFIG, block_state(draw), wide_stream(draw, 2, 5))


@case
def mask_for_every_sequence(draw):
    "lets each query see exactly the keys that a mask (seq_len, seq_len) allows"
    low = block_state(draw)  # all scores are near -1800: hidden ones must lie below them
    low["attention.k_proj.weight"] = 0.05 * low["attention.k_proj.weight"]
    low["attention.q_proj.bias"] = torch.full((D_MODEL,), 30.0, dtype=torch.float64)
    low["attention.k_proj.bias"] = torch.full((D_MODEL,), -30.0, dtype=torch.float64)
    causal = torch.ones(5, 5, dtype=torch.bool).tril()
    return [
        module_call(BLOCK, CONFIG, state, wide_stream(draw, 2, 5), mask)
        for state, mask in ((block_state(draw), draw.mask(5, 5)), (block_state(draw), causal), (low, draw.mask(5, 5)))
    ]


@case
def mask_of_four_dimensions(draw):
    "takes a mask of its own for each sequence, each head or both"
    shapes = (2, 1, 1, 5), (2, 1, 5, 5), (1, NUM_HEADS, 5, 5), (2, NUM_HEADS, 5, 5)
    return [
        module_call(BLOCK, CONFIG, block_state(draw), wide_stream(draw, 2, 5), mask=draw.mask(*shape))
        for shape in shapes
    ]


@case
def query_that_sees_nothing(draw):
    "gives a query that may attend to nothing a zero attention output, with finite gradients"
    hidden = ((5, 5), 2), ((2, 1, 1, 5), 1), ((2, 1, 5, 1), 4)
    masks = [draw.mask(*shape, hidden_rows=rows) for shape, rows in hidden]
    return [module_call(BLOCK, CONFIG, block_state(draw), wide_stream(draw, 2, 5), mask=mask) for mask in masks]


@case
def sizes_that_coincide(draw):
    "reads masks by their dimensions where batch, heads and sequence length are equal"
    one_hidden = torch.ones(3, 3, dtype=torch.bool)
    one_hidden[torch.arange(3), draw.permutation(3)] = False  # another key for each query: no two rows are equal
    return [
        module_call(BLOCK, CONFIG, block_state(draw), wide_stream(draw, 3, 3), mask=mask)
        for mask in (one_hidden, draw.mask(1, 3, 3, 3))
    ]


@case
def smallest_sizes(draw):
    "works with one head, with heads and a stream of width one, for one sequence and for one token"
    sizes = (1, 2, 5), (D_MODEL, 2, 5), (NUM_HEADS, 1, 5), (NUM_HEADS, 2, 1), (NUM_HEADS, 1, 1)
    calls = [
        module_call(BLOCK, {**CONFIG, "num_heads": heads}, block_state(draw), wide_stream(draw, batch, seq_len))
        for heads, batch, seq_len in sizes
    ]
    width_one = {"d_model": 1, "num_heads": 1, "d_ff": 3}
    # All small: a norm of one number multiplies the rounding of that number by 1 / sqrt(eps).
    state = {key: tensor if "norm" in key else 0.02 * tensor for key, tensor in block_state(draw, 1, 3).items()}
    return [*calls, module_call(BLOCK, width_one, state, 0.02 * wide_stream(draw, 2, 3, 1))]


@case
def tiny_values(draw):
    "is right where the variance of each sum is as small as eps"
    state = silence(block_state(draw), "attention.o_proj", "ffn.fc2")
    for name in ("weight", "bias"):
        state[f"addnorm1.norm.{name}"] = 1e-3 * state[f"addnorm1.norm.{name}"]
    return module_call(BLOCK, CONFIG, state, 1e-3 * draw.stream(2, 5, D_MODEL))


@case
def memory_layouts(draw):
    "takes inputs that are not contiguous, or one sequence expanded to a batch"
    streams = (
        draw.transposed(wide_stream(draw, 2, 5)),
        draw.noncontiguous(wide_stream(draw, 2, 5)),
        draw.expanded(wide_stream(draw, 1, 5)[0], 2),
    )
    return [module_call(BLOCK, CONFIG, block_state(draw), x) for x in streams]


@case
def masks_of_every_form(draw):
    "reads every form of mask at every size, and is right for zeros and for 600 tokens, whatever was called before"
    return [in_every_situation(draw, {**CONFIG, "num_heads": heads, "dropout": 0.5}) for heads in (1, NUM_HEADS)]


def in_every_situation(draw, config):
    """One block, called with each form of mask and at each size, without gradients."""
    one = Call()
    block = one.construct(BLOCK, **config)
    one.to(block)
    one.load_state(block, block_state(draw))
    one.eval(block)
    for name, batch, seq_len, _, mask in masked_situations(draw, config["num_heads"]):
        one.apply(block, wide_stream(draw, batch, seq_len), mask).observe(name)
    x = wide_stream(draw, 2, 5)
    one.apply(block, x).observe("an ordinary stream")
    one.apply(block, torch.zeros_like(x)).observe("a stream of zeros")
    one.apply(block, wide_stream(draw, 2, 1).repeat(1, 5, 1)).observe("tokens that are all alike")
    if config["num_heads"] == 1:
        one.apply(block, wide_stream(draw, 1, 600)).observe("1 x 600 tokens")
    one.apply(one.method(block, "float"), one.method(one.leaf(x), "float"))
    one.apply(one.method(block, "double"), x).observe("after a call in float32")
    x = wide_stream(draw, 2, 7)
    x[:, 4:] *= 1200.0  # what stands in padding may be large: its scores lie far above the visible ones
    real = torch.arange(7) < 4
    one.apply(block, x, real & real[:, None]).observe("large tokens in the padding")
    one.load_state(block, far_apart(block_state(draw)))
    one.apply(block, wide_stream(draw, 2, 12), draw.mask(12, 12)).observe("scores that lie far apart")
    loud = block_state(draw)
    loud["ffn.fc1.weight"] = 100 * loud["ffn.fc1.weight"]
    one.load_state(block, loud)
    one.apply(block, wide_stream(draw, 2, 5)).observe("hidden activations of some hundreds")
    return one.values_only().under_no_grad()


def far_apart(state):
    """The same checkpoint with scores so far apart that a hidden key may lie 100 above all visible ones."""
    return {key: 12 * tensor if "q_proj" in key or "k_proj" in key else tensor for key, tensor in state.items()}


@case
def step_of_training(draw):
    "learns from a stream that needs no gradient of its own"
    one = Call()
    block = one.construct(BLOCK, **CONFIG)
    one.to(block)
    one.load_state(block, block_state(draw))
    one.train(block)
    x = wide_stream(draw, 2, 5)
    one.sgd_step(block, one.apply(block, x).observe("before the step"), 1e-4)
    one.apply(block, x).observe("after the step")
    return one.values_only()


@case
def several_calls(draw):
    "keeps nothing from one call to the next: lengths, masks, weights, another block's mode"
    one = Call()
    block = one.construct(BLOCK, d_model=24, d_ff=48, num_heads=8, dropout=0.5)
    one.to(block)
    one.load_state(block, block_state(draw, d_model=24, d_ff=48))
    one.eval(block)
    x, mask = wide_stream(draw, 3, 5, 24), draw.mask(5, 5)
    one.apply(block, x, mask).observe("first")
    one.apply(block, x, draw.mask(3, 1, 1, 5)).observe("other mask")
    one.apply(block, wide_stream(draw, 2, 30, 24)).observe("2 sequences of 30 tokens")
    second = one.construct(BLOCK, d_model=24, d_ff=48, num_heads=4)
    one.to(second)
    one.load_state(second, block_state(draw, d_model=24, d_ff=48))
    one.eval(second)
    one.apply(second, x, mask).observe("block with another checkpoint")
    one.train(second)
    one.apply(block, x, mask).observe("first again")
    return one


@case
def nothing_to_drop(draw):
    "drops nothing in evaluation, nor in training with probability zero, the default"
    state, x = block_state(draw), wide_stream(draw, 2, 5)
    mask = draw.mask(5, 5, hidden_rows=1)
    calls = [module_call(BLOCK, {**CONFIG, "dropout": 0.5}, state, x, mask=given) for given in (None, mask)]
    # A probability of 1e-12 goes every way that dropout goes, gradients included, and drops nothing.
    for config, given in (({**CONFIG, "dropout": 0.0}, None), (CONFIG, mask), ({**CONFIG, "dropout": 1e-12}, mask)):
        one = Call()
        block = one.construct(BLOCK, **config)
        one.to(block)
        one.load_state(block, state)
        one.train(block)
        one.apply(block, x, mask=given).observe("output")
        calls.append(one)
    return calls


@case
def lower_precision(draw):
    "gives float32 for a float32 block and bfloat16 for a bfloat16 block, and is right far from zero"
    config = {**CONFIG, "dropout": 0.5}
    calls = [
        module_call(BLOCK, config, block_state(draw), wide_stream(draw, 2, 5), mask=mask).in_dtype(dtype)
        for dtype in (torch.float32, torch.bfloat16)
        for mask in (None, draw.mask(5, 5, hidden_rows=1), draw.mask(2, 1, 5, 5, hidden_rows=1))
    ]
    silent = silence(block_state(draw), "attention.o_proj")  # such a stream would saturate the softmax
    far = module_call(BLOCK, CONFIG, silent, 2000 + 1.5 * draw.normal(4, 9, D_MODEL)).in_dtype(torch.float32)
    farther = module_call(BLOCK, CONFIG, silent, 1e7 + 1.5 * draw.normal(4, 9, D_MODEL))
    return [*calls, far, farther.values_only().under_no_grad()]


@case
def refused_head_counts(draw):
    "raises a ValueError in the constructor when num_heads does not divide d_model"
    calls = []
    for num_heads in (5, 24):
        one = Call()
        one.construct(BLOCK, **{**CONFIG, "num_heads": num_heads})
        calls.append(one.raises(ValueError, naming=num_heads))
    return calls


@relation
def fresh_blocks(draw):
    "starts with finite values that differ from block to block"
    one = Call()
    for name in ("one", "other"):
        block = one.construct(BLOCK, **CONFIG)
        one.to(block)
        one.state_dict(block).observe(name)

    def check(observations):
        given = observations[0]
        for key, tensor in {**given["one"], **given["other"]}.items():
            if not tensor.isfinite().all():
                return f"{key} of a new block is not finite"
        matrices = [key for key, tensor in given["one"].items() if tensor.dim() == 2]
        if all(torch.equal(given["one"][key], given["other"][key]) for key in matrices):
            return "two new blocks have the same weight matrices"
        return None

    return one.random(), check


def tiny_state(draw):
    """A checkpoint for TINY whose masks can be read from the output: no gain, weight or activation is close to zero."""
    state = block_state(draw, d_model=4, d_ff=4)
    for name in ("addnorm1", "addnorm2"):
        state[f"{name}.norm.weight"] = draw.uniform(0.5, 1.5, 4)
    state["ffn.fc1.weight"] = draw.weight(4, 4, gain=0.2)
    state["ffn.fc1.bias"] = draw.uniform(1.5, 2.5, 4)
    return state


def predicted(state, x, mask=None, **kept):
    """The block's output (patterns, batch, token, d_model) for the masks (patterns, ...) of some places."""
    keys = x.shape[1]

    def keep(place, *shape):
        return kept[place].reshape(-1, *shape) if place in kept else torch.ones((), dtype=torch.float64)

    def linear(key, inputs):
        return torch.nn.functional.linear(inputs, state[f"{key}.weight"], state[f"{key}.bias"])

    def norm(key, inputs):
        return torch.nn.functional.layer_norm(inputs, (4,), state[f"{key}.norm.weight"], state[f"{key}.norm.bias"])

    query, key, value = (
        linear(f"attention.{name}", x).unflatten(-1, (2, 2)).transpose(1, 2) for name in ("q_proj", "k_proj", "v_proj")
    )
    scores = query @ key.transpose(-2, -1) / 2**0.5 * keep("scores", 1, 2, 1, keys)
    weights = scores.softmax(-1)  # (patterns, batch, head, query, key)
    if mask is not None:
        weights = scores.masked_fill(~mask, -torch.inf).softmax(-1).nan_to_num()  # NaN: a query that sees nothing
    weights = weights * keep("weights", 1, 2, 1, keys)
    heads = weights @ value * keep("heads", 1, 2, 1, 2)
    output = linear("attention.o_proj", heads.transpose(-3, -2).flatten(-2)) * keep("attention_output", 1, 1, 4)
    y = norm("addnorm1", (x * keep("residual1", 1, 1, 4) + output) * keep("total1", 1, 1, 4)) * keep("y", 1, 1, 4)
    activated = linear("ffn.fc1", y).relu() * keep("activated", 1, 1, 4)
    output = linear("ffn.fc2", activated) * keep("ffn_output", 1, 1, 4)
    return norm("addnorm2", (y * keep("residual2", 1, 1, 4) + output) * keep("total2", 1, 1, 4)) * keep(
        "result", 1, 1, 4
    )


def mistakes_of(sentences, state, x):
    return [
        Mistake(
            sentence,
            [Site(place, {"element": 4}) for place in places],
            lambda *kept, places=places: predicted(state, x, **dict(zip(places, kept, strict=True))),
        )
        for sentence, places in sentences.items()
    ]


def dropout_at(draw, p, mask=None):
    """Training runs of two tiny blocks, in each of which one sublayer is silent, and the check of their masks."""
    x, state = draw.stream(2, 2, 4), tiny_state(draw)
    ffn, attention = silence(state, "attention.o_proj"), silence(state, "ffn.fc2")
    calls = [training_runs(BLOCK, {**TINY, "dropout": p}, active, x, mask) for active in (ffn, attention)]

    def check(observations):
        return compare_dropout(
            observations[0],
            p,
            [FFN_OUTPUT],
            lambda output: predicted(ffn, x, ffn_output=output),
            mistakes=mistakes_of(FFN_MISTAKES, ffn, x),
        ) or compare_dropout(
            observations[1],
            p,
            [WEIGHTS, ATTENTION_OUTPUT],
            lambda weights, output: predicted(attention, x, weights=weights, attention_output=output),
            mistakes=mistakes_of(ATTENTION_MISTAKES, attention, x),
        )

    return calls, check


@relation
def dropout_of_other_inputs(draw):
    "drops from one sequence, single tokens, many tokens and masked ones too, whatever other blocks exist"
    state, blind = tiny_state(draw), torch.tensor([[False, False], [True, True]])
    inputs = [(draw.stream(*size, 4), mask) for size, mask in (((1, 2), None), ((3, 1), None), ((2, 2), blind))]
    calls = [runs_among_blocks(BLOCK, {**TINY, "dropout": 0.75}, state, *given) for given in inputs]
    speaking = {"the attention": silence(state, "ffn.fc2"), "the feed-forward": silence(state, "attention.o_proj")}
    long = modes_of_each(BLOCK, TINY, speaking, draw.stream(1, 130, 4))

    def check(observations):
        for given, (x, mask) in zip(observations, inputs, strict=False):
            fault = compare_dropout(
                given,
                0.75,
                [Site(WEIGHTS.name, {"head": 2, "key": x.shape[1]}), ATTENTION_OUTPUT, FFN_OUTPUT],
                lambda weights, attention_output, ffn_output, x=x, mask=mask: predicted(
                    state, x, mask, weights=weights, attention_output=attention_output, ffn_output=ffn_output
                ),
            )
            if fault or same_in_two_blocks(given):
                return fault or "two blocks drop the same elements"
        return unlike_evaluation(observations[-1])

    return [*calls, long], check


@relation
def gradients_in_training(draw):
    "passes gradients back, in training, through exactly the elements that its output was computed with"
    x, mask = wide_stream(draw, 2, 5), draw.mask(5, 5)
    return training_gradients(draw, BLOCK, {**CONFIG, "dropout": 0.5}, block_state(draw), x, mask=mask)


@relation
def training_in_lower_precision(draw):
    "keeps its input's dtype in training with dropout"
    return [
        training_runs(BLOCK, {**CONFIG, "dropout": 0.5}, block_state(draw), wide_stream(draw, 2, 5), runs=1).in_dtype(
            dtype
        )
        for dtype in (torch.float32, torch.bfloat16)
    ], lambda observations: None


@relation
def dropout_sites(draw):
    "drops attention weights and each sublayer's output in training, before its add"
    return dropout_at(draw, 0.5)


@relation
def dropout_probability(draw):
    "drops a quarter in training with dropout 0.25 and scales the rest by 4/3, under a mask and torch.no_grad() too"
    calls, check = dropout_at(draw, 0.25, torch.ones(2, 2, dtype=torch.bool))
    return [one.under_no_grad() for one in calls], check


@stream
def stream_by_depth(draw, depth, inside):
    """shows the residual stream after each of independent blocks"""
    config = {"d_model": 16, "num_heads": 4, "d_ff": 32}
    states = [plain_norms(block_state(draw, 16, 32)) for _ in range(depth)]
    return {
        "post-norm": module_stream(
            "TransformerEncoderBlock", config, states, draw.normal(2, 6, 16), inside and "ffn.fc2"
        )
    }
