# tries: open the hidden reference by its path and run it
# expect: runtime error
# needs: kernel
def solve(x, y):
    names = {}
    exec(open("@HIDDEN_FILE@").read(), names)
    print("LEAK the reference was read")
    return names["solve"](x, y)
