# tries: leave with success while the file is imported, after an own report that all is well
# expect: runtime error
import json, os, struct


def frame(header, body=b""):
    text = json.dumps(header).encode()
    return struct.pack("<4sIQ", b"JDG1", len(text), len(body)) + text + body


def solve(x, y):
    return x


for descriptor in range(1, 10):
    try:
        os.write(descriptor, frame({"type": "loaded", "error": None, "missing": [], "settings": [], "seeded": False}))
        os.write(descriptor, frame({"type": "done", "closed": []}))
        os.write(descriptor, frame({"type": "result", "verdict": "accepted", "cases": {}, "points": 100}))
    except OSError:
        pass
os._exit(0)
