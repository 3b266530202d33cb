import os
import socket
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from wording import assert_reads_well

from judge.closed import expand
from judge.errors import SubmissionError, UsageError
from judge.models import EntryPoint, Problem
from judge.submission import MOST_BYTES, read_submission

RIGHT = "import torch\ndef solve(x, y=None):\n    return x\n"


def problem(*entry_points, closed=("norms",)):
    function = EntryPoint(name="solve", kind="function", signatures={"": "(x, y=None)"})
    return Problem(
        id="tiny",
        folder=Path("problems/tiny"),
        title="Tiny",
        track=1,
        unit="1.1",
        difficulty="easy",
        entry_points=entry_points or (function,),
        closed=expand(closed),
        statement="",
        hints=("a", "b", "c"),
    )


BLOCK = EntryPoint(name="Block", kind="class", signatures={"__init__": "(d, p=0.0)", "forward": "(x, mask=None)"})
MOVED = EntryPoint(name="MOVED", kind="constant")


@pytest.fixture
def read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def read(source, *entry_points, name="tiny.py"):
        Path(name).write_bytes(source if isinstance(source, bytes) else source.encode())
        return read_submission(Path(name), problem(*entry_points))

    return read


@pytest.fixture
def refuse(read):
    def refuse(source, *entry_points):
        with pytest.raises(SubmissionError) as caught:
            read(source, *entry_points)
        error = caught.value
        assert str(error).startswith("tiny.py: ")
        assert_reads_well(str(error))
        if error.line is not None:
            assert f"line {error.line}: " in str(error)
        return error

    return refuse


# What a file may look like.


@pytest.mark.parametrize(
    "source",
    [
        RIGHT.encode(),
        b"\xef\xbb\xbf" + RIGHT.encode(),
        RIGHT.replace("\n", "\r\n").encode(),
        b"# -*- coding: utf-8 -*-\n" + RIGHT.encode(),
        b"#!/usr/bin/env python\n# vim: set fileencoding=UTF8 :\n" + RIGHT.encode(),
        b"x = 1\n# coding: latin-1\n" + RIGHT.encode(),
        b"# coding: utf-8-sig\n" + RIGHT.encode(),
        "# ein schöner Kommentar\n".encode() + RIGHT.encode(),
        RIGHT.encode() + b"#" * (MOST_BYTES - len(RIGHT)),
        b"\n\x0c\n" + RIGHT.encode(),
    ],
)
def test_a_python_file_in_utf_8_is_read_byte_for_byte(read, source):
    submission = read(source)
    assert submission.source == source
    assert submission.path == Path("tiny.py")
    assert (submission.remarks, submission.closed_uses) == ((), ())


def test_a_link_to_a_file_is_followed(read):
    Path("real.py").write_text(RIGHT)
    Path("link.py").symlink_to("real.py")
    assert read_submission(Path("link.py"), problem()).source == RIGHT.encode()


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (b"", "is empty; judge show tiny"),
        (b"\n  \n\t\n", "is empty"),
        (b"\xef\xbb\xbf", "is empty"),
        (b"#" * (MOST_BYTES + 1), "larger than 256 KiB"),
        (b"#" * 2_000_000, "larger than 256 KiB"),
        (b"\x7fELF\0\0", "is no text, as byte 5 is 0"),
        (RIGHT.encode("utf-16"), "encoded as utf-16"),
        ("# schön\n".encode("latin-1"), "line 1: byte 0xf6 is not utf-8"),
        (b"x = 1\n\n\xff\n", "line 3: byte 0xff is not utf-8"),
        (b"# coding: latin-1\n" + RIGHT.encode(), "line 1: the coding latin-1 is not utf-8"),
        (b"\n# -*- coding: unicode_escape -*-\n", "line 2: the coding unicode_escape is not utf-8"),
        (b"\r# coding=utf-16\r", "line 2: the coding utf-16 is not utf-8"),
    ],
)
def test_a_file_that_is_no_text_in_utf_8_is_refused(refuse, source, said):
    assert said in str(refuse(source))


def test_a_folder_is_refused(refuse, tmp_path):
    with pytest.raises(SubmissionError, match="is a folder; name a python file in it") as caught:
        read_submission(tmp_path, problem())
    assert_reads_well(str(caught.value))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_refused_without_waiting_for_a_writer(tmp_path):
    os.mkfifo(tmp_path / "pipe.py")
    with pytest.raises(SubmissionError, match=r"pipe\.py: is a pipe"):
        read_submission(tmp_path / "pipe.py", problem())


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="this system has no such device")
def test_an_endless_device_is_refused():
    with pytest.raises(SubmissionError, match="/dev/zero: is a device"):
        read_submission(Path("/dev/zero"), problem())


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="this system has no such sockets")
def test_a_socket_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket.py")
        with pytest.raises(SubmissionError, match=r"socket\.py: is a socket"):
            read_submission(Path("socket.py"), problem())


def test_a_link_that_leads_to_itself_is_refused(tmp_path):
    (tmp_path / "a.py").symlink_to("b.py")
    (tmp_path / "b.py").symlink_to("a.py")
    with pytest.raises(SubmissionError, match="leads back to itself"):
        read_submission(tmp_path / "a.py", problem())


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may read everything")
def test_a_file_that_may_not_be_read_is_refused(tmp_path):
    (tmp_path / "mine.py").write_text(RIGHT)
    (tmp_path / "mine.py").chmod(0)
    with pytest.raises(SubmissionError, match=r"mine\.py: can't be read \(Permission denied\)"):
        read_submission(tmp_path / "mine.py", problem())


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("layer-nrom.py", r"layer-nrom\.py: there is no such file; did you mean layer-norm\.py\?"),
        ("gated-mpl.py", r"did you mean submissions/gated-mlp\.py\?"),
        ("zzz.py", r"^zzz\.py: there is no such file; name a file that is there$"),
        ("nowhere/zzz.py", "there is no folder nowhere; name a file that is there"),
        ("submisions/gated-mlp.py", r"there is no folder submisions; did you mean submissions/gated-mlp\.py\?$"),
        ("gated-mlp", r"did you mean submissions/gated-mlp\.py\?$"),
        ("layer-norm.pyx", r"did you mean layer-norm\.py\?$"),
        ("layer-norm.py/x.py", "there is no such file"),
        ("x" * 5000, "there is no such file"),
        ("nul\0.py", "is no path"),
    ],
)
def test_a_missing_file_is_answered_with_what_may_be_meant(tmp_path, monkeypatch, name, said):
    monkeypatch.chdir(tmp_path)
    Path("submissions").mkdir()
    for file in ("layer-norm.py", "layer-norm.txt", "submissions/gated-mlp.py"):
        Path(file).write_text(RIGHT)
    with pytest.raises(UsageError, match=said) as caught:
        read_submission(Path(name), problem())
    assert_reads_well(str(caught.value))


def test_a_link_that_leads_nowhere_says_where_it_leads(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("layer-norm.py").symlink_to("gone.py")
    with pytest.raises(UsageError, match=r"^layer-norm\.py: is a link to gone\.py, which is not there; ") as caught:
        read_submission(Path("layer-norm.py"), problem())
    assert_reads_well(str(caught.value))
    with pytest.raises(UsageError, match="name a file that is there"):  # a link that leads nowhere is not offered
        read_submission(Path("layer-nrom.py"), problem())


# Syntax.


@pytest.mark.parametrize(
    ("source", "line", "column", "text"),
    [
        ("def solve(x):\n    return (x\n", 2, 12, "    return (x"),
        ("x = 1\r\ny = = 2\r\n", 2, 5, "y = = 2"),
        ("def solve(x):\nreturn x\n", 2, 1, "return x"),
        ("def solve(x):\n\tif 1:\n        return x\n", 3, None, "        return x"),
        ("s = 'ä' 'ö' 5\n", 1, None, "s = 'ä' 'ö' 5"),
        ("return 1\n", 1, 1, "return 1"),
        ("class A:\n    x = 1; return x\n", 2, 12, "    x = 1; return x"),
        ("if 1:\n    print(lambda: (yield), (yield))\n", 2, 29, "    print(lambda: (yield), (yield))"),
        ("x = 'äöü'; return x\n", 1, 12, "x = 'äöü'; return x"),
        ("for a in b: pass\nelse:\n    break\n", 3, 5, "    break"),
        ("while a:\n    def f(): continue\n", 2, 14, "    def f(): continue"),
        ("x = await y\n", 1, 5, "x = await y"),
        ("print 'hello'\n", 1, 1, "print 'hello'"),
        ("x = " + "9" * 5000 + "\n", 1, None, None),
        ("x = " + "(" * 100_000, 1, None, None),
    ],
)
def test_a_syntax_error_is_told_with_line_column_and_text(refuse, source, line, column, text):
    error = refuse(source)
    assert error.line == line
    assert column is None or error.column == column
    assert text is None or error.text == text


@pytest.mark.parametrize(
    "expression",
    ["-" * 100_000 + "1", "1+" * 100_000 + "1", "a" + ".b" * 100_000, "not " * 60_000 + "1", "lambda:" * 30_000 + "0"],
)
def test_code_that_is_nested_too_deeply_is_refused(refuse, expression):
    assert "nested too deeply" in str(refuse(f"{RIGHT}x = {expression}\n"))


@pytest.mark.parametrize("depth", range(500, 4000, 500))
def test_an_answer_that_is_nested_is_read_or_refused_in_words(tmp_path, depth):
    path = tmp_path / "answers.py"
    path.write_text(f"A = {'--' * (depth // 2)}3\n", encoding="utf-8")
    answers = problem().model_copy(update={"kind": "answers"})
    try:
        found = str(read_submission(path, answers).answers)
    except SubmissionError as error:
        found = str(error)
    assert found == "{'A': 3}" or "nested too deeply" in found


def test_the_line_of_a_refused_answer_is_pythons(tmp_path):
    path = tmp_path / "answers.py"
    path.write_text("A = '\x0c\x1c\u2028'\nB = open\n", encoding="utf-8")
    with pytest.raises(SubmissionError) as caught:
        read_submission(path, problem().model_copy(update={"kind": "answers"}))
    assert (caught.value.line, caught.value.text) == (2, "B = open")


def test_what_would_take_pythons_compiler_for_ever_is_only_parsed(read):
    blocks = "".join(f"{'  ' * depth}try: a()\n{'  ' * depth}finally:\n" for depth in range(40))
    read(f"{RIGHT}{blocks}{'  ' * 40}b()\n")


def test_a_break_in_a_loop_and_a_return_in_a_function_are_where_they_belong(read):
    read("def solve(x, y=None):\n    for a in x:\n        if a: break\n        with a: continue\n    return x\n")


def test_pythons_own_warnings_stay_away_from_the_terminal(read, capfd):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        read(RIGHT + "x = 1 is 1\ny = '\\d'\nz = (1)(2) if 0 else 0\n")
    assert caught == []
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("where", ["# {}\n", "x{} = 1\n", "text = '{}'\n"])
def test_piles_of_combining_marks_are_refused_and_languages_are_not(read, refuse, where):
    refused = refuse(("def solve(x, y=None): return x\n" + where.format("a" + "\u0301\u0316" * 16)).encode())
    assert "one letter has more than 30 combining marks" in refused.message
    assert refused.line == 2
    read(("def solve(x, y=None): return x\n" + where.format("e\u0301\u0316가각ｶﾞ" * 40)).encode())


def test_a_file_is_never_run(read):
    read(RIGHT + "raise SystemExit\n")


# Entry points.


@pytest.mark.parametrize(
    "source",
    [
        "solve = lambda x, y=None: x",
        "from functools import partial\nsolve = partial(max)",
        "@decorated\ndef solve(anything): ...",
        "if 1:\n    def solve(anything): ...",
        "def solve(*args, **kwargs): ...",
        "def solve(x, y=3, z=4): ...",
        "def solve(x: int, y: object = None) -> int: ...",
        "def solve(z): ...\nsolve = other",
        "for solve in [max]: ...",
        "from mine import *",
        "globals()['solve'] = max",
        "class solve:\n    def __new__(cls, x, y=None): return x",
        "class solve(Other): ...",
        "class solve(metaclass=Meta): ...",
        "def solve(z): ...\nglobals()['solve'] = max",
    ],
)
def test_a_function_in_any_form_is_left_to_be_run(read, source):
    read(source + "\n")


@pytest.mark.parametrize(
    "source",
    [
        "class Block:\n    def __init__(self, d, p=0.0): ...\n    def forward(self, x, mask=None): ...",
        "class Block:\n    def __init__(self, *, p=0.0, d): ...\n    def forward(self, x, mask=None, more=1): ...",
        "class Block(Base): ...",
        "class Block:\n    @wrapped\n    def forward(self): ...",
        "class Block:\n    def forward(self): ...\n    forward = other",
        "class Block:\n    def forward(self): ...\nBlock.forward = other",
        "class Block:\n    if 1:\n        def forward(self): ...",
        "@wrapped\nclass Block:\n    def forward(self): ...",
        "class Block(metaclass=Meta):\n    def __init__(self): ...",
        "def Block(**options): return make(**options)",
        "Block = make()",
        "class Block:\n    def forward(*args, **kwargs): ...",
    ],
)
def test_a_class_in_any_form_is_left_to_be_run(read, source):
    read(source + "\n", BLOCK)


@pytest.mark.parametrize("source", ["MOVED = ('L4',)", "MOVED: tuple = ()", "MOVED = make()", "class MOVED(Enum): ..."])
def test_a_constant_in_any_form_is_left_to_be_run(read, source):
    read(source + "\n", MOVED)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import torch\n", "does not define solve; it defines nothing; define every name"),
        ("def solve_it(x): ...\n", "it defines solve_it; if solve_it is meant, rename it to solve"),
        ("a = 1\nclass B: ...\n", "it defines a, B; define every name"),
        ("def f():\n    def solve(x, y=None): ...\n", "it defines f"),
        ("".join(f"v{i} = 1\n" for i in range(30)), "v8, v9, ...; define every name"),
        ("# nothing\n", "it defines nothing"),
    ],
)
def test_a_missing_name_is_told_with_what_the_file_defines(refuse, source, said):
    error = refuse(source)
    assert said in str(error)
    assert error.line is None


def test_all_missing_names_are_told_at_once(refuse):
    assert "does not define Block, MOVED; it defines solve" in str(refuse(RIGHT, BLOCK, MOVED))


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("def solve(x): ...", "solve takes (x), but (x, y=None) is asked for: 'y' is missing"),
        ("def solve(a, y=None): ...", "solve takes (a, y=None), but (x, y=None) is asked for: parameter 1 is 'a'"),
        ("def solve(x, y): ...", "'y' has no default; the contract's is None"),
        ("def solve(x, /, y=None): ...", "solve takes (x, /, y=None)"),
        ("def solve(y, x): ...", "'x' is not parameter 1"),
        ("async def solve(x, y=None): ...", "solve is an async def"),
        ("def solve(x, y=None):\n    yield x", "solve contains yield"),
        ("def solve(x, y=None):\n    a = yield from x", "solve contains yield"),
        ("class solve: ...", "solve is a class; a function solve(x, y=None) is asked for"),
        ("from torch import nn\nclass solve(nn.Module): ...", "solve is a class"),
    ],
)
def test_a_function_that_certainly_is_not_the_one_asked_for_is_refused(refuse, source, said):
    error = refuse(f"\n{source}\n")
    assert said in str(error)
    assert error.line == 2 + source[: source.index("solve")].count("\n")
    assert error.text.startswith(("def solve", "async def solve", "class solve"))


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (
            "def forward(self, x): ...",
            "Block.forward takes (self, x), but (self, x, mask=None) is asked for: 'mask' is",
        ),
        ("def forward(x, mask=None): ...", "self is missing as the first parameter"),
        ("def forward(): ...", "Block.forward() can't take the module itself"),
        ("async def forward(self, x, mask=None): ...", "Block.forward is an async def"),
        ("def forward(self, x, mask=None): yield", "Block.forward contains yield"),
        ("def __init__(self, d): ...", "Block.__init__ takes (self, d), but (self, d, p=0.0) is asked for"),
        ("def __init__(self, width, p=0.0): ...", "(self, d, p=0.0) is asked for: 'd' is missing"),
    ],
)
def test_a_method_that_certainly_is_not_the_one_asked_for_is_refused(refuse, source, said):
    error = refuse(f"class Block:\n    {source}\n", BLOCK)
    assert said in str(error)
    assert (error.line, error.column) == (2, 5)


def test_a_function_where_a_value_is_asked_for_is_refused(refuse):
    assert "MOVED is a function; a value is asked for, so assign one" in str(refuse("def MOVED(): ...\n", MOVED))


def test_a_yield_in_a_function_inside_makes_no_generator(read):
    read("def solve(x, y=None):\n    def rows():\n        yield x\n    return list(rows()), lambda: (yield)\n")


# Closed names.


def test_closed_names_are_uses_where_they_are_reached_and_remarks_elsewhere(read):
    submission = read(
        "import torch.nn.functional as F\nfrom torch import nn\n"
        "def solve(x, y=None):\n    return F.layer_norm(x, (3,))\n"
        "def compare(x):\n    return nn.LayerNorm(3)(x)\n"
    )
    assert [(use.name, use.line) for use in submission.closed_uses] == [("torch.nn.functional.layer_norm", 4)]
    assert submission.remarks == (
        "line 6 names torch.nn.LayerNorm, which is closed here, in code that is never reached",
    )
    assert_reads_well(submission.remarks[0])


def test_many_remarks_are_cut_short(read):
    lines = "".join(f"    nn.LayerNorm({i})\n" for i in range(40))
    submission = read(f"{RIGHT}from torch import nn\ndef helper():\n{lines}")
    assert len(submission.remarks) == 11
    assert submission.remarks[-1] == "30 more lines name what is closed here"


def test_nothing_of_torch_is_imported_to_read_a_submission():
    code = (
        "import sys, judge.submission, judge.catalog; "
        "print([name for name in ('torch', 'numpy', 'difflib') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=Path(__file__).parent.parent
    )
    assert done.stdout == "[]\n"
