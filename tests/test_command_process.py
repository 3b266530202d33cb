"""The commands as processes of their own: what only shows there."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROBLEM = "gated-mlp"
REFERENCE = ROOT / "problems" / PROBLEM / "hidden" / "reference.py"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "80"}
posix_only = pytest.mark.skipif(os.name != "posix", reason="signals and terminals are POSIX's")


def judge(*arguments: str, folder: Path, **options: object) -> subprocess.Popen:
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "encoding": "utf-8", **options}
    return subprocess.Popen([sys.executable, "-m", "cli", *arguments], cwd=folder, env=ENVIRONMENT, **streams)


def descendants(pid: int) -> list[int]:
    """The processes below one, on Linux."""
    children = []
    for task in Path("/proc", str(pid), "task").glob("*/children"):
        for child in map(int, task.read_text().split()):
            children += [child, *descendants(child)]
    return children


def alive(pid: int) -> bool:
    try:
        return Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_right_answer_is_accepted_and_remembered(tmp_path):
    (tmp_path / "submissions").mkdir()
    (tmp_path / "submissions" / "gated_mlp.py").write_bytes(REFERENCE.read_bytes())
    process = judge("submit", PROBLEM, folder=tmp_path)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (0, "")
    assert "accepted" in out.splitlines()[0]
    assert "\x1b" not in out
    status, _ = judge("status", folder=tmp_path).communicate(timeout=60)
    assert f"[x]  {PROBLEM}" in status


@posix_only
def test_the_verdict_counts_even_if_nobody_reads_the_report(tmp_path):
    (tmp_path / "stub.py").write_bytes((ROOT / "problems" / PROBLEM / "stub.py").read_bytes())
    reader, writer = os.pipe()
    os.close(reader)
    process = judge("submit", PROBLEM, "stub.py", "--no-record", folder=tmp_path, stdout=writer)
    os.close(writer)
    _, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (1, "")


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("isolation", ["auto", "process"])
def test_ctrl_c_leaves_no_process_and_no_traceback(tmp_path, isolation):
    (tmp_path / "loop.py").write_text(REFERENCE.read_text(encoding="utf-8") + "\nwhile True:\n    pass\n")
    process = judge("submit", PROBLEM, "loop.py", "--isolation", isolation, folder=tmp_path)
    deadline = time.monotonic() + 60
    while not (below := descendants(process.pid)) and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(1)
    below = descendants(process.pid) or below
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "")
    deadline = time.monotonic() + 20
    while any(map(alive, below)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert below
    assert not any(map(alive, below))


def test_the_list_imports_neither_torch_nor_rich(tmp_path):
    code = """
import sys
sys.argv = ["judge", "list"]
import cli
cli._leave = lambda code, output: None
try:
    cli.app(prog_name="judge")
except SystemExit:
    pass
sys.exit(" ".join({"torch", "numpy", "rich", "judge.pipeline"} & set(sys.modules)))
"""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert done.stderr.strip() == ""


@posix_only
@pytest.mark.parametrize("colour", [True, False])
def test_a_terminal_gets_colour_unless_no_color_is_set(tmp_path, colour):
    import pty

    main, terminal = pty.openpty()
    environment = {**ENVIRONMENT, "TERM": "xterm-256color", **({} if colour else {"NO_COLOR": "1"})}
    command = [sys.executable, "-m", "cli", "show", PROBLEM]
    process = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=terminal, stderr=terminal)
    os.close(terminal)
    shown = b""
    try:
        while part := os.read(main, 4096):
            shown += part
    except OSError:  # how Linux says that the other end has closed
        pass
    os.close(main)
    assert process.wait(timeout=60) == 0
    assert bool(re.search(rb"\x1b\[[0-9;]*[34][0-7][;m]", shown)) is colour


def test_the_interpreter_is_not_taken_down_around_threads_that_still_run():
    code = "import atexit, sys, cli\natexit.register(print, 'taken down')\nsys.argv = ['judge', 'nonsense']\n"
    done = subprocess.run([sys.executable, "-c", code + "cli.app(prog_name='judge')"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert "nonsense" in done.stderr
