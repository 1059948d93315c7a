"""``lodestone.check``: does compiled code wait for every LDS-DMA that it must wait for?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rich.console import RenderableType
from rich.table import Table

from lodestone import _native
from lodestone._errors import MLIRError
from lodestone._input import read
from lodestone._result import Result, add_row


@dataclass(frozen=True)
class Instruction:
    """One machine instruction of a finding.

    Attributes:
        text: the instruction, as MIR.
        bytes: the LDS bytes it touches, ``@lds + [0, 1024)``.
        block: the basic block, ``bb.3``.
        file: its source file, empty if there is no debug info.
        line: from 1; 0 if not known.
        column: from 1; 0 if not known.
    """

    text: str
    bytes: str
    block: str
    file: str = ""
    line: int = 0
    column: int = 0


@dataclass(frozen=True)
class WaitFinding:
    """A place where code may race with an LDS-DMA of its own wave.

    Attributes:
        kind: ``missing-wait``, ``reordered``, ``outstanding-at-return``, ``stale-register``.
        overlap: ``certain``, ``possible`` or ``unknown``: how sure it is that both touch the same
            bytes.
        function: the function it is in.
        access: the access.
        dma: the LDS-DMA it may race with.
        needed_wait: ``vmcnt(needed_wait)`` before the access would do.
        actual_wait: the tightest wait between the two, None if there is none.
        message: all of it in a line.
    """

    kind: str
    overlap: str
    function: str
    access: Instruction
    dma: Instruction
    needed_wait: int
    actual_wait: int | None
    message: str


@dataclass(frozen=True)
class CheckReport(Result):
    """What the wait checker says about compiled code.

    Attributes:
        findings: the possible races.
        unsupported: functions with LDS-DMAs that the checker doesn't know the counters of.
        functions: how many functions it looked at.
        dmas: how many LDS-DMAs.
        accesses: how many LDS accesses.
        seconds: time in the checker itself.
    """

    findings: tuple[WaitFinding, ...] = ()
    unsupported: tuple[str, ...] = ()
    functions: int = 0
    dmas: int = 0
    accesses: int = 0
    seconds: float = 0.0

    @property
    def complete(self) -> bool:
        """Every LDS-DMA was on a chip that the checker knows."""
        return not self.unsupported

    @property
    def clean(self) -> bool:
        """The proof holds: nothing found, nothing left out."""
        return self.complete and not self.findings

    @classmethod
    def from_native(cls, native: dict[str, Any]) -> CheckReport:
        """From the native module's dictionary."""
        findings = tuple(
            WaitFinding(
                **{
                    **finding,
                    "access": Instruction(**finding["access"]),
                    "dma": Instruction(**finding["dma"]),
                }
            )
            for finding in native["findings"]
        )
        return cls(**{**native, "findings": findings, "unsupported": tuple(native["unsupported"])})

    @classmethod
    def merge(cls, reports: Iterable[CheckReport]) -> CheckReport:
        """One report of several."""
        listed = list(reports)
        return cls(
            findings=tuple(finding for report in listed for finding in report.findings),
            unsupported=tuple(name for report in listed for name in report.unsupported),
            functions=sum(report.functions for report in listed),
            dmas=sum(report.dmas for report in listed),
            accesses=sum(report.accesses for report in listed),
            seconds=sum(report.seconds for report in listed),
        )

    def to_dict(self) -> dict[str, Any]:
        """The fields and the verdict."""
        return {**super().to_dict(), "complete": self.complete, "clean": self.clean}

    @property
    def verdict(self) -> str:
        """One line: what was looked at and what came of it."""
        seen = f"{self.functions} functions, {self.dmas} LDS-DMAs, {self.accesses} LDS accesses"
        if self.unsupported:
            return f"not checked: {', '.join(self.unsupported)} (chip unknown to the checker)"
        if not self.findings:
            return f"clean: every LDS-DMA is waited for ({seen})"
        return f"{len(self.findings)} missing waits ({seen})"

    def _renderables(self) -> Iterable[RenderableType]:
        if self.findings:
            table = Table(title="Missing waits", title_justify="left")
            for column in ("function", "kind", "overlap", "access", "LDS-DMA", "has", "needs"):
                table.add_column(column, overflow="fold")
            for f in self.findings:
                has = "no wait" if f.actual_wait is None else f"vmcnt({f.actual_wait})"
                add_row(table, 
                    f.function, f.kind, f.overlap, f.access.text, f.dma.text, has,
                    f"vmcnt({f.needed_wait})",
                )  # fmt: skip
            yield table
        yield self.verdict


def check(
    kernel: object,
    *,
    chip: str = "",
    opt_level: int = 3,
    global_isel: bool = False,
    alias_scopes: bool = False,
    name: str | None = None,
) -> CheckReport:
    """Generates machine code and checks that it waits for every LDS-DMA.

    The code is checked as it is: with the alias scopes that it carries already.

    Args:
        kernel: MLIR, LLVM IR or MIR; text, bytes, a path, a module of any MLIR bindings, a kernel
            object, or the result of ``compile``.
        chip: ``gfx950``; default: what the kernel says.
        opt_level: LLVM's optimization level, 0 to 3.
        global_isel: generate code with GlobalISel.
        alias_scopes: attach Lodestone's scopes first (MLIR only).
        name: what messages call it.

    Returns:
        The report; ``report.clean`` is the proof.

    Raises:
        MLIRError: the kernel cannot be read or compiled.
        OSError: the file cannot be read.
        ValueError: the chip is unknown.
    """
    from lodestone.compiler import Compilation, run_compiler

    if isinstance(kernel, Compilation):
        return CheckReport.merge(module.check for module in kernel.modules if module.check)
    source = read(kernel, name)
    chip = chip or source.chip
    if source.module is None:
        run = _native.check_llvm_ir if source.language == "llvm" else _native.check_mir
        result = run(source.contents, source.name, chip, opt_level, global_isel)
        if result["failed"]:
            errors = result["errors"] or ["the code cannot be checked"]
            raise MLIRError("\n".join(errors))
        return CheckReport.from_native(result["report"])
    compilation = run_compiler(
        source,
        {
            **source.compile_options,
            "chip": chip,
            "format": "isa",
            "opt_level": opt_level,
            "global_isel": global_isel,
            "alias_scopes": alias_scopes,
            "resources": False,
            "check": True,
        },
    )
    # With scopes it is the scopes' own code that is asked about, not the fallback.
    reports = [m.tagged_check or m.check for m in compilation.modules]
    return CheckReport.merge(report for report in reports if report)
