"""Device memory: an arena of allocations with exact bounds.

Every access must lie inside one allocation; between allocations there are guard gaps, so an
address that runs over the end of a buffer is an error and not another buffer's data.
"""

from __future__ import annotations

import mmap
from bisect import bisect_right
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .errors import ExecutionError
from .wave import POISON, Array

BASE = 0x7F00_0000_0000
ALIGNMENT = 4096
GUARD = 65536
# Allocations that are not arguments: the kernarg segment and the loaded code object.
KERNARG, CODE = "kernarg", "code object"


@dataclass(frozen=True)
class Allocation:
    """`size` bytes at device address `address`."""

    name: str
    address: int
    size: int


class Arena(Protocol):
    """Bytes that loads and stores index.

    Attributes:
        bytes, halves, words: the same as uint8, uint16 and uint32.
    """

    bytes: Array
    halves: Array
    words: Array

    def check(self, offsets: Array, size: int, what: str) -> None:
        """Require that each `[offset, offset + size)` may be accessed."""


class Scratch:
    """The private memory of a wave, poisoned: `size` bytes per lane, one lane after the other.

    Attributes:
        first: offset of each lane's part, int64 [lanes].
    """

    def __init__(self, size: int, lanes: int) -> None:
        """Allocate it."""
        self.size = size
        pitch = (size + 3) // 4
        self.words: Array = np.full(max(1, pitch * lanes), POISON, np.uint32)
        self.halves: Array = self.words.view(np.uint16)
        self.bytes: Array = self.words.view(np.uint8)
        self.first: Array = 4 * pitch * np.arange(lanes, dtype=np.int64)

    def check(self, offsets: Array, size: int, what: str) -> None:
        """Offsets are checked against the lane's part where they are made."""


class Memory:
    """The simulated device memory.

    Attributes:
        bytes, halves, words: the arena as uint8, uint16 and uint32; index = offset from `base`.
    """

    def __init__(self, sizes: dict[str, int], shared: bool = False) -> None:
        """Allocate one buffer per entry of `sizes` (name -> bytes).

        With `shared`, forked processes see each other's writes.
        """
        self.base = BASE
        self.allocations: dict[str, Allocation] = {}
        self._starts: list[int] = []
        self._ends: list[int] = []
        top = GUARD
        for name, size in sizes.items():
            self.allocations[name] = Allocation(name, BASE + top, size)
            self._starts.append(top)
            self._ends.append(top + size)
            top += (size + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT + GUARD
        self.bytes: Array = (
            np.frombuffer(mmap.mmap(-1, top), np.uint8) if shared else np.zeros(top, np.uint8)
        )
        self.halves: Array = self.bytes.view(np.uint16)
        self.words: Array = self.bytes.view(np.uint32)

    def view(self, name: str) -> Array:
        """The bytes of an allocation, as a view."""
        start = self.allocations[name].address - BASE
        return self.bytes[start : start + self.allocations[name].size]

    def check_range(self, low: int, high: int, what: str) -> None:
        """Require that offsets [low, high) lie in one allocation."""
        slot = bisect_right(self._starts, low) - 1
        if slot < 0 or high > self._ends[slot]:
            raise ExecutionError(self.fault(low, high, what))

    def check(self, offsets: Array, size: int, what: str) -> None:
        """Require that each `[offset, offset + size)` lies in an allocation."""
        if not len(offsets):
            return
        low, high = int(offsets.min()), int(offsets.max()) + size
        slot = bisect_right(self._starts, low) - 1
        if slot >= 0 and high <= self._ends[slot]:
            return
        slots = np.searchsorted(self._starts, offsets, side="right") - 1
        bad = (slots < 0) | (offsets + size > np.asarray(self._ends)[slots])
        if bad.any():
            first = int(offsets[bad][0])
            raise ExecutionError(self.fault(first, first + size, what))

    def fault(self, low: int, high: int, what: str) -> str:
        """The message for an access outside of all allocations; names the nearest one."""
        nearest = min(
            self.allocations.values(),
            key=lambda a: max(a.address - BASE - low, low - (a.address - BASE + a.size - 1), 0),
            default=None,
        )
        where = ""
        if nearest is not None:
            where = f"; the nearest buffer is {nearest.name}, {nearest.size} bytes, from which it "
            where += f"is byte offset {low + BASE - nearest.address}"
        return f"{what} of {high - low} bytes at {low + BASE:#x} is outside of every buffer{where}"
