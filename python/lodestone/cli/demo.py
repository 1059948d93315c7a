"""`lodestone demo`: the FP8 GEMM with and without alias scopes, in one table."""

from __future__ import annotations

import dataclasses
import json as json_module
import sys
from collections.abc import Iterator
from typing import Annotated, get_args

import typer
from rich.console import Console

import lodestone
from lodestone import ir, sim
from lodestone._tools import ToolError
from lodestone.cli._common import EXIT_FINDINGS, EXIT_MISSING_TOOL, Json, progress
from lodestone.kernels._kernel import Kernel
from lodestone.kernels.fp8_gemm import Form, fp8_gemm
from lodestone.report import figures
from lodestone.report.comparison import Simulated, Variant, comparison_table
from lodestone.report.mca import F8F6F4_CAVEAT

EPILOG = """
[bold]Examples[/bold]

lodestone demo

lodestone demo --tile-m 128 --tile-n 128 --k 512 --json
"""

# The table has thirteen columns; where nobody looks (a pipe, a log) it gets what it needs.
MINIMUM_WIDTH = 130


def simulate(kernel: Kernel, code_object: bytes, tile_m: int, tile_n: int) -> Simulated:
    """Run one workgroup on the simulator, in the modes E and R.

    Args:
        kernel: the kernel; its tile is `tile_m` x `tile_n`.
        code_object: what was compiled of it.

    Raises:
        sim.SimulationError: the kernel cannot be executed.
    """
    launch = kernel.launch(m=tile_m, n=tile_n)
    inputs = kernel.inputs(m=tile_m, n=tile_n)
    program = sim.load(code_object)
    eager, late = (
        sim.run(
            program,
            grid=launch.grid,
            args=[inputs[argument.name] for argument in kernel.arguments],
            dynamic_lds=launch.dynamic_lds,
            mode=mode,
            order=order,
        )
        for mode, order in (("E", "forward"), ("R", "reverse"))
    )
    pairs = [
        (argument.name, one, other)
        for argument, one, other in zip(kernel.arguments, eager.outputs, late.outputs, strict=True)
        if argument.output and one is not None and other is not None
    ]
    return Simulated(
        kernel.error({name: value for name, value, _ in pairs}, inputs),
        len(eager.errors) + len(late.errors),
        all(one.tobytes() == other.tobytes() for _, one, other in pairs),
        eager.instructions,
    )


def variants(tile_m: int, tile_n: int, k: int) -> Iterator[Variant]:
    """Compile each form of the kernel without and with alias scopes, and run it.

    Args:
        tile_m: rows of C of a workgroup.
        tile_n: columns of C of a workgroup.
        k: columns of A and B.

    Raises:
        ValueError: a parameter is out of range.
        lodestone.MLIRError: a form does not compile.
        sim.SimulationError: a form can't be executed.
    """
    for form in get_args(Form):
        with ir.Context():
            kernel = fp8_gemm(tile_m, tile_n, k, form)
            for alias_scopes in (False, True):
                compiled = lodestone.compile(kernel, alias_scopes=alias_scopes)
                findings = len(compiled.check.findings)
                if compiled.untagged_fallback:
                    verdict = "fell back"
                elif compiled.check.clean:
                    verdict = "clean"
                else:
                    verdict = f"{findings} missing waits"
                yield Variant(
                    form,
                    alias_scopes and not compiled.untagged_fallback,
                    figures(compiled.isa, kernel.chip, kernel.name),
                    verdict,
                    compiled.check.clean,
                    simulate(kernel, compiled.code_object, tile_m, tile_n),
                )


def register(app: typer.Typer) -> None:
    """Adds the command."""

    @app.command("demo", epilog=EPILOG)
    def command(
        tile_m: Annotated[int, typer.Option(help="Rows of C of a workgroup: 64, 128, 256.")] = 256,
        tile_n: Annotated[int, typer.Option(help="Columns of C of a workgroup, likewise.")] = 256,
        k: Annotated[int, typer.Option(help="Columns of A and B, a multiple of 128.")] = 1024,
        json: Json = False,
    ) -> None:
        """Compile the FP8 GEMM for gfx950 with and without alias scopes, run it, and compare.

        It runs on the ISA simulator. Exit code 1 if a variant with alias scopes is not proved to
        keep the waits it needs, or if any gives wrong numbers or has a race there.
        """
        try:
            with progress("compiling and simulating six variants of fp8_gemm for gfx950"):
                rows = list(variants(tile_m, tile_n, k))
        except ToolError as error:
            print(f"error: {error}", file=sys.stderr)
            raise typer.Exit(EXIT_MISSING_TOOL) from None
        if json:
            print(json_module.dumps([dataclasses.asdict(row) for row in rows], indent=2))
        else:
            console = Console()
            if console.width < MINIMUM_WIDTH:
                console = Console(width=MINIMUM_WIDTH)
            title = f"fp8_gemm {tile_m}x{tile_n}, K = {k}, gfx950"
            console.print(comparison_table(rows, title))
            console.print(_what_to_see(rows), markup=False, highlight=False)
        proved = all(row.alias_scopes and row.clean for row in rows[1::2])
        if not proved or not all(row.simulated and row.simulated.ok for row in rows):
            raise typer.Exit(EXIT_FINDINGS)


def _what_to_see(rows: list[Variant]) -> str:
    """The lines below the table, from its own figures."""
    without, with_scopes = (
        next((x for x in rows if x.form == "regions" and x.alias_scopes == scopes), None)
        for scopes in (False, True)
    )
    lines = []
    if without and with_scopes:
        before, after = without.figures, with_scopes.figures
        lines += [
            "Without alias scopes the compiler lets every LDS read wait for all DMAs in flight: "
            f"{before.loop_zero_waits} waits of 0 in the main loop.",
            f"With them {after.loop_zero_waits}: the waits left there are the kernel's own, each "
            "for the buffers that it is about to read.",
            "Static globals LLVM tells apart by itself. Clean: proved on the machine code, not "
            "from the scopes, that no wait is missing.",
        ]
    where = (
        "the main loop"
        if rows and not rows[0].figures.unrolled
        else ("the unrolled steady state, first MFMA to last DMA")
    )
    lines.append(f"* Cycles of {where}: {F8F6F4_CAVEAT}.")
    executed = [row.simulated for row in rows if row.simulated]
    if executed:
        lines.append(
            "** One workgroup of the machine code, executed on the ISA simulator: largest error in "
            "units of the tolerance (1 or less is right). Ok: no race, and the same bits with "
            f"every DMA as late as its waits allow. {executed[0].instructions} instructions."
        )
    lines.append("Speed on a GPU: not measured.")
    return "\n".join(lines)
