"""What a student worker gives up before it sees a line of the submission, and the proof that it did.

    kernel    resource limits, no capabilities, Landlock, seccomp; proven by trying what must fail
    process   separate processes, and what else there is: resource limits, Seatbelt on macOS, a job object on Windows;
              other systems, older kernels, or by request

Every layer that is in force is named in the report; none is promised silently.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field

from judge.processes import capabilities, landlock, libc, limits, seccomp, trial

_TRUNCATE_SINCE = 3  # the version of Landlock from which on it covers truncation
_OWN_PROCESS = (  # not net, which tells of everybody's connections
    "auxv", "cgroup", "cmdline", "comm", "environ", "io", "limits", "maps", "mem", "smaps", "stat", "statm", "status",
)  # fmt: skip
LAYERS = ("resource limits", "capabilities", "landlock", "seccomp")


@dataclass(frozen=True, slots=True)
class Plan:
    """What to lock and how: what may be read, what must not be, and layers left out (for tests and by request)."""

    read: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    canaries: list[str] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)
    without: list[str] = field(default_factory=list)
    scratch: str | None = None  # the only folder to write to, if any
    scratch_mib: int = 0
    landlock: int | None = None  # the newest version to use (for tests)


@dataclass(frozen=True, slots=True)
class Locked:
    """The level reached, its layers, and what succeeded although the level says that it must not."""

    level: str
    layers: list[str]
    leaks: list[str]


def lock(plan: Plan, memory_mib: int, cpu_seconds: float) -> Locked:
    """Lock this process with every layer that the system has."""
    layers: list[str] = []
    if os.name != "posix":
        return Locked("process", _by_job_object(memory_mib, cpu_seconds), [])
    if "resource limits" not in plan.without:
        limits.limit(memory_mib, cpu_seconds, plan.scratch_mib)
        layers.append("resource limits")
    if sys.platform == "linux":
        _lock_by_kernel(plan, layers)
    if sys.platform == "darwin" and _seatbelt_holds(plan):
        layers.append("seatbelt")
    whole = all(any(layer.startswith(wanted) for layer in layers) for wanted in LAYERS)
    if not whole:
        return Locked("process", layers, [])
    missing = trial.what_fails()
    if missing:
        raise OSError(f"{missing[0]} can't be read without special rights; run the judge as the user who owns it")
    return Locked("kernel", layers, trial.what_succeeds(plan.canaries))


def _lock_by_kernel(plan: Plan, layers: list[str]) -> None:
    if "capabilities" not in plan.without:
        capabilities.drop()
        layers.append("capabilities dropped")
    version = 0
    if "landlock" not in plan.without and landlock.version():
        read, names = _own_process()
        version = landlock.restrict([*plan.read, *read], [*plan.names, *names], write=plan.scratch, known=plan.landlock)
        layers.append(f"landlock {version}")
    if "seccomp" not in plan.without and seccomp.available():
        seccomp.restrict(os.getpid(), read_only=not version, writable=bool(plan.scratch) and version >= _TRUNCATE_SINCE)
        layers.append("seccomp")


def _by_job_object(memory_mib: int, cpu_seconds: float) -> list[str]:
    from judge.processes import job_object  # no other system pays for it

    return ["job object"] if job_object.limit(memory_mib, cpu_seconds) else []


def _seatbelt_holds(plan: Plan) -> bool:
    from judge.processes import seatbelt  # no other system pays for it

    taken = seatbelt.restrict(plan.hidden, plan.read, plan.scratch)
    return taken and not trial.what_succeeds(plan.canaries, only=seatbelt.COVERED)


def _own_process() -> tuple[list[str], list[str]]:
    """What this process may read and list of its own /proc; a rule on /proc/self means the process that makes it."""
    own = f"/proc/{os.getpid()}"
    return [f"{own}/{name}" for name in _OWN_PROCESS], [own]


def undumpable() -> None:
    """Let no other process of this user read this one's memory."""
    if sys.platform == "linux":
        libc.prctl(libc.SET_DUMPABLE, 0)
