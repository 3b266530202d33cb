"""Cases of add and norm: its value and gradients, ranks, accuracy, refused shapes, and where dropout acts."""

import torch

from judge.authoring import Call, case, leading_shapes, module_call, relation
from judge.dropout import Mistake, Site, compare_dropout, training_runs
from judge.training_gradients import training_gradients

D_MODEL = 12
CONFIG = {"d_model": D_MODEL}

TINY = 5  # features: few enough to list all masks of a token
OUTPUT = Site("the sublayer's output", {"channel": TINY})
MISTAKES = {  # what is dropped besides or instead of the sublayer's output; one that explains another comes later
    "elements of x are dropped instead of the sublayer's output": ("stream",),
    "elements of the sum are dropped instead of the sublayer's output": ("total",),
    "elements of x are dropped, besides the sublayer's output": ("stream", "output"),
    "elements are dropped after the norm": ("result",),
}


def pair(draw, *shape):
    """A residual stream and what a sublayer adds to it."""
    return draw.stream(*shape), draw.normal(*shape)


@case
def plain_sum(draw):
    "normalizes the sum of the stream and the sublayer's output, zeros too, and learns where they need no gradients"
    x, output = pair(draw, 2, 5, D_MODEL)
    state = draw.norm("norm", D_MODEL)
    frozen = Call()
    module = frozen.construct("AddNorm", **CONFIG)
    frozen.load_state(frozen.to(module), state)
    frozen.gradients(module, frozen.apply(module, x, output)).observe("gradients")
    return [*(module_call("AddNorm", CONFIG, state, x, added) for added in (output, 0 * output)), frozen.values_only()]


@case
def any_leading_dimensions(draw):
    "takes a single vector, a matrix and any number of leading dimensions, one token or many, and tokens of zeros"
    calls = [
        module_call("AddNorm", CONFIG, draw.norm("norm", D_MODEL), *pair(draw, *shape, D_MODEL))
        for shape in ((), (5,), (2, 3, 4, 5))
    ]
    one = Call()
    module = one.construct("AddNorm", **CONFIG)
    one.to(module)
    one.load_state(module, draw.norm("norm", D_MODEL))
    one.eval(module)
    for shape in leading_shapes(D_MODEL):
        one.apply(module, *pair(draw, *shape, D_MODEL)).observe(f"x {(*shape, D_MODEL)}")
    x, output = pair(draw, 2, 5, D_MODEL)
    one.apply(module, 0 * x, output).observe("a stream of zeros")
    one.apply(module, 0 * x, 0 * output).observe("zeros plus zeros")
    one.apply(module, x, -x).observe("a sublayer's output that takes the stream away")
    one.apply(module, x[:, :1].repeat(1, 5, 1), output[:, :1].repeat(1, 5, 1)).observe("tokens that are all alike")
    one.apply(module, *pair(draw, 1, 1100, D_MODEL)).observe("1100 tokens")
    one.apply(one.method(module, "float"), *(one.method(one.leaf(given), "float") for given in (x, output)))
    one.apply(one.method(module, "double"), x, output).observe("after a call in float32")
    return [*calls, one.values_only().under_no_grad()]


@case
def smallest_sizes(draw):
    "works for one sequence of one token, and for a single feature, which becomes the norm's bias"
    return [
        module_call("AddNorm", {"d_model": d_model}, draw.norm("norm", d_model), *pair(draw, *shape, d_model))
        for d_model, shape in ((D_MODEL, (1, 1)), (1, (2, 5)))
    ]


@case
def tiny_values(draw):
    "is right where the variance is as small as eps, for many tokens, for a single one, and in float32"
    x, output = pair(draw, 2, 5, D_MODEL)
    calls = [
        module_call("AddNorm", CONFIG, draw.norm("norm", D_MODEL), 1e-3 * x[rows], sublayer_output=1e-3 * output[rows])
        for rows in (slice(None), (0, 0), slice(None))
    ]
    return [*calls[:2], calls[2].in_dtype(torch.float32)]


@case
def large_mean(draw):
    "stays accurate where the sum's mean is far from zero: millions of times its spread, in float32 a thousand times"
    x, output = pair(draw, 2, 5, D_MODEL)
    apart = 1.4e7 * torch.tensor([1.0, -1.0, 0.5, -0.5, 1.0], dtype=torch.float64)[:, None]
    calls = [
        module_call("AddNorm", CONFIG, draw.norm("norm", D_MODEL), x + far, sublayer_output=output)
        for far in (1.4e7, apart, 2000.0)
    ]
    return [*calls[:2], calls[2].in_dtype(torch.float32)]


@case
def memory_layouts(draw):
    "takes strided and expanded inputs, and one tensor as both"
    x, output = pair(draw, 2, 5, D_MODEL)
    pairs = [
        (draw.transposed(x), draw.noncontiguous(output)),
        (draw.expanded(x[0], 2), output),
        (x, x),
    ]
    return [module_call("AddNorm", CONFIG, draw.norm("norm", D_MODEL), *inputs) for inputs in pairs]


@case
def several_calls(draw):
    "keeps nothing from one call to the next, whatever the shapes and weights"
    first = pair(draw, 2, 5, D_MODEL)
    one = Call()
    module = one.construct("AddNorm", **CONFIG)
    one.to(module)
    one.load_state(module, draw.norm("norm", D_MODEL))
    one.eval(module)
    one.apply(module, *first).observe("first")
    one.apply(module, *pair(draw, 3, 7, D_MODEL)).observe("other shape")
    second = one.construct("AddNorm", **CONFIG)
    one.to(second)
    one.load_state(second, draw.norm("norm", D_MODEL))
    one.eval(second)
    one.apply(second, *first).observe("module with other weights")
    one.apply(module, *first).observe("first again")
    reloaded = Call()
    module = reloaded.construct("AddNorm", **CONFIG)
    reloaded.to(module)
    for name in ("first weights", "other weights"):
        reloaded.load_state(module, draw.norm("norm", D_MODEL))
        reloaded.eval(module)
        reloaded.apply(module, *first).observe(name)
    return [one, reloaded.differentiate()]  # loading writes over what a gradient would need


@case
def nothing_to_drop(draw):
    "drops nothing in evaluation, nor in training with probability zero, which is the default"
    state, inputs = draw.norm("norm", D_MODEL), pair(draw, 2, 5, D_MODEL)
    calls = [module_call("AddNorm", {**CONFIG, "dropout": 0.5}, state, *inputs)]
    # A probability of 1e-12 goes every way that dropout goes, gradients included, and drops nothing.
    for config in ({**CONFIG, "dropout": 0.0}, CONFIG, {**CONFIG, "dropout": 1e-12}):
        one = Call()
        module = one.construct("AddNorm", **config)
        one.to(module)
        one.load_state(module, state)
        one.train(module)
        one.apply(module, *inputs).observe("output")
        calls.append(one)
    return calls


@case
def lower_precision(draw):
    "gives float32 for a float32 module and bfloat16 for a bfloat16 module"
    return [
        module_call("AddNorm", CONFIG, draw.norm("norm", D_MODEL), *pair(draw, 2, 5, D_MODEL)).in_dtype(dtype)
        for dtype in (torch.float32, torch.bfloat16)
    ]


@case
def refused_broadcasts(draw):
    "raises a ValueError for different shapes, even if they could be broadcast, in training and in evaluation"
    shapes = (
        [(2, 5, 12), (12,)],
        [(2, 5, 12), (2, 1, 12)],
        [(2, 5, 12), (2, 5, 1)],
        [(5, 12), (1, 5, 12)],
        [(12, 12), (12,)],  # equal as far as both go, from either end
        [(12,), (1,)],
        [(12,), (5, 12)],
    )
    in_training = Call()
    module = in_training.construct("AddNorm", **CONFIG)
    in_training.train(in_training.to(module))
    in_training.apply(module, draw.stream(2, 5, 12), draw.normal(2, 1, 12))
    in_training.raises(ValueError)
    without_gradients = refused(draw, (2, 5, 12), (2, 1, 12)).under_no_grad()
    return [*(refused(draw, *pair_of_shapes) for pair_of_shapes in shapes), in_training, without_gradients]


@case
def refused_shapes(draw):
    "raises a ValueError of its own for shapes that don't fit together at all"
    return [
        refused(draw, (2, 5, 12), (2, 7, 12), naming=7),
        refused(draw, (2, 5, 12), (2, 5, 11), naming=11),
        refused(draw, (2, 5, 12), (5, 2, 12)),
        refused(draw, (2, 5, 4, 12), (2, 4, 5, 12)),
    ]


def refused(draw, shape, other_shape, naming=None):
    inputs = draw.stream(*shape), draw.normal(*other_shape)
    return module_call("AddNorm", CONFIG, draw.norm("norm", D_MODEL), *inputs).raises(ValueError, naming=naming)


def predicted(state, x, added, **kept):
    """The result (patterns, batch, token, TINY) for the masks (patterns, TINY) of some places."""

    def keep(place):
        return kept[place].reshape(-1, 1, 1, TINY) if place in kept else 1.0

    total = (x * keep("stream") + added * keep("output")) * keep("total")
    result = torch.nn.functional.layer_norm(total, (TINY,), state["norm.weight"], state["norm.bias"])
    return result * keep("result")


def dropout_at(draw, p):
    """Training runs of a tiny module, and the check of their masks."""
    x, added = 2 * draw.stream(2, 3, TINY), draw.uniform(1, 3, 2, 3, TINY)
    # No gain is near zero: each feature shows its mask.
    state = {**draw.norm("norm", TINY), "norm.weight": draw.uniform(0.5, 1.5, TINY)}
    runs = training_runs("AddNorm", {"d_model": TINY, "dropout": p}, state, x, added)
    mistakes = [
        Mistake(
            sentence,
            [Site(place, {"channel": TINY}) for place in places],
            lambda *kept, places=places: predicted(state, x, added, **dict(zip(places, kept, strict=True))),
        )
        for sentence, places in MISTAKES.items()
    ]
    mistakes.append(
        Mistake(
            "what is kept of the sublayer's output is scaled by 1 / p instead of 1 / (1 - p)",
            [OUTPUT],
            lambda kept: predicted(state, x, added, output=kept * (1 - p) / p),
        )
    )

    def check(observations):
        fault = compare_dropout(
            observations[0],
            p,
            [OUTPUT],
            lambda kept: predicted(state, x, added, output=kept),
            mistakes=mistakes,
        )
        return fault or same_at_every_call(observations[0])

    return runs, check


def same_at_every_call(seen):
    """What is wrong if all training runs are equal."""
    first, *others = (run for name, run in seen.items() if name.startswith("run"))
    alike = all(torch.equal(first, other) for other in others)
    return "the same elements of the sublayer's output are dropped at every call" if alike else None


@relation
def gradients_in_training(draw):
    "passes gradients back, in training, through exactly the elements that its output was computed with"
    state, inputs = draw.norm("norm", D_MODEL), pair(draw, 2, 5, D_MODEL)
    return training_gradients(draw, "AddNorm", {**CONFIG, "dropout": 0.5}, state, *inputs)


@relation
def training_in_lower_precision(draw):
    "keeps its input's dtype in training with dropout, and drops in every dtype"
    calls = [
        training_runs(
            "AddNorm", {**CONFIG, "dropout": 0.5}, draw.norm("norm", D_MODEL), *pair(draw, 2, 5, D_MODEL), runs=2
        ).in_dtype(dtype)
        for dtype in (torch.float32, torch.bfloat16)
    ]

    def check(observations):
        for seen, dtype in zip(observations, ("float32", "bfloat16"), strict=True):
            if torch.equal(seen["run0"], seen["evaluation"]):
                return f"nothing is dropped in {dtype}"
            if fault := same_at_every_call(seen):
                return fault
        return None

    return calls, check


@relation
def dropout_sites(draw):
    "drops single elements of the sublayer's output in training, before the add"
    return dropout_at(draw, 0.5)


@relation
def dropout_probability(draw):
    "drops a quarter in training with dropout 0.25 and scales what is kept by 4/3, inside torch.no_grad() too"
    runs, check = dropout_at(draw, 0.25)
    return runs.under_no_grad(), check


@relation
def dropout_of_other_inputs(draw):
    "drops each element on its own whatever the number of dimensions and tokens, and from one operand only"
    x, added = 2 * draw.stream(2, 3, TINY), draw.uniform(1, 3, 2, 3, TINY)
    state = {**draw.norm("norm", TINY), "norm.weight": draw.uniform(0.5, 1.5, TINY)}
    config = {"d_model": TINY, "dropout": 0.5}
    pairs = [  # and how each stands as (batch row, token)
        *((x.unsqueeze(1), added.unsqueeze(1)), (added, added)),
        *((x.flatten(0, 1), added.flatten(0, 1)), (x[0, 0], added[0, 0])),
        *((x[:1], added[:1]), (x[:, :1], added[:, :1])),
    ]
    shapes = (2, 3), (2, 3), (2, 3), (1, 1), (1, 3), (2, 1)
    calls = [training_runs("AddNorm", config, state, *given) for given in pairs]
    long = 2 * draw.stream(1, 130, TINY), draw.uniform(1, 3, 1, 130, TINY)
    calls.append(training_runs("AddNorm", config, state, *long, runs=4))

    def check(observations):
        for given, operands, shape in zip(observations, [*pairs, long], [*shapes, (1, 130)], strict=True):
            runs = {name: run.reshape(*shape, TINY) for name, run in given.items()}
            stream, output = (tensor.reshape(*shape, TINY) for tensor in operands)
            fault = compare_dropout(
                runs, 0.5, [OUTPUT], lambda kept, x=stream, added=output: predicted(state, x, added, output=kept)
            )
            if fault:
                return fault
        return None

    return calls, check


@relation
def dropout_of_two_modules(draw):
    "drops with a probability and from a mask of its own, whatever modules are made or evaluated besides"
    x, added = 2 * draw.stream(2, 3, TINY), draw.uniform(1, 3, 2, 3, TINY)
    state = {**draw.norm("norm", TINY), "norm.weight": draw.uniform(0.5, 1.5, TINY)}
    one = Call()
    modules = [one.construct("AddNorm", d_model=TINY, dropout=p) for p in (0.75, 0.75, 0.25)]
    for module in modules:
        one.to(module)
        one.load_state(module, state)
        one.train(module)
    one.eval(modules[2])
    for index in range(20):
        one.apply(modules[index % 2], x, added).observe(f"run{index}")

    def check(observations):
        fault = compare_dropout(observations[0], 0.75, [OUTPUT], lambda kept: predicted(state, x, added, output=kept))
        runs = list(observations[0].values())
        alike = all(torch.equal(*pair) for pair in zip(runs[::2], runs[1::2], strict=True))
        return fault or ("two modules drop the same elements" if alike else None)

    return one.random(), check
