"""The picture of the stream: what kind of file it is, what it says, and that the same numbers give the same bytes."""

from __future__ import annotations

import subprocess
import sys
from xml.etree import ElementTree

import pytest
from sample_reports import SAMPLES

from judge.errors import UsageError
from judge.models import Growth, StreamReport
from judge.report import plots

pytest.importorskip("matplotlib")


def sample(**changed: object) -> StreamReport:
    curves = tuple(curve.model_copy(update=changed) for curve in SAMPLES["accepted_with_stream"].stream)
    growth = (
        Growth(label="pre-norm", own=(0.91, 0.97), reference=(0.94, 1.03)),
        Growth(label="post-norm", own=None, reference=(-0.001, 0.0)),
    )
    return StreamReport(
        problem="pre-norm-vs-post-norm", title="Pre or post", file="a.py", seed=7, curves=curves, growth=growth,
        prediction=("one", "two"),
    )  # fmt: skip


def test_a_png_is_one():
    assert plots.render(sample(), ".png").startswith(b"\x89PNG\r\n\x1a\n")


def test_an_svg_says_what_it_shows():
    tree = ElementTree.fromstring(plots.render(sample(), ".svg"))
    text = " ".join("".join(node.itertext()) for node in tree.iter("{http://www.w3.org/2000/svg}text"))
    for said in (
        "pre-norm-vs-post-norm", "yours", "reference", "root mean square of the stream", "what each block adds",
        "norm of the gradient", "pre-norm, yours: depth^0.91 to depth^0.97", "post-norm, reference: level (depth^0.00)",
        "seed 7",
    ):  # fmt: skip
        assert said in text, said


@pytest.mark.parametrize("suffix", plots.SUFFIXES)
def test_the_same_numbers_give_the_same_bytes(suffix):
    assert plots.render(sample(), suffix) == plots.render(sample(), suffix)


@pytest.mark.parametrize("norms", [(None,) * 17, (0.0,) * 17, (float("inf"), 1.0, *(None,) * 15), (1e-300,) * 17])
def test_a_stream_that_cannot_be_drawn_is_a_gap(norms):
    assert plots.render(sample(norms=norms, gradients=norms, contributions=norms[1:]), ".svg")


def test_a_curve_without_gradients_is_drawn_too():
    assert plots.render(sample(gradients=(), reference_gradients=()), ".png")


def test_without_matplotlib_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(UsageError, match=r"pip install 'judge\[plots\]'"):
        plots.render(sample(), ".png")


def test_matplotlib_is_imported_where_a_picture_is_drawn_only():
    program = "import sys, cli, judge.report.plots, judge.report.stream; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]
