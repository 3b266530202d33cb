"""The order of what a student worker says: its answers and its output come through different pipes."""

from types import SimpleNamespace

from judge.processes.supervision import Event
from judge.running import _before_a_flood

FLOOD, LOADED = Event("flood", 1.0), Event("frame", 0.9, {"type": "loaded"})


def worker(log, *events):
    """A worker that has printed this and will say that."""
    waiting = list(events)
    put = SimpleNamespace(put=waiting.append)
    return SimpleNamespace(
        log=log, events=put, next_event=lambda deadline: waiting.pop(0) if waiting else None
    ), waiting


def test_output_of_a_call_that_overtakes_the_report_on_the_import_waits_for_it():
    one, waiting = worker(b"\0-1\0hello\0" + b"7\0" + b"x" * 99, LOADED)
    assert _before_a_flood(one, FLOOD) is LOADED
    assert waiting == [FLOOD]


def test_output_of_the_import_itself_is_not_waited_for():
    one, waiting = worker(b"\0-1\0" + b"x" * 99, LOADED)
    assert _before_a_flood(one, FLOOD) is FLOOD
    assert waiting == [LOADED]


def test_where_no_report_comes_the_flood_is_what_happened():
    ended = Event("exit", 1.1)
    one, waiting = worker(b"\0-1\0\0" + b"7\0x", ended)
    assert _before_a_flood(one, FLOOD) is FLOOD
    assert waiting == [ended]
    assert _before_a_flood(worker(b"\0-1\0\0" + b"7\0x")[0], FLOOD) is FLOOD


def test_anything_else_is_passed_on():
    assert _before_a_flood(worker(b"")[0], LOADED) is LOADED
    assert _before_a_flood(worker(b"")[0], None) is None
