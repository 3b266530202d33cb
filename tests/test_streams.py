"""`judge stream`: deeper curves, gradients, growth over several draws, and what happens where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from judge.catalog import find_problem, load_problem, load_problems
from judge.errors import UsageError
from judge.pipeline import submit
from judge.report.stream import StreamPage
from judge.streams import measure

EXAMPLES = Path(__file__).resolve().parent.parent / "submissions" / "examples"
TINY = Path(__file__).resolve().parent / "tiny_problems"
PROBLEM = "pre-norm-vs-post-norm"


@pytest.fixture(scope="module")
def right(engine):
    return measure(find_problem(PROBLEM), EXAMPLES / f"{PROBLEM}-right.py", engine, seed=7)


def test_both_orders_are_measured_to_depth_32_and_agree_with_the_reference(right):
    pre, post = right.curves
    assert (pre.label, post.label) == ("pre-norm", "post-norm")
    for curve in right.curves:
        assert curve.depths == tuple(range(33))
        assert curve.norms == pytest.approx(curve.reference, rel=1e-6)
        assert curve.gradients == pytest.approx(curve.reference_gradients, rel=1e-4)


def test_a_pre_norm_stream_grows_and_a_post_norm_stream_loses_its_gradient(right):
    pre, post = right.curves
    (least, most), (level, still_level) = (growth.own for growth in right.growth)
    assert 0.5 < least <= most < 1.5
    assert -0.05 < level <= still_level < 0.05
    assert pre.gradients[0] > pre.gradients[-1]
    assert post.gradients[0] < 1e-2 * post.gradients[-1]


def test_a_pre_norm_block_adds_as_much_at_every_depth_where_the_weights_are_repeated(right):
    pre, _ = right.curves
    assert len(pre.contributions) == len(pre.depths) - 1
    assert pre.contributions == pytest.approx(pre.reference_contributions, rel=1e-6)
    assert max(pre.reference_contributions) < 3 * min(pre.reference_contributions)


def test_the_sublayers_of_a_pre_norm_block_together_change_what_the_block_does(right):
    for curve in right.curves:
        attention, feed_forward = curve.sublayers
        assert len(attention.norms) == len(feed_forward.norms) == len(curve.contributions) == 32
        for one in (attention, feed_forward):
            assert one.norms == pytest.approx(one.reference, rel=1e-6)
        for first, second, whole in zip(attention.norms, feed_forward.norms, curve.contributions, strict=True):
            assert abs(first - second) <= whole * (1 + 1e-9) <= (first + second) * (1 + 2e-9)


@pytest.mark.parametrize("identifier", [problem.id for problem in load_problems() if problem.stream])
def test_every_problem_with_a_stream_looks_into_its_blocks(engine, identifier):
    problem = find_problem(identifier)
    report = measure(problem, problem.folder / "hidden" / "reference.py", engine, seed=5, depth=3)
    for curve in report.curves:
        assert [part.name for part in curve.sublayers] == ["attention", "feed-forward"]
        for part in curve.sublayers:
            assert part.norms == pytest.approx(part.reference, rel=1e-6)
            assert min(part.norms) > 0.05


@pytest.mark.parametrize("gradients", [False, True])
def test_a_submit_measures_gradients_where_they_are_asked_for(engine, gradients):
    report = submit(find_problem(PROBLEM), EXAMPLES / f"{PROBLEM}-right.py", engine, gradients=gradients)
    assert report.verdict == "accepted"
    for curve in report.stream:
        assert curve.depths == tuple(range(17))
        assert len(curve.gradients) == len(curve.reference_gradients) == (17 if gradients else 0)
        assert len(curve.contributions) == len(curve.reference_contributions) == 16


def test_a_wrong_residual_shows_in_both(engine, right):
    wrong = measure(find_problem(PROBLEM), EXAMPLES / f"{PROBLEM}-residual.py", engine, seed=7)
    assert wrong.curves[0].reference == right.curves[0].reference
    assert wrong.growth[0].own[1] < 0.2
    assert "the reference grows" in wrong.curves[0].sentence
    assert "times smaller than when it leaves the last; in the reference" in wrong.curves[0].gradient_sentence


def test_the_page_fits_into_80_columns_and_shows_depths_that_double(right):
    console = Console(width=80, color_system=None)
    with console.capture() as capture:
        console.print(StreamPage(right))
    lines = capture.get().splitlines()
    assert max(map(len, lines)) <= 80
    doubling = ["0", "1", "2", "4", "8", "16", "32"]
    shown = [line.split()[0] for line in lines if line[:5].strip().isdigit()]
    assert shown == [*doubling, *doubling[1:]] * 2
    for part in ("attention", "feed-forward"):
        assert sum(f"what {part} adds" in line for line in lines) == 2
    assert any("yours: depth^" in line for line in lines)


def test_a_problem_without_a_stream_says_which_have_one(engine):
    with pytest.raises(UsageError, match=r"measures no residual stream; .*pre-norm-block"):
        measure(load_problem("softmax", folder=TINY), EXAMPLES / f"{PROBLEM}-right.py", engine)


def test_a_file_that_does_not_load_is_named(engine, tmp_path):
    source = (EXAMPLES / f"{PROBLEM}-right.py").read_text(encoding="utf-8")
    (tmp_path / "broken.py").write_text(f"{source}\n1 / 0\n")
    with pytest.raises(UsageError, match="ZeroDivisionError"):
        measure(find_problem(PROBLEM), tmp_path / "broken.py", engine)
