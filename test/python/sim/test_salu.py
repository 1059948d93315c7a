"""Scalar instructions against their formulas: result and SCC."""

from __future__ import annotations

import numpy as np
import pytest
from lodestone.sim import ExecutionError, UnsupportedInstruction, snippet

M32, M64 = (1 << 32) - 1, (1 << 64) - 1
VALUES = [0, 1, 2, 31, 33, 0x7FFFFFFF, 0x80000000, M32, 0x12345678, 0x00100008, 0xFFFF8000]


def s32(x):
    return x - (1 << 32) if x >> 31 & 1 else x


def s64(x):
    return x - (1 << 64) if x >> 63 & 1 else x


def ctz(x):
    return (x & -x).bit_length() - 1


# text (sources s2, s3; 64-bit s[2:3], s[4:5]; destination s0 / s[0:1]) ->
# formula of (a, b, old SCC) returning (result, SCC or None when left alone).
CASES = {
    "s_mov_b32 s0, s2": lambda a, b, c: (a, None),
    "s_movk_i32 s0, 0x8001": lambda a, b, c: (-0x7FFF, None),
    "s_not_b32 s0, s2": lambda a, b, c: (~a, ~a & M32 != 0),
    "s_brev_b32 s0, s2": lambda a, b, c: (int(f"{a:032b}"[::-1], 2), None),
    "s_ff1_i32_b32 s0, s2": lambda a, b, c: (ctz(a), None),
    "s_flbit_i32_b32 s0, s2": lambda a, b, c: (32 - a.bit_length() if a else -1, None),
    "s_sext_i32_i8 s0, s2": lambda a, b, c: (((a & 255) ^ 128) - 128, None),
    "s_sext_i32_i16 s0, s2": lambda a, b, c: (((a & 0xFFFF) ^ 0x8000) - 0x8000, None),
    "s_bcnt1_i32_b32 s0, s2": lambda a, b, c: (a.bit_count(), a != 0),
    "s_abs_i32 s0, s2": lambda a, b, c: (abs(s32(a)), a != 0),
    "s_mul_i32 s0, s2, s3": lambda a, b, c: (a * b, None),
    "s_mul_hi_u32 s0, s2, s3": lambda a, b, c: (a * b >> 32, None),
    "s_mul_hi_i32 s0, s2, s3": lambda a, b, c: (s32(a) * s32(b) >> 32, None),
    "s_bfm_b32 s0, s2, s3": lambda a, b, c: (((1 << (a & 31)) - 1) << (b & 31), None),
    "s_pack_ll_b32_b16 s0, s2, s3": lambda a, b, c: (a & 0xFFFF | (b & 0xFFFF) << 16, None),
    "s_pack_lh_b32_b16 s0, s2, s3": lambda a, b, c: (a & 0xFFFF | b >> 16 << 16, None),
    "s_pack_hh_b32_b16 s0, s2, s3": lambda a, b, c: (a >> 16 | b >> 16 << 16, None),
    "s_and_b32 s0, s2, s3": lambda a, b, c: (a & b, a & b != 0),
    "s_or_b32 s0, s2, s3": lambda a, b, c: (a | b, a | b != 0),
    "s_xor_b32 s0, s2, s3": lambda a, b, c: (a ^ b, a ^ b != 0),
    "s_andn2_b32 s0, s2, s3": lambda a, b, c: (a & ~b, a & ~b != 0),
    "s_orn2_b32 s0, s2, s3": lambda a, b, c: (a | ~b, (a | ~b) & M32 != 0),
    "s_nand_b32 s0, s2, s3": lambda a, b, c: (~(a & b), ~(a & b) & M32 != 0),
    "s_xnor_b32 s0, s2, s3": lambda a, b, c: (~(a ^ b), ~(a ^ b) & M32 != 0),
    "s_lshl_b32 s0, s2, s3": lambda a, b, c: (a << (b & 31), a << (b & 31) & M32 != 0),
    "s_lshr_b32 s0, s2, s3": lambda a, b, c: (a >> (b & 31), a >> (b & 31) != 0),
    "s_ashr_i32 s0, s2, s3": lambda a, b, c: (s32(a) >> (b & 31), s32(a) >> (b & 31) != 0),
    "s_bfe_u32 s0, s2, s3": lambda a, b, c: (
        (r := (a >> (b & 31)) & (1 << min(b >> 16 & 127, 32)) - 1), r != 0),
    "s_bfe_i32 s0, s2, 0x50003": lambda a, b, c: (
        (r := (((a >> 3) & 31) ^ 16) - 16), r != 0),
    "s_add_i32 s0, s2, s3": lambda a, b, c: (a + b, s32(a) + s32(b) != s32(a + b & M32)),
    "s_sub_i32 s0, s2, s3": lambda a, b, c: (a - b, s32(a) - s32(b) != s32(a - b & M32)),
    "s_add_u32 s0, s2, s3": lambda a, b, c: (a + b, a + b > M32),
    "s_sub_u32 s0, s2, s3": lambda a, b, c: (a - b, a < b),
    "s_addc_u32 s0, s2, s3": lambda a, b, c: (a + b + c, a + b + c > M32),
    "s_subb_u32 s0, s2, s3": lambda a, b, c: (a - b - c, a < b + c),
    "s_lshl2_add_u32 s0, s2, s3": lambda a, b, c: ((a << 2) + b, (a << 2) + b > M32),
    "s_min_i32 s0, s2, s3": lambda a, b, c: (min(s32(a), s32(b)), s32(a) < s32(b)),
    "s_max_i32 s0, s2, s3": lambda a, b, c: (max(s32(a), s32(b)), s32(a) > s32(b)),
    "s_min_u32 s0, s2, s3": lambda a, b, c: (min(a, b), a < b),
    "s_max_u32 s0, s2, s3": lambda a, b, c: (max(a, b), a > b),
    "s_cselect_b32 s0, s2, s3": lambda a, b, c: (a if c else b, None),
    "s_mov_b32 s0, s2\ns_addk_i32 s0, 0x7fff": lambda a, b, c: (
        a + 0x7FFF, s32(a) + 0x7FFF > 0x7FFFFFFF),
    "s_mov_b32 s0, s2\ns_mulk_i32 s0, 0xfffd": lambda a, b, c: (a * -3, None),
    "s_mov_b32 s0, s2\ns_bitset1_b32 s0, s3": lambda a, b, c: (a | 1 << (b & 31), None),
    "s_mov_b32 s0, s2\ns_bitset0_b32 s0, s3": lambda a, b, c: (a & ~(1 << (b & 31)), None),
    "s_mov_b32 s0, s2\ns_cmov_b32 s0, s3": lambda a, b, c: (b if c else a, None),
    **{
        f"s_cmp_{name}_{kind}32 s2, s3\ns_cselect_b32 s0, 1, 0": (
            lambda a, b, c, f=f, view=view: (int(f(view(a), view(b))), f(view(a), view(b))))
        for kind, view in (("i", s32), ("u", lambda x: x))
        for name, f in {
            "eq": lambda x, y: x == y, "lg": lambda x, y: x != y, "lt": lambda x, y: x < y,
            "le": lambda x, y: x <= y, "gt": lambda x, y: x > y, "ge": lambda x, y: x >= y,
        }.items()
    },
    "s_cmpk_gt_i32 s2, 0xfff0\ns_cselect_b32 s0, 1, 0": lambda a, b, c: (
        int(s32(a) > -16), s32(a) > -16),
    "s_cmpk_lg_u32 s2, 0xfff0\ns_cselect_b32 s0, 1, 0": lambda a, b, c: (
        int(a != 0xFFF0), a != 0xFFF0),
    "s_bitcmp1_b32 s2, s3\ns_cselect_b32 s0, 1, 0": lambda a, b, c: (
        a >> (b & 31) & 1, a >> (b & 31) & 1),
}  # fmt: skip
WIDE = {
    "s_mov_b64 s[0:1], s[2:3]": lambda a, b: (a, None),
    "s_mov_b64 s[0:1], -5": lambda a, b: (-5, None),
    "s_and_b64 s[0:1], s[2:3], s[4:5]": lambda a, b: (a & b, a & b != 0),
    "s_or_b64 s[0:1], s[2:3], s[4:5]": lambda a, b: (a | b, a | b != 0),
    "s_andn2_b64 s[0:1], s[2:3], s[4:5]": lambda a, b: (a & ~b, a & ~b != 0),
    "s_xor_b64 s[0:1], s[2:3], -1": lambda a, b: (~a, ~a & M64 != 0),
    "s_not_b64 s[0:1], s[2:3]": lambda a, b: (~a, ~a & M64 != 0),
    "s_lshl_b64 s[0:1], s[2:3], s4": lambda a, b: (a << (b & 63), a << (b & 63) & M64 != 0),
    "s_lshr_b64 s[0:1], s[2:3], s4": lambda a, b: (a >> (b & 63), a >> (b & 63) != 0),
    "s_ashr_i64 s[0:1], s[2:3], s4": lambda a, b: (s64(a) >> (b & 63), s64(a) >> (b & 63) != 0),
    "s_cmp_eq_u64 s[2:3], s[4:5]\ns_cselect_b64 s[0:1], -1, 0": lambda a, b: (
        -1 if a == b else 0, a == b),
    "s_bcnt1_i32_b64 s0, s[2:3]\ns_mov_b32 s1, 0": lambda a, b: (a.bit_count(), a != 0),
    "s_ff1_i32_b64 s0, s[2:3]\ns_mov_b32 s1, 0": lambda a, b: (ctz(a) & M32, None),
    "s_flbit_i32_b64 s0, s[2:3]\ns_mov_b32 s1, 0": lambda a, b: (
        64 - a.bit_length() if a else M32, None),
    "s_bfe_u64 s[0:1], s[2:3], 0x200008": lambda a, b: (a >> 8 & M32, a >> 8 & M32 != 0),
}  # fmt: skip


@pytest.mark.parametrize("text", CASES)
def test_scalar(text):
    code = snippet.instructions(text)
    wave = snippet.new_wave()
    for a in VALUES:
        for b in VALUES:
            for scc in (0, 1):
                wave.S[2], wave.S[3], wave.scc = a, b, scc
                snippet.execute(code, wave)
                result, flag = CASES[text](a, b, scc)
                assert wave.S[0] == result & M32, (hex(a), hex(b), scc)
                assert wave.scc == (scc if flag is None else bool(flag)), (hex(a), hex(b), scc)


@pytest.mark.parametrize("text", WIDE)
def test_scalar_wide(text):
    code = snippet.instructions(text)
    wave = snippet.new_wave()
    wide = [x | y << 32 for x in VALUES[:8] for y in VALUES[:8]]
    for a, b in zip(wide, wide[3:] + wide[:2] + wide[:1], strict=True):
        wave.scc = 1
        wave.write_scalar64(2, a)
        wave.write_scalar64(4, b)
        snippet.execute(code, wave)
        result, flag = WIDE[text](a, b)
        assert wave.scalar64(0) == result & M64, (hex(a), hex(b))
        assert wave.scc == (1 if flag is None else bool(flag))


# saveexec: the old mask goes to the destination, the new one into EXEC, SCC = any lane left.
@pytest.mark.parametrize(
    ("name", "formula"),
    [
        ("and", lambda e, s: e & s), ("or", lambda e, s: e | s),
        ("andn2", lambda e, s: s & ~e), ("xor", lambda e, s: e ^ s),
    ],
)  # fmt: skip
def test_saveexec(name, formula):
    wave = snippet.new_wave()
    for old, source in ((0xFF00FF, 0xF0F0F0F0F0F0F0F0), (0xFF, 0xFF00), (M64, 0)):
        wave.set_exec(old)
        wave.write_scalar64(2, source)
        snippet.execute(f"s_{name}_saveexec_b64 s[0:1], s[2:3]", wave)
        assert wave.scalar64(0) == old
        assert wave.exec_bits == formula(old, source) & M64
        assert wave.scc == (wave.exec_bits != 0)
        assert wave.mask.sum() == wave.exec_bits.bit_count()


# Writing EXEC through its halves keeps the lane mask in step.
def test_exec_halves():
    wave = snippet.new_wave()
    snippet.execute("s_mov_b32 exec_lo, 5\ns_mov_b32 exec_hi, 0", wave)
    assert wave.exec_bits == 5 and not wave.full and wave.mask.sum() == 2
    snippet.execute("s_mov_b64 exec, -1", wave)
    assert wave.full


# Scalar loads read whole dwords from a buffer, and fault outside of it with its name.
def test_scalar_load():
    wave = snippet.new_wave(memory={"data": 64})
    wave.group.memory.view("data")[:] = np.arange(64, dtype=np.uint8)
    wave.write_scalar64(2, wave.group.memory.allocations["data"].address)
    wave.S[20] = 8
    snippet.execute("s_load_dwordx4 s[8:11], s[2:3], 0x10\ns_load_dword s12, s[2:3], s20", wave)
    words = np.arange(64, dtype=np.uint8).view(np.uint32)
    assert wave.S[8:12] == words[4:8].tolist()
    assert wave.S[12] == words[2]
    with pytest.raises(ExecutionError, match="outside of every buffer; the nearest buffer is data"):
        snippet.execute("s_load_dwordx2 s[8:9], s[2:3], 0x3c", wave)


# gfx1250 also loads bytes and halves, zero- or sign-extended, at their own alignment.
def test_small_scalar_loads():
    wave = snippet.new_wave("gfx1250", memory={"data": 64})
    wave.group.memory.view("data")[:] = np.arange(64, dtype=np.uint8) + 0xA0
    wave.write_scalar64(2, wave.group.memory.allocations["data"].address)
    snippet.execute(
        "s_load_u8 s8, s[2:3], 0x3\ns_load_i8 s9, s[2:3], 0x3\ns_load_u16 s10, s[2:3], 0x6\n"
        "s_load_i16 s11, s[2:3], 0x3f & ~1",
        wave,
    )
    assert wave.S[8:10] == [0xA3, 0xFFFFFFA3]
    assert wave.S[10:12] == [0xA7A6, 0xFFFFDFDE]
    with pytest.raises(ExecutionError, match="outside of every buffer"):
        snippet.execute("s_load_u8 s8, s[2:3], 0x40", wave)


# Bit scans, packing and replication of gfx1250.
@pytest.mark.parametrize(
    ("text", "source", "expected"),
    [
        ("s_cls_i32 s0, s2", 0xFFFF0000, 16), ("s_cls_i32 s0, s2", 0, M32),
        ("s_cls_i32_i64 s0, s[2:3]", 1 << 40, 23), ("s_cls_i32_i64 s0, s[2:3]", M64, M32),
        ("s_clz_i32_u64 s0, s[2:3]", 1 << 40, 23), ("s_ctz_i32_b64 s0, s[2:3]", 1 << 40, 40),
        ("s_brev_b64 s[0:1], s[2:3]", 0b101 << 40, 0b101 << 21),
        ("s_bitreplicate_b64_b32 s[0:1], s2", 0x80000005, 0xC000000000000033),
        ("s_pack_hl_b32_b16 s0, s2, s3", 0x0000BBBB1234AAAA, 0xBBBB1234),
        ("s_cmp_eq_u32 s2, s2\ns_cmovk_i32 s0, 0xfffe", 0, 0xFFFFFFFE),
        ("s_cmp_lg_u32 s2, s2\ns_cmovk_i32 s0, 0xfffe", 0, 0),
    ],
)  # fmt: skip
def test_gfx1250_bits(text, source, expected):
    wave = snippet.new_wave("gfx1250")
    wave.write_scalar64(2, source)
    snippet.execute(text, wave)
    assert wave.scalar64(0) == expected


# Floats on the scalar unit give what the vector unit gives; halves leave the upper half zero.
@pytest.mark.parametrize(
    "name",
    [
        *(f"{n}_f{b}" for b in (16, 32) for n in ("add", "sub", "mul", "min_num", "max_num",
                                                  "minimum", "maximum", "fmac")),
        *(f"{n}_f{b}" for b in (16, 32) for n in ("ceil", "floor", "trunc", "rndne")),
        "cvt_f32_i32", "cvt_f32_u32", "cvt_i32_f32", "cvt_u32_f32", "cvt_f16_f32", "cvt_f32_f16",
    ],
)  # fmt: skip
def test_scalar_floats(name):
    values = [1.5, -2.25, 0.0, -0.0, np.inf, np.nan, 1e-41, 3e9, 65520.0, 7.0]
    words = [int(np.float32(v).view(np.uint32)) for v in values]
    half = "f16" in name.split("cvt_")[-1][4:] or ("cvt" not in name and name.endswith("f16"))
    if half:
        with np.errstate(all="ignore"):
            words = [int(np.float16(v).view(np.uint16)) for v in values]
    unary = name.split("_")[0] in ("ceil", "floor", "trunc", "rndne", "cvt")
    narrow = (name.endswith("_f16") and "cvt" not in name) or name == "cvt_f16_f32"
    code = snippet.instructions(
        f"s_{name} s0, {'s2' if unary else 's2, s3'}\n"
        f"v_{name}_e32 v0, {'v2' if unary else 'v2, v3'}"
        if name.split("_")[0] not in ("minimum", "maximum")
        else f"s_{name} s0, s2, s3\nv_{name} v0, v2, v3",
        "gfx1250",
    )
    for a in words:
        for b in words[:1] if unary else words:
            wave = snippet.new_wave("gfx1250")
            wave.S[0], wave.S[2], wave.S[3] = words[0], a, b
            wave.V[0], wave.V[2], wave.V[3] = words[0], a, b
            snippet.execute(code, wave)
            want = int(wave.R[0][0]) & (0xFFFF if narrow else M32)
            assert wave.S[0] == want, (hex(a), hex(b))


def test_scalar_float_forms():
    wave = snippet.new_wave("gfx1250")
    wave.S[2], wave.S[3] = (int(np.float32(v).view(np.uint32)) for v in (2.25, -3.0))
    wave.S[4] = int(np.float16(-1.5).view(np.uint16)) << 16
    text = """s_fmamk_f32 s8, s2, 0x40000000, s3
    s_fmaak_f32 s9, s2, s3, 0x40000000
    s_cvt_hi_f32_f16 s10, s4
    v_s_sqrt_f32 s11, s2
    v_s_rcp_f32 s12, -s3
    s_cmp_nlt_f32 s2, s3"""
    snippet.execute(text, wave)
    got = np.array(wave.S[8:13], np.uint32).view(np.float32)
    np.testing.assert_array_equal(got, np.array([1.5, -4.75, -1.5, 1.5, 1 / 3], np.float32))
    assert wave.scc == 1


# What has no semantics is refused by name, and MODE can't be set to what isn't simulated.
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("s_getreg_b32 s0, hwreg(HW_REG_XCC_ID)", "only IB_STS2 can be read"),
        ("v_dot2_f32_f16 v0, v1, v2, v3", "unknown instruction v_dot2_f32_f16"),
        ("v_mul_u32_u24 v0, v1, v2 clamp", "clamp"),
        ("buffer_load_dword v0, v1, s[0:3], 0 idxen", "idxen"),
        ("flat_atomic_add v[2:3], v0", "unknown instruction flat_atomic_add"),
    ],
)
def test_refused(text, reason):
    with pytest.raises(UnsupportedInstruction, match=reason):
        snippet.execute(text, snippet.new_wave())


def test_mode_register():
    with pytest.raises(ExecutionError, match="rounding mode"):
        snippet.execute("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 5", snippet.new_wave())
    with pytest.raises(ExecutionError, match="denormal mode"):
        snippet.execute("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0", snippet.new_wave())
    snippet.execute("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 15", snippet.new_wave())
