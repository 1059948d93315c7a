"""Vector instructions against scalar formulas, lane by lane, with awkward values."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from lodestone.sim import snippet

M32 = 0xFFFFFFFF


def i32(x):
    return x - (1 << 32) if x >> 31 else x


def f32(bits):
    return float(np.uint32(bits).view(np.float32))


def b32(value):
    with np.errstate(all="ignore"):
        return int(np.float32(value).view(np.uint32))


def f16(bits):
    return float(np.uint16(bits & 0xFFFF).view(np.float16))


def b16(value):
    with np.errstate(all="ignore"):
        return int(np.float16(value).view(np.uint16))


def exact_round(value: Fraction) -> float:
    """A rational number to the nearest float32, ties to even, by integer arithmetic."""
    if value == 0:
        return 0.0
    magnitude = abs(value)
    exponent = math.floor(math.log2(magnitude)) if magnitude < 2**1000 else 1000
    while Fraction(2) ** exponent > magnitude:
        exponent -= 1
    while Fraction(2) ** (exponent + 1) <= magnitude:
        exponent += 1
    unit = Fraction(2) ** (max(exponent, -126) - 23)
    scaled = magnitude / unit
    low = math.floor(scaled)
    rest = scaled - low
    if rest > Fraction(1, 2) or (rest == Fraction(1, 2) and low & 1):
        low += 1
    result = low * unit
    result = math.inf if result >= Fraction(2) ** 128 else float(result)
    return math.copysign(result, value)


def fma(a, b, c):
    if not all(map(math.isfinite, (a, b, c))):
        with np.errstate(all="ignore"):
            return float(np.float64(a) * np.float64(b) + np.float64(c))
    value = Fraction(a) * Fraction(b) + Fraction(c)
    if value == 0:
        with np.errstate(all="ignore"):
            product_sign = math.copysign(1, a) * math.copysign(1, b)
            if Fraction(a) * Fraction(b) == 0 and c == 0:
                return -0.0 if product_sign < 0 and math.copysign(1, c) < 0 else 0.0
        return 0.0
    return exact_round(value)


INTS = [0, 1, 2, 31, 32, 33, 63, 0x7FFFFFFF, 0x80000000, M32, 0xFFFFFF, 0x1000000, 0x12345678]
FLOATS = [
    0.0, -0.0, 1.0, -1.5, math.inf, -math.inf, math.nan, 1e-45, -1e-40, 1.1754944e-38,
    3.4028235e38, -3.4028235e38, 0.5, 2.5, 3.5, 1e10, -2147483648.0, 4294967296.0, 65504.0, 1 / 3,
]  # fmt: skip


def int_rows():
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 1 << 32, (3, 64), dtype=np.uint64).astype(np.uint32)
    rows[0, : len(INTS)] = INTS
    rows[1, : len(INTS)] = INTS[::-1]
    rows[1, 20 : 20 + len(INTS)] = rows[0, 20 : 20 + len(INTS)] = INTS
    rows[2, : len(INTS)] = np.roll(INTS, 5)
    return rows


def float_rows():
    rng = np.random.default_rng(2)
    rows = rng.standard_normal((3, 64)).astype(np.float32)
    rows[0, : len(FLOATS)] = FLOATS
    rows[1, : len(FLOATS)] = FLOATS[::-1]
    rows[1, 20 : 20 + len(FLOATS)] = rows[0, 20 : 20 + len(FLOATS)] = FLOATS
    rows[2, : len(FLOATS)] = np.roll(FLOATS, 7)
    # Sums that round wrongly when rounded twice: exact ties of float32 with a tiny rest.
    rows[0, 50:54] = [1.0, 1.0, 1 + 2**-23, 2**-70]
    rows[1, 50:54] = [1.0, 1.0, 1 + 2**-23, 2**-70]
    rows[2, 50:54] = [2**-24 + 2**-47, 2**-24, 2**-60, 2**-149]
    rows[0, 54:58], rows[1, 54:58] = 1 + 2**-12, 1 + 2**-12
    rows[2, 54:58] = [2**-60, -(2**-60), 2**-80, 0]
    return rows.view(np.uint32)


def signed_clip(value, low, high):
    return 0 if math.isnan(value) else int(max(low, min(high, value)))


def trunc(value):
    return value if math.isinf(value) or math.isnan(value) else float(math.trunc(value))


def num_max(a, b):
    if math.isnan(a) or math.isnan(b):
        return b if math.isnan(a) else a
    if a == b == 0:
        return -0.0 if math.copysign(1, a) < 0 and math.copysign(1, b) < 0 else 0.0
    return max(a, b)


def num_min(a, b):
    return -num_max(-a, -b)


# Integer instructions: text and formula of the three sources (v1, v2, v3) as unsigned integers.
INTEGER = {
    "v_mov_b32 v0, v1": lambda a, b, c: a,
    "v_not_b32 v0, v1": lambda a, b, c: ~a,
    "v_accvgpr_write_b32 a5, v1\nv_accvgpr_read_b32 v0, a5": lambda a, b, c: a,
    "v_accvgpr_write_b32 a5, v1\nv_accvgpr_mov_b32 a6, a5\nv_accvgpr_read_b32 v0, a6":
        lambda a, b, c: a,
    "v_and_b32 v0, v1, v2": lambda a, b, c: a & b,
    "v_or_b32 v0, v1, v2": lambda a, b, c: a | b,
    "v_xor_b32 v0, v1, v2": lambda a, b, c: a ^ b,
    "v_xnor_b32 v0, v1, v2": lambda a, b, c: ~(a ^ b),
    "v_and_or_b32 v0, v1, v2, v3": lambda a, b, c: a & b | c,
    "v_or3_b32 v0, v1, v2, v3": lambda a, b, c: a | b | c,
    "v_bfi_b32 v0, v1, v2, v3": lambda a, b, c: a & b | ~a & c,
    "v_bitop3_b32 v0, v1, v2, v3 bitop3:0x78": lambda a, b, c: a ^ (b & c),
    "v_bitop3_b32 v0, v1, v2, v3 bitop3:0x96": lambda a, b, c: a ^ b ^ c,
    "v_bitop3_b32 v0, v1, v2, v3 bitop3:0xec": lambda a, b, c: a & c | b,
    "v_bfrev_b32 v0, v1": lambda a, b, c: int(f"{a:032b}"[::-1], 2),
    "v_ffbh_u32 v0, v1": lambda a, b, c: 32 - a.bit_length() if a else -1,
    "v_ffbl_b32 v0, v1": lambda a, b, c: (a & -a).bit_length() - 1,
    "v_bcnt_u32_b32 v0, v1, v2": lambda a, b, c: a.bit_count() + b,
    "v_bfe_u32 v0, v1, v2, v3": lambda a, b, c: (a >> (b & 31)) & ((1 << (c & 31)) - 1),
    "v_bfe_i32 v0, v1, v2, 7": lambda a, b, c: (((a >> (b & 31)) & 127) ^ 64) - 64,
    "v_bfe_i32 v0, v1, 8, 0": lambda a, b, c: 0,
    "v_bfm_b32 v0, v1, v2": lambda a, b, c: ((1 << (a & 31)) - 1) << (b & 31),
    "v_lshlrev_b32 v0, v1, v2": lambda a, b, c: b << (a & 31),
    "v_lshrrev_b32 v0, v1, v2": lambda a, b, c: b >> (a & 31),
    "v_ashrrev_i32 v0, v1, v2": lambda a, b, c: i32(b) >> (a & 31),
    "v_lshl_or_b32 v0, v1, v2, v3": lambda a, b, c: a << (b & 31) | c,
    "v_lshl_add_u32 v0, v1, v2, v3": lambda a, b, c: ((a << (b & 31)) & M32) + c,
    "v_add_lshl_u32 v0, v1, v2, v3": lambda a, b, c: (a + b & M32) << (c & 31),
    "v_xad_u32 v0, v1, v2, v3": lambda a, b, c: (a ^ b) + c,
    "v_alignbit_b32 v0, v1, v2, v3": lambda a, b, c: (a << 32 | b) >> (c & 31),
    "v_alignbyte_b32 v0, v1, v2, v3": lambda a, b, c: (a << 32 | b) >> 8 * (c & 3),
    "v_add_u32 v0, v1, v2": lambda a, b, c: a + b,
    "v_sub_u32 v0, v1, v2": lambda a, b, c: a - b,
    "v_subrev_u32 v0, v1, v2": lambda a, b, c: b - a,
    "v_add3_u32 v0, v1, v2, v3": lambda a, b, c: a + b + c,
    "v_mul_lo_u32 v0, v1, v2": lambda a, b, c: a * b,
    "v_mul_hi_u32 v0, v1, v2": lambda a, b, c: a * b >> 32,
    "v_mul_hi_i32 v0, v1, v2": lambda a, b, c: i32(a) * i32(b) >> 32,
    "v_mul_u32_u24 v0, v1, v2": lambda a, b, c: (a & 0xFFFFFF) * (b & 0xFFFFFF),
    "v_mul_hi_u32_u24 v0, v1, v2": lambda a, b, c: (a & 0xFFFFFF) * (b & 0xFFFFFF) >> 32,
    "v_mul_i32_i24 v0, v1, v2":
        lambda a, b, c: (i32(a << 8 & M32) >> 8) * (i32(b << 8 & M32) >> 8),
    "v_mad_u32_u24 v0, v1, v2, v3": lambda a, b, c: (a & 0xFFFFFF) * (b & 0xFFFFFF) + c,
    "v_mad_i32_i24 v0, v1, v2, v3":
        lambda a, b, c: (i32(a << 8 & M32) >> 8) * (i32(b << 8 & M32) >> 8) + c,
    "v_min_u32 v0, v1, v2": lambda a, b, c: min(a, b),
    "v_max_u32 v0, v1, v2": lambda a, b, c: max(a, b),
    "v_min_i32 v0, v1, v2": lambda a, b, c: min(i32(a), i32(b)),
    "v_max_i32 v0, v1, v2": lambda a, b, c: max(i32(a), i32(b)),
    "v_min3_u32 v0, v1, v2, v3": lambda a, b, c: min(a, b, c),
    "v_max3_u32 v0, v1, v2, v3": lambda a, b, c: max(a, b, c),
    "v_min3_i32 v0, v1, v2, v3": lambda a, b, c: min(map(i32, (a, b, c))),
    "v_max3_i32 v0, v1, v2, v3": lambda a, b, c: max(map(i32, (a, b, c))),
    "v_med3_u32 v0, v1, v2, v3": lambda a, b, c: sorted((a, b, c))[1],
    "v_med3_i32 v0, v1, v2, v3": lambda a, b, c: sorted(map(i32, (a, b, c)))[1],
    "v_add_u16 v0, v1, v2": lambda a, b, c: a + b & 0xFFFF,
    "v_sub_u16 v0, v1, v2": lambda a, b, c: a - b & 0xFFFF,
    "v_mul_lo_u16 v0, v1, v2": lambda a, b, c: a * b & 0xFFFF,
    "v_lshlrev_b16 v0, v1, v2": lambda a, b, c: b << (a & 15) & 0xFFFF,
    "v_lshrrev_b16 v0, v1, v2": lambda a, b, c: (b & 0xFFFF) >> (a & 15),
    "v_min_u16 v0, v1, v2": lambda a, b, c: min(a & 0xFFFF, b & 0xFFFF),
    "v_max_u16 v0, v1, v2": lambda a, b, c: max(a & 0xFFFF, b & 0xFFFF),
    "v_add_u32 v0, 64, v2": lambda a, b, c: 64 + b,
    "v_add_u32 v0, 0x12345, v2": lambda a, b, c: 0x12345 + b,
    "v_add_u32 v0, -3, v2": lambda a, b, c: b - 3,
    "v_lshlrev_b32_sdwa v0, v1, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD "
    "src1_sel:BYTE_1": lambda a, b, c: (b >> 8 & 0xFF) << (a & 31),
    "v_add_u32_sdwa v0, v1, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1 "
    "src1_sel:BYTE_3": lambda a, b, c: (a >> 16) + (b >> 24),
    "v_or_b32_sdwa v0, v1, v2 dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:DWORD "
    "src1_sel:DWORD": lambda a, b, c: (a | b) << 16 & 0xFFFF0000,
    "v_mov_b32 v0, v3\nv_or_b32_sdwa v0, v1, v2 dst_sel:BYTE_2 dst_unused:UNUSED_PRESERVE "
    "src0_sel:DWORD src1_sel:DWORD":
        lambda a, b, c: (a | b) << 16 & 0xFF0000 | c & 0xFF00FFFF,
    "v_pk_add_u16 v0, v1, v2":
        lambda a, b, c: (a + b & 0xFFFF) | ((a >> 16) + (b >> 16) & 0xFFFF) << 16,
    "v_pk_add_u16 v0, v1, v2 op_sel:[1,0] op_sel_hi:[0,1]":
        lambda a, b, c: ((a >> 16) + b & 0xFFFF) | (a + (b >> 16) & 0xFFFF) << 16,
    "v_pk_mul_lo_u16 v0, v1, v2":
        lambda a, b, c: (a * b & 0xFFFF) | ((a >> 16) * (b >> 16) & 0xFFFF) << 16,
    "v_pk_add_i16 v0, v1, v2":
        lambda a, b, c: (a + b & 0xFFFF) | ((a >> 16) + (b >> 16) & 0xFFFF) << 16,
    "v_pk_sub_u16 v0, v1, v2":
        lambda a, b, c: (a - b & 0xFFFF) | ((a >> 16) - (b >> 16) & 0xFFFF) << 16,
    "v_pk_mad_u16 v0, v1, v2, v3":
        lambda a, b, c: (a * b + c & 0xFFFF) | ((a >> 16) * (b >> 16) + (c >> 16) & 0xFFFF) << 16,
    "v_pk_mad_i16 v0, v1, 12, v3 op_sel_hi:[1,0,1]":
        lambda a, b, c: (a * 12 + c & 0xFFFF) | ((a >> 16) * 12 + (c >> 16) & 0xFFFF) << 16,
    "v_pk_lshlrev_b16 v0, v1, v2":
        lambda a, b, c: (b << (a & 15) & 0xFFFF) | ((b >> 16) << (a >> 16 & 15) & 0xFFFF) << 16,
    "v_pk_max_i16 v0, v1, v2": lambda a, b, c: sum(
        (max(x, y) & 0xFFFF) << 16 * i
        for i in (0, 1)
        for x, y in [tuple(((z >> 16 * i & 0xFFFF) ^ 0x8000) - 0x8000 for z in (a, b))]
    ),
}  # fmt: skip

# Float instructions: formula of the sources as Python floats; result as a float.
FLOAT = {
    "v_add_f32 v0, v1, v2": lambda a, b, c: a + b,
    "v_sub_f32 v0, v1, v2": lambda a, b, c: a - b,
    "v_subrev_f32 v0, v1, v2": lambda a, b, c: b - a,
    "v_mul_f32 v0, v1, v2": lambda a, b, c: a * b,
    "v_mul_f32 v0, -v1, |v2|": lambda a, b, c: -a * abs(b),
    "v_mul_f32 v0, 0.5, v2": lambda a, b, c: 0.5 * b,
    "v_mul_f32 v0, 0x40490fdb, v2": lambda a, b, c: f32(0x40490FDB) * b,
    "v_max_f32 v0, v1, v2": lambda a, b, c: num_max(a, b),
    "v_min_f32 v0, v1, v2": lambda a, b, c: num_min(a, b),
    "v_max3_f32 v0, v1, v2, v3": lambda a, b, c: num_max(num_max(a, b), c),
    "v_min3_f32 v0, v1, v2, v3": lambda a, b, c: num_min(num_min(a, b), c),
    "v_maximum3_f32 v0, v1, v2, v3": lambda a, b, c: (
        math.nan if math.isnan(a + b + c) and (a != a or b != b or c != c)
        else num_max(num_max(a, b), c)),
    "v_minimum3_f32 v0, v1, v2, v3": lambda a, b, c: (
        math.nan if a != a or b != b or c != c else num_min(num_min(a, b), c)),
    "v_fma_f32 v0, v1, v2, v3": fma,
    "v_fma_f32 v0, -v1, v2, -v3": lambda a, b, c: fma(-a, b, -c),
    "v_mov_b32 v0, v3\nv_fmac_f32 v0, v1, v2": fma,
    "v_fmamk_f32 v0, v1, 0x40490fdb, v2": lambda a, b, c: fma(a, f32(0x40490FDB), b),
    "v_fmaak_f32 v0, v1, v2, 0x40490fdb": lambda a, b, c: fma(a, b, f32(0x40490FDB)),
    "v_trunc_f32 v0, v1": lambda a, b, c: math.copysign(trunc(a), a),
    "v_floor_f32 v0, v1": lambda a, b, c: float(np.floor(a)),
    "v_ceil_f32 v0, v1": lambda a, b, c: float(np.ceil(a)),
    "v_rndne_f32 v0, v1": lambda a, b, c: float(np.rint(a)),
    "v_cvt_f32_f16 v0, v1": None,
    "v_add_f32 v0, v1, v2 clamp": lambda a, b, c: (
        0.0 if math.isnan(a + b) else max(0.0, min(1.0, a + b))),
}  # fmt: skip
del FLOAT["v_cvt_f32_f16 v0, v1"]

# One-ULP functions; hardware flushes denormal inputs and results.
APPROXIMATE = {
    "v_exp_f32 v0, v1": lambda a: np.exp2(a),
    "v_log_f32 v0, v1": lambda a: np.log2(a),
    "v_rcp_f32 v0, v1": lambda a: 1 / a,
    "v_rcp_iflag_f32 v0, v1": lambda a: 1 / a,
    "v_rsq_f32 v0, v1": lambda a: 1 / np.sqrt(a),
    "v_sqrt_f32 v0, v1": lambda a: np.sqrt(a),
}

# Conversions: formula from the raw bits of v1, v2 to the raw result.
CONVERT = {
    "v_cvt_f32_u32 v0, v1": lambda a, b: b32(a),
    "v_cvt_f32_i32 v0, v1": lambda a, b: b32(i32(a)),
    "v_cvt_u32_f32 v0, v1": lambda a, b: signed_clip(trunc(f32(a)), 0, M32),
    "v_cvt_i32_f32 v0, v1": lambda a, b: signed_clip(trunc(f32(a)), -(1 << 31), (1 << 31) - 1),
    "v_cvt_f32_ubyte0 v0, v1": lambda a, b: b32(a & 0xFF),
    "v_cvt_f32_ubyte3 v0, v1": lambda a, b: b32(a >> 24),
    "v_cvt_f16_f32 v0, v1": lambda a, b: b16(f32(a)),
    "v_cvt_f32_f16 v0, v1": lambda a, b: b32(f16(a)),
    "v_cvt_f32_bf16 v0, v1": lambda a, b: (a & 0xFFFF) << 16,
    "v_cvt_f16_u16 v0, v1": lambda a, b: b16(a & 0xFFFF),
    "v_cvt_pk_f16_f32 v0, v1, v2": lambda a, b: b16(f32(a)) | b16(f32(b)) << 16,
    "v_pack_b32_f16 v0, v1, v2": lambda a, b: a & 0xFFFF | (b & 0xFFFF) << 16,
}


def run(text, rows):
    wave = snippet.new_wave()
    for i, row in enumerate(rows):
        wave.R[1 + i][:] = row
    snippet.execute(text, wave)
    return wave


def same_bits(got, expected, nan):
    """Equal bits; for floats, any NaN equals any NaN."""
    return got == expected or (nan(got) and nan(expected))


def is_nan32(bits):
    return bits & 0x7F800000 == 0x7F800000 and bool(bits & 0x7FFFFF)


# Integer and bit instructions do what their formula says, modulo 2^32.
@pytest.mark.parametrize("text", INTEGER)
def test_integer(text):
    rows = int_rows()
    wave = run(text, rows)
    for lane in range(64):
        a, b, c = (int(row[lane]) for row in rows)
        assert int(wave.R[0][lane]) == INTEGER[text](a, b, c) & M32, (lane, hex(a), hex(b), hex(c))


# Float arithmetic rounds once, to nearest even, keeps denormals and signed zeros.
@pytest.mark.parametrize("text", FLOAT)
def test_float(text):
    rows = float_rows()
    wave = run(text, rows)
    for lane in range(64):
        a, b, c = (f32(row[lane]) for row in rows)
        expected = b32(FLOAT[text](a, b, c))
        got = int(wave.R[0][lane])
        assert same_bits(got, expected, is_nan32), (lane, a, b, c, f32(got), f32(expected))


# Transcendental functions are within one ULP and flush denormals.
@pytest.mark.parametrize("text", APPROXIMATE)
def test_approximate(text):
    row = float_rows()[0]
    wave = run(text, [row])
    with np.errstate(all="ignore"):
        values = row.view(np.float32).astype(np.float64)
        values = np.where(np.abs(values) < 2.0**-126, np.copysign(0, values), values)
        exact = APPROXIMATE[text](values)
        exact = np.where(np.abs(exact) < 2.0**-126, np.copysign(0, exact), exact)
        expected = exact.astype(np.float32)
        np.testing.assert_array_max_ulp(wave.F[0], expected, maxulp=1)


# Conversions saturate, take NaN to zero where the target is an integer, and round to even.
@pytest.mark.parametrize("text", CONVERT)
@pytest.mark.parametrize("rows", [int_rows()[:2], float_rows()[:2]], ids=["ints", "floats"])
def test_convert(text, rows):
    wave = run(text, rows)
    half = "f16" in text.split()[0].split("_cvt_")[-1][:6] or "pk_f16" in text
    for lane in range(64):
        a, b = (int(row[lane]) for row in rows)
        got, expected = int(wave.R[0][lane]), CONVERT[text](a, b) & M32
        if half:
            for part in (0, 16):
                x, y = got >> part & 0xFFFF, expected >> part & 0xFFFF
                assert x == y or (math.isnan(f16(x)) and math.isnan(f16(y))), (lane, hex(a))
        else:
            assert same_bits(got, expected, is_nan32), (lane, hex(a), hex(got), hex(expected))


# Lanes that EXEC turns off keep their old value.
def test_exec_masks_writes():
    wave = snippet.new_wave()
    wave.R[0][:], wave.R[1][:], wave.R[2][:] = 7, 1, 2
    wave.set_exec(0x8000000000000005)
    snippet.execute("v_add_u32 v0, v1, v2", wave)
    expected = np.full(64, 7)
    expected[[0, 2, 63]] = 3
    assert (wave.R[0] == expected).all()


# 64-bit shifts, multiply-add with carry, and carries through VCC.
def test_wide_integers():
    rng = np.random.default_rng(3)
    rows = rng.integers(0, 1 << 32, (6, 64), dtype=np.uint64)
    text = """v_lshlrev_b64 v[10:11], v1, v[2:3]
    v_lshrrev_b64 v[12:13], v1, v[2:3]
    v_ashrrev_i64 v[14:15], v1, v[2:3]
    v_mad_u64_u32 v[16:17], s[4:5], v1, v2, v[4:5]
    v_lshl_add_u64 v[18:19], v[2:3], 2, v[4:5]
    v_add_co_u32 v20, vcc, v1, v2
    v_addc_co_u32 v21, vcc, v3, v4, vcc
    v_sub_co_u32 v22, vcc, v1, v2
    v_subb_co_u32 v23, vcc, v3, v4, vcc
    v_mov_b64 v[24:25], v[2:3]
    v_mov_b64 v[26:27], -2
    v_mad_i64_i32 v[28:29], s[6:7], v1, v2, v[4:5]"""
    wave = run(text, rows)
    r = wave.R
    for lane in range(64):
        v1, v2, v3, v4, v5 = (int(rows[i, lane]) for i in range(5))
        wide23, wide45 = v2 | v3 << 32, v4 | v5 << 32
        pair = lambda i, lane=lane: int(r[i][lane]) | int(r[i + 1][lane]) << 32  # noqa: E731
        m64 = (1 << 64) - 1
        signed = wide23 - (1 << 64) if wide23 >> 63 else wide23
        assert pair(10) == wide23 << (v1 & 63) & m64
        assert pair(12) == wide23 >> (v1 & 63)
        assert pair(14) == signed >> (v1 & 63) & m64
        assert pair(16) == v1 * v2 + wide45 & m64
        assert wave.scalar64(4) >> lane & 1 == (v1 * v2 + wide45) >> 64
        assert pair(18) == (wide23 << 2) + wide45 & m64
        assert pair(20) == ((v3 << 32 | v1) + (v4 << 32 | v2)) & m64
        assert pair(22) == ((v3 << 32 | v1) - (v4 << 32 | v2)) & m64
        assert pair(24) == wide23
        assert pair(26) == m64 - 1
        assert pair(28) == i32(v1) * i32(v2) + wide45 & m64


# Comparisons: ordered ones are false and negated ones true with NaN; inactive lanes give zero.
@pytest.mark.parametrize(
    ("name", "formula"),
    [
        ("lt", lambda a, b: a < b), ("eq", lambda a, b: a == b), ("le", lambda a, b: a <= b),
        ("gt", lambda a, b: a > b), ("lg", lambda a, b: a < b or a > b),
        ("ge", lambda a, b: a >= b), ("o", lambda a, b: a == a and b == b),
        ("u", lambda a, b: a != a or b != b), ("nge", lambda a, b: not a >= b),
        ("nlg", lambda a, b: not (a < b or a > b)), ("ngt", lambda a, b: not a > b),
        ("nle", lambda a, b: not a <= b), ("neq", lambda a, b: not a == b),
        ("nlt", lambda a, b: not a < b),
    ],
)  # fmt: skip
def test_float_compare(name, formula):
    rows = float_rows()
    wave = snippet.new_wave()
    wave.R[1][:], wave.R[2][:] = rows[0], rows[1]
    wave.set_exec(0x7FFFFFFFFFFFFFFF)
    snippet.execute(f"v_cmp_{name}_f32 vcc, v1, v2\nv_cmp_{name}_f32 s[4:5], v1, v2", wave)
    expected = sum(1 << i for i in range(63) if formula(f32(rows[0][i]), f32(rows[1][i])))
    assert wave.scalar64(106) == wave.scalar64(4) == expected


# Signed and unsigned integer comparisons, in 32 and 64 bits.
@pytest.mark.parametrize("kind", ["i32", "u32", "i64", "u64"])
def test_integer_compare(kind):
    rows = int_rows()
    wave = snippet.new_wave()
    for i in range(4):
        wave.R[1 + i][:] = rows[i % 3]
    wide = kind.endswith("64")
    sources = "v[1:2], v[3:4]" if wide else "v1, v2"
    if wide:
        sources = "v[2:3], v[4:5]"
        for i in range(4):
            wave.R[2 + i][:] = np.roll(rows[i % 3], i // 3)
    snippet.execute(
        f"v_cmp_lt_{kind} s[4:5], {sources}\nv_cmp_eq_{kind} s[6:7], {sources}\n"
        f"v_cmp_ge_{kind} s[8:9], {sources}\nv_cmp_ne_{kind} s[10:11], {sources}",
        wave,
    )
    bits = 64 if wide else 32
    lt = eq = 0
    for lane in range(64):
        if wide:
            a = int(wave.R[2][lane]) | int(wave.R[3][lane]) << 32
            b = int(wave.R[4][lane]) | int(wave.R[5][lane]) << 32
        else:
            a, b = int(wave.R[1][lane]), int(wave.R[2][lane])
        if kind[0] == "i":
            a, b = ((x ^ 1 << bits - 1) - (1 << bits - 1) for x in (a, b))
        lt |= (a < b) << lane
        eq |= (a == b) << lane
    everything = (1 << 64) - 1
    assert wave.scalar64(4) == lt
    assert wave.scalar64(6) == eq
    assert wave.scalar64(8) == lt ^ everything
    assert wave.scalar64(10) == eq ^ everything


# v_cndmask picks by the mask, v_cmp_class by the class of the value.
def test_select_and_class():
    rows = float_rows()
    wave = run("v_cndmask_b32 v0, v1, v2, vcc", rows)
    wave.write_scalar64(106, 0x123456789ABCDEF0)
    snippet.execute("v_cndmask_b32 v0, v1, v2, vcc", wave)
    for lane in range(64):
        source = 1 if 0x123456789ABCDEF0 >> lane & 1 else 0
        assert int(wave.R[0][lane]) == int(rows[source][lane])
    values = [np.nan, -np.inf, -1.0, -1e-40, -0.0, 0.0, 1e-40, 1.0, np.inf]
    wave.F[1][: len(values)] = values
    for number, bit in enumerate([1, 2, 3, 4, 5, 6, 7, 8, 9]):
        wave.R[2][:] = 1 << bit
        snippet.execute("v_cmp_class_f32 vcc, v1, v2", wave)
        assert wave.scalar64(106) & 0x1FF == 1 << number


# v_perm_b32 picks bytes: 0..3 of the second source, 4..7 of the first, signs, 0x00 and 0xff.
def test_perm():
    wave = snippet.new_wave()
    wave.R[1][:], wave.R[2][:] = 0x80112233, 0x44556677
    for selector, expected in {
        0x07060504: 0x80112233, 0x03020100: 0x44556677, 0x0C0D0504: 0x00FF2233,
        0x0B0A0908: 0xFF000000,
    }.items():  # fmt: skip
        wave.R[3][:] = selector
        snippet.execute("v_perm_b32 v0, v1, v2, v3", wave)
        assert int(wave.R[0][0]) == expected, hex(int(wave.R[0][0]))


# mbcnt counts the mask's bits below the lane; readfirstlane takes the lowest active lane.
def test_lane_numbers_and_reads():
    wave = snippet.new_wave()
    snippet.execute("v_mbcnt_lo_u32_b32 v0, -1, 0\nv_mbcnt_hi_u32_b32 v0, -1, v0", wave)
    assert (wave.R[0] == np.arange(64)).all()
    wave.set_exec(0xFF00)
    snippet.execute("v_readfirstlane_b32 s3, v0\nv_readlane_b32 s4, v0, 33", wave)
    assert (wave.S[3], wave.S[4]) == (8, 33)
    wave.S[5] = 77
    snippet.execute("v_writelane_b32 v0, s5, 5", wave)
    assert int(wave.R[0][5]) == 77


# The swaps exchange half waves and rows between two registers.
def test_permlane_swaps():
    wave = snippet.new_wave()
    lane = np.arange(64)
    wave.R[0][:], wave.R[1][:] = lane, lane + 100
    snippet.execute("v_permlane32_swap_b32 v0, v1", wave)
    assert (wave.R[0] == np.where(lane < 32, lane, lane - 32 + 100)).all()
    assert (wave.R[1] == np.where(lane < 32, lane + 32, lane + 100)).all()
    wave.R[0][:], wave.R[1][:] = lane, lane + 100
    snippet.execute("v_permlane16_swap_b32 v0, v1", wave)
    odd = lane // 16 % 2 == 1
    assert (wave.R[0] == np.where(odd, lane - 16 + 100, lane)).all()
    assert (wave.R[1] == np.where(odd, lane + 100, lane + 16)).all()


# DPP moves lanes; where no source lane exists, 0 with bound_ctrl and the old value without.
@pytest.mark.parametrize(
    ("control", "source"),
    [
        ("quad_perm:[1,0,3,2]", lambda i: i ^ 1),
        ("row_shr:1", lambda i: i - 1 if i % 16 >= 1 else None),
        ("row_shl:3", lambda i: i + 3 if i % 16 < 13 else None),
        ("row_ror:4", lambda i: i // 16 * 16 + (i - 4) % 16),
        ("row_newbcast:5", lambda i: i // 16 * 16 + 5),
        ("row_mirror", lambda i: i // 16 * 16 + 15 - i % 16),
        ("row_half_mirror", lambda i: i // 8 * 8 + 7 - i % 8),
        ("row_bcast:15", lambda i: i // 16 * 16 - 1 if i >= 16 else None),
        ("row_bcast:31", lambda i: 31 if i >= 32 else None),
        ("wave_shr:1", lambda i: i - 1 if i else None),
        ("wave_rol:1", lambda i: (i + 1) % 64),
    ],
)
def test_dpp(control, source):
    for bound in ("", " bound_ctrl:0"):
        wave = snippet.new_wave()
        wave.R[0][:], wave.R[1][:] = 999, np.arange(64)
        snippet.execute(f"v_mov_b32_dpp v0, v1 {control} row_mask:0xf bank_mask:0xf{bound}", wave)
        missing = 0 if bound else 999
        for i in range(64):
            expected = missing if source(i) is None else source(i)
            assert int(wave.R[0][i]) == expected, (control, bound, i)
