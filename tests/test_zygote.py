"""The process that forks the workers, and what it does meanwhile."""

import json
import os
import socket
import sys

import pytest
import torch

from judge.processes import interpreter, rehearsal

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere workers are spawned")


def said(first: list[dict[str, object]]) -> list[list[str]]:
    """The kinds of a zygote's messages, until it is ready and each command was followed."""
    zygote, control = interpreter.start_zygote()
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


def test_commands_that_come_while_torch_is_imported_are_followed_after_it():
    commands = [{"do": "fork", "id": 1, "role": "oracle"}, {"do": "fork", "id": 2, "role": "student"}]
    assert said(commands) == [READY, FORKED, FORKED]


def test_a_worker_that_waits_rehearses_until_its_calls_come_or_it_is_enough(monkeypatch):
    monkeypatch.setattr(rehearsal, "_rounds", iter(range(3)))
    heard, said = os.pipe()
    os.write(said, b"a call")
    rehearsal.rehearse_until_wanted(heard)
    assert len(list(rehearsal._rounds)) == 3
    os.read(heard, 6)
    monkeypatch.setattr(rehearsal, "_rounds", iter(range(3)))
    rehearsal.rehearse_until_wanted(heard)
    assert len(list(rehearsal._rounds)) == (3 if torch.accelerator.is_available() else 0)
    os.close(heard)
    os.close(said)


def test_the_rehearsal_goes_through_every_run_of_a_well_behaved_call():
    observation = rehearsal.observe_once()
    assert observation["error"] is observation["gradient_error"] is None
    assert observation["gradients"].keys() == {"0.0", "0.weight"}
    assert not any(observation[name] for name in ("repeat", "stale", "overwritten", "changed", "settings", "tracked"))
    assert observation["device"] == {}
