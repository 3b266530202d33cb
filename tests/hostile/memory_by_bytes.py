# tries: take 6 GB as bytes
# expect: memory limit
def solve(x, y):
    return [bytearray(64 << 20) for _ in range(96)]
