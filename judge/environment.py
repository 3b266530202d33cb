"""What a verdict is reached on: versions and platform, for reports."""

from __future__ import annotations

import functools
import platform
import sys
from importlib import metadata

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
