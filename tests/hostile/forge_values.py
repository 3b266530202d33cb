# tries: an answer whose tensors lie: negative and huge sizes, other lengths, unknown dtypes, endless nesting, odd keys
# expect: runtime error
# turns: 10
import json, os, struct

import torch

TREES = [
    {"t": ["float64", [-1, 1 << 62], -4]}, {"t": ["float64", [1 << 40, 1 << 40], 8]}, {"t": ["object", [1], 8]}, {"t": 5},
    {"b": 1 << 60}, {"i": "9" * 5000}, {"d": [[{"l": []}, None]]}, {"r": [0, []]}, {"l": [None] * 200_000},
]  # fmt: skip
nested = None
for _ in range(40):
    nested = {"l": [nested]}
TREES.append(nested)


def solve(x, y):
    text = json.dumps({"value": TREES[@TURN@]}).encode()
    body = struct.pack("<I", len(text)) + text
    for number in range(12):
        header = json.dumps({"type": "observation", "call": number}).encode()
        os.write(4, struct.pack("<4sIQ", b"JDG1", len(header), len(body)) + header + body)
    os._exit(0)
