"""The lock, layer by layer: each stops something, older kernels lose nothing, and a lock that leaks judges nobody."""

from __future__ import annotations

import ctypes
import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hostile_ground import ROOT, TINY, Ground, Hostile, Trials, hostile_files

from judge.catalog import load_problem
from judge.pipeline import submit
from judge.processes import job_object, landlock, libc, lock, seatbelt, seccomp, trial
from judge.processes.supervision import Engine

HOSTILE = {one.name: one for one in hostile_files()}
HIDDEN = TINY / "softmax" / "hidden"
linux = pytest.mark.skipif(sys.platform != "linux", reason="the kernel's layers are those of Linux")


@pytest.fixture(scope="module")
def own_engine() -> Iterator[Engine]:
    """An engine of these tests' own, since they change its plan."""
    with Engine() as started:
        yield started


@pytest.fixture(scope="module")
def trials(own_engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trials]:
    ground = Ground(tmp_path_factory.mktemp("lock"))
    trials = Trials(own_engine, ground)
    assert trials.next_complaints() == []
    if own_engine.level != "kernel":
        pytest.skip(f"isolation here is {own_engine.isolation}")
    yield trials
    ground.close()


@linux
@pytest.mark.parametrize(
    ("layer", "name"),
    [
        ("landlock", "read_hidden_by_path"),
        ("landlock", "read_hidden_by_proc_links"),
        ("seccomp", "change_metadata"),
        ("seccomp", "send_by_unix_datagram"),
        ("seccomp", "send_by_udp"),
        ("capabilities", "lock_memory"),
        ("resource limits", "memory_by_mmap"),
    ],
)
def test_without_a_layer_an_attack_succeeds(trials: Trials, own_engine: Engine, monkeypatch, layer, name):
    if layer == "capabilities" and os.geteuid() != 0:
        pytest.skip("an ordinary user has no capabilities to drop")
    monkeypatch.setitem(own_engine.lock_plan, "without", [layer])
    assert trials.complaints(HOSTILE[name], brief=True) != []
    assert own_engine.level == "process"
    monkeypatch.undo()
    assert trials.complaints(HOSTILE[name]) == []
    assert own_engine.level == "kernel"


@linux
@pytest.mark.parametrize("version", range(1, 7))
def test_an_older_landlock_loses_nothing(trials: Trials, own_engine: Engine, monkeypatch, version):
    if version > landlock.version():
        pytest.skip(f"the kernel has version {landlock.version()}")
    monkeypatch.setitem(own_engine.lock_plan, "landlock", version)
    for name in (
        "read_hidden_by_every_reader", "read_hidden_by_proc_links", "read_judge_memory", "change_files", "change_metadata",
        "every_socket", "connect_by_tcp", "send_by_unix_datagram", "signal_others", "signal_by_descriptor_owner",
        "write_special_files", "fair_threads_and_null_device",
    ):  # fmt: skip
        assert trials.complaints(HOSTILE[name], brief=True) == [], name
    assert f"landlock {version}" in own_engine.layers


@linux
def test_what_an_old_landlock_does_not_cover_only_seccomp_refuses(trials: Trials, own_engine: Engine, monkeypatch):
    monkeypatch.setitem(own_engine.lock_plan, "landlock", 2)
    monkeypatch.setitem(own_engine.lock_plan, "without", ["seccomp"])
    assert any("thesis.txt is changed" in complaint for complaint in trials.complaints(HOSTILE["change_files"]))


@linux
def test_a_hidden_file_that_can_be_read_is_a_judge_error(trials: Trials, own_engine: Engine, monkeypatch, tmp_path):
    plan = own_engine.lock_plan
    monkeypatch.setitem(plan, "read", [*plan["read"], str(HIDDEN)])
    monkeypatch.setitem(plan, "canaries", [*plan["canaries"], str(HIDDEN / "reference.py")])
    path = tmp_path / "answer.py"
    path.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n" + HOSTILE["fair_silence"].text, encoding="utf-8")
    report = submit(load_problem("softmax", folder=TINY), path, own_engine)
    assert report.verdict == "judge error"
    assert report.exit_code == 3
    assert report.message == (
        f"the lock does not hold, a worker could read {HIDDEN / 'reference.py'}; run `judge doctor`"
    )
    assert not (tmp_path / "ran").exists()


@linux
def test_an_interpreter_that_can_not_be_read_under_the_lock_is_a_judge_error(
    trials: Trials, own_engine: Engine, monkeypatch, tmp_path
):
    monkeypatch.setitem(own_engine.lock_plan, "read", [])
    path = tmp_path / "answer.py"
    path.write_text(HOSTILE["fair_silence"].text, encoding="utf-8")
    report = submit(load_problem("softmax", folder=TINY), path, own_engine)
    assert report.verdict == "judge error"
    assert "can't be read without special rights" in (report.message or "")


@linux
def test_less_than_what_is_required_is_a_judge_error(trials: Trials, own_engine: Engine, monkeypatch, tmp_path):
    monkeypatch.setitem(own_engine.lock_plan, "without", ["seccomp"])
    monkeypatch.setattr(own_engine, "required", "kernel")
    path = tmp_path / "answer.py"
    path.write_text(HOSTILE["fair_silence"].text, encoding="utf-8")
    report = submit(load_problem("softmax", folder=TINY), path, own_engine)
    assert report.verdict == "judge error"
    assert "isolation kernel is required" in (report.message or "")


@linux
def test_the_trial_sees_everything_that_an_unlocked_process_can_do(tmp_path):
    canary = tmp_path / "canary"
    canary.write_text("seen")
    found = run(f"from judge.processes import trial; print(*trial.what_succeeds([{str(canary)!r}]), sep='|')").split(
        "|"
    )
    wanted = {
        "create a file", "list the root folder", "open a socket", "open a pair of datagram sockets", "signal its parent",
        "change a file's mode", "fork", "raise its limits", f"read {canary}",
    }  # fmt: skip
    if os.geteuid() != 0:
        wanted.remove("change a file's mode")  # /dev/null belongs to root
    assert wanted <= set(found)
    assert not list(Path("/tmp").glob(".judge-trial*"))


@linux
def test_the_trial_finds_nothing_under_the_lock(tmp_path):
    code = """
from judge.processes import lock, readable
read, names = readable.readable("/nowhere", [os.path.dirname(os.__file__)])
print(lock.lock(lock.Plan(read=read, names=names, canaries=["/etc/hostname"]), 256, 5))
"""
    assert "leaks=[]" in run(code)


PLATFORMS = ["linux", "darwin", "win32", "freebsd14"]


@pytest.mark.parametrize("platform", PLATFORMS)
def test_every_module_of_the_lock_can_be_imported_everywhere(platform):
    code = f"""
import contextlib, ctypes, glob, json, pathlib, platform, pydantic, socket, sqlite3, struct, subprocess, sysconfig
sysconfig.get_config_vars(), pydantic.create_model("Early")  # these import much late, and for one system
sys.platform = {platform!r}
os.name = "nt" if sys.platform == "win32" else "posix"
if os.name == "nt":
    del os.fork, os.setsid, os.killpg, os.wait4
    ctypes.CDLL = None
    for module in (pathlib, sys.modules.get("pathlib._local", pathlib)):
        module.WindowsPath = module.PosixPath
import judge.running, judge.doctor
from judge.processes import (capabilities, job_object, landlock, launch, leftovers, libc, limits, lock, readable,
                             seatbelt, seccomp, supervision, trial)
print(supervision.Engine().forks, [state for name, state, _ in supervision.isolation_layers()].count("in force"))
"""
    forks, in_force = run(code).split()
    assert (forks == "True") == (platform == "linux")
    assert int(in_force) >= (1 if platform == "win32" else 2)


def test_without_landlock_or_seccomp_in_the_kernel_neither_is_promised(monkeypatch):
    def missing(*_):
        raise OSError(errno.ENOSYS, "not there")

    monkeypatch.setattr(libc, "syscall", missing)
    assert landlock.version() == 0
    assert not seccomp.available()
    monkeypatch.setattr(libc, "machine", lambda: None)
    assert not seccomp.available()
    monkeypatch.setattr(sys, "platform", "linux")
    plan = lock.Plan(without=["resource limits", "capabilities"])
    assert lock.lock(plan, 100, 1) == lock.Locked("process", [], [])


def test_a_32_bit_interpreter_has_no_table_of_calls(monkeypatch):
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    assert libc.machine() == 0
    monkeypatch.setattr(sys, "maxsize", 2**31 - 1)
    assert libc.machine() is None


class FakeMac:
    """Takes the place of macOS's library: remembers the profile."""

    def __init__(self, result: int):
        self.result = result
        self.profiles: list[str] = []
        self.sandbox_init = self._Init(self)

    class _Init:
        argtypes: object = None

        def __init__(self, mac: FakeMac):
            self.mac = mac

        def __call__(self, profile: bytes, flags: int, error: object) -> int:
            assert flags == 0
            self.mac.profiles.append(profile.decode())
            return self.mac.result


@pytest.mark.parametrize(
    ("result", "leaks", "layers"),
    [(0, [], ["seatbelt"]), (0, ["fork"], []), (-1, [], [])],
    ids=["holds", "leaks", "refused"],
)
def test_seatbelt_is_named_only_where_it_holds(monkeypatch, result, leaks, layers):
    mac = FakeMac(result)
    monkeypatch.setattr(seatbelt, "_system", lambda: mac)
    monkeypatch.setattr(seatbelt, "_home", lambda: "/Users/ada")
    monkeypatch.setattr(trial, "what_succeeds", lambda canaries, only: leaks)
    monkeypatch.setattr(sys, "platform", "darwin")
    plan = lock.Plan(read=["/opt/lib/python3.12"], hidden=["/opt/judge"], without=["resource limits"])
    assert lock.lock(plan, 100, 1) == lock.Locked("process", layers, [])
    assert len(mac.profiles) == 1


def test_the_profile_of_seatbelt():
    lines = seatbelt.profile(['/opt/"judge"', "/Users/ada"], ["/Users/ada/lib"], "/private/tmp/scratch").splitlines()
    assert lines[:2] == ["(version 1)", "(allow default)"]
    assert {"(deny network*)", "(deny process-fork)", "(deny file-write*)", "(deny process-exec*)"} <= set(lines)
    assert '(deny file-read-data (subpath "/opt/\\"judge\\""))' in lines
    order = ['(deny file-read-data (subpath "/Users/ada"))', '(allow file-read-data (subpath "/Users/ada/lib"))']
    assert [lines.index(line) for line in order] == sorted(lines.index(line) for line in order)
    assert lines[-1] == '(allow file-write* (subpath "/private/tmp/scratch"))'


class FakeWindows:
    """Takes the place of Windows's library: jobs are numbers, settings are remembered."""

    def __init__(self, refuse: str = ""):
        self.refuse = refuse
        self.settings: dict[int, object] = {}
        self.assigned: list[tuple[object, object]] = []
        self.closed: list[object] = []

    def CreateJobObjectW(self, attributes, name):  # noqa: N802 - Windows's own names
        return 77

    def GetCurrentProcess(self):  # noqa: N802
        return -1

    def SetInformationJobObject(self, job, kind, pointer, size):  # noqa: N802
        assert job == 77
        assert size == ctypes.sizeof(pointer._obj)
        self.settings[kind] = pointer._obj
        return self.refuse != "settings"

    def AssignProcessToJobObject(self, job, process):  # noqa: N802
        self.assigned.append((job, process))
        return self.refuse != "assignment"

    def K32GetProcessMemoryInfo(self, process, pointer, size):  # noqa: N802
        assert size == ctypes.sizeof(pointer._obj)
        pointer._obj.private = 300 << 20
        return True

    def CloseHandle(self, handle):  # noqa: N802
        self.closed.append(handle)
        return True


@pytest.mark.parametrize(("refuse", "layers"), [("", ["job object"]), ("settings", []), ("assignment", [])])
def test_a_job_object_is_named_only_where_it_is_taken(monkeypatch, refuse, layers):
    windows = FakeWindows(refuse)
    monkeypatch.setattr(job_object, "_kernel", lambda: windows)
    monkeypatch.setattr(os, "name", "nt")
    locked = lock.lock(lock.Plan(), 512, 20)
    monkeypatch.undo()
    assert locked == lock.Locked("process", layers, [])
    assert windows.closed == [77]
    if not refuse:
        limits, desktop = windows.settings[9], windows.settings[4]
        assert (limits.basic.flags, limits.basic.processes) == (0x50A, 1)
        assert limits.process_memory == (300 + 512) << 20
        assert limits.basic.process_time == 21 * 10**7
        assert desktop.value == 0xFF
        assert windows.assigned == [(77, -1)]


def test_a_worker_can_be_tied_to_this_process(monkeypatch):
    windows = FakeWindows()
    monkeypatch.setattr(job_object, "_kernel", lambda: windows)
    assert job_object.end_with_us(4711)
    assert windows.settings[9].basic.flags == 0x2000
    assert windows.assigned[0][1].value == 4711
    assert windows.closed == []  # it lives as long as the handle


def test_the_structures_of_windows_have_their_documented_sizes():
    if ctypes.sizeof(ctypes.c_void_p) == 8:
        sizes = [ctypes.sizeof(kind) for kind in (job_object._Basic, job_object._Extended, job_object._Memory)]
        assert sizes == [64, 144, 80]


def run(code: str) -> str:
    """What a new interpreter prints that runs this."""
    begin = f"import os, sys\nsys.path.insert(0, {str(ROOT)!r})\n"
    done = subprocess.run([sys.executable, "-c", begin + code], capture_output=True, text=True, cwd="/", check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.strip()


def test_every_hostile_file_that_is_named_here_exists():
    assert isinstance(HOSTILE["change_files"], Hostile)
