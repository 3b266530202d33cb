"""What a student has tried: every attempt with its source and report, and how many hints were read.

One SQLite file, ``attempts.db`` in the submissions folder, written in short transactions, so that two submits at
once lose nothing. A file that SQLite can't read is set aside under another name, never deleted; one that a newer
judge wrote is not touched.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, TypeVar

from judge.errors import RecordError
from judge.models import Diagnosis, Problem, Report

FILE = "attempts.db"
SCHEMA_VERSION = 1
BUSY_SECONDS = 20.0

_SCHEMA = (
    """CREATE TABLE attempts (
        id INTEGER PRIMARY KEY,
        problem TEXT NOT NULL,
        time TEXT NOT NULL,
        verdict TEXT NOT NULL,
        practice INTEGER NOT NULL,
        points INTEGER NOT NULL,
        file TEXT NOT NULL,
        source BLOB,
        source_sha256 TEXT,
        report TEXT NOT NULL
    )""",
    "CREATE INDEX attempts_by_problem ON attempts (problem, id)",
    "CREATE TABLE hints (problem TEXT PRIMARY KEY, stage INTEGER NOT NULL, time TEXT NOT NULL)",
    f"PRAGMA user_version = {SCHEMA_VERSION}",
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a student is with one problem.

    ``attempts`` got a verdict that counts; ``practice`` runs are none, nor is a file that held nothing to judge.
    """

    problem: str
    attempts: int
    practice: int
    solved: bool
    points: int
    last_verdict: str
    last_time: str


class Progress:
    """The record of one submissions folder; without a folder there is nothing to read yet.

    ``warn`` gets a sentence when a damaged file was set aside. Everything else that goes wrong is a RecordError.
    """

    def __init__(self, folder: Path | None, warn: Callable[[str], None]):
        self.path = None if folder is None else folder / FILE
        self._warn = warn

    def record(self, report: Report, written: str, source: bytes | None) -> None:
        """Keep an attempt: the report, the same ``written`` as JSON, and the source that was judged."""
        row = (
            report.problem,
            _now(),
            report.verdict,
            int(report.practice),
            report.points,
            _storable(report.file),
            None if source is None else zlib.compress(source),
            report.source_sha256,
            written,
        )
        names = "problem, time, verdict, practice, points, file, source, source_sha256, report"
        statement = f"INSERT INTO attempts ({names}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
        self._write(lambda database: database.execute(statement, row))

    def standings(self) -> dict[str, Standing]:
        """Sum up the attempts of each problem that was tried."""
        query = """SELECT problem, SUM(NOT practice AND verdict != 'invalid submission'), SUM(practice),
                          MAX(verdict = 'accepted' AND NOT practice),
                          MAX(CASE WHEN practice THEN 0 ELSE points END), verdict, time, MAX(id)
                   FROM attempts GROUP BY problem"""  # with MAX(id) the bare columns are those of the last attempt
        nothing: list[Any] = []
        rows = self._read(lambda database: database.execute(query).fetchall(), nothing)
        return {row[0]: Standing(row[0], row[1], row[2], bool(row[3]), row[4], row[5], row[6]) for row in rows}

    def last_diagnosis(self, problem_id: str) -> Diagnosis | None:
        """Give the diagnosis of the problem's last attempt, if it had one; practice that passed is looked past."""
        query = """SELECT report FROM attempts WHERE problem = ? AND verdict != 'passed these cases'
                   ORDER BY id DESC LIMIT 1"""
        row = self._read(lambda database: database.execute(query, (problem_id,)).fetchone(), None)
        found = None if row is None else json.loads(row[0]).get("diagnosis")
        return None if found is None else Diagnosis.model_validate(found)

    def take_hint(self, problem_id: str, stages: int) -> int:
        """Move on by one hint and give its number, from 1; ``stages + 1`` means that none is left."""
        statement = """INSERT INTO hints VALUES (?, 1, ?)
                       ON CONFLICT (problem) DO UPDATE SET stage = MIN(stage + 1, ?), time = excluded.time"""
        query = "SELECT stage FROM hints WHERE problem = ?"

        def move(database: sqlite3.Connection) -> int:
            database.execute(statement, (problem_id, _now(), stages + 1))
            return int(database.execute(query, (problem_id,)).fetchone()[0])

        return self._write(move)

    def _read(self, work: Callable[[sqlite3.Connection], T], nothing: T) -> T:
        if self.path is None or not os.path.lexists(self.path):
            return nothing
        return self._run(work)

    def _write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        def transaction(database: sqlite3.Connection) -> T:
            with _transaction(database):
                return work(database)

        return self._run(transaction)

    def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Open, work, close; a damaged file is set aside, and the work is done on a new one."""
        assert self.path is not None, "nothing is written without a folder"
        opened = _identity(self.path)
        try:
            try:
                with contextlib.closing(_open(self.path)) as database:
                    return work(database)
            except sqlite3.DatabaseError as exc:
                if not _means_damage(exc):
                    raise
                self._set_aside(opened)
                with contextlib.closing(_open(self.path)) as database:
                    return work(database)
        except (sqlite3.Error, OSError) as exc:
            raise RecordError(f"{self.path}: the record of attempts can't be used ({exc})") from exc

    def _set_aside(self, opened: tuple[int, int] | None) -> None:
        """Rename the damaged file with its companions, unless another process has done so since it was opened."""
        assert self.path is not None
        if opened is None or _identity(self.path) != opened:
            return
        stamp = datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%S.%fZ")
        kept = self.path.with_name(f"{FILE}.corrupt-{stamp}")
        for suffix in ("", "-wal", "-shm"):
            with contextlib.suppress(FileNotFoundError):
                os.rename(f"{self.path}{suffix}", f"{kept}{suffix}")
        self._warn(f"{self.path} was damaged; it is kept as {kept.name}, and a new record was begun")


def next_problem(
    problems: Sequence[Problem], standings: dict[str, Standing], just_solved: str | None = None
) -> Problem | None:
    """Choose what to do next: the first unsolved problem whose prerequisites are solved, else the first unsolved.

    ``just_solved`` counts as solved before the record says so.
    """
    solved = {name for name, standing in standings.items() if standing.solved} | {just_solved}
    unsolved = [problem for problem in problems if problem.id not in solved]
    ready = [problem for problem in unsolved if solved.issuperset(problem.prerequisites)]
    return next(iter(ready or unsolved), None)


def _open(path: Path) -> sqlite3.Connection:
    # Beside a file in a folder that can't be written SQLite can't lock; as nobody else can write there, it need not.
    frozen = path.exists() and not os.access(path.parent, os.W_OK)
    address = f"{path.resolve().as_uri()}?immutable=1" if frozen else str(path)
    database = sqlite3.connect(address, timeout=BUSY_SECONDS, isolation_level=None, uri=frozen)
    try:
        version = database.execute("PRAGMA user_version").fetchone()[0]
        if version > SCHEMA_VERSION:
            raise RecordError(
                f"{path} was written by a newer judge (its schema is {version}, this judge knows {SCHEMA_VERSION}); "
                f"update the judge, or move the file away"
            )
        if version < SCHEMA_VERSION:
            _create(database)
    except BaseException:
        database.close()
        raise
    return database


def _create(database: sqlite3.Connection) -> None:
    # Without the switch two writers still wait for each other; only readers would wait too. It fails where
    # another process is just opening the new file, which then switches it.
    with contextlib.suppress(sqlite3.OperationalError):
        database.execute("PRAGMA journal_mode = WAL")
    with _transaction(database):
        if database.execute("PRAGMA user_version").fetchone()[0] < SCHEMA_VERSION:
            for statement in _SCHEMA:
                database.execute(statement)


@contextlib.contextmanager
def _transaction(database: sqlite3.Connection) -> Iterator[None]:
    database.execute("BEGIN IMMEDIATE")  # a deferred one that turns into a writer fails at once instead of waiting
    try:
        yield
        database.execute("COMMIT")
    except BaseException:
        if database.in_transaction:  # a full disk has rolled back by itself
            database.execute("ROLLBACK")
        raise


def _means_damage(exc: sqlite3.DatabaseError) -> bool:
    """Tell damage from a lock, a full disk or a missing permission: those have classes of their own."""
    return type(exc) is sqlite3.DatabaseError


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


def _storable(text: str) -> str:
    """A file's name may hold bytes that are no text, which SQLite refuses."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
