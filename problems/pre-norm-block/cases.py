"""Cases of the pre-norm block: its value and gradients, masks, sizes, checkpoints, and where dropout acts."""

import torch

from judge.authoring import (
    Call,
    case,
    masked_situations,
    module_call,
    module_stream,
    plain_norms,
    relation,
    stream,
)
from judge.dropout import Mistake, Site, compare_dropout, training_runs
from judge.dropout_runs import modes_of_each, runs_among_blocks, same_in_two_blocks, unlike_evaluation
from judge.training_gradients import training_gradients

D_MODEL, NUM_HEADS, D_FF = 12, 3, 20
CONFIG = {"d_model": D_MODEL, "num_heads": NUM_HEADS, "d_ff": D_FF}

# Dropout is judged on a block so small that all masks of a token can be listed.
TINY = {"d_model": 4, "num_heads": 2, "d_ff": 4}
WEIGHTS = Site("the attention weights", {"head": 2, "key": 2})
ACTIVATED = Site("the activations after GELU", {"hidden channel": 4})
OUTPUT = Site("the output of fc2", {"channel": 4})
ATTENTION_MISTAKES = {  # what is dropped besides or instead of the attention weights
    "elements of the attention output are dropped, besides its weights": ("weights", "attention_output"),
    "elements of the residual stream are dropped": ("weights", "stream"),
    "scores are dropped before the softmax instead of weights after it": ("scores",),
    "elements of the heads' results are dropped instead of attention weights": ("heads",),
}


def block_state(draw, d_model=D_MODEL, d_ff=D_FF):
    """A checkpoint with random gains, biases and weights."""
    state = {**draw.norm("norm1", d_model), **draw.norm("norm2", d_model)}
    for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
        state |= draw.linear(f"attention.{name}", d_model, d_model)
    return {**state, **draw.linear("mlp.fc1", d_ff, d_model), **draw.linear("mlp.fc2", d_model, d_ff)}


def wide_stream(draw, batch, seq_len, d_model=D_MODEL):
    """A stream that spreads so far that eps doesn't show: tiny_values alone is about that."""
    return 8 * draw.normal(batch, seq_len, d_model) + 4


def silence(state, *keys):
    """The same checkpoint with the weights and biases of these linear maps zero."""
    return {key: tensor * 0 if key.rpartition(".")[0] in keys else tensor for key, tensor in state.items()}


@case
def plain_block(draw):
    "gives the block's output and gradients for an ordinary stream without a mask"
    return module_call("PreNormBlock", CONFIG, block_state(draw), wide_stream(draw, 2, 5))


@case
def mask_for_every_sequence(draw):
    "lets each query see exactly the keys that a mask (seq_len, seq_len) allows"
    far_down = block_state(draw)
    # Opposite query and key biases push all scores down by 32; a softmax doesn't see it, a weak fill does.
    direction = draw.normal(NUM_HEADS, D_MODEL // NUM_HEADS)
    direction = (8 * direction / direction.norm(dim=-1, keepdim=True)).flatten()
    far_down["attention.q_proj.bias"] = direction
    far_down["attention.k_proj.bias"] = -direction
    far_down["attention.k_proj.weight"] *= 0.2
    return [
        module_call("PreNormBlock", CONFIG, block_state(draw), wide_stream(draw, 2, 5), draw.mask(5, 5)),
        module_call("PreNormBlock", CONFIG, far_down, wide_stream(draw, 2, 5), draw.mask(5, 5)),
    ]


@case
def mask_of_four_dimensions(draw):
    "takes a mask of its own for each sequence, each head or both, broadcast over dimensions of 1"
    shapes = (
        *((2, 1, 1, 5), (1, NUM_HEADS, 5, 5), (2, NUM_HEADS, 5, 5), (2, 1, 5, 5)),
        *((1, NUM_HEADS, 1, 5), (2, NUM_HEADS, 1, 5), (1, 1, 5, 5), (1, 1, 1, 5)),
    )
    calls = [
        module_call("PreNormBlock", CONFIG, block_state(draw), wide_stream(draw, 2, 5), mask=draw.mask(*shape))
        for shape in shapes
    ]
    one_sequence = module_call(
        "PreNormBlock", CONFIG, block_state(draw), wide_stream(draw, 1, 5), draw.mask(1, NUM_HEADS, 5, 5)
    )
    return [*calls, one_sequence]


@case
def query_that_sees_nothing(draw):
    "gives a query that may attend to nothing a zero attention output, with finite gradients"
    masks = (
        *(draw.mask(5, 5, hidden_rows=2), draw.mask(2, 1, 1, 5, hidden_rows=1)),
        *(draw.mask(2, 1, 5, 1, hidden_rows=4), torch.zeros(5, 5, dtype=torch.bool)),
        *(torch.ones(5, 5, dtype=torch.bool).tril(), torch.ones(5, 5, dtype=torch.bool).tril(-1)),
    )
    return [
        module_call("PreNormBlock", CONFIG, block_state(draw), wide_stream(draw, 2, 5), mask=mask) for mask in masks
    ]


@case
def sizes_that_coincide(draw):
    "reads masks by their dimensions where batch, heads and sequence length are equal"
    one_hidden = torch.ones(3, 3, dtype=torch.bool)
    one_hidden[torch.arange(3), draw.permutation(3)] = False  # another key for each query: no two rows are equal
    return [
        module_call("PreNormBlock", CONFIG, block_state(draw), wide_stream(draw, 3, 3), mask=mask)
        for mask in (one_hidden, one_hidden[:, None, None, :], draw.mask(1, 3, 3, 3))
    ]


@case
def smallest_sizes(draw):
    "works with one head, with heads of width one, and for single tokens"
    sizes = (1, 2, 5), (D_MODEL, 2, 5), (NUM_HEADS, 1, 1), (NUM_HEADS, 2, 1), (NUM_HEADS, 1, 5)
    calls = [
        module_call(
            "PreNormBlock", {**CONFIG, "num_heads": heads}, block_state(draw), wide_stream(draw, batch, seq_len)
        )
        for heads, batch, seq_len in sizes
    ]
    narrow = {**CONFIG, "d_ff": 7}
    width_one = {"d_model": 1, "num_heads": 1, "d_ff": 3}
    # All small: a norm of one number multiplies the rounding of that number by 1 / sqrt(eps).
    ones = [
        {key: tensor if "norm" in key else 0.02 * tensor for key, tensor in block_state(draw, 1, 3).items()}
        for _ in range(2)
    ]
    return [
        *calls,
        module_call("PreNormBlock", narrow, block_state(draw, d_ff=7), wide_stream(draw, 1, 4), draw.mask(4, 4)),
        module_call("PreNormBlock", width_one, ones[0], 0.02 * draw.normal(2, 3, 1)),
        module_call("PreNormBlock", width_one, ones[1], 0.02 * draw.normal(1, 1, 1)),
    ]


@case
def tiny_values(draw):
    "is right where the variance is as small as eps and the hidden activations are nearly zero"
    near_zero = silence(block_state(draw), "attention.o_proj")
    near_zero["mlp.fc1.weight"] = draw.weight(D_FF, D_MODEL, gain=0.2)
    near_zero["mlp.fc1.bias"] = 0.1 * draw.normal(D_FF) - 2.2  # here the exact GELU and its approximations part
    near_zero["mlp.fc2.bias"] = torch.zeros(D_MODEL, dtype=torch.float64)
    return [
        module_call("PreNormBlock", CONFIG, state, 1e-3 * draw.stream(2, 5, D_MODEL))
        for state in (block_state(draw), near_zero)
    ]


@case
def memory_layouts(draw):
    "takes inputs that are not contiguous, or one sequence that is expanded to a batch"
    streams = (
        draw.transposed(wide_stream(draw, 2, 5)),
        draw.noncontiguous(wide_stream(draw, 2, 5)),
        draw.expanded(wide_stream(draw, 1, 5)[0], 2),
    )
    return [module_call("PreNormBlock", CONFIG, block_state(draw), x) for x in streams]


@case
def masks_of_every_form(draw):
    "reads every form of mask at every size, and is right for zeros and for 600 tokens, whatever was called before"
    return [in_every_situation(draw, {**CONFIG, "num_heads": heads, "dropout": 0.5}) for heads in (1, NUM_HEADS)]


def in_every_situation(draw, config):
    """One block, called with each form of mask and at each size, without gradients."""
    one = Call()
    block = one.construct("PreNormBlock", **config)
    one.to(block)
    one.load_state(block, block_state(draw))
    one.eval(block)
    for name, batch, seq_len, _, mask in masked_situations(draw, config["num_heads"]):
        one.apply(block, wide_stream(draw, batch, seq_len), mask).observe(name)
    x = wide_stream(draw, 2, 5)
    one.apply(block, x).observe("an ordinary stream")
    one.apply(block, torch.zeros_like(x)).observe("a stream of zeros")
    plain = {
        key: tensor * 0 if key in ("norm1.bias", "norm2.bias") else tensor for key, tensor in block_state(draw).items()
    }
    one.load_state(block, plain)
    one.apply(block, torch.zeros_like(x)).observe("zeros that the first norm leaves zeros")
    one.apply(block, wide_stream(draw, 2, 1).repeat(1, 5, 1)).observe("tokens that are all alike")
    if config["num_heads"] == 1:
        one.apply(block, wide_stream(draw, 1, 600)).observe("1 x 600 tokens")
    one.apply(one.method(block, "float"), one.method(one.leaf(x), "float"))
    one.apply(one.method(block, "double"), x).observe("after a call in float32")
    state = block_state(draw)
    one.load_state(block, {key: 100 * tensor if key == "mlp.fc1.weight" else tensor for key, tensor in state.items()})
    one.apply(block, x).observe("hidden activations of some hundreds")
    one.load_state(block, far_apart(block_state(draw)))
    one.apply(block, wide_stream(draw, 2, 12), draw.mask(12, 12)).observe("scores that lie far apart")
    return one.values_only().under_no_grad()


def far_apart(state):
    """The same checkpoint with scores so far apart that a hidden key may lie 100 above all visible ones."""
    return {key: 10 * tensor if "q_proj" in key or "k_proj" in key else tensor for key, tensor in state.items()}


@case
def several_calls(draw):
    "keeps nothing from one call to the next: other lengths, batches and masks, then the first inputs again"
    one = Call()
    block = one.construct("PreNormBlock", d_model=24, num_heads=8, d_ff=48)
    one.to(block)
    one.load_state(block, block_state(draw, d_model=24, d_ff=48))
    one.eval(block)
    x, mask = wide_stream(draw, 3, 5, 24), draw.mask(5, 5)
    one.apply(block, x, mask).observe("first")
    one.apply(block, x, draw.mask(5, 5)).observe("other mask of the same shape")
    one.apply(block, x, draw.mask(3, 1, 1, 5)).observe("other mask")
    one.apply(block, wide_stream(draw, 2, 100, 24)).observe("2 sequences of 100 tokens")
    one.apply(block, wide_stream(draw, 1, 41, 24), draw.mask(41, 41)).observe("a sequence of 41 tokens")
    one.apply(block, x, mask).observe("first again")
    other = Call()
    block = other.construct("PreNormBlock", **CONFIG)
    other.to(block)
    other.load_state(block, block_state(draw))
    other.eval(block)
    stream = wide_stream(draw, 2, 5)
    other.apply(block, stream).observe("one checkpoint")
    other.load_state(block, block_state(draw))
    other.apply(block, stream).observe("another checkpoint")
    return [one, other.differentiate()]  # loading writes over what a gradient would need


@case
def other_blocks(draw):
    "can be saved, and loaded with another checkpoint, each block by its own weights and in its own mode"
    x = wide_stream(draw, 2, 5)
    one = Call()
    block = one.construct("PreNormBlock", **{**CONFIG, "dropout": 0.5})
    one.to(block)
    one.load_state(block, block_state(draw))
    one.eval(block)
    second = one.construct("PreNormBlock", **CONFIG)
    one.to(second)
    one.apply(block, x).observe("block")
    one.load_state(second, block_state(draw))
    one.eval(second)
    one.apply(second, x).observe("block with another checkpoint")
    one.train(second)
    one.apply(block, x).observe("block after that")
    twin = one.construct("PreNormBlock", **CONFIG)
    one.to(twin)
    one.load_state(twin, one.state_dict(block))
    one.eval(twin)
    other = one.construct("PreNormBlock", **{**CONFIG, "num_heads": 2})
    one.to(other)
    one.load_state(other, block_state(draw))
    one.eval(other)
    one.apply(twin, x).observe("new block with the saved state")
    one.apply(other, x).observe("block with other heads")
    return one


@case
def nothing_to_drop(draw):
    "drops nothing in evaluation, nor in training with probability zero, which is the default"
    state, x = block_state(draw), wide_stream(draw, 2, 5)
    mask = draw.mask(5, 5, hidden_rows=1)
    calls = [module_call("PreNormBlock", {**CONFIG, "dropout": 0.5}, state, x, mask=mask) for mask in (None, mask)]
    # A probability of 1e-12 goes every way that dropout goes, gradients included, and drops nothing.
    ways = (
        ({**CONFIG, "dropout": 0.0}, None),
        (CONFIG, mask),
        *(({**CONFIG, "dropout": 1e-12}, m) for m in (None, mask)),
    )
    for config, mask in ways:
        one = Call()
        block = one.construct("PreNormBlock", **config)
        one.to(block)
        one.load_state(block, state)
        one.train(block)
        one.apply(block, x, mask=mask).observe("output")
        calls.append(one)
    return calls


@case
def lower_precision(draw):
    "gives float32 for a float32 block and bfloat16 for a bfloat16 block, and is right far from zero"
    config = {**CONFIG, "dropout": 0.5}
    calls = [
        module_call("PreNormBlock", config, block_state(draw), wide_stream(draw, 2, 5), mask=mask).in_dtype(dtype)
        for dtype in (torch.float32, torch.bfloat16)
        for mask in (None, draw.mask(5, 5, hidden_rows=1), draw.mask(2, 1, 5, 5, hidden_rows=1))
    ]
    loud = block_state(draw)  # what the attention adds is not small beside such a stream
    loud["attention.o_proj.weight"] *= 1000
    far = module_call("PreNormBlock", CONFIG, loud, 2000 + 1.5 * draw.normal(2, 5, D_MODEL)).in_dtype(torch.float32)
    huge = ("attention.o_proj.weight", "mlp.fc2.weight")
    loud = {key: 1e8 * tensor if key in huge else tensor for key, tensor in block_state(draw).items()}
    farther = module_call("PreNormBlock", CONFIG, loud, 1e7 + 1.5 * draw.normal(2, 5, D_MODEL))
    return [*calls, far, farther.values_only().under_no_grad()]


@case
def refused_head_counts(draw):
    "raises a ValueError in the constructor when num_heads does not divide d_model"
    calls = []
    for num_heads in (5, 24):
        one = Call()
        one.construct("PreNormBlock", **{**CONFIG, "num_heads": num_heads})
        calls.append(one.raises(ValueError, naming=num_heads))
    return calls


@relation
def fresh_blocks(draw):
    "starts with finite values that differ from block to block"
    one = Call()
    for name in ("one", "other"):
        block = one.construct("PreNormBlock", **CONFIG)
        one.to(block)
        one.eval(block)
        one.apply(block, wide_stream(draw, 2, 5)).observe(f"output of {name}")  # a lazy layer has its weights then
        one.state_dict(block).observe(name)

    def check(observations):
        given = observations[0]
        for key, tensor in {**given["one"], **given["other"]}.items():
            if not tensor.isfinite().all():
                return f"{key} of a new block is not finite"
        for name in ("one", "other"):
            if not given[f"output of {name}"].isfinite().all():
                return "the output of a new block is not finite"
        matrices = [key for key, tensor in given["one"].items() if tensor.dim() == 2]
        if all(torch.equal(given["one"][key], given["other"][key]) for key in matrices):
            return "two new blocks have the same weight matrices"
        return None

    return one.random(), check


def tiny_state(draw):
    """A checkpoint for TINY whose masks can be read from the output: no weight or activation is close to zero."""
    state = block_state(draw, d_model=4, d_ff=4)
    state["attention.q_proj.weight"] = draw.weight(4, 4, gain=0.3)
    state["mlp.fc1.weight"] = draw.weight(4, 4, gain=0.2)
    state["mlp.fc1.bias"] = draw.uniform(1.5, 2.5, 4)
    return state


def predicted(state, x, mask=None, **kept):
    """The block's output (patterns, batch, token, d_model) for the masks (patterns, ...) of some sites."""
    keys = x.shape[1]

    def keep(site, *shape):
        return kept[site].reshape(-1, *shape) if site in kept else torch.ones((), dtype=torch.float64)

    def linear(key, inputs):
        return torch.nn.functional.linear(inputs, state[f"{key}.weight"], state[f"{key}.bias"])

    def norm(key, inputs):
        return torch.nn.functional.layer_norm(inputs, (4,), state[f"{key}.weight"], state[f"{key}.bias"])

    normalized = norm("norm1", x)
    query, key, value = (
        linear(f"attention.{name}", normalized).unflatten(-1, (2, 2)).transpose(1, 2)
        for name in ("q_proj", "k_proj", "v_proj")
    )
    scores = query @ key.transpose(-2, -1) / 2**0.5 * keep("scores", 1, 2, 1, keys)
    weights = scores.softmax(-1)  # (patterns, batch, head, query, key)
    if mask is not None:
        weights = scores.masked_fill(~mask, -torch.inf).softmax(-1).nan_to_num()  # NaN: a query that sees nothing
    weights = weights * keep("weights", 1, 2, 1, keys)
    heads = weights @ value * keep("heads", 1, 2, 1, 2)
    attention_output = linear("attention.o_proj", heads.transpose(-3, -2).flatten(-2))
    x = (x + attention_output * keep("attention_output", 1, 1, 4)) * keep("stream", 1, 1, 4)
    activated = torch.nn.functional.gelu(linear("mlp.fc1", norm("norm2", x))) * keep("activated", 1, 1, 4)
    return x + linear("mlp.fc2", activated) * keep("output", 1, 1, 4)


@relation
def training_in_lower_precision(draw):
    "keeps its input's dtype in training with dropout"
    return [
        training_runs(
            "PreNormBlock", {**CONFIG, "dropout": 0.5}, block_state(draw), wide_stream(draw, 2, 5), runs=1
        ).in_dtype(dtype)
        for dtype in (torch.float32, torch.bfloat16)
    ], lambda observations: None


@relation
def dropout_sites(draw):
    "drops attention weights, activations after GELU and the output of fc2 in training, each element on its own"
    x, state = wide_stream(draw, 2, 2, 4), tiny_state(draw)
    attention, mlp = silence(state, "mlp.fc2"), silence(state, "attention.o_proj")
    calls = [training_runs("PreNormBlock", {**TINY, "dropout": 0.5}, state, x) for state in (attention, mlp)]
    mistakes = [
        Mistake(
            sentence,
            [Site(name, {"element": 4}) for name in names],
            lambda *kept, names=names: predicted(attention, x, **dict(zip(names, kept, strict=True))),
        )
        for sentence, names in ATTENTION_MISTAKES.items()
    ]

    def check(observations):
        return compare_dropout(
            observations[0],
            0.5,
            [WEIGHTS],
            lambda weights: predicted(attention, x, weights=weights),
            mistakes=mistakes,
        ) or compare_dropout(
            observations[1],
            0.5,
            [ACTIVATED, OUTPUT],
            lambda activated, output: predicted(mlp, x, activated=activated, output=output),
        )

    return calls, check


@relation
def dropout_probability(draw):
    "drops a quarter in training with dropout 0.25 and scales what is kept by 4/3, inside torch.no_grad() too"
    x, state = wide_stream(draw, 2, 2, 4), tiny_state(draw)
    all_visible = torch.ones(2, 2, dtype=torch.bool)
    runs = training_runs("PreNormBlock", {**TINY, "dropout": 0.25}, state, x, all_visible).under_no_grad()

    def check(observations):
        return compare_dropout(
            observations[0],
            0.25,
            [WEIGHTS, ACTIVATED, OUTPUT],
            lambda weights, activated, output: predicted(state, x, weights=weights, activated=activated, output=output),
        )

    return runs, check


@relation
def dropout_of_other_inputs(draw):
    "drops from one sequence, single tokens, many tokens and masked ones too, whatever other blocks exist"
    state, blind = tiny_state(draw), torch.tensor([[False, False], [True, True]])
    inputs = [(wide_stream(draw, *size, 4), mask) for size, mask in (((1, 2), None), ((3, 1), None), ((2, 2), blind))]
    calls = [runs_among_blocks("PreNormBlock", {**TINY, "dropout": 0.75}, state, *given) for given in inputs]
    speaking = {"the attention": silence(state, "mlp.fc2"), "the MLP": silence(state, "attention.o_proj")}
    long = modes_of_each("PreNormBlock", TINY, speaking, wide_stream(draw, 1, 130, 4))

    def check(observations):
        for given, (x, mask) in zip(observations, inputs, strict=False):
            fault = compare_dropout(
                given,
                0.75,
                [Site(WEIGHTS.name, {"head": 2, "key": x.shape[1]}), ACTIVATED, OUTPUT],
                lambda weights, activated, output, x=x, mask=mask: predicted(
                    state, x, mask, weights=weights, activated=activated, output=output
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
    return training_gradients(draw, "PreNormBlock", {**CONFIG, "dropout": 0.5}, block_state(draw), x, mask=mask)


@stream
def stream_by_depth(draw, depth, inside):
    """shows the residual stream after each of independent blocks"""
    config = {"d_model": 16, "num_heads": 4, "d_ff": 32}
    states = [plain_norms(block_state(draw, 16, 32)) for _ in range(depth)]
    return {"pre-norm": module_stream("PreNormBlock", config, states, draw.normal(2, 6, 16), inside and "mlp.fc2")}
