# tries: report its own import with fields of every wrong kind, a line far away and a megabyte of text
# expect: runtime error, invalid submission
# turns: 7
import json, os, struct

LONG = "[red]x[/red]\x1b[2J\x00\r\n" * 20_000
REPORTS = [
    {"error": {"kind": "raised", "type": LONG, "message": LONG, "line": 10**400, "traceback": [LONG]}},
    {"error": {"kind": ["memory"], "type": None, "message": {"a": LONG}, "line": -1, "traceback": [1]}},
    {"error": {"kind": "raised", "type": "\ud800", "message": "\udfff", "line": True, "traceback": ["\ud800"]}},
    {"error": None, "missing": [LONG, "\ud800", "solve"], "settings": [LONG]},
    {"error": None, "missing": "solve", "settings": {}},
    {"error": {"kind": "raised", "type": [[]], "message": "m"}, "missing": [], "settings": []},
    {"error": [], "missing": [], "settings": ["\ud800" + LONG], "seeded": "yes"},
]


def solve(x, y):
    os._exit(0)


header = json.dumps({"type": "loaded"} | REPORTS[@TURN@]).encode().replace(b"[[]]", b"[" * 984 + b"]" * 984)
os.write(4, struct.pack("<4sIQ", b"JDG1", len(header), 0) + header)
