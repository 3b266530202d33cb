"""Starts an interpreter that runs nothing but boot.py, and says what it is sent.

Few imports, since the torch import begins here and everything before it delays a submission.
"""

from __future__ import annotations

import importlib.util
import json
import os
import socket
import subprocess
import sys
from typing import Any

from judge.errors import JudgeError

_HERE = os.path.dirname(os.path.realpath(__file__))
LIBRARY = os.path.dirname(os.__file__)
_HARNESS = (
    "frames", "pipes", "wire", "faults", "given", "hygiene", "scratch", "run", "gradients", "trace", "runner",
    "fake_device", "device", "guard", "libc", "limits", "capabilities", "landlock", "syscalls", "seccomp",
    "seatbelt", "job_object", "trial", "lock", "compiling", "without_data", "student_worker", "oracle_worker", "parcel",
    "packing", "unpacking", "raised", "handed", "implementation_worker", "remote", "pytest_session", "tests_worker",
    "rehearsal", "zygote",
)  # fmt: skip
_NEEDED = (
    "torch", "numpy", "safetensors", "typing_extensions", "sympy", "filelock", "jinja2", "networkx", "fsspec", "tomli",
    "pytest", "pluggy", "iniconfig", "packaging", "pygments", "exceptiongroup",
)  # fmt: skip
_KEPT_VARIABLES = ("LD_LIBRARY_PATH", "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "SYSTEMROOT")
_compiled: list[bytes] = []


def start(**streams: Any) -> subprocess.Popen[bytes]:
    """Start the interpreter in an environment of its own; it waits for ``payload`` on descriptor 0."""
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    environment = {
        "PATH": "", "HOME": LIBRARY, "TMPDIR": LIBRARY, "TORCHINDUCTOR_CACHE_DIR": LIBRARY, "USER": "student",
        "LANG": "C.UTF-8",
        "TORCH_DEVICE_BACKEND_AUTOLOAD": "0", "CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": "",
        **one_thread, **kept,
    }  # fmt: skip
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _source(os.path.join(_HERE, "boot.py"))],
        env=environment, cwd=os.path.abspath(os.sep), start_new_session=True, **streams,
    )  # fmt: skip


def start_zygote() -> tuple[subprocess.Popen[bytes], socket.socket]:
    """Start the interpreter that is to fork the others, and give our end of its commands."""
    first = payload("zygote")
    ours, theirs = socket.socketpair()
    with theirs:
        zygote = start(stdin=theirs, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    ours.sendall(first)
    return zygote, ours


def payload(role: str) -> bytes:
    """What it is to be, and where its packages lie."""
    ahead = _source(os.path.join(_HERE, "ahead.py"))
    return _part(json.dumps({"role": role, "site": site_folders(), "ahead": ahead}).encode())


def harness() -> bytes:
    """The code of every module that a worker needs, for an interpreter of the same version; 60 ms once."""
    if not _compiled:
        import marshal

        modules = {"judge": "", "judge.processes": "", "judge.program": _source(os.path.join(_HERE, "../program.py"))}
        modules |= {f"judge.processes.{name}": _source(os.path.join(_HERE, f"{name}.py")) for name in _HARNESS}
        codes = {name: compile(source, f"<{name}>", "exec", dont_inherit=True) for name, source in modules.items()}
        _compiled.append(_part(marshal.dumps(codes)))
    return _compiled[0]


def site_folders() -> list[str]:
    """The folders that hold torch and what it needs, found without importing anything."""
    known = {os.path.realpath(LIBRARY)}
    folders = []
    for name in _NEEDED:
        spec = importlib.util.find_spec(name)
        if spec is None and name == "torch":
            raise JudgeError("torch is not installed here; run `pip install torch`, then `judge doctor`")
        if spec is None or spec.origin is None:
            continue
        folder = os.path.dirname(os.path.dirname(spec.origin) if spec.submodule_search_locations else spec.origin)
        if folder not in known and os.path.realpath(folder) not in known:
            known.add(folder)
            folders.append(folder)
    return folders


def _part(data: bytes) -> bytes:
    return len(data).to_bytes(4, "little") + data


def _source(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()
