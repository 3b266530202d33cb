"""One pytest session over a file that exists in memory only, without plugins, caches and anything written.

Importing this imports pytest and reads its configuration once; the zygote does so where a problem asks for it, and the
workers that it forks begin from there. Each test ends in one outcome:

    passed, failed     as pytest says, whichever phase failed
    skipped, xfailed   it says nothing about the implementation
    xpassed            it was expected to fail and did not, strictly or not: it says nothing either
"""

from __future__ import annotations

import ast
import os
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"

import pytest  # noqa: E402
from _pytest.assertion.rewrite import rewrite_asserts  # noqa: E402
from _pytest.config import _prepareconfig  # noqa: E402

from judge.processes.faults import SUBMISSION  # noqa: E402

_WITHOUT = (
    "cacheprovider", "junitxml", "pastebin", "faulthandler", "doctest", "terminal", "stepwise", "setuponly",
    "setupplan", "debugging", "tmpdir", "threadexception", "unraisableexception", "legacypath", "logging",
)  # fmt: skip
_CONFIG = _prepareconfig(
    [
        "-c",
        os.devnull,
        f"--rootdir={os.sep}",
        "--capture=no",
        "--assert=plain",
        *(part for name in _WITHOUT for part in ("-p", f"no:{name}")),
    ]
)
# Options of plugins that are left out; others ask for them all the same.
vars(_CONFIG.option).update(verbose=0, trace=False, usepdb=False)
_MOST_LINES = 8
_MOST_LETTERS = 600
_MOST_NAME = 120

Tell = Callable[[dict[str, Any]], None]


def compiled(source: str) -> Any:
    """The file's code, with asserts that say what they compared."""
    tree = ast.parse(source, SUBMISSION)
    rewrite_asserts(tree, source.encode(), SUBMISSION, _CONFIG)
    return compile(tree, SUBMISSION, "exec", dont_inherit=True)


def run(module: ModuleType, impl: Any, tell: Tell, *, backwards: bool, turn: tuple[int, int]) -> None:
    """Collect the module's tests and run them; ``tell`` gets a message for each.

    In the module's order or in the reverse one, and beginning at another test in each of so many turns.
    """
    _CONFIG.pluginmanager.register(_Session(module, tell, backwards, turn))
    _CONFIG.pluginmanager.register(_fixtures(impl), "the implementation")
    _CONFIG.hook.pytest_cmdline_main(config=_CONFIG)


class _Module(pytest.Module):
    """The tests of a module that is there already."""

    held: ModuleType

    def _getobj(self) -> ModuleType:
        return self.held


class _Session:
    """The plugin that is all of the judge's in a session."""

    def __init__(self, module: ModuleType, tell: Tell, backwards: bool, turn: tuple[int, int]):
        self._module, self._tell, self._backwards, self._turn = module, tell, backwards, turn
        self._numbers: dict[str, int] = {}
        self._found: dict[str, dict[str, Any]] = {}
        self._errors: list[str] = []

    def pytest_collection(self, session: pytest.Session) -> bool:
        collector = _Module.from_parent(session, path=Path(os.sep, SUBMISSION))
        collector.held = self._module
        items = list(session.genitems(collector))
        self._numbers = {item.nodeid: number for number, item in enumerate(items)}
        self._tell(
            {
                "type": "collected",
                "tests": [[_name(item), _sentence(item), _line(item)] for item in items],
                "error": self._errors[0] if self._errors else None,
            }
        )
        session.items = self._in_order(items)
        session.testscollected = len(items)
        return True

    def _in_order(self, items: list[pytest.Item]) -> list[pytest.Item]:
        number, turns = self._turn
        first = number * len(items) // turns if len(items) > turns else number % max(len(items), 1)
        turned = items[first:] + items[:first]
        return turned[:1] + turned[:0:-1] if self._backwards else turned

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._errors.append(_cut(str(report.longrepr)))

    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> pytest.TestReport:
        """A report without pictures of tracebacks, which take longer than tests; pytest's own wrapper marks xfail."""
        outcome: Any = "passed"
        if call.excinfo is not None:
            outcome = "skipped" if isinstance(call.excinfo.value, pytest.skip.Exception) else "failed"
            if outcome == "failed":
                self._found.setdefault(item.nodeid, _described(call.excinfo.value))
        assert call.when != "collect"
        return pytest.TestReport(item.nodeid, item.location, {}, outcome, None, call.when, (), call.duration)

    def pytest_runtest_logstart(self, nodeid: str, location: Any) -> None:
        self._found.pop(nodeid, None)
        self._outcome = "passed"
        self._tell({"type": "begin", "test": self._numbers[nodeid]})

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        worse = _outcome(report, raised=report.nodeid in self._found)
        if worse != "passed" and self._outcome != "failed":
            self._outcome = worse

    def pytest_runtest_logfinish(self, nodeid: str, location: Any) -> None:
        found = self._found.get(nodeid, {}) if self._outcome == "failed" else {}
        self._tell({"type": "outcome", "test": self._numbers[nodeid], "outcome": self._outcome, **found})


def _fixtures(impl: Any) -> ModuleType:
    """A plugin with the fixture ``impl``: a function of a module, since a method for a whole session is deprecated."""

    @pytest.fixture(scope="session", name="impl")
    def implementation() -> Any:
        return impl

    plugin = ModuleType("fixtures")
    vars(plugin)["implementation"] = implementation
    return plugin


def _outcome(report: pytest.TestReport, *, raised: bool) -> str:
    expected = hasattr(report, "wasxfail")
    if report.failed:
        return "failed" if raised else "xpassed"  # strictly: it fails although nothing was raised
    if report.skipped:
        return "xfailed" if expected else "skipped"
    return "xpassed" if expected else "passed"


def _described(exc: BaseException) -> dict[str, Any]:
    """What was raised, in words, and the last line of the file that led there."""
    frames = [frame for frame in traceback.extract_tb(exc.__traceback__) if frame.filename == SUBMISSION]
    try:
        unknown = exc.argname if isinstance(exc, pytest.FixtureLookupError) else None
        message = str(exc) if unknown is None else f"there is no fixture {unknown!r} here"
    except BaseException as inner:  # the submission's own __str__ may raise anything
        message = f"(its message can't be read: {type(inner).__name__})"
    return {"message": _cut(f"{type(exc).__name__}: {message}"), "line": frames[-1].lineno if frames else None}


def _cut(text: str) -> str:
    lines: Sequence[str] = [line.rstrip() for line in text.splitlines() if line.strip()]
    return "\n".join(lines[:_MOST_LINES])[:_MOST_LETTERS]


def _name(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[2][:_MOST_NAME]


def _sentence(item: pytest.Item) -> str:
    text = getattr(getattr(item, "obj", None), "__doc__", None)
    lines = text.strip().splitlines() if isinstance(text, str) else []
    return lines[0][:200] if lines else ""


def _line(item: pytest.Item) -> int | None:
    code = getattr(getattr(item, "obj", None), "__code__", None)
    line = getattr(code, "co_firstlineno", None)
    return line if isinstance(line, int) else None
