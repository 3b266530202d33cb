"""Values as bytes: what survives the way to a worker, and what hostile bytes can't do on the way back."""

from __future__ import annotations

import collections
import contextlib
import json
import math
import random
import struct
import tracemalloc

import pytest
import torch

from judge.authoring import call, module_call
from judge.processes import wire
from judge.processes.wire import MAX_DEPTH, MAX_NODES, Opaque, TooLargeError, WireError, decode_result, encode_result
from judge.program import Program, Ref, Step

Pair = collections.namedtuple("Pair", "one other")
PLAIN = (type(None), bool, int, float, str, bytes, list, tuple, frozenset, dict, torch.Tensor, torch.dtype, Opaque)


def there(*args, **kwargs):
    """The arguments of a call as a worker decodes them."""
    (step,) = wire.decode_call(wire.encode_call(call("f", *args, **kwargs).program)).steps
    return (*step.args, *step.kwargs.values())


def back(value):
    """A result as the oracle side decodes it."""
    return decode_result(encode_result(value))


def answer(tree, raw=b"", length=None):
    """A result's bytes written by hand."""
    text = tree if isinstance(tree, bytes) else json.dumps({"value": tree}).encode()
    return struct.pack("<I", len(text) if length is None else length) + text + raw


def form(tensor):
    return tensor.dtype, tensor.shape, tensor.stride(), tensor.storage_offset()


def same_bits(one, other):
    return one.contiguous().flatten().view(torch.uint8).equal(other.contiguous().flatten().view(torch.uint8))


# Towards a worker


@pytest.mark.parametrize(
    "tensor",
    [
        torch.randn(3, 4, dtype=torch.float64),
        torch.randn(3, 4).t(),
        torch.randn(3, 8)[:, ::2],
        torch.randn(5, 4)[2:, 1:],
        torch.randn(4).expand(3, 4),
        torch.randn(3, 1, dtype=torch.bfloat16).expand(2, 3, 5),
        torch.tensor(2.5),
        torch.arange(6)[3],
        torch.empty(0, 5),
        torch.empty(3, 0).t(),
        torch.tensor([0.0, -0.0, math.nan, math.inf, -math.inf]),
        torch.tensor([True, False, True])[::2],
        torch.arange(-3, 3, dtype=torch.int8),
        torch.randn(2, 2, dtype=torch.complex64),
        torch.randn(24).as_strided((2, 3), (1, 5), 4),
    ],
    ids=lambda tensor: f"{tensor.dtype} {tuple(tensor.shape)} {tensor.stride()}",
)
def test_a_calls_tensor_keeps_its_bits_its_strides_and_its_offset(tensor):
    (decoded,) = there(tensor)
    assert form(decoded) == form(tensor)
    assert same_bits(decoded, tensor)
    assert decoded.untyped_storage().nbytes() == tensor.untyped_storage().nbytes()


@pytest.mark.parametrize("dtype", wire.DTYPES.values(), ids=str)
def test_every_dtype_goes_both_ways(dtype):
    tensor = torch.arange(6).reshape(2, 3).to(dtype)
    (decoded,) = there(tensor)
    assert decoded.dtype is dtype
    assert decoded.equal(tensor)
    assert back(tensor).dtype is dtype
    assert back(tensor).equal(tensor)
    assert back(dtype) is dtype


def test_arguments_that_share_memory_still_do():
    x = torch.randn(4, 6)
    whole, part, mirrored = there(x, part=x[1:, ::2], other=x.t())
    whole.zero_()
    assert not part.any()
    assert not mirrored.any()
    assert part.shape == (3, 3)


def test_arguments_of_other_memory_don_t_share_it():
    x = torch.randn(4)
    one, other = there(x, x.clone())
    one.zero_()
    assert other.all()


def test_the_same_tensor_stays_the_same_object_and_another_view_does_not():
    x = torch.randn(2, 2)
    one, again, view, inside = there(x, x, x[:], {"x": x})
    assert one is again is inside["x"]
    assert view is not one
    assert view.data_ptr() == one.data_ptr()


def test_empty_tensors_stay_apart_or_the_same():
    x, y = torch.empty(0, 3), torch.empty(0, 3)
    one, again, other = there(x, x, y)
    assert one is again
    assert other is not one


def test_whether_an_input_requires_a_gradient_is_the_runners_business():
    x = torch.randn(2, requires_grad=True)
    (decoded,) = there(x)
    assert decoded.equal(x)
    assert decoded.is_leaf
    assert not decoded.requires_grad


def test_decoding_twice_gives_independent_memory():
    x = torch.randn(3)
    data = wire.encode_call(call("f", x).program)
    one, other = (wire.decode_call(data).steps[0].args[0] for _ in range(2))
    one.mul_(0)
    assert other.equal(x)
    assert wire.decode_call(data).steps[0].args[0].equal(x)


def test_a_program_survives_with_everything_that_is_asked_of_it():
    state = {"weight": torch.randn(2, 3)}
    program = module_call("Block", {"d_model": 3, "dropout": 0.5}, state, torch.randn(2, 3), mask=None).program
    program = Program(program.steps, "float32", True, True, ("output",), "ValueError", "5", ("device",), True, True)
    decoded = wire.decode_call(wire.encode_call(program))
    for key in ("dtype", "random", "light", "differentiate", "extras", "no_grad", "anywhere"):
        assert getattr(decoded, key) == getattr(program, key), key
    assert (decoded.raises, decoded.naming) == (None, None)  # that would be the answer to a call that must raise
    steps = [(step.kind, step.name, step.target and step.target.step, step.observe) for step in decoded.steps]
    assert steps == [
        ("construct", "Block", None, None),
        ("to", None, 0, None),
        ("load_state", None, 0, None),
        ("eval", None, 0, None),
        ("apply", None, 0, "output"),
    ]
    assert decoded.steps[0].kwargs == {"d_model": 3, "dropout": 0.5}
    assert decoded.steps[2].args[0]["weight"].equal(state["weight"])
    assert decoded.steps[4].kwargs == {"mask": None}


def test_arguments_that_are_no_tensors_keep_their_types():
    values = (1, True, 1.0, -0.0, "eps", None, [1, (2,)], (), {"a": {"b": [3.5]}, 2: None}, torch.bfloat16, 1 << 70)
    decoded = there(*values)
    assert decoded == values
    assert [type(value) for value in decoded] == [type(value) for value in values]
    assert math.copysign(1, decoded[3]) == -1


def test_results_of_earlier_steps_are_referred_to_inside_containers_too():
    program = Program((Step("function", "f", args=([Ref(0, ("keys", 1))], {"cache": Ref(2)})),))
    assert wire.decode_call(wire.encode_call(program)).steps[0].args == program.steps[0].args


# Back from a worker


@pytest.mark.parametrize(
    "tensor",
    [
        torch.randn(3, 4).t(),
        torch.randn(4).expand(3, 4),
        torch.randn(3, 8)[:, 1::2],
        torch.tensor(3.0),
        torch.empty(0),
        torch.empty(2, 0, 3),
        torch.tensor([-0.0, math.nan, math.inf]),
        torch.randn(3, requires_grad=True) * 2,
        torch.nn.Parameter(torch.randn(2, 2)),
        torch.randn(3, dtype=torch.complex64).conj(),
        torch.randn(3, dtype=torch.complex128).conj().imag,
    ],
    ids=lambda tensor: f"{type(tensor).__name__} {tensor.dtype} {tuple(tensor.shape)} {tensor.stride()}",
)
def test_a_results_tensor_arrives_plain_with_the_same_values(tensor):
    decoded = back(tensor)
    assert type(decoded) is torch.Tensor
    assert decoded.dtype is tensor.dtype
    assert decoded.shape == tensor.shape
    assert decoded.is_contiguous()
    assert not decoded.requires_grad
    assert same_bits(decoded, tensor.detach().resolve_conj().resolve_neg())


def test_nested_results_keep_their_containers():
    x = torch.randn(2)
    decoded = back({"a": [x, (x, None)], "b": (1, {"c": "text", 3: b"bytes"})})
    assert decoded["a"][0].equal(x)
    assert type(decoded["a"][1]) is tuple
    assert decoded["b"] == (1, {"c": "text", 3: b"bytes"})


def test_plain_results_keep_value_and_type():
    values = [0, -1, True, None, "", "ä\0\ud800", 1.5, 5e-324, -0.0, math.inf, -math.inf, (1 << 1023) - 1, b"\xff"]
    assert back(values) == values
    assert [type(value) for value in back(values)] == [type(value) for value in values]
    assert math.isnan(back(math.nan))
    assert math.copysign(1, back(-0.0)) == -1


def test_subclasses_arrive_as_what_they_are_at_bottom():
    class Text(str):
        __slots__ = ()

    class Sequence(list):
        pass

    class Whole(int):
        pass

    decoded = back([Pair(1, 2), Text("a"), Sequence([3]), Whole(4), collections.OrderedDict(a=1), torch.Size([5])])
    assert decoded == [(1, 2), "a", [3], 4, {"a": 1}, (5,)]
    assert [type(value) for value in decoded] == [tuple, str, list, int, dict, tuple]


def test_sets_arrive_frozen():
    assert back({1, "a"}) == frozenset({1, "a"})
    assert back(frozenset({2})) == frozenset({2})


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (object(), "object"),
        (1j, "complex"),
        (len, "builtin_function_or_method"),
        (torch.nn.Identity(), "Identity"),
        (bytearray(b"a"), "bytearray"),
        (1 << 5000, "int of more than 1024 bits"),
        (torch.eye(2).to_sparse(), "sparse_coo tensor"),
        (torch.empty(2, device="meta"), "tensor on meta"),
        (torch.zeros(2, dtype=torch.uint16), "uint16 tensor"),
        (torch.zeros(2).to(torch.float8_e4m3fn), "float8_e4m3fn tensor"),
        (torch.float8_e4m3fn, "torch.float8_e4m3fn"),
    ],
    ids=lambda value: None,
)
def test_what_does_not_cross_becomes_the_name_of_its_type(value, name):
    assert back(value) == Opaque(name)
    assert back([1, value]) == [1, Opaque(name)]


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_a_nested_tensor_is_named_too():
    assert back(torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])) == Opaque("nested tensor")


def test_a_value_nested_too_deeply_is_cut_off_and_still_arrives():
    value = inner = []
    for _ in range(MAX_DEPTH + 5):
        inner.append([])
        inner = inner[0]
    decoded, depth = back(value), 0
    while isinstance(decoded, list):
        decoded, depth = decoded[0], depth + 1
    assert decoded == Opaque("value nested too deeply")
    assert depth == MAX_DEPTH + 1


def test_a_list_that_contains_itself_still_arrives():
    value = []
    value.append(value)
    assert isinstance(back(value), list)


def test_a_result_that_is_too_large_says_so():
    encode_result([torch.zeros(8, dtype=torch.float64)] * 2, max_bytes=128)
    with pytest.raises(TooLargeError, match="more than 0 MiB"):
        encode_result([torch.zeros(8, dtype=torch.float64)] * 2, max_bytes=127)
    with pytest.raises(TooLargeError):
        encode_result(torch.zeros(1).expand(1 << 20), max_bytes=1 << 20)


# Hostile bytes


def tensor_answer(name="float64", shape=(2,), size=16, raw=bytes(16)):
    return answer({"t": [name, list(shape) if isinstance(shape, tuple) else shape, size]}, raw)


def test_the_hand_written_form_is_the_right_one():
    assert decode_result(tensor_answer()).equal(torch.zeros(2, dtype=torch.float64))
    assert decode_result(answer({"b": 2}, b"ab")) == b"ab"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0\0",
        struct.pack("<I", 5),
        answer(None, length=1 << 31),
        answer(None, length=3),
        answer(b"{}"),
        answer(b"[]"),
        answer(b"5"),
        answer(b'{"value":'),
        answer(b"\xff\xfe"),
        answer(1),
        answer(1.5),
        answer([]),
        answer({}),
        answer({"i": "1", "f": "1"}),
        answer({"z": 1}),
        answer({"i": 1}),
        answer({"i": "one"}),
        answer({"i": "1" * 401}),
        answer({"f": 1.5}),
        answer({"f": "0x1p99999"}),
        answer({"o": 5}),
        answer({"c": "float8"}),
        answer({"c": ["float32"]}),
        answer({"r": [0, []]}),
        answer({"l": 5}),
        answer({"l": [[]]}),
        answer({"d": [["a"]]}),
        answer({"d": [[{"l": []}, None]]}),
        answer({"d": [["a", None, None]]}),
        answer({"s": [{"l": []}]}),
        answer({"b": 3}, b"ab"),
        answer({"b": 1}, b"ab"),
        answer({"b": -1}, b"ab"),
        answer({"b": True}, b"a"),
        answer({"b": ["float64", [0], 0]}),
        answer({"t": 0}),
        answer({"t": ["float64", [2]]}, bytes(16)),
        answer({"t": ["float64", [2], 16, 0]}, bytes(16)),
        tensor_answer(name="object"),
        tensor_answer(name="float16_"),
        tensor_answer(name=["float64"]),
        tensor_answer(name=None),
        tensor_answer(shape=2),
        tensor_answer(shape="2"),
        tensor_answer(shape=(3,)),
        tensor_answer(shape=(-2,)),
        tensor_answer(shape=(-1, -2)),
        tensor_answer(shape=(2.0,)),
        tensor_answer(shape=("2",)),
        tensor_answer(shape=(2, True)),
        tensor_answer(shape=(2, None)),
        tensor_answer(shape=(1,) * 17 + (2,)),
        tensor_answer(size=8),
        tensor_answer(size=-16),
        tensor_answer(size=16.0),
        tensor_answer(size="16"),
        tensor_answer(size=math.nan),
        tensor_answer(size=None),
        tensor_answer(raw=bytes(15)),
        tensor_answer(raw=bytes(17)),
        tensor_answer(shape=(1,), size=True, name="bool", raw=b"\1"),
        tensor_answer(shape=(1 << 61,), size=1 << 64, raw=b""),
        tensor_answer(shape=(1 << 40, 1 << 40), size=1 << 83, raw=b""),
        tensor_answer(shape=(1 << 32, 1 << 32), size=0, raw=b""),
        tensor_answer(shape=(0, 1 << 40), size=0, raw=b""),
        tensor_answer(shape=(0, *[1 << 20] * 15), size=0, raw=b""),
        answer(b'{"value":' + b"[" * 100_000),
        answer(b'{"value":' + b'{"l":[' * (MAX_DEPTH + 4) + b"null" + b"]}" * (MAX_DEPTH + 4) + b"}"),
        answer({"l": [None] * (MAX_NODES + 1)}),
        answer({"l": "a" * (MAX_NODES + 1)}),
    ],
    ids=lambda data: repr(data[:60]),
)
def test_bytes_that_are_no_value_are_refused(data):
    with pytest.raises(WireError):
        decode_result(data)


def test_of_a_key_that_occurs_twice_the_last_one_counts():
    assert decode_result(answer(b'{"value":{"i":"1","i":"2"},"value":{"i":"3"}}')) == 3


def test_booleans_are_normalized():
    assert decode_result(tensor_answer(name="bool", size=2, raw=b"\x02\x00")).tolist() == [True, False]
    assert decode_result(tensor_answer(name="bool", size=2, raw=b"\x02\x00")).view(torch.uint8).tolist() == [1, 0]


def test_a_long_type_name_is_cut():
    assert decode_result(answer({"o": "x" * 1000})) == Opaque("x" * 80)


def frames():
    x = torch.randn(3, 4, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    return [
        encode_result(value)
        for value in [
            x,
            {"error": None, "values": {"output": encode_result(x)}, "changed": [["0.x", "values"]], "generator": False},
            [x[0].half(), (x > 0, torch.arange(5)), {"a": None, 3: 1.5}, {1, 2}],
            {"gradients": {"0.x": x, "weight": None}, "kind": "raised", "line": 12, "bases": ["ValueError"]},
            [[[[torch.empty(0, 3)]]], torch.bfloat16, object(), b"abc", 1 << 200, -0.0, math.nan],
            torch.zeros((2,) * 8, dtype=torch.bool),
        ]
    ]


STRANGE = [
    None, True, -1, 0, 1, 2, 1 << 20, 1 << 40, 1 << 62, 1 << 64, -(1 << 63), math.nan, math.inf, 1.5, "", "float64", "bool",
    [], {}, [0], [[0]], [-1, -1], [1 << 40] * 16, [0, 1 << 40], [True], {"t": ["int8", [0], 0]}, {"b": 0}, {"l": []},
    {"r": [0, []]}, {"c": "bool"}, {"i": "-7"}, {"f": "nan"}, {"o": "x"}, {"s": [{"d": []}]},
]  # fmt: skip


def mutated_bytes(data, rng):
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 5])):
        place = rng.randrange(len(data))
        way = rng.randrange(5)
        if way == 0:
            data[place] ^= 1 << rng.randrange(8)
        elif way == 1:
            data[place] = rng.choice(b'0123456789-{}[]":,.eElutd\0\xff')
        elif way == 2:
            del data[place : place + rng.choice([1, 2, 8, 100])]
        elif way == 3:
            data[place:place] = data[rng.randrange(len(data)) :][: rng.choice([1, 4, 30])]
        else:
            data[:4] = struct.pack("<I", rng.choice([0, 1, len(data) - 4, len(data), 1 << 31, rng.randrange(300)]))
        if not data:
            break
    return bytes(data)


def mutated_tree(data, rng):
    """Another JSON tree before the same raw bytes: any one node replaced, doubled, wrapped or taken out."""
    (length,) = struct.unpack_from("<I", data)
    tree = json.loads(data[4 : 4 + length])
    places = []

    def collect(node):
        keys = list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
        for key in keys:
            places.append((node, key))
            collect(node[key])

    collect(tree)
    node, key = rng.choice(places)
    way = rng.randrange(6)
    if way == 0:
        del node[key]
    elif way == 1:
        for _ in range(rng.choice([1, 3, MAX_DEPTH, 300])):
            node[key] = rng.choice([[node[key]], {"l": [node[key]]}, {"d": [[node[key], None]]}])
    elif way == 2 and isinstance(node, list):
        node.insert(key, node[key])
    elif way == 3 and isinstance(node[key], int):
        node[key] += rng.choice([-1, 1, 8, 1 << 32])
    elif way == 4 and isinstance(node[key], str):
        node[key] = node[key] * rng.choice([0, 2, 500])
    else:
        node[key] = rng.choice(STRANGE)
    text = json.dumps(tree).encode()
    return struct.pack("<I", len(text)) + text + data[4 + length :]


def parts(value):
    yield value
    inside = [*value.keys(), *value.values()] if isinstance(value, dict) else value
    if isinstance(value, (list, tuple, frozenset, dict)):
        for part in inside:
            yield from parts(part)


@pytest.fixture(scope="module")
def mutations():
    rng, valid = random.Random(1), frames()
    return [way(rng.choice(valid), rng) for way in (mutated_bytes, mutated_tree) for _ in range(10_000)]


def test_no_mutation_of_a_valid_frame_gives_anything_but_a_plain_value_or_a_wire_error(mutations):
    accepted = 0
    for data in mutations:
        try:
            value = decode_result(data)
        except WireError:
            continue
        accepted += 1
        found = list(parts(value))
        assert all(type(part) in PLAIN for part in found), data
        tensors = [part for part in found if isinstance(part, torch.Tensor)]
        assert sum(tensor.untyped_storage().nbytes() for tensor in tensors) <= len(data), data
    assert 2_000 < accepted < 18_000


def test_no_mutation_takes_much_more_memory_than_its_bytes(mutations):
    tracemalloc.start()
    try:
        for data in mutations[::5]:
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            with contextlib.suppress(WireError):
                decode_result(data)
            assert tracemalloc.get_traced_memory()[1] - before < 20_000 + 40 * len(data), data
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("part", [b"[]", b'{"":[]}', b'"a"'])
def test_a_flood_of_tiny_parts_is_refused_before_it_is_parsed(part):
    data = answer(b'{"value":{"l":[' + b",".join([part] * 1_700_000) + b"]}}")
    tracemalloc.start()
    try:
        with pytest.raises(WireError, match="too many parts"):
            decode_result(data)
        assert tracemalloc.get_traced_memory()[1] < 2.5 * len(data)
    finally:
        tracemalloc.stop()
