"""What a student worker gives up before it sees a line of the submission.

Resource limits only, where the system has them; every layer that is in force is named, none is promised silently.
"""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

MIB = 1 << 20


def lock(memory_mib: int, cpu_seconds: float) -> list[str]:
    """Lock this process; gives the names of the layers in force. The memory budget counts from the present size."""
    if sys.platform == "win32":
        return []
    import resource

    limits = [
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CPU, int(cpu_seconds) + 1),
        (resource.RLIMIT_NOFILE, 64),
    ]
    if sys.platform == "linux":  # elsewhere the address space is no measure of memory
        limits.append((resource.RLIMIT_AS, _address_space() + memory_mib * MIB))
    for kind, limit in limits:
        _, hard = resource.getrlimit(kind)
        bound = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        with contextlib.suppress(ValueError, OSError):  # a limit that the system doesn't know stays as it was
            resource.setrlimit(kind, (bound, bound))
    return ["resource limits"]


def _address_space() -> int:
    import resource

    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    return pages * resource.getpagesize()
