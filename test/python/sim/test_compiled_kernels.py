"""Small kernels in C, as LLVM compiles them: what copies and attention need is known and right."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from lodestone import sim
from lodestone.sim.decode import Code
from lodestone.sim.modes import mode_named
from random_arithmetic import compile_gpu

pytestmark = pytest.mark.skipif(
    shutil.which("clang-22") is None, reason="compiles C with clang-22, which is not there"
)

ADD = """
__attribute__((reqd_work_group_size(64, 1, 1)))
__kernel void add(__global const float4* a, __global const float4* b, __global float4* c, int n) {
  int first = __builtin_amdgcn_workitem_id_x() + 64 * __builtin_amdgcn_workgroup_id_x();
  for (int i = first; i < n; i += 128) c[i] = a[i] + b[i] * 2.0f;
}
"""


# A vector addition with a ragged end, in several workgroups.
@pytest.mark.parametrize("chip", ["gfx942", "gfx950", "gfx1250"])
def test_add(chip, tmp_path):
    kernel = compile_gpu(ADD, chip, tmp_path)
    a, b = np.random.default_rng(1).standard_normal((2, 4 * 200)).astype(np.float32)
    for mode in "ERW":
        result = sim.run(kernel, grid=2, args=[a, b, np.zeros_like(a), 200], mode=mode)
        assert not result.findings, result
        np.testing.assert_array_equal(result.outputs[2], a + b * np.float32(2))


COPY = """
typedef int i2 __attribute__((ext_vector_type(2)));
typedef int i4 __attribute__((ext_vector_type(4)));
typedef int i8 __attribute__((ext_vector_type(8)));
__attribute__((reqd_work_group_size(64, 1, 1)))
__kernel void copy(__global int* from, __global int* to, __local int* lds) {
  int t = __builtin_amdgcn_workitem_id_x();
  int wave = __builtin_amdgcn_readfirstlane(t >> 5);
  __builtin_amdgcn_global_load_async_to_lds_b128(
      (__global i4*)from + t, (__local i4*)lds + t, 0, 0);
  __builtin_amdgcn_global_load_async_to_lds_b64(
      (__global i2*)(from + 256) + t, (__local i2*)(lds + 256) + t, 0, 0);
  __builtin_amdgcn_global_load_async_to_lds_b32(from + 384 + t, lds + 384 + t, 0, 0);
  __builtin_amdgcn_global_load_async_to_lds_b8(
      (__global char*)(from + 448) + t, (__local char*)(lds + 448) + t, 0, 0);
  ulong address = (ulong)(from + 512 + 32 * wave);
  i4 group0 = {1, 4 * (512 + 32 * wave), (int)address, (int)(address >> 32) | (int)0x80000000};
  i8 group1 = {0x20000, 32 << 16, 0, 32 << 16, 0, 0, 0, 0};
  i4 none = {0, 0, 0, 0};
  __builtin_amdgcn_tensor_load_to_lds(group0, group1, none, none, 0);
  __builtin_amdgcn_s_wait_asynccnt(0);
  __builtin_amdgcn_s_wait_tensorcnt(0);
  __builtin_amdgcn_s_barrier_signal(-1);
  __builtin_amdgcn_s_barrier_wait(-1);
  for (int i = 0; i < 576; i += 64) to[i + t] = lds[i + (t ^ 33)];
  address = (ulong)(to + 576 + 32 * wave);
  group0[2] = (int)address;
  group0[3] = (int)(address >> 32) | (int)0x80000000;
  __builtin_amdgcn_tensor_store_from_lds_d2(group0, group1, 0);
  __builtin_amdgcn_s_wait_tensorcnt(0);
}
"""


# Asynchronous loads of all widths and a tensor tile per wave, read across waves after a barrier.
@pytest.mark.parametrize("order", ["forward", "reverse"])
@pytest.mark.parametrize("mode", ["E", "R", "W"])
def test_copy(mode, order, tmp_path):
    kernel = compile_gpu(COPY, "gfx1250", tmp_path)
    source = np.arange(640, dtype=np.int32) * 3 + 1
    arguments = [source, np.zeros(640, np.int32)]
    result = sim.run(kernel, args=[*arguments, 0], dynamic_lds=4096, mode=mode, order=order)
    assert not result.findings, result
    lane = np.arange(64) ^ 33
    want = np.concatenate([source[i + lane] for i in range(0, 576, 64)])
    got = result.outputs[1]
    # Of the bytes, 64 were loaded: 16 dwords.
    loaded = np.ones(576, bool)
    loaded[448:512] = lane < 16
    np.testing.assert_array_equal(got[:576][loaded], want[loaded])
    np.testing.assert_array_equal(got[576:], source[512:576])
    assert [(t.wave, t.instruction.split()[0]) for t in result.tensor_operations].count(
        (1, "tensor_load_to_lds")
    ) == 1


ATTENTION = """
typedef float f16 __attribute__((ext_vector_type(16)));
typedef _Float16 h8 __attribute__((ext_vector_type(8)));
typedef __bf16 b8 __attribute__((ext_vector_type(8)));
typedef short s4 __attribute__((ext_vector_type(4)));
typedef uint swapped __attribute__((ext_vector_type(2)));
__attribute__((reqd_work_group_size(512, 1, 1)))
__kernel void k(__global const b8* q, __global const h8* h, __global const uint* from,
                __global float* out, __local b8* lds, int steps, float scale) {
  uint t = __builtin_amdgcn_workitem_id_x();
  f16 sums = {}, halves = {};
  b8 a = q[t], b = lds[t];
  float top = -__builtin_inff();
  for (int i = 0; i < steps; i++) {
    __builtin_amdgcn_global_load_lds(from + t + i * 64, (__local uint*)lds, 4, 0, 0);
    __builtin_amdgcn_global_load_lds(from + 4 * t, (__local uint*)lds + 2048, 16, 0, 0);
    sums = __builtin_amdgcn_mfma_f32_32x32x16_bf16(a, b, sums, 0, 0, 0);
    halves = __builtin_amdgcn_mfma_f32_32x32x16_f16(h[t], h[t + i], halves, 0, 0, 0);
    float high = sums[0];
    for (int j = 1; j < 16; j++) high = __builtin_fmaxf(high, sums[j]);
    uint bits = __builtin_bit_cast(uint, high);
    swapped far = __builtin_bit_cast(swapped, __builtin_amdgcn_permlane32_swap(bits, bits, 0, 0));
    swapped near =
        __builtin_bit_cast(swapped, __builtin_amdgcn_permlane16_swap(far[0], far[1], 0, 0));
    high = __builtin_fmaxf(__builtin_bit_cast(float, near[0]), __builtin_bit_cast(float, near[1]));
    if (__builtin_amdgcn_ballot_w64(high - top <= 8.0f) != ~0ul) {
      float factor = __builtin_amdgcn_exp2f(top - high);
      for (int j = 0; j < 16; j++) sums[j] *= factor;
      top = high;
    }
    __builtin_amdgcn_s_setprio(1);
    for (int j = 0; j < 16; j++) sums[j] = __builtin_amdgcn_exp2f(sums[j] * scale - top);
    __builtin_amdgcn_s_setprio(0);
    __builtin_amdgcn_sched_barrier(0);
    __builtin_amdgcn_s_barrier();
    for (int j = 0; j < 8; j++) {
      a[j] = (__bf16)sums[j];
      b[j] = (__bf16)sums[j + 8];
    }
    s4 turned = __builtin_amdgcn_ds_read_tr16_b64_v4i16((__local s4*)lds + t);
    a[0] = __builtin_bit_cast(__bf16, turned[0]);
    __asm__ volatile("s_waitcnt vmcnt(2)" ::: "memory");
    lds[t] = a;
  }
  for (int j = 0; j < 16; j++) out[t * 16 + j] = sums[j] / top + halves[j];
}
"""
FAMILIES = {
    "v_mfma_f32_32x32x16_bf16", "v_mfma_f32_32x32x16_f16", "ds_read_b64_tr_b16",
    "global_load_lds_dword", "global_load_lds_dwordx4", "v_permlane32_swap_b32",
    "v_permlane16_swap_b32", "v_exp_f32", "v_cvt_pk_bf16_f32", "s_setprio", "s_barrier",
    "s_waitcnt", "v_cmp_ge_f32",
}  # fmt: skip


# All that LLVM uses for the inner part of an attention kernel has semantics, whether it is reached
# or not; spilled at a low budget of registers, too.
@pytest.mark.parametrize("registers", [256, 40])
def test_attention_instructions(registers, tmp_path):
    limit = f"__attribute__((amdgpu_num_vgpr({registers})))\n"
    program = sim.load(compile_gpu(ATTENTION.replace("__kernel", limit + "__kernel"), "gfx950",
                                   tmp_path))  # fmt: skip
    used = {inst.mnemonic for inst in program.instructions}
    assert used >= FAMILIES
    if registers < 64:
        assert used & {"v_accvgpr_write_b32", "scratch_store_dword"}
    code = Code(program, mode_named("R"))
    last = next(i.index for i in program.instructions if i.mnemonic == "s_endpgm")
    at = program.at_address[next(iter(program.code.kernels.values())).entry]
    while at <= last:
        at += code.block(at).count
