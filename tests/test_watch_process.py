"""`judge watch` as a process of its own: what is printed, recorded and left behind, and the keys of a terminal."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_command_process import ENVIRONMENT, PROBLEM, REFERENCE, alive, descendants, judge

RIGHT = REFERENCE.read_text(encoding="utf-8")
STUB = (REFERENCE.parent.parent / "stub.py").read_text(encoding="utf-8")
SECONDS = 120
posix_only = pytest.mark.skipif(os.name != "posix", reason="signals and terminals are POSIX's")


class Shown:
    """What a command shows, read as it comes; never waited for longer than ``SECONDS``."""

    def __init__(self, descriptor: int):
        self._descriptor = descriptor
        self._text = ""

    def until(self, *words: str) -> str:
        """Read until all the words were shown, and give everything since the last time."""
        deadline = time.monotonic() + SECONDS
        while not all(word in self._text for word in words):
            ready, _, _ = select.select([self._descriptor], [], [], max(0.0, deadline - time.monotonic()))
            part = os.read(self._descriptor, 1 << 16) if ready else b""
            assert part, f"waited for {words}, saw {self._text}"
            self._text += part.decode(errors="replace")
        text, self._text = self._text, ""
        return text


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "submissions").mkdir()
    return tmp_path / "submissions" / f"{PROBLEM}.py"


@contextlib.contextmanager
def watching(folder: Path, *options: str, terminal: int | None = None) -> Iterator[subprocess.Popen]:
    streams = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE if terminal is None else terminal)
    process = judge("watch", PROBLEM, *options, folder=folder, stdin=terminal, text=False, encoding=None, **streams)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@contextlib.contextmanager
def heard(name: str) -> Iterator[None]:
    """Let a process that is started meanwhile hear a signal which may be ignored here, as under nohup."""
    number = signal.Signals[name]
    before = signal.signal(number, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(number, before)


def attempts(folder: Path) -> list[tuple[str, int]]:
    with contextlib.closing(sqlite3.connect(folder / "submissions" / "attempts.db")) as database:
        return database.execute("SELECT verdict, practice FROM attempts ORDER BY id").fetchall()


@posix_only
def test_each_new_content_is_an_attempt_and_one_report_follows_the_other(tmp_path, path):
    path.write_text("def gated(:\n", encoding="utf-8")
    with watching(tmp_path) as process:
        shown = Shown(process.stdout.fileno())
        text = shown.until("invalid submission", "line 1", "judge show")
        assert "\x1b" not in text
        path.write_text(STUB, encoding="utf-8")
        shown.until("runtime error", "before: invalid submission")
        path.write_text(RIGHT, encoding="utf-8")
        assert "\x1b" not in shown.until("accepted", "before: runtime error; fixed: ")
        path.unlink()
        shown.until(f"waiting for submissions/{PROBLEM}.py to come back")
        path.write_text(RIGHT, encoding="utf-8")
        shown.until("accepted", "no case has changed")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=SECONDS)
    assert (process.returncode, err) == (130, b"")
    assert attempts(tmp_path) == [("invalid submission", 0), ("runtime error", 0), ("accepted", 0)]


@posix_only
def test_a_missing_file_is_waited_for_with_a_word_on_how_to_begin(tmp_path):
    with watching(tmp_path, "--no-record") as process:
        shown = Shown(process.stdout.fileno())
        shown.until(f"waiting for submissions/{PROBLEM}.py; judge start {PROBLEM}")
        judge("start", PROBLEM, folder=tmp_path).communicate(timeout=SECONDS)
        shown.until("runtime error")
    assert not (tmp_path / "submissions" / "attempts.db").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize(("signalled", "isolation"), [("INT", "auto"), ("HUP", "auto"), ("TERM", "process")])
def test_the_end_leaves_no_process_and_no_file(tmp_path, path, monkeypatch, signalled, isolation):
    (tmp_path / "temporary").mkdir()
    monkeypatch.setitem(ENVIRONMENT, "TMPDIR", str(tmp_path / "temporary"))
    path.write_text(RIGHT, encoding="utf-8")
    with heard("SIGHUP"), watching(tmp_path, "--isolation", isolation) as process:
        Shown(process.stdout.fileno()).until("accepted", "isolation: ")
        below = descendants(process.pid)
        process.send_signal(signal.Signals[f"SIG{signalled}"])
        _, err = process.communicate(timeout=SECONDS)
    assert (process.returncode, err) == (130, b"")
    assert below
    deadline = time.monotonic() + SECONDS
    while any(map(alive, below)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(alive, below))
    assert list((tmp_path / "temporary").iterdir()) == []


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    """Both ends of a terminal; the first is the hand that types."""
    import pty

    hand, screen = pty.openpty()
    yield hand, screen
    os.close(hand)
    os.close(screen)


@posix_only
def test_the_keys_of_a_terminal(tmp_path, path, terminal):
    import termios

    hand, screen = terminal
    before = termios.tcgetattr(screen)
    path.write_text(STUB, encoding="utf-8")
    with watching(tmp_path, terminal=screen) as process:
        shown = Shown(hand)
        shown.until("runtime error", "v every case", "q quit")
        assert not termios.tcgetattr(screen)[3] & termios.ICANON
        os.write(hand, b"h")
        shown.until("hint 1 of 3")
        os.write(hand, b"\x1b[A?v")
        shown.until("\x1b[2J", "runtime error", "v less")
        os.write(hand, b"r")
        shown.until("judging", "runtime error", "no case has changed")
        os.write(hand, b"s")
        shown.until("measures no residual stream")
        os.write(hand, b"q")
        assert process.wait(timeout=SECONDS) == 0
    assert termios.tcgetattr(screen) == before
    assert attempts(tmp_path) == [("runtime error", 0)]


@posix_only
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_terminal_is_as_it_was_however_the_watch_ends(tmp_path, path, terminal, number):
    import termios

    hand, screen = terminal
    before = termios.tcgetattr(screen)
    path.write_text(RIGHT + "\nwhile True:\n    pass\n", encoding="utf-8")
    with watching(tmp_path, terminal=screen) as process:
        Shown(hand).until("judging")
        process.send_signal(number)
        assert process.wait(timeout=SECONDS) == 130
    assert termios.tcgetattr(screen) == before


@posix_only
def test_the_least_feedback_shows_the_verdict_only(tmp_path, path):
    path.write_text(STUB, encoding="utf-8")
    with watching(tmp_path, "--no-record", "--feedback", "verdict") as process:
        text = Shown(process.stdout.fileno()).until("runtime error", "isolation: ")
    assert "NotImplementedError" not in text
