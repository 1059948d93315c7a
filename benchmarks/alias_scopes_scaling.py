"""How lds-attach-alias-scopes grows, against `cse` on the same module in the same run.

Generates kernels of 10^3 to 10^6 operations of the LLVM dialect: rounds of address
arithmetic, DMAs and LDS reads, in one block or in many, over 2 to 256 regions. For each it
runs `cse` and then the pass, single-threaded, and reads both times from -mlir-timing. The
growth is the exponent p of time ~ operations^p between neighbouring sizes. Memory is the
peak of the whole run against the peak of a run that only parses the module.

First comes the FP8 GEMM, forty copies of it, since one takes less than a millisecond.
"""

from __future__ import annotations

import math
import os
import re
import resource
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from lodestone import ir
from lodestone.kernels.fp8_gemm import fp8_gemm
from lodestone.passmanager import PassManager
from rich.console import Console
from rich.table import Table

OPERATIONS_PER_ROUND = 10


@dataclass
class Figures:
    """The result for one module."""

    operations: int
    regions: int
    shape: str
    cse_seconds: float
    pass_seconds: float
    parse_kilobytes: int
    peak_kilobytes: int


def generate(operations: int, regions: int, blocks: bool) -> str:
    """A kernel of about that many operations whose DMAs go around `regions` regions."""
    out = [
        'gpu.module @m [#rocdl.target<chip = "gfx950">] {',
        "llvm.mlir.global external @lds() {addr_space = 3 : i32, alignment = 1024 : i64}"
        " : !llvm.array<0 x i8>",
        "llvm.func @k(%src: !llvm.ptr<8>, %any: i32, %flag: i1) attributes {rocdl.kernel} {",
        "%lds = llvm.mlir.addressof @lds : !llvm.ptr<3>",
        "%t = rocdl.workitem.id.x : i32",
    ]
    out += [f"%c{n} = llvm.mlir.constant({n} : i32) : i32" for n in (0, 4, 63)]
    for i in range(regions):
        out.append(
            f"%b{i} = llvm.getelementptr %lds[{i * 256}] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8"
        )
        out.append(f"rocdl.raw.ptr.buffer.load.lds %src, %b{i}, %c4, %c0, %c0, %c0, %c0")
    for n in range(max(1, operations // OPERATIONS_PER_ROUND)):
        i, j = n % regions, (n + 1) % regions
        if blocks and n:
            out += [f"llvm.br ^bb{n}", f"^bb{n}:"]
        out += [
            f"%k{n} = llvm.mlir.constant({n} : i32) : i32",
            f"%x{n} = llvm.xor %t, %k{n} : i32",
            f"%y{n} = llvm.and %x{n}, %c63 : i32",
            f"%p{n} = llvm.getelementptr %b{i}[%y{n}] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32",
            f"rocdl.raw.ptr.buffer.load.lds %src, %b{j}, %c4, %k{n}, %c0, %c0, %c0",
            f"%v{n} = llvm.load %p{n} : !llvm.ptr<3> -> i32",
            f"%w{n} = llvm.add %v{n}, %k{n} : i32",
            f"%z{n} = llvm.mul %w{n}, %x{n} : i32",
            f"llvm.store %z{n}, %p{n} : i32, !llvm.ptr<3>",
        ]
        if not blocks:
            out.append(f"%u{n} = llvm.add %z{n}, %k{n} : i32")
    out += ["llvm.return", "}", "}"]
    return "\n".join(out)


def run(path: Path, passes: str) -> tuple[str, int]:
    """Runs lodestone-opt; returns its timing report and its peak memory in kilobytes."""
    command = [
        "lodestone-opt",
        str(path),
        f"--pass-pipeline=builtin.module({f'gpu.module({passes})' if passes else ''})",
        "--mlir-disable-threading",
        # After a pass that changed something MLIR counts the verifier in its time.
        "--verify-each=false",
        "--mlir-timing",
        "--mlir-timing-display=list",
        "-o",
        "/dev/null",
    ]
    with tempfile.TemporaryFile("w+") as report:
        process = subprocess.Popen(command, stderr=report)
        _, status, usage = _wait(process)
        if status != 0:
            raise SystemExit(f"lodestone-opt failed on {path}")
        report.seek(0)
        return report.read(), usage.ru_maxrss


def _wait(process: subprocess.Popen[bytes]) -> tuple[int, int, resource.struct_rusage]:
    pid, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return pid, status, usage


def seconds_of(report: str, name: str) -> float:
    """The wall time of the entry `name` in a timing report."""
    match = re.search(rf"^\s*([\d.]+) \(\s*[\d.]+%\)\s+{name}$", report, re.MULTILINE)
    if not match:
        raise SystemExit(f"no time of {name} in the report:\n{report}")
    return float(match[1])


def gemms(copies: int) -> str:
    """Copies of fp8_gemm in the LLVM dialect, without scopes."""
    with ir.Context():
        module = fp8_gemm().module
        PassManager.parse("builtin.module(lodestone-to-rocdl{chip=gfx950 alias-scopes=false})").run(
            module
        )
        text = str(module.body.operations[0])
    return "\n".join(
        text.replace("gpu.module @fp8_gemm_module", f"gpu.module @gemm{n}", 1)
        for n in range(copies)
    )


def measure(text: str, operations: int, regions: int, shape: str, repeats: int) -> Figures:
    """The best of some runs, which is the least disturbed one."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "kernel.mlir"
        path.write_text(text)
        _, parse = run(path, "")
        best = Figures(operations, regions, shape, math.inf, math.inf, parse, 0)
        for _ in range(repeats):
            report, _ = run(path, "cse,lds-attach-alias-scopes")
            best.cse_seconds = min(best.cse_seconds, seconds_of(report, "CSE"))
            best.pass_seconds = min(best.pass_seconds, seconds_of(report, "LDSAttachAliasScopes"))
        _, best.peak_kilobytes = run(path, "lds-attach-alias-scopes")
        return best


def show(title: str, rows: list[Figures], by: str) -> None:
    """Prints a table; the growth is per operation or per region."""
    table = Table(title=title)
    for column in ("operations", "regions", "shape", "cse", "pass", "pass/cse", "growth", "memory"):
        table.add_column(column, justify="right", no_wrap=True)
    last: Figures | None = None
    for row in rows:
        growth = ""
        if last and last.shape == row.shape:
            factor = getattr(row, by) / getattr(last, by)
            if last.pass_seconds > 0 and row.pass_seconds > 0:
                growth = f"{math.log(row.pass_seconds / last.pass_seconds) / math.log(factor):.2f}"
        ratio = row.pass_seconds / row.cse_seconds if row.cse_seconds else math.nan
        table.add_row(
            f"{row.operations:,}",
            str(row.regions),
            row.shape,
            f"{row.cse_seconds * 1e3:.1f} ms",
            f"{row.pass_seconds * 1e3:.1f} ms",
            f"{ratio:.2f}",
            growth,
            f"{row.peak_kilobytes / row.parse_kilobytes:.2f}x",
        )
        last = row
    Console(width=100).print(table)


def main(
    largest: Annotated[int, typer.Option(help="Operations of the largest module.")] = 1_000_000,
    repeats: Annotated[int, typer.Option(help="Runs of each module; the best counts.")] = 3,
) -> None:
    """Prints how the pass grows with the operations and with the regions of a kernel."""
    text = gemms(40)
    show("fp8_gemm", [measure(text, text.count("\n"), 8, "gemm", repeats)], "operations")
    sizes = [10**e for e in range(3, 7) if 10**e <= largest]
    for blocks in (False, True):
        shape = "blocks" if blocks else "straight"
        rows = [measure(generate(size, 8, blocks), size, 8, shape, repeats) for size in sizes]
        show(f"operations, {'many blocks' if blocks else 'one block'}", rows, "operations")
    regions = [2, 4, 16, 64, 256]
    size = min(largest, 100_000)
    show(
        "regions",
        [measure(generate(size, n, False), size, n, "straight", repeats) for n in regions],
        "regions",
    )


if __name__ == "__main__":
    typer.run(main)
