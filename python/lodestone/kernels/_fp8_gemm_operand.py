"""One operand (A or B) of the FP8 GEMM: its LDS buffers, the DMA into them, the reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lodestone import ir
from lodestone.kernels._builder import Builder, Int

# Columns of K in a step, which are as many bytes.
STEP = 128
WAVES = 4
DMA_LANE_BYTES = 16
DMA_WAVE_BYTES = 64 * DMA_LANE_BYTES
# Rows that the four waves bring by one DMA instruction each.
DMA_ROWS = WAVES * DMA_WAVE_BYTES // STEP
TILE_ROWS = 16
FRAGMENT = "vector<8xi32>"


@dataclass(frozen=True)
class LDSBuffer:
    """A buffer for one half of an operand; offset and size in bytes."""

    operand: str
    half: int
    stage: int
    offset: int
    size: int

    @property
    def key(self) -> tuple[str, int, int]:
        """What `Operand` looks its buffers up by."""
        return self.operand, self.half, self.stage

    @property
    def name(self) -> str:
        """The name of the region or global."""
        return f"{self.operand}{self.half}_stage{self.stage}"


def lds_layout(tile_m: int, tile_n: int) -> list[LDSBuffer]:
    """Return the 8 buffers, one after the other."""
    buffers: list[LDSBuffer] = []
    end = 0
    for stage in (0, 1):
        for operand, rows in (("a", tile_m), ("b", tile_n)):
            for half in (0, 1):
                size = rows // 2 * STEP
                buffers.append(LDSBuffer(operand, half, stage, end, size))
                end += size
    return buffers


class Operand:
    """The addresses of one operand, and the ops that move it.

    An LDS buffer holds a half of the tile's rows, 128 bytes each, with the 16-byte pieces
    of a row permuted so that 16 lanes that read the same piece of 16 rows hit different
    banks: swizzle xor<3, 4, 4> on the byte offset, that is, bits 1..3 of the row are
    xor-ed into the number of the piece. A DMA writes LDS linearly, so it is the address in
    global memory that is permuted.

    Attributes:
        tiles: 16-row tiles of a half that one wave multiplies.
        tile_offsets: the first rows of this operand's tiles, both halves, for wave 0.
        dma_count: DMAs of a wave that fill one buffer.
    """

    def __init__(
        self,
        builder: Builder,
        name: str,
        rows: int,
        k: int,
        lds: Mapping[tuple[str, int, int], ir.Value],
        lane: Int,
        wave: Int,
        part: Int,
    ) -> None:
        """Compute this lane's addresses.

        Args:
            builder: builds them.
            name: "a" or "b", as in the keys of `lds`.
            rows: rows of the operand in the workgroup's tile.
            k: bytes from a row to the next in global memory.
            lds: the addresses of the buffers, by (name, half, stage).
            lane: 0..63.
            wave: 0..3, uniform.
            part: which of two parts of each half this wave multiplies.
        """
        self.builder = builder
        self.k = k
        half_rows = rows // 2
        self.tiles = half_rows // 2 // TILE_ROWS
        self.dma_count = half_rows // DMA_ROWS
        self.tile_offsets = [
            half * half_rows + tile * TILE_ROWS for half in (0, 1) for tile in range(self.tiles)
        ]

        # DMA i of a wave fills the bytes from i * 4096 + wave * 1024, 16 a lane.
        dma_row = wave * (DMA_WAVE_BYTES // STEP) + lane // 8
        dma_column = (lane * 16 & 0x70) ^ (dma_row // 2 * 16 & 0x70)
        self.source = {
            (half, i): (dma_row + (half * half_rows + i * DMA_ROWS)) * k + dma_column
            for half in (0, 1)
            for i in range(self.dma_count)
        }
        self.target = {
            (half, stage, i): builder.advance(
                lds[name, half, stage], wave * DMA_WAVE_BYTES + i * DMA_ROWS * STEP
            )
            for half in (0, 1)
            for stage in (0, 1)
            for i in range(self.dma_count)
        }

        # A lane reads row lane % 16 of a tile, bytes lane // 16 * 16 and 64 further on.
        # 16-row tiles don't change bits 1..3 of the row: one address serves them all.
        row = part * (half_rows // 2) + lane % 16
        swizzle = (lane // 16 * 16) ^ (row // 2 * 16)
        # The mask keeps the column in its row.
        columns = [(swizzle ^ (piece * 64)) & 0x70 for piece in (0, 1)]
        self.fragment = {
            (half, stage): [
                builder.advance(lds[name, half, stage], row * STEP + column) for column in columns
            ]
            for half in (0, 1)
            for stage in (0, 1)
        }
        self.resource: ir.Value | None = None

    def bind(self, matrix: ir.Value, first_row: Int, rows: Int) -> None:
        """Make `rows` rows of `matrix` from `first_row` the source of the DMAs."""
        builder = self.builder
        base = builder.advance(matrix, first_row.widen() * self.k)
        self.resource = builder.buffer_resource(base, rows * self.k)

    def dmas(self, half: int, stage: int, column: Int) -> list[Callable[[], None]]:
        """Return what issues the DMAs of this wave that fill a buffer from `column` on."""
        resource = self.resource
        assert resource is not None, "bind() comes first"

        def dma(i: int) -> Callable[[], None]:
            target, source = self.target[half, stage, i], self.source[half, i]
            return lambda: self.builder.buffer_load_lds(resource, target, source, column)

        return [dma(i) for i in range(self.dma_count)]

    def reads(self, half: int, stage: int) -> list[Callable[[], ir.Value | None]]:
        """Return what reads this wave's fragments of a buffer, in two reads each.

        The second read of a fragment returns it, the first one returns None.
        """
        pieces: list[ir.Value] = []

        def read(tile: int, piece: int) -> Callable[[], ir.Value | None]:
            def emit() -> ir.Value | None:
                address = self.builder.advance(
                    self.fragment[half, stage][piece], tile * TILE_ROWS * STEP
                )
                pieces.append(self.builder.load(address, "vector<4xi32>", 16))
                if piece == 0:
                    return None
                return self.builder.concatenate(pieces[-2], pieces[-1], FRAGMENT, 8)

            return emit

        return [read(tile, piece) for tile in range(self.tiles) for piece in (0, 1)]
