"""Scalar instructions, as tables of functions on Python integers.

Tables by what they do to SCC: left alone, result non-zero, or computed. A signature gives the
width of destination and sources in bits.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from .asm import Instruction
from .errors import UnsupportedInstruction
from .operands import EXEC, Operand
from .values import Step, check_modifiers, scalar_source
from .wave import Wave

M32, M64 = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF


def signed(value: int, bits: int = 32) -> int:
    """Two's complement value of an unsigned integer."""
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


def _sext16(value: int) -> int:
    return signed(value & 0xFFFF, 16) & M32


def _bfe_u(bits: int) -> Callable[[int, int], int]:
    return lambda a, b: (a >> (b & bits - 1)) & (1 << min(b >> 16 & 0x7F, bits)) - 1


def _bfe_i(bits: int) -> Callable[[int, int], int]:
    def extract(a: int, b: int) -> int:
        width = min(b >> 16 & 0x7F, bits)
        field = (a >> (b & bits - 1)) & (1 << width) - 1
        return signed(field, width) & (1 << bits) - 1 if width else 0

    return extract


def _first_one(value: int) -> int:
    return (value & -value).bit_length() - 1 & M32


def _leading(bits: int) -> Callable[[int], int]:
    return lambda a: bits - a.bit_length() if a else M32


def _leading_sign(bits: int) -> Callable[[int], int]:
    def count(a: int) -> int:
        value = a ^ (1 << bits) - 1 if a >> bits - 1 else a
        return bits - value.bit_length() if value else M32

    return count


def _bitrev(bits: int) -> Callable[[int], int]:
    return lambda a: int(f"{a:0{bits}b}"[::-1], 2)


# mnemonic -> (destination bits, source bits, function); SCC is left alone.
KEEP: dict[str, tuple[int, tuple[int, ...], Callable[..., int]]] = {
    "s_mov_b32": (32, (32,), lambda a: a),
    "s_mov_b64": (64, (64,), lambda a: a),
    "s_brev_b32": (32, (32,), _bitrev(32)),
    "s_brev_b64": (64, (64,), _bitrev(64)),
    "s_ff1_i32_b32": (32, (32,), _first_one),
    "s_ff1_i32_b64": (32, (64,), _first_one),
    "s_ctz_i32_b32": (32, (32,), _first_one),
    "s_ctz_i32_b64": (32, (64,), _first_one),
    "s_flbit_i32_b32": (32, (32,), _leading(32)),
    "s_flbit_i32_b64": (32, (64,), _leading(64)),
    "s_clz_i32_u32": (32, (32,), _leading(32)),
    "s_clz_i32_u64": (32, (64,), _leading(64)),
    "s_flbit_i32": (32, (32,), _leading_sign(32)),
    "s_flbit_i32_i64": (32, (64,), _leading_sign(64)),
    "s_cls_i32": (32, (32,), _leading_sign(32)),
    "s_cls_i32_i64": (32, (64,), _leading_sign(64)),
    "s_bitreplicate_b64_b32": (64, (32,), lambda a: int("".join(2 * c for c in f"{a:032b}"), 2)),
    "s_sext_i32_i8": (32, (32,), lambda a: signed(a & 0xFF, 8)),
    "s_sext_i32_i16": (32, (32,), lambda a: signed(a & 0xFFFF, 16)),
    "s_mul_i32": (32, (32, 32), operator.mul),
    "s_mul_hi_u32": (32, (32, 32), lambda a, b: a * b >> 32),
    "s_mul_hi_i32": (32, (32, 32), lambda a, b: signed(a) * signed(b) >> 32),
    "s_bfm_b32": (32, (32, 32), lambda a, b: (1 << (a & 31)) - 1 << (b & 31)),
    "s_bfm_b64": (64, (32, 32), lambda a, b: (1 << (a & 63)) - 1 << (b & 63)),
    "s_pack_ll_b32_b16": (32, (32, 32), lambda a, b: a & 0xFFFF | (b & 0xFFFF) << 16),
    "s_pack_lh_b32_b16": (32, (32, 32), lambda a, b: a & 0xFFFF | b & 0xFFFF0000),
    "s_pack_hl_b32_b16": (32, (32, 32), lambda a, b: a >> 16 | (b & 0xFFFF) << 16),
    "s_pack_hh_b32_b16": (32, (32, 32), lambda a, b: a >> 16 | b & 0xFFFF0000),
    "s_mul_u64": (64, (64, 64), operator.mul),
    "s_add_nc_u64": (64, (64, 64), operator.add),
    "s_sub_nc_u64": (64, (64, 64), operator.sub),
}

# The same; SCC = result is not zero.
NONZERO: dict[str, tuple[int, tuple[int, ...], Callable[..., int]]] = {
    "s_not_b32": (32, (32,), lambda a: ~a),
    "s_not_b64": (64, (64,), lambda a: ~a),
    "s_bcnt1_i32_b32": (32, (32,), int.bit_count),
    "s_bcnt1_i32_b64": (32, (64,), int.bit_count),
    "s_bcnt0_i32_b32": (32, (32,), lambda a: 32 - a.bit_count()),
    "s_abs_i32": (32, (32,), lambda a: abs(signed(a))),
    "s_absdiff_i32": (32, (32, 32), lambda a, b: abs(signed(a) - signed(b))),
    "s_lshl_b32": (32, (32, 32), lambda a, b: a << (b & 31)),
    "s_lshr_b32": (32, (32, 32), lambda a, b: a >> (b & 31)),
    "s_ashr_i32": (32, (32, 32), lambda a, b: signed(a) >> (b & 31)),
    "s_lshl_b64": (64, (64, 32), lambda a, b: a << (b & 63)),
    "s_lshr_b64": (64, (64, 32), lambda a, b: a >> (b & 63)),
    "s_ashr_i64": (64, (64, 32), lambda a, b: signed(a, 64) >> (b & 63)),
    "s_bfe_u32": (32, (32, 32), _bfe_u(32)),
    "s_bfe_i32": (32, (32, 32), _bfe_i(32)),
    "s_bfe_u64": (64, (64, 32), _bfe_u(64)),
    "s_bfe_i64": (64, (64, 32), _bfe_i(64)),
    **{
        f"s_{name}_b{bits}": (bits, (bits, bits), function)
        for bits in (32, 64)
        for name, function in {
            "and": operator.and_,
            "or": operator.or_,
            "xor": operator.xor,
            "andn2": lambda a, b: a & ~b,
            "orn2": lambda a, b: a | ~b,
            "and_not1": lambda a, b: a & ~b,
            "or_not1": lambda a, b: a | ~b,
            "nand": lambda a, b: ~(a & b),
            "nor": lambda a, b: ~(a | b),
            "xnor": lambda a, b: ~(a ^ b),
        }.items()
    },
}


def _overflow_add(a: int, b: int, scc: int) -> tuple[int, int]:
    total = signed(a) + signed(b)
    return total, int(not -(1 << 31) <= total < 1 << 31)


def _overflow_sub(a: int, b: int, scc: int) -> tuple[int, int]:
    total = signed(a) - signed(b)
    return total, int(not -(1 << 31) <= total < 1 << 31)


def _carry(function: Callable[[int, int, int], int]) -> Callable[[int, int, int], tuple[int, int]]:
    def apply(a: int, b: int, scc: int) -> tuple[int, int]:
        total = function(a, b, scc)
        return total, int(not 0 <= total <= M32)

    return apply


def _pick(better: Callable[[int, int], bool], view: Callable[[int], int]) -> Any:
    """min/max: SCC = the first source was chosen."""

    def apply(a: int, b: int, scc: int) -> tuple[int, int]:
        first = better(view(a), view(b))
        return (a if first else b), int(first)

    return apply


def _shift_add(shift: int) -> Callable[[int, int, int], tuple[int, int]]:
    return lambda a, b, scc: ((a << shift) + b, int((a << shift) + b > M32))


_add, _sub = _carry(lambda a, b, c: a + b), _carry(lambda a, b, c: a - b)
# Two 32-bit sources and SCC -> (result, SCC).
FLAGGED: dict[str, Callable[[int, int, int], tuple[int, int]]] = {
    "s_add_i32": _overflow_add,
    "s_sub_i32": _overflow_sub,
    "s_add_co_i32": _overflow_add,
    "s_sub_co_i32": _overflow_sub,
    "s_add_u32": _add,
    "s_sub_u32": _sub,
    "s_add_co_u32": _add,
    "s_sub_co_u32": _sub,
    "s_addc_u32": _carry(lambda a, b, c: a + b + c),
    "s_subb_u32": _carry(lambda a, b, c: a - b - c),
    "s_add_co_ci_u32": _carry(lambda a, b, c: a + b + c),
    "s_sub_co_ci_u32": _carry(lambda a, b, c: a - b - c),
    "s_min_i32": _pick(operator.lt, signed),
    "s_max_i32": _pick(operator.gt, signed),
    "s_min_u32": _pick(operator.lt, lambda a: a),
    "s_max_u32": _pick(operator.gt, lambda a: a),
    **{f"s_lshl{n}_add_u32": _shift_add(n) for n in (1, 2, 3, 4)},
}

_RELATIONS: dict[str, Callable[[int, int], bool]] = {
    "eq": operator.eq, "lg": operator.ne, "lt": operator.lt, "le": operator.le,
    "gt": operator.gt, "ge": operator.ge,
}  # fmt: skip
# mnemonic -> (bits, signed, relation, second source is a 16-bit immediate)
COMPARE: dict[str, tuple[int, bool, Callable[[int, int], bool], bool]] = {
    **{
        f"s_cmp_{name}_{kind}32": (32, kind == "i", relation, False)
        for name, relation in _RELATIONS.items()
        for kind in "iu"
    },
    **{
        f"s_cmpk_{name}_{kind}32": (32, kind == "i", relation, True)
        for name, relation in _RELATIONS.items()
        for kind in "iu"
    },
    "s_cmp_eq_u64": (64, False, operator.eq, False),
    "s_cmp_lg_u64": (64, False, operator.ne, False),
    "s_bitcmp0_b32": (32, False, lambda a, b: not a >> (b & 31) & 1, False),
    "s_bitcmp1_b32": (32, False, lambda a, b: bool(a >> (b & 31) & 1), False),
    "s_bitcmp0_b64": (64, False, lambda a, b: not a >> (b & 63) & 1, False),
    "s_bitcmp1_b64": (64, False, lambda a, b: bool(a >> (b & 63) & 1), False),
}
# EXEC = f(EXEC, source), old EXEC to the destination, SCC = new EXEC is not zero.
SAVE_EXEC: dict[str, Callable[[int, int], int]] = {
    "s_and_saveexec": lambda e, s: e & s,
    "s_or_saveexec": lambda e, s: e | s,
    "s_xor_saveexec": lambda e, s: e ^ s,
    "s_andn2_saveexec": lambda e, s: s & ~e,
    "s_and_not1_saveexec": lambda e, s: s & ~e,
    "s_andn1_saveexec": lambda e, s: ~s & e,
    "s_and_not0_saveexec": lambda e, s: ~s & e,
}


def target(inst: Instruction, operand: Operand, bits: int) -> Callable[[Wave, int], None]:
    """Writer of a scalar destination."""
    if operand.kind == "null":
        return lambda w, value: None
    if operand.kind != "s":
        raise UnsupportedInstruction(inst, f"destination {operand.text} is not scalar")
    slot = operand.index
    if bits == 64:
        return lambda w, value: w.write_scalar64(slot, value)
    if slot >= EXEC:
        return lambda w, value: w.write_scalar(slot, value)

    def write(w: Wave, value: int) -> None:
        w.S[slot] = value & M32

    return write


def _plain(inst: Instruction, entry: Any, nonzero: bool) -> Step:
    bits, source_bits, function = entry
    if len(inst.operands) != 1 + len(source_bits):
        raise UnsupportedInstruction(inst, f"expected {1 + len(source_bits)} operands")
    write = target(inst, inst.operands[0], bits)
    sources = [
        scalar_source(inst, o, b) for o, b in zip(inst.operands[1:], source_bits, strict=True)
    ]
    mask = (1 << bits) - 1
    if len(sources) == 1:
        only = sources[0]

        def one(w: Wave) -> None:
            value = function(only(w)) & mask
            write(w, value)
            if nonzero:
                w.scc = int(value != 0)

        return one
    first, second = sources

    def two(w: Wave) -> None:
        value = function(first(w), second(w)) & mask
        write(w, value)
        if nonzero:
            w.scc = int(value != 0)

    return two


def _flagged(inst: Instruction) -> Step:
    function = FLAGGED[inst.mnemonic]
    write = target(inst, inst.operands[0], 32)
    first, second = (scalar_source(inst, o) for o in inst.operands[1:3])

    def step(w: Wave) -> None:
        value, w.scc = function(first(w), second(w), w.scc)
        write(w, value)

    return step


def _compare(inst: Instruction) -> Step:
    bits, as_signed, relation, immediate = COMPARE[inst.mnemonic]
    first = scalar_source(inst, inst.operands[0], bits)
    second = scalar_source(inst, inst.operands[1], 32 if "bitcmp" in inst.mnemonic else bits)
    if immediate:
        # Immediates are 16 bits: sign-extended for signed compares, zero-extended otherwise.
        raw = inst.operands[1].index & 0xFFFF
        value = _sext16(raw) if as_signed else raw
        second = lambda w: value  # noqa: E731
    if as_signed:

        def compare_signed(w: Wave) -> None:
            w.scc = int(relation(signed(first(w)), signed(second(w))))

        return compare_signed

    def compare(w: Wave) -> None:
        w.scc = int(relation(first(w), second(w)))

    return compare


def _select(inst: Instruction) -> Step:
    bits = 64 if inst.mnemonic.endswith("64") else 32
    write = target(inst, inst.operands[0], bits)
    first, second = (scalar_source(inst, o, bits) for o in inst.operands[1:3])
    return lambda w: write(w, first(w) if w.scc else second(w))


def _conditional_move(inst: Instruction) -> Step:
    bits = 64 if inst.mnemonic.endswith("64") else 32
    write = target(inst, inst.operands[0], bits)
    value = scalar_source(inst, inst.operands[1], bits)
    if inst.mnemonic == "s_cmovk_i32":
        constant = _sext16(inst.operands[1].index)
        value = lambda w: constant  # noqa: E731
    return lambda w: write(w, value(w)) if w.scc else None


def _immediate(inst: Instruction) -> Step:
    """s_movk, s_addk, s_mulk: 16-bit immediates."""
    write = target(inst, inst.operands[0], 32)
    value = _sext16(inst.operands[1].index)
    if inst.mnemonic == "s_movk_i32":
        return lambda w: write(w, value)
    old = scalar_source(inst, inst.operands[0])
    if inst.mnemonic == "s_mulk_i32":
        return lambda w: write(w, old(w) * value)

    def add(w: Wave) -> None:
        total, w.scc = _overflow_add(old(w), value, 0)
        write(w, total)

    return add


def _bit_set(inst: Instruction) -> Step:
    """s_bitset0/1: one bit of the destination."""
    bits = 64 if inst.mnemonic.endswith("64") else 32
    write = target(inst, inst.operands[0], bits)
    old = scalar_source(inst, inst.operands[0], bits)
    index = scalar_source(inst, inst.operands[1])
    if "bitset1" in inst.mnemonic:
        return lambda w: write(w, old(w) | 1 << (index(w) & bits - 1))
    return lambda w: write(w, old(w) & ~(1 << (index(w) & bits - 1)))


def _save_exec(inst: Instruction) -> Step:
    name, _, suffix = inst.mnemonic.rpartition("_")
    function = SAVE_EXEC[name]
    bits = int(suffix[1:])
    write = target(inst, inst.operands[0], bits)
    get = scalar_source(inst, inst.operands[1], bits)

    def step(w: Wave) -> None:
        value, old = get(w), w.exec_bits
        write(w, old)
        w.set_exec(function(old, value))
        w.scc = int(w.exec_bits != 0)

    return step


_OTHER: dict[str, Callable[[Instruction], Step]] = {
    "s_cselect_b32": _select, "s_cselect_b64": _select,
    "s_cmov_b32": _conditional_move, "s_cmov_b64": _conditional_move,
    "s_cmovk_i32": _conditional_move,
    "s_movk_i32": _immediate, "s_addk_i32": _immediate, "s_mulk_i32": _immediate,
    "s_addk_co_i32": _immediate,
    "s_bitset0_b32": _bit_set, "s_bitset1_b32": _bit_set,
    "s_bitset0_b64": _bit_set, "s_bitset1_b64": _bit_set,
    **{f"{name}_b{bits}": _save_exec for name in SAVE_EXEC for bits in (32, 64)},
}  # fmt: skip


def scalar(inst: Instruction) -> Step | None:
    """The step of a scalar instruction, or None when `inst` is not one."""
    name = inst.mnemonic
    if name in KEEP:
        step = _plain(inst, KEEP[name], nonzero=False)
    elif name in NONZERO:
        step = _plain(inst, NONZERO[name], nonzero=True)
    elif name in FLAGGED:
        step = _flagged(inst)
    elif name in COMPARE:
        step = _compare(inst)
    elif name in _OTHER:
        step = _OTHER[name](inst)
    else:
        return None
    check_modifiers(inst)
    return step
