"""LDS, buffer, global and scratch instructions, and loads from memory to LDS."""

from __future__ import annotations

import numpy as np
import pytest
from copy_kernel import kernel_text
from lodestone.sim import ExecutionError, asm, snippet

LANE = np.arange(64)


def filled(mode="E", **options):
    """A wave whose LDS holds its own byte offsets (modulo 251)."""
    wave = snippet.new_wave(mode=mode, **options)
    wave.group.lds.bytes[: wave.group.lds.size] = np.arange(wave.group.lds.size) % 251
    return wave


def lds_word(wave, address, size=4):
    return int.from_bytes(wave.group.lds.bytes[address : address + size].tobytes(), "little")


READS = {
    "ds_read_b32 v[0:0], v10 offset:8": [(8, 4)],
    "ds_read_b64 v[0:1], v10 offset:8": [(8, 4), (12, 4)],
    "ds_read_b96 v[0:2], v10": [(0, 4), (4, 4), (8, 4)],
    "ds_read_b128 v[0:3], v10 offset:16": [(16, 4), (20, 4), (24, 4), (28, 4)],
    "ds_read2_b32 v[0:1], v10 offset0:1 offset1:5": [(4, 4), (20, 4)],
    "ds_read2_b64 v[0:3], v10 offset0:1 offset1:2": [(8, 4), (12, 4), (16, 4), (20, 4)],
    "ds_read2st64_b32 v[0:1], v10 offset0:1 offset1:2": [(256, 4), (512, 4)],
    "ds_read2st64_b64 v[0:3], v10 offset1:1": [(0, 4), (4, 4), (512, 4), (516, 4)],
    "ds_read_u8 v0, v10 offset:3": [(3, 1)],
    "ds_read_u16 v0, v10 offset:2": [(2, 2)],
}


# Each read takes its bytes from address + offset; modes R and W deliver the same at the wait.
@pytest.mark.parametrize("mode", ["E", "R", "W"])
@pytest.mark.parametrize("text", READS)
def test_lds_read(text, mode):
    wave = filled(mode)
    address = LANE * 24 % 1024 // 8 * 8
    wave.R[10][:] = address
    wave.set_exec(0x7FFFFFFFFFFFFFFE)
    snippet.execute(text.replace("v[0:0]", "v0") + "\ns_waitcnt lgkmcnt(0)", wave)
    for register, (offset, size) in enumerate(READS[text]):
        for lane in range(64):
            want = lds_word(wave, int(address[lane]) + offset, size)
            if lane in (0, 63):
                want = 0x7FC0DEAD
            assert int(wave.R[register][lane]) == want


def test_lds_read_signed_and_halves():
    wave = filled()
    wave.group.lds.bytes[:4] = [0x80, 0xFF, 0x01, 0x90]
    wave.R[10][:] = 0
    wave.R[2][:] = wave.R[3][:] = wave.R[4][:] = 0x11112222
    text = """ds_read_i8 v0, v10
    ds_read_i16 v1, v10 offset:2
    ds_read_u16_d16 v2, v10
    ds_read_u16_d16_hi v3, v10
    ds_read_u8_d16_hi v4, v10 offset:1"""
    snippet.execute(text, wave)
    got = [int(wave.R[i][0]) for i in range(5)]
    assert got == [0xFFFFFF80, 0xFFFF9001, 0x1111FF80, 0xFF802222, 0x00FF2222]


WRITES = {
    "ds_write_b32 v10, v1 offset:4": [(4, 1, 4, 0)],
    "ds_write_b64 v10, v[2:3]": [(0, 2, 4, 0), (4, 3, 4, 0)],
    "ds_write_b96 v10, v[4:6]": [(0, 4, 4, 0), (4, 5, 4, 0), (8, 6, 4, 0)],
    "ds_write_b128 v10, v[2:5] offset:16": [(16 + 4 * i, 2 + i, 4, 0) for i in range(4)],
    "ds_write2_b32 v10, v1, v2 offset0:2 offset1:6": [(8, 1, 4, 0), (24, 2, 4, 0)],
    "ds_write2_b64 v10, v[2:3], v[4:5] offset1:2": [
        (0, 2, 4, 0), (4, 3, 4, 0), (16, 4, 4, 0), (20, 5, 4, 0)],
    "ds_write2st64_b32 v10, v1, v2 offset1:16": [(0, 1, 4, 0), (4096, 2, 4, 0)],
    "ds_write_b8 v10, v1 offset:1": [(1, 1, 1, 0)],
    "ds_write_b16 v10, v1 offset:2": [(2, 1, 2, 0)],
    "ds_write_b16_d16_hi v10, v1": [(0, 1, 2, 16)],
    "ds_write_b8_d16_hi v10, v1": [(0, 1, 1, 16)],
}  # fmt: skip


# Each write puts the low bytes of its registers at address + offset, active lanes only.
@pytest.mark.parametrize("mode", ["E", "R", "W"])
@pytest.mark.parametrize("text", WRITES)
def test_lds_write(text, mode):
    wave = filled(mode, lds_size=8192)
    rng = np.random.default_rng(1)
    for i in range(1, 8):
        wave.R[i][:] = rng.integers(0, 1 << 32, 64, dtype=np.uint64)
    wave.R[10][:] = LANE * 32
    wave.set_exec(0xFFFFFFFFFFFFFFF7)
    want = wave.group.lds.bytes[:8192].copy()
    for offset, register, size, shift in WRITES[text]:
        for lane in range(64):
            if lane != 3:
                value = int(wave.R[register][lane]) >> shift & (1 << 8 * size) - 1
                at = lane * 32 + offset
                want[at : at + size] = list(value.to_bytes(size, "little"))
    snippet.execute(text + "\ns_waitcnt lgkmcnt(0)", wave)
    np.testing.assert_array_equal(wave.group.lds.bytes[:8192], want)


# The transposing reads: each 16 lanes' data is a matrix with 16 columns, lane l gets column l.
@pytest.mark.parametrize(("suffix", "kind", "rows"), [("b16", np.uint16, 4), ("b8", np.uint8, 8)])
def test_lds_transpose(suffix, kind, rows):
    wave = filled()
    wave.R[10][:] = LANE * 8
    snippet.execute(f"ds_read_b64_tr_{suffix} v[0:1], v10", wave)
    block = wave.group.lds.bytes[:512].view(kind).reshape(4, rows, 16)
    for lane in range(64):
        got = np.array([wave.R[0][lane], wave.R[1][lane]], np.uint32).view(kind)
        np.testing.assert_array_equal(got, block[lane // 16, :, lane % 16])


# Out of bounds: reads give zero, writes are dropped, and both are findings.
def test_lds_out_of_bounds():
    wave = filled(lds_size=256)
    wave.R[10][:] = LANE * 8
    wave.R[1][:] = 0xFFFFFFFF
    snippet.execute("ds_read_b64 v[2:3], v10\nds_write_b32 v10, v1", wave)
    assert (wave.R[2][32:] == 0).all() and (wave.R[3][32:] == 0).all()
    assert wave.group.lds.words[64] == 0
    kinds = [(f.kind, f.severity) for f in wave.group.findings.items.values()]
    assert kinds == [("lds-out-of-bounds", "error")] * 2


# The lane-moving LDS instructions.
@pytest.mark.parametrize("mode", ["E", "R"])
def test_lane_moves(mode):
    wave = snippet.new_wave(mode=mode)
    wave.R[1][:] = LANE + 100
    wave.R[10][:] = (LANE * 7 + 3) % 64 * 4
    text = """ds_bpermute_b32 v2, v10, v1
    ds_permute_b32 v3, v10, v1
    ds_swizzle_b32 v4, v1 offset:swizzle(BITMASK_PERM,"00p1i")
    ds_swizzle_b32 v5, v1 offset:swizzle(QUAD_PERM,3,2,1,0)
    s_waitcnt lgkmcnt(0)"""
    snippet.execute(text, wave)
    target = (LANE * 7 + 3) % 64
    assert (wave.R[2] == target + 100).all()
    assert (wave.R[3][target] == LANE + 100).all()
    # "00p1i": bits 4, 3 zero, bit 2 kept, bit 1 one, bit 0 inverted.
    want = [(i & 32) | (i & 4) | 2 | (~i & 1) for i in LANE]
    assert (wave.R[4] == np.array(want) + 100).all()
    assert (wave.R[5] == (LANE ^ 3) + 100).all()


def with_buffer(mode="E", size=1024, records=None, **options):
    """A wave with a buffer resource in s[8:11] and its address in s[2:3]."""
    wave = snippet.new_wave(mode=mode, memory={"data": size}, **options)
    wave.group.memory.view("data")[:] = np.arange(size) % 253
    address = wave.group.memory.allocations["data"].address
    wave.write_scalar64(2, address)
    wave.S[8:12] = [address & 0xFFFFFFFF, address >> 32, size if records is None else records,
                    0x27000]  # fmt: skip
    return wave, wave.group.memory.view("data")


LOADS = {"dword": 4, "dwordx2": 8, "dwordx3": 12, "dwordx4": 16, "ubyte": 1, "ushort": 2}


# Buffer loads: base + scalar offset + lane offset + immediate, by components.
@pytest.mark.parametrize("mode", ["E", "R"])
@pytest.mark.parametrize("name", LOADS)
def test_buffer_load(name, mode):
    wave, data = with_buffer(mode)
    size = LOADS[name]
    count = max(1, size // 4)
    offset = LANE * 8
    wave.R[20][:] = offset
    wave.S[5] = 32
    registers = "v0" if count == 1 else f"v[0:{count - 1}]"
    snippet.execute(
        f"buffer_load_{name} {registers}, v20, s[8:11], s5 offen offset:16\ns_waitcnt vmcnt(0)",
        wave,
    )
    for lane in range(64):
        at = int(offset[lane]) + 48
        for i in range(count):
            part = min(4, size)
            want = int.from_bytes(data[at + 4 * i : at + 4 * i + part].tobytes(), "little")
            assert int(wave.R[i][lane]) == want


# Range checks are per component, on lane offset + immediate; the scalar offset has no part.
def test_buffer_bounds():
    wave, data = with_buffer(records=64)
    wave.R[20][:] = LANE * 4
    wave.S[5] = 512
    snippet.execute("buffer_load_dwordx2 v[0:1], v20, s[8:11], s5 offen", wave)
    words = data.view(np.uint32)
    assert (wave.R[0][:16] == words[128:144]).all() and (wave.R[0][16:] == 0).all()
    assert (wave.R[1][:15] == words[129:144]).all() and (wave.R[1][15:] == 0).all()
    wave.R[2][:] = 0xABCD
    before = data.copy()
    snippet.execute("buffer_store_dword v2, v20, s[8:11], 0 offen offset:32", wave)
    assert (words[8:16] == 0xABCD).all()
    np.testing.assert_array_equal(data[64:], before[64:])


# A descriptor may promise more than there is: that is an error, not another buffer's data.
def test_buffer_beyond_allocation():
    wave, _ = with_buffer(records=1 << 20)
    wave.R[20][:] = LANE * 32
    with pytest.raises(ExecutionError, match="outside of every buffer; the nearest buffer is data"):
        snippet.execute("buffer_load_dword v0, v20, s[8:11], 0 offen", wave)


def test_structured_buffers_are_refused():
    wave, _ = with_buffer()
    wave.S[9] |= 16 << 16
    with pytest.raises(ExecutionError, match="not raw"):
        snippet.execute("buffer_load_dword v0, v20, s[8:11], 0 offen", wave)


STORES = {"dword": 4, "dwordx2": 8, "dwordx4": 16, "short": 2, "byte": 1, "short_d16_hi": -2}


@pytest.mark.parametrize("space", ["buffer", "global"])
@pytest.mark.parametrize("name", STORES)
def test_store(name, space):
    wave, data = with_buffer()
    size, shift = abs(STORES[name]), 16 if STORES[name] < 0 else 0
    for i in range(4):
        wave.R[i][:] = LANE * 0x1010101 + i
    wave.R[20][:] = LANE * 16
    wave.set_exec(0xFFFFFFFFFFFFFFFD)
    count = max(1, size // 4)
    registers = "v0" if count == 1 else f"v[0:{count - 1}]"
    want = data.copy()
    for lane in range(64):
        if lane != 1:
            raw = b"".join(int(wave.R[i][lane]).to_bytes(4, "little") for i in range(count))
            raw = raw[shift // 8 : shift // 8 + size]
            want[lane * 16 : lane * 16 + size] = np.frombuffer(raw, np.uint8)
    if space == "buffer":
        snippet.execute(f"buffer_store_{name} {registers}, v20, s[8:11], 0 offen", wave)
    else:
        snippet.execute(f"global_store_{name} v20, {registers}, s[2:3]", wave)
    np.testing.assert_array_equal(data, want)


# Global loads: scalar base with 32-bit lane offset, or a 64-bit address per lane.
def test_global_load():
    wave, data = with_buffer()
    words = data.view(np.uint32)
    wave.R[20][:] = LANE * 8 + 16
    snippet.execute("global_load_dwordx2 v[0:1], v20, s[2:3] offset:-16", wave)
    assert (wave.R[0] == words[LANE * 2]).all() and (wave.R[1] == words[LANE * 2 + 1]).all()
    address = wave.scalar64(2) + LANE * 4
    wave.R[22][:], wave.R[23][:] = address & 0xFFFFFFFF, address >> 32
    snippet.execute("global_load_dword v4, v[22:23], off offset:8", wave)
    assert (wave.R[4] == words[LANE + 2]).all()
    snippet.execute("global_load_sbyte v5, v[22:23], off", wave)
    assert (wave.R[5].view(np.int32) == data[LANE * 4].view(np.int8)).all()
    wave.R[22][7] += 4096
    with pytest.raises(ExecutionError, match="outside"):
        snippet.execute("global_load_dword v4, v[22:23], off", wave)
    wave.set_exec(~(1 << 7))
    snippet.execute("global_load_dword v4, v[22:23], off", wave)


# Loads to LDS: M0 + immediate + lane * 4 or 16; masked lanes write nothing; x3 skips a dword.
@pytest.mark.parametrize(("name", "dwords", "step"), [("dword", 1, 4), ("dwordx3", 3, 16),
                                                      ("dwordx4", 4, 16)])  # fmt: skip
@pytest.mark.parametrize("mode", ["E", "R"])
def test_load_to_lds(name, dwords, step, mode):
    wave, data = with_buffer(mode, size=4096)
    wave.R[20][:] = (63 - LANE) * 16
    wave.S[124] = 0x40000 | 512
    wave.set_exec(0xFFFFFFFFFFFFFFEF)
    before = wave.group.lds.words.copy()
    snippet.execute(f"buffer_load_{name} v20, s[8:11], 0 offen offset:32 lds", wave)
    if mode == "R":
        assert (wave.group.lds.words == before).all(), "lands at the wait, not before"
    snippet.execute("s_mov_b32 m0, 0\ns_waitcnt vmcnt(0)", wave)
    want = before.view(np.uint8).copy()
    for lane in range(64):
        if lane != 4:
            at = 512 + 32 + lane * step
            source = (63 - lane) * 16 + 32
            want[at : at + 4 * dwords] = data[source : source + 4 * dwords]
    np.testing.assert_array_equal(wave.group.lds.words.view(np.uint8), want)


# Lanes out of the buffer put zeros into LDS; lanes outside of the LDS allocation write nothing.
def test_load_to_lds_bounds():
    wave, data = with_buffer(records=128, lds_size=512)
    wave.R[20][:] = LANE * 16
    wave.S[124] = 256
    snippet.execute("buffer_load_dwordx4 v20, s[8:11], 0 offen lds", wave)
    assert (wave.group.lds.bytes[256:384] == data[:128]).all()
    assert (wave.group.lds.bytes[384:512] == 0).all()
    (finding,) = wave.group.findings.items.values()
    assert (finding.kind, finding.severity) == ("lds-out-of-bounds", "warning")


# The global form adds its immediate on both sides, too.
def test_global_load_to_lds():
    wave, data = with_buffer()
    wave.R[20][:] = (LANE % 32) * 16
    wave.S[124] = 128
    snippet.execute("global_load_lds_dwordx4 v20, s[2:3] offset:64", wave)
    want = data[64:576].tobytes() * 2
    assert wave.group.lds.bytes[192 : 192 + 1024].tobytes() == want


# Scratch is private to each lane, and its size is checked.
@pytest.mark.parametrize("mode", ["E", "R"])
def test_scratch(mode):
    wave = snippet.new_wave(mode=mode)
    wave.R[0][:], wave.R[1][:] = LANE, LANE * 3
    wave.R[5][:] = 8 * (LANE % 2)
    text = """scratch_store_dwordx2 off, v[0:1], off offset:16
    scratch_load_dword v2, off, off offset:20
    scratch_store_dword v5, v1, off offset:32
    scratch_load_dwordx3 v[6:8], off, off offset:32
    s_waitcnt vmcnt(0)"""
    snippet.execute(text, wave)
    assert (wave.R[2] == LANE * 3).all()
    assert (np.where(LANE % 2, wave.R[8], wave.R[6]) == LANE * 3).all()
    with pytest.raises(ExecutionError, match="exceeds the 256 bytes"):
        snippet.execute("scratch_load_dword v2, off, off offset:256", wave)


# Bytes and halves of scratch: extended or merged on the way in, the low or high ones on the way
# out, at any alignment.
@pytest.mark.parametrize("mode", ["E", "R"])
def test_small_scratch(mode):
    wave = snippet.new_wave(mode=mode)
    wave.R[1][:] = 0x8081F2F3 + LANE
    wave.V[8:16] = 0x11112222
    text = """scratch_store_byte off, v1, off offset:5
    scratch_store_byte_d16_hi off, v1, off offset:6
    scratch_store_short off, v1, off offset:9
    scratch_store_short_d16_hi off, v1, off offset:12
    scratch_load_ubyte v8, off, off offset:5
    scratch_load_sbyte v9, off, off offset:6
    scratch_load_ushort v10, off, off offset:9
    scratch_load_sshort v11, off, off offset:12
    scratch_load_short_d16 v12, off, off offset:9
    scratch_load_short_d16_hi v13, off, off offset:9
    scratch_load_ubyte_d16 v14, off, off offset:6
    scratch_load_sbyte_d16_hi v15, off, off offset:6
    s_waitcnt vmcnt(0)"""
    snippet.execute(text, wave)
    for lane in range(64):
        value = 0x8081F2F3 + lane
        low, high, byte = value & 0xFFFF, value >> 16, value >> 16 & 0xFF
        want = [value & 0xFF, byte | 0xFFFFFF00, low, high | 0xFFFF0000, 0x11110000 | low,
                low << 16 | 0x2222, 0x11110000 | byte, (byte | 0xFF00) << 16 | 0x2222]  # fmt: skip
        assert [int(wave.R[8 + i][lane]) for i in range(8)] == want, lane
    assert not wave.group.findings.items


# Where registers have ECC, a load of 16 bits clears the other half, whatever it loads from.
@pytest.mark.parametrize("mode", ["E", "R"])
def test_halves_with_ecc(mode):
    wave, data = with_buffer(mode)
    wave.group.sram_ecc = True
    wave.V[8:12] = 0x11112222
    wave.R[20][:] = 0
    wave.group.lds.words[0] = 0x33334444
    text = """global_load_short_d16 v8, v20, s[2:3]
    global_load_short_d16_hi v9, v20, s[2:3]
    ds_read_u16_d16 v10, v20
    ds_read_u16_d16_hi v11, v20
    s_waitcnt vmcnt(0) lgkmcnt(0)"""
    snippet.execute(text, wave)
    half = int(data.view(np.uint16)[0])
    assert [int(wave.R[i][5]) for i in (8, 9, 10, 11)] == [half, half << 16, 0x4444, 0x44440000]


# A code object tells by its flags whether it was made for registers with ECC.
@pytest.mark.parametrize(
    ("target", "ecc"),
    [("gfx950", True), ("gfx950:sramecc-", False), ("gfx950:sramecc+", True), ("gfx1250", False)],
)
def test_ecc_flag(target, ecc):
    text = kernel_text("  s_endpgm", chip=target, threads=32)
    assert asm.load(text).code.sram_ecc == ecc


# Flat accesses reach the buffers. They count in both counters and come in any order: their data
# is there after a wait for zero of each.
@pytest.mark.parametrize(
    ("wait", "missing"),
    [
        ("s_waitcnt vmcnt(0) lgkmcnt(0)", None),
        ("s_waitcnt lgkmcnt(0)\ns_waitcnt vmcnt(0)", None),
        ("s_waitcnt vmcnt(0)", "s_waitcnt lgkmcnt(0)"),
        ("s_waitcnt lgkmcnt(0)", "s_waitcnt vmcnt(0)"),
        ("global_load_dword v9, v20, s[2:3]\ns_waitcnt vmcnt(1) lgkmcnt(0)", "s_waitcnt vmcnt(0)"),
    ],
)
def test_flat(wait, missing):
    wave, data = with_buffer("R")
    address = wave.scalar64(2) + LANE * 8
    wave.R[20][:] = 0
    wave.R[22][:], wave.R[23][:] = address & 0xFFFFFFFF, address >> 32
    text = f"flat_load_dword v1, v[22:23] offset:4\n{wait}\nv_mov_b32 v2, v1"
    code = [wave_step(wave, inst) for inst in snippet.instructions(text)]
    for step in code:
        step(wave)
    if missing is None:
        assert (wave.R[2] == data.view(np.uint32)[2 * LANE + 1]).all()
        assert not wave.group.findings.items
        snippet.execute("flat_store_byte v[22:23], v20", wave)
        assert (data[8 * LANE] == 0).all()
    else:
        (finding,) = wave.group.findings.items.values()
        assert (finding.kind, finding.missing) == ("register-before-wait", missing)


def wave_step(wave, inst):
    """The step of an instruction as the wave's mode guards it."""
    return wave.group.code._step(inst)


def test_flat_outside():
    wave, _ = with_buffer()
    wave.V[22:24] = 0
    with pytest.raises(ExecutionError, match="outside of every buffer"):
        snippet.execute("flat_load_dword v1, v[22:23]", wave)


# LLVM folds an offset into the instruction also when the register alone is negative: the sum
# wraps around at 32 bits.
def test_lds_address_wraps():
    wave = filled()
    wave.R[10][:] = np.uint32(2**32 - 1024)
    snippet.execute("ds_read_b32 v0, v10 offset:1032", wave)
    assert int(wave.R[0][0]) == lds_word(wave, 8)
    assert not wave.group.findings.items
