"""``lodestone compile``."""

from __future__ import annotations

import json as json_module
import sys
from pathlib import Path
from typing import Annotated, cast

import typer

from lodestone.cli._common import Chip, Json, Source, console, progress, read_source
from lodestone.compiler import DirectToLDS, Format, TDMHintRule
from lodestone.compiler import compile as compile_module

EPILOG = """
[bold]Examples[/bold]

lodestone compile kernel.mlir --chip gfx950 -o kernel.hsaco

lodestone compile kernel.mlir --chip gfx950 --format isa -o -

lodestone compile kernel.mlir --chip gfx950 --strict --json
"""


def register(app: typer.Typer) -> None:
    """Adds the command."""

    @app.command("compile", epilog=EPILOG)
    def command(
        source: Source,
        chip: Chip = "",
        format: Annotated[
            str, typer.Option("--format", "-f", help="isa, hsaco or fatbin.")
        ] = "hsaco",
        output: Annotated[
            Path | None,
            typer.Option("--output", "-o", help="Where the code goes; - for standard output."),
        ] = None,
        alias_scopes: Annotated[
            bool, typer.Option(help="Attach alias scopes to LDS accesses.")
        ] = True,
        check: Annotated[bool, typer.Option(help="Check the machine code's waits.")] = True,
        strict: Annotated[
            bool, typer.Option("--strict", help="Refusals and findings are errors (exit code 1).")
        ] = False,
        opt_level: Annotated[int, typer.Option("-O", min=0, max=3, help="LLVM's level.")] = 3,
        unroll_buffers: Annotated[
            int,
            typer.Option(
                metavar="N",
                min=0,
                help="Unroll loops with LDS-DMAs that go round up to N LDS buffers; 0: none.",
            ),
        ] = 4,
        inverse_swizzle: Annotated[
            bool,
            typer.Option("--inverse-swizzle", help="Copy to swizzled LDS with linear stores."),
        ] = False,
        register_budget: Annotated[
            int,
            typer.Option(min=0, help="Registers for copies that load before they store; 0: off."),
        ] = 0,
        direct_to_lds: Annotated[
            str, typer.Option(help="Which copies to LDS become LDS-DMAs: off, auto or on.")
        ] = "off",
        tdm_hints: Annotated[
            str,
            typer.Option(
                help="Rules that choose the warps of TDM loads: complementary, leading-group,"
                " one-per-simd, with commas between them."
            ),
        ] = "",
        tdm_fuse: Annotated[
            bool,
            typer.Option("--tdm-fuse", help="One instruction for TDM loads on disjoint warps."),
        ] = False,
        assume_small_buffers: Annotated[
            bool,
            typer.Option(
                "--assume-small-buffers",
                help="Dynamic memrefs that DMAs read: under 2^32 bytes, no negative stride.",
            ),
        ] = False,
        separate_globals: Annotated[
            bool, typer.Option("--separate-globals", help="One global for each lds.region.")
        ] = False,
        bare_pointers: Annotated[
            bool, typer.Option("--bare-pointers", help="A memref argument is one pointer.")
        ] = False,
        json: Json = False,
    ) -> None:
        """Compile each gpu.module to checked code and print what the kernels take."""
        what, name = read_source(source)
        with progress(f"compiling {name}"):
            result = compile_module(
                what,
                chip=chip,
                format=cast(Format, format),
                alias_scopes=alias_scopes,
                check=check,
                strict=strict,
                opt_level=opt_level,
                unroll_buffers=unroll_buffers,
                inverse_swizzle=inverse_swizzle,
                register_budget=register_budget,
                direct_to_lds=cast(DirectToLDS, direct_to_lds),
                tdm_hints=cast(list[TDMHintRule], tdm_hints.split(",") if tdm_hints else []),
                tdm_fuse=tdm_fuse,
                assume_small_buffers=assume_small_buffers,
                separate_globals=separate_globals,
                bare_pointers=bare_pointers,
                name=name,
            )
        to_stdout = output is not None and str(output) == "-"
        if to_stdout:
            sys.stdout.buffer.write(result.output)
        elif output is not None:
            result.save(output)
        # The report makes way for code on standard output.
        stream = sys.stderr if to_stdout else sys.stdout
        if json:
            print(json_module.dumps(result.summary(), indent=2), file=stream)
        else:
            console(stream).print(result)
