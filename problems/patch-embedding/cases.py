"""Cases of the patch embedding: which pixels a token sees, the order of tokens, sizes, checkpoints and refusals."""

import torch

from judge.authoring import Call, case, module_call, relation

# No two of batch, channels, patch, grid, image and d_model are equal, so that an exchanged axis shows.
CONFIG = {"img_size": (24, 35), "patch_size": (4, 5), "in_channels": 3, "d_model": 8}


def sizes(img_size, patch_size, in_channels=3, d_model=8):
    """The arguments of a constructor."""
    return {"img_size": img_size, "patch_size": patch_size, "in_channels": in_channels, "d_model": d_model}


def pair(size):
    """A size as (height, width)."""
    return (size, size) if isinstance(size, int) else size


def embedding_state(draw, config=CONFIG):
    """A checkpoint with random weights and biases."""
    height, width = pair(config["patch_size"])
    channels, d_model = config["in_channels"], config["d_model"]
    weight = draw.weight(d_model, channels * height * width).reshape(d_model, channels, height, width)
    return {"projection.weight": weight, "projection.bias": draw.bias(d_model)}


def random_images(draw, batch, config=CONFIG):
    """Images whose mean is not zero, (batch, channels, height, width)."""
    return draw.stream(batch, config["in_channels"], *pair(config["img_size"]))


def embedded(draw, config, batch=2):
    """The call that embeds random images by a module of this configuration."""
    return module_call("PatchEmbedding", config, embedding_state(draw, config), random_images(draw, batch, config))


@case
def plain_images(draw):
    "gives one token per patch, row by row, where images and patches are higher than wide or wider than high"
    training = Call()
    embedding = training.construct("PatchEmbedding", **CONFIG)
    training.to(embedding)
    training.load_state(embedding, embedding_state(draw))
    training.train(embedding)
    training.apply(embedding, images=random_images(draw, 2)).observe("output in training")
    many = sizes((15, 20), (1, 2), 7, 4)
    return [
        embedded(draw, CONFIG),
        embedded(draw, sizes((14, 6), (7, 3), 5, 4), batch=3),
        embedded(draw, many),
        training,
    ]


@case
def sizes_as_ints(draw):
    "takes each size as an int or as a tuple of height and width"
    pairs = (12, 4), (12, (3, 4)), ((12, 18), 6), ((6, 6), (3, 2))
    return [embedded(draw, sizes(img_size, patch_size)) for img_size, patch_size in pairs]


@case
def smallest_sizes(draw):
    "works with one patch, patches of one pixel, one row or column of patches, one channel and one image"
    configs = (
        *(sizes((4, 5), (4, 5)), sizes((3, 2), 1), sizes(1, 1, 1, 1)),
        *(sizes((2, 9), (2, 3), 2), sizes((9, 2), (3, 2), 2), sizes((4, 6), (2, 3), 1, 1), sizes(5, 5, 3, 1)),
    )
    return [embedded(draw, config, batch) for config in configs for batch in (1, 3)]


@case
def sizes_that_coincide(draw):
    "reads each axis by its place where batch, channels, height and width are equal"
    configs = sizes(4, 2, 4, 4), sizes((8, 4), (2, 4), 4, 8), sizes((6, 3), (2, 1), 3, 6)
    return [embedded(draw, config, batch=config["in_channels"]) for config in configs]


@case
def memory_layouts(draw):
    "takes images that are not contiguous: channels last in memory, crops of larger ones, one image expanded to a batch"
    height, width = CONFIG["img_size"]
    channels_last = draw.stream(2, height, width, 3).permute(0, 3, 1, 2)
    crop = draw.stream(2, 3, height + 3, width + 2)[:, :, 1 : height + 1, 2:]
    layouts = (
        *(channels_last, crop, draw.expanded(random_images(draw, 1)[0], 2)),
        *(draw.noncontiguous(random_images(draw, 2)), draw.transposed(random_images(draw, 2))),
    )
    return [module_call("PatchEmbedding", CONFIG, embedding_state(draw), images) for images in layouts]


@case
def several_calls(draw):
    "keeps nothing from one call to the next: other batches, other weights, black images, then the first ones again"
    one = Call()
    embedding = one.construct("PatchEmbedding", **CONFIG)
    one.to(embedding)
    one.load_state(embedding, embedding_state(draw))
    one.eval(embedding)
    images = random_images(draw, 2)
    one.apply(embedding, images).observe("first images")
    one.apply(embedding, random_images(draw, 2)).observe("other images")
    one.apply(embedding, random_images(draw, 5)).observe("a batch of 5")
    one.apply(embedding, random_images(draw, 33)).observe("a batch of 33")
    one.apply(embedding, random_images(draw, 1)).observe("a batch of 1")
    one.apply(embedding, 0 * images).observe("black images")
    one.apply(embedding, 0 * images + draw.normal(2, 3, 1, 1)).observe("images of one colour")
    one.apply(embedding, images).observe("first images again")
    other = Call()
    embedding = other.construct("PatchEmbedding", **CONFIG)
    other.to(embedding)
    other.load_state(embedding, embedding_state(draw))
    other.eval(embedding)
    other.apply(embedding, images).observe("one checkpoint")
    other.load_state(embedding, embedding_state(draw))
    other.apply(embedding, images).observe("another checkpoint")
    return [one, other.differentiate()]  # loading writes over what a gradient would need


@case
def step_of_training(draw):
    "learns from images that need no gradient of their own, and uses what it has learned"
    one = Call()
    embedding = one.construct("PatchEmbedding", **CONFIG)
    one.to(embedding)
    one.load_state(embedding, embedding_state(draw))
    one.train(embedding)
    images = random_images(draw, 2)
    one.sgd_step(embedding, one.apply(embedding, images).observe("before the step"), 1e-4)
    one.apply(embedding, images).observe("after the step")
    return one.values_only()


@case
def other_embeddings(draw):
    "can be saved, loaded and used beside embeddings of other sizes"
    one = Call()
    embedding = one.construct("PatchEmbedding", **CONFIG)
    one.to(embedding)
    one.load_state(embedding, embedding_state(draw))
    one.eval(embedding)
    config = sizes((6, 8), (3, 2), 2, 5)
    other = one.construct("PatchEmbedding", **config)
    one.to(other)
    one.load_state(other, embedding_state(draw, config))
    one.eval(other)
    twin = one.construct("PatchEmbedding", **CONFIG)
    one.to(twin)
    one.load_state(twin, one.state_dict(embedding))
    one.eval(twin)
    images = random_images(draw, 2)
    one.apply(other, random_images(draw, 2, config)).observe("output for other sizes")
    one.apply(embedding, images).observe("output of the first embedding")
    one.apply(twin, images).observe("output with the saved state")
    return one


@case
def number_of_patches(draw):
    "has the number of its patches as the int num_patches"
    calls = []
    for img_size, patch_size in ((12, 4), ((12, 18), (3, 2)), ((20, 6), 2), ((6, 35), (6, 7)), (7, 7)):
        one = Call()
        embedding = one.construct("PatchEmbedding", **sizes(img_size, patch_size))
        one.attribute(embedding, "num_patches").observe("num_patches")
        calls.append(one)
    return calls


@case
def default_sizes(draw):
    "is for 96 x 96 images of 3 channels, patches of 16 x 16 and 512 features where nothing else is said"
    counted = Call()
    counted.attribute(counted.construct("PatchEmbedding"), "num_patches").observe("num_patches")
    images = module_call(
        "PatchEmbedding",
        {"d_model": 2},
        embedding_state(draw, sizes(96, 16, 3, 2)),
        draw.stream(1, 3, 96, 96),
    )
    features = module_call(
        "PatchEmbedding",
        {"img_size": 4, "patch_size": 2, "in_channels": 1},
        embedding_state(draw, sizes(4, 2, 1, 512)),
        draw.stream(2, 1, 4, 4),
    )
    return [counted, images, features]


@case
def lower_precision(draw):
    "gives float32 for float32 images and bfloat16 for bfloat16 images"
    return [embedded(draw, CONFIG).in_dtype(dtype) for dtype in (torch.float32, torch.bfloat16)]


@case
def refused_sizes(draw):
    "raises a ValueError in the constructor when the patches do not fill the image's height or its width"
    refused = (
        *(((10, 12), (4, 3), 10), ((12, 10), (3, 4), 10), (13, 4, 13), ((6, 8), 4, 6), ((8, 6), 4, 6)),
        *((3, 4, 3), ((8, 9), (4, 18), 9), ((9, 8), (18, 4), 9)),
    )
    calls = []
    for img_size, patch_size, wrong in refused:
        one = Call()
        one.construct("PatchEmbedding", **sizes(img_size, patch_size))
        calls.append(one.raises(ValueError, naming=wrong))
    return calls


@case
def refused_images(draw):
    "raises a ValueError in forward for images of another height or width"
    refused = (
        *((28, 35, 28), (24, 40, 40), (20, 35, 20), (24, 30, 30), (48, 70, 48), (4, 5, 4)),
        *((35, 24, 35), (28, 30, 28), (25, 35, 25), (24, 36, 36), (12, 70, 12)),
    )
    state = embedding_state(draw)
    training = Call()
    embedding = training.construct("PatchEmbedding", **CONFIG)
    training.to(embedding)
    training.train(embedding)
    training.apply(embedding, draw.stream(2, 3, 28, 35))
    calls = [
        module_call("PatchEmbedding", CONFIG, state, draw.stream(2, 3, height, width)).raises(ValueError, naming=wrong)
        for height, width, wrong in refused
    ]
    return [*calls, training.raises(ValueError, naming=28)]


@relation
def fresh_embeddings(draw):
    "starts with finite values"
    one = Call()
    embedding = one.construct("PatchEmbedding", **CONFIG)
    one.to(embedding)
    one.eval(embedding)
    one.apply(embedding, random_images(draw, 2)).observe("output")
    one.state_dict(embedding).observe("state")

    def check(observations):
        for key, tensor in observations[0]["state"].items():
            if not tensor.isfinite().all():
                return f"{key} of a new embedding is not finite"
        if not observations[0]["output"].isfinite().all():
            return "the output of a new embedding is not finite"
        return None

    return one.random(), check
