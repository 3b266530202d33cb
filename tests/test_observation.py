"""An observation from a student worker: exactly of the form, or refused."""

from __future__ import annotations

import pytest
import torch

from judge.observation import Failure, Observation, from_worker
from judge.processes.wire import Opaque, WireError, encode_result

FAILURE = {
    "kind": "raised",
    "type": "Odd",
    "bases": ["ValueError", "Exception"],
    "message": "no",
    "line": 3,
    "traceback": ["line 3, in f: x"],
}
READ = Failure("raised", "Odd", ("ValueError", "Exception"), "no", 3, ("line 3, in f: x",))
ODD = [None, True, 0, -1, 1.5, "text", b"bytes", [], [1], [None], ["a"], {}, {"a": 1}, {1: "a"}, (), torch.ones(1)]


def observed(**parts):
    return from_worker(encode_result(parts))


def refused(**choices):
    """Each of these values of a part is refused."""
    for part, values in choices.items():
        for value in values:
            with pytest.raises(WireError):
                observed(**{part: value})


def other_than(*fine):
    """The odd values except those equal to one of these."""
    return [odd for odd in ODD if not any(type(odd) is type(one) and odd == one for one in fine)]


def without(key):
    return {name: value for name, value in FAILURE.items() if name != key}


def test_every_part_is_read():
    x, gradient = torch.randn(2, 3), torch.randn(3)
    seen = observed(
        error=FAILURE,
        values={"output": encode_result(x), "count": encode_result(3)},
        gradient_error=FAILURE,
        gradients={"0.x": gradient, "weight": None},
        detached=["output"],
        repeat_error=FAILURE,
        repeat={"output": encode_result((x,))},
        overwritten=["output"],
        changed=[["0.x", "values"]],
        grad_changed=[["0.x", "values"], ["0.y", "contents"]],
        settings=["grad mode"],
        generator=True,
        device={"mixed": FAILURE, "elsewhere": ["output"]},
    )
    assert seen.error == seen.gradient_error == seen.repeat_error == seen.mixed == READ
    assert seen.values["output"].equal(x)
    assert seen.values["count"] == 3
    assert seen.gradients["0.x"].equal(gradient)
    assert seen.gradients["weight"] is None
    assert seen.repeat["output"][0].equal(x)
    assert (seen.detached, seen.overwritten, seen.elsewhere) == (("output",), ("output",), ("output",))
    assert seen.changed == (("0.x", "values"), ("0.y", "contents"))
    assert seen.settings == ("grad mode",)
    assert seen.generator is True


def test_what_is_left_out_is_nothing():
    assert observed() == Observation()
    assert observed(error=None, device=None, closed=None, closing=5) == Observation()


def test_a_failure_says_its_type_and_message():
    assert str(READ) == "Odd: no"
    assert str(observed(error={**FAILURE, "message": ""}).error) == "Odd"
    assert observed(error={**FAILURE, "line": None}).error.line is None


def test_what_a_worker_says_about_scales_is_not_believed():
    assert observed(scales={"0.x": 1e9}).scales == {}


def test_what_is_no_dict_of_texts_is_no_observation():
    for value in (*(odd for odd in ODD if not isinstance(odd, dict)), {1: "a"}, {None: 1}, {"error": None, (): 1}):
        with pytest.raises(WireError, match="no observation"):
            from_worker(encode_result(value))


@pytest.mark.parametrize("data", [b"", b"\0", encode_result({})[:-1], encode_result({}) + b"x"])
def test_bytes_that_are_no_value_are_no_observation(data):
    with pytest.raises(WireError):
        from_worker(data)


@pytest.mark.parametrize("part", ["error", "gradient_error", "repeat_error"])
def test_a_malformed_failure_is_refused(part):
    refused(**{part: other_than(None)})
    refused(**{part: [without(key) for key in ("kind", "type", "bases", "message", "traceback")]})
    for key in ("kind", "type", "message"):
        refused(**{part: [{**FAILURE, key: odd} for odd in other_than("text")]})
    for key in ("bases", "traceback"):
        refused(**{part: [{**FAILURE, key: odd} for odd in other_than([], ["a"])]})
    refused(**{part: [{**FAILURE, "line": odd} for odd in other_than(None, 0, -1)]})


@pytest.mark.parametrize("part", ["detached", "overwritten", "settings"])
def test_malformed_names_are_refused(part):
    refused(**{part: other_than([], ["a"])})


@pytest.mark.parametrize("part", ["changed", "grad_changed"])
def test_malformed_pairs_are_refused(part):
    pairs = [["0.x"]], [["0.x", "values", "more"]], [["0.x", 1]], [("0.x", "values")], [["0.x", "values"], None]
    refused(**{part: [*other_than([]), *pairs]})


@pytest.mark.parametrize("part", ["values", "repeat"])
def test_malformed_values_are_refused(part):
    right = encode_result(1)
    wrong = None, torch.ones(1), "text", b"", b"\0\0\0\0", right[:-1], right + b"\0"
    refused(**{part: [*other_than({}), {3: right}, *({"output": value} for value in wrong)]})


def test_malformed_gradients_are_refused():
    wrong = 1.5, [torch.ones(1)], "text", torch.eye(2).to_sparse(), b"bytes"
    refused(gradients=[*other_than({}), {0: torch.ones(1)}, *({"y": torch.ones(1), "x": value} for value in wrong)])


def test_whether_the_generator_was_used_is_yes_or_no():
    refused(generator=other_than(True))
    assert observed(generator=False) == Observation()


def test_a_malformed_device_is_refused():
    refused(device=[odd for odd in other_than(None) if not isinstance(odd, dict)])
    refused(
        device=[
            {"mixed": "text"},
            {"mixed": without("kind")},
            {"elsewhere": "x"},
            {"elsewhere": None},
            {"elsewhere": [1]},
        ]
    )


def test_values_that_did_not_cross_are_no_reason_to_refuse():
    assert observed(values={"output": encode_result(object())}).values == {"output": Opaque("object")}
