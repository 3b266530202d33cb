"""Where hostile submissions are let loose: a user's folder with canaries, listeners, and what must be as it was.

Each file of tests/hostile/ begins with comments:

    # tries: what it tries
    # expect: the verdicts that are right
    # needs: kernel       where that holds under the kernel's layers only
    # turns: 6            where it is judged so often, with @TURN@ as 0, 1, ...

`python tests/hostile_ground.py [--user ID] [--isolation LEVEL] [NAME ...]` judges them as another user or on another
level, and prints {"isolation": ..., NAME: [what is wrong], ...} as JSON.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import json
import os
import re
import socket
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from rich.console import Console  # noqa: E402

from judge.catalog import load_problem  # noqa: E402
from judge.errors import SubmissionError  # noqa: E402
from judge.models import Limits, Report  # noqa: E402
from judge.pipeline import OpenProblem  # noqa: E402
from judge.processes import libc  # noqa: E402
from judge.processes.supervision import Engine  # noqa: E402
from judge.report import writer  # noqa: E402
from judge.submission import read_submission  # noqa: E402

FOLDER = Path(__file__).parent / "hostile"
TINY = Path(__file__).parent / "tiny_problems"
RIGHT = "import torch\n\n\ndef solve(x, y):\n    return torch.softmax(x @ y, -1)\n"
SECRET = "JUDGE_TEST" + "_SECRET"
_SET_CHILD_SUBREAPER = 36
_MOST_CHARACTERS = {"terminal": 20_000, "json": 200_000}
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Hostile:
    """One file of tests/hostile/."""

    name: str
    text: str
    expect: tuple[str, ...]
    needs: str | None
    turns: int

    @property
    def limits(self) -> Limits:
        """Small where a limit is reached anyway; else so large that a busy machine changes no verdict."""
        return _limits(0.3 if "time limit" in self.expect else 60, 96 if "memory limit" in self.expect else 512)


def hostile_files() -> list[Hostile]:
    """All of them, by name."""
    return [_read(path) for path in sorted(FOLDER.glob("*.py"))]


def _read(path: Path) -> Hostile:
    text = path.read_bytes().decode()
    head = dict(re.findall(r"^\ufeff?# (tries|expect|needs|turns): (.*)$", text, re.MULTILINE))
    expect = tuple(head["expect"].split(", "))
    return Hostile(path.stem, text, expect, head.get("needs"), int(head.get("turns", 1)))


def _limits(seconds: float, memory_mib: int) -> Limits:
    return Limits(
        import_seconds=seconds, call_seconds=seconds, submission_seconds=120, memory_mib=memory_mib, output_kib=16
    )


class Ground:
    """A user's folder and some listeners; everything in it must be the same afterwards."""

    def __init__(self, folder: Path):
        self.home = folder / "home"
        self.work = folder / "work"
        for made in (self.home, self.work, self.home / "empty"):
            made.mkdir(parents=True)
        (self.home / "thesis.txt").write_text("the user's own work\n")
        (self.home / "script.sh").write_text("#!/bin/sh\n")
        (self.home / "script.sh").chmod(0o750)
        os.utime(self.home / "thesis.txt", (1_600_000_000, 1_600_000_000))
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        udp.bind(("127.0.0.1", 0))
        tcp = socket.create_server(("127.0.0.1", 0))
        unix = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        unix.bind(str(self.work / "listener"))
        self._listeners = (udp, tcp, unix)
        for listener in self._listeners:
            listener.setblocking(False)
        hidden = TINY / "softmax" / "hidden"
        self._filled = {
            "HIDDEN_FILE": str(hidden / "reference.py"), "HIDDEN_FOLDER": str(hidden), "REPOSITORY": str(ROOT),
            "HOME": os.path.expanduser("~"), "USER_FILE": str(self.home / "thesis.txt"), "USER_FOLDER": str(self.home),
            "UNIX_SOCKET": str(self.work / "listener"), "UDP_PORT": str(udp.getsockname()[1]),
            "TCP_PORT": str(tcp.getsockname()[1]), "JUDGE_PID": str(os.getpid()),
        }  # fmt: skip
        self._before = self._look()

    def close(self) -> None:
        for listener in self._listeners:
            listener.close()

    def write(self, text: str, turn: int = 0) -> Path:
        """The submission, its placeholders filled in."""
        filled = self._filled | {"TURN": str(turn)}
        path = self.work / "answer.py"
        path.write_bytes(re.sub("@([A-Z_]+)@", lambda match: filled[match[1]], text).encode())
        return path

    def complaints(self) -> Iterator[str]:
        """What is not as it was, or has come through a listener."""
        now = self._look()
        for path in sorted(self._before.keys() | now.keys()):
            if self._before.get(path) != now.get(path):
                yield f"{path} is changed: {self._before.get(path)} -> {now.get(path)}"
        self._before = now
        for folder in ("/tmp", "/var/tmp", "/dev/shm"):
            yield from (f"{path} was left" for path in Path(folder).glob("judge-hostile*"))
        for listener in self._listeners:
            with contextlib.suppress(BlockingIOError):
                while True:
                    got = listener.recv(100) if listener.type == socket.SOCK_DGRAM else listener.accept()[1]
                    yield f"a listener got {got!r}"

    def _look(self) -> dict[str, tuple[object, ...]]:
        found: dict[str, tuple[object, ...]] = {}
        for path in (self.home, *self.home.rglob("*")):
            s = path.lstat()
            content = hashlib.sha256(path.read_bytes()).hexdigest() if stat.S_ISREG(s.st_mode) else ""
            found[str(path)] = (s.st_mode, s.st_uid, s.st_gid, s.st_nlink, s.st_mtime_ns, s.st_ctime_ns, content)
        return found


class Trials:
    """An engine with the tiny problem open, and what a submission must leave as it was."""

    def __init__(self, engine: Engine, ground: Ground):
        self._ground = ground
        os.environ[SECRET] = "not for submissions"
        libc.prctl(_SET_CHILD_SUBREAPER, 1)  # what a submission leaves behind becomes our child
        self._opened = OpenProblem(load_problem("softmax", folder=TINY), engine, seed=os.getpid())
        assert self._opened.cases  # the worker that draws them is there
        self._own = _descendants()

    def judge(self, text: str, limits: Limits | None = None, turn: int = 0) -> Report | str:
        """The report on a submission, or why it is none."""
        opened = self._opened
        opened.problem = opened.problem.model_copy(update={"limits": limits or _limits(60, 512)})
        try:
            return opened.judge(read_submission(self._ground.write(text, turn), opened.problem))
        except SubmissionError as exc:
            return str(exc)

    def complaints(self, hostile: Hostile, *, brief: bool = False) -> list[str]:
        """Everything that is wrong with how it was judged, with what it left, and with how the next one fares.

        ``brief``: without the next one, without what is the same on every level (how reports are written), one turn.
        """
        found = []
        for turn in range(1 if brief else hostile.turns):
            report = self.judge(hostile.text, hostile.limits, turn)
            said = f"turn {turn}: " if hostile.turns > 1 else ""
            found += [said + complaint for complaint in _of(report, hostile)]
            if not brief and isinstance(report, Report):
                found += [said + complaint for complaint in _of_writing(report)]
        found += self._ground.complaints()
        found += [f"process {pid} is left" for pid in self._left()]
        return found if brief else found + self.next_complaints()

    def next_complaints(self) -> list[str]:
        """What is wrong with how a right submission is judged now."""
        report = self.judge(RIGHT)
        accepted = isinstance(report, Report) and report.verdict == "accepted"
        return [] if accepted else [f"the right submission after it is not accepted: {_said(report)}"]

    def _left(self) -> set[int]:
        """Processes that are there although a second has passed since the verdict."""
        deadline = time.monotonic() + 1
        while (left := _descendants() - self._own) and time.monotonic() < deadline:
            time.sleep(0.005)
        return left


def _of(report: Report | str, hostile: Hostile) -> Iterator[str]:
    """What is wrong with a report itself."""
    if isinstance(report, str):
        if "invalid submission" not in hostile.expect:
            yield f"the verdict is invalid submission: {report[:300]}"
        return
    if report.verdict not in hostile.expect:
        yield f"the verdict is {report.verdict}: {_said(report)}"
    printed = [line for texts in (report.printed, *(case.printed for case in report.cases)) for line in texts]
    yield from dict.fromkeys(line[:200] for line in printed if line.startswith("LEAK"))


def _of_writing(report: Report) -> Iterator[str]:
    """What a terminal or another program would stumble over."""
    for name, most in _MOST_CHARACTERS.items():
        file = io.StringIO()
        Console(file=file, width=100, color_system=None, highlight=False, markup=False).print(writer(name)(report))
        text = file.getvalue()
        if _CONTROL.search(text):
            yield f"{name} holds {_CONTROL.findall(text)[:5]}"
        if len(text) > most:
            yield f"{name} has {len(text)} characters"


def _said(report: Report | str) -> str:
    if isinstance(report, str):
        return report
    findings = [f"{case.name}: {f.subject} {f.message}" for case in report.cases for f in case.findings]
    return f"{report.message} {findings[:3]}"[:600]


def _descendants() -> set[int]:
    """Every process below this one that has not ended."""
    parents: dict[int, int] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                text = Path(f"/proc/{entry}/stat").read_text(errors="replace")
            except OSError:
                continue  # ended meanwhile
            state, parent, *_ = text.rpartition(")")[2].split()
            if state != "Z":
                parents[int(entry)] = int(parent)
    found, more = set[int](), {os.getpid()}
    while more:
        found |= more
        more = {pid for pid, parent in parents.items() if parent in found} - found
    return found - {os.getpid()}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--user", type=int)
    parser.add_argument("--isolation", default="auto")
    parser.add_argument("names", nargs="*")
    asked = parser.parse_args()
    if asked.user is not None:
        os.setgroups([])
        os.setgid(asked.user)
        os.setuid(asked.user)
    result: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as folder, Engine(asked.isolation) as engine:
        ground = Ground(Path(folder))
        trials = Trials(engine, ground)
        if asked.isolation == "auto":
            trials.next_complaints()  # from now on the engine knows its level
        for hostile in hostile_files():
            chosen = hostile.name in asked.names or not asked.names
            if chosen and (hostile.needs is None or engine.level == hostile.needs):
                result[hostile.name] = trials.complaints(hostile, brief=True)
        result["the next one"] = trials.next_complaints()
        result["isolation"] = engine.isolation
        ground.close()
    print(json.dumps(result))


if __name__ == "__main__":
    main()
