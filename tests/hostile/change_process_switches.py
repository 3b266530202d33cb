# tries: undo what the judge set by prctl: die with the parent, no dumps, no new privileges, the filter itself
# expect: wrong answer
# needs: kernel
import ctypes

SWITCHES = {
    "PDEATHSIG": (1, 0), "DUMPABLE": (4, 1), "KEEPCAPS": (8, 1), "TIMING": (14, 0), "SECCOMP": (22, 2, 0),
    "CAPBSET_DROP": (24, 0), "TSC": (26, 2), "SECUREBITS": (28, 0), "TIMERSLACK": (29, 1), "MCE_KILL": (33, 0),
    "MM": (35, 1, 0, 0, 0), "SUBREAPER": (36, 1), "AMBIENT": (47, 2, 21), "NO_NEW_PRIVS": (38, 0), "THP": (41, 1),
    "PTRACER": (0x59616D61, -1), "SPECULATION": (53, 0, 2), "IO_FLUSHER": (57, 1), "DISPATCH": (59, 1, 0, 0, 0),
}  # fmt: skip


def solve(x, y):
    libc = ctypes.CDLL(None)
    for name, values in SWITCHES.items():
        padded = [ctypes.c_ulong(value) for value in (*values, 0, 0, 0, 0)][:5]
        if libc.prctl(*padded) == 0:
            print("LEAK", name)
    return x @ y
