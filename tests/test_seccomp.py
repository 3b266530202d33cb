"""The filter as the kernel runs it, by a small interpreter of its own: the right answer to each call, on both machines."""

from __future__ import annotations

import errno
import struct

import pytest

from judge.processes import seccomp
from judge.processes.syscalls import ALLOWED, BY_ARGUMENT, CHANGING, FATAL, NUMBERS

PID = 4711
ALLOW, KILL = "allow", "kill"
MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
OTHER_TABLES = {"x86_64": [0x40000003, 0xC00000B7, 0], "aarch64": [0x40000028, 0xC000003E, 0]}
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06


def answer(code: bytes, architecture: int, number: int, *arguments: int) -> str:
    """What the filter says to a call: "allow", "kill" or the name of an error."""
    six = [*arguments, 0, 0, 0, 0, 0, 0][:6]
    data = struct.pack("<IIQ6Q", number & 0xFFFFFFFF, architecture, 0, *(a & (1 << 64) - 1 for a in six))
    instructions = list(struct.iter_unpack("<HBBI", code))
    position = accumulator = 0
    while True:
        operation, if_true, if_false, operand = instructions[position]
        position += 1
        if operation == _LOAD:
            (accumulator,) = struct.unpack_from("<I", data, operand)
        elif operation == _RETURN:
            if operand >> 16 == 5:
                return errno.errorcode[operand & 0xFFFF]
            return {0x7FFF0000: ALLOW, 0x80000000: KILL}[operand]
        else:
            holds = {
                _EQUAL: accumulator == operand, _AT_LEAST: accumulator >= operand, _ANY_BIT: bool(accumulator & operand),
            }[operation]  # fmt: skip
            position += if_true if holds else if_false


@pytest.fixture(params=MACHINES)
def machine(request: pytest.FixtureRequest) -> str:
    return request.param


def says(machine: str, call: str | tuple[int, int], *arguments: int, **settings: bool) -> str | None:
    """The answer on that machine; None if it has no such call. A call is a name of the table or two numbers."""
    column, architecture = MACHINES[machine]
    number = (NUMBERS[call] if isinstance(call, str) else call)[column]
    if number is None or number < 0:
        return None
    code = seccomp.program(column, PID, **{"read_only": False, **settings})
    return answer(code, architecture, number, *arguments)


REFUSED = {
    "socket": (41, 198), "connect": (42, 203), "accept": (43, 202), "bind": (49, 200), "listen": (50, 201),
    "sendmmsg": (307, 269), "fork": (57, -1), "vfork": (58, -1), "execve": (59, 221), "execveat": (322, 281),
    "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240), "tkill": (200, 130), "link": (86, -1),
    "linkat": (265, 37), "symlinkat": (266, 36), "mknodat": (259, 33), "chmod": (90, -1), "fchmod": (91, 52),
    "fchmodat": (268, 53), "fchownat": (260, 54), "utimensat": (280, 88), "setxattr": (188, 5), "fsetxattr": (190, 7),
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "shmget": (29, 194), "semget": (64, 190),
    "msgget": (68, 186), "mq_open": (240, 180), "setpriority": (141, 140), "sched_setscheduler": (144, 119),
    "ioprio_set": (251, 30), "setuid": (105, 146), "setgroups": (116, 159), "capset": (126, 91), "setns_pidfd": (434, 434),
    "inotify_add_watch": (254, 27), "fanotify_init": (300, 262), "name_to_handle_at": (303, 264), "sync": (162, 81),
    "acct": (163, 89), "swapon": (167, 224), "syslog": (103, 116), "settimeofday": (164, 170), "openat2": (437, 437),
    "clock_settime": (227, 112), "adjtimex": (159, 171), "seccomp": (317, 277), "landlock": (444, 444),
    "process_madvise": (440, 440), "kcmp": (312, 272), "vhangup": (153, 58), "setsid": (112, 157), "setpgid": (109, 154),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_calls_that_are_not_on_the_list_give_an_error(machine, name):
    assert says(machine, REFUSED[name]) in ("EPERM", None)


@pytest.mark.parametrize("name", FATAL)
def test_calls_that_only_an_attack_makes_end_the_process(machine, name):
    assert says(machine, name) in (KILL, None)


@pytest.mark.parametrize("name", ALLOWED)
def test_calls_of_a_numerical_program_are_allowed(machine, name):
    assert says(machine, name, 1, 2, 3) in (ALLOW, None)


@pytest.mark.parametrize("name", CHANGING)
def test_calls_that_change_files_are_refused_unless_there_is_a_scratch_folder(machine, name):
    assert says(machine, name) in ("EROFS", None)
    assert says(machine, name, writable=True) in (ALLOW, None)


@pytest.mark.parametrize(
    ("name", "arguments", "wanted"),
    [
        ("clone", (0x3D0F00,), ALLOW),  # what pthread_create asks for
        ("clone", (17,), "EPERM"),  # fork
        ("clone", (0x4111,), "EPERM"),  # vfork
        ("clone", (0x10000000 | 17,), "EPERM"),  # a process in a user namespace
        ("clone3", (), "ENOSYS"),
        ("socketpair", (1, 1, 0), ALLOW),
        ("socketpair", (1, 1 | 0x80000 | 0x800, 0), ALLOW),
        ("socketpair", (1, 2, 0), "EPERM"),
        ("socketpair", (1, 5, 0), "EPERM"),
        ("kill", (PID, 0), ALLOW),
        ("kill", (PID + 1, 0), "EPERM"),
        ("kill", (0, 9), "EPERM"),
        ("kill", (-1, 9), "EPERM"),
        ("kill", (-PID, 9), "EPERM"),
        ("tgkill", (PID, PID, 6), ALLOW),
        ("tgkill", (1, 1, 6), "EPERM"),
        ("prlimit64", (0, 9), ALLOW),
        ("prlimit64", (1, 9), "EPERM"),
        ("sched_setaffinity", (0,), ALLOW),
        ("sched_setaffinity", (1,), "EPERM"),
        ("prctl", (15,), ALLOW),
        ("prctl", (1,), "EPERM"),
        ("prctl", (4, 1), "EPERM"),
        ("prctl", (22, 2), "EPERM"),
        ("ioctl", (0, 0x5401), ALLOW),
        ("ioctl", (0, 0x5412), "EPERM"),  # TIOCSTI
        ("ioctl", (0, 0x8901), "EPERM"),  # FIOSETOWN
        ("fcntl", (0, 3), ALLOW),
        ("fcntl", (0, 8, 1), "EPERM"),  # F_SETOWN
        ("fcntl", (0, 15), "EPERM"),  # F_SETOWN_EX
        ("fcntl", (0, 10), "EPERM"),  # F_SETSIG
        ("fcntl", (0, 1024), "EPERM"),  # F_SETLEASE
    ],
)
def test_calls_that_are_decided_by_an_argument(machine, name, arguments, wanted):
    assert says(machine, name, *arguments) == wanted
    above = [argument | 1 << 40 for argument in arguments]  # the kernel cuts these arguments to 32 bits, too
    assert says(machine, name, *above) == wanted


@pytest.mark.parametrize("flags", [0o1, 0o2, 0o101, 0o1000, 0o20000002])
def test_without_landlock_nothing_is_opened_for_writing(machine, flags):
    for name, position in (("open", 1), ("openat", 2)):
        arguments = [0] * position
        assert says(machine, name, *arguments, flags, read_only=True) in ("EROFS", None)
        assert says(machine, name, *arguments, 0o2000000, read_only=True) in (ALLOW, None)
        assert says(machine, name, *arguments, flags) in (ALLOW, None)


def test_other_tables_of_calls_end_the_process(machine):
    column, own = MACHINES[machine]
    code = seccomp.program(column, PID, read_only=False)
    for architecture in OTHER_TABLES[machine]:
        assert answer(code, architecture, NUMBERS["read"][column] or 0) == KILL
    if machine == "x86_64":
        assert answer(code, own, 0x40000000) == KILL
        assert answer(code, own, 0x40000000 | 41) == KILL
        assert answer(code, own, -1) == KILL


def test_numbers_newer_than_the_table_do_not_exist(machine):
    for number in (450, 462, 1000, 0x3FFFFFFF):
        assert says(machine, (number, number)) == "ENOSYS"


@pytest.mark.parametrize("settings", [(False, False), (True, False), (False, True)])
def test_the_filter_is_sound_and_small(machine, settings):
    read_only, writable = settings
    column, architecture = MACHINES[machine]
    code = seccomp.program(column, PID, read_only=read_only, writable=writable)
    instructions = list(struct.iter_unpack("<HBBI", code))
    assert len(instructions) <= 4096
    for position, (operation, if_true, if_false, _) in enumerate(instructions):
        assert operation in (_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN)
        assert position + 1 + max(if_true, if_false) < len(instructions) or operation == _RETURN
    allowed = {n for n in range(600) if answer(code, architecture, n) == ALLOW}
    named = {NUMBERS[name][column] for name in (*ALLOWED, *BY_ARGUMENT, *(CHANGING if writable else []))}
    assert allowed <= named


def test_no_call_stands_in_two_groups():
    groups = [*ALLOWED, *BY_ARGUMENT, *CHANGING, *FATAL]
    assert len(groups) == len(set(groups))
    assert set(groups) == NUMBERS.keys()
