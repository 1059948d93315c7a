"""Packed vector instructions (VOP3P) and conversions to and from 8-bit floats."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import formats
from .asm import Instruction
from .errors import UnsupportedInstruction
from .operands import Operand
from .valu_functions import fma_f16
from .values import Step, check_modifiers, source, vector_row
from .wave import Array, Wave

u32 = np.uint32
Getter = Callable[[Wave], Any]


def _selects(inst: Instruction, count: int) -> tuple[list[int], list[int], list[int], list[int]]:
    m = inst.modifiers
    return (
        m.get("op_sel", [0] * count),
        m.get("op_sel_hi", [1] * count),
        m.get("neg_lo", [0] * count),
        m.get("neg_hi", [0] * count),
    )


def _f32_part(inst: Instruction, operand: Operand, part: int, negate: int) -> Getter:
    """Low or high f32 of a 64-bit operand pair."""
    if operand.is_constant:
        if part and operand.bits32():
            # A constant is 32 bits wide; what its upper half reads is not documented.
            raise UnsupportedInstruction(inst, f"op_sel_hi on constant {operand.text}")
        value = u32(operand.bits32()).view(np.float32)
        value = -value if negate else value
        return lambda w: value
    at = operand.index + part
    if operand.kind == "v":
        return (lambda w: -w.F[at]) if negate else (lambda w: w.F[at])
    if operand.kind != "s":
        raise UnsupportedInstruction(inst, f"operand {operand.text} in packed arithmetic")
    if inst.chip == "gfx1250":
        # One scalar for both parts (CDNA5 ISA, 7.7.1).
        at = operand.index
    sign = np.float32(-1 if negate else 1)
    return lambda w: u32(w.S[at]).view(np.float32) * sign


def packed_f32(function: Callable[..., Any], count: int) -> Callable[[Instruction], Step]:
    """v_pk_*_f32: two f32 operations on register pairs."""

    def make(inst: Instruction) -> Step:
        check_modifiers(inst, "op_sel", "op_sel_hi", "neg_lo", "neg_hi")
        low, high, negate_low, negate_high = _selects(inst, count)
        operands = inst.operands[1:]
        if len(operands) != count:
            raise UnsupportedInstruction(inst, f"expected {count} sources")
        lows = [_f32_part(inst, o, low[i], negate_low[i]) for i, o in enumerate(operands)]
        highs = [_f32_part(inst, o, high[i], negate_high[i]) for i, o in enumerate(operands)]
        row = vector_row(inst, 0)

        def step(w: Wave) -> None:
            # Both before either is written: the destination may be a source.
            one = function(*[get(w) for get in lows])
            two = function(*[get(w) for get in highs])
            if w.full:
                w.F[row][:] = one
                w.F[row + 1][:] = two
            else:
                np.copyto(w.F[row], one, where=w.mask)
                np.copyto(w.F[row + 1], two, where=w.mask)

        return step

    return make


def packed_mov(inst: Instruction) -> Step:
    """v_pk_mov_b32: pick one register of each source pair."""
    check_modifiers(inst, "op_sel", "op_sel_hi")
    chosen = inst.modifiers.get("op_sel", [0, 0])
    high = inst.modifiers.get("op_sel_hi", [1, 1])
    first = _pair_part(inst, inst.operands[1], chosen[0])
    second = _pair_part(inst, inst.operands[2], chosen[1] if len(chosen) > 1 else high[1])
    row = vector_row(inst, 0)

    def step(w: Wave) -> None:
        data = np.empty((2, w.lanes), np.uint32)
        data[0], data[1] = first(w), second(w)
        w.write_rows(row, data, None if w.full else w.mask)

    return step


def _pair_part(inst: Instruction, operand: Operand, part: int) -> Getter:
    if operand.is_constant:
        value = u32(operand.bits32())
        return lambda w: value
    at = operand.index + part
    if operand.kind == "v":
        return lambda w: w.R[at]
    return lambda w: u32(w.S[at])


def _half_part(inst: Instruction, operand: Operand, part: int, negate: int, dtype: Any) -> Getter:
    shift = u32(16 * part)
    if operand.is_constant:
        # Inline floats are 16 bits wide here; integers are 32 bits.
        bits = operand.bits16() if operand.kind == "float" else operand.bits32()
        value = np.uint16(bits >> int(shift) & 0xFFFF).view(dtype)
        value = -value if negate else value
        return lambda w: value
    if operand.kind == "v":
        raw: Getter = lambda w: w.R[operand.index]  # noqa: E731
    else:
        raw = lambda w: u32(w.S[operand.index])  # noqa: E731
    if negate:
        return lambda w: -((raw(w) >> shift).astype(np.uint16).view(dtype))
    return lambda w: (raw(w) >> shift).astype(np.uint16).view(dtype)


def packed_half(
    function: Callable[..., Any], count: int, dtype: Any
) -> Callable[[Instruction], Step]:
    """v_pk_* on the two 16-bit halves of a register."""

    def make(inst: Instruction) -> Step:
        check_modifiers(inst, "op_sel", "op_sel_hi", "neg_lo", "neg_hi")
        low, high, negate_low, negate_high = _selects(inst, count)
        operands = inst.operands[1:]
        lows = [_half_part(inst, o, low[i], negate_low[i], dtype) for i, o in enumerate(operands)]
        highs = [
            _half_part(inst, o, high[i], negate_high[i], dtype) for i, o in enumerate(operands)
        ]
        row = vector_row(inst, 0)

        def bits(values: Any) -> Array:
            return np.asarray(values, dtype).view(np.uint16).astype(np.uint32)

        def step(w: Wave) -> None:
            one = bits(function(*[get(w) for get in lows]))
            two = bits(function(*[get(w) for get in highs]))
            np.copyto(w.R[row], one | two << u32(16), where=w.mask)

        return step

    return make


def _narrow_pair(
    inst: Instruction, which: int, values: Callable[[Wave], tuple[Array, Array]], high: bool
) -> Step:
    """Convert two values to the bytes of one half of the target; the other half is kept."""
    dtype = formats.FP8_TYPES[inst.chip][which]
    row = vector_row(inst, 0)
    shift, kept = (u32(16), u32(0xFFFF)) if high else (u32(0), u32(0xFFFF0000))

    def step(w: Wave) -> None:
        low, up = (formats.f32_to_narrow(v, dtype, w.group.fp16_overflow) for v in values(w))
        target = w.R[row]
        np.copyto(target, (low | up << u32(8)) << shift | (target & kept), where=w.mask)

    return step


def cvt_pk_narrow(which: int) -> Callable[[Instruction], Step]:
    """v_cvt_pk_fp8_f32 (0) and bf8 (1): two f32 to two bytes of one half of the target."""

    def make(inst: Instruction) -> Step:
        check_modifiers(inst, "op_sel")
        a, b = source(inst, 1, "f", 0), source(inst, 2, "f", 1)
        chosen = inst.modifiers.get("op_sel", [0, 0, 0])
        return _narrow_pair(
            inst, which, lambda w: (a(w), b(w)), len(chosen) > 2 and bool(chosen[2])
        )

    return make


def _two_halves(element: str, get: Getter) -> Callable[[Wave], tuple[Array, Array]]:
    """The f16 or bf16 halves of a register as float32."""

    def halves(w: Wave) -> tuple[Array, Array]:
        raw = np.asarray(get(w), np.uint32)
        low, high = raw & u32(0xFFFF), raw >> u32(16)
        if element == "bf16":
            return formats.bf16_to_f32(low), formats.bf16_to_f32(high)
        one, other = (x.astype(np.uint16).view(np.float16).astype(np.float32) for x in (low, high))
        return one, other

    return halves


def cvt_pk_scaled(which: int, element: str) -> Callable[[Instruction], Step]:
    """v_cvt_scalef32_pk_{fp8,bf8}_{f32,f16,bf16}: divide by the scale's power of two, convert."""

    def make(inst: Instruction) -> Step:
        check_modifiers(inst, "op_sel")
        count = 2 if element == "f32" else 1
        parts = [source(inst, 1 + i, "f" if element == "f32" else "u", i) for i in range(count)]
        scale = source(inst, 1 + count, "u", count)
        chosen = inst.modifiers.get("op_sel", [])
        unscaled: Callable[[Wave], tuple[Array, Array]] = (
            (lambda w: (parts[0](w), parts[1](w)))
            if element == "f32"
            else _two_halves(element, parts[0])
        )

        def values(w: Wave) -> tuple[Array, Array]:
            exponent = 127 - (np.asarray(scale(w)) >> u32(23) & u32(0xFF)).astype(np.int32)
            low, high = unscaled(w)
            return (
                np.ldexp(low.astype(np.float64), exponent),
                np.ldexp(high.astype(np.float64), exponent),
            )

        return _narrow_pair(inst, which, values, bool(chosen) and bool(chosen[-1]))

    return make


def cvt_from_narrow(which: int, packed: bool) -> Callable[[Instruction], Step]:
    """v_cvt_f32_fp8 / bf8 (one byte) and v_cvt_pk_f32_fp8 / bf8 (two bytes)."""

    def make(inst: Instruction) -> Step:
        check_modifiers(inst, "op_sel", "src0_sel", "dst_sel", "dst_unused")
        table = formats.byte_table(formats.FP8_TYPES[inst.chip][which]).astype(np.float32)
        operand = inst.operands[1]
        if operand.kind not in "vs" or operand.is_constant:
            raise UnsupportedInstruction(inst, f"source {operand.text}")
        raw: Getter = (
            (lambda w: w.R[operand.index])
            if operand.kind == "v"
            else (lambda w: u32(w.S[operand.index]))
        )
        select = inst.modifiers.get("src0_sel", "DWORD")
        chosen = inst.modifiers.get("op_sel", [])
        first = {"DWORD": 0, "WORD_0": 0, "WORD_1": 2}.get(select)
        if first is None:
            first = int(select[-1])
        if chosen:
            # op_sel picks the half for packed conversions, the byte for single ones.
            first = 2 * chosen[0] if packed else chosen[0] * 2 + (chosen[1] if chosen[1:] else 0)
        row = vector_row(inst, 0)

        def step(w: Wave) -> None:
            bits = np.broadcast_to(raw(w), w.lanes)
            for part in range(1 + packed):
                byte = bits >> u32(8 * (first + part)) & u32(0xFF)
                np.copyto(w.F[row + part], table[byte], where=w.mask)

        return step

    return make


def fma_mix(result: str) -> Callable[[Instruction], Step]:
    """v_fma_mix: fma in f32 whose sources are f32, or one f16 half where op_sel_hi is set.

    Args:
        result: `f32`, or `lo` or `hi` for an f16 half; the other half is kept.
    """

    def make(inst: Instruction) -> Step:
        check_modifiers(inst, "op_sel", "op_sel_hi", "clamp")
        chosen = inst.modifiers.get("op_sel", [0] * 3)
        halves = inst.modifiers.get("op_sel_hi", [0] * 3)
        getters = [
            _mix_half(inst, o, chosen[i]) if halves[i] else source(inst, 1 + i, "f", i)
            for i, o in enumerate(inst.operands[1:4])
        ]
        if len(getters) != 3:
            raise UnsupportedInstruction(inst, "expected 3 sources")
        row = vector_row(inst, 0)
        clamp = "clamp" in inst.modifiers
        shift, kept = {"lo": (0, 0xFFFF0000), "hi": (16, 0xFFFF)}.get(result, (0, 0))

        def step(w: Wave) -> None:
            a, b, c = (np.asarray(get(w)).astype(np.float32) for get in getters)
            value = formats.fma32(a, b, c)
            if clamp:
                value = np.where(value > 0, np.minimum(value, np.float32(1)), np.float32(0))
            if result == "f32":
                np.copyto(w.F[row], value, where=w.mask)
                return
            target = w.R[row]
            placed = formats.f32_to_f16(value) << u32(shift) | (target & u32(kept))
            np.copyto(target, placed, where=w.mask)

        return step

    return make


def _mix_half(inst: Instruction, operand: Operand, part: int) -> Getter:
    """An f16 half as a source of v_fma_mix; neg_hi means the absolute value there."""
    half = _half_part(inst, operand, part, 0, np.float16)
    if operand.negate and operand.absolute:
        return lambda w: -np.abs(half(w))
    if operand.absolute:
        return lambda w: np.abs(half(w))
    return (lambda w: -half(w)) if operand.negate else half


TABLE: dict[str, Callable[[Instruction], Step]] = {
    "v_pk_add_f32": packed_f32(np.add, 2),
    "v_pk_mul_f32": packed_f32(np.multiply, 2),
    "v_pk_fma_f32": packed_f32(formats.fma32, 3),
    "v_pk_mov_b32": packed_mov,
    "v_pk_add_f16": packed_half(np.add, 2, np.float16),
    "v_pk_mul_f16": packed_half(np.multiply, 2, np.float16),
    "v_pk_max_f16": packed_half(formats.maximum, 2, np.float16),
    "v_pk_min_f16": packed_half(formats.minimum, 2, np.float16),
    "v_pk_fma_f16": packed_half(fma_f16, 3, np.float16),
    "v_pk_add_u16": packed_half(np.add, 2, np.uint16),
    "v_pk_add_i16": packed_half(np.add, 2, np.int16),
    "v_pk_sub_u16": packed_half(np.subtract, 2, np.uint16),
    "v_pk_sub_i16": packed_half(np.subtract, 2, np.int16),
    "v_pk_mad_u16": packed_half(lambda a, b, c: a * b + c, 3, np.uint16),
    "v_pk_mad_i16": packed_half(lambda a, b, c: a * b + c, 3, np.int16),
    "v_pk_mul_lo_u16": packed_half(np.multiply, 2, np.uint16),
    "v_pk_lshlrev_b16": packed_half(lambda s, a: a << (s & np.uint16(15)), 2, np.uint16),
    "v_pk_lshrrev_b16": packed_half(lambda s, a: a >> (s & np.uint16(15)), 2, np.uint16),
    "v_pk_max_i16": packed_half(np.maximum, 2, np.int16),
    "v_pk_min_i16": packed_half(np.minimum, 2, np.int16),
    "v_pk_max_u16": packed_half(np.maximum, 2, np.uint16),
    "v_pk_min_u16": packed_half(np.minimum, 2, np.uint16),
    "v_fma_mix_f32": fma_mix("f32"),
    "v_fma_mixlo_f16": fma_mix("lo"),
    "v_fma_mixhi_f16": fma_mix("hi"),
    "v_cvt_pk_fp8_f32": cvt_pk_narrow(0),
    "v_cvt_pk_bf8_f32": cvt_pk_narrow(1),
    "v_cvt_scalef32_pk_fp8_f32": cvt_pk_scaled(0, "f32"),
    "v_cvt_scalef32_pk_bf8_f32": cvt_pk_scaled(1, "f32"),
    "v_cvt_scalef32_pk_fp8_f16": cvt_pk_scaled(0, "f16"),
    "v_cvt_scalef32_pk_bf8_f16": cvt_pk_scaled(1, "f16"),
    "v_cvt_scalef32_pk_fp8_bf16": cvt_pk_scaled(0, "bf16"),
    "v_cvt_scalef32_pk_bf8_bf16": cvt_pk_scaled(1, "bf16"),
    "v_cvt_f32_fp8": cvt_from_narrow(0, False),
    "v_cvt_f32_bf8": cvt_from_narrow(1, False),
    "v_cvt_pk_f32_fp8": cvt_from_narrow(0, True),
    "v_cvt_pk_f32_bf8": cvt_from_narrow(1, True),
}
