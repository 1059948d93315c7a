"""``lodestone.analyze``: which LDS bytes each access touches, its alias scopes, and why not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from lodestone import _native
from lodestone._input import read
from lodestone._result import Result, add_row
from lodestone.passmanager import PassManager
from lodestone.remarks import Remark, collect_remarks


@dataclass(frozen=True)
class ByteRange:
    """LDS bytes ``[begin, end)`` of an object.

    Attributes:
        object: the static global's name; empty for the kernel's dynamic LDS.
        begin: the first byte, from the object's start.
        end: one past the last byte; None if there is no bound.
        name: the name of the bytes' alias scope; empty if they have none.
    """

    object: str
    begin: int
    end: int | None
    name: str = ""

    def __str__(self) -> str:
        """``dynamic LDS[0, 4096)``."""
        return (
            f"{self.object or 'dynamic LDS'}[{self.begin}, {'?' if self.end is None else self.end})"
        )


@dataclass(frozen=True)
class Access:
    """One operation that touches LDS.

    Attributes:
        op: the operation's name.
        kind: ``access``, ``dma`` (a copy global to LDS), ``untaggable-dma`` or
            ``other-counter-dma``.
        function: the function it is in.
        footprint: the bytes that it may touch, None if its pointer cannot be traced.
        ranges: the names of the DMA ranges among them.
        tagged: it gets alias scopes.
        refusal: why not, the stable name of the remark; empty if it does.
        reason: the same with the values.
        file: the source file, None if not known.
        line: from 1; 0 if not known.
        column: from 1; 0 if not known.
    """

    op: str
    kind: str
    function: str
    footprint: tuple[ByteRange, ...] | None
    ranges: tuple[str, ...]
    tagged: bool
    refusal: str
    reason: str
    file: str | None = None
    line: int = 0
    column: int = 0


@dataclass(frozen=True)
class KernelAnalysis:
    """The plan for one kernel and what it calls.

    Attributes:
        name: the kernel.
        ranges: the bytes that DMAs write and that are waited for as one, by scope.
        accesses: in program order. Empty if there is no DMA: nothing waits then.
        static_globals: the static LDS globals it uses, if several (the backend replaces their
            metadata).
        has_dma: whether there is an LDS-DMA at all.
        file: where the kernel is, None if not known.
        line: from 1; 0 if not known.
        column: from 1; 0 if not known.
    """

    name: str
    ranges: tuple[ByteRange, ...]
    accesses: tuple[Access, ...]
    static_globals: tuple[str, ...]
    has_dma: bool
    file: str | None = None
    line: int = 0
    column: int = 0

    @property
    def refused(self) -> tuple[Access, ...]:
        """The accesses that stay without scopes."""
        return tuple(access for access in self.accesses if not access.tagged)

    @classmethod
    def from_native(cls, native: dict[str, Any]) -> KernelAnalysis:
        """From the native module's dictionary."""

        def access(entry: dict[str, Any]) -> Access:
            footprint = entry["footprint"]
            if footprint is not None:
                footprint = tuple(ByteRange(**item) for item in footprint)
            return Access(**{**entry, "footprint": footprint, "ranges": tuple(entry["ranges"])})

        return cls(
            **{
                **native,
                "ranges": tuple(ByteRange(**item) for item in native["ranges"]),
                "accesses": tuple(map(access, native["accesses"])),
                "static_globals": tuple(native["static_globals"]),
            }
        )


@dataclass(frozen=True)
class Analysis(Result):
    """The result of ``analyze``.

    Attributes:
        kernels: the plan for each kernel.
        remarks: what the passes said when they carried it out.
    """

    kernels: tuple[KernelAnalysis, ...]
    remarks: tuple[Remark, ...] = ()

    @property
    def refused(self) -> tuple[Access, ...]:
        """The accesses of all kernels that stay without scopes."""
        return tuple(access for kernel in self.kernels for access in kernel.refused)

    def _renderables(self) -> Iterable[RenderableType]:
        for kernel in self.kernels:
            if not kernel.has_dma:
                yield f"{kernel.name}: no LDS-DMA, so nothing to tell apart"
                continue
            table = Table(title=Text(f"{kernel.name}: regions"), title_justify="left")
            table.add_column("scope", overflow="fold")
            table.add_column("bytes")
            table.add_column("DMAs", justify="right")
            table.add_column("accesses", justify="right")
            for item in kernel.ranges:
                users = [a.kind == "dma" for a in kernel.accesses if item.name in a.ranges]
                add_row(table, item.name, str(item), str(sum(users)), str(len(users) - sum(users)))
            yield table
            tagged = len(kernel.accesses) - len(kernel.refused)
            yield f"{tagged} of {len(kernel.accesses)} accesses and DMAs get alias scopes"
            if kernel.refused:
                table = Table(title=Text(f"{kernel.name}: left alone"), title_justify="left")
                for column in ("operation", "place", "why", "reason"):
                    table.add_column(column, overflow="fold")
                for a in kernel.refused:
                    add_row(
                        table, a.op, f"{a.file}:{a.line}" if a.file else "", a.refusal, a.reason
                    )
                yield table
        for remark in self.remarks:
            if remark.kind == "analysis":
                yield str(remark)
        if not self.kernels:
            yield "no kernels"


def analyze(
    module: object, *, chip: str = "", launder: bool = True, name: str | None = None
) -> Analysis:
    """Says for each LDS access which bytes it touches, which scopes it gets, or why none.

    Args:
        module: MLIR: text, bytes, a path, a module of any MLIR bindings, or a kernel object. It
            is left as it is; a copy is lowered to the LLVM dialect.
        chip: ``gfx950``; default: what the module says.
        launder: as the pass's option: addresses of DMAs are hidden from LLVM's alias analysis.
        name: what messages call it.

    Raises:
        MLIRError: the module cannot be read or lowered.
        OSError: the file cannot be read.
        ValueError: the chip is unknown, or the source is LLVM IR or MIR.
    """
    source = read(module, name)
    if source.module is None:
        raise ValueError(
            f"{source.name}: only MLIR can be analyzed; LLVM IR and MIR can be checked"
        )
    chip = chip or source.chip
    options = f" chip={chip}" if chip else ""
    if chip and chip not in _native.known_chips().split(", "):
        raise ValueError(f"unknown chip '{chip}'; known chips are {_native.known_chips()}")
    copy = source.module.operation.clone(ip=False)
    lower = f"builtin.module(lodestone-to-rocdl{{alias-scopes=false{options}}})"
    PassManager.parse(lower, source.context).run(copy)
    kernels = tuple(
        KernelAnalysis.from_native(entry)
        for entry in _native.plan_alias_scopes(copy, chip, launder)
    )
    attach = f"lds-attach-alias-scopes{{launder={str(launder).lower()}{options}}}"
    with collect_remarks(source.context) as remarks:
        PassManager.parse(f"builtin.module({attach})", source.context).run(copy)
    return Analysis(kernels, tuple(remarks))


__all__ = ["Access", "Analysis", "ByteRange", "KernelAnalysis", "analyze"]
