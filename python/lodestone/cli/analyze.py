"""``lodestone analyze``."""

from __future__ import annotations

from typing import Annotated

import typer

from lodestone.analyzer import analyze
from lodestone.cli._common import EXIT_FINDINGS, Chip, Json, Source, progress, read_source, show

EPILOG = """
[bold]Examples[/bold]

lodestone analyze kernel.mlir --chip gfx950

lodestone analyze kernel.mlir --json

lodestone analyze kernel.mlir --strict   (exit code 1 if an access is left alone)
"""


def register(app: typer.Typer) -> None:
    """Adds the command."""

    @app.command("analyze", epilog=EPILOG)
    def command(
        source: Source,
        chip: Chip = "",
        launder: Annotated[
            bool, typer.Option(help="Hide the addresses of DMAs from LLVM's alias analysis.")
        ] = True,
        strict: Annotated[
            bool, typer.Option("--strict", help="Exit with 1 if an access gets no scopes.")
        ] = False,
        json: Json = False,
    ) -> None:
        """Show the LDS regions, the accesses, their alias scopes, and the refusals' reasons."""
        what, name = read_source(source)
        with progress(f"analyzing {name}"):
            result = analyze(what, chip=chip, launder=launder, name=name)
        show(result, json)
        if strict and result.refused:
            raise typer.Exit(EXIT_FINDINGS)
