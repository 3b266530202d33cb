# tries: find the judge's own environment, arguments and folder in its own process
# expect: wrong answer
import os, sys


def solve(x, y):
    texts = [repr(dict(os.environ)), repr(sys.argv), repr(sys.path), os.getcwd()]
    for name in ("environ", "cmdline"):
        try:
            texts.append(open(f"/proc/self/{name}", errors="replace").read())
        except OSError:
            pass
    for text in texts:
        if "JUDGE_TEST" + "_SECRET" in text or "hidden/" + "reference" in text:
            print("LEAK", text[:60])
    return x @ y
