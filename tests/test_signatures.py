import ast

import pytest
from wording import assert_reads_well

from judge.signatures import mismatch, parse_signature, show, signature_of, without_self

CONTRACT = "(x, gamma, beta, eps=1e-5)"


def given(parameters):
    return signature_of(ast.parse(f"def f({parameters}): ...").body[0].args)


@pytest.mark.parametrize(
    "parameters",
    [
        "x, gamma, beta, eps=1e-5",
        "x, gamma, beta, eps=0.1",
        "x: Tensor, gamma: Tensor, beta: Tensor, eps: float = 1e-5",
        "x, gamma, beta, eps=1e-5, axis=-1",
        "x, gamma, beta, eps=1e-5, *, axis=-1",
        "x, gamma, beta, eps=1e-5, *rest, **options",
        "x, gamma=None, beta=None, eps=1e-5",
        "*args, **kwargs",
        "x, *args, **kwargs",
        "x=None, *args, **kwargs",
    ],
)
def test_parameters_that_take_every_call_of_the_contract_agree(parameters):
    assert mismatch(given(parameters), parse_signature(CONTRACT)) is None


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ("x, weight, beta, eps=1e-5", "parameter 2 is 'weight' where 'gamma' is asked"),
        ("x, beta, gamma, eps=1e-5", "'gamma' is not parameter 2"),
        ("x, gamma, beta, eps", "'eps' has no default; the contract's is 1e-5"),
        ("x, gamma, beta", "'eps' is missing"),
        ("x, gamma, beta, axis=-1, eps=1e-5", "parameter 4 is 'axis' where 'eps' is asked"),
        ("x, gamma, beta, *, eps=1e-5", "'eps' can't be given by position, as it stands after a *"),
        ("x, /, gamma, beta, eps=1e-5", "'x' can't be given by keyword, as it stands before the /"),
        ("x, gamma, beta, eps=1e-5, *, axis", "'axis' is not asked, so it needs a default"),
        ("axis, x, gamma, beta, eps=1e-5", "parameter 1 is 'axis' where 'x' is asked"),
        ("*args", "'x' is missing"),
        ("**kwargs", "'x' is missing"),
        ("beta, x, **kwargs", "'x' is not parameter 1"),
        ("", "'x' is missing"),
    ],
)
def test_parameters_that_refuse_a_call_of_the_contract_are_told_why(parameters, reason):
    assert mismatch(given(parameters), parse_signature(CONTRACT)) == reason
    assert_reads_well(reason)


@pytest.mark.parametrize(
    ("parameters", "agrees"),
    [("*masks", True), ("*m", True), ("a=None, *b", True), ("a, b", False), ("masks", False), ("a=None, b=None", True)],
)
def test_a_contract_of_any_number_of_arguments_asks_for_some(parameters, agrees):
    reason = mismatch(given(parameters), parse_signature("(*masks)"))
    assert (reason is None) == agrees
    if reason:
        assert_reads_well(reason)


@pytest.mark.parametrize(
    ("parameters", "agrees"),
    [("d_model, heads", True), ("heads, d_model", True), ("*, d_model, heads", True), ("d_model, /, heads", False)],
)
def test_where_only_keywords_are_used_the_order_is_free(parameters, agrees):
    asked = parse_signature("(d_model, heads)")
    assert (mismatch(given(parameters), asked, keywords_only=True) is None) == agrees


def test_a_method_is_seen_as_its_callers_see_it():
    assert show(without_self(given("self, x, mask=None"))) == "(x, mask=None)"
    assert show(without_self(given("*args"))) == "(*args)"
    assert without_self(given("*, x")) is None
    assert without_self(given("")) is None


def test_a_signature_is_shown_as_code():
    assert show(given("x: int, /, y='a', *, z=[1, 2], **k")) == "(x, /, y='a', *, z=[1, 2], **k)"
    assert show(given("eps=1e-5, tiny=1e-12, big=1e05")) == "(eps=1e-5, tiny=1e-12, big=100000.0)"


@pytest.mark.parametrize("text", ["x, y", "(x", "", "(x): pass\ndef g()", "(x) -> int", "(1)", "(x=1, y)"])
def test_what_is_no_parameter_list_is_refused(text):
    with pytest.raises(ValueError, match="parameter list") as caught:
        parse_signature(text)
    assert repr(text) in str(caught.value)
    assert_reads_well(str(caught.value))
