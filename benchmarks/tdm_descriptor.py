"""Instructions that the descriptor of a TDM copy takes, against Triton's code for the same copy.

Both load a 256x64 block of a 4096x1024 f16 tensor on gfx1250, at rows that depend on the
workgroup, on warps 0 to 3 of 8 (hint 0x0f), wait, and pass a barrier. Both are told that there
are no clusters of workgroups, as Triton always tells LLVM. What is counted is the arithmetic
of the scalar and vector units from the kernel's entry on; there is no GPU in this.

Limit: as many scalar instructions as Triton's, no vector instruction.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import lodestone
import typer
from rich.console import Console
from rich.table import Table

PEER = Path(__file__).parent / "peers" / "triton_tdm_copy.py"

OURS = """
gpu.module @m {
  gpu.func @copy(%source: memref<4096x1024xf16>) kernel attributes {
      known_block_size = array<i32: 256, 1, 1>,
      passthrough = [["amdgpu-cluster-dims", "1,1,1"]]} {
    %c0 = arith.constant 0 : index
    %rows = arith.constant 256 : index
    %number = gpu.block_id x
    %row = arith.muli %number, %rows : index
    %block = lds.region @block : memref<256x64xf16, #gpu.address_space<workgroup>>
    tdm.load %source[%row, %c0] to %block hint(0x0f : i32)
      : memref<4096x1024xf16> to memref<256x64xf16, #gpu.address_space<workgroup>>
    tdm.wait 0
    gpu.barrier
    gpu.return
  }
}
"""

# Scalar instructions that compute nothing.
NO_ARITHMETIC = r"s_(wait|delay_alu|barrier|endpgm|clause|load|setreg|nop)"


def count(assembly: str) -> tuple[int, int]:
    """Scalar and vector instructions of arithmetic in the kernel `copy`."""
    body = assembly[assembly.index("\ncopy:") :]
    names = re.findall(r"^\s+([sv]_\w+)", body[: body.index("s_endpgm")], re.MULTILINE)
    scalar = [n for n in names if n[0] == "s" and not re.match(NO_ARITHMETIC, n)]
    vector = [n for n in names if n[0] == "v" and n != "v_nop"]
    return len(scalar), len(vector)


def main(
    python: Annotated[Path, typer.Option(help="Python of the environment that has Triton.")] = Path(
        "build/venv-peers/bin/python"
    ),
) -> None:
    """Print both counts; exit with 1 if one of ours is over its limit."""
    code = lodestone.compile(OURS, chip="gfx1250", format="isa", bare_pointers=True).isa
    peer = subprocess.run([python, PEER], capture_output=True, text=True, check=False)
    if peer.returncode:
        sys.exit(f"{python} {PEER}: exit code {peer.returncode}\n{peer.stderr}")
    ours, theirs = count(code), count(peer.stdout)
    table = Table(title="256x64 f16 with hint 0x0f, gfx1250: instructions")
    table.add_column("")
    for column in ("Lodestone", "Triton 3.9.0", "limit"):
        table.add_column(column, justify="right")
    table.add_row("scalar", str(ours[0]), str(theirs[0]), str(theirs[0]))
    table.add_row("vector", str(ours[1]), str(theirs[1]), "0")
    Console(width=100).print(table)
    raise typer.Exit(1 if ours[0] > theirs[0] or ours[1] else 0)


if __name__ == "__main__":
    typer.run(main)
