"""One table of several variants of a kernel, side by side."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rich.table import Table

from lodestone.report.figures import Figures, histogram


@dataclass(frozen=True)
class Variant:
    """A kernel, compiled one way.

    Attributes:
        form: how its LDS is declared.
        alias_scopes: whether it was compiled with the alias-scope pass.
        figures: what its assembly says.
        verdict: the wait checker's, in two or three words.
        clean: whether that verdict is a proof.
    """

    form: str
    alias_scopes: bool
    figures: Figures
    verdict: str
    clean: bool


def comparison_table(variants: Iterable[Variant], title: str) -> Table:
    """Return the table; a form's variants should follow one another."""
    table = Table(title=title, title_justify="left")
    table.add_column("LDS form")
    table.add_column("alias\nscopes")
    table.add_column("vmcnt waits:\nN, number of each", ratio=1)
    table.add_column("of 0", justify="right")
    table.add_column("in the\nmain loop")
    table.add_column("DMAs\ndrained\nearly", justify="right")
    table.add_column("instr.", justify="right")
    table.add_column("VGPR\n(AGPR)", justify="right")
    table.add_column("SGPR", justify="right")
    table.add_column("spills", justify="right")
    table.add_column("llvm-mca\ncycles,\nloop*", justify="right")
    table.add_column("wait checker")
    previous = None
    for variant in variants:
        x = variant.figures
        if previous not in (None, variant.form):
            table.add_section()
        drains = "-" if x.drains is None else f"{x.drains.early}/{x.drains.dmas}"
        color = "green" if variant.clean else "red"
        table.add_row(
            variant.form if variant.form != previous else "",
            "yes" if variant.alias_scopes else "no",
            histogram(x.waits),
            str(x.zero_waits),
            histogram(x.loop_waits),
            drains,
            str(x.instructions),
            f"{_text(x.vgprs)}\n({_text(x.agprs)})",
            _text(x.sgprs),
            _text(x.spills),
            "-" if x.loop_cycles is None else f"{x.loop_cycles:.0f}",
            f"[{color}]{variant.verdict}[/]",
        )
        previous = variant.form
    return table


def _text(value: int | None) -> str:
    return "-" if value is None else str(value)
