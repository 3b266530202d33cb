"""Values as bytes, in two directions that trust each other differently.

Towards a worker (`encode_call`, `decode_call`) a tensor is storage bytes, dtype, shape, stride, offset and a storage
number: two arguments that share memory still do, and the same object stays the same object.
From a student worker (`encode_result`, `decode_result`) everything is hostile text: sizes, dtypes, shapes and depth are
checked before anything is allocated, and tensors are rebuilt plain: strided, contiguous, CPU, known dtype.

A value's bytes are a u32 length, a JSON tree, and raw bytes. Nodes of the tree: null, true, false and strings as they
are; {"i": "12"} an int, {"f": "0x1.8p+0"} a float, {"t": ...} a tensor, {"l": [...]} a list, {"u": [...]} a tuple,
{"s": [...]} a set, {"d": [[key, value], ...]} a dict, {"r": [step, path]} an earlier result, {"c": "float32"} a dtype,
{"b": 12} bytes, {"p": [name, text]} a scratch path, {"o": "type name"} anything else.
"""

from __future__ import annotations

import ctypes
import json
import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import torch

from judge.program import Program, Ref, ScratchPath, Step

DTYPES: dict[str, torch.dtype] = {
    name: getattr(torch, name)
    for name in [
        "float64",
        "float32",
        "float16",
        "bfloat16",
        "int64",
        "int32",
        "int16",
        "int8",
        "uint8",
        "bool",
        "complex64",
        "complex128",
    ]
}
_NAMES = {dtype: name for name, dtype in DTYPES.items()}
_ITEM_SIZES = {name: torch.empty((), dtype=dtype).element_size() for name, dtype in DTYPES.items()}
MAX_KEYS = 2000  # of sets and dicts; numbers can be chosen that all have one hash: then each meets all others
MAX_DEPTH = 16
MAX_RANK = 16
MAX_DIGITS = 400
MAX_NODES = 100_000
_MAX_JSON_PARTS = 16 * MAX_NODES  # a part of a few bytes takes a hundred once it is parsed


class WireError(Exception):
    """Bytes that are no value, or a value that has no bytes."""


class TooLargeError(WireError):
    """A result with more bytes than a call may give."""


@dataclass(frozen=True, slots=True)
class Opaque:
    """Stands for a value that does not cross the wire, by the name of its type."""

    type_name: str


def encode_call(program: Program) -> bytes:
    """A program and the tensors it holds; not which error is asked for, which nobody needs who runs it."""
    storages: dict[int, int] = {}
    tensors: dict[int, int] = {}
    table: list[list[Any]] = []
    blobs: list[bytes] = []
    keep: list[torch.Tensor] = []

    def tensor(value: torch.Tensor | bytes) -> Any:
        if isinstance(value, bytes):
            raise WireError("a call takes no bytes")
        if id(value) not in tensors:
            storage = value.untyped_storage()
            pointer = storage.data_ptr() or id(value)
            if pointer not in storages:
                storages[pointer] = len(blobs)
                blobs.append(_memory(storage.data_ptr(), storage.nbytes()))
            tensors[id(value)] = len(table)
            keep.append(value)
            place = [list(value.shape), list(value.stride()), value.storage_offset()]
            table.append([_NAMES[value.dtype], *place, storages[pointer]])
        return {"t": tensors[id(value)]}

    def tree(value: Any) -> Any:
        return _tree(value, tensor, 0)

    steps = [
        [s.kind, s.name, tree(s.target), [tree(arg) for arg in s.args], tree(s.kwargs), s.observe]
        for s in program.steps
    ]
    header = {
        "steps": steps, "dtype": program.dtype, "random": program.random, "light": program.light,
        "differentiate": program.differentiate, "extras": program.extras, "no_grad": program.no_grad,
        "anywhere": program.anywhere, "tensors": table, "blobs": [len(blob) for blob in blobs],
    }  # fmt: skip
    return join(header, blobs)


def decode_call(data: bytes) -> Program:
    """The program again, with fresh memory: whatever a run does to its inputs, the next decoding is untouched."""
    return decoder(data)()


def decoder(data: bytes) -> Callable[[], Program]:
    """What decodes these bytes again and again, and has read their header once."""
    header, position = split(data)
    memories = []
    for length in header["blobs"]:
        memories.append(memoryview(data)[position : position + length])
        position += length
    places = [
        (number, DTYPES[name], shape, stride, offset, _fills(memories[number], name, shape, stride, offset))
        for name, shape, stride, offset, number in header["tensors"]
    ]
    return lambda: _built(header, memories, places)


def _built(header: dict[str, Any], memories: list[memoryview], places: list[tuple[Any, ...]]) -> Program:
    storages = [bytearray(memory) for memory in memories]
    tensors = [_view(storages[number], *place) for number, *place in places]

    def value(node: Any) -> Any:
        if type(node) is not dict:
            return node
        ((kind, content),) = node.items()
        if kind == "t":
            return tensors[content]
        if kind == "d":
            return {value(key): value(part) for key, part in content}
        if kind in _SEQUENCES:
            return _SEQUENCES[kind](map(value, content))
        return Ref(content[0], tuple(content[1])) if kind == "r" else _LEAVES[kind](content)

    steps = tuple(
        Step(kind, name, value(target), tuple(map(value, args)), value(kwargs), observe)
        for kind, name, target, args, kwargs, observe in header["steps"]
    )
    differentiate = header["differentiate"]
    return Program(
        steps, header["dtype"], header["random"], header["light"],
        None if differentiate is None else tuple(differentiate),
        extras=tuple(header["extras"]), no_grad=header["no_grad"], anywhere=header["anywhere"],
    )  # fmt: skip


def encode_result(value: Any, max_bytes: int = 1 << 26) -> bytes:
    """What a worker observed; values that don't cross become their type's name. Raises TooLargeError."""
    blobs: list[bytes] = []
    total = 0

    def raw(value: torch.Tensor | bytes) -> Any:
        nonlocal total
        if isinstance(value, bytes):
            total += len(value)
            blobs.append(value)
            return {"b": len(value)}
        problem = _odd_tensor(value)
        if problem:
            return {"o": problem}
        size = value.numel() * value.element_size()
        total += size
        if total > max_bytes:
            raise TooLargeError(f"the result has more than {max_bytes >> 20} MiB")
        plain = value.detach().resolve_conj().resolve_neg().contiguous()
        blobs.append(_memory(plain.data_ptr(), size))
        return {"t": [_NAMES[plain.dtype], list(plain.shape), size]}

    return join({"value": _tree(value, raw, 0)}, blobs)


def decode_result(data: bytes) -> Any:
    """The value of hostile bytes, or WireError; never another error, never more memory than ``data`` accounts for."""
    try:
        header, position = split(data, most_parts=_MAX_JSON_PARTS)
        offset = position

        def raw(kind: str, place: Any) -> torch.Tensor | bytes:
            nonlocal offset
            if kind == "b":
                if type(place) is not int or not 0 <= place <= len(data) - offset:
                    raise WireError("bytes of impossible length")
                offset += place
                return data[offset - place : offset]
            name, shape, size = place
            if type(name) is not str or name not in DTYPES or type(shape) is not list or len(shape) > MAX_RANK:
                raise WireError("a tensor of unknown form")
            numel = 1
            for length in shape:
                if type(length) is not int or not 0 <= length <= 1 << 40:
                    raise WireError("a tensor of impossible shape")
                numel *= length
            if type(size) is not int or size != numel * _ITEM_SIZES[name] or offset + size > len(data):
                raise WireError("a tensor of impossible length")
            if size == 0 and any(length > 1 << 20 for length in shape):
                raise WireError("a tensor of impossible shape")
            memory = bytearray(data[offset : offset + size])
            offset += size
            if not size:
                return torch.empty(shape, dtype=DTYPES[name])
            if name == "bool":  # bytes other than 0 and 1 would be no booleans
                return (torch.frombuffer(memory, dtype=torch.uint8) != 0).reshape(shape)
            return torch.frombuffer(memory, dtype=DTYPES[name]).reshape(shape)

        value = _value(header["value"], raw, [MAX_NODES, MAX_KEYS], 0)
        if offset != len(data):
            raise WireError("bytes are left over")
        return value
    except WireError:
        raise
    except Exception as exc:  # hostile bytes may fail anywhere in the decoding; all of it means the same
        raise WireError(f"the answer can't be read ({type(exc).__name__})") from exc


_SEQUENCES: dict[str, Callable[[Iterable[Any]], Any]] = {"l": list, "u": tuple, "s": frozenset}
_LEAVES: dict[str, Callable[[Any], Any]] = {
    "i": int, "f": float.fromhex, "c": DTYPES.__getitem__, "o": Opaque, "p": lambda place: ScratchPath(*place),
}  # fmt: skip


def is_plain(tensor: torch.Tensor) -> bool:
    """Whether a tensor crosses the wire as what it is."""
    return _odd_tensor(tensor) is None


def join(header: dict[str, Any], blobs: list[bytes]) -> bytes:
    """A value's bytes: the header's length, the header, and raw bytes."""
    text = json.dumps(header, separators=(",", ":")).encode()
    return b"".join((struct.pack("<I", len(text)), text, *blobs))


def split(data: bytes, most_parts: int | None = None) -> tuple[Any, int]:
    """The header of a value's bytes, and where the raw bytes begin; WireError if it has too many parts."""
    (length,) = struct.unpack_from("<I", data)
    if 4 + length > len(data):
        raise WireError("the header is longer than the frame")
    text = data[4 : 4 + length]
    if most_parts is not None and sum(map(text.count, (b",", b"[", b"{"))) > most_parts:
        raise WireError("a value that has too many parts")
    return json.loads(text), 4 + length


def _memory(pointer: int, size: int) -> bytes:
    return ctypes.string_at(pointer, size) if size else b""


def _view(
    memory: bytearray, dtype: torch.dtype, shape: list[int], stride: list[int], offset: int, fills: bool
) -> torch.Tensor:
    if not memory:
        return torch.empty_strided(shape, stride, dtype=dtype)
    if fills:  # as most do, at half the price
        return torch.frombuffer(memory, dtype=dtype).resize_(shape)
    storage = torch.frombuffer(memory, dtype=torch.uint8).untyped_storage()
    return torch.empty(0, dtype=dtype).set_(storage, offset, shape, stride)


def _fills(memory: memoryview, name: str, shape: list[int], stride: list[int], offset: int) -> bool:
    """Whether a contiguous tensor of this shape fills the memory."""
    size = 1
    for length, step in zip(reversed(shape), reversed(stride), strict=True):
        if step != size:
            return False
        size *= length
    return not offset and size * _ITEM_SIZES[name] == len(memory)


def _odd_tensor(value: torch.Tensor) -> str | None:
    if value.is_nested:
        return "nested tensor"
    if value.layout is not torch.strided:
        return f"{str(value.layout).removeprefix('torch.')} tensor"
    if value.device.type != "cpu":
        return f"tensor on {value.device.type}"
    if value.dtype not in _NAMES or value.is_quantized:
        return f"{str(value.dtype).removeprefix('torch.')} tensor"
    return None


def _tree(value: Any, raw: Callable[[torch.Tensor | bytes], Any], depth: int) -> Any:
    if depth > MAX_DEPTH:
        return {"o": "value nested too deeply"}
    if value is None or type(value) in (bool, str):
        return value
    if isinstance(value, (torch.Tensor, bytes)):
        return raw(value)
    if isinstance(value, dict):
        return {"d": [[_tree(k, raw, depth + 1), _tree(v, raw, depth + 1)] for k, v in value.items()]}
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        number = int.__index__(value)  # not what a subclass says that it is
        return {"i": str(number)} if number.bit_length() < 1024 else {"o": "int of more than 1024 bits"}
    if isinstance(value, float):
        return {"f": float.__float__(value).hex()}
    if isinstance(value, Ref):
        return {"r": [value.step, list(value.path)]}
    if isinstance(value, ScratchPath):
        return {"p": [value.name, value.text]}
    if isinstance(value, torch.dtype):
        return {"c": _NAMES[value]} if value in _NAMES else {"o": str(value)}
    for kind, node in ((list, "l"), (tuple, "u"), (set, "s"), (frozenset, "s")):
        if isinstance(value, kind):
            return {node: [_tree(item, raw, depth + 1) for item in value]}
    return {"o": type(value).__name__}


def _value(node: Any, raw: Callable[[str, Any], Any], budget: list[int], depth: int) -> Any:
    budget[0] -= 1
    if depth > MAX_DEPTH + 2 or budget[0] < 0:
        raise WireError("a value that is nested too deeply or has too many parts")
    if node is None or type(node) in (bool, str):
        return node
    if type(node) is not dict or len(node) != 1:
        raise WireError("a part of unknown form")
    ((kind, content),) = node.items()
    if kind in ("t", "b"):
        return raw(kind, content)
    if kind in ("s", "d"):
        budget[1] -= len(content)
        if budget[1] < 0:
            raise WireError(f"sets and dicts of more than {MAX_KEYS} entries")
    if kind in _SEQUENCES:
        return _SEQUENCES[kind]([_value(item, raw, budget, depth + 1) for item in content])
    if kind == "d":
        return {_value(k, raw, budget, depth + 1): _value(v, raw, budget, depth + 1) for k, v in content}
    if kind == "i" and type(content) is str and len(content) <= MAX_DIGITS:
        return int(content)
    if kind == "f" and type(content) is str:
        return float.fromhex(content)
    if kind == "p":
        return ScratchPath(str(content[0]), bool(content[1]))
    if kind == "c":
        return DTYPES[content]
    if kind == "o" and type(content) is str:
        return Opaque(content[:80])
    raise WireError("a part of unknown form")
