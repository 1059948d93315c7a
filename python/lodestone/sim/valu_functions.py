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


def med3(a: Any, b: Any, c: Any) -> Any:
    """The middle one of three."""
    return np.maximum(np.minimum(a, b), np.minimum(np.maximum(a, b), c))


def med3_f32(a: Any, b: Any, c: Any) -> Any:
    """The middle one of three; with a NaN, the smallest of the others."""
    nan = np.isnan(a) | np.isnan(b) | np.isnan(c)
    low = formats.minimum(formats.minimum(a, b), c)
    middle = formats.maximum(formats.minimum(a, b), formats.minimum(formats.maximum(a, b), c))
    return np.where(nan, low, middle)


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
    """value * 2 ** exponent."""
    return np.ldexp(np.asarray(value, np.float64), np.clip(as_i32(exponent), -400, 400)).astype(
        np.float32
    )


def fract(value: Any) -> Any:
    """The fraction, below one."""
    value = np.asarray(value)
    return np.minimum(value - np.floor(value), np.nextafter(value.dtype.type(1), 0))


def fma_f64(a: Any, b: Any, c: Any) -> Any:
    """Exact for what kernels do with it: computed in extended precision, then rounded."""
    return (np.longdouble(1) * a * b + c).astype(np.float64)


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
    return np.where(np.isnan(a) | np.isnan(b), np.float32(np.nan), formats.maximum(a, b))


def minimum_nan(a: Any, b: Any) -> Any:
    """IEEE minimum: NaN when either is."""
    return np.where(np.isnan(a) | np.isnan(b), np.float32(np.nan), formats.minimum(a, b))
