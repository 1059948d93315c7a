"""Copy the blocks of a tensor into a packed array, by the tensor data mover of gfx1250.

Each workgroup loads one block of the tensor to LDS, with the layout there that the
parameters ask for, and writes its elements, read from LDS by ordinary loads, to
`target[block]` in row-major order. Elements outside of the tensor are zero.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from lodestone.kernels._kernel import Argument, Arguments, Array, Kernel
from lodestone.kernels._tdm import CHIP, LANES, clauses, dtype_named, parse_kernel


def tdm_copy(
    shape: Sequence[int] = (1000, 100),
    strides: Sequence[int] | int | None = None,
    block: Sequence[int] = (256, 64),
    num_warps: int = 8,
    dtype: str = "f16",
    hint: int | None = None,
    padding: tuple[int, int] | None = None,
    partition: tuple[int, int] | None = None,
    dynamic: bool = False,
) -> Kernel:
    """Blocks of a tensor, packed, by the tensor data mover of gfx1250.

    Built in the current `ir.Context`, or in one of its own.

    Args:
        shape: of the tensor, rank 1 to 5.
        strides: of the tensor in elements, the last one 1 (a number for rank 1); row-major if
            None.
        block: shape of the block of a workgroup.
        num_warps: warps of a workgroup.
        dtype: the elements, as in MLIR: `f16`, `f8E4M3FN`, `i32`, ...
        hint: mask of the warps that move data; None: all.
        padding: (interval, amount) in dwords: gaps in LDS.
        partition: (dimension, pieces): the block is at so many places in LDS.
        dynamic: the kernel takes the sizes of the tensor as arguments (i64).

    Raises:
        ValueError: the type is unknown, a size isn't positive, or ranks differ.
        MLIRError: a rule of `tdm.load` is broken.
    """
    kind = dtype_named(dtype)
    for name, pair in (("padding", padding), ("partition", partition)):
        if pair is not None and not (isinstance(pair, tuple) and len(pair) == 2):
            raise ValueError(f"{name} must be two numbers, got {pair}")
    if min(*shape, *block, *(padding or (1,)), (partition or (0, 1))[1]) < 1:
        raise ValueError("sizes, pieces and padding must be positive")
    rank = len(shape)
    if strides is None:
        strides = [math.prod(shape[d + 1 :]) for d in range(rank)]
    if isinstance(strides, int):
        strides = [strides]
    if not rank == len(strides) == len(block):
        raise ValueError(
            f"shape, strides and block must have one rank, got {rank}, {len(strides)}, {len(block)}"
        )
    counts = [-(-size // part) for size, part in zip(shape, block, strict=True)]
    elements = math.prod(block)
    extent = 1 + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))

    layout = f"strided<[{', '.join(map(str, strides))}]>"
    static = f"memref<{'x'.join(map(str, shape))}x{dtype}, {layout}>"
    source = f"memref<{'?x' * rank}{dtype}, {layout}>" if dynamic else static
    sizes = [f"size{d}" for d in range(rank)] if dynamic else []
    lines = _positions(counts, block)
    tensor = "%source"
    if dynamic:
        lines += [f"%n{d} = arith.index_cast %size{d} : i64 to index" for d in range(rank)]
        lines.append(
            f"%tensor = memref.reinterpret_cast %source to offset: [0],"
            f" sizes: [{', '.join(f'%n{d}' for d in range(rank))}],"
            f" strides: [{', '.join(map(str, strides))}] : {static} to {source}"
        )
        tensor = "%tensor"
    lines += _copy(tensor, source, block, dtype, kind.itemsize, hint, padding, partition)
    target = f"memref<{math.prod(counts) * elements}x{dtype}>"
    lines += _write(target, block, dtype, kind.itemsize, num_warps, padding, partition)
    arguments = [f"%source: {static}", f"%target: {target}"]
    arguments += [f"%{size}: i64" for size in sizes]
    module = parse_kernel("tdm_copy", ", ".join(arguments), num_warps, "\n    ".join(lines))

    def inputs(_: Mapping[str, int], random: np.random.Generator) -> Arguments:
        data = random.integers(0, 100, extent).astype(kind)
        values: Arguments = {"source": data, "target": np.ones(target_shape).astype(kind)}
        return values | dict(zip(sizes, shape, strict=False))

    def reference(arguments: Arguments) -> dict[str, Array]:
        data = np.asarray(arguments["source"])
        byte_strides = [stride * kind.itemsize for stride in strides]
        view = np.lib.stride_tricks.as_strided(data, shape, byte_strides)
        whole = np.zeros([c * b for c, b in zip(counts, block, strict=True)], kind)
        whole[tuple(slice(0, size) for size in shape)] = view
        split = whole.reshape([n for pair in zip(counts, block, strict=True) for n in pair])
        order = [*range(0, 2 * rank, 2), *range(1, 2 * rank, 2)]
        return {"target": split.transpose(order).reshape(target_shape)}

    target_shape = (math.prod(counts), *block)
    return Kernel(
        name="tdm_copy",
        chip=CHIP,
        module=module,
        arguments=(
            Argument("source", kind, (extent,)),
            Argument("target", kind, target_shape, output=True),
            *(Argument(size, np.dtype(np.int64)) for size in sizes),
        ),
        block=(num_warps * LANES, 1, 1),
        dynamic_lds=_piece_bytes(block, kind.itemsize, padding, partition) * _pieces(partition),
        dimensions={},
        grid=lambda _: (math.prod(counts), 1, 1),
        make_inputs=inputs,
        compute=reference,
        relative_tolerance=1e-30,
        absolute_tolerance=1.0,
        compile_options={"bare_pointers": True},
    )


def _pieces(partition: tuple[int, int] | None) -> int:
    return 1 if partition is None else partition[1]


def _piece_bytes(
    block: Sequence[int],
    element: int,
    padding: tuple[int, int] | None,
    partition: tuple[int, int] | None,
) -> int:
    """Return the bytes of a piece in LDS, a multiple of 16."""
    size = math.prod(block) * element // _pieces(partition)
    if padding is not None:
        interval, amount = padding
        size += (size - 1) // (4 * max(interval, 1)) * 4 * amount
    return -(-size // 16) * 16


def _positions(counts: Sequence[int], block: Sequence[int]) -> list[str]:
    """The block of this workgroup: its coordinates, outermost last, as %at0, %at1, ..."""
    lines = ["%block = gpu.block_id x"]
    rest = "%block"
    for d in reversed(range(len(block))):
        lines.append(f"%size_of_block{d} = arith.constant {block[d]} : index")
        coordinate = rest
        # Workgroups beyond the last one have blocks beyond the outermost dimension.
        if d > 0:
            lines.append(f"%count{d} = arith.constant {counts[d]} : index")
            lines.append(f"%coordinate{d} = arith.remui {rest}, %count{d} : index")
            lines.append(f"%rest{d} = arith.divui {rest}, %count{d} : index")
            coordinate, rest = f"%coordinate{d}", f"%rest{d}"
        lines.append(f"%at{d} = arith.muli {coordinate}, %size_of_block{d} : index")
    return lines


def _copy(
    tensor: str,
    source: str,
    block: Sequence[int],
    dtype: str,
    element: int,
    hint: int | None,
    padding: tuple[int, int] | None,
    partition: tuple[int, int] | None,
) -> list[str]:
    """The regions, the load, the wait and the barrier."""
    pieces = _pieces(partition)
    size = _piece_bytes(block, element, padding, partition)
    lds = f"memref<{size // element}x{dtype}, #gpu.address_space<workgroup>>"
    lines = [f"%lds{p} = lds.region @piece{p} offset({p * size}) : {lds}" for p in range(pieces)]
    at = ", ".join(f"%at{d}" for d in range(len(block)))
    to = ", ".join(f"%lds{p}" for p in range(pieces))
    text = f"tdm.load {tensor}[{at}] to {to} block([{', '.join(map(str, block))}])"
    if partition is not None:
        text += f" partition({partition[0]})"
    text += clauses(hint, padding)
    lines.append(f"{text} : {source} to {', '.join([lds] * pieces)}")
    return [*lines, "tdm.wait 0", "gpu.barrier"]


def _write(
    target: str,
    block: Sequence[int],
    dtype: str,
    element: int,
    num_warps: int,
    padding: tuple[int, int] | None,
    partition: tuple[int, int] | None,
) -> list[str]:
    """Every element of the block from LDS to the target, one a thread at a time."""
    pieces = _pieces(partition)
    dimension = 0 if partition is None else partition[0]
    inner = math.prod(block[dimension + 1 :])
    # What is contiguous in the block and in a piece.
    run = block[dimension] // pieces * inner
    total = math.prod(block)
    size = _piece_bytes(block, element, padding, partition)
    lds = f"memref<{size // element}x{dtype}, #gpu.address_space<workgroup>>"
    lines = [
        "%thread = gpu.thread_id x",
        f"%threads = arith.constant {num_warps * LANES} : index",
        f"%total = arith.constant {total} : index",
        f"%end = arith.constant {total // pieces} : index",
        f"%run = arith.constant {run} : index",
        f"%all_runs = arith.constant {run * pieces} : index",
        "%first = arith.muli %block, %total : index",
    ]
    if padding is not None:
        if padding[1] * 4 % element:
            raise ValueError(f"{padding[1]} dwords of padding are no whole elements of {dtype}")
        lines.append(f"%interval = arith.constant {padding[0] * 4 // element} : index")
        lines.append(f"%amount = arith.constant {padding[1] * 4 // element} : index")
    for p in range(pieces):
        where = "%i"
        lines += [
            f"%piece{p} = arith.constant {p * run} : index",
            "scf.for %i = %thread to %end step %threads {",
            "  %outer = arith.divui %i, %run : index",
            "  %in_run = arith.remui %i, %run : index",
            "  %row = arith.muli %outer, %all_runs : index",
            "  %a = arith.addi %row, %in_run : index",
            f"  %b = arith.addi %a, %piece{p} : index",
            "  %c = arith.addi %b, %first : index",
        ]
        if padding is not None:
            lines += [
                "  %gaps = arith.divui %i, %interval : index",
                "  %gap = arith.muli %gaps, %amount : index",
                "  %padded = arith.addi %i, %gap : index",
            ]
            where = "%padded"
        lines += [
            f"  %value = memref.load %lds{p}[{where}] : {lds}",
            f"  memref.store %value, %target[%c] : {target}",
            "}",
        ]
    return lines
