"""``lodestone opt``."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Annotated

import typer

from lodestone._input import read
from lodestone._result import Diagnostic
from lodestone.cli._common import Source, progress, read_source
from lodestone.ir import DiagnosticInfo
from lodestone.passmanager import PassManager
from lodestone.remarks import collect_remarks

EPILOG = """
[bold]Examples[/bold]

lodestone opt kernel.mlir -p 'builtin.module(lodestone-to-rocdl{chip=gfx950})'

lodestone opt kernel.mlir -p 'canonicalize,cse' -o out.mlir

lodestone opt kernel.mlir -p 'lds-attach-alias-scopes{chip=gfx950}' --remarks
"""


def register(app: typer.Typer) -> None:
    """Adds the command."""

    @app.command("opt", epilog=EPILOG)
    def command(
        source: Source,
        pipeline: Annotated[
            str, typer.Option("--pass-pipeline", "-p", help="Passes; empty: parse and print.")
        ] = "",
        output: Annotated[
            Path, typer.Option("--output", "-o", help="Where the module goes; - for stdout.")
        ] = Path("-"),
        remarks: Annotated[
            bool, typer.Option("--remarks", help="Print the passes' remarks on stderr.")
        ] = False,
        generic: Annotated[
            bool, typer.Option("--generic", help="Print operations in the generic form.")
        ] = False,
        bytecode: Annotated[
            bool, typer.Option("--emit-bytecode", help="Write bytecode instead of text.")
        ] = False,
    ) -> None:
        """Run passes over a module and print it."""
        what, name = read_source(source)
        loaded = read(what, name)
        if loaded.module is None:
            raise ValueError(f"{name} is no MLIR; passes run on MLIR only")
        text = pipeline.strip()
        if not text.startswith(("builtin.module(", "any(")):
            text = f"builtin.module({text})"
        manager = PassManager.parse(text, loaded.context)

        def report(diagnostic: DiagnosticInfo) -> bool:
            print(Diagnostic.of(diagnostic), file=sys.stderr)
            return True

        with (
            progress(f"running passes on {name}"),
            loaded.context.attach_diagnostic_handler(report),
            collect_remarks(loaded.context) as collected,
        ):
            manager.run(loaded.module)
        if remarks:
            for remark in collected:
                print(remark, file=sys.stderr)
        data: bytes
        if bytecode:
            stream = io.BytesIO()
            loaded.module.operation.write_bytecode(stream)
            data = stream.getvalue()
        else:
            data = (loaded.module.operation.get_asm(print_generic_op_form=generic)).encode()
        if str(output) == "-":
            sys.stdout.buffer.write(data)
        else:
            output.write_bytes(data)
