"""The early start of a submit."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from judge.errors import JudgeError
from judge.processes import interpreter, launch, supervision

ROOT = Path(__file__).parent.parent


class FakeEngine:
    """Counts what is done with it instead of starting processes."""

    made: list["FakeEngine"] = []
    broken = False

    def __init__(self, isolation: str = "auto"):
        self.isolation, self.starts, self.closes = isolation, 0, 0
        self.made.append(self)

    def start(self, zygote: object = None) -> None:
        self.zygote = zygote
        self.starts += 1
        if self.broken:
            raise JudgeError("torch is not installed here")

    def close(self) -> None:
        self.closes += 1


@pytest.fixture
def engines(monkeypatch):
    monkeypatch.setattr(supervision, "Engine", FakeEngine)
    monkeypatch.setattr(interpreter, "start_zygote", lambda: "zygote")
    monkeypatch.setattr(FakeEngine, "made", [])
    names = [name for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {getattr(signal, name): signal.getsignal(getattr(signal, name)) for name in names}
    yield FakeEngine
    launch.close()
    monkeypatch.undo()
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize(
    ("arguments", "isolation"),
    [
        ("submit layer-norm", "auto"),
        ("submit layer-norm a.py --isolation auto", "auto"),
        ("submit --isolation process layer-norm", "process"),
        ("submit layer-norm --isolation=process --json", "process"),
        ("watch layer-norm", "auto"),
    ],
)
def test_a_submit_starts_its_engine_at_once(engines, arguments, isolation):
    engine = launch.early(["judge", *arguments.split()])
    assert engine is not None
    assert engine.isolation == isolation
    assert engine.starts == 1
    assert engine.zygote == ("zygote" if isolation == "auto" and sys.platform == "linux" else None)
    assert launch.take(isolation) is engine
    launch.close()
    launch.close()
    assert engine.closes == 1
    assert len(engines.made) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        "",
        "list",
        "verify",
        "submit",
        "show submit",
        "submit a --help",
        "submit a --isolation none",
        "submit a --isolation",
    ],
)
def test_nothing_else_starts_one(engines, arguments):
    assert launch.early(["judge", *arguments.split()]) is None
    assert engines.made == []


def test_another_isolation_gets_an_engine_of_its_own(engines):
    early = launch.early(["judge", "submit", "layer-norm"])
    assert launch.take("process") is not early
    launch.close()


def test_an_engine_that_has_ended_is_replaced(engines):
    early = launch.early(["judge", "watch", "layer-norm"])
    renewed = launch.renew("auto", "kernel")
    assert renewed is not early
    assert (early.closes, renewed.closes, renewed.required) == (1, 0, "kernel")


@pytest.mark.skipif(sys.platform == "win32", reason="has no such signals")
def test_a_command_ends_tidily_where_its_terminal_closes(engines, monkeypatch):
    handlers = {signal.SIGTERM: signal.SIG_DFL, signal.SIGHUP: signal.SIG_IGN}
    monkeypatch.setattr(signal, "getsignal", handlers.get)
    monkeypatch.setattr(signal, "signal", handlers.__setitem__)
    launch.take("auto")
    assert handlers == {
        signal.SIGINT: signal.default_int_handler,
        signal.SIGTERM: signal.default_int_handler,
        signal.SIGHUP: signal.SIG_IGN,
    }


def test_an_engine_that_can_not_start_fails_when_the_command_can_say_so(engines, monkeypatch):
    monkeypatch.setattr(engines, "broken", True)
    engine = launch.early(["judge", "submit", "layer-norm"])
    assert launch.take("auto") is engine
    with pytest.raises(JudgeError):
        engine.start()


def test_ctrl_c_is_pythons_again_once_the_command_has_begun(engines):
    launch.early(["judge", "submit", "layer-norm"])
    assert signal.getsignal(signal.SIGINT) is launch._leave
    launch.take("auto")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_early_start_imports_nothing_that_takes_long():
    code = """
import sys
from judge.processes import interpreter, launch, supervision
interpreter.start_zygote = lambda: None
supervision.Engine.start = lambda self, zygote: None
launch.early(["judge", "submit", "layer-norm"])
sys.exit(" ".join({"torch", "numpy", "typer", "rich", "pydantic", "sqlite3", "judge.models"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stderr.strip() == ""
