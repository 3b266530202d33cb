"""What holds the house together: imports point one way, the answer stays on the oracle side, only cli.py prints."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
JUDGE = sorted((ROOT / "judge").rglob("*.py"))
STUB = str(ROOT / "problems" / "layer-norm" / "stub.py")
HEAVY = {"pydantic", "rich", "typer"}
IN_WORKERS = [
    *(path for path in (ROOT / "judge" / "processes").glob("*.py")),
    *(
        ROOT / "judge" / f"{name}.py"
        for name in (
            "program",
            "authoring",
            "draws",
            "dropout",
            "compare",
            "agreement",
            "suspects",
            "diagnose",
            "stream",
        )
    ),
    *(
        ROOT / "judge" / f"{name}.py"
        for name in ("drawn", "observation", "labels", "oracle", "script", "mutants", "edits")
    ),
]
OPENS_HIDDEN = {
    "drawn.py",
    "kill_matrix.py",
    "mutants.py",
    "verify.py",
    "verify_tests.py",
    "implementations.py",
    "catalog.py",
    "problem_files.py",
    "edits.py",
    "readable.py",
    "supervision.py",
    "scaffold.py",
}
LAYERS = [
    {"errors"},
    {"models", "program"},
    None,  # everything else
    {"pipeline"},
    {"verify", "verify_tests", "report", "streams", "proof_cache", "warm", "watch", "batch"},
]


def imports(path: Path) -> set[str]:
    """The dotted names that a file imports, also inside functions."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def layer(name: str) -> int:
    return next((number for number, names in enumerate(LAYERS) if names and name in names), 2)


@pytest.mark.parametrize("path", JUDGE, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_one_way(path):
    own = path.relative_to(ROOT / "judge").parts[0].removesuffix(".py")
    for name in imports(path):
        parts = name.split(".")
        if parts[0] == "cli":
            pytest.fail(f"{path.name} imports the command line")
        if parts[0] == "judge" and len(parts) > 1 and parts[1] != own:
            assert layer(parts[1]) <= layer(own), f"{path.name} imports {name}, which stands above it"


HANDS_OVER_CODE = ("boot.py", "interpreter.py")  # our own, to a process that we have just started


@pytest.mark.parametrize("path", JUDGE, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_pickle_no_print_no_exit(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    loose = {name for name in imports(path) if name.split(".")[0] in ("pickle", "marshal", "shelve", "dill")}
    assert loose <= ({"marshal"} if path.name in HANDS_OVER_CODE else set())
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    assert not called & {"print", "exit", "quit"}


def test_many_threads_parse_through_one_door():
    parsing = {path.name for path in JUDGE if "ast.parse(" in path.read_text(encoding="utf-8")}
    assert parsing == {"parsing.py", "pytest_session.py"}  # the latter in a process with one thread


def test_only_the_oracle_side_speaks_of_hidden_files_and_oracles():
    for path in JUDGE:
        text = path.read_text(encoding="utf-8")
        if '"hidden"' in text or "hidden/" in text:
            assert path.name in OPENS_HIDDEN, path.name
        assert not any(name.split(".")[0] in ("reference", "problems") for name in imports(path)), path.name


@pytest.mark.parametrize("path", IN_WORKERS, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_a_worker_imports_is_light(path):
    assert not {name.split(".")[0] for name in imports(path)} & HEAVY
    assert not any(name.startswith("judge.models") for name in imports(path))


@pytest.mark.parametrize("command", [["list"], ["show", "layer-norm"], ["doctor"], ["submit", "layer-norm", STUB]])
def test_the_cli_process_never_imports_torch_nor_what_draws(command, tmp_path):
    done = subprocess.run(
        [sys.executable, "-X", "importtime", str(ROOT / "cli.py"), *command, *(["--no-record"] * (command[0] == "submit"))],
        capture_output=True, text=True, cwd=tmp_path, check=False,
    )  # fmt: skip
    imported = {line.split("|")[-1].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    assert "typer" in imported
    assert not imported & {"torch", "numpy", "jinja2", "matplotlib"}
