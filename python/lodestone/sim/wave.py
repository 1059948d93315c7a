"""The state of one wave: registers, EXEC, queues of outstanding memory operations."""

from __future__ import annotations

from collections import deque
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .operands import EXEC, SGPR_SLOTS

if TYPE_CHECKING:
    from .counters import Pending
    from .memory import Scratch
    from .workgroup import Workgroup

Array = npt.NDArray[Any]

# gfx9: 256 vector and 256 accumulation registers; gfx1250 (wave32): 1024 vector registers.
ROWS = {64: 512, 32: 1024}
# A signalling pattern that is a NaN as f32 and f16 and far outside any address range.
POISON = np.uint32(0x7FC0DEAD)


@lru_cache(maxsize=1024)
def mask_of(bits: int, lanes: int) -> Array:
    """Integer lane mask -> boolean row; remembered, and therefore read-only."""
    raw = np.frombuffer(bits.to_bytes(8, "little"), np.uint8)
    mask = np.unpackbits(raw, bitorder="little").view(np.bool_)[:lanes]
    mask.flags.writeable = False
    return mask


def bits_of(mask: Array) -> int:
    """Boolean row -> integer lane mask."""
    return int.from_bytes(np.packbits(mask, bitorder="little").tobytes(), "little")


class Wave:
    """Architectural state of a wave and its bookkeeping.

    Attributes:
        V: vector rows, uint32 [512, lanes]; AGPR i is row 256 + i. R, F, I are the rows of V
            as uint32, float32 and int32 views.
        S: 128 scalar slots as Python integers (VCC 106, M0 124, EXEC 126). EXEC is only
            written through `set_exec`, which keeps `mask` and `full` in step.
        queues: outstanding operations by counter, oldest first; `capacity` is how many fit.
        views: register ranges as arrays of the shape a matrix instruction wants.
        pending: register -> the operation that still has to write it (modes R and W).
        signalled: it signalled the workgroup's barrier and has not waited there yet.
        stopped_at: number of the barrier at which it waits, or 0.
        log: LDS events of this epoch for the race check.
    """

    __slots__ = (
        "F", "I", "R", "S", "V", "block", "capacity", "done", "epoch_state", "full", "group",
        "index", "issued", "lanes", "log", "mask", "pending", "queues", "scc",
        "scratch", "signalled", "stopped_at", "unlanded", "views",
    )  # fmt: skip

    def __init__(self, group: Workgroup, index: int, lanes: int, capacity: dict[str, int]) -> None:
        """Create a wave with poisoned vector registers and zeroed scalars."""
        self.group = group
        self.index = index
        self.lanes = lanes
        self.V: Array = np.full((ROWS[lanes], lanes), POISON, np.uint32)
        self.R = list(self.V)
        self.F = list(self.V.view(np.float32))
        self.I = list(self.V.view(np.int32))
        self.S = [0] * SGPR_SLOTS
        self.scc = 0
        self.block = 0
        self.done = False
        self.signalled = False
        self.stopped_at = 0
        self.capacity = capacity
        self.queues: dict[str, deque[Pending]] = {name: deque() for name in capacity}
        self.issued = dict.fromkeys(capacity, 0)
        self.pending: dict[int, Pending] = {}
        self.unlanded: list[Pending] = []
        self.log: list[Any] = []
        self.epoch_state: Any = None
        self.scratch: Scratch | None = None
        self.views: dict[Any, Array] = {}
        self.set_exec((1 << lanes) - 1)

    def set_exec(self, bits: int) -> None:
        """Write EXEC."""
        everything = (1 << self.lanes) - 1
        bits &= everything
        self.S[EXEC] = bits & 0xFFFFFFFF
        self.S[EXEC + 1] = bits >> 32
        self.full = bits == everything
        self.mask = mask_of(bits, self.lanes)

    @property
    def exec_bits(self) -> int:
        """EXEC as an integer."""
        return self.S[EXEC] | self.S[EXEC + 1] << 32

    def scalar64(self, slot: int) -> int:
        """The 64-bit value of slots `slot`, `slot + 1`."""
        return self.S[slot] | self.S[slot + 1] << 32

    def write_scalar(self, slot: int, value: int) -> None:
        """Write one 32-bit scalar slot, EXEC halves included."""
        if slot >= EXEC:
            halves = [self.S[EXEC], self.S[EXEC + 1]]
            halves[slot - EXEC] = value & 0xFFFFFFFF
            self.set_exec(halves[0] | halves[1] << 32)
        else:
            self.S[slot] = value & 0xFFFFFFFF

    def write_scalar64(self, slot: int, value: int) -> None:
        """Write a 64-bit scalar pair, EXEC included."""
        if slot == EXEC:
            self.set_exec(value)
        else:
            self.S[slot] = value & 0xFFFFFFFF
            self.S[slot + 1] = value >> 32 & 0xFFFFFFFF

    def write_mask(self, slot: int, mask: Array) -> None:
        """Write a lane mask to a scalar pair (wave64) or a single slot (wave32)."""
        bits = bits_of(mask)
        if self.lanes == 64:
            self.write_scalar64(slot, bits)
        else:
            self.write_scalar(slot, bits)

    def merged_half(self, row: int, values: Array, high: bool) -> Array:
        """What a load of 16 bits [1, lanes] makes of register `row`.

        The other half is kept, or zero where registers have ECC (CDNA4 ISA, 9.1.6).
        """
        placed = values << np.uint32(16) if high else values & np.uint32(0xFFFF)
        if self.group.sram_ecc:
            return np.asarray(placed)
        kept = np.uint32(0xFFFF) if high else np.uint32(0xFFFF0000)
        return np.asarray(placed | self.R[row] & kept)

    def write_rows(self, first: int, data: Array, mask: Array | None) -> None:
        """Write `data` [n, lanes] to rows from `first`; `mask` None means all lanes."""
        target = self.V[first : first + len(data)]
        if mask is None:
            target[:] = data
        else:
            np.copyto(target, data, where=mask)
