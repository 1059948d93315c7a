"""A warp-pipelined loop for gfx1250: copy in, compute, copy out, in two groups of warps.

Warps 4 to 7 wait at one more barrier before the loop, and are a stage behind from there on:

    phase       2i                    2i + 1                2i + 2
    warps 0-3   copies of block i     sum of block i        copies of block i + 1
    warps 4-7   sum of block i - 1    copies of block i     sum of block i

The copies of block i are the load of block i + 1, which the leading warps issue, and the store
of block i - 1, which the trailing ones issue, since the last of its rows are theirs. All
warps execute both; `if` ends them at the ends of the array. A `tdm.wait 2` leaves these two
in flight and has those of the block before done.

A block that is loaded in phase 2i was last read in its buffer by the trailing warps; with
three buffers that was in phase 2i - 2. A result is written from phase 2i + 1 on and its
store is known to be done in phase 2i + 5, so there are three buffers for results, too, and
the loop is unrolled three times.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lodestone.kernels._kernel import Argument, Arguments, Array, Kernel
from lodestone.kernels._tdm import CHIP, LANES, dtype_named, parse_kernel

NUM_WARPS = 8
LEADING, TRAILING = 0x0F, 0xF0
ROWS, COLUMNS = 64, 64
BUFFERS = 3


def tdm_pipeline(blocks: int = 7, dtype: str = "f32") -> Kernel:
    """y = 3 x + 1, block by block, in a warp-pipelined loop with copies by TDM (gfx1250).

    One workgroup; x and y are [64 * blocks, 64]. Built in the current `ir.Context`, or in one
    of its own.

    Args:
        blocks: of 64 rows.
        dtype: the elements, as in MLIR: `f32` or `i32`.

    Raises:
        ValueError: no blocks, or another type.
    """
    if blocks < 1:
        raise ValueError(f"blocks must be at least 1, got {blocks}")
    if dtype not in ("f32", "i32"):
        raise ValueError(f"dtype must be f32 or i32, got {dtype}")
    kind = dtype_named(dtype)
    array = f"memref<{blocks * ROWS}x{COLUMNS}x{dtype}>"
    turns = -(-blocks // BUFFERS)
    module = parse_kernel("tdm_pipeline", f"%x: {array}, %y: {array}", NUM_WARPS,
                          _body(blocks, turns, dtype, array))  # fmt: skip
    shape = (blocks * ROWS, COLUMNS)

    def inputs(_: Mapping[str, int], random: np.random.Generator) -> Arguments:
        x = random.integers(-1000, 1000, shape).astype(kind)
        return {"x": x, "y": np.zeros(shape, kind)}

    def reference(arguments: Arguments) -> dict[str, Array]:
        return {"y": 3 * np.asarray(arguments["x"]) + kind.type(1)}

    return Kernel(
        name="tdm_pipeline",
        chip=CHIP,
        module=module,
        arguments=(Argument("x", kind, shape), Argument("y", kind, shape, output=True)),
        block=(NUM_WARPS * LANES, 1, 1),
        dynamic_lds=2 * BUFFERS * ROWS * COLUMNS * kind.itemsize,
        dimensions={},
        grid=lambda _: (1, 1, 1),
        make_inputs=inputs,
        compute=reference,
        relative_tolerance=1e-30,
        absolute_tolerance=1.0,
        compile_options={"bare_pointers": True},
    )


def _body(blocks: int, turns: int, dtype: str, array: str) -> str:
    lds = f"memref<{ROWS}x{COLUMNS}x{dtype}, #gpu.address_space<workgroup>>"
    three, one = ("3.0", "1.0") if dtype == "f32" else ("3", "1")
    lines = [
        f"%in{b} = lds.region @in{b} : {lds}\n    %out{b} = lds.region @out{b} : {lds}"
        for b in range(BUFFERS)
    ]
    lines += [
        "%thread = gpu.thread_id x",
        *(f"%c{n} = arith.constant {n} : index" for n in (0, 1, 2, 3, 4, 16, ROWS, 128)),
        f"%blocks = arith.constant {blocks} : index",
        f"%turns = arith.constant {turns} : index",
        f"%three = arith.constant dense<{three}> : vector<4x{dtype}>",
        f"%one = arith.constant dense<{one}> : vector<4x{dtype}>",
        "%is_trailing = arith.cmpi uge, %thread, %c128 : index",
        "%is_leading = arith.cmpi ult, %thread, %c128 : index",
        # 16 threads have a row of 64; each thread has rows row, row + 16, ...
        "%row = arith.divui %thread, %c16 : index",
        "%lane = arith.remui %thread, %c16 : index",
        "%column = arith.muli %lane, %c4 : index",
        f"tdm.load %x[%c0, %c0] to %in0 hint({LEADING:#x} : i32) : {array} to {lds}",
        "scf.if %is_trailing {",
        "  gpu.barrier",
        "}",
        "scf.for %turn = %c0 to %turns step %c1 {",
        "  %first = arith.muli %turn, %c3 : index",
    ]
    for b in range(BUFFERS):
        lines += _stage(b, dtype, array, lds)
    last = turns * BUFFERS - 1
    lines += [
        "}",
        "scf.if %is_leading {",
        "  gpu.barrier",
        "}",
    ]
    # The others that the loop rounds up to are none.
    if last < blocks:
        lines += [
            f"%end = arith.constant {last * ROWS} : index",
            f"tdm.store %out{last % BUFFERS} to %y[%end, %c0] hint({TRAILING:#x} : i32)"
            f" : {lds} to {array}",
        ]
    return "\n    ".join([*lines, "tdm.wait 0"])


def _stage(b: int, dtype: str, array: str, lds: str) -> list[str]:
    """The copies of block i and its sum, both with a barrier; buffer b is block i's."""
    before, after = (b + BUFFERS - 1) % BUFFERS, (b + 1) % BUFFERS
    multiply, add = ("arith.mulf", "arith.addf") if dtype == "f32" else ("arith.muli", "arith.addi")
    vector = f"vector<4x{dtype}>"
    lines = [
        f"  %i{b} = arith.addi %first, %c{b} : index",
        f"  %next{b} = arith.addi %i{b}, %c1 : index",
        f"  %has_next{b} = arith.cmpi ult, %next{b}, %blocks : index",
        f"  %next_row{b} = arith.muli %next{b}, %c{ROWS} : index",
        # Of the first block there is no result yet; nor beyond the last.
        f"  %is_later{b} = arith.cmpi ugt, %i{b}, %c0 : index",
        f"  %is_block{b} = arith.cmpi ule, %i{b}, %blocks : index",
        f"  %has_result{b} = arith.andi %is_later{b}, %is_block{b} : i1",
        f"  %done{b} = arith.select %has_result{b}, %i{b}, %c1 : index",
        f"  %result{b} = arith.subi %done{b}, %c1 : index",
        f"  %result_row{b} = arith.muli %result{b}, %c{ROWS} : index",
        f"  tdm.store %out{before} to %y[%result_row{b}, %c0] if %has_result{b}"
        f" hint({TRAILING:#x} : i32) : {lds} to {array}",
        f"  tdm.load %x[%next_row{b}, %c0] to %in{after} if %has_next{b}"
        f" hint({LEADING:#x} : i32) : {array} to {lds}",
        "  tdm.wait 2",
        "  gpu.barrier",
        f"  scf.for %r = %row to %c{ROWS} step %c16 {{",
        f"    %v = vector.load %in{b}[%r, %column] : {lds}, {vector}",
        f"    %p = {multiply} %v, %three : {vector}",
        f"    %s = {add} %p, %one : {vector}",
        f"    vector.store %s, %out{b}[%r, %column] : {lds}, {vector}",
        "  }",
        "  gpu.barrier",
    ]
    return lines
