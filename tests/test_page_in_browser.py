"""The page in a real browser, where one is installed: everything is seen, nothing complains, no line is too wide."""

from __future__ import annotations

import chromium
import pytest
from sample_reports import SAMPLES
from test_report_html import hostile

from judge.report import html

pytestmark = pytest.mark.skipif(chromium.PROGRAM is None, reason="no Chromium is installed")
PAGES = {
    **SAMPLES,
    "everything": SAMPLES["wrong_answer_with_diagnosis"].model_copy(
        update={"stream": SAMPLES["accepted_with_stream"].stream}
    ),
    "hostile": hostile("runtime error"),
}
UNSEEN = """
[...document.querySelectorAll("section, h1, h2, h3, figure, .cell, polyline, details td")]
    .filter(e => !e.getBoundingClientRect().width || getComputedStyle(e).visibility != "visible").map(e => e.outerHTML)
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with chromium.browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture
def page(tmp_path, request):
    path = tmp_path / "report.html"
    path.write_text(html.render(PAGES[request.param]), encoding="utf-8", errors="replace")
    return path


@pytest.mark.parametrize("page", PAGES, indirect=True)
@pytest.mark.parametrize(("width", "dark"), [(360, False), (360, True), (1280, False), (1280, True)])
def test_all_of_a_page_is_seen_without_scrolling_sideways(browser, page, width, dark):
    browser.open(page, width=width, dark=dark)
    assert browser.complaints == []
    assert browser.value("document.title").split(": ")[0] in [report.verdict for report in PAGES.values()]
    assert browser.value("document.querySelectorAll('section').length") >= 2
    browser.value("document.querySelectorAll('details').forEach(folded => { folded.open = true })")
    assert browser.value(UNSEEN) == []
    assert browser.value("innerWidth") == width
    assert browser.value("document.documentElement.scrollWidth") <= width
    assert browser.value("document.scripts.length") == 0


@pytest.mark.parametrize("page", ["everything"], indirect=True)
def test_a_page_follows_the_scheme_that_is_preferred_and_prints_on_white(browser, page):
    def paper(**how: object) -> str:
        browser.open(page, width=800, **how)
        return browser.value("getComputedStyle(document.body).backgroundColor")

    light = paper()
    assert light == "rgb(255, 255, 255)"
    assert paper(dark=True) != light
    assert paper(media="print", dark=True) == light


@pytest.mark.parametrize("page", ["everything"], indirect=True)
def test_what_is_folded_is_printed(browser, page):
    height = "[...document.querySelectorAll('details')].map(e => e.getBoundingClientRect().height)"
    browser.open(page, width=800)
    folded = browser.value(height)
    browser.open(page, width=800, media="print")
    assert folded
    assert all(after > 1.5 * before for before, after in zip(folded, browser.value(height), strict=True))
