"""Cases of the vision transformer: tokens and positions, depth, sizes, checkpoints, dropout and what is refused."""

import torch

from judge.authoring import Call, case, module_call, relation
from judge.dropout import Mistake, Site, compare_dropout, training_runs
from judge.training_gradients import training_gradients

CONFIG = {
    **{"img_size": (12, 10), "patch_size": (4, 5), "in_channels": 2, "d_model": 12, "d_ff": 20},
    **{"num_heads": 3, "num_blocks": 1, "num_classes": 5},
}

# Dropout is judged on one patch and one block, so small that all masks can be listed.
TINY = {
    **{"img_size": (1, 2), "patch_size": (1, 2), "in_channels": 1, "d_model": 4, "d_ff": 2},
    **{"num_heads": 2, "num_blocks": 1, "num_classes": 5},
}
TOKENS = Site("the tokens with their positions", {"token": 2, "channel": 4})
CLS_TOKEN = Site("the class token with its position", {"channel": 4})
WEIGHTS = Site("the attention weights", {"head": 2, "key": 2})
ACTIVATED = Site("the activations after GELU", {"hidden channel": 2})
OUTPUT = Site("the output of fc2", {"channel": 4})
WEIGHTS_IN_TWO_BLOCKS = [
    Site("the tokens with their positions", {"token": 2}),
    Site("the class token's attention weights in the first block", {"key": 2}),
    Site("a patch's attention weights in the first block", {"key": 2}),
    Site("the class token's attention weights in the second block", {"key": 2}),
]
MLP_OF_TWO_TOKENS = [
    Site("the tokens with their positions", {"token": 2}),
    Site("the activations after GELU", {"token": 2, "hidden channel": 2}),
    Site("the output of fc2", {"token": 2, "channel": 2}),
    Site("the class token's attention weights in the second block", {"key": 2}),
]


def pair(size):
    """A size as (height, width)."""
    return (size, size) if isinstance(size, int) else size


def state_of(draw, config=CONFIG):
    """A checkpoint with random weights, biases, gains, class token and positions."""
    (height, width), (rows, columns) = pair(config["img_size"]), pair(config["patch_size"])
    channels, d_model, d_ff = config["in_channels"], config["d_model"], config["d_ff"]
    kernel = draw.weight(d_model, channels * rows * columns).reshape(d_model, channels, rows, columns)
    state = {
        "patch_embedding.projection.weight": kernel,
        "patch_embedding.projection.bias": draw.bias(d_model),
        "cls_token": 2 * draw.normal(1, 1, d_model) + 1,
        "positions": 2 * draw.normal(1, height // rows * (width // columns) + 1, d_model),
    }
    for index in range(config["num_blocks"]):
        block = f"blocks.{index}"
        state |= {**draw.norm(f"{block}.norm1", d_model), **draw.norm(f"{block}.norm2", d_model)}
        for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
            state |= draw.linear(f"{block}.attention.{name}", d_model, d_model)
        state |= draw.linear(f"{block}.mlp.fc1", d_ff, d_model)
        state |= draw.linear(f"{block}.mlp.fc2", d_model, d_ff)
    state |= {**draw.norm("norm", d_model), **draw.linear("head", config["num_classes"], d_model)}
    state["head.bias"] += 2  # a single logit near zero would make rounding look like an error
    return state


def images_of(draw, batch, config=CONFIG):
    """Images whose mean is not zero, (batch, channels, height, width)."""
    return 2 * draw.normal(batch, config["in_channels"], *pair(config["img_size"])) + 0.5


def classified(draw, batch=4, **changes):
    """The call that classifies random images by a transformer of this configuration."""
    config = {**CONFIG, **changes}
    return module_call("VisionTransformer", config, state_of(draw, config), images_of(draw, batch, config))


def loaded(one, state, config=CONFIG):
    """The steps that make a transformer with this checkpoint, in evaluation."""
    model = one.construct("VisionTransformer", **config)
    one.to(model)
    one.load_state(model, state)
    one.eval(model)
    return model


def silence(state, *layers):
    """The same checkpoint with the weights and biases of these linear maps zero."""
    return {key: tensor * 0 if key.rpartition(".")[0] in layers else tensor for key, tensor in state.items()}


@case
def plain_images(draw):
    "gives the logits and gradients of ordinary images"
    return [
        classified(draw, num_blocks=2),
        classified(draw, batch=3, img_size=(10, 12), patch_size=(5, 3), in_channels=5),
        classified(draw, batch=2, img_size=(12, 11), patch_size=1, d_model=15),
        classified(draw, batch=2, img_size=(12, 11), patch_size=1, d_model=15, num_blocks=2).values_only(),
    ]


@case
def sizes_as_ints(draw):
    "takes the sizes of image and patch as an int or as a tuple of height and width"
    pairs = (6, 3), (6, (3, 2)), ((4, 6), 2)
    return [classified(draw, img_size=img_size, patch_size=patch_size) for img_size, patch_size in pairs]


@case
def numbers_of_blocks(draw):
    "applies every block once and in order, also where there are none, one or three"
    return [
        *(classified(draw, num_blocks=num_blocks) for num_blocks in (0, 1)),
        classified(draw, num_blocks=3).values_only(),  # gradients as deep as this are noise in float32
    ]


@case
def smallest_sizes(draw):
    "works with one patch, patches of one pixel, one head, heads of width one, one class and one image"
    small = (
        {"img_size": (4, 5), "num_heads": 1},
        {"img_size": (2, 3), "patch_size": 1, "in_channels": 1, "num_heads": 12},
        {"img_size": (4, 10), "num_classes": 1, "d_ff": 7},
        {"img_size": 1, "patch_size": 1, "in_channels": 1, "d_model": 6, "num_heads": 6, "num_classes": 2},
    )
    return [classified(draw, batch=batch, **changes) for batch, changes in zip((3, 1, 3, 1), small, strict=True)]


@case
def sizes_that_coincide(draw):
    "reads each axis by its place where batch, channels, width, heads and classes are equal"
    square = {"img_size": (6, 3), "patch_size": (3, 1), "in_channels": 3, "num_classes": 3}
    tokens = {"img_size": (3, 2), "patch_size": 1, "in_channels": 2, "d_model": 14, "num_heads": 7, "num_classes": 7}
    return [classified(draw, batch=3, **square), classified(draw, batch=7, **tokens)]


@case
def tiny_values(draw):
    "is right where a variance is as small as eps and where hidden activations are nearly zero"

    def small(state):
        scaled = ("cls_token", "positions", "patch_embedding.projection.weight", "patch_embedding.projection.bias")
        return {key: 1e-3 * tensor if key in scaled else tensor for key, tensor in state.items()}

    near_zero = silence(state_of(draw), "blocks.0.attention.o_proj")
    near_zero = {
        key: 3e-2 * tensor if key in ("cls_token", "positions") else tensor for key, tensor in near_zero.items()
    }
    near_zero["blocks.0.mlp.fc1.weight"] = draw.weight(20, 12, gain=0.2)
    near_zero["blocks.0.mlp.fc1.bias"] = 0.1 * draw.normal(20) - 2.2  # here the exact GELU and its approximations part
    near_zero["blocks.0.mlp.fc2.bias"] = torch.zeros(12, dtype=torch.float64)
    bare = {**CONFIG, "num_blocks": 0}
    images = images_of(draw, 2)
    return [
        module_call("VisionTransformer", bare, small(state_of(draw, bare)), images),
        module_call("VisionTransformer", CONFIG, small(state_of(draw)), images),
        module_call("VisionTransformer", CONFIG, near_zero, images).values_only(),
    ]


@case
def large_values(draw):
    "is right where one head's scores are far above the other heads' and where hidden activations are large"
    state = state_of(draw)
    for name in ("q_proj", "k_proj"):
        state[f"blocks.0.attention.{name}.weight"][:4] = 0
        state[f"blocks.0.attention.{name}.bias"][:4] = 20  # all scores of the first head are 800
    signs = 1 - 2 * (torch.arange(20) % 2)
    state["blocks.0.mlp.fc1.bias"] = signs * draw.uniform(8, 30, 20)
    return module_call("VisionTransformer", CONFIG, state, images_of(draw, 4)).values_only()


@case
def memory_layouts(draw):
    "takes images that are not contiguous: channels last in memory, crops of larger ones, one image expanded to a batch"
    layouts = (
        draw.normal(4, 12, 10, 2).permute(0, 3, 1, 2),
        draw.normal(4, 2, 15, 12)[:, :, 1:13, 2:],
        draw.expanded(images_of(draw, 1)[0], 4),
    )
    return [module_call("VisionTransformer", CONFIG, state_of(draw), images) for images in layouts]


@case
def several_calls(draw):
    "keeps nothing from one call to the next: other batches, other weights, then the first images again"
    one = Call()
    model = loaded(one, state_of(draw))
    images = images_of(draw, 4)
    one.apply(model, images).observe("first images")
    one.apply(model, images=images_of(draw, 4)).observe("other images")
    one.apply(model, images_of(draw, 1)).observe("a single image")
    one.apply(model, images_of(draw, 33)).observe("a batch of 33")
    one.apply(model, 0 * images).observe("black images")
    one.apply(model, images).observe("first images again")
    other = Call()
    model = loaded(other, state_of(draw))
    other.apply(model, images).observe("one checkpoint")
    other.load_state(model, state_of(draw))
    other.apply(model, images).observe("another checkpoint")
    return [one, other.differentiate()]  # loading writes over what a gradient would need


@case
def step_of_training(draw):
    "learns from images that need no gradient of their own, and uses what it has learned"
    one = Call()
    model = loaded(one, state_of(draw))
    one.train(model)
    images = images_of(draw, 4)
    one.sgd_step(model, one.apply(model, images).observe("before the step"), 4e-3)
    one.apply(model, images).observe("after the step")
    return one.values_only()


@case
def other_transformers(draw):
    "can be saved, loaded and used beside transformers of other sizes"
    one = Call()
    model = loaded(one, state_of(draw))
    config = {**CONFIG, "img_size": (4, 6), "patch_size": (2, 3), "num_heads": 2}
    other = loaded(one, state_of(draw, config), config)
    twin = loaded(one, one.state_dict(model))
    images = images_of(draw, 2)
    one.apply(other, images_of(draw, 2, config)).observe("logits for other sizes")
    one.apply(model, images).observe("logits of the first")
    one.apply(twin, images).observe("logits with the saved state")
    return one


@case
def nothing_to_drop(draw):
    "drops nothing in evaluation, nor in training with probability zero, which is the default"
    state, images = state_of(draw), images_of(draw, 4)
    calls = [module_call("VisionTransformer", {**CONFIG, "dropout": 0.5}, state, images)]
    # A probability of 1e-12 goes every way that dropout goes, gradients included, and drops nothing.
    deep = {**CONFIG, "num_blocks": 2}
    ways = (deep, state_of(draw, deep)), ({**CONFIG, "dropout": 0.0}, state), ({**CONFIG, "dropout": 1e-12}, state)
    for config, state in ways:
        one = Call()
        model = loaded(one, state, config)
        one.train(model)
        one.apply(model, images).observe("output")
        calls.append(one)
    return calls


@case
def lower_precision(draw):
    "gives float32 for a float32 model, also where means are large, and bfloat16 for a bfloat16 model"
    far = state_of(draw)
    far["positions"] += 2000  # a variance as the mean of squares less the square of the mean is noise here
    return [
        *(classified(draw).in_dtype(dtype) for dtype in (torch.float32, torch.bfloat16)),
        module_call("VisionTransformer", CONFIG, far, images_of(draw, 20)).in_dtype(torch.float32),
    ]


def refused(*changes_and_values):
    """Calls whose constructor must refuse these changes of the configuration, naming the value."""
    calls = []
    for changes, wrong in changes_and_values:
        one = Call()
        one.construct("VisionTransformer", **{**CONFIG, **changes})
        calls.append(one.raises(ValueError, naming=wrong))
    return calls


@case
def refused_sizes(draw):
    "raises a ValueError in the constructor when the patches do not fill the image's height or its width"
    return refused(
        ({"img_size": (10, 12), "patch_size": (4, 3)}, 10),
        ({"img_size": (12, 10), "patch_size": (3, 4)}, 10),
        ({"img_size": (6, 8), "patch_size": 4}, 6),
        ({"img_size": (8, 6), "patch_size": 4}, 6),
        ({"img_size": 13, "patch_size": 4}, 13),
        ({"img_size": 3, "patch_size": 4}, 3),
    )


@case
def refused_blocks(draw):
    "raises a ValueError in the constructor for heads that do not divide d_model and for less than no blocks"
    return refused(({"num_heads": 5}, 5), ({"num_heads": 24}, 24), ({"num_blocks": -1}, -1), ({"num_blocks": -3}, -3))


@case
def refused_images(draw):
    "raises a ValueError in forward for images of another height or width"
    others = (16, 10, 16), (12, 15, 15), (8, 10, 8), (13, 10, 13), (12, 11, 11), (10, 12, 10), (8, 15, 8), (24, 5, 24)
    state = state_of(draw)
    training = Call()
    model = loaded(training, state)
    training.train(model)
    training.apply(model, draw.stream(2, 2, 16, 10))
    calls = [
        module_call("VisionTransformer", CONFIG, state, draw.stream(2, 2, height, width)).raises(
            ValueError, naming=wrong
        )
        for height, width, wrong in others
    ]
    return [*calls, training.raises(ValueError, naming=16)]


@relation
def fresh_transformers(draw):
    "starts with finite values that differ from block to block"
    one = Call()
    for name in ("one", "other"):
        model = one.construct("VisionTransformer", **{**CONFIG, "num_blocks": 2})
        one.to(model)
        one.eval(model)
        one.apply(model, images_of(draw, 2)).observe(f"logits of {name}")  # a lazy layer has its weights then
        one.state_dict(model).observe(name)

    def check(observations):
        given = observations[0]
        for name in ("one", "other"):
            for key, tensor in given[name].items():
                if not tensor.isfinite().all():
                    return f"{key} of a new transformer is not finite"
            if not given[f"logits of {name}"].isfinite().all():
                return "the logits of a new transformer are not finite"
        matrices = [
            {
                key.removeprefix(f"blocks.{index}."): tensor
                for key, tensor in given[name].items()
                if key.startswith(f"blocks.{index}.")
            }
            for name, index in (("one", 0), ("one", 1), ("other", 0))
        ]
        for other, sentence in zip(matrices[1:], ("blocks of a new transformer", "new transformers"), strict=True):
            if all(torch.equal(tensor, other[key]) for key, tensor in matrices[0].items() if tensor.dim() == 2):
                return f"two {sentence} have the same weight matrices"
        return None

    return one.random(), check


def tiny_state(draw, config, block):
    """A checkpoint whose masks of one block can be read from the logits: no weight or activation is close to zero."""
    state = state_of(draw, config)
    state[f"{block}.attention.q_proj.weight"] = draw.weight(4, 4, gain=0.3)
    state[f"{block}.mlp.fc1.weight"] = draw.weight(2, 4, gain=0.2)
    state[f"{block}.mlp.fc1.bias"] = draw.uniform(1.5, 2.5, 2)
    return state


def predicted(state, block, images, **kept):
    """The logits (patterns, batch, num_classes) for masks (patterns, ...) of some sites, all other blocks silent."""

    def keep(site, *shape):
        return kept[site].reshape(-1, *shape) if site in kept else torch.ones((), dtype=torch.float64)

    def linear(key, inputs):
        return torch.nn.functional.linear(inputs, state[f"{key}.weight"], state[f"{key}.bias"])

    def norm(key, inputs):
        return torch.nn.functional.layer_norm(inputs, (4,), state[f"{key}.weight"], state[f"{key}.bias"])

    kernel, bias = (state[f"patch_embedding.projection.{name}"] for name in ("weight", "bias"))
    patches = images.flatten(1)[:, None] @ kernel.flatten(1).T + bias  # (batch, 1, d_model)
    tokens = torch.cat([state["cls_token"].expand(len(images), 1, 4), patches], dim=1)
    x = tokens * keep("bare_tokens", 1, 2, 4) + state["positions"]  # (patterns, batch, 2, d_model) from here on
    x = x * keep("tokens", 1, 2, 4)
    normalized = norm(f"{block}.norm1", x)
    query, key, value = (
        linear(f"{block}.attention.{name}", normalized).unflatten(-1, (2, 2)).transpose(-3, -2)
        for name in ("q_proj", "k_proj", "v_proj")
    )
    scores = query[..., :1, :] @ key.transpose(-2, -1) / 2**0.5  # the class token's are all that the head sees
    heads = scores.softmax(-1) * keep("weights", 1, 2, 1, 2) @ value  # (patterns, batch, 2, 1, 2)
    attention_output = linear(f"{block}.attention.o_proj", heads.flatten(-3))
    x = x[..., 0, :] + attention_output
    activated = torch.nn.functional.gelu(linear(f"{block}.mlp.fc1", norm(f"{block}.norm2", x)))
    x = x + linear(f"{block}.mlp.fc2", activated * keep("activated", 1, 2)) * keep("output", 1, 4)
    return linear("head", norm("norm", x))


def two_blocks(draw, *silent):
    """A checkpoint of two blocks of which few masks show: each token has one entry, one head and two channels speak."""
    state = tiny_state(draw, {**TINY, "num_blocks": 2}, "blocks.0")
    tokens = torch.zeros(2, 4).double()
    tokens[[0, 1], draw.permutation(4)[:2]] = draw.uniform(1.0, 2.0, 2)
    bare = tokens - state["positions"][0]
    state["cls_token"] = bare[None, :1]
    state["patch_embedding.projection.weight"] *= 0
    state["patch_embedding.projection.bias"] = bare[1]
    for key in ("weight", "bias"):
        for block in ("blocks.0", "blocks.1"):
            state[f"{block}.attention.v_proj.{key}"][2:] = 0
        state[f"blocks.0.mlp.fc2.{key}"][2:] = 0
    state["blocks.1.attention.q_proj.weight"] = draw.weight(4, 4, gain=0.3)
    return silence(state, "blocks.1.mlp.fc2", *silent)


def predicted_of_two_blocks(state, batch, tokens, last, first=None, activated=None, output=None):
    """The logits (patterns, batch, num_classes) for masks (patterns, ...) of the sites of two blocks.

    ``first``: the weights of both tokens in the first block, (patterns, query, key); ``last``: those of the class token
    in the second, (patterns, key).
    """

    def linear(key, inputs):
        return torch.nn.functional.linear(inputs, state[f"{key}.weight"], state[f"{key}.bias"])

    def norm(key, inputs):
        return torch.nn.functional.layer_norm(inputs, (4,), state[f"{key}.weight"], state[f"{key}.bias"])

    whole = torch.ones(len(tokens), 2, 2).double()
    first, activated, output = (whole if kept is None else kept for kept in (first, activated, output))
    bare = torch.cat([state["cls_token"][0], state["patch_embedding.projection.bias"][None]])
    x = (bare + state["positions"][0]) * tokens[..., None]  # (patterns, token, channel)
    seen = first, torch.stack([last, torch.ones_like(last)], dim=1)
    for block, weights in zip(("blocks.0", "blocks.1"), seen, strict=True):
        normalized = norm(f"{block}.norm1", x)
        query, key, value = (linear(f"{block}.attention.{name}_proj", normalized) for name in "qkv")
        scores = query[..., :2] @ key[..., :2].transpose(-2, -1) / 2**0.5  # of the one head, (patterns, query, key)
        x = x + linear(f"{block}.attention.o_proj", scores.softmax(-1) * weights @ value)
        hidden = torch.nn.functional.gelu(linear(f"{block}.mlp.fc1", norm(f"{block}.norm2", x)))
        x = x + linear(f"{block}.mlp.fc2", hidden * activated) * torch.cat([output, whole], dim=-1)
    return linear("head", norm("norm", x[:, 0]))[:, None].expand(-1, batch, -1)


@relation
def gradients_in_training(draw):
    "passes gradients back, in training, through exactly the elements that its output was computed with"
    images, state = images_of(draw, 2), state_of(draw)
    return training_gradients(draw, "VisionTransformer", {**CONFIG, "dropout": 0.5}, state, images)


@relation
def training_in_lower_precision(draw):
    "keeps its input's dtype in training with dropout"
    return [
        training_runs(
            "VisionTransformer", {**CONFIG, "dropout": 0.5}, state_of(draw), images_of(draw, 2), runs=1
        ).in_dtype(dtype)
        for dtype in (torch.float32, torch.bfloat16)
    ], lambda observations: None


@relation
def dropout_on_tokens(draw):
    "drops elements of the tokens and attention weights of every block in training, inside torch.no_grad() too"
    images, state = images_of(draw, 1, TINY), silence(tiny_state(draw, TINY, "blocks.0"), "blocks.0.mlp.fc2")
    deep = two_blocks(draw, "blocks.0.mlp.fc2")
    before_positions = Mistake(
        "tokens are dropped before their positions are added",
        [TOKENS, WEIGHTS],
        lambda tokens, weights: predicted(state, "blocks.0", images, bare_tokens=tokens, weights=weights),
    )

    def fault(observation):
        return compare_dropout(
            observation,
            0.5,
            [TOKENS, WEIGHTS],
            lambda tokens, weights: predicted(state, "blocks.0", images, tokens=tokens, weights=weights),
            units=("batch row",),
            mistakes=[before_positions],
        )

    def fault_of_two_blocks(observation):
        return compare_dropout(
            observation,
            0.5,
            WEIGHTS_IN_TWO_BLOCKS,
            lambda tokens, cls, patch, last: predicted_of_two_blocks(
                deep, 1, tokens, last, first=torch.stack([cls, patch], dim=1)
            ),
            units=("batch row",),
        )

    def check(observations):
        found = fault(observations[0])
        inside = None if found else fault_of_two_blocks(observations[1])
        return found or (inside and f"in two blocks, inside torch.no_grad(), {inside}")

    calls = [
        training_runs("VisionTransformer", {**TINY, "num_blocks": blocks, "dropout": 0.5}, given, images)
        for blocks, given in ((1, state), (2, deep))
    ]
    return [calls[0], calls[1].under_no_grad()], check


@relation
def dropout_in_blocks(draw):
    "drops a quarter of the activations after GELU and of the output of fc2 in training with 0.25, for each token anew"
    config = {**TINY, "num_blocks": 2, "dropout": 0.25}
    # Where the first block and all attention are silent, only the class token's own elements can be dropped.
    silent = "blocks.0.attention.o_proj", "blocks.0.mlp.fc2", "blocks.1.attention.o_proj"
    images, state = images_of(draw, 2, TINY), silence(tiny_state(draw, config, "blocks.1"), *silent)
    many, both_tokens = images_of(draw, 6, TINY), two_blocks(draw, "blocks.0.attention.o_proj")

    def check(observations):
        return of_the_class_token(observations[0]) or compare_dropout(
            observations[1],
            0.25,
            MLP_OF_TWO_TOKENS,
            lambda tokens, activated, output, last: predicted_of_two_blocks(
                both_tokens, 6, tokens, last, activated=activated, output=output
            ),
            units=("batch row",),
        )

    def of_the_class_token(observation):
        return compare_dropout(
            observation,
            0.25,
            [CLS_TOKEN, ACTIVATED, OUTPUT],
            lambda cls_token, activated, output: predicted(
                state,
                "blocks.1",
                images,
                tokens=cls_token[:, None].expand(-1, 2, 4),
                activated=activated,
                output=output,
            ),
            units=("batch row",),
        )

    return [
        training_runs("VisionTransformer", config, state, images, runs=128),
        training_runs("VisionTransformer", config, both_tokens, many, runs=20),
    ], check
