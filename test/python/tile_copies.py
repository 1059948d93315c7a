"""Kernels that copy a tile into LDS, swizzled, in many shapes, and their LDS image in NumPy."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# What LDS holds before the copy, so that cells that nobody fills can be told.
BEFORE = 0x5A5A5A5A


@dataclass(frozen=True)
class TileCopy:
    """One kernel: `threads` threads copy `steps` cells each, of `words` dwords.

    Cell `n = step * threads + thread`, or `thread * steps + step` if `along`, is in row
    `n // row_cells` and column `n % row_cells`.
    """

    words: int = 4
    row_cells: int = 8
    threads: int = 64
    width: int = 64  # threads along x; the others are along y
    steps: int = 1
    unrolled: bool = False
    along: bool = False  # each thread copies consecutive cells
    nested: int = 1  # iterations of an outer loop, a divisor of `steps`
    carried: bool = False  # a loop that isn't nested carries `n` from step to step
    steps_valid: int = 1 << 20  # a condition that is the same for all threads skips the others
    swizzle: str = "xor"  # none, xor, xor-high, flat, not-own-inverse, rotate, rotate-back
    attribute: str = ""  # the allocation's own swizzle, on top of which the indices are logical
    fill: str = "none"  # none, zero, select, keep, zero-first
    guarded: bool = False  # the rows' bound is tested around the loops, where that is possible
    rows_valid: int = 1 << 20
    columns_valid: int = 1 << 20  # in cells

    @property
    def cells(self) -> int:
        return self.steps * self.threads

    @property
    def rows(self) -> int:
        return -(-self.cells // self.row_cells)

    @property
    def layout(self) -> str:
        return f"align(16) swizzle({self.attribute})" if self.attribute else "align(16)"

    @property
    def lds_words(self) -> int:
        return self.rows * self.row_cells * self.words

    def place(self, row: NDArray[np.int64], column: NDArray[np.int64]) -> NDArray[np.int64]:
        """The cell in LDS that a cell of the tile goes to."""
        mask = (self.row_cells & -self.row_cells) - 1
        match self.swizzle:
            case "xor":
                column = column ^ (row & mask)
            case "xor-high":
                column = column ^ ((row >> 1) & mask)
            case "flat":
                flat = row * self.row_cells + column
                return flat ^ ((flat >> 2) & 3)
            case "not-own-inverse":  # CuTe's S<3, 4, 2> on cells of 16 bytes
                flat = row * self.row_cells + column
                return flat ^ ((flat >> 2) & 7)
            case "rotate":
                column = (column + row) % self.row_cells
            case "rotate-back":
                column = (column + row * (self.row_cells - 1)) % self.row_cells
        return row * self.row_cells + column

    def place_ir(self) -> list[str]:
        """The same as IR, from `%row` and `%column` to `%cell`."""
        mask = (self.row_cells & -self.row_cells) - 1
        flat = ["%start = arith.muli %row, %cRow : index",
                "%cell = arith.addi %start, %moved : index"]  # fmt: skip
        match self.swizzle:
            case "xor":
                return [f"%m = arith.constant {mask} : index",
                        "%flip = arith.andi %row, %m : index",
                        "%moved = arith.xori %column, %flip : index", *flat]  # fmt: skip
            case "xor-high":
                return [f"%m = arith.constant {mask} : index",
                        "%high = arith.shrui %row, %c1 : index",
                        "%flip = arith.andi %high, %m : index",
                        "%moved = arith.xori %column, %flip : index", *flat]  # fmt: skip
            case "flat" | "not-own-inverse":
                bits = 3 if self.swizzle == "flat" else 7
                return ["%start = arith.muli %row, %cRow : index",
                        "%n0 = arith.addi %start, %column : index",
                        "%c2 = arith.constant 2 : index",
                        f"%c3 = arith.constant {bits} : index",
                        "%high = arith.shrui %n0, %c2 : index",
                        "%flip = arith.andi %high, %c3 : index",
                        "%cell = arith.xori %n0, %flip : index"]  # fmt: skip
            case "rotate" | "rotate-back":
                by = 1 if self.swizzle == "rotate" else self.row_cells - 1
                return [f"%by = arith.constant {by} : index",
                        "%shift = arith.muli %row, %by : index",
                        "%sum = arith.addi %column, %shift : index",
                        "%moved = arith.remui %sum, %cRow : index", *flat]  # fmt: skip
        return ["%moved = arith.addi %column, %c0 : index", *flat]

    @property
    def carries(self) -> bool:
        """Whether `n` is an iter_arg."""
        return self.carried and self.nested == 1 and not self.unrolled

    def cell_ir(self, step: str) -> list[str]:
        """From the step's number to `%n`."""
        if self.carries:
            return []
        if self.along:
            return ["%before = arith.muli %t, %cSteps : index",
                    f"%n = arith.addi %before, {step} : index"]  # fmt: skip
        return [f"%before = arith.muli {step}, %cThreads : index",
                "%n = arith.addi %before, %t : index"]  # fmt: skip

    @property
    def guards_rows(self) -> bool:
        """Whether the rows' bound is around the loops: a thread has only one row."""
        return (
            self.guarded and self.along and self.fill == "keep" and not self.unrolled
            and self.row_cells % self.steps == 0
        )  # fmt: skip

    def guarded_loops(self) -> list[str]:
        """All steps, in loops, under the condition that holds for all."""
        if not self.guards_rows:
            return self.loops()
        return ["%own = arith.muli %t, %cSteps : index",
                "%ownRow = arith.divui %own, %cRow : index",
                "%ownIn = arith.cmpi ult, %ownRow, %cRows : index",
                "scf.if %ownIn {", *self.loops(), "}"]  # fmt: skip

    def loops(self) -> list[str]:
        """All steps, in loops."""
        if self.carries:
            times = "%cSteps, %c1" if self.along else "%c1, %cThreads"
            first, by = times.split(", ")
            return [f"%entry = arith.muli %t, {first} : index",
                    "scf.for %i = %c0 to %cSteps step %c1 iter_args(%n = %entry) -> (index) {",
                    *self.body("%i"),
                    f"%next = arith.addi %n, {by} : index",
                    "scf.yield %next : index", "}"]  # fmt: skip
        if self.nested == 1:
            return ["scf.for %i = %c0 to %cSteps step %c1 {", *self.body("%i"), "}"]
        # Counters that neither start at 0 nor go by 1.
        inner = self.steps // self.nested
        return [f"%cFirst = arith.constant {2 * inner} : index",
                f"%cBy = arith.constant {3 * inner} : index",
                f"%cEnd = arith.constant {2 * inner + 3 * inner * self.nested} : index",
                f"%cInner = arith.constant {inner} : index",
                "%cThree = arith.constant 3 : index",
                "scf.for %o = %cFirst to %cEnd step %cBy {",
                "scf.for %j = %c0 to %cInner step %c1 {",
                "%o0 = arith.subi %o, %cFirst : index",
                "%o1 = arith.divui %o0, %cThree : index",
                "%i = arith.addi %o1, %j : index",
                *self.body("%i"), "}", "}"]  # fmt: skip

    def body(self, step: str) -> list[str]:
        """One step, under the condition that it is valid; `step` is the value with its number."""
        if self.steps_valid >= self.steps:
            return self.copy(step)
        return [f"%valid = arith.cmpi ult, {step}, %cValid : index", "scf.if %valid {",
                *self.copy(step), "}"]  # fmt: skip

    def copy(self, step: str) -> list[str]:
        """What a step does."""
        vector = f"vector<{self.words}xi32>"
        source = f"memref<{self.rows}x{self.row_cells * self.words}xi32>"
        lds = f"memref<{self.lds_words}xi32, #lds>"
        load = f"%x = vector.load %source[%row, %word] : {source}, {vector}"
        store = f"vector.store %x, %tile[%at] : {lds}, {vector}"
        lines = [
            *self.cell_ir(step),
            "%row = arith.divui %n, %cRow : index",
            "%column = arith.remui %n, %cRow : index",
            "%word = arith.muli %column, %cWords : index",
            *self.place_ir(),
            "%at = arith.muli %cell, %cWords : index",
            "%rowIn = arith.cmpi ult, %row, %cRows : index",
            "%columnIn = arith.cmpi ult, %column, %cColumns : index",
            "%in = arith.andi %rowIn, %columnIn : i1",
        ]
        match self.fill:
            case "none":
                lines += [load, store]
            case "zero":
                lines += [f"%v = scf.if %in -> {vector} {{", load, f"scf.yield %x : {vector}",
                          "} else {", f"scf.yield %zero : {vector}", "}",
                          store.replace("%x", "%v")]  # fmt: skip
            case "select":
                lines += [load, f"%v = arith.select %in, %x, %zero : {vector}",
                          store.replace("%x", "%v")]  # fmt: skip
            case "keep":
                condition = "%columnIn" if self.guards_rows else "%in"
                lines += [f"scf.if {condition} {{", load, store, "}"]
            case "zero-first":
                lines += [store.replace("%x", "%zero"), "scf.if %in {", load, store, "}"]
        return lines

    def text(self) -> str:
        """The kernel: fills LDS, copies, and writes LDS out as it is."""
        lds = f"memref<{self.lds_words}xi32, #lds>"
        lines: list[str] = []
        if self.unrolled:
            for step in range(self.steps):
                # A region of their own for the names.
                lines += [f"%s{step} = arith.constant {step} : index"]
                names = self.body(f"%s{step}")
                lines += [rename(line, step) for line in names]
        else:
            lines += self.guarded_loops()
        body = "\n    ".join(lines)
        height = self.threads // self.width
        return f"""
#lds = #gpu.address_space<workgroup>
gpu.module @m {{
  gpu.func @copy(%source: memref<{self.rows}x{self.row_cells * self.words}xi32>,
                 %image: memref<{self.lds_words}xi32>) kernel
      attributes {{known_block_size = array<i32: {self.width}, {height}, 1>}} {{
    %tile = lds.region @tile {self.layout} : {lds}
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %cSteps = arith.constant {self.steps} : index
    %cThreads = arith.constant {self.threads} : index
    %cRow = arith.constant {self.row_cells} : index
    %cWords = arith.constant {self.words} : index
    %cAll = arith.constant {self.lds_words} : index
    %cWidth = arith.constant {self.width} : index
    %cValid = arith.constant {self.steps_valid} : index
    %cRows = arith.constant {self.rows_valid} : index
    %cColumns = arith.constant {self.columns_valid} : index
    %zero = arith.constant dense<0> : vector<{self.words}xi32>
    %was = arith.constant {BEFORE} : i32
    %tx = gpu.thread_id x
    %ty = gpu.thread_id y
    %y0 = arith.muli %ty, %cWidth : index
    %t = arith.addi %y0, %tx : index
    scf.for %j = %t to %cAll step %cThreads {{
      memref.store %was, %tile[%j] : {lds}
    }}
    gpu.barrier
    {body}
    gpu.barrier
    scf.for %j = %t to %cAll step %cThreads {{
      %word = memref.load %tile[%j] : {lds}
      memref.store %word, %image[%j] : memref<{self.lds_words}xi32>
    }}
    gpu.return
  }}
}}
"""

    def source(self) -> NDArray[np.uint32]:
        """Each dword different: (rows, dwords of a row)."""
        shape = self.rows, self.row_cells * self.words
        return np.arange(1, shape[0] * shape[1] + 1, dtype=np.uint32).reshape(shape)

    def expected(self) -> NDArray[np.uint32]:
        """LDS after the copy, in dwords."""
        n = np.arange(self.cells, dtype=np.int64)
        row, column = n // self.row_cells, n % self.row_cells
        inside = (row < self.rows_valid) & (column < self.columns_valid)
        step = n % self.steps if self.along else n // self.threads
        valid = step < self.steps_valid
        cells = self.source().reshape(-1, self.words)[n]
        image = np.full((self.rows * self.row_cells, self.words), BEFORE, np.uint32)
        place = self.place(row, column)
        if self.fill in ("zero", "select", "zero-first"):
            image[place[valid]] = 0
        kept = valid if self.fill == "none" else valid & inside
        image[place[kept]] = cells[kept]
        return image.reshape(-1)


def rename(line: str, step: int) -> str:
    """`line` with the names that a step defines made its own."""
    local = ("before valid n row column word at rowIn columnIn in v x m flip high moved start "
             "cell by shift sum n0 c2 c3").split()  # fmt: skip
    return re.sub(r"%(\w+)", lambda m: f"%{m[1]}_{step}" if m[1] in local else m[0], line)
