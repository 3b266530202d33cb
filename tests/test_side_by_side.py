"""Tasks in forked children: each is answered once, and one that hangs, ends or spoils its process costs only itself."""

from __future__ import annotations

import functools
import os
import sys
import time

import pytest
import torch

from judge import side_by_side as module
from judge.side_by_side import side_by_side

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only there workers are forked")


def answer(number):
    return {"number": number, "process": os.getpid(), "dtype": str(torch.get_default_dtype())}


def tasks(count):
    return [functools.partial(answer, number) for number in range(count)]


@pytest.mark.parametrize("at_once", [1, 2, 5])
def test_each_task_is_answered_once(at_once):
    found = dict(side_by_side(tasks(9), 5.0, at_once))
    assert {number: one["number"] for number, one in found.items()} == {number: number for number in range(9)}
    assert 1 <= len({one["process"] for one in found.values()}) <= at_once
    assert os.getpid() not in {one["process"] for one in found.values()}


def test_there_may_be_no_task():
    assert list(side_by_side([], 5.0, 2)) == []


def leave():
    os._exit(3)


def spin():
    while True:
        pass


@pytest.mark.parametrize("at_once", [1, 2])
@pytest.mark.parametrize("bad", [leave, spin, sys.exit, lambda: {}[1], lambda: {"not": {1}}])
def test_a_task_without_an_answer_costs_only_itself(bad, at_once, capfd):
    some = tasks(6)
    some[2] = bad
    found = dict(side_by_side(some, 0.5, at_once))
    assert {number for number, one in found.items() if one is None} == {2}
    assert len(found) == 6


def test_a_task_that_sleeps_is_ended_too():
    found = dict(side_by_side([lambda: time.sleep(60) or {}, *tasks(2)], 0.25))
    assert [found[number] is None for number in range(3)] == [True, False, False]


def test_a_task_that_changes_settings_changes_them_for_itself():
    def change():
        torch.set_default_dtype(torch.float64)
        return answer(0)

    found = dict(side_by_side([change, *tasks(4)], 5.0))
    assert [found[number]["dtype"] for number in range(5)] == ["torch.float64", *["torch.float32"] * 4]
    assert torch.get_default_dtype() is torch.float32


def test_where_no_child_lives_there_is_no_answer(monkeypatch):
    monkeypatch.setattr(module, "_work", lambda *_: os._exit(1))
    assert dict(side_by_side(tasks(3), 5.0, 2)) == {0: None, 1: None, 2: None}


def test_answers_may_be_left_where_a_task_had_none():
    answers = side_by_side([leave, *tasks(2)], 5.0)
    assert next(answers) == (0, None)
    answers.close()


def test_nothing_is_left_when_the_answers_are_not_wanted():
    before = len(os.listdir("/dev/fd"))
    answers = side_by_side([*tasks(2), spin], 60.0, 2)
    next(answers)
    answers.close()
    assert len(os.listdir("/dev/fd")) == before
