"""The residual stream by depth: what is measured, how its growth is put into words, and what a missing depth does."""

from __future__ import annotations

import math

import pytest
import torch

from judge.observation import Observation
from judge.stream import curve, growth


def streams(norms):
    """An observation of a stream with these root mean squares."""
    return Observation(
        values={str(depth): torch.full((2, 3), norm, dtype=torch.float64) for depth, norm in enumerate(norms)}
    )


def pre_norm(depths=9, exponent=0.5):
    return [1.0, *(depth**exponent for depth in range(1, depths))]


def sentence(norms, reference):
    return curve("stream", streams(norms), streams(reference))["sentence"]


def test_the_norm_is_the_root_mean_square_over_all_elements():
    x = torch.tensor([[3.0, -4.0], [0.0, 0.0]], dtype=torch.float64)
    found = curve("pre-norm", streams(pre_norm(3)), Observation(values=streams(pre_norm(3)).values | {"0": x}))
    assert found["label"] == "pre-norm"
    assert found["depths"] == [0, 1, 2]
    assert found["norms"] == pytest.approx([1.0, 1.0, math.sqrt(2)])
    assert found["reference"] == pytest.approx([2.5, 1.0, math.sqrt(2)])


def test_gradients_are_measured_by_their_norm_and_may_be_missing():
    reference, own = streams(pre_norm(3)), streams(pre_norm(3))
    reference.gradients.update({name: torch.full((2, 2), 3.0) for name in "012"})
    own.gradients.update({"0": None, "1": torch.ones(4), "2": torch.tensor([math.nan])})
    found = curve("pre-norm", own, reference)
    assert found["reference_gradients"] == [6.0] * 3
    assert found["gradients"] == [None, 2.0, None]


def test_a_contribution_is_what_a_block_changes_and_there_is_one_fewer():
    found = curve("pre-norm", streams([1.0, 3.0, 3.5]), streams([1.0, 1.5, 2.5]))
    assert found["contributions"] == pytest.approx([2.0, 0.5])
    assert found["reference_contributions"] == pytest.approx([0.5, 1.0])


def test_a_contribution_is_missing_where_either_stream_is_or_their_shapes_differ():
    own = Observation(values={"0": torch.ones(2, 3), "1": torch.ones(3), "2": None, "3": torch.tensor(math.nan)})
    found = curve("pre-norm", own, streams([1.0, 2.0, 3.0, 4.0]))
    assert found["contributions"] == [None, None, None]
    assert curve("pre-norm", None, streams([1.0, 2.0, 3.0]))["contributions"] == [None, None]


def with_middles(norms, middles):
    observed = streams(norms)
    sized = {f"attention {number}": torch.full((2, 3), value) for number, value in enumerate(middles, start=1)}
    return Observation(values=observed.values | sized)


def test_what_each_sublayer_adds_is_told_apart_where_the_stream_between_them_is_known():
    own = with_middles([1.0, 3.0, 3.5, 4.0], [2.5, 3.0, 3.75])
    reference = with_middles([1.0, 2.0, 4.0, 8.0], [1.5, 2.0, 7.0])
    found = curve("pre-norm", own, reference)
    assert found["depths"] == [0, 1, 2, 3]
    attention, feed_forward = found["sublayers"]
    assert (attention["name"], feed_forward["name"]) == ("attention", "feed-forward")
    assert attention["norms"] == pytest.approx([1.5, 0.0, 0.25])
    assert attention["reference"] == pytest.approx([0.5, 0.0, 3.0])
    assert feed_forward["norms"] == pytest.approx([0.5, 0.5, 0.25])
    assert feed_forward["reference"] == pytest.approx([0.5, 2.0, 1.0])
    assert curve("pre-norm", None, reference)["sublayers"][0]["norms"] == [None, None, None]
    assert curve("pre-norm", streams(pre_norm()), streams(pre_norm()))["sublayers"] == []


def test_a_stream_that_wavers_is_said_to_move_between_two_values():
    assert sentence([1.0, 1.0, 1.4, 1.0, 1.4, 1.0], pre_norm(6)).startswith(
        "lies between 1 and 1.4 from depth 1 on; the reference"
    )


def gradient_sentence(own, reference):
    observed, expected = streams(pre_norm(3)), streams(pre_norm(3))
    for one, norms in ((observed, own), (expected, reference)):
        one.gradients.update({name: torch.tensor([norm]) for name, norm in zip("012", norms, strict=True)})
    return curve("stream", observed, expected)["gradient_sentence"]


def test_the_way_of_the_gradient_is_put_into_words():
    assert gradient_sentence((8.0, 4.0, 2.0), (8.0, 4.0, 2.0)) == (
        "the gradient arrives at the first block 4 times as large as when it leaves the last, as in the reference"
    )
    assert gradient_sentence((1.0, 4.0, 2.0), (2.1, 4.0, 2.0)) == (
        "the gradient arrives at the first block 2 times smaller than when it leaves the last; in the reference about as large as when it leaves the last"
    )
    assert gradient_sentence((0.0, 4.0, 2.0), (1.0, 1.0, 2.0)) == (
        "no gradient flows back to the first block; in the reference it arrives 2 times smaller than when it leaves the last"
    )
    assert gradient_sentence((1.0, 4.0, 2.0), (0.0, 0.0, 0.0)) == "no gradient is measured"


@pytest.mark.parametrize("exponent", [-1.0, 0.0, 0.5, 2.0])
def test_growth_is_the_exponent_of_a_power_of_depth_and_depth_zero_does_not_count(exponent):
    assert growth([99.0, *(7 * depth**exponent for depth in range(1, 8))]) == pytest.approx(exponent, abs=1e-12)


def test_a_stream_like_the_references_is_said_to_be():
    norms = pre_norm()
    assert sentence(norms, norms) == (
        "grows like depth^0.5, as the reference does: a pre-norm block only adds to the stream"
    )
    assert sentence([norm * 1.0005 for norm in norms], norms) == sentence(norms, norms)


def test_a_stream_that_differs_is_set_against_the_reference():
    assert sentence([1.0] * 9, pre_norm()) == (
        "stays at 1 from depth 1 on; the reference grows like depth^0.5: a pre-norm block only adds to the stream"
    )
    assert sentence(pre_norm(exponent=-0.5), pre_norm()).startswith("shrinks like depth^-0.5; the reference grows")
    assert sentence(pre_norm(), [1.0] * 9) == (
        "grows like depth^0.5; the reference stays at 1 from depth 1 on: a post-norm block ends in a norm"
    )


def test_the_same_course_at_another_height_is_not_the_same():
    norms = pre_norm()
    assert sentence([2 * norm for norm in norms], norms).startswith("grows like depth^0.5; the reference grows like")


def test_a_stream_that_jumps_about_is_not_said_to_stay():
    assert "stays" not in sentence([1.0, 1.0, 1.5, 1.5, 1.0, 1.0], pre_norm(6)).split(";")[0]


@pytest.mark.parametrize(
    "missing",
    [
        None,
        [torch.ones(2)],
        torch.ones(2, dtype=torch.int64),
        torch.empty(0),
        torch.tensor([1.0, math.nan]),
        torch.tensor([1.0, math.inf]),
        torch.tensor([1e200], dtype=torch.float64),
    ],
    ids=lambda value: None,
)
def test_a_depth_that_is_missing_or_not_finite_is_a_gap(missing):
    observed = streams(pre_norm())
    observed.values["3"] = missing
    found = curve("stream", observed, streams(pre_norm()))
    assert found["norms"][3] is None
    assert found["norms"][2:5:2] == pytest.approx([math.sqrt(2), 2.0])
    assert found["sentence"] == "no finite stream at every depth; the reference grows like depth^0.5"


def test_a_stream_that_breaks_off_has_gaps_from_there():
    observed = streams(pre_norm(5))
    found = curve("stream", observed, streams(pre_norm()))
    assert found["norms"][4] is not None
    assert found["norms"][5:] == [None] * 4
    assert curve("stream", None, streams(pre_norm()))["norms"] == [None] * 9


def test_a_stream_of_zeros_has_no_growth():
    assert sentence([0.0] * 9, pre_norm()).startswith("no finite stream at every depth")
    assert curve("stream", streams([0.0] * 9), streams(pre_norm()))["norms"] == [0.0] * 9


def test_low_precision_streams_are_measured_in_float64():
    large = torch.full((2, 2), 1e3, dtype=torch.float16)
    found = curve("stream", Observation(values=dict.fromkeys("012", large)), streams(pre_norm(3)))
    assert found["norms"] == pytest.approx([1e3] * 3)
