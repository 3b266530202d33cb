"""What a student sees at each level of feedback, and that a command can only ask for less."""

from __future__ import annotations

import pytest
from sample_reports import SAMPLES

from judge.feedback import LEVELS, least, recorded, shown

REPORT = SAMPLES["wrong_answer_with_diagnosis"]


def test_everything_is_shown_and_kept_by_default():
    assert REPORT.diagnosis
    assert shown(REPORT, "full") is recorded(REPORT, "full") is REPORT


def test_a_hint_keeps_the_diagnosis_for_when_it_is_asked_for():
    assert shown(REPORT, "hint").diagnosis is None
    assert shown(REPORT, "hint").cases == REPORT.cases
    assert recorded(REPORT, "hint").diagnosis == REPORT.diagnosis


def test_a_verdict_says_which_cases_passed_and_no_more():
    for report in (shown(REPORT, "verdict"), recorded(REPORT, "verdict")):
        assert (report.verdict, report.points, report.seed) == (REPORT.verdict, REPORT.points, REPORT.seed)
        assert [(case.name, case.status) for case in report.cases] == [(c.name, c.status) for c in REPORT.cases]
        assert not any(case.findings or case.inputs or case.traceback or case.printed for case in report.cases)
        assert (report.diagnosis, report.stream, report.remarks) == (None, (), ())


@pytest.mark.parametrize("one", LEVELS)
@pytest.mark.parametrize("other", LEVELS)
def test_the_level_that_shows_less_counts(one, other):
    assert LEVELS.index(least(one, other)) == max(LEVELS.index(one), LEVELS.index(other))
