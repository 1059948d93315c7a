"""Triton's code for a copy of a 64x64 f16 tile through LDS, on gfx950; needs its wheel, no GPU.

Prints a JSON object: Triton's version, and the assembly of each variant ("swizzled 4": with a
swizzle, 4 waves). Global memory to LDS asynchronously, wait, LDS to registers, to global memory.
"""

import itertools
import json
import os
import sys

import triton
from triton.backends.compiler import GPUTarget
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon._runtime import GluonASTSource
from triton.experimental.gluon.language.amd.cdna4 import async_copy


@gluon.jit
def copy(source, target, swizzled: gl.constexpr, waves: gl.constexpr):
    """Copy a 64x64 tile, 16 bytes a lane."""
    layout: gl.constexpr = gl.BlockedLayout([1, 8], [8, 8], [waves, 1], [1, 0])
    phases: gl.constexpr = 8 if swizzled else 1
    shared: gl.constexpr = gl.SwizzledSharedLayout(8, 1, phases, [1, 0])
    rows = gl.arange(0, 64, layout=gl.SliceLayout(1, layout))
    columns = gl.arange(0, 64, layout=gl.SliceLayout(0, layout))
    offsets = rows[:, None] * 64 + columns[None, :]
    tile = gl.allocate_shared_memory(gl.float16, [64, 64], shared)
    async_copy.buffer_load_to_shared(tile, source, offsets)
    async_copy.commit_group()
    async_copy.wait_group(0)
    gl.store(target + offsets, tile.load(layout))


def compile_copy(swizzled: bool, waves: int) -> str:
    """Return the assembly."""
    aligned = [["tt.divisibility", 16]]
    source = GluonASTSource(
        copy,
        {"source": "*fp16", "target": "*fp16", "swizzled": "constexpr", "waves": "constexpr"},
        {(2,): swizzled, (3,): waves},
        {(0,): aligned, (1,): aligned},
    )
    target = GPUTarget("hip", "gfx950", 64)
    return triton.compile(source, target=target, options={"num_warps": waves}).asm["amdgcn"]


if __name__ == "__main__":
    result = {"version": triton.__version__}
    for swizzled, waves in itertools.product((False, True), (1, 4)):
        name = f"{'swizzled' if swizzled else 'flat'} {waves}"
        result[name] = compile_copy(swizzled, waves)
    print(json.dumps(result))
    sys.stdout.flush()
    # Triton's destructors print thousands of lines about leaks.
    os._exit(0)
