"""A static cost report of a kernel's main loop: what the matrix cores and LDS have to do.

Cycles of matrix instructions are the ISA text's; LDS cycles are the published phases of an access
(bank conflicts come on top; a run counts them). There is no timing here: nothing overlaps,
stalls or waits. The ratio tells which of the two a loop can't go faster than.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from . import banks, ops_lds, ops_mfma
from .asm import LANES, Instruction, Program

# SIMDs of a compute unit; each has a matrix core, all share the LDS.
SIMDS = 4
# Bytes that LDS takes in a cycle when memory is loaded to it.
FILL_BYTES = 128


@dataclass(frozen=True)
class Cost:
    """Cost of one pass through a stretch of code, for one wave.

    Attributes:
        first, last: byte addresses of the stretch; a loop when `loop` is true.
        matrix_cycles: cycles of its SIMD's matrix core.
        lds_read_cycles, lds_write_cycles: LDS cycles without conflicts; None when an access has
            no published phases.
        fill_bytes: bytes that loads to LDS bring, `fill_cycles` the LDS cycles for them.
        vector_memory: vector memory instructions, loads to LDS included.
    """

    first: int
    last: int
    loop: bool
    instructions: int
    matrix: int
    matrix_cycles: int
    lds_reads: int
    lds_read_cycles: int | None
    lds_writes: int
    lds_write_cycles: int | None
    fills: int
    fill_bytes: int
    fill_cycles: int
    vector_memory: int
    waits: int
    barriers: int

    def lds_share(self, waves: int) -> float | None:
        """LDS cycles of `waves` waves over the matrix cycles that their SIMDs need.

        Above 1, LDS bounds the loop; None without matrix instructions or published phases.
        """
        if not self.matrix_cycles or self.lds_read_cycles is None or self.lds_write_cycles is None:
            return None
        lds = self.lds_read_cycles + self.lds_write_cycles + self.fill_cycles
        return lds * waves / (self.matrix_cycles * math.ceil(waves / SIMDS))

    def to_json(self) -> dict[str, Any]:
        """The fields as plain data."""
        return asdict(self)


def loops(program: Program) -> Iterator[tuple[int, int]]:
    """First and last instruction index of each backward branch's stretch."""
    for inst in program.instructions:
        if inst.mnemonic == "s_branch" or inst.mnemonic.startswith("s_cbranch_"):
            distance = inst.words[0] & 0xFFFF
            distance -= (distance & 0x8000) << 1
            target = program.at_address.get(inst.address + 4 + 4 * distance)
            if target is not None and target <= inst.index:
                yield target, inst.index


def main_loop(program: Program) -> Cost:
    """The cost of the loop with most matrix and LDS work, or of all code when there is no loop."""
    stretches = [stretch_cost(program, first, last, loop=True) for first, last in loops(program)]
    stretches = [s for s in stretches if s.matrix or s.lds_reads or s.lds_writes or s.fills]
    if not stretches:
        end = next(
            (i.index for i in program.instructions if i.mnemonic == "s_endpgm"),
            len(program.instructions) - 1,
        )
        return stretch_cost(program, 0, end, loop=False)
    # The innermost of nested loops has the same work in fewer instructions.
    return max(stretches, key=lambda s: (s.matrix_cycles, s.lds_reads + s.fills, -s.instructions))


def stretch_cost(program: Program, first: int, last: int, *, loop: bool) -> Cost:
    """The cost of the instructions `first` to `last`."""
    chosen = program.instructions[first : last + 1]
    lanes = LANES[program.chip]
    counts: Counter[str] = Counter()
    cycles: dict[str, int | None] = {"read": 0, "write": 0}
    fill_bytes = matrix_cycles = 0
    for inst in chosen:
        kind = _kind(inst)
        counts[kind] += 1
        if kind == "matrix":
            matrix_cycles += ops_mfma.cycles(inst) or 0
        elif kind in cycles:
            cycles[kind] = _add(cycles[kind], _lds_cycles(program.chip, inst, kind))
        elif kind == "fill":
            fill_bytes += lanes * _fill_width(inst)
    return Cost(
        first=chosen[0].address,
        last=chosen[-1].address,
        loop=loop,
        instructions=len(chosen),
        matrix=counts["matrix"],
        matrix_cycles=matrix_cycles,
        lds_reads=counts["read"],
        lds_read_cycles=cycles["read"],
        lds_writes=counts["write"],
        lds_write_cycles=cycles["write"],
        fills=counts["fill"],
        fill_bytes=fill_bytes,
        fill_cycles=fill_bytes // FILL_BYTES,
        vector_memory=counts["fill"] + counts["vmem"],
        waits=counts["wait"],
        barriers=counts["barrier"],
    )


def _kind(inst: Instruction) -> str:
    name = inst.mnemonic
    if ops_mfma.is_matrix(name):
        return "matrix"
    if name in ops_lds.READS:
        return "read"
    if name in ops_lds.WRITES:
        return "write"
    if "lds" in inst.modifiers or "_lds_" in name or "_to_lds" in name:
        return "fill"
    if name.startswith(("buffer_", "global_", "scratch_")):
        return "vmem"
    if name.startswith("s_wait"):
        return "wait"
    return "barrier" if name in ("s_barrier", "s_barrier_wait") else "other"


def _add(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


def _lds_cycles(chip: str, inst: Instruction, direction: str) -> int | None:
    access = (ops_lds.READS if direction == "read" else ops_lds.WRITES)[inst.mnemonic]
    phases = banks.PHASES.get((chip, direction, max(4, access.unit * access.count)))
    return None if phases is None else len(phases) * access.addresses


def _fill_width(inst: Instruction) -> int:
    """Bytes a lane of a load to LDS; 0 for a tensor load, whose size is in its descriptor."""
    name = inst.mnemonic
    for suffix, size in (("x4", 16), ("x3", 12), ("b128", 16), ("b64", 8), ("b8", 1)):
        if name.endswith(suffix):
            return size
    return 0 if name.startswith("tensor_") else 4
