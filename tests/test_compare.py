"""Each facet of a call: what counts as different, what doesn't, and how it is said."""

from __future__ import annotations

import math

import pytest
import torch
from wording import assert_reads_well

from judge.authoring import Call, call
from judge.compare import LOWER_PRECISION, TOLERANCE, compare, relative_error, same_form
from judge.observation import Failure, Observation
from judge.processes.wire import Opaque

PROGRAM = call("f").program
LIGHT = call("f").in_dtype(torch.float32).program
ROUGH = call("f").in_dtype(torch.bfloat16).program
ODD = Failure("raised", "Odd", ("ValueError", "Exception"), "5 is odd", 7, ())


def matrix(rows=4, columns=3, seed=1):
    return torch.randn(rows, columns, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) + 3


def output(observed, expected, program=PROGRAM):
    """The differences of one observed value."""
    return compared(observed, expected, program).differences


def compared(observed, expected, program=PROGRAM):
    return compare(Observation(values={"output": observed}), Observation(values={"output": expected}), program)


def said(differences):
    return [f"{d.facet}: {d.subject} {d.message}" for d in differences]


def gradients(observed, expected, scales=None):
    one, other = Observation(gradients=observed), Observation(gradients=expected, scales=scales or {})
    return compare(one, other, PROGRAM)


# Values


def test_equal_values_have_no_difference_and_no_error():
    result = compared(
        [matrix(), (torch.arange(3), {"a": None, "b": 2})], [matrix(), (torch.arange(3), {"a": None, "b": 2})]
    )
    assert (result.differences, result.remarks, result.worst) == ([], [], 0.0)


@pytest.mark.parametrize(("factor", "passes"), [(0.9, True), (1.1, False)])
def test_a_relative_error_of_the_whole_counts_from_the_tolerance_on(factor, passes):
    x = matrix(6, 1).flatten()
    assert (output(x * (1 + factor * TOLERANCE), x) == []) is passes


def test_one_wrong_token_can_t_hide_in_many_right_ones():
    x = matrix(10_000, 3)
    wrong = x.clone()
    wrong[17] *= 1 + 3 * TOLERANCE
    assert relative_error(wrong, x) < TOLERANCE
    assert output(wrong, x)


def test_a_token_that_is_nearly_zero_can_t_condemn_a_right_answer():
    x = matrix()
    x[1] *= 1e-12
    near = x.clone()
    near[1] += 1e-9
    assert output(near, x) == []
    near[1] += 1e-6
    assert output(near, x)


def test_an_expected_zero_is_measured_against_a_thousandth():
    zero = torch.zeros(3, 2, dtype=torch.float64)
    assert output(zero + 1e-10, zero) == []
    assert output(zero + 1e-6, zero)
    assert output(zero[0, 0] + 1e-6, zero[0, 0])


def test_a_small_result_is_measured_by_its_own_size():
    x = matrix() * 1e-30
    assert output(x * (1 + 1e-9), x) == []
    assert output(x * 1.001, x)
    assert output(torch.zeros_like(x), x)


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("program", [PROGRAM, LIGHT, ROUGH], ids=["float64", "float32", "bfloat16"])
def test_what_is_not_finite_never_passes(odd, program):
    x = matrix().to(getattr(torch, program.dtype))
    wrong = x.clone()
    wrong[2, 1] = odd
    assert said(output(wrong, x, program)) == [f"value: output is {odd} at [2, 1]; 1 of 12 entries is not finite"]
    assert output(x, wrong, program)
    assert output(wrong[2, 1], x[2, 1], program)
    assert compared(wrong, x, program).worst == math.inf


def test_nan_does_not_pass_where_nan_is_expected():
    x = torch.full((2, 2), math.nan, dtype=torch.float64)
    assert output(x, x.clone())
    assert output(math.nan, math.nan)


def test_empty_tensors_are_equal():
    assert output(torch.empty(0, 3), torch.empty(0, 3)) == []


def test_integers_and_booleans_are_equal_or_not():
    x = torch.tensor([[1, 2], [3, 4]])
    assert output(x, x.clone()) == []
    assert said(output(x + torch.tensor([[0, 0], [0, 1]]), x)) == [
        "value: output differs in 1 of 2 rows, first at [1, 1]: 5 instead of 4"
    ]
    assert said(output(torch.tensor([True, False]), torch.tensor([True, True]))) == [
        "value: output differs in 1 of 2 entries, first at [1]: False instead of True"
    ]
    large = torch.tensor([(1 << 60) + 1])
    assert output(large - 1, large)


def test_complex_results_are_compared_in_both_parts():
    x = torch.complex(matrix(), matrix(seed=2))
    assert output(x * (1 + 1e-9), x) == []
    assert said(output(x.conj().resolve_conj(), x))[0].startswith("value: output differs in 4 of 4 rows")
    assert output(torch.complex(x.real, torch.full_like(x.imag, math.nan)), x)
    assert [d.facet for d in output(x.real.contiguous(), x)] == ["dtype", "value"]
    assert [d.facet for d in output(x, x.real.contiguous())] == ["dtype", "value"]


def test_plain_floats_are_measured_like_tensors():
    assert output(0.1 + 0.2, 0.3) == []
    assert output(1.0 + 1e-7, 1.0) == []
    assert said(output(1.0 + 1e-4, 1.0)) == ["value: output is 1.0001, expected 1"]
    assert output(math.inf, math.inf) == []
    assert output(math.inf, 1.0)
    assert output(1.0, math.inf)
    assert compared(1.0 + 1e-7, 1.0).worst == pytest.approx(1e-7, rel=1e-3)
    assert output(1.01, 1.0, ROUGH) == []


@pytest.mark.parametrize(
    ("observed", "expected", "message"),
    [
        (3, 4, "is 3, expected 4"),
        (True, False, "is True, expected False"),
        ("relu", "gelu", "is 'relu', expected 'gelu'"),
        (torch.float32, torch.float64, "is torch.float32, expected torch.float64"),
        (frozenset({1}), frozenset({2}), "is frozenset({1}), expected frozenset({2})"),
        ("x" * 99, "", f"is '{'x' * 56}..., expected ''"),
    ],
)
def test_other_plain_values_are_equal_or_not(observed, expected, message):
    assert output(expected, expected) == []
    assert said(output(observed, expected)) == [f"value: output {message}"]


def test_the_first_wrong_row_is_named_with_both_values():
    x = torch.ones(2, 3, 4, dtype=torch.float64)
    wrong = x.clone()
    wrong[1, 0, 2] = 1.5
    wrong[1, 2, 0] = 2
    assert said(output(wrong, x))[0].startswith(
        "value: output differs in 2 of 6 rows (relative error 0.5 in the worst row), first at [1, 0, 2]: 1.5 instead of 1"
    )


def test_a_vector_is_counted_by_entries_and_a_number_by_itself():
    x = torch.ones(5, dtype=torch.float64)
    wrong = x.clone()
    wrong[3] = -1
    assert said(output(wrong, x))[0].startswith(
        "value: output differs in 1 of 5 entries (relative error 0.89), first at [3]: -1 instead of 1"
    )
    assert said(output(wrong[3], x[3]))[0].startswith("value: output is -1 instead of 1 (relative error 2)")


def test_the_worst_error_is_known_where_it_is_small_enough():
    x = matrix()
    assert compared(x * (1 + 1e-7), x).worst == pytest.approx(1e-7, rel=1e-3)
    assert compared(x * 2, x).worst == pytest.approx(1)


def test_lower_precision_inside_is_a_remark_and_rounding_is_none():
    x = matrix()
    assert compared(x.float().double(), x).remarks
    assert "lower precision" in compared(x.float().double(), x).remarks[0]
    assert compared(x * (1 + LOWER_PRECISION / 10), x).remarks == []
    assert compared(x * 2, x).remarks == []
    assert compared(x.bfloat16(), x.bfloat16() * 1.01, ROUGH).remarks == []


# Low precision


@pytest.mark.parametrize(
    ("program", "small", "large"), [(LIGHT, 5e-4, 2e-3), (ROUGH, 2e-2, 0.1)], ids=["float32", "bfloat16"]
)
def test_low_precision_is_measured_against_the_largest_entry(program, small, large):
    dtype = getattr(torch, program.dtype)
    x = torch.tensor([[1e-6, 1.0], [0.25, -4.0]], dtype=dtype)
    offset = torch.tensor([[1.0, 0.0], [0.0, 0.0]], dtype=dtype) * 4
    assert output(x + small * offset, x, program) == []
    assert said(output(x + large * offset, x, program))[0].endswith(f"of the largest value in {program.dtype}")


def test_the_dtype_still_counts_in_low_precision():
    x = matrix().float()
    assert [d.facet for d in output(x.double(), x, LIGHT)] == ["dtype"]


# Structure before values


@pytest.mark.parametrize(
    ("observed", "expected", "message"),
    [
        (None, torch.ones(2, 3), "is None, expected a tensor of shape (2, 3)"),
        (Opaque("Module"), torch.ones(2), "is a value of type Module, expected a tensor of shape (2,)"),
        ([1.0], torch.ones(1), "is a list of 1, expected a tensor of shape (1,)"),
        (torch.ones(()), 1.0, "is a tensor of shape (), expected a float"),
        ([1, 2], (1, 2), "is a list of 2, expected a tuple of 2"),
        ((1, 2, 3), (1, 2), "is a tuple of 3, expected a tuple of 2"),
        ({"b": 1, 3: 2}, {"b": 1}, "is a dict with keys ['3', 'b'], expected a dict with keys ['b']"),
        (True, 1, "is a bool, expected an int"),
        (1, 1.0, "is an int, expected a float"),
        (0.0, None, "is a float, expected None"),
        ("1", 1, "is a str, expected an int"),
    ],
    ids=lambda value: None,
)
def test_another_structure_is_named(observed, expected, message):
    assert said(output(observed, expected)) == [f"structure: output {message}"]


def test_parts_are_named_by_their_place():
    expected = {"layers": [(torch.ones(2), 3)]}
    assert said(output({"layers": [(torch.ones(2), 4)]}, expected)) == [
        "value: output['layers'][0][1] is 4, expected 3"
    ]
    assert said(output({"layers": [(None, 3)]}, expected))[0].startswith("structure: output['layers'][0][0] is None")


def test_a_shape_is_told_before_values_and_a_broadcastable_one_is_wrong():
    x = torch.ones(2, 3, dtype=torch.float64)
    assert said(output(x[:, :1], x)) == ["shape: output has shape (2, 1), expected (2, 3)"]
    assert said(output(x[None], x)) == [
        "shape: output has shape (1, 2, 3), expected (2, 3): it has extra dimensions of size 1"
    ]
    assert said(output(x.sum(), x.sum()[None])) == [
        "shape: output has shape (), expected (1,): it lacks dimensions of size 1"
    ]


def test_a_dtype_is_told_beside_the_values():
    x = matrix()
    assert said(output(x.float(), x)) == ["dtype: output has dtype float32, expected float64"]
    assert [d.facet for d in output(2 * x.float(), x)] == ["dtype", "value"]
    assert [d.facet for d in output(x[:1].float(), x)] == ["dtype", "shape"]
    assert [d.facet for d in output(torch.ones(2), torch.ones(2, dtype=torch.int64))] == ["dtype"]


def test_a_result_that_is_missing_is_told_and_one_too_many_is_not():
    x = matrix()
    one, other = Observation(values={"a": x}), Observation(values={"a": x, "b": x})
    assert said(compare(one, other, PROGRAM).differences) == ["structure: b is missing"]
    assert compare(other, one, PROGRAM).differences == []


# Gradients


def test_equal_gradients_have_no_difference():
    g = matrix()
    assert gradients({"0.x": g, "0.y": None}, {"0.x": g.clone(), "0.y": None}).differences == []


def test_a_wrong_gradient_is_named_by_its_label():
    g = matrix()
    one, other = Observation(gradients={"0.x": 2 * g}), Observation(gradients={"0.x": g})
    (found,) = compare(one, other, PROGRAM, lambda path: path.removeprefix("0.")).differences
    assert (found.facet, found.subject, found.message) == ("gradient", "gradient of x", "is off (relative error 1)")
    assert found.error == pytest.approx(1)


def test_a_gradient_that_is_none_counts_as_zero():
    zero, g = torch.zeros(2, 3, dtype=torch.float64), matrix()
    assert gradients({"x": None}, {"x": zero}).differences == []
    assert gradients({"x": zero}, {"x": None}).differences == []
    assert gradients({}, {"x": None}).differences == []
    assert said(gradients({"x": None}, {"x": g}).differences) == [
        "gradient: gradient of x is missing: no gradient reaches it"
    ]
    assert said(gradients({"x": g}, {"x": None}).differences)[0].startswith("gradient: gradient of x exists")


def test_gradients_of_the_submissions_own_parameters_are_no_facet():
    assert gradients({"x": matrix(), "more": matrix()}, {"x": matrix()}).differences == []


@pytest.mark.parametrize("odd", [math.nan, math.inf])
def test_a_gradient_that_is_not_finite_never_passes(odd):
    wrong = matrix()
    wrong[1, 1] = odd
    assert said(gradients({"x": wrong}, {"x": matrix()}).differences) == ["gradient: gradient of x is not finite"]
    assert said(gradients({"x": wrong}, {"x": None}).differences) == ["gradient: gradient of x is not finite"]


def test_a_gradient_of_another_shape_is_named():
    assert said(gradients({"x": torch.ones(3)}, {"x": torch.ones(1, 3)}).differences) == [
        "gradient: gradient of x has shape (3,), expected (1, 3)"
    ]


def test_noise_where_a_gradient_is_zero_is_measured_against_the_largest_one():
    large, zero = 1e6 * matrix(), torch.zeros(3, dtype=torch.float64)
    noise = torch.full((3,), 0.05 * TOLERANCE * large.norm().item(), dtype=torch.float64)
    assert gradients({"x": large, "bias": noise}, {"x": large, "bias": zero}).differences == []
    assert gradients({"x": large, "bias": 10 * noise}, {"x": large, "bias": zero}).differences
    assert gradients({"bias": noise}, {"bias": zero}).differences


def test_noise_where_all_gradients_are_zero_is_measured_against_the_natural_size():
    zero = torch.zeros(3, dtype=torch.float64)
    noise = zero + 1e-4
    assert gradients({"x": noise}, {"x": zero}).differences
    assert gradients({"x": noise}, {"x": zero}, scales={"x": 1e4}).differences == []
    assert gradients({"x": noise}, {"x": zero}, scales={"y": 1e4}).differences
    assert gradients({"x": 100 * noise}, {"x": zero}, scales={"x": 1e4}).differences


def test_one_wrong_row_of_a_gradient_can_t_hide():
    g = matrix(10_000, 3)
    wrong = g.clone()
    wrong[5] *= -1
    assert gradients({"x": wrong}, {"x": g}).differences
    wrong[5] = g[5] * (1 + 1e-8)
    assert gradients({"x": wrong}, {"x": g}).differences == []


def test_a_failing_backward_pass_is_told_once():
    one = Observation(gradient_error=ODD, detached=("output",))
    found = compare(one, Observation(gradients={"x": matrix()}), PROGRAM).differences
    assert said(found) == ["gradient: the backward pass raises Odd: 5 is odd"]
    assert found[0].line == 7


def test_a_result_that_is_cut_off_is_told_instead_of_its_missing_gradients():
    one = Observation(detached=("output",), gradients={"x": None})
    assert said(compare(one, Observation(gradients={"x": matrix()}), PROGRAM).differences) == [
        "gradient: output is cut off from the graph: no gradient flows back"
    ]
    assert compare(one, Observation(detached=("output",), gradients={"x": None}), PROGRAM).differences == []


# Errors


def asks(error=ValueError, naming=None):
    return call("f").raises(error, naming).program


def expecting(kind="ValueError"):
    return Observation(error=Failure("raised", kind, (kind, "Exception"), "no", 1, ()))


def test_the_error_that_is_asked_for_or_a_subclass_passes():
    assert compare(Observation(error=ODD), expecting(), asks()).differences == []
    assert compare(expecting(), expecting(), asks()).differences == []


def test_a_class_that_only_has_the_name_of_the_error_does_not_pass():
    impostor = Failure("raised", "ValueError", ("Exception", "BaseException", "object"), "no", 1, ())
    assert compare(Observation(error=impostor), expecting(), asks()).differences


def test_one_of_two_errors_that_are_asked_for_passes_and_no_third():
    either = asks((FileNotFoundError, ValueError))
    assert compare(Observation(error=ODD), expecting("FileNotFoundError"), either).differences == []
    found = compare(expecting("KeyError"), expecting("FileNotFoundError"), either).differences
    assert said(found) == [
        "error: the call raises KeyError: no, where FileNotFoundError or ValueError should be raised"
    ]


def test_what_refuses_leaves_everything_as_it_was():
    seen = Observation(error=ODD, settings=("grad mode",), generator=True, changed=(("x", "values"),))
    assert said(compare(seen, expecting(), asks()).differences) == [
        "inputs unchanged: x is changed by the call (values)",
        "settings: PyTorch's settings the call leaves the grad mode changed",
        "settings: PyTorch's random generator the call draws from it or seeds it",
    ]


def test_a_call_that_returns_where_it_should_raise_is_told():
    found = compare(Observation(values={"output": matrix()}), expecting(), asks()).differences
    assert said(found) == ["error: the call returns, where ValueError should be raised"]


def test_another_error_than_asked_for_is_told_with_its_line():
    found = compare(Observation(error=ODD), expecting("TypeError"), asks(TypeError)).differences
    assert said(found) == ["error: the call raises Odd: 5 is odd, where TypeError should be raised"]
    assert found[0].line == 7


@pytest.mark.parametrize("kind", ["memory", "output", "state"])
def test_only_what_was_raised_counts_as_raised(kind):
    failure = Failure(kind, "ValueError", ("ValueError",), "no", None, ())
    assert compare(Observation(error=failure), expecting(), asks()).differences


def test_a_message_that_does_not_name_the_value_is_a_remark_only():
    result = compare(Observation(error=ODD), expecting(), asks(naming=7))
    assert result.differences == []
    assert result.remarks == ["the ValueError's message should name the offending value, 7"]
    assert compare(Observation(error=ODD), expecting(), asks(naming=5)).remarks == []


def test_an_unexpected_error_hides_everything_else():
    one = Observation(error=ODD, generator=True, changed=(("x", "values"),))
    found = compare(one, Observation(values={"output": matrix()}), PROGRAM).differences
    assert said(found) == ["error: the call raises Odd: 5 is odd"]
    assert (found[0].line, found[0].error) == (7, math.inf)


def test_a_wrong_state_dict_is_about_parameters():
    one = Observation(error=Failure("state", "StepError", ("Exception",), "missing weight", None, ()))
    assert said(compare(one, Observation(), PROGRAM).differences) == ["parameters: the state_dict missing weight"]


# Manners


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"changed": (("0.x", "values"),)}, "inputs unchanged: x is changed by the call (values)"),
        ({"settings": ("grad mode",)}, "settings: PyTorch's settings the call leaves the grad mode changed"),
        ({"generator": True}, "settings: PyTorch's random generator the call draws from it or seeds it"),
        ({"repeat_error": ODD}, "repeatable: a second call raises Odd: 5 is odd"),
        ({"repeat": {"output": matrix() * 1.001}}, "repeatable: output differs when the same call is made again"),
        ({"repeat": {"output": matrix() * (1 + 1e-4)}}, "repeatable: output differs when the same call is made again"),
        (
            {"tracked": {"output": matrix() * 2}},
            "repeatable: output differs when the same call is made again, on inputs that require grad",
        ),
        (
            {"stale": ("output",)},
            "repeatable: output is that of an earlier call: its inputs were changed in place since",
        ),
        ({"repeat": {"output": None}}, "repeatable: output differs when the same call is made again"),
        ({"overwritten": ("output",)}, "repeatable: output is overwritten by a later call"),
        (
            {"mixed": ODD},
            "device: the call mixes tensors of two devices: what is made inside must be on the input's device",
        ),
        ({"elsewhere": ("output",)}, "device: output is not on the device of the inputs"),
    ],
    ids=lambda value: None,
)
def test_bad_manners_are_told_in_values_and_in_relations(parts, message):
    one, other = Observation(values={"output": matrix()}, **parts), Observation(values={"output": matrix()})

    def label(path):
        return path.removeprefix("0.")

    assert said(compare(one, other, PROGRAM, label).differences) == [message]
    assert said(same_form(one, other, PROGRAM, label).differences) == [message]


def test_rounding_between_two_runs_is_no_bad_manners():
    one = Observation(values={"output": matrix()}, repeat={"output": matrix() * (1 + 1e-13)})
    assert compare(one, Observation(values={"output": matrix()}), PROGRAM).differences == []


# Relations


def test_a_relation_asks_for_the_form_and_not_for_values():
    one, other = Observation(values={"output": (2 * matrix(), 3)}), Observation(values={"output": (matrix(), 4)})
    assert same_form(one, other, PROGRAM).differences == []
    for wrong in ((matrix().float(), 3), (matrix()[:1], 3), (matrix(), 3.0), (matrix(),), [matrix(), 3], None):
        assert same_form(Observation(values={"output": wrong}), other, PROGRAM).differences
    assert same_form(Observation(), other, PROGRAM).differences


def test_a_relation_asks_for_numbers_where_the_reference_gives_numbers():
    nan = Observation(values={"output": matrix() * float("nan")})
    (found,) = same_form(nan, Observation(values={"output": matrix()}), PROGRAM).differences
    assert (found.facet, found.message) == ("value", "is not finite")
    assert same_form(nan, nan, PROGRAM).differences == []


def test_gradients_in_a_low_dtype_and_apart_are_compared_with_the_references():
    output = {"output": matrix()}
    odd = Observation(values=output, untouched=("x",), infinite=("y",), apart=("z",))
    said = [(d.facet, d.subject) for d in compare(odd, Observation(values=output), PROGRAM).differences]
    assert said == [("gradient", "gradient of x"), ("gradient", "gradient of y")]
    apart = compare(Observation(values=output, apart=("z",)), Observation(values=output), PROGRAM)
    assert [(d.facet, d.subject) for d in apart.differences] == [("gradient", "gradient of z")]
    like = Observation(values=output, untouched=("x",), infinite=("y",))
    assert compare(like, like, PROGRAM).differences == []


def test_a_constant_may_have_any_form_in_a_relation():
    one = Call()
    one.constant("LINES").observe("lines")
    observed, expected = Observation(values={"lines": "3"}), Observation(values={"lines": [1, 2]})
    assert same_form(observed, expected, one.program).differences == []
    assert compare(observed, expected, one.program).differences


def test_errors_count_in_a_relation_too():
    assert same_form(Observation(error=ODD), Observation(values={"output": matrix()}), PROGRAM).differences
    assert same_form(Observation(), expecting(), asks()).differences


def test_every_message_reads_well():
    x = matrix()
    wrong = [
        *output(2 * x, x), *output(x.float(), x), *output(x[:1], x), *output(None, x), *output(x * math.nan, x),
        *output(2 * x.float(), x.float(), LIGHT), *output(3, 4), *output({"a": 1}, {}), *output(2 * x[0, 0], x[0, 0]),
        *gradients({"x": 2 * x, "y": None, "z": x[0]}, {"x": x, "y": x, "z": x}).differences,
        *compare(Observation(), expecting(), asks()).differences,
        *compare(Observation(detached=("output",), error=None), Observation(), PROGRAM).differences,
    ]  # fmt: skip
    for difference in wrong:
        assert_reads_well(f"{difference.subject} {difference.message}")
