"""A GEMM for gfx1250 whose tiles of A and B are loaded by one instruction.

In `tdm.fused_load` warps 0 to 3 load the tile of A and warps 4 to 7 that of B. The products
are plain multiply-adds: this kernel is about the copies.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lodestone.kernels._kernel import Argument, Arguments, Array, Kernel
from lodestone.kernels._tdm import CHIP, LANES, parse_kernel

NUM_WARPS = 8
TILE, STEP = 32, 32


def tdm_gemm(m: int = 50, n: int = 70, k: int = 100) -> Kernel:
    """C[M,N] = A[M,K] B[N,K]^T in f32, with fused loads of A and B by TDM (gfx1250).

    A workgroup computes a tile of 32 x 32; tiles that stick out are zero there. Built in the
    current `ir.Context`, or in one of its own.

    Args:
        m: rows of A and C.
        n: rows of B, columns of C.
        k: columns of A and B.

    Raises:
        ValueError: a size isn't positive.
    """
    if min(m, n, k) < 1:
        raise ValueError(f"sizes must be positive, got {m}, {n}, {k}")
    a, b, c = f"memref<{m}x{k}xf32>", f"memref<{n}x{k}xf32>", f"memref<{m}x{n}xf32>"
    # Rows of A and B are 33 dwords apart in LDS, so that lanes in a column have other banks.
    padded = f"memref<{TILE}x{STEP + 1}xf32, #gpu.address_space<workgroup>>"
    operand = f"memref<{TILE}x{STEP}xf32, strided<[{STEP + 1}, 1]>, #gpu.address_space<workgroup>>"
    lds = f"memref<{TILE}x{TILE}xf32, #gpu.address_space<workgroup>>"
    body = f"""%thread = gpu.thread_id x
    %tile_m = gpu.block_id y
    %tile_n = gpu.block_id x
    {"".join(f"%c{i} = arith.constant {i} : index{chr(10)}    " for i in (0, 1, 2, 3, 4, 8, 32))}
    %k = arith.constant {k} : index
    %zero = arith.constant 0.0 : f32
    %ldsA = lds.region @A : {padded}
    %ldsB = lds.region @B : {padded}
    %ldsC = lds.region @C : {lds}
    %tileA = memref.subview %ldsA[0, 0] [{TILE}, {STEP}] [1, 1] : {padded} to {operand}
    %tileB = memref.subview %ldsB[0, 0] [{TILE}, {STEP}] [1, 1] : {padded} to {operand}
    %m0 = arith.muli %tile_m, %c32 : index
    %n0 = arith.muli %tile_n, %c32 : index
    // A thread has four columns of a row of the tile.
    %row = arith.divui %thread, %c8 : index
    %lane = arith.remui %thread, %c8 : index
    %column = arith.muli %lane, %c4 : index
    {"".join(f"%col{q} = arith.addi %column, %c{q} : index{chr(10)}    " for q in range(4))}
    %r:4 = scf.for %at = %c0 to %k step %c32
        iter_args(%w0 = %zero, %w1 = %zero, %w2 = %zero, %w3 = %zero) -> (f32, f32, f32, f32) {{
      tdm.fused_load {{
        tdm.load %a[%m0, %at] to %tileA padding(<interval = {STEP}, amount = 1>) hint(0x0f : i32)
          : {a} to {operand}
        tdm.load %b[%n0, %at] to %tileB padding(<interval = {STEP}, amount = 1>) hint(0xf0 : i32)
          : {b} to {operand}
      }}
      tdm.wait 0
      gpu.barrier
      %s:4 = scf.for %i = %c0 to %c32 step %c1
          iter_args(%v0 = %w0, %v1 = %w1, %v2 = %w2, %v3 = %w3) -> (f32, f32, f32, f32) {{
        %x = memref.load %tileA[%row, %i] : {operand}
        {"".join(_product(q, operand) for q in range(4))}
        scf.yield %z0, %z1, %z2, %z3 : f32, f32, f32, f32
      }}
      gpu.barrier
      scf.yield %s#0, %s#1, %s#2, %s#3 : f32, f32, f32, f32
    }}
    {"".join(f"memref.store %r#{q}, %ldsC[%row, %col{q}] : {lds}{chr(10)}    " for q in range(4))}
    gpu.barrier
    tdm.store %ldsC to %c[%m0, %n0] : {lds} to {c}
    tdm.wait 0"""
    module = parse_kernel("tdm_gemm", f"%a: {a}, %b: {b}, %c: {c}", NUM_WARPS, body)
    f32 = np.dtype(np.float32)

    def inputs(_: Mapping[str, int], random: np.random.Generator) -> Arguments:
        return {
            "a": random.standard_normal((m, k), np.float32),
            "b": random.standard_normal((n, k), np.float32),
            "c": np.full((m, n), np.nan, np.float32),
        }

    def reference(arguments: Arguments) -> dict[str, Array]:
        return {"c": np.asarray(arguments["a"]) @ np.asarray(arguments["b"]).T}

    return Kernel(
        name="tdm_gemm",
        chip=CHIP,
        module=module,
        arguments=(
            Argument("a", f32, (m, k)),
            Argument("b", f32, (n, k)),
            Argument("c", f32, (m, n), output=True),
        ),
        block=(NUM_WARPS * LANES, 1, 1),
        dynamic_lds=(2 * TILE * (STEP + 1) + TILE * TILE) * f32.itemsize,
        dimensions={},
        grid=lambda _: (-(-n // TILE), -(-m // TILE), 1),
        make_inputs=inputs,
        compute=reference,
        # The order of the sums.
        relative_tolerance=1e-5,
        absolute_tolerance=float(k) ** 0.5,
        compile_options={"bare_pointers": True},
    )


def _product(q: int, operand: str) -> str:
    return (
        f"%y{q} = memref.load %tileB[%col{q}, %i] : {operand}\n        "
        f"%p{q} = arith.mulf %x, %y{q} fastmath<contract> : f32\n        "
        f"%z{q} = arith.addf %v{q}, %p{q} fastmath<contract> : f32\n        "
    )
