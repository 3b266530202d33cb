"""Writes judge/processes/syscalls.py from the kernel's headers: `python tools/make_syscalls.py` (linux-libc-dev).

The names are chosen here, by what a numerical program needs; the numbers come from the headers of both machines.
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

X86_64 = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")
GENERIC = Path("/usr/include/asm-generic/unistd.h")  # what aarch64 uses
TARGET = Path(__file__).resolve().parent.parent / "judge" / "processes" / "syscalls.py"

ALLOWED = """
read write readv writev pread64 pwrite64 preadv pwritev preadv2 pwritev2 lseek close close_range dup dup2 dup3
open openat stat lstat fstat newfstatat statx access faccessat faccessat2 readlink readlinkat getdents getdents64
getcwd statfs fstatfs pipe pipe2 eventfd eventfd2 poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl
epoll_wait epoll_pwait epoll_pwait2 timerfd_create timerfd_settime timerfd_gettime recvfrom recvmsg sendto sendmsg
shutdown getsockopt setsockopt getsockname mmap munmap mprotect mremap madvise brk msync mincore mlock mlock2 munlock
membarrier mbind set_mempolicy get_mempolicy rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigtimedwait
rt_sigsuspend sigaltstack pause restart_syscall futex futex_waitv futex_wake futex_wait futex_requeue set_robust_list
set_tid_address rseq gettid getpid getppid getuid geteuid getgid getegid getresuid getresgid getgroups getpgrp getpgid
getsid sched_yield sched_getaffinity sched_getparam sched_getscheduler sched_get_priority_max sched_get_priority_min
getcpu getpriority time gettimeofday clock_gettime clock_getres clock_nanosleep nanosleep times getrusage sysinfo uname
getitimer setitimer alarm timer_create timer_settime timer_gettime timer_delete getrlimit setrlimit getrandom arch_prctl
exit exit_group fsync fdatasync fadvise64 flock umask chdir fchdir
"""
BY_ARGUMENT = "socketpair clone clone3 kill tgkill prlimit64 prctl ioctl fcntl sched_setaffinity"
CHANGING = """
truncate ftruncate fallocate copy_file_range sendfile mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2
"""
FATAL = """
ptrace process_vm_readv process_vm_writev bpf mount umount2 pivot_root chroot unshare setns init_module finit_module
delete_module kexec_load reboot io_uring_setup io_uring_enter io_uring_register userfaultfd perf_event_open
open_by_handle_at add_key request_key keyctl pidfd_getfd pidfd_send_signal move_mount open_tree fsopen fsmount
personality iopl ioperm
"""


def main() -> None:
    texts = {"ALLOWED": ALLOWED, "BY_ARGUMENT": BY_ARGUMENT, "CHANGING": CHANGING, "FATAL": FATAL}
    groups = {name: text.split() for name, text in texts.items()}
    x86_64, aarch64 = (
        _numbers(X86_64, r"#define __NR_(\w+)\s+(\d+)"),
        _numbers(GENERIC, r"#define __NR(?:3264)?_(\w+)\s+(\d+)"),
    )
    aarch64["newfstatat"] = aarch64.pop("fstatat")
    names = sorted({name for group in groups.values() for name in group})
    lines = [
        '"""System call numbers; written by tools/make_syscalls.py."""', "",
        "# name -> (x86_64, aarch64); None where the machine has no such call",
        "NUMBERS: dict[str, tuple[int | None, int | None]] = {",
        *(f'    "{name}": ({x86_64.get(name)}, {aarch64.get(name)}),' for name in names), "}",
    ]  # fmt: skip
    for group, members in groups.items():
        text = textwrap.fill(" ".join(members), 116)
        lines += ["", f'{group} = """\n{text}\n""".split()']
    TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _numbers(path: Path, pattern: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for match in re.finditer(pattern, path.read_text(encoding="utf-8")):
        found.setdefault(match[1], int(match[2]))
    return found


if __name__ == "__main__":
    main()
