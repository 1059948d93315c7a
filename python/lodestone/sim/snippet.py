"""Run single instructions on a wave of your own: for tests and for trying things out.

wave = snippet.new_wave("gfx950")
wave.R[1][:] = 3
snippet.execute("v_lshlrev_b32 v0, 2, v1", wave)
assert (wave.R[0] == 12).all()
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from .._tools import ToolError, run_tool
from . import elf
from .asm import TRIPLE, Instruction, Program, parse_listing
from .decode import Code, make_step
from .errors import CodeObjectError
from .memory import Memory
from .modes import mode_named
from .wave import Wave
from .workgroup import Workgroup


def instructions(text: str, chip: str = "gfx950") -> list[Instruction]:
    """Assemble lines of instructions without any kernel around them."""
    with tempfile.TemporaryDirectory(prefix="lodestone-sim-") as directory:
        path = Path(directory, "a.o")
        try:
            run_tool(
                "llvm-mc",
                [f"-triple={TRIPLE}", f"-mcpu={chip}", "-filetype=obj", "-o", path],
                stdin=text + "\n",
            )
            listing = run_tool("llvm-objdump", ["-d", f"--mcpu={chip}", path])
        except ToolError as error:
            raise CodeObjectError(str(error)) from error
    return parse_listing(listing, chip)


def new_wave(
    chip: str = "gfx950",
    *,
    mode: str = "E",
    lds_size: int = 4096,
    memory: dict[str, int] | None = None,
    waves: int = 1,
) -> Wave:
    """A wave (the first of `waves`) with poisoned registers, LDS and `memory` (name -> bytes)."""
    program = Program(chip, elf.CodeObject(chip, []), [], {})
    code = Code(program, mode_named(mode))
    group = Workgroup(code, Memory(memory or {}), lds_size, waves, scratch_bytes=256)
    return group.waves[0]


def execute(text: str | list[Instruction], wave: Wave) -> None:
    """Execute a straight run of instructions (no branches, barriers or end)."""
    chip = wave.group.code.program.chip
    chosen = instructions(text, chip) if isinstance(text, str) else text
    with np.errstate(all="ignore"):
        for inst in chosen:
            make_step(inst)(wave)
