"""The process that has imported torch and forks the others; where fork is not safe, a worker that was spawned.

    CLI ──{"do": "fork", "id": 3, "role": "student"} + three descriptors──> zygote ──{"id": 3, "pid": 4711}──> CLI
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

from judge.processes import lock, oracle_worker, student_worker  # noqa: F401 - so that each fork has the latter two

_PR_SET_PDEATHSIG = 1
_WORKERS = {
    "student": "student_worker", "oracle": "oracle_worker", "tests": "tests_worker",
    "implementation": "implementation_worker",
}  # fmt: skip
_exit = os._exit  # a submission may replace it


def main(payload: dict[str, Any]) -> NoReturn:
    """Serve forks, or, in a spawned process, be the worker."""
    lock.undumpable()
    gc.freeze()  # a forked child that collects would otherwise copy the whole heap; collecting it here takes 50 ms
    if payload["role"] == "zygote":
        _die_with_parent()
        _serve(socket.socket(fileno=os.dup(0)))
    _become(payload["role"])


def _serve(control: socket.socket) -> NoReturn:
    poller = select.poll()
    poller.register(control, select.POLLIN)
    children: dict[int, tuple[int, int]] = {}  # id -> (pid, pidfd)
    buffer, descriptors = b"", []
    _send(control, {"ready": True, "threads": len(os.listdir("/proc/self/task"))})
    while True:
        for descriptor, _ in poller.poll():
            if descriptor != control.fileno():
                _reap(control, poller, children, descriptor)
                continue
            data, received, _, _ = socket.recv_fds(control, 1 << 16, 3)
            if not data:
                for _, pidfd in children.values():
                    signal.pidfd_send_signal(pidfd, signal.SIGKILL)
                os._exit(0)
            buffer += data
            descriptors += received
            *lines, buffer = buffer.split(b"\n")
            for line in lines:
                command = json.loads(line)
                if command["do"] == "kill":
                    _kill(children, command["id"])
                    continue
                if command["do"] == "import":
                    _import(command["module"])
                    continue
                three, descriptors = descriptors[:3], descriptors[3:]
                pid = _fork(command["role"], three)
                pidfd = os.pidfd_open(pid)
                children[command["id"]] = (pid, pidfd)
                poller.register(pidfd, select.POLLIN)
                _send(control, {"id": command["id"], "pid": pid})


def _import(module: str) -> None:
    """Import what most workers to come need. One that can't be imported fails in the workers, which can say so."""
    with contextlib.suppress(Exception):
        importlib.import_module(module)
    gc.freeze()


def _fork(role: str, three: list[int]) -> int:
    pid = os.fork()
    if pid:
        for descriptor in three:
            os.close(descriptor)
        return pid
    try:
        high = [os.dup(descriptor) for descriptor in three]
        for target, descriptor in enumerate(high):
            os.dup2(descriptor, target)
        os.closerange(3, 1024)
        os.setsid()
        _die_with_parent()
        _become(role)
    finally:  # nothing of a child may ever unwind into the loop above
        _exit(70)


def _become(role: str) -> NoReturn:
    """Turn descriptors 0, 1, 2 into commands, results and log, and run the worker."""
    commands, results = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    sys.stdin = open(0, closefd=False, encoding="utf-8")  # noqa: SIM115 - open as long as the process is
    sys.stdout = open(1, "w", closefd=False, encoding="utf-8", errors="backslashreplace")  # noqa: SIM115
    sys.stderr = open(2, "w", closefd=False, encoding="utf-8", errors="backslashreplace", buffering=1)  # noqa: SIM115
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


def _reap(control: socket.socket, poller: select.poll, children: dict[int, tuple[int, int]], pidfd: int) -> None:
    number, (pid, _) = next(item for item in children.items() if item[1][1] == pidfd)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)  # whatever the worker left in its group, while its id is still its own
    _, status, usage = os.wait4(pid, 0)
    poller.unregister(pidfd)
    os.close(pidfd)
    del children[number]
    code = os.waitstatus_to_exitcode(status)
    _send(
        control,
        {
            "id": number,
            "exit": code if code >= 0 else None,
            "signal": -code if code < 0 else None,
            "peak_mib": usage.ru_maxrss / 1024,
            "cpu": usage.ru_utime + usage.ru_stime,
        },
    )


def _kill(children: dict[int, tuple[int, int]], number: int) -> None:
    if number in children:
        signal.pidfd_send_signal(children[number][1], signal.SIGKILL)


def _send(control: socket.socket, message: dict[str, Any]) -> None:
    control.sendall(json.dumps(message).encode() + b"\n")


def _die_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
