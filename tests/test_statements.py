"""The worked example of every statement, against the reference: hidden/example.py computes it again and prints it.

Each printed line must stand in the section `## Example`, and each number with a decimal point there must be printed. A
line that stands there twice has to be printed twice, so nothing is left that nobody has computed.
"""

from __future__ import annotations

import contextlib
import io
import re
import runpy
from pathlib import Path

import pytest
import torch

from judge.catalog import find_problem, problem_ids

NUMBER = re.compile(r"\d+\.(?:\d+|(?=[],]))")  # 0.5, and 3. as tensors are printed, but not a sentence's end


def rounded(values, digits: int = 4) -> str:
    """A tensor, a list or a number as statements show it, with so many digits behind the point and no minus zero."""
    if isinstance(values, torch.Tensor):
        values = values.tolist()
    if isinstance(values, list):
        return "[" + ", ".join(rounded(value, digits) for value in values) + "]"
    return f"{round(values, digits) + 0.0:.{digits}f}"


def squeezed(text: str) -> str:
    """Without line breaks and without the blanks that align columns."""
    return re.sub(r"\s+", " ", text).replace("[ ", "[").strip()


def example(statement: str) -> str:
    return squeezed(statement.split("\n## Example\n")[1].split("\n## ")[0])


def unchecked(section: str, printed: str) -> tuple[list[str], list[str]]:
    """The printed lines that don't stand in the section (so often), and where the numbers are that no line covers."""
    strangers = []
    covered: set[int] = set()
    for line in filter(None, map(squeezed, printed.splitlines())):
        standing = re.finditer(rf"(?<![\w.-]){re.escape(line)}(?!\d|\.\d)", section)
        free = next((match for match in standing if match.start() not in covered), None)
        if free:
            covered.update(range(*free.span()))
        else:
            strangers.append(line)
    left = [match for match in NUMBER.finditer(section) if not covered.issuperset(range(*match.span()))]
    return strangers, [section[max(match.start() - 30, 0) : match.end() + 10] for match in left]


def computed(folder: Path) -> str:
    """What hidden/example.py prints where the reference's names, and `rounded`, are defined."""
    given = {**runpy.run_path(str(folder / "hidden" / "reference.py")), "rounded": rounded}
    with contextlib.redirect_stdout(io.StringIO()) as printed, torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        runpy.run_path(str(folder / "hidden" / "example.py"), init_globals=given)
    return printed.getvalue()


@pytest.fixture(autouse=True)
def _one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.mark.parametrize("problem", problem_ids())
def test_the_example_is_what_the_reference_gives(problem):
    folder = find_problem(problem).folder
    printed = computed(folder)
    assert printed.strip()
    strangers, left = unchecked(example((folder / "statement.md").read_text(encoding="utf-8")), printed)
    assert not strangers, "hidden/example.py prints what doesn't stand in the statement's example"
    assert not left, "hidden/example.py doesn't print these numbers of the statement's example"


@pytest.mark.parametrize(
    ("printed", "strangers", "left"),
    [
        ("gives [[1.5, -0.25]]\nand [2.0]\nand [2.0]", [], []),
        ("gives [[1.5,\n  -0.25]]\nand [2.0]", [], ["0.25]] and [2.0] and [2.0]."]),
        ("gives [[1.5, 0.25]]\nand [2.0]\nand [2.0]", ["gives [[1.5, 0.25]]"], ["1.5", "0.25"]),
        ("1.5\n0.25\n2.0\n2.0\n2.0", ["0.25", "2.0"], ["0.25"]),
        ("1.5\n-0.2\n-0.25\n[2.0]\n[2.0]", ["-0.2"], []),
    ],
)
def test_wrong_missing_and_repeated_numbers_are_found(printed, strangers, left):
    section = example(
        "# A\n\n## Example\n\n    gives  [[ 1.5,\n  -0.25]] and [2.0] and [2.0]. Chapter 3.\n\n## Sources\n"
    )
    found, places = unchecked(section, printed)
    assert found == strangers
    assert len(places) == len(left)
    assert all(part in place for place, part in zip(places, left, strict=True))


def test_numbers_are_rounded_as_statements_show_them():
    assert rounded(torch.tensor([[1.0, -0.00001], [2.5, 0.12345]])) == "[[1.0000, 0.0000], [2.5000, 0.1235]]"
    assert rounded([3.0, -1.0], 0) == "[3, -1]"
    assert rounded(0.25, 1) == "0.2"
