"""Junk: every piece can be imported, is wrong in the way that its name says, and leaves the other entry points right."""

from __future__ import annotations

import pytest
import torch

from judge.junk import junk, raising
from judge.models import EntryPoint

REFERENCE = """
import torch

LINES = 3


def f(x, y=None):
    return 2 * x


def parts(x):
    return x, x.sum()


def mask(n):
    return torch.ones(n, n).tril() > 0


def count(n):
    return n


class Block(torch.nn.Module):
    def __init__(self, d):
        super().__init__()
        self.d = d

    def forward(self, x, scale=1.0):
        return x * scale
"""
ENTRIES = (
    EntryPoint(name="LINES", kind="constant"),
    EntryPoint(name="f", kind="function", signatures={"": "(x, y=None)"}),
    EntryPoint(name="parts", kind="function"),
    EntryPoint(name="mask", kind="function"),
    EntryPoint(name="count", kind="function"),
    EntryPoint(name="Block", kind="class", signatures={"__init__": "(d)", "forward": "(x)"}),
)
KINDS = {
    "f": ["floating tensor", "differentiable tensor"],
    "parts": ["tuple"],
    "mask": ["bool tensor"],
    "count": ["int"],
    "Block": ["floating tensor", "differentiable tensor"],
}


def loaded(source):
    namespace = {}
    exec(source, namespace)
    return namespace


@pytest.fixture(scope="module")
def pieces():
    functions = [entry for entry in ENTRIES if entry.kind != "constant"]
    return {name: loaded(source) for name, source in junk(REFERENCE, functions, KINDS)}


X = torch.randn(2, 3, dtype=torch.float64)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("zeros", lambda r: r.equal(torch.zeros(2, 3).double())),
        ("its input", lambda r: r.equal(X)),
        ("the mean everywhere", lambda r: r.allclose(2 * X.mean()) and r.shape == (2, 3)),
        ("NaN", lambda r: r.isnan().all() and r.shape == (2, 3)),
        ("infinity", lambda r: r.isinf().all()),
        ("a broadcastable shape", lambda r: r.shape == (2, 1)),
        ("one dimension more", lambda r: r.shape == (1, 2, 3)),
        ("float32", lambda r: r.dtype is torch.float32),
        ("None", lambda r: r is None),
        ("the wrong type", lambda r: isinstance(r, str)),
        ("a list around it", lambda r: isinstance(r, list) and r[0].equal(2 * X)),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_function_and_a_class_are_spoiled_alike(pieces, name, wrong):
    assert wrong(pieces[f"f gives {name}"]["f"](X.clone()))
    assert wrong(pieces[f"Block gives {name}"]["Block"](d=3)(X, scale=2.0))


def test_a_detached_result_is_cut_off():
    pieces = dict(junk(REFERENCE, [ENTRIES[1]], {"f": ["differentiable tensor"]}))
    x = X.clone().requires_grad_()
    assert not loaded(pieces["f gives a detached result"])["f"](x).requires_grad


def test_an_edited_input_is_edited_under_keywords_too(pieces):
    for given in ({"x": X.clone()}, {"x": X.clone().requires_grad_()}):
        result = pieces["f gives an edited input"]["f"](**given)
        assert result.equal(2 * X)
        assert given["x"].equal(2 * X)


def test_an_input_of_integers_is_edited_too(pieces):
    ids = torch.tensor([[3, 1]])
    pieces["Block gives an edited input"]["Block"](2)(ids)
    assert ids.tolist() == [[6, 2]]


@pytest.mark.parametrize(
    ("name", "arguments", "wrong"),
    [
        ("parts gives a list", (X,), lambda r: isinstance(r, list) and r[0].equal(X)),
        ("parts gives the first part", (X,), lambda r: r.equal(X)),
        ("parts gives the parts reversed", (X,), lambda r: r[1].equal(X)),
        ("mask gives everything", (2,), lambda r: r.tolist() == [[True, True], [True, True]]),
        ("mask gives the opposite", (2,), lambda r: r.tolist() == [[False, True], [False, False]]),
        ("mask gives floats", (2,), lambda r: r.dtype is torch.float32),
        ("count gives one more", (2,), lambda r: r == 3),
        ("count gives one less", (2,), lambda r: r == 1),
        ("count gives a float", (2,), lambda r: type(r) is float and r == 2),
        ("count gives a bool", (2,), lambda r: r is True),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_other_kinds_are_spoiled_in_their_own_ways(pieces, name, arguments, wrong):
    assert wrong(pieces[name][name.split()[0]](*arguments))


def test_one_entry_point_is_spoiled_at_a_time(pieces):
    namespace = pieces["f gives zeros"]
    assert namespace["Block"](d=3)(X).equal(X)
    assert namespace["count"](2) == 2
    assert namespace["LINES"] == 3


def test_entry_points_without_a_known_result_are_left_out(pieces):
    assert list(junk(REFERENCE, [ENTRIES[1]], {})) == []
    assert [name for name, _ in junk(REFERENCE, [ENTRIES[1]], {"f": ["dict"]})] == [
        "f gives None", "f gives the wrong type", "f gives a list around it",
    ]  # fmt: skip


def test_a_constant_is_given_once_and_wrongly():
    reference = "A = 1\nLINES: int = (\n    3\n)\nB = 2\n"
    found = {name: loaded(source)["LINES"] for name, source in junk(reference, [ENTRIES[0]], {})}
    assert found == {
        "LINES is None": None,
        "LINES is a text": "nonsense",
        "LINES is empty": [],
        "LINES is a number": -1,
    }
    for _, source in junk(reference, [ENTRIES[0]], {}):
        assert source.count("LINES") == 1
        assert (loaded(source)["A"], loaded(source)["B"]) == (1, 2)


def test_where_everything_raises_nothing_answers():
    namespace = loaded(raising(ENTRIES))
    for name, arguments in (("f", (X,)), ("parts", ()), ("count", (1, 2, 3)), ("Block", ())):
        with pytest.raises(ArithmeticError, match="junk"):
            namespace[name](*arguments)
    with pytest.raises(ArithmeticError):
        namespace["Block"](d=3)
    assert namespace["LINES"] is None
