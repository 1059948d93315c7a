"""The K/V/Q tile producer as a problem: its parameters, its inputs, and the NumPy reference."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from lodestone.kernels._fast_division import FastDivisor
from lodestone.kernels._kernel import Arguments, Array
from lodestone.kernels._tile_builder import CELL_BYTES

# What a lane puts into LDS for an element that isn't there: zero, or nothing at all.
Fill = Literal["zero", "none"]
# What becomes of a tile: its bytes as they lie in LDS, or the products of Q and K.
Result = Literal["images", "scores"]
ElementType = Literal["f16", "bf16", "fp8"]
Chip = Literal["gfx942", "gfx950"]

HEAD_DIMS = (64, 128, 256)
SWIZZLES = (0, 64, 128, 256)
THREADS = 256
# In LDS, one after the other: Q, and K and V of even and of odd tiles.
BUFFERS = ("q", "k0", "v0", "k1", "v1")
# Rows of a tile for a wave's MFMA.
MFMA_ROWS = 16
# The bytes that LDS holds before the first copy, if the kernel doesn't fill.
UNFILLED = 0xFF


@dataclass(frozen=True)
class ElementFormat:
    """An element type in MLIR and in NumPy."""

    mlir: str
    numpy: np.dtype[Any]


def element_format(dtype: ElementType, chip: Chip) -> ElementFormat:
    """Return the format of `dtype`; fp8 (e4m3) is another one on gfx942 than on gfx950."""
    if dtype == "f16":
        return ElementFormat("f16", np.dtype(np.float16))
    if dtype == "bf16":
        return ElementFormat("bf16", np.dtype(ml_dtypes.bfloat16))
    if chip == "gfx942":
        return ElementFormat("f8E4M3FNUZ", np.dtype(ml_dtypes.float8_e4m3fnuz))
    return ElementFormat("f8E4M3FN", np.dtype(ml_dtypes.float8_e4m3fn))


@dataclass(frozen=True)
class Swizzle:
    """Permutes the 16-byte cells within lines of a tile; the line's number chooses how.

    A line is a row, or what the swizzle spans if rows are shorter (128 bytes at least). The
    swizzle of 128 bytes xors the low three bits of the line's number into the cell's, that of
    256 bytes, for 64 banks, the low four, and that of 64 bytes the second and the third into the
    low two. 0 bytes: none.
    """

    bytes: int
    row_bytes: int

    @property
    def _line_bytes(self) -> int:
        return max(self.row_bytes, self.bytes, 128)

    @property
    def attribute(self) -> str:
        """The attribute for an LDS region; empty for none."""
        if not self.bytes:
            return ""
        line, cell = self._line_bytes.bit_length() - 1, CELL_BYTES.bit_length() - 1
        bits = self.bytes.bit_length() - 1 - cell
        shift = line - cell + (1 if self.bytes == 64 else 0)
        return f"#lds.xor<bits = {bits}, base = {cell}, shift = {shift}>"

    def image(self, tile: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return the bytes of a tile (uint8 [rows, row bytes]) in the order of LDS, flat.

        Written in rows and cells, not in bits of offsets: a second opinion on `attribute`.
        """
        cells = tile.reshape(-1, self._line_bytes // CELL_BYTES, CELL_BYTES)
        line = np.arange(len(cells))[:, None]
        cell = np.arange(cells.shape[1])[None, :]
        flips = {0: 0 * line, 64: line // 2 % 4, 128: line % 8, 256: line % 16}
        permuted = cell ^ flips[self.bytes]
        image = np.empty_like(cells)
        image[line, permuted] = cells
        return image.ravel()


@dataclass(frozen=True)
class Parameters:
    """What a kernel is built for; all checked on construction.

    Attributes:
        head_dim: columns of a tile.
        dtype: of the elements.
        columns: columns in memory; the tile's others are beyond the matrix.
        rows: rows of a tile.
        tiles: tiles of K and of V that a workgroup loads.
        kv_heads: heads of K and V, a workgroup each.
        swizzle: of K and V, in bytes: 0, 64, 128 or 256.
        q_swizzle: of Q, in bytes.
        fill: what beyond the matrices goes into LDS.
        paged: rows of K and V are found through a block table.
        result: what the kernel leaves in global memory.
        chip: what it is compiled for.
    """

    head_dim: int
    dtype: ElementType
    columns: int
    rows: int
    tiles: int
    kv_heads: int
    swizzle: int
    q_swizzle: int
    fill: Fill
    paged: bool
    result: Result
    chip: Chip

    def __post_init__(self) -> None:
        """Raise ValueError, with the rule and the value."""
        choices: dict[str, tuple[Any, tuple[Any, ...]]] = {
            "head_dim": (self.head_dim, HEAD_DIMS),
            "dtype": (self.dtype, get_args(ElementType)),
            "swizzle": (self.swizzle, SWIZZLES),
            "q_swizzle": (self.q_swizzle, SWIZZLES),
            "fill": (self.fill, get_args(Fill)),
            "result": (self.result, get_args(Result)),
            "chip": (self.chip, get_args(Chip)),
        }
        for name, (value, allowed) in choices.items():
            if value not in allowed:
                raise ValueError(f"{name} must be one of {allowed}, got {value!r}")
        if not 0 < self.columns <= self.head_dim or self.columns % self.cell_elements:
            raise ValueError(
                f"columns must be a multiple of {self.cell_elements} in "
                f"{self.cell_elements}..{self.head_dim}, got {self.columns}"
            )
        step = max(MFMA_ROWS, THREADS * CELL_BYTES // self.row_bytes)
        if self.rows % step or not 0 < self.rows <= 256:
            raise ValueError(f"rows must be a multiple of {step} in {step}..256, got {self.rows}")
        if self.tiles % 2 or not 2 <= self.tiles <= 1 << 12:
            raise ValueError(f"tiles must be even, 2 to {1 << 12}, got {self.tiles}")
        if not 1 <= self.kv_heads <= 256:
            raise ValueError(f"kv_heads must be in 1..256, got {self.kv_heads}")
        largest = max(
            self.pool_tokens * self.kv_heads * self.columns * self.element.numpy.itemsize,
            math.prod(result_shape(self)) * 4,
        )
        if largest >= 1 << 31:
            raise ValueError(
                f"K and V, and the result, must each have less than {1 << 31} bytes, as offsets "
                f"have 32 bits; the largest has {largest}"
            )
        if self.result == "scores":
            if self.fill != "zero":
                raise ValueError(
                    "scores of rows that aren't filled mean nothing: fill must be 'zero'"
                )
            if (self.rows // MFMA_ROWS) ** 2 * 64 % THREADS:
                raise ValueError(
                    f"scores need a multiple of {THREADS // 64} tiles of 16x16, rows is {self.rows}"
                )

    @property
    def element(self) -> ElementFormat:
        """The format of the elements."""
        return element_format(self.dtype, self.chip)

    @property
    def row_bytes(self) -> int:
        """Bytes of a tile's row."""
        return self.head_dim * self.element.numpy.itemsize

    @property
    def tile_bytes(self) -> int:
        """Bytes of a tile."""
        return self.rows * self.row_bytes

    @property
    def cell_elements(self) -> int:
        """Elements of 16 bytes."""
        return CELL_BYTES // self.element.numpy.itemsize

    @property
    def tokens(self) -> int:
        """Rows of K and of V, for each head, at most."""
        return self.tiles * self.rows

    @property
    def pool_tokens(self) -> int:
        """Rows of K and of V in memory, for each head; a paged pool has room to scatter them."""
        return 2 * self.tokens if self.paged else self.tokens

    def swizzle_of(self, buffer: str) -> Swizzle:
        """Return the swizzle of the buffer "q", "k0", "v1" or the like."""
        return Swizzle(self.q_swizzle if buffer == "q" else self.swizzle, self.row_bytes)


def dimensions(parameters: Parameters) -> dict[str, tuple[int, int]]:
    """Return what a launch chooses: (must be a multiple of, must be at most)."""
    page = {"page_size": (1, parameters.tokens)} if parameters.paged else {}
    return {
        "length": (1, parameters.tokens),
        "q_rows": (1, parameters.rows),
        "group": (1, parameters.rows),
        **page,
    }


def inputs(
    parameters: Parameters, size: Mapping[str, int], random: np.random.Generator
) -> Arguments:
    """Return random arguments; every byte that must not be read is random, too.

    Args:
        parameters: of the kernel.
        size: "length", "q_rows", "group", and "page_size" if paged.
        random: where the numbers come from.
    """

    def matrix(rows: int) -> Array:
        shape = (rows, parameters.columns)
        return random.standard_normal(shape).astype(parameters.element.numpy)

    def divisor(name: str, number: int) -> Arguments:
        fast = FastDivisor(number)
        return {
            name: number,
            # The bits of an i32.
            f"{name}_magic": int(np.uint32(fast.magic).view(np.int32)),
            f"{name}_shift": fast.shift,
        }

    p = parameters
    arguments: Arguments = {
        # Room for the last query's heads that are not in the tile.
        "q": matrix(2 * p.rows * p.kv_heads),
        "k": matrix(p.pool_tokens * p.kv_heads),
        "v": matrix(p.pool_tokens * p.kv_heads),
        "result": np.full(result_shape(p), *_untouched(p)),
        "length": size["length"],
        "q_rows": size["q_rows"],
        **divisor("group", size["group"]),
    }
    if p.paged:
        used = -(-size["length"] // size["page_size"])
        pages = np.full(p.tokens, -1, np.int32)
        pages[:used] = random.permutation(p.pool_tokens // size["page_size"])[:used]
        arguments |= {"pages": pages, **divisor("page_size", size["page_size"])}
    return arguments


def result_shape(parameters: Parameters) -> tuple[int, ...]:
    """Return the shape of the output.

    Images, int32: [heads, Q and then K and V of each tile, words]; scores, float32: [heads,
    tiles, rows of Q, rows of K].
    """
    p = parameters
    if p.result == "images":
        return p.kv_heads, 1 + 2 * p.tiles, p.tile_bytes // 4
    return p.kv_heads, p.tiles, p.rows, p.rows


def _untouched(parameters: Parameters) -> tuple[Any, Any]:
    """The value that an output starts with, and its dtype."""
    return (0x5A5A5A5A, np.int32) if parameters.result == "images" else (np.nan, np.float32)


def q_tile(parameters: Parameters, arguments: Arguments, head: int) -> tuple[Array, Array]:
    """Return (values, which are there) of the tile of Q, both [rows, head_dim].

    Row i is that of query i // group and of head i % group among those that share K and V.
    """
    p = parameters
    group, count = int(arguments["group"]), int(arguments["q_rows"])
    row = np.arange(count)
    source = (row // group * p.kv_heads + head) * group + row % group
    return _place(p, np.asarray(arguments["q"])[source])


def kv_tile(
    parameters: Parameters, arguments: Arguments, name: str, tile: int, head: int
) -> tuple[Array, Array]:
    """Return (values, which are there) of a tile of K or V, both [rows, head_dim]."""
    p = parameters
    first = tile * p.rows
    token = np.arange(first, max(first, min(first + p.rows, int(arguments["length"]))))
    if p.paged:
        page_size = int(arguments["page_size"])
        token = np.asarray(arguments["pages"])[token // page_size] * page_size + token % page_size
    return _place(p, np.asarray(arguments[name])[token * p.kv_heads + head])


def _place(parameters: Parameters, rows: Array) -> tuple[Array, Array]:
    values = np.zeros((parameters.rows, parameters.head_dim), rows.dtype)
    there = np.zeros(values.shape, bool)
    values[: len(rows), : rows.shape[1]] = rows
    there[: len(rows), : rows.shape[1]] = True
    return values, there


def reference(parameters: Parameters, arguments: Arguments) -> dict[str, Array]:
    """Return the LDS images, or the scores in f32; see `result_shape`."""
    compute = _images if parameters.result == "images" else _scores
    return {"result": compute(parameters, arguments)}


def _images(parameters: Parameters, arguments: Arguments) -> Array:
    p = parameters
    images = np.empty(result_shape(p), np.int32)
    for head in range(p.kv_heads):
        # What a buffer holds stays where nothing is filled in; two buffers take turns.
        empty = np.full((p.rows, p.row_bytes), UNFILLED, np.uint8)
        held = {name: empty.copy() for name in BUFFERS}
        tiles = [("q", 0, q_tile(p, arguments, head))]
        for tile in range(p.tiles):
            for slot, name in enumerate("kv", 1 + 2 * tile):
                loaded = kv_tile(p, arguments, name, tile, head)
                tiles.append((f"{name}{tile % 2}", slot, loaded))
        for name, slot, (values, there) in tiles:
            copied = there if p.fill == "none" else np.ones_like(there)
            mask = np.repeat(copied, p.element.numpy.itemsize, axis=1)
            held[name][mask] = values.view(np.uint8)[mask]
            images[head, slot] = p.swizzle_of(name).image(held[name]).view(np.int32)
    return images


def _scores(parameters: Parameters, arguments: Arguments) -> Array:
    p = parameters
    scores = np.empty(result_shape(p), np.float32)
    for head in range(p.kv_heads):
        q = q_tile(p, arguments, head)[0].astype(np.float32)
        for tile in range(p.tiles):
            k = kv_tile(p, arguments, "k", tile, head)[0].astype(np.float32)
            scores[head, tile] = q @ k.T
    return scores
