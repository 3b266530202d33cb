import ast
import textwrap

import pytest

from judge import meanings
from judge.closed import expand
from judge.closed_uses import closed_uses

CLOSED = (*expand(["norms"]), "torch.nn.functional.scaled_dot_product_attention(enable_gqa=True)")
PRELUDE = "import torch.nn.functional as F; from torch import nn\n"
LAYER_NORM = "torch.nn.functional.layer_norm"


def uses(source):
    """(name, reached) of each use."""
    found = closed_uses(ast.parse(PRELUDE + textwrap.dedent(source)), CLOSED, ["solve"])
    return [(use.name, use.reached) for use in found]


SPELLINGS = {
    "in full": "import torch\ndef solve(x): return torch.nn.functional.layer_norm(x, (8,))",
    "by its module": "import torch.nn.functional as G\ndef solve(x): return G.layer_norm(x, (8,))",
    "by a package": "from torch.nn import functional as F\ndef solve(x): return F.layer_norm(x, (8,))",
    "by itself": "from torch.nn.functional import layer_norm as ln\ndef solve(x): return ln(x, (8,))",
    "by a star": "from torch.nn.functional import *\ndef solve(x): return layer_norm(x, (8,))",
    "inside of the function": "def solve(x):\n    import torch.nn.functional as G\n    return G.layer_norm(x, (8,))",
    "by an assigned module": "import torch\nnn = torch.nn\ndef solve(x): return nn.functional.layer_norm(x, (8,))",
    "by an assigned function": "f = F.layer_norm\ndef solve(x): return f(x, (8,))",
    "by a typed assignment": "f: object = F.layer_norm\ndef solve(x): return f(x)",
    "by a row of assignments": "a, f = 1, F.layer_norm\ndef solve(x): return f(x)",
    "by a chain of assignments": "f = g = F.layer_norm\ndef solve(x): return g(x)",
    "by a walrus": "def solve(x):\n    if (f := F.layer_norm): return f(x)",
    "by a choice": "def solve(x):\n    f = F.layer_norm if x else None\n    return f(x)",
    "by or": "def solve(x): return (None or F.layer_norm)(x)",
    "by getattr": "def solve(x): return getattr(F, 'layer_norm')(x)",
    "by partial": "import functools\nf = functools.partial(F.layer_norm, eps=1)\ndef solve(x): return f(x)",
    "by compile": "import torch\nf = torch.compile(F.layer_norm)\ndef solve(x): return f(x)",
    "by import_module": "from importlib import *\nsolve = lambda x: import_module('torch.nn').functional.layer_norm(x)",
    "by __import__": "def solve(x): return __import__('torch.nn').nn.functional.layer_norm(x)",
    "in a lambda": "solve = lambda x: F.layer_norm(x, (8,))",
    "in a comprehension": "def solve(x): return [F.layer_norm(one, (8,)) for one in x]",
    "in a function inside": "def solve(x):\n    def f(y): return F.layer_norm(y)\n    return f(x)",
    "in a default": "def solve(x, y=F.layer_norm(1)): return x",
    "in a try": "try:\n    from torch.nn.functional import layer_norm as f\nexcept E: pass\ndef solve(x): return f(x)",
    "by its call method": "def solve(x): return F.layer_norm.__call__(x)",
}


@pytest.mark.parametrize("source", SPELLINGS.values(), ids=SPELLINGS)
def test_a_call_is_seen_under_every_spelling(source):
    assert uses(source) == [(LAYER_NORM, True)]


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("nn.LayerNorm(8)(x)", "torch.nn.LayerNorm"),
        ("nn.modules.normalization.LayerNorm(8)(x)", "torch.nn.LayerNorm"),
        ("nn.LayerNorm.forward(self, x)", "torch.nn.LayerNorm"),
        ("torch.layer_norm(x, (8,))", "torch.layer_norm"),
        ("torch.ops.aten.native_layer_norm.default(x)", "aten::native_layer_norm"),
        ("torch._C._VariableFunctions.rms_norm(x)", "torch.rms_norm"),
        ("nn.LazyBatchNorm2d()(x)", "torch.nn.LazyBatchNorm2d"),
    ],
)
def test_classes_operators_and_inner_names_are_seen(call, name):
    assert uses(f"import torch\ndef solve(x): return {call}") == [(name, True)]


@pytest.mark.parametrize("base", ["nn.LayerNorm", "Base"])
def test_subclassing_is_a_use(base):
    source = f"""
        Base = nn.LayerNorm
        class Norm({base}):
            pass
        def solve(x): return Norm(8)(x)
    """
    assert uses(source) == [("torch.nn.LayerNorm", True)]


def test_every_method_of_a_reached_class_is_reached():
    source = """
        class Block(nn.Module):
            @property
            def norm(self): return nn.LayerNorm(8)
            @norm.setter
            def norm(self, value): nn.RMSNorm(8)
            def later(self): nn.GroupNorm(2, 8)
            act = lambda self: nn.BatchNorm1d(8)
        def solve(x): return Block()(x)
    """
    assert {name for name, reached in uses(source) if reached} == {
        "torch.nn.LayerNorm",
        "torch.nn.RMSNorm",
        "torch.nn.GroupNorm",
        "torch.nn.BatchNorm1d",
    }


def test_code_is_reached_by_name_through_any_binding():
    source = """
        from functools import partial
        def deepest(x): return F.layer_norm(x, (8,))
        def deeper(x): return deepest(x)
        table = {"norm": deeper}
        class Tool:
            run = staticmethod(lambda x: table["norm"](x))
        solve = partial(Tool.run)
    """
    assert uses(source) == [(LAYER_NORM, True)]


def test_an_entry_point_from_a_factory_is_reached():
    source = """
        def make():
            class Inside(nn.Module):
                def __init__(self): self.norm = nn.LayerNorm(8)
            return Inside
        solve = make()
    """
    assert uses(source) == [("torch.nn.LayerNorm", True)]


UNREACHED = {
    "a helper": "def helper(x): return F.layer_norm(x)\ndef solve(x): return x",
    "a method of a class": "class A:\n    def f(self): nn.functional.layer_norm(1)\ndef solve(x): return x",
    "a main demo": "def solve(x): return x\nif __name__ == '__main__': print(F.layer_norm(1, (8,)))",
    "what a main demo calls": (
        "def solve(x): return x\ndef demo(): F.layer_norm(1)\nif '__main__' == __name__ and True:\n    demo()"
    ),
    "a function inside": "def solve(x):\n    def check(): F.layer_norm(x)\n    return x",
    "a replaced def": "def solve(x): return F.layer_norm(x)\ndef solve(x): return x",
    "an uncalled lambda": "check = lambda x: F.layer_norm(x)\ndef solve(x): return x",
    "if False": "if False: F.layer_norm(1)\ndef solve(x): return x",
    "a flag that is false": "DEBUG = False\ndef solve(x):\n    if DEBUG: F.layer_norm(x)\n    return x",
    "a flag and a condition": "DEBUG = 0\ndef solve(x):\n    if x > 1 and DEBUG: F.layer_norm(x)\n    return x",
    "the other branch of a flag": "BY_HAND: bool = True\ndef solve(x):\n    return x if BY_HAND else x\nif not BY_HAND: F.layer_norm(1)",
    "else of True": "def solve(x):\n    if not None: return x\n    else: return F.layer_norm(x)",
    "elif of a flag": "A = None\ndef solve(x):\n    if x: return x\n    elif A: return F.layer_norm(x)\n    return x",
    "behind a return": "def solve(x):\n    return x\n    return F.layer_norm(x)",
    "behind a raise in a loop": "def solve(x):\n    for y in x:\n        if y:\n            raise E\n            F.layer_norm(x)\n    return x",
    "behind a continue": "def solve(x):\n    while x:\n        continue\n        F.layer_norm(x)\n    return x",
    "while False": "def solve(x):\n    while False: F.layer_norm(x)\n    return x",
    "for a type checker": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    F.layer_norm(1)\ndef solve(x): return x",
}

REACHED = {
    "a flag that is true": "FAST = True\ndef solve(x):\n    if FAST: return F.layer_norm(x)\n    return x",
    "the else of False": "def solve(x):\n    if False: return x\n    else: return F.layer_norm(x)",
    "a flag that is set again": "DEBUG = False\nDEBUG = True\ndef solve(x):\n    if DEBUG: F.layer_norm(x)",
    "a flag that is set elsewhere": "DEBUG = False\ndef f():\n    global DEBUG\n    DEBUG = 1\ndef solve(x):\n    if DEBUG: F.layer_norm(x)",
    "a flag that counts": "N = 0\nN += 1\ndef solve(x):\n    if N: F.layer_norm(x)",
    "a flag that a loop sets": "N = 0\nfor N in range(3): pass\ndef solve(x):\n    if N: F.layer_norm(x)",
    "a parameter of a flag's name": "DEBUG = False\ndef solve(x, DEBUG=True):\n    if DEBUG: F.layer_norm(x)",
    "a flag or a condition": "DEBUG = False\ndef solve(x):\n    if DEBUG or x: F.layer_norm(x)",
    "behind a loop that breaks": "def solve(x):\n    while True:\n        break\n    return F.layer_norm(x)",
    "the else of a loop": "def solve(x):\n    while True: x()\n    else: F.layer_norm(x)",
    "behind a return in a branch": "def solve(x):\n    if x:\n        return x\n    return F.layer_norm(x)",
    "in an except": "def solve(x):\n    try: return x\n    except E: return F.layer_norm(x)",
    "in a finally": "def solve(x):\n    try: return x\n    finally: F.layer_norm(x)",
    "in a match": "def solve(x):\n    match x:\n        case 1: return F.layer_norm(x)",
    "in a class pattern": "def solve(x):\n    match x:\n        case P(y=1): return F.layer_norm(x)",
    "under a name that only looks like a type checker's": "TYPE_CHECKING = x()\ndef solve(x):\n    if TYPE_CHECKING: F.layer_norm(x)",
    "under an attribute of that name": "def solve(x):\n    if C.TYPE_CHECKING: F.layer_norm(x)",
    "a flag that an exception binds": "A = 0\ntry: x()\nexcept E as A: pass\ndef solve(x):\n    if A: F.layer_norm(x)",
    "a flag that a pattern binds": "A = 0\nmatch x:\n    case [*A]: pass\ndef solve(x):\n    if A: F.layer_norm(x)",
    "a flag beside a star": "A = 0\nfrom m import *\ndef solve(x):\n    if A: F.layer_norm(x)",
    "a flag beside globals()": "A = 0\nglobals()['A'] = 1\ndef solve(x):\n    if A: F.layer_norm(x)",
    "a flag that is set on the module": "import sys\nA = 0\nsetattr(sys.modules[__name__], 'A', 1)\ndef solve(x):\n    if A: F.layer_norm(x)",
    "under with": "def solve(x):\n    with x: return F.layer_norm(x)",
}


@pytest.mark.parametrize("source", REACHED.values(), ids=REACHED)
def test_a_use_that_may_be_reached_is_one(source):
    assert (LAYER_NORM, True) in uses(source)


@pytest.mark.parametrize("source", UNREACHED.values(), ids=UNREACHED)
def test_a_use_in_code_that_is_never_reached_is_told_apart(source):
    assert uses(source) == [(LAYER_NORM, False)]


@pytest.mark.parametrize(
    "statement",
    [
        "F.layer_norm(1, (8,))",
        "expected = F.layer_norm(1, (8,))",
        "for x in range(3): F.layer_norm(x, (8,))",
        "check()",
        "done = check()",
        "Checks.run()",
        "if __name__ == '__main__': pass\nelse: check()",
    ],
)
def test_what_the_import_calls_is_reached(statement):
    source = (
        "def check(): F.layer_norm(1, (8,))\n"
        "class Checks:\n    @staticmethod\n    def run(): check()\ndef solve(x): return x\n" + statement
    )
    assert (LAYER_NORM, True) in uses(source)


NO_USES = {
    "an import": "from torch.nn.functional import layer_norm\ndef solve(x): return x",
    "a comment": "def solve(x): return x  # F.layer_norm(x)",
    "a docstring": 'def solve(x):\n    """like F.layer_norm(x)"""',
    "an annotation": "def solve(x, norm: nn.LayerNorm): return x",
    "an isinstance": "def solve(x): return isinstance(x, nn.LayerNorm)",
    "a static method": "def solve(x): return nn.Transformer.generate_square_subsequent_mask(5)",
    "an own function": "def layer_norm(x): return x\ndef solve(x): return layer_norm(x)",
    "an own function that replaces an import": (
        "from torch.nn.functional import layer_norm\ndef layer_norm(x): return x\ndef solve(x): return layer_norm(x)"
    ),
    "an own function in spite of a star": (
        "from torch.nn.functional import *\ndef layer_norm(x): return x\ndef solve(x): return layer_norm(x)"
    ),
    "an own class": "class LayerNorm: pass\ndef solve(x): return LayerNorm()",
    "an own method": "class A:\n    def layer_norm(self, x): return x\ndef solve(x): return A().layer_norm(x)",
    "a parameter": "from torch.nn.functional import layer_norm\ndef solve(x, layer_norm): return layer_norm(x)",
    "a local variable": (
        "from torch.nn.functional import layer_norm\ndef solve(x):\n    layer_norm = len\n    return layer_norm(x)"
    ),
    "a lambda's parameter": "from torch.nn.functional import layer_norm\nsolve = lambda layer_norm: layer_norm(1)",
    "a comprehension's target": (
        "from torch.nn.functional import layer_norm\ndef solve(x): return [layer_norm(x) for layer_norm in x]"
    ),
    "another module of this name": "from mine import functional as F\ndef solve(x): return F.layer_norm(x)",
    "a relative import": "from .torch.nn import functional as F\ndef solve(x): return F.layer_norm(x)",
    "a name of a class around": (
        "class A:\n    norm = nn.LayerNorm\n    def f(self): return norm(8)\ndef norm(x): return x\n"
        "def solve(x): return A()"
    ),
    "another function": "def solve(x): return F.normalize(x)",
}


@pytest.mark.parametrize("source", NO_USES.values(), ids=NO_USES)
def test_what_only_looks_like_a_use_is_none(source):
    assert uses(source) == []


def test_a_global_name_is_the_modules():
    source = """
        norm = len
        def setup():
            global norm
            norm = F.layer_norm
        def solve(x):
            setup()
            def inner():
                nonlocal x
                x = F.rms_norm(x)
            inner()
    """
    assert uses(source) == [("torch.nn.functional.rms_norm", True)]


@pytest.mark.parametrize(
    ("arguments", "found"),
    [("x, enable_gqa=True", 1), ("x, enable_gqa=False", 0), ("x", 0), ("x, enable_gqa=x", 0), ("x, is_causal=True", 0)],
)
def test_a_closed_keyword_closes_only_calls_with_it(arguments, found):
    source = f"def solve(x): return F.scaled_dot_product_attention({arguments})"
    name = "torch.nn.functional.scaled_dot_product_attention(enable_gqa=True)"
    assert uses(source) == [(name, True)] * found


def test_uses_come_with_their_lines_in_order_each_once():
    source = textwrap.dedent(
        """
        import torch.nn.functional as F
        def solve(x):
            y = F.rms_norm(x)
            return (F.layer_norm(x) + F.layer_norm(x)
                + F.layer_norm(x))
        def helper(x): return F.rms_norm(x)
        """
    )
    found = closed_uses(ast.parse(source), CLOSED, ["solve"])
    assert [(use.line, use.name.rpartition(".")[2], use.reached) for use in found] == [
        (4, "rms_norm", True),
        (5, "layer_norm", True),
        (6, "layer_norm", True),
        (7, "rms_norm", False),
    ]


def test_meanings_that_multiply_are_given_up_in_time():
    source = (
        "import torch\na = torch\n" + "a = a.nn if x else a.functional\n" * 500 + "def solve(x): return a.layer_norm(x)"
    )
    assert uses(source) == []


def test_a_file_that_is_made_to_take_for_ever_is_not_followed(monkeypatch):
    source = "def solve(x): return F.layer_norm(F.layer_norm(x, (3,)), (3,))"
    assert uses(source) == [(LAYER_NORM, True)]
    monkeypatch.setattr(meanings, "_MOST_STEPS", 0)
    assert uses(source) == []
