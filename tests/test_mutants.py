import ast
import textwrap

import pytest
from wording import assert_reads_well

from judge.edits import Edit
from judge.errors import ProblemError
from judge.mutants import compose, load_mutants, mutate

REFERENCE = '''\
"""The model answer."""
import torch


def norm(x, gamma, eps=1e-5):
    # Ünicode before a place must not move it: ä ö ü
    mean = x.mean(-1, keepdim=True)  # (..., 1)
    if x.dim() < 1:  # a colon: in a comment
        raise ValueError(f"{x.dim():d}")
    elif eps <= 0: raise ValueError("ö", eps); x = x
    spread = torch.rsqrt(
        x.var(-1, correction=0, keepdim=True)
        + eps
    )
    return (x - mean) * spread * gamma


class Block(torch.nn.Module):
    @torch.no_grad()
    def forward(self, x, *, scale: dict[str, int] = {"a": 1}):
        for part in self.parts:
            x = x + part(x)
        return x


class Other(torch.nn.Module):
    def forward(self, x):
        for part in self.parts:
            x = x + part(x)
        x = x + 0
        x = x + 0
        return x
'''

MUTANT = """\
[eps_outside]
before = "mean = x.mean(-1, keepdim=True)"
after = "mean = 0"
kills = ["tiny_inputs"]
what = "does not centre"
idea = "the mean goes first"
"""


@pytest.fixture
def load(tmp_path):
    folder = tmp_path / "problems" / "layer-norm"
    (folder / "hidden").mkdir(parents=True)

    def load(toml, reference=REFERENCE):
        (folder / "hidden" / "reference.py").write_text(reference, encoding="utf-8")
        (folder / "hidden" / "mutants.toml").write_text(toml, encoding="utf-8")
        return load_mutants(folder)

    return load


def edited(before, after, within=None):
    """The lines of the reference that the edit takes out, and those that it puts in."""
    old = REFERENCE.splitlines()
    new = mutate(REFERENCE, [Edit(before, after, within)]).splitlines()
    start = next(i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b)
    end = next(i for i, (a, b) in enumerate(zip(old[::-1], new[::-1], strict=False)) if a != b)
    return old[start : len(old) - end], new[start : len(new) - end]


def test_a_statement_is_found_as_a_tree_and_other_lines_keep_their_text():
    before = "spread = torch.rsqrt(x.var(-1, correction=0,\n  keepdim=True) + eps)  # any comment"
    old, new = edited(before, "spread = 1")
    assert old == REFERENCE.splitlines()[10:14]
    assert new == ["    spread = 1"]


def test_a_comment_behind_the_statement_stays():
    assert edited("mean = x.mean(-1, keepdim=True)", "mean = 0")[1] == ["    mean = 0  # (..., 1)"]


def test_one_statement_may_become_several_with_the_indentation_of_its_place():
    after = """
        if x.dim() > 2:
            mean = 0
        else:
            mean = 1
    """
    assert edited("mean = x.mean(-1, keepdim=True)", after)[1] == [
        "    if x.dim() > 2:",
        "        mean = 0",
        "    else:",
        "        mean = 1  # (..., 1)",
    ]


@pytest.mark.parametrize("after", ["", "  \n", "# nothing"])
def test_a_deleted_statement_leaves_pass(after):
    assert edited("mean = x.mean(-1, keepdim=True)", after)[1] == ["    pass  # (..., 1)"]


@pytest.mark.parametrize(
    ("before", "after", "new"),
    [
        ("if x.dim() < 1:", "if x.dim() < 2:", ["    if x.dim() < 2:  # a colon: in a comment"]),
        ("if x.dim() < (1):  # else", "while True:", None),
        ("elif eps<=0:", "elif eps < 0:", ['    elif eps < 0: raise ValueError("ö", eps); x = x']),
        ("def norm(x, gamma, eps=1e-5):", "def norm(x, gamma, eps=1e-6):", ["def norm(x, gamma, eps=1e-6):"]),
        ("class Block(torch.nn.Module):", "class Block:", ["class Block:"]),
        (
            "def forward(self, x, *, scale: dict[str, int] = {'a': 1}):",
            "def forward(self, x):",
            ["    def forward(self, x):"],
        ),
    ],
)
def test_a_header_is_replaced_and_its_body_stays(before, after, new):
    if new is None:
        with pytest.raises(ProblemError, match="does not parse"):
            edited(before, after)
    else:
        assert edited(before, after)[1] == new


def test_a_statement_beside_others_on_its_line_is_replaced_alone():
    assert edited("raise ValueError('ö', eps)", "return 'ä'")[1] == ["    elif eps <= 0: return 'ä'; x = x"]


def test_a_statement_that_stands_twice_is_chosen_by_within():
    old, new = edited("x = x + part(x)", "x = part(x)", "Other.forward")
    assert mutate(REFERENCE, [Edit("x = x + part(x)", "x = part(x)", "Other")]).splitlines()[28] == new[0]
    assert edited("for part in self.parts:", "for part in self.parts[1:]:", "Block.forward")[1] == [
        "        for part in self.parts[1:]:"
    ]
    assert edited("def forward(self, x):", "def forward(self, y):", "Other")[1] == ["    def forward(self, y):"]


def test_within_prefers_the_function_itself_to_those_inside_of_it():
    source = "def f():\n    x = 1\n    def g():\n        x = 1\n"
    assert mutate(source, [Edit("x = 1", "x = 2", "f")]) == "def f():\n    x = 2\n    def g():\n        x = 1\n"


def test_mutants_are_loaded_in_order_with_their_sources(load):
    second = """
[twice]
kills = ["one", "two"]
what = "two\\n  things"
idea = "b"
[[twice.edits]]
before = "return x"
after = "return -x"
within = "Block.forward"
[[twice.edits]]
before = "x = x + part(x)"
after = ""
within = "Other"
"""
    first, twice = load(MUTANT + second)
    assert (first.name, first.what, first.idea, first.kills) == (
        "eps_outside",
        "does not centre",
        "the mean goes first",
        ("tiny_inputs",),
    )
    assert "mean = 0  # (..., 1)" in first.source
    assert (twice.what, twice.kills, len(twice.edits)) == ("two things", ("one", "two"), 2)
    assert twice.source.count("return -x") == 1
    assert twice.source.count("pass") == 1
    for mutant in (first, twice):
        assert ast.dump(ast.parse(mutant.source)) != ast.dump(ast.parse(REFERENCE))


def test_two_mutants_compose_unless_they_touch_the_same_statement(load):
    def toml(name, before, after):
        return f'[{name}]\nbefore = "{before}"\nafter = "{after}"\nkills = ["c"]\nwhat = "w"\nidea = "i"\n'

    mean, spread, header = load(
        toml("mean", "mean = x.mean(-1, keepdim=True)", "mean = 0")
        + toml("spread", "mean = x.mean(-1, keepdim=True)", "mean = 1")
        + toml("header", "if x.dim() < 1:", "if x.dim() < 9:")
    )
    both = compose(REFERENCE, mean, header)
    assert both is not None
    assert both == compose(REFERENCE, header, mean)
    assert "mean = 0" in both
    assert "< 9" in both
    assert compose(REFERENCE, mean, spread) is None
    assert compose(REFERENCE, mean, mean) is None


def change(key, value):
    lines = [line for line in MUTANT.splitlines() if not line.startswith(f"{key} =")]
    return "\n".join(lines + ([] if value is None else [f"{key} = {value}"])) + "\n"


EDITS = textwrap.dedent(
    """
    [eps_outside]
    kills = ["c"]
    what = "w"
    idea = "i"
    [[eps_outside.edits]]
    before = "mean = x.mean(-1, keepdim=True)"
    after = "mean = 0"
    """
)

BROKEN = {
    "an unknown key": (MUTANT + 'kill = "x"\n', ["unknown key 'kill'", "did you mean kills?"]),
    "no before": (change("before", None), ["before is missing"]),
    "an empty before": (change("before", '""'), ["before = ''"]),
    "no after": (change("after", None), ["after is missing", '""']),
    "a number as after": (change("after", "3"), ["after = 3"]),
    "no kills": (change("kills", None), ["kills is missing"]),
    "empty kills": (change("kills", "[]"), ["kills = []", "name the cases"]),
    "a text as kills": (change("kills", '"tiny"'), ["kills = 'tiny'", "name the cases"]),
    "a case killed twice": (change("kills", '["a", "a"]'), ["'a' twice"]),
    "no what": (change("what", None), ["what is missing"]),
    "an empty what": (change("what", '" "'), ["what = ' '", "say what the bug does"]),
    "an empty idea": (change("idea", '""'), ["idea = ''", "sentence"]),
    "a value outside of a mutant": ('what = "a"\n' + MUTANT, ["what = 'a'", "[its_name]"]),
    "before that is nowhere": (change("before", '"mean = x.mean(1, keepdim=True)"'), ["no statement", "line 7 is"]),
    "before like nothing at all": (change("before", '"zzz()"'), ["before = 'zzz()'", "no statement", "copy"]),
    "before twice": (change("before", '"return x"'), ["before = 'return x'", "2 times", "(Block.forward)", "within"]),
    "before twice in one function": (change("before", '"x = x + 0"'), ["2 times", "line 30 (Other.forward)", "differ"]),
    "before that is two statements": (change("before", '"a = 1; b = 2"'), ["is 2 statements", "exactly one"]),
    "before that is no python": (change("before", '"mean ="'), ["before = 'mean ='", "neither one simple statement"]),
    "before with its body": (change("before", '"if x.dim() < 1: pass"'), ["with its body", "the header alone"]),
    "before with another header": (change("before", '"if x:\\n    pass\\nelse:"'), ["not exactly one header"]),
    "before of two headers": (change("before", '"if x:\\n  if y:"'), ["neither one simple statement"]),
    "before that is a try": (change("before", '"try:"'), ["before = 'try:'", "neither one simple statement"]),
    "before with decorators": (change("before", '"@torch.no_grad()\\ndef f():"'), ["has decorators", "leave them out"]),
    "within that names nothing": (MUTANT + 'within = "nrm"\n', ["within = 'nrm'", "did you mean norm?"]),
    "within that is elsewhere": (MUTANT + 'within = "Block"\n', ["does not stand in 'Block'", "line 7 (norm)"]),
    "within that is empty": (MUTANT + 'within = ""\n', ["within = ''", "Class.method"]),
    "after that is no python": (change("after", '"mean = ("'), ["after = 'mean = ('", "does not parse", "line 1"]),
    "after that changes nothing": (change("after", '"mean = x.mean( -1, keepdim=True)"'), ["after = ", "same code"]),
    "a header for a statement": (change("after", '"if x:"'), ["after = 'if x:'", "does not parse"]),
    "a statement for a header": (change("before", '"if x.dim() < 1:"'), ["after = 'mean = 0'", "replaced by a header"]),
    "nothing for a header": (
        change("before", '"if x.dim() < 1:"').replace('"mean = 0"', '""'),
        ["after = ''", "replaced by a header"],
    ),
    "an if for an elif": (
        change("before", '"elif eps <= 0:"').replace('"mean = 0"', '"if eps:"'),
        ["after = 'if eps:'", "header of its kind"],
    ),
    "a result that does not parse": (
        change("before", '"if x.dim() < 1:"').replace('"mean = 0"', '"with x:"'),
        ["after = 'with x:'", "the result does not parse", "line 10"],
    ),
    "several for one on a shared line": (
        change("before", '"x = x"').replace('"mean = 0"', '"a = 1; b = 2"'),
        ["after = 'a = 1; b = 2'", "shares its line"],
    ),
    "a comment on a shared line": (
        change("before", '"""raise ValueError("ö", eps)"""').replace('"mean = 0"', '"x  # why"'),
        ["shares its line"],
    ),
    "one edit as a list": (EDITS, ["edits has 1 table;", "two to four"]),
    "five edits": (EDITS + EDITS[EDITS.index("[[") :] * 4, ["edits has 5 tables"]),
    "edits as a text": (EDITS[: EDITS.index("[[")] + 'edits = "x"\n', ["edits = 'x'", "[[its_name.edits]]"]),
    "edits beside before": (EDITS.replace("[[", 'before = "x"\n[[', 1), ["unknown key 'before'"]),
    "an unknown key of an edit": (EDITS + 'what = "x"\n' + EDITS[EDITS.index("[[") :], ["edits 1: unknown key 'what'"]),
    "two edits of one statement": (EDITS + EDITS[EDITS.index("[[") :], ["before = 'mean =", "same statement"]),
}


@pytest.mark.parametrize(("toml", "said"), BROKEN.values(), ids=BROKEN)
def test_a_mistake_in_mutants_toml_is_told_with_mutant_key_value_and_advice(load, toml, said):
    with pytest.raises(ProblemError) as caught:
        load(toml)
    message = str(caught.value)
    assert message.startswith("problems/layer-norm/hidden/mutants.toml: ")
    assert "eps_outside: " in message or "what: " in message or "what = 'a'" in message
    for words in said:
        assert words in message
    assert_reads_well(message)


def test_a_syntax_error_in_mutants_toml_is_told_with_its_line(load):
    with pytest.raises(ProblemError, match=r"mutants\.toml: line 2, column 10: ") as caught:
        load("[a]\nbefore = \n")
    assert_reads_well(str(caught.value))


def test_a_reference_that_does_not_parse_is_named(load):
    with pytest.raises(ProblemError, match=r"hidden/reference\.py: line 1: does not parse") as caught:
        load(MUTANT, "def f(:\n")
    assert_reads_well(str(caught.value))


def test_a_mutant_that_is_told_nothing_of_its_file_still_names_key_and_value():
    with pytest.raises(ProblemError, match="before = 'y = 1'"):
        mutate("x = 1\n", [Edit("y = 1", "z = 1")])
