# tries: unpack a small archive to 10 GB
# expect: memory limit
import zlib


def solve(x, y):
    packer = zlib.compressobj(1)
    packed = b"".join(packer.compress(bytes(1 << 20)) for _ in range(16)) + packer.flush()
    kept = []
    while True:
        kept.append(zlib.decompress(packed))
