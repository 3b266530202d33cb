"""Cases of the decoder block: value and gradients, both masks, sizes, checkpoints, errors, and where dropout acts."""

import torch

from judge.authoring import Call, case, masked_situations, module_call, relation
from judge.dropout import Mistake, Site, compare_dropout, training_runs
from judge.dropout_runs import runs_among_blocks
from judge.training_gradients import training_gradients

BLOCK = "TransformerDecoderBlock"
D_MODEL, NUM_HEADS, D_FF = 12, 3, 20
CONFIG = {"d_model": D_MODEL, "d_ff": D_FF, "num_heads": NUM_HEADS}

# Dropout is judged on a block so small that all masks of a token can be listed.
TINY = {"d_model": 4, "d_ff": 4, "num_heads": 2}
# The sublayers, the one first whose mistakes concern all, and the linear map that each ends with.
SUBLAYERS = {"ffn": "ffn.fc2", "self_attention": "self_attention.o_proj", "cross_attention": "cross_attention.o_proj"}
FFN_OUTPUT = Site("the feed-forward network's output", {"channel": 4})
# What is dropped besides or instead; a mistake that explains another one comes later.
FFN_MISTAKES = {
    "elements of the sums are dropped instead of the sublayers' outputs": ("total1", "total2", "total3"),
    "elements are dropped after the norms instead of before the adds": ("y", "z", "result"),
    "hidden activations are dropped instead of the feed-forward network's output": ("activated",),
    "hidden activations are dropped, besides the feed-forward network's output": ("activated", "ffn_output"),
}
ATTENTION_MISTAKES = {
    "scores are dropped before the softmax instead of weights after it": ("scores", "output"),
    "elements of the heads' results are dropped instead of attention weights": ("heads", "output"),
}


def block_state(draw, d_model=D_MODEL, d_ff=D_FF):
    """A checkpoint with random gains, biases and weights."""
    # Queries and keys read streams that spread widely: small weights keep the softmax from saturating.
    gains = {"q_proj": 0.2, "k_proj": 0.2, "v_proj": 0.5, "o_proj": 1.0}
    state = {}
    for attention in ("self_attention", "cross_attention"):
        for name, gain in gains.items():
            state |= draw.linear(f"{attention}.{name}", d_model, d_model, gain=gain)
    for name in ("addnorm1", "addnorm2", "addnorm3"):
        state |= draw.norm(f"{name}.norm", d_model)
    for name in ("addnorm1", "addnorm2"):
        state[f"{name}.norm.weight"] *= 4  # so that the next norm's eps doesn't show: tiny_values is about that
    return {**state, **draw.linear("ffn.fc1", d_ff, d_model), **draw.linear("ffn.fc2", d_model, d_ff)}


def wide_stream(draw, batch, seq_len, d_model=D_MODEL):
    """A stream that spreads so far that the first norm's eps doesn't show."""
    return 4 * draw.normal(batch, seq_len, d_model) + 2


def streams(draw, batch=2, target_len=5, source_len=7, d_model=D_MODEL):
    """A decoder's stream and an encoder's output, of different lengths."""
    return wide_stream(draw, batch, target_len, d_model), wide_stream(draw, batch, source_len, d_model)


def open_mask(draw, *shape):
    """A mask of self-attention: each query sees itself, the last one misses an earlier key, the first sees a later."""
    size = shape[-1]
    mask = draw.mask(*shape) | torch.eye(size, dtype=torch.bool)
    mask[..., -1, draw.integer(0, size - 1)] = False
    mask[..., 0, -1] = True
    return mask


def key_mask(draw, batch, size):
    """A mask of self-attention by keys alone, (batch, 1, 1, size): the first key is seen, one after it is not."""
    mask = draw.mask(batch, 1, 1, size)
    mask[..., [0, -1]] = True
    mask[..., draw.integer(1, size - 1)] = False
    return mask


def silence(state, *keys):
    """The same checkpoint with the weights and biases of these linear maps zero."""
    return {key: tensor * 0 if key.rpartition(".")[0] in keys else tensor for key, tensor in state.items()}


@case
def plain_block(draw):
    "gives the block's output and gradients, causal also where no mask is given"
    return module_call(BLOCK, CONFIG, block_state(draw), *streams(draw))


@case
def self_masks(draw):
    "hides from self-attention what self_mask hides, and what comes later"
    masks = (
        open_mask(draw, 5, 5),
        key_mask(draw, 2, 5),
        open_mask(draw, 2, NUM_HEADS, 5, 5),
    )
    return [module_call(BLOCK, CONFIG, block_state(draw), *streams(draw), self_mask=mask) for mask in masks]


@case
def cross_masks(draw):
    "hides from cross-attention what cross_mask hides, and nothing else"
    shapes = (5, 7), (2, 1, 1, 7), (2, NUM_HEADS, 5, 7), (1, 7), (1, NUM_HEADS, 1, 7)
    return [
        module_call(BLOCK, CONFIG, block_state(draw), *streams(draw), cross_mask=draw.mask(*shape)) for shape in shapes
    ]


@case
def masks_together(draw):
    "keeps the two masks apart when both are given, in the order self_mask, cross_mask"
    masks = (
        (open_mask(draw, 5, 5), draw.mask(2, 1, 1, 7)),
        (open_mask(draw, 1, NUM_HEADS, 5, 5), draw.mask(2, 1, 5, 7)),
    )
    return [module_call(BLOCK, CONFIG, block_state(draw), *streams(draw), *pair) for pair in masks]


@case
def query_that_sees_nothing(draw):
    "gives a query that may attend to nothing a zero attention output, with finite gradients"
    padded_left = torch.ones(2, 1, 1, 5, dtype=torch.bool)
    padded_left[0, ..., :2] = False  # the causal mask hides the rest from the first two queries
    hidden_query = torch.ones(2, 1, 5, 1, dtype=torch.bool)
    hidden_query[1, :, draw.integer(0, 5)] = False
    pairs = (
        (padded_left, None),
        (None, draw.mask(5, 7, hidden_rows=2)),
        (hidden_query, draw.mask(2, 1, 1, 7, hidden_rows=1)),
        (torch.zeros(5, 5, dtype=torch.bool), torch.zeros(1, 1, dtype=torch.bool)),
    )
    one_of_two = torch.tensor([True, False]).reshape(2, 1, 1, 1)
    one_token = module_call(BLOCK, CONFIG, block_state(draw), *streams(draw, 2, 1, 7), one_of_two, ~one_of_two)
    return [
        *(
            module_call(BLOCK, CONFIG, block_state(draw), *streams(draw), self_mask=own, cross_mask=cross)
            for own, cross in pairs
        ),
        one_token,
    ]


@case
def low_scores(draw):
    "hides what a mask hides, however low the scores of the visible keys are"
    # Opposite query and key biases push all scores down by 128; a softmax doesn't see it, a weak fill does.
    far_down = block_state(draw)
    for attention in ("self_attention", "cross_attention"):
        direction = draw.normal(NUM_HEADS, D_MODEL // NUM_HEADS)
        direction = (16 * direction / direction.norm(dim=-1, keepdim=True)).flatten()
        far_down[f"{attention}.q_proj.bias"] = direction
        far_down[f"{attention}.k_proj.bias"] = -direction
        far_down[f"{attention}.k_proj.weight"] *= 0.2
    return module_call(BLOCK, CONFIG, far_down, *streams(draw), cross_mask=draw.mask(2, 1, 5, 7))


@case
def long_sequences(draw):
    "takes a target and a source of more than 1000 tokens"
    config = {"d_model": 4, "d_ff": 4, "num_heads": 1}
    lengths = 1, 1100, 1030
    return module_call(BLOCK, config, block_state(draw, 4, 4), *streams(draw, *lengths, 4))


@case
def sizes_that_coincide(draw):
    "tells masks and streams apart where batch, heads and both lengths are equal"
    one_hidden = torch.ones(3, 3, dtype=torch.bool)
    one_hidden[torch.arange(3), draw.permutation(3)] = False  # another key for each query: no two rows are equal
    pairs = (
        (None, one_hidden),
        (open_mask(draw, 3, 3), None),
        (None, draw.mask(1, 3, 3, 3)),
        (None, draw.mask(3, 1, 1, 3)),
    )
    return [module_call(BLOCK, CONFIG, block_state(draw), *streams(draw, 3, 3, 3), *pair) for pair in pairs]


@case
def smallest_sizes(draw):
    "works with one head, with heads and streams of width one, for one token, and for a source of one token"
    sizes = (1, 2, 5, 1), (D_MODEL, 2, 5, 3), (NUM_HEADS, 1, 1, 7)
    calls = [
        module_call(BLOCK, {**CONFIG, "num_heads": num_heads}, block_state(draw), *streams(draw, *lengths))
        for num_heads, *lengths in sizes
    ]
    width_one = {"d_model": 1, "num_heads": 1, "d_ff": 3}
    # All small: a norm of one number multiplies the rounding of that number by 1 / sqrt(eps).
    state = {key: tensor if "norm" in key else 0.02 * tensor for key, tensor in block_state(draw, 1, 3).items()}
    x, memory = streams(draw, 2, 3, 4, 1)
    return [*calls, module_call(BLOCK, width_one, state, 0.02 * x, 0.02 * memory)]


@case
def tiny_values(draw):
    "is right where the variance of each sum is as small as eps"
    state = silence(block_state(draw), "self_attention.o_proj", "cross_attention.o_proj", "ffn.fc2")
    for name in ("addnorm1", "addnorm2"):
        for part in ("weight", "bias"):
            state[f"{name}.norm.{part}"] = 1e-3 * state[f"{name}.norm.{part}"]
    return module_call(BLOCK, CONFIG, state, 1e-3 * draw.stream(2, 5, D_MODEL), wide_stream(draw, 2, 7))


@case
def memory_layouts(draw):
    "takes inputs that are not contiguous or expanded, and one tensor for both"
    x, memory = streams(draw)
    pairs = (
        (draw.transposed(x), draw.noncontiguous(memory)),
        (draw.expanded(x[0], 2), draw.expanded(memory[0], 2)),
        (x, x),
    )
    return [module_call(BLOCK, CONFIG, block_state(draw), *pair) for pair in pairs]


@case
def masks_of_every_form(draw):
    "reads every form of both masks at every size, one head, one token and zeros too, whatever was called before"
    return [
        *(
            self_masks_in_every_situation(draw, {**CONFIG, "num_heads": heads, "dropout": 0.5})
            for heads in (1, NUM_HEADS)
        ),
        *(
            cross_masks_in_every_situation(draw, {**CONFIG, "num_heads": heads, "dropout": 0.5})
            for heads in (1, NUM_HEADS)
        ),
    ]


def self_masks_in_every_situation(draw, config):
    """One block, called with each form of self_mask and at each size, without gradients."""
    one = Call()
    block = loaded_block(one, draw, config)
    for name, batch, seq_len, _, mask in masked_situations(draw, config["num_heads"]):
        memory = wide_stream(draw, batch, 7)
        one.apply(block, wide_stream(draw, batch, seq_len), memory, mask).observe(name)
    x, memory = streams(draw)
    one.apply(block, x, memory).observe("ordinary streams")
    one.apply(block, torch.zeros_like(x), memory).observe("a stream of zeros")
    one.apply(block, x, torch.zeros_like(memory)).observe("an encoder's output of zeros")
    one.apply(block, x[:, :1].repeat(1, 5, 1), memory[:, :1].repeat(1, 7, 1)).observe("tokens that are all alike")
    one.apply(one.method(block, "float"), *(one.method(one.leaf(given), "float") for given in (x, memory)))
    one.apply(one.method(block, "double"), x, memory).observe("after a call in float32")
    loud = block_state(draw)
    loud["ffn.fc1.weight"] = 100 * loud["ffn.fc1.weight"]
    one.load_state(block, loud)
    one.apply(block, x, memory).observe("hidden activations of some hundreds")
    return one.values_only().under_no_grad()


def cross_masks_in_every_situation(draw, config):
    """One block, called with each form of cross_mask and at each size, without gradients."""
    one = Call()
    block = loaded_block(one, draw, config)
    for name, batch, target_len, source_len, mask in masked_situations(draw, config["num_heads"], cross=True):
        memory = wide_stream(draw, batch, source_len)
        one.apply(block, wide_stream(draw, batch, target_len), memory, cross_mask=mask).observe(name)
    x, memory = streams(draw)
    memory[:, 4:] *= 1200.0  # what stands in padding may be large: its scores lie far above the visible ones
    one.apply(block, x, memory, cross_mask=(torch.arange(7) < 4).expand(5, 7)).observe("large tokens in the padding")
    one.load_state(block, far_apart(block_state(draw)))
    far = wide_stream(draw, 2, 12), wide_stream(draw, 2, 7)
    one.apply(block, *far, draw.mask(12, 12), draw.mask(12, 7)).observe("scores that lie far apart")
    return one.values_only().under_no_grad()


def far_apart(state):
    """The same checkpoint with scores so far apart that a hidden key may lie 100 above all visible ones."""
    return {key: 12 * tensor if "q_proj" in key or "k_proj" in key else tensor for key, tensor in state.items()}


def loaded_block(one, draw, config):
    block = one.construct(BLOCK, **config)
    one.to(block)
    one.load_state(block, block_state(draw))
    one.eval(block)
    return block


@case
def several_calls(draw):
    "keeps nothing from one call to the next: lengths, masks, the encoder's output, weights, modes"
    x, memory = streams(draw, batch=3)
    own, cross = open_mask(draw, 5, 5), draw.mask(3, 1, 1, 7)
    one = Call()
    block = loaded_block(one, draw, {**CONFIG, "dropout": 0.5})
    one.apply(block, x, memory, own, cross).observe("first")
    one.apply(block, x, wide_stream(draw, 3, 7), own, cross).observe("another encoder's output")
    one.apply(block, x, memory).observe("no masks")
    one.apply(block, wide_stream(draw, 2, 11), wide_stream(draw, 2, 4)).observe("2 sequences of 11 tokens")
    second = one.construct(BLOCK, **{**CONFIG, "num_heads": 4})
    one.to(second)
    one.load_state(second, block_state(draw))
    one.eval(second)
    one.apply(second, x, memory, own, cross).observe("a block with 4 heads")
    one.train(second)
    one.apply(block, x, memory, own, cross).observe("first again")
    other = Call()
    block = other.construct(BLOCK, **CONFIG)
    other.to(block)
    other.load_state(block, block_state(draw))
    other.eval(block)
    other.apply(block, x, memory).observe("one checkpoint")
    other.load_state(block, block_state(draw))
    other.apply(block, x, memory).observe("another checkpoint")
    return [one, other.differentiate()]  # loading writes over what a gradient would need


@case
def nothing_to_drop(draw):
    "drops nothing in evaluation, nor in training with probability zero, the default"
    state, (x, memory) = block_state(draw), streams(draw)
    masks = open_mask(draw, 5, 5), draw.mask(5, 7, hidden_rows=1)
    calls = [module_call(BLOCK, {**CONFIG, "dropout": 0.5}, state, x, memory, *given) for given in ((), masks)]
    # A probability of 1e-12 goes every way that dropout goes, gradients included, and drops nothing.
    for config, given in (({**CONFIG, "dropout": 0.0}, ()), (CONFIG, masks), ({**CONFIG, "dropout": 1e-12}, masks)):
        one = Call()
        block = one.construct(BLOCK, **config)
        one.to(block)
        one.load_state(block, state)
        one.train(block)
        one.apply(block, x, memory, *given).observe("output")
        calls.append(one)
    return calls


@case
def lower_precision(draw):
    "gives float32 for a float32 block and bfloat16 for a bfloat16 block, and is right far from zero"
    masks = key_mask(draw, 2, 5), draw.mask(5, 7, hidden_rows=1)
    calls = [
        module_call(BLOCK, {**CONFIG, "dropout": 0.5}, block_state(draw), *streams(draw), *given).in_dtype(dtype)
        for dtype, given in ((torch.float32, masks), (torch.bfloat16, ()), (torch.bfloat16, masks))
    ]
    silent = silence(block_state(draw), "self_attention.o_proj")  # such a stream would saturate its softmax
    x, memory = 2000 + 1.5 * draw.normal(4, 9, D_MODEL), wide_stream(draw, 4, 7)
    far = module_call(BLOCK, CONFIG, silent, x, memory).in_dtype(torch.float32)
    farther = module_call(BLOCK, CONFIG, silent, 1e7 + 1.5 * draw.normal(4, 9, D_MODEL), memory)
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


@case
def refused_encoder_widths(draw):
    "raises a ValueError in forward when encoder_output is not d_model wide"
    x = wide_stream(draw, 2, 5)
    return [
        module_call(BLOCK, CONFIG, None, x, wide_stream(draw, 2, source_len, width)).raises(ValueError, naming=width)
        for source_len, width in ((7, 8), (7, 15), (7, 1), (7, 2 * D_MODEL), (5, 8))
    ]


@relation
def fresh_blocks(draw):
    "starts with finite values that differ from block to block"
    one = Call()
    for name in ("one", "other"):
        block = one.construct(BLOCK, **CONFIG)
        one.to(block)
        one.eval(block)
        one.apply(block, *streams(draw)).observe(f"output of {name}")
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
    """A checkpoint for TINY whose masks can be read from the output: no gain, weight or activation is close to zero."""
    state = block_state(draw, d_model=4, d_ff=4)
    for name in ("addnorm1", "addnorm2", "addnorm3"):
        state[f"{name}.norm.weight"] = draw.uniform(0.5, 1.5, 4)
    state["ffn.fc1.weight"] = draw.weight(4, 4, gain=0.2)
    state["ffn.fc1.bias"] = draw.uniform(1.5, 2.5, 4)
    return state


def predicted(state, x, memory, cross_mask=None, **kept):
    """The block's output (patterns, batch, token, d_model) for the masks (patterns, ...) of some places."""

    def keep(place, *shape):
        return kept[place].reshape(-1, *shape) if place in kept else torch.ones((), dtype=torch.float64)

    def linear(key, inputs):
        return torch.nn.functional.linear(inputs, state[f"{key}.weight"], state[f"{key}.bias"])

    def norm(number, residual, output):
        total = (residual + output) * keep(f"total{number}", 1, 1, 4)
        key = f"addnorm{number}.norm"
        return torch.nn.functional.layer_norm(total, (4,), state[f"{key}.weight"], state[f"{key}.bias"])

    def attend(name, stream, source, hidden):
        inputs = {"q_proj": stream, "k_proj": source, "v_proj": source}
        query, key, value = (
            linear(f"{name}.{layer}", given).unflatten(-1, (2, 2)).transpose(-3, -2) for layer, given in inputs.items()
        )
        keys = source.shape[-2]
        scores = query @ key.transpose(-2, -1) / 2**0.5 * keep(f"{name}.scores", 1, 2, 1, keys)
        scores = scores.masked_fill(hidden, -torch.inf)  # (patterns, batch, head, query, key)
        weights = scores.softmax(-1).nan_to_num()  # NaN: a query that sees nothing
        weights = weights * keep(f"{name}.weights", 1, 2, 1, keys)
        heads = weights @ value * keep(f"{name}.heads", 1, 2, 1, 2)
        return linear(f"{name}.o_proj", heads.transpose(-3, -2).flatten(-2)) * keep(f"{name}.output", 1, 1, 4)

    later = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
    hidden = torch.zeros(x.shape[1], memory.shape[1], dtype=torch.bool) if cross_mask is None else ~cross_mask
    y = norm(1, x, attend("self_attention", x, x, later)) * keep("y", 1, 1, 4)
    z = norm(2, y, attend("cross_attention", y, memory, hidden)) * keep("z", 1, 1, 4)
    activated = linear("ffn.fc1", z).relu() * keep("activated", 1, 1, 4)
    return norm(3, z, linear("ffn.fc2", activated) * keep("ffn_output", 1, 1, 4)) * keep("result", 1, 1, 4)


def mistakes_of(sentences, state, x, memory, prefix=""):
    return [
        Mistake(
            sentence,
            [Site(place, {"element": 4}) for place in places],
            lambda *kept, places=places: predicted(
                state, x, memory, **{prefix + place: mask for place, mask in zip(places, kept, strict=True)}
            ),
        )
        for sentence, places in sentences.items()
    ]


def dropout_at(draw, p, names=SUBLAYERS, **masks):
    """Training runs of tiny blocks, in each of which one of these sublayers speaks, and the check of their masks."""
    x, memory, state = draw.stream(2, 2, 4), draw.stream(2, 2, 4), tiny_state(draw)
    speaking = {name: silence(state, *(SUBLAYERS[other] for other in SUBLAYERS if other != name)) for name in names}
    calls = [training_batches({**TINY, "dropout": p}, given, x, memory, masks) for given in speaking.values()]

    def check(observations):
        for name, batches in zip(names, observations, strict=True):
            fault = ffn_fault if name == "ffn" else attention_fault
            found = shared_draws(batches) or fault(runs_of(batches), p, name, speaking[name], x, memory)
            if found:
                return found
        return None

    return calls, check


def training_batches(config, state, x, memory, masks):
    """One block in training, after an evaluation, and four batches; each has 16 pairs of the same two sequences."""
    one = Call()
    block = one.construct(BLOCK, **config)
    one.to(block)
    one.load_state(block, state)
    one.eval(block)
    one.apply(block, x, memory, **masks)
    one.train(block)
    for index in range(4):
        one.apply(block, x.repeat(16, 1, 1), memory.repeat(16, 1, 1), **masks).observe(f"batch{index}")
    return one.random()


def runs_of(batches):
    """Each pair of sequences is a run of its own."""
    pairs = torch.cat(list(batches.values())).unflatten(0, (-1, 2))
    return {f"run{index}": pair for index, pair in enumerate(pairs)}


def shared_draws(batches):
    """What is wrong if all calls, or all pairs of sequences of a call, drop the same; None if nothing is dropped."""
    calls = [batch.unflatten(0, (-1, 2)) for batch in batches.values()]
    every_call = all(torch.equal(calls[0], call) for call in calls)
    every_pair = all(torch.equal(call[:1].expand_as(call), call) for call in calls)
    if every_call == every_pair:
        return None
    return "every call drops the same elements" if every_call else "all sequences of a batch share one mask"


def ffn_fault(runs, p, _, state, x, memory, cross_mask=None):
    return compare_dropout(
        runs,
        p,
        [FFN_OUTPUT],
        lambda output: predicted(state, x, memory, cross_mask, ffn_output=output),
        mistakes=mistakes_of(FFN_MISTAKES, state, x, memory),
    )


def attention_fault(runs, p, name, state, x, memory, cross_mask=None):
    spoken = name.replace("_attention", "-attention")
    keys = (memory if name == "cross_attention" else x).shape[1]
    sites = [
        Site(f"the {spoken}'s weights", {"head": 2, "key": keys}),
        Site(f"the {spoken}'s output", {"channel": 4}),
    ]

    def predict(weights, output):
        return predicted(state, x, memory, cross_mask, **{f"{name}.weights": weights, f"{name}.output": output})

    mistakes = mistakes_of(ATTENTION_MISTAKES, state, x, memory, prefix=f"{name}.")
    return compare_dropout(runs, p, sites, predict, mistakes=mistakes)


def outputs_fault(runs, p, _, state, x, memory, cross_mask=None):
    """What is wrong with the masks of all three outputs, of which each has its own."""
    attentions = "self_attention", "cross_attention"
    sites = [Site(f"the {name.replace('_', '-')}'s output", {"channel": 4}) for name in attentions]

    def predict(own, cross, ffn):
        kept = {"self_attention.output": own, "cross_attention.output": cross, "ffn_output": ffn}
        return predicted(state, x, memory, cross_mask, **kept)

    return compare_dropout(runs, p, [*sites, FFN_OUTPUT], predict)


@relation
def dropout_of_other_inputs(draw):
    "drops from one sequence, single tokens, many tokens and masked ones too, whatever drops besides"
    state, blind = tiny_state(draw), torch.tensor([[False, False], [True, True]])
    situations = {
        ("self_attention", 1, 2): None,
        ("cross_attention", 1, 2): blind,
        ("ffn", 1, 130): None,
        ("self_attention", 3, 1): None,
        ("cross_attention", 3, 1): None,
        ("outputs", 3, 1): None,
    }
    calls, given = [], []
    for (name, batch, target_len), mask in situations.items():
        others = [SUBLAYERS[other] for other in SUBLAYERS if other != name]
        # Without values, dropping weights changes nothing, and the three outputs can be read together.
        values = [f"{attention}.v_proj" for attention in ("self_attention", "cross_attention")]
        speaking = silence(state, *(values if name == "outputs" else others))
        x, memory = draw.stream(batch, target_len, 4), draw.stream(batch, 2, 4)
        calls.append(runs_among_blocks(BLOCK, {**TINY, "dropout": 0.75}, speaking, x, memory, cross_mask=mask))
        given.append((name, speaking, x, memory, mask))

    def check(observations):
        for runs, (name, *inputs) in zip(observations, given, strict=True):
            compare = {"ffn": ffn_fault, "outputs": outputs_fault}.get(name, attention_fault)
            fault = compare(runs, 0.75, name, *inputs)
            outputs = list(runs.values())
            alike = all(torch.equal(*pair) for pair in zip(outputs[::2], outputs[1::2], strict=True))
            if fault or alike:
                return fault or "two blocks drop the same elements"
        return None

    return calls, check


@relation
def gradients_in_training(draw):
    "passes gradients back, in training, through exactly the elements that its output was computed with"
    state, (x, memory), masks = block_state(draw), streams(draw), (open_mask(draw, 5, 5), draw.mask(5, 7))
    return training_gradients(draw, BLOCK, {**CONFIG, "dropout": 0.5}, state, x, memory, *masks)


@relation
def training_in_lower_precision(draw):
    "keeps its input's dtype in training with dropout"
    return [
        training_runs(BLOCK, {**CONFIG, "dropout": 0.5}, block_state(draw), *streams(draw), runs=1).in_dtype(dtype)
        for dtype in (torch.float32, torch.bfloat16)
    ], lambda observations: None


@relation
def dropout_sites(draw):
    "drops both attentions' weights and each sublayer's output in training, before its add, after an evaluation too"
    return dropout_at(draw, 0.5)


@relation
def dropout_probability(draw):
    "drops a quarter in training with dropout 0.25 and scales the rest by 4/3, under masks and torch.no_grad() too"
    both, visible = ["cross_attention", "self_attention"], torch.ones(2, 2, dtype=torch.bool)
    calls, check = dropout_at(draw, 0.25, both, self_mask=visible, cross_mask=visible)
    return [one.under_no_grad() for one in calls], check
