"""Cases of the gated block: norms, rotary positions, gate, masks, dropout; then what is saved and what is refused."""

import io
import json
import pickle

import torch

from judge.authoring import (
    Call,
    ScratchPath,
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

BLOCK = "PreNormGatedBlock"
D_MODEL, NUM_HEADS, D_FF = 12, 3, 20
CONFIG = {"d_model": D_MODEL, "num_heads": NUM_HEADS, "d_ff": D_FF}
LAST = 100_000

# Dropout is judged on a block so small that all masks of a token can be listed.
TINY = {"d_model": 4, "num_heads": 2, "d_ff": 4}
WEIGHTS = Site("the attention weights", {"head": 2, "key": 2})
ATTENTION_OUTPUT = Site("the attention's output", {"channel": 4})
MLP_OUTPUT = Site("the MLP's output", {"channel": 4})
MISTAKES = {  # what is dropped besides or instead, attention only
    "elements of the residual stream are dropped instead of the attention's output": ("weights", "stream"),
    "scores are dropped before the softmax instead of weights after it": ("scores", "attention_output"),
    "elements of the heads' results are dropped instead of attention weights": ("heads", "attention_output"),
}


def block_state(draw, d_model=D_MODEL, d_ff=D_FF):
    """A checkpoint with random gains and weights."""
    state = {**draw.norm("norm1", d_model, bias=False), **draw.norm("norm2", d_model, bias=False)}
    for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
        state |= draw.linear(f"attention.{name}", d_model, d_model, bias=False)
    for name in ("gate_proj", "up_proj"):
        state |= draw.linear(f"mlp.{name}", d_ff, d_model, bias=False)
    return {**state, **draw.linear("mlp.down_proj", d_model, d_ff, bias=False)}


def wide_stream(draw, batch=2, seq_len=5, d_model=D_MODEL):
    """A stream that is not centred and spreads so far that eps doesn't show: tiny_values alone is about that."""
    return 8 * draw.normal(batch, seq_len, d_model) + 4


def applied(draw, x, *args, **kwargs):
    return module_call(BLOCK, CONFIG, block_state(draw), x, *args, **kwargs)


def loaded_with(one, config, state):
    """A block with this checkpoint, in evaluation."""
    block = one.construct(BLOCK, **config)
    one.to(block)
    one.load_state(block, state)
    one.eval(block)
    return block


@case
def plain_block(draw):
    "gives the block's output and gradients for an ordinary stream"
    return applied(draw, wide_stream(draw))


@case
def given_positions(draw):
    "turns queries and keys by the given positions, whatever their order and size"
    config = {"d_model": 32, "num_heads": 1, "d_ff": 6}
    state = block_state(draw, 32, 6)
    # Scores that hang on the fast pairs, where an angle of many turns is hard to tell exactly, and outputs on scores.
    fast = torch.tensor([1, 2, 3, 4, 17, 18, 19, 20])
    state["attention.q_proj.weight"][fast] *= 12
    state["attention.o_proj.weight"] *= 3
    far = LAST - draw.permutation(5) * 8_000 - draw.integers(0, 8_000, 5)
    return [
        applied(draw, wide_stream(draw), draw.permutation(9)[:5]),
        applied(draw, wide_stream(draw), mask=draw.mask(5, 5), positions=torch.tensor([7, 7, 0, 31, 2]).int()),
        module_call(BLOCK, config, state, draw.normal(2, 5, 32), positions=far),
        module_call(BLOCK, config, state, draw.normal(2, 5, 32), positions=torch.cat([far[:2] * 0, far[2:]]).int()),
    ]


@case
def masks(draw):
    "takes a mask for all sequences, for each sequence, for each head or for both, also where sizes are equal"
    shapes = ((5, 5), (2, 1, 1, 5), (1, NUM_HEADS, 5, 5), (2, NUM_HEADS, 5, 5))
    # Batch, heads and sequence length are 3. No two rows of the first are equal, as they can be in a drawn one.
    square = torch.ones(3, 3, dtype=torch.bool).tril(), draw.mask(3, 1, 1, 3)
    return [
        *(applied(draw, wide_stream(draw), None, draw.mask(*shape)) for shape in shapes),
        *(applied(draw, wide_stream(draw, 3, 3), draw.permutation(3), mask) for mask in square),
    ]


@case
def query_that_sees_nothing(draw):
    "gives a query that may attend to nothing a zero attention output, with finite gradients"
    masks = (
        draw.mask(5, 5, hidden_rows=2),
        draw.mask(2, 1, 5, 1, hidden_rows=4),
        torch.ones(5, 5, dtype=torch.bool).tril(-1),
    )
    return [applied(draw, wide_stream(draw), mask=mask) for mask in masks]


@case
def smallest_sizes(draw):
    "works with one head, with heads of width two, and for one sequence of one token"
    calls = []
    for heads, batch, seq_len in ((1, 2, 4), (D_MODEL // 2, 1, 5), (NUM_HEADS, 1, 1), (NUM_HEADS, 3, 1)):
        config = {**CONFIG, "num_heads": heads}
        calls.append(module_call(BLOCK, config, block_state(draw), wide_stream(draw, batch, seq_len)))
    smallest = {"d_model": 2, "num_heads": 1, "d_ff": 1}
    return [*calls, module_call(BLOCK, smallest, block_state(draw, 2, 1), wide_stream(draw, 2, 3, 2))]


@case
def tiny_values(draw):
    "is right where the mean square is as small as eps, in both norms, and for a token of zeros"
    tiny = 3e-4 * draw.stream(2, 5, D_MODEL)
    tiny[0, 1] = 0
    silent = silence(block_state(draw), "attention.o_proj")  # so that the second norm reads the tiny stream, too
    return [applied(draw, tiny), module_call(BLOCK, CONFIG, silent, tiny)]


@case
def memory_layouts(draw):
    "takes inputs that are not contiguous, or one sequence that is expanded to a batch"
    streams = (
        draw.transposed(wide_stream(draw)),
        draw.noncontiguous(wide_stream(draw)),
        draw.expanded(wide_stream(draw, 1)[0], 2),
    )
    return [applied(draw, x) for x in streams]


@case
def masks_of_every_form(draw):
    "reads every form of mask at every size, and is right for zeros and for 520 tokens, whatever was called before"
    return [in_every_situation(draw, {**CONFIG, "num_heads": heads, "dropout": 0.5}) for heads in (1, NUM_HEADS)]


def in_every_situation(draw, config):
    """One block, called with each form of mask and at each size, without gradients."""
    one = Call()
    block = loaded_with(one, config, block_state(draw))
    for name, batch, seq_len, _, mask in masked_situations(draw, config["num_heads"]):
        one.apply(block, wide_stream(draw, batch, seq_len), mask=mask).observe(name)
    x = wide_stream(draw, 2, 5)
    one.apply(block, x).observe("an ordinary stream")
    one.apply(block, torch.zeros_like(x)).observe("a stream of zeros")
    one.apply(block, wide_stream(draw, 2, 1).repeat(1, 5, 1)).observe("tokens that are all alike")
    if config["num_heads"] == 1:
        one.apply(block, wide_stream(draw, 1, 520)).observe("1 x 520 tokens")
    one.apply(one.method(block, "float"), one.method(one.leaf(x), "float"))
    one.apply(one.method(block, "double"), x).observe("after a call in float32")
    one.load_state(block, far_apart(block_state(draw)))
    x, mask = wide_stream(draw, 2, 12), draw.mask(12, 12)
    one.apply(block, x, mask=mask).observe("scores that lie far apart, and large gates")
    return one.values_only().under_no_grad()


def far_apart(state):
    """The same checkpoint with scores so far apart that a hidden key may lie 100 above all visible ones, and with
    gates and features of the MLP that are far from zero.
    """
    factors = {"q_proj": 10, "k_proj": 10, "gate_proj": 100, "up_proj": 10}
    return {key: factors.get(key.split(".")[1], 1) * tensor for key, tensor in state.items()}


@case
def several_calls(draw):
    "keeps nothing from one call to the next: other lengths, positions, masks and checkpoints"
    one = Call()
    block = loaded_with(one, CONFIG, block_state(draw))
    x, mask = wide_stream(draw, 3, 5), draw.mask(5, 5)
    one.apply(block, x, mask=mask).observe("first")
    one.apply(block, x, torch.tensor([3, 5, 8, 9, 20]), mask).observe("other positions for as many tokens")
    one.apply(block, x, mask=draw.mask(5, 5)).observe("other mask of the same shape")
    one.apply(block, x).observe("no mask any more")
    one.apply(block, wide_stream(draw, 1, 9)).observe("a sequence of 9 tokens")
    one.apply(block, x, mask=mask).observe("first again")
    other = Call()
    block = loaded_with(other, CONFIG, block_state(draw))
    other.apply(block, x).observe("one checkpoint")
    other.load_state(block, block_state(draw))
    other.apply(block, x).observe("another checkpoint")
    return [one, other.differentiate()]  # loading writes over what a gradient would need


@case
def chained_blocks(draw):
    "can be chained, blocks of other head counts and modes and copies included"
    one, x = Call(), wide_stream(draw)
    configs = ({**CONFIG, "dropout": 0.5}, {**CONFIG, "num_heads": 2}, {**CONFIG, "num_heads": 6, "d_ff": 7})
    blocks = [loaded_with(one, config, block_state(draw, d_ff=config["d_ff"])) for config in configs]
    stream = x
    for depth, block in enumerate(blocks, start=1):
        stream = one.apply(block, stream).observe(f"stream after block {depth}")
    one.train(blocks[1])
    one.apply(one.deepcopy(blocks[0]), stream).observe("a copy of the first block after these")
    return one


@case
def nothing_to_drop(draw):
    "drops nothing in evaluation, nor in training with probability zero, which is the default"
    state, x, mask = block_state(draw), wide_stream(draw), draw.mask(5, 5, hidden_rows=1)
    calls = [module_call(BLOCK, {**CONFIG, "dropout": 0.5}, state, x, mask=mask)]
    # A probability of 1e-12 goes every way that dropout goes, gradients included, and drops nothing.
    for config in (CONFIG, {**CONFIG, "dropout": 1e-12}):
        one = Call()
        block = one.construct(BLOCK, **config)
        one.to(block)
        one.load_state(block, state)
        one.train(block)
        one.apply(block, x, mask=mask).observe("output")
        calls.append(one)
    return calls


@case
def lower_precision(draw):
    "gives float32 for a float32 block and bfloat16 for a bfloat16 block, also at far positions"
    # Two positions that are close, and others far from them and from each other: only there a rounded frequency shows.
    far, calls = torch.tensor([LAST - 40, 11, LAST - 37, 50_003, LAST]), []
    shapes = (torch.float32, (5, 5)), (torch.bfloat16, (5, 5)), (torch.bfloat16, (2, 1, 5, 5))
    for dtype, shape in shapes:
        state = block_state(draw)
        # Weights that hang on the positions and a stream that doesn't drown them: bfloat16 is judged with 5 %.
        state["attention.q_proj.weight"] *= 2
        x, mask = draw.normal(2, 5, D_MODEL), draw.mask(*shape, hidden_rows=1)
        calls.append(module_call(BLOCK, {**CONFIG, "dropout": 0.5}, state, x, far, mask=mask).in_dtype(dtype))
    return calls


@case
def refused_widths(draw):
    "raises a ValueError in the constructor for heads that do not divide d_model, or of an odd width"
    calls = []
    for d_model, heads, value in ((12, 5, 5), (12, 24, 24), (12, 4, None), (9, 1, None)):
        one = Call()
        one.construct(BLOCK, d_model=d_model, num_heads=heads, d_ff=D_FF)
        calls.append(one.raises(ValueError, naming=value))
    return calls


@relation
def fresh_blocks(draw):
    "starts with finite values that differ from block to block, also where blocks are loaded in between"
    one, path = Call(), ScratchPath("block.pt")
    for name in ("one", "other"):
        block = one.construct(BLOCK, **CONFIG)
        one.to(block)
        one.eval(block)
        one.apply(block, wide_stream(draw)).observe(f"output of {name}")
        one.state_dict(block).observe(name)
    one.function("save_block", block, path)
    for name in ("third", "fourth"):
        one.function("load_block", path)
        one.state_dict(one.construct(BLOCK, **CONFIG)).observe(name)

    def check(observations):
        given = observations[0]
        for name in ("one", "other"):
            if not given[f"output of {name}"].isfinite().all():
                return "the output of a new block is not finite"
            if not all(tensor.isfinite().all() for tensor in given[name].values()):
                return "a new block has values that are not finite"
        matrices = [key for key, tensor in given["one"].items() if tensor.dim() == 2]
        if all(torch.equal(given["one"][key], given["other"][key]) for key in matrices):
            return "two new blocks have the same weight matrices"
        if all(torch.equal(given["third"][key], given["fourth"][key]) for key in matrices):
            return "two new blocks, each made after load_block, have the same weight matrices"
        return None

    return one.random(), check


def tiny_state(draw):
    """A checkpoint for TINY whose masks can be read from the output: no weight is close to zero."""
    state = block_state(draw, d_model=4, d_ff=4)
    state["attention.q_proj.weight"] = draw.weight(4, 4, gain=0.3)
    return state


def silence(state, key):
    return {**state, f"{key}.weight": state[f"{key}.weight"] * 0}


def predicted(state, x, mask=None, **kept):
    """TINY's output (patterns, batch, token, d_model) for the masks (patterns, ...) of some sites."""
    keys = x.shape[1]

    def keep(site, *shape):
        return kept[site].reshape(-1, *shape) if site in kept else torch.ones((), dtype=torch.float64)

    def linear(key, inputs):
        return torch.nn.functional.linear(inputs, state[f"{key}.weight"])

    def norm(key, inputs):
        return torch.nn.functional.rms_norm(inputs, (4,), state[f"{key}.weight"], 1e-6)

    def turned(heads):  # one pair of features: its angle is the position
        angles = torch.arange(keys, dtype=torch.float64)[:, None]
        first, second = heads.chunk(2, dim=-1)
        cosine, sine = angles.cos(), angles.sin()
        return torch.cat([first * cosine - second * sine, first * sine + second * cosine], dim=-1)

    normalized = norm("norm1", x)
    query, key, value = (
        linear(f"attention.{name}", normalized).unflatten(-1, (2, 2)).transpose(1, 2)
        for name in ("q_proj", "k_proj", "v_proj")
    )
    scores = turned(query) @ turned(key).transpose(-2, -1) / 2**0.5  # (batch, head, query, key)
    scores = scores * keep("scores", 1, 2, 1, keys)
    weights = scores.softmax(-1)
    if mask is not None:
        weights = scores.masked_fill(~mask, -torch.inf).softmax(-1).nan_to_num()  # NaN: a query that sees nothing
    weights = weights * keep("weights", 1, 2, 1, keys)
    heads = weights @ value * keep("heads", 1, 2, 1, 2)
    attention_output = linear("attention.o_proj", heads.transpose(-3, -2).flatten(-2))
    x = (x + attention_output * keep("attention_output", 1, 1, 4)) * keep("stream", 1, 1, 4)
    normalized = norm("norm2", x)
    hidden = torch.nn.functional.silu(linear("mlp.gate_proj", normalized)) * linear("mlp.up_proj", normalized)
    return x + linear("mlp.down_proj", hidden * keep("hidden", 1, 1, 4)) * keep("mlp_output", 1, 1, 4)


def attention_complaint(observation, p, state, x):
    """What is wrong with the dropout of a block whose MLP is silent, or None."""
    mistakes = [
        Mistake(
            sentence,
            [Site(name, {"element": 4}) for name in names],
            lambda *kept, names=names: predicted(state, x, **dict(zip(names, kept, strict=True))),
        )
        for sentence, names in MISTAKES.items()
    ]
    return compare_dropout(
        observation,
        p,
        [WEIGHTS, ATTENTION_OUTPUT],
        lambda weights, output: predicted(state, x, weights=weights, attention_output=output),
        mistakes=mistakes,
    )


@relation
def dropout_of_other_inputs(draw):
    "drops from one sequence, single tokens, many tokens and masked ones too, whatever other blocks exist"
    state, blind = tiny_state(draw), torch.tensor([[False, False], [True, True]])
    inputs = [(wide_stream(draw, *size, 4), mask) for size, mask in (((1, 2), None), ((3, 1), None), ((2, 2), blind))]
    calls = [runs_among_blocks(BLOCK, {**TINY, "dropout": 0.75}, state, x, mask=mask) for x, mask in inputs]
    speaking = {"the attention": silence(state, "mlp.down_proj"), "the MLP": silence(state, "attention.o_proj")}
    long = modes_of_each(BLOCK, TINY, speaking, wide_stream(draw, 1, 130, 4))

    def check(observations):
        for given, (x, mask) in zip(observations, inputs, strict=False):
            fault = compare_dropout(
                given,
                0.75,
                [Site(WEIGHTS.name, {"head": 2, "key": x.shape[1]}), ATTENTION_OUTPUT, MLP_OUTPUT],
                lambda weights, attention_output, mlp_output, x=x, mask=mask: predicted(
                    state, x, mask, weights=weights, attention_output=attention_output, mlp_output=mlp_output
                ),
            )
            if fault or same_in_two_blocks(given):
                return fault or "two blocks drop the same elements"
        return unlike_evaluation(observations[-1])

    return [*calls, long], check


@relation
def gradients_in_training(draw):
    "passes gradients back, in training, through exactly the elements that its output was computed with"
    x, mask = wide_stream(draw), draw.mask(5, 5)
    return training_gradients(draw, BLOCK, {**CONFIG, "dropout": 0.5}, block_state(draw), x, mask=mask)


@relation
def training_in_lower_precision(draw):
    "keeps its input's dtype in training with dropout"
    return [
        training_runs(BLOCK, {**CONFIG, "dropout": 0.5}, block_state(draw), wide_stream(draw), runs=1).in_dtype(dtype)
        for dtype in (torch.float32, torch.bfloat16)
    ], lambda observations: None


@relation
def dropout_sites(draw):
    "drops attention weights and each sublayer's output in training, each element on its own"
    x, state = wide_stream(draw, 2, 2, 4), tiny_state(draw)
    attention, mlp = silence(state, "mlp.down_proj"), silence(state, "attention.o_proj")
    hidden = Mistake(
        "elements of the MLP's hidden values are dropped instead of its output",
        [Site("hidden", {"element": 4})],
        lambda kept: predicted(mlp, x, hidden=kept),
    )

    def check(observations):
        return attention_complaint(observations[0], 0.5, attention, x) or compare_dropout(
            observations[1], 0.5, [MLP_OUTPUT], lambda output: predicted(mlp, x, mlp_output=output), mistakes=[hidden]
        )

    return [training_runs(BLOCK, {**TINY, "dropout": 0.5}, state, x) for state in (attention, mlp)], check


@relation
def dropout_of_a_loaded_block(draw):
    "drops with dropout 0.2517 also when the block comes from a file and trains on, inside torch.no_grad() too"
    x, state = wide_stream(draw, 2, 2, 4), silence(tiny_state(draw), "mlp.down_proj")
    one, path = Call(), ScratchPath("block.pt")
    one.function("save_block", loaded_with(one, {**TINY, "dropout": 0.2517}, state), path)
    block = one.function("load_block", path)
    one.train(block)
    for index in range(48):
        one.apply(block, x).observe(f"run{index}")
    return one.random().under_no_grad(), lambda observations: attention_complaint(observations[0], 0.2517, state, x)


@case(after="plain_block")
def saved_and_loaded(draw):
    "loads what it saved: one file at exactly that path, a block in evaluation, of the same dropout, heads and weights"
    calls = []
    names = {"block.pt": 3, "block": 2, "a block.bin": 1, "v1.2": 6}
    for number, (name, heads) in enumerate(names.items()):
        config = {**CONFIG, "num_heads": heads, "dropout": 0.5 if number else 0.0}
        path = ScratchPath(name, text=number % 2 == 0)
        one = Call()
        block = one.construct(BLOCK, **config)
        one.to(block)
        one.load_state(block, block_state(draw))
        one.function("save_block", block, path)
        one.listing().observe("files")
        one.readable(path).observe("torch.load with weights_only=True, or safetensors, reads the file")
        again = one.function("load_block", path)
        one.attribute(again, "training").observe("training flag of the loaded block")
        one.state_dict(again).observe("state_dict of the loaded block")
        one.apply(again, wide_stream(draw), draw.permutation(5), draw.mask(5, 5)).observe("output of the loaded block")
        calls.append(one.values_only())
    return calls


@case
def saved_over_another(draw):
    "replaces whatever stands at the path, and saves each block with its own configuration, however many were made"
    one, path = Call(), ScratchPath("block.pt", text=True)
    x = wide_stream(draw)
    one.write_file(path, draw.integers(0, 256, 20_000).to(torch.uint8).numpy().tobytes())
    first = loaded_with(one, CONFIG, block_state(draw))
    second = loaded_with(one, {**CONFIG, "num_heads": 2, "d_ff": 5}, block_state(draw, d_ff=5))
    one.function("save_block", first, path)
    early = one.function("load_block", path)
    one.function("save_block", second, path)
    one.listing().observe("files")
    late = one.function("load_block", path)
    latest = one.function("load_block", ScratchPath("block.pt"))
    one.identical(late, latest).observe("two loaded blocks are one object")
    one.load_state(latest, block_state(draw, d_ff=5))
    one.function("save_block", late, ScratchPath("saved again.pt"))
    again = one.function("load_block", ScratchPath("saved again.pt"))
    one.apply(early, x).observe("the first block, loaded before the second was saved")
    one.apply(late, x).observe("the second block")
    one.apply(again, x).observe("the second block, loaded, saved and loaded again")
    one.apply(latest, x).observe("the second block with another checkpoint")
    return one.values_only()


@case
def saving_changes_nothing(draw):
    "leaves the block that it saves as it was: mode, dtype, weights and gradients"
    calls = []
    for training in (True, False):
        one, x = Call(), wide_stream(draw)
        block = loaded_with(one, CONFIG, block_state(draw))
        if training:
            one.train(block)
        one.function("save_block", block, ScratchPath("block.pt"))
        one.attribute(block, "training").observe("training flag after saving")
        one.state_dict(block).observe("state_dict after saving")
        one.apply(block, x).observe("output after saving")
        calls.append(one)
    learning = Call()
    block = loaded_with(learning, CONFIG, block_state(draw))
    learning.train(block)
    learning.sgd_step(block, learning.apply(block, x), learning_rate=1e-3)
    learning.function("save_block", block, ScratchPath("block.pt"))
    weight = learning.attribute(learning.attribute(block, "norm1"), "weight")
    learning.attribute(weight, "grad").observe("norm1.weight.grad after saving")
    return [*calls, learning.values_only()]


@relation
def bit_for_bit(draw):
    "gives the same outputs bit for bit after loading, in float64, float32 and bfloat16"
    calls = []
    for dtype in (torch.float64, torch.float32, torch.bfloat16):
        one, x, positions = Call(), wide_stream(draw), draw.permutation(5)
        block = loaded_with(one, {**CONFIG, "dropout": 0.3}, block_state(draw))
        one.apply(block, x, positions).observe("output")
        one.function("save_block", block, ScratchPath("block.pt"))
        again = one.function("load_block", ScratchPath("block.pt"))
        one.state_dict(again).observe("state_dict of the loaded block")
        one.apply(again, x, positions).observe("output of the loaded block")
        calls.append(one.in_dtype(dtype))

    def check(observations):
        for given in observations:
            one, other = given["output"], given["output of the loaded block"]
            if not torch.equal(one, other):
                return f"the loaded block's output is not the saved one's bit for bit in {str(one.dtype)[6:]}"
        return None

    return calls, check


def torch_file(content):
    """The bytes that torch.save writes."""
    buffer = io.BytesIO()
    torch.save(content, buffer)
    return buffer.getvalue()


def tensors_file(state, metadata=None):
    """The bytes of a safetensors file: the header's length, the header, the tensors."""
    header, data = {} if metadata is None else {"__metadata__": metadata}, b""
    for key, tensor in state.items():
        content = tensor.contiguous().numpy().tobytes()
        offsets = [len(data), len(data) + len(content)]
        header[key] = {"dtype": "F64", "shape": list(tensor.shape), "data_offsets": offsets}
        data += content
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def under_usual_names(config, state):
    """A dict in which a loader finds a configuration and tensors under whatever usual name it asks for."""
    names = "config", "configuration", "hparams", "hyperparameters", "kwargs", "args", "init_args", "params"
    states = "state", "state_dict", "model_state_dict", "model_state", "model", "weights", "tensors", "parameters"
    about = {"format": "pre-norm-gated-block", "version": "1", "class": BLOCK, "dtype": "float64"}
    flat = config if isinstance(config, dict) else {}
    return {**about, **flat, **dict.fromkeys(names, config), **dict.fromkeys(states, state)}


def refused(content):
    """A call that loads a file with this content."""
    one, path = Call(), ScratchPath("block.pt", text=len(content) % 2 == 0)
    one.write_file(path, content)
    one.function("load_block", path)
    return one.raises(ValueError)


@case
def unreadable_files(draw):
    "raises a ValueError for a file that is empty, cut off, text or noise; for none, or a FileNotFoundError"
    state = block_state(draw)
    noise = draw.integers(0, 256, 400).to(torch.uint8).numpy().tobytes()
    saved, tensors = torch_file({"config": CONFIG, "state": state}), tensors_file(state)
    contents = (
        *(noise, b"PK\x03\x04" + noise, b"", b"not a block\n", json.dumps(CONFIG).encode()),
        *(saved[: len(saved) // 2], saved[:-30], saved[:10]),
        *(tensors[: len(tensors) // 2], tensors[:-8], tensors[:40]),
    )
    calls = [refused(content) for content in contents]
    for text in (True, False):
        missing = Call()
        missing.function("load_block", ScratchPath("nowhere.pt", text=text))
        calls.append(missing.raises((FileNotFoundError, ValueError)))
    return calls


@case
def foreign_contents(draw):
    "raises a ValueError for a bare tensor, a bare state dict and dicts that make no block"
    state = block_state(draw)
    config = {**CONFIG, "dropout": 0.1}
    narrow = block_state(draw, d_model=6, d_ff=7)
    fewer = {key: tensor for key, tensor in state.items() if key != "norm2.weight"}
    single = {**state, "norm1.weight": state["norm1.weight"][:1]}  # would broadcast
    contents = [
        *(draw.normal(5), state, [*state.values()], {"epoch": 3, "loss": 0.25}, {}, 7, "a block", None),
        *({"config": config}, {"state": state}, {"config": None, "state": None}),
        *({"config": config, "state": narrow}, {"config": config, "state": fewer}, {"config": config, "state": {}}),
        *({"config": {"d_model": D_MODEL}, "state": state}, {"config": state, "state": config}),
        *({"config": config, "state_dict": narrow}, {"config": config, "model": narrow}),
        {"config": config, "state": single},
        *(under_usual_names(config, given) for given in (narrow, fewer, single)),
    ]
    as_text = json.dumps(config)
    metadata = {**{key: str(value) for key, value in config.items()}, **under_usual_names(as_text, as_text)}
    return [
        *(refused(torch_file(content)) for content in contents),
        *(refused(tensors_file(*given)) for given in ((state,), (fewer, metadata), (narrow, metadata))),
    ]


class Payload:
    """Pickled, it is a call of a function: whoever unpickles it makes the call."""

    def __init__(self, function, *args):
        self.call = function, args

    def __reduce__(self):
        return self.call


@case
def files_with_code(draw):
    "never runs code from the file, and refuses one that holds some with a ValueError"
    # SystemExit passes every `except Exception`: a loader that runs the code can't hide it.
    code = """exec("raise SystemExit('code from the file was run')")"""  # as a pickle, or as a text to evaluate
    leave = Payload(eval, code)
    draws = Payload(eval, "exec('import torch; torch.rand(1)')")  # not even a bare `except` takes that back
    config = {**CONFIG, "dropout": 0.0}
    contents = (
        pickle.dumps(leave, protocol=2),
        pickle.dumps({"config": config, "state": leave}, protocol=2),
        torch_file(leave),
        torch_file({"config": leave, "state": block_state(draw)}),
        torch_file({"config": config, "state": block_state(draw), "extra": leave}),
        torch_file({"config": code, "state": block_state(draw)}),
        torch_file(under_usual_names(code, block_state(draw))),
        tensors_file(block_state(draw), under_usual_names(code, code)),
        pickle.dumps(draws, protocol=2),
        torch_file({"config": config, "state": block_state(draw), "extra": draws}),
    )
    return [refused(content) for content in contents]


@stream
def stream_by_depth(draw, depth, inside):
    """shows the residual stream after each of independent blocks"""
    config = {"d_model": 16, "num_heads": 4, "d_ff": 32}
    states = [plain_norms(block_state(draw, 16, 32)) for _ in range(depth)]
    return {"pre-norm, gated": module_stream(BLOCK, config, states, draw.normal(2, 6, 16), inside and "mlp.down_proj")}
