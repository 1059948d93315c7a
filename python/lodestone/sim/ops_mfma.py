"""Matrix instructions: layouts as data, one function for all of them.

The result is the exact sum of products in float64 plus C, rounded once to float32. The hardware's
internal order and rounding of partial sums is not published.

Layout (wave64, one block): A[m][k] is in lane (k group) * M + m, B likewise; item i of a lane is
k = group * items + i, except for 8-bit f8f6f4 operands, whose items come in two runs of 16.
D[row][col]: col = lane % N, and row by the register and the lane group (`_store`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from . import formats
from .asm import Instruction
from .errors import UnsupportedInstruction
from .values import Step, check_modifiers
from .wave import Array, Wave

LANES = 64


@dataclass(frozen=True)
class Shape:
    """M, N, K of a matrix instruction, element formats of A and B, cycles on the matrix core."""

    m: int
    n: int
    k: int
    a: str
    b: str
    cycles: int
    chips: tuple[str, ...] = ("gfx942", "gfx950")


def _both(suffix: str, sizes: dict[tuple[int, int, int], int], element: str, chips: Any) -> Any:
    return {
        f"v_mfma_{'i32' if element == 'i8' else 'f32'}_{m}x{n}x{k}{suffix}": Shape(
            m, n, k, element, element, cycles, chips
        )
        for (m, n, k), cycles in sizes.items()
    }


_ALL, _950 = ("gfx942", "gfx950"), ("gfx950",)
SHAPES: dict[str, Shape] = {
    **_both("_f16", {(16, 16, 16): 16, (32, 32, 8): 32}, "f16", _ALL),
    **_both("_bf16", {(16, 16, 16): 16, (32, 32, 8): 32}, "bf16", _ALL),
    **_both("_f16", {(16, 16, 32): 16, (32, 32, 16): 32}, "f16", _950),
    **_both("_bf16", {(16, 16, 32): 16, (32, 32, 16): 32}, "bf16", _950),
    **_both("_f32", {(16, 16, 4): 32, (32, 32, 2): 64}, "f32", _ALL),
    **_both("_i8", {(16, 16, 32): 16, (32, 32, 16): 32}, "i8", _ALL),
    **_both("_i8", {(16, 16, 64): 16, (32, 32, 32): 32}, "i8", _950),
    **{
        f"v_mfma_f32_{m}x{m}x{k}_{a}_{b}": Shape(m, m, k, a, b, cycles)
        for m, k, cycles in ((16, 32, 16), (32, 16, 32))
        for a in ("fp8", "bf8")
        for b in ("fp8", "bf8")
    },
}
_F8F6F4 = re.compile(r"v_mfma_(scale_)?f32_(16x16x128|32x32x64)_f8f6f4$")
# cbsz and blgp of f8f6f4: element format and registers.
F8F6F4_FORMATS = {0: ("fp8", 8), 1: ("bf8", 8), 2: ("fp6", 6), 3: ("bf6", 6), 4: ("fp4", 4)}
EIGHT_BIT = ("fp8", "bf8")

_FP6 = ml_dtypes.float6_e2m3fn
_BF6 = ml_dtypes.float6_e3m2fn
_FP4 = ml_dtypes.float4_e2m1fn


def _small_table(dtype: type, bits: int) -> Array:
    return np.arange(1 << bits, dtype=np.uint8).view(dtype).astype(np.float64)


def _lane_order(units: Array) -> Array:
    """Units of a register each, [registers, 64, per register] -> [items, 64]."""
    return units.transpose(0, 2, 1).reshape(-1, LANES)


def _bytes_of(rows: Array) -> Array:
    """uint32 [registers, 64] -> bytes [items, 64]."""
    return _lane_order(rows.view(np.uint8).reshape(len(rows), LANES, 4))


def _decode_fp4(rows: Array) -> Array:
    raw = _bytes_of(rows)
    nibbles = np.empty((2 * len(raw), LANES), np.uint8)
    nibbles[0::2], nibbles[1::2] = raw & 15, raw >> 4
    return _small_table(_FP4, 4).take(nibbles)


def _decode_six(dtype: type) -> Callable[[Array], Array]:
    table = _small_table(dtype, 6)

    def decode(rows: Array) -> Array:
        bits = np.unpackbits(_bytes_of(rows), axis=0, bitorder="little")
        groups = bits.reshape(-1, 6, LANES)
        weights = (1 << np.arange(6)).astype(np.uint8)[None, :, None]
        return np.asarray(table.take((groups * weights).sum(axis=1)))

    return decode


# Elements smaller than a byte: bits, and uint32 [registers, 64] -> float64 [items, 64].
_PACKED: dict[str, tuple[int, Callable[[Array], Array]]] = {
    "fp6": (6, _decode_six(_FP6)),
    "bf6": (6, _decode_six(_BF6)),
    "fp4": (4, _decode_fp4),
}
# The others: type of a unit, and units -> float64 of the same shape.
_UNITS: dict[str, tuple[Any, Callable[[Array], Array]]] = {
    "i8": (np.int8, lambda units: units.astype(np.float64)),
    "f16": (np.float16, lambda units: units.astype(np.float64)),
    "bf16": (np.uint16, lambda units: formats.bf16_to_f32(units).astype(np.float64)),
    "f32": (np.float32, lambda units: units.astype(np.float64)),
}


def _units(chip: str, element: str) -> tuple[Any, Callable[[Array], Array]]:
    if element in EIGHT_BIT:
        table = formats.byte_table(formats.FP8_TYPES[chip][EIGHT_BIT.index(element)])
        return np.uint8, table.take
    return _UNITS[element]


def arrange(items: Array, side: int, split: bool) -> Array:
    """[items, 64] -> matrix [K, side] in order of k."""
    groups = LANES // side
    count = len(items)
    if not split:
        return items.reshape(count, groups, side).transpose(1, 0, 2).reshape(-1, side)
    # Two runs of 16: k = run * 16 * groups + group * 16 + i.
    runs = items.reshape(2, count // 2, groups, side).transpose(0, 2, 1, 3)
    return runs.reshape(-1, side)


def _decoder(
    inst: Instruction, position: int, side: int, k: int, element: str, split: bool
) -> Callable[[bytes], Array]:
    """The function from the bytes of an operand's registers to float64 [K, side]."""
    operand = inst.operands[position]

    def checked(bits: int) -> int:
        count = k * side * bits // (LANES * 32)
        if operand.kind != "v" or operand.width != count:
            raise UnsupportedInstruction(
                inst, f"operand {operand.text} must be {count} vector registers for {element}"
            )
        return count

    if element in _PACKED:
        bits, decode = _PACKED[element]
        count = checked(bits)
        return lambda raw: arrange(
            decode(np.frombuffer(raw, np.uint32).reshape(count, LANES)), side, split
        )
    kind, convert = _units(inst.chip, element)
    bits = 8 * np.dtype(kind).itemsize
    # Where each element of the matrix is among the units, worked out once.
    places = np.arange(k * side).reshape(checked(bits), LANES, 32 // bits)
    order = arrange(_lane_order(places), side, split)
    return lambda raw: convert(np.frombuffer(raw, kind).take(order))


def _operand(
    inst: Instruction, position: int, side: int, k: int, element: str, split: bool
) -> Callable[[Wave], Array]:
    """Getter of A, float64 [M, K], or B, [K, N]; remembered while the registers last."""
    decode = _decoder(inst, position, side, k, element, split)
    transposed = position == 1
    operand = inst.operands[position]
    first, last = operand.index, operand.index + operand.width
    key = (first, side, element, split, transposed)

    def get(w: Wave) -> Array:
        raw = w.V[first:last].tobytes()
        memo = w.group.matrix_operands
        kept = memo.get((w.index, key))
        if kept is not None and kept[0] == raw:
            return kept[1]
        matrix = decode(raw)
        # In the order of memory in which the product is quickest.
        matrix = np.ascontiguousarray(matrix.T if transposed else matrix)
        memo[w.index, key] = (raw, matrix)
        return matrix

    return get


def _scale(inst: Instruction, position: int, number: int) -> Callable[[Wave], Array]:
    """Getter of the block scales of a side: exponents [64], one per lane."""
    operand = inst.operands[position]
    chosen = inst.modifiers.get("op_sel", [0, 0, 0])[number]
    high = inst.modifiers.get("op_sel_hi", [1, 1, 1])[number]
    shift = np.uint32(8 * (chosen + 2 * high))
    if operand.is_constant:
        # Only the exponent of a float constant counts.
        bits = operand.bits32()
        byte = bits >> 23 & 0xFF if operand.kind == "float" else bits & 0xFF
        constant = np.full(LANES, byte)
        return lambda w: constant
    if operand.kind == "v":
        return lambda w: ((w.R[operand.index] >> shift) & np.uint32(0xFF)).astype(np.int64)
    raise UnsupportedInstruction(inst, f"scale operand {operand.text}")


def _scaled(matrix: Array, exponents: Array, side: int) -> Array:
    """Multiply [K, side] by the scale of each block of 32 along K."""
    blocks = matrix.reshape(LANES // side, 32, side)
    factor = np.ldexp(1.0, exponents - 127)
    factor = np.where(exponents == 255, np.nan, factor).reshape(LANES // side, 1, side)
    return (blocks * factor).reshape(matrix.shape)


def _store(m: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Shape of D in memory order [row] and of the registers: (register, lane group, column)."""
    # row = 4 * (lane group + groups * (register // 4)) + register % 4.
    groups = LANES // m
    return (m // (4 * groups), groups, 4, m), (0, 2, 1, 3)


def matrix(inst: Instruction) -> Step:
    """The step of a matrix instruction."""
    found = _F8F6F4.match(inst.mnemonic)
    if found:
        m, n, k = (int(x) for x in found[2].split("x"))
        check_modifiers(inst, "cbsz", "blgp", "op_sel", "op_sel_hi")
        try:
            a_format, _ = F8F6F4_FORMATS[inst.modifiers.get("cbsz", 0)]
            b_format, _ = F8F6F4_FORMATS[inst.modifiers.get("blgp", 0)]
        except KeyError as error:
            raise UnsupportedInstruction(inst, f"element format {error} of f8f6f4") from error
        if inst.chip != "gfx950":
            raise UnsupportedInstruction(inst, f"f8f6f4 on {inst.chip}")
        shape = Shape(m, n, k, a_format, b_format, 0)
        scales = found[1] is not None
    else:
        shape = SHAPES[inst.mnemonic]
        if inst.chip not in shape.chips:
            raise UnsupportedInstruction(inst, f"not on {inst.chip}")
        check_modifiers(inst)
        scales = False
    return _step(inst, shape, bool(found), scales)


def _step(inst: Instruction, shape: Shape, split_bytes: bool, scales: bool) -> Step:
    m, n = shape.m, shape.n
    a = _operand(inst, 1, m, shape.k, shape.a, split_bytes and shape.a in EIGHT_BIT)
    b = _operand(inst, 2, n, shape.k, shape.b, split_bytes and shape.b in EIGHT_BIT)
    integer = shape.a == "i8"
    count = m * n // LANES
    target, addend = inst.operands[0], inst.operands[3]
    if target.kind != "v" or target.width != count:
        raise UnsupportedInstruction(inst, f"destination {target.text} must be {count} registers")
    dtype = np.int32 if integer else np.float32
    row = target.index
    memory_shape, order = _store(m)
    register_shape = tuple(memory_shape[axis] for axis in order)
    if addend.is_constant:
        constant = np.uint32(addend.bits32()).view(dtype)
        c_row = -1
    elif addend.kind == "v" and addend.width == count:
        constant, c_row = dtype(0), addend.index
    else:
        raise UnsupportedInstruction(inst, f"addend {addend.text} must be {count} registers")
    scale_a = _scale(inst, 4, 0) if scales else None
    scale_b = _scale(inst, 5, 1) if scales else None

    out_key, c_key = (row, register_shape, integer), (c_row, register_shape, integer)

    def view(w: Wave, key: tuple[int, tuple[int, ...], bool]) -> Array:
        values = w.V.view(dtype)[key[0] : key[0] + count].reshape(register_shape)
        w.views[key] = values
        return values

    def step(w: Wave) -> None:
        left, right = a(w), b(w)
        if scale_a is not None and scale_b is not None:
            left = _scaled(left.T, scale_a(w), m).T
            right = _scaled(right, scale_b(w), n)
        product = np.dot(left, right).reshape(memory_shape).transpose(order)
        views = w.views
        c = constant if c_row < 0 else views.get(c_key)
        if c is None:
            c = view(w, c_key)
        out = views.get(out_key)
        if out is None:
            out = view(w, out_key)
        if integer:
            out[:] = ((product + c).astype(np.int64) & 0xFFFFFFFF).astype(np.uint32).view(np.int32)
        else:
            np.add(product, c, out=out, casting="same_kind")

    return step


def is_matrix(mnemonic: str) -> bool:
    """True for the mnemonics of this module."""
    return mnemonic in SHAPES or _F8F6F4.match(mnemonic) is not None


def cycles(inst: Instruction) -> int | None:
    """Matrix-core cycles of one instruction, or None when it is not a matrix instruction."""
    if found := _F8F6F4.match(inst.mnemonic):
        formats_used = (inst.modifiers.get("cbsz", 0), inst.modifiers.get("blgp", 0))
        full = 32 if found[2].startswith("16") else 64
        return full if any(code in (0, 1) for code in formats_used) else full // 2
    shape = SHAPES.get(inst.mnemonic)
    return shape.cycles if shape else None
