"""A double-buffered copy through LDS: the smallest kernel with every kind of synchronization."""

from __future__ import annotations

import numpy as np

HEADER = """
.amdgcn_target "amdgcn-amd-amdhsa--{chip}"
.text
.globl {name}
.p2align 8
.type {name},@function
{name}:
{body}
.section .rodata,"a"
.p2align 6
.amdhsa_kernel {name}
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_user_sgpr_count 2
  .amdhsa_system_sgpr_workgroup_id_x 1
  .amdhsa_system_sgpr_workgroup_id_y 1
  .amdhsa_kernarg_size {kernarg}
  .amdhsa_next_free_vgpr 64
  .amdhsa_next_free_sgpr 64
  .amdhsa_group_segment_fixed_size {lds}
  .amdhsa_float_denorm_mode_32 3
  .amdhsa_float_denorm_mode_16_64 3
{extra}
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: {name}
    .symbol: {name}.kd
    .kernarg_segment_size: {kernarg}
    .group_segment_fixed_size: {lds}
    .private_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .wavefront_size: {lanes}
    .sgpr_count: 64
    .vgpr_count: 64
    .max_flat_workgroup_size: {threads}
    .reqd_workgroup_size: [{threads}, 1, 1]
    .args:
{args}
...
.end_amdgpu_metadata
"""


def kernel_text(body, *, chip="gfx950", name="copy", threads=256, lds=0, args=()):
    """Wrap a body; `args` is a list of (name, size, kind)."""
    lines, offset = [], 0
    for arg, size, kind in args:
        offset = (offset + size - 1) // size * size
        lines.append(
            f"      - {{.name: {arg}, .offset: {offset}, .size: {size}, .value_kind: {kind}}}"
        )
        offset += size
    wave32 = chip == "gfx1250"
    extra = "" if wave32 else "  .amdhsa_accum_offset 64"
    if not args:
        lines = ["      []"]
    return HEADER.format(
        body=body, chip=chip, name=name, threads=threads, lds=lds, kernarg=max(offset, 8),
        args="\n".join(lines), extra=extra, lanes=32 if wave32 else 64,
    )  # fmt: skip


COPY_ARGS = [("source", 8, "global_buffer"), ("target", 8, "global_buffer"),
             ("tiles", 4, "by_value")]  # fmt: skip

# 4 waves move tiles of 4 KiB: each wave loads 1 KiB of the next tile into one of two buffers while
# it reads what its neighbour loaded of the current tile from the other.
COPY = """
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_load_dword s20, s[0:1], 0x10
  v_readfirstlane_b32 s21, v0
  s_lshr_b32 s21, s21, 6                 // wave
  s_lshl_b32 s22, s21, 10                // its slice of a buffer
  v_lshlrev_b32_e32 v1, 4, v0            // byte of the tile that the lane loads
  v_add_u32_e32 v2, 0x400, v1            // and stores: the next wave's slice
  v_and_b32_e32 v2, 0xfff, v2
  s_waitcnt lgkmcnt(0)
  s_lshl_b32 s23, s20, 12                // bytes in all
  s_mov_b32 s8, s4                       // source resource
  s_and_b32 s9, s5, 0xffff
  s_mov_b32 s10, s23
  s_mov_b32 s11, 0x27000
  s_mov_b32 s12, s6                      // target resource
  s_and_b32 s13, s7, 0xffff
  s_mov_b32 s14, s23
  s_mov_b32 s15, 0x27000
  s_mov_b32 s24, 0                       // byte offset of the current tile
  s_mov_b32 m0, s22
  s_nop 0
  buffer_load_dwordx4 v1, s[8:11], s24 offen lds
.Lloop:
{half_a}
{half_b}
  s_cmp_lt_u32 s24, s23
  s_cbranch_scc1 .Lloop
  s_endpgm
"""
HALF = """
  s_add_u32 s25, s24, 0x1000
  s_add_u32 m0, s22, {next}
  v_add_u32_e32 v8, s25, v1              // lane offset, so that the range check sees it
  buffer_load_dwordx4 v8, s[8:11], 0 offen lds
  s_waitcnt vmcnt({wait})
  s_barrier
  ds_read_b128 v[4:7], v2 offset:{here}
  s_waitcnt lgkmcnt(0)
  s_barrier
  buffer_store_dwordx4 v[4:7], v2, s[12:15], s24 offen
  s_mov_b32 s24, s25
"""


def copy_text(chip="gfx950"):
    """The kernel; needs 8 KiB of dynamic LDS and an even number of tiles."""
    # In the first half of the first round nothing was stored yet, so one operation may be left.
    body = COPY.format(
        half_a=HALF.format(next="0x1000", here=0, wait=1),
        half_b=HALF.format(next="0x0", here=4096, wait=2),
    )
    return kernel_text(body, chip=chip, args=COPY_ARGS)


def copy_arguments(tiles=4, seed=0):
    """Random source, empty target."""
    rng = np.random.default_rng(seed)
    source = rng.integers(0, 1 << 32, tiles * 1024, dtype=np.uint64).astype(np.uint32)
    return [source, np.zeros_like(source), tiles]
