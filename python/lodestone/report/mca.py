"""llvm-mca's estimate of a stretch of straight-line code."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lodestone._tools import run_tool
from lodestone.report.isa import Instruction

# What belongs next to each figure of MFMA code: llvm-mca's model of gfx950 gives an f8f6f4
# MFMA the same cycles whatever its operands' width, where 8 bits take twice those of 4.
F8F6F4_CAVEAT = (
    "llvm-mca gives f8f6f4 MFMAs on 8-bit operands half of their true cycles, "
    "and models one wave; nothing here is measured"
)


def loop_cycles(instructions: Sequence[Instruction], chip: str, iterations: int = 20) -> float:
    """Return the cycles of one iteration, by llvm-mca.

    Args:
        instructions: the body; its branch is taken to fall through.
        chip: "gfx950".
        iterations: how many the model runs; the figure is their average.

    Raises:
        ToolError: llvm-mca is missing or rejects the code.
    """
    body = [x.text for x in instructions if x.branch_target is None]
    output = run_tool(
        "llvm-mca",
        [
            "-mtriple=amdgcn-amd-amdhsa",
            f"-mcpu={chip}",
            f"-iterations={iterations}",
            "-instruction-info=0",
            "-resource-pressure=0",
        ],
        stdin="\n".join(body) + "\n",
    )
    found = re.search(r"^Total Cycles:\s+(\d+)", output, re.MULTILINE)
    assert found is not None, "llvm-mca always prints its summary"
    return int(found[1]) / iterations
