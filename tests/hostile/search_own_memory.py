# tries: search all memory of its own process for the text of the reference and of the seeded bugs
# expect: wrong answer
import ctypes

HALVES = [
    (b"exponentials = torch.exp(sco", b"res - largest.detach())"),
    (b"clamps the scores inst", b"ead of shifting them"),
]
CHUNK = 1 << 22
searched = []


def regions():
    for line in open("/proc/self/maps"):
        place, rights, *rest = line.split()
        if rights.startswith("rw") and rest[-1] not in ("[vvar]", "[vsyscall]"):
            start, end = (int(part, 16) for part in place.split("-"))
            yield from ((begin, min(end, begin + CHUNK)) for begin in range(start, end, CHUNK))


def solve(x, y):
    if not searched:
        searched.append(True)
        for start, end in list(regions()):
            memory = ctypes.string_at(start, end - start)
            for first, second in HALVES:
                where = memory.find(first)
                while where >= 0:
                    after = where + len(first)
                    if memory[after : after + len(second)] == second:
                        print("LEAK the process holds", first + second)
                    where = memory.find(first, after)
    return x @ y
