"""Random kernels that copy tiles to LDS in a loop and read them, with what they must compute.

One or two tiles, each with its own shape, element, swizzle and bounds, are copied in each turn, and
read by other threads in accesses of another width. The seed chooses all that, how many buffers
a tile has and where they are in LDS, whether the rows are found through a table of pages, and
whether copies are waited for by groups or by barriers. `expected` does the same in NumPy, in
program order.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace

import numpy as np
from lodestone.swizzle import Swizzle
from numpy.typing import NDArray
from tile_copies import AROUND, BEFORE, ELEMENTS, LOCAL, TileCopy, before_ir, rename, split_ir

Bytes = NDArray[np.uint8]
WRITTEN = ["xor", "xor", "xor-high", "flat", "not-own-inverse", "rotate", "rotate-back",
           "xor-rotate", "padded", "none"]  # fmt: skip
LARGEST_LDS = 64 << 10
# Names of a tile; each tile of a kernel has its own.
OF_TILE = (
    "source tile cRow cWords cRows cColumns cSteps cValid zero out was was_bits table page".split()
)


@dataclass
class Tile:
    """A tile of a kernel.

    Attributes:
        copy: its shape, swizzle, fill and bounds; rows count through all turns.
        reader: elements that a read takes.
        page: rows of a page of the source; 0: the source is contiguous.
        gap: elements behind each row of the source.
        offsets: where its regions are in LDS, in bytes.
        slots: buffers in a region, one after the other.
        matrix: the memref in LDS has rows and columns; else it is one row.
    """

    copy: TileCopy
    reader: int
    page: int
    gap: int
    offsets: list[int] = field(default_factory=list)
    slots: int = 1
    matrix: bool = False
    pages: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))

    @property
    def element_bytes(self) -> int:
        return ELEMENTS[self.copy.element]

    @property
    def region_bytes(self) -> int:
        """Bytes of a region as the kernel indexes it."""
        return self.slots * self.copy.lds_words * 4

    @property
    def swizzle(self) -> Swizzle:
        return Swizzle.parse(self.copy.attribute) if self.copy.attribute else Swizzle()

    @property
    def image_bytes(self) -> int:
        """Bytes of a region in LDS."""
        return self.swizzle.image_bytes(self.region_bytes)

    @property
    def row_elements(self) -> int:
        return self.copy.row_elements

    @property
    def lds_type(self) -> str:
        elements = self.region_bytes // self.element_bytes
        shape = f"{elements // self.columns}x{self.columns}" if self.matrix else elements
        return f"memref<{shape}x{self.copy.element}, #lds>"

    @property
    def columns(self) -> int:
        """Columns of the memref in LDS; 0 without rows."""
        return self.copy.row_stride * self.copy.per_cell if self.matrix else 0

    def access(self, at: str) -> tuple[list[str], str]:
        """Code, and indices, for element `at` of a region."""
        return (split_ir(self.columns, at), "%atrow, %atcolumn") if self.matrix else ([], at)

    @property
    def is_in_order(self) -> bool:
        """True if the threads of each step store one behind the other anyway."""
        n = np.arange(self.copy.cells, dtype=np.int64)
        row, column = np.divmod(n, self.copy.row_cells)
        cells = self.copy.place(row, column) * self.copy.words * 4
        number = n % self.copy.steps if self.copy.along else n // self.copy.threads
        for step in (cells[number == i] for i in range(self.copy.steps)):
            for slot in range(self.slots):
                # A cell may be stored in parts.
                for byte in range(0, self.copy.words * 4, 4):
                    at = self.swizzle.apply(step + slot * self.copy.lds_words * 4 + byte)
                    if (np.diff(np.asarray(at)) < 0).any():
                        return False
        return True

    def places(self, buffer: int, logical: NDArray[np.int64]) -> NDArray[np.int64]:
        """The bytes in LDS of logical byte offsets in a buffer."""
        regions = len(self.offsets)
        slot = buffer // regions * self.copy.lds_words * 4
        return self.offsets[buffer % regions] + np.asarray(self.swizzle.apply(logical + slot))


def pick_copy(pick: random.Random, threads: int, width: int) -> TileCopy:
    """A tile; what doesn't fit together is part of it."""
    cell = pick.choice([4, 8, 16, 16, 16])
    row_cells = pick.choice([2, 4, 4, 8, 8, 8, 8, 16, 16, 16, 32, 3, 6, 12, 24])
    steps = pick.choice([1, 1, 2, 2, 3, 4]) if threads * cell < 4096 else pick.choice([1, 2])
    copy = TileCopy(
        words=cell // 4,
        row_cells=row_cells,
        threads=threads,
        width=width,
        steps=steps,
        unrolled=pick.random() < 0.4,
        along=pick.random() < 0.25,
        nested=2 if steps % 2 == 0 and pick.random() < 0.3 else 1,
        carried=pick.random() < 0.3,
        swizzle=pick.choice(WRITTEN),
        fill=pick.choice(["none", "none", "zero", "zero", "select", "keep", "keep", "zero-first"]),
        element=pick.choice(["f16", "f16", "bf16", "f32", "f8E4M3FN", "i8", "i32"]),
        missing=pick.choice([0, 0, 0, 0, 0, 1, threads // 2, 64, row_cells]) % threads,
    )
    if not copy.unrolled:
        # Of unrolled steps those that are skipped would be dead code.
        copy = replace(copy, steps_valid=pick.choice([steps, steps, steps, 1]))
    if copy.swizzle in ("flat", "not-own-inverse") and copy.cells % 32:
        # Else cells leave the tile.
        copy = replace(copy, swizzle="rotate")
    if copy.row_cells & 1 and copy.swizzle.startswith("xor"):
        copy = replace(copy, swizzle="none")
    if pick.random() < 0.5:
        copy = replace(copy, swizzle="none", attribute=pick_attribute(pick, copy))
    if pick.random() < 0.5:
        copy = replace(copy, columns_valid=pick.randint(0, row_cells))
    return copy


def pick_attribute(pick: random.Random, copy: TileCopy) -> str:
    """A swizzle of the allocation."""
    cell, row = copy.words * 4, copy.row_cells * copy.words * 4

    def one() -> str:
        match pick.choice(["xor", "xor", "coord_xor", "rotate", "padded"]):
            case "xor":
                # The granule may be smaller than a cell: then the stores are split.
                base = (cell.bit_length() - 1) if pick.random() < 0.85 else 3
                bits, shift = pick.randint(1, 3), pick.choice([2, 3, 3, 4, -3])
                return f"#lds.xor<bits = {bits}, base = {base}, shift = {shift}>"
            case "coord_xor":
                phases = min(3, ((copy.row_cells & -copy.row_cells) - 1).bit_length())
                return (f"#lds.coord_xor<bits = {phases}, base_row = {pick.randint(0, 1)}, "
                        f"base_col = {cell.bit_length() - 1}, row_bytes = {row}>")  # fmt: skip
            case "rotate":
                return f"#lds.rotate<cell_bytes = {cell}, row_bytes = {row}>"
        return f"#lds.padded<row_bytes = {row}, pad_bytes = {pick.choice([cell, 16, 32])}>"

    if pick.random() < 0.2:
        return f"#lds.compose<{one()}, {one()}>"
    return one()


@dataclass
class TileLoop:
    """A random kernel; all of it follows from the seed.

    Attributes:
        chip: what it is compiled for.
        trips: turns of the loop.
        known_trips: the number is a constant; else an argument.
        buffers: of each tile; with two, a turn copies the tile of the next turn.
        computed: the buffers of a tile are one region, indexed by the turn; else the loop has a
            body for each of them.
        last_guarded: the last turn copies nothing; else it copies a tile that nobody reads.
        groups: copies are waited for by groups; else by barriers.
        carried: the turn's number is carried by the loop, instead of its induction variable.
        noalias: the compiler knows that what is read and what is written are apart.
        dump: the kernel writes all of LDS out at its end.
    """

    seed: int

    def __post_init__(self) -> None:
        """Choose everything."""
        pick = random.Random(self.seed)
        self.chip = pick.choice(["gfx950", "gfx950", "gfx942", "gfx1250"])
        self.threads = pick.choice([64, 64, 128, 192, 256, 512])
        self.width = pick.choice([self.threads, self.threads, 32, 64])
        self.buffers = pick.choice([1, 2])
        self.trips = pick.choice([1, 2, 3, 4]) if self.buffers == 1 else pick.choice([2, 4])
        self.computed = pick.random() < 0.5
        self.last_guarded = pick.random() < 0.5
        self.groups = pick.random() < 0.6
        self.carried = pick.random() < 0.25
        self.noalias = pick.random() < 0.8
        # A loop that runs once isn't one: with its last copy gone there is nothing to remark on.
        once = self.buffers == 2 and not self.computed and self.trips == 2
        self.known_trips = not once and pick.random() < 0.4
        self.dump = pick.random() < 0.7
        self.tiles: list[Tile] = []
        for _ in range(pick.choice([1, 1, 2])):
            self.tiles.append(self._pick_tile(pick))
        # Regions at multiples of 16 bytes, in any order, with gaps.
        at = pick.choice([0, 16, 208, 1024])
        regions = 1 if self.computed else self.buffers
        places = [(tile, r) for tile in self.tiles for r in range(regions)]
        pick.shuffle(places)
        for tile in self.tiles:
            tile.offsets = [0] * regions
        for tile, region in places:
            tile.offsets[region] = at
            at += -(-tile.image_bytes // 16) * 16 + pick.choice([0, 0, 16, 272])
        self.lds_bytes = at

    def _pick_tile(self, pick: random.Random) -> Tile:
        while True:
            copy = pick_copy(pick, self.threads, self.width)
            per_cell, row = copy.per_cell, copy.row_elements
            tile = Tile(copy, 1, 0, pick.choice([0, 0, 0, per_cell, 3 * per_cell, 1]))
            tile.slots = self.buffers if self.computed else 1
            tile.matrix = pick.random() < 0.4
            # A read of several cells needs the attribute, which splits it where it must.
            most = row if copy.attribute else per_cell
            most = min(most, 16 // tile.element_bytes)
            sizes = [n for n in (1, 2, 4, 8, 16) if n <= most and row % n == 0]
            tile.reader = pick.choice([*sizes, sizes[-1], sizes[-1]])
            if copy.fill != "none" or pick.random() < 0.3:
                last = copy.rows * self.trips
                valid = pick.choice([pick.randint(0, last), last - 1, last])
                tile.copy = replace(copy, rows_valid=valid)
            if pick.random() < 0.35:
                tile.page = pick.choice([1, 3, 4, 7, 16])
            try:
                tile.swizzle.verify(tile.region_bytes, 1 << 20)
            except (ValueError, RuntimeError):
                continue  # Not a swizzle of this tile.
            rows = -(-self.source_rows(tile) // max(tile.page, 1))
            tile.pages = np.random.default_rng(self.seed).permutation(rows).astype(np.int32)
            if tile.copy.fill == "zero-first" and self.groups:
                continue  # In a group nothing but the copy may touch its bytes.
            if tile.image_bytes * self.buffers <= LARGEST_LDS // 4:
                return tile

    def source_rows(self, tile: Tile) -> int:
        """Rows of the source; where bounds are tested before the load, not one too many."""
        copied = tile.copy.rows * (self.trips + (self.buffers == 2 and not self.last_guarded))
        if tile.copy.fill in ("none", "select"):
            return copied
        return max(1, min(copied, tile.copy.rows_valid))

    # Text --------------------------------------------------------------------------

    def _copy(self, number: int, turn: str, buffer: int, slot: str | None, name: str) -> list[str]:
        """Copy the tile of a turn; `name` makes the names unique."""
        tile = self.tiles[number]
        copy = tile.copy
        lines = [f"%firstrow = arith.constant {copy.rows} : index",
                 f"%first = arith.muli {turn}, %firstrow : index"]  # fmt: skip
        locate = ["%bound = arith.addi %row, %first : index"]
        if tile.page:
            locate += ["%entry = arith.divui %bound, %page : index",
                       "%in_page = arith.remui %bound, %page : index"]  # fmt: skip
            # A row that doesn't exist has no page.
            table = f"memref<{len(tile.pages)}xi32>"
            look = [
                f"%last = arith.constant {len(tile.pages) - 1} : index",
                "%clamped = arith.minui %entry, %last : index",
                f"%number = memref.load %table[%clamped] : {table}",
                "%numberx = arith.index_cast %number : i32 to index",
                "%page0 = arith.muli %numberx, %page : index",
                "%from = arith.addi %page0, %in_page : index",
            ]
            locate += look
        else:
            locate += ["%from = arith.addi %bound, %c0 : index"]
        if slot is None:
            locate += ["%to = arith.addi %c0, %c0 : index"]
        else:
            locate += [f"%slotsize = arith.constant {copy.lds_elements} : index",
                       f"%to = arith.muli {slot}, %slotsize : index"]  # fmt: skip
        lines += copy.all_steps(self._source_type(tile), tile.lds_type, locate, tile.columns)
        steps = range(copy.steps)
        names = ["firstrow", "first", *AROUND, *(f"s{step}" for step in steps)]
        names += [f"{n}_{step}" for n in LOCAL for step in steps]
        lines = [rename(line, f"{name}_{'ab'[number]}", names) for line in lines]
        return self._own(lines, number, buffer)

    def _own(self, lines: list[str], number: int, buffer: int) -> list[str]:
        """The lines with names of the tile and its region."""
        lines = [line.replace("%tile", f"%tile{buffer % len(self.tiles[number].offsets)}_")
                 for line in lines]  # fmt: skip
        regions = [f"tile{r}_" for r in range(self.buffers)]
        return [rename(line, "ab"[number], OF_TILE + regions) for line in lines]

    def _source_type(self, tile: Tile) -> str:
        rows = len(tile.pages) * tile.page if tile.page else self.source_rows(tile)
        return f"memref<{rows}x{tile.row_elements + tile.gap}x{tile.copy.element}>"

    def _read(self, number: int, turn: str, buffer: int, slot: str | None) -> list[str]:
        """Read the tile, and write it out for a turn."""
        tile = self.tiles[number]
        copy = tile.copy
        vector = f"vector<{tile.reader}x{copy.element}>"
        elements = copy.rows * tile.row_elements
        out = f"memref<{self.trips * elements}x{copy.element}>"
        place = f"%to = arith.muli {slot}, %slotsize : index" if slot else ""
        split, indices = tile.access("%at")
        lines = [
            f"%cRead = arith.constant {tile.reader} : index",
            f"%cAll = arith.constant {elements // tile.reader} : index",
            f"%size = arith.constant {elements} : index",
            f"%slotsize = arith.constant {copy.lds_elements} : index",
            f"%start0 = arith.muli {turn}, %size : index",
            # Backwards: what a thread reads, others have copied.
            "scf.for %j = %t to %cAll step %cThreads {",
            "%c1less = arith.subi %cAll, %c1 : index",
            "%back = arith.subi %c1less, %j : index",
            "%e = arith.muli %back, %cRead : index",
            f"%rowsize = arith.constant {tile.row_elements} : index",
            "%row = arith.divui %e, %rowsize : index",
            "%inrow = arith.remui %e, %rowsize : index",
            "%column = arith.divui %inrow, %cWords : index",
            "%within = arith.remui %inrow, %cWords : index",
            *copy.place_ir(),
            "%at0 = arith.muli %cell, %cWords : index",
            "%at1 = arith.addi %at0, %within : index",
            place or "%to = arith.addi %c0, %c0 : index",
            "%at = arith.addi %at1, %to : index",
            *split,
            f"%x = vector.load %tile[{indices}] : {tile.lds_type}, {vector}",
            "%o = arith.addi %start0, %e : index",
            f"vector.store %x, %out[%o] : {out}, {vector}",
            "}",
        ]
        return self._own(["scf.execute_region {", *lines, "scf.yield", "}"], number, buffer)

    def _sync(self) -> list[str]:
        if self.groups:
            return ["amdgpu.memory_counter_wait ds(0)", "rocdl.s.barrier"]
        return ["gpu.barrier"]

    def _copies(self, turn: str, buffer: int, slot: str | None, name: str) -> list[str]:
        """All tiles of a turn, as a group."""
        lines: list[str] = []
        for number in range(len(self.tiles)):
            lines += self._copy(number, turn, buffer, slot, name)
        return lines

    def _turn(self, buffer: int, turn: str) -> list[str]:
        """A turn; `buffer` is what it reads, if that is known."""
        slot = "%slot" if self.computed and self.buffers == 2 else None
        commit = ["lds.commit_group"] if self.groups else []
        lines: list[str] = []
        if slot:
            lines += [f"%slot = arith.remui {turn}, %c2nd : index"]
        if self.buffers == 1:
            lines += [*self._copies(turn, 0, None, "here"), *commit]
        else:
            ahead = [f"%next = arith.addi {turn}, %c1 : index"]
            if slot:
                ahead += ["%nextslot = arith.remui %next, %c2nd : index"]
            other = 1 - buffer
            copies = self._copies("%next", other, "%nextslot" if slot else None, f"next{buffer}")
            if self.last_guarded:
                copies = ["%more = arith.cmpi ult, %next, %cTrips : index",
                          "scf.if %more {", *copies, "}"]  # fmt: skip
            lines += [*ahead, *copies, *commit]
        if self.groups:
            lines += [f"lds.wait_group {self.buffers - 1}"]
        lines += self._sync()
        for number in range(len(self.tiles)):
            lines += self._read(number, turn, buffer, slot)
        lines += self._sync()
        return [rename(line, buffer, ["slot", "next", "nextslot", "more"]) for line in lines]

    def text(self) -> str:
        """The kernel."""
        arguments, start, fill, dump = ["%trips: i32"], [], [], []
        apart = " {llvm.noalias}" if self.noalias else ""
        for number, tile in enumerate(self.tiles):
            own = "ab"[number]
            copy = tile.copy
            elements = copy.rows * tile.row_elements
            arguments += [f"%source_{own}: {self._source_type(tile)}{apart}"]
            arguments += [f"%out_{own}: memref<{self.trips * elements}x{copy.element}>{apart}"]
            if tile.page:
                arguments += [f"%table_{own}: memref<{len(tile.pages)}xi32>{apart}"]
            start += self._own(
                [
                    f"%cSteps = arith.constant {copy.steps} : index",
                    f"%cRow = arith.constant {copy.row_cells} : index",
                    f"%cWords = arith.constant {copy.per_cell} : index",
                    f"%cRows = arith.constant {copy.rows_valid} : index",
                    f"%cValid = arith.constant {copy.steps_valid} : index",
                    f"%cColumns = arith.constant {copy.columns_valid} : index",
                    f"%zero = arith.constant {copy.zero}",
                    f"%page = arith.constant {tile.page} : index",
                    *before_ir(copy.element).splitlines(),
                ],
                number,
                0,
            )
            count = tile.region_bytes // tile.element_bytes
            for region, offset in enumerate(tile.offsets):
                swizzle = f"swizzle({copy.attribute})" if copy.attribute else ""
                name = f"tile{region}__{own}"
                start += [f"%{name} = lds.region @{name} offset({offset}) size({tile.image_bytes}) "
                          f"{swizzle} : {tile.lds_type}"]  # fmt: skip
                split, indices = tile.access("%j")
                fill += [f"scf.for %j = %t to %all_{name} step %cThreads {{", *split,
                         f"memref.store %was_{own}, %{name}[{indices}] : {tile.lds_type}",
                         "}"]  # fmt: skip
                start += [f"%all_{name} = arith.constant {count} : index"]
        if self.dump:
            words = self.lds_bytes // 4
            arguments += [f"%image: memref<{words}xi32>{apart}"]
            regions = [f"@tile{r}__{'ab'[n]}" for n, tile in enumerate(self.tiles)
                       for r in range(len(tile.offsets))]  # fmt: skip
            start += [f"%raw = lds.region @raw offset(0) overlays {', '.join(regions)}"
                      f" : memref<{words}xi32, #lds>"]  # fmt: skip
            # The last copy that nobody reads.
            dump = ["lds.wait_group 0"] if self.groups else []
            dump += ["gpu.barrier", f"%cImage = arith.constant {words} : index",
                    "scf.for %j = %t to %cImage step %cThreads {",
                    f"%word = memref.load %raw[%j] : memref<{words}xi32, #lds>",
                    f"memref.store %word, %image[%j] : memref<{words}xi32>", "}"]  # fmt: skip
        bodies = self.buffers if not self.computed else 1
        loop: list[str] = []
        for buffer in range(bodies):
            turn = "%k" if not buffer else "%k1"
            if buffer:
                loop += ["%k1 = arith.addi %k, %c1 : index"]
            loop += self._turn(buffer, turn)
        before = []
        if self.buffers == 2:
            before = self._copies("%c0", 0, "%c0" if self.computed else None, "start")
            before += ["lds.commit_group"] if self.groups else []
        trips = "%cTrips = arith.index_castui %trips : i32 to index"
        if self.known_trips:
            trips = f"%cTrips = arith.constant {self.trips} : index"
        head, last = "scf.for %k = %c0 to %cTrips step %cBodies {", []
        if self.carried:
            head = ("%end = scf.for %count = %c0 to %cTrips step %cBodies "
                    "iter_args(%k = %c0) -> (index) {")  # fmt: skip
            last = ["%k_next = arith.addi %k, %cBodies : index", "scf.yield %k_next : index"]
        body = "\n    ".join(
            [*start, *fill, "gpu.barrier", *before, head, *loop, *last, "}", *dump]
        )
        return f"""
#lds = #gpu.address_space<workgroup>
gpu.module @m {{
  gpu.func @loop({", ".join(arguments)}) kernel
      attributes {{known_block_size = array<i32: {self.width}, {self.threads // self.width}, 1>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2nd = arith.constant 2 : index
    {trips}
    %cBodies = arith.constant {bodies} : index
    %cThreads = arith.constant {self.threads} : index
    %cWidth = arith.constant {self.width} : index
    %tx = gpu.thread_id x
    %ty = gpu.thread_id y
    %y0 = arith.muli %ty, %cWidth : index
    %t = arith.addi %y0, %tx : index
    {body}
    gpu.return
  }}
}}
"""

    # Numbers -----------------------------------------------------------------------

    def sources(self) -> list[NDArray[np.uint32]]:
        """For each tile its rows, in order, without gaps: dwords that all differ."""
        return [tile.copy.source(self.source_rows(tile)) for tile in self.tiles]

    def arguments(self) -> list[Bytes | NDArray[np.int32] | np.int32]:
        """What the kernel is launched with."""
        values: list[Bytes | NDArray[np.int32] | np.int32] = [np.int32(self.trips)]
        for tile, rows in zip(self.tiles, self.sources(), strict=True):
            size = tile.page or 1
            shape = len(tile.pages) * size if tile.page else len(rows)
            stored = np.full(
                (shape, (tile.row_elements + tile.gap) * tile.element_bytes), 0xEE, np.uint8
            )
            row = np.arange(len(rows))
            where = tile.pages[row // size] * size + row % size if tile.page else row
            stored[where, : rows.shape[1] * 4] = rows.view(np.uint8)
            values += [stored, np.zeros(self._out_bytes(tile), np.uint8)]
            if tile.page:
                values += [tile.pages]
        if self.dump:
            values += [np.zeros(self.lds_bytes, np.uint8)]
        return values

    def _out_bytes(self, tile: Tile) -> int:
        return self.trips * tile.copy.rows * tile.row_elements * tile.element_bytes

    def expected(self) -> tuple[list[Bytes], Bytes, NDArray[np.bool_]]:
        """What is read of each tile, LDS at the end, and which of its bytes are known."""
        lds = np.zeros(self.lds_bytes, np.uint8)
        known = np.zeros(self.lds_bytes, np.bool_)
        outs = [np.zeros((self.trips, self._out_bytes(t) // self.trips), np.uint8)
                for t in self.tiles]  # fmt: skip
        sources = [rows.view(np.uint8).reshape(len(rows), t.copy.row_cells, -1)
                   for t, rows in zip(self.tiles, self.sources(), strict=True)]  # fmt: skip

        def places(tile: Tile, buffer: int) -> NDArray[np.int64]:
            """(cells of the buffer, bytes of a cell)."""
            size = tile.copy.words * 4
            every = np.arange(tile.copy.lds_words * 4, dtype=np.int64)
            return tile.places(buffer, every).reshape(-1, size)

        def copy(turn: int) -> None:
            for tile, source in zip(self.tiles, sources, strict=True):
                at = places(tile, turn % self.buffers)
                image = lds[at].view(np.uint32)
                first = turn * tile.copy.rows
                rows = source[first : first + tile.copy.rows].reshape(-1, at.shape[1])
                # Cells that don't exist are never looked at.
                cells = np.zeros((tile.copy.rows * tile.copy.row_cells, at.shape[1]), np.uint8)
                cells[: len(rows)] = rows
                where, stored = tile.copy.copy(image, cells.view(np.uint32), first)
                lds[at[where]] = stored.view(np.uint8)

        for tile in self.tiles:
            for buffer in range(self.buffers):
                lds[places(tile, buffer)] = BEFORE
                known[places(tile, buffer)] = True
        if self.buffers == 2:
            copy(0)
        for turn in range(self.trips):
            if self.buffers == 1:
                copy(turn)
            elif turn + 1 < self.trips or not self.last_guarded:
                copy(turn + 1)
            for tile, out in zip(self.tiles, outs, strict=True):
                n = np.arange(tile.copy.rows * tile.copy.row_cells)
                cell = tile.copy.place(n // tile.copy.row_cells, n % tile.copy.row_cells)
                out[turn] = lds[places(tile, turn % self.buffers)[cell]].reshape(-1)
        return [out.reshape(-1) for out in outs], lds, known
