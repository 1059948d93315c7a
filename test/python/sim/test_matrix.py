"""Matrix instructions: layouts against a plain matrix product, formats, scales, conversions."""

from __future__ import annotations

import itertools

import ml_dtypes
import numpy as np
import pytest
from lodestone.sim import UnsupportedInstruction, formats, snippet

BF16 = ml_dtypes.bfloat16
FORMATS = {
    "fp8": ml_dtypes.float8_e4m3fn, "bf8": ml_dtypes.float8_e5m2,
    "fp6": ml_dtypes.float6_e2m3fn, "bf6": ml_dtypes.float6_e3m2fn,
    "fp4": ml_dtypes.float4_e2m1fn, "f16": np.float16, "bf16": BF16, "f32": np.float32,
    "i8": np.int8,
}  # fmt: skip
BITS = {"fp8": 8, "bf8": 8, "fp6": 6, "bf6": 6, "fp4": 4, "f16": 16, "bf16": 16, "f32": 32, "i8": 8}


def random_matrix(rng, shape, element):
    """Random values of a format, and their float64 values."""
    if element == "i8":
        values = rng.integers(-128, 128, shape).astype(np.int8)
    else:
        values = rng.standard_normal(shape).astype(FORMATS[element])
    return values, values.astype(np.float64)


def k_index(lane_group, item, groups, items, element, f8f6f4):
    """The k of an item: contiguous runs a lane, but two runs of 16 for 8-bit f8f6f4 operands."""
    if f8f6f4 and BITS[element] == 8:
        return item // 16 * 16 * groups + lane_group * 16 + item % 16
    return lane_group * items + item


def pack_rows(values, element, f8f6f4=False):
    """[K, side] values -> uint32 [registers, 64], by the published layout, element by element."""
    k, side = values.shape
    groups, bits = 64 // side, BITS[element]
    items = k // groups
    kind = {4: np.uint8, 6: np.uint8, 8: np.uint8, 16: np.uint16, 32: np.uint32}[bits]
    raw = values.view(kind)
    rows = np.zeros((items * bits // 32, 64), np.uint32)
    for lane in range(64):
        word = 0
        for item in range(items):
            at = k_index(lane // side, item, groups, items, element, f8f6f4)
            word |= (int(raw[at, lane % side]) & (1 << bits) - 1) << bits * item
        for register in range(len(rows)):
            rows[register, lane] = word >> 32 * register & 0xFFFFFFFF
    return rows


def unpack_result(rows, m):
    """uint32 [m * m / 64, 64] -> float32 [m, m] by the published output layout."""
    out = np.zeros((m, m), rows.dtype)
    groups = 64 // m
    for register in range(len(rows)):
        for lane in range(64):
            row = 4 * groups * (register // 4) + 4 * (lane // m) + register % 4
            out[row, lane % m] = rows[register, lane]
    return out


def execute(mnemonic, m, k, a_format, b_format, *, chip="gfx950", modifiers="", f8=False, c=None,
            extra="", setup=None, seed=0):  # fmt: skip
    rng = np.random.default_rng(seed)
    a, a64 = random_matrix(rng, (k, m), a_format)
    b, b64 = random_matrix(rng, (k, m), b_format)
    if a_format in ("fp8", "bf8") and chip == "gfx942":
        kinds = {"fp8": ml_dtypes.float8_e4m3fnuz, "bf8": ml_dtypes.float8_e5m2fnuz}
        a64 = a.view(np.uint8).view(kinds[a_format]).astype(np.float64)
        b64 = b.view(np.uint8).view(kinds[b_format]).astype(np.float64)
    wave = snippet.new_wave(chip)
    ra, rb = pack_rows(a, a_format, f8), pack_rows(b, b_format, f8)
    wave.V[20 : 20 + len(ra)], wave.V[40 : 40 + len(rb)] = ra, rb
    count = m * m // 64
    start = rng.standard_normal((count, 64)).astype(np.float32)
    if a_format == "i8":
        start = rng.integers(-1000, 1000, (count, 64)).astype(np.int32)
    wave.V[256 : 256 + count] = start.view(np.uint32)
    if setup:
        setup(wave)
    span = lambda first, n: f"v[{first}:{first + n - 1}]"  # noqa: E731
    source_c = f"a[0:{count - 1}]" if c is None else c
    snippet.execute(
        f"{mnemonic} {span(100, count)}, {span(20, len(ra))}, {span(40, len(rb))}, "
        f"{source_c}{extra}{modifiers}",
        wave,
    ) if c is not None else snippet.execute(
        f"{mnemonic} a[0:{count - 1}], {span(20, len(ra))}, {span(40, len(rb))}, "
        f"{source_c}{extra}{modifiers}",
        wave,
    )
    first = 256 if c is None else 100
    dtype = np.int32 if a_format == "i8" else np.float32
    got = unpack_result(wave.V[first : first + count].view(dtype), m)
    addend = unpack_result(start, m).astype(np.float64) if c is None else 0.0
    return got, a64, b64, addend


CASES = [
    ("v_mfma_f32_16x16x32_bf16", 16, 32, "bf16", "bf16", "gfx950"),
    ("v_mfma_f32_32x32x16_bf16", 32, 16, "bf16", "bf16", "gfx950"),
    ("v_mfma_f32_16x16x32_f16", 16, 32, "f16", "f16", "gfx950"),
    ("v_mfma_f32_32x32x16_f16", 32, 16, "f16", "f16", "gfx950"),
    ("v_mfma_f32_16x16x16_bf16", 16, 16, "bf16", "bf16", "gfx942"),
    ("v_mfma_f32_32x32x8_bf16", 32, 8, "bf16", "bf16", "gfx942"),
    ("v_mfma_f32_16x16x16_f16", 16, 16, "f16", "f16", "gfx942"),
    ("v_mfma_f32_32x32x8_f16", 32, 8, "f16", "f16", "gfx942"),
    ("v_mfma_f32_16x16x4_f32", 16, 4, "f32", "f32", "gfx942"),
    ("v_mfma_f32_32x32x2_f32", 32, 2, "f32", "f32", "gfx942"),
    ("v_mfma_i32_16x16x32_i8", 16, 32, "i8", "i8", "gfx942"),
    ("v_mfma_i32_32x32x16_i8", 32, 16, "i8", "i8", "gfx942"),
    ("v_mfma_i32_16x16x64_i8", 16, 64, "i8", "i8", "gfx950"),
    ("v_mfma_i32_32x32x32_i8", 32, 32, "i8", "i8", "gfx950"),
    ("v_mfma_f32_16x16x32_fp8_fp8", 16, 32, "fp8", "fp8", "gfx942"),
    ("v_mfma_f32_32x32x16_fp8_bf8", 32, 16, "fp8", "bf8", "gfx950"),
    ("v_mfma_f32_16x16x32_bf8_fp8", 16, 32, "bf8", "fp8", "gfx942"),
    ("v_mfma_f32_32x32x16_bf8_bf8", 32, 16, "bf8", "bf8", "gfx950"),
]


# D = A B + C in the published layouts, rounded once.
@pytest.mark.parametrize("case", CASES, ids=lambda c: c[0][7:] + "-" + c[5])
def test_shapes(case):
    mnemonic, m, k, a_format, b_format, chip = case
    got, a, b, c = execute(mnemonic, m, k, a_format, b_format, chip=chip)
    exact = a.T @ b + c
    np.testing.assert_array_equal(got, exact.astype(got.dtype))


CODES = {"fp8": 0, "bf8": 1, "fp6": 2, "bf6": 3, "fp4": 4}


# All element formats of f8f6f4, also mixed ones, with C from AGPRs or the constant zero.
@pytest.mark.parametrize("sides", [("fp8", "fp8"), ("bf8", "fp4"), ("fp6", "bf6"), ("fp4", "fp8")])
@pytest.mark.parametrize("m", [16, 32])
@pytest.mark.parametrize("c", [None, "0"])
def test_f8f6f4(sides, m, c):
    k = 128 if m == 16 else 64
    modifiers = "".join(
        f" {name}:{CODES[s]}" for name, s in zip(("cbsz", "blgp"), sides, strict=True) if CODES[s]
    )
    got, a, b, addend = execute(
        f"v_mfma_f32_{m}x{m}x{k}_f8f6f4", m, k, *sides, modifiers=modifiers, f8=True, c=c
    )
    np.testing.assert_array_equal(got, (a.T @ b + addend).astype(np.float32))


# The block scales: one per row and 32 values of K, each side from its own byte; 255 is NaN.
@pytest.mark.parametrize("m", [16, 32])
@pytest.mark.parametrize("sides", [("fp8", "fp8"), ("fp4", "fp8"), ("fp6", "fp6")])
def test_block_scales(m, sides):
    k = 128 if m == 16 else 64
    rng = np.random.default_rng(5)
    words = rng.integers(120, 135, (2, 64, 4)).astype(np.uint8)

    def setup(wave):
        wave.R[60][:] = words[0].view(np.uint32)[:, 0]
        wave.R[61][:] = words[1].view(np.uint32)[:, 0]

    codes = "".join(
        f" {name}:{CODES[s]}" for name, s in zip(("cbsz", "blgp"), sides, strict=True) if CODES[s]
    )
    got, a, b, c = execute(
        f"v_mfma_scale_f32_{m}x{m}x{k}_f8f6f4", m, k, *sides, f8=True, setup=setup,
        extra=", v60, v61", modifiers=" op_sel:[1,0,0] op_sel_hi:[0,1,0]" + codes,
    )  # fmt: skip
    # A: op_sel 1, op_sel_hi 0 -> byte 1. B: op_sel 0, op_sel_hi 1 -> byte 2.
    for matrix, raw in ((a, words[0, :, 1]), (b, words[1, :, 2])):
        for lane in range(64):
            block = lane // m
            matrix[32 * block : 32 * block + 32, lane % m] *= 2.0 ** (int(raw[lane]) - 127)
    np.testing.assert_array_equal(got, (a.T @ b + c).astype(np.float32))


# Wrong register counts, unsupported broadcasts and foreign chips are refused with the reason.
def test_refusals():
    wave = snippet.new_wave()
    with pytest.raises(UnsupportedInstruction, match="cbsz"):
        snippet.execute("v_mfma_f32_32x32x2_f32 a[0:15], v0, v1, a[0:15] cbsz:1 abid:1", wave)


# fp8 and bf8 conversions against a search for the nearest table value, ties to even.
@pytest.mark.parametrize("name", ["fp8", "bf8"])
def test_narrow_conversion(name):
    dtype = FORMATS[name]
    table = formats.byte_table(dtype)
    finite = sorted({v for v in table[np.isfinite(table)]})
    halves = [(x + y) / 2 for x, y in itertools.pairwise(finite)]
    values = np.array(finite + halves + [1e9, -1e9, np.inf, -np.inf, np.nan, 1e-30, -0.0],
                      np.float32)  # fmt: skip
    values = np.concatenate([values, np.nextafter(values, np.float32(np.inf)),
                             np.nextafter(values, np.float32(-np.inf))])  # fmt: skip
    wave = snippet.new_wave()
    even = {v: not int(np.flatnonzero(table == v)[0]) & 1 for v in finite}
    top = finite[-1]
    step = finite[-1] - finite[-2]
    for start in range(0, len(values), 64):
        chunk = values[start : start + 64]
        wave.F[1][: len(chunk)] = chunk
        wave.R[0][:] = 0xAAAABBBB
        snippet.execute(f"v_cvt_pk_{name}_f32 v0, v1, v1 op_sel:[0,0,1]", wave)
        assert (wave.R[0] & 0xFFFF == 0xBBBB).all(), "the other half must be kept"
        for lane, value in enumerate(chunk):
            got = table[int(wave.R[0][lane]) >> 16 & 0xFF]
            value = float(value)
            if np.isnan(value) or abs(value) >= top + step / 2:
                # Beyond the largest: NaN in e4m3, infinity in e5m2.
                limit = abs(value) == top + step / 2 and not even[top]
                expect_nan = np.isnan(value) or name == "fp8"
                if abs(value) == top + step / 2 and even[top]:
                    assert got == np.copysign(top, value)
                    continue
                assert np.isnan(got) if expect_nan else got == np.copysign(np.inf, value), (
                    value, got, limit)  # fmt: skip
                continue
            distance = [abs(v - value) for v in finite]
            near = [v for v, d in zip(finite, distance, strict=True) if d == min(distance)]
            want = near[0] if len(near) == 1 else next(v for v in near if even[v])
            assert got == want and np.signbit(got) == np.signbit(value), (value, got, want)


# With FP16_OVFL set, what is too large becomes the largest magnitude.
def test_narrow_saturation():
    wave = snippet.new_wave()
    wave.F[1][:5] = [1e9, -1e9, np.inf, np.nan, 1.0]
    snippet.execute(
        "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 1\nv_cvt_pk_fp8_f32 v0, v1, v1", wave
    )
    table = formats.byte_table(FORMATS["fp8"])
    got = table[wave.R[0][:5] & 0xFF]
    np.testing.assert_array_equal(got, [448, -448, 448, np.nan, 1])


# bf16 conversion: nearest even by integer arithmetic, NaN stays NaN, infinities stay.
def test_bf16_conversion():
    rng = np.random.default_rng(7)
    bits = rng.integers(0, 1 << 32, 4096, dtype=np.uint64).astype(np.uint32)
    bits[:8] = [0x3F808000, 0x3F818000, 0x3F808001, 0x7F7FFFFF, 0x7F800000, 0xFF800000,
                0x7F800001, 0x80000001]  # fmt: skip
    wave = snippet.new_wave()
    code = snippet.instructions("v_cvt_pk_bf16_f32 v0, v1, v2")
    for start in range(0, len(bits), 128):
        wave.R[1][:], wave.R[2][:] = bits[start : start + 64], bits[start + 64 : start + 128]
        snippet.execute(code, wave)
        for lane in range(64):
            for source, shift in ((1, 0), (2, 16)):
                x = int(wave.R[source][lane])
                got = int(wave.R[0][lane]) >> shift & 0xFFFF
                if x & 0x7FFFFFFF > 0x7F800000:
                    assert got & 0x7FFF > 0x7F80
                    continue
                rest = x & 0xFFFF
                want = x >> 16
                want += rest > 0x8000 or (rest == 0x8000 and want & 1)
                assert got == want & 0xFFFF, hex(x)


# Back-conversions read the chosen byte or half, on both chips' formats.
@pytest.mark.parametrize("chip", ["gfx950", "gfx942"])
def test_conversion_from_bytes(chip):
    wave = snippet.new_wave(chip)
    raw = np.arange(256, dtype=np.uint8)
    kinds = formats.FP8_TYPES[chip]
    wave.R[1][:] = raw.view(np.uint32)
    text = """v_cvt_f32_fp8_sdwa v2, v1 src0_sel:BYTE_2
    v_cvt_f32_bf8 v3, v1
    v_cvt_pk_f32_fp8_sdwa v[4:5], v1 src0_sel:WORD_1
    v_cvt_pk_f32_bf8 v[6:7], v1"""
    snippet.execute(text, wave)
    fp8, bf8 = (raw.view(k).astype(np.float32) for k in kinds)
    np.testing.assert_array_equal(wave.F[2], fp8[2::4])
    np.testing.assert_array_equal(wave.F[3], bf8[0::4])
    np.testing.assert_array_equal(wave.F[4], fp8[2::4])
    np.testing.assert_array_equal(wave.F[5], fp8[3::4])
    np.testing.assert_array_equal(wave.F[6], bf8[0::4])
    np.testing.assert_array_equal(wave.F[7], bf8[1::4])


# Scaled conversions divide by the power of two in the scale's exponent.
def test_scaled_conversion():
    wave = snippet.new_wave()
    rng = np.random.default_rng(9)
    wave.F[1][:] = rng.standard_normal(64)
    wave.F[2][:] = rng.standard_normal(64)
    wave.F[3][:] = 4.0
    wave.R[0][:] = 0
    snippet.execute("v_cvt_scalef32_pk_fp8_f32 v0, v1, v2, v3", wave)
    want = (wave.F[1] / 4).astype(FORMATS["fp8"]).view(np.uint8)
    assert (wave.R[0] & 0xFF == want).all()
    want = (wave.F[2] / 4).astype(FORMATS["fp8"]).view(np.uint8)
    assert (wave.R[0] >> 8 & 0xFF == want).all()


# Packed f32: each half from the chosen register of a pair, negated where asked.
def test_packed_f32():
    wave = snippet.new_wave()
    rng = np.random.default_rng(11)
    for i in range(1, 9):
        wave.F[i][:] = rng.standard_normal(64)
    text = """v_pk_mul_f32 v[10:11], v[2:3], v[4:5]
    v_pk_mul_f32 v[12:13], v[2:3], v[4:5] op_sel_hi:[1,0]
    v_pk_add_f32 v[14:15], v[2:3], v[4:5] op_sel:[1,0] neg_lo:[0,1] neg_hi:[1,0]
    v_pk_fma_f32 v[16:17], v[2:3], v[4:5], v[6:7]
    v_pk_mul_f32 v[18:19], v[2:3], 2.0 op_sel_hi:[1,0]
    v_pk_mov_b32 v[20:21], v[2:3], v[4:5] op_sel:[1,0]"""
    snippet.execute(text, wave)
    f = wave.F
    same = np.testing.assert_array_equal
    same(f[10], f[2] * f[4]), same(f[11], f[3] * f[5])
    same(f[12], f[2] * f[4]), same(f[13], f[3] * f[4])
    same(f[14], f[3] - f[4]), same(f[15], -f[3] + f[5])
    same(f[16], (f[2].astype(np.float64) * f[4] + f[6]).astype(np.float32))
    same(f[17], (f[3].astype(np.float64) * f[5] + f[7]).astype(np.float32))
    same(f[18], f[2] * 2)
    same(f[20], f[3]), same(f[21], f[4])
    with pytest.raises(UnsupportedInstruction, match="op_sel_hi on constant"):
        snippet.execute("v_pk_mul_f32 v[18:19], v[2:3], 2.0", wave)


# Packed f16 arithmetic and the mixed-precision fma.
def test_packed_f16():
    wave = snippet.new_wave()
    rng = np.random.default_rng(12)
    for i in range(1, 4):
        wave.V[i] = rng.standard_normal(128).astype(np.float16).view(np.uint32)
    half = lambda i, p: wave.V[i].view(np.float16)[p::2]  # noqa: E731
    text = """v_pk_add_f16 v10, v1, v2
    v_pk_mul_f16 v11, v1, v2 op_sel_hi:[0,1]
    v_pk_fma_f16 v12, v1, v2, v3
    v_pk_max_f16 v13, v1, v2
    v_fma_mix_f32 v14, v1, v2, v4 op_sel:[1,0,0] op_sel_hi:[1,1,0]"""
    wave.F[4][:] = 0.25
    snippet.execute(text, wave)
    same = np.testing.assert_array_equal
    for p in (0, 1):
        a, b, c = half(1, p), half(2, p), half(3, p)
        same(half(10, p), a + b)
        same(half(11, p), half(1, 0) * b)
        same(half(12, p), (a.astype(float) * b + c).astype(np.float16))
        same(half(13, p), np.maximum(a, b))
    same(wave.F[14], (half(1, 1).astype(float) * half(2, 0) + 0.25).astype(np.float32))
