"""The lane-wise functions that the vector instruction table names; NumPy rows in and out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import formats

u32 = np.uint32
# Shift counts are taken modulo the width.
M5, M6, M24 = u32(31), np.uint64(63), u32(0xFFFFFF)


def shift(value: Any) -> Any:
    """A shift count, modulo 32."""
    return value & M5


def as_i32(value: Any) -> Any:
    """The same bits as int32."""
    return np.asarray(value).view(np.int32)


def wide(value: Any) -> Any:
    """As uint64."""
    return np.asarray(value).astype(np.uint64)


def s24(value: Any) -> Any:
    """The low 24 bits, sign-extended."""
    return (as_i32(value << u32(8))) >> np.int32(8)


def mul_hi_u32(a: Any, b: Any) -> Any:
    """High half of the unsigned product."""
    return (wide(a) * wide(b) >> np.uint64(32)).astype(np.uint32)


def mul_hi_i32(a: Any, b: Any) -> Any:
    """High half of the signed product."""
    product = np.asarray(a).astype(np.int64) * np.asarray(b).astype(np.int64)
    return (product >> np.int64(32)).astype(np.int32)


def bfe_u32(value: Any, offset: Any, width: Any) -> Any:
    """`width` bits from `offset`."""
    return (value >> shift(offset)) & ((u32(1) << shift(width)) - u32(1))


def bfe_i32(value: Any, offset: Any, width: Any) -> Any:
    """`width` bits from `offset`, sign-extended."""
    field = wide(bfe_u32(value, offset, width))
    up = np.uint64(64) - wide(shift(width))
    extended = np.where(up == 64, np.uint64(0), field << (up & M6)).view(np.int64)
    return np.where(up == 64, 0, extended >> (up & M6).astype(np.int64)).astype(np.int32)


def selections(minimum: Any, maximum: Any) -> dict[str, tuple[int, Callable[..., Any]]]:
    """Name -> number of sources and function, of everything that picks by order."""
    low, high = minimum, maximum
    return {
        "min": (2, low),
        "max": (2, high),
        "min3": (3, lambda a, b, c: low(low(a, b), c)),
        "max3": (3, lambda a, b, c: high(high(a, b), c)),
        "med3": (3, lambda a, b, c: high(low(a, b), low(high(a, b), c))),
        "minmax": (3, lambda a, b, c: high(low(a, b), c)),
        "maxmin": (3, lambda a, b, c: low(high(a, b), c)),
    }


def med3_float(a: Any, b: Any, c: Any) -> Any:
    """The middle one of three; with a NaN, the smallest of the others."""
    nan = np.isnan(a) | np.isnan(b) | np.isnan(c)
    smallest = formats.minimum(formats.minimum(a, b), c)
    middle = formats.maximum(formats.minimum(a, b), formats.minimum(formats.maximum(a, b), c))
    return np.where(nan, smallest, middle)


def perm(high: Any, low: Any, selector: Any) -> Any:
    """Pick four bytes of two words, signs or constants."""
    both = wide(high) << np.uint64(32) | wide(low)
    result: Any = u32(0)
    for byte in range(4):
        sel = (selector >> u32(8 * byte)) & u32(0xFF)
        picked = (both >> (np.uint64(8) * wide(sel & u32(7)))).astype(np.uint32) & u32(0xFF)
        # 8..11: the sign of the four 16-bit halves; 12: zero; above: 0xff.
        sign_bit = np.uint64(16) * wide((sel - u32(8)) & u32(3)) + np.uint64(15)
        sign = ((both >> sign_bit) & np.uint64(1)).astype(np.uint32) * u32(0xFF)
        value = np.where(
            sel < 8, picked, np.where(sel < 12, sign, np.where(sel == 12, u32(0), u32(0xFF)))
        )
        result = result | value.astype(np.uint32) << u32(8 * byte)
    return result


def alignbit(high: Any, low: Any, count: Any) -> Any:
    """32 bits of the pair, from bit `shift`."""
    both = wide(high) << np.uint64(32) | wide(low)
    return (both >> wide(shift(count))).astype(np.uint32)


def alignbyte(high: Any, low: Any, count: Any) -> Any:
    """32 bits of the pair, from byte `shift`."""
    return alignbit(high, low, (count & u32(3)) << u32(3))


def bit_reverse(value: Any) -> Any:
    """Bits in reverse order."""
    raw = np.unpackbits(np.atleast_1d(np.asarray(value, np.uint32)).view(np.uint8))
    flipped = np.packbits(raw.reshape(-1, 32)[:, ::-1], axis=1).view(np.uint32).ravel()
    return flipped if np.ndim(value) else flipped[0]


def leading_zeros(value: Any) -> Any:
    """Position of the first one from the top, or -1 for zero."""
    _, exponent = np.frexp(np.asarray(value).astype(np.float64))
    return np.where(np.asarray(value) == 0, -1, 32 - exponent).astype(np.int32).view(np.uint32)


def trailing_zeros(value: Any) -> Any:
    """Position of the first one from the bottom, or -1 for zero."""
    value = np.asarray(value)
    lowest = value & (~value + u32(1))
    _, exponent = np.frexp(lowest.astype(np.float64))
    return np.where(value == 0, -1, exponent - 1).astype(np.int32).view(np.uint32)


def popcount(value: Any) -> Any:
    """How many bits are set."""
    return np.bitwise_count(value).astype(np.uint32)


def to_int(dtype: Any, rounding: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A conversion to an integer type: rounds, saturates, NaN is zero."""
    info = np.iinfo(dtype)

    def convert(value: Any) -> Any:
        exact = rounding(np.asarray(value, np.float64))
        return np.clip(np.nan_to_num(exact, nan=0.0), info.min, info.max).astype(dtype)

    return convert


def transcendental(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A one-ULP f32 function; denormal inputs and results are flushed, as in hardware."""

    def apply(value: Any) -> Any:
        exact = function(formats.flush32(value).astype(np.float64))
        return formats.flush32(np.asarray(exact).astype(np.float32))

    return apply


def half_function(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function of float16, rounded once."""
    return lambda value: np.asarray(function(np.asarray(value, np.float64))).astype(np.float16)


def cvt_pkrtz(a: Any, b: Any) -> Any:
    """Two float32 to float16 halves, rounded towards zero."""
    return round_f16_to_zero(a) | round_f16_to_zero(b) << u32(16)


def round_f16_to_zero(value: Any) -> Any:
    """float32 to float16 bits, towards zero."""
    value = np.asarray(value, np.float32)
    half = value.astype(np.float16)
    # Step back when rounding to nearest went away from zero.
    over = np.abs(half.astype(np.float32)) > np.abs(value)
    bits = half.view(np.uint16)
    return np.where(over, bits - np.uint16(1), bits).astype(np.uint32)


def ldexp(value: Any, exponent: Any) -> Any:
    """value * 2 ** exponent, rounded once."""
    value = np.asarray(value)
    # Beyond any exponent of the type; the product is exact in the wider one.
    power = np.clip(np.asarray(exponent).astype(np.int32), -4200, 4200)
    return np.ldexp(value.astype(np.longdouble), power).astype(value.dtype)


def mantissa(value: Any) -> Any:
    """The fraction in [0.5, 1) with the sign; zeros, infinities and NaNs as they are."""
    fraction, _ = np.frexp(value)
    return np.where(np.isfinite(value), fraction, value)


def exponent(value: Any) -> Any:
    """The exponent that belongs to `mantissa`; zero for zeros, infinities and NaNs."""
    _, power = np.frexp(value)
    return np.where(np.isfinite(value), power, 0).astype(np.int32)


def saturated(function: Callable[..., Any], dtype: Any) -> Callable[..., Any]:
    """The function on integers, exact, and then held in the range of `dtype`."""
    info = np.iinfo(dtype)

    def apply(*sources: Any) -> Any:
        exact = function(*(np.asarray(a).astype(np.int64) for a in sources))
        return np.clip(exact, info.min, info.max).astype(dtype)

    return apply


def pack_saturated(low: Any, high: Any, dtype: Any) -> Any:
    """Two integers, each held in the range of a 16-bit type, in one word."""
    info = np.iinfo(dtype)
    halves = [bits16(np.clip(a, info.min, info.max).astype(dtype)) for a in (low, high)]
    return halves[0] | halves[1] << u32(16)


def bits16(value: Any) -> Any:
    """The bits of 16-bit values, zero-extended."""
    return np.asarray(value).view(np.uint16).astype(np.uint32)


def sign_bits(value: Any) -> Any:
    """How many bits from the top equal the sign, or -1 when all do."""
    value = np.asarray(value)
    return leading_zeros(np.where(value < 0, ~value, value).view(np.uint32))


def fract(value: Any) -> Any:
    """The fraction, below one."""
    value = np.asarray(value)
    return np.minimum(value - np.floor(value), np.nextafter(value.dtype.type(1), 0))


def fma_f16(a: Any, b: Any, c: Any) -> Any:
    """Fused multiply-add in float16."""
    exact = np.asarray(a, np.float64) * np.asarray(b, np.float64) + np.asarray(c, np.float64)
    return exact.astype(np.float16)


def reverse(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with its two sources exchanged."""
    return lambda a, b: function(b, a)


def carry_add(a: Any, b: Any, carry: Any = False) -> tuple[Any, Any]:
    """Sum and carry-out."""
    total = wide(a) + wide(b) + np.asarray(carry).astype(np.uint64)
    return total.astype(np.uint32), total > np.uint64(0xFFFFFFFF)


def borrow_sub(a: Any, b: Any, borrow: Any = False) -> tuple[Any, Any]:
    """Difference and borrow-out."""
    total = np.asarray(a).astype(np.int64) - np.asarray(b).astype(np.int64)
    total = total - np.asarray(borrow).astype(np.int64)
    return total.astype(np.uint32), total < 0


def mad_u64(a: Any, b: Any, c: Any) -> tuple[Any, Any]:
    """Unsigned a * b + c in 64 bits, and carry-out."""
    product = wide(a) * wide(b)
    total = product + c
    return total, total < product


def mad_i64(a: Any, b: Any, c: Any) -> tuple[Any, Any]:
    """Signed a * b + c in 64 bits, and overflow."""
    product = np.asarray(a).astype(np.int64) * np.asarray(b).astype(np.int64)
    total = product + c
    return total, (total < product) != (np.asarray(c) < 0)


def select(a: Any, b: Any, mask: Any) -> Any:
    """b where the mask is set, else a."""
    return np.where(mask, b, a)


def mbcnt(below: Callable[[int], int]) -> Callable[[Any, Any], Any]:
    """Counts the bits of a mask that `below` leaves for each lane."""
    masks = np.array([below(lane) for lane in range(64)], np.uint32)
    return lambda bits, base: popcount(np.asarray(bits, np.uint32) & masks) + base


def maximum_nan(a: Any, b: Any) -> Any:
    """IEEE maximum: NaN when either is."""
    return np.where(np.isnan(a) | np.isnan(b), a + b, formats.maximum(a, b))


def minimum_nan(a: Any, b: Any) -> Any:
    """IEEE minimum: NaN when either is."""
    return np.where(np.isnan(a) | np.isnan(b), a + b, formats.minimum(a, b))
