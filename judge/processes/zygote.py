"""The process that has imported torch and forks the others; where fork is not safe, a worker that was spawned.

    CLI ──{"do": "fork", "id": 3, "role": "student", "early": false}, ...──> zygote ──{"id": 3, "pid": 4711}──> CLI
    CLI ──{"do": "import", "module": "judge.processes.tests_worker"}──> zygote
    CLI ──{"do": "kill", "id": 3}──> zygote ──{"id": 3, "exit": null, "signal": 9, "peak_mib": 240.1, "cpu": 0.2}──> CLI

It runs nothing of a submission and knows no problem. Ending is noticed through pidfds and accounted by wait4.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
from typing import Any, NoReturn

from judge.processes import lock, oracle_worker, rehearsal, student_worker  # noqa: F401 - each fork needs all but one

_PR_SET_PDEATHSIG = 1
_WORKERS = {
    "student": "student_worker", "oracle": "oracle_worker", "tests": "tests_worker",
    "implementation": "implementation_worker",
}  # fmt: skip
_THRESHOLDS = 5_000, 20, 20  # a worker makes little garbage; Python's own 700 costs a tenth of a call
_exit = os._exit  # a submission may replace it


class Zygote:
    """Follows the commands that come through file descriptor 0."""

    def __init__(self) -> None:
        self._control = socket.socket(fileno=os.dup(0))
        self._poller = select.poll()
        self._poller.register(self._control, select.POLLIN)
        self._children: dict[int, tuple[int, int]] = {}  # id -> (pid, pidfd)
        self._received = b""
        self._descriptors: list[int] = []
        self._any_ended = self._rehearsed = False

    def serve(self) -> NoReturn:
        """Follow commands until they end, and every child with them."""
        self._send({"ready": True, "threads": len(os.listdir("/proc/self/task"))})
        while True:
            *lines, self._received = self._received.split(b"\n")
            for line in lines:
                self._follow(json.loads(line))
            due = self._any_ended and not self._rehearsed  # whoever judges one submission only is about to leave
            events = self._poller.poll(0 if due else None)
            if due and not events:
                self._rehearsed = rehearsal.rehearse()
                gc.freeze()
            for descriptor, _ in events:
                if descriptor != self._control.fileno():
                    self._reap(descriptor)
                elif not self._receive():
                    for _, pidfd in self._children.values():
                        signal.pidfd_send_signal(pidfd, signal.SIGKILL)
                    os._exit(0)

    def _receive(self) -> bool:
        data, descriptors, _, _ = socket.recv_fds(self._control, 1 << 16, 3)
        self._received += data
        self._descriptors += descriptors
        return bool(data)

    def _follow(self, command: dict[str, Any]) -> None:
        if command["do"] == "kill":
            if command["id"] in self._children:
                signal.pidfd_send_signal(self._children[command["id"]][1], signal.SIGKILL)
        elif command["do"] == "import":
            _import(command["module"])
        elif self._fork(command["id"]):
            try:
                if command.get("early"):
                    rehearsal.rehearse_until_wanted(0)
                become(command["role"])
            finally:  # nothing of a child may ever unwind into the loop above
                _exit(70)

    def _fork(self, number: int) -> bool:
        """Fork a process that has the next three descriptors as its first; true in it."""
        three, self._descriptors = self._descriptors[:3], self._descriptors[3:]
        pid = os.fork()
        if pid:
            for descriptor in three:
                os.close(descriptor)
            pidfd = os.pidfd_open(pid)
            self._children[number] = pid, pidfd
            self._poller.register(pidfd, select.POLLIN)
            self._send({"id": number, "pid": pid})
            return False
        try:
            high = [os.dup(descriptor) for descriptor in three]
            for target, descriptor in enumerate(high):
                os.dup2(descriptor, target)
            os.closerange(3, 1024)
            os.setsid()
            _die_with_parent()
        except BaseException:
            _exit(70)
        return True

    def _reap(self, pidfd: int) -> None:
        number, (pid, _) = next(item for item in self._children.items() if item[1][1] == pidfd)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)  # whatever the worker left in its group, while its id is still its own
        _, status, usage = os.wait4(pid, 0)
        self._poller.unregister(pidfd)
        os.close(pidfd)
        del self._children[number]
        self._any_ended = True
        code = os.waitstatus_to_exitcode(status)
        self._send(
            {
                "id": number,
                "exit": code if code >= 0 else None,
                "signal": -code if code < 0 else None,
                "peak_mib": usage.ru_maxrss / 1024,
                "cpu": usage.ru_utime + usage.ru_stime,
            }
        )

    def _send(self, message: dict[str, Any]) -> None:
        self._control.sendall(json.dumps(message).encode() + b"\n")


def main(role: str) -> NoReturn:
    """Serve forks, or, in a process that was spawned, be the worker."""
    lock.undumpable()
    gc.freeze()  # a forked child that collects would otherwise copy the whole heap; collecting it here takes 50 ms
    if role == "zygote":
        _die_with_parent()
        Zygote().serve()
    become(role)


def _import(module: str) -> None:
    """Import what most workers to come need. One that can't be imported fails in the workers, which can say so."""
    with contextlib.suppress(Exception):
        importlib.import_module(module)
    gc.freeze()


def become(role: str) -> NoReturn:
    """Turn descriptors 0, 1, 2 into commands, results and log, and run the worker."""
    commands, results = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    sys.stdin = open(0, closefd=False, encoding="utf-8")  # noqa: SIM115 - open as long as the process is
    sys.stdout = open(1, "w", closefd=False, encoding="utf-8", errors="backslashreplace")  # noqa: SIM115
    sys.stderr = open(2, "w", closefd=False, encoding="utf-8", errors="backslashreplace", buffering=1)  # noqa: SIM115
    gc.set_threshold(*_THRESHOLDS)
    gc.enable()
    try:
        importlib.import_module(f"judge.processes.{_WORKERS[role]}").main(commands, results)
        student_worker.flush()
    except BaseException:
        with contextlib.suppress(BaseException):  # the hook and the stream may be a submission's
            sys.excepthook(*sys.exc_info())
            sys.stderr.flush()
        _exit(71)
    _exit(0)


def _die_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
