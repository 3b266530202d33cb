"""The CLI process's side: starts processes, feeds them, reads their frames with caps, measures and ends them.

Standard library only, so that the torch import can begin before anything else is imported. What is believed about a
worker is what is measured here: time by our clock, memory and exit by wait4.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import queue
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from judge.errors import JudgeError
from judge.processes import frames, interpreter, landlock, leftovers, libc, readable

Role = Literal["student", "oracle", "tests", "implementation"]
_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
_START_SECONDS = 120.0
_LAST_ANSWERS_SECONDS = 1.0
_CHUNK = 1 << 16
_FRAME_COSTS = 1 << 12  # bytes that an empty frame takes here
_PARSED = 24  # times its bytes that a header takes
_MOST_ANSWERS = 3 << 27  # of a student worker altogether, kept for whoever reads them; running.py allows less
_MOST_ANSWER = 1 << 27  # of a student worker in one frame; its harness gives 64 MiB of values at most


@dataclass(frozen=True, slots=True)
class Event:
    """Something that a worker did: a frame, the end of its answers, an unreadable one, too much output, its end."""

    kind: Literal["frame", "end of answers", "unreadable", "flood", "exit"]
    at: float
    header: dict[str, Any] = field(default_factory=dict)
    body: bytes = b""


class Worker:
    """One worker: three pipes and a thread for each, so that nobody blocks anybody on any platform."""

    def __init__(
        self, kill: Any, commands: int, results: int, log: int, log_bytes: int, max_body: int = frames.MAX_BODY
    ):
        self.events: queue.Queue[Event] = queue.Queue()
        self.log = bytearray()
        self.ended: Event | None = None  # its exit, once somebody has taken that
        self.flooded = False  # whether more was printed than is allowed, known for sure when it has settled
        self.pid: int | None = None  # once it is known
        self._kill = kill
        self._log_bytes = log_bytes
        self._max_body = max_body
        self._max_total = _MOST_ANSWERS if max_body < frames.MAX_BODY else None  # of a student's worker
        self._outbox: queue.Queue[bytes | None] = queue.Queue()
        self._threads = [
            threading.Thread(target=self._write, args=(commands,), daemon=True),
            threading.Thread(target=self._read, args=(results,), daemon=True),
            threading.Thread(target=self._read_log, args=(log,), daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def send(self, header: dict[str, Any], body: bytes = b"") -> None:
        self._outbox.put(frames.pack(header, body))

    def finish(self) -> None:
        """Close the worker's commands once everything sent has been written."""
        self._outbox.put(None)

    def kill(self) -> None:
        self._kill()

    def waited(self) -> float:
        """Seconds that its main thread was ready to run while others had the processors, where the system counts."""
        try:
            with open(f"/proc/{self.pid}/schedstat", "rb") as file:
                return int(file.read().split()[1]) / 1e9
        except (OSError, ValueError, IndexError):
            return 0.0

    def exited(self, account: dict[str, Any]) -> None:
        """Report its exit, but after its last answers: the two come through different pipes."""
        threading.Thread(target=self._report_exit, args=(account, time.monotonic()), daemon=True).start()

    def _report_exit(self, account: dict[str, Any], at: float) -> None:
        self._threads[1].join(_LAST_ANSWERS_SECONDS)  # somebody may still hold the pipe
        self.events.put(Event("exit", at, account))

    def next_event(self, deadline: float | None = None) -> Event | None:
        """The next event, or None when the deadline (monotonic seconds) has passed."""
        try:
            event = self.events.get(timeout=None if deadline is None else max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            return None
        if event.kind == "exit":
            self.ended = event
        return event

    def settle(self, seconds: float = 1.0) -> None:
        """After its exit: let the last output arrive, but never wait for somebody who still holds the pipe."""
        for thread in self._threads[1:]:
            thread.join(seconds)
        self.finish()

    def _write(self, descriptor: int) -> None:
        with os.fdopen(descriptor, "wb", buffering=0) as stream, contextlib.suppress(BrokenPipeError, OSError):
            while (data := self._outbox.get()) is not None:
                view = memoryview(data)
                while view:
                    view = view[stream.write(view) :]

    def _read(self, descriptor: int) -> None:
        with os.fdopen(descriptor, "rb", buffering=_CHUNK) as stream:
            taken = 0

            def read_exactly(count: int) -> bytes:
                nonlocal taken
                taken += count
                data = stream.read(count)
                if len(data) < count:
                    raise EOFError
                return data

            total = 0
            try:
                while True:
                    taken = 0
                    header, body = frames.read(read_exactly, max_body=self._max_body)
                    total += len(body) + (taken - len(body)) * _PARSED + _FRAME_COSTS
                    if self._max_total is not None and total > self._max_total:
                        raise frames.FrameError("all answers together are too large")
                    self.events.put(Event("frame", time.monotonic(), header, body))
            except EOFError:
                self.events.put(Event("end of answers", time.monotonic()))
            except frames.FrameError as exc:
                self.events.put(Event("unreadable", time.monotonic(), {"message": str(exc)}))

    def _read_log(self, descriptor: int) -> None:
        total = 0
        with os.fdopen(descriptor, "rb", buffering=0) as stream:
            while data := stream.read(_CHUNK):
                self.log += data[: max(0, self._log_bytes - total)]
                total += len(data)
                if total - len(data) <= self._log_bytes < total:
                    self.flooded = True
                    self.events.put(Event("flood", time.monotonic()))


class Engine:
    """Starts workers: forked from one zygote where that is safe, spawned where it isn't or where it is asked for."""

    def __init__(self, isolation: str = "auto", *, without: Sequence[str] = ()):
        """``isolation``: "auto" or "process". ``without``: layers to leave out, for tests that show what each stops."""
        self.forks = isolation == "auto" and sys.platform == "linux"
        self.level = "process"
        self.layers: tuple[str, ...] = ()
        self.required: str | None = None  # refuse to judge below this level
        self._without = list(without) if self.forks else ["capabilities", "landlock", "seccomp"]
        self._numbers = iter(range(1 << 62))
        self._workers: dict[int, Worker] = {}
        self._spares: list[tuple[Role, int, Worker]] = []
        self._taking = threading.Lock()  # lanes begin at the same time
        self._processes: list[subprocess.Popen[bytes]] = []
        self._zygote: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._handover: threading.Thread | None = None
        self._errors = bytearray()
        self._prepared: set[str] = set()
        self._folders: list[str] = []
        self._closed = False

    def __enter__(self) -> Engine:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def isolation(self) -> str:
        """The level in force and what it consists of, for reports."""
        how = "forked" if self.forks else "spawned"
        return f"{self.level} ({', '.join((how, *self.layers))})"

    @functools.cached_property
    def lock_plan(self) -> dict[str, Any]:
        """What a student worker may read and what it must not, for judge/processes/lock.py."""
        read, names = readable.readable(_ROOT, [interpreter.LIBRARY, *interpreter.site_folders()])
        return {
            "read": read,
            "names": names,
            "canaries": readable.canaries(_ROOT),
            "hidden": [_ROOT],
            "without": self._without,
        }

    def scratch(self) -> str:
        """A new folder for a worker to write to; removed with the engine, if not before."""
        folder = os.path.realpath(tempfile.mkdtemp(prefix="judge-"))
        self._folders.append(folder)
        return folder

    def locked(self, level: str, layers: Sequence[str], leaks: Sequence[str]) -> None:
        """Take note of a student worker's lock. Raises JudgeError if it leaks, or is below what is required."""
        self.level, self.layers = level, tuple(layers)
        if leaks:
            raise JudgeError(f"the lock does not hold, a worker could {', '.join(leaks)}; run `judge doctor`")
        if self.required == "kernel" and level != "kernel":
            raise JudgeError(f"isolation kernel is required, and here is only {self.isolation}; run `judge doctor`")

    def start(self, zygote: tuple[subprocess.Popen[bytes], socket.socket] | None = None) -> None:
        """Begin the torch import, if it has not begun, or take over a ``zygote`` in which it has; some milliseconds."""
        if sys.platform == "linux":
            with contextlib.suppress(OSError):
                libc.prctl(libc.SET_DUMPABLE, 0)  # no other process of this user reads this one's memory
        if self._zygote or not self.forks:
            return
        self._refuse_if_closed()
        self._zygote, self._control = zygote or interpreter.start_zygote()
        self._handover = threading.Thread(target=_hand_over, args=(self._control,), daemon=True)
        self._handover.start()
        threading.Thread(target=self._listen, args=(self._control,), daemon=True).start()
        threading.Thread(target=self._collect_errors, args=(self._zygote,), daemon=True).start()

    def prepare(self, module: str) -> None:
        """Let the zygote import a module of ours for the workers to come; spawned workers import it themselves."""
        if self.forks and module not in self._prepared:
            self._prepared.add(module)
            self.start()
            assert self._handover
            self._handover.join(_START_SECONDS)  # commands come after the harness
            self._say({"do": "import", "module": module})

    def worker(self, role: Role, log_bytes: int = 1 << 20) -> Worker:
        """A new worker of that role. Raises JudgeError once the engine is closed, rather than start all anew."""
        self._refuse_if_closed()
        with self._taking:
            for spare in [one for one in self._spares if one[:2] == (role, log_bytes)]:
                self._spares.remove(spare)
                if spare[2].events.empty():
                    return spare[2]
                spare[2].finish()  # it has ended meanwhile
        return self._forked(role, log_bytes) if self.forks else self._spawned(role, log_bytes)

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise JudgeError("the engine was closed before this worker began; start the command again")

    def keep_ready(self, role: Role, log_bytes: int, count: int) -> None:
        """Let so many workers begin before they are asked for: spawned ones import torch, forked ones rehearse."""
        self._refuse_if_closed()
        start = functools.partial(self._forked, early=True) if self.forks else self._spawned
        with self._taking:
            for _ in range(count - sum(one[:2] == (role, log_bytes) for one in self._spares)):
                self._spares.append((role, log_bytes, start(role, log_bytes)))

    def release(self) -> None:
        """Begin to end: it takes a while until a process that has imported torch is gone, for which close() waits."""
        self._closed = True
        if self._zygote:
            self._zygote.kill()  # its children die with it

    def close(self) -> None:
        """End every process that was started here; nothing is started after it."""
        self.release()
        for *_, spare in self._spares:
            spare.finish()
        if self._control:
            with contextlib.suppress(OSError):
                self._control.shutdown(socket.SHUT_RDWR)
            self._control.close()
        if self._zygote:
            self._zygote.wait()
        for process in self._processes:
            _kill_group(process)
        self._zygote, self._processes = None, []
        for folder in self._folders:
            leftovers.remove(folder)

    def _forked(self, role: Role, log_bytes: int, *, early: bool = False) -> Worker:
        self.start()
        assert self._control
        assert self._handover
        self._handover.join(_START_SECONDS)  # commands come after the harness
        if self._handover.is_alive():
            raise JudgeError(f"torch is not imported after {_START_SECONDS:g} s; run `judge doctor`")
        number = next(self._numbers)
        commands, results, log = os.pipe(), os.pipe(), os.pipe()
        theirs = [commands[0], results[1], log[1]]
        kill, most = functools.partial(self._say, {"do": "kill", "id": number}), _most(role)
        worker = Worker(kill, commands[1], results[0], log[0], log_bytes, most)
        self._workers[number] = worker
        try:
            message = json.dumps({"do": "fork", "id": number, "role": role, "early": early}).encode() + b"\n"
            socket.send_fds(self._control, [message], theirs)
        except OSError as exc:
            raise JudgeError(self._last_words()) from exc
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        return worker

    def _spawned(self, role: Role, log_bytes: int) -> Worker:
        process = interpreter.start(stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self._processes.append(process)
        if sys.platform == "win32":
            from judge.processes import job_object

            job_object.end_with_us(int(process._handle))
        assert process.stdin
        assert process.stdout
        assert process.stderr
        streams = (process.stdin, process.stdout, process.stderr)
        commands, results, log = (os.dup(stream.fileno()) for stream in streams)
        for stream in streams:
            stream.close()
        worker = Worker(functools.partial(_kill_group, process), commands, results, log, log_bytes, _most(role))
        worker.pid = process.pid
        worker._outbox.put(interpreter.payload(role))
        worker._outbox.put(interpreter.harness())
        threading.Thread(target=_await_exit, args=(process, worker), daemon=True).start()
        return worker

    def _say(self, message: dict[str, Any]) -> None:
        if self._control:
            with contextlib.suppress(OSError):
                self._control.sendall(json.dumps(message).encode() + b"\n")

    def _listen(self, control: socket.socket) -> None:
        with contextlib.suppress(OSError, ValueError), control.makefile("rb") as lines:
            for line in lines:
                message = json.loads(line)
                if "pid" in message:
                    self._workers[message["id"]].pid = message["pid"]
                elif "exit" in message:
                    self._workers.pop(message["id"]).exited(message)
        for worker in list(self._workers.values()):  # the zygote is gone, and its children with it
            worker.exited({"exit": None, "signal": None, "lost": self._last_words()})

    def _collect_errors(self, zygote: subprocess.Popen[bytes]) -> None:
        assert zygote.stderr
        with zygote.stderr as stream:
            for line in stream:
                self._errors += line[:2000]

    def _last_words(self) -> str:
        text = self._errors.decode(errors="replace").strip().splitlines()
        return f"the process that imports torch has ended{': ' + text[-1] if text else ''}; run `judge doctor`"


def isolation_layers() -> list[tuple[str, str, str]]:
    """What can be in force here: (layer, state, what to do)."""
    linux = sys.platform == "linux"
    has_landlock = landlock.version() if linux else 0
    has_seccomp = linux and _has_seccomp()
    elsewhere = "not on this system"
    newer = "use a kernel from 5.13 on that has it switched on"
    return [
        ("separate processes", "in force", ""),
        ("fork from one zygote", "in force" if linux else f"{elsewhere}: workers are spawned", ""),
        ("resource limits", "in force" if os.name == "posix" else elsewhere, ""),
        ("memory limit", "in force" if linux else elsewhere, ""),
        ("landlock", "in force", "") if has_landlock else ("landlock", "missing" if linux else elsewhere, newer),
        ("seccomp", "in force", "") if has_seccomp else ("seccomp", "missing" if linux else elsewhere, newer),
    ]


def _has_seccomp() -> bool:
    from judge.processes import seccomp  # only `judge doctor` asks

    return seccomp.available()


def _most(role: Role) -> int:
    return frames.MAX_BODY if role == "oracle" else _MOST_ANSWER


def _hand_over(control: socket.socket) -> None:
    """Send the harness, from a thread: compiling it takes 60 ms, and the zygote reads it when torch is there."""
    with contextlib.suppress(OSError):  # the zygote has ended; whoever asks for a worker will hear of it
        control.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        control.sendall(interpreter.harness())


def _await_exit(process: subprocess.Popen[bytes], worker: Worker) -> None:
    """Wait for a spawned worker, with its accounts where the system keeps them."""
    if os.name == "posix":
        if hasattr(os, "waitid"):
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
            _kill_group(process)  # whatever it left in its group, while its id is still its own
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = code = os.waitstatus_to_exitcode(status)
        unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
        accounts = {"peak_mib": usage.ru_maxrss / unit, "cpu": usage.ru_utime + usage.ru_stime}
    else:
        code, accounts = process.wait(), {}
    exit_code, number = (code, None) if code >= 0 else (None, -code)
    worker.exited({"exit": exit_code, "signal": number, **accounts})


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    if process.returncode is not None:
        return  # its id may be another's by now
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
