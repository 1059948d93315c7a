"""The integer and bit instructions of the vector unit: mnemonic -> signature and function.

A signature is in the value kinds of `values`. Functions take and return NumPy rows or scalars.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import valu_functions as fn
from .values import DTYPES

u32 = np.uint32
M6, M24 = fn.M6, fn.M24
Entry = tuple[str, Callable[..., Any]]


def _selections(kinds: dict[str, str], most: int) -> dict[str, Entry]:
    """Minimum, maximum and their combinations of up to `most` sources, for each type."""
    return {
        f"v_{name}_{suffix}": (f"{k} = {' '.join(k * count)}", function)
        for suffix, k in kinds.items()
        for name, (count, function) in fn.selections(np.minimum, np.maximum).items()
        if count <= most
    }


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
    "v_xor3_b32": ("u = u u u", lambda a, b, c: a ^ b ^ c),
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
    "v_ffbh_i32": ("u = i", fn.sign_bits),
    "v_mul_u64": ("U = U U", np.multiply),
    "v_mad_u32": ("u = u u u", lambda a, b, c: a * b + c),
    "v_mad_nc_u64_u32": ("U = u u U", lambda a, b, c: fn.mad_u64(a, b, c)[0]),
    "v_mad_nc_i64_i32": ("Q = i i Q", lambda a, b, c: fn.mad_i64(a, b, c)[0]),
    "v_mul_hi_i32_i24": ("i = u u", lambda a, b: fn.mul_hi_i32(fn.s24(a), fn.s24(b))),
    "v_sad_u32": ("u = u u u", lambda a, b, c: np.maximum(a, b) - np.minimum(a, b) + c),
    "v_add_i32": ("i = i i", np.add),
    "v_sub_i32": ("i = i i", np.subtract),
    # 16 bits.
    "v_add_u16": ("p = p p", np.add),
    "v_sub_u16": ("p = p p", np.subtract),
    "v_subrev_u16": ("p = p p", fn.reverse(np.subtract)),
    "v_add_i16": ("q = q q", np.add),
    "v_sub_i16": ("q = q q", np.subtract),
    "v_mul_lo_u16": ("p = p p", np.multiply),
    "v_mad_u16": ("p = p p p", lambda a, b, c: a * b + c),
    "v_mad_legacy_u16": ("p = p p p", lambda a, b, c: a * b + c),
    "v_mad_i16": ("q = q q q", lambda a, b, c: a * b + c),
    "v_mad_u32_u16": ("u = p p u", lambda a, b, c: a.astype(u32) * b.astype(u32) + c),
    "v_mad_i32_i16": ("i = q q i", lambda a, b, c: a.astype(np.int32) * b.astype(np.int32) + c),
    "v_lshlrev_b16": ("p = p p", lambda s, a: a << (s & np.uint16(15))),
    "v_lshrrev_b16": ("p = p p", lambda s, a: a >> (s & np.uint16(15))),
    "v_ashrrev_i16": ("q = p q", lambda s, a: a >> (s & np.uint16(15)).astype(np.int16)),
    **_selections({"u32": "u", "i32": "i", "u16": "p", "i16": "q"}, 3),
    **_selections({"u64": "U", "i64": "Q"}, 2),
}  # fmt: skip


def _saturated(signature: str, function: Callable[..., Any]) -> Entry:
    """The exact result, held in the range of the destination's type."""
    return signature, fn.saturated(function, DTYPES[signature[0]])


# What the clamp bit makes of an operation.
SATURATED: dict[str, Entry] = {
    **{
        f"v_{name}_{suffix}": _saturated(f"{k} = {k} {k}", function)
        for name, function in (("add", np.add), ("sub", np.subtract))
        for suffix, k in (("u16", "p"), ("i16", "q"), ("u32", "u"), ("i32", "i"))
    },
    **{
        f"v_mad_{suffix}": _saturated(f"{k} = {k} {k} {k}", lambda a, b, c: a * b + c)
        for suffix, k in (("u16", "p"), ("i16", "q"))
    },
    "v_mad_u32_u24": _saturated("u = u u u", lambda a, b, c: (a & M24) * (b & M24) + c),
    "v_mad_i32_i24": _saturated("i = u u i", lambda a, b, c: fn.s24(a) * fn.s24(b) + c),
}
