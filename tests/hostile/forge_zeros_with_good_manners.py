# tries: answer with an own frame that holds a wrong value and a perfect report about itself
# expect: wrong answer, runtime error
import json, os, struct


def packed(tree, raw=b""):
    text = json.dumps({"value": tree}).encode()
    return struct.pack("<I", len(text)) + text + raw


def answer(number, rows, columns):
    zeros = bytes(8 * rows * columns)
    value = packed({"t": ["float64", [rows, columns], len(zeros)]}, zeros)
    tree = {
        "d": [
            ["error", None],
            ["values", {"d": [["output", {"b": len(value)}]]}],
            ["generator", False],
            ["changed", {"l": []}],
        ]
    }
    body = packed(tree, value)
    header = json.dumps({"type": "observation", "call": number}).encode()
    return struct.pack("<4sIQ", b"JDG1", len(header), len(body)) + header + body


def solve(x, y):
    for number in range(12):
        os.write(4, answer(number, len(x), y.shape[1]))
    os._exit(0)
