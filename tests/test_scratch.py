"""Problems about files: a private folder, the only one that can be written to, gone afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from judge.catalog import load_problem
from judge.pipeline import submit
from judge.processes import scratch
from judge.processes.supervision import Engine

TINY = Path(__file__).parent / "tiny_problems"
RIGHT = (TINY / "keeper" / "hidden" / "reference.py").read_text(encoding="utf-8")


def judged(source: str, tmp_path: Path, engine: Engine):
    path = tmp_path / "answer.py"
    path.write_text(source, encoding="utf-8")
    report = submit(load_problem("keeper", folder=TINY), path, engine)
    said = " | ".join(f"{case.name}: {f.subject} {f.message}" for case in report.failed for f in case.findings)
    return report, said


@pytest.mark.parametrize("isolation", ["auto", "process"])
def test_a_right_submission_writes_and_reads(tmp_path, isolation):
    with Engine(isolation) as engine:
        report, said = judged(RIGHT, tmp_path, engine)
        assert report.verdict == "accepted", (said, report.message)
        folders = [Path(folder) for folder in engine._folders]
        assert folders
    assert not any(folder.exists() for folder in folders)


def test_a_second_file_is_seen(tmp_path, engine):
    report, said = judged(
        RIGHT.replace("torch.save(x, path)", "torch.save(x, path); open(str(path) + '2', 'w').close()"),
        tmp_path,
        engine,
    )
    assert report.verdict == "wrong answer"
    assert "files" in said


def test_nothing_else_can_be_written(tmp_path, engine):
    victim = tmp_path / "victim.txt"
    victim.write_text("mine", encoding="utf-8")
    attack = f"\nimport os\nfor act in (lambda: open({str(victim)!r}, 'w'), lambda: os.truncate({str(victim)!r}, 0), lambda: os.unlink({str(victim)!r}), lambda: os.rename({str(victim)!r}, 'x'), lambda: os.mkdir({str(tmp_path / 'd')!r}), lambda: os.symlink('/etc/passwd', 'link')):\n    try:\n        act(); print('LEAK')\n    except OSError: pass\n"
    report, said = judged(RIGHT + attack, tmp_path, engine)
    if report.environment and report.environment.isolation.startswith("kernel"):
        assert report.verdict == "accepted", said
        assert report.printed == ()
        assert victim.read_text(encoding="utf-8") == "mine"


def test_a_file_that_is_too_large_is_refused_by_the_system(tmp_path, engine):
    report, said = judged(
        RIGHT.replace("torch.save(x, path)", "torch.save(torch.zeros(10**6), path)"), tmp_path, engine
    )
    assert report.verdict != "accepted", said


def test_a_file_may_come_from_a_folder_beside_it(tmp_path, engine):
    beside = (
        "import os, tempfile\n"
        "    with tempfile.TemporaryDirectory(dir=os.path.dirname(path)) as folder:\n"
        "        torch.save(x, os.path.join(folder, 'whole'))\n"
        "        os.replace(os.path.join(folder, 'whole'), path)"
    )
    source = RIGHT.replace("torch.save(x, path)", beside)
    assert source != RIGHT
    report, said = judged(source, tmp_path, engine)
    assert report.verdict == "accepted", said


class Own:
    """A class that nobody knows who did not write it."""


def test_a_file_that_only_its_writer_trusts_is_not_readable(tmp_path):
    path = tmp_path / "kept"
    torch.save({"weight": torch.ones(2)}, path)
    assert scratch.readable(path)
    torch.save({"config": Own()}, path)
    with torch.serialization.safe_globals([Own]):
        torch.load(path, weights_only=True)
        assert not scratch.readable(path)
        torch.load(path, weights_only=True)
