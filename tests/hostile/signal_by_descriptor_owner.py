# tries: let the kernel send signals for it: descriptors owned by its parent, timers, terminal keys
# expect: wrong answer
# needs: kernel
import fcntl, os, signal, socket, struct, termios


def solve(x, y):
    one, other = socket.socketpair()
    reading, writing = os.pipe()
    for pid in (os.getppid(), -os.getpgid(os.getppid()), @JUDGE_PID@):
        for descriptor in (one.fileno(), reading):
            ways = [
                lambda: fcntl.fcntl(descriptor, fcntl.F_SETOWN, pid),
                lambda: fcntl.fcntl(descriptor, 15, struct.pack("ii", 1, abs(pid))),
                lambda: fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGWINCH),
                lambda: fcntl.ioctl(descriptor, 0x8901, struct.pack("i", pid)),
            ]
            for number, way in enumerate(ways):
                try:
                    way()
                except OSError:
                    continue
                print("LEAK way", number)
    for descriptor in range(8):
        for number in (termios.TIOCSTI, termios.TIOCSCTTY, termios.TIOCNOTTY, termios.TCSETS, termios.TIOCLINUX if hasattr(termios, "TIOCLINUX") else 0x541C):
            try:
                fcntl.ioctl(descriptor, number, b"\n" * 64)
                print("LEAK ioctl", number)
            except OSError:
                pass
    return x @ y
