"""What else a TDM copy can do, executed: gathers, stores of pieces, repetition, conditions."""

from __future__ import annotations

import lodestone
import numpy as np
import pytest
from lodestone import sim
from lodestone.sim import ops_tdm


def run(arguments: str, body: str, values: list, num_warps: int = 4, **options) -> sim.Result:
    text = f"""
gpu.module @m {{
  gpu.func @k({arguments}) kernel
      attributes {{known_block_size = array<i32: {32 * num_warps}, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    {body}
    gpu.return
  }}
}}"""
    code = lodestone.compile(text, chip="gfx1250", bare_pointers=True).code_object
    result = sim.run(code, args=values, dynamic_lds=1 << 16, mode="R", **options)
    assert not result.findings, result
    return result


# Rows by 16-bit and 32-bit indices; parts of one instruction and of several; padded; a row
# beyond the end is zero. The indices come from memory, or are constants that are all zero.
@pytest.mark.parametrize("bits", [16, 32])
@pytest.mark.parametrize(("rows", "num_warps"), [(8, 1), (32, 1), (32, 4), (40, 4), (6, 8)])
def test_gather(bits: int, rows: int, num_warps: int) -> None:
    source = np.arange(100 * 48, dtype=np.int32).reshape(100, 48)
    index = np.random.default_rng(rows).integers(0, 110, rows).astype(f"uint{bits}")
    vector = f"vector<{rows}xi{bits}>"
    result = run(
        f"%a: memref<100x48xi32>, %rows: memref<{rows}xi{bits}>, %out: memref<{rows}x32xi32>",
        f"""%c8 = arith.constant 8 : index
    %l = lds.region @l : memref<{rows}x32xi32, 3>
    %r = vector.load %rows[%c0] : memref<{rows}xi{bits}>, {vector}
    tdm.gather %a[%c8] rows(%r : {vector}) to %l : memref<100x48xi32> to memref<{rows}x32xi32, 3>
    tdm.wait 0
    gpu.barrier
    tdm.store %l to %out[%c0, %c0] : memref<{rows}x32xi32, 3> to memref<{rows}x32xi32>
    tdm.wait 0""",
        [source, index, np.ones((rows, 32), np.int32)],
        num_warps,
    )
    want = np.stack([source[r, 8:40] if r < 100 else np.zeros(32, np.int32) for r in index])
    np.testing.assert_array_equal(result.outputs[2], want)


def test_gather_of_row_zero() -> None:
    """All groups but the first two are zero here, and must not be dropped."""
    source = np.arange(64, dtype=np.int32).reshape(4, 16)
    result = run(
        "%a: memref<4x16xi32>, %out: memref<8x16xi32>",
        """%l = lds.region @l : memref<8x16xi32, 3>
    %r = arith.constant dense<0> : vector<8xi32>
    tdm.gather %a[%c0] rows(%r : vector<8xi32>) to %l : memref<4x16xi32> to memref<8x16xi32, 3>
    tdm.wait 0
    gpu.barrier
    tdm.store %l to %out[%c0, %c0] : memref<8x16xi32, 3> to memref<8x16xi32>
    tdm.wait 0""",
        [source, np.ones((8, 16), np.int32)],
        num_warps=1,
    )
    np.testing.assert_array_equal(result.outputs[1], np.tile(source[0], (8, 1)))


# Pieces go out from where they are; what is outside of the tensor isn't written.
@pytest.mark.parametrize("hint", ["", "hint(0x3 : i32)", "hint(0xa : i32)"])
@pytest.mark.parametrize("dimension", [0, 1])
def test_store_of_pieces(dimension: int, hint: str) -> None:
    piece = "8x32" if dimension == 0 else "16x16"
    lds = f"memref<{piece}xf32, 3>"
    source = np.random.default_rng(0).random((16, 32)).astype(np.float32)
    result = run(
        "%a: memref<16x32xf32>, %out: memref<13x29xf32>",
        f"""%l0 = lds.region @l0 offset(8192) : {lds}
    %l1 = lds.region @l1 offset(0) : {lds}
    tdm.load %a[%c0, %c0] to %l0, %l1 partition({dimension}) : memref<16x32xf32> to {lds}, {lds}
    tdm.wait 0
    gpu.barrier
    tdm.store %l0, %l1 to %out[%c0, %c0] partition({dimension}) {hint}
      : {lds}, {lds} to memref<13x29xf32>
    tdm.wait 0""",
        [source, np.zeros((13, 29), np.float32)],
    )
    np.testing.assert_array_equal(result.outputs[1], source[:13, :29])


def test_repetition() -> None:
    """Tiles that are 100 rows apart in memory stand one after the other in LDS."""
    source = np.arange(400 * 16, dtype=np.int32).reshape(400, 16)
    result = run(
        "%a: memref<400x16xi32>, %out: memref<32x16xi32>",
        """%l = lds.region @l : memref<32x16xi32, 3>
    tdm.load %a[%c0, %c0] to %l block([8, 16])
      iterate(<count = 4, global_step = 1600, lds_step = 128>)
      : memref<400x16xi32> to memref<32x16xi32, 3>
    tdm.wait 0
    gpu.barrier
    tdm.store %l to %out[%c0, %c0] : memref<32x16xi32, 3> to memref<32x16xi32>
    tdm.wait 0""",
        [source, np.zeros((32, 16), np.int32)],
    )
    want = np.concatenate([source[100 * i : 100 * i + 8] for i in range(4)])
    np.testing.assert_array_equal(result.outputs[1], want)


# A condition that is false moves nothing, with a hint and without.
@pytest.mark.parametrize("hint", ["", "hint(0x2 : i32)"])
@pytest.mark.parametrize("flag", [0, 1])
def test_condition(flag: int, hint: str) -> None:
    source = np.arange(64, dtype=np.int32)
    result = run(
        "%a: memref<64xi32>, %out: memref<64xi32>, %flag: i32",
        f"""%zero = arith.constant 0 : i32
    %p = arith.cmpi ne, %flag, %zero : i32
    %l = lds.region @l : memref<64xi32, 3>
    tdm.load %a[%c0] to %l {hint} : memref<64xi32> to memref<64xi32, 3>
    tdm.wait 0
    gpu.barrier
    tdm.store %l to %out[%c0] if %p {hint} : memref<64xi32, 3> to memref<64xi32>
    tdm.wait 0""",
        [source, np.zeros(64, np.int32), flag],
    )
    np.testing.assert_array_equal(result.outputs[1], source * flag)


# A warp is chosen under a condition: each mask of one warp, whatever LLVM knows about its id.
@pytest.mark.parametrize("num_warps", [1, 2, 4, 8])
def test_condition_on_one_warp(num_warps: int) -> None:
    source = np.arange(64, dtype=np.int32) + 1
    copies = "".join(
        f"""
    tdm.store %l to %out[%at{w}] if %p hint({1 << w} : i32)
      : memref<64xi32, 3> to memref<{64 * num_warps}xi32>"""
        for w in range(num_warps)
    )
    places = "".join(f"\n    %at{w} = arith.constant {64 * w} : index" for w in range(num_warps))
    result = run(
        f"%a: memref<64xi32>, %out: memref<{64 * num_warps}xi32>, %flag: i32",
        f"""%zero = arith.constant 0 : i32
    %p = arith.cmpi ne, %flag, %zero : i32
    %l = lds.region @l : memref<64xi32, 3>{places}
    tdm.load %a[%c0] to %l : memref<64xi32> to memref<64xi32, 3>
    tdm.wait 0
    gpu.barrier{copies}
    tdm.wait 0""",
        [source, np.zeros(64 * num_warps, np.int32), 1],
        num_warps,
    )
    np.testing.assert_array_equal(result.outputs[1], np.tile(source, num_warps))


# Two workgroups of a cluster ask for one block and each gets it; the mask is an argument. Without
# a cluster, or with a mask that leaves the workgroup out, the simulator refuses it.
@pytest.mark.parametrize("hint", ["", "hint(0x2 : i32)"])
def test_block_for_two_workgroups(hint: str) -> None:
    source = np.arange(1, 8 * 64 + 1, dtype=np.int32).reshape(8, 64)

    def launch(mask: int, **options) -> sim.Result:
        return run(
            "%a: memref<8x64xi32>, %out: memref<16x64xi32>, %mask: i16",
            f"""%l = lds.region @l : memref<8x64xi32, 3>
    %c8 = arith.constant 8 : index
    %group = gpu.block_id x
    %at = arith.muli %group, %c8 : index
    tdm.load %a[%c0, %c0] to %l workgroups(%mask) {hint}
      : memref<8x64xi32> to memref<8x64xi32, 3>
    tdm.wait 0
    gpu.barrier
    tdm.store %l to %out[%at, %c0] : memref<8x64xi32, 3> to memref<16x64xi32>
    tdm.wait 0""",
            [source, np.zeros((16, 64), np.int32), np.int16(mask)],
            grid=2,
            **options,
        )

    result = launch(3, cluster=2)
    np.testing.assert_array_equal(result.outputs[1], np.concatenate([source, source]))
    loads = [t for t in result.tensor_operations if "load" in t.instruction]
    assert {ops_tdm.decode(t.descriptor).mask for t in loads if t.descriptor[0][0] & 3} == {3}
    np.testing.assert_array_equal(launch(0).outputs[1], result.outputs[1])
    with pytest.raises(sim.ExecutionError, match="outside of a cluster"):
        launch(3)
    with pytest.raises(sim.ExecutionError, match="leaves out the workgroup that asks"):
        launch(2, cluster=2)


def test_vector_registers() -> None:
    """Operands that LLVM keeps in vector registers, though they are uniform, still work."""
    source = np.arange(4 * 64, dtype=np.int32)
    result = run(
        "%a: memref<256xi32>, %out: memref<256xi32>, %table: memref<64xi32>",
        """%l = lds.region @l : memref<64xi32, 3>
    %thread = gpu.thread_id x
    %c32 = arith.constant 32 : index
    // Loaded by address of the lane; the value is the same in all lanes.
    %lane = arith.remui %thread, %c32 : index
    %n = memref.load %table[%lane] : memref<64xi32>
    %at = arith.index_cast %n : i32 to index
    %p = arith.cmpi sge, %n, %n : i32
    tdm.load %a[%at] to %l if %p hint(0x5 : i32) : memref<256xi32> to memref<64xi32, 3>
    tdm.wait 0
    gpu.barrier
    tdm.store %l to %out[%at] : memref<64xi32, 3> to memref<256xi32>
    tdm.wait 0""",
        [source, np.zeros(256, np.int32), np.full(64, 128, np.int32)],
    )
    want = np.zeros(256, np.int32)
    want[128:192] = source[128:192]
    np.testing.assert_array_equal(result.outputs[1], want)
