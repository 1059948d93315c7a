"""K/V/Q tile producer of an attention kernel: global memory to swizzled LDS, double-buffered.

A workgroup of 4 waves loads the tile of Q of one head of K and V, and then one tile of K and V
after the other, contiguous or paged, into two pairs of LDS buffers:

               copy Q                                       group 0
               copy K 0, V 0                                group 1
               wait for all groups but one; barrier; use Q
    tile 0     copy K 1, V 1                                group 2
               wait for all groups but one; barrier
               use K 0, V 0; barrier
    tile 1     copy K 2, V 2                                group 3
               ...

A copy is written as a load and a store of 16 bytes a lane, indexed by row and column; each
region says how its bytes are swizzled. From this one source the pipeline's options make three
forms: loads and swizzled stores; loads through the inverse swizzle, all before the first of the
linear stores; LDS-DMAs with counted waits. LDS is the same in all of them.

What is used is left in global memory: the LDS images, byte by byte, or the products of Q and K
by MFMA.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lodestone import ir
from lodestone.kernels._builder import Int
from lodestone.kernels._kernel import Argument, Kernel
from lodestone.kernels._kv_copy import TileCopy
from lodestone.kernels._kv_problem import (
    BUFFERS,
    THREADS,
    Chip,
    ElementType,
    Fill,
    Parameters,
    Result,
    dimensions,
    inputs,
    reference,
    result_shape,
)
from lodestone.kernels._kv_result import DumpImages, MultiplyFragments
from lodestone.kernels._tile_builder import LDS_SPACE, TileBuilder

BLOCK = (THREADS, 1, 1)

# The forms that one source takes, and the options of `lodestone.compile` that make them.
FORMS: Mapping[str, Mapping[str, Any]] = {
    "swizzled-store": {"inverse_swizzle": False, "direct_to_lds": "off"},
    "two-phase": {"inverse_swizzle": True, "register_budget": 64, "direct_to_lds": "off"},
    "direct": {"inverse_swizzle": True, "direct_to_lds": "on"},
}

__all__ = ["FORMS", "Chip", "ElementType", "Fill", "Parameters", "Result", "kv_tile_load"]


def kv_tile_load(
    head_dim: int = 128,
    dtype: ElementType = "f16",
    columns: int = 0,
    rows: int = 64,
    tiles: int = 4,
    kv_heads: int = 1,
    swizzle: int = 128,
    q_swizzle: int = 128,
    fill: Fill = "zero",
    paged: bool = False,
    result: Result = "images",
    chip: Chip = "gfx950",
) -> Kernel:
    """K, V and Q tiles of an attention kernel, copied into swizzled LDS buffers.

    Built in the current `ir.Context`, or in one of its own. A launch chooses `length` (rows of
    K and V), `q_rows` (rows of Q, heads that share K and V side by side), `group` (how many of
    these heads) and, if paged, `page_size` (rows of a page).

    Args:
        head_dim: columns of a tile: 64, 128 or 256.
        dtype: of the elements: f16, bf16 or fp8 (e4m3; the FNUZ kind on gfx942).
        columns: columns in memory, a multiple of 16 bytes, at most head_dim; 0: head_dim.
        rows: rows of a tile, a multiple of 16 at least.
        tiles: tiles of K and V, even.
        kv_heads: heads of K and V, a workgroup each.
        swizzle: of K and V, 0, 64, 128 or 256 bytes.
        q_swizzle: of Q.
        fill: what goes into LDS for rows and columns that don't exist, zero or none.
        paged: find the rows of K and V through a block table.
        result: images or scores.
        chip: gfx942 or gfx950.

    Raises:
        ValueError: a parameter is out of range.
    """
    parameters = Parameters(
        head_dim, dtype, columns or head_dim, rows, tiles, kv_heads, swizzle, q_swizzle, fill,
        paged, result, chip,
    )  # fmt: skip
    context = ir.Context.current if ir.Context.current is not None else ir.Context()
    with context, ir.Location.unknown():
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            _build(TileBuilder(), parameters)
        module.operation.attributes["gpu.container_module"] = ir.UnitAttr.get()
        module.operation.verify()

    images = result == "images"
    return Kernel(
        name="kv_tile_load",
        chip=chip,
        module=module,
        arguments=_arguments(parameters),
        block=BLOCK,
        dynamic_lds=len(BUFFERS) * parameters.tile_bytes,
        dimensions=dimensions(parameters),
        grid=lambda size: (kv_heads, 1, 1),
        make_inputs=lambda size, random: inputs(parameters, size, random),
        compute=lambda arguments: reference(parameters, arguments),
        # An image is right or wrong: less than one in 2^31. Scores: the order of the f32 sums.
        relative_tolerance=2.0**-40 if images else 2.0**-20,
        absolute_tolerance=1.0 if images else float(head_dim),
        # Arrays have less than 2^31 bytes.
        compile_options={"bare_pointers": True, "index_bitwidth": 32},
    )


def _arguments(parameters: Parameters) -> tuple[Argument, ...]:
    p, i32 = parameters, np.dtype(np.int32)
    kv = (p.pool_tokens * p.kv_heads, p.columns)
    element = p.element.numpy

    def divisor(name: str) -> list[Argument]:
        return [Argument(f"{name}{part}", i32) for part in ("", "_magic", "_shift")]

    paged = [Argument("pages", i32, (p.tokens,)), *divisor("page_size")] if p.paged else []
    return (
        Argument("q", element, (2 * p.rows * p.kv_heads, p.columns)),
        Argument("k", element, kv),
        Argument("v", element, kv),
        Argument(
            "result",
            i32 if p.result == "images" else np.dtype(np.float32),
            result_shape(p),
            output=True,
        ),
        Argument("length", i32),
        Argument("q_rows", i32),
        *divisor("group"),
        *paged,
    )


def _build(builder: TileBuilder, parameters: Parameters) -> None:
    names = {"float32": "f32", "int32": "i32"}
    arguments = _arguments(parameters)
    types = []
    for argument in arguments:
        element = names.get(argument.dtype.name, parameters.element.mlir)
        shape = "".join(f"{size}x" for size in argument.shape)
        types.append(f"memref<{shape}{element}>" if shape else element)
    # What is written overlaps nothing that is read: a lane may read for another, earlier or later.
    outputs = [number for number, argument in enumerate(arguments) if argument.output]
    with (
        builder.gpu_module("kv_tile_load_module"),
        builder.kernel("kv_tile_load", types, BLOCK, outputs) as values,
    ):
        named = {a.name: value for a, value in zip(arguments, values, strict=True)}
        _Kernel(builder, parameters, named).build()


class _Kernel:
    """Builds the body of the kernel."""

    def __init__(
        self, builder: TileBuilder, parameters: Parameters, arguments: dict[str, ir.Value]
    ) -> None:
        self.builder = builder
        self.parameters = parameters
        self.arguments = arguments
        element = parameters.element.mlir
        tile = f"memref<{parameters.rows}x{parameters.head_dim}x{element}, {LDS_SPACE}>"
        self.lds = {
            name: builder.memref_region(
                name, tile, i * parameters.tile_bytes, parameters.swizzle_of(name).attribute
            )
            for i, name in enumerate(BUFFERS)
        }
        self.thread = builder.thread()
        self.head = builder.block("x")
        self.copy = TileCopy(builder, parameters, self.thread)
        self.length = builder.from_i32(arguments["length"])
        self.consumer: DumpImages | MultiplyFragments
        if parameters.result == "images":
            self.consumer = DumpImages(
                builder, parameters, arguments["result"], self.thread, self.head
            )
        else:
            self.consumer = MultiplyFragments(
                builder, parameters, self.lds, arguments["result"], self.thread, self.head
            )

    def build(self) -> None:
        """Build everything from the first copy to the last result."""
        builder, tiles = self.builder, self.parameters.tiles
        self.copy_q()
        builder.commit_group()
        self.copy_kv(builder.index(0), 0)
        builder.commit_group()
        self.synchronize(1)
        self.consumer.use_q()

        def pair(index: Int) -> None:
            for stage in (0, 1):
                self.tile(index * 2 + stage, stage)

        builder.repeat(tiles // 2 - 1, pair)
        self.tile(builder.index(tiles - 2), 0)
        self.tile(builder.index(tiles - 1), 1, fetch=False)

    def tile(self, index: Int, stage: int, fetch: bool = True) -> None:
        """Use the tile in the buffers of `stage` while the next one comes."""
        if fetch:
            self.copy_kv(index + 1, 1 - stage)
            self.builder.commit_group()
        self.synchronize(1 if fetch else 0)
        self.consumer.use_tile(index, stage)
        # The buffers are free for the next tile but one.
        self.builder.lds_barrier()

    def synchronize(self, in_flight: int) -> None:
        """Wait for all groups but the youngest `in_flight`, of all waves."""
        self.builder.wait_group(in_flight)
        self.builder.lds_barrier()

    def copy_q(self) -> None:
        """Copy the tile of Q: the heads of one query that share K and V are consecutive rows."""
        builder = self.builder
        group = builder.from_i32(self.arguments["group"])

        def row_of(position: Int) -> Int:
            query, member = builder.divide(position, *self._divisor("group"))
            return (query * self.parameters.kv_heads + self.head) * group + member

        end = builder.from_i32(self.arguments["q_rows"])
        tiles = [(self.arguments["q"], self.lds["q"])]
        self.copy.issue(tiles, builder.index(0), end, row_of)

    def copy_kv(self, tile: Int, stage: int) -> None:
        """Copy a tile of K and one of V."""
        tiles = [(self.arguments[name], self.lds[f"{name}{stage}"]) for name in "kv"]
        self.copy.issue(tiles, tile * self.parameters.rows, self.length, self._kv_row)

    def _kv_row(self, position: Int) -> Int:
        """The row in memory of a row of K or V."""
        token = position
        if self.parameters.paged:
            builder = self.builder
            page_size = builder.from_i32(self.arguments["page_size"])
            # The table ends with the page of the last row, of which there is one.
            existing = position.minimum(self.length - 1)
            entry, offset = builder.divide(existing, *self._divisor("page_size"))
            page = builder.read_element(self.arguments["pages"], (entry,), "i32")
            token = builder.from_i32(page) * page_size + offset
        return token * self.parameters.kv_heads + self.head

    def _divisor(self, name: str) -> tuple[ir.Value, ir.Value, ir.Value]:
        first, magic, shift = (self.arguments[f"{name}{x}"] for x in ("", "_magic", "_shift"))
        return first, magic, shift
