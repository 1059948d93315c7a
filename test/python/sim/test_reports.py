"""Bank conflicts, the static cost report, source lines, several processes, other chips."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from copy_kernel import copy_arguments, copy_text, kernel_text
from lodestone import sim
from lodestone.sim import banks, cost, snippet

LANE = np.arange(64)


def starts(addresses, size):
    return addresses[None, :] + 4 * np.arange(max(1, size // 4))[:, None]


# The published phases: rows of 16 bytes apart are free of conflicts, a stride of all banks is not.
@pytest.mark.parametrize("chip", ["gfx942", "gfx950"])
@pytest.mark.parametrize(("direction", "size"), [("read", 4), ("read", 8), ("read", 16),
                                                 ("write", 4), ("write", 8),
                                                 ("write", 16)])  # fmt: skip
def test_linear_access_has_no_conflict(chip, direction, size):
    assert banks.conflicts(chip, direction, starts(LANE * size, size), 4, None) == 0
    phases = banks.PHASES[chip, direction, size]
    assert sorted(lane for phase in phases for lane in phase) == list(range(64))
    # All lanes in the same banks: in each phase, every lane but the first costs a cycle.
    stride = banks.conflicts(chip, direction, starts(LANE * 256, size), 4, None)
    assert stride == 64 - len(phases)
    # The same address in all lanes is a broadcast.
    assert banks.conflicts(chip, direction, starts(LANE * 0, size), 4, None) == 0


# Rows of 128 bytes read in columns of 16: conflicts without the xor swizzle, none with it.
def test_swizzle_removes_conflicts():
    row, column = LANE % 16, LANE // 16 * 16
    plain = row * 128 + column
    assert banks.conflicts("gfx950", "read", starts(plain, 16), 4, None) > 0
    swizzled = plain ^ ((plain >> 7 & 7) << 4)
    assert banks.conflicts("gfx950", "read", starts(swizzled, 16), 4, None) == 0


# Inactive lanes take no part; unpublished accesses are not counted rather than guessed.
def test_conflicts_of_masked_and_unpublished_accesses():
    active = np.broadcast_to(LANE < 1, (1, 64))
    assert banks.conflicts("gfx950", "read", starts(LANE * 256, 4), 4, active) == 0
    assert banks.conflicts("gfx950", "read", starts(LANE * 256, 12), 4, None) is None
    assert banks.conflicts("gfx1250", "read", starts(LANE * 4, 4), 4, None) is None


# A run reports the conflicts of each instruction, multiplied by how often it ran.
def test_run_counts_conflicts():
    text = copy_text().replace("v_lshlrev_b32_e32 v1, 4, v0", "v_lshlrev_b32_e32 v1, 4, v0", 1)
    result = sim.run(text, args=copy_arguments(), dynamic_lds=8192)
    reads = [b for b in result.bank_conflicts if b.instruction.startswith("ds_read_b128")]
    assert [b.executed for b in reads] == [8, 8] and [b.extra_cycles for b in reads] == [0, 0]
    body = """
  v_lshlrev_b32_e32 v1, 8, v0
  ds_read_b32 v2, v1
  s_waitcnt lgkmcnt(0)
  s_endpgm
"""
    result = sim.run(kernel_text(body, threads=64), dynamic_lds=65536)
    assert result.extra_lds_cycles == 63
    assert json.loads(json.dumps(result.to_json()))["bank_conflicts"][0]["extra_cycles"] == 63


# The main loop is found and costed: 2 reads of 4 cycles, 2 fills of 1 KiB at 128 bytes a cycle.
def test_cost_of_the_copy_loop():
    report = cost.main_loop(sim.load(copy_text()))
    assert report.loop and report.barriers == 4 and report.waits == 4
    assert (report.lds_reads, report.lds_read_cycles) == (2, 8)
    assert (report.fills, report.fill_bytes, report.fill_cycles) == (2, 2048, 16)
    assert report.lds_share(4) is None
    assert json.loads(json.dumps(report.to_json()))["vector_memory"] == 4


# Without a loop the whole kernel is costed; f8f6f4 takes twice as long on 8-bit operands.
def test_cost_without_a_loop():
    body = """
  v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[8:15], v[16:23], 0
  v_mfma_f32_32x32x64_f8f6f4 v[0:15], v[16:19], v[20:23], 0 cbsz:4 blgp:4
  v_mfma_f32_32x32x16_bf16 v[0:15], v[16:19], v[20:23], 0
  ds_read_b128 v[0:3], v1
  s_endpgm
"""
    report = cost.main_loop(sim.load(kernel_text(body, threads=64)))
    assert not report.loop and (report.matrix, report.matrix_cycles) == (3, 32 + 32 + 32)
    assert report.lds_share(8) == 4 * 8 / (96 * 2)


# Several processes give the same outputs, counts and findings as one.
def test_workers():
    body = """
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_lshlrev_b32_e32 v1, 2, v0
  s_lshl_b32 s6, s2, 8
  v_add_u32_e32 v2, s6, v1
  v_lshlrev_b32_e32 v3, 2, v1
  ds_write_b32 v3, v2
  s_waitcnt lgkmcnt(0)
  global_store_dword v2, v2, s[4:5]
  s_endpgm
"""
    text = kernel_text(body, args=[("out", 8, "global_buffer")], threads=64, lds=1024)
    seen = []
    runs = [
        sim.run(text, grid=7, args=[np.zeros(7 * 64, np.uint32)], workers=workers, mode="R",
                progress=lambda *x: seen.append(x))
        for workers in (1, 3)
    ]  # fmt: skip
    one, three = runs
    np.testing.assert_array_equal(one.outputs[0], np.arange(7 * 64) * 4)
    np.testing.assert_array_equal(one.outputs[0], three.outputs[0])
    assert one.counts == three.counts and one.instructions == three.instructions
    assert one.bank_conflicts == three.bank_conflicts and seen[-1] == (7, 7)
    with pytest.raises(sim.ExecutionError, match="outside of every buffer"):
        sim.run(text, grid=8, args=[np.zeros(7 * 64, np.uint32)], workers=2)


# With debug info, findings and errors say the source line.
def test_source_lines():
    text = copy_text().replace("s_waitcnt lgkmcnt(0)\n  s_barrier", ".loc 1 42 7\n  s_barrier")
    text = text.replace(".text\n", '.text\n.file 1 "dir" "kernel.mlir"\n', 1)
    text = text.replace("buffer_store_dwordx4 v[4:7]", ".loc 1 77 3\n  buffer_store_dwordx4 v[4:7]")
    text += """
.section .debug_abbrev,"",@progbits
.byte 1, 17, 0, 16, 23, 17, 1, 18, 6, 0, 0, 0
.section .debug_info,"",@progbits
.long .Lend-.Lstart
.Lstart:
.short 4
.long .debug_abbrev
.byte 8
.byte 1
.long 0
.quad copy
.long 0x1000
.Lend:
"""
    result = sim.run(text, args=copy_arguments(), dynamic_lds=8192, mode="R", check=False)
    found = [f for f in result.errors if f.kind == "register-before-wait"]
    assert found and found[0].source is not None and found[0].source[1] == 77
    assert "kernel.mlir:77" in str(found[0])


# gfx942: 4-byte loads to LDS only, M0 of 16 bits, 64 KiB of LDS, its own fp8.
def test_gfx942():
    body = """
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32_e32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  s_mov_b32 s8, s4
  s_and_b32 s9, s5, 0xffff
  s_movk_i32 s10, 0x100
  s_mov_b32 s11, 0x27000
  s_mov_b32 m0, 0x10040
  s_nop 0
  buffer_load_dword v1, s[8:11], 0 offen lds
  s_waitcnt vmcnt(0)
  ds_read_b32 v2, v1 offset:64
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v2, s[6:7]
  s_endpgm
"""
    args = [("source", 8, "global_buffer"), ("target", 8, "global_buffer")]
    text = kernel_text(body, chip="gfx942", args=args, threads=64)
    source = np.arange(64, dtype=np.uint32) * 3
    arguments = [source, np.zeros_like(source)]
    for mode in "ERW":
        result = sim.run(text, args=arguments, dynamic_lds=1024, mode=mode)
        assert result.ok
        np.testing.assert_array_equal(result.outputs[1], source)
    with pytest.raises(sim.LaunchError, match="gfx942 has 65536"):
        sim.run(text, args=arguments, dynamic_lds=65537)
    wave = snippet.new_wave("gfx942")
    wave.F[1][:] = 1e9
    snippet.execute("v_cvt_pk_fp8_f32 v0, v1, v1", wave)
    assert (wave.R[0] & 0xFF == 0x80).all(), "FNUZ has one NaN"
    (inst,) = snippet.instructions("v_mfma_f32_16x16x32_bf16 v[0:3], v[4:7], v[8:11], 0")
    with pytest.raises(sim.UnsupportedInstruction, match="not on gfx942"):
        snippet.execute([replace(inst, chip="gfx942")], wave)
