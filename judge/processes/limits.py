"""Resource limits of a student worker: what the system counts and refuses by itself."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

if sys.platform != "win32":
    import resource  # here, so that the zygote loads it and not each worker

MIB = 1 << 20
_MORE_TASKS = 512


def limit(memory_mib: int, cpu_seconds: float, file_mib: int = 0) -> None:
    """Limit memory (counted from the present size), processor time, the size of files and core dumps, for good."""
    bounds = {
        "CORE": 0,
        "FSIZE": file_mib * MIB,
        "CPU": int(cpu_seconds) + 2,
        "NOFILE": 64,
        "MSGQUEUE": 0,
        "MEMLOCK": 0,
    }
    if sys.platform == "linux":  # elsewhere the address space is no measure of memory
        pages = int(Path("/proc/self/statm").read_bytes().split()[0])
        bounds["AS"] = pages * resource.getpagesize() + memory_mib * MIB
        with contextlib.suppress(OSError, ValueError, IndexError):  # not every container shows it
            tasks = int(Path("/proc/loadavg").read_bytes().split()[3].partition(b"/")[2])
            bounds["NPROC"] = tasks + _MORE_TASKS  # it counts the user's in all, which are fewer than everybody's
    for name, bound in bounds.items():
        kind = getattr(resource, f"RLIMIT_{name}", None)
        if kind is None:
            continue
        _, hard = resource.getrlimit(kind)
        value = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
        soft = max(0, value - 1) if name == "CPU" else value  # first SIGXCPU, which says what it is; then SIGKILL
        with contextlib.suppress(ValueError, OSError):  # a limit that the system doesn't know stays as it was
            resource.setrlimit(kind, (soft, value))
