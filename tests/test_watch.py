"""`judge watch`: every way of saving, each with the real engine, and what the screen says of it."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from rich.console import Console
from sample_reports import SAMPLES, report

from judge.catalog import load_problem
from judge.errors import JudgeError, SubmissionError
from judge.models import CaseResult, Limits, Problem, Report, StreamSettings, Submission
from judge.processes.supervision import Engine
from judge.report.watch import Screen, changes
from judge.submission import read_submission
from judge.watch import Watch
from judge.watch_events import Event, Judged, Judging, Measured, Pressed, Restarted, Waiting

RIGHT = "import torch\n\ndef solve(x, y):\n    return torch.softmax(x @ y, -1)\n"
WRONG = "import torch\n\ndef solve(x, y):\n    return torch.softmax(x @ y, -2)\n"
HANGS = "import threading\n\ndef solve(x, y):\n    threading.Event().wait()\n"
SECONDS = 120
TINY = Path(__file__).parent / "tiny_problems"


class Kept(Engine):
    """An engine that several watches use, one after the other."""

    def close(self) -> None:
        """Stay."""

    def end(self) -> None:
        super().close()


class Watched:
    """A watch that runs in a thread; its events are waited for, never longer than ``SECONDS``."""

    def __init__(self, problem: Problem, engine: Engine, path: Path, renew: Callable[[], Engine]):
        self.path = path
        self.watch = Watch(problem, engine, renew, lambda: path)
        self._events: queue.Queue[Event | BaseException | None] = queue.Queue()
        self._thread = threading.Thread(target=self._follow)
        self._thread.start()

    def _follow(self) -> None:
        try:
            for event in self.watch.events():
                self._events.put(event)
            self._events.put(None)
        except BaseException as exc:  # told to the test, which raises it
            self._events.put(exc)

    def save(self, source: str) -> None:
        self.path.write_text(source, encoding="utf-8")

    def next(self) -> Event | None:
        event = self._events.get(timeout=SECONDS)
        if isinstance(event, BaseException):
            raise event
        return event

    def judged(self) -> Judged:
        """The next verdict; on the way to it nothing but the word that something is judged."""
        while isinstance(event := self.next(), Judging):
            pass
        assert isinstance(event, Judged), event
        return event

    def verdict(self) -> str:
        return self.judged().report.verdict

    def quit(self) -> None:
        self.watch.press("q")
        self._thread.join(SECONDS)
        assert not self._thread.is_alive()


def fail() -> Engine:
    raise AssertionError("no engine has ended")


@pytest.fixture(scope="module")
def kept() -> Iterator[Kept]:
    engine = Kept()
    engine.start()  # here: a zygote ends with the thread that started it
    yield engine
    engine.end()


@pytest.fixture
def watching(softmax: Problem, kept: Kept, tmp_path: Path) -> Iterator[Callable[..., Watched]]:
    with contextlib.ExitStack() as stack:

        def begin(source: str | None, engine: Engine = kept, renew: Callable[[], Engine] = fail) -> Watched:
            patient = Limits(call_seconds=10 * SECONDS, submission_seconds=10 * SECONDS)
            path = tmp_path / "answers" / "softmax.py"
            if source is not None:
                path.parent.mkdir()
                path.write_text(source, encoding="utf-8")
            watched = Watched(softmax.model_copy(update={"limits": patient}), engine, path, renew)
            stack.callback(watched.quit)
            return watched

        yield begin


def test_each_save_is_judged_on_inputs_of_its_own(watching):
    watched = watching(WRONG)
    first = watched.judged()
    assert (first.report.verdict, first.before, first.report.practice) == ("wrong answer", None, False)
    watched.save(RIGHT)
    second = watched.judged()
    assert second.report.verdict == "accepted"
    assert second.before is first.report
    assert second.report.seed != first.report.seed


def test_the_same_content_is_not_judged_again(watching):
    watched = watching(RIGHT)
    assert watched.verdict() == "accepted"
    watched.path.touch()
    watched.save(RIGHT)
    os.replace(copy_beside(watched.path, RIGHT), watched.path)
    watched.save(WRONG)
    assert watched.verdict() == "wrong answer"


def copy_beside(path: Path, source: str) -> Path:
    copy = path.with_name(".softmax.py.swp")
    copy.write_text(source, encoding="utf-8")
    return copy


def test_a_file_that_is_renamed_into_place_is_judged(watching):
    watched = watching(WRONG)
    watched.verdict()
    os.replace(copy_beside(watched.path, RIGHT), watched.path)
    assert watched.verdict() == "accepted"
    os.replace(copy_beside(watched.path, WRONG), watched.path)
    assert watched.verdict() == "wrong answer"


def test_a_file_that_is_deleted_and_made_again_is_judged(watching):
    watched = watching(WRONG)
    watched.verdict()
    watched.path.unlink()
    watched.save(RIGHT)
    assert watched.verdict() == "accepted"


@pytest.mark.parametrize("half", ["", RIGHT[:29]], ids=["truncated", "half"])
def test_a_half_written_file_is_not_judged(watching, monkeypatch, half):
    monkeypatch.setattr("judge.watch._SETTLED_SECONDS", float(SECONDS))
    looked = threading.Event()

    def read(path: Path, problem: Problem) -> Submission:
        try:
            return read_submission(path, problem)
        except SubmissionError:
            looked.set()
            raise

    monkeypatch.setattr("judge.watch.read_submission", read)
    watched = watching(WRONG)
    watched.verdict()
    with watched.path.open("w", encoding="utf-8") as file:
        file.write(half)
        file.flush()
        assert looked.wait(SECONDS)
        file.write(RIGHT[len(half) :])
    assert watched.verdict() == "accepted"


def test_a_deleted_file_is_waited_for(watching):
    watched = watching(WRONG)
    watched.verdict()
    watched.path.unlink()
    assert watched.next() == Waiting(watched.path, gone=True)
    watched.save(RIGHT)
    assert watched.verdict() == "accepted"


def test_a_folder_that_is_not_there_yet_is_waited_for(watching):
    watched = watching(None)
    assert watched.next() == Waiting(watched.path, gone=False)
    watched.path.parent.mkdir()
    watched.save(RIGHT)
    assert watched.verdict() == "accepted"


@pytest.mark.skipif(os.name != "posix", reason="links take a right there")
def test_a_save_behind_a_link_is_noticed(watching, tmp_path):
    real = tmp_path / "elsewhere" / "real.py"
    real.parent.mkdir()
    real.write_text(WRONG, encoding="utf-8")
    (tmp_path / "answers").mkdir()
    (tmp_path / "answers" / "softmax.py").symlink_to(real)
    watched = watching(None)
    assert watched.verdict() == "wrong answer"
    real.write_text(RIGHT, encoding="utf-8")
    assert watched.verdict() == "accepted"


def test_a_save_while_another_is_judged_wins(watching):
    watched = watching(HANGS)
    assert watched.next() == Judging(watched.path)
    watched.save(RIGHT)
    judged = watched.judged()
    assert (judged.report.verdict, judged.before) == ("accepted", None)
    watched.save(WRONG)
    assert watched.verdict() == "wrong answer"


def test_a_submission_that_hangs_does_not_keep_anybody(watching):
    watched = watching(HANGS)
    assert watched.next() == Judging(watched.path)
    watched.quit()
    assert watched.next() is None


def test_a_syntax_error_needs_no_engine(watching):
    class NoEngine(Engine):
        def worker(self, role, log_bytes=0):
            raise JudgeError("there is no worker")

    watched = watching("def solve(x, y)\n", NoEngine(), NoEngine)
    judged = watched.judged()
    assert (judged.report.verdict, judged.report.line) == ("invalid submission", 1)
    watched.save("def solve(x, y): return\n")
    assert isinstance(watched.next(), Judging)
    assert watched.next() == Restarted("there is no worker")
    assert watched.verdict() == "judge error"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is no zygote")
def test_a_zygote_that_was_killed_is_replaced(watching):
    engine = Engine()
    watched = watching(WRONG, engine, Engine)
    assert watched.verdict() == "wrong answer"
    os.kill(engine._zygote.pid, signal.SIGKILL)
    watched.save(RIGHT)
    assert isinstance(watched.next(), Judging)
    restarted = watched.next()
    assert isinstance(restarted, Restarted)
    assert "ended" in restarted.message
    assert watched.verdict() == "accepted"
    watched.save(WRONG)
    assert watched.verdict() == "wrong answer"


def test_spawned_workers_are_kept_ready(watching):
    engine = Engine("process")
    watched = watching(WRONG, engine)
    assert watched.verdict() == "wrong answer"
    watched.save(RIGHT)
    assert watched.verdict() == "accepted"
    assert len(engine._processes) <= 6  # two for each judging, and two for the next


def test_r_judges_again_which_is_no_new_attempt(watching):
    watched = watching(RIGHT)
    first = watched.judged()
    watched.watch.press("r")
    again = watched.judged()
    assert (first.again, again.again) == (False, True)
    assert again.report.seed != first.report.seed
    watched.save(RIGHT + "# another file\n")
    assert not watched.judged().again


def test_other_keys_are_passed_on_and_a_stream_is_measured_where_there_is_one(watching):
    watched = watching(RIGHT)
    watched.judged()
    watched.watch.press("h")
    assert watched.next() == Pressed("h")
    watched.watch.press("s")
    assert watched.next() == Pressed("s")
    measured = watched.next()
    assert isinstance(measured, Measured)
    assert "measures no residual stream" in measured.message


def test_where_no_watch_is_to_be_had_the_times_are_looked_at(watching, monkeypatch):
    import watchfiles

    def watch(*folders: object, **how: object) -> Iterator[None]:
        raise OSError("OS file watch limit reached")

    monkeypatch.setattr(watchfiles, "watch", watch)
    watched = watching(WRONG)
    assert watched.verdict() == "wrong answer"
    watched.save(RIGHT)
    assert watched.verdict() == "accepted"


def test_scratch_folders_do_not_pile_up(tmp_path, kept, monkeypatch):
    keeper = load_problem("keeper", folder=TINY)
    scratch, path = tmp_path / "scratch", tmp_path / "keeper.py"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    source = (TINY / "keeper" / "hidden" / "reference.py").read_text(encoding="utf-8")
    path.write_text(source, encoding="utf-8")
    watched = Watched(keeper, kept, path, fail)
    try:
        for number in range(3):
            assert watched.verdict() == "accepted"
            assert len(list(scratch.iterdir())) <= 1  # the next judging's
            watched.save(f"{source}# {number}\n")
    finally:
        watched.quit()


def cases(**statuses: str) -> tuple[CaseResult, ...]:
    return tuple(CaseResult(name=name, sentence="", status=status) for name, status in statuses.items())


def changed(verdict: str, now: tuple[CaseResult, ...], before: Report | None, then: tuple[CaseResult, ...] = ()) -> str:
    return changes(Judged(report(verdict, now), before, then))


def test_what_changed_is_said_in_words():
    then = cases(a="wrong answer", b="passed", c="passed", d="runtime error", e="passed")
    now = cases(a="passed", b="wrong answer", c="passed", d="wrong answer", e="not reached")
    wrong = SAMPLES["wrong_answer_with_diagnosis"]
    assert changed("wrong answer", now, None) == ""
    assert changed("wrong answer", now, wrong, then) == "fixed: a; newly broken: b; no longer reached: e"
    assert changed("wrong answer", now, wrong, now) == "no case has changed"


def test_a_case_that_waits_for_another_one_is_not_newly_broken():
    waits = (CaseResult(name="a", sentence="", status="not reached", after="plain"),)
    wrong = SAMPLES["wrong_answer_with_diagnosis"]
    assert changed("wrong answer", waits, wrong, cases(a="passed")) == "no longer reached: a"
    assert changed("wrong answer", waits, wrong, cases(a="wrong answer")) == "no case has changed"
    assert changed("wrong answer", cases(a="wrong answer"), wrong, waits) == "no case has changed"
    assert changed("wrong answer", cases(a="passed"), wrong, waits) == "fixed: a"


def test_the_verdict_before_is_told_with_what_is_fixed():
    wrong, then = SAMPLES["wrong_answer_with_diagnosis"], cases(a="wrong answer")
    assert changed("accepted", cases(a="passed"), wrong, then) == "before: wrong answer; fixed: a"


def test_a_syntax_error_between_two_verdicts_hides_no_change():
    invalid = SAMPLES["invalid_submission"]
    words = changed("accepted", cases(a="passed"), invalid, cases(a="wrong answer"))
    assert words == "before: invalid submission; fixed: a"
    assert changed("invalid submission", (), invalid, cases(a="wrong answer")) == "nothing has changed"


def test_many_changes_are_counted():
    then, now = (cases(**dict.fromkeys("abcdefgh", status)) for status in ("wrong answer", "passed"))
    assert changed("accepted", now, report("accepted"), then) == "fixed: a, b, c, d, e, f and 2 more"


def screen(softmax: Problem, **how: object) -> Screen:
    return Screen(softmax, "full", **{"verbose": False, "following": None, "keys": False, **how})


def text(output: object, width: int = 100) -> str:
    console = Console(width=width, force_terminal=True, color_system=None)
    with console.capture() as written:
        console.print(output, crop=False)
    return written.get()


def test_what_is_waited_for_is_named_with_what_to_do(softmax):
    own, other = Path("submissions/softmax.py"), Path("elsewhere/mine.py")
    stub = "; judge start softmax writes a stub to begin with"
    for path, gone, words in (
        (own, False, f"waiting for {own}{stub}\n"),
        (own, True, f"waiting for {own} to come back\n"),
        (other, False, f"waiting for {other}\n"),
    ):
        assert text(screen(softmax).show(Waiting(path, gone))) == words
        assert text(screen(softmax).show(Waiting(path, gone)), width=30) == words


def test_the_screen_is_cleared_only_where_there_are_keys(softmax):
    judged = Judged(SAMPLES["wrong_answer_with_diagnosis"], None, ())
    with_keys, without = (text(screen(softmax, keys=keys).show(judged)) for keys in (True, False))
    assert "\x1b[2J" in with_keys
    assert "q quit" in with_keys
    assert "\x1b[2J" not in without
    assert "q quit" not in without
    assert "Ctrl-C" in text(screen(softmax).greeting())


def test_a_save_is_the_next_step_and_no_command_for_the_file_that_is_watched(softmax):
    with_keys, without = (
        {name: text(screen(softmax, keys=keys, following="rms-norm").show(Judged(sample, None, ())))
         for name, sample in SAMPLES.items()}
        for keys in (True, False)
    )  # fmt: skip
    for shown in (with_keys, without):
        assert not any("judge submit" in page for page in shown.values())
        assert "next: save your file   it is judged at once" in shown["time_limit"]
        assert "judge show layer-norm" in shown["invalid_submission"]
        assert "next: judge show rms-norm" in shown["accepted_with_stream"]
    assert "judge hint" not in with_keys["time_limit"]
    assert "judge stream" not in with_keys["accepted_with_stream"]
    assert "judge hint layer-norm" in without["time_limit"]


def test_v_shows_every_case_and_takes_them_away_again(softmax):
    shown = screen(softmax, keys=True)
    assert shown.show(Pressed("v")) is None  # there is no verdict yet
    short = text(shown.show(Judged(SAMPLES["wrong_answer_with_diagnosis"], None, ())))
    assert "strided_input" not in short
    assert "strided_input" in text(shown.show(Pressed("v")))
    assert text(shown.show(Pressed("v"))) == short


def test_a_stream_is_offered_where_there_is_one(softmax):
    with_stream = softmax.model_copy(update={"stream": StreamSettings(labels=("pre-norm",))})
    judged = Judged(SAMPLES["accepted_with_stream"], None, ())
    assert "s stream" not in text(screen(softmax, keys=True).show(judged))
    assert "s stream" in text(screen(with_stream, keys=True).show(judged))


def test_what_an_engine_died_of_stays_away_from_the_terminal(softmax):
    words = "killed\na new one is started, and your file judged again\n"
    assert text(screen(softmax).show(Restarted("killed\x1b[31m"))) == words


def test_a_new_engine_is_told_of_on_the_next_screen_and_no_longer(softmax):
    shown, judged = screen(softmax, keys=True), Judged(SAMPLES["runtime_error"], None, ())
    shown.show(Restarted("it was killed"))
    assert "it was killed" in text(shown.show(judged))
    assert "it was killed" not in text(shown.show(judged))
