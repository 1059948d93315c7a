"""gfx1250 workgroup clusters: where a workgroup is, the cluster's barrier, multicast loads."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest
from copy_kernel import kernel_text
from lodestone import sim
from lodestone.sim import ExecutionError, LaunchError

CHIP = "gfx1250"
ARGS = [("source", 8, "global_buffer"), ("target", 8, "global_buffer")]

# What LLVM makes of the intrinsics: position in the grid, in the cluster, sizes, flat numbers.
PLACES = """
target triple = "amdgcn-amd-amdhsa"
{declare}
define amdgpu_kernel void @places(ptr addrspace(1) inreg %out) #0 {{
  %x = call i32 @llvm.amdgcn.workgroup.id.x()
  %y = call i32 @llvm.amdgcn.workgroup.id.y()
  %z = call i32 @llvm.amdgcn.workgroup.id.z()
  %row = mul i32 %z, 2
  %r2 = add i32 %row, %y
  %r3 = mul i32 %r2, 4
  %r4 = add i32 %r3, %x
  %first = mul i32 %r4, {count}
{stores}
  ret void
}}
attributes #0 = {{ "amdgpu-flat-work-group-size"="32,32" {attribute} }}
"""
WANTED = [
    "workgroup.id.x", "workgroup.id.y", "workgroup.id.z", "cluster.id.x", "cluster.id.y",
    "cluster.id.z", "cluster.workgroup.id.x", "cluster.workgroup.id.y", "cluster.workgroup.id.z",
    "cluster.workgroup.max.id.x", "cluster.workgroup.max.id.y", "cluster.workgroup.max.id.z",
    "cluster.workgroup.flat.id", "cluster.workgroup.max.flat.id",
]  # fmt: skip


def places_kernel(attribute, directory):
    stores = "".join(
        f"  %v{i} = call i32 @llvm.amdgcn.{name}()\n  %i{i} = add i32 %first, {i}\n"
        f"  %p{i} = getelementptr i32, ptr addrspace(1) %out, i32 %i{i}\n"
        f"  store i32 %v{i}, ptr addrspace(1) %p{i}\n"
        for i, name in enumerate(WANTED)
    )
    declare = "\n".join(f"declare i32 @llvm.amdgcn.{name}()" for name in WANTED)
    text = PLACES.format(declare=declare, stores=stores, attribute=attribute, count=len(WANTED))
    assembly = subprocess.run(
        [shutil.which("llc") or "llc", f"-mcpu={CHIP}", "-o", "-"],
        input=text, text=True, capture_output=True, check=True,
    ).stdout  # fmt: skip
    path = directory / "places.s"
    path.write_text(assembly)
    return path


def run_places(kernel, **arguments):
    out = np.full((2, 2, 4, len(WANTED)), -1, np.int32)
    result = sim.run(kernel, grid=(4, 2, 2), block=32, args=[out], **arguments)
    return result.outputs[0]


# A kernel reads its place as LLVM's intrinsics find it: fixed in the metadata, given at the
# launch, or without clusters, where the code asks the hardware whether there are any.
@pytest.mark.parametrize(
    ("attribute", "cluster", "expected"),
    [
        ('"amdgpu-cluster-dims"="2,2,1"', None, (2, 2, 1)),
        ('"amdgpu-cluster-dims"="1024,1024,1024"', (4, 1, 2), (4, 1, 2)),
        ("", (2, 1, 1), (2, 1, 1)),
        ("", None, (1, 1, 1)),
    ],
)
def test_places(attribute, cluster, expected, tmp_path):
    kernel = places_kernel(attribute, tmp_path)
    got = run_places(kernel, cluster=cluster, workers=2)
    for z, y, x in np.ndindex(2, 2, 4):
        at = (x, y, z)
        inside = [i % c for i, c in zip(at, expected, strict=True)]
        flat = inside[0] + expected[0] * (inside[1] + expected[1] * inside[2])
        want = [*at, *(i // c for i, c in zip(at, expected, strict=True))]
        want += [*inside, *(c - 1 for c in expected), flat, int(np.prod(expected)) - 1]
        assert got[z, y, x].tolist() == want, at


@pytest.mark.parametrize(
    ("cluster", "grid", "message"),
    [
        ((3, 1, 1), (4, 2, 2), r"grid \(4, 2, 2\) is not a multiple of the cluster \(3, 1, 1\)"),
        ((8, 4, 1), (8, 4, 1), "has 32 workgroups, at most 16"),
        ((0, 1, 1), (4, 2, 2), "below 1"),
    ],
)
def test_refused_launches(cluster, grid, message):
    text = kernel_text("  s_endpgm", chip=CHIP, threads=32, args=ARGS)
    arrays = [np.zeros(4, np.uint32)] * 2
    with pytest.raises(LaunchError, match=message):
        sim.run(text, grid=grid, cluster=cluster, args=arrays)


def test_clusters_need_the_chip_and_the_metadata(tmp_path):
    arrays = [np.zeros(4, np.uint32)] * 2
    text = kernel_text("  s_endpgm", threads=64, args=ARGS)
    with pytest.raises(LaunchError, match="gfx950, which has no clusters"):
        sim.run(text, grid=4, cluster=2, args=arrays)
    kernel = places_kernel('"amdgpu-cluster-dims"="2,2,1"', tmp_path)
    with pytest.raises(LaunchError, match="is not the one of the kernel's metadata"):
        run_places(kernel, cluster=(4, 1, 1))


# Two workgroups of two waves. Each writes its number to memory, meets the other at the cluster's
# barrier, and reads what the other wrote.
EXCHANGE = """
  s_load_b128 s[4:7], s[0:1], 0x0
  s_bfe_u32 s20, ttmp8, 0x50019            // wave
  s_and_b32 s21, ttmp6, 15                 // workgroup of the cluster
  v_and_b32_e32 v0, 31, v0
  v_lshlrev_b32_e32 v1, 2, v0
  v_lshl_add_u32 v1, s20, 7, v1
  s_lshl_b32 s22, s21, 8
  v_add_nc_u32_e32 v2, s22, v1
  s_xor_b32 s23, s22, 0x100
  v_add_nc_u32_e32 v3, s23, v1
  s_wait_kmcnt 0x0
  v_add_nc_u32_e32 v4, s21, v2
  global_store_b32 v2, v4, s[4:5]
  s_wait_storecnt 0x0
  s_cmp_eq_u32 0, 0
  s_barrier_signal_isfirst -1
  s_barrier_wait -1
  s_cbranch_scc0 .Lwait
  {signal}
.Lwait:
  s_barrier_wait -3
  global_load_b32 v5, v3, s[4:5]
  s_wait_loadcnt 0x0
  global_store_b32 v2, v5, s[6:7]
  s_endpgm
"""


def exchange(signal="s_barrier_signal -3"):
    return kernel_text(EXCHANGE.format(signal=signal), chip=CHIP, threads=64, args=ARGS)


@pytest.mark.parametrize("order", ["forward", "reverse", 1, 2])
@pytest.mark.parametrize("mode", ["E", "R", "W"])
def test_cluster_barrier(order, mode):
    arrays = [np.zeros(128, np.uint32), np.zeros(128, np.uint32)]
    result = sim.run(exchange(), grid=2, cluster=2, args=arrays, order=order, mode=mode)
    assert not result.findings, result
    own = np.arange(0, 512, 4).reshape(2, 64) + np.arange(2)[:, None]
    np.testing.assert_array_equal(result.outputs[1].reshape(2, 64), own[::-1])


# By themselves workgroups take the barrier as nothing: the first doesn't see what the second will
# write. So does a cluster whose barrier is missing.
def test_without_the_barrier():
    arrays = [np.zeros(128, np.uint32), np.zeros(128, np.uint32)]
    alone = sim.run(exchange(), grid=2, args=arrays)
    assert not alone.outputs[1].reshape(2, 64)[0].any()
    text = exchange("s_nop 0").replace("s_barrier_wait -3", "s_nop 0")
    missing = sim.run(text, grid=2, cluster=2, args=arrays)
    assert not missing.outputs[1].reshape(2, 64)[0].any()


@pytest.mark.parametrize(
    ("signal", "message"),
    [
        ("s_nop 0", "which workgroup 0, 1 didn't signal"),
        ("s_barrier_signal -3\n  s_barrier_signal -3", "signals the cluster's barrier a second"),
    ],
)
def test_wrong_signals(signal, message):
    arrays = [np.zeros(128, np.uint32), np.zeros(128, np.uint32)]
    with pytest.raises(ExecutionError, match=message):
        sim.run(exchange(signal), grid=2, cluster=2, args=arrays)


# The first wave of a workgroup, and the first workgroup of a cluster, is told so.
def test_first_to_signal():
    body = """
  s_load_b128 s[4:7], s[0:1], 0x0
  s_bfe_u32 s20, ttmp8, 0x50019
  s_lshl_b32 s21, ttmp9, 3
  s_and_b32 s22, ttmp6, 15
  s_lshl_b32 s22, s22, 3
  s_lshl2_add_u32 s22, s20, s22
  s_barrier_signal_isfirst -1
  s_cselect_b32 s23, 1, 0
  s_barrier_wait -1
  s_cmp_eq_u32 s23, 1
  s_cbranch_scc0 .Lwait
  s_cmp_eq_u32 0, 1
  s_barrier_signal_isfirst -3
  s_cselect_b32 s23, 3, 1
.Lwait:
  s_barrier_wait -3
  v_mov_b32_e32 v1, s22
  v_mov_b32_e32 v2, s23
  s_mov_b32 exec_lo, 1
  s_wait_kmcnt 0x0
  global_store_b32 v1, v2, s[6:7]
  s_endpgm
"""
    text = kernel_text(body, chip=CHIP, threads=64, args=ARGS)
    arrays = [np.zeros(4, np.uint32), np.zeros(4, np.uint32)]
    forward = sim.run(text, grid=2, cluster=2, args=arrays)
    assert forward.outputs[1].tolist() == [3, 0, 1, 0]
    reverse = sim.run(text, grid=2, cluster=2, args=arrays, order="reverse")
    assert reverse.outputs[1].tolist() == [0, 1, 0, 3]


# Both workgroups load the same 128 bytes into their LDS; each stores them at its own place.
MULTICAST = """
  s_load_b128 s[4:7], s[0:1], 0x0
  s_and_b32 s21, ttmp6, 15
  v_lshlrev_b32_e32 v1, 2, v0
  s_lshl_b32 s22, s21, 7
  v_add_nc_u32_e32 v2, s22, v1
  {skip}
  s_wait_kmcnt 0x0
  {load}
  ds_load_b32 v3, v1
  s_wait_dscnt 0x0
  global_store_b32 v2, v3, s[6:7]
.Lend:
  s_endpgm
"""
ASYNC = """s_mov_b32 m0, {mask}
  cluster_load_async_to_lds_b32 v1, v1, s[4:5]
  s_wait_asynccnt 0x0"""
REGISTERS = """s_mov_b32 m0, {mask}
  cluster_load_b32 v4, v1, s[4:5]
  s_wait_loadcnt 0x0
  ds_store_b32 v1, v4"""
TENSOR = """s_mov_b32 s32, 1
  s_mov_b32 s33, 0
  s_mov_b32 s34, s4
  s_or_b32 s35, s5, 0x80000000
  s_mov_b32 s36, 0x20000 + {mask}
  s_mov_b32 s37, 32 << 16
  s_mov_b32 s38, 0
  s_mov_b32 s39, 32 << 16
  s_mov_b64 s[40:41], 0
  s_mov_b64 s[42:43], 0
  tensor_load_to_lds s[32:35], s[36:43]
  s_wait_tensorcnt 0x0"""


def multicast(load, mask, skip="s_nop 0"):
    body = MULTICAST.format(load=load.format(mask=mask), skip=skip)
    return kernel_text(body, chip=CHIP, threads=32, lds=128, args=ARGS)


@pytest.mark.parametrize("load", [ASYNC, REGISTERS, TENSOR], ids=["async", "registers", "tensor"])
@pytest.mark.parametrize("mode", ["E", "R", "W"])
def test_multicast(load, mode):
    arrays = [np.arange(32, dtype=np.uint32) + 5, np.zeros(64, np.uint32)]
    result = sim.run(multicast(load, 3), grid=2, cluster=2, args=arrays, mode=mode)
    assert not result.findings, result
    np.testing.assert_array_equal(result.outputs[1].reshape(2, 32), [arrays[0]] * 2)


# A workgroup that the mask names and that doesn't ask lets the others wait for the time limit.
@pytest.mark.parametrize("load", [ASYNC, TENSOR], ids=["async", "tensor"])
def test_missing_partner(load):
    skip = "s_cmp_eq_u32 s21, 1\n  s_cbranch_scc1 .Lend"
    arrays = [np.arange(32, dtype=np.uint32), np.zeros(64, np.uint32)]
    result = sim.run(multicast(load, 3, skip), grid=2, cluster=2, args=arrays)
    assert [f.kind for f in result.warnings] == ["multicast-partner"]
    assert "1 don't ask for the same data" in result.warnings[0].message


@pytest.mark.parametrize(
    ("load", "mask", "cluster", "message"),
    [
        (ASYNC, 2, 2, "leaves out the workgroup that asks, number 0"),
        (TENSOR, 7, 2, "names workgroups outside of the cluster of 2"),
        (TENSOR, 3, 1, "multicast mask 0x3 outside of a cluster, must be 0"),
    ],
)
def test_wrong_masks(load, mask, cluster, message):
    arrays = [np.arange(32, dtype=np.uint32), np.zeros(64, np.uint32)]
    with pytest.raises(ExecutionError, match=message):
        sim.run(multicast(load, mask), grid=2, cluster=cluster, args=arrays)


# Outside of a cluster a cluster load is a plain one, whatever M0 holds.
def test_cluster_load_by_itself():
    arrays = [np.arange(32, dtype=np.uint32), np.zeros(64, np.uint32)]
    result = sim.run(multicast(ASYNC, 6), grid=1, args=arrays)
    np.testing.assert_array_equal(result.outputs[1][:32], arrays[0])
