"""Job objects, the groups of Windows: a worker can't start processes, grow without bound or reach the desktop.

A worker puts itself into a job and lets go of it, after which nobody can loosen it; the CLI process ties workers to
itself by another, so that they end when it does. Nothing here has ever run on Windows: structures and numbers follow
its documentation, the tests replace the system's calls by fakes. A job is no boundary for files or the network, so
the level stays "process".
"""

from __future__ import annotations

import ctypes
from typing import Any

_BASIC_UI_RESTRICTIONS, _EXTENDED_LIMITS = 4, 9
_PROCESS_TIME, _ACTIVE_PROCESS, _PROCESS_MEMORY, _DIE_ON_ERROR, _KILL_ON_CLOSE = 0x2, 0x8, 0x100, 0x400, 0x2000
_NO_DESKTOP = 0xFF  # handles, clipboard, settings, atoms, desktops, ending the session
_MIB = 1 << 20
_tied: list[Any] = []  # jobs that end with this process


class _Basic(ctypes.Structure):
    _fields_ = [
        ("process_time", ctypes.c_int64), ("job_time", ctypes.c_int64), ("flags", ctypes.c_uint32),
        ("least_working_set", ctypes.c_size_t), ("most_working_set", ctypes.c_size_t), ("processes", ctypes.c_uint32),
        ("affinity", ctypes.c_size_t), ("priority", ctypes.c_uint32), ("scheduling", ctypes.c_uint32),
    ]  # fmt: skip


class _Extended(ctypes.Structure):
    _fields_ = [
        ("basic", _Basic), ("transferred", ctypes.c_uint64 * 6), ("process_memory", ctypes.c_size_t),
        ("job_memory", ctypes.c_size_t), ("peak_process", ctypes.c_size_t), ("peak_job", ctypes.c_size_t),
    ]  # fmt: skip


class _Memory(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("faults", ctypes.c_uint32), ("counters", ctypes.c_size_t * 8),
                ("private", ctypes.c_size_t)]  # fmt: skip


def limit(memory_mib: int, cpu_seconds: float) -> bool:
    """Limit this process for good, memory counted from its present size; whether the system took it."""
    kernel = _kernel()
    limits = _Extended()
    limits.basic.flags = _PROCESS_TIME | _ACTIVE_PROCESS | _PROCESS_MEMORY | _DIE_ON_ERROR
    limits.basic.process_time = int(cpu_seconds + 1) * 10_000_000  # units of 100 ns
    limits.basic.processes = 1
    limits.process_memory = _present_bytes(kernel) + memory_mib * _MIB
    desktop = ctypes.c_uint32(_NO_DESKTOP)
    job = kernel.CreateJobObjectW(None, None)
    done = (
        kernel.SetInformationJobObject(job, _EXTENDED_LIMITS, ctypes.byref(limits), ctypes.sizeof(limits))
        and kernel.SetInformationJobObject(job, _BASIC_UI_RESTRICTIONS, ctypes.byref(desktop), ctypes.sizeof(desktop))
        and kernel.AssignProcessToJobObject(job, kernel.GetCurrentProcess())
    )
    kernel.CloseHandle(job)  # the job lives on with its process, and who has no handle can't loosen it
    return bool(done)


def end_with_us(process_handle: int) -> bool:
    """Let the system end that process when this one ends, however it ends; whether the system took it."""
    kernel = _kernel()
    limits = _Extended()
    limits.basic.flags = _KILL_ON_CLOSE
    job = kernel.CreateJobObjectW(None, None)
    _tied.append(job)
    return bool(
        kernel.SetInformationJobObject(job, _EXTENDED_LIMITS, ctypes.byref(limits), ctypes.sizeof(limits))
        and kernel.AssignProcessToJobObject(job, ctypes.c_void_p(process_handle))
    )


def _present_bytes(kernel: Any) -> int:
    memory = _Memory(size=ctypes.sizeof(_Memory))
    kernel.K32GetProcessMemoryInfo(kernel.GetCurrentProcess(), ctypes.byref(memory), memory.size)
    return int(memory.private)


def _kernel() -> Any:
    kernel = ctypes.WinDLL("kernel32")  # type: ignore[attr-defined]  # of Windows only
    for name in ("CreateJobObjectW", "GetCurrentProcess"):
        getattr(kernel, name).restype = ctypes.c_void_p
    handle, pointer = ctypes.c_void_p, ctypes.c_void_p
    kernel.SetInformationJobObject.argtypes = [handle, ctypes.c_int, pointer, ctypes.c_uint32]
    kernel.AssignProcessToJobObject.argtypes = [handle, handle]
    kernel.K32GetProcessMemoryInfo.argtypes = [handle, pointer, ctypes.c_uint32]
    kernel.CloseHandle.argtypes = [handle]
    return kernel
