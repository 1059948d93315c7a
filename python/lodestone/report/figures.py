"""All static figures of one kernel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lodestone.report.drains import EarlyDrains, early_drains
from lodestone.report.isa import Instruction, parse_function
from lodestone.report.mca import loop_cycles


@dataclass(frozen=True)
class Figures:
    """What the assembly of a kernel says; nothing in here is measured on a GPU.

    Attributes:
        name: the kernel.
        instructions: how many.
        mfmas: matrix instructions of those.
        lds_dmas: LDS-DMA instructions of those.
        lds_reads: LDS reads of those.
        waits: for each N, how many `s_waitcnt vmcnt(N)` there are.
        loop_waits: the same in the main loop alone.
        unrolled: there is no main loop; `loop_waits` and `loop_cycles` are about what lies
            between the first MFMA and the last LDS-DMA.
        drains: see `lodestone.report.drains`.
        loop_cycles: llvm-mca's cycles for an iteration of the main loop (or, once, for
            the unrolled one); None if not asked for or empty.
        vgprs: vector registers, accumulation registers included; None if not in the text,
            as with all that follow.
        agprs: accumulation registers.
        sgprs: scalar registers.
        spills: vector and scalar registers spilled.
        scratch_bytes: scratch memory of a lane.
    """

    name: str
    instructions: int
    mfmas: int
    lds_dmas: int
    lds_reads: int
    waits: Mapping[int, int]
    loop_waits: Mapping[int, int]
    unrolled: bool
    drains: EarlyDrains | None
    loop_cycles: float | None
    vgprs: int | None
    agprs: int | None
    sgprs: int | None
    spills: int | None
    scratch_bytes: int | None

    @property
    def zero_waits(self) -> int:
        """Waits for everything."""
        return self.waits.get(0, 0)

    @property
    def loop_zero_waits(self) -> int:
        """Waits for everything in the main loop."""
        return self.loop_waits.get(0, 0)


def histogram(waits: Mapping[int, int]) -> str:
    """Return waits as text, `N:count` for each N: `0:2 8:1 16:5`."""
    return " ".join(f"{n}:{count}" for n, count in sorted(waits.items())) or "none"


def _count(instructions: Iterable[Instruction]) -> dict[int, int]:
    return dict(Counter(x.vmcnt for x in instructions if x.vmcnt is not None))


def figures(assembly: str, chip: str, name: str | None = None, cycles: bool = True) -> Figures:
    """Return the figures of a kernel.

    Args:
        assembly: LLVM's assembly text.
        chip: what it was compiled for ("gfx950"); for llvm-mca.
        name: the kernel; by default the first function.
        cycles: run llvm-mca on the main loop.

    Raises:
        AssemblyError: the function is not there.
        ToolError: llvm-mca is missing.
    """
    function = parse_function(assembly, name)
    code = function.instructions
    steady = [code[i] for i in function.steady_state]
    unrolled = function.main_loop is None
    metadata = function.metadata
    spills = [metadata.get(f"{kind}_spill_count") for kind in ("vgpr", "sgpr")]
    return Figures(
        name=function.name,
        instructions=len(code),
        mfmas=sum(x.is_mfma for x in code),
        lds_dmas=sum(x.is_lds_dma for x in code),
        lds_reads=sum(x.is_lds_read for x in code),
        waits=_count(code),
        loop_waits=_count(steady),
        unrolled=unrolled,
        drains=early_drains(function),
        loop_cycles=loop_cycles(steady, chip, 1 if unrolled else 20) if cycles and steady else None,
        vgprs=metadata.get("vgpr_count"),
        agprs=metadata.get("agpr_count"),
        sgprs=metadata.get("sgpr_count"),
        spills=None if None in spills else sum(s for s in spills if s is not None),
        scratch_bytes=metadata.get("private_segment_fixed_size"),
    )
