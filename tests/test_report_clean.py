"""Text of a submission made harmless."""

import pytest

from judge.report import clean


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 字 text", "plain é 字 text"),
        ("    indented", "    indented"),
        ("\tx", "    x"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b[?25lhidden cursor", "hidden cursor"),
        ("\x1b]0;a title\x07after", "after"),
        ("\x1b]8;;http://a\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPdevice\x1b\\after", "after"),
        ("\x1b]never ended", ""),
        ("\x9b31mred", "red"),
        ("\x9d0;title\x9cafter", "after"),
        ("\x1b(Bset", "set"),
        ("\x1bcreset", "reset"),
        ("\x1b", ""),
        ("bell\x07 null\x00 delete\x7f", "bell null delete"),
        ("10 %\r20 %\r100 %", "100 %"),
        ("windows\r\n", "windows"),
        ("turned \u202e\u2066around\u200b", "turned around"),
        ("surrogate \udcff", "surrogate "),
        ("two\nlines\u2028", "two lines"),
        ("[red]markup[/red] :smile:", "[red]markup[/red] :smile:"),
    ],
)
def test_a_line_is_cleaned(text, shown):
    assert clean.line(text) == shown


def test_lines_are_split_where_they_break():
    assert clean.lines(("a\nb", "c\r\nd", "")) == ["a", "b", "c", "d", ""]
