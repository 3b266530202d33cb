"""A source's statements, found by their code: each simple statement, and each compound one by its header.

Two pieces of code are the same if their syntax trees are: line breaks, spaces, quotes and comments don't matter.
Places are bytes of the UTF-8 text, as in Python's own trees.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from judge.parsing import parse

_Headed = ast.If | ast.For | ast.AsyncFor | ast.While | ast.With | ast.AsyncWith
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_NOT_IN_A_HEADER = ("body", "orelse", "decorator_list")


def is_compound(node: ast.stmt) -> bool:
    """Whether a statement holds others."""
    return hasattr(node, "body") or isinstance(node, ast.Match)


@dataclass(frozen=True, slots=True)
class Statement:
    """A simple statement, or a compound one's header; ``path`` is the function or class around it ("" for none)."""

    node: ast.stmt
    path: str = ""
    is_elif: bool = False

    @property
    def is_header(self) -> bool:
        return isinstance(self.node, (_Headed, _Definition))

    @property
    def own_path(self) -> str:
        """The path of what stands inside."""
        if not isinstance(self.node, _Definition):
            return self.path
        return f"{self.path}.{self.node.name}" if self.path else self.node.name

    @property
    def key(self) -> str:
        """Equal for equal code."""
        return ("elif " if self.is_elif else "") + ast.dump(self._bare)

    @property
    def text(self) -> str:
        """The code, in Python's own spelling."""
        return ("el" if self.is_elif else "") + ast.unparse(self._bare)

    @property
    def _bare(self) -> ast.stmt:
        if not self.is_header:
            return self.node
        fields = {name: getattr(self.node, name) for name in self.node._fields}
        bare = {name: [] if name in _NOT_IN_A_HEADER else value for name, value in fields.items()}
        return ast.copy_location(type(self.node)(**bare), self.node)


class Source:
    """A source, parsed once: where its statements are. Raises SyntaxError."""

    def __init__(self, text: str):
        self._text = text
        self._data = text.encode()
        self._lines = text.split("\n")
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line.encode()) + 1)
        self._statements: dict[str, list[Statement]] = {}
        self.paths: set[str] = set()  # of every function and class
        for statement in self._walk(parse(text), ""):
            self.paths.add(statement.own_path)
            if statement.is_header or not is_compound(statement.node):
                self._statements.setdefault(statement.key, []).append(statement)
        self.paths.discard("")

    def __iter__(self) -> Iterator[Statement]:
        for group in self._statements.values():
            yield from group

    def like(self, wanted: Statement) -> list[Statement]:
        """Find the statements whose code is that of ``wanted``."""
        return self._statements.get(wanted.key, [])

    def span(self, statement: Statement) -> tuple[int, int]:
        """The first byte of a statement or header, and the one after its last."""
        node = statement.node
        if statement.is_header:
            return self._start(node), self._end_of_header(node.body)  # type: ignore[attr-defined]  # headers have one
        return self._start(node), self._starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)

    def indentation(self, start: int) -> str:
        """The blanks that the line of a byte begins with."""
        line = self._line_before(start).decode()
        return line[: len(line) - len(line.lstrip())]

    def stands_alone(self, start: int, end: int) -> bool:
        """Whether nothing but a comment shares the lines with the bytes from ``start`` to ``end``."""
        after = self._data[end:].split(b"\n", 1)[0].strip()
        return not self._line_before(start).strip() and (not after or after.startswith(b"#"))

    def _walk(self, node: ast.AST, path: str) -> Iterator[Statement]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                is_elif = isinstance(child, ast.If) and self._data.startswith(b"elif", self._start(child))
                statement = Statement(child, path, is_elif)
                yield statement
                yield from self._walk(child, statement.own_path)
            elif not isinstance(child, ast.expr):
                yield from self._walk(child, path)

    def _start(self, node: ast.stmt | ast.expr) -> int:
        return self._starts[node.lineno - 1] + node.col_offset

    def _line_before(self, start: int) -> bytes:
        return self._data[:start].rpartition(b"\n")[2]

    def _end_of_header(self, body: list[ast.stmt]) -> int:
        """The byte after a header's colon: the last one before the body, whatever comments stand between."""
        first = min(self._start(node) for node in (body[0], *getattr(body[0], "decorator_list", [])))
        return max(colon for colon in self._colons if colon < first) + 1

    @cached_property
    def _colons(self) -> list[int]:
        tokens = tokenize.generate_tokens(io.StringIO(self._text).readline)
        places = [token.start for token in tokens if token.type == tokenize.OP and token.string == ":"]
        return [self._starts[row - 1] + len(self._lines[row - 1][:column].encode()) for row, column in places]
