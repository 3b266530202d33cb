"""The order of what a worker says: its answers and its output come through different pipes."""

from types import SimpleNamespace

import pytest

from judge.errors import JudgeError
from judge.processes.supervision import Event
from judge.worker_events import LOADING, Patience, locked, next_in_turn

FLOOD, EXIT = Event("flood", 1.0), Event("exit", 1.1)
LOCKED = Event("frame", 0.8, {"type": "locked", "level": "kernel", "layers": ["landlock"], "leaks": []})
LOADED = Event("frame", 0.9, {"type": "loaded"})
ANSWER = Event("frame", 0.9, {"type": "observation", "call": 3})


def worker(log, *events):
    """A worker that has printed this and says that, and what of it is still to come."""
    waiting = list(events)
    return SimpleNamespace(
        log=log,
        events=SimpleNamespace(put=waiting.append),
        next_event=lambda deadline: waiting.pop(0) if waiting else None,
        settle=lambda: None,
    ), waiting


@pytest.mark.parametrize(
    ("awaited", "log", "answer"),
    [
        (LOADING, b"\0-1\0hello\0" + b"7\0" + b"x" * 99, LOADED),
        (3, b"\0-1\0\0" + b"3\0\0" + b"4\0" + b"x" * 99, ANSWER),
        (None, b"\0-1\0\0" + b"3\0" + b"x" * 99, ANSWER),
        (3, b"\0-1\0\0" + b"3\0\0" + b"9999\0" + b"x" * 99, ANSWER),  # of a call that there is none of
    ],
)
def test_output_of_a_later_call_that_overtakes_an_answer_waits_for_it(awaited, log, answer):
    one, waiting = worker(log, FLOOD, answer)
    assert next_in_turn(one, awaited, 0.0) is answer
    assert waiting == [FLOOD]


@pytest.mark.parametrize(
    ("awaited", "log"),
    [
        (LOADING, b"\0-1\0" + b"x" * 99),
        (3, b"\0-1\0\0" + b"3\0x"),
        (3, b"\0-1\0\0" + b"2\0x"),  # of an earlier call, which has been answered
        (None, b"\0-1\0\0" + b"2\0x"),
    ],
)
def test_output_of_what_is_awaited_or_was_before_is_not_held_back(awaited, log):
    one, waiting = worker(log, FLOOD, ANSWER)
    assert next_in_turn(one, awaited, 0.0, (2,)) is FLOOD
    assert waiting == [ANSWER]


def test_where_no_answer_comes_the_flood_is_what_happened():
    later = b"\0-1\0\0" + b"7\0x"
    one, waiting = worker(later, FLOOD, EXIT)
    assert next_in_turn(one, LOADING, 0.0) is FLOOD
    assert waiting == [EXIT]
    assert next_in_turn(worker(later, FLOOD)[0], LOADING, 0.0) is FLOOD


def test_anything_else_is_passed_on():
    assert next_in_turn(worker(b"", LOADED)[0], LOADING, 0.0) is LOADED
    assert next_in_turn(worker(b"")[0], LOADING, 0.0) is None


def test_output_of_the_import_may_be_read_before_the_report_on_the_lock():
    told = []
    engine = SimpleNamespace(locked=lambda *what: told.append(what))
    one, waiting = worker(b"\0-1\0" + b"x" * 99, FLOOD, LOCKED)
    assert locked(engine, one) == LOCKED.at
    assert told == [("kernel", ["landlock"], [])]
    assert waiting == [FLOOD]


@pytest.mark.parametrize("events", [(), (EXIT,), (FLOOD,), (FLOOD, EXIT), (LOADED,)])
def test_a_worker_that_never_says_it_is_locked_could_not_be_started(events):
    with pytest.raises(JudgeError, match="could not be started: no such module"):
        locked(None, worker(b"Traceback\nno such module\n", *events)[0])


def test_patience_is_as_long_as_workers_wait_for_a_processor():
    waits = {"one": 0.0, "other": 3.0}
    workers = [SimpleNamespace(waited=lambda name=name: waits[name]) for name in waits]
    patience = Patience(10.0, *workers)
    assert [patience.more(), patience.more()] == [3.0, 0.0]
    waits["one"] = 0.01
    assert patience.more() == 0.0
    waits["one"] = 0.5
    assert [patience.more(), patience.more()] == [0.5, 0.0]
    waits["other"] = 1e9
    assert [3.5 + patience.more(), patience.more()] == [90.0, 0.0]
