# tries: frames whose headers are no objects, nested a hundred thousand deep, full of digits, or no text
# expect: runtime error
# turns: 9
import os, struct

HEADERS = [b"[]", b"null", b"[" * 100_000, b'{"a":' * 100_000, b"9" * 500_000, b"NaN", b"\xff\xfe\x00", b"", b'{"type": Infinity}']


def solve(x, y):
    header = HEADERS[@TURN@]
    os.write(4, struct.pack("<4sIQ", b"JDG1", len(header), 0) + header)
    return x @ y
