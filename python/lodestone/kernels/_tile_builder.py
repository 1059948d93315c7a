"""What `Builder` has to have for kernels on the level of memref, vector and scf."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lodestone import ir
from lodestone.kernels._builder import Builder, Int, IntLike, Operand
from lodestone.kernels._fast_division import FastDivisor

# Bytes of the widest access of a lane.
CELL_BYTES = 16
LDS_SPACE = "#gpu.address_space<workgroup>"


class TileBuilder(Builder):
    """Builds ops on memrefs; positions are of type index."""

    def index(self, value: IntLike) -> Int:
        """Return `value` as an index; a Python int becomes a constant."""
        return self.integer(value, "index")

    def indices(self, values: Sequence[IntLike]) -> list[Int]:
        """Return all of `values` as indices."""
        return [self.index(value) for value in values]

    def from_i32(self, value: ir.Value) -> Int:
        """Return an i32 that isn't negative as an index."""
        return Int(self, self.op("arith.index_castui", (value,), ("index",)))

    def thread(self) -> Int:
        """Return the thread's number in its workgroup of one dimension."""
        return Int(self, self.op("gpu.thread_id", (), ("index",), dimension="#gpu<dim x>"))

    def block(self, dimension: str) -> Int:
        """Return the workgroup's number in the grid along "x", "y" or "z"."""
        return Int(
            self, self.op("gpu.block_id", (), ("index",), dimension=f"#gpu<dim {dimension}>")
        )

    def both(self, first: ir.Value, second: ir.Value) -> ir.Value:
        """Return the conjunction of two i1."""
        return self.op("arith.andi", (first, second), ("i1",))

    def divide(
        self, dividend: Int, divisor: ir.Value, magic: ir.Value, shift: ir.Value
    ) -> tuple[Int, Int]:
        """Return quotient and remainder by two multiplications; see `FastDivisor`.

        Args:
            dividend: an index below 2^31.
            divisor, magic, shift: i32.
        """
        narrow = Int(self, self.op("arith.index_castui", (dividend,), ("i32",)))
        doubled = narrow * FastDivisor.DIVIDEND_FACTOR
        product = self.operation("arith.mului_extended", (doubled, magic), ("i32", "i32"))
        quotient = Int(self, self.op("arith.shrui", (product.results[1], shift), ("i32",)))
        remainder = narrow - quotient * Int(self, divisor)
        return self.from_i32(quotient.value), self.from_i32(remainder.value)

    # Memory --------------------------------------------------------------------

    def memref_region(
        self, name: str, type: str, offset: int, swizzle: str = "", overlays: str = ""
    ) -> ir.Value:
        """Declare a region of the kernel's dynamic LDS as a memref.

        Args:
            name: of the region.
            type: `memref<64x64xf16, #gpu.address_space<workgroup>>`.
            offset: in bytes.
            swizzle: an attribute, `#lds.xor<bits = 3, base = 4, shift = 3>`.
            overlays: the region whose bytes it shares.
        """
        attributes = {"region_name": f'"{name}"', "offset": f"{offset} : i64", "align": "16 : i64"}
        if swizzle:
            attributes["swizzle"] = swizzle
        if overlays:
            attributes["overlays"] = f'["{overlays}"]'
        return self.op("lds.region", (), (type,), **attributes)

    def read(self, memory: ir.Value, at: Sequence[IntLike], type: str) -> ir.Value:
        """Load a vector of 16 bytes, aligned to as many."""
        operands: list[Operand] = [memory, *self.indices(at)]
        return self.op("vector.load", operands, (type,), alignment=f"{CELL_BYTES} : i64")

    def write(self, value: ir.Value, memory: ir.Value, at: Sequence[IntLike]) -> None:
        """Store a vector of 16 bytes, aligned to as many."""
        operands: list[Operand] = [value, memory, *self.indices(at)]
        self.operation("vector.store", operands, (), {"alignment": f"{CELL_BYTES} : i64"})

    def read_element(self, memory: ir.Value, at: Sequence[IntLike], type: str) -> ir.Value:
        """Load one element."""
        return self.op("memref.load", [memory, *self.indices(at)], (type,))

    # Copies --------------------------------------------------------------------

    def commit_group(self) -> None:
        """Close the group of copies that were issued since the last call."""
        self.operation("lds.commit_group")

    def wait_group(self, in_flight: int) -> None:
        """Wait for all groups but the youngest `in_flight`."""
        self.operation("lds.wait_group", attributes={"in_flight": f"{in_flight} : i64"})

    def lds_barrier(self) -> None:
        """Wait for the wave's LDS accesses, and for the workgroup's other waves.

        Fences, as those of gpu.barrier and amdgpu.lds_barrier, would drain every DMA in flight.
        """
        self.operation("amdgpu.memory_counter_wait", attributes={"ds": "0 : i32"})
        self.barrier()

    # Structure -----------------------------------------------------------------

    def when(self, condition: ir.Value, body: Callable[[], None]) -> None:
        """Run `body` in the lanes that meet `condition`."""
        branch = self.operation("scf.if", (condition,), (), regions=2)
        with ir.InsertionPoint(branch.regions[0].blocks.append()):
            body()
            self.operation("scf.yield")

    def choose(
        self,
        condition: ir.Value,
        type: str,
        if_true: Callable[[], ir.Value],
        if_false: Callable[[], ir.Value],
    ) -> ir.Value:
        """Return the value of one of two bodies."""
        branch = self.operation("scf.if", (condition,), (type,), regions=2)
        for region, body in zip(branch.regions, (if_true, if_false), strict=True):
            with ir.InsertionPoint(region.blocks.append()):
                self.operation("scf.yield", (body(),))
        return branch.results[0]

    def repeat(self, count: int, body: Callable[[Int], None]) -> None:
        """Run `body` for i = 0..count-1; it takes i, an index."""
        bounds = self.indices((0, count, 1))
        loop = self.operation("scf.for", bounds, (), regions=1)
        block = loop.regions[0].blocks.append(self.type("index"))
        with ir.InsertionPoint(block):
            body(Int(self, block.arguments[0]))
            self.operation("scf.yield")

    # Matrix cores --------------------------------------------------------------

    def extract(self, vector: ir.Value, offset: int, size: int, type: str) -> ir.Value:
        """Return `size` elements of a vector from `offset` on."""
        mask = ", ".join(map(str, range(offset, offset + size)))
        return self.op("vector.shuffle", (vector, vector), (type,), mask=f"array<i64: {mask}>")

    def mfma_16x16(self, k: int, a: ir.Value, b: ir.Value, c: ir.Value) -> ir.Value:
        """Return a b^T + c for two 16 x k tiles, in f32.

        a, b: k / 4 values of row lane % 16. Any order of the k columns will do that is the
        same in both. c and the result: vector<4xf32>, rows 4 * (lane // 16) + 0..3 of column
        lane % 16.
        """
        return self.op(
            "amdgpu.mfma",
            (a, b, c),
            ("vector<4xf32>",),
            m="16 : i32",
            n="16 : i32",
            k=f"{k} : i32",
            blocks="1 : i32",
        )
