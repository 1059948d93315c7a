"""Print the gfx1250 assembly that Triton makes for the copy of `benchmarks/tdm_descriptor.py`.

Run by that script, with the Python of the environment in which Triton is installed.
"""

import triton
from triton.backends.compiler import GPUTarget
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon._runtime import GluonASTSource
from triton.experimental.gluon.language.amd.gfx1250 import tdm


@gluon.jit
def copy(source, BM: gl.constexpr, BN: gl.constexpr, HINT: gl.constexpr):
    """Start the copy of a block of a 4096x1024 tensor and wait for it."""
    layout: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [1, 0])
    number = gl.program_id(0)
    descriptor = tdm.make_tensor_descriptor(
        base=source, shape=(4096, 1024), strides=(1024, 1), block_shape=(BM, BN), layout=layout
    )
    block = gl.allocate_shared_memory(gl.float16, shape=[BM, BN], layout=layout)
    tdm.async_load(descriptor, [number * BM, 0], block, warp_used_hint=HINT)
    tdm.async_wait(0)


if __name__ == "__main__":
    signature = {"source": "*fp16", "BM": "constexpr", "BN": "constexpr", "HINT": "constexpr"}
    code = GluonASTSource(
        fn=copy,
        signature=signature,
        constexprs={(1,): 256, (2,): 64, (3,): 0x0F},
        attrs={(0,): [["tt.divisibility", 16]]},
    )
    target = GPUTarget("hip", "gfx1250", 32)
    print(triton.compile(code, target=target, options={"num_warps": 8}).asm["amdgcn"])
