"""The proof that the lock holds, before the first line of a submission: everything that is tried here must fail."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
from collections.abc import Callable, Container, Iterable

if sys.platform != "win32":
    import resource


def what_succeeds(canaries: Iterable[str], only: Container[str] | None = None) -> list[str]:
    """Names of what could be done and should not; ``canaries`` are hidden files that must not be readable.

    ``only``: of the attempts beside the canaries, those that are about a promise made here.
    """
    attempts: dict[str, Callable[[], object]] = {
        "create a file": _create,
        "list the root folder": lambda: os.listdir("/"),
        "raise its limits": _raise_limits,
        "open a socket": lambda: socket.socket(),
        "open a pair of datagram sockets": lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM),
        "signal its parent": lambda: os.kill(os.getppid(), 0),
        "change a file's mode": lambda: os.chmod(os.devnull, 0o666),
        "fork": _fork,
    }
    if only is not None:
        attempts = {name: action for name, action in attempts.items() if name in only}
    for path in canaries:
        attempts[f"read {path}"] = lambda path=path: os.close(os.open(path, os.O_RDONLY))  # type: ignore[misc]
    return [name for name, action in attempts.items() if _succeeds(action)]


def what_fails() -> list[str]:
    """Files that must be readable, since a submission's own imports need their neighbours, and are not."""
    needed = [str(sys.modules[name].__file__) for name in ("os", "torch") if name in sys.modules]
    return [path for path in needed if not _succeeds(lambda path=path: os.close(os.open(path, os.O_RDONLY)))]  # type: ignore[misc]


def _succeeds(action: Callable[[], object]) -> bool:
    try:
        action()
    except (OSError, ValueError):
        return False
    return True


def _create() -> None:
    path = f"/tmp/.judge-trial-{os.getpid()}"
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))  # without O_EXCL: a file that is there would hide a leak
    with contextlib.suppress(OSError):
        os.unlink(path)


def _raise_limits() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard != resource.RLIM_INFINITY:  # which would be as good as raised
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard + (1 << 20)))


def _fork() -> None:
    if os.fork() == 0:
        os._exit(0)
