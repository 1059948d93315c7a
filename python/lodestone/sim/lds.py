"""LDS storage and the patterns in which instructions touch it.

A pattern is what one instruction does with one set of lane addresses: which dwords, which
bytes, how many bank conflicts. Kernels repeat few patterns many times, so patterns are cached.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from .wave import POISON, Array

# Race checks compare footprints in granules first and in bytes only where those overlap.
GRANULE_SHIFT = 8
# More remembered patterns than this are forgotten together; regular kernels have hundreds.
MAX_PATTERNS = 1 << 15


class Lds:
    """The LDS allocation of one workgroup, poisoned at start.

    One extra dword behind the end stays zero: reads out of bounds are directed there.
    """

    def __init__(self, size: int) -> None:
        """Allocate `size` bytes."""
        self.size = size
        count = (size + 3) // 4
        self.words: Array = np.full(count + 1, POISON, np.uint32)
        self.words[count] = 0
        self.bytes: Array = self.words.view(np.uint8)
        self.zero_byte = 4 * count


class Pattern:
    """The footprint of one LDS access.

    Args of the constructor:
        addresses: int64 [lanes], byte address per lane before the component offsets.
        components: byte offset of each `unit`-sized component.
        unit: 1, 2 or 4 bytes.
        mask: boolean [lanes] or None for all lanes.
        size: bytes of the LDS allocation.

    Attributes:
        in_bounds: False when some active lane is outside of the allocation. Such components
            read zero and are not written.
        low, high: byte interval that contains the footprint (empty: 0, 0).
        granules: bit set of the granules touched.
        conflicts: extra cycles by (direction, addresses), filled in by the report.
    """

    __slots__ = (
        "__dict__", "_aligned", "_index", "active", "conflicts", "granules", "high", "in_bounds",
        "low", "starts", "unit",
    )  # fmt: skip

    def __init__(
        self,
        addresses: Array,
        components: tuple[int, ...],
        unit: int,
        mask: Array | None,
        size: int,
    ) -> None:
        """Work out what is touched; see the class."""
        starts = addresses[None, :] + np.array(components, np.int64)[:, None]
        # The sum has 32 bits: LLVM folds an offset into the instruction also when the register's
        # part alone is negative.
        starts &= 0xFFFFFFFF
        valid = (starts >= 0) & (starts + unit <= size)
        self.in_bounds = bool(valid.all() if mask is None else valid[:, mask].all())
        if mask is not None:
            valid &= mask
        active = None
        if not valid.all():
            active = valid
            # Off lanes point at the zero dword behind the end, whatever their address is.
            starts = np.where(valid, starts, (size + 3) // 4 * 4)
        self.starts: Array = starts
        self.active = active
        self.unit = unit
        self.conflicts: dict[tuple[str, int], int | None] = {}
        self._aligned = unit == 1 or not (starts & (unit - 1)).any()
        self._index: Array = (
            starts // unit
            if self._aligned
            else (starts[:, None, :] + np.arange(unit)[None, :, None])
        )
        used = starts if active is None else starts[active]
        if used.size:
            self.low, self.high = int(used.min()), int(used.max()) + unit
            self.granules = 0
            for granule in {*(used >> GRANULE_SHIFT).ravel().tolist()}:
                self.granules |= 1 << granule
            if not self._aligned:
                for granule in {*((used + unit - 1) >> GRANULE_SHIFT).ravel().tolist()}:
                    self.granules |= 1 << granule
        else:
            self.low = self.high = self.granules = 0

    @cached_property
    def footprint(self) -> int:
        """Bit set of the bytes touched."""
        flags = np.zeros(self.high, np.uint8)
        used = self.starts.ravel() if self.active is None else self.starts[self.active]
        for byte in range(self.unit):
            flags[used + byte] = 1
        return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")

    def read(self, lds: Lds) -> Array:
        """Return the components, [count, lanes], zero-extended to uint32."""
        if self.unit == 4 and self._aligned:
            return lds.words.take(self._index)
        if self._aligned:
            kind = np.uint8 if self.unit == 1 else np.uint16
            return lds.words.view(kind).take(self._index).astype(np.uint32)
        raw = lds.bytes.take(self._index).astype(np.uint32)
        return np.asarray(sum(raw[:, byte, :] << np.uint32(8 * byte) for byte in range(self.unit)))

    def write(self, lds: Lds, data: Array) -> None:
        """Write `data` [count, lanes], of which the low `unit` bytes count."""
        if self.unit == 4 and self._aligned:
            if self.active is None:
                lds.words[self._index] = data
            else:
                lds.words[self._index[self.active]] = data[self.active]
            return
        chosen = np.ones(self.starts.shape, bool) if self.active is None else self.active
        at, values = self.starts[chosen], data[chosen]
        for byte in range(self.unit):
            lds.bytes[at + byte] = (values >> np.uint32(8 * byte)).astype(np.uint8)


def overlap(one: Pattern, other: Pattern) -> tuple[int, int] | None:
    """The byte interval in which two footprints first meet, or None when they don't."""
    if not one.granules & other.granules:
        return None
    common = one.footprint & other.footprint
    if not common:
        return None
    low = (common & -common).bit_length() - 1
    return low, common.bit_length()
