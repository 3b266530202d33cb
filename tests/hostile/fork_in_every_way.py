# tries: make another process: fork, vfork, clone, clone3, posix_spawn, subprocess, multiprocessing, pty
# expect: wrong answer
# needs: kernel
import ctypes, multiprocessing, os, platform, pty, signal, struct, subprocess

CLONE, CLONE3 = {"x86_64": (56, 435), "aarch64": (220, 435)}[platform.machine()]
LIBC = ctypes.CDLL(None)


def raw(*arguments):
    pid = LIBC.syscall(*arguments)
    if pid < 0:
        raise OSError
    if pid == 0:
        os._exit(0)


def clone3():
    raw(CLONE3, struct.pack("11Q", 0, 0, 0, 0, signal.SIGCHLD, 0, 0, 0, 0, 0, 0), 88)


WAYS = [
    lambda: os.fork() or os._exit(0),
    lambda: os.forkpty()[0] or os._exit(0),
    lambda: raw(CLONE, signal.SIGCHLD, 0, 0, 0, 0),
    lambda: raw(CLONE, signal.SIGCHLD | 0x8000, 0, 0, 0, 0),
    lambda: raw(CLONE, signal.SIGCHLD | 0x100, 0, 0, 0, 0),
    clone3,
    lambda: os.posix_spawn("/bin/true", ["true"], {}),
    lambda: subprocess.run(["/bin/true"]),
    lambda: os.system("true") and (_ for _ in ()).throw(OSError),
    lambda: multiprocessing.get_context("fork").Process(target=print).start(),
    lambda: multiprocessing.get_context("spawn").Process(target=print).start(),
    lambda: pty.spawn("/bin/true"),
]


def solve(x, y):
    for number, way in enumerate(WAYS):
        try:
            way()
        except (OSError, ValueError):
            continue
        print("LEAK way", number, flush=True)
    return x @ y
