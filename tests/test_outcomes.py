"""What came of a run, in the words of a report: which call had no answer, and what was not reached because of it."""

from __future__ import annotations

from sample_reports import case

from judge.outcomes import case_result, not_reached
from judge.running import Ran
from judge.worker_events import Lost

PLANNED = [
    {"name": "plain", "sentence": "", "inputs": None, "calls": [0]},
    {"name": "tiny_inputs", "sentence": "", "inputs": None, "calls": [1, 2, 3]},
    {"name": "other_eps", "sentence": "", "inputs": None, "calls": [4]},
]
HUNG = Lost("time limit", "no answer after 10 s")


def test_the_call_without_an_answer_is_named_where_a_case_has_several():
    ran = Ran(lost={2: HUNG, 4: HUNG})
    several, one = (case_result(planned, {"cases": {}}, ran, inputs_shown=True) for planned in PLANNED[1:])
    assert [(finding.subject, finding.message) for finding in several.findings] == [("call 2 of 3", HUNG.message)]
    assert one.findings[0].subject == "the call"


def test_what_was_not_reached_is_explained_by_the_cases_in_the_order_in_which_they_hung():
    cases = (case("plain", "not reached"), case("tiny_inputs", "time limit"), case("other_eps", "time limit"))
    said = not_reached(PLANNED, cases, Ran(lost={4: HUNG, 2: HUNG}))
    assert said == (
        "cases run in a random order; other_eps and then tiny_inputs gave no answer, "
        "so 1 case that comes after was not reached"
    )
    more = (cases[0], cases[0], cases[1])
    assert "so 2 cases that come after were not reached" in str(
        not_reached(PLANNED, more, Ran(lost={1: HUNG, 3: HUNG}))
    )


def test_where_every_case_was_reached_or_none_hung_there_is_nothing_to_explain():
    assert not_reached(PLANNED, (case("plain", "time limit"),), Ran(lost={0: HUNG})) is None
    assert not_reached(PLANNED, (case("plain", "not reached"),), Ran()) is None


def test_a_residual_stream_that_hung_is_named_though_no_case_is_about_it():
    said = not_reached(PLANNED, (case("plain", "not reached"),), Ran(lost={98: HUNG, 99: HUNG}))
    assert "; the measurement of the residual stream gave no answer, so 1 case" in said
