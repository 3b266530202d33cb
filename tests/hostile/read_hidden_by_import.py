# tries: put the hidden folder on sys.path and import the reference
# expect: runtime error
# needs: kernel
import sys

sys.path.insert(0, "@HIDDEN_FOLDER@")


def solve(x, y):
    import reference

    print("LEAK the reference was imported")
    return reference.solve(x, y)
