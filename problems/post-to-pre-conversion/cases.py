"""Cases of the conversion: the pre-norm function from the same checkpoint, dropout at L2 and L6, and the two answers.

Gains, biases and the stream's mean are all random and away from 1 and 0: a fresh checkpoint would hide a norm that is
exchanged, shared or applied twice.
"""

import torch

from judge.authoring import Call, case, masked_situations, module_call, module_stream, plain_norms, relation, stream
from judge.dropout import Site, compare_dropout, training_runs
from judge.training_gradients import training_gradients

LABELS = {f"L{number}" for number in range(1, 9)}


def checkpoint(draw, d_model=12, d_ff=20):
    """The state of one block, every entry random."""
    projections = ("q_proj", "k_proj", "v_proj", "o_proj")
    state = {**draw.norm("norm1", d_model), **draw.norm("norm2", d_model)}
    for name in projections:
        state |= draw.linear(f"attention.{name}", d_model, d_model)
    return state | draw.linear("mlp.fc1", d_ff, d_model) | draw.linear("mlp.fc2", d_model, d_ff)


def sizes(**changes):
    """Constructor arguments, all different."""
    return {"d_model": 12, "num_heads": 3, "d_ff": 20, **changes}


@case
def the_same_checkpoint(draw):
    "computes the pre-norm function from the post-norm block's checkpoint"
    return module_call("EncoderBlock", sizes(), checkpoint(draw), draw.stream(2, 5, 12))


@case
def tokens_as_small_as_eps(draw):
    "is right for tokens whose variance is as small as the norms' eps, in both norms"
    silent = checkpoint(draw)  # so that the second norm reads the small stream, too
    for key in ("attention.o_proj.weight", "attention.o_proj.bias"):
        silent[key] = torch.zeros_like(silent[key])
    return [
        module_call("EncoderBlock", sizes(), state, 1.5e-3 * draw.stream(2, 5, 12))
        for state in (checkpoint(draw), silent)
    ]


@case
def masks(draw):
    "lets tokens attend as the mask says, for all alike, by sequence or by head"
    state, x = checkpoint(draw), draw.transposed(draw.stream(2, 5, 12))
    shapes = [(5, 5), (1, 5), (2, 3, 5, 5), (2, 1, 1, 5), (2, 1, 5, 5), (1, 3, 1, 5)]
    square = draw.stream(4, 4, 12)  # as many sequences as tokens: a mask's axes must not be mistaken
    return [
        *(module_call("EncoderBlock", sizes(), state, x, draw.mask(*shape)) for shape in shapes),
        module_call("EncoderBlock", sizes(), state, square, draw.mask(4, 4)),
    ]


@case
def token_that_sees_nothing(draw):
    "gives a token that may attend to nothing the output projection's bias"
    state, x = checkpoint(draw), draw.stream(2, 5, 12)
    rows = torch.tensor([True, False, True, True, False]).unsqueeze(1)  # (5, 1): blind or seeing everything
    masks = [
        draw.mask(5, 5, hidden_rows=2),
        draw.mask(1, 3, 5, 5, hidden_rows=4),
        draw.mask(2, 1, 1, 5, hidden_rows=1),
        rows,
        torch.stack([rows, ~rows]).unsqueeze(1),
    ]
    return [module_call("EncoderBlock", sizes(), state, x, mask) for mask in masks]


@case
def one_block_many_shapes(draw):
    "is the same block at another batch size and length, down to one token"
    one = Call()
    block = one.construct("EncoderBlock", **sizes())
    one.to(block)
    one.load_state(block, checkpoint(draw))
    one.eval(block)
    x = draw.stream(2, 5, 12)
    streams = {"first": x, "single": draw.stream(1, 1, 12), "longer": draw.stream(3, 7, 12), "again": x}
    for name, values in streams.items():
        one.apply(block, values).observe(name)
    for index, mask in enumerate((draw.mask(5, 5), None, draw.mask(5, 5))):
        one.apply(block, draw.stream(2, 5, 12), mask).observe(f"masked {index}")
    for name, values in {"one sequence": draw.stream(1, 6, 12), "one token each": draw.stream(3, 1, 12)}.items():
        one.apply(block, values).observe(name)
    one.apply(block, draw.stream(6, 70, 12)).observe("long")
    single_head = module_call("EncoderBlock", sizes(num_heads=1), checkpoint(draw), x)
    narrow_heads = module_call("EncoderBlock", sizes(num_heads=12), checkpoint(draw), draw.expanded(x[0], 2))
    # All small: a norm of one number multiplies the rounding of that number by 1 / sqrt(eps).
    small = {key: tensor if "norm" in key else 0.02 * tensor for key, tensor in checkpoint(draw, 1, 3).items()}
    one_feature = module_call(
        "EncoderBlock", {"d_model": 1, "num_heads": 1, "d_ff": 3}, small, 0.02 * draw.normal(2, 3, 1)
    )
    return [one, single_head, narrow_heads, one_feature]


@case
def masks_of_every_form(draw):
    "reads every form of mask at every size, and is right for zeros and for 520 tokens, whatever was called before"
    return [in_every_situation(draw, sizes(num_heads=heads, dropout=0.5)) for heads in (1, 3)]


def in_every_situation(draw, config):
    """One block, called with each form of mask and at each size, without gradients."""
    one = Call()
    block = one.construct("EncoderBlock", **config)
    one.to(block)
    one.load_state(block, checkpoint(draw))
    one.eval(block)
    for name, batch, seq_len, _, mask in masked_situations(draw, config["num_heads"]):
        one.apply(block, draw.stream(batch, seq_len, 12), mask).observe(name)
    x = draw.stream(2, 5, 12)
    one.apply(block, x).observe("an ordinary stream")
    one.apply(block, torch.zeros_like(x)).observe("a stream of zeros")
    plain = {
        key: tensor * 0 if key in ("norm1.bias", "norm2.bias") else tensor for key, tensor in checkpoint(draw).items()
    }
    one.load_state(block, plain)
    one.apply(block, torch.zeros_like(x)).observe("zeros that the first norm leaves zeros")
    one.apply(block, draw.stream(2, 1, 12).repeat(1, 5, 1)).observe("tokens that are all alike")
    if config["num_heads"] == 1:
        one.apply(block, draw.stream(1, 520, 12)).observe("1 x 520 tokens")
    one.apply(one.method(block, "float"), one.method(one.leaf(x), "float"))
    one.apply(one.method(block, "double"), x).observe("after a call in float32")
    one.load_state(block, far_apart(checkpoint(draw)))
    x, mask = draw.stream(2, 12, 12), draw.mask(12, 12)
    one.apply(block, x, mask).observe("scores that lie far apart, and hidden channels of some hundreds")
    return one.values_only().under_no_grad()


def far_apart(state):
    """The same checkpoint with scores so far apart that a hidden key may lie 100 above all visible ones, and with
    hidden channels of the MLP that are far from zero.
    """
    factors = {"attention.q_proj": 10, "attention.k_proj": 10, "mlp.fc1": 100}
    return {key: factors.get(key.rpartition(".")[0], 1) * tensor for key, tensor in state.items()}


@case
def checkpoints_are_independent(draw):
    "saves and restores like any module: each block follows its own checkpoint"
    first, second, x = checkpoint(draw), checkpoint(draw), draw.stream(2, 5, 12)
    one = Call()
    block = one.construct("EncoderBlock", **sizes())
    one.to(block)
    one.load_state(block, first)
    one.eval(block)
    other = one.construct("EncoderBlock", **sizes(num_heads=2))
    one.to(other)
    one.load_state(other, second)
    one.eval(other)
    restored = one.construct("EncoderBlock", **sizes())
    one.to(restored)
    one.load_state(restored, one.state_dict(block))
    one.eval(restored)
    for name, module in (("other", other), ("restored", restored), ("original", block)):
        one.apply(module, x).observe(name)
    return one


@case
def lower_precision(draw):
    "gives float32 and bfloat16 results for inputs and parameters of that type"
    state, x, mask = checkpoint(draw), draw.stream(2, 5, 12), draw.mask(5, 5)
    dtypes = torch.float32, torch.bfloat16
    return [module_call("EncoderBlock", sizes(dropout=0.5), state, x, mask).in_dtype(dtype) for dtype in dtypes]


@case
def heads_that_do_not_fit(draw):
    "refuses in its constructor a width that the heads do not divide"
    calls = []
    for d_model, num_heads in ((10, 3), (12, 8), (3, 4)):
        one = Call()
        one.construct("EncoderBlock", d_model=d_model, num_heads=num_heads, d_ff=20)
        calls.append(one.raises(ValueError, naming=num_heads))
    return calls


@case
def dropout_rests_in_evaluation(draw):
    "drops nothing in evaluation, whatever the probability"
    return module_call("EncoderBlock", sizes(dropout=0.5), checkpoint(draw), draw.stream(2, 5, 12))


@case
def training_without_dropout(draw):
    "computes the same in training as in evaluation when dropout is 0"
    one = Call()
    block = one.construct("EncoderBlock", **sizes(dropout=0.0))
    one.to(block)
    one.load_state(block, checkpoint(draw))
    one.train(block)
    one.apply(block, draw.stream(2, 5, 12), draw.mask(5, 5)).observe("training")
    default = Call()
    block = default.construct("EncoderBlock", d_model=12, num_heads=3, d_ff=20)
    default.to(block)
    default.load_state(block, checkpoint(draw))
    default.train(block)
    default.apply(block, draw.stream(2, 5, 12)).observe("training by default")
    return [one, default]


@case
def large_hidden_channels(draw):
    "is right where the hidden channels are large"
    state = checkpoint(draw)
    state["norm2.weight"] = 10 * state["norm2.weight"]
    return module_call("EncoderBlock", sizes(), state, draw.stream(2, 5, 12))


@case
def large_scores(draw):
    "stays right in float32 where all scores of a row are far above or below zero"
    state, x = checkpoint(draw), draw.stream(2, 5, 12)
    state["attention.k_proj.bias"] = 200 * draw.normal(12)  # shifts the scores of a row alike: the weights stay
    masks = (None, draw.mask(5, 5))
    return [module_call("EncoderBlock", sizes(), state, x, mask).in_dtype(torch.float32) for mask in masks]


@case
def tokens_far_from_zero(draw):
    "is accurate for tokens whose mean is large against their spread"
    return module_call("EncoderBlock", sizes(), checkpoint(draw), 1e7 + draw.stream(2, 5, 12))


@case
def two_blocks_at_once(draw):
    "keeps the heads, the dropout and the modes of two blocks apart"
    one, x = Call(), draw.stream(2, 5, 12)
    blocks = [one.construct("EncoderBlock", **sizes(num_heads=heads, dropout=p)) for heads, p in ((3, 0.0), (4, 0.5))]
    for block in blocks:
        one.to(block)
        one.load_state(block, checkpoint(draw))
    one.eval(blocks[1])
    one.train(blocks[0])
    for name, block in zip(("first", "second"), blocks, strict=True):
        one.apply(block, x).observe(name)
    return one


@case
def nothing_kept_from_a_checkpoint(draw):
    "follows a checkpoint that is loaded after it was used, and keeps its keys"
    one, x = Call(), draw.stream(2, 5, 12)
    block = one.construct("EncoderBlock", **sizes())
    one.to(block)
    one.eval(block)
    for name in ("first", "second"):
        one.load_state(block, checkpoint(draw))
        one.apply(block, x).observe(name)
    one.state_dict(block).observe("state")
    return one.values_only()


@relation
def fresh_blocks(draw):
    "starts from finite values that differ from block to block"
    one = Call()
    for name in ("one", "other"):
        one.state_dict(one.construct("EncoderBlock", **sizes())).observe(name)

    def check(observations):
        first, second = observations[0]["one"], observations[0]["other"]
        if not all(torch.isfinite(tensor).all() for state in (first, second) for tensor in state.values()):
            return "of a new block are not finite"
        same = all(torch.equal(first[key], second[key]) for key in first if first[key].dim() == 2)
        return "are two new blocks with the same weight matrices" if same else None

    return one, check


@relation
def gradients_in_training(draw):
    "passes gradients back, in training, through exactly the elements that its output was computed with"
    x, mask = draw.stream(2, 5, 12), draw.mask(5, 5)
    return training_gradients(draw, "EncoderBlock", sizes(dropout=0.5), checkpoint(draw), x, mask=mask)


@relation
def training_in_lower_precision(draw):
    "keeps its input's dtype in training with dropout"
    return [
        training_runs("EncoderBlock", *tiny_block(draw, 0.5, "mlp.fc2"), runs=1).in_dtype(dtype)
        for dtype in (torch.float32, torch.bfloat16)
    ], lambda observations: None


def tiny_block(draw, dropout, silent):
    """A block so small that its dropout masks can be read off, the linear map ``silent`` zero: one sublayer speaks."""
    state = checkpoint(draw, d_model=4, d_ff=6)
    for key in (f"{silent}.weight", f"{silent}.bias"):
        state[key] = torch.zeros_like(state[key])
    return {"d_model": 4, "num_heads": 2, "d_ff": 6, "dropout": dropout}, state, draw.stream(2, 2, 4)


def each_branch(draw, find_fault):
    """Sixteen training runs of either sublayer alone; ``find_fault`` gets what (runs, ...) they add to the stream."""
    silent = {"the attention output": "mlp.fc2", "the MLP output": "attention.o_proj"}
    blocks = {branch: tiny_block(draw, 0.5, key) for branch, key in silent.items()}
    calls = [training_runs("EncoderBlock", *block, runs=16) for block in blocks.values()]

    def check(observations):
        for (branch, (_, _, x)), given in zip(blocks.items(), observations, strict=True):
            added = torch.stack([run for name, run in given.items() if name.startswith("run")]) - x
            fault = find_fault(added, added.abs() <= 1e-6 * added.abs().max())
            if fault:
                return fault.format(branch)
        return None

    return calls, check


@relation
def something_is_dropped(draw):
    "adds nothing, in training, where an element of a sublayer's output is dropped"

    def find_fault(added, dropped):
        return None if dropped.any() and not dropped.all() else "no element of {} is dropped in 16 training runs"

    return each_branch(draw, find_fault)


@relation
def nothing_else_is_dropped(draw):
    "adds every element of a sublayer's output whole or not at all in training"

    def find_fault(added, dropped):
        highest = added.masked_fill(dropped, -torch.inf).amax(dim=0)
        lowest = added.masked_fill(dropped, torch.inf).amin(dim=0)
        several = highest - lowest > 1e-5 * added.abs().max()
        return "an element of {} is added with different values in 16 training runs" if several.any() else None

    return each_branch(draw, find_fault)


def dropout_at(draw, site, silent, dropout, runs):
    """Many training runs of one sublayer alone, read as masks of what the same block adds in evaluation."""
    config, state, x = tiny_block(draw, dropout, silent)
    calls = [
        training_runs("EncoderBlock", config, state, x, runs=runs),
        module_call("EncoderBlock", config, state, x).values_only(),
    ]

    def check(observations):
        branch = observations[1]["output"] - x

        def predict(keep):  # (patterns, feature)
            return x + keep[:, None, None, :] * branch

        return compare_dropout(observations[0], dropout, [Site(site, {"feature": 4})], predict)

    return calls, check


@relation
def dropout_at_l2(draw):
    "drops single features of the attention output and scales the others"
    return dropout_at(draw, "the attention output", silent="mlp.fc2", dropout=0.5, runs=64)


@relation
def dropout_at_l6(draw):
    "drops single features of the MLP output and scales the others, inside torch.no_grad() too"
    calls, check = dropout_at(draw, "the MLP output", silent="attention.o_proj", dropout=0.25, runs=128)
    return [one.under_no_grad() for one in calls], check


@relation
def dropout_of_other_inputs(draw):
    "drops from one sequence, single tokens, many tokens and masked ones too, each time anew, in every block"
    config, state, _ = tiny_block(draw, 0.75, "mlp.fc2")
    speaking = {**state, **draw.linear("mlp.fc2", 4, 6)}
    blind = torch.ones(3, 3, dtype=torch.bool)
    blind[0] = False
    inputs = [(draw.stream(*size, 4), mask) for size, mask in (((1, 3), blind), ((3, 1), None), ((1, 130), None))]
    calls = [runs_among_blocks(config, speaking, state, *given) for given in inputs]
    sites = [Site(name, {"feature": 4}) for name in ("the attention output", "the MLP output")]

    def check(observations):
        for observation, (x, _) in zip(observations, inputs, strict=True):
            attention_output = observation["without the MLP"] - x

            def predict(first, second, x=x, attention_output=attention_output):  # each (patterns, feature)
                y = x + first[:, None, None, :] * attention_output
                normalized = torch.nn.functional.layer_norm(y, (4,), speaking["norm2.weight"], speaking["norm2.bias"])
                hidden = (normalized @ speaking["mlp.fc1.weight"].T + speaking["mlp.fc1.bias"]).relu()
                return y + second[:, None, None, :] * (hidden @ speaking["mlp.fc2.weight"].T + speaking["mlp.fc2.bias"])

            fault = compare_dropout(observation, 0.75, sites, predict)
            runs = [run for name, run in observation.items() if name.startswith("run")]
            alike = all(torch.equal(*pair) for pair in zip(runs[::2], runs[1::2], strict=True))
            if fault or alike:
                return fault or "two blocks drop the same elements"
        return None

    return calls, check


def runs_among_blocks(config, state, silent, *inputs):
    """Training runs of two blocks in turn, beside a third one of another probability; then an evaluation, silent."""
    one = Call()
    blocks = [one.construct("EncoderBlock", **{**config, "dropout": p}) for p in (0.75, 0.75, 0.25)]
    for block in blocks:
        one.to(block)
        one.load_state(block, state)
        one.train(block)
    for index in range(20):
        one.apply(blocks[index % 2], *inputs).observe(f"run{index}")
    one.load_state(blocks[0], silent)
    one.eval(blocks[0])
    one.apply(blocks[0], *inputs).observe("without the MLP")
    return one.random()


def answer(name, labels, wrong):
    """The constant ``name`` and a check that it holds exactly these labels, in any order and any container."""
    one = Call()
    one.constant(name).observe("answer")

    def check(observations):
        given = observations[0]["answer"]
        if not isinstance(given, (list, tuple, set, frozenset)) or not all(isinstance(part, str) for part in given):
            return f"{name} should be a list, tuple or set of labels, each a string"
        if set(given) - LABELS:
            return f"{name} holds something other than the labels of the eight statements"
        return None if set(given) == labels else f"{name} {wrong}"

    return one, check


@relation
def moved_lines(draw):
    "names in MOVED_LINES the statements whose place in the order changes"
    return answer("MOVED_LINES", {"L4", "L8"}, "is not the set of statements whose place in the order changes")


@relation
def rewired_lines(draw):
    "names in REWIRED_LINES the statements that stay and read another input"
    wrong = "is not the set of statements that stay in their place and read another input"
    return answer("REWIRED_LINES", {"L1", "L5"}, wrong)


@stream
def stream_by_depth(draw, depth, inside):
    """shows the residual stream after each of independent blocks"""
    config = {"d_model": 16, "num_heads": 4, "d_ff": 32}
    states = [plain_norms(checkpoint(draw, 16, 32)) for _ in range(depth)]
    return {"pre-norm": module_stream("EncoderBlock", config, states, draw.normal(2, 6, 16), inside and "mlp.fc2")}
