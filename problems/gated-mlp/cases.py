"""Cases of the gated MLP: its values at every activation, shape and dtype, and the exact integers of its cost."""

import torch

from judge.authoring import Call, call, case, leading_shapes

ACTIVATIONS = ("silu", "gelu", "relu", "sigmoid", "identity")


def weights(draw, d_model, d_ff):
    """Gate, up and down; all entries distinct, so that no two roles can be exchanged unseen."""
    return {
        "weight_gate": draw.weight(d_ff, d_model),
        "weight_up": draw.weight(d_ff, d_model),
        "weight_down": draw.weight(d_model, d_ff),
    }


def with_large_gates(draw, sizes):
    """One token for each size: half of its gates open, half closed, all far from zero, so that nothing cancels."""
    x, parts = draw.normal(len(sizes), 12), weights(draw, 12, 20)
    x[:, -1] = torch.tensor(sizes)
    parts["weight_gate"][:, -1] = draw.uniform(0.6, 1.0, 20) * torch.tensor([1.0, -1.0]).repeat(10)
    return x, parts


@case
def a_batch_of_tokens(draw):
    "gates a batch of tokens with SiLU when no activation is named"
    return call("gated_mlp_forward", draw.normal(2, 5, 12), **weights(draw, 12, 20))


@case
def each_activation(draw):
    "applies each of the five activations to the gate alone"
    x, parts = draw.normal(2, 5, 12), weights(draw, 12, 20)
    return [call("gated_mlp_forward", x, *parts.values(), activation) for activation in ACTIVATIONS]


@case
def gelu_in_its_tail(draw):
    "uses the exact GELU, also where the gate is near -2.7"
    x, parts = draw.normal(3, 4, 7), weights(draw, 7, 11)
    x[..., -1] = 1.0  # this feature carries three gates to where tanh and erf differ most
    x[:, 1::2, -1] = -0.5  # for every other token only, or a row's gradient would be as small as float32's error there
    parts["weight_gate"] = 0.1 * parts["weight_gate"]
    parts["weight_gate"][:, -1] = 0.5  # the other gates keep the output away from zero, where float32 would be refused
    parts["weight_gate"][:3, -1] = -2.7
    parts["weight_up"][:3] *= 2.5
    return call("gated_mlp_forward", x, **parts, activation="gelu")


@case
def large_preactivations(draw):
    "stays right and finite, gradients too, for gates up to 1000 in size"
    x, parts = with_large_gates(draw, (1.0, 30.0, 300.0, 980.0))
    return [call("gated_mlp_forward", x, **parts, activation=name) for name in ACTIVATIONS]


@case
def any_leading_dimensions(draw):
    "takes a single vector, a matrix and any number of leading dimensions, and tokens that are zero or alike"
    parts = weights(draw, 12, 20)
    shapes = [(12,), (5, 12), (1, 1, 12), (1, 5, 12), (2, 3, 1, 5, 12)]
    return [*(call("gated_mlp_forward", draw.normal(*shape), **parts) for shape in shapes), of_every_shape(draw)]


def of_every_shape(draw):
    """Calls on inputs of every shape, on zeros and on many tokens, without gradients."""
    one = Call()
    for shape in leading_shapes(12):
        one.function("gated_mlp_forward", draw.normal(*shape, 12), **weights(draw, 12, 20)).observe(f"x {(*shape, 12)}")
    for name, x in (("zeros", torch.zeros(2, 5, 12).double()), ("equal tokens", draw.expanded(draw.normal(12), 5))):
        one.function("gated_mlp_forward", x, **weights(draw, 12, 20)).observe(name)
    zero_gate = {**weights(draw, 12, 20), "weight_gate": torch.zeros(20, 12).double()}
    one.function("gated_mlp_forward", draw.normal(2, 5, 12), **zero_gate, activation="sigmoid").observe("gates of zero")
    one.function("gated_mlp_forward", draw.normal(2, 2100, 3), **weights(draw, 3, 4)).observe("4200 tokens")
    return one.values_only()


@case
def square_weights(draw):
    "uses each weight the right way round when d_ff equals d_model"
    return call("gated_mlp_forward", draw.normal(2, 5, 7), **weights(draw, 7, 7))


@case
def any_memory_layout(draw):
    "takes transposed, strided and expanded tensors, and one weight in two roles"
    parts = weights(draw, 12, 20)
    strided = {name: draw.noncontiguous(weight) for name, weight in parts.items()}
    shared = {**parts, "weight_up": parts["weight_gate"]}
    return [
        call("gated_mlp_forward", draw.transposed(draw.normal(2, 5, 12)), **strided),
        call("gated_mlp_forward", draw.expanded(draw.normal(5, 12), 3), **parts, activation="sigmoid"),
        call("gated_mlp_forward", draw.normal(2, 5, 12), **shared, activation="relu"),
        call("gated_mlp_forward", draw.normal(5, 12), **{k: draw.transposed(w) for k, w in parts.items()}),
        call("gated_mlp_forward", draw.normal(3, 12), **weights(draw, 12, 1), activation="identity"),
    ]


@case
def lower_precision(draw):
    "keeps float32 and bfloat16, holds for gates up to 80 there, and uses the exact GELU there too"
    large, large_parts = with_large_gates(draw, (1.0, 10.0, 40.0, 75.0))
    x, parts = draw.normal(2, 5, 12), weights(draw, 12, 20)
    names = ACTIVATIONS
    single = [
        call("gated_mlp_forward", large, **large_parts, activation=name).in_dtype(torch.float32) for name in names
    ]
    half = [call("gated_mlp_forward", x, **parts, activation=name).in_dtype(torch.bfloat16) for name in names]
    tail, tail_parts = draw.normal(3, 4, 7), weights(draw, 7, 11)
    tail[..., -1] = 1.0  # this feature carries every gate to where tanh and erf differ most
    tail_parts["weight_gate"] = 0.1 * tail_parts["weight_gate"]
    tail_parts["weight_gate"][:, -1] = -2.7
    in_its_tail = call("gated_mlp_forward", tail, **tail_parts, activation="gelu").in_dtype(torch.float32)
    return [*single, *half, in_its_tail]


@case
def unknown_activation(draw):
    "refuses an activation it does not know with a ValueError"
    x, parts = draw.normal(5, 12), weights(draw, 12, 20)
    unlisted = ("tanh", "swiglu", "geglu", "reglu", "glu", "swish", "linear", "none", "bilinear", "leaky_relu", "elu")
    unlisted += ("softplus", "sin", "quick_gelu", "relu2", "mish", "selu", "hardswish", "softmax", "None")
    return [call("gated_mlp_forward", x, **parts, activation=name).raises(ValueError, naming=name) for name in unlisted]


@case
def exact_names(draw):
    "knows the five names exactly as written, and no empty one"
    x, parts = draw.normal(5, 12), weights(draw, 12, 20)
    spellings = ("SiLU", "Relu", " gelu", "silu ", "si-lu", "relu6", "sig", "gelu_tanh", "gelu_new", "identity_", "")
    return [
        call("gated_mlp_forward", x, **parts, activation=name).raises(ValueError, naming=name.strip() or None)
        for name in spellings
    ]


@case
def plain_parameters(draw):
    "counts the two matrices of a plain MLP, with and without biases"
    d_model, d_ff = draw.integer(5, 50), draw.integer(60, 200)
    return [
        call("mlp_parameter_count", d_model, d_ff),
        call("mlp_parameter_count", d_model=d_model, d_ff=d_ff, gated=False, bias=False),
        call("mlp_parameter_count", d_ff, d_model, False, True),
        call("mlp_parameter_count", 768, 3072),
        call("mlp_parameter_count", 2**26 + 1, 2**27 + 3),
        call("mlp_parameter_count", d_ff, d_ff),
    ]


@case
def gated_parameters(draw):
    "counts every matrix of a gated MLP, with and without biases"
    d_model, d_ff = draw.integer(5, 50), draw.integer(60, 200)
    return [
        call("mlp_parameter_count", d_model, d_ff, True),
        call("mlp_parameter_count", d_model=d_model, d_ff=d_ff, gated=True, bias=False),
        call("mlp_parameter_count", 4096, 11008, True, False),
        call("mlp_parameter_count", 2**26 + 1, 2**27 + 3, True),
        call("mlp_parameter_count", d_ff, d_ff, True),
        call("mlp_parameter_count", d_ff, d_model, True),
    ]


@case
def matched_width(draw):
    "takes two thirds of the width, cut off to a whole number"
    widths = [3072, 2048, 1024, 1, 2, 5, 10, 3 * 10**12 + 1, 3 * draw.integer(5, 500), 3 * draw.integer(5, 500) + 1]
    return [call("matched_gated_width", width) for width in widths]


@case
def matched_width_multiple(draw):
    "rounds the matched width up to a multiple, and keeps an exact one"
    pairs = [(4 * 4096, 256), (4 * 5120, 256), (4 * 6656, 256), (3072, 256), (12, 64), (3 * 7 * 5, 7), (3 * 100, 48)]
    cut_first = 6 * draw.integer(4, 90) + 1  # two thirds of it is a multiple of 4 and two thirds more
    return [
        *(call("matched_gated_width", d_ff, multiple_of) for d_ff, multiple_of in pairs),
        call("matched_gated_width", d_ff=cut_first, multiple_of=4),
        call("matched_gated_width", 5, 2),
        call("matched_gated_width", 6146, 4096),  # one more than a multiple
        call("matched_gated_width", 4 * 8192, 4096),
    ]


@case(after=("plain_parameters", "gated_parameters"))
def forward_cost(draw):
    "counts two operations for each multiply-add of every matrix product"
    tokens, d_model, d_ff = draw.integer(2, 9), draw.integer(11, 40), draw.integer(41, 90)
    return [
        call("mlp_forward_flops", tokens, d_model, d_ff),
        call("mlp_forward_flops", tokens, d_model, d_ff, True),
        call("mlp_forward_flops", num_tokens=1, d_model=d_model, d_ff=d_ff, gated=True),
        call("mlp_forward_flops", 2 * 32, 64, 256),
        call("mlp_forward_flops", tokens, d_ff, d_model),
        call("mlp_forward_flops", tokens, d_ff, d_ff),
    ]


@case
def cost_of_a_corpus(draw):
    "stays exact for the hundreds of billions of tokens of a corpus"
    tokens = 300_000_000_001 + 2 * draw.integer(0, 1_000_000)
    large = call("mlp_forward_flops", 15_000_000_000_001, 16384, 53248, True)
    sizes = (tokens, 129, 387)
    return [call("mlp_forward_flops", *sizes), call("mlp_forward_flops", *sizes, gated=True), large]


@case
def one_feature_and_many(draw):
    "works at a single feature and hidden channel, and at many tokens and channels"
    return [
        call("gated_mlp_forward", draw.normal(2, 3, 1), **weights(draw, 1, 1)),
        call("gated_mlp_forward", draw.normal(3, 70, 5), **weights(draw, 5, 150), activation="gelu"),
    ]
