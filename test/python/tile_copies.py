"""Kernels that copy a tile into LDS, swizzled, in many shapes, and their LDS image in NumPy."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# What LDS holds before the copy, so that cells that nobody fills can be told: in each byte.
BEFORE = 0x5A
ELEMENTS = {"i32": 4, "f32": 4, "f16": 2, "bf16": 2, "f8E4M3FN": 1, "i8": 1}


@dataclass(frozen=True)
class TileCopy:
    """One kernel: `threads` threads copy `steps` cells each, of `words` dwords.

    Cell `n = step * threads + thread`, or `thread * steps + step` if `along`, is in row
    `n // row_cells` and column `n % row_cells`; the last `missing` cells aren't copied.
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
    # none, xor, xor-high, flat, not-own-inverse, rotate, rotate-back, xor-rotate, padded
    swizzle: str = "xor"
    attribute: str = ""  # the allocation's own swizzle, on top of which the indices are logical
    fill: str = "none"  # none, zero, select, keep, zero-first
    guarded: bool = False  # the rows' bound is tested around the loops, where that is possible
    rows_valid: int = 1 << 20
    columns_valid: int = 1 << 20  # in cells
    element: str = "i32"
    missing: int = 0
    phases: int = 0  # of the xors by rows; 0: as many as the row's cells can take
    base: int = 0  # cells in front of the tile, which the xors of whole addresses count

    @property
    def cells(self) -> int:
        return self.steps * self.threads - self.missing

    @property
    def rows(self) -> int:
        return -(-self.cells // self.row_cells)

    @property
    def layout(self) -> str:
        return f"align(16) swizzle({self.attribute})" if self.attribute else "align(16)"

    @property
    def per_cell(self) -> int:
        """Elements of a cell."""
        return self.words * 4 // ELEMENTS[self.element]

    @property
    def row_elements(self) -> int:
        return self.row_cells * self.per_cell

    @property
    def row_stride(self) -> int:
        """Cells from row to row in LDS."""
        return self.row_cells + (self.swizzle == "padded")

    @property
    def mask(self) -> int:
        """Of the xors by rows; if it exceeds what the row can take, cells leave their rows."""
        return (self.phases or self.row_cells & -self.row_cells) - 1

    @property
    def lds_words(self) -> int:
        return self.lds_cells * self.words

    @property
    def lds_cells(self) -> int:
        """Cells of the tile's region."""
        whole = 32 if self.base or self.mask >= self.row_cells & -self.row_cells else 1
        return -(-(self.base + self.rows * self.row_stride) // whole) * whole

    @property
    def lds_elements(self) -> int:
        return self.lds_cells * self.per_cell

    def place(self, row: NDArray[np.int64], column: NDArray[np.int64]) -> NDArray[np.int64]:
        """The cell in LDS that a cell of the tile goes to."""
        mask = self.mask
        match self.swizzle:
            case "xor":
                column = column ^ (row & mask)
            case "xor-high":
                column = column ^ ((row >> 1) & mask)
            case "flat":
                flat = row * self.row_cells + column + self.base
                return flat ^ ((flat >> 2) & 3)
            case "not-own-inverse":  # CuTe's S<3, 4, 2> on cells of 16 bytes
                flat = row * self.row_cells + column + self.base
                return flat ^ ((flat >> 2) & 7)
            case "rotate":
                column = (column + row) % self.row_cells
            case "rotate-back":
                column = (column + row * (self.row_cells - 1)) % self.row_cells
            case "xor-rotate":
                column = ((column ^ (row & mask)) + row) % self.row_cells
        return row * self.row_stride + column

    def place_ir(self) -> list[str]:
        """The same as IR, from `%row` and `%column` to `%cell`."""
        mask = self.mask
        flat = ["%start = arith.muli %row, %cRow : index",
                "%cell = arith.addi %start, %moved : index"]  # fmt: skip
        xor = [f"%m = arith.constant {mask} : index",
               "%flip = arith.andi %row, %m : index",
               "%moved = arith.xori %column, %flip : index"]  # fmt: skip
        match self.swizzle:
            case "xor":
                return [*xor, *flat]
            case "xor-high":
                return [f"%m = arith.constant {mask} : index",
                        "%high = arith.shrui %row, %c1 : index",
                        "%flip = arith.andi %high, %m : index",
                        "%moved = arith.xori %column, %flip : index", *flat]  # fmt: skip
            case "flat" | "not-own-inverse":
                bits = 3 if self.swizzle == "flat" else 7
                return ["%start = arith.muli %row, %cRow : index",
                        "%inside = arith.addi %start, %column : index",
                        f"%base = arith.constant {self.base} : index",
                        "%n0 = arith.addi %inside, %base : index",
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
            case "xor-rotate":
                xor[-1] = xor[-1].replace("%moved", "%x0")
                return [*xor,
                        "%sum = arith.addi %x0, %row : index",
                        "%moved = arith.remui %sum, %cRow : index", *flat]  # fmt: skip
            case "padded":
                return [f"%stride = arith.constant {self.row_stride} : index",
                        "%start = arith.muli %row, %stride : index",
                        "%cell = arith.addi %start, %column : index"]  # fmt: skip
        return ["%moved = arith.addi %column, %c0 : index", *flat]

    @property
    def vector(self) -> str:
        return f"vector<{self.per_cell}x{self.element}>"

    @property
    def zero(self) -> str:
        """A cell of zeros, as an attribute."""
        return f"dense<{'0' if self.element.startswith('i') else '0.0'}> : {self.vector}"

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

    def all_steps(
        self, source: str, lds: str, locate: list[str] | None = None, columns: int = 0
    ) -> list[str]:
        """All steps, one behind the other or in loops, under the condition that holds for all."""
        if self.unrolled:
            lines: list[str] = []
            for step in range(self.steps):
                lines += [f"%s{step} = arith.constant {step} : index"]
                body = self.body(f"%s{step}", source, lds, locate, columns)
                lines += [rename(line, step) for line in body]
            return lines
        loops = self.loops(self.body("%i", source, lds, locate, columns))
        if not self.guards_rows:
            return loops
        return ["%own = arith.muli %t, %cSteps : index",
                "%ownRow = arith.divui %own, %cRow : index",
                "%ownIn = arith.cmpi ult, %ownRow, %cRows : index",
                "scf.if %ownIn {", *loops, "}"]  # fmt: skip

    def loops(self, body: list[str]) -> list[str]:
        """Loops around the body, in which `%i` is the step's number."""
        if self.carries:
            times = "%cSteps, %c1" if self.along else "%c1, %cThreads"
            first, by = times.split(", ")
            return [f"%firstCell = arith.muli %t, {first} : index",
                    "%lastCell = scf.for %i = %c0 to %cSteps step %c1 "
                    "iter_args(%n = %firstCell) -> (index) {",
                    *body,
                    f"%nextCell = arith.addi %n, {by} : index",
                    "scf.yield %nextCell : index", "}"]  # fmt: skip
        if self.nested == 1:
            return ["scf.for %i = %c0 to %cSteps step %c1 {", *body, "}"]
        # Counters that neither start at 0 nor go by 1.
        inner = self.steps // self.nested
        return [f"%cFirst = arith.constant {2 * inner} : index",
                f"%cBy = arith.constant {3 * inner} : index",
                f"%cEnd = arith.constant {2 * inner + 3 * inner * self.nested} : index",
                f"%cInner = arith.constant {inner} : index",
                "%cThree = arith.constant 3 : index",
                "scf.for %o = %cFirst to %cEnd step %cBy {",
                "scf.for %p = %c0 to %cInner step %c1 {",
                "%o0 = arith.subi %o, %cFirst : index",
                "%o1 = arith.divui %o0, %cThree : index",
                "%i = arith.addi %o1, %p : index",
                *body, "}", "}"]  # fmt: skip

    def body(
        self, step: str, source: str, lds: str, locate: list[str] | None, columns: int
    ) -> list[str]:
        """One step, under the condition that it is valid.

        Args:
            step: the value with its number.
            source: the type of `%source`.
            lds: the type of `%tile`.
            locate: computes `%from`, the row to load from, and `%bound`, the one that bounds
                count, from `%row`; and `%to`, the place of the tile in LDS.
            columns: of the memref `%tile`, which has rows then; 0: it has one dimension.
        """
        lines = self.copy_ir(source, lds, locate, columns)
        if self.steps_valid >= self.steps:
            return [*self.cell_ir(step), *lines]
        return [*self.cell_ir(step), f"%valid = arith.cmpi ult, {step}, %cValid : index",
                "scf.if %valid {", *lines, "}"]  # fmt: skip

    def copy_ir(self, source: str, lds: str, locate: list[str] | None, columns: int) -> list[str]:
        """What a step does with cell `%n`."""
        vector = self.vector
        load = f"%x = vector.load %source[%from, %word] : {source}, {vector}"
        store = f"vector.store %x, %tile[%at] : {lds}, {vector} // copy"
        lines = [
            "%row = arith.divui %n, %cRow : index",
            "%column = arith.remui %n, %cRow : index",
            "%word = arith.muli %column, %cWords : index",
            *self.place_ir(),
        ]
        if locate is None:
            lines += ["%at = arith.muli %cell, %cWords : index"]
            load = load.replace("%from", "%row")
        else:
            lines += [
                *locate,
                "%in_tile = arith.muli %cell, %cWords : index",
                "%at = arith.addi %in_tile, %to : index",
            ]
        if columns:
            lines += split_ir(columns)
            store = store.replace("%tile[%at]", "%tile[%atrow, %atcolumn]")
        lines += [
            f"%rowIn = arith.cmpi ult, {'%row' if locate is None else '%bound'}, %cRows : index",
            "%columnIn = arith.cmpi ult, %column, %cColumns : index",
            "%in = arith.andi %rowIn, %columnIn : i1",
        ]
        copy: list[str] = []
        match self.fill:
            case "none":
                copy = [load, store]
            case "zero":
                copy = [f"%v = scf.if %in -> {vector} {{", load, f"scf.yield %x : {vector}",
                        "} else {", f"scf.yield %zero : {vector}", "}",
                        store.replace("%x", "%v")]  # fmt: skip
            case "select":
                copy = [load, f"%v = arith.select %in, %x, %zero : {vector}",
                        store.replace("%x", "%v")]  # fmt: skip
            case "keep":
                condition = "%columnIn" if self.guards_rows else "%in"
                copy = [f"scf.if {condition} {{", load, store, "}"]
            case "zero-first":
                first = store.replace("%x", "%zero").replace(" // copy", "")
                copy = [first, "scf.if %in {", load, store, "}"]
        if self.missing:
            copy = [f"%all = arith.constant {self.cells} : index",
                    "%there = arith.cmpi ult, %n, %all : index",
                    "scf.if %there {", *copy, "}"]  # fmt: skip
        return lines + copy

    def text(self) -> str:
        """The kernel: fills LDS, copies, and writes LDS out as it is."""
        kind = self.element
        lds = f"memref<{self.lds_elements}x{kind}, #lds>"
        source = f"memref<{self.rows}x{self.row_elements}x{kind}>"
        body = "\n    ".join(self.all_steps(source, lds))
        height = self.threads // self.width
        return f"""
#lds = #gpu.address_space<workgroup>
gpu.module @m {{
  gpu.func @copy(%source: {source},
                 %image: memref<{self.lds_elements}x{kind}>) kernel
      attributes {{known_block_size = array<i32: {self.width}, {height}, 1>}} {{
    %tile = lds.region @tile {self.layout} : {lds}
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %cSteps = arith.constant {self.steps} : index
    %cThreads = arith.constant {self.threads} : index
    %cRow = arith.constant {self.row_cells} : index
    %cWords = arith.constant {self.per_cell} : index
    %cAll = arith.constant {self.lds_elements} : index
    %cWidth = arith.constant {self.width} : index
    %cValid = arith.constant {self.steps_valid} : index
    %cRows = arith.constant {self.rows_valid} : index
    %cColumns = arith.constant {self.columns_valid} : index
    %zero = arith.constant {self.zero}
    {before_ir(kind)}
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
      memref.store %word, %image[%j] : memref<{self.lds_elements}x{kind}>
    }}
    gpu.return
  }}
}}
"""

    def source(self, rows: int = 0) -> NDArray[np.uint32]:
        """Each dword different: (rows, dwords of a row)."""
        shape = rows or self.rows, self.row_cells * self.words
        return np.arange(1, shape[0] * shape[1] + 1, dtype=np.uint32).reshape(shape)

    def copy(
        self, image: NDArray[np.uint32], source: NDArray[np.uint32], first: int = 0
    ) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
        """What one run of the copy stores: the places, and a cell for each.

        Args:
            image: cells of LDS as they were, in logical order.
            source: cells to copy from, row after row; those out of bounds aren't looked at.
            first: the row that is the tile's first where bounds are tested.
        """
        n = np.arange(self.cells, dtype=np.int64)
        step = n % self.steps if self.along else n // self.threads
        n = n[step < self.steps_valid]
        row, column = n // self.row_cells, n % self.row_cells
        inside = (first + row < self.rows_valid) & (column < self.columns_valid)
        inside |= self.fill == "none"
        place = self.place(row, column)
        old = np.zeros_like(image[place]) if self.fill != "keep" else image[place]
        old[inside] = source[n[inside]]
        return place, old

    def expected(self) -> NDArray[np.uint32]:
        """LDS after the copy, in dwords."""
        image = np.full((self.lds_cells, self.words), BEFORE * 0x01010101, np.uint32)
        place, cells = self.copy(image, self.source().reshape(-1, self.words))
        image[place] = cells
        return image.reshape(-1)


def before_ir(element: str) -> str:
    """Defines `%was`, an element of bytes `BEFORE`."""
    bits = 8 * ELEMENTS[element]
    value = int.from_bytes(bytes([BEFORE]) * (bits // 8), "little")
    if element.startswith("i"):
        return f"%was = arith.constant {value} : {element}"
    return f"""%was_bits = arith.constant {value} : i{bits}
    %was = arith.bitcast %was_bits : i{bits} to {element}"""


def split_ir(columns: int, at: str = "%at") -> list[str]:
    """From the element `at` of a memref to `%atrow` and `%atcolumn`."""
    return [f"%atcolumns = arith.constant {columns} : index",
            f"%atrow = arith.divui {at}, %atcolumns : index",
            f"%atcolumn = arith.remui {at}, %atcolumns : index"]  # fmt: skip


# The names that a step defines, those of who locates it included, and those around steps.
LOCAL = (
    "before valid n row column word at rowIn columnIn in v x m flip high moved start cell by "
    "shift sum inside base n0 c2 c3 x0 stride all there from bound to in_tile entry in_page last "
    "clamped number numberx page0 slotsize atrow atcolumn atcolumns"
).split()
AROUND = "firstCell lastCell own ownRow ownIn cFirst cBy cEnd cInner cThree".split()


def rename(line: str, suffix: object, names: list[str] = LOCAL) -> str:
    """`line` with the names that a step defines, or others, made its own."""
    return re.sub(r"%(\w+)", lambda m: f"%{m[1]}_{suffix}" if m[1] in names else m[0], line)
