"""What a worker may read, in every way that things are installed: never anything of ours, always torch.

Where the kernel has Landlock, a process locks itself to the lists and tries; elsewhere the lists themselves are read.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from judge.processes import landlock, readable
from judge.processes.interpreter import LIBRARY, site_folders

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = (
    "torch/__init__.py",
    "torch/nn/functional.py",
    "numpy/linalg/late.py",
    "six.py",
    "torch-2.6.dist-info/METADATA",
)
OURS = (
    "judge/processes/lock.py", "judge/__pycache__/lock.pyc", "reference/norms.py", "cli.py",
    "problems/norm/hidden/reference.py", "problems/norm/hidden/__pycache__/reference.pyc", "problems/norm/cases.py",
)  # fmt: skip


@dataclass
class Layout:
    """Where things lie: our root, the folders of the interpreter and the packages, what must (not) be readable."""

    root: Path
    libraries: list[Path]
    needed: list[Path] = field(default_factory=list)
    secret: list[Path] = field(default_factory=list)


def write(folder: Path, names: tuple[str, ...]) -> list[Path]:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return [folder / name for name in names]


def interpreter(prefix: Path) -> tuple[Path, list[Path]]:
    library = prefix / "lib" / "python3.12"
    return library, write(library, ("os.py", "json/late.py"))


def checkout(tmp: Path) -> Layout:
    library, standard = interpreter(tmp / "python")
    site = tmp / "venv/lib/python3.12/site-packages"
    return Layout(
        tmp / "home/repository", [library, site], [*standard, *write(site, PACKAGES)],
        [*write(tmp / "home/repository", (*OURS, ".git/HEAD", "submissions/a.py", "NOTES")), *write(tmp / "home", ("mail",))],
    )  # fmt: skip


def environment_inside_the_repository(tmp: Path) -> Layout:
    library, standard = interpreter(tmp / "python")
    root = tmp / "repository"
    site = root / ".venv/lib/python3.12/site-packages"
    (root / ".venv/lib").mkdir(parents=True)
    (root / ".venv/lib64").symlink_to("lib")
    return Layout(root, [library, site], [*standard, *write(site, PACKAGES)], write(root, OURS))


def repository_below_the_library(tmp: Path) -> Layout:
    library, standard = interpreter(tmp / "python")
    site = library / "site-packages"
    root = library / "repository"
    return Layout(root, [library, site], [*standard, *write(site, PACKAGES)], write(root, (*OURS, "NOTES")))


def repository_below_the_prefix(tmp: Path) -> Layout:
    library, standard = interpreter(tmp / "python")
    site = library / "site-packages"
    root = tmp / "python/share/repository"
    return Layout(root, [library, site], [*standard, *write(site, PACKAGES)], write(root, OURS))


def regular_installation(tmp: Path) -> Layout:
    library, standard = interpreter(tmp / "python")
    site = tmp / "venv/lib/python3.12/site-packages"
    (tmp / "venv/lib").mkdir(parents=True)
    (tmp / "venv/lib64").symlink_to("lib")
    return Layout(site, [library, site], [*standard, *write(site, PACKAGES)], write(site, OURS))


def regular_installation_by_lib64(tmp: Path) -> Layout:
    layout = regular_installation(tmp)
    site = tmp / "venv/lib64/python3.12/site-packages"
    layout.libraries[1] = site
    return layout


def regular_installation_in_the_interpreter(tmp: Path) -> Layout:
    library, standard = interpreter(tmp / "python")
    (tmp / "python/lib64").symlink_to("lib")
    site = library / "site-packages"
    return Layout(site, [library, site], [*standard, *write(site, PACKAGES)], write(site, OURS))


def linked_environment(tmp: Path) -> Layout:
    layout = regular_installation(tmp)
    (tmp / "current").symlink_to("venv")
    layout.libraries[1] = layout.root = tmp / "current/lib/python3.12/site-packages"
    return layout


def linked_packages(tmp: Path) -> Layout:
    library, standard = interpreter(tmp / "python")
    site, cache = tmp / "venv/site-packages", tmp / "cache"
    write(cache, PACKAGES)
    site.mkdir(parents=True)
    for name in ("torch", "numpy", "six.py"):
        (site / name).symlink_to(cache / name)
    secret = [*write(site, OURS), *write(cache, ("other/secret.py",))]
    return Layout(site, [library, site], [*standard, site / PACKAGES[0], site / PACKAGES[1], site / "six.py"], secret)


def linked_files(tmp: Path) -> Layout:
    """What `uv pip install --link-mode symlink` makes: real folders, and every file a link into its wheel's archive."""
    library, standard = interpreter(tmp / "python")
    site, cache = tmp / "venv/lib/python3.12/site-packages", tmp / "cache/archive-v0"
    archives = {
        "a1": ("torch/__init__.py", "torch/nn/functional.py", "torch-2.6.dist-info/METADATA"),
        "b2": ("numpy/linalg/late.py", "numpy-2.0.dist-info/METADATA"),
        "c3": ("six.py", "six-1.0.dist-info/METADATA"),
        "d4": (*(name for name in OURS if "pycache" not in name), "judge-0.1.0.dist-info/METADATA"),
    }
    for archive, names in archives.items():
        for path in write(cache / archive, names):
            link = site / path.relative_to(cache / archive)
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(path)
    compiled = write(site, tuple(name for name in OURS if "pycache" in name))
    secret = [*(base / name for base in (site, cache / "d4") for name in archives["d4"][:-1]), *compiled]
    return Layout(cache / "d4", [library, site], [*standard, *(site / name for name in PACKAGES)], secret)


def second_installation(tmp: Path) -> Layout:
    layout = checkout(tmp)
    layout.secret += write(tmp / "python/lib/python3.12/site-packages", OURS)
    layout.needed += write(tmp / "python/lib/python3.12/site-packages", ("other.py",))
    return layout


def links_to_everywhere(tmp: Path) -> Layout:
    layout = regular_installation(tmp)
    (layout.root / "up").symlink_to(tmp)
    (layout.root / "root").symlink_to("/")
    (layout.root / "ours").symlink_to("problems")
    (layout.root / "lost").symlink_to("nothing")
    (layout.root / "round").symlink_to("round")
    layout.secret += write(tmp / "home", ("mail",))
    return layout


LAYOUTS = [
    checkout, environment_inside_the_repository, repository_below_the_library, repository_below_the_prefix,
    regular_installation, regular_installation_by_lib64, regular_installation_in_the_interpreter, linked_environment,
    linked_packages, linked_files, second_installation, links_to_everywhere,
]  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda make: make.__name__)
def test_ours_is_never_readable_and_torch_always_is(tmp_path, layout):
    made = layout(tmp_path)
    read, names = readable.readable(str(made.root), [str(path) for path in made.libraries])
    opened = _opened(read, names, [*made.needed, *made.secret])
    assert [str(path) for path in made.needed if not opened[str(path)]] == []
    assert [str(path) for path in made.secret if opened[str(path)]] == []
    canaries = readable.canaries(str(made.root))
    assert canaries
    assert not any(_opened(read, names, [Path(path) for path in canaries]).values())


def test_every_path_is_resolved_and_exists(tmp_path):
    made = linked_files(tmp_path)
    read, names = readable.readable(str(made.root), [str(path) for path in made.libraries])
    for path in (*read, *names):
        assert os.path.realpath(path) == path
        assert os.path.exists(path)


def test_this_installation():
    read, names = readable.readable(str(ROOT), [LIBRARY, *site_folders()])
    import torch

    secret = [
        *sorted((ROOT / "problems").glob("*/hidden/*.*")),
        *sorted((ROOT / "reference").glob("*.py")),
        ROOT / "cli.py",
    ]
    needed = [Path(torch.__file__), Path(os.__file__), Path(json.__file__)]
    opened = _opened(read, names, [*secret, *needed])
    assert len(secret) > 10
    assert [path for path, one in opened.items() if one] == [str(path) for path in needed]


def _opened(read: list[str], names: list[str], paths: list[Path]) -> dict[str, bool]:
    """Which of these a process can open that has locked itself to the lists."""
    if not (sys.platform == "linux" and landlock.version()):
        allowed = [(path, os.path.realpath(path)) for path in map(str, paths)]
        return {path: any(real == r or real.startswith(r + os.sep) for r in read) for path, real in allowed}
    code = f"""
import json, sys
sys.path.insert(0, {str(ROOT)!r})
from judge.processes import landlock
read, names, paths = json.load(sys.stdin)
landlock.restrict(read, names)
opened = {{}}
for path in paths:
    try:
        opened[path] = bool(open(path, "rb"))
    except PermissionError:
        opened[path] = False
print(json.dumps(opened))
"""
    asked = json.dumps([read, names, [str(path) for path in paths]])
    done = subprocess.run([sys.executable, "-c", code], input=asked, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
