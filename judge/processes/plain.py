"""Values without tensors as bytes, the same bytes as wire.py's; for a process that has not imported torch."""

from __future__ import annotations

import json
import struct
from typing import Any


def encode_plain(value: Any) -> bytes:
    """None, bool, str, int, float, bytes, and lists and dicts of these."""
    blobs: list[bytes] = []
    text = json.dumps({"value": _tree(value, blobs)}, separators=(",", ":")).encode()
    return b"".join((struct.pack("<I", len(text)), text, *blobs))


def _tree(value: Any, blobs: list[bytes]) -> Any:
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return {"i": str(value)} if value.bit_length() < 1024 else {"o": "int of more than 1024 bits"}
    if isinstance(value, float):
        return {"f": value.hex()}
    if isinstance(value, bytes):
        blobs.append(value)
        return {"b": len(value)}
    if isinstance(value, list):
        return {"l": [_tree(part, blobs) for part in value]}
    return {"d": [[_tree(key, blobs), _tree(part, blobs)] for key, part in value.items()]}
