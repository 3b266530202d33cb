"""Parcels: what they hold arrives as it was, and hostile bytes give a WireError or plain values, never another error."""

from __future__ import annotations

import json
import random
import struct

import pytest
import torch

from judge.processes.implementation_worker import Implementation
from judge.processes.packing import pack
from judge.processes.unpacking import unpack
from judge.processes.wire import WireError, join, split


def sample() -> tuple[bytes, torch.Tensor]:
    x = torch.randn(4, 6, dtype=torch.float64)
    given = ((x, x.T, x[::2], torch.tensor([True, False])), {"mask": None, "eps": 1e-5, "n": 3, "inner": {"w": x}})
    return pack(given)[0], x


def test_shared_memory_and_identity_arrive():
    data, x = sample()
    (first, turned, rows, mask), named = unpack(data).value
    assert torch.equal(first, x)
    assert named["inner"]["w"] is first
    assert (turned.stride(), rows.stride()) == ((1, 6), (12, 1))
    turned.zero_()
    assert not rows.any()
    assert mask.tolist() == [True, False]


def test_an_expanded_tensor_takes_one_elements_memory():
    data, parcel = pack(torch.ones(()).expand(1000, 1000))
    assert len(data) < 1000
    assert unpack(data).value.stride() == (0, 0)


def test_numbers_of_numpy_arrive_as_numbers():
    numpy = pytest.importorskip("numpy")
    given = numpy.int64(3), numpy.uint8(200), numpy.float32(0.5), numpy.float64(0.1)
    arrived = unpack(pack(given)[0]).value
    assert arrived == (3, 200, 0.5, 0.1)
    assert [type(one) for one in arrived] == [int, int, float, float]


def test_the_same_list_is_the_same_list():
    inner = [1]
    one, other = unpack(pack([inner, inner])[0]).value
    assert one is other


@pytest.mark.parametrize("change", [
    {"tensors": [["float64", [5, 6], [6, 1], 0, 0, False, True]]},
    {"tensors": [["float64", [4, 6], [6, 1], 1, 0, False, True]]},
    {"tensors": [["float64", [4, 6], [-6, 1], 0, 0, False, True]]},
    {"tensors": [["float64", [1 << 40, 1 << 40], [0, 0], 0, 0, False, True]]},
    {"tensors": [["float64", [2] * 20, [0] * 20, 0, 0, False, True]]},
    {"tensors": [["object", [1], [1], 0, 0, False, True]]},
    {"tensors": [["int64", [1], [1], 0, 0, True, True]]},
    {"tensors": [["bool", [1], [1], 0, 0, False, True]]},
    {"tensors": [["float64", [1], [1], 0, 7, False, True]]},
    {"tensors": [["float64", [1], [1], 0, 0, 1, True]]},
    {"tensors": [["float64", [1.5], [1], 0, 0, False, True]]},
    {"storages": [1 << 40]},
    {"storages": [-1]},
    {"storages": [1]},
    {"tree": {"t": -1}},
    {"tree": {"t": 99}},
    {"tree": {"n": ["A", ["for"], [1]]}},
    {"tree": {"n": ["A", ["x", "__class__"], [1, 2]]}},
    {"tree": {"x": [0, 0]}},
    {"tree": {"i": "9" * 1000}},
    {"tree": {"d": [[{"l": []}, None]]}},
    {"tree": {"eval": "1"}},
    {"tree": [1]},
    {},
], ids=str)  # fmt: skip
def test_a_lie_in_the_header_is_refused(change):
    header, start = split(pack(torch.full((4, 6), 3.0, dtype=torch.float64))[0])
    body = pack(torch.full((4, 6), 3.0, dtype=torch.float64))[0][start:]
    with pytest.raises(WireError):
        unpack(join(header | change if change else {}, [body]))


def test_deep_trees_are_refused():
    tree = "[" * 100_000 + "]" * 100_000
    text = f'{{"tree": {tree}, "tensors": [], "storages": []}}'.encode()
    with pytest.raises(WireError):
        unpack(struct.pack("<I", len(text)) + text)
    nested: list[object] = []
    for _ in range(40):
        nested = [nested]
    with pytest.raises(WireError, match="too deeply"):
        pack(nested)


def test_mangled_bytes_are_refused_or_harmless():
    data, _ = sample()
    chance = random.Random(1)
    implementation = Implementation({"f": lambda *args, **kwargs: (args, kwargs)})
    header = {"type": "call", "call": 1, "name": "f", "grad": True, "dtype": "float32", "forget": []}
    for _ in range(3000):
        mangled = bytearray(data)
        for _ in range(chance.randint(1, 6)):
            mangled[chance.randrange(len(data) // 2)] = chance.randrange(256)
        try:
            unpack(bytes(mangled))
        except WireError:
            assert unpack(implementation.answer(header, bytes(mangled))).value["error"]["type"] == "TypeError"


@pytest.mark.parametrize("header", [
    {}, {"type": "call"}, {"type": "call", "call": 1, "name": "g", "grad": True, "dtype": "float32", "forget": []},
    {"type": "call", "call": "1", "name": "f", "grad": True, "dtype": "float32", "forget": []},
    {"type": "call", "call": 1, "name": "f", "grad": True, "dtype": "eval", "forget": []},
    {"type": "call", "call": 1, "name": "f", "grad": True, "dtype": "float32", "forget": [[1]]},
    {"type": "call", "call": 1, "name": ["f"], "grad": True, "dtype": "float32", "forget": None},
    {"type": "backward", "call": 5, "wanted": [0]}, {"type": "backward", "call": None, "wanted": None},
], ids=json.dumps)  # fmt: skip
def test_a_frame_that_no_proxy_sends_is_answered_by_an_error(header):
    answer = Implementation({"f": lambda *args: args}).answer(header, sample()[0])
    assert unpack(answer).value["error"]["type"] == "TypeError"
