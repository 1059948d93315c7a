"""C = A + B by the tensor data mover of gfx1250: two loads, a sum in LDS, one store."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lodestone.kernels._kernel import Argument, Arguments, Array, Kernel
from lodestone.kernels._tdm import CHIP, LANES, clauses, dtype_named, parse_kernel


def tdm_vector_add(
    length: int = 10000,
    block: int = 2048,
    num_warps: int = 8,
    dtype: str = "f32",
    hint: int | None = None,
) -> Kernel:
    """C = A + B for vectors, by the tensor data mover of gfx1250.

    Each workgroup adds `block` elements. What is beyond `length` is loaded as zero and not
    stored. Built in the current `ir.Context`, or in one of its own.

    Args:
        length: elements of each vector.
        block: elements of a workgroup, a multiple of the work items.
        num_warps: warps of a workgroup.
        dtype: the elements, as in MLIR: `f32`, `i32`, `f16`, ...
        hint: mask of the warps that move data; None: all.

    Raises:
        ValueError: the type is unknown, or the block isn't a multiple of the work items.
        MLIRError: a rule of `tdm.load` is broken.
    """
    kind = dtype_named(dtype)
    threads = num_warps * LANES
    if block % threads:
        raise ValueError(f"block must be a multiple of the {threads} work items, got {block}")
    vector = f"memref<{length}x{dtype}>"
    lds = f"memref<{block}x{dtype}, #gpu.address_space<workgroup>>"
    add = "arith.addi" if dtype.startswith("i") else "arith.addf"
    body = f"""%thread = gpu.thread_id x
    %number = gpu.block_id x
    %block = arith.constant {block} : index
    %threads = arith.constant {threads} : index
    %at = arith.muli %number, %block : index
    %x = lds.region @A : {lds}
    %y = lds.region @B : {lds}
    tdm.load %a[%at] to %x{clauses(hint)} : {vector} to {lds}
    tdm.load %b[%at] to %y{clauses(hint)} : {vector} to {lds}
    tdm.wait 0
    gpu.barrier
    scf.for %i = %thread to %block step %threads {{
      %p = memref.load %x[%i] : {lds}
      %q = memref.load %y[%i] : {lds}
      %sum = {add} %p, %q : {dtype}
      memref.store %sum, %x[%i] : {lds}
    }}
    gpu.barrier
    tdm.store %x to %c[%at]{clauses(hint)} : {lds} to {vector}
    tdm.wait 0"""
    arguments = ", ".join(f"%{name}: {vector}" for name in "abc")

    def inputs(_: Mapping[str, int], random: np.random.Generator) -> Arguments:
        # Sums of small integers are exact in every type.
        a, b = (random.integers(0, 8, length).astype(kind) for _ in range(2))
        return {"a": a, "b": b, "c": np.full(length, 100).astype(kind)}

    def reference(arguments: Arguments) -> dict[str, Array]:
        return {"c": np.asarray(arguments["a"]) + np.asarray(arguments["b"])}

    return Kernel(
        name="tdm_vector_add",
        chip=CHIP,
        module=parse_kernel("tdm_vector_add", arguments, num_warps, body),
        arguments=(
            Argument("a", kind, (length,)),
            Argument("b", kind, (length,)),
            Argument("c", kind, (length,), output=True),
        ),
        block=(threads, 1, 1),
        dynamic_lds=2 * -(-block * kind.itemsize // 16) * 16,
        dimensions={},
        grid=lambda _: (-(-length // block), 1, 1),
        make_inputs=inputs,
        compute=reference,
        relative_tolerance=1e-30,
        absolute_tolerance=1.0,
        compile_options={"bare_pointers": True},
    )
