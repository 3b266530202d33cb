"""Cases of the language model: logits and gradients, positions, causality, the tied head, and where dropout acts."""

import torch

from judge.authoring import Call, case, module_call, relation
from judge.dropout import Mistake, Site, compare_dropout, training_runs
from judge.training_gradients import training_gradients

VOCAB, MAX_LEN, D_MODEL, D_FF, NUM_HEADS, NUM_BLOCKS = 11, 7, 12, 20, 3, 2
CONFIG = {
    "vocab_size": VOCAB,
    "max_len": MAX_LEN,
    "d_model": D_MODEL,
    "d_ff": D_FF,
    "num_heads": NUM_HEADS,
    "num_blocks": NUM_BLOCKS,
}

# Dropout is judged on a model so small that all masks of a token can be listed.
TINY = {"vocab_size": 6, "max_len": 3, "d_model": 4, "d_ff": 2, "num_heads": 2, "num_blocks": 1}
KEYS = "weight", "bias"
SUM = Site("the sum of the embeddings", {"channel": 4})
BOTH_SUMS = Site("the sums of the embeddings", {"token": 2, "channel": 4})
WEIGHTS = Site("the attention weights", {"head": 2, "key": 2})
IN_TWO_BLOCKS = [
    Site("the sums of the embeddings", {"token": 2}),
    *(
        Site(f"the {number} block's attention weights of the {key}", axes)
        for number in ("first", "second")
        for key, axes in (("first key", {"query": 2}), ("second key", {"query": 1}))
    ),
]
ACTIVATED = Site("the activations after GELU", {"hidden channel": 2})
OUTPUT = Site("the output of fc2", {"channel": 4})


def model_state(draw, scale=4.0, **changes):
    """A checkpoint with random gains, biases and weights; it holds the tied matrix under both of its names."""
    config = {**CONFIG, **changes}
    d_model, d_ff = config["d_model"], config["d_ff"]
    state = {
        "tokens.weight": scale * draw.normal(config["vocab_size"], d_model),
        "positions.weight": scale * (draw.normal(config["max_len"], d_model) + 0.5),
    }
    for index in range(config["num_blocks"]):
        block = {**draw.norm("norm1", d_model), **draw.norm("norm2", d_model)}
        for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
            block |= draw.linear(f"attention.{name}", d_model, d_model)
        block |= {**draw.linear("mlp.fc1", d_ff, d_model), **draw.linear("mlp.fc2", d_model, d_ff, gain=2.0)}
        state |= {f"blocks.{index}.{key}": tensor for key, tensor in block.items()}
    return {**state, **draw.norm("norm", d_model), "head.weight": state["tokens.weight"]}


def some_ids(draw, batch, seq_len, vocab_size=VOCAB):
    """Pairwise different ids without 0: repeated_and_first_tokens is about the others."""
    return 1 + draw.permutation(vocab_size - 1)[: batch * seq_len].reshape(batch, seq_len)


def silence(state, *keys):
    """The same checkpoint with the weights and biases of these linear maps zero."""
    return {key: tensor * 0 if key.rpartition(".")[0] in keys else tensor for key, tensor in state.items()}


def shifted_scores(draw, length, sign):
    """A checkpoint whose query and key biases move all scores by sign * length**2 / 2; a softmax doesn't see it."""
    state = model_state(draw)
    for index in range(NUM_BLOCKS):
        direction = draw.normal(NUM_HEADS, D_MODEL // NUM_HEADS)
        direction = (length * direction / direction.norm(dim=-1, keepdim=True)).flatten()
        for name, bias in (("q_proj", direction), ("k_proj", sign * direction)):
            attention = f"blocks.{index}.attention.{name}"
            state[f"{attention}.weight"] = draw.weight(D_MODEL, D_MODEL, gain=0.5)
            state[f"{attention}.bias"] = bias
    return state


def loaded(one, state, **config):
    """The steps that make a model with this checkpoint, in evaluation."""
    model = one.construct("DecoderOnlyLM", **{**CONFIG, **config})
    one.to(model)
    one.load_state(model, state)
    one.eval(model)
    return model


@case
def plain_logits(draw):
    "gives logits and gradients for ordinary sequences"
    return module_call("DecoderOnlyLM", CONFIG, model_state(draw), some_ids(draw, 2, 5))


@case
def offset_moves_positions(draw):
    "gives row i the position offset + i, up to the last one, and moves nothing else"
    given = (
        *(((2, 3), (1,), {}), ((2, 5), (), {"offset": MAX_LEN - 5})),
        ((1, 1), (MAX_LEN - 1,), {}),
    )
    return [
        module_call("DecoderOnlyLM", CONFIG, model_state(draw), some_ids(draw, *shape), *args, **kwargs)
        for shape, args, kwargs in given
    ]


@case
def future_stays_hidden(draw):
    "lets no token see a later one, however low the scores of the visible ones are"
    far_down = shifted_scores(draw, 9, -1)
    return [module_call("DecoderOnlyLM", CONFIG, far_down, some_ids(draw, *shape)) for shape in ((2, 5), (1, MAX_LEN))]


@case
def repeated_and_first_tokens(draw):
    "treats every id alike: the first and the last of the vocabulary, and those that stand in a sequence twice"
    every_id = draw.permutation(VOCAB)
    shuffled = torch.cat([every_id, every_id[:3]]).reshape(2, MAX_LEN)
    twice = torch.stack([torch.tensor([0, 5, 0, VOCAB - 1]), torch.tensor([5, 5, 3, 0])])
    config, state = {**CONFIG, "num_blocks": 1}, model_state(draw, num_blocks=1)
    zeros = torch.zeros(2, 3, dtype=torch.int64)
    return [module_call("DecoderOnlyLM", config, state, ids) for ids in (shuffled, twice, zeros)]


@case
def smallest_sizes(draw):
    "works without a block, with one block, one head, one token, one sequence, one feature or one word"
    changes = (
        *(({"num_blocks": 0, "dropout": 0.0}, 2, 5), ({"num_blocks": 1, "num_heads": 1}, 2, 3)),
        *(({"num_heads": D_MODEL}, 3, 1), ({"num_blocks": 3}, 1, 4)),
    )
    calls = [
        module_call("DecoderOnlyLM", {**CONFIG, **change}, model_state(draw, **change), some_ids(draw, *shape))
        for change, *shape in changes
    ]
    one_word = {"vocab_size": 1, "max_len": 1, "num_blocks": 1}
    ids = torch.zeros(2, 1, dtype=torch.int64)
    calls.append(module_call("DecoderOnlyLM", {**CONFIG, **one_word}, model_state(draw, **one_word), ids))
    # A norm over one feature is constant: its gradient is zero, and rounding all that a program gives of it.
    narrow = {"d_model": 1, "num_heads": 1, "d_ff": 3, "num_blocks": 1}
    state = model_state(draw, **narrow)
    narrowest = module_call("DecoderOnlyLM", {**CONFIG, **narrow}, state, some_ids(draw, 1, 3)).values_only()
    return [*calls, narrowest]


@case
def tiny_values(draw):
    "is right where the variance is as small as eps and the hidden activations are nearly zero"
    small = model_state(draw, scale=2e-3)
    without = model_state(draw, scale=2e-3, num_blocks=0)
    # Where the attention adds nothing, the second norm of the block gets what is as small as the embeddings.
    unattended = silence(model_state(draw, scale=2e-3, num_blocks=1), "blocks.0.attention.o_proj")
    near_zero = model_state(draw, num_blocks=1)
    near_zero["blocks.0.mlp.fc1.weight"] = draw.weight(D_FF, D_MODEL, gain=0.2)
    near_zero["blocks.0.mlp.fc1.bias"] = 0.1 * draw.normal(D_FF) - 2.2  # here GELU's approximations part
    near_zero["blocks.0.mlp.fc2.weight"] = draw.weight(D_MODEL, D_FF, gain=60.0)
    ids = some_ids(draw, 2, 5)
    return [
        module_call("DecoderOnlyLM", CONFIG, small, ids),
        module_call("DecoderOnlyLM", {**CONFIG, "num_blocks": 0}, without, ids),
        module_call("DecoderOnlyLM", {**CONFIG, "num_blocks": 1}, unattended, ids),
        module_call("DecoderOnlyLM", {**CONFIG, "num_blocks": 1}, near_zero, ids),
    ]


@case
def larger_sizes(draw):
    "sees as far back as the sequence goes, and finds rows far down both tables, in bfloat16 too"
    long = {"vocab_size": 300, "max_len": 210, "num_blocks": 1}
    ids = some_ids(draw, 1, 200, 300)
    longer = {"vocab_size": 12, "max_len": 1040, "d_model": 4, "d_ff": 5, "num_heads": 1, "num_blocks": 1}
    many = draw.integers(0, 12, 1, 1030)
    large = {"vocab_size": 700, "max_len": 700, "num_blocks": 0}
    far = 500 + some_ids(draw, 2, 4, 200)
    return [
        module_call("DecoderOnlyLM", {**CONFIG, **long}, model_state(draw, **long), ids, offset=7),
        module_call("DecoderOnlyLM", {**CONFIG, **large}, model_state(draw, **large), far, offset=613).in_dtype(
            torch.bfloat16
        ),
        module_call("DecoderOnlyLM", longer, model_state(draw, **longer), many, offset=9).values_only(),
    ]


@case
def memory_layouts(draw):
    "takes ids that are not contiguous, or one sequence that is expanded to a batch"
    ids = some_ids(draw, 2, 5)
    every_second = torch.stack([ids, ids + 100], dim=-1)[..., 0]
    layouts = (draw.transposed(ids), every_second, draw.expanded(ids[0], 3))
    config, state = {**CONFIG, "num_blocks": 1}, model_state(draw, num_blocks=1)
    return [module_call("DecoderOnlyLM", config, state, one) for one in layouts]


@case
def several_calls(draw):
    "keeps nothing from one call to the next: other lengths, offsets, batches and weights, then the first ids again"
    one = Call()
    model = loaded(one, model_state(draw))
    ids = some_ids(draw, 2, 4)
    one.apply(model, ids).observe("first")
    one.apply(model, ids, 3).observe("other offset")
    one.apply(model, some_ids(draw, 1, MAX_LEN)).observe("a longer sequence")
    one.apply(model, ids).observe("first again")
    other = Call()
    model = loaded(other, model_state(draw))
    other.apply(model, ids).observe("one checkpoint")
    other.load_state(model, model_state(draw))
    other.apply(model, ids).observe("another checkpoint")
    second = loaded(other, model_state(draw, num_blocks=1), num_blocks=1, num_heads=2)
    other.apply(second, ids).observe("another model")
    other.apply(model, ids).observe("the first model after that")
    return [one, other.differentiate(), of_every_length(draw)]  # loading writes over what a gradient would need


def of_every_length(draw):
    """Calls of one model at every length, up and down, and on ids that are all alike, without gradients."""
    one = Call()
    model = loaded(one, model_state(draw))
    for number, length in enumerate((4, 6, 4, 1, 5, MAX_LEN, 2, 3)):
        one.apply(model, some_ids(draw, 1, length)).observe(f"{length} tokens, call {number + 1}")
    for token in (0, 3):
        one.apply(model, torch.full((2, 5), token), offset=1).observe(f"token {token} five times")
    one.apply(model, some_ids(draw, 2, 4))
    one.apply(model, some_ids(draw, 2, 3), offset=4).observe("other ids, at an offset that is the last length")
    return one.values_only().under_no_grad()


def observe_tying(one, model, when):
    """Observe whether the head's matrix is the embedding's, and that it is used for nothing else."""
    one.identical(one.attribute(model, "head.weight"), one.attribute(model, "tokens.weight")).observe(
        f"head.weight is tokens.weight {when}"
    )


@case
def one_parameter_with_two_names(draw):
    "has one parameter as tokens.weight and head.weight: when new, moved, loaded and copied"
    one = Call()
    model = one.construct("DecoderOnlyLM", **CONFIG)
    observe_tying(one, model, "after construction")
    observe_tying(one, one.deepcopy(model), "in a copy of the new model")
    one.to(model)
    observe_tying(one, model, "after .to(dtype)")
    one.load_state(model, model_state(draw))
    observe_tying(one, model, "after load_state_dict")
    one.eval(model)
    ids = some_ids(draw, 2, 5)
    one.apply(model, ids).observe("logits")
    observe_tying(one, model, "after a call")
    copy = one.deepcopy(model)
    observe_tying(one, copy, "after copy.deepcopy")
    separate = model_state(draw)
    separate["head.weight"] = separate["tokens.weight"].clone()
    one.load_state(copy, separate)
    observe_tying(one, copy, "after loading into the copy")
    one.apply(copy, ids).observe("logits of the copy")
    one.apply(model, ids).observe("logits after that")
    return one.values_only()


@case
def tied_in_training(draw):
    "moves the embedding and the head together in a step of training, also in a copy, of which each has its own"
    one = Call()
    model = loaded(one, model_state(draw))
    ids, others = some_ids(draw, 2, 5), some_ids(draw, 2, 4)
    copy = one.deepcopy(model)
    one.sgd_step(copy, one.apply(copy, ids), 3e-5)
    one.apply(copy, others).observe("logits of the copy after its step")
    one.apply(model, others).observe("logits of the original after that")
    one.sgd_step(model, one.apply(model, others), 3e-5)
    one.apply(model, ids).observe("logits of the original after its step")
    one.apply(copy, others).observe("logits of the copy after that")
    state = one.state_dict(model).observe("the checkpoint after the step")
    twin = one.construct("DecoderOnlyLM", **CONFIG)
    one.to(twin)
    one.load_state(twin, state)
    one.eval(twin)
    one.apply(twin, ids).observe("logits of a new model with that checkpoint")
    unmoved = Call()
    model = unmoved.construct("DecoderOnlyLM", **CONFIG)
    unmoved.load_state(model, model_state(draw))
    unmoved.sgd_step(model, unmoved.apply(model, ids), 2e-4)
    unmoved.apply(model, others).observe("logits of a float32 model after its step")
    return [one.values_only(), unmoved.in_dtype(torch.float32)]


@case
def nothing_to_drop(draw):
    "drops nothing in evaluation, nor in training with probability zero, which is the default"
    config = {**CONFIG, "num_blocks": 1}
    state, ids = model_state(draw, num_blocks=1), some_ids(draw, 2, 5)
    calls = [module_call("DecoderOnlyLM", {**config, "dropout": 0.5}, state, ids)]
    # A probability of 1e-12 goes every way that dropout goes, gradients included, and drops nothing.
    for given in ({"dropout": 0.0}, {}, {"dropout": 1e-12}):
        one = Call()
        model = one.construct("DecoderOnlyLM", **config, **given)
        one.to(model)
        one.load_state(model, state)
        one.train(model)
        one.apply(model, ids).observe("output")
        calls.append(one)
    return calls


@case
def lower_precision(draw):
    "gives float32 logits for a float32 model, bfloat16 logits for a bfloat16 model, however high or low the scores are"
    far_up = module_call("DecoderOnlyLM", CONFIG, shifted_scores(draw, 20, 1), some_ids(draw, 2, 4))
    calls = [
        module_call("DecoderOnlyLM", CONFIG, model_state(draw), some_ids(draw, 2, 4), offset=offset).in_dtype(dtype)
        for dtype in (torch.float32, torch.bfloat16)
        for offset in (0, 3)
    ]
    far_down = module_call("DecoderOnlyLM", CONFIG, shifted_scores(draw, 16, -1), some_ids(draw, 2, 4))
    return [*calls, far_up.in_dtype(torch.float32), far_down.in_dtype(torch.float32)]


@case
def refused_positions(draw):
    "raises a ValueError for a negative offset and for positions beyond max_len, in training too, and only for these"
    config = {**CONFIG, "num_blocks": 0}
    state = model_state(draw, num_blocks=0)
    given = ((2, 5), -1, -1), ((1, MAX_LEN + 1), 0, MAX_LEN + 1), ((1, 5), 3, None), ((1, 1), MAX_LEN, None)
    calls = [
        module_call("DecoderOnlyLM", config, state, some_ids(draw, *shape), offset=offset).raises(
            ValueError, naming=naming
        )
        for shape, offset, naming in given
    ]
    for offset in (-1, 3):
        training = Call()
        model = training.construct("DecoderOnlyLM", **config)
        training.train(model)
        training.apply(model, some_ids(draw, 1, 5), offset=offset)
        calls.append(training.raises(ValueError, naming=-1 if offset < 0 else None))
    one = Call()
    model = loaded(one, state, num_blocks=0)
    ids = some_ids(draw, 1, MAX_LEN)
    one.apply(model, ids).observe("as long as max_len")
    one.apply(model, ids[:, :1], offset=MAX_LEN - 1).observe("at the last position")
    return [*calls, one]


@case
def refused_models(draw):
    "raises a ValueError in the constructor for heads that don't divide d_model and a negative number of blocks"
    calls = []
    for change, value in (({"num_heads": 5}, 5), ({"num_heads": 24}, 24), ({"num_blocks": -1}, -1)):
        one = Call()
        one.construct("DecoderOnlyLM", **{**CONFIG, **change})
        calls.append(one.raises(ValueError, naming=value))
    return calls


@relation
def fresh_models(draw):
    "starts with finite values, and with blocks and models that differ from each other"
    one = Call()
    for name in ("one", "other"):
        model = one.construct("DecoderOnlyLM", **CONFIG)
        one.to(model)
        one.eval(model)
        one.apply(model, some_ids(draw, 2, 5)).observe(f"output of {name}")  # a lazy layer has its weights then
        one.state_dict(model).observe(name)

    def check(observations):
        given = observations[0]
        for key, tensor in {**given["one"], **given["other"]}.items():
            if not tensor.isfinite().all():
                return f"{key} of a new model is not finite"
        for name in ("one", "other"):
            if not given[f"output of {name}"].isfinite().all():
                return "the logits of a new model are not finite"
            if not torch.equal(given[name]["tokens.weight"], given[name]["head.weight"]):
                return "head.weight and tokens.weight of a new model differ"
        inside = [key.removeprefix("blocks.0.") for key in given["one"] if key.startswith("blocks.0.")]
        matrices = [key for key in inside if given["one"][f"blocks.0.{key}"].dim() == 2]
        if all(torch.equal(given["one"][f"blocks.0.{k}"], given["one"][f"blocks.1.{k}"]) for k in matrices):
            return "the blocks of a new model have the same weight matrices"
        if all(torch.equal(given["one"][f"blocks.0.{k}"], given["other"][f"blocks.0.{k}"]) for k in matrices):
            return "two new models have the same weight matrices"
        return None

    return one.random(), check


def tiny_state(draw, **changes):
    """A checkpoint for TINY whose masks can be read from the logits: no weight or activation is close to zero."""
    state = model_state(draw, **{"scale": 1.0, **TINY, **changes})
    if "blocks.0.mlp.fc1.weight" in state:
        state["blocks.0.attention.q_proj.weight"] = draw.weight(4, 4, gain=0.3)
        state["blocks.0.mlp.fc1.weight"] = draw.weight(2, 4, gain=0.2)
        state["blocks.0.mlp.fc1.bias"] = draw.uniform(1.5, 2.5, 2)
    return state


def predicted(state, ids, **kept):
    """The logits (patterns, batch, token, vocab_size) of no block or one for the masks (patterns, ...) of some sites.

    ``sums`` has a mask for each token, and ``weights`` are those of the last query: the others' stay whole.
    """

    def keep(site, *shape):
        return kept[site].reshape(-1, *shape) if site in kept else torch.ones((), dtype=torch.float64)

    def linear(key, inputs):
        return torch.nn.functional.linear(inputs, state[f"blocks.0.{key}.weight"], state[f"blocks.0.{key}.bias"])

    def norm(key, inputs):
        return torch.nn.functional.layer_norm(inputs, (4,), state[f"{key}.weight"], state[f"{key}.bias"])

    def last_query(masks):
        return torch.cat([torch.ones_like(masks), masks], dim=-2) if masks.dim() else masks

    tokens, positions = state["tokens.weight"][ids], state["positions.weight"][: ids.shape[1]]
    x = tokens * keep("tokens", 1, 1, 4) + positions * keep("positions", 1, 1, 4)
    x = x * keep("sum", 1, 1, 4) * keep("sums", 1, ids.shape[1], 4)
    if "blocks.0.norm1.weight" in state:
        normalized = norm("blocks.0.norm1", x)
        query, key, value = (
            linear(f"attention.{name}", normalized).unflatten(-1, (2, 2)).transpose(-3, -2)
            for name in ("q_proj", "k_proj", "v_proj")
        )
        scores = query @ key.transpose(-2, -1) / 2**0.5 * last_query(keep("scores", 1, 2, 1, 2))
        future = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        weights = scores.masked_fill(future, -torch.inf).softmax(-1) * last_query(keep("weights", 1, 2, 1, 2))
        heads = weights @ value * keep("heads", 1, 2, 1, 2)
        attended = linear("attention.o_proj", heads.transpose(-3, -2).flatten(-2))
        x = x + attended * keep("attention_output", 1, 1, 4)
        activated = torch.nn.functional.gelu(linear("mlp.fc1", norm("blocks.0.norm2", x)))
        x = x + linear("mlp.fc2", activated * keep("activated", 1, 1, 2)) * keep("output", 1, 1, 4)
    return norm("norm", x) * keep("normalized", 1, 1, 4) @ state["tokens.weight"].T


@relation
def gradients_in_training(draw):
    "passes gradients back, in training, through exactly the elements that its output was computed with"
    ids = some_ids(draw, 2, 4)
    return training_gradients(draw, "DecoderOnlyLM", {**CONFIG, "dropout": 0.5}, model_state(draw), ids)


@relation
def training_in_lower_precision(draw):
    "keeps its parameters' dtype in training with dropout"
    return [
        training_runs(
            "DecoderOnlyLM", {**CONFIG, "dropout": 0.5}, model_state(draw), some_ids(draw, 2, 4), runs=1
        ).in_dtype(dtype)
        for dtype in (torch.float32, torch.bfloat16)
    ], lambda observations: None


@relation
def dropout_on_embeddings(draw):
    "drops from the sum of token and position embeddings in training, each element on its own"
    # So small that the norm's eps shows: otherwise it would hide how what is kept is scaled.
    state = tiny_state(draw, num_blocks=0, scale=3e-3)
    ids = some_ids(draw, 2, 2, 6)
    runs = training_runs("DecoderOnlyLM", {**TINY, "num_blocks": 0, "dropout": 0.5}, state, ids)
    mistakes = [
        Mistake(
            sentence,
            [Site(name, {"channel": 4}) for name in names],
            lambda *kept, names=names: predicted(state, ids, **dict(zip(names, kept, strict=True))),
        )
        for sentence, names in {
            "elements of the token embeddings are dropped before the positions are added": ("tokens",),
            "elements of the position embeddings are dropped before they are added": ("positions",),
            "token and position embeddings are dropped from one by one, before they are added": ("tokens", "positions"),
            "elements of the final norm's output are dropped": ("sum", "normalized"),
        }.items()
    ]

    def check(observations):
        return compare_dropout(
            observations[0], 0.5, [SUM], lambda kept: predicted(state, ids, sum=kept), mistakes=mistakes
        )

    return runs, check


def two_blocks(draw, ids):
    """A checkpoint of two blocks of which few masks show: each sum of embeddings has one entry, and one head speaks."""
    state = tiny_state(draw, num_blocks=2)
    sums = torch.zeros(2, 4).double()
    sums[[0, 1], draw.permutation(4)[:2]] = draw.uniform(1.0, 2.0, 2)
    state["positions.weight"][:2] = sums - state["tokens.weight"][ids[0]]
    for block in ("blocks.0", "blocks.1"):
        state[f"{block}.attention.q_proj.weight"] = draw.weight(4, 4, gain=0.3)
        for key in KEYS:
            state[f"{block}.attention.v_proj.{key}"][2:] = 0
    return silence(state, "blocks.0.mlp.fc2", "blocks.1.mlp.fc2")


def predicted_of_two_blocks(state, ids, sums, *weights):
    """The logits (patterns, 1, 2 * vocab_size) of both tokens for masks of IN_TWO_BLOCKS."""
    x = (state["tokens.weight"][ids[0]] + state["positions.weight"][:2]) * sums[..., None]  # (patterns, token, channel)
    for index in range(2):
        first_key, second_key = weights[2 * index : 2 * index + 2]  # (patterns, 2), (patterns, 1)
        block = f"blocks.{index}"
        normalized = torch.nn.functional.layer_norm(x, (4,), *(state[f"{block}.norm1.{key}"] for key in KEYS))
        query, key, value, output = (
            [state[f"{block}.attention.{name}_proj.{key}"] for key in KEYS] for name in ("q", "k", "v", "o")
        )
        query, key, value = (torch.nn.functional.linear(normalized, *part) for part in (query, key, value))
        scores = query[..., :2] @ key[..., :2].transpose(-2, -1) / 2**0.5  # of the one head, (patterns, query, key)
        visible = scores.masked_fill(torch.ones(2, 2).triu(1).bool(), -torch.inf)
        keep = torch.stack([first_key, torch.cat([torch.ones_like(second_key), second_key], dim=-1)], dim=-1)
        x = x + torch.nn.functional.linear(visible.softmax(-1) * keep @ value, *output)
    logits = torch.nn.functional.layer_norm(x, (4,), *(state[f"norm.{key}"] for key in KEYS)) @ state["tokens.weight"].T
    return logits.flatten(1)[:, None]


@relation
def dropout_in_attention(draw):
    "drops attention weights of every block in training, inside torch.no_grad() too, and nothing else in the attention"
    state = silence(tiny_state(draw), "blocks.0.mlp.fc2")
    ids = some_ids(draw, 1, 2, 6)
    deep = two_blocks(draw, ids)
    calls = [
        training_runs("DecoderOnlyLM", {**TINY, "num_blocks": blocks, "dropout": 0.5}, given, ids)
        for blocks, given in ((1, state), (2, deep))
    ]

    def last_token(**kept):
        return predicted(state, ids, **kept)[..., -1, :]

    mistakes = [
        Mistake(sentence, [BOTH_SUMS, site], lambda sums, kept, name=name: last_token(sums=sums, **{name: kept}))
        for sentence, name, site in (
            ("scores are dropped before the softmax instead of weights after it", "scores", WEIGHTS),
            ("elements of the attention output are dropped instead of its weights", "attention_output", OUTPUT),
        )
    ]

    def fault(observation):
        last = {name: run[:, -1] for name, run in observation.items()}
        return compare_dropout(
            last,
            0.5,
            [BOTH_SUMS, WEIGHTS],
            lambda sums, weights: last_token(sums=sums, weights=weights),
            units=("batch row",),
            mistakes=mistakes,
        )

    def fault_of_two_blocks(observation):
        return compare_dropout(
            {name: run.flatten(1) for name, run in observation.items()},
            0.5,
            IN_TWO_BLOCKS,
            lambda *kept: predicted_of_two_blocks(deep, ids, *kept),
            units=("batch row",),
        )

    def check(observations):
        found = fault(observations[0])
        inside = None if found else fault_of_two_blocks(observations[1])
        return found or (inside and f"in two blocks, inside torch.no_grad(), {inside}")

    return [calls[0], calls[1].under_no_grad()], check


@relation
def dropout_in_the_mlp(draw):
    "drops a quarter after GELU and after fc2 in training with dropout 0.25, and scales what is kept by 4/3"
    state = silence(tiny_state(draw), "blocks.0.attention.o_proj")
    ids = some_ids(draw, 2, 2, 6)
    runs = training_runs("DecoderOnlyLM", {**TINY, "dropout": 0.25}, state, ids, runs=112)

    def check(observations):
        return compare_dropout(
            observations[0],
            0.25,
            [SUM, ACTIVATED, OUTPUT],
            lambda sums, activated, output: predicted(state, ids, sum=sums, activated=activated, output=output),
        )

    return runs, check
