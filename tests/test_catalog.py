import pytest
from wording import assert_reads_well

from judge.catalog import PROBLEMS, find_problem, load_problem, load_problems, problem_ids
from judge.closed import GROUPS
from judge.errors import ProblemError, UsageError
from judge.models import EntryPoint, Limits

TOML = """\
format = 1
title = "Layer normalization"
track = 1
unit = "3.3"
difficulty = "easy"
closed = ["norms"]

[entry_points]
layer_norm_forward = "(x, gamma, beta, eps=1e-5)"
"""
STATEMENT = """\
# Layer normalization

Write it.

## Hints

### Symptom
The rows are off.

### Area
Look at the statistics.

### Idea
Which axis does the mean go over?
"""
STUB = """\
def layer_norm_forward(x, gamma, beta, eps=1e-5):
    raise NotImplementedError
"""


def make(problems, name="layer-norm", toml=TOML, statement=STATEMENT, stub=STUB):
    folder = problems / name
    (folder / "hidden").mkdir(parents=True)
    files = {"problem.toml": toml, "statement.md": statement, "stub.py": stub, "cases.py": ""}
    for file, text in {**files, "hidden/reference.py": "", "hidden/mutants.toml": ""}.items():
        (folder / file).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def problems(tmp_path):
    folder = tmp_path / "problems"
    folder.mkdir()
    return folder


def test_a_complete_folder_is_loaded_as_it_stands(problems):
    toml = TOML + (
        'MOVED = "constant"\n[entry_points.Block]\nconstructor = "(d, p=0.0)"\nforward = "(x)"\n'
        '[limits]\ncall_seconds = 2\n[stream]\nlabels = ["pre", "post"]\n'
    )
    stub = STUB + "MOVED = ()\nclass Block:\n    def __init__(self, d, p=0.0): ...\n    def forward(self, x): ...\n"
    folder = make(problems, toml=toml, stub=stub)
    problem = load_problem("layer-norm", problems)
    assert problem.id == "layer-norm"
    assert problem.folder == folder
    assert problem.closed == GROUPS["norms"]
    assert problem.limits == Limits(call_seconds=2)
    assert problem.stream.labels == ("pre", "post")
    assert (problem.points, problem.inputs_shown, problem.oracle) == (10, True, None)
    assert problem.entry_points == (
        EntryPoint(name="layer_norm_forward", kind="function", signatures={"": "(x, gamma, beta, eps=1e-5)"}),
        EntryPoint(name="MOVED", kind="constant"),
        EntryPoint(name="Block", kind="class", signatures={"__init__": "(d, p=0.0)", "forward": "(x)"}),
    )


def test_hints_are_no_part_of_the_statement(problems):
    make(problems)
    problem = load_problem("layer-norm", problems)
    assert problem.statement == "# Layer normalization\n\nWrite it.\n"
    assert problem.hints == (
        "The rows are off.",
        "Look at the statistics.",
        "Which axis does the mean go over?",
    )


def test_a_heading_inside_of_fenced_code_is_no_heading(problems):
    make(problems, statement="```\n## Hints\n```\n" + STATEMENT)
    assert load_problem("layer-norm", problems).statement.startswith("```\n## Hints\n```\n# Layer")


def test_problems_are_ordered_by_track_then_by_what_they_need_then_by_name(problems):
    def toml(track, *needs):
        return TOML.replace("track = 1", f"track = {track}\nprerequisites = {list(needs)}")

    make(problems, "zeta", toml(1))
    make(problems, "alpha", toml(2, "zeta"))
    make(problems, "beta", toml(1, "zeta"))
    make(problems, "gamma", toml(1))
    (problems / "notes").mkdir()
    (problems / "__init__.py").write_text("")
    assert problem_ids(problems) == ["gamma", "zeta", "beta", "alpha"]
    assert [problem.id for problem in load_problems(problems)] == problem_ids(problems)


def test_prerequisites_in_a_circle_are_refused(problems):
    make(problems, "one", TOML.replace("track = 1", 'track = 1\nprerequisites = ["two"]'))
    make(problems, "two", TOML.replace("track = 1", 'track = 1\nprerequisites = ["one"]'))
    with pytest.raises(ProblemError, match="one needs two needs one") as caught:
        load_problems(problems)
    assert_reads_well(str(caught.value))


def test_a_problem_is_found_by_its_exact_id(problems):
    make(problems)
    assert find_problem("layer-norm", problems).title == "Layer normalization"


@pytest.mark.parametrize(
    ("text", "said"),
    [("layer-nrom", "did you mean layer-norm?"), ("", "judge list"), ("../../elsewhere", "judge list")],
)
def test_an_unknown_id_is_answered_with_what_may_be_meant(problems, text, said):
    make(problems)
    with pytest.raises(UsageError, match="there is no problem") as caught:
        find_problem(text, problems)
    assert repr(text) in str(caught.value)
    assert said in str(caught.value)
    assert_reads_well(str(caught.value))


def test_one_broken_problem_leaves_the_others_to_be_found(problems):
    make(problems)
    make(problems, "broken", toml="format = ")
    assert find_problem("layer-norm", problems).id == "layer-norm"
    with pytest.raises(ProblemError, match="broken/problem.toml"):
        load_problems(problems)


def test_the_problems_of_the_package_lie_beside_it():
    assert (PROBLEMS.name, (PROBLEMS.parent / "judge" / "catalog.py").is_file()) == ("problems", True)


BROKEN_TOML = {
    "a syntax error": ('unit = "3.3"', "unit = 3.3.", ["line 4, column"]),
    "a missing key": ("track = 1\n", "", ["track is missing", "track = 1"]),
    "an unknown key": ("track = 1", "track = 1\npoint = 3", ["unknown key 'point'", "did you mean points?"]),
    "an unknown limit": ("[entry", "[limits]\ncall = 5\n[entry", ["limits: unknown key 'call'", "call_seconds"]),
    "another format": ("format = 1", "format = 2", ["format = 2", "format = 1"]),
    "a text for a number": ("track = 1", 'track = "1"', ["track = '1'", "a whole number", "track = 1"]),
    "a number for a text": ('unit = "3.3"', "unit = 3.3", ["unit = 3.3", "a text in quotes", 'unit = "3.3"']),
    "a number for a truth": ("track = 1", "track = 1\ninputs_shown = 1", ["inputs_shown = 1", "true or false"]),
    "a truth for a number": ("track = 1", "track = 1\npoints = true", ["points = True", "a whole number"]),
    "a text for a list": ('closed = ["norms"]', 'closed = "norms"', ["closed = 'norms'", "a list", '["norms"]']),
    "a number in a list": ('closed = ["norms"]', "closed = [3]", ["closed = 3", "a text in quotes"]),
    "a number for a table": ("track = 1", "track = 1\nlimits = 5", ["limits = 5", "a table", "call_seconds"]),
    "a track of zero": ("track = 1", "track = 0", ["track = 0", "at least 1"]),
    "no points": ("track = 1", "track = 1\npoints = 0", ["points = 0", "above 0"]),
    "a limit of zero": ("[entry", "[limits]\ncall_seconds = 0\n[entry", ["limits.call_seconds = 0", "above 0"]),
    "a text as a limit": (
        "[entry",
        '[limits]\nmemory_mib = "1"\n[entry',
        ["limits.memory_mib = '1'", "a whole number"],
    ),
    "an unknown difficulty": ('"easy"', '"simple"', ["difficulty = 'simple'", "easy"]),
    "an empty title": ('"Layer normalization"', '" "', ["title = ' '", "empty"]),
    "an unknown group": ('"norms"', '"norm"', ["closed", "'norm'", "did you mean norms?", "fused-attention"]),
    "a name without torch": ('"norms"', '"F.layer_norm"', ["closed", "'F.layer_norm'", "torch.nn.functional.gelu"]),
    "a missing prerequisite": ("track = 1", 'track = 1\nprerequisites = ["layer-nrm"]', ["'layer-nrm'", "layer-norm?"]),
    "itself as prerequisite": ("track = 1", 'track = 1\nprerequisites = ["layer-norm"]', ["'layer-norm'", "itself"]),
    "an oracle elsewhere": (
        "track = 1",
        'track = 1\noracle = "judge.norms"',
        ["oracle = 'judge.norms'", "reference.norms"],
    ),
    "an oracle that is missing": (
        "track = 1",
        'track = 1\noracle = "reference.x_y"',
        ["'reference.x_y'", "does not exist"],
    ),
    "no entry points": ('layer_norm_forward = "(x, gamma, beta, eps=1e-5)"\n', "", ["entry_points = {}", "layer_norm"]),
    "entry points as a text": (TOML[TOML.index("[entry") :], 'entry_points = "f"\n', ["entry_points = 'f'"]),
    "a signature without brackets": (
        "(x, gamma, beta, eps=1e-5)",
        "x, gamma",
        ["layer_norm_forward", "'x, gamma'", "(x,"],
    ),
    "a signature that does more": ("(x, gamma, beta, eps=1e-5)", "(x): pass\\ndef g()", ["more than a parameter list"]),
    "a signature that returns": ("(x, gamma, beta, eps=1e-5)", "(x) -> int", ["'(x) -> int'", "parameter list"]),
    "a signature with self": ("(x, gamma, beta, eps=1e-5)", "(self, x)", ["'(self, x)'", "leave it out"]),
    "an entry point as a number": ('"(x, gamma, beta, eps=1e-5)"', "3", ["layer_norm_forward = 3", "constant"]),
    "a name that is no name": ("layer_norm_forward =", "layer-norm =", ["entry_points: layer-norm", "no name"]),
    "a class without constructor": (
        "[entry_points]",
        '[entry_points.Block]\nforward = "(x)"\n[entry_points]',
        ["Block: constructor is missing"],
    ),
    "a method as a number": (
        "[entry_points]",
        '[entry_points.Block]\nconstructor = "()"\nforward = 3\n[entry_points]',
        ["Block: forward = 3", '"(x, mask=None)"'],
    ),
    "a method without a name": (
        "[entry_points]",
        '[entry_points.Block]\nconstructor = "()"\n"for ward" = "()"\n[entry_points]',
        ["Block: 'for ward' is no name"],
    ),
    "a stream without labels": ("[entry", "[stream]\n[entry", ["stream.labels is missing", "labels ="]),
    "a stream of equal labels": ("[entry", '[stream]\nlabels = ["a", "a"]\n[entry', ["stream.labels = ['a', 'a']"]),
    "an unknown key of the stream": ("[entry", '[stream]\nlabel = ["a"]\n[entry', ["stream: unknown key 'label'"]),
}


@pytest.mark.parametrize(("old", "new", "said"), BROKEN_TOML.values(), ids=BROKEN_TOML)
def test_a_mistake_in_problem_toml_is_told_with_key_value_and_advice(problems, old, new, said):
    assert TOML.count(old) == 1
    make(problems, toml=TOML.replace(old, new))
    with pytest.raises(ProblemError) as caught:
        load_problem("layer-norm", problems)
    message = str(caught.value)
    assert message.startswith("problems/layer-norm/problem.toml: ")
    for words in said:
        assert words in message
    assert_reads_well(message)


BROKEN_STATEMENTS = {
    "no hints": (STATEMENT[STATEMENT.index("## Hints") :], "", ["0 sections '## Hints'"]),
    "hints twice": ("## Hints", "## Hints\n## Hints", ["2 sections '## Hints'"]),
    "a stage missing": ("### Area\nLook at the statistics.\n", "", ["Symptom, Idea", "'### Area'"]),
    "stages in another order": ("### Symptom", "### Idea", ["Idea, Area, Idea", "in this order"]),
    "an empty stage": ("Look at the statistics.", "", ["'### Area' is empty"]),
    "a section after the hints": ("### Idea", "## Sources\n### Idea", ["line 13", "'Sources'", "to the end"]),
    "nothing before the hints": (STATEMENT[: STATEMENT.index("## Hints")], "", ["nothing stands before"]),
}


@pytest.mark.parametrize(("old", "new", "said"), BROKEN_STATEMENTS.values(), ids=BROKEN_STATEMENTS)
def test_a_mistake_in_statement_md_is_told(problems, old, new, said):
    make(problems, statement=STATEMENT.replace(old, new, 1))
    with pytest.raises(ProblemError) as caught:
        load_problem("layer-norm", problems)
    assert str(caught.value).startswith("problems/layer-norm/statement.md: ")
    for words in said:
        assert words in str(caught.value)
    assert_reads_well(str(caught.value))


@pytest.mark.parametrize(
    "name", ["problem.toml", "statement.md", "stub.py", "cases.py", "hidden/reference.py", "hidden/mutants.toml"]
)
def test_a_missing_file_is_named(problems, name):
    (make(problems) / name).unlink()
    with pytest.raises(ProblemError, match=f"problems/layer-norm/{name}: the file is missing") as caught:
        load_problem("layer-norm", problems, thorough=False)
    assert_reads_well(str(caught.value))


def test_a_file_in_another_encoding_is_named(problems):
    (make(problems) / "statement.md").write_bytes("# Schöner Titel".encode("latin-1"))
    with pytest.raises(ProblemError, match=r"statement\.md: byte 6 is not utf-8") as caught:
        load_problem("layer-norm", problems)
    assert_reads_well(str(caught.value))


@pytest.mark.parametrize("name", ["Layer-Norm", "layer_norm", "layer--norm", "-layer", "schön"])
def test_a_folder_whose_name_is_no_id_is_refused(problems, name):
    make(problems, name)
    with pytest.raises(ProblemError, match="is no id") as caught:
        load_problem(name, problems)
    assert repr(name) in str(caught.value)
    assert_reads_well(str(caught.value))


@pytest.mark.parametrize(
    ("stub", "said"),
    [
        ("def layer_norm_forward(x:\n", "line 1: does not parse"),
        ("def layer_norm(x): ...\n", "does not define layer_norm_forward"),
        ("def layer_norm_forward(x, gamma): ...\n", "line 1: layer_norm_forward takes (x, gamma)"),
    ],
)
def test_a_stub_that_is_no_start_is_refused_by_the_thorough_load_alone(problems, stub, said):
    make(problems, stub=stub)
    assert load_problem("layer-norm", problems, thorough=False).id == "layer-norm"
    with pytest.raises(ProblemError) as caught:
        load_problem("layer-norm", problems)
    assert str(caught.value).startswith("problems/layer-norm/stub.py: ")
    assert said in str(caught.value)
    assert_reads_well(str(caught.value))


def test_a_folder_of_problems_that_is_missing_is_named(tmp_path):
    with pytest.raises(ProblemError, match="nowhere") as caught:
        load_problems(tmp_path / "nowhere")
    assert_reads_well(str(caught.value))
