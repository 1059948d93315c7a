"""Swizzles: where the bytes of a tile are in LDS.

    swizzle = Swizzle.xor(bits=3, base=4, shift=3)
    swizzle.verify(64 * 128)
    physical = swizzle.apply(np.arange(0, 1024, 16))

The algebra is the one that the passes use (``lodestone/Support/Swizzle.h``); nothing is computed
twice. All offsets and sizes are in bytes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lodestone import ir
from lodestone._native import MAX_SWIZZLED_BYTES, SwizzleMap

__all__ = ["MAX_SWIZZLED_BYTES", "Swizzle"]

Offsets = npt.NDArray[np.int64]

# The parameters of a step, as the constructors name them.
_PARAMETERS = {
    "xor": ("bits", "base", "shift"),
    "row_xor": ("cells", "phases", "rows_per_phase", "cell_bytes"),
    "rotate": ("row_bytes", "cell_bytes", "step"),
    "padded": ("row_bytes", "pad_bytes"),
}


class Swizzle:
    """A map from the logical to the physical byte offsets of a tile.

    It is injective, and a bijection unless it pads: the constructors raise ValueError, with two
    offsets that collide, where a map would not be, and where its period exceeds
    ``MAX_SWIZZLED_BYTES``. ``Swizzle()`` is the identity.
    """

    def __init__(self, _map: SwizzleMap | None = None) -> None:
        """Make the identity; the named constructors make others."""
        self._map = SwizzleMap() if _map is None else _map

    # Constructors ------------------------------------------------------------------------------

    @classmethod
    def xor(cls, bits: int, base: int, shift: int) -> Swizzle:
        """Return p = q ^ ((q & mask) >> shift), the mask ``bits`` bits from ``base + shift`` on.

        A negative shift goes left, from bit ``base`` on. CuTe's ``Swizzle<bits, base, shift>``.
        """
        return cls(_make(SwizzleMap.xor, bits=bits, base=base, shift=shift))

    @classmethod
    def coord_xor(cls, bits: int, base_row: int, base_col: int, row_bytes: int) -> Swizzle:
        """Return c' = c ^ (((row >> base_row) & (2^bits - 1)) << base_col) in rows of row_bytes."""
        return cls(
            _make(
                SwizzleMap.coord_xor,
                bits=bits, base_row=base_row, base_col=base_col, row_bytes=row_bytes,
            )
        )  # fmt: skip

    @classmethod
    def row_xor(
        cls, cells: int, phases: int, rows_per_phase: int = 1, cell_bytes: int = 16
    ) -> Swizzle:
        """Return j' = j ^ (row // rows_per_phase % phases) in rows of ``cells`` cells."""
        return cls(
            _make(
                SwizzleMap.row_xor,
                cell_bytes=cell_bytes, cells=cells, phases=phases, rows_per_phase=rows_per_phase,
            )
        )  # fmt: skip

    @classmethod
    def rotate(cls, row_bytes: int, cell_bytes: int = 16, step: int = 1) -> Swizzle:
        """Return j' = (j + step * row) mod n in rows of n = row_bytes / cell_bytes cells."""
        return cls(_make(SwizzleMap.rotate, cell_bytes=cell_bytes, row_bytes=row_bytes, step=step))

    @classmethod
    def padded(cls, row_bytes: int, pad_bytes: int) -> Swizzle:
        """Return rows of ``row_bytes`` with ``pad_bytes`` behind each."""
        return cls(_make(SwizzleMap.padded, row_bytes=row_bytes, pad_bytes=pad_bytes))

    @classmethod
    def compose(cls, *swizzles: Swizzle) -> Swizzle:
        """Return the composition, the first applied first."""
        result = cls()
        for swizzle in swizzles:
            result = cls(result._map.then(swizzle._map))
        return result

    @classmethod
    def from_cute(cls, bits: int, base: int, shift: int, element_bytes: int = 1) -> Swizzle:
        """Return CuTe's ``Swizzle<bits, base, shift>`` on offsets of elements.

        Source: CuTe, swizzle.hpp: its bits are counted on whatever the layout gives, elements as
        a rule. CuTe asks for |shift| >= bits; this doesn't.
        """
        return cls.xor(bits, base + _log2("element_bytes", element_bytes), shift)

    @classmethod
    def from_flydsl(
        cls, bits: int, base_row: int, base_col: int, row_bytes: int, element_bytes: int = 1
    ) -> Swizzle:
        """Return FlyDSL's CoordSwizzle (bits, base_row, base_col) on columns of elements."""
        return cls.coord_xor(
            bits, base_row, base_col + _log2("element_bytes", element_bytes), row_bytes
        )

    @classmethod
    def parse(cls, text: str) -> Swizzle:
        """Return the swizzle of an attribute such as ``#lds.xor<bits = 3, base = 4, shift = 3>``.

        Raises:
            lodestone.MLIRError: the text is no attribute, or not a bijection.
            ValueError: it is an attribute of another kind.
        """
        with ir.Context():
            return cls(SwizzleMap.of_attribute(ir.Attribute.parse(text)))

    def then(self, other: Swizzle) -> Swizzle:
        """Return this one followed by another."""
        return Swizzle.compose(self, other)

    def with_row_stride(self, row_bytes: int, stride: int) -> Swizzle:
        """Return this one for a tile whose rows of ``row_bytes`` are ``stride`` bytes apart.

        Offsets that go in are those of the packed tile, without the gaps.

        Raises:
            ValueError: rows would overlap.
        """
        if stride < row_bytes:
            raise ValueError(f"rows of {row_bytes} bytes overlap at a stride of {stride}")
        return Swizzle.compose(Swizzle.padded(row_bytes, stride - row_bytes), self)

    # The map -----------------------------------------------------------------------------------

    def apply(self, offsets: npt.ArrayLike) -> Offsets:
        """Return the physical offsets of logical ones, in the same shape, as int64.

        Raises:
            ValueError: an offset is negative, or in padding that this swizzle undoes.
            TypeError: an offset is no integer.
        """
        return _each(self._map.apply, offsets)

    def inverse(self, offsets: npt.ArrayLike) -> Offsets:
        """Return the logical offsets of physical ones, in the same shape, as int64.

        Raises:
            ValueError: an offset is negative, or in the padding.
            TypeError: an offset is no integer.
        """
        return _each(self._map.invert, offsets)

    @property
    def inverted(self) -> Swizzle:
        """The swizzle that undoes this one."""
        return Swizzle(self._map.inverse())

    @property
    def granule(self) -> int:
        """A power of two: bytes of an aligned block of this size stay together and in order."""
        return self._map.granule

    @property
    def period(self) -> int:
        """``apply(q + period) == apply(q) + image_period`` for all q; 1 for the identity."""
        return self._map.period

    @property
    def image_period(self) -> int:
        """The bytes that a period takes in LDS: more than ``period`` with padding."""
        return self._map.image_period

    @property
    def is_involution(self) -> bool:
        """Whether it undoes itself."""
        return self._map.is_involution

    @property
    def is_identity(self) -> bool:
        """Whether it does nothing."""
        return self._map.is_identity

    def verify(self, tile_bytes: int, available: int | None = None) -> None:
        """Check that a tile's bytes go to different bytes of its allocation.

        Args:
            tile_bytes: those of the tile.
            available: those of the allocation; ``tile_bytes`` if not given.

        Raises:
            ValueError: they do not; with the offsets that collide, or the one that leaves.
        """
        _require("tile_bytes", tile_bytes, MAX_SWIZZLED_BYTES)
        room = tile_bytes if available is None else available
        wrong = self._map.check_tile(tile_bytes, _require("available", room, 2**62))
        if wrong:
            raise ValueError(wrong)

    def image_bytes(self, tile_bytes: int) -> int:
        """Return the bytes of LDS that a tile needs: its own, and padding between them."""
        return self._map.image_bytes(_require("tile_bytes", tile_bytes, MAX_SWIZZLED_BYTES))

    def to_mlir(self) -> str:
        """Return the attribute, ``#lds.xor<bits = 3, base = 4, shift = 3>``.

        Raises:
            ValueError: no attribute expresses it: the identity needs none, and phases that are
                no power of two, or padding undone, have none.
        """
        with ir.Context():
            attribute = self._map.to_attribute()
            if attribute is None:
                raise ValueError(f"no attribute expresses {self!r}")
            return str(attribute)

    # How it looks ------------------------------------------------------------------------------

    def __repr__(self) -> str:
        """The constructor calls that make it; undone padding shows as the one that it undoes."""
        parts = [_step(name, values) for name, values in self._map.steps]
        if len(parts) == 1:
            return parts[0]
        return f"Swizzle.compose({', '.join(parts)})" if parts else "Swizzle()"

    def __eq__(self, other: object) -> bool:
        """Whether the same steps make them; a composition may be written in several ways."""
        return isinstance(other, Swizzle) and self._map == other._map

    def __hash__(self) -> int:
        """Of the steps."""
        return hash(repr(self))

    def _repr_svg_(self) -> str:
        from lodestone.report.swizzle_picture import Picture

        return Picture(self).svg()


def _make(maker: Any, **parameters: int) -> SwizzleMap:
    for name, value in parameters.items():
        if name != "shift":
            _require(name, value, 2**62)
    try:
        result: SwizzleMap = maker(*parameters.values())
    except TypeError:
        raise ValueError(f"not all of {parameters} are integers of 64 bits") from None
    return result


def _require(name: str, value: int, most: int) -> int:
    if not 0 <= value <= most:
        raise ValueError(f"{name} {value} is not between 0 and {most}")
    return value


def _log2(name: str, value: int) -> int:
    if value < 1 or value & (value - 1):
        raise ValueError(f"{name} {value} is no power of two")
    return value.bit_length() - 1


def _each(function: Any, offsets: npt.ArrayLike) -> Offsets:
    given = np.asarray(offsets)
    if given.dtype.kind not in "iu" and given.size:
        raise TypeError(f"offsets are {given.dtype}, not integers")
    flat = np.ascontiguousarray(given, dtype=np.int64).reshape(-1)
    result = np.empty_like(flat)
    function(flat, result)
    return result.reshape(given.shape)


def _step(name: str, values: list[int]) -> str:
    if name == "restride":
        row, stride = values
        if stride < row:
            return f"Swizzle.padded(row_bytes={stride}, pad_bytes={row - stride}).inverted"
        name, values = "padded", [row, stride - row]
    named = zip(_PARAMETERS[name], values, strict=True)
    return f"Swizzle.{name}({', '.join(f'{key}={value}' for key, value in named)})"
