"""The three instructions of an exact division: scale, fused multiply-add, fix up.

A division first scales numerator and denominator away from overflow and denormals (div_scale, which
says in a lane mask where), refines a quotient by Newton steps, undoes the scale in the last of them
(div_fmas), and puts the special cases right (div_fixup). CDNA3 ISA, 16.1: V_DIV_SCALE_F32 and _F64,
V_DIV_FMAS_*, V_DIV_FIXUP_*.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import formats
from .asm import Instruction
from .operands import VCC
from .values import DTYPES, Step, check_modifiers, source, writer
from .wave import Array, Wave, mask_of

# The power of two by which operands are scaled, and the distance of exponents at which the
# quotient comes near overflow.
_POWER = {np.dtype(np.float32): 64, np.dtype(np.float64): 128}
_LARGE = {np.dtype(np.float32): 96, np.dtype(np.float64): 768}
# Biased exponent up to which a numerator is tiny.
_TINY = {np.dtype(np.float32): 23, np.dtype(np.float64): 53}


def _exponent(values: Array) -> Array:
    """The biased exponent field."""
    info = np.finfo(values.dtype)
    raw = values.view(f"u{values.itemsize}").astype(np.int64)
    return np.asarray(raw >> info.nmant & (1 << info.nexp) - 1)


def _denormal(exact: Array, dtype: Any) -> Array:
    """Is the value a denormal in `dtype`?"""
    return np.asarray((exact != 0) & (np.abs(exact) < np.finfo(dtype).tiny))


def _rows(*values: Any) -> list[Array]:
    arrays = np.broadcast_arrays(*map(np.asarray, values))
    return [np.ascontiguousarray(a) for a in arrays]


def scale(value: Any, denominator: Any, numerator: Any) -> tuple[Array, Array]:
    """v_div_scale: `value` is one of the other two; returns it scaled, and the mask."""
    value, denominator, numerator = _rows(value, denominator, numerator)
    dtype = value.dtype
    power = _POWER[dtype]
    # In the wider type neither is flushed or overflows on the way.
    wide = denominator.astype(np.longdouble)
    reciprocal, quotient = 1 / wide, numerator.astype(np.longdouble) / wide
    large = _exponent(numerator) - _exponent(denominator) >= _LARGE[dtype]
    tiny_reciprocal, tiny_quotient = _denormal(reciprocal, dtype), _denormal(quotient, dtype)
    bits = f"u{dtype.itemsize}"
    is_denominator = value.view(bits) == denominator.view(bits)
    is_numerator = value.view(bits) == numerator.view(bits)
    zero = (numerator == 0) | (denominator == 0)
    everywhere = np.ones(value.shape, bool)
    # The first condition that holds decides: (condition, which operands, power of two, mask).
    cases: list[tuple[Array, Array, int, bool]] = [
        (large, is_denominator, power, True),
        (_denormal(wide, dtype), everywhere, power, False),
        (tiny_reciprocal & tiny_quotient, is_denominator, -power, True),
        (tiny_reciprocal, everywhere, -power, False),
        (tiny_quotient, is_numerator, power, True),
        (_exponent(numerator) <= _TINY[dtype], everywhere, power, False),
    ]
    conditions = [c for c, _, _, _ in cases]
    by = np.select(conditions, [np.where(who, p, 0) for _, who, p, _ in cases], 0)
    mask = np.select(conditions, [np.full(value.shape, m) for *_, m in cases], False)
    scaled = np.ldexp(value.astype(np.longdouble), by).astype(dtype)
    return np.where(zero, dtype.type(np.nan), scaled), mask.astype(bool) & ~zero


def fixup(quotient: Any, denominator: Any, numerator: Any) -> Array:
    """v_div_fixup: the quotient with the right sign, or the special case's result."""
    quotient, denominator, numerator = _rows(quotient, denominator, numerator)
    dtype = quotient.dtype
    sign = np.where(np.signbit(denominator) ^ np.signbit(numerator), -1, 1).astype(dtype)
    infinite = (denominator == 0) | np.isinf(numerator)
    zero = np.isinf(denominator) | (numerator == 0)
    # A quotient that overflowed on the way left infinity minus infinity in the refinement.
    infinite |= np.isnan(quotient) & ~zero
    result = np.where(infinite, dtype.type(np.inf), np.where(zero, dtype.type(0), np.abs(quotient)))
    if dtype in _POWER:
        # Far below the smallest denormal; the half precision form doesn't test for it.
        info = np.finfo(dtype)
        far = _exponent(numerator) - _exponent(denominator) < info.minexp - info.nmant - 1
        result = np.where(far & ~infinite & ~zero, dtype.type(0), result)
    invalid = (np.isinf(denominator) & np.isinf(numerator)) | (
        (denominator == 0) & (numerator == 0)
    )
    invalid |= np.isnan(numerator) | np.isnan(denominator)
    return np.asarray(np.where(invalid, dtype.type(np.nan), result * sign))


def fused(inst: Instruction, kind: str) -> Step:
    """v_div_fmas: fma, and a power of two more where VCC says that a source was scaled."""
    check_modifiers(inst)
    a, b, c = (source(inst, 1 + i, kind, i) for i in range(3))
    write = writer(inst, 0, kind)
    dtype = np.dtype(DTYPES[kind])
    power, bias = _POWER[dtype], np.finfo(dtype).maxexp - 1

    def step(w: Wave) -> None:
        x, y, addend = _rows(*(np.broadcast_to(get(w), w.lanes) for get in (a, b, c)))
        by = np.where(_exponent(addend) > bias, power, -power)
        scaled_lanes = mask_of(w.scalar64(VCC), w.lanes)
        write(w, formats.fma_scaled(x, y, addend, np.where(scaled_lanes, by, 0)))

    return step
