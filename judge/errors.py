"""Everything that can go wrong outside a verdict, by whose fault it is.

    Error
    ├── ProblemError      the author's: a problem folder is incomplete or contradicts itself
    ├── SubmissionError   the student's: there is nothing that could be judged
    ├── UsageError        the caller's: an argument of a command names nothing that exists
    ├── RecordError       nobody's: the record of attempts can't be read or written
    └── JudgeError        ours: a process of the judge failed, and no verdict can be given

A wrong answer is no error: it is a verdict, and travels in the report.
"""


class Error(Exception):
    """Base of every error of the judge; the message says where, what, which value, and what to do."""


class ProblemError(Error):
    """A problem folder that can't be used."""


class SubmissionError(Error):
    """A submission that holds nothing to judge; ``line`` and ``column`` (from 1) where they are known.

    ``source`` is set where the file could be read. ``where`` comes before the message, for those who show the message
    alone; a report has the file and the line besides.
    """

    source: bytes | None = None

    def __init__(
        self, message: str, *, where: str = "", line: int | None = None, column: int | None = None,
        text: str | None = None,
    ):  # fmt: skip
        super().__init__(f"{where}{message}")
        self.message = message
        self.line = line
        self.column = column
        self.text = text


class UsageError(Error):
    """A command's argument that names nothing that exists."""


class RecordError(Error):
    """The record of attempts can't be read or written; a verdict never depends on it."""


class JudgeError(Error):
    """The judge itself failed; never the student's fault."""
