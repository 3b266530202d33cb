"""The problems: each a folder of problems/, read into a Problem, every mistake in it named.

    <id>/  problem.toml  statement.md  stub.py  cases.py  hidden/reference.py  hidden/mutants.toml  hidden/rewrites/

A problem whose answer is a file of tests has no cases.py, but hidden/exemplars/ of such files, good and bad ones.

Cases and mutants are not read here: the oracle worker loads them.
"""

from __future__ import annotations

import re
from pathlib import Path

from judge.entry_points import faults
from judge.errors import ProblemError, UsageError
from judge.models import Problem
from judge.parsing import parse
from judge.problem_files import read_text, read_toml, shown
from judge.problem_toml import problem_from_toml
from judge.statement import split_statement
from judge.suggest import did_you_mean

HOUSE = Path(__file__).resolve().parent.parent
PROBLEMS = HOUSE / "problems"

_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_ORACLE = re.compile(r"reference(\.[a-z_][a-z0-9_]*)+")
_FILES = ("statement.md", "stub.py", "cases.py", "hidden/reference.py", "hidden/mutants.toml")


def problem_ids(folder: Path = PROBLEMS) -> list[str]:
    """The ids of all problems: by track, in a track what is needed first, then by name."""
    return [problem.id for problem in load_problems(folder)]


def load_problems(folder: Path = PROBLEMS) -> tuple[Problem, ...]:
    """Load every problem, in the order of problem_ids. Raises ProblemError for the first that is broken."""
    problems = {problem_id: load_problem(problem_id, folder, thorough=False) for problem_id in _ids(folder)}
    depths: dict[str, int] = {}
    for problem_id in problems:
        _measure_depth(problem_id, problems, depths, ())
    return tuple(sorted(problems.values(), key=lambda problem: (problem.track, depths[problem.id], problem.id)))


def find_problem(text: str, folder: Path = PROBLEMS) -> Problem:
    """Load the problem that a command names. Raises UsageError if there is none of this id."""
    ids = _ids(folder)
    if text not in ids:
        raise UsageError(f"there is no problem {text!r}{did_you_mean(text, ids) or '; judge list shows them all'}")
    return load_problem(text, folder, thorough=False)


def load_problem(problem_id: str, folder: Path = PROBLEMS, *, thorough: bool = True) -> Problem:
    """Load one problem. Raises ProblemError; ``thorough`` looks into the stub and for the oracle too."""
    home = folder / problem_id
    where = shown(home, "problem.toml")
    if not _ID.fullmatch(problem_id):
        raise ProblemError(f"{where}: {problem_id!r} is no id; name the folder in lower-case words joined by hyphens")
    table = read_toml(home, "problem.toml")
    for name in _FILES:
        if name == "cases.py" and table.get("kind") == "tests":
            continue
        if not (home / name).is_file():
            raise ProblemError(f"{shown(home, name)}: the file is missing; every problem needs it")
    statement, hints = split_statement(read_text(home, "statement.md"), shown(home, "statement.md"))
    problem = problem_from_toml(table, where, id=problem_id, folder=home, statement=statement, hints=hints)
    _check_prerequisites(problem, where, folder)
    _check_contract(problem, where, folder)
    if problem.oracle is not None and not _ORACLE.fullmatch(problem.oracle):
        raise ProblemError(
            f"{where}: oracle = {problem.oracle!r} is no module of reference/; write it as reference.norms"
        )
    if thorough:
        _check_oracle(problem, where)
        _check_stub(problem)
    return problem


def _ids(folder: Path) -> list[str]:
    try:
        return sorted(entry.name for entry in folder.iterdir() if (entry / "problem.toml").is_file())
    except OSError as exc:
        raise ProblemError(
            f"{folder}: the folder of the problems can't be read ({exc.strerror}); install anew"
        ) from exc


def _measure_depth(
    problem_id: str, problems: dict[str, Problem], depths: dict[str, int], needed_by: tuple[str, ...]
) -> int:
    """The length of the longest chain of prerequisites below a problem, kept in ``depths``."""
    if problem_id in needed_by:
        circle = " needs ".join((*needed_by[needed_by.index(problem_id) :], problem_id))
        where = shown(problems[problem_id].folder, "problem.toml")
        raise ProblemError(f"{where}: prerequisites go round in a circle, {circle}; take one of them out")
    if problem_id not in depths:
        below = problems[problem_id].prerequisites
        chains = [_measure_depth(one, problems, depths, (*needed_by, problem_id)) for one in below]
        depths[problem_id] = 1 + max(chains, default=-1)
    return depths[problem_id]


def _check_prerequisites(problem: Problem, where: str, folder: Path) -> None:
    for name in problem.prerequisites:
        if not _ID.fullmatch(name) or not (folder / name / "problem.toml").is_file():
            hint = did_you_mean(name, _ids(folder)) or "; name problems that exist"
            raise ProblemError(f"{where}: prerequisites: there is no problem {name!r}{hint}")
        if name == problem.id:
            raise ProblemError(f"{where}: prerequisites: {name!r} is the problem itself; take it out")


def _check_contract(problem: Problem, where: str, folder: Path) -> None:
    if problem.contract is None:
        return
    if not _ID.fullmatch(problem.contract) or not (folder / problem.contract / "problem.toml").is_file():
        hint = did_you_mean(problem.contract, _ids(folder)) or "; name a problem that exists"
        raise ProblemError(f"{where}: contract: there is no problem {problem.contract!r}{hint}")
    if any(entry.kind != "function" for entry in problem.entry_points):
        raise ProblemError(f"{where}: entry_points: tests call functions; write each as (x, ...)")
    asked = read_toml(folder / problem.contract, "problem.toml").get("entry_points")
    if asked != {entry.name: entry.signatures[""] for entry in problem.entry_points}:
        raise ProblemError(f"{where}: entry_points differ from those of {problem.contract}; copy them from there")


def _check_oracle(problem: Problem, where: str) -> None:
    if problem.oracle is not None and not (HOUSE / f"{problem.oracle.replace('.', '/')}.py").is_file():
        raise ProblemError(
            f"{where}: oracle = {problem.oracle!r} does not exist; write the module, or leave the key out"
        )


def _check_stub(problem: Problem) -> None:
    where = shown(problem.folder, "stub.py")
    try:
        tree = parse(read_text(problem.folder, "stub.py"))
    except SyntaxError as exc:
        raise ProblemError(f"{where}: line {exc.lineno}: does not parse: {exc.msg}") from exc
    for fault in () if problem.kind == "tests" else faults(tree, problem.entry_points):
        place = f"line {fault.line}: " if fault.line else ""
        raise ProblemError(f"{where}: {place}{fault.message}")
