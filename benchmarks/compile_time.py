"""Time of ``lodestone.compile`` against MLIR's ``gpu-module-to-binary`` alone.

Both produce ISA text for the FP8 GEMM. ``gpu-module-to-binary`` starts from the module that
``lodestone-to-rocdl`` has lowered and tagged, so it does what ``compile`` does without the
lowering, the alias scopes and the wait checker. The two run in turn, so that a change in the
machine's speed hits both; the ratio is the median over the pairs.

Limit: ``compile`` takes at most 1.3 times as long, not counting the checker's own time.
"""

from __future__ import annotations

import statistics
import time
from typing import Annotated

import lodestone
import typer
from lodestone import ir
from lodestone.kernels.fp8_gemm import fp8_gemm
from lodestone.passmanager import PassManager
from rich.console import Console
from rich.table import Table

LIMIT = 1.3


def lower(text: str, separate_globals: bool) -> str:
    """The module `text`, lowered to the LLVM dialect and tagged for gfx950."""
    with ir.Context() as context:
        module = ir.Module.parse(text, context=context)
        options = f"chip=gfx950 separate-globals={str(separate_globals).lower()}"
        PassManager.parse(
            f"builtin.module(lodestone-to-rocdl{{{options}}},"
            " rocdl-attach-target{chip=gfx950 O=3})"
        ).run(module)
        return str(module)


def seconds_of_peer(lowered: str) -> float:
    """Seconds that ``gpu-module-to-binary`` takes; parsing isn't counted, as in `compile`."""
    with ir.Context() as context:
        module = ir.Module.parse(lowered, context=context)
        passes = PassManager.parse("builtin.module(gpu-module-to-binary{format=isa})")
        start = time.perf_counter()
        passes.run(module)
        return time.perf_counter() - start


def main(
    runs: Annotated[int, typer.Option(help="Pairs to time.")] = 7,
    k: Annotated[int, typer.Option(help="Columns of A and B.")] = 1024,
) -> None:
    """Print the ratios for each LDS form; exit with 1 if one is over its limit."""
    table = Table(title=f"compile against gpu-module-to-binary, fp8_gemm 256x256, K = {k}, ISA")
    for column in ("LDS form", "compile", "of that checker", "peer", "ratio w/o checker", "limit"):
        table.add_column(column, justify="left" if column == "LDS form" else "right")
    over = False
    for form in ("regions", "separate-globals", "static"):
        kernel = fp8_gemm(k=k, form=form)
        text = str(kernel.module)
        options = kernel.compile_options
        lowered = lower(text, bool(options.get("separate_globals")))
        ours, checker, peer, ratios = [], [], [], []
        for _ in range(runs):
            with ir.Context() as context:
                module = ir.Module.parse(text, context=context)
                start = time.perf_counter()
                result = lodestone.compile(module, chip="gfx950", format="isa", **options)
                ours.append(time.perf_counter() - start)
            checker.append(result.modules[0].seconds.check)
            peer.append(seconds_of_peer(lowered))
            ratios.append((ours[-1] - checker[-1]) / peer[-1])
        ratio = statistics.median(ratios)
        over |= ratio > LIMIT
        table.add_row(
            form,
            f"{statistics.median(ours):.3f} s",
            f"{statistics.median(checker) * 1e3:.1f} ms",
            f"{statistics.median(peer):.3f} s",
            f"{ratio:.2f}",
            f"{LIMIT}",
        )
    Console(width=100).print(table)
    raise typer.Exit(1 if over else 0)


if __name__ == "__main__":
    typer.run(main)
