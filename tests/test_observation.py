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


@pytest.mark.parametrize("value", [odd for odd in ODD if not isinstance(odd, dict)], ids=repr)
def test_what_is_no_dict_is_no_observation(value):
    with pytest.raises(WireError, match="no observation"):
        from_worker(encode_result(value))


@pytest.mark.parametrize("value", [{1: "a"}, {None: 1}, {"error": None, (): 1}], ids=repr)
def test_an_observation_has_texts_as_keys(value):
    with pytest.raises(WireError, match="no observation"):
        from_worker(encode_result(value))


@pytest.mark.parametrize("data", [b"", b"\0", encode_result({})[:-1], encode_result({}) + b"x"])
def test_bytes_that_are_no_value_are_no_observation(data):
    with pytest.raises(WireError):
        from_worker(data)


@pytest.mark.parametrize("part", ["error", "gradient_error", "repeat_error"])
@pytest.mark.parametrize(
    "value",
    [
        *(odd for odd in ODD if odd is not None),
        *(without(key) for key in ("kind", "type", "bases", "message", "traceback")),
        *({**FAILURE, key: odd} for key in ("kind", "type", "message") for odd in ODD if not isinstance(odd, str)),
        *({**FAILURE, key: odd} for key in ("bases", "traceback") for odd in ODD if odd not in ([], ["a"])),
        *({**FAILURE, "line": odd} for odd in ODD if odd is not None and type(odd) is not int),
    ],
    ids=lambda value: None,
)
def test_a_malformed_failure_is_refused(part, value):
    with pytest.raises(WireError):
        observed(**{part: value})


@pytest.mark.parametrize("part", ["detached", "overwritten", "settings"])
@pytest.mark.parametrize("value", [odd for odd in ODD if odd not in ([], ["a"])], ids=lambda value: None)
def test_malformed_names_are_refused(part, value):
    with pytest.raises(WireError):
        observed(**{part: value})


@pytest.mark.parametrize("part", ["changed", "grad_changed"])
@pytest.mark.parametrize(
    "value",
    [
        *(odd for odd in ODD if odd != []),
        [["0.x"]],
        [["0.x", "values", "more"]],
        [["0.x", 1]],
        [("0.x", "values")],
        [["0.x", "values"], None],
    ],
    ids=lambda value: None,
)
def test_malformed_pairs_are_refused(part, value):
    with pytest.raises(WireError):
        observed(**{part: value})


@pytest.mark.parametrize("part", ["values", "repeat"])
@pytest.mark.parametrize(
    "value",
    [
        *(odd for odd in ODD if odd != {}),
        {"output": None},
        {"output": torch.ones(1)},
        {"output": "text"},
        {"output": b""},
        {"output": b"\0\0\0\0"},
        {"output": encode_result(1)[:-1]},
        {"output": encode_result(1) + b"\0"},
        {3: encode_result(1)},
    ],
    ids=lambda value: None,
)
def test_malformed_values_are_refused(part, value):
    with pytest.raises(WireError):
        observed(**{part: value})


@pytest.mark.parametrize(
    "value",
    [
        *(odd for odd in ODD if odd != {}),
        {"0.x": 1.5},
        {"0.x": [torch.ones(1)]},
        {"0.x": torch.ones(1), "0.y": "text"},
        {"0.x": torch.eye(2).to_sparse()},
        {0: torch.ones(1)},
    ],
    ids=lambda value: None,
)
def test_malformed_gradients_are_refused(value):
    with pytest.raises(WireError):
        observed(gradients=value)


@pytest.mark.parametrize("value", [odd for odd in ODD if odd is not True], ids=lambda value: None)
def test_whether_the_generator_was_used_is_yes_or_no(value):
    with pytest.raises(WireError):
        observed(generator=value)


@pytest.mark.parametrize(
    "value",
    [
        *(odd for odd in ODD if odd is not None and not isinstance(odd, dict)),
        {"mixed": "text"},
        {"mixed": without("kind")},
        {"elsewhere": "output"},
        {"elsewhere": None},
        {"elsewhere": [1]},
    ],
    ids=lambda value: None,
)
def test_a_malformed_device_is_refused(value):
    with pytest.raises(WireError):
        observed(device=value)


def test_values_that_did_not_cross_are_no_reason_to_refuse():
    assert observed(values={"output": encode_result(object())}).values == {"output": Opaque("object")}
