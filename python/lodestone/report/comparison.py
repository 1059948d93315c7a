"""One table of several variants of a kernel, side by side."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rich import box
from rich.table import Table

from lodestone.report.figures import Figures, histogram


@dataclass(frozen=True)
class Simulated:
    """What the ISA simulator made of a variant.

    Attributes:
        error: largest error against the reference, in units of the tolerance; <= 1 is right.
        races: hard findings in the memory modes E and R.
        same_bits: mode R, with all DMAs as late as possible, gave the bits of mode E.
        instructions: executed in mode E.
    """

    error: float
    races: int
    same_bits: bool
    instructions: int

    @property
    def ok(self) -> bool:
        """Right numbers in both modes, and no race."""
        return self.error <= 1 and self.races == 0 and self.same_bits

    def __str__(self) -> str:
        """A cell of the table."""
        if self.ok:
            return f"ok, {self.error:.2f}"
        if self.races:
            return f"{self.races} races"
        return f"wrong, {self.error:.2f}" if self.error > 1 else "mode R differs"


@dataclass(frozen=True)
class Variant:
    """A kernel, compiled one way.

    Attributes:
        form: how its LDS is declared.
        alias_scopes: whether it was compiled with the alias-scope pass.
        figures: what its assembly says.
        verdict: the wait checker's, in two or three words.
        clean: whether that verdict is a proof.
        simulated: the simulator's, if it ran.
    """

    form: str
    alias_scopes: bool
    figures: Figures
    verdict: str
    clean: bool
    simulated: Simulated | None = None


def comparison_table(variants: Iterable[Variant], title: str) -> Table:
    """Return the table; a form's variants should follow one another."""
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("LDS form", no_wrap=True)
    table.add_column("alias\nscopes", no_wrap=True)
    table.add_column("vmcnt waits\nN:count", ratio=1, min_width=22)
    table.add_column("of\n0", justify="right", no_wrap=True)
    table.add_column("in main\nloop", no_wrap=True)
    table.add_column("DMAs\ndrained\nearly", justify="right", no_wrap=True)
    table.add_column("instr.", justify="right", no_wrap=True)
    table.add_column("VGPR/\nAGPR/\nSGPR", justify="right", no_wrap=True)
    table.add_column("spills", justify="right", no_wrap=True)
    table.add_column("llvm-mca\ncycles,\nloop*", justify="right", no_wrap=True)
    table.add_column("wait\nchecker", no_wrap=True)
    table.add_column("simu-\nlator**", no_wrap=True)
    previous = None
    for variant in variants:
        x = variant.figures
        if previous not in (None, variant.form):
            table.add_section()
        drains = "-" if x.drains is None else f"{x.drains.early}/{x.drains.dmas}"
        color = "green" if variant.clean else "red"
        simulated = variant.simulated
        mark = "green" if simulated and simulated.ok else "red"
        table.add_row(
            variant.form if variant.form != previous else "",
            "yes" if variant.alias_scopes else "no",
            histogram(x.waits),
            str(x.zero_waits),
            histogram(x.loop_waits),
            drains,
            str(x.instructions),
            "/".join(_text(count) for count in (x.vgprs, x.agprs, x.sgprs)),
            _text(x.spills),
            "-" if x.loop_cycles is None else f"{x.loop_cycles:.0f}",
            f"[{color}]{variant.verdict}[/]",
            f"[{mark}]{simulated}[/]" if simulated else "-",
        )
        previous = variant.form
    return table


def _text(value: int | None) -> str:
    return "-" if value is None else str(value)
