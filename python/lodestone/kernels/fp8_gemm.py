"""FP8 GEMM for gfx950: C[M,N] = (A[M,K] B[N,K]^T) * row_scale[M] * column_scale[N].

A and B are fp8 e4m3, row-major, with K contiguous; the scales are f32; C is bf16.
K is fixed when the kernel is built; M and N are arguments (N a multiple of 4), and tiles
that stick out of C are cut off by the range checks of the buffer resources.

A workgroup of 4 waves computes a tile_m x tile_n tile of C. Both operands are cut into
two halves along their rows, and each half of a 128-column step of K has an LDS buffer for
even and one for odd steps: 8 buffers, filled by DMA two steps ahead. Product of halves
(i, j) is a *cluster* of MFMAs; the four waves (2 x 2) have a quarter of it each:

    cluster   MFMA       LDS reads (into registers)   DMA (for step k+2)
              wait for b1, a1 of step k; barrier
    0         a0 x b0    b1 of step k                 a0
    1         a0 x b1    a1 of step k                 b0
              wait for a0, b0 of step k+1; barrier
    2         a1 x b0    a0 of step k+1               b1
    3         a1 x b1    b0 of step k+1               a1

A barrier says two things: what the waits before it brought is visible to all waves, and
the buffers that were read before it are free. So each wait leaves the two youngest pairs
of buffers in flight: 16 DMAs of a wave for a 256x256 tile.

What the compiler can't see is that a read of one buffer needn't wait for the DMA into
another. Without alias scopes it waits for all of them, four times a step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import ml_dtypes
import numpy as np

from lodestone import ir
from lodestone.kernels._builder import (
    SCHED_DS_READ,
    SCHED_MFMA,
    SCHED_VMEM_READ,
    Builder,
    Int,
)
from lodestone.kernels._fp8_gemm_operand import STEP, LDSBuffer, Operand, lds_layout
from lodestone.kernels._fp8_gemm_problem import TILES, Form, Parameters, inputs, reference
from lodestone.kernels._kernel import Argument, Kernel

BLOCK = (256, 1, 1)
ACCUMULATOR = "vector<4xf32>"
# Past the end of every buffer resource: a store there is dropped.
OUT_OF_RANGE = -(1 << 31)

__all__ = ["TILES", "Form", "Parameters", "fp8_gemm"]

Cluster = tuple[int, int]
Fragments = list[ir.Value]


def fp8_gemm(tile_m: int = 256, tile_n: int = 256, k: int = 1024, form: Form = "regions") -> Kernel:
    """FP8 GEMM for gfx950: C = A B^T with scales of rows and columns, bf16 out.

    Built in the current `ir.Context`, or in one of its own.

    Args:
        tile_m: rows of C of a workgroup: 64, 128 or 256.
        tile_n: columns of C of a workgroup: 64, 128 or 256.
        k: columns of A and B, a multiple of 128 and at least 256.
        form: how the LDS is declared, see `Form`.

    Raises:
        ValueError: a parameter is out of range.
    """
    parameters = Parameters(tile_m, tile_n, k, form)
    context = ir.Context.current if ir.Context.current is not None else ir.Context()
    with context, ir.Location.unknown():
        module = ir.Module.create()
        buffers = lds_layout(tile_m, tile_n)
        with ir.InsertionPoint(module.body):
            _build(Builder(), parameters, buffers)
        module.operation.attributes["gpu.container_module"] = ir.UnitAttr.get()
        module.operation.verify()

    lds_bytes = max(buffer.offset + buffer.size for buffer in buffers)
    fp8, f32 = np.dtype(ml_dtypes.float8_e4m3fn), np.dtype(np.float32)
    return Kernel(
        name="fp8_gemm",
        chip="gfx950",
        module=module,
        arguments=(
            Argument("a", fp8, ("m", k)),
            Argument("b", fp8, ("n", k)),
            Argument("c", np.dtype(ml_dtypes.bfloat16), ("m", "n"), output=True),
            Argument("row_scale", f32, ("m",)),
            Argument("column_scale", f32, ("n",)),
            Argument("m", np.dtype(np.int32)),
            Argument("n", np.dtype(np.int32)),
        ),
        block=BLOCK,
        dynamic_lds=0 if form == "static" else lds_bytes,
        # Stores are of four columns; the byte offset in a tile of C has 31 bits.
        dimensions={"m": (1, (1 << 31) - 1), "n": (4, (1 << 30) // tile_m - 4)},
        grid=lambda size: (-(-size["n"] // tile_n), -(-size["m"] // tile_m), 1),
        make_inputs=lambda size, random: inputs(size, k, random),
        compute=reference,
        # Half a unit in the last of bf16's 8 bits, and the order of the f32 sums.
        relative_tolerance=2.0**-8,
        absolute_tolerance=1e-3 * k,
        compile_options={"separate_globals": True} if form == "separate-globals" else {},
    )


def _build(builder: Builder, parameters: Parameters, buffers: list[LDSBuffer]) -> None:
    pointer = "!llvm.ptr<1>"
    with builder.gpu_module("fp8_gemm_module"):
        if parameters.form == "static":
            for buffer in buffers:
                builder.static_lds(buffer.name, buffer.size)
        arguments = [pointer] * 5 + ["i32"] * 2
        with builder.kernel("fp8_gemm", arguments, BLOCK) as values:
            if parameters.form == "static":
                lds = {x.key: builder.address_of(x.name) for x in buffers}
            else:
                lds = {x.key: builder.region(x.name, x.offset, x.size) for x in buffers}
            _Kernel(builder, parameters, lds, values).build()


class _Kernel:
    """Builds the body of the kernel; the state is what lives in registers."""

    def __init__(
        self,
        builder: Builder,
        parameters: Parameters,
        lds: Mapping[tuple[str, int, int], ir.Value],
        arguments: list[ir.Value],
    ) -> None:
        self.builder = builder
        self.k = parameters.k
        a, b, self.c, self.row_scale, self.column_scale = arguments[:5]
        m, self.n = (Int(builder, value) for value in arguments[5:])

        thread = builder.thread_id("x")
        lane = thread % 64
        wave = builder.uniform(thread // 64)
        self.first_row = builder.block_id("y") * parameters.tile_m
        self.first_column = builder.block_id("x") * parameters.tile_n
        self.rows = (m - self.first_row).minimum(parameters.tile_m)
        self.columns = (self.n - self.first_column).minimum(parameters.tile_n)

        self.a = Operand(builder, "a", parameters.tile_m, self.k, lds, lane, wave, wave // 2)
        self.b = Operand(builder, "b", parameters.tile_n, self.k, lds, lane, wave, wave % 2)
        self.a.bind(a, self.first_row, self.rows)
        self.b.bind(b, self.first_column, self.columns)
        # In a 16x16 tile of C^T, a lane has one row of C and four columns in a row.
        self.lane_row = wave // 2 * (parameters.tile_m // 4) + lane % 16
        self.lane_column = wave % 2 * (parameters.tile_n // 4) + lane // 16 * 4

        zero = builder.constant("dense<0.0>", ACCUMULATOR)
        self.accumulators: dict[Cluster, list[ir.Value]] = {
            (i, j): [zero] * (self.a.tiles * self.b.tiles) for i in (0, 1) for j in (0, 1)
        }
        self.a0: Fragments = []
        self.b0: Fragments = []

    def build(self) -> None:
        """Build everything from the first DMA to the last store."""
        self.prologue()
        # The last two steps have nothing to fetch; the rest goes in pairs, since a buffer
        # must be the same one in each round of the loop.
        steady = self.k // STEP - 2
        done = steady % 2
        if done:
            self.step(0, fetch_at=self.builder.integer(2 * STEP))
        pairs = (steady - done) // 2
        if pairs == 1:
            self.pair(done, self.builder.integer(0))
        elif pairs > 1:
            self.main_loop(done, pairs)
        self.step(done, after_next=False)
        self.step(1 - done, after_next=False, following=False)
        self.store()

    def prologue(self) -> None:
        """Fill all 8 buffers, and read a0 and b0 of the first step as soon as they are there."""
        for stage in (0, 1):
            column = self.builder.integer(stage * STEP)
            for operand, half in ((self.a, 0), (self.b, 0), (self.b, 1), (self.a, 1)):
                for dma in operand.dmas(half, stage, column):
                    dma()
        in_flight = 4 * (self.a.dma_count + self.b.dma_count)
        self.synchronize(in_flight - self.a.dma_count)
        self.a0 = _run(self.a.reads(0, 0))
        self.synchronize(in_flight - self.a.dma_count - self.b.dma_count)
        self.b0 = _run(self.b.reads(0, 0))

    def main_loop(self, first: int, pairs: int) -> None:
        """Loop over pairs of steps; accumulators and fragments stay in registers."""
        clusters = list(self.accumulators)

        def pack() -> list[ir.Value]:
            return [v for c in clusters for v in self.accumulators[c]] + self.a0 + self.b0

        def unpack(values: list[ir.Value]) -> None:
            source = iter(values)
            for cluster in clusters:
                self.accumulators[cluster] = [next(source) for _ in self.accumulators[cluster]]
            self.a0 = [next(source) for _ in self.a0]
            self.b0 = [next(source) for _ in self.b0]

        def body(index: Int, values: list[ir.Value]) -> list[ir.Value]:
            unpack(values)
            self.pair(first, index * (2 * STEP))
            return pack()

        unpack(self.builder.loop(pairs, pack(), body))

    def pair(self, first: int, column: Int) -> None:
        """Two steps with fetches; `column` is that of the first step, less `first` steps."""
        for step in (first, first + 1):
            self.step(step % 2, fetch_at=column + (step + 2) * STEP)

    def step(
        self,
        stage: int,
        fetch_at: Int | None = None,
        after_next: bool = True,
        following: bool = True,
    ) -> None:
        """One step of K, out of the buffers of `stage`.

        Args:
            stage: 0 for even steps, 1 for odd ones.
            fetch_at: the column to fetch into the same buffers for step k+2, if there is one.
            after_next: whether there is a step k+2.
            following: whether there is a step k+1.
        """

        def fetch(operand: Operand, half: int) -> list[Callable[[], None]]:
            return [] if fetch_at is None else operand.dmas(half, stage, fetch_at)

        pair = self.a.dma_count + self.b.dma_count
        # Younger than b1, a1 of this step: all of step k+1.
        self.synchronize(2 * pair if following else 0)
        b1 = self.cluster((0, 0), self.a0, self.b0, self.b.reads(1, stage), fetch(self.a, 0))
        a1 = self.cluster((0, 1), self.a0, b1, self.a.reads(1, stage), fetch(self.b, 0))
        if following:
            # Younger than a0, b0 of step k+1: its b1, a1, and a0, b0 of step k+2.
            self.synchronize(2 * pair if after_next else pair)
            a0, b0 = self.a.reads(0, 1 - stage), self.b.reads(0, 1 - stage)
        else:
            # Nothing more to wait for: fetch the scales behind the last MFMAs.
            self.load_scales()
            a0, b0 = [], []
        self.a0 = self.cluster((1, 0), a1, self.b0, a0, fetch(self.b, 1))
        self.b0 = self.cluster((1, 1), a1, b1, b0, fetch(self.a, 1))

    def synchronize(self, in_flight: int) -> None:
        """Wait for all but the youngest `in_flight` DMAs and for all LDS reads, of all waves."""
        self.builder.wait(in_flight)
        self.builder.barrier()
        self.builder.schedule_fence()

    def cluster(
        self,
        cluster: Cluster,
        a: Fragments,
        b: Fragments,
        reads: list[Callable[[], ir.Value | None]],
        dmas: list[Callable[[], None]],
    ) -> Fragments:
        """Multiply two halves and, spread over the MFMAs, read fragments and issue DMAs."""
        memory: list[tuple[int, Callable[[], ir.Value | None]]]
        memory = [(SCHED_DS_READ, read) for read in reads]
        memory += [(SCHED_VMEM_READ, dma) for dma in dmas]
        products = [(p, q) for p in range(len(a)) for q in range(len(b))]
        accumulators = self.accumulators[cluster]
        fragments: Fragments = []
        order: list[int] = []
        done = 0
        for index, (p, q) in enumerate(products):
            # B before A: this makes C^T, whose lanes hold four columns in a row of C.
            accumulators[index] = self.builder.mfma_fp8_16x16x128(b[q], a[p], accumulators[index])
            order.append(SCHED_MFMA)
            until = -(-len(memory) * (index + 1) // len(products))
            for kind, emit in memory[done:until]:
                value = emit()
                if value is not None:
                    fragments.append(value)
                order.append(kind)
            done = until
        # The compiler's scheduler takes the order above as a set; this makes it a list.
        for kind in order:
            self.builder.schedule_next(kind)
        self.builder.schedule_fence()
        return fragments

    def load_scales(self) -> None:
        """Load the scales of this lane's rows and columns; out of range they are 0."""
        builder = self.builder
        row_scales = builder.buffer_resource(
            builder.advance(self.row_scale, self.first_row.widen() * 4), self.rows * 4
        )
        column_scales = builder.buffer_resource(
            builder.advance(self.column_scale, self.first_column.widen() * 4), self.columns * 4
        )
        self.row_factors = [
            builder.broadcast(
                builder.buffer_load(row_scales, (self.lane_row + offset) * 4, "f32"), ACCUMULATOR
            )
            for offset in self.a.tile_offsets
        ]
        self.column_factors = [
            builder.buffer_load(column_scales, (self.lane_column + offset) * 4, ACCUMULATOR)
            for offset in self.b.tile_offsets
        ]
        builder.schedule_fence()

    def store(self) -> None:
        """Scale, round to bf16 and store, 8 bytes a lane and tile."""
        builder = self.builder
        corner = self.first_row.widen() * self.n.widen() + self.first_column.widen()
        # The bytes from the corner to the end of the tile's last row: what is below is out
        # of range. What is right of C is not, and gets an address that is.
        size = (self.rows * self.n - self.first_column) * 2
        resource = builder.buffer_resource(builder.advance(self.c, corner * 2), size)
        for row, row_offset in enumerate(self.a.tile_offsets):
            line = (self.lane_row + row_offset) * self.n
            for column, column_offset in enumerate(self.b.tile_offsets):
                at = self.lane_column + column_offset
                i, p = divmod(row, self.a.tiles)
                j, q = divmod(column, self.b.tiles)
                factor = builder.multiply(self.row_factors[row], self.column_factors[column])
                product = self.accumulators[i, j][p * self.b.tiles + q]
                rounded = builder.narrow(builder.multiply(product, factor), "vector<4xbf16>")
                address = builder.select(at.less_than(self.columns), (line + at) * 2, OUT_OF_RANGE)
                builder.buffer_store(builder.bitcast(rounded, "vector<2xi32>"), resource, address)


def _run(reads: list[Callable[[], ir.Value | None]]) -> Fragments:
    return [value for read in reads if (value := read()) is not None]
