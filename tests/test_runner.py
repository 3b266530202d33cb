"""What is observed of a call: three runs on fresh inputs, gradients, state, manners, and the steps themselves."""

from __future__ import annotations

import linecache
from dataclasses import replace

import pytest
import torch
from torch import nn

from judge.authoring import Call, Result, call, module_call
from judge.drawn import in_dtype
from judge.labels import Labels, describe_call
from judge.observation import from_parts
from judge.processes import runner, wire
from judge.processes.faults import SUBMISSION
from judge.processes.gradients import cotangent

POOL = torch.randn(101, generator=torch.Generator().manual_seed(5), dtype=torch.float64)


def normal(*shape, seed=1):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def observe(one, *extras, **namespace):
    """The observation of a call against these names; ``extras``: further runs that the call asks for."""
    program = replace(one.program, extras=extras)
    return from_parts(runner.observe(namespace, wire.encode_call(program), POOL, {}))


class Linear(nn.Module):
    """A linear map with a dropout in front and a buffer beside."""

    def __init__(self, d=3):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(2, d))
        self.dropout = nn.Dropout(0.5)
        self.register_buffer("scale", torch.ones(1), persistent=False)

    def forward(self, x):
        return self.dropout(x) @ self.weight.T * self.scale

    def twice(self, x):
        return {"parts": [2 * self(x), None]}


# The runs


def test_a_call_runs_twice_on_fresh_inputs_and_again_where_it_asks_for_it():
    seen = []

    def f(x):
        seen.append((x.requires_grad, x.tolist()))
        if not x.requires_grad:
            x.zero_()
        return 2 * x

    x = normal(3)
    observe(call("f", x), f=f)
    assert seen == [(False, x.tolist()), (True, x.tolist())]
    seen.clear()
    observe(call("f", x), "again", f=f)
    halved = (False, (x / 2).tolist())
    assert seen == [
        (False, x.tolist()),
        (True, x.tolist()),
        halved,
        (False, x.tolist()),
        (False, [0.0] * 3),
    ]


def test_values_are_those_of_the_first_run():
    counter = iter(range(9))
    seen = observe(call("f", normal(2)), "again", f=lambda x: x.sum() * 0 + next(counter))
    assert seen.values["output"] == 0
    assert seen.tracked["output"] == 1
    assert seen.repeat["output"] == 3


@pytest.mark.parametrize("one", [call("f", normal(2)).values_only(), call("f", normal(2)).random()])
def test_a_light_call_runs_once_without_gradients(one):
    seen = []
    observed = observe(one, f=lambda x: seen.append(x.requires_grad) or x)
    assert seen == [False]
    assert observed.gradients == {}


def test_an_error_in_the_first_run_ends_the_call():
    seen = []

    def f(x):
        seen.append(x)
        raise KeyError("lost")

    observed = observe(call("f", normal(2)), f=f)
    assert len(seen) == 1
    assert (observed.error.type, observed.error.kind, observed.values) == ("KeyError", "raised", {})
    assert "LookupError" in observed.error.bases


@pytest.mark.parametrize("error", [SystemExit(0), KeyboardInterrupt(), GeneratorExit(), MemoryError()])
def test_whatever_a_submission_raises_becomes_a_description(error):
    def f(x):
        raise error

    observed = observe(call("f", 1), f=f)
    assert observed.error.type == type(error).__name__
    assert observed.error.kind == ("memory" if isinstance(error, MemoryError) else "raised")


def test_an_error_names_the_submissions_own_lines():
    source = "def f(x):\n    return g(x)\n\ndef g(x):\n    return x['y']\n"
    linecache.cache[SUBMISSION] = (len(source), None, source.splitlines(keepends=True), SUBMISSION)
    namespace = {}
    exec(compile(source, SUBMISSION, "exec"), namespace)
    error = observe(call("f", normal(2)), **namespace).error
    assert error.line == 5
    assert error.traceback == ("line 2, in f: return g(x)", "line 5, in g: return x['y']")


def test_errors_of_the_second_and_last_run_are_told_apart():
    def broken(run):
        runs = iter(range(1, 5))

        def f(x):
            if next(runs) == run:
                raise ValueError(f"run {run}")
            return 2 * x

        return f

    second, last = (observe(call("f", normal(2)), "again", f=broken(run)) for run in (2, 4))
    assert (second.error, second.gradient_error.message, second.repeat_error) == (None, "run 2", None)
    assert (last.error, last.gradient_error, last.repeat_error.message) == (None, None, "run 4")


def test_a_result_that_is_too_large_is_about_output():
    observed = observe(call("f", 1), f=lambda x: torch.zeros(1).expand(1 << 25))
    assert observed.error.kind == "output"


def test_a_second_call_that_differs_is_seen_and_an_equal_one_is_not():
    state = []

    def counting(x):
        state.append(1)
        return x * len(state)

    assert "output" in observe(call("f", normal(2)), "again", f=counting).repeat
    assert "output" in observe(call("f", normal(2)), f=counting).tracked
    again = observe(call("f", normal(2)), "again", f=lambda x: x * 2)
    assert again.repeat == again.tracked == {}


def test_a_result_that_a_later_call_writes_into_is_seen():
    buffer = torch.zeros(2, dtype=torch.float64)
    calls = []

    def into_a_buffer(x):
        calls.append(1)
        return buffer.copy_(x.detach() * len(calls))

    assert observe(call("f", normal(2)), f=into_a_buffer).overwritten == ("output",)
    assert observe(call("f", normal(2)), f=lambda x: x.clone()).overwritten == ()


@pytest.mark.parametrize("shape", [(2, 3), (3,)])
def test_a_buffer_that_holds_the_same_values_again_needs_the_altered_run(shape):
    buffer = torch.zeros(2, 3, dtype=torch.float64)

    def into_a_buffer(x):
        return 2 * x if x.requires_grad else buffer.copy_(2 * x)

    one = call("f", normal(*shape).expand(2, 3))
    assert observe(one, f=into_a_buffer).overwritten == ()
    assert observe(one, "again", f=into_a_buffer).overwritten == ("output",)


class OneBuffer(nn.Module):
    """Gives the same memory each time that no gradient is wanted."""

    def forward(self, x):
        if torch.is_grad_enabled():
            return 2 * x
        self.out = self.__dict__.get("out", torch.empty_like(x))
        return self.out.copy_(2 * x)


def test_a_module_that_gives_the_same_memory_under_no_grad_is_seen():
    one = module_call("OneBuffer", {}, None, normal(2, 3))
    assert observe(one, OneBuffer=OneBuffer).overwritten == ()
    assert observe(one, "again", OneBuffer=OneBuffer).overwritten == ("output",)
    assert observe(one, "again", OneBuffer=nn.Identity).overwritten == ()


def test_a_memo_by_identity_on_the_class_is_seen_through_a_modules_further_call():
    class Remembers(nn.Module):
        last = (None, None)

        def forward(self, x):
            if x is not Remembers.last[0] or x.requires_grad:
                Remembers.last = x, 2 * x
            return Remembers.last[1]

    one = module_call("Remembers", {}, None, normal(2, 3))
    assert observe(one, "again", Remembers=Remembers).stale == ("output",)


def test_a_light_call_of_several_steps_sees_an_earlier_result_that_is_overwritten():
    one = Call()
    block = one.construct("OneBuffer")
    for name in ("first", "second"):
        one.apply(block, normal(2, 3, seed=len(name))).observe(name)
    one.values_only().under_no_grad()
    assert observe(one, OneBuffer=OneBuffer).overwritten == ("first",)
    assert observe(one, OneBuffer=nn.Identity).overwritten == ()


def test_the_altered_run_halves_every_floating_input_once_and_turns_others_round():
    seen = []
    x, wide = normal(2, 3), normal(4)

    def f(a, b, parts, n):
        seen.append((a.clone(), b.clone(), parts["wide"].clone(), n.clone()))
        return a.sum()

    observe(call("f", x, x, {"wide": wide.expand(5, 4)}, n=torch.arange(3)), "again", f=f)
    first, second, altered, third, edited = seen
    for one, other in ((first, 1.0), (second, 1.0), (altered, 0.5), (third, 1.0), (edited, 0.5)):
        assert [part.tolist() for part in one[:3]] == [(other * part).tolist() for part in (x, x, wide.expand(5, 4))]
        assert one[3].tolist() == ([0, 1, 2] if other == 1 else [2, 1, 0])


def test_a_mask_that_is_kept_inverted_is_stale():
    inverted = {}

    def keeping(x, mask):
        return x.masked_fill(inverted.setdefault(id(mask), (~mask, mask))[0], 0.0)

    one = call("f", normal(2, 3), torch.tensor([True, True, False]))
    assert observe(one, "again", f=keeping).stale == ("output",)
    assert observe(one, "again", f=lambda x, mask: x.masked_fill(~mask, 0.0)).stale == ()


class OnlyIf(torch.autograd.Function):
    """A product whose second gradient is given only where the first one is asked for."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, gradient):
        x, y = ctx.saved_tensors
        return gradient * y, gradient * x if ctx.needs_input_grad[0] else None


class Scaled(nn.Module):
    def __init__(self, learns):
        super().__init__()
        self.scale = nn.Parameter(torch.full((3,), 2.0, dtype=torch.float64))
        self.learns = learns

    def forward(self, x):
        with torch.set_grad_enabled(self.learns or x.requires_grad):
            return self.scale * x


def test_gradients_that_depend_on_what_else_needs_one_are_seen():
    x, y = normal(2, 3), normal(2, 3, seed=2)
    assert observe(call("f", x, y), "apart", f=OnlyIf.apply).apart == ("0.1",)
    assert observe(call("f", x, y), "apart", f=torch.mul).apart == ()
    assert observe(call("f", y, x), "apart", f=lambda a, b: OnlyIf.apply(b, a)).apart == ("0.0",)
    one = Call()
    module = one.construct("Scaled", learns=False)
    one.apply(module, x).observe("output")
    assert observe(one, "apart", Scaled=Scaled).apart == ("scale",)
    assert observe(one, "apart", Scaled=lambda learns: Scaled(learns=True)).apart == ()


def test_in_a_low_dtype_gradients_that_are_missing_or_not_finite_are_named():
    one = call("f", normal(2, 3), normal(2, 3)).in_dtype(torch.bfloat16)
    one._steps = list(in_dtype(one.program).steps)
    seen = observe(one, f=lambda x, y: x.detach() * y + (y - y).square().sum().sqrt())
    assert (seen.untouched, seen.infinite, seen.gradient_error) == (("0.0",), ("0.1",), None)
    seen = observe(one, f=lambda x, y: x * y)
    assert (seen.untouched, seen.infinite) == ((), ())
    kept = runner.results({"f": lambda x, y: x * y + 1e-3 * x}, wire.encode_call(one.program), POOL)
    assert kept["untouched"] == []
    hardly = runner.results({"f": lambda x, y: x + 1e-3 * y}, wire.encode_call(one.program), POOL)
    assert hardly["untouched"] == ["0.1"]  # so a submission may do without it
    broken = type("Broken", (OnlyIf,), {"backward": staticmethod(lambda ctx, gradient: 1 / 0)})
    assert observe(one, f=broken.apply).gradient_error.type == "ZeroDivisionError"


def test_memory_that_a_constructor_never_writes_to_holds_nan():
    class Empty(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.empty(3))
            self.count = nn.Linear(3, 3).weight.isfinite().all()
            assert not torch.are_deterministic_algorithms_enabled() or torch.get_deterministic_debug_mode() == 1

    one = Call()
    module = one.construct("Empty")
    one.attribute(module, "weight").observe("weight")
    one.attribute(module, "count").observe("count")
    seen = observe(one, Empty=Empty)
    assert seen.values["weight"].isnan().all()
    assert seen.values["count"]
    assert not torch.are_deterministic_algorithms_enabled()

    def switches():
        torch.use_deterministic_algorithms(True)
        return nn.Identity()

    try:
        assert observe(one, Empty=switches).error  # an identity has no weight
        assert torch.get_deterministic_debug_mode() == 2
    finally:
        torch.use_deterministic_algorithms(False)


def test_what_a_module_keeps_of_its_last_input_without_gradients_is_stale():
    class Remembers(nn.Module):
        last = None, None

        def forward(self, x):
            if torch.is_grad_enabled() or self.last[0] is not x:
                self.last = x, 2 * x
            return self.last[1]

    one = Call()
    module = one.eval(one.construct("Remembers"))
    one.apply(module, normal(3)).observe("output")
    assert observe(one, "again", Remembers=Remembers).stale == ("output",)
    assert observe(one, "again", Remembers=nn.Identity).stale == ()


def test_a_result_that_is_kept_by_its_inputs_identity_is_stale():
    kept = {}

    def remembering(x):
        return kept.setdefault(id(x), 2 * x.detach()) if not x.requires_grad else 2 * x

    one = call("f", normal(2, 3))
    assert observe(one, "again", f=remembering).stale == ("output",)
    assert observe(one, "again", f=lambda x: 2 * x).stale == ()


def test_a_result_of_a_low_dtype_that_is_cut_off_is_seen():
    one = call("f", normal(2, 3)).in_dtype(torch.float32)
    assert observe(one, f=lambda x: 2 * x.detach()).detached == ("output",)
    assert observe(one, f=lambda x: 2 * x).detached == ()
    assert observe(call("f", normal(2, 3)).values_only(), f=lambda x: 2 * x.detach()).detached == ()


def test_the_gradient_of_an_expanded_input_is_that_of_its_memory():
    x = normal(3).expand(4, 3)
    one = observe(call("f", x), f=lambda x: 2 * x)
    other = observe(call("f", x), f=lambda x: 2 * x[:1].expand(4, 3))
    assert one.gradients["0.0"].shape == (1, 3)
    assert one.gradients["0.0"].allclose(other.gradients["0.0"])


def test_a_constructor_may_draw_but_not_seed():
    class Drawing(nn.Linear):
        pass

    class Seeding(nn.Linear):
        def __init__(self, *args, **kwargs):
            torch.manual_seed(1234567)
            super().__init__(*args, **kwargs)

    one = module_call("M", {"in_features": 2, "out_features": 3}, None, normal(4, 2))
    torch.manual_seed(7)
    assert not observe(one, M=Drawing).generator
    assert observe(one, M=Seeding).generator


def test_further_runs_are_made_only_where_the_call_asks_for_them():
    program = replace(call("f", normal(2)).program, extras=("device",))
    extras = {
        "device": lambda program, names: {"mixed": None, "elsewhere": [program.entry]},
        "another": lambda *_: 1 / 0,
    }
    raw = runner.observe({"f": lambda x: x}, wire.encode_call(program), POOL, extras)
    assert raw["device"] == {"mixed": None, "elsewhere": ["f"]}
    assert "closed" not in raw


def test_a_glance_is_the_first_run_alone():
    decode = wire.decoder(wire.encode_call(call("f", normal(2)).program))
    seen = []
    assert runner.glance({"f": lambda x: seen.append(1) or 3}, decode) == (None, {"output": 3})
    assert seen == [1]
    assert runner.glance({"f": lambda x: 1 / 0}, decode)[0]["type"] == "ZeroDivisionError"


def chain(depth=3):
    one = Call()
    after = one.function("f", normal(2, 3)).observe("0")
    for number in range(1, depth):
        after = one.function("f", after).observe(str(number))
    return one


def test_a_stream_is_measured_in_one_run_with_its_gradient_at_every_place():
    seen = observe(chain(), "stream", f=lambda x: 2 * x)
    assert [seen.values[name].equal(2 ** (int(name) + 1) * normal(2, 3)) for name in "012"] == [True] * 3
    cotangent = POOL[:6].reshape(3, 2).T
    assert [
        seen.gradients[name].allclose(factor * cotangent) for name, factor in zip("012", (4, 2, 1), strict=True)
    ] == [True] * 3


def test_a_stream_that_is_cut_off_or_breaks_has_no_gradients_before_that():
    assert observe(chain(), "stream", f=lambda x: x.detach()).gradients == {}
    calls = iter(range(9))
    broken = observe(chain(), "stream", f=lambda x: x if next(calls) < 2 else 1 / 0)
    assert broken.error.type == "ZeroDivisionError"
    assert list(broken.values) == ["0", "1"]


def test_the_reference_is_asked_for_values_gradients_and_their_natural_sizes():
    x, y = normal(2, 3), normal(3, seed=2)
    raw = runner.results({"f": lambda x, y: x @ y}, wire.encode_call(call("f", x, y=y).program), POOL)
    product = (x @ y) * POOL[:2]
    assert raw["scales"] == pytest.approx(
        {"0.0": (product.norm() / x.norm()).item(), "0.y": (product.norm() / y.norm()).item()}
    )
    assert raw["gradients"]["0.y"].allclose(x.T @ POOL[:2])
    assert "scales" not in runner.results({"f": max}, wire.encode_call(call("f", x, y=y).values_only().program), POOL)


# Gradients


def test_gradients_are_those_for_the_cotangent_from_the_pool():
    x, w = normal(2, 3), normal(3, 4, seed=2)
    seen = observe(call("f", x, w=w), f=lambda x, w: x @ w)
    cotangent = POOL[:8].reshape(4, 2).T
    assert seen.gradients["0.0"].allclose(cotangent @ w.T)
    assert seen.gradients["0.w"].allclose(x.T @ cotangent)


def test_each_result_gets_its_own_part_of_the_pool():
    x = normal(4)
    seen = observe(call("f", x), f=lambda x: (2 * x, {"a": [x.sum()], "b": torch.arange(7)}))
    assert seen.gradients["0.0"].allclose(2 * POOL[:4] + POOL[4])


def test_the_pool_repeats_where_it_is_too_short():
    like = torch.zeros(30, 7, dtype=torch.float32)
    made = cotangent(POOL, 95, like)
    assert (made.shape, made.dtype) == (like.shape, like.dtype)
    made = made.T
    assert made.flatten()[:10].double().allclose(torch.cat([POOL[95:], POOL[:4]]), atol=1e-6)
    assert made.flatten()[101:111].equal(made.flatten()[:10])


def test_a_backward_pass_by_hand_has_to_take_a_gradient_in_any_layout():
    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x

        @staticmethod
        def backward(ctx, gradient):
            return 2 * gradient.view(-1).view(gradient.shape)

    seen = observe(call("f", normal(2, 3)), f=Doubled.apply)
    assert "view size is not compatible" in seen.gradient_error.message


def test_results_are_differentiated_where_the_author_says_so():
    one = Call()
    x = normal(3)
    one.function("f", x).observe("a")
    one.function("f", x).observe("b")
    assert observe(one, f=lambda x: x**2).gradients["0.0"].allclose(2 * x * (POOL[:3] + POOL[3:6]))
    assert observe(one.differentiate("b"), f=lambda x: x**2).gradients["0.0"].allclose(2 * x * POOL[:3])
    part = call("f", x).differentiate("output.1")
    assert observe(part, f=lambda x: (x**3, x**2)).gradients["0.0"].allclose(2 * x * POOL[:3])


def test_a_tensor_given_twice_is_one_leaf_under_its_first_path():
    x = normal(3)
    seen = observe(call("f", x, {"again": x, "own": normal(3, seed=2)}), f=lambda x, p: x * p["again"] * p["own"])
    assert list(seen.gradients) == ["0.0", "0.1.own"]
    assert seen.gradients["0.0"].allclose(2 * x * normal(3, seed=2) * POOL[:3])


def test_an_input_that_nothing_depends_on_has_no_gradient_and_integers_have_none_at_all():
    seen = observe(call("f", normal(2), normal(2, seed=2), torch.arange(2)), f=lambda x, y, n: x * n)
    assert seen.gradients["0.1"] is None
    assert list(seen.gradients) == ["0.0", "0.1"]


def test_a_result_that_is_cut_off_is_named():
    seen = observe(call("f", normal(2)), f=lambda x: (x.detach(), [2 * x], torch.arange(2)))
    assert seen.detached == ("output.0",)
    assert seen.gradients["0.0"].allclose(2 * POOL[2:4])
    assert observe(call("f", normal(2)), f=lambda x: x.tolist()).detached == ()


def test_a_call_without_anything_to_differentiate_has_no_gradients():
    seen = observe(call("f", 3), f=lambda n: torch.ones(n))
    assert (seen.gradients, seen.detached, seen.gradient_error) == ({}, (), None)


def test_parameters_get_gradients_under_their_names():
    x, state = normal(4, 3), {"weight": normal(2, 3, seed=2)}
    seen = observe(module_call("Linear", {}, state, x), Linear=Linear)
    cotangent = POOL[:8].reshape(2, 4).T
    assert set(seen.gradients) == {"4.0", "weight"}
    assert seen.gradients["weight"].allclose(cotangent.T @ x)


def test_parameters_of_several_modules_are_told_apart():
    one = Call()
    for _ in range(2):
        module = one.construct("Linear", d=3)
        one.to(module)
        one.eval(module)
        one.apply(module, normal(1, 3)).observe(f"output{module.step}")
    assert set(observe(one, Linear=Linear).gradients) == {"0:weight", "4:weight", "3.0", "7.0"}


def test_sparse_gradients_are_made_dense():
    seen = observe(call("f", normal(4, 2)), f=lambda w: nn.functional.embedding(torch.tensor([1]), w, sparse=True))
    assert seen.gradients["0.0"][1].allclose(POOL[:2])


# Manners


def test_inputs_that_change_are_named_by_step_and_argument():
    def f(x, params):
        if not x.requires_grad:
            x.zero_()
        params["new"] = 1
        return 2 * x

    seen = observe(call("f", normal(2), params={"w": normal(1)}), f=f)
    assert seen.changed == (("0.0", "values"), ("0.params", "contents"))


def test_inputs_that_change_only_under_gradients_are_seen_too():
    def f(params):
        if params["x"].requires_grad:
            params.pop("y")
        return 2 * params["x"]

    assert observe(call("f", {"x": normal(1), "y": normal(1)}), f=f).changed == (("0.0", "contents"),)


def test_a_result_of_an_earlier_step_is_an_input_of_the_next():
    one = Call()
    first = one.function("f", normal(2))
    one.function("g", first).observe("output")
    assert observe(one, f=lambda x: 2 * x, g=lambda y: y.add_(1)).changed == (("1.0", "values"),)


def test_inputs_that_are_changed_before_the_call_raises_are_named():
    def refuse(x):
        x.clamp_(0)
        raise ValueError("negative")

    seen = observe(call("f", normal(3) - 5).raises(ValueError), f=refuse)
    assert seen.error.type == "ValueError"
    assert seen.changed == (("0.0", "values"),)


def test_settings_and_draws_of_a_call_that_raises_are_seen():
    def refuse(x):
        torch.rand(1)
        torch.autograd.set_detect_anomaly(True)
        raise ValueError("negative")

    try:
        seen = observe(call("f", normal(3)).raises(ValueError), f=refuse)
    finally:
        torch.autograd.set_detect_anomaly(False)
    assert (seen.generator, seen.settings) == (True, ("anomaly detection",))


def test_an_input_that_the_backward_pass_changes_is_named():
    class Clearing(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.x = x
            return 2 * x

        @staticmethod
        def backward(ctx, gradient):
            ctx.x.data.zero_()
            return 2 * gradient

    assert observe(call("f", normal(3)), f=Clearing.apply).changed == (("0.0", "values, in the backward pass"),)


@pytest.mark.parametrize("in_place", [True, False])
def test_a_backward_pass_that_writes_over_the_gradient_it_is_given_is_seen(in_place):
    class Doubling(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x

        @staticmethod
        def backward(ctx, gradient):
            return gradient.mul_(2) if in_place else 2 * gradient

    seen = observe(call("f", normal(3)), f=Doubling.apply).changed
    assert seen == ((("the gradient that the backward pass is given", "values"),) if in_place else ())


@pytest.mark.parametrize("result", [lambda x: x, lambda x: (x, x), lambda x: x.T, lambda x: [x + 1, x.expand(2, 3, 4)]])
def test_a_gradient_that_pytorch_adds_up_is_not_written_over(result):
    assert observe(call("f", normal(3, 4)), f=result).changed == ()


@pytest.mark.parametrize(
    ("what", "change"),
    [
        ("its mode", lambda module: module.train()),
        ("its mode", lambda module: module.dropout.train()),
        ("requires_grad", lambda module: module.weight.requires_grad_(False)),
    ],
)
def test_a_module_that_its_forward_pass_leaves_in_another_state_is_named(what, change):
    class Changing(Linear):
        def forward(self, x):
            result = super().forward(x)
            change(self)
            return result

    seen = observe(module_call("M", {}, None, normal(2, 3)).values_only(), M=Changing)
    assert seen.changed[0] == ("3.the module", what)


def test_a_module_that_forgets_its_gradients_in_its_forward_pass_is_named():
    class Forgetting(Linear):
        def forward(self, x):
            self.zero_grad()
            return super().forward(x)

    one = module_call("M", {}, None, normal(2, 3))
    module, result = Result(one, 0), Result(one, 3)
    one.gradients(module, result)
    one.apply(module, normal(2, 3)).observe("again")
    assert observe(one.values_only(), M=Forgetting).changed == (("5.the module", "a .grad"),)


def test_a_module_may_call_its_attributes_as_pytorch_calls_its_methods():
    class Naming(Linear):
        def __init__(self):
            super().__init__()
            self.modules, self.parameters = [self.dropout], {}

    assert observe(module_call("M", {}, None, normal(2, 3)), "again", M=Naming).error is None


def test_a_module_may_make_its_parts_at_its_first_call():
    class Lazy(nn.Module):
        def forward(self, x):
            if not hasattr(self, "linear"):
                self.linear = nn.Linear(3, 2, dtype=x.dtype)
                self.dropout = nn.Dropout().train(self.training)
            return self.linear(x)

    assert observe(module_call("M", {}, None, normal(2, 3)), M=Lazy).changed == ()


def test_a_function_that_seeds_the_generator_is_seen_although_it_makes_a_module():
    def seeding(x):
        torch.manual_seed(1234567)
        return nn.Linear(2, 3, dtype=x.dtype)(x)

    def forking(x):
        with torch.random.fork_rng():
            torch.manual_seed(1234567)
            return nn.Linear(2, 3, dtype=x.dtype)(x)

    assert observe(call("f", normal(4, 2)), f=seeding).generator
    assert not observe(call("f", normal(4, 2)), f=forking).generator


def test_settings_that_a_call_leaves_changed_are_named():
    def f(x):
        torch.set_grad_enabled(False)
        return x

    try:
        assert observe(call("f", normal(2)).values_only(), f=f).settings == ("grad mode",)
    finally:
        torch.set_grad_enabled(True)
    with torch.no_grad():
        assert observe(call("f", normal(2)).values_only(), f=lambda x: x).settings == ()


def training(one):
    """The same call without its switch to evaluation."""
    one._steps = [replace(s, kind="train") if s.kind == "eval" else s for s in one.program.steps]
    return one


class AlwaysDropping(Linear):
    def forward(self, x):
        return nn.functional.dropout(x, 0.5, training=True) @ self.weight.T


def test_the_random_generator_is_for_construction_training_and_random_calls():
    def noisy(x):
        return x + 0 * torch.randn(1)

    assert observe(call("f", normal(2)), f=noisy).generator
    assert not observe(call("f", normal(2)).random(), f=noisy).generator
    assert not observe(call("f", normal(2)), f=lambda x: x).generator
    assert not observe(module_call("Linear", {}, None, normal(2, 3)), Linear=Linear).generator
    assert not observe(training(module_call("Linear", {}, None, normal(2, 3))), Linear=Linear).generator
    assert observe(module_call("Linear", {}, None, normal(2, 3)), Linear=AlwaysDropping).generator


# Steps


def test_methods_attributes_constants_and_parts_of_results_can_be_taken():
    one = Call()
    module = one.construct("Linear")
    one.to(module)
    one.eval(module)
    parts = one.method(module, "twice", normal(1, 3))
    one.apply(one.constant("double"), parts["parts"][0]).observe("double")
    one.attribute(module, "training").observe("training")
    one.function("listing", [parts["parts"][0], (parts["parts"][1],)], {"a": parts["parts"][1]}).observe("listing")
    one.state_dict(module).observe("state")
    seen = observe(one.values_only(), Linear=Linear, double=lambda x: 2 * x, listing=lambda x, y: [x, y]).values
    assert seen["double"].allclose(4 * normal(1, 3) @ seen["state"]["weight"].T)
    assert seen["training"] is False
    assert seen["listing"][0][1] == (None,)
    assert seen["listing"][1] == {"a": None}


def test_a_dotted_attribute_goes_on_and_two_results_may_be_one_object():
    one = Call()
    module = one.construct("Tied")
    weight = one.attribute(module, "one.weight")
    weight.observe("weight")
    one.identical(weight, one.attribute(module, "other.weight")).observe("tied")
    one.identical(weight, one.attribute(module, "one.bias")).observe("other")
    seen = observe(one.values_only(), Tied=Tied).values
    assert seen["weight"].shape == (2, 2)
    assert (seen["tied"], seen["other"]) == (True, False)


def test_a_module_is_moved_to_the_dtype_of_the_call():
    one = module_call("Linear", {}, {"weight": normal(2, 3).bfloat16()}, normal(1, 3).bfloat16())
    assert observe(one.in_dtype(torch.bfloat16), Linear=Linear).values["output"].dtype is torch.bfloat16


def loading(state, module):
    one = Call()
    target = one.construct("Module")
    one.load_state(target, state)
    return observe(one, Module=lambda: module).error


def test_the_given_state_is_loaded():
    module = Linear()
    state = {"weight": normal(2, 3).float()}
    assert loading(state, module) is None
    assert module.weight.equal(state["weight"])


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = nn.Linear(2, 2, bias=False)
        self.other = nn.Linear(2, 2, bias=False)
        self.other.weight = self.one.weight


def test_tied_names_are_trainable_under_both():
    state = {"one.weight": torch.ones(2, 2), "other.weight": torch.ones(2, 2)}
    assert loading(state, Tied()) is None


@pytest.mark.parametrize(
    ("state", "module", "said"),
    [
        ({"weight": (2, 3)}, nn.Linear(3, 2), "not asked for: bias"),
        ({"weight": (2, 3), "bias": (2,)}, nn.Linear(3, 2, bias=False), "missing bias"),
        ({"gamma": (2,)}, nn.Linear(3, 2, bias=False), "missing gamma; not asked for: weight"),
        ({"weight": (3, 2)}, nn.Linear(3, 2, bias=False), "weight has shape (2, 3) instead of (3, 2)"),
        ({"weight": (2, 3)}, nn.Linear(3, 2, bias=False).requires_grad_(False), "weight is no trainable parameter"),
        ({"mean": (2,)}, nn.BatchNorm1d(2, affine=False), "mean"),
        ({f"w{i}": (1,) for i in range(10)}, nn.Identity(), "missing w7; and 2 more"),
    ],
    ids=lambda value: None,
)
def test_a_state_that_does_not_fit_is_about_parameters(state, module, said):
    error = loading({key: torch.ones(shape) for key, shape in state.items()}, module)
    assert error.kind == "state"
    assert said in error.message


def test_a_buffer_is_no_trainable_parameter():
    module = nn.Module()
    module.register_buffer("gamma", torch.ones(2))
    assert loading({"gamma": torch.ones(2)}, module).message == "gamma is no trainable parameter"


def test_a_step_of_gradient_descent_changes_parameters_by_the_gradient_of_the_sum_of_squares():
    x, weight = normal(4, 3), normal(2, 3, seed=2)
    one = Call()
    module = one.construct("Linear")
    one.to(module)
    one.load_state(module, {"weight": weight})
    one.eval(module)
    for _ in range(2):
        one.sgd_step(module, one.apply(module, x), learning_rate=0.01)
    one.state_dict(module).observe("state")
    expected = weight
    for _ in range(2):
        expected = expected - 0.01 * 2 * (x @ expected.T).T @ x
    assert observe(one.values_only(), Linear=Linear).values["state"]["weight"].allclose(expected)


def test_a_snapshot_of_the_state_stays_as_it_was():
    one = Call()
    module = one.construct("Linear")
    one.eval(module)
    one.state_dict(module).observe("before")
    one.sgd_step(module, one.apply(module, torch.ones(1, 3)))
    one.state_dict(module).observe("after")
    seen = observe(one.values_only(), Linear=Linear)
    assert not seen.values["before"]["weight"].equal(seen.values["after"]["weight"])


def test_a_deepcopy_has_a_life_of_its_own_and_keeps_its_mode():
    one = Call()
    module = one.construct("Linear")
    one.to(module)
    one.load_state(module, {"weight": normal(2, 3)})
    one.eval(module)
    copy = one.deepcopy(module)
    one.sgd_step(module, one.apply(module, normal(1, 3)))
    one.apply(copy, normal(1, 3)).observe("output")
    seen = observe(one, Linear=Linear)
    assert seen.values["output"].allclose(normal(1, 3) @ normal(2, 3).T)
    assert not seen.generator
    assert {"0:weight", "4:weight"} <= set(seen.gradients)


@pytest.mark.parametrize(("switch", "used"), [(Call.train, False), (Call.eval, True)])
def test_a_copy_may_draw_in_training_only_as_its_original_may(switch, used, monkeypatch):
    monkeypatch.setattr(Linear, "draw", lambda self: torch.rand(1) * 0, raising=False)
    one = Call()
    module = one.construct("Linear")
    switch(one, module)
    one.method(one.deepcopy(module), "draw").observe("output")
    assert observe(one, Linear=Linear).generator is used


# What the student reads


SIGNATURES = {
    "f": {"": "(x, gamma, *, eps=1e-5)"},
    "Block": {"__init__": "(d_model, dropout=0.0)", "forward": "(x, mask=None)", "decode": "(token, cache)"},
}


def test_paths_are_named_as_in_the_signature():
    label = Labels(SIGNATURES).of(call("f", normal(1), normal(1), normal(1), eps=normal(1)).program)
    paths = ["0.0", "0.1", "0.2", "0.eps", "0.0.weights.1", "output", "weight", "3:norm.weight"]
    assert [label(path) for path in paths] == [
        "x", "gamma", "argument 3", "eps", "x['weights'][1]", "output", "weight", "norm.weight",
    ]  # fmt: skip


def test_paths_of_a_module_are_named_by_its_method():
    one = Call()
    module = one.construct("Block", d_model=4)
    copy = one.deepcopy(module)
    one.apply(module, normal(1), mask=None)
    one.method(copy, "decode", normal(1), [normal(1)])
    one.apply(one.function("unknown"), normal(1))
    label = Labels(SIGNATURES).of(one.program)
    assert [label(path) for path in ("2.0", "2.mask", "3.0", "3.1.0", "5.0")] == [
        "x", "mask", "token", "cache[0]", "argument 1",
    ]  # fmt: skip


def test_a_call_is_described_by_its_visible_steps_and_shapes():
    one = module_call(
        "Block", {"d_model": 4, "eps": 1e-5}, {"w": normal(2)}, normal(2, 3), torch.ones(3) > 0, mask=None
    )
    assert describe_call(one.program) == "Block(d_model=4, eps=1e-05); module((2, 3), bool (3,), mask=None)"
    low = call("f", [normal(1), (2, "a")], {"k": 1}).in_dtype(torch.bfloat16)
    assert describe_call(low.program) == "f([(1,), [2, 'a']], {1 entry}) in bfloat16"


def test_code_that_differentiates_by_itself_is_repeated_with_gradients():
    def slope(x):
        point = x.detach().clone().requires_grad_()
        (point**2).sum().backward()
        return point.grad

    observed = observe(call("f", normal(3)), f=slope)
    assert observed.repeat_error is None
    assert observed.repeat == {}
