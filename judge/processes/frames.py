"""Frames: how processes talk. No pickle, and nothing is allocated before its length has been checked.

magic "JDG1" | header length u32 | body length u64 | header (JSON object) | body (raw bytes)
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from typing import Any

MAGIC = b"JDG1"
_PREFIX = struct.Struct("<4sIQ")
MAX_HEADER = 1 << 20
MAX_BODY = 1 << 30


class FrameError(Exception):
    """A frame that can't be read."""


def pack(header: dict[str, Any], body: bytes = b"") -> bytes:
    """One frame as bytes."""
    text = json.dumps(header, separators=(",", ":")).encode()
    return b"".join((_PREFIX.pack(MAGIC, len(text), len(body)), text, body))


def read(
    read_exactly: Callable[[int], bytes], *, max_header: int = MAX_HEADER, max_body: int = MAX_BODY
) -> tuple[dict[str, Any], bytes]:
    """The next frame's header and body; ``read_exactly(n)`` gives n bytes or raises EOFError.

    Raises FrameError for anything that is no frame or larger than allowed.
    """
    magic, header_length, body_length = _PREFIX.unpack(read_exactly(_PREFIX.size))
    if magic != MAGIC:
        raise FrameError("the answer does not begin like an answer")
    if header_length > max_header or body_length > max_body:
        raise FrameError("the answer is too large")
    text = read_exactly(header_length)
    try:
        header = json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise FrameError("the answer's header can't be read") from exc
    if not isinstance(header, dict):
        raise FrameError("the answer's header is no object")
    return header, read_exactly(body_length)
