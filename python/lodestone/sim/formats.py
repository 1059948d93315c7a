"""Number formats: bit patterns to values and back, with the hardware's rounding.

The narrow formats come from ml_dtypes; what differs there (NaN payloads, overflow) is here.
"""

from __future__ import annotations

from fractions import Fraction

import ml_dtypes
import numpy as np

from .wave import Array

U16 = np.uint32(16)

# Chip -> (fp8, bf8) element types: OCP on gfx950 and later, FNUZ on gfx942.
FP8_TYPES = {
    "gfx942": (ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e5m2fnuz),
    "gfx950": (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2),
    "gfx1250": (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2),
}


def byte_table(dtype: type) -> Array:
    """float64 [256]: the value of each byte read as `dtype`."""
    return np.arange(256, dtype=np.uint8).view(dtype).astype(np.float64)


def bf16_to_f32(bits: Array) -> Array:
    """Low 16 bits of uint32 as bfloat16 -> float32."""
    return (np.asarray(bits, np.uint32) << U16).view(np.float32)


def f32_to_bf16(values: Array) -> Array:
    """float32 -> bfloat16 bits in uint32, round to nearest even; NaNs become quiet."""
    narrow = np.asarray(values, np.float32).astype(ml_dtypes.bfloat16)
    return np.asarray(narrow.view(np.uint16).astype(np.uint32))


def f32_to_f16(values: Array) -> Array:
    """float32 or float64 -> float16 bits in uint32, round to nearest even."""
    return np.asarray(values).astype(np.float16).view(np.uint16).astype(np.uint32)


def f32_to_narrow(values: Array, dtype: type, saturate: bool) -> Array:
    """float32 -> 8-bit float bits in uint32, round to nearest even.

    Without `saturate` (FP16_OVFL = 0), what exceeds the largest magnitude after rounding is NaN
    in e4m3 and infinity in e5m2; with it, the largest magnitude. NaN stays NaN.
    """
    values = np.asarray(values, np.float32)
    if saturate:
        limit = np.float32(byte_table(dtype)[np.isfinite(byte_table(dtype))].max())
        values = np.where(np.isnan(values), values, np.clip(values, -limit, limit))
    return np.asarray(values.astype(dtype)).view(np.uint8).astype(np.uint32)


def _to_odd(product: Array, addend: Array) -> Array:
    """product + addend in float64, rounded to odd: rounding it once more is exact.

    Both are exact; the last bit of an inexact sum is made odd, so that it stands for what was lost.
    """
    total = np.asarray(product + addend)
    bits = total.view(np.int64)
    virtual = total - product
    error = (product - (total - virtual)) + (addend - virtual)
    inexact = (error != 0) & ((bits & 1) == 0) & np.isfinite(total)
    # Towards the exact sum: the odd neighbour on the side of the error.
    away = (error > 0) == (total > 0)
    return np.where(inexact, np.where(away, bits + 1, bits - 1), bits).view(np.float64)


def fma32(a: Array, b: Array, c: Array) -> Array:
    """Fused multiply-add in float32 with one rounding.

    The product of two float32 is exact in float64; the sum is rounded to odd there, so that
    rounding it again to float32 is the same as rounding once.
    """
    product = np.asarray(a, np.float64) * np.asarray(b, np.float64)
    addend = np.asarray(c, np.float64)
    total = np.asarray(product + addend)
    # Only a sum whose float64 rounding hit a float32 tie (or a denormal) can round wrongly.
    tie = (total.view(np.int64) & 0x1FFFFFFF) == 0x10000000
    if (tie | (np.abs(total) < 2.0**-125)).any():
        total = _to_odd(product, addend)
    return np.asarray(total.astype(np.float32))


def fma64(a: Array, b: Array, c: Array) -> Array:
    """Fused multiply-add in float64 with one rounding; rational arithmetic, lane by lane."""
    rows = np.broadcast_arrays(*(np.atleast_1d(np.asarray(x, np.float64)) for x in (a, b, c)))
    return fma_scaled(rows[0], rows[1], rows[2], 0)


def fma_scaled(a: Array, b: Array, c: Array, power: Array | int) -> Array:
    """(a * b + c) * 2**power, rounded once; float32 or float64, `power` per lane or one."""
    if a.dtype == np.float32:
        total = _to_odd(a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64))
        return np.asarray(np.ldexp(total, power).astype(np.float32))
    # NaNs, infinite factors and the signs of zeros are right here; the digits are not.
    result = np.where(np.isfinite(a) & np.isfinite(b) & np.isinf(c), c, np.ldexp(a * b + c, power))
    powers = np.broadcast_to(power, a.shape)
    for lane in np.flatnonzero(np.isfinite(a) & np.isfinite(b) & np.isfinite(c)):
        exact = Fraction(a[lane]) * Fraction(b[lane]) + Fraction(c[lane])
        if exact:
            exact *= Fraction(2) ** int(powers[lane])
            try:
                result[lane] = float(exact)
            except OverflowError:
                result[lane] = np.copysign(np.inf, 1 if exact > 0 else -1)
        elif result[lane]:
            result[lane] = 0.0
    return np.asarray(result)


def maximum(a: Array, b: Array) -> Array:
    """IEEE maximumNumber as the VALU does it: a NaN operand loses, +0 is above -0."""
    result = np.fmax(a, b)
    return _fix_zeros(a, b, result, False)


def minimum(a: Array, b: Array) -> Array:
    """As `maximum`, for the minimum."""
    result = np.fmin(a, b)
    return _fix_zeros(a, b, result, True)


def _fix_zeros(a: Array, b: Array, result: Array, negative: bool) -> Array:
    zero = np.equal(result, 0)
    if not zero.any():
        return result
    one, other = np.signbit(a), np.signbit(b)
    # A NaN operand has no say in the sign.
    both_zero = zero & np.equal(a, b)
    sign = (one | other) if negative else (one & other)
    fixed = np.copysign(np.zeros_like(result), np.where(sign, -1.0, 1.0).astype(result.dtype))
    return np.asarray(np.where(both_zero, fixed, result))


def flush32(values: Array) -> Array:
    """Replace float32 denormals by zeros of the same sign."""
    values = np.asarray(values, np.float32)
    tiny = np.abs(values) < np.float32(1.17549435e-38)
    if np.any(tiny):
        return np.asarray(np.where(tiny, np.copysign(np.float32(0), values), values))
    return values
