"""The parent's side of a worker: order of events, caps, and ends."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from judge.errors import JudgeError
from judge.processes import frames, interpreter
from judge.processes.supervision import Engine, Worker
from judge.worker_events import end_of, exit_of, locked


def worker(log_bytes: int = 1 << 16) -> tuple[Worker, int, int, int]:
    """A worker without a process: gives the other ends of its commands, results and log."""
    commands, results, log = os.pipe(), os.pipe(), os.pipe()
    return Worker(lambda: None, commands[1], results[0], log[0], log_bytes), commands[0], results[1], log[1]


def kinds(one: Worker, count: int) -> list[str]:
    events = [one.next_event(time.monotonic() + 10) for _ in range(count)]
    return [event.kind if event else "nothing" for event in events]


def test_an_exit_never_overtakes_the_last_answers():
    one, _, results, _ = worker()
    one.exited({"exit": 0})  # its account may arrive first: it comes through another pipe
    os.write(results, frames.pack({"type": "loaded"}) + frames.pack({"type": "done"}))
    os.close(results)
    assert kinds(one, 4) == ["frame", "frame", "end of answers", "exit"]


def test_what_is_no_frame_is_unreadable():
    for data in (b"x" * 16, b"JDG1" + b"\xff" * 12, frames.pack({})[:16] + b"[]"):
        one, _, results, _ = worker()
        os.write(results, data)
        os.close(results)
        assert kinds(one, 1)[0] in ("unreadable", "end of answers")


def test_a_header_that_is_too_long_is_refused_before_it_is_read():
    one, _, results, _ = worker()
    os.write(results, b"JDG1" + (frames.MAX_HEADER + 1).to_bytes(4, "little") + (0).to_bytes(8, "little"))
    assert kinds(one, 1) == ["unreadable"]  # nothing was closed: it did not wait for the bytes


def test_the_log_is_capped_and_a_flood_is_reported_once():
    one, _, _, log = worker(log_bytes=100)
    os.write(log, b"a" * 60)
    os.write(log, b"b" * 60)
    os.write(log, b"c" * 60)
    os.close(log)
    one.settle()
    assert bytes(one.log) == b"a" * 60 + b"b" * 40
    assert kinds(one, 1) == ["flood"]
    assert one.events.empty()


def test_commands_arrive_whole_and_in_order():
    one, commands, _, _ = worker()
    one.send({"type": "call", "call": 1}, b"x" * 300_000)
    one.send({"type": "end"})
    one.finish()
    with os.fdopen(commands, "rb") as stream:
        assert frames.read(stream.read) == ({"type": "call", "call": 1}, b"x" * 300_000)
        assert frames.read(stream.read) == ({"type": "end"}, b"")
        assert stream.read() == b""


def test_an_exit_that_was_taken_is_not_waited_for_again(monkeypatch):
    one, _, results, log = worker()
    os.close(results)
    os.close(log)
    one.exited({"exit": None, "signal": None, "lost": "the engine was closed"})
    assert kinds(one, 1) == ["end of answers"]
    taken = one.next_event(time.monotonic() + 10)
    assert taken is not None
    monkeypatch.setattr(one, "next_event", lambda deadline: pytest.fail("it is waited for"))
    assert exit_of(one) is taken
    with pytest.raises(JudgeError, match="the engine was closed"):
        end_of(one, taken, "during the call", 64)
    assert exit_of(one) is taken


@pytest.mark.parametrize("isolation", ["auto", "process"])
def test_a_closed_engine_starts_nothing(monkeypatch, isolation):
    for start in ("start", "start_zygote"):
        monkeypatch.setattr(interpreter, start, lambda *_, **__: pytest.fail("a process is started"))
    engine = Engine(isolation)
    engine.close()
    with pytest.raises(JudgeError, match="the engine was closed"):
        engine.worker("oracle")
    if engine.forks:
        with pytest.raises(JudgeError, match="the engine was closed"):
            engine.prepare("judge.processes.tests_worker")


@pytest.mark.parametrize("isolation", ["auto", "process"])
def test_workers_that_were_begun_early_are_the_ones_that_are_given(isolation):
    with Engine(isolation) as engine:
        for _ in range(2):
            engine.keep_ready("student", 1 << 10, 2)
        early = [spare for *_, spare in engine._spares]
        assert len(early) == 2
        assert [engine.worker("student", 1 << 10) for _ in range(2)] == early
        assert engine.worker("student", 1 << 10) not in early
        for one in early:
            one.finish()
            while one.ended is None:
                assert one.next_event(time.monotonic() + 120)
            assert one.ended.header["exit"] == 0  # it was ready, and its commands ended


def test_a_worker_that_has_ended_before_it_was_asked_for_is_not_given():
    with Engine() as engine:
        engine.keep_ready("student", 1 << 10, 2)
        gone, there = (spare for *_, spare in engine._spares)
        gone.kill()
        gone._threads[1].join(60)  # it has read to the end of the answers
        assert engine.worker("student", 1 << 10) is there
        gone._threads[0].join(60)
        assert not gone._threads[0].is_alive()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nobody counts it")
@pytest.mark.parametrize("isolation", ["auto", "process"])
def test_what_a_worker_waits_for_a_processor_is_counted(isolation):
    setup = {"type": "setup", "source": "while True: pass", "names": [], "closed": [], "preload": [], "seed": 1}
    with Engine(isolation) as engine:
        worker = engine.worker("student")
        worker.send(setup | {"lock": engine.lock_plan, "memory_mib": 512, "cpu_seconds": 60, "rehearse": False})
        locked(engine, worker)
        before, one = worker.waited(), {min(os.sched_getaffinity(0))}
        os.sched_setaffinity(worker.pid, one)
        busy = subprocess.Popen([sys.executable, "-c", f"import os\nos.sched_setaffinity(0, {one})\nwhile True: pass"])
        try:
            until = time.monotonic() + 60
            while worker.waited() < before + 0.3:
                assert time.monotonic() < until
        finally:
            busy.kill()
            busy.wait()
