"""Cases of the position-wise feed-forward network: values and gradients at every activation, width, rank and dtype."""

import torch

from judge.authoring import Call, call, case, leading_shapes

ACTIVATIONS = ("relu", "gelu")


def parameters(draw, d_model=12, d_ff=20, d_out=12):
    """Both maps with biases that are not zero."""
    return {
        "weight1": draw.weight(d_ff, d_model),
        "bias1": draw.bias(d_ff),
        "weight2": draw.weight(d_out, d_ff),
        "bias2": draw.bias(d_out),
    }


@case
def a_batch_of_tokens(draw):
    "sends each token through both maps, with ReLU when no activation is named; biases that are zero learn too"
    fresh = {name: 0 * part if name in ("bias1", "bias2") else part for name, part in parameters(draw).items()}
    return [call("position_wise_ffn", draw.normal(2, 5, 12), **given) for given in (parameters(draw), fresh)]


@case
def each_activation(draw):
    "applies the activation that is named, between the two maps"
    x, parts = draw.normal(2, 5, 12), parameters(draw)
    calls = [call("position_wise_ffn", x, *parts.values(), activation) for activation in ACTIVATIONS]
    silent = draw.normal(2, 5, 12)
    silent[1, 2:] = 0.0  # preactivations of exactly zero, where GELU has an ordinary slope
    return [
        *calls,
        call("position_wise_ffn", silent, **{**parts, "bias1": torch.zeros(20).double()}, activation="gelu"),
    ]


@case
def gelu_in_its_tail(draw):
    "uses the exact GELU, also where the preactivation is near -2.7"
    x, parts = draw.normal(3, 4, 7), parameters(draw, 7, 11, 7)
    parts["weight1"] = 0.1 * parts["weight1"]
    parts["bias1"] = torch.full((11,), 0.5, dtype=torch.float64)  # these keep the output away from zero
    parts["bias1"][:4] = -2.7  # where the approximations differ most from the exact function
    parts["weight2"][:, :4] *= 3.0
    return call("position_wise_ffn", x, **parts, activation="gelu")


@case
def large_preactivations(draw):
    "stays right and finite, gradients too, for preactivations up to 1000 in size"
    x, parts = draw.normal(4, 12), parameters(draw)
    x[:, -1] = torch.tensor([1.0, 30.0, 300.0, 980.0])
    # Half of the channels are far above zero and half far below, so that nothing cancels.
    parts["weight1"][:, -1] = draw.uniform(0.6, 1.0, 20) * torch.tensor([1.0, -1.0]).repeat(10)
    return [call("position_wise_ffn", x, **parts, activation=name) for name in ACTIVATIONS]


@case
def any_leading_dimensions(draw):
    "takes any number of leading dimensions and tokens, a single feature or channel, and tokens that are zero or alike"
    parts = parameters(draw)
    shapes = [(12,), (5, 12), (1, 1, 12), (2, 3, 1, 5, 12)]
    return [*(call("position_wise_ffn", draw.normal(*shape), **parts) for shape in shapes), of_every_shape(draw)]


def of_every_shape(draw):
    """Calls on inputs of every shape, on zeros and on many tokens, without gradients."""
    one = Call()
    for shape in leading_shapes(12):
        one.function("position_wise_ffn", draw.normal(*shape, 12), **parameters(draw, d_out=7)).observe(
            f"x {(*shape, 12)}"
        )
    for name, x in (("zeros", torch.zeros(2, 5, 12).double()), ("equal tokens", draw.expanded(draw.normal(12), 5))):
        one.function("position_wise_ffn", x, **parameters(draw)).observe(name)
    one.function("position_wise_ffn", draw.normal(2, 5, 12), **parameters(draw)).observe("other tokens")
    one.function("position_wise_ffn", draw.normal(3, 200, 5), **parameters(draw, 5, 300, 4)).observe("600 tokens")
    one.function("position_wise_ffn", draw.normal(2, 2100, 1), **parameters(draw, 1, 4, 3)).observe("4200 tokens")
    one.function("position_wise_ffn", draw.normal(2, 5, 3), **parameters(draw, 3, 1, 4)).observe("one hidden channel")
    return one.values_only().under_no_grad()


@case
def other_output_widths(draw):
    "ends at the width of the second map, whatever the input's width is"
    x = draw.normal(2, 5, 12)
    return [call("position_wise_ffn", x, **parameters(draw, d_out=d_out)) for d_out in (7, 31, 1)]


@case
def equal_widths(draw):
    "uses each weight the right way round when all widths are equal"
    return call("position_wise_ffn", draw.normal(2, 5, 7), **parameters(draw, 7, 7, 7))


@case
def any_memory_layout(draw):
    "takes transposed, strided and expanded tensors, and one bias in two roles"
    parts = parameters(draw)
    strided = {name: draw.noncontiguous(tensor) for name, tensor in parts.items()}
    square = parameters(draw, 12, 20, 20)
    square["bias2"] = square["bias1"]
    return [
        call("position_wise_ffn", draw.transposed(draw.normal(2, 5, 12)), **strided),
        call("position_wise_ffn", draw.expanded(draw.normal(5, 12), 3), **parts, activation="gelu"),
        call("position_wise_ffn", draw.noncontiguous(draw.normal(2, 5, 12)), **square),
    ]


@case
def lower_precision(draw):
    "keeps float32 and bfloat16, with the exact GELU there too"
    x, parts = draw.normal(2, 5, 12), parameters(draw)
    tail = parameters(draw, 7, 11, 7)
    tail["weight1"] = 0.1 * tail["weight1"]
    tail["bias1"] = torch.full((11,), -2.7, dtype=torch.float64)
    tail["bias2"] = 1e-3 * tail["bias2"]  # the output is what GELU gives in its tail, and nothing else
    return [
        call("position_wise_ffn", draw.normal(3, 4, 7), **tail, activation="gelu").in_dtype(torch.float32),
        *(
            call("position_wise_ffn", x, **parts, activation=name).in_dtype(dtype)
            for dtype in (torch.float32, torch.bfloat16)
            for name in ACTIVATIONS
        ),
    ]


@case
def unknown_activation(draw):
    "refuses an activation it does not know with a ValueError"
    x, parts = draw.normal(5, 12), parameters(draw)
    return [
        call("position_wise_ffn", x, **parts, activation=name).raises(ValueError, naming=name)
        for name in ("tanh", "silu", "identity", "swish", "sigmoid", "none", "quick_gelu", "relu2", "mish")
    ]


@case
def exact_names(draw):
    "knows the two names exactly as written, and no empty one"
    x, parts = draw.normal(5, 12), parameters(draw)
    spellings = ("ReLU", "GELU", "Relu", "Gelu", " gelu", "gelu ")
    others = ("relu6", "gelu_tanh", "gelu_new", "gelu_pytorch_tanh", "elu", "leaky_relu", "linear", "")
    return [
        call("position_wise_ffn", x, **parts, activation=name).raises(ValueError, naming=name.strip() or None)
        for name in (*spellings, *others)
    ]
