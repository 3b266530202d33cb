"""Files of plain answers: read from the syntax tree, never executed."""

from __future__ import annotations

import ast

import pytest

from judge.answers import read_answers
from judge.errors import SubmissionError
from judge.processes.plain import encode_plain
from judge.processes.wire import decode_result


def test_literals_are_read_and_tuples_count_as_lists():
    source = '"""Mine."""\nCOUNT: int = 3\nRATE = -0.5\nTASKS = {"a": ("b", [True, None])}\n'
    assert read_answers(ast.parse(source)) == {"COUNT": 3, "RATE": -0.5, "TASKS": {"a": ["b", [True, None]]}}


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("A = 1\nimport os\n", 2),
        ("A = 1\nA = 2\n", 2),
        ("A = B = 1\n", 1),
        ("A, B = 1, 2\n", 1),
        ("A = open('x')\n", 1),
        ("A = 1 + 1\n", 1),
        ("A = [x for x in ()]\n", 1),
        ("A = {'a', 'b'}\n", 1),
        ("A = f'{1}'\n", 1),
        ("A = b'bytes'\n", 1),
        ("A = 1j\n", 1),
        ("A = ...\n", 1),
        ("A = {**{}}\n", 1),
        ("A = {(1,): 2}\n", 1),
        ("A: int\n", 1),
        ("A.b = 1\n", 1),
        ("A += 1\n", 1),
        ("A = -'a'\n", 1),
        ("A = 1\n'not a docstring'\n", 2),
        ("def f(): pass\n", 1),
        ("if True:\n    A = 1\n", 1),
        ("A = (\n    1,\n    print('run'),\n)\n", 3),
    ],
)
def test_anything_else_is_refused_with_its_line(source, line, capsys):
    with pytest.raises(SubmissionError) as caught:
        read_answers(ast.parse(source))
    assert caught.value.line == line
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    "value",
    [None, True, "text é", 3, -(2**70), 0.1, float("inf"), [1, [2.0, "x"]], {"a": [None], 3: False}, {"v": b"\0raw"}],
)
def test_plain_values_have_the_bytes_of_the_wire(value):
    assert decode_result(encode_plain(value)) == value
