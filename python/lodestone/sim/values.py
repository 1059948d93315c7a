"""How vector instructions read their sources and write their results.

Value kinds, one letter each, as used in the signatures of the instruction tables:

    u i f    32-bit unsigned, signed, float      p q h    16-bit unsigned, signed, float
    U Q d    64-bit unsigned, signed, float      m        lane mask in scalar registers
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from .asm import Instruction
from .dpp import DPP_MODIFIERS, DPP_WORDS, dpp_source, dpp_write_mask
from .errors import UnsupportedInstruction
from .operands import Operand
from .wave import Array, Wave, mask_of

Step = Callable[[Wave], Any]
Getter = Callable[[Wave], Any]

DTYPES: dict[str, Any] = {
    "u": np.uint32, "i": np.int32, "f": np.float32,
    "p": np.uint16, "q": np.int16, "h": np.float16,
    "U": np.uint64, "Q": np.int64, "d": np.float64,
}  # fmt: skip
FLOAT_KINDS = "fhd"
_SDWA_SELECT = {
    "DWORD": (0, 32), "WORD_0": (0, 16), "WORD_1": (16, 16),
    "BYTE_0": (0, 8), "BYTE_1": (8, 8), "BYTE_2": (16, 8), "BYTE_3": (24, 8),
}  # fmt: skip
SDWA_MODIFIERS = ("dst_sel", "dst_unused", "src0_sel", "src1_sel")


def check_modifiers(inst: Instruction, *allowed: str) -> None:
    """Refuse modifiers that the instruction's semantics here doesn't cover."""
    for name in inst.modifiers:
        if name not in allowed:
            raise UnsupportedInstruction(inst, f"modifier {name} is not supported")


def scalar_source(inst: Instruction, operand: Operand, bits: int = 32) -> Getter:
    """Getter of a scalar operand as a Python integer of `bits` bits."""
    if operand.is_constant:
        value = operand.bits32() if bits == 32 else operand.bits64(floating=False)
        return lambda w: value
    if operand.kind == "scc":
        return lambda w: w.scc
    if operand.kind == "null":
        return lambda w: 0
    if operand.kind != "s":
        raise UnsupportedInstruction(inst, f"operand {operand.text} is not scalar")
    slot = operand.index
    if bits == 32:
        return lambda w: w.S[slot]
    return lambda w: w.S[slot] | w.S[slot + 1] << 32


def mask_source(inst: Instruction, operand: Operand) -> Getter:
    """Getter of a lane mask: boolean [lanes]."""
    get = scalar_source(inst, operand, 64)
    if inst.chip == "gfx1250":
        get = scalar_source(inst, operand, 32)
    return lambda w: mask_of(get(w), w.lanes)


def vector_row(inst: Instruction, position: int) -> int:
    """Row of a vector register operand."""
    operand = inst.operands[position]
    if operand.kind != "v":
        raise UnsupportedInstruction(inst, f"operand {operand.text} is not a vector register")
    return operand.index


def source(inst: Instruction, position: int, kind: str, number: int) -> Getter:
    """Getter of source `number` (operand `position`) as value kind `kind`."""
    if position >= len(inst.operands):
        raise UnsupportedInstruction(inst, f"operand {position} is missing")
    operand = inst.operands[position]
    if kind == "m":
        return mask_source(inst, operand)
    if operand.is_constant:
        return _constant_source(inst, operand, kind)
    if kind in "UQd":
        get = _wide(inst, operand, kind, number)
    else:
        get = _narrow(inst, operand, kind, number)
    return _modify(inst, operand, kind, get)


def _modify(inst: Instruction, operand: Operand, kind: str, get: Getter) -> Getter:
    if not operand.signed:
        return get
    if kind not in FLOAT_KINDS:
        raise UnsupportedInstruction(inst, f"sign modifier on integer operand {operand.text}")
    if operand.negate and operand.absolute:
        return lambda w: -np.abs(get(w))
    if operand.negate:
        return lambda w: -get(w)
    return lambda w: np.abs(get(w))


def _constant_source(inst: Instruction, operand: Operand, kind: str) -> Getter:
    if kind in "UQd":
        raw: Any = np.uint64(operand.bits64(floating=kind == "d"))
    elif kind in "pqh":
        raw = np.uint16(operand.bits16())
    else:
        raw = np.uint32(operand.bits32())
    value = raw.view(DTYPES[kind])
    if operand.absolute:
        value = abs(value)
    if operand.negate:
        value = -value
    return lambda w: value


def _wide(inst: Instruction, operand: Operand, kind: str, number: int) -> Getter:
    dtype = DTYPES[kind]
    if operand.kind == "v":
        low, high = (_row_getter(inst, operand.index + i, number) for i in (0, 1))

        def wide(w: Wave) -> Array:
            pair = np.empty((w.lanes, 2), np.uint32)
            pair[:, 0], pair[:, 1] = low(w), high(w)
            return np.asarray(pair.view(dtype)[:, 0])

        return wide
    get = scalar_source(inst, operand, 64)
    return lambda w: np.uint64(get(w)).view(dtype)


def _row_getter(inst: Instruction, row: int, number: int) -> Getter:
    """A row of a vector operand; DPP moves the first source between lanes."""
    if inst.encoding.endswith("dpp") and number == 0:
        return dpp_source(inst, row)
    return lambda w: w.R[row]


def _raw(inst: Instruction, operand: Operand, number: int) -> Getter:
    """uint32 row or scalar of a register operand, before any selection; DPP applied."""
    if operand.kind == "v":
        return _row_getter(inst, operand.index, number)
    get = scalar_source(inst, operand)
    return lambda w: np.uint32(get(w))


def _narrow(inst: Instruction, operand: Operand, kind: str, number: int) -> Getter:
    dtype = DTYPES[kind]
    raw = _raw(inst, operand, number)
    low, bits = 0, 16 if kind in "pqh" else 32
    if inst.encoding == "sdwa" and number < 2:
        select = inst.modifiers.get(f"src{number}_sel", "DWORD")
        low, bits = _SDWA_SELECT[select]
        bits = min(bits, 16 if kind in "pqh" else 32)
    elif kind in "pqh":
        chosen = inst.modifiers.get("op_sel", [])
        low = 16 if len(chosen) > number and chosen[number] else 0
    if bits == 32:
        if operand.kind == "v" and not inst.encoding.endswith("dpp"):
            row = operand.index
            if kind == "f":
                return lambda w: w.F[row]
            if kind == "i":
                return lambda w: w.I[row]
            return lambda w: w.R[row]
        return raw if kind == "u" else lambda w: raw(w).view(dtype)
    shift, field = np.uint32(low), np.uint32((1 << bits) - 1)
    if operand.sign_extend:
        up = np.uint32(32 - bits)
        full = raw

        def extended(w: Wave) -> Any:
            return (((full(w) >> shift) << up).view(np.int32) >> up.view(np.int32)).view(np.uint32)

        selected: Getter = extended
    else:
        selected = lambda w: (raw(w) >> shift) & field  # noqa: E731
    if kind in "pqh":
        return lambda w: selected(w).astype(np.uint16).view(dtype)
    return lambda w: selected(w).view(dtype)


def wide_rows(values: Any, lanes: int) -> Array:
    """64-bit values -> uint32 [2, lanes]."""
    raw = np.ascontiguousarray(np.broadcast_to(np.asarray(values), lanes))
    return np.asarray(raw.view(np.uint32).reshape(lanes, 2).T)


def writer(inst: Instruction, position: int, kind: str) -> Callable[[Wave, Any], None]:
    """Writer of destination operand `position`: takes the wave and the values."""
    operand = inst.operands[position]
    if kind == "m":
        if operand.kind in ("null", "off"):
            return lambda w, value: None
        if operand.kind != "s":
            raise UnsupportedInstruction(inst, f"destination {operand.text} is not scalar")
        slot = operand.index
        return lambda w, value: w.write_mask(slot, np.broadcast_to(value, w.lanes) & w.mask)
    row = vector_row(inst, position)
    dpp_mask = dpp_write_mask(inst) if inst.encoding.endswith("dpp") else None
    if kind in "UQd":

        def write_wide(w: Wave, value: Any) -> None:
            mask = w.mask if dpp_mask is None else dpp_mask(w)
            w.write_rows(row, wide_rows(value, w.lanes), mask)

        return write_wide
    if inst.encoding == "sdwa" and inst.modifiers.get("dst_sel", "DWORD") != "DWORD":
        return _sdwa_writer(inst, row, kind)
    if kind in "pqh":
        return _half_writer(inst, row, dpp_mask)
    kinds = {"u": "R", "i": "I", "f": "F"}[kind]

    def write(w: Wave, value: Any) -> None:
        target = getattr(w, kinds)[row]
        if dpp_mask is not None:
            np.copyto(target, value, where=dpp_mask(w), casting="unsafe")
        elif w.full:
            target[:] = value
        else:
            np.copyto(target, value, where=w.mask, casting="unsafe")

    return write


# gfx9's instructions with 16-bit results that leave the other half alone, as gfx10 and later all
# do. Its older ones write zero there. (LLVM, GCNSubtarget::zeroesHigh16BitsOfDest.)
_PRESERVES = re.compile(
    r"v_(fma|fmac|mad|div_fixup|(min|max|med)3)_[fiu]16$|v_fma_mix(lo|hi)_f16$|v_bitop3_b16$"
)


def _half_writer(
    inst: Instruction, row: int, dpp_mask: Callable[[Wave], Array] | None
) -> Callable[[Wave, Any], None]:
    """16-bit results: to one half; the other is kept, or zero in gfx9's older instructions."""
    chosen = inst.modifiers.get("op_sel", [])
    sources = len(inst.operands) - 1
    high = len(chosen) > sources and bool(chosen[sources])
    keeps = high or inst.chip == "gfx1250" or _PRESERVES.match(inst.mnemonic) is not None
    kept, shift = np.uint32(0xFFFF if high else 0xFFFF0000), np.uint32(16 if high else 0)

    def write(w: Wave, value: Any) -> None:
        raw = np.asarray(value).view(np.uint16).astype(np.uint32) << shift
        if keeps:
            raw = raw | (w.R[row] & kept)
        mask = w.mask if dpp_mask is None else dpp_mask(w)
        np.copyto(w.R[row], raw, where=mask)

    return write


def _sdwa_writer(inst: Instruction, row: int, kind: str) -> Callable[[Wave, Any], None]:
    low, bits = _SDWA_SELECT[inst.modifiers["dst_sel"]]
    unused = inst.modifiers.get("dst_unused", "UNUSED_PAD")
    field = np.uint32((1 << bits) - 1 << low)
    shift = np.uint32(low)
    if unused not in ("UNUSED_PAD", "UNUSED_PRESERVE"):
        raise UnsupportedInstruction(inst, f"{unused} is not supported")

    def write(w: Wave, value: Any) -> None:
        raw = np.asarray(value).view(np.uint16 if kind in "pqh" else np.uint32)
        placed = (raw.astype(np.uint32) << shift) & field
        if unused == "UNUSED_PRESERVE":
            placed = placed | (w.R[row] & ~field)
        np.copyto(w.R[row], placed, where=w.mask)

    return write


def build(
    inst: Instruction, signature: str, function: Callable[..., Any], *, reads_target: bool = False
) -> Step:
    """The step of a lane-wise instruction.

    Args:
        signature: `"dst... = src..."` in value kinds, in operand order.
        function: of the sources; returns the value, or a tuple when there are several
            destinations.
        reads_target: the (single) destination is also the last source (fmac).
    """
    left, right = (part.split() for part in signature.split("="))
    check_modifiers(inst, "op_sel", "clamp", "omod", "mul", "div", *SDWA_MODIFIERS, *DPP_MODIFIERS)
    count = len(left) + len(right) - reads_target
    flags = [o for o in inst.operands if o.text in DPP_WORDS]
    if len(inst.operands) - len(flags) != count:
        raise UnsupportedInstruction(inst, f"{len(inst.operands)} operands, expected {count}")
    sources = [
        source(inst, len(left) + i, kind, i)
        for i, kind in enumerate(right[: len(right) - reads_target])
    ]
    if reads_target:
        sources.append(source(inst, 0, right[-1], len(right) - 1))
    function = _output_modifiers(inst, left, function)
    if len(left) == 1:
        return _single(inst, left[0], sources, function)
    writers = [writer(inst, i, kind) for i, kind in enumerate(left)]

    def several(w: Wave) -> None:
        values = function(*[get(w) for get in sources])
        for write, value in zip(writers, values, strict=True):
            write(w, value)

    return several


def _output_modifiers(
    inst: Instruction, left: list[str], function: Callable[..., Any]
) -> Callable[..., Any]:
    """Apply clamp and the output multiplier."""
    factors = {("mul", 2): 2.0, ("mul", 4): 4.0, ("div", 2): 0.5}
    for name in ("mul", "div"):
        if name in inst.modifiers:
            if inst.chip != "gfx1250":
                # gfx9 ignores it while denormals are kept, the only mode simulated.
                raise UnsupportedInstruction(inst, f"output modifier {name} with denormals kept")
            factor = DTYPES[left[0]](factors[name, inst.modifiers[name]])
            function = _multiplied(function, factor)
    if "clamp" not in inst.modifiers:
        return function
    if left[0] not in FLOAT_KINDS:
        raise UnsupportedInstruction(inst, "clamp on an integer result is not supported")
    dtype = DTYPES[left[0]]
    unclamped = function

    def clamped(*sources: Any) -> Any:
        value = np.asarray(unclamped(*sources), dtype)
        # NaN, everything below zero and -0 become +0.
        return np.where(value > 0, np.minimum(value, dtype(1)), dtype(0))

    return clamped


def _multiplied(function: Callable[..., Any], factor: Any) -> Callable[..., Any]:
    """The output multiplier; denormal results and -0 become +0 (CDNA5 ISA, 7.2.3.1)."""
    smallest = np.finfo(type(factor)).tiny

    def apply(*sources: Any) -> Any:
        value = function(*sources) * factor
        return np.where(np.abs(value) < smallest, type(factor)(0), value)

    return apply


def _single(
    inst: Instruction, kind: str, sources: list[Getter], function: Callable[..., Any]
) -> Step:
    write = writer(inst, 0, kind)
    plain = kind in "uif" and inst.encoding not in ("sdwa", "dpp", "e64_dpp")
    if plain and len(sources) == 2:
        first, second = sources
        row = inst.operands[0].index
        name = {"u": "R", "i": "I", "f": "F"}[kind]
        if isinstance(function, np.ufunc):

            def ufunc2(w: Wave) -> None:
                target = getattr(w, name)[row]
                if w.full:
                    function(first(w), second(w), out=target)
                else:
                    function(first(w), second(w), out=target, where=w.mask)

            return ufunc2
        return lambda w: write(w, function(first(w), second(w)))
    if len(sources) == 1:
        only = sources[0]
        return lambda w: write(w, function(only(w)))
    if len(sources) == 3:
        a, b, c = sources
        return lambda w: write(w, function(a(w), b(w), c(w)))
    return lambda w: write(w, function(*[get(w) for get in sources]))
