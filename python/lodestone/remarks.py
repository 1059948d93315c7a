"""The remarks of passes: what was done, what was missed, and why."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, Literal, cast

from lodestone import _native, ir

RemarkKind = Literal["passed", "missed", "analysis", "failure"]


@dataclass(frozen=True)
class Remark:
    """One remark of one pass.

    Attributes:
        kind: ``passed`` (done), ``missed`` (not done), ``analysis`` (a fact), ``failure``.
        category: the pass that remarks, or what it names itself.
        name: the remark's stable name, ``unknown-pointer``.
        function: the function it is about, empty if not said.
        message: the parts in a line, without what the other fields say.
        args: the parts of the message by key, in order.
        file: the source file, None if not known.
        line: the line in it, from 1; 0 if not known.
        column: the column in it, from 1; 0 if not known.
    """

    kind: RemarkKind
    category: str
    name: str
    function: str
    message: str
    args: tuple[tuple[str, str], ...] = ()
    file: str | None = None
    line: int = 0
    column: int = 0

    @property
    def pass_name(self) -> str:
        """The pass that remarks: the category without its subcategory."""
        return self.category.split(":")[0]

    def to_dict(self) -> dict[str, Any]:
        """The fields, as JSON takes them."""
        return asdict(self)

    def __str__(self) -> str:
        """``file:line:column: missed: unknown-pointer: message``."""
        place = f"{self.file}:{self.line}:{self.column}: " if self.file else ""
        return f"{place}{self.kind}: {self.name}: {self.message}"


def _message(args: tuple[tuple[str, str], ...], whole: str) -> str:
    """The parts in a line; sentences (a reason, a remark) go without their key."""
    parts = (value if key in ("Reason", "Remark") else f"{key}={value}" for key, value in args)
    return ", ".join(parts) or whole


def _remark(record: _native.RemarkRecord) -> Remark:
    args = tuple(record.args)
    unknown = record.function.startswith("<unknown")
    return Remark(
        kind=cast(RemarkKind, record.kind),
        category=record.category,
        name=record.name,
        function="" if unknown else record.function,
        message=_message(args, record.message),
        args=args,
        file=record.file,
        line=record.line,
        column=record.column,
    )


class Remarks(list[Remark]):
    """The collected remarks, a list; filled when the collection ends."""


@contextmanager
def collect_remarks(context: ir.Context | None = None, *, filter: str = ".*") -> Iterator[Remarks]:
    """Collects the remarks of all passes that run in ``context`` inside the ``with``.

    Args:
        context: default: the current one.
        filter: a regular expression on the category; raises ``ValueError`` if invalid.

    Yields:
        A list that is filled on exit.
    """
    collector = _native.RemarkCollector(context, filter)
    remarks = Remarks()
    collector.start()
    try:
        yield remarks
    finally:
        collector.stop()
        remarks.extend(map(_remark, collector.records))
