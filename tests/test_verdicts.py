"""What a submission gets, through all stations: every verdict, told apart, and the next submission unaffected."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from judge.models import Problem, Report
from judge.pipeline import submit
from judge.processes.supervision import Engine, Worker

RIGHT = "import torch\ndef solve(x, y):\n    return torch.softmax(x @ y, -1)\n"


def body(text: str, before: str = "") -> str:
    """A submission whose solve consists of these lines."""
    lines = textwrap.indent(textwrap.dedent(text).strip(), "    ")
    return f"import os, sys, time, torch\n{before}\n\n\ndef solve(x, y):\n{lines}\n"


def messages(report: Report) -> str:
    return " | ".join(f"{f.facet}: {f.subject} {f.message}" for case in report.cases for f in case.findings)


def test_a_right_submission_is_accepted(judged):
    report = judged(RIGHT)
    assert report.verdict == "accepted", messages(report)
    assert report.points == 1
    assert all(case.status == "passed" for case in report.cases)


@pytest.mark.parametrize(
    "source",
    [
        "from functools import partial\nimport torch\n_s = torch.softmax\ndef _f(d, x, y): return _s(x @ y, d)\nsolve = partial(_f, -1)",
        "import torch\ndef shout(f):\n    def g(*args, **kwargs): return f(*args, **kwargs)\n    return g\n@shout\ndef solve(x, y): return torch.softmax(x @ y, -1)",
        "import torch\nif True:\n    def solve(x, y): return (x @ y).softmax(-1)",
        "import torch\nsolve = lambda x, y: (x @ y).softmax(-1)",
        "import torch\nM = torch.compile(torch.nn.Softmax(-1))\ndef solve(x, y): return M(x @ y)",
        "import torch\ndef solve(*args, **kwargs):\n    x, y = args\n    return (x @ y).softmax(-1)",
        "import torch\nclass Solver:\n    def __call__(self, x, y): return (x @ y).softmax(-1)\nsolve = Solver()",
        "import torch\ndef solve(x, y, temperature=1.0): return ((x @ y) / temperature).softmax(-1)",
        "import torch\ndef _make():\n    def solve(x, y): return (x @ y).softmax(-1)\n    return solve\nglobals()['solve'] = _make()",
        "import torch\ndef solve(x, y):\n    return (x @ y).softmax(-1) if x.requires_grad or y.requires_grad else torch.nn.Parameter((x @ y).softmax(-1))",
        "import torch\ndef solve(x, y): return (x @ y).softmax(-1).T.contiguous().T",
        "import torch\nfrom dataclasses import dataclass\n@dataclass\nclass S:\n    d: int = -1\n    def f(self, x, y): return (x @ y).softmax(self.d)\nsolve = S().f",
        "\ufeffimport torch\r\ndef solve(x, y):\r\n    return torch.softmax(x @ y, -1)\r\n",
        "# -*- coding: utf-8 -*-\nimport torch\ndef solve(x, y):\n    'größer'\n    return torch.softmax(x @ y, -1)",
        "import torch, warnings\ndef solve(x, y):\n    warnings.warn('careful')\n    print('hello')\n    return torch.softmax(x @ y, -1)",
    ],
)
def test_odd_forms_of_right_submissions_are_accepted(judged, source):
    report = judged(source)
    assert report.verdict == "accepted", (report.message, messages(report))


@pytest.mark.parametrize(
    ("text", "facet", "said"),
    [
        ("return torch.softmax(x @ y, 0)", "value", "differs"),
        ("return None", "structure", "None"),
        ("return [torch.softmax(x @ y, -1)]", "structure", "a list of 1"),
        ("return torch.softmax(x @ y, -1).tolist()", "structure", "a list"),
        ("return torch.softmax(x @ y, -1)[..., :1]", "shape", "shape"),
        ("return torch.softmax(x @ y, -1).float()", "dtype", "float32"),
        ("return torch.softmax(x @ y, -1) * float('nan')", "value", "not finite"),
        ("return torch.softmax(x @ y, -1).detach()", "gradient", "cut off"),
        ("x.mul_(1.0 + 1e-3)\nreturn torch.softmax(x @ y, -1)", "inputs unchanged", "x is changed"),
        ("torch.manual_seed(0)\nreturn torch.softmax(x @ y, -1)", "settings", "generator"),
        ("torch.set_default_dtype(torch.float64)\nreturn torch.softmax(x @ y, -1)", "settings", "default dtype"),
        ("torch.set_grad_enabled(False)\nreturn torch.softmax(x @ y, -1)", "settings", "grad mode"),
        ("return torch.softmax(x @ y, -1) + torch.zeros(y.shape[1])", "device", "two devices"),
        ("return torch.softmax(x @ y, -1).to_sparse()", "structure", "sparse"),
        ("return torch.softmax(x @ y, -1).to('meta')", "structure", "meta"),
    ],
)
def test_each_facet_is_seen_and_named(judged, text, facet, said):
    report = judged(body(text))
    assert report.verdict == "wrong answer"
    findings = [f for case in report.cases for f in case.findings if f.facet == facet]
    assert findings, messages(report)
    assert any(said in f"{finding.subject} {finding.message}" for finding in findings), messages(report)


def test_state_between_calls_is_seen(judged):
    report = judged(body("seen.append(1)\nreturn torch.softmax(x @ y, -1) + 1e-3 * len(seen)", before="seen = []"))
    assert report.verdict == "wrong answer"
    one_buffer = """
        out = buffers.setdefault((len(x), y.shape[1]), torch.empty(len(x), y.shape[1], dtype=x.dtype, device=x.device))
        result = torch.softmax(x @ y, -1)
        return result if x.requires_grad else out.copy_(result)
    """
    report = judged(body(one_buffer, before="buffers = {}"))
    assert report.verdict == "wrong answer"
    assert "overwritten by a later call" in messages(report)


def test_an_exception_is_a_runtime_error_with_its_line(judged):
    report = judged(body("scores = x @ y\nraise KeyError('lost')"))
    assert report.verdict == "runtime error"
    case = report.failed[0]
    assert "KeyError" in case.findings[0].message
    assert case.findings[0].line == 7
    assert "line 7, in solve" in case.traceback[-1]


@pytest.mark.parametrize(
    ("text", "verdict", "said"),
    [
        ("while True: pass", "time limit", "no answer after 2 s"),
        ("time.sleep(60)", "time limit", "no answer after 2 s"),
        ("import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(60)", "time limit", "no answer"),
        ("return torch.zeros(50 * 10**9 // 8, dtype=torch.float64)", "memory limit", "memory"),
        ("bytearray(10**11)", "memory limit", "MemoryError"),
        ("os.write(1, b'x' * 65536)\ntime.sleep(60)", "output limit", "16 KiB"),
        ("while True: print('x' * 1000)", "output limit", "16 KiB"),
        ("os._exit(0)", "runtime error", "exit code 0"),
        ("os.kill(os.getpid(), 9)", "runtime error", "SIGKILL"),
        ("import ctypes\nctypes.string_at(0)", "runtime error", "SIGSEGV"),
        ("sys.exit(0)", "runtime error", "SystemExit"),
        ("raise KeyboardInterrupt", "runtime error", "KeyboardInterrupt"),
        ("return solve(x, y)", "runtime error", "RecursionError"),
        ("class Evil(BaseException):\n    def __str__(self): raise SystemExit\nraise Evil", "runtime error", "Evil"),
        ("return torch.zeros(10**7, dtype=torch.float64)", "output limit", "MiB"),
    ],
)
def test_what_goes_wrong_in_a_call_is_told_apart(judged, text, verdict, said):
    report = judged(body(text))
    assert report.verdict == verdict, (report.verdict, report.message, messages(report))
    assert said in messages(report)
    assert judged(RIGHT).verdict == "accepted"


@pytest.mark.parametrize(
    ("text", "said"),
    [("os._exit(0)", "ended with exit code 0 and no answer after the last call"), ("os.write(2, b'x' * 65536)", "KiB")],
)
def test_who_ends_before_telling_what_was_seen_is_not_accepted(judged, text, said):
    """The worker tells at its end which closed functions ran: ``text`` happens just before."""
    source = f"""
import os, sys, torch

def at_the_end(frame, event, argument):
    if frame.f_code.co_name == "changed_settings" and frame.f_back.f_code.co_name == "main":
        sys.setprofile(None)
        {text}

def solve(x, y):
    sys.setprofile(at_the_end)
    return torch.softmax(x @ y, -1)
"""
    report = judged(source)
    assert report.verdict in ("runtime error", "output limit"), (report.verdict, report.message)
    assert said in messages(report)


@pytest.mark.parametrize("mark", ["9999", "-1", "0", "1"])
def test_too_much_output_under_another_calls_mark_is_too_much_each_time(judged, mark):
    for _ in range(5):
        report = judged(body(f"os.write(2, b'\\0{mark}\\0' + b'x' * 40000)\nreturn torch.softmax(x @ y, -1)"))
        assert report.verdict == "output limit", (report.verdict, report.message)


def test_after_two_calls_lost_for_the_same_reason_the_rest_are_not_reached(judged):
    report = judged(body("os._exit(3)"))
    statuses = [case.status for case in report.cases]
    assert "not reached" in statuses or statuses.count("runtime error") == len(statuses)
    assert report.verdict == "runtime error"


def test_one_lost_call_costs_only_its_case(judged):
    report = judged(
        body(
            "if x.shape == (2, 3) and float(x.abs().max()) > 1 and not os.environ.pop('gone', None):\n    pass\nif x.shape[0] == 2: os._exit(1)\nreturn torch.softmax(x @ y, -1)"
        )
    )
    by_name = {case.name: case.status for case in report.cases}
    assert by_name["large_scores"] == "runtime error"
    assert by_name["plain"] in ("passed", "not reached")


@pytest.mark.parametrize(
    "source",
    [body("if not seen:\n    seen.append(time.sleep(3))\nreturn torch.softmax(x @ y, -1)", before="seen = []"),
     f"import time\ntime.sleep(3)\n{RIGHT}"],
)  # fmt: skip
def test_what_a_worker_waits_for_a_processor_is_not_its_time(judged, monkeypatch, source):
    assert judged(source).verdict == "time limit"
    monkeypatch.setattr(Worker, "waited", lambda self: 9.0)
    assert judged(source).verdict == "accepted"


@pytest.mark.parametrize(
    ("source", "verdict", "said"),
    [
        ("raise ValueError('no')\ndef solve(x, y): pass", "runtime error", "importing the file raises ValueError: no"),
        ("import sys\nsys.exit(1)\ndef solve(x, y): pass", "runtime error", "SystemExit"),
        ("import os\nos._exit(0)\ndef solve(x, y): pass", "runtime error", "exit code 0"),
        ("while True: pass\ndef solve(x, y): pass", "time limit", "2 s"),
        ("f = bytearray(10**12)\ndef solve(x, y): pass", "memory limit", "MemoryError"),
        ("while True: print('x' * 999)\ndef solve(x, y): pass", "output limit", "KiB"),
        ("def solve(x, y): pass\ndel solve", "invalid submission", "solve"),
        ("def f(): f()\nf()\ndef solve(x, y): pass", "runtime error", "RecursionError"),
    ],
)
def test_what_goes_wrong_at_import_is_told_apart(judged, source, verdict, said):
    report = judged(source)
    assert report.verdict == verdict, (report.verdict, report.message)
    assert said in (report.message or "")
    assert report.exit_code == (2 if verdict == "invalid submission" else 1)


def test_settings_changed_at_import_are_no_accepted_submission(judged):
    report = judged("import torch\ntorch.set_default_dtype(torch.float64)\n" + RIGHT)
    assert report.verdict == "wrong answer"
    assert "default dtype" in (report.message or "")


def test_prints_are_shown_under_their_case(judged):
    report = judged(body("print('shape', tuple(x.shape))\nreturn x"))
    plain = next(case for case in report.cases if case.name == "plain")
    assert any("shape (3, 4)" in line for line in plain.printed)
    assert not any("(2, 3)" in line for line in plain.printed)
    assert judged("print('at import')\n" + RIGHT).printed == ("at import",)


def test_a_closed_function_is_named_with_its_line(judged):
    report = judged(body("import torch.nn.functional as F\nreturn F.log_softmax(x @ y, -1).exp()"))
    assert report.verdict == "closed function used"
    assert report.closed[0].line == 7
    hidden = judged(body("import torch.nn.functional as F\nreturn getattr(F, 'log_' + 'softmax')(x @ y, -1).exp()"))
    assert hidden.verdict == "closed function used"
    assert hidden.closed[0].line == 7


@pytest.mark.parametrize(
    ("line", "told"), [(3, 3), (0, None), (-1, None), (10**3000, None), (True, None), ("'3'", None)]
)
def test_what_was_seen_is_told_for_closed_names_and_lines_of_the_file_only(judged, line, told):
    source = f"""
import sys
import torch

frame = sys._getframe()
while "watch" not in frame.f_locals:
    frame = frame.f_back
frame.f_locals["watch"].seen = {{"torch.softmax": 1, "torch.nn.functional.log_softmax": {line}}}

def solve(x, y):
    return torch.softmax(x @ y, -1)
"""
    report = judged(source)
    assert report.verdict == "closed function used"
    assert [(use.name, use.line) for use in report.closed] == [("torch.nn.functional.log_softmax", told)]


def test_the_diagnosis_names_the_mutant(judged):
    report = judged(
        body("e = torch.exp(x @ y - (x @ y).max(-1, keepdim=True).values.detach())\nreturn e / e.sum(0, keepdim=True)")
    )
    assert report.diagnosis is not None
    assert report.diagnosis.strength == "exactly"
    assert [mutant.mutant for mutant in report.diagnosis.mutants] == ["wrong_axis"]


def test_lower_precision_inside_is_a_remark(tmp_path: Path, softmax: Problem, engine: Engine):
    path = tmp_path / "answer.py"
    path.write_text(body("return torch.softmax(x.float() @ y.float(), -1).double()"), encoding="utf-8")
    report = submit(softmax, path, engine, cases=["plain"])
    assert report.verdict == "passed these cases", messages(report)
    assert any("lower precision" in remark for remark in report.remarks)


def test_chosen_cases_are_practice(tmp_path: Path, softmax: Problem, engine: Engine):
    path = tmp_path / "answer.py"
    path.write_text(RIGHT, encoding="utf-8")
    report = submit(softmax, path, engine, seed=7, cases=["plain"])
    assert report.verdict == "passed these cases"
    assert report.practice
    assert report.points == 0
    assert [case.name for case in report.cases] == ["plain"]


def test_a_seed_replays_what_a_case_saw(tmp_path: Path, softmax: Problem, engine: Engine):
    path = tmp_path / "answer.py"
    path.write_text(body("print(x[0, 0].item())\nreturn x"), encoding="utf-8")

    def seen(seed: int | None, cases: list[str]) -> tuple[str, ...]:
        report = submit(softmax, path, engine, seed=seed, cases=cases)
        return next(case.printed for case in report.cases if case.name == "plain")

    assert seen(7, ["plain"]) == seen(7, []) != seen(8, ["plain"])


def test_the_spawned_path_gives_the_same_verdicts(tmp_path: Path, softmax: Problem):
    sources = {
        RIGHT: "accepted",
        body("return torch.softmax(x @ y, 0)"): "wrong answer",
        body("time.sleep(60)"): "time limit",
        body("os.kill(os.getpid(), 9)"): "runtime error",
    }
    path = tmp_path / "answer.py"
    with Engine("process") as spawned:
        for source, verdict in sources.items():
            path.write_text(source, encoding="utf-8")
            report = submit(softmax, path, spawned)
            assert report.verdict == verdict, messages(report)
            assert report.environment
            assert "spawned" in report.environment.isolation


@pytest.mark.parametrize("name", ["judge", "reference", "problems", "cli", "judge.pipeline", "reference.norms"])
def test_a_submission_can_import_nothing_of_ours(judged, name):
    report = judged(
        f"try:\n    import {name}\nexcept ImportError as e:\n    print('refused')\nelse:\n    print('LEAK')\n{RIGHT}"
    )
    assert report.printed == ("refused",)


def test_no_path_of_ours_is_known_to_a_submission(judged):
    root = Path(__file__).resolve().parent.parent
    report = judged(
        f"import sys, os\nprint([p for p in sys.path if {str(root)!r} in p and 'site-packages' not in p], {str(root)!r} in str(dict(os.environ)))\n{RIGHT}"
    )
    assert report.printed == ("[] False",)


def test_making_a_module_may_draw_from_the_generator(judged):
    linear = "layer = torch.nn.Linear(x.shape[1], y.shape[1], bias=False, dtype=x.dtype, device=x.device)\nlayer.weight = torch.nn.Parameter(y.mT)\nreturn (x @ y).softmax(-1)"
    report = judged(body(linear))
    assert report.verdict == "accepted", messages(report)
