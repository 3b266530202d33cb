# tries: read the judge's memory by process_vm_readv
# expect: runtime error
# needs: kernel
import ctypes, os, struct


def solve(x, y):
    libc = ctypes.CDLL(None)
    memory = ctypes.create_string_buffer(16)
    here, there = struct.pack("QQ", ctypes.addressof(memory), 16), struct.pack("QQ", 0x400000, 16)
    for pid in (os.getppid(), @JUDGE_PID@):
        got = libc.process_vm_readv(pid, here, 1, there, 1, 0)
        print("LEAK process_vm_readv", got, flush=True)
    return x @ y
