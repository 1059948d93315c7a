"""What all results have in common: tables for people, dictionaries for programs."""

from __future__ import annotations

import base64
import dataclasses
import io
import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from lodestone._native import DiagnosticInfo


def _plain(value: Any) -> Any:
    """The value in terms of JSON; bytes as base64 text."""
    if isinstance(value, Result):
        return value.to_dict()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def add_row(table: Table, *cells: object) -> None:
    """Adds a row of plain text: brackets in names and instructions are no markup."""
    table.add_row(*(Text(str(cell)) for cell in cells))


@dataclasses.dataclass(frozen=True)
class Result:
    """Base of the results: prints as tables, in notebooks as HTML."""

    def to_dict(self) -> dict[str, Any]:
        """The fields, nested, as JSON takes them; bytes become base64 text."""
        return {f.name: _plain(getattr(self, f.name)) for f in dataclasses.fields(self)}

    def to_json(self, indent: int | None = 2) -> str:
        """``to_dict`` as JSON text."""
        return json.dumps(self.to_dict(), indent=indent)

    def _renderables(self) -> Iterable[RenderableType]:
        raise NotImplementedError

    def __rich_console__(self, console: Console, options: Any) -> Iterator[RenderableType]:
        """Lets ``rich.print`` show the tables."""
        for item in self._renderables():
            yield Text(item) if isinstance(item, str) else item

    def __str__(self) -> str:
        """The tables as plain text."""
        stream = io.StringIO()
        console = Console(file=stream, width=120, color_system=None, force_terminal=False)
        console.print(self)
        return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())

    def _repr_html_(self) -> str:
        console = Console(file=io.StringIO(), record=True, width=120)
        console.print(self)
        return console.export_html(inline_styles=True, code_format="<pre>{code}</pre>")


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """A diagnostic that wasn't an error, as plain data.

    Attributes:
        severity: ``error``, ``warning``, ``remark`` or ``note``.
        message: one sentence.
        file: the source file, None if not known.
        line: from 1, None if not known.
        column: from 1, None if not known.
        notes: what belongs to it.
    """

    severity: str
    message: str
    file: str | None = None
    line: int | None = None
    column: int | None = None
    notes: tuple[Diagnostic, ...] = ()

    @classmethod
    def of(cls, info: DiagnosticInfo) -> Diagnostic:
        """The diagnostic without its tie to a context."""
        return cls(
            severity=info.severity.name.lower(),
            message=info.message,
            file=info.file,
            line=info.line,
            column=info.column,
            notes=tuple(map(cls.of, info.notes)),
        )

    def __str__(self) -> str:
        """``file:line:column: warning: message`` and the notes."""
        place = f"{self.file}:{self.line}:{self.column}: " if self.file else ""
        lines = [f"{place}{self.severity}: {self.message}"]
        return "\n".join(lines + [str(note) for note in self.notes])
