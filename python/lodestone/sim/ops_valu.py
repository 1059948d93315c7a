"""Lane-wise vector instructions, as a table: mnemonic -> signature and function.

A signature is in the value kinds of `values`. Functions take and return NumPy rows or scalars.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from . import division, formats
from . import valu_functions as fn
from .asm import Instruction
from .values import Step, build, check_modifiers, source, writer
from .wave import Array, Wave

u32 = np.uint32
M6, M24 = fn.M6, fn.M24
Entry = tuple[str, Callable[..., Any]]


_cvt_u32, _cvt_i32 = fn.to_int(np.uint32, np.trunc), fn.to_int(np.int32, np.trunc)

TABLE: dict[str, Entry] = {
    # Moves and bits.
    "v_mov_b32": ("u = u", lambda a: a),
    "v_mov_b64": ("U = U", lambda a: a),
    "v_accvgpr_read_b32": ("u = u", lambda a: a),
    "v_accvgpr_write_b32": ("u = u", lambda a: a),
    "v_accvgpr_mov_b32": ("u = u", lambda a: a),
    "v_not_b32": ("u = u", np.invert),
    "v_bfrev_b32": ("u = u", fn.bit_reverse),
    "v_ffbh_u32": ("u = u", fn.leading_zeros),
    "v_ffbl_b32": ("u = u", fn.trailing_zeros),
    "v_and_b32": ("u = u u", np.bitwise_and),
    "v_or_b32": ("u = u u", np.bitwise_or),
    "v_xor_b32": ("u = u u", np.bitwise_xor),
    "v_xnor_b32": ("u = u u", lambda a, b: ~(a ^ b)),
    "v_and_or_b32": ("u = u u u", lambda a, b, c: (a & b) | c),
    "v_or3_b32": ("u = u u u", lambda a, b, c: a | b | c),
    "v_bfi_b32": ("u = u u u", lambda a, b, c: (a & b) | (~a & c)),
    "v_bfe_u32": ("u = u u u", fn.bfe_u32),
    "v_bfe_i32": ("i = u u u", fn.bfe_i32),
    "v_bfm_b32": ("u = u u", lambda a, b: ((u32(1) << fn.shift(a)) - u32(1)) << fn.shift(b)),
    "v_bcnt_u32_b32": ("u = u u", lambda a, b: fn.popcount(a) + b),
    "v_mbcnt_lo_u32_b32": ("u = u u", fn.mbcnt(lambda lane: (1 << min(lane, 32)) - 1)),
    "v_mbcnt_hi_u32_b32": ("u = u u", fn.mbcnt(lambda lane: (1 << max(lane - 32, 0)) - 1)),
    "v_lshlrev_b32": ("u = u u", lambda s, a: a << fn.shift(s)),
    "v_lshrrev_b32": ("u = u u", lambda s, a: a >> fn.shift(s)),
    "v_ashrrev_i32": ("i = u i", lambda s, a: a >> fn.as_i32(fn.shift(s))),
    "v_lshl_or_b32": ("u = u u u", lambda a, s, c: (a << fn.shift(s)) | c),
    "v_lshl_add_u32": ("u = u u u", lambda a, s, c: (a << fn.shift(s)) + c),
    "v_add_lshl_u32": ("u = u u u", lambda a, b, s: (a + b) << fn.shift(s)),
    "v_xad_u32": ("u = u u u", lambda a, b, c: (a ^ b) + c),
    "v_alignbit_b32": ("u = u u u", fn.alignbit),
    "v_alignbyte_b32": ("u = u u u", fn.alignbyte),
    "v_perm_b32": ("u = u u u", fn.perm),
    "v_lshlrev_b64": ("U = u U", lambda s, a: a << (fn.wide(s) & M6)),
    "v_lshrrev_b64": ("U = u U", lambda s, a: a >> (fn.wide(s) & M6)),
    "v_ashrrev_i64": ("Q = u Q", lambda s, a: a >> (fn.wide(s) & M6).astype(np.int64)),
    "v_cndmask_b32": ("u = u u m", fn.select),
    # Integer arithmetic.
    "v_add_u32": ("u = u u", np.add),
    "v_sub_u32": ("u = u u", np.subtract),
    "v_subrev_u32": ("u = u u", fn.reverse(np.subtract)),
    "v_add3_u32": ("u = u u u", lambda a, b, c: a + b + c),
    "v_mul_lo_u32": ("u = u u", np.multiply),
    "v_mul_hi_u32": ("u = u u", fn.mul_hi_u32),
    "v_mul_hi_i32": ("i = i i", fn.mul_hi_i32),
    "v_mul_u32_u24": ("u = u u", lambda a, b: (a & M24) * (b & M24)),
    "v_mul_i32_i24": ("i = u u", lambda a, b: fn.s24(a) * fn.s24(b)),
    "v_mul_hi_u32_u24": ("u = u u", lambda a, b: fn.mul_hi_u32(a & M24, b & M24)),
    "v_mad_u32_u24": ("u = u u u", lambda a, b, c: (a & M24) * (b & M24) + c),
    "v_mad_i32_i24": ("i = u u i", lambda a, b, c: fn.s24(a) * fn.s24(b) + c),
    "v_mad_u64_u32": ("U m = u u U", fn.mad_u64),
    "v_mad_i64_i32": ("Q m = i i Q", fn.mad_i64),
    "v_lshl_add_u64": ("U = U u U", lambda a, s, c: (a << (fn.wide(s) & np.uint64(7))) + c),
    "v_add_nc_u64": ("U = U U", np.add),
    "v_sub_nc_u64": ("U = U U", np.subtract),
    "v_add_co_u32": ("u m = u u", fn.carry_add),
    "v_addc_co_u32": ("u m = u u m", fn.carry_add),
    "v_sub_co_u32": ("u m = u u", fn.borrow_sub),
    "v_subb_co_u32": ("u m = u u m", fn.borrow_sub),
    "v_subrev_co_u32": ("u m = u u", lambda a, b: fn.borrow_sub(b, a)),
    "v_subbrev_co_u32": ("u m = u u m", lambda a, b, c: fn.borrow_sub(b, a, c)),
    "v_min_u32": ("u = u u", np.minimum),
    "v_max_u32": ("u = u u", np.maximum),
    "v_min_i32": ("i = i i", np.minimum),
    "v_max_i32": ("i = i i", np.maximum),
    "v_min3_u32": ("u = u u u", lambda a, b, c: np.minimum(np.minimum(a, b), c)),
    "v_max3_u32": ("u = u u u", lambda a, b, c: np.maximum(np.maximum(a, b), c)),
    "v_min3_i32": ("i = i i i", lambda a, b, c: np.minimum(np.minimum(a, b), c)),
    "v_max3_i32": ("i = i i i", lambda a, b, c: np.maximum(np.maximum(a, b), c)),
    "v_med3_u32": ("u = u u u", fn.med3),
    "v_med3_i32": ("i = i i i", fn.med3),
    "v_add_u16": ("p = p p", np.add),
    "v_sub_u16": ("p = p p", np.subtract),
    "v_mul_lo_u16": ("p = p p", np.multiply),
    "v_lshlrev_b16": ("p = p p", lambda s, a: a << (s & np.uint16(15))),
    "v_lshrrev_b16": ("p = p p", lambda s, a: a >> (s & np.uint16(15))),
    "v_min_u16": ("p = p p", np.minimum),
    "v_max_u16": ("p = p p", np.maximum),
    # Float arithmetic.
    "v_add_f32": ("f = f f", np.add),
    "v_sub_f32": ("f = f f", np.subtract),
    "v_subrev_f32": ("f = f f", fn.reverse(np.subtract)),
    "v_mul_f32": ("f = f f", np.multiply),
    "v_max_f32": ("f = f f", formats.maximum),
    "v_min_f32": ("f = f f", formats.minimum),
    "v_max3_f32": (
        "f = f f f", lambda a, b, c: formats.maximum(formats.maximum(a, b), c)),
    "v_min3_f32": (
        "f = f f f", lambda a, b, c: formats.minimum(formats.minimum(a, b), c)),
    # IEEE maximum and minimum: a NaN operand wins.
    "v_maximum3_f32": ("f = f f f", lambda a, b, c: fn.maximum_nan(fn.maximum_nan(a, b), c)),
    "v_minimum3_f32": ("f = f f f", lambda a, b, c: fn.minimum_nan(fn.minimum_nan(a, b), c)),
    "v_med3_f32": ("f = f f f", fn.med3_f32),
    "v_div_scale_f32": ("f m = f f f", division.scale),
    "v_div_fixup_f32": ("f = f f f", division.fixup),
    "v_fma_f32": ("f = f f f", formats.fma32),
    "v_fract_f32": ("f = f", fn.fract),
    "v_floor_f32": ("f = f", np.floor),
    "v_ceil_f32": ("f = f", np.ceil),
    "v_trunc_f32": ("f = f", np.trunc),
    "v_rndne_f32": ("f = f", np.rint),
    "v_ldexp_f32": ("f = f u", fn.ldexp),
    "v_exp_f32": ("f = f", fn.transcendental(np.exp2)),
    "v_log_f32": ("f = f", fn.transcendental(np.log2)),
    "v_rcp_f32": ("f = f", fn.transcendental(np.reciprocal)),
    "v_rcp_iflag_f32": ("f = f", fn.transcendental(np.reciprocal)),
    "v_rsq_f32": ("f = f", fn.transcendental(lambda a: 1.0 / np.sqrt(a))),
    "v_sqrt_f32": ("f = f", fn.transcendental(np.sqrt)),
    "v_sin_f32": ("f = f", fn.transcendental(lambda a: np.sin(2 * np.pi * a))),
    "v_cos_f32": ("f = f", fn.transcendental(lambda a: np.cos(2 * np.pi * a))),
    "v_add_f16": ("h = h h", np.add),
    "v_sub_f16": ("h = h h", np.subtract),
    "v_subrev_f16": ("h = h h", fn.reverse(np.subtract)),
    "v_mul_f16": ("h = h h", np.multiply),
    "v_max_f16": ("h = h h", formats.maximum),
    "v_min_f16": ("h = h h", formats.minimum),
    "v_fma_f16": ("h = h h h", fn.fma_f16),
    "v_exp_f16": ("h = h", fn.half_function(np.exp2)),
    "v_log_f16": ("h = h", fn.half_function(np.log2)),
    "v_rcp_f16": ("h = h", fn.half_function(np.reciprocal)),
    "v_sqrt_f16": ("h = h", fn.half_function(np.sqrt)),
    "v_add_f64": ("d = d d", np.add),
    "v_mul_f64": ("d = d d", np.multiply),
    "v_max_f64": ("d = d d", formats.maximum),
    "v_min_f64": ("d = d d", formats.minimum),
    "v_fma_f64": ("d = d d d", fn.fma_f64),
    # Conversions.
    "v_cvt_f32_u32": ("f = u", lambda a: a.astype(np.float32)),
    "v_cvt_f32_i32": ("f = i", lambda a: a.astype(np.float32)),
    "v_cvt_u32_f32": ("u = f", _cvt_u32),
    "v_cvt_i32_f32": ("i = f", _cvt_i32),
    "v_cvt_rpi_i32_f32": ("i = f", fn.to_int(np.int32, lambda a: np.floor(a + 0.5))),
    "v_cvt_flr_i32_f32": ("i = f", fn.to_int(np.int32, np.floor)),
    "v_cvt_f32_f16": ("f = h", lambda a: a.astype(np.float32)),
    "v_cvt_f32_bf16": ("f = p", formats.bf16_to_f32),
    "v_cvt_f16_f32": ("h = f", lambda a: a.astype(np.float16)),
    "v_cvt_f16_u16": ("h = p", lambda a: a.astype(np.float16)),
    "v_cvt_f16_i16": ("h = q", lambda a: a.astype(np.float16)),
    "v_cvt_f32_f64": ("f = d", lambda a: a.astype(np.float32)),
    "v_cvt_f64_f32": ("d = f", lambda a: a.astype(np.float64)),
    "v_cvt_f64_u32": ("d = u", lambda a: a.astype(np.float64)),
    "v_cvt_f64_i32": ("d = i", lambda a: a.astype(np.float64)),
    "v_cvt_pkrtz_f16_f32": ("u = f f", fn.cvt_pkrtz),
    "v_cvt_pk_f16_f32": (
        "u = f f", lambda a, b: formats.f32_to_f16(a) | formats.f32_to_f16(b) << u32(16)),
    "v_cvt_pk_bf16_f32": (
        "u = f f", lambda a, b: formats.f32_to_bf16(a) | formats.f32_to_bf16(b) << u32(16)),
    "v_pack_b32_f16": (
        "u = h h", lambda a, b: _bits16(a) | _bits16(b) << u32(16)),
    **{
        f"v_cvt_f32_ubyte{n}": (
            "f = u", lambda a, n=n: (a >> u32(8 * n) & u32(0xFF)).astype(np.float32))
        for n in range(4)
    },
}  # fmt: skip

# fmac: the destination is the addend.
ACCUMULATE: dict[str, Entry] = {
    "v_fmac_f32": ("f = f f f", formats.fma32),
    "v_fmac_f16": ("h = h h h", fn.fma_f16),
    "v_fmac_f64": ("d = d d d", fn.fma_f64),
}
# Operand order with the literal in the middle: dst, a, k, c.
LITERAL: dict[str, Entry] = {
    "v_fmamk_f32": ("f = f f f", formats.fma32),
    "v_fmaak_f32": ("f = f f f", formats.fma32),
}


def _bits16(value: Any) -> Any:
    return np.asarray(value).view(np.uint16).astype(np.uint32)


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
    check_modifiers(inst, "src0_sel", "src1_sel", "op_sel")
    # gfx12's v_cmpx writes EXEC only and has no destination operand.
    first = len(inst.operands) - 2
    a, b = source(inst, first, kind, 0), source(inst, first + 1, kind, 1)
    write = writer(inst, 0, "m") if first else lambda w, value: None
    writes_exec = inst.mnemonic.startswith("v_cmpx")

    def step(w: Wave) -> None:
        result = np.broadcast_to(function(a(w), b(w)), w.lanes) & w.mask
        write(w, result)
        if writes_exec:
            w.set_exec(int.from_bytes(np.packbits(result, bitorder="little").tobytes(), "little"))

    return step


def bitop3(inst: Instruction) -> Step:
    """Any function of three bits: bit (4a + 2b + c) of the modifier is the result."""
    table = inst.modifiers.get("bitop3", 0)
    check_modifiers(inst, "bitop3")
    a, b, c = (source(inst, 1 + i, "u", i) for i in range(3))
    write = writer(inst, 0, "u")

    def step(w: Wave) -> None:
        x, y, z = a(w), b(w), c(w)
        result: Any = u32(0)
        for i in range(8):
            if table >> i & 1:
                result = result | (
                    (x if i & 4 else ~x) & (y if i & 2 else ~y) & (z if i & 1 else ~z)
                )
        write(w, result)

    return step


def _class_of(values: Any) -> Array:
    """Class bit of each value: sNaN, qNaN, -inf, -norm, -denorm, -0, +0, +denorm, +norm, +inf."""
    values = np.asarray(values, np.float32)
    bits = values.view(np.uint32)
    negative = np.signbit(values)
    kind = np.where(
        np.isinf(values), 0, np.where(values == 0, 3, np.where((bits & u32(0x7F800000)) == 0, 2, 1))
    )
    index = np.where(negative, 2 + kind, 9 - kind)
    quiet = (bits >> u32(22)) & u32(1)
    return np.asarray(np.where(np.isnan(values), quiet, index)).astype(np.uint32)  # fmt: skip


def compare_class(inst: Instruction) -> Step:
    """v_cmp_class_f32: is the class of the value in the given set?"""
    check_modifiers(inst)
    a, b = source(inst, 1, "f", 0), source(inst, 2, "u", 1)
    write = writer(inst, 0, "m")
    return lambda w: write(w, (b(w) >> _class_of(a(w)) & u32(1)).astype(bool))


# Names of gfx12 for the same operations.
RENAMED = {
    "v_add_nc_u32": "v_add_u32", "v_sub_nc_u32": "v_sub_u32", "v_subrev_nc_u32": "v_subrev_u32",
    "v_add_co_ci_u32": "v_addc_co_u32", "v_sub_co_ci_u32": "v_subb_co_u32",
    "v_max_num_f32": "v_max_f32", "v_min_num_f32": "v_min_f32", "v_clz_i32_u32": "v_ffbh_u32",
    "v_ctz_i32_b32": "v_ffbl_b32",
    "v_cvt_pk_rtz_f16_f32": "v_cvt_pkrtz_f16_f32",
}  # fmt: skip


def lanewise(inst: Instruction) -> Step | None:
    """The step of a lane-wise instruction, or None when `inst` is not one."""
    name = inst.mnemonic
    if inst.chip == "gfx1250":
        name = RENAMED.get(name, name)
    if name in TABLE:
        signature, function = TABLE[name]
        return build(inst, signature, function)
    if name in ACCUMULATE:
        signature, function = ACCUMULATE[name]
        return build(inst, signature, function, reads_target=True)
    if name in LITERAL:
        signature, function = LITERAL[name]
        return build(inst, signature, function)
    if name in COMPARE:
        return compare(inst)
    if name == "v_cmp_class_f32":
        return compare_class(inst)
    if name == "v_div_fmas_f32":
        return division.fused(inst)
    if name == "v_bitop3_b32":
        return bitop3(inst)
    return None
