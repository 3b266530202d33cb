"""The process that forks the workers: the first oracle worker before torch is imported, all others after it."""

import contextlib
import json
import os
import socket
import sys
from importlib.metadata import version

import pytest

from judge.catalog import find_problem, load_problems
from judge.pipeline import OpenProblem
from judge.processes import interpreter, rehearsal
from judge.processes.supervision import Engine
from judge.submission import read_submission

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere workers are spawned")


def said(first: list[dict[str, object]], *, early: bool = True) -> list[list[str]]:
    """The kinds of a zygote's messages, until it is ready and each command was followed."""
    zygote, control = interpreter.start_zygote(early=early)
    with zygote, control:
        control.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        control.sendall(interpreter.harness())
        for command in first:
            pipes = [os.pipe() for _ in range(3)]
            theirs = [pipes[0][0], pipes[1][1], pipes[2][1]]
            socket.send_fds(control, [json.dumps(command).encode() + b"\n"], theirs)
            for descriptor in theirs:
                os.close(descriptor)
        lines = control.makefile("rb")
        heard = [sorted(json.loads(lines.readline())) for _ in range(len(first) + 1)]
        zygote.kill()
    return heard


FORKED, READY = ["id", "pid"], ["ready", "threads"]
EARLY = version("torch").startswith("2.13.")


@pytest.mark.parametrize(
    ("commands", "expected"),
    [
        ([{"do": "fork", "id": 1, "role": "student"}], [READY, FORKED]),
        ([{"do": "fork", "id": 1, "role": "oracle"}], [FORKED, READY] if EARLY else [READY, FORKED]),
        (
            [{"do": "fork", "id": 1, "role": "oracle"}, {"do": "fork", "id": 2, "role": "student"}],
            [FORKED, READY, FORKED] if EARLY else [READY, FORKED, FORKED],
        ),
        (
            [{"do": "fork", "id": 1, "role": "student"}, {"do": "fork", "id": 2, "role": "oracle"}],
            [READY, FORKED, FORKED],
        ),
    ],
)
def test_only_an_oracle_worker_that_is_asked_for_first_is_forked_early(commands, expected):
    assert said(commands) == expected


def test_nothing_is_forked_early_unless_that_was_asked_for():
    assert said([{"do": "fork", "id": 1, "role": "oracle"}], early=False) == [READY, FORKED]


def test_the_rehearsal_goes_through_every_run_of_a_well_behaved_call():
    observation = rehearsal.observe_once()
    assert observation["error"] is observation["gradient_error"] is None
    assert observation["gradients"].keys() == {"0.0", "0.weight"}
    assert not any(observation[name] for name in ("repeat", "stale", "overwritten", "changed", "settings", "tracked"))
    assert observation["device"] == {}


@pytest.mark.slow
@pytest.mark.parametrize("identifier", [problem.id for problem in load_problems() if problem.kind == "code"])
def test_an_oracle_worker_that_was_forked_early_judges_as_one_forked_late(identifier):
    problem = find_problem(identifier)
    right = read_submission(problem.folder / "hidden" / "reference.py", problem)
    wrong = read_submission(problem.folder / "stub.py", problem)
    reports = []
    engine = Engine()
    engine.start(interpreter.start_zygote(early=True))
    with engine:
        for _ in range(2):
            with contextlib.closing(OpenProblem(problem, engine, seed=1)) as opened:
                reports.append([opened.judge(submission) for submission in (right, wrong)])
    assert reports[0][0].verdict == "accepted"
    for early, late in zip(*reports, strict=True):
        assert [without_times(case.model_dump()) for case in early.cases] == [
            without_times(case.model_dump()) for case in late.cases
        ]
        assert (early.verdict, early.diagnosis, early.stream) == (late.verdict, late.diagnosis, late.stream)


def without_times(case: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in case.items() if "seconds" not in name}
