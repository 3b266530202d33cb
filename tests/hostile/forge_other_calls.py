# tries: answer calls that were not asked: numbers below zero, beyond the last, true, text
# expect: runtime error
# turns: 8
import json, os, struct

NUMBERS = [-1, 10**9, True, "0", None, 0.0, [0], 1e400]


def solve(x, y):
    number = NUMBERS[@TURN@]
    header = json.dumps({"type": "observation", "call": number, "extra": 1}).encode()
    os.write(4, struct.pack("<4sIQ", b"JDG1", len(header), 0) + header)
    return x @ y
