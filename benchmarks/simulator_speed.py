"""Speed of the simulator on one workgroup of the FP8 GEMM, 256x256x512.

The first run decodes; the others find the decoded program. The time of a run is processor time of
this process, so that other work on the machine matters little; the best of several counts.

Limits: 5 us per executed instruction in mode E, 0.2 s for the workgroup, and 3 s for all modes in
the orders forward, reverse and two seeds together.
"""

from __future__ import annotations

import time
from typing import Annotated

import lodestone
import typer
from lodestone import sim
from lodestone.kernels.fp8_gemm import fp8_gemm
from rich.console import Console
from rich.table import Table

M, N, K = 256, 256, 512
ORDERS: tuple[str | int, ...] = ("forward", "reverse", 1, 2)
PER_INSTRUCTION, ONE_RUN, ALL_RUNS = 5e-6, 0.2, 3.0


def main(
    runs: Annotated[int, typer.Option(help="Runs in mode E, of which the best counts.")] = 5,
) -> None:
    """Print the times; exit with 1 if one is over its limit."""
    kernel = fp8_gemm(M, N, k=K)
    program = sim.load(lodestone.compile(kernel, chip="gfx950").code_object)
    inputs, launch = kernel.inputs(m=M, n=N), kernel.launch(m=M, n=N)
    args = [inputs[a.name] for a in kernel.arguments]

    def run(mode: str, order: str | int) -> tuple[float, sim.Result]:
        start = time.process_time()
        result = sim.run(program, grid=launch.grid, block=launch.block, args=args,
                         dynamic_lds=launch.dynamic_lds, mode=mode, order=order)  # fmt: skip
        return time.process_time() - start, result

    first, result = run("E", "forward")
    best = min(run("E", "forward")[0] for _ in range(runs))
    everything = sum(run(mode, order)[0] for mode in "ERW" for order in ORDERS)
    per_instruction = best / result.instructions
    table = Table(title=f"simulator, one workgroup of fp8_gemm {M}x{N}x{K}, processor time")
    for column in ("what", "measured", "limit"):
        table.add_column(column, justify="left" if column == "what" else "right")
    table.add_row("instructions", str(result.instructions), "")
    table.add_row("first run, with decoding", f"{first:.3f} s", "")
    table.add_row("mode E", f"{best:.3f} s", f"{ONE_RUN} s")
    table.add_row("mode E, per instruction", f"{1e6 * per_instruction:.2f} us", "5 us")
    table.add_row(f"3 modes in {len(ORDERS)} orders", f"{everything:.2f} s", f"{ALL_RUNS} s")
    Console().print(table)
    if per_instruction > PER_INSTRUCTION or best > ONE_RUN or everything > ALL_RUNS:
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
