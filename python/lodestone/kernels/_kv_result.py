"""What the K/V/Q tile producer does with its tiles: dump their LDS images, or multiply them."""

from __future__ import annotations

from collections.abc import Mapping

from lodestone import ir
from lodestone.kernels._builder import Int
from lodestone.kernels._kv_problem import BUFFERS, MFMA_ROWS, THREADS, UNFILLED, Parameters
from lodestone.kernels._tile_builder import CELL_BYTES, LDS_SPACE, TileBuilder

CELL_WORDS = CELL_BYTES // 4
WORDS = f"vector<{CELL_WORDS}xi32>"
LANES = 64
# Lanes that share a row of an MFMA operand.
LANES_OF_ROW = LANES // MFMA_ROWS
ACCUMULATOR = "vector<4xf32>"


class DumpImages:
    """Copies the bytes of the buffers, as they lie in LDS, to global memory.

    They are read through regions that overlay the buffers and have no swizzle.
    """

    def __init__(
        self,
        builder: TileBuilder,
        parameters: Parameters,
        images: ir.Value,
        thread: Int,
        head: Int,
    ) -> None:
        """Declare the regions.

        Args:
            builder: builds the ops.
            parameters: of the kernel.
            images: memref of heads, slots and words; see `result_shape`.
            thread: index.
            head: index, of K and V.
        """
        self.builder = builder
        self.parameters = parameters
        self.images = images
        self.thread = thread
        self.head = head
        words = f"memref<{parameters.tile_bytes // 4}xi32, {LDS_SPACE}>"
        self.lds = {
            name: builder.memref_region(
                f"{name}_image", words, i * parameters.tile_bytes, overlays=name
            )
            for i, name in enumerate(BUFFERS)
        }
        if parameters.fill == "none":
            self._clear()

    def _words(self) -> list[Int]:
        """Where the thread's 16-byte pieces of a tile start."""
        steps = self.parameters.tile_bytes // (THREADS * CELL_BYTES)
        return [(self.thread + i * THREADS) * CELL_WORDS for i in range(steps)]

    def _clear(self) -> None:
        """Give the bytes that no copy writes a value."""
        value = int.from_bytes(bytes([UNFILLED] * 4), "little", signed=True)
        cell = self.builder.constant(f"dense<{value}>", WORDS)
        for memory in self.lds.values():
            for word in self._words():
                self.builder.write(cell, memory, (word,))
        self.builder.lds_barrier()

    def use_q(self) -> None:
        """Dump Q."""
        self._dump("q", self.builder.index(0))

    def use_tile(self, tile: Int, stage: int) -> None:
        """Dump K and V."""
        for position, name in enumerate("kv"):
            self._dump(f"{name}{stage}", tile * 2 + (1 + position))

    def _dump(self, name: str, slot: Int) -> None:
        for word in self._words():
            cell = self.builder.read(self.lds[name], (word,), WORDS)
            self.builder.write(cell, self.images, (self.head, slot, word))


class MultiplyFragments:
    """Multiplies Q and K by MFMA, with one 16-byte read of each row for 16 bytes of columns.

    A lane reads row lane % 16 of a 16-row tile, 16 bytes at 16 * (lane // 16) of each 64: with
    rows of 128 bytes and no swizzle, 16 lanes of a phase would meet in the same banks.
    Waves take turns at the 16x16 tiles of the scores.
    """

    def __init__(
        self,
        builder: TileBuilder,
        parameters: Parameters,
        lds: Mapping[str, ir.Value],
        scores: ir.Value,
        thread: Int,
        head: Int,
    ) -> None:
        """Compute the lane's place.

        Args:
            builder: builds the ops.
            parameters: of the kernel.
            lds: memrefs of the buffers, by name.
            scores: memref of heads, tiles, rows of Q and rows of K.
            thread: index.
            head: index, of K and V.
        """
        self.builder = builder
        self.parameters = parameters
        self.lds = lds
        self.scores = scores
        self.head = head
        lane, wave = thread % LANES, thread // LANES
        self.lane_row = lane % MFMA_ROWS
        self.lane_part = lane // MFMA_ROWS
        edge = parameters.rows // MFMA_ROWS
        waves = THREADS // LANES
        # (rows of Q, rows of K) of each of the wave's tiles.
        numbers = [wave + i * waves for i in range(edge * edge // waves)]
        self.places = [
            (number // edge * MFMA_ROWS, number % edge * MFMA_ROWS) for number in numbers
        ]
        self.cell = f"vector<{parameters.cell_elements}x{parameters.element.mlir}>"
        self.q: list[list[ir.Value]] = []

    def use_q(self) -> None:
        """Read the fragments of Q; they stay in registers."""
        self.q = [self._fragment("q", row) for row, _ in self.places]

    def use_tile(self, tile: Int, stage: int) -> None:
        """Multiply, and store the scores."""
        builder = self.builder
        for (q_row, k_row), q in zip(self.places, self.q, strict=True):
            scores = builder.constant("dense<0.0>", ACCUMULATOR)
            for a, b in zip(q, self._fragment(f"k{stage}", k_row), strict=True):
                scores = self._multiply(a, b, scores)
            # K before Q in the product makes the transpose: a lane has four columns in a row.
            column = k_row + self.lane_part * 4
            builder.write(scores, self.scores, (self.head, tile, q_row + self.lane_row, column))

    def _fragment(self, name: str, first_row: Int) -> list[ir.Value]:
        p = self.parameters
        row = first_row + self.lane_row
        return [
            self.builder.read(
                self.lds[name],
                (row, self.lane_part * p.cell_elements + column),
                self.cell,
            )
            for column in range(0, p.head_dim, LANES_OF_ROW * p.cell_elements)
        ]

    def _multiply(self, q: ir.Value, k: ir.Value, scores: ir.Value) -> ir.Value:
        """Add the products of 16 bytes a lane: as many MFMAs as the chip needs for them."""
        p = self.parameters
        # gfx942 has no MFMA that takes more than four f16 a lane.
        size = 4 if p.chip == "gfx942" and p.dtype != "fp8" else 8
        piece = f"vector<{size}x{p.element.mlir}>"
        for offset in range(0, p.cell_elements, size):
            a, b = (self.builder.extract(value, offset, size, piece) for value in (k, q))
            scores = self.builder.mfma_16x16(size * LANES_OF_ROW, a, b, scores)
        return scores
