"""Hostile files of tests: they find no implementation, change no verdict but their own for the worse, and leave nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import TINY
from rich.console import Console
from test_testing import BOTH, HEAD, PLAIN, caught

from judge.catalog import load_problem
from judge.models import Submission
from judge.report import writer
from judge.testing.implementations import load_implementations
from judge.testing.judging import _Job, _Judging
from judge.verify_tests import fails_as, said

SEARCH = """
import gc, sys, types

WORDS = ("exponen" + "tials", "lar" + "gest")  # names in every mutant and in the reference

def everything():
    for one in gc.get_objects():
        yield one
        if isinstance(one, types.FunctionType):
            yield one.__code__
    frame = sys._getframe()
    while frame:
        yield from frame.f_locals.values()
        frame = frame.f_back

def found():
    for one in everything():
        if isinstance(one, dict):
            texts = [text for text in (*one.keys(), *one.values()) if isinstance(text, str)]
        elif isinstance(one, types.CodeType):
            texts = [*one.co_names, *one.co_varnames]
        else:
            texts = [one] if isinstance(one, (str, bytes)) else []
        for text in texts:
            if any((word.encode() if isinstance(text, bytes) else word) in text for word in WORDS):
                return True
    return "implementation" in sys.modules

def test_search(impl):
    right(impl)
    assert not found()
"""
HOOKS = """
pytest_plugins = ["no_such_plugin"]

def pytest_runtest_makereport(item, call):
    raise RuntimeError("called")

def pytest_runtest_protocol(item, nextitem):
    return True

def pytest_collection_modifyitems(items):
    items.clear()
"""
REGISTERS = """
import pytest

class Plugin:
    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report):
        report.outcome = OUTCOME

def test_d(request, impl):
    request.config.pluginmanager.register(Plugin())
    assert right(impl)
"""
FORGED = """
import json, os, struct

def frame(header):
    text = json.dumps(header).encode()
    return struct.pack("<4sIQ", b"JDG1", len(text), 0) + text

def test_c(impl):
    for descriptor in range(3, 12):
        try:
            os.write(descriptor, DATA)
        except OSError:
            pass
"""
SNEAKY = """
import os

def test_c(impl):
    reached = []
    for attempt in (
        lambda: open("/dev/shm/votes", "a"), lambda: os.memfd_create("votes"), lambda: os.listdir("/tmp"),
        lambda: os.kill(os.getppid(), 9), lambda: os.fork(), lambda: __import__("socket").socket(),
        lambda: __import__("judge"), lambda: open("/proc/%d/mem" % os.getppid(), "rb"),
    ):
        try:
            reached.append(attempt())
        except (OSError, ImportError):
            pass
    assert not reached
"""


def test_a_search_finds_no_implementation(judged_tests):
    report = judged_tests(BOTH + SEARCH)
    assert report.verdict == "accepted", said(report)


def test_hooks_in_the_file_are_not_called(judged_tests):
    report = judged_tests(BOTH + HOOKS)
    assert report.verdict == "accepted", said(report)


def test_there_is_nowhere_to_count_votes(judged_tests, engine):
    report = judged_tests(BOTH + SNEAKY)
    if engine.level == "kernel":
        assert report.verdict == "accepted", said(report)


@pytest.mark.parametrize("outcome", ["passed", "failed", "skipped"])
def test_a_plugin_deceives_only_its_own_file(judged_tests, outcome):
    report = judged_tests(HEAD + REGISTERS.replace("OUTCOME", repr(outcome)))
    assert report.verdict == ("wrong answer" if outcome == "passed" else "invalid submission"), said(report)
    assert outcome != "passed" or fails_as("uncaught: values, stability", report), said(report)


@pytest.mark.parametrize("data", [
    "b'x' * 100", "frame({'type': 'done'})", "frame({'type': 'outcome', 'test': 10**9, 'outcome': 'passed'})",
    "frame({'type': 'collected', 'tests': []})", "frame({'type': 'call', 'call': 1})", "frame({'type': 'locked'})",
    "frame({'type': 'outcome', 'test': 0, 'outcome': 'failed', 'message': 3, 'line': 'x'})",
    "frame({'type': 'backward', 'call': 0, 'wanted': [0]})", "frame({'type': 'call', 'wanted': eval('[' * 90 + ']' * 90)})",
    "frame({'type': 'outcome', 'test': [0], 'outcome': [[]]})", "frame({'type': ['call']})", "frame({'test': True})", "frame({'type': 'loaded', 'error': {'kind': 1}})",
])  # fmt: skip
def test_forged_frames_help_nobody(judged_tests, data):
    report = judged_tests(PLAIN + FORGED.replace("DATA", data))
    assert report.verdict in ("wrong answer", "runtime error", "time limit"), said(report)
    assert "not_stable" not in (caught(report) if report.thoroughness else ())


FAILED = "{'type': 'outcome', 'test': 0, 'outcome': 'failed', 'message': 'x', 'line': 1}"
SESSION = """
def test_a(impl, request):
    for plugin in request.config.pluginmanager.get_plugins():
        tell = getattr(plugin, "_tell", None)
        if tell is not None:
            tell(FAILED)
            tell(PASSED)
"""


@pytest.mark.parametrize("then", [FAILED, FAILED.replace("failed", "passed"), "{'type': 'begin', 'test': 0}"])
def test_an_outcome_that_is_told_twice_is_believed_nowhere(judged_tests, then):
    report = judged_tests(SESSION.replace("FAILED", FAILED).replace("PASSED", then))
    assert report.verdict in ("runtime error", "wrong answer"), said(report)
    written = judged_tests(FORGED.replace("DATA", f"frame({FAILED})").replace("test_c", "test_a"))
    assert written.verdict in ("runtime error", "wrong answer"), said(written)


def test_the_order_of_the_tests_does_not_tell_a_mutant(engine):
    problem = load_problem("softmax-tests", folder=TINY)
    correct, wrong = load_implementations(problem.folder)
    submission = Submission(path=Path("tests.py"), source=PLAIN.encode())
    judging = _Judging(problem, submission, engine, correct, wrong)
    drawn = {judging._number(_Job(one)) for one in wrong for _ in range(200)}
    assert drawn == {judging._number(_Job(one, backwards)) for one in correct for backwards in (False, True)}


def test_escapes_stay_off_the_screen(judged_tests):
    escape = "\\x1b]0;title\\x07\\x1b[31m"
    source = (
        PLAIN
        + f"import pytest\n@pytest.mark.parametrize('n', [1], ids=['{escape}'])\ndef test_c(impl, n):\n    '''{escape}'''\n"
    )
    source += f"    print('{escape}[bold]')\n    raise ValueError('{escape}[red]')\n"
    console = Console(width=80, record=True, force_terminal=False)
    with console.capture() as written:
        console.print(writer("terminal")(judged_tests(source)))
    text = written.get()
    assert "\x1b" not in text
    assert len(text.splitlines()) < 40


def test_nothing_is_left_behind(judged_tests, tmp_path: Path):
    before = {path.name for path in Path("/tmp").iterdir()}
    judged_tests(BOTH)
    assert {path.name for path in Path("/tmp").iterdir()} <= before
