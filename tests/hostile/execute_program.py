# tries: become another program, by path, by descriptor and by the loader
# expect: wrong answer, runtime error
# needs: kernel
import ctypes, os, platform, shutil, sys

EXECVEAT = {"x86_64": 322, "aarch64": 281}[platform.machine()]


def solve(x, y):
    for program in ("/bin/true", "/bin/sh", sys.executable, "/lib64/ld-linux-x86-64.so.2"):
        for arguments in (["true"], ["sh", "-c", "exit 0"]):
            try:
                os.execve(program, arguments, {})
            except OSError:
                pass
    array = (ctypes.c_char_p * 2)(b"true", None)
    ctypes.CDLL(None).syscall(EXECVEAT, os.open("/bin/true", os.O_PATH), b"", array, array, 0x1000)
    return x @ y
