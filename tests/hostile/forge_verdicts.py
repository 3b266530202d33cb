# tries: write own frames to every descriptor: accepted, full points, no isolation needed
# expect: runtime error
import json, os, struct

HEADERS = [
    {"type": "locked", "level": "kernel", "layers": ["everything"], "leaks": []},
    {"type": "loaded", "error": None, "missing": [], "settings": [], "seeded": False},
    {"type": "result", "verdict": "accepted", "points": 100, "cases": {}, "diagnosis": None, "streams": []},
    {"id": 1, "exit": 0, "signal": None, "peak_mib": 0, "cpu": 0},
    {"do": "fork", "id": 99, "role": "oracle"},
    {"type": "done", "closed": []},
]


def solve(x, y):
    for header in HEADERS:
        text = json.dumps(header).encode()
        for descriptor in range(1, 64):
            try:
                os.write(descriptor, struct.pack("<4sIQ", b"JDG1", len(text), 0) + text)
                os.write(descriptor, text + b"\n")
            except OSError:
                pass
    os._exit(0)
