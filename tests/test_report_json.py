"""The report as JSON."""

import json
import math

import pytest
from golden_files import compare_with_golden
from sample_reports import SAMPLES, case, report

from judge.models import Finding, Report, StreamCurve
from judge.report import WRITERS, writer
from judge.report import json as json_report


@pytest.mark.parametrize("name", SAMPLES)
def test_a_typical_report_is_written_as_its_golden_file(name):
    compare_with_golden(f"{name}.json", json_report.render(SAMPLES[name]) + "\n")


@pytest.mark.parametrize("name", SAMPLES)
def test_a_report_can_be_read_back(name):
    assert Report.model_validate_json(json_report.render(SAMPLES[name])) == SAMPLES[name]


def test_a_number_that_is_not_finite_becomes_null():
    findings = tuple(Finding(facet="value", subject="output", message="m", error=e) for e in (math.inf, math.nan, 0.5))
    curve = StreamCurve(label="a", depths=(0,), norms=(math.nan,), reference=(1.0,), sentence="s")
    text = json_report.render(
        report("wrong answer", (case("plain", "wrong answer", findings=findings),), stream=(curve,))
    )
    assert "NaN" not in text
    assert "Infinity" not in text
    assert [finding["error"] for finding in json.loads(text)["cases"][0]["findings"]] == [None, None, 0.5]


def test_text_that_is_no_unicode_is_written_as_ascii():
    text = json_report.render(report("runtime error", message="\udcff é \x1b[31m"))
    assert text.isascii()
    assert json.loads(text)["message"] == "\udcff é \x1b[31m"


def test_keys_stand_in_the_order_of_the_model():
    assert list(json.loads(json_report.render(SAMPLES["time_limit"]))) == [
        name for name, field in Report.model_fields.items() if not field.exclude
    ]


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_in_the_table_writes(name):
    assert writer(name)(SAMPLES["time_limit"], verbose=False, following=None)
