"""What a verdict is reached on: versions and platform, for reports, and how many processors there are to use."""

from __future__ import annotations

import functools
import math
import os
import platform
import sys
from importlib import metadata
from pathlib import Path

import judge


@functools.cache
def environment() -> dict[str, str]:
    """Everything of models.Environment but the isolation, which only the engine knows."""
    return {
        "python": platform.python_version(),
        "torch": metadata.version("torch"),
        "platform": f"{sys.platform} {platform.machine()}",
        "judge": judge.__version__,
    }


def processors() -> int:
    """How many processors this process may use, a container's share of them included."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text(encoding="ascii").split()
        return max(1, min(allowed, math.ceil(int(quota) / int(period))))
    except (OSError, ValueError):  # no such file, or "max"
        return allowed
