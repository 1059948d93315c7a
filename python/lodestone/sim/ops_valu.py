"""Lane-wise vector instructions: from the tables, and those of a form of their own."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from . import division, valu_floats, valu_integers
from .asm import Instruction
from .errors import UnsupportedInstruction
from .operands import VCC, Operand
from .values import DTYPES, Step, build, check_modifiers, source, writer
from .wave import Array, Wave, bits_of

u32 = np.uint32
TABLE = valu_integers.TABLE | valu_floats.TABLE

_ORDERED: dict[str, Callable[[Any, Any], Any]] = {
    "f": lambda a, b: np.zeros(np.broadcast(a, b).shape, bool),
    "lt": np.less, "eq": np.equal, "le": np.less_equal, "gt": np.greater,
    "lg": lambda a, b: (a < b) | (a > b), "ge": np.greater_equal,
    "o": lambda a, b: ~(np.isnan(a) | np.isnan(b)),
    "u": lambda a, b: np.isnan(a) | np.isnan(b),
    "nge": lambda a, b: ~np.greater_equal(a, b), "nlg": lambda a, b: ~((a < b) | (a > b)),
    "ngt": lambda a, b: ~np.greater(a, b), "nle": lambda a, b: ~np.less_equal(a, b),
    "neq": lambda a, b: ~np.equal(a, b), "nlt": lambda a, b: ~np.less(a, b),
    "tru": lambda a, b: np.ones(np.broadcast(a, b).shape, bool),
}  # fmt: skip
_INTEGER: dict[str, Callable[[Any, Any], Any]] = {
    "f": _ORDERED["f"], "lt": np.less, "eq": np.equal, "le": np.less_equal,
    "gt": np.greater, "ne": np.not_equal, "ge": np.greater_equal, "t": _ORDERED["tru"],
}  # fmt: skip
_COMPARE_TYPES = {
    "f16": "h", "f32": "f", "f64": "d", "i16": "q", "u16": "p",
    "i32": "i", "u32": "u", "i64": "Q", "u64": "U",
}  # fmt: skip
COMPARE: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    f"v_cmp{x}_{name}_{suffix}": (kind, function)
    for x, (suffix, kind) in itertools.product(("", "x"), _COMPARE_TYPES.items())
    for name, function in (_ORDERED if kind in "hfd" else _INTEGER).items()
}


def compare(inst: Instruction) -> Step:
    """VOPC: a bit per active lane; inactive lanes get zero. v_cmpx also writes EXEC."""
    kind, function = COMPARE[inst.mnemonic]
    return _to_mask(inst, (kind, kind), function)


def _to_mask(
    inst: Instruction, kinds: tuple[str, str], function: Callable[[Any, Any], Any]
) -> Step:
    check_modifiers(inst, "src0_sel", "src1_sel", "op_sel")
    # gfx12's v_cmpx writes EXEC only and has no destination operand.
    first = len(inst.operands) - 2
    a, b = source(inst, first, kinds[0], 0), source(inst, first + 1, kinds[1], 1)
    write = writer(inst, 0, "m") if first else lambda w, value: None
    writes_exec = inst.mnemonic.startswith("v_cmpx")

    def step(w: Wave) -> None:
        result = np.broadcast_to(function(a(w), b(w)), w.lanes) & w.mask
        write(w, result)
        if writes_exec:
            w.set_exec(bits_of(result))

    return step


def bitop3(inst: Instruction) -> Step:
    """Any function of three bits: bit (4a + 2b + c) of the modifier is the result.

    The dual-issue form has two sources; its third is zero.
    """
    kind = "p" if inst.mnemonic == "v_bitop3_b16" else "u"
    check_modifiers(inst, "bitop3", *(("op_sel",) if kind == "p" else ()))
    table = inst.modifiers.get("bitop3", 0)
    count = 2 if inst.mnemonic == "v_bitop2_b32" else 3
    if len(inst.operands) != 1 + count:
        raise UnsupportedInstruction(inst, f"expected {count} sources")
    getters = [source(inst, 1 + i, kind, i) for i in range(count)]
    zero = DTYPES[kind](0)
    write = writer(inst, 0, kind)

    def step(w: Wave) -> None:
        x, y, z = [get(w) for get in getters] + [zero] * (3 - count)
        result: Any = zero
        for i in range(8):
            if table >> i & 1:
                result = result | (
                    (x if i & 4 else ~x) & (y if i & 2 else ~y) & (z if i & 1 else ~z)
                )
        write(w, result)

    return step


def _class_of(values: Any) -> Array:
    """Class bit of each value: sNaN, qNaN, -inf, -norm, -denorm, -0, +0, +denorm, +norm, +inf."""
    values = np.asarray(values)
    info = np.finfo(values.dtype)
    kind = np.where(
        np.isinf(values), 0, np.where(values == 0, 3, np.where(np.abs(values) < info.tiny, 2, 1))
    )
    index = np.where(np.signbit(values), 2 + kind, 9 - kind)
    quiet = values.view(f"u{values.itemsize}") >> info.nmant - 1 & 1
    return np.asarray(np.where(np.isnan(values), quiet, index)).astype(np.uint32)


_CLASS = re.compile(r"v_cmpx?_class_(f16|f32|f64)$")


def compare_class(inst: Instruction, kind: str) -> Step:
    """v_cmp_class: is the class of the value in the given set? v_cmpx also writes EXEC."""
    return _to_mask(inst, (kind, "u"), lambda a, b: (b >> _class_of(a) & u32(1)).astype(bool))


# gfx12 puts `num` and `nc` into the names; some differ otherwise.
_RENAMED = {
    "v_add_co_ci_u32": "v_addc_co_u32", "v_sub_co_ci_u32": "v_subb_co_u32",
    "v_subrev_co_ci_u32": "v_subbrev_co_u32",
    "v_clz_i32_u32": "v_ffbh_u32", "v_ctz_i32_b32": "v_ffbl_b32", "v_cls_i32": "v_ffbh_i32",
    "v_cvt_pk_rtz_f16_f32": "v_cvt_pkrtz_f16_f32", "v_cvt_floor_i32_f32": "v_cvt_flr_i32_f32",
    "v_cvt_nearest_i32_f32": "v_cvt_rpi_i32_f32",
    "v_mad_co_u64_u32": "v_mad_u64_u32", "v_mad_co_i64_i32": "v_mad_i64_i32",
}  # fmt: skip


def gfx9_name(name: str) -> str:
    """The name that the tables use: gfx9's where it has the operation."""
    if name in TABLE:
        return name
    return _RENAMED.get(name, name.replace("_num_", "_").replace("_nc_", "_"))


def lanewise(inst: Instruction) -> Step | None:
    """The step of a lane-wise instruction, or None when `inst` is not one."""
    name = gfx9_name(inst.mnemonic) if inst.chip == "gfx1250" else inst.mnemonic
    if "clamp" in inst.modifiers and name in valu_integers.SATURATED:
        modifiers = {m: value for m, value in inst.modifiers.items() if m != "clamp"}
        return build(replace(inst, modifiers=modifiers), *valu_integers.SATURATED[name])
    if name == "v_cndmask_b32" and len(inst.operands) == 3:
        # The dual-issue form reads VCC without naming it.
        inst = replace(inst, operands=(*inst.operands, Operand("s", VCC)))
    if name in ("v_mov_b32", "v_cndmask_b32") and any(o.signed for o in inst.operands):
        # Moves take sign modifiers, as of floats.
        signature, function = TABLE[name]
        return build(inst, signature.replace("u", "f"), function)
    if name in TABLE:
        return build(inst, *TABLE[name])
    if name in valu_floats.ACCUMULATE:
        return build(inst, *valu_floats.ACCUMULATE[name], reads_target=True)
    if name in valu_floats.LITERAL:
        return build(inst, *valu_floats.LITERAL[name])
    if name in COMPARE:
        return compare(inst)
    if found := _CLASS.match(name):
        return compare_class(inst, valu_floats.KINDS[found[1]])
    if name in ("v_div_fmas_f32", "v_div_fmas_f64"):
        return division.fused(inst, valu_floats.KINDS[name[-3:]])
    if name in ("v_bitop3_b32", "v_bitop3_b16", "v_bitop2_b32"):
        return bitop3(inst)
    return None
