# tries: write to what looks like a file and is a switch: its own /proc, kernel settings, devices, the terminal
# expect: wrong answer
# needs: kernel
import glob, os

PLACES = [
    "/proc/self/oom_score_adj", "/proc/self/coredump_filter", "/proc/self/clear_refs", "/proc/self/comm",
    "/proc/self/mem", "/proc/self/uid_map", "/proc/self/setgroups", "/proc/self/timerslack_ns",
    "/proc/sys/kernel/hostname", "/proc/sys/vm/overcommit_memory", "/proc/sysrq-trigger", "/sys/power/state",
    "/dev/tty", "/dev/console", "/dev/kmsg", "/dev/fuse", "/dev/net/tun", "/dev/kvm", "/dev/mem", "/dev/ptmx",
    "/dev/zero", "/dev/full", "/dev/random", *glob.glob("/dev/[vs]d*"), *glob.glob("/dev/loop*"), "/sys/fs/cgroup/cgroup.procs",
]  # fmt: skip


def solve(x, y):
    for place in PLACES:
        for flags in (os.O_WRONLY, os.O_RDWR):
            try:
                os.close(os.open(place, flags | os.O_NOCTTY | os.O_NONBLOCK))
                print("LEAK", place)
            except OSError:
                pass
    return x @ y
