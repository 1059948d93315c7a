"""What the inverse swizzle and LDS-DMA do to the code of two kernels, without a GPU.

A copy of a 64x64 f16 tile through LDS, against Triton's code for the same (its wheel compiles for
gfx950 without a GPU; `make bench` installs it beside our environment): instructions, lane shuffles.
And `kv_tile_load` in its three forms, one source and three pipelines: instructions of the loop,
LDS stores, waits, llvm-mca's cycles, spills, and the cycles that readers lose to bank conflicts,
counted by the simulator.

Limits: no lane shuffle; swizzled no more instructions than Triton's flat copy; no LDS store in the
DMA form; no spill; no conflict of a swizzled tile's readers.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import lodestone
import typer
from lodestone import ir, sim
from lodestone.kernels._builder import Int
from lodestone.kernels._kernel import Kernel
from lodestone.kernels._tile_builder import LDS_SPACE, TileBuilder
from lodestone.kernels.kv_tile_load import FORMS, ElementType, kv_tile_load
from lodestone.report import figures
from lodestone.report.figures import histogram
from lodestone.report.isa import Function, parse_function
from rich.console import Console
from rich.table import Table

PEER = Path(__file__).with_name("peers") / "triton_copy.py"
PEER_PYTHON = Path("build/venv-peers/bin/python")
SWIZZLE = "#lds.xor<bits = 3, base = 4, shift = 3>"
SHUFFLES = ("ds_bpermute", "ds_permute", "ds_swizzle", "v_permlane")


def copy_module(swizzled: bool, waves: int) -> str:
    """A module that copies a 64x64 f16 tile to LDS and from there to global memory."""
    cell, threads = "vector<8xf16>", 64 * waves
    with ir.Context(), ir.Location.unknown():
        module, builder = ir.Module.create(), TileBuilder()
        tile = "memref<64x64xf16>"
        with (
            ir.InsertionPoint(module.body),
            builder.gpu_module("copies"),
            builder.kernel("copy", [tile, tile], (threads, 1, 1), noalias=[1]) as (source, target),
        ):
            lds = builder.memref_region(
                "tile", f"memref<64x64xf16, {LDS_SPACE}>", 0, SWIZZLE if swizzled else ""
            )
            thread = builder.thread()
            places: list[tuple[Int, Int]] = [
                (thread // 8 + i * (threads // 8), thread % 8 * 8) for i in range(8 // waves)
            ]
            for place in places:
                builder.write(builder.read(source, place, cell), lds, place)
            builder.commit_group()
            builder.wait_group(0)
            builder.lds_barrier()
            for place in places:
                builder.write(builder.read(lds, place, cell), target, place)
        return str(module)


def triton_copies() -> dict[str, str]:
    """Triton's assembly by variant, and its version; empty if it isn't installed."""
    if not PEER_PYTHON.exists():
        return {}
    run = subprocess.run([PEER_PYTHON, PEER], capture_output=True, text=True, check=True)
    result: dict[str, str] = json.loads(run.stdout)
    return result


def count(function: Function, prefixes: tuple[str, ...]) -> int:
    """Instructions whose mnemonic starts with one of `prefixes`."""
    return sum(x.mnemonic.startswith(prefixes) for x in function.instructions)


def copies() -> tuple[Table, bool]:
    """The copy of a tile, ours and Triton's; whether a limit is broken."""
    peer = triton_copies()
    version = peer.get("version", "not installed: `make bench` installs it")
    table = Table(title=f"64x64 f16 through LDS, gfx950 (Triton {version})", title_justify="left")
    for column in ("compiler", "waves", "LDS"):
        table.add_column(column)
    for column in ("instructions", "lane shuffles", "LDS-DMAs", "LDS stores"):
        table.add_column(column, justify="right")
    broken = False
    for waves in (1, 4):
        lengths = {}
        for kind in ("flat", "swizzled"):
            text = copy_module(kind == "swizzled", waves)
            options = {"bare_pointers": True, "index_bitwidth": 32, **FORMS["direct"]}
            ours = lodestone.compile(text, chip="gfx950", format="isa", **options).isa
            sources = {"Lodestone": ours}
            if f"{kind} {waves}" in peer:
                sources["Triton"] = peer[f"{kind} {waves}"]
            for compiler, isa in sources.items():
                function = parse_function(isa)
                shuffles, stores = count(function, SHUFFLES), count(function, ("ds_write",))
                lengths[compiler, kind] = len(function.instructions)
                dmas = sum(x.is_lds_dma for x in function.instructions)
                numbers = (len(function.instructions), shuffles, dmas, stores)
                table.add_row(compiler, str(waves), kind, *map(str, numbers))
                broken |= compiler == "Lodestone" and bool(shuffles or stores)
        if peer:
            broken |= lengths["Lodestone", "swizzled"] > lengths["Triton", "flat"]
    return table, broken


def conflicts(kernel: Kernel, code: bytes) -> int:
    """Cycles that the MFMA fragments' reads lose to bank conflicts, in one workgroup."""
    sizes = {name: limit for name, (_, limit) in kernel.dimensions.items()} | {"group": 4}
    arguments, launch = kernel.inputs(**sizes), kernel.launch(**sizes)
    result = sim.run(
        code,
        grid=launch.grid,
        args=[arguments[argument.name] for argument in kernel.arguments],
        dynamic_lds=launch.dynamic_lds,
    )
    reads = [b for b in result.bank_conflicts if "ds_read" in b.instruction]
    lost = [b.extra_cycles for b in reads]
    assert reads and None not in lost, "the phases of ds_read_b128 are published"
    return sum(cycles or 0 for cycles in lost)


def forms(head_dim: int, dtype: ElementType) -> tuple[Table, bool]:
    """The three forms of `kv_tile_load`; whether a limit is broken."""
    table = Table(
        title=f"kv_tile_load with MFMA readers, {head_dim} columns, {dtype}, gfx950",
        title_justify="left",
        caption="Conflicts: cycles that readers lose in one workgroup, by the bytes of the swizzle."
        " llvm-mca models one wave and no memory: nothing here is measured on a GPU.",
        caption_justify="left",
    )
    # As much as a row, or as all 64 banks if a row is longer, takes all conflicts.
    row_bytes = head_dim * (1 if dtype == "fp8" else 2)
    enough = min(256, max(128, row_bytes))
    swizzles = sorted({0, 128, enough})
    table.add_column("form")
    for column in (
        "instr.", "of loop", "LDS-DMAs", "LDS stores", "vmcnt waits", "of loop", "mca, loop",
        "VGPRs", "spills", *(f"conflicts, {n}" for n in swizzles),
    ):  # fmt: skip
        table.add_column(column, justify="right")
    broken = False
    for name, options in FORMS.items():
        lost = {}
        for swizzle in swizzles:
            # With 64 tiles LLVM keeps the loop.
            kernel = kv_tile_load(head_dim, dtype, rows=32, tiles=64, swizzle=swizzle,
                                  q_swizzle=swizzle, result="scores")  # fmt: skip
            compiled = lodestone.compile(kernel, **options)
            lost[swizzle] = conflicts(kernel, compiled.code_object)
        x, function = figures(compiled.isa, "gfx950"), parse_function(compiled.isa)
        assert x.loop_cycles is not None, "the kernel has a loop with MFMAs"
        stores = count(function, ("ds_write",))
        numbers = (x.instructions, len(function.steady_state), x.lds_dmas, stores)
        table.add_row(
            name, *map(str, numbers), histogram(x.waits), histogram(x.loop_waits),
            f"{x.loop_cycles:.0f}", str(x.vgprs), str(x.spills), *(str(n) for n in lost.values()),
        )  # fmt: skip
        broken |= bool(x.spills or lost[enough]) or (name == "direct" and stores > 0)
    return table, broken


def main() -> None:
    """Print the figures; exit with 1 if one is over its limit."""
    console = Console(width=150)
    broken = False
    for table, over in (copies(), forms(64, "f16"), forms(128, "f16"), forms(128, "fp8")):
        console.print(table)
        broken |= over
    raise typer.Exit(1 if broken else 0)


if __name__ == "__main__":
    typer.run(main)
