"""Every hostile submission on every level that this machine has, as this user and as one without any rights.

It gets the verdict that is right, nothing leaks, nothing is left behind, and the next submission is judged as ever.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from hostile_ground import ROOT, TINY, Ground, Hostile, Trials, hostile_files

from judge.catalog import load_problem
from judge.pipeline import submit
from judge.processes.supervision import Engine

ALL = hostile_files()
NOBODY = 65534
SPAWNED = ["fair_threads_and_null_device", "stay_in_the_group"]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="what they try are ways of Linux")


@pytest.fixture(scope="module")
def forked(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trials]:
    ground = Ground(tmp_path_factory.mktemp("forked"))
    trials = Trials(engine, ground)
    assert trials.next_complaints() == []  # and the engine knows its level from now on
    yield trials
    ground.close()


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trials]:
    """Forked workers without any of the kernel's layers: the level process."""
    ground = Ground(tmp_path_factory.mktemp("bare"))
    with Engine(without=["capabilities", "landlock", "seccomp"]) as engine:
        yield Trials(engine, ground)
    ground.close()


@pytest.mark.parametrize("hostile", ALL, ids=lambda hostile: hostile.name)
def test_on_the_level_of_this_machine(forked: Trials, engine: Engine, hostile: Hostile):
    if hostile.needs and engine.level != hostile.needs:
        pytest.skip(f"isolation here is {engine.isolation}")
    assert forked.complaints(hostile) == []


@pytest.mark.parametrize("hostile", [one for one in ALL if not one.needs], ids=lambda hostile: hostile.name)
def test_on_the_level_process(bare: Trials, hostile: Hostile):
    assert bare.complaints(hostile, brief=True) == []


def test_on_the_level_process_the_next_submission_is_accepted(bare: Trials):
    assert bare.next_complaints() == []


def test_spawned():
    """A few of them, since each start imports torch; tests/hostile_ground.py --isolation process judges all."""
    result = _judged([], ["--isolation", "process", *SPAWNED])
    assert "spawned" in result.pop("isolation")
    assert result.keys() == {"the next one", *SPAWNED}
    assert {name: complaints for name, complaints in result.items() if complaints} == {}


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="these tests run as an ordinary user already")
def test_as_a_user_without_rights(engine: Engine):
    result = _judged(_reachable_for_others(), ["--user", str(NOBODY)])
    if engine.level == "kernel":
        assert result["isolation"].startswith("kernel")
        assert result.keys() == {"the next one", "isolation", *(one.name for one in ALL)}
    del result["isolation"]
    assert {name: complaints for name, complaints in result.items() if complaints} == {}


SCRATCH = """
import os, socket

inside = os.getcwd()
ways = {
    "a link out of it": lambda: os.symlink("/etc/passwd", "link"),
    "a hard link into it": lambda: os.link(os.__file__, "hard"),
    "a pipe": lambda: os.mkfifo("pipe"),
    "a socket": lambda: socket.socket(socket.AF_UNIX).bind("socket"),
    "a mode": lambda: os.chmod(inside, 0o777),
    "a file beside it": lambda: open("../judge-hostile-beside", "w"),
    "a folder beside it": lambda: os.mkdir("../judge-hostile-beside"),
    "its own name": lambda: os.rename(inside, inside + "-moved"),
    "itself": lambda: os.rmdir(inside),
    "reading outside": lambda: open("HIDDEN"),
    "listing outside": lambda: os.listdir(".."),
    "a program": lambda: os.execv("/bin/true", ["true"]),
}
for name, way in ways.items():
    try:
        way()
    except OSError:
        continue
    print("LEAK", name)
os.makedirs("deep/" * 100)
os.mkdir("closed", 0)
os.mkdir("closed too", 0o100)
try:
    with open("large", "wb") as file:
        file.write(bytes((1 << 20) + 1))
except OSError:
    pass
if os.path.getsize("large") > 1 << 20:
    print("LEAK a file above the limit")
"""


def test_a_scratch_folder_is_the_only_place_to_write_to_and_is_removed(engine: Engine, tmp_path: Path):
    if engine.level != "kernel":
        pytest.skip(f"isolation here is {engine.isolation}")
    problem = load_problem("keeper", folder=TINY)
    right = (problem.folder / "hidden" / "reference.py").read_text(encoding="utf-8")
    path = tmp_path / "answer.py"
    path.write_text(SCRATCH.replace("HIDDEN", str(problem.folder / "hidden" / "reference.py")) + right)
    report = submit(problem, path, engine)
    assert report.printed == ()
    assert report.verdict == "accepted", report.message
    folders = [Path(folder) for folder in engine._folders]  # one of them is the reference's
    assert len(folders) > 1
    assert not [folder for folder in folders if (folder / "large").exists() or (folder / "closed").exists()]
    assert not list(folders[-1].parent.glob("judge-hostile*"))


def test_every_file_says_what_it_tries_and_what_is_right():
    verdicts = {
        "accepted", "wrong answer", "runtime error", "time limit", "memory limit", "output limit", "invalid submission",
        "closed function used",
    }  # fmt: skip
    for one in ALL:
        first = one.text.lstrip("\ufeff").splitlines()[0]
        assert first.startswith("# tries: "), one.name
        assert set(one.expect) <= verdicts, one.name
        assert one.needs in (None, "kernel"), one.name
        assert ("@TURN@" in one.text) == (one.turns > 1), one.name
    assert len(ALL) > 100
    assert sum(one.expect == ("accepted",) for one in ALL) >= 4


def _judged(before: list[str], arguments: list[str]) -> dict[str, object]:
    command = [*before, sys.executable, "-B", str(ROOT / "tests" / "hostile_ground.py"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd="/", check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def _reachable_for_others() -> list[str]:
    """The beginning of a command under which everybody can reach the interpreter, the packages and this folder.

    Where they lie in a closed folder (root's home), mounts of its own show the command an open one in its place.
    """
    needed = {
        os.path.realpath(path) for path in (sys.base_prefix, sys.prefix, Path(torch.__file__).parent.parent, ROOT)
    }
    needed |= {os.path.abspath(path) for path in (sys.prefix, ROOT)}
    closed = {path: folder for path in needed if (folder := _closed_folder(path))}
    if not closed:
        return []
    if shutil.which("unshare") is None:
        pytest.skip(f"{next(iter(closed.values()))} is closed to other users, and there is no unshare")
    lines = ["set -e", "staged=$(mktemp -d)"]
    for number, path in enumerate(closed):
        place = f'"$staged/{number}"'
        lines += [f"mkdir {place}", f"mount --bind {shlex.quote(path)} {place}"]
    lines += [f"mount -t tmpfs -o mode=755 none {shlex.quote(folder)}" for folder in sorted(set(closed.values()))]
    for number, path in enumerate(closed):
        lines += [f"mkdir -p {shlex.quote(path)}", f'mount --move "$staged/{number}" {shlex.quote(path)}']
    lines += ['rm -r "$staged"', 'exec "$@"']
    command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", "\n".join(lines), "sh"]
    tried = subprocess.run([*command, "true"], capture_output=True, text=True, check=False)
    if tried.returncode:
        pytest.skip(f"the interpreter can't be made reachable for another user: {tried.stderr.strip()[-200:]}")
    return command


def _closed_folder(path: str) -> str | None:
    """The first folder on the way to it that other users can't enter."""
    folders = [str(folder) for folder in reversed([Path(path), *Path(path).parents])]
    return next((folder for folder in folders if not os.stat(folder).st_mode & 0o001), None)
