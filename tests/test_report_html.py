"""The page: its golden files, whatever a submission wrote in it, and what it needs to be read by anybody."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from golden_files import compare_with_golden
from sample_reports import SAMPLES, case, report

from judge.feedback import shown
from judge.models import Finding, Report, StreamCurve
from judge.report import html

EVIL = "\x1b]0;title\x07\x1b[31m<script>alert(1)</script><img src=x onerror=alert(2)>&amp;\"'\x00\u202e{{ 7 * 7 }}"
CLEANED = "<script>alert(1)</script><img src=x onerror=alert(2)>&amp;\"'{{ 7 * 7 }}"
VOID = {"meta", "br", "wbr", "img", "link", "input"}
VERDICTS = Report.model_fields["verdict"].annotation.__args__
CSS = Path(html.__file__).parent / "templates" / "report.css"


class Page(HTMLParser):
    """Reads a page and refuses one whose tags don't match; keeps tags with attributes, and the text."""

    def __init__(self, text: str):
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert not self._open, self._open

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag):
        assert self._open, tag
        assert self._open.pop() == tag

    def handle_data(self, data):
        if "style" not in self._open:
            self.text += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


@pytest.mark.parametrize("name", SAMPLES)
def test_a_typical_report_is_written_as_its_golden_file(name):
    compare_with_golden(f"{name}.html", html.render(SAMPLES[name], following="post-to-pre-conversion"))


@pytest.mark.parametrize("verdict", VERDICTS)
def test_every_verdict_has_a_page(verdict):
    sample = report(verdict, (case("plain"),), practice=verdict == "passed these cases")
    text = Page(html.render(sample)).text
    assert verdict in text
    assert ("points" in text) == (verdict not in ("passed these cases", "judge error"))


def hostile(verdict: str) -> Report:
    finding = Finding(facet="value", subject=f"output[{EVIL!r}] {EVIL}", message=EVIL)
    heat = SAMPLES["wrong_answer_with_diagnosis"].failed[0].findings[0].heat
    fields = {"findings": (finding.model_copy(update={"heat": heat}),), "printed": (EVIL,), "remarks": (EVIL,)}
    cases = tuple(
        case(name, "runtime error", traceback=(EVIL,), inputs=EVIL, **fields) for name in ("plain", "tiny_inputs")
    )
    return report(
        verdict, cases, message=EVIL, file=f"{EVIL}.py", printed=(EVIL,), remarks=(EVIL,), line=1, column=3,
        line_text=EVIL, closed=({"name": EVIL, "line": 3},),
    )  # fmt: skip


@pytest.mark.parametrize("verdict", VERDICTS)
def test_what_a_submission_wrote_is_text_and_nothing_else(verdict):
    text = html.render(hostile(verdict))
    page = Page(text)
    assert CLEANED in page.text
    assert {tag for tag, _ in page.tags} & {"script", "img", "link", "iframe", "object", "a"} == set()
    assert not any(name.startswith("on") or name == "style" for _, attributes in page.tags for name in attributes)
    assert all(character.isprintable() or character == "\n" for character in text)
    assert "49" not in re.sub(r"[0-9a-f]{64}|\d{3,}", "", page.text)


def test_a_text_without_end_is_cut():
    long = "x" * 100_000
    finding = Finding(facet="error", subject=long, message=long)
    broken = case("plain", "runtime error", findings=(finding,), printed=(long,) * 20, traceback=(long,), inputs=long)
    sample = report("runtime error", (broken,), message=long, file=long, line_text=long, line=1, column=90_000)
    assert len(html.render(sample)) < 60_000


def test_nothing_is_asked_from_elsewhere():
    for sample in SAMPLES.values():
        text = html.render(sample)
        assert "default-src 'none'" in text
        assert not re.search(r"https?:|//|url\(|@import|\bsrc=|\bhref=", text)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_page_can_be_read_aloud(name):
    page = Page(html.render(SAMPLES[name]))
    assert page.all("html") == [{"lang": "en"}]
    assert len(page.all("title")) >= 1
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in zip(levels, levels[1:], strict=False))
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    for picture in page.all("svg"):
        named = (picture.get("aria-labelledby") or "").split()
        assert picture.get("aria-hidden") == "true" or (picture["role"] == "img" and named)
        assert set(named) <= set(ids)
    assert all(head["scope"] in ("row", "col", "colgroup") for head in page.all("th"))
    assert len(page.all("caption")) == len(page.all("table"))


def test_the_sections_stand_in_the_order_in_which_one_asks():
    sample = SAMPLES["wrong_answer_with_diagnosis"].model_copy(
        update={"stream": SAMPLES["accepted_with_stream"].stream, "remarks": ("a remark",)}
    )
    page = Page(html.render(sample))
    wanted = ["cause", "diagnosis", "where", "cases", "remarks", "next", "stream", "environment"]
    assert [section["id"] for section in page.all("section")] == wanted
    for said in ("behaves exactly like one that adds eps", "judge hint layer-norm", "--seed 2894731", "2.13.0"):
        assert said in " ".join(page.text.split())


def test_the_heat_map_is_drawn_where_the_first_wrong_value_is():
    page = Page(html.render(SAMPLES["wrong_answer_with_diagnosis"]))
    cells = [attributes["class"] for attributes in page.all("rect") if "cell" in (attributes.get("class") or "")]
    assert cells == [f"cell heat{level}" for level in (0, 0, 0, 0, 1, 2, 3, 4, 5)]
    assert "token 2, channels 2 to 3: 0.29" in page.text
    assert "error of output, tokens by channels, each cell the largest over all batch rows: 5 of 9" in page.text


def test_a_level_of_feedback_holds_on_the_page_too():
    sample = SAMPLES["wrong_answer_with_diagnosis"].model_copy(
        update={"stream": SAMPLES["accepted_with_stream"].stream, "remarks": ("a remark",)}
    )
    hint, verdict = (Page(html.render(shown(sample, level))) for level in ("hint", "verdict"))
    assert "eps outside the square root" not in hint.text
    assert [section["id"] for section in verdict.all("section")] == ["cause", "cases", "next", "environment"]
    for secret in ("differs", "root 0.001", "called", "layer_norm_forward", "eps outside the square root", "a remark"):
        assert secret not in verdict.text


def test_a_stream_that_is_missing_or_not_finite_is_a_gap():
    curve = StreamCurve(
        label="pre-norm", depths=(0, 1, 2, 3, 4), norms=(1.0, 2.0, None, 0.0, float("inf")), sentence="s",
        reference=(1.0, 2.0, 3.0, 4.0, 5.0), contributions=(None,) * 4, reference_contributions=(0.0,) * 4,
    )  # fmt: skip
    page = Page(html.render(report("wrong answer", (case("plain", "wrong answer"),), stream=(curve,))))
    assert len(page.all("polyline")) == 1
    assert [attributes["scope"] for attributes in page.all("th")].count("row") == 1 + 5


def test_the_place_in_a_line_is_marked_and_a_long_line_is_cut_around_it():
    sample = report("invalid submission", message="wrong", line=1, column=501, line_text="a" * 500 + "<" + "b" * 500)
    text = html.render(sample)
    assert re.search(r"<pre>a{60}<mark>&lt;</mark>b{500}</pre>", text)


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_colours_can_be_told_from_the_paper_and_from_each_other(scheme):
    blocks = re.findall(r":root \{(.*?)\}", CSS.read_text(encoding="utf-8"), re.DOTALL)
    colours = dict(re.findall(r"--(\w+): (#\w{6})", blocks[scheme]))
    for name in ("text", "faint", "right", "practice", "refused", "ours", "wrong", "yours", "reference"):
        assert contrast(colours[name], colours["paper"]) >= 4.5, name  # WCAG 2.2, 1.4.3: AA
    for name in ("text", "faint"):
        assert contrast(colours[name], colours["panel"]) >= 4.5, name
    heat = [contrast(colours[f"heat{level}"], colours["paper"]) for level in range(6)]
    assert heat == sorted(heat)
    assert all(after / before > 1.25 for before, after in zip(heat, heat[1:], strict=False))
