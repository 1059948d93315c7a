"""``lodestone check``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lodestone.checker import check
from lodestone.cli._common import EXIT_FINDINGS, Chip, Json, progress, read_source, show

EPILOG = """
[bold]Examples[/bold]

lodestone check kernel.mlir --chip gfx950

lodestone check other-compiler.ll --chip gfx950 --json

llc -mcpu=gfx950 -stop-after=si-insert-waitcnts k.ll -o k.mir; lodestone check k.mir
"""


def register(app: typer.Typer) -> None:
    """Adds the command."""

    @app.command("check", epilog=EPILOG)
    def command(
        source: Annotated[
            Path,
            typer.Argument(
                help="MLIR, LLVM IR (.ll, .bc) or MIR (.mir); - for standard input.",
                show_default=False,
            ),
        ],
        chip: Chip = "",
        opt_level: Annotated[int, typer.Option("-O", min=0, max=3, help="LLVM's level.")] = 3,
        global_isel: Annotated[
            bool, typer.Option("--global-isel", help="Generate code with GlobalISel.")
        ] = False,
        alias_scopes: Annotated[
            bool, typer.Option("--alias-scopes", help="Attach alias scopes first (MLIR only).")
        ] = False,
        json: Json = False,
    ) -> None:
        """Check that the machine code waits for every LDS-DMA; exit with 1 if it does not."""
        what, name = read_source(source)
        with progress(f"checking {name}"):
            report = check(
                what,
                chip=chip,
                opt_level=opt_level,
                global_isel=global_isel,
                alias_scopes=alias_scopes,
                name=name,
            )
        show(report, json)
        if not report.clean:
            raise typer.Exit(EXIT_FINDINGS)
