"""A cooperative copy of a tile from global memory to LDS, 16 bytes a lane."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lodestone import ir
from lodestone.kernels._builder import Int
from lodestone.kernels._kv_problem import THREADS, Parameters
from lodestone.kernels._tile_builder import CELL_BYTES, TileBuilder

# From the position of a row to the row in memory.
RowOf = Callable[[Int], Int]


class TileCopy:
    """What the threads of a workgroup do to copy one tile after the other.

    Thread t copies 16-byte cell t of the tile, cell t + 256, and so on; LDS is indexed by row
    and column of the tile. Where the cell lies in LDS is the business of the region's swizzle,
    and how it gets there that of the passes.
    """

    def __init__(self, builder: TileBuilder, parameters: Parameters, thread: Int) -> None:
        """Compute the thread's first cell."""
        self.builder = builder
        self.parameters = parameters
        row_cells = parameters.row_bytes // CELL_BYTES
        self.row = thread // row_cells
        self.column = thread % row_cells * parameters.cell_elements
        self.step_rows = THREADS // row_cells
        self.cell = f"vector<{parameters.cell_elements}x{parameters.element.mlir}>"

    def issue(
        self, tiles: Sequence[tuple[ir.Value, ir.Value]], first: Int, end: Int, row_of: RowOf
    ) -> None:
        """Copy the rows at `first`, `first` + 1, ... below `end`.

        Args:
            tiles: the memref of rows and columns that is copied from, and that of the tile in
                LDS; several if their rows are found in the same way.
            first: position of the tile's first row.
            end: position behind the last row that exists.
            row_of: from positions to rows of the sources; what it returns for positions that
                don't exist isn't used.
        """
        for step in range(self.parameters.rows // self.step_rows):
            row = self.row + step * self.step_rows
            position = first + row
            source_row = row_of(position)
            exists = position.less_than(end)
            for source, target in tiles:
                self._copy_cell(source, target, source_row, row, exists)

    def _copy_cell(
        self, source: ir.Value, target: ir.Value, source_row: Int, row: Int, exists: ir.Value
    ) -> None:
        builder, parameters = self.builder, self.parameters
        if parameters.columns < parameters.head_dim:
            exists = builder.both(exists, self.column.less_than(parameters.columns))

        def load() -> ir.Value:
            return builder.read(source, (source_row, self.column), self.cell)

        def store(value: ir.Value) -> None:
            builder.write(value, target, (row, self.column))

        if parameters.fill == "none":
            builder.when(exists, lambda: store(load()))
        else:
            zero = "dense<0.0>"
            store(
                builder.choose(exists, self.cell, load, lambda: builder.constant(zero, self.cell))
            )
