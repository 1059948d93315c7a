"""Warp sets: the legal values of ``warp_used_hint``."""

from __future__ import annotations

from typing import Any

from lodestone import _native
from lodestone.tdm.picture import Picture, Row

_MASK_BITS = 32


class WarpSetError(ValueError):
    """A mask or a pair that is no warp set.

    Attributes:
        rule: the rule that is broken, a stable name: ``warps-not-power-of-two``,
            ``too-many-warps``, ``empty``, ``beyond-warps``, ``count-not-power-of-two``,
            ``not-axis-aligned`` or ``free-and-anchor-overlap``.
        nearest: the legal set that differs in the fewest warps (the smallest mask of several);
            None if there is none for this number of warps, and for pairs.
    """

    def __init__(self, message: str, rule: str, nearest: WarpSet | None) -> None:
        """Makes an error of the rule and what it says."""
        super().__init__(message if nearest is None else f"{message}; nearest legal: {nearest}")
        self.rule = rule
        self.nearest = nearest


class WarpSet:
    """The warps of a workgroup that move a copy's data: an axis-aligned subcube of warp ids.

    There are two masks of warp-id bits, ``free`` and ``anchor``, without a common bit, and the
    active warps are exactly those ``anchor | s`` with ``s`` a subset of ``free``'s bits.
    """

    __slots__ = ("_text", "anchor", "free", "mask", "num_warps")

    mask: int
    """Bit w is set if warp w is active."""
    free: int
    """The bits of the warp id in which the active warps differ."""
    anchor: int
    """The other bits of the id of each active warp."""
    num_warps: int
    """Warps of the workgroup."""

    def __init__(self, mask: int, num_warps: int) -> None:
        """The set with the mask ``mask`` (32 bits) in a workgroup of ``num_warps`` warps.

        Raises:
            WarpSetError: the mask is not legal.
            ValueError: a number is negative, or the mask has more than 32 bits.
        """
        _require_bits("mask", mask, _MASK_BITS)
        _require_bits("num_warps", num_warps, 64)
        self._set(_native.decode_warp_mask(mask, num_warps), num_warps)

    @classmethod
    def from_pair(cls, free: int, anchor: int, num_warps: int) -> WarpSet:
        """The set with these free and anchored bits of the warp id.

        Raises:
            WarpSetError: the pair is not legal.
            ValueError: a number is negative or has more than 64 bits.
        """
        for name, value in (("free", free), ("anchor", anchor), ("num_warps", num_warps)):
            _require_bits(name, value, 64)
        self = cls.__new__(cls)
        self._set(_native.decode_warp_pair(free, anchor, num_warps), num_warps)
        return self

    def _set(self, native: dict[str, Any], num_warps: int) -> None:
        if "rule" in native:
            nearest = native["nearest"]
            raise WarpSetError(
                native["message"],
                native["rule"],
                None if nearest is None else WarpSet(nearest, num_warps),
            )
        self.mask, self.free, self.anchor = native["mask"], native["free"], native["anchor"]
        self.num_warps = num_warps
        self._text = str(native["text"])

    @property
    def active(self) -> tuple[int, ...]:
        """The active warps, ascending: 2 to the number of free bits."""
        return tuple(w for w in range(self.num_warps) if self.mask >> w & 1)

    def __len__(self) -> int:
        """The number of active warps."""
        return self.mask.bit_count()

    def __contains__(self, warp: object) -> bool:
        """Whether the warp is active."""
        return warp in self.active

    def __eq__(self, other: object) -> bool:
        """Whether the masks and the workgroups' sizes are the same."""
        if not isinstance(other, WarpSet):
            return NotImplemented
        return (self.mask, self.num_warps) == (other.mask, other.num_warps)

    def __hash__(self) -> int:
        """Goes with ``==``."""
        return hash((self.mask, self.num_warps))

    def __str__(self) -> str:
        """``0x33 (free = 0b101, anchor = 0b000, of = 8)``."""
        return self._text

    def __repr__(self) -> str:
        """``WarpSet(0x33, num_warps=8)`` with the pair and the active warps."""
        return (
            f"WarpSet({self.mask:#04x}, num_warps={self.num_warps}) "
            f"<{self._text.partition('(')[2].rpartition(', of')[0]}, active = {self.active}>"
        )

    def _repr_svg_(self) -> str:
        return Picture((Row(self.mask),), self.num_warps).svg()


def _require_bits(name: str, value: int, bits: int) -> None:
    if not 0 <= value < 1 << bits:
        raise ValueError(f"{name} is {value}, not in 0 to {(1 << bits) - 1}")


def legal_warp_sets(num_warps: int) -> tuple[WarpSet, ...]:
    """All legal sets of a workgroup of ``num_warps`` warps, by rising mask.

    There are 3**n for 2**n warps, n up to 5, and none for another number of warps.
    """
    _require_bits("num_warps", num_warps, 64)
    return tuple(WarpSet(mask, num_warps) for mask in _native.legal_warp_masks(num_warps))
