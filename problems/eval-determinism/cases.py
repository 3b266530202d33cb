"""Cases of the repaired block: what each mode drops, and everything that a repair must leave as it was.

The block itself is compared in evaluation, with a probability of one half, so that no way through it drops. What is
dropped, and in which mode, is read off a block so small that all masks of a token can be listed.
"""

import torch
from torch.nn import functional as F

from judge.authoring import Call, case, masked_situations, module_call, relation, same
from judge.dropout import TOLERANCE, Mistake, Site, compare_dropout, training_runs
from judge.dropout_runs import modes_of_each, runs_among_blocks, same_in_two_blocks, unlike_evaluation
from judge.training_gradients import training_gradients

BLOCK = "Block"
CONFIG = {"d_model": 12, "num_heads": 3, "d_ff": 20, "dropout": 0.5}
TINY = {"d_model": 4, "num_heads": 2, "d_ff": 4}

WEIGHTS = Site("the attention weights", {"head": 2, "key": 2})
ACTIVATED = Site("the activations after GELU", {"hidden channel": 4})
OUTPUT = Site("the output of fc2", {"channel": 4})
SITES = {"weights": WEIGHTS, "activated": ACTIVATED, "output": OUTPUT}
MISTAKES = {  # what is dropped besides or instead of the attention weights
    "elements of the attention output are dropped instead of attention weights": ["attention_output"],
    "elements of the heads' results are dropped instead of attention weights": ["heads"],
    "elements of the attention output are dropped, besides its weights": ["weights", "attention_output"],
}


def block_state(draw, d_model=12, d_ff=20):
    """A checkpoint with random gains, biases and weights."""
    state = {**draw.norm("norm1", d_model), **draw.norm("norm2", d_model)}
    for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
        state |= draw.linear(f"attention.{name}", d_model, d_model)
    return {**state, **draw.linear("mlp.fc1", d_ff, d_model), **draw.linear("mlp.fc2", d_model, d_ff)}


def stream(draw, batch, seq_len, d_model=12):
    """A stream that spreads so far that eps doesn't show: tiny_values alone is about that."""
    return 4 * draw.stream(batch, seq_len, d_model)


def silence(state, *keys):
    """The same checkpoint with the weights and biases of these linear maps zero."""
    return {key: tensor * 0 if key.rpartition(".")[0] in keys else tensor for key, tensor in state.items()}


@case
def nothing_to_drop(draw):
    "gives the block's output and gradients in both modes when dropout is 0"
    one = Call()
    config = {**CONFIG, "dropout": 0.0}
    block = one.construct(BLOCK, **config)
    one.to(block)
    one.load_state(block, block_state(draw))
    one.train(block)
    one.apply(block, stream(draw, 2, 5)).observe("training")
    return [module_call(BLOCK, config, block_state(draw), stream(draw, 2, 5)), one]


@relation
def evaluation(draw):
    "gives the output without dropout at every evaluation, whatever the probability, inside torch.no_grad() too"
    x, state = stream(draw, 2, 2, 4), tiny_state(draw)
    calls = [Call(), Call()]
    for one in calls:
        block = one.construct(BLOCK, **TINY, dropout=0.5)
        one.to(block)
        one.load_state(block, state)
        one.eval(block)
        for index in range(16):  # a mask that hides nothing may take another path to the same output
            one.apply(block, x, *([torch.ones(2, 2, dtype=torch.bool)] if index % 2 else [])).observe(f"run{index}")

    def fault(observation):
        runs = list(observation.values())
        if all(same(run, predicted(state, x), TOLERANCE) for run in runs):
            return None
        for names in (["weights"], ["activated"], ["output"], list(SITES)):
            sites = [SITES[name] for name in names]
            if compare_dropout(observation, 0.5, sites, predictor(state, x, names)) is None:
                return f"{' and '.join(site.name for site in sites)} are dropped in evaluation, too"
        if all(same(run, runs[0], TOLERANCE) for run in runs):
            return "all evaluations agree, but not with the output without dropout"
        return "two evaluations of the same input differ"

    def check(observations):
        inside = fault(observations[1])
        return fault(observations[0]) or (inside and f"inside torch.no_grad(), {inside}")

    return [calls[0].random(), calls[1].random().under_no_grad()], check


@case
def masks(draw):
    "still lets each token attend as the mask says, for all alike, by sequence or by head"
    shapes = (5, 5), (2, 1, 1, 5), (2, 1, 5, 5), (2, 3, 5, 5)
    calls = [
        module_call(BLOCK, CONFIG, block_state(draw), draw.transposed(stream(draw, 2, 5)), draw.mask(*shape))
        for shape in shapes
    ]
    far_down = block_state(draw)
    # Opposite query and key biases push all scores down by 32; a softmax doesn't see it, a weak fill does.
    direction = draw.normal(3, 4)
    direction = (8 * direction / direction.norm(dim=-1, keepdim=True)).flatten()
    far_down["attention.q_proj.bias"] = direction
    far_down["attention.k_proj.bias"] = -direction
    far_down["attention.k_proj.weight"] *= 0.2
    return [*calls, module_call(BLOCK, CONFIG, far_down, stream(draw, 2, 5), draw.mask(5, 5))]


@case
def token_that_sees_nothing(draw):
    "still gives a token that sees nothing a zero attention output and finite gradients"
    shown = [draw.mask(*shape, hidden_rows=rows) for shape, rows in (((5, 5), 2), ((2, 1, 1, 5), 1), ((2, 1, 5, 1), 4))]
    return [module_call(BLOCK, CONFIG, block_state(draw), stream(draw, 2, 5), mask=mask) for mask in shown]


@case
def smallest_sizes(draw):
    "still works with one head, with a width of one, for one sequence, one token, and inputs that are not contiguous"
    sizes = (1, 2, 5), (12, 2, 5), (3, 1, 20), (3, 2, 1), (3, 1, 1)
    calls = [
        module_call(BLOCK, {**CONFIG, "num_heads": heads}, block_state(draw), stream(draw, batch, seq_len))
        for heads, batch, seq_len in sizes
    ]
    elsewhere = draw.transposed(stream(draw, 2, 5)), draw.noncontiguous(stream(draw, 2, 5))
    width_one = {"d_model": 1, "num_heads": 1, "d_ff": 3, "dropout": 0.5}
    # All small: a norm of one number multiplies the rounding of that number by 1 / sqrt(eps).
    state = {key: tensor if "norm" in key else 0.02 * tensor for key, tensor in block_state(draw, 1, 3).items()}
    calls.append(module_call(BLOCK, width_one, state, 0.02 * draw.normal(2, 3, 1)))
    return [*calls, *(module_call(BLOCK, CONFIG, block_state(draw), x) for x in elsewhere)]


@case
def tiny_values(draw):
    "is still right where the variance is as small as eps and GELU's tail decides"
    in_the_tail = silence(block_state(draw), "attention.o_proj")
    in_the_tail["mlp.fc1.weight"] = draw.weight(20, 12, gain=0.2)
    in_the_tail["mlp.fc1.bias"] = 0.1 * draw.normal(20) - 2.2  # here the exact GELU and its approximations part
    in_the_tail["mlp.fc2.bias"] = torch.zeros(12, dtype=torch.float64)
    return [
        module_call(BLOCK, CONFIG, state, 1e-3 * draw.stream(2, 5, 12)) for state in (block_state(draw), in_the_tail)
    ]


@case
def masks_of_every_form(draw):
    "still reads every form of mask at every size, and zeros and 260 tokens too, whatever was called before"
    return [in_every_situation(draw, {**CONFIG, "num_heads": heads}) for heads in (1, 3)]


def in_every_situation(draw, config):
    """One block, called with each form of mask and at each size, without gradients."""
    one = Call()
    block = one.construct(BLOCK, **config)
    one.to(block)
    one.load_state(block, block_state(draw))
    one.eval(block)
    for name, batch, seq_len, _, mask in masked_situations(draw, config["num_heads"]):
        one.apply(block, stream(draw, batch, seq_len), mask).observe(name)
    x = stream(draw, 2, 5)
    one.apply(block, x).observe("an ordinary stream")
    one.apply(block, torch.zeros_like(x)).observe("a stream of zeros")
    plain = {
        key: tensor * 0 if key in ("norm1.bias", "norm2.bias") else tensor for key, tensor in block_state(draw).items()
    }
    one.load_state(block, plain)
    one.apply(block, torch.zeros_like(x)).observe("zeros that the first norm leaves zeros")
    one.apply(block, stream(draw, 2, 1).repeat(1, 5, 1)).observe("tokens that are all alike")
    if config["num_heads"] == 1:
        one.apply(block, stream(draw, 1, 260)).observe("1 x 260 tokens")
    one.apply(one.method(block, "float"), one.method(one.leaf(x), "float"))
    one.apply(one.method(block, "double"), x).observe("after a call in float32")
    return one.values_only().under_no_grad()


@case
def lower_precision(draw):
    "still gives float32 for a float32 block and bfloat16 for a bfloat16 block, and is right far from zero"
    calls = [
        module_call(BLOCK, CONFIG, block_state(draw), stream(draw, 2, 5), mask=mask).in_dtype(dtype)
        for dtype in (torch.float32, torch.bfloat16)
        for mask in (None, draw.mask(5, 5, hidden_rows=1))
    ]
    loud = block_state(draw)  # what the attention adds is not small beside such a stream
    loud["attention.o_proj.weight"] *= 1000
    far = module_call(BLOCK, CONFIG, loud, 2000 + 1.5 * draw.normal(2, 5, 12)).in_dtype(torch.float32)
    return [*calls, far]


@case
def heads_that_do_not_fit(draw):
    "still refuses in its constructor a width that the heads do not divide"
    calls = []
    for num_heads in (5, 24):
        one = Call()
        one.construct(BLOCK, **{**CONFIG, "num_heads": num_heads})
        calls.append(one.raises(ValueError, naming=num_heads))
    return calls


@relation
def fresh_blocks(draw):
    "still starts with finite values that differ from block to block"
    one = Call()
    for name in ("one", "other"):
        one.state_dict(one.construct(BLOCK, **CONFIG)).observe(name)

    def check(observations):
        new, other = observations[0]["one"], observations[0]["other"]
        if not all(tensor.isfinite().all() for tensor in (*new.values(), *other.values())):
            return "a new block has a parameter that is not finite"
        if all(torch.equal(new[key], other[key]) for key in new if new[key].dim() == 2):
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
    """The tiny block's output (patterns, batch, token, feature) for the masks (patterns, ...) of some sites."""

    def keep(site, *shape):
        return kept[site].reshape(-1, *shape) if site in kept else torch.ones((), dtype=torch.float64)

    def linear(key, inputs):
        return F.linear(inputs, state[f"{key}.weight"], state[f"{key}.bias"])

    def norm(key, inputs):
        return F.layer_norm(inputs, (4,), state[f"{key}.weight"], state[f"{key}.bias"])

    normalized = norm("norm1", x)
    query, key, value = (
        linear(f"attention.{name}", normalized).unflatten(-1, (2, 2)).transpose(1, 2)
        for name in ("q_proj", "k_proj", "v_proj")
    )
    scores = query @ key.transpose(-2, -1) / 2**0.5  # (batch, head, query, key)
    weights = scores.softmax(-1)
    if mask is not None:
        weights = scores.masked_fill(~mask, -torch.inf).softmax(-1).nan_to_num()  # NaN: a token that sees nothing
    heads = weights * keep("weights", 1, 2, 1, x.shape[1]) @ value * keep("heads", 1, 2, 1, 2)
    x = x + linear("attention.o_proj", heads.transpose(-3, -2).flatten(-2)) * keep("attention_output", 1, 1, 4)
    activated = F.gelu(linear("mlp.fc1", norm("norm2", x))) * keep("activated", 1, 1, 4)
    return x + linear("mlp.fc2", activated) * keep("output", 1, 1, 4)


def predictor(state, x, names, mask=None):
    """For `compare_dropout`: the outputs for the masks of the sites ``names``, in this order."""
    return lambda *keeps: predicted(state, x, mask, **dict(zip(names, keeps, strict=True)))


@relation
def dropout_of_other_inputs(draw):
    "drops from one sequence, single tokens, many tokens and masked ones too, whatever other blocks exist"
    state, blind = tiny_state(draw), torch.tensor([[False, False], [True, True]])
    inputs = [(stream(draw, *size, 4), mask) for size, mask in (((1, 2), None), ((3, 1), None), ((2, 2), blind))]
    calls = [runs_among_blocks(BLOCK, {**TINY, "dropout": 0.75}, state, *given) for given in inputs]
    speaking = {"the attention": silence(state, "mlp.fc2"), "the MLP": silence(state, "attention.o_proj")}
    long = modes_of_each(BLOCK, TINY, speaking, stream(draw, 1, 130, 4))

    def check(observations):
        for given, (x, mask) in zip(observations, inputs, strict=False):
            sites = [Site(WEIGHTS.name, {"head": 2, "key": x.shape[1]}), ACTIVATED, OUTPUT]
            fault = compare_dropout(given, 0.75, sites, predictor(state, x, list(SITES), mask))
            if fault or same_in_two_blocks(given):
                return fault or "two blocks drop the same elements"
        return unlike_evaluation(observations[-1])

    return [*calls, long], check


@relation
def gradients_in_training(draw):
    "passes gradients back, in training, through exactly the elements that its output was computed with"
    x, mask = stream(draw, 2, 5), draw.mask(5, 5)
    return training_gradients(draw, BLOCK, {**CONFIG, "dropout": 0.5}, block_state(draw), x, mask=mask)


@relation
def training_in_lower_precision(draw):
    "keeps its input's dtype in training with dropout, and drops there too"
    x, state = stream(draw, 2, 5), block_state(draw)
    speaking = {"attention": silence(state, "mlp.fc2"), "MLP": silence(state, "attention.o_proj")}
    calls = [modes_of_each(BLOCK, CONFIG, speaking, x).in_dtype(dtype) for dtype in (torch.float32, torch.bfloat16)]

    def check(observations):
        for seen in observations:
            for name in speaking:
                if same(seen[f"{name}, training"], seen[f"{name}, evaluation"], 1e-3):
                    return f"in training in a low precision, nothing is dropped in the {name}"
        return None

    return calls, check


@relation
def modes_in_turn(draw):
    "asks at every call whether it trains, whatever its mode was before, and whatever another block's mode is"
    x, state = stream(draw, 2, 2, 4), silence(tiny_state(draw), "mlp.fc2")
    one, blocks = Call(), []
    for first in ("train", "eval"):
        block = one.construct(BLOCK, **TINY, dropout=0.5)
        blocks.append(block)
        one.to(block)
        one.load_state(block, state)
        if first == "train":
            one.train(block)
            one.apply(block, x)
        one.eval(block)
        one.apply(block, x).observe(f"evaluation, {first} first")
        one.train(block)
        for index in range(4):  # 64 weights: that none is dropped is no coincidence
            one.apply(block, x).observe(f"training {index}, {first} first")
    one.eval(one.module_list(blocks[0]))
    one.apply(blocks[0], x).observe("as a part")
    one.apply(blocks[1], x).observe("beside one that is evaluated")
    one.train(blocks[1])
    one.apply(blocks[0], x).observe("beside one that trains")

    def check(observations):
        plain = predicted(state, x)
        unlike = [name for name, output in observations[0].items() if not same(output, plain, TOLERANCE)]
        faults = []
        if any(name.startswith("evaluation") and name.endswith("train first") for name in unlike):
            faults.append("evaluation after training does not give the output without dropout")
        if any(name.startswith("evaluation") and name.endswith("eval first") for name in unlike):
            faults.append("the first evaluation of a new block does not give the output without dropout")
        for first in ("train", "eval"):
            if not any(name.startswith("training") and name.endswith(f"{first} first") for name in unlike):
                faults.append(f"training after evaluation drops no attention weight ({first} first)")
        if "as a part" in unlike:
            faults.append("a block that is put into evaluation with the model around it still drops")
        apart = "beside one that is evaluated" in unlike and "beside one that trains" not in unlike
        if not (apart or faults):
            faults.append("the mode of one block decides for another")
        return "; ".join(faults) or None

    return one.random(), check


@relation
def training(draw):
    "drops in training at all three places, each element with the given probability"
    x, state = stream(draw, 2, 2, 4), tiny_state(draw)
    attention, mlp = silence(state, "mlp.fc2"), silence(state, "attention.o_proj")
    calls = [training_runs(BLOCK, {**TINY, "dropout": 0.5}, state, x) for state in (attention, mlp)]
    mistakes = [
        Mistake(
            sentence,
            [SITES.get(name) or Site(name, {"element": 4}) for name in names],
            predictor(attention, x, names),
        )
        for sentence, names in MISTAKES.items()
    ]

    def check(observations):
        faults = [
            compare_dropout(observations[0], 0.5, [WEIGHTS], predictor(attention, x, ["weights"]), mistakes=mistakes),
            compare_dropout(observations[1], 0.5, [ACTIVATED, OUTPUT], predictor(mlp, x, ["activated", "output"])),
        ]
        return "; ".join(fault for fault in faults if fault) or None

    return calls, check


@relation
def training_under_a_mask(draw):
    "drops in training under every form of mask, and inside torch.no_grad(), too"
    x, state = stream(draw, 2, 2, 4), tiny_state(draw)
    attention, mlp = silence(state, "mlp.fc2"), silence(state, "attention.o_proj")
    past = torch.ones(2, 2, dtype=torch.bool).tril()
    padding = torch.tensor([[True, True], [False, True]])[:, None, None]
    masks = {
        "that hides nothing": torch.ones_like(past), "that hides the future": past,
        "of four axes": past.expand(2, 1, 2, 2), "that hides padding": padding,
    }  # fmt: skip
    config = {**TINY, "dropout": 0.5}
    first, *others = (
        training_runs(BLOCK, config, attention, x, mask, runs=4 if number else 64)
        for number, mask in enumerate(masks.values())
    )
    without_gradients = training_runs(BLOCK, config, mlp, x, runs=4).under_no_grad()

    def check(observations):
        for given, (name, mask) in zip(observations, masks.items(), strict=False):
            fault = compare_dropout(given, 0.5, [WEIGHTS], predictor(attention, x, ["weights"], mask))
            if fault:
                return f"under a mask {name}, {fault}"
        fault = compare_dropout(observations[-1], 0.5, [ACTIVATED, OUTPUT], predictor(mlp, x, ["activated", "output"]))
        return fault and f"inside torch.no_grad(), {fault}"

    return [first.under_no_grad(), *others, without_gradients], check


@relation
def default_probability(draw):
    "drops a tenth in training, at all three places, when no probability is given"
    x, state = stream(draw, 2, 2, 4), tiny_state(draw)
    attention, mlp = silence(state, "mlp.fc2"), silence(state, "attention.o_proj")
    calls = [training_runs(BLOCK, TINY, attention, x), training_runs(BLOCK, TINY, mlp, x, runs=4)]

    def check(observations):
        return compare_dropout(
            observations[0], 0.1, [WEIGHTS], predictor(attention, x, ["weights"])
        ) or compare_dropout(observations[1], 0.1, [ACTIVATED, OUTPUT], predictor(mlp, x, ["activated", "output"]))

    return calls, check
