"""The three instructions of an exact f32 division: scale, fused multiply-add, fix up.

A division first scales numerator and denominator away from overflow and denormals (div_scale, which
says in a lane mask where), refines a quotient by Newton steps, undoes the scale in the last of them
(div_fmas), and puts the special cases right (div_fixup).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import formats
from .asm import Instruction
from .operands import VCC
from .values import Step, check_modifiers, source, writer
from .wave import Array, Wave, mask_of

# Biased exponent of the smallest normal quotient and reciprocal, as a float32 value.
SMALLEST_NORMAL = 2.0**-126


def _exponent(values: Array) -> Array:
    """The biased exponent field."""
    return (values.view(np.uint32) >> np.uint32(23) & np.uint32(0xFF)).astype(np.int32)


def _denormal(exact: Array) -> Array:
    """Is the float64 value a denormal as float32?"""
    return np.asarray((exact != 0) & (np.abs(exact) < SMALLEST_NORMAL))


def scale(value: Any, denominator: Any, numerator: Any) -> tuple[Array, Array]:
    """v_div_scale_f32: `value` is one of the other two; returns it scaled, and the mask."""
    value, denominator, numerator = (
        np.ascontiguousarray(a)
        for a in np.broadcast_arrays(*map(np.asarray, (value, denominator, numerator)))
    )
    wide = denominator.astype(np.float64)
    reciprocal, quotient = 1.0 / wide, numerator.astype(np.float64) / wide
    large = _exponent(numerator) - _exponent(denominator) >= 96
    tiny_reciprocal, tiny_quotient = _denormal(reciprocal), _denormal(quotient)
    is_denominator = value.view(np.uint32) == denominator.view(np.uint32)
    is_numerator = value.view(np.uint32) == numerator.view(np.uint32)
    zero = (numerator == 0) | (denominator == 0)
    # The first condition that holds decides: (condition, power of two or None, mask).
    cases: list[tuple[Array, Array, bool]] = [
        (large, np.where(is_denominator, 64, 0), True),
        (_denormal(wide), np.full(value.shape, 64), False),
        (tiny_reciprocal & tiny_quotient, np.where(is_denominator, -64, 0), True),
        (tiny_reciprocal, np.full(value.shape, -64), False),
        (tiny_quotient, np.where(is_numerator, 64, 0), True),
        (_exponent(numerator) <= 23, np.full(value.shape, 64), False),
    ]
    power = np.select([c for c, _, _ in cases], [p for _, p, _ in cases], 0)
    mask = np.select(
        [c for c, _, _ in cases], [np.full(value.shape, m) for _, _, m in cases], False
    )
    scaled = np.ldexp(value.astype(np.float64), power).astype(np.float32)
    return np.where(zero, np.float32(np.nan), scaled), mask.astype(bool) & ~zero


def fixup(quotient: Any, denominator: Any, numerator: Any) -> Array:
    """v_div_fixup_f32: the quotient with the right sign, or the special case's result."""
    quotient, denominator, numerator = (
        np.ascontiguousarray(a)
        for a in np.broadcast_arrays(*map(np.asarray, (quotient, denominator, numerator)))
    )
    sign = np.where(np.signbit(denominator) ^ np.signbit(numerator), -1.0, 1.0).astype(np.float32)
    infinite = (denominator == 0) | np.isinf(numerator)
    zero = np.isinf(denominator) | (numerator == 0)
    # A quotient that overflowed on the way left infinity minus infinity in the refinement.
    infinite |= np.isnan(quotient) & ~zero
    result = np.where(infinite, np.float32(np.inf), np.where(zero, np.float32(0), np.abs(quotient)))
    underflow = _exponent(numerator) - _exponent(denominator) < -150
    result = np.where(underflow & ~infinite & ~zero, np.float32(0), result) * sign
    invalid = (np.isinf(denominator) & np.isinf(numerator)) | (
        (denominator == 0) & (numerator == 0)
    )
    invalid |= np.isnan(numerator) | np.isnan(denominator)
    return np.asarray(np.where(invalid, np.float32(np.nan), result))


def fused(inst: Instruction) -> Step:
    """v_div_fmas_f32: fma, and 2^64 or 2^-64 more where VCC says that a source was scaled."""
    check_modifiers(inst)
    a, b, c = (source(inst, 1 + i, "f", i) for i in range(3))
    write = writer(inst, 0, "f")

    def step(w: Wave) -> None:
        addend = np.ascontiguousarray(np.broadcast_to(c(w), w.lanes))
        product = np.asarray(a(w), np.float64) * np.asarray(b(w), np.float64)
        # One rounding: the power of two is exact in float64.
        total = product + addend.astype(np.float64)
        up = np.where(_exponent(addend) > 127, 64, -64)
        scaled = np.ldexp(total, up).astype(np.float32)
        plain = formats.fma32(a(w), b(w), addend)
        write(w, np.where(mask_of(w.scalar64(VCC), w.lanes), scaled, plain))

    return step
