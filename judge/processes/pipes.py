"""Reading and writing a worker's pipes: exactly as many bytes as a frame says."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from judge.processes import frames


def reader(descriptor: int) -> Callable[[int], bytes]:
    """What reads exactly so many bytes; the process ends where the judge is gone."""

    def read_exactly(count: int) -> bytes:
        data = bytearray()
        while len(data) < count:
            part = os.read(descriptor, min(count - len(data), 1 << 20))
            if not part:
                os._exit(0)
            data += part
        return bytes(data)

    return read_exactly


def send(descriptor: int, header: dict[str, Any], body: bytes = b"") -> None:
    """Write one frame."""
    data = memoryview(frames.pack(header, body))
    while data:
        data = data[os.write(descriptor, data) :]
