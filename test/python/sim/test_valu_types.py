"""Vector instructions of 16 and 64 bits against scalar formulas, and what becomes of the rest of a
register."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from lodestone.sim import UnsupportedInstruction, snippet

SUFFIXES = {"u16": (16, False), "i16": (16, True), "u32": (32, False), "i32": (32, True),
            "u64": (64, False), "i64": (64, True)}  # fmt: skip


def value_of(bits, width, signed):
    return bits - (1 << width) if signed and bits >> width - 1 else bits


def clip(value, width, signed):
    low, high = (-(1 << width - 1), (1 << width - 1) - 1) if signed else (0, (1 << width) - 1)
    return min(max(value, low), high)


# Name without type -> (sources, formula on values, types, name of gfx1250).
INTEGER = {
    "add": (2, lambda a, b, c: a + b, ("u16", "i16"), "add_nc"),
    "sub": (2, lambda a, b, c: a - b, ("u16", "i16"), "sub_nc"),
    "min": (2, lambda a, b, c: min(a, b), ("u16", "i16"), "min"),
    "max": (2, lambda a, b, c: max(a, b), ("u16", "i16"), "max"),
    "min3": (3, lambda a, b, c: min(a, b, c), ("u16", "i16", "i32"), "min3"),
    "max3": (3, lambda a, b, c: max(a, b, c), ("u16", "i16", "u32"), "max3"),
    "med3": (3, lambda a, b, c: sorted((a, b, c))[1], ("u16", "i16", "i32"), "med3"),
    "mad": (3, lambda a, b, c: a * b + c, ("u16", "i16"), "mad"),
}
# Only there: 64 bits and combinations.
GFX1250 = {
    "min": (2, lambda a, b, c: min(a, b), ("u64", "i64")),
    "max": (2, lambda a, b, c: max(a, b), ("u64", "i64")),
    "minmax": (3, lambda a, b, c: max(min(a, b), c), ("u32", "i32")),
    "maxmin": (3, lambda a, b, c: min(max(a, b), c), ("u32", "i32")),
    "mul": (2, lambda a, b, c: a * b, ("u64",)),
    "add_nc": (2, lambda a, b, c: a + b, ("u64",)),
}
CASES = [
    *(("gfx950", n, t, s, f) for n, (s, f, types, _) in INTEGER.items() for t in types),
    *(("gfx1250", m, t, s, f) for s, f, types, m in INTEGER.values() for t in types),
    *(("gfx1250", n, t, s, f) for n, (s, f, types) in GFX1250.items() for t in types),
]


def integer_rows(lanes, seed=1):
    """Three rows of 64-bit patterns, with the ends of the ranges among them."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 1 << 64, (3, lanes), dtype=np.uint64)
    edges = [0, 1, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, (1 << 63) - 1, 1 << 63]
    for i in range(3):
        rows[i, : len(edges)] = np.roll(np.array(edges, np.uint64), i)
    return rows


def run_wide(text, rows, chip):
    """Execute with the rows in v[2:3], v[4:5], v[6:7]; v[0:1] start as all ones."""
    wave = snippet.new_wave(chip)
    wave.V[0:2] = 0xFFFFFFFF
    for i, row in enumerate(rows):
        wave.R[2 + 2 * i][:] = (row & np.uint64(0xFFFFFFFF)).astype(np.uint32)
        wave.R[3 + 2 * i][:] = (row >> np.uint64(32)).astype(np.uint32)
    snippet.execute(text, wave)
    return wave


def registers(width, count):
    wide = width == 64
    names = ["v[0:1]" if wide else "v0"]
    names += [f"v[{2 * i}:{2 * i + 1}]" if wide else f"v{2 * i}" for i in range(1, count + 1)]
    return ", ".join(names)


@pytest.mark.parametrize(("chip", "name", "suffix", "count", "formula"), CASES)
def test_integer(chip, name, suffix, count, formula):
    width, signed = SUFFIXES[suffix]
    rows = integer_rows(32 if chip == "gfx1250" else 64)
    wave = run_wide(f"v_{name}_{suffix} {registers(width, count)}", rows, chip)
    mask = (1 << width) - 1
    for lane in range(wave.lanes):
        a, b, c = (value_of(int(row[lane]) & mask, width, signed) for row in rows)
        got = int(wave.R[0][lane]) | int(wave.R[1][lane]) << 32
        assert got & mask == formula(a, b, c) & mask, (lane, a, b, c)


# The clamp bit keeps sums and differences in the range of their type.
@pytest.mark.parametrize("suffix", ["u16", "i16", "u32", "i32"])
@pytest.mark.parametrize("name", ["add", "sub"])
def test_clamp(name, suffix):
    width, signed = SUFFIXES[suffix]
    rows = integer_rows(64)
    wave = run_wide(f"v_{name}_{suffix} {registers(width, 2)} clamp", rows, "gfx950")
    mask = (1 << width) - 1
    for lane in range(64):
        a, b = (value_of(int(row[lane]) & mask, width, signed) for row in rows[:2])
        want = clip(a + b if name == "add" else a - b, width, signed) & mask
        assert int(wave.R[0][lane]) & mask == want, (lane, a, b)


def exact(value, kind):
    """A rational number to the nearest value of a float type, ties to even."""
    info = np.finfo(kind)
    if value == 0:
        return 0.0
    magnitude = abs(value)
    # floor(log2), exactly.
    power = magnitude.numerator.bit_length() - magnitude.denominator.bit_length() - 1
    while Fraction(2) ** (power + 1) <= magnitude:
        power += 1
    unit = Fraction(2) ** (max(power, int(info.minexp)) - info.nmant)
    low, rest = divmod(magnitude, unit)
    if rest * 2 > unit or (rest * 2 == unit and low & 1):
        low += 1
    result = low * unit
    overflow = result >= Fraction(2) ** int(info.maxexp)
    return math.copysign(math.inf if overflow else float(result), -1 if value < 0 else 1)


def float_rows(kind, lanes, seed=2):
    rng = np.random.default_rng(seed)
    info = np.finfo(kind)
    size = np.dtype(kind).itemsize
    rows = rng.integers(0, 256, (3, lanes * size), dtype=np.uint8).view(kind)
    rows[:, lanes // 2 :] = rng.standard_normal((3, lanes - lanes // 2)).astype(kind)
    special = np.array([0.0, -0.0, np.inf, np.nan, info.max, info.smallest_subnormal, 1.5], kind)
    for i in range(3):
        rows[i, : len(special)] = np.roll(special, i)
    return rows


def product_sum(a, b, c, kind):
    """a * b + c, rounded once."""
    if not all(map(math.isfinite, (a, b, c))):
        return c if math.isinf(c) and math.isfinite(a) and math.isfinite(b) else a * b + c
    value = Fraction(a) * Fraction(b) + Fraction(c)
    return exact(value, kind) if value else a * b + c if not (a * b + c) else 0.0


def order(pick):
    """A NaN loses; there is no order of zeros in what is compared."""

    def choose(a, b):
        return b if math.isnan(a) else a if math.isnan(b) else pick(a, b)

    return choose


FLOAT = {
    "add": (2, lambda a, b, c, k: product_sum(a, 1.0, b, k)),
    "mul": (2, lambda a, b, c, k: product_sum(a, b, math.copysign(0.0, -1), k)),
    "fma": (3, product_sum),
    "max": (2, lambda a, b, c, k: order(max)(a, b)),
    "min": (2, lambda a, b, c, k: order(min)(a, b)),
    "floor": (1, lambda a, b, c, k: float(np.floor(a))),
    "ceil": (1, lambda a, b, c, k: float(np.ceil(a))),
    "trunc": (1, lambda a, b, c, k: float(np.trunc(a))),
    "rndne": (1, lambda a, b, c, k: float(np.rint(a))),
    "frexp_mant": (1, lambda a, b, c, k: math.frexp(a)[0] if math.isfinite(a) else a),
}


@pytest.mark.parametrize("name", FLOAT)
@pytest.mark.parametrize(("suffix", "kind"), [("f16", np.float16), ("f64", np.float64)])
def test_float(name, suffix, kind):
    count, formula = FLOAT[name]
    rows = float_rows(kind, 64)
    bits = [row.view(f"u{row.itemsize}").astype(np.uint64) for row in rows]
    width = 8 * np.dtype(kind).itemsize
    wave = run_wide(f"v_{name}_{suffix} {registers(width, count)}", bits, "gfx950")
    words = wave.V[0:2].astype(np.uint64)
    raw = words[0] | words[1] << np.uint64(32)
    got = raw.astype(f"u{width // 8}").view(kind).astype(np.float64)
    with np.errstate(all="ignore"):
        for lane in range(64):
            a, b, c = (float(row[lane]) for row in rows)
            want = float(formula(a, b, c, kind))
            where = (lane, a, b, c, float(got[lane]), want)
            assert got[lane] == want or (math.isnan(got[lane]) and math.isnan(want)), where


# 16-bit results: older gfx9 instructions clear the upper half, newer ones and gfx1250 keep it.
@pytest.mark.parametrize(
    ("chip", "text", "kept"),
    [
        ("gfx950", "v_add_u16 v0, v2, v4", False),
        ("gfx950", "v_add_f16 v0, v2, v4", False),
        ("gfx950", "v_mad_legacy_u16 v0, v2, v4, v6", False),
        ("gfx950", "v_mad_u16 v0, v2, v4, v6", True),
        ("gfx950", "v_fma_f16 v0, v2, v4, v6", True),
        ("gfx950", "v_fma_mixlo_f16 v0, v2, v4, v6", True),
        ("gfx950", "v_bitop3_b16 v0, v2, v4, v6 bitop3:0x96", True),
        ("gfx1250", "v_add_nc_u16 v0, v2, v4", True),
        ("gfx1250", "v_add_f16 v0, v2, v4", True),
    ],
)
def test_upper_half(chip, text, kept):
    wave = run_wide(text, integer_rows(32 if chip == "gfx1250" else 64), chip)
    assert (wave.R[0] >> 16 == (0xFFFF if kept else 0)).all()


# v_fma_mix: halves or whole registers as sources, with signs; to f32 or to one half.
def test_fma_mix():
    rows = float_rows(np.float32, 64)
    wave = run_wide(
        """v_fma_mix_f32 v8, v2, -v4, |v6| op_sel:[1,0,0] op_sel_hi:[1,1,0]
        v_fma_mixlo_f16 v0, v2, v4, v6
        v_fma_mixhi_f16 v1, v2, v4, v6 clamp""",
        [row.view(np.uint32).astype(np.uint64) for row in rows],
        "gfx950",
    )
    halves = [row.view(np.uint32) for row in rows]
    with np.errstate(all="ignore"):
        for lane in range(64):
            high = float(np.uint16(halves[0][lane] >> 16).view(np.float16))
            low = float(np.uint16(halves[1][lane] & 0xFFFF).view(np.float16))
            a, b, c = (float(row[lane]) for row in rows)
            want = product_sum(high, -low, abs(c), np.float32)
            got = float(wave.F[8][lane])
            assert got == want or (math.isnan(got) and math.isnan(want)), lane
            narrow = np.float16(product_sum(a, b, c, np.float32))
            got16 = np.uint16(wave.R[0][lane] & 0xFFFF).view(np.float16)
            assert got16 == narrow or (np.isnan(got16) and np.isnan(narrow)), lane
            assert wave.R[0][lane] >> 16 == 0xFFFF
            held = 0.0 if math.isnan(narrow) else min(max(float(narrow), 0.0), 1.0)
            clamped = np.uint16(wave.R[1][lane] >> 16).view(np.float16)
            assert abs(float(clamped) - held) <= 2**-11, lane


# Literals of 64 bits, of 32 that stand for the upper half of a double, and integers.
def test_wide_literals():
    wave = snippet.new_wave("gfx1250")
    wave.V[2:4] = 0
    text = """v_add_f64 v[4:5], 0x40590000, v[2:3]
    v_add_f64 v[6:7], 0x3ff0000000000001, v[2:3]
    v_fmamk_f64 v[8:9], v[2:3], 0xc059000000000000, v[4:5]
    s_mov_b64 s[2:3], 0xffffffff
    s_mov_b64 s[4:5], 0x123456789abcdef
    v_add_nc_u64 v[10:11], 0x123456789abc, v[2:3]"""
    snippet.execute(text, wave)
    doubles = wave.V[4:10].reshape(3, 2, 32).transpose(0, 2, 1).copy().view(np.float64)[:, 0, 0]
    assert doubles.tolist() == [100.0, 1.0000000000000002, 100.0]
    assert wave.scalar64(2) == 0xFFFFFFFF and wave.scalar64(4) == 0x123456789ABCDEF
    assert int(wave.R[10][0]) | int(wave.R[11][0]) << 32 == 0x123456789ABC


# gfx1250's dual instructions: VCC without being named, bit functions of two, 64-bit results.
def test_dual_forms():
    wave = snippet.new_wave("gfx1250")
    lane = np.arange(32, dtype=np.uint32)
    wave.R[2][:], wave.R[3][:], wave.R[5][:] = lane, 7 * lane, 100 + lane
    wave.S[106] = 0xFF
    double = np.array([1.5]).view(np.uint32)
    wave.R[20][:], wave.R[21][:] = double[0], double[1]
    wave.V[22:24] = 0
    snippet.execute(
        """v_dual_cndmask_b32 v0, v2, v3 :: v_dual_mov_b32 v9, v5
        v_dual_mov_b32 v10, v5 :: v_dual_bitop2_b32 v7, v2, v3 bitop3:0x14
        v_dual_mov_b32 v10, v5 :: v_dual_bitop2_b32 v11, v2, v3 bitop3:0x40
        v_dual_mov_b32 v10, v3 :: v_dual_bitop2_b32 v13, v5, v2 bitop3:0x54
        v_dual_add_f64 v[20:21], v[20:21], v[22:23] :: v_dual_lshlrev_b32 v23, 1, v21""",
        wave,
    )
    assert (wave.R[0] == np.where(lane < 8, 7 * lane, lane)).all()
    assert (wave.R[9] == 100 + lane).all()
    assert (wave.R[7] == (lane ^ 7 * lane)).all() and (wave.R[11] == (lane & 7 * lane)).all()
    assert (wave.R[13] == (100 + lane | lane)).all()
    assert (wave.R[23] == double[1] << 1).all() and (wave.R[21] == double[1]).all()


# What gfx9 has no name for.
def test_xor3():
    rows = integer_rows(32)
    wave = run_wide("v_xor3_b32 v0, v2, v4, v6", rows, "gfx1250")
    for lane in range(32):
        a, b, c = (int(row[lane]) & 0xFFFFFFFF for row in rows)
        assert int(wave.R[0][lane]) == a ^ b ^ c


# Moves between lanes work in rows of 16 in a wave of 32, and for both words of a double.
def test_dpp_widths():
    wave = snippet.new_wave("gfx1250")
    lane = np.arange(32, dtype=np.uint32)
    wave.R[1][:] = lane
    snippet.execute("v_mov_b32_dpp v0, v1 row_ror:1 row_mask:0xf bank_mask:0xf", wave)
    assert (wave.R[0] == (lane & 16) + (lane - 1 & 15)).all()
    wave = snippet.new_wave("gfx950")
    lane = np.arange(64, dtype=np.uint32)
    wave.R[2][:], wave.R[3][:] = lane, 1000 + lane
    snippet.execute("v_mov_b64_dpp v[0:1], v[2:3] row_newbcast:3 row_mask:0xf bank_mask:0xf", wave)
    assert (wave.R[0] == (lane & 48) + 3).all() and (wave.R[1] == 1003 + (lane & 48)).all()


# Moves and selects take sign modifiers as floats; gfx9's output multipliers need a mode that
# isn't simulated, gfx1250's flush what is denormal.
def test_modifiers():
    wave = snippet.new_wave("gfx1250")
    wave.F[1][:], wave.F[2][:] = 1.5, -2.5
    wave.S[4] = 0xF
    snippet.execute(
        "v_cndmask_b32_e64 v0, -v1, |v2|, s4\nv_mul_f32_e64 v3, v1, v2 mul:2\n"
        "v_mov_b32_e32 v5, 0x00800000\nv_mul_f32_e64 v4, v5, 1.0 div:2",
        wave,
    )
    assert (wave.F[0][:4] == 2.5).all() and (wave.F[0][4:] == -1.5).all()
    assert (wave.F[3] == -7.5).all() and (wave.R[4] == 0).all()
    with pytest.raises(UnsupportedInstruction, match="output modifier mul"):
        snippet.execute("v_mul_f32_e64 v3, v1, v2 mul:2", snippet.new_wave("gfx950"))
