"""The record of attempts: nothing is lost, nothing is deleted, and a verdict never depends on it."""

import json
import os
import sqlite3
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from sample_reports import SAMPLES, case, report

from judge.errors import RecordError
from judge.models import Problem
from judge.progress import FILE, Progress, Standing, next_problem
from judge.report import json as json_report

ROOT = Path(__file__).parent.parent
ACCEPTED = report("accepted", (case("plain"),))
WRONG = SAMPLES["wrong_answer_with_diagnosis"]
RECORD_MANY = """
import sys
from pathlib import Path
from judge.models import Report
from judge.progress import Progress
report = Report(problem=sys.argv[2], title="t", file="f.py", verdict="wrong answer")
for number in range(50):
    Progress(Path(sys.argv[1]), print).record(report, report.model_dump_json(), b"%d" % number)
"""


class Warnings(list[str]):
    def __call__(self, text: str) -> None:
        self.append(text)


@pytest.fixture
def warnings():
    return Warnings()


@pytest.fixture
def progress(tmp_path, warnings):
    return Progress(tmp_path, warnings)


def keep(progress: Progress, sample, source: bytes | None = b"x = 1\n") -> None:
    progress.record(sample, json_report.render(sample), source)


def problem(name: str, *prerequisites: str) -> Problem:
    return Problem(
        id=name, folder=Path("problems", name), title=name, track=1, unit="3.3", difficulty="easy", entry_points=(),
        statement="", hints=("", "", ""), prerequisites=prerequisites,
    )  # fmt: skip


def rows(folder: Path, query: str) -> list[tuple]:
    database = sqlite3.connect(folder / FILE)
    try:
        return database.execute(query).fetchall()
    finally:
        database.close()


def run(code: str, *arguments: object) -> subprocess.Popen:
    return subprocess.Popen([sys.executable, "-c", code, *map(str, arguments)], cwd=ROOT)


def test_an_attempt_is_kept_whole(progress, tmp_path):
    keep(progress, WRONG, b"source \xff")
    query = "SELECT problem, verdict, practice, points, file, source, source_sha256, report, time FROM attempts"
    [(name, verdict, practice, points, file, source, digest, written, time)] = rows(tmp_path, query)
    assert (name, verdict, practice, points) == ("layer-norm", "wrong answer", 0, 0)
    assert (file, digest) == (WRONG.file, WRONG.source_sha256)
    assert zlib.decompress(source) == b"source \xff"
    assert json.loads(written)["cases"][1]["name"] == "tiny_inputs"
    assert time.endswith("+00:00")
    assert rows(tmp_path, "PRAGMA journal_mode") == [("wal",)]


def test_a_file_name_that_is_no_text_is_kept_readable(progress, tmp_path):
    keep(progress, ACCEPTED.model_copy(update={"file": "a\udcff.py"}), None)
    assert rows(tmp_path, "SELECT file, source FROM attempts") == [("a\\udcff.py", None)]


def test_standings_sum_up_each_problem(progress):
    keep(progress, WRONG)
    keep(progress, ACCEPTED)
    keep(progress, report("passed these cases", practice=True, points=99))
    keep(progress, report("time limit", problem="rms-norm"))
    keep(progress, report("invalid submission", problem="rms-norm"))
    keep(progress, report("invalid submission", problem="gated-mlp"))
    standings = progress.standings()
    assert standings["layer-norm"].last_time.startswith("20")
    without_time = {key: (s.attempts, s.practice, s.solved, s.points, s.last_verdict) for key, s in standings.items()}
    assert without_time == {
        "layer-norm": (2, 1, True, 10, "passed these cases"),
        "rms-norm": (1, 0, False, 0, "invalid submission"),
        "gated-mlp": (0, 0, False, 0, "invalid submission"),
    }


def test_practice_solves_nothing(progress):
    keep(progress, report("passed these cases", practice=True))
    assert not progress.standings()["layer-norm"].solved


def test_reading_makes_no_file(progress, tmp_path):
    assert progress.standings() == {}
    assert progress.last_diagnosis("layer-norm") is None
    assert list(tmp_path.iterdir()) == []
    assert Progress(None, print).standings() == {}


def test_the_last_attempts_diagnosis_is_found(progress):
    keep(progress, WRONG)
    assert progress.last_diagnosis("layer-norm") == WRONG.diagnosis
    assert progress.last_diagnosis("rms-norm") is None
    keep(progress, report("passed these cases", practice=True))
    assert progress.last_diagnosis("layer-norm") == WRONG.diagnosis
    keep(progress, ACCEPTED)
    assert progress.last_diagnosis("layer-norm") is None


def test_hints_are_taken_one_by_one_for_each_problem(progress, tmp_path, warnings):
    assert [progress.take_hint("layer-norm", 3) for _ in range(3)] == [1, 2, 3]
    again = Progress(tmp_path, warnings)
    assert [again.take_hint("layer-norm", 3) for _ in range(2)] == [4, 4]
    assert again.take_hint("rms-norm", 3) == 1


def test_two_processes_that_write_at_once_lose_nothing(tmp_path):
    writers = [run(RECORD_MANY, tmp_path, name) for name in ("layer-norm", "rms-norm")]
    assert [writer.wait(timeout=120) for writer in writers] == [0, 0]
    assert rows(tmp_path, "SELECT problem, COUNT(*), COUNT(DISTINCT source) FROM attempts GROUP BY problem") == [
        ("layer-norm", 50, 50),
        ("rms-norm", 50, 50),
    ]


def test_a_file_that_is_no_database_is_set_aside_and_kept(progress, tmp_path, warnings):
    (tmp_path / FILE).write_bytes(b"this is no database" * 100)
    (tmp_path / f"{FILE}-wal").write_bytes(b"wal")
    keep(progress, ACCEPTED)
    assert rows(tmp_path, "SELECT COUNT(*) FROM attempts") == [(1,)]
    kept = {path.name.partition("Z")[2]: path.read_bytes() for path in tmp_path.glob(f"{FILE}.corrupt-*")}
    assert kept[""] == b"this is no database" * 100
    assert len(warnings) == 1
    assert "was damaged; it is kept as attempts.db.corrupt-" in warnings[0]


def test_the_write_ahead_log_goes_with_its_database(progress, tmp_path, monkeypatch):
    keep(progress, ACCEPTED)
    for suffix in ("", "-wal", "-shm"):
        (tmp_path / f"{FILE}{suffix}").write_bytes(b"damaged" * 100)
    status = os.stat(tmp_path / FILE)
    progress._set_aside((status.st_dev, status.st_ino))
    assert sorted(path.name.partition("Z")[2] for path in tmp_path.iterdir()) == ["", "-shm", "-wal"]


def test_damage_inside_is_met_while_reading(progress, tmp_path, warnings):
    for _ in range(20):
        keep(progress, WRONG, os.urandom(5000))
    content = bytearray((tmp_path / FILE).read_bytes())
    content[4096:] = os.urandom(len(content) - 4096)
    (tmp_path / FILE).write_bytes(content)
    assert progress.standings() == {}
    assert len(warnings) == 1
    [kept] = tmp_path.glob(f"{FILE}.corrupt-*Z")
    assert kept.read_bytes() == bytes(content)


def test_a_database_that_another_process_has_just_replaced_is_not_set_aside(progress, tmp_path, warnings):
    keep(progress, ACCEPTED)
    progress._set_aside((0, 0))
    assert progress.standings()["layer-norm"].attempts == 1
    assert warnings == []


def test_an_empty_file_becomes_a_database(progress, tmp_path):
    (tmp_path / FILE).touch()
    keep(progress, ACCEPTED)
    assert progress.standings()["layer-norm"].solved


def test_a_newer_judges_record_is_not_touched(progress, tmp_path):
    keep(progress, ACCEPTED)
    database = sqlite3.connect(tmp_path / FILE)
    database.execute("PRAGMA user_version = 7")
    database.close()
    before = (tmp_path / FILE).read_bytes()
    for work in (lambda: keep(progress, ACCEPTED), progress.standings, lambda: progress.take_hint("layer-norm", 3)):
        with pytest.raises(RecordError, match="newer judge .its schema is 7, this judge knows 1.; update the judge"):
            work()
    assert (tmp_path / FILE).read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


def test_a_folder_in_its_place_is_a_clear_error(progress, tmp_path):
    (tmp_path / FILE).mkdir()
    with pytest.raises(RecordError, match="the record of attempts can't be used"):
        keep(progress, ACCEPTED)
    assert (tmp_path / FILE).is_dir()


@pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX's")
def test_a_folder_that_may_not_be_written_is_a_clear_error_and_can_still_be_read(progress, tmp_path):
    keep(progress, ACCEPTED)
    code = """
import os, sys
from pathlib import Path
from judge.models import Report
from judge.errors import RecordError
from judge.progress import Progress
if os.getuid() == 0:
    os.setuid(65534)
progress = Progress(Path(sys.argv[1]), print)
try:
    progress.take_hint("layer-norm", 3)
except RecordError as error:
    sys.exit(0 if "can't be used" in str(error) and progress.standings()["layer-norm"].solved else str(error))
sys.exit("it was written")
"""
    way_there = tmp_path.parents[:2] if os.getuid() == 0 else ()  # nobody, as whom root tries it, must get there
    modes = {folder: folder.stat().st_mode for folder in (tmp_path, *way_there)}
    for folder in modes:
        folder.chmod(0o555)
    try:
        assert run(code, tmp_path).wait(timeout=60) == 0
    finally:
        for folder, mode in modes.items():
            folder.chmod(mode)


@pytest.mark.skipif(os.name != "posix", reason="limits are POSIX's")
def test_a_full_disk_is_a_clear_error_and_what_was_there_stays(progress, tmp_path):
    keep(progress, ACCEPTED)
    code = """
import os, resource, sys
from pathlib import Path
from judge.models import Report
from judge.errors import RecordError
from judge.progress import Progress
report = Report(problem="layer-norm", title="t", file="f.py", verdict="wrong answer")
resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))
try:
    Progress(Path(sys.argv[1]), print).record(report, report.model_dump_json(), os.urandom(200_000))
except RecordError as error:
    sys.exit(0 if "can't be used" in str(error) else str(error))
sys.exit("it was written")
"""
    assert run(code, tmp_path).wait(timeout=60) == 0
    assert progress.standings()["layer-norm"].attempts == 1


def test_the_next_problem_is_the_first_whose_prerequisites_are_solved():
    problems = [problem("a"), problem("b", "d"), problem("c", "a"), problem("d")]
    solved = {"a": Standing("a", 1, 0, True, 10, "accepted", "")}
    tried = {"c": Standing("c", 1, 0, False, 0, "wrong answer", "")}

    def following(standings: dict[str, Standing]) -> str | None:
        chosen = next_problem(problems, standings)
        return chosen and chosen.id

    assert following({}) == "a"
    assert following(solved) == "c"
    assert following(solved | tried) == "c"
    assert next_problem(problems[1:2], {}) == problems[1]
    assert next_problem(problems[:1], solved) is None


def test_what_was_just_solved_counts_for_the_next_problem():
    problems = [problem("a"), problem("b", "a"), problem("c")]
    assert next_problem(problems, {}, "a") == problems[1]
    assert next_problem(problems[:1], {}, "a") is None
