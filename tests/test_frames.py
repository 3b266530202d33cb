"""Frames: what is read back, and that nothing is read, let alone allocated, before its length is known to be small."""

from __future__ import annotations

import io
import struct

import pytest

from judge.processes import frames
from judge.processes.frames import FrameError


def reading(data):
    """A reader of these bytes, and the list of how many were asked for at a time."""
    stream, asked = io.BytesIO(data), []

    def read_exactly(count):
        asked.append(count)
        part = stream.read(count)
        if len(part) < count:
            raise EOFError
        return part

    return read_exactly, asked


def read(data, **caps):
    return frames.read(reading(data)[0], **caps)


def prefix(header=2, body=0, magic=b"JDG1"):
    return struct.pack("<4sIQ", magic, header, body)


@pytest.mark.parametrize(
    ("header", "body"),
    [
        ({}, b""),
        ({"type": "call", "call": 3}, b"\0\1\xff" * 1000),
        ({"text": "ä\n\0\ud800", "nested": {"list": [1, None, 1.5, True]}}, b"JDG1"),
    ],
)
def test_a_frame_is_read_as_it_was_packed(header, body):
    assert read(frames.pack(header, body)) == (header, body)


def test_frames_follow_each_other_without_a_gap():
    read_exactly, asked = reading(frames.pack({"a": 1}, b"x") + frames.pack({"b": 2}) + frames.pack({"c": 3}, b"yz"))
    assert [frames.read(read_exactly) for _ in range(3)] == [({"a": 1}, b"x"), ({"b": 2}, b""), ({"c": 3}, b"yz")]
    assert asked == [16, 7, 1] + [16, 7, 0] + [16, 7, 2]


@pytest.mark.parametrize("magic", [b"JDG2", b"\0\0\0\0", b"jdg1", b"PK\3\4"])
def test_another_magic_is_no_answer(magic):
    read_exactly, asked = reading(prefix(magic=magic) + b"{}")
    with pytest.raises(FrameError, match="does not begin like an answer"):
        frames.read(read_exactly)
    assert asked == [16]


@pytest.mark.parametrize(
    "sizes",
    [(frames.MAX_HEADER + 1, 0), (2, frames.MAX_BODY + 1), (0xFFFFFFFF, 0), (2, 0xFFFFFFFFFFFFFFFF)],
)
def test_what_is_too_large_is_refused_before_a_byte_of_it_is_read(sizes):
    read_exactly, asked = reading(prefix(*sizes) + b"{}")
    with pytest.raises(FrameError, match="too large"):
        frames.read(read_exactly)
    assert asked == [16]


def test_the_reader_sets_the_caps():
    data = frames.pack({"type": "x"}, b"abc")
    assert read(data, max_header=12, max_body=3) == ({"type": "x"}, b"abc")
    with pytest.raises(FrameError, match="too large"):
        read(data, max_header=11)
    with pytest.raises(FrameError, match="too large"):
        read(data, max_body=2)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "can't be read"),
        (b"{", "can't be read"),
        (b"\xff\xfe\xfd", "can't be read"),
        (b"{'a': 1}", "can't be read"),
        (b"[" * 200_000, "can't be read"),
        (b'{"a":' * 200_000, "can't be read"),
        (b"[]", "no object"),
        (b"null", "no object"),
        (b'"text"', "no object"),
        (b"1", "no object"),
    ],
    ids=lambda value: repr(value[:20]),
)
def test_a_header_that_is_no_json_object_is_refused(text, said):
    with pytest.raises(FrameError, match=said):
        read(prefix(len(text)) + text)


@pytest.mark.parametrize("kept", [0, 1, 15, 16, 20, -1])
def test_an_end_in_the_middle_is_an_end_and_no_frame(kept):
    with pytest.raises(EOFError):
        read(frames.pack({"type": "x"}, b"body")[:kept])
