"""Cases of the encoder-decoder: its three methods, padding, positions, checkpoints, errors, and where dropout acts."""

import torch

from judge.authoring import Call, case, relation
from judge.dropout import Mistake, Site, compare_dropout, training_runs
from judge.training_gradients import training_gradients

MODEL = "EncoderDecoder"
SOURCE_VOCAB, TARGET_VOCAB, D_MODEL, D_FF, NUM_HEADS = 11, 9, 12, 20, 3
CONFIG = {
    "source_vocab": SOURCE_VOCAB,
    "target_vocab": TARGET_VOCAB,
    "d_model": D_MODEL,
    "d_ff": D_FF,
    "num_heads": NUM_HEADS,
    "num_blocks": 1,
}
DEEPER = {**CONFIG, "num_blocks": 2}

# Dropout is judged on models so small that all masks of a token can be listed.
TINY = {"source_vocab": 5, "target_vocab": 6, "d_model": 4, "d_ff": 4, "num_heads": 2}
ATTENTIONS = {"encoder_blocks": ["attention"], "decoder_blocks": ["self_attention", "cross_attention"]}


def model_state(draw, config=CONFIG):
    """A checkpoint with random gains, biases, weights and embeddings."""
    d_model, d_ff = config["d_model"], config["d_ff"]
    state = {f"{side}_tokens.weight": draw.normal(config[f"{side}_vocab"], d_model) for side in ("source", "target")}
    for side, attentions in ATTENTIONS.items():
        for index in range(config["num_blocks"]):
            state |= block_state(draw, f"{side}.{index}", attentions, d_model, d_ff)
    return {**state, **draw.linear("head", config["target_vocab"], d_model)}


def block_state(draw, prefix, attentions, d_model, d_ff):
    # The first block reads scaled embeddings, which spread widely: small weights keep the softmax from saturating.
    gains = {"q_proj": 0.3, "k_proj": 0.3, "v_proj": 1.0, "o_proj": 1.5}
    state = {}
    for attention in attentions:
        for name, gain in gains.items():
            state |= draw.linear(f"{prefix}.{attention}.{name}", d_model, d_model, gain=gain)
    for number in range(len(attentions) + 1):
        state |= draw.norm(f"{prefix}.addnorm{number + 1}.norm", d_model)
    return {
        **state,
        **draw.linear(f"{prefix}.ffn.fc1", d_ff, d_model),
        **draw.linear(f"{prefix}.ffn.fc2", d_model, d_ff),
    }


def ids(draw, batch=2, source_len=7, target_len=5):
    """A source and a target, each with the first and the last id of its vocabulary."""
    source, target = (
        draw.integers(0, SOURCE_VOCAB, batch, source_len),
        draw.integers(0, TARGET_VOCAB, batch, target_len),
    )
    source[0, :2] = torch.tensor([0, SOURCE_VOCAB - 1])[:source_len]
    target[0, :2] = torch.tensor([0, TARGET_VOCAB - 1])[:target_len]
    return source, target


def ready(draw, config=CONFIG, state=None):
    """A call with a model of this configuration, loaded and in evaluation."""
    one = Call()
    model = one.construct(MODEL, **config)
    one.to(model)
    one.load_state(model, state or model_state(draw, config))
    one.eval(model)
    return one, model


def forward_call(draw, config, *args, **kwargs):
    one, model = ready(draw, config)
    one.apply(model, *args, **kwargs).observe("output")
    return one


@case
def plain_model(draw):
    "gives logits and gradients for a source without padding"
    return forward_call(draw, DEEPER, *ids(draw))


@case
def padded_sources(draw):
    "hides each source's padding from the encoder and from the decoder, and hides nothing else"
    return [
        forward_call(draw, DEEPER, *ids(draw), torch.tensor([7, 3])),
        forward_call(draw, CONFIG, *ids(draw, 3), source_lengths=torch.tensor([1, 6, 4])),
        forward_call(draw, CONFIG, *ids(draw), torch.tensor([4, 4])),  # equal, and yet there is padding
    ]


@case
def encode_alone(draw):
    "encodes a source, and at its valid positions a padded one"
    source = ids(draw)[0]
    one, model = ready(draw)
    one.method(model, "encode", source).observe("encoded")
    padded = one.method(model, "encode", source, torch.tensor([4, 7]))
    one.method(padded, "narrow", 1, 0, 4).observe("encoded with padding, its first 4 positions")
    padded = one.method(model, "encode", source, torch.tensor([5, 2]))
    one.method(padded, "size", 1).observe("length of what is encoded where all sources have padding")
    return one


@case
def decode_alone(draw):
    "decodes from any encoder_output, with and without padding, also a target that is the longer one"
    memory, target = 2 * draw.normal(2, 4, D_MODEL) + 1, ids(draw, target_len=8)[1]
    one, model = ready(draw)
    one.method(model, "decode", target, memory).observe("logits")
    one.method(model, "decode", target, memory, source_lengths=torch.tensor([2, 3])).observe("logits with padding")
    return one


@case
def embeddings_alone(draw):
    "scales the embeddings and adds the positions, as zero blocks show"
    config = {**CONFIG, "num_blocks": 0}
    source, target = ids(draw)
    one, model = ready(draw, config)
    encoded = one.method(model, "encode", source).observe("encoded")
    one.method(model, "decode", target, encoded).observe("logits")
    return one


@case
def long_sequences(draw):
    "has a position for every token of a sequence of more than 1000 or 5000"
    source, target = ids(draw, 1, 1030, 1025)
    calls = []
    for dtype in (torch.float64, torch.bfloat16):
        one, model = ready(draw, {**CONFIG, "num_blocks": 0})
        encoded = one.method(model, "encode", source).observe("encoded")
        one.method(model, "decode", target, encoded).observe("logits")
        calls.append(one.in_dtype(dtype))
    small = {**CONFIG, "d_model": 4, "d_ff": 4, "num_heads": 1}
    source_of_5003, target_of_2051 = ids(draw, 1, 5003, 2051)
    longest, model = ready(draw, {**small, "num_blocks": 0})
    encoded = longest.method(model, "encode", source_of_5003)
    longest.method(encoded, "narrow", 1, 4995, 8).observe("the last 8 of 5003 encoded tokens")
    logits = longest.method(model, "decode", target_of_2051, encoded)
    longest.method(logits, "narrow", 1, 2043, 8).observe("the last 8 logits of 2051")
    calls.append(longest.in_dtype(torch.float32).values_only())
    return [*calls, forward_call(draw, small, source, target, torch.tensor([1027]))]


@case
def low_scores(draw):
    "hides padding and later tokens, however low the scores of the visible ones are"
    # Opposite query and key biases push all scores down by 128; a softmax doesn't see it, a weak fill does.
    far_down = model_state(draw)
    for side, attentions in ATTENTIONS.items():
        for attention in attentions:
            direction = draw.normal(NUM_HEADS, D_MODEL // NUM_HEADS)
            direction = (16 * direction / direction.norm(dim=-1, keepdim=True)).flatten()
            for name, bias in (("q_proj", direction), ("k_proj", -direction)):
                far_down[f"{side}.0.{attention}.{name}.bias"] = bias
            far_down[f"{side}.0.{attention}.k_proj.weight"] *= 0.2
    one, model = ready(draw, state=far_down)
    one.apply(model, *ids(draw), torch.tensor([4, 3])).observe("output")
    return one


@case
def tiny_variances(draw):
    "is right where the variance of a sum is as small as eps"
    state = model_state(draw)
    for side, attentions in ATTENTIONS.items():
        for name in [f"addnorm{len(attentions)}.norm", "ffn.fc2"]:
            for part in ("weight", "bias"):
                state[f"{side}.0.{name}.{part}"] *= 1e-3
    one, model = ready(draw, state=state)
    one.apply(model, *ids(draw)).observe("output")
    return one


@case
def other_depths(draw):
    "runs through all blocks, each with its own weights, also where there are three on each side"
    return forward_call(draw, {**CONFIG, "num_blocks": 3}, *ids(draw, 1, 4, 3))


@case
def sizes_that_coincide(draw):
    "tells source from target, and sequences from heads and tokens, where all sizes are equal"
    config = {**CONFIG, "source_vocab": TARGET_VOCAB}
    source, target = (draw.integers(0, TARGET_VOCAB, 3, 3) for _ in range(2))
    return forward_call(draw, config, source, target, torch.tensor([2, 1, 3]))


@case
def smallest_sizes(draw):
    "works with one head, for single tokens, and for a batch of one"
    return [
        forward_call(draw, {**CONFIG, "num_heads": 1}, *ids(draw, 2, 1, 5)),
        forward_call(draw, CONFIG, *ids(draw, 1, 7, 1), torch.tensor([3])),
    ]


@case
def memory_layouts(draw):
    "takes ids that are not contiguous or expanded, and one tensor for both"
    source, target = ids(draw)
    same_ids = draw.integers(0, TARGET_VOCAB, 2, 5)
    return [
        forward_call(draw, CONFIG, draw.transposed(source), draw.expanded(target[0], 2)),
        forward_call(draw, CONFIG, same_ids, same_ids),
    ]


@case
def several_calls(draw):
    "keeps nothing from one call to the next: lengths, sources, weights"
    (source, target), (other_source, other_target) = ids(draw), ids(draw)
    lengths = torch.tensor([3, 5])
    state = model_state(draw)
    one, model = ready(draw, state=state)
    one.apply(model, source, target, lengths).observe("first")
    one.apply(model, other_source, target, torch.tensor([6, 2])).observe("another source")
    encoded = one.method(model, "encode", source).observe("encoded without padding")
    for count in (1, 2, 5):
        one.method(model, "decode", target[:, :count], encoded).observe(f"the first {count} target tokens")
    one.method(model, "encode", other_source, lengths)
    one.method(model, "decode", target, encoded).observe("without padding, after an encoding with padding")
    one.apply(model, *ids(draw, 3, 9, 12)).observe("3 longer sequences")
    one.apply(model, source, other_target, lengths).observe("another target")
    one.apply(model, source, target, lengths).observe("first again")
    one.load_state(model, model_state(draw))
    one.apply(model, source, target, lengths).observe("another checkpoint")
    return one.differentiate()  # loading writes over what a gradient would need


@case
def ids_that_are_all_alike(draw):
    "reads ids that are all zero or alike, single target tokens and sources of length 1 as any others, in any order"
    source, target = ids(draw)
    one, model = ready(draw)
    one.apply(model, source, target).observe("first")
    for lengths in ((1, 1), (1, 7), (7, 7), (3, 2)):
        one.apply(model, source, target[:, :1], torch.tensor(lengths)).observe(f"one target token, lengths {lengths}")
    one.apply(model, source[:1], target[:1], torch.tensor([1])).observe("one source of length 1")
    one.apply(model, 0 * source, 0 * target).observe("zeros")
    one.apply(model, 0 * source, target, torch.tensor([4, 7])).observe("a source of zeros with padding")
    one.apply(model, source[:, :1].repeat(1, 7), target[:, -1:].repeat(1, 5)).observe("ids that are all alike")
    one.method(model, "decode", target, torch.zeros(2, 4, D_MODEL, dtype=torch.float64)).observe("an output of zeros")
    memory, other_memory = one.method(model, "encode", source), one.method(model, "encode", source.flip(1))
    one.method(model, "decode", target[:, :2], memory)
    one.method(model, "decode", target[:, :3], other_memory).observe("a token more, of another source")
    lengths = torch.tensor([4, 3])
    one.method(model, "decode", target[:, :4], other_memory, lengths).observe("a token more, with padding")
    one.load_state(model, model_state(draw))
    one.method(model, "decode", target, other_memory).observe("the same encoder_output, another checkpoint")
    one.apply(one.method(model, "float"), source, target)  # what is kept in another dtype is an error here
    return one.values_only().under_no_grad()


@case
def nothing_to_drop(draw):
    "drops nothing in evaluation, nor in training with probability zero, the default"
    (source, target), lengths = ids(draw), torch.tensor([7, 3])
    state = model_state(draw)
    one, model = ready(draw, {**CONFIG, "dropout": 0.5}, state)
    one.apply(model, source, target, lengths).observe("output")
    calls = [one]
    # A probability of 1e-12 goes every way that dropout goes, gradients included, and drops nothing.
    for config in (CONFIG, {**CONFIG, "dropout": 1e-12}):
        one, model = ready(draw, config, state)
        one.train(model)
        one.apply(model, source, target, lengths).observe("output")
        calls.append(one)
    return calls


@case
def lower_precision(draw):
    "gives float32 for a float32 model and bfloat16 for a bfloat16 model"
    return [
        forward_call(draw, CONFIG, *ids(draw), lengths).in_dtype(dtype)
        for dtype, lengths in ((torch.float32, None), (torch.bfloat16, torch.tensor([7, 3])))
    ]


@case
def refused_sizes(draw):
    "raises a ValueError in the constructor for an odd d_model, heads that do not divide it, fewer than 0 blocks"
    refused = {"d_model": 15}, {"num_heads": 5}, {"num_blocks": -1}
    calls = []
    for wrong in refused:
        one = Call()
        one.construct(MODEL, **{**CONFIG, **wrong})
        calls.append(one.raises(ValueError, naming=next(iter(wrong.values()))))
    return calls


@relation
def fresh_models(draw):
    "starts with finite values that differ from model to model and from block to block"
    one = Call()
    for name in ("one", "other"):
        model = one.construct(MODEL, **DEEPER)
        one.to(model)
        one.eval(model)
        one.apply(model, *ids(draw)).observe(f"output of {name}")
        one.state_dict(model).observe(name)

    def check(observations):
        given = observations[0]
        for key, tensor in {**given["one"], **given["other"]}.items():
            if not tensor.isfinite().all():
                return f"{key} of a new model is not finite"
        for name in ("one", "other"):
            if not given[f"output of {name}"].isfinite().all():
                return "the output of a new model is not finite"
        state = given["one"]
        matrices = [key for key, tensor in state.items() if tensor.dim() == 2]
        if all(torch.equal(state[key], given["other"][key]) for key in matrices):
            return "two new models have the same weight matrices"
        for side in ATTENTIONS:
            first = [key for key in matrices if key.startswith(f"{side}.0.")]
            if all(torch.equal(state[key], state[key.replace(".0.", ".1.", 1)]) for key in first):
                return f"{side}.0 and {side}.1 of a new model have the same weight matrices"
        return None

    return one.random(), check


def tiny_state(draw, num_blocks, speaking=None):
    """A checkpoint for TINY in which one sublayer speaks and whose masks can be read from the output."""
    state = model_state(draw, {**TINY, "num_blocks": num_blocks})
    for key in state:
        if key.endswith(".norm.weight"):
            state[key] = draw.uniform(0.5, 1.5, 4)
        if key.endswith(".fc1.weight"):
            state[key] = draw.weight(4, 4, gain=0.2)
        if key.endswith(".fc1.bias"):
            state[key] = draw.uniform(1.5, 2.5, 4)
        layer = key.rpartition(".")[0]
        if layer.endswith(("o_proj", "fc2")) and speaking not in layer:
            state[key] = state[key] * 0
    return state


def predicted(state, side, tokens, memory=None, **kept):
    """What a model with at most one block gives, (patterns, token, feature), for the masks (patterns, ...) of some
    places; with a block there is one token on each side, so every softmax gives the weight 1.
    """

    def keep(place, repeats=1):
        ones = torch.ones((), dtype=torch.float64)
        return kept[place].reshape(-1, 1, 4 // repeats).repeat_interleave(repeats, -1) if place in kept else ones

    def linear(key, inputs):
        return torch.nn.functional.linear(inputs, state[f"{key}.weight"], state[f"{key}.bias"])

    def norm(key, inputs):
        return torch.nn.functional.layer_norm(inputs, (4,), state[f"{key}.norm.weight"], state[f"{key}.norm.bias"])

    angles = torch.arange(len(tokens), dtype=torch.float64)[:, None] / torch.tensor([1.0, 100.0], dtype=torch.float64)
    positions = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
    embedded = 2 * state[f"{side}_tokens.weight"][tokens]  # the root of 4
    x = (embedded * keep("embedded") + positions) * keep("sum")
    block = {"source": "encoder_blocks.0", "target": "decoder_blocks.0"}[side]
    if f"{block}.ffn.fc1.weight" in state:
        attentions = ATTENTIONS[block.partition(".")[0]]
        for number, attention in enumerate(attentions, start=1):
            values = linear(f"{block}.{attention}.v_proj", memory if attention == "cross_attention" else x)
            output = linear(f"{block}.{attention}.o_proj", values * keep(f"{attention}.weights", repeats=2))
            x = norm(f"{block}.addnorm{number}", x + output * keep(f"{attention}.output"))
        hidden = linear(f"{block}.ffn.fc1", x).relu()
        output = linear(f"{block}.ffn.fc2", hidden) * keep("ffn.output")
        x = norm(f"{block}.addnorm{len(attentions) + 1}", x + output)
    return x if side == "source" else linear("head", x)


def dropped_at(draw, p, side, speaking=None, lengths=None, rows=32):
    """Training runs of encode (side "source") or decode ("target"), and the check of their masks.

    Without blocks, or with one in which one sublayer speaks. All sequences of a batch are alike; two make a run, or a
    single one does: of two models in turn, beside a third one of another probability.
    """
    config = {**TINY, "num_blocks": 0 if speaking is None else 1, "dropout": p}
    state = tiny_state(draw, config["num_blocks"], speaking)
    tokens = draw.integers(0, TINY[f"{side}_vocab"], 2 if speaking is None else 1)
    memory = draw.stream(1, 4)
    one = Call()
    models = [one.construct(MODEL, **config)]
    if rows == 1:
        models += [one.construct(MODEL, **config), one.construct(MODEL, **{**config, "dropout": 0.25})]
    for model in models:
        one.to(model)
        one.load_state(model, state)
        one.train(model)
    arguments = ("encode", tokens.repeat(rows, 1))
    if side == "target":
        arguments = ("decode", tokens.repeat(rows, 1), memory.repeat(rows, 1, 1))
    for index in range(4 if rows > 1 else 20):
        one.method(models[index % 2 if rows == 1 else 0], *arguments, source_lengths=lengths).observe(f"batch{index}")

    places = {"sum": Site(f"the sum of {side} embeddings and positions", {"channel": 4})}
    whose = {"source": "the encoder block's", "target": "the decoder block's"}[side]
    if speaking == "ffn":
        places["ffn.output"] = Site(f"{whose} feed-forward output", {"channel": 4})
    elif speaking:
        spoken = speaking.replace("_", "-")
        places[f"{speaking}.weights"] = Site(f"{whose} {spoken} weights", {"head": 2})
        places[f"{speaking}.output"] = Site(f"{whose} {spoken} output", {"channel": 4})

    def predict(*kept, places=tuple(places)):
        output = predicted(state, side, tokens, memory, **dict(zip(places, kept, strict=True)))
        return output.unsqueeze(1).expand(-1, min(rows, 2), -1, -1)  # (patterns, batch row, token, feature)

    before_positions = Mistake(
        f"{side} embeddings are dropped before the positions are added",
        [Site("the embeddings", {"channel": 4})],
        lambda kept: predict(kept, places=["embedded"]),
    )

    def check(batches):
        pairs = torch.cat(list(batches.values())).unflatten(0, (-1, min(rows, 2)))
        runs = {f"run{index}": pair for index, pair in enumerate(pairs)}
        mistakes = [] if speaking else [before_positions]
        shared = shared_draws(batches) if rows > 1 else None
        fault = shared or compare_dropout(runs, p, list(places.values()), predict, mistakes=mistakes)
        alike = rows == 1 and torch.equal(pairs[::2], pairs[1::2])
        return fault or ("two models drop the same elements" if alike else None)

    return one.random(), check


def shared_draws(batches):
    """What is wrong if all calls, or all pairs of sequences of a call, drop the same; None if nothing is dropped."""
    calls = [batch.unflatten(0, (-1, 2)) for batch in batches.values()]
    every_call = all(torch.equal(calls[0], call) for call in calls)
    every_pair = all(torch.equal(call[:1].expand_as(call), call) for call in calls)
    if every_call == every_pair:
        return None
    return "every call drops the same elements" if every_call else "all sequences of a batch share one mask"


def dropout_at(draw, p, *sites):
    calls, checks = zip(*(dropped_at(draw, p, *site) for site in sites), strict=True)

    def check(observations):
        found = (check(observation) for check, observation in zip(checks, observations, strict=True))
        return next(filter(None, found), None)

    return list(calls), check


@relation
def dropout_of_one_sequence(draw):
    "drops from a single sequence too, whatever models are made besides"
    sites = [("source",), ("target",), ("source", "attention"), ("target", "cross_attention"), ("target", "ffn")]
    calls, checks = zip(*(dropped_at(draw, 0.75, *site, rows=1) for site in sites), strict=True)

    def check(observations):
        found = (check(observation) for check, observation in zip(checks, observations, strict=True))
        return next(filter(None, found), None)

    return list(calls), check


@relation
def gradients_in_training(draw):
    "passes gradients back, in training, through exactly the elements that its output was computed with"
    # The dropout on embeddings is one of many, and a seed's masks may show it by less than the others' slopes hide.
    calls, checks = zip(
        *(training_gradients(draw, MODEL, {**CONFIG, "dropout": 0.5}, model_state(draw), *ids(draw)) for _ in range(3)),
        strict=True,
    )

    def check(observations):
        found = (one([observed]) for one, observed in zip(checks, observations, strict=True))
        return next((fault for fault in found if fault), None)

    return calls, check


@relation
def training_in_lower_precision(draw):
    "keeps its parameters' dtype in training with dropout"
    return [
        training_runs("EncoderDecoder", {**CONFIG, "dropout": 0.5}, model_state(draw), *ids(draw), runs=1).in_dtype(
            dtype
        )
        for dtype in (torch.float32, torch.bfloat16)
    ], lambda observations: None


@relation
def dropout_sites(draw):
    "drops from both sums of embeddings and positions, and inside the blocks, in training"
    encoder = [("source", speaking) for speaking in ("attention", "ffn")]
    decoder = [("target", speaking) for speaking in ("self_attention", "cross_attention", "ffn")]
    return dropout_at(draw, 0.5, ("source",), ("target",), *encoder, *decoder)


@relation
def dropout_probability(draw):
    "drops a quarter in training with dropout 0.25 and scales the rest by 4/3, with lengths and torch.no_grad() too"
    lengths = torch.ones(32, dtype=torch.int64)  # as long as the sources are: nothing is hidden
    blocks = [("source", "attention", lengths), ("target", "cross_attention", lengths)]
    calls, check = dropout_at(draw, 0.25, ("source",), ("target",), *blocks)
    return [one.under_no_grad() for one in calls], check
