"""lds-inverse-swizzle on copies in a loop over tiles that carries what they need, executed.

Each turn copies one tile into LDS and writes LDS out; each of these images must be NumPy's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

pytest.importorskip("lodestone._native")

import lodestone
from lodestone import sim
from test_inverse_swizzle import transform

THREADS = 64
WORDS = 4  # dwords of a cell
TURNS = 3


@dataclass(frozen=True)
class Tiles:
    """A kernel of 64 threads that copies tile after tile, `steps` cells a thread.

    `form` is what a turn of the outer loop hands to the next: the address ("pointer"), the number
    of the row that a table names ("page"), the data ("data").
    """

    form: str
    row_cells: int = 8
    steps: int = 1
    along: bool = False  # thread t copies cells t * steps to t * steps + steps - 1
    swizzle: str = "xor"

    @property
    def cells(self) -> int:
        return THREADS * self.steps

    @property
    def rows(self) -> int:
        return self.cells // self.row_cells

    @property
    def table(self) -> NDArray[np.int32]:
        """The row of the source for each row of each tile, and of one tile more: loaded ahead."""
        rows = (TURNS + 1) * self.rows
        if self.form != "page":
            return np.arange(rows, dtype=np.int32)
        return np.random.default_rng(5).permutation(rows).astype(np.int32)

    @property
    def source(self) -> NDArray[np.uint32]:
        """Each dword different: (rows, dwords of a row)."""
        shape = (TURNS + 1) * self.rows, self.row_cells * WORDS
        return np.arange(1, shape[0] * shape[1] + 1, dtype=np.uint32).reshape(shape)

    def expected(self) -> NDArray[np.uint32]:
        """The images: (turns, dwords of a tile)."""
        row, column = np.divmod(np.arange(self.cells), self.row_cells)
        moved = column ^ (row % self.row_cells)
        if self.swizzle == "rotate":
            moved = (column + row) % self.row_cells
        images = np.zeros((TURNS, self.cells, WORDS), np.uint32)
        for turn, image in enumerate(images):
            rows = self.source[self.table[turn * self.rows :][: self.rows]]
            image[row * self.row_cells + moved] = rows.reshape(-1, WORDS)
        return images.reshape(TURNS, -1)

    def text(self) -> str:
        """The kernel."""
        lds = f"memref<{self.cells * WORDS}xi32, #lds>"
        source = f"memref<{self.source.size}xi32>"
        cell = f"vector<{WORDS}xi32>"
        table = f"memref<{len(self.table)}xi32>"
        flip = (
            ["%flip = arith.remui %row, %cRow : index",
             "%moved = arith.xori %column, %flip : index"]
            if self.swizzle == "xor" else
            ["%sum = arith.addi %column, %row : index",
             "%moved = arith.remui %sum, %cRow : index"]
        )  # fmt: skip
        place = ["%row = arith.divui %n, %cRow : index", "%column = arith.remui %n, %cRow : index",
                 *flip, "%start = arith.muli %row, %cRow : index",
                 "%to = arith.addi %start, %moved : index",
                 "%at = arith.muli %to, %cWords : index"]  # fmt: skip
        store = f"vector.store %x, %tile[%at] : {lds}, {cell}"

        def row_of(result: str, turn: str) -> list[str]:
            """The table's row for the thread's first cell."""
            return [f"%{result}_0 = arith.muli {turn}, %cRows : index",
                    f"%{result}_1 = arith.addi %{result}_0, %row0 : index",
                    f"%{result} = memref.load %table[%{result}_1] : {table}"]  # fmt: skip

        ahead = "%ahead = arith.addi %turn, %c1 : index"
        by, step = ("%cSteps", "%c1") if self.along else ("%c1", "%cThreads")
        cells = [f"%before = arith.muli %i, {step} : index",
                 "%n = arith.addi %n0, %before : index", *place]  # fmt: skip
        match self.form:
            case "pointer":
                init, first, kind = ["%init = arith.muli %n0, %cWords : index"], [], "index"
                last = ["%next = arith.addi %carried, %cTile : index"]
                load = ["%more = arith.muli %before, %cWords : index",
                        "%p = arith.addi %carried, %more : index",
                        f"%x = vector.load %source[%p] : {source}, {cell}"]  # fmt: skip
            case "page":
                init, first, kind = row_of("init", "%c0"), [ahead, *row_of("next", "%ahead")], "i32"
                last = []
                load = ["%page = arith.index_cast %carried : i32 to index",
                        "%p0 = arith.muli %page, %cRow : index",
                        "%p1 = arith.addi %p0, %column : index",
                        "%p = arith.muli %p1, %cWords : index",
                        f"%x = vector.load %source[%p] : {source}, {cell}"]  # fmt: skip
            case _:
                init = ["%p = arith.muli %n0, %cWords : index",
                        f"%init = vector.load %source[%p] : {source}, {cell}"]  # fmt: skip
                first, kind = [], cell
                last = [ahead, "%tile0 = arith.muli %ahead, %cTile : index",
                        "%q = arith.addi %p, %tile0 : index",
                        f"%next = vector.load %source[%q] : {source}, {cell}"]  # fmt: skip
                load = [f"%x = vector.bitcast %carried : {cell} to {cell}"]
        images = f"memref<{TURNS}x{self.cells * WORDS}xi32>"
        indent = "\n      "
        copy = indent.join(["scf.for %i = %c0 to %cSteps step %c1 {", *cells, *load, store, "}"])
        return f"""
#lds = #gpu.address_space<workgroup>
gpu.module @m {{
  gpu.func @tiles(%source: {source} {{llvm.noalias}}, %table: {table} {{llvm.noalias}},
                  %images: {images} {{llvm.noalias}}) kernel
      attributes {{known_block_size = array<i32: {THREADS}, 1, 1>}} {{
    %tile = lds.region @tile align(16) : {lds}
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %cTurns = arith.constant {TURNS} : index
    %cSteps = arith.constant {self.steps} : index
    %cThreads = arith.constant {THREADS} : index
    %cRow = arith.constant {self.row_cells} : index
    %cRows = arith.constant {self.rows} : index
    %cWords = arith.constant {WORDS} : index
    %cTile = arith.constant {self.cells * WORDS} : index
    %t = gpu.thread_id x
    %n0 = arith.muli %t, {by} : index
    %row0 = arith.divui %n0, %cRow : index
    {indent.join(init)}
    %end = scf.for %turn = %c0 to %cTurns step %c1 iter_args(%carried = %init) -> ({kind}) {{
      {indent.join(first)}
      {copy}
      gpu.barrier
      scf.for %j = %t to %cTile step %cThreads {{
        %word = memref.load %tile[%j] : {lds}
        memref.store %word, %images[%turn, %j] : {images}
      }}
      gpu.barrier
      {indent.join(last)}
      scf.yield %next : {kind}
    }}
    gpu.return
  }}
}}
"""


@pytest.mark.parametrize("swizzle", ["xor", "rotate"])
@pytest.mark.parametrize(
    "shape",
    [
        {"form": "pointer"},
        # The other thread is another one in each step: what the turn added is added to its init.
        {"form": "pointer", "row_cells": 32, "steps": 4},
        {"form": "pointer", "steps": 8, "along": True},
        {"form": "page"},
        {"form": "page", "row_cells": 16},
        {"form": "data"},
    ],
    ids=str,
)
def test_carried(shape: dict[str, object], swizzle: str) -> None:
    """All of these are rewritten, and leave what they left before, in every turn."""
    kernel = Tiles(**shape, swizzle=swizzle)  # type: ignore[arg-type]
    rewritten, remarks = transform(kernel.text(), "--lds-inverse-swizzle")
    assert remarks == ["[Passed] inverse-swizzle-applied"]
    for text, mode in (kernel.text(), "E"), (rewritten, "E"), (rewritten, "R"):
        code = lodestone.compile(text, chip="gfx950", bare_pointers=True).code_object
        images = np.zeros_like(kernel.expected())
        result = sim.run(sim.load(code), args=[kernel.source, kernel.table, images], mode=mode,
                         dynamic_lds=kernel.cells * WORDS * 4)  # fmt: skip
        assert not result.findings, result.findings
        np.testing.assert_array_equal(result.outputs[2], kernel.expected())
