import ast
import sys

import pytest

from judge.bindings import bindings, module_names

FORMS = {
    "def": "def solve(): ...",
    "async def": "async def solve(): ...",
    "class": "class solve: ...",
    "assignment": "solve = 1",
    "row": "a, (solve, b) = 1, (2, 3)",
    "star": "a, *solve = 1, 2",
    "typed": "solve: int = 1",
    "augmented": "solve += 1",
    "walrus": "print(solve := 1)",
    "walrus in a comprehension": "print([(solve := a) for a in b])",
    "walrus in a decorator": "@(solve := f)\ndef g(): ...",
    "walrus in a default": "def g(a=(solve := 1)): ...",
    "walrus in a base": "class A((solve := B)): ...",
    "import": "import solve",
    "import of a package": "import solve.inner",
    "import as": "import a.b as solve",
    "from import": "from a import solve",
    "from import as": "from a import b as solve",
    "for": "for solve in a: ...",
    "with": "with a as solve: ...",
    "with a row": "with a as (b, solve): ...",
    "except": "try: ...\nexcept E as solve: ...",
    "case": "match a:\n    case solve: ...",
    "case as": "match a:\n    case 1 as solve: ...",
    "case star": "match a:\n    case [1, *solve]: ...",
    "case mapping": "match a:\n    case {1: 2, **solve}: ...",
    "global": "def g():\n    global solve\n    solve = 1",
    "under if": "if a:\n    def solve(): ...",
    "under else": "if a: ...\nelse:\n    solve = 1",
    "under try": "try: ...\nfinally:\n    solve = 1",
    "under with": "with a:\n    solve = 1",
    "under for": "for a in b:\n    solve = 1",
    "under while": "while a:\n    solve = 1",
    "under match": "match a:\n    case 1:\n        solve = 1",
    "then deleted": "solve = 1\ndel solve",
}


@pytest.mark.parametrize("source", FORMS.values(), ids=FORMS)
def test_a_name_is_bound_in_every_form(source):
    assert module_names(ast.parse(source)).binds("solve")


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type statements came with Python 3.12")
def test_a_type_statement_binds_its_name():
    assert module_names(ast.parse("type solve = int")).binds("solve")


@pytest.mark.parametrize(
    "source",
    [
        "def f():\n    solve = 1",
        "class A:\n    def solve(self): ...",
        "class A:\n    solve = 1",
        "[1 for solve in a]",
        "lambda solve: solve",
        "a.solve = 1",
        "a['solve'] = 1",
        "solve: int",
        "print(solve)",
        "def f(solve): ...",
        "lambda: (solve := 1)",
    ],
)
def test_a_name_of_another_scope_is_not_the_modules(source):
    assert not module_names(ast.parse(source)).binds("solve")


@pytest.mark.parametrize(
    "source",
    [
        "globals()['solve'] = f",
        "vars()['solve'] = f",
        "locals()['solve'] = f",
        "exec('def solve(): ...')",
        "from a import *",
        "import sys\nsetattr(sys.modules[__name__], 'solve', f)",
        "from sys import modules",
        "import sys as s\ns.modules[__name__].solve = f",
        "def __getattr__(name): ...",
        "f.__defaults__ = (1,)",
        "import builtins",
    ],
)
def test_what_binds_unseen_makes_a_module_uncertain(source):
    assert not module_names(ast.parse(source)).certain


@pytest.mark.parametrize("source", ["for m in self.modules(): ...", "import sys\nsys.path", "getattr(a, 'b')", "x = 1"])
def test_ordinary_code_is_certain(source):
    assert module_names(ast.parse(source)).certain


@pytest.mark.parametrize(
    ("source", "is_plain"),
    [
        ("def solve(): ...", True),
        ("class solve: ...", True),
        ("@f\ndef solve(): ...", False),
        ("if a:\n    def solve(): ...", False),
        ("def solve(): ...\nsolve = f(solve)", False),
        ("def solve(): ...\ndef solve(): ...", False),
        ("def solve(): ...\ndef f():\n    global solve", False),
        ("def solve(): ...\nfrom a import *", False),
        ("solve = 1", False),
    ],
)
def test_only_a_definition_that_nothing_can_replace_is_plain(source, is_plain):
    assert (module_names(ast.parse(source)).plain_definition("solve") is not None) == is_plain


def test_bindings_come_in_the_order_of_the_source():
    source = "import a\nb = c = 1\nif d:\n    def e(f=(g := 1)): ...\nfor h in i: ...\n"
    assert [binding.name for binding in bindings(ast.parse(source).body)] == ["a", "b", "c", "e", "g", "h"]


def test_what_a_file_defines_leaves_its_imports_out():
    assert module_names(ast.parse("import a\nfrom b import c\ndef d(): ...\ne = f = 1\ne = 2")).defined == (
        "d",
        "e",
        "f",
    )
