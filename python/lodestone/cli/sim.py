"""``lodestone sim``: run a code object on the ISA simulator."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import ml_dtypes
import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from lodestone import sim
from lodestone._tools import ToolError
from lodestone.cli._common import EXIT_FINDINGS, EXIT_INPUT, EXIT_MISSING_TOOL, progress
from lodestone.sim import cost
from lodestone.sim.modes import Order

EPILOG = """
[bold]Arguments[/bold]: one --arg for each of the kernel's: file.npy; zeros:DTYPE:SHAPE;
random:DTYPE:SHAPE (normal, or any bits for integers); a number; DTYPE:NUMBER

[bold]Examples[/bold]

lodestone sim copy.hsaco --arg random:u32:4096 --arg zeros:u32:4096 --arg 4 --dynamic-lds 8192

lodestone sim gemm.s --grid 4,4 --arg a.npy --arg b.npy --arg zeros:bf16:1024x1024 --mode R --json
"""
DTYPES: dict[str, Any] = {
    "f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
    "fp8": ml_dtypes.float8_e4m3fn, "bf8": ml_dtypes.float8_e5m2,
    **{f"{k}{b}": np.dtype(f"{n}{b}") for k, n in (("i", "int"), ("u", "uint"))
       for b in (8, 16, 32, 64)},
}  # fmt: skip


def parse_argument(text: str, seed: int = 0) -> Any:
    """The value of one --arg.

    Raises:
        ValueError: it is none of the forms in the help, or a dtype is unknown.
    """
    if text.endswith(".npy"):
        return np.load(text)
    head, _, rest = text.partition(":")
    if head in ("zeros", "random"):
        dtype_name, _, shape_text = rest.partition(":")
        shape = tuple(int(n) for n in shape_text.split("x"))
        dtype = np.dtype(_dtype(dtype_name))
        if head == "zeros":
            return np.zeros(shape, dtype)
        generator = np.random.default_rng(seed)
        if dtype.kind in "iu":
            return np.frombuffer(
                generator.bytes(int(np.prod(shape)) * dtype.itemsize), dtype
            ).reshape(shape)
        return generator.standard_normal(shape).astype(dtype)
    if rest:
        return np.dtype(_dtype(head)).type(float(rest) if "." in rest else int(rest, 0))
    try:
        return int(text, 0)
    except ValueError:
        return float(text)


def _dtype(name: str) -> Any:
    if name not in DTYPES:
        raise ValueError(f"dtype {name} is not one of {', '.join(DTYPES)}")
    return DTYPES[name]


def _dimensions(text: str) -> tuple[int, ...]:
    return tuple(int(n) for n in text.split(","))


def _same(one: sim.Result, other: sim.Result) -> bool:
    return all(
        a is None or b is None or a.tobytes() == b.tobytes()
        for a, b in zip(one.outputs, other.outputs, strict=True)
    )


def simulate(
    path: Path,
    *,
    modes: list[str],
    orders: list[Order],
    options: dict[str, Any],
) -> tuple[list[sim.Result], cost.Cost, list[str]]:
    """Run `path` in each mode and order.

    Returns:
        The results, the main loop's cost, and the runs whose numbers differ from the first's.
    """
    program = sim.load(path, options.pop("chip"))
    results = [
        sim.run(program, mode=mode, order=order, check=False, **options)
        for mode in modes
        for order in orders
    ]
    different = [
        f"mode {r.mode}, order {r.order}: outputs differ from mode {results[0].mode}, "
        f"order {results[0].order}"
        for r in results[1:]
        if not r.error and not results[0].error and not _same(r, results[0])
    ]
    return results, cost.main_loop(program), different


def register(app: typer.Typer) -> None:
    """Adds the command."""

    @app.command("sim", epilog=EPILOG)
    def command(
        kernel: Annotated[Path, typer.Argument(help="Code object or assembly.")],
        arg: Annotated[list[str] | None, typer.Option(help="Argument; see below.")] = None,
        grid: Annotated[str, typer.Option(help="Workgroups, such as 4,4.")] = "1",
        block: Annotated[str, typer.Option(help="Work items; default: what it demands.")] = "",
        cluster: Annotated[str, typer.Option(help="Workgroups per cluster, gfx1250.")] = "",
        dynamic_lds: Annotated[int, typer.Option(help="Bytes of dynamic LDS.")] = 0,
        mode: Annotated[list[str] | None, typer.Option(help="E, R, W; default all.")] = None,
        order: Annotated[
            list[str] | None, typer.Option(help="forward, reverse or a seed; default both and 1.")
        ] = None,
        name: Annotated[str, typer.Option(help="The kernel, when there are several.")] = "",
        chip: Annotated[str, typer.Option(help="For assembly without a target line.")] = "",
        seed: Annotated[int, typer.Option(help="Of random arguments.")] = 0,
        save: Annotated[Path | None, typer.Option(help="Write output arrays here (.npz).")] = None,
        as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
    ) -> None:
        """Run a kernel on the ISA simulator; exit with 1 on a race or on different numbers."""
        try:
            options = {
                "grid": _dimensions(grid),
                "block": _dimensions(block) if block else None,
                "cluster": _dimensions(cluster) if cluster else None,
                "args": [parse_argument(text, seed + i) for i, text in enumerate(arg or [])],
                "dynamic_lds": dynamic_lds,
                "name": name or None,
                "chip": chip or None,
            }
            orders = [o if o in ("forward", "reverse") else int(o)
                      for o in order or ["forward", "reverse", "1"]]  # fmt: skip
            with progress(f"running {kernel}"):
                results, loop, different = simulate(
                    kernel, modes=mode or ["E", "R", "W"], orders=orders, options=options
                )
        except ToolError as error:
            print(f"error: {error}", file=sys.stderr)
            raise typer.Exit(EXIT_MISSING_TOOL) from error
        except (sim.SimulationError, ValueError, OSError) as error:
            print(f"error: {error}", file=sys.stderr)
            raise typer.Exit(EXIT_INPUT) from error
        if save is not None:
            arrays = {f"arg{i}": a for i, a in enumerate(results[0].outputs) if a is not None}
            np.savez(save, **arrays)  # type: ignore[arg-type]
        if as_json:
            print(
                json.dumps(
                    {
                        "runs": [r.to_json() for r in results],
                        "main_loop": loop.to_json(),
                        "different": different,
                    },
                    indent=2,
                )
            )
        else:
            _show(results, loop, different)
        if different or not all(r.ok for r in results):
            raise typer.Exit(EXIT_FINDINGS)


def _show(results: list[sim.Result], loop: cost.Cost, different: list[str]) -> None:
    console = Console()
    table = Table(title="Runs")
    for heading in ("mode", "order", "instructions", "seconds", "errors", "warnings"):
        table.add_column(heading, justify="right")
    for r in results:
        table.add_row(
            r.mode, str(r.order), str(r.instructions), f"{r.seconds:.3f}",
            str(len(r.errors)), str(len(r.warnings)),
        )  # fmt: skip
    console.print(table)
    seen = set()
    for result in results:
        if result.error:
            console.print(f"stopped: {result.error}", markup=False)
        for finding in result.findings:
            key = (finding.kind, finding.pc, finding.other_pc)
            if key not in seen:
                seen.add(key)
                console.print(str(finding), markup=False, soft_wrap=True)
    for line in different:
        console.print(f"error: {line}", markup=False)
    conflicts = [b for b in results[0].bank_conflicts if b.extra_cycles]
    banks = Table(title="Bank conflicts (cycles lost)") if conflicts else None
    if banks is not None:
        for heading in ("pc", "instruction", "executed", "cycles"):
            banks.add_column(heading)
        for b in conflicts:
            banks.add_row(hex(b.pc), b.instruction, str(b.executed), str(b.extra_cycles))
        console.print(banks)
    console.print(loop_table(loop, results[0].waves))


def loop_table(loop: cost.Cost, waves: int) -> Table:
    """The main loop's cost as a table; nothing in it is measured."""
    what = "Main loop" if loop.loop else "Whole kernel (it has no loop)"
    table = Table(title=f"{what}, pc {loop.first:#x} to {loop.last:#x}, per wave; static")
    table.add_column("")
    table.add_column("instructions", justify="right")
    table.add_column("cycles", justify="right")
    table.add_row("matrix", str(loop.matrix), str(loop.matrix_cycles))
    table.add_row("LDS reads", str(loop.lds_reads), _number(loop.lds_read_cycles))
    table.add_row("LDS writes", str(loop.lds_writes), _number(loop.lds_write_cycles))
    table.add_row("loads to LDS", str(loop.fills), str(loop.fill_cycles))
    table.add_row("all", str(loop.instructions), "")
    share = loop.lds_share(waves)
    if share is not None:
        table.add_row(f"LDS : matrix, {waves} waves", "", f"{share:.2f}")
    return table


def _number(cycles: int | None) -> str:
    return "not published" if cycles is None else str(cycles)
