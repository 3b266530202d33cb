"""The proof that the lock holds, before the first line of a submission: everything that is tried here must fail."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterable


def what_succeeds(canaries: Iterable[str]) -> list[str]:
    """Names of what could be done and should not; ``canaries`` are hidden files that must not be readable."""
    attempts: dict[str, Callable[[], object]] = {
        "create a file": lambda: os.open("/tmp/.judge-trial", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600),
        "open a socket": lambda: socket.socket(),
        "open a pair of datagram sockets": lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM),
        "signal its parent": lambda: os.kill(os.getppid(), 0),
        "change a file's mode": lambda: os.chmod(os.devnull, 0o666),
        "fork": _fork,
    }
    for path in canaries:
        attempts[f"read {path}"] = lambda path=path: os.close(os.open(path, os.O_RDONLY))  # type: ignore[misc]
    return [name for name, action in attempts.items() if _succeeds(action)]


def _succeeds(action: Callable[[], object]) -> bool:
    try:
        action()
    except OSError:
        return False
    return True


def _fork() -> None:
    if os.fork() == 0:
        os._exit(0)
