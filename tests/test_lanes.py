"""Several student workers side by side: each call runs once, a case's calls run together, and verdicts are the same."""

from __future__ import annotations

import threading

import pytest
from test_verdicts import RIGHT, body, messages

from judge import lanes, pipeline
from judge.lanes import Lanes
from judge.running import Ran
from judge.worker_events import Lost

CASE = {number: f"case {number // 3}" for number in range(12)}
ORDER = [7, 0, 3, 11, 1, 12, 4, 2, 9, 6, 5, 10, 8]  # 12 belongs to no case


class FakeRunner:
    """Takes calls in turns with the others, and notes which ones."""

    turns = threading.Barrier(2)

    def __init__(self, ran: Ran, problem: Exception | None = None):
        self.ran, self.took, self.over_memory, self.abandoned, self._problem = ran, [], False, False, problem

    def run(self, take, pool, calls):
        while numbers := take():
            self.took.append(list(numbers))
            if self._problem:
                raise self._problem
            self.turns.wait(5)
        return self.ran

    def abandon(self):
        self.abandoned = True
        self.turns.abort()


@pytest.fixture
def two(monkeypatch):
    monkeypatch.setattr(FakeRunner, "turns", threading.Barrier(2))
    monkeypatch.setattr(lanes, "_CALLS_FOR_ANOTHER", 12)

    def make(*runners):
        waiting = iter(runners)
        return Lanes(lambda: next(waiting), len(runners))

    return make


def test_each_call_runs_once_and_those_of_a_case_on_one_lane(two, monkeypatch):
    monkeypatch.setitem(CASE, 12, "case 3")  # twelve calls in four cases, and each lane takes half of the cases
    first, second = FakeRunner(Ran()), FakeRunner(Ran())
    two(first, second).run(ORDER, b"", {}, CASE)
    taken = first.took + second.took
    assert sorted(sum(taken, [])) == sorted(ORDER)
    assert len(first.took) == len(second.took) == 2
    for numbers in taken:
        assert len({CASE[number] for number in numbers}) == 1
        assert numbers == [number for number in ORDER if number in numbers]


def test_few_calls_stay_on_one_lane_in_their_order(two):
    first, second = FakeRunner(Ran()), FakeRunner(Ran())
    first.turns = threading.Barrier(1)
    two(first, second).run(ORDER[:11], b"", {}, CASE)
    assert (first.took, second.took) == ([ORDER[:11]], [])


def test_what_came_of_all_lanes_is_told_together(two, monkeypatch):
    monkeypatch.setattr(FakeRunner, "turns", threading.Barrier(1))
    lost = Lost("time limit", "no answer")
    one = Ran(seconds={0: 1.0}, printed={-1: b"a", 0: b"x"}, closed=(("f", 3),), peak_mib=100.0, import_seconds=0.1)
    other = Ran(
        lost={3: lost}, printed={-1: b"b", 4: b"y"}, closed=(("f", 3), ("g", None)), peak_mib=None, seeded=True,
        settings=("the generator",), settings_after=("grad mode",), missing=("g",), import_lost=lost,
    )  # fmt: skip
    assert two(FakeRunner(one), FakeRunner(other)).run(ORDER, b"", {}, CASE) == Ran(
        seconds={0: 1.0}, lost={3: lost}, printed={-1: b"a", 0: b"x", 4: b"y"}, closed=(("f", 3), ("g", None)),
        peak_mib=100.0, import_seconds=0.1, seeded=True, settings=("the generator",), settings_after=("grad mode",),
        missing=("g",), import_lost=lost,
    )  # fmt: skip


@pytest.mark.parametrize("place", [0, 1])
def test_an_error_on_one_lane_ends_the_others_and_is_raised(two, place):
    runners = [FakeRunner(Ran()), FakeRunner(Ran())]
    runners[place] = FakeRunner(Ran(), ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        two(*runners).run(ORDER, b"", {}, CASE)
    assert all(runner.abandoned for runner in runners)


@pytest.fixture
def judged_on_lanes(judged, engine, monkeypatch):
    """Judges on up to three lanes, and gives how many student workers there were, too."""
    monkeypatch.setattr(lanes, "_CALLS_FOR_ANOTHER", 2)
    monkeypatch.setattr(pipeline, "_most_lanes", lambda engine: 3)
    started = []
    start = engine.worker
    monkeypatch.setattr(engine, "worker", lambda role, *more: started.append(role) or start(role, *more))

    def judge(source):
        started.clear()
        return judged(source), started.count("student")

    return judge


@pytest.mark.parametrize(
    ("source", "verdict", "said"),
    [
        (RIGHT, "accepted", ""),
        (body("return x @ y"), "wrong answer", "value"),
        (body("while True: pass"), "time limit", "no answer after 2 s"),
        (body("os._exit(0)"), "runtime error", "exit code 0"),
        (body("while True: print('x' * 1000)"), "output limit", "16 KiB"),
        (body("bytearray(10**11)"), "memory limit", "MemoryError"),
        ("import os\nos._exit(3)\ndef solve(x, y): pass", "runtime error", "exit code 3"),
    ],
)
def test_verdicts_on_several_lanes_are_those_of_one(judged_on_lanes, source, verdict, said):
    report, workers = judged_on_lanes(source)
    assert workers > 1
    assert report.verdict == verdict, (report.message, messages(report))
    assert said in messages(report) + (report.message or "")
