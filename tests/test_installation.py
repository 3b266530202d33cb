"""Under an editable and under a regular installation a submission can import nothing of ours, and read nothing hidden."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from judge.pipeline import submit

ROOT = Path(__file__).resolve().parent.parent
SPY = """
import importlib, os, sys, torch

def tried(action):
    try:
        action()
    except (ImportError, OSError) as exc:
        return "refused"
    return "LEAK"

site = os.path.dirname(os.path.dirname(torch.__file__))
print(*(tried(lambda: importlib.import_module(name)) for name in ("judge", "reference", "reference.norms", "problems", "cli")))
sys.path += [ROOT, site]
sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__name__ != "_Refuse"]
print(*(tried(lambda: importlib.import_module(name).__path__) for name in ("reference.norms", "judge.drawn")))
for folder in (ROOT, site):
    print(tried(lambda: open(os.path.join(folder, "problems", "layer-norm", "hidden", "reference.py"))))

def solve(x, y):
    return torch.softmax(x @ y, -1)
"""


def seen(printed: tuple[str, ...]) -> list[str]:
    return " ".join(printed).split()


def test_every_file_that_is_no_module_is_named_as_package_data():
    """Packages are listed by hand, and what is not listed is missing where the judge is installed regularly."""
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    shipped = {
        path
        for package, patterns in listed["package-data"].items()
        for pattern in patterns
        for path in (ROOT / package.replace(".", "/")).glob(pattern)
    }
    shipped |= {path for package in listed["packages"] for path in (ROOT / package.replace(".", "/")).glob("*.py")}
    there = {path for name in ("judge", "reference", "problems") for path in (ROOT / name).rglob("*") if path.is_file()}
    assert not {path for path in there - shipped if "__pycache__" not in path.parts}


@pytest.mark.skipif(sys.platform != "linux", reason="reading is stopped by the kernel lock, which Linux has")
def test_an_editable_installation_hides_the_answer(judged):
    report = judged(f"ROOT = {str(ROOT)!r}\n{SPY}")
    assert report.verdict == "accepted", report
    assert seen(report.printed) == ["refused"] * 9


@pytest.mark.skipif(sys.platform != "linux", reason="reading is stopped by the kernel lock, which Linux has")
def test_a_regular_installation_hides_the_answer(tmp_path):
    """Our packages lie beside torch, in one folder, as after `pip install judge`."""
    site = tmp_path / "lib" / "site-packages"
    site.mkdir(parents=True)
    for package in Path(sysconfig.get_path("purelib")).iterdir():
        if not package.name.startswith(("judge", "__editable__", "reference", "problems", "cli")):
            (site / package.name).symlink_to(package)
    for name in ("judge", "reference", "problems"):
        shutil.copytree(ROOT / name, site / name)
    shutil.copy(ROOT / "cli.py", site)
    answer = tmp_path / "answer.py"
    answer.write_text(f"ROOT = {str(site)!r}\n{SPY}", encoding="utf-8")
    program = (
        "import sys, pathlib\n"
        f"sys.path.insert(0, {str(site)!r})\n"
        "from judge.catalog import load_problem; from judge.pipeline import submit\n"
        "from judge.processes.supervision import Engine\n"
        f"problem = load_problem('softmax', folder=pathlib.Path({str(ROOT / 'tests' / 'tiny_problems')!r}))\n"
        "with Engine() as engine:\n"
        f"    report = submit(problem, pathlib.Path({str(answer)!r}), engine)\n"
        "print(report.verdict, *report.printed)"
    )
    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert seen((done.stdout,)) == ["accepted", *["refused"] * 9], done.stdout + done.stderr


def test_the_spawned_path_refuses_imports_too(tmp_path, softmax):
    from judge.processes.supervision import Engine

    answer = tmp_path / "answer.py"
    answer.write_text(
        "try:\n    import reference\nexcept ImportError:\n    print('refused')\ndef solve(x, y): return (x @ y).softmax(-1)\n"
    )
    with Engine("process") as engine:
        report = submit(softmax, answer, engine)
    assert (report.verdict, report.printed) == ("accepted", ("refused",))
