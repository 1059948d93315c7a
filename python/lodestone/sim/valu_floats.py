"""The floating point instructions of the vector unit: mnemonic -> signature and function.

A signature is in the value kinds of `values`. Functions take and return NumPy rows or scalars.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import division, formats
from . import valu_functions as fn
from .values import DTYPES

u32 = np.uint32
Entry = tuple[str, Callable[..., Any]]
# Type suffix -> value kind.
KINDS = {"f16": "h", "f32": "f", "f64": "d"}

# Name -> number of sources and function; the same for all types.
_GENERIC: dict[str, tuple[int, Callable[..., Any]]] = {
    "add": (2, np.add),
    "sub": (2, np.subtract),
    "subrev": (2, fn.reverse(np.subtract)),
    "mul": (2, np.multiply),
    "floor": (1, np.floor),
    "ceil": (1, np.ceil),
    "trunc": (1, np.trunc),
    "rndne": (1, np.rint),
    "fract": (1, fn.fract),
    "frexp_mant": (1, fn.mantissa),
    "div_fixup": (3, division.fixup),
    **fn.selections(formats.minimum, formats.maximum),
    "med3": (3, fn.med3_float),
    # IEEE maximum and minimum: a NaN operand wins.
    "maximum": (2, fn.maximum_nan),
    "minimum": (2, fn.minimum_nan),
    "maximum3": (3, lambda a, b, c: fn.maximum_nan(fn.maximum_nan(a, b), c)),
    "minimum3": (3, lambda a, b, c: fn.minimum_nan(fn.minimum_nan(a, b), c)),
}
_FMA = {"f16": fn.fma_f16, "f32": formats.fma32, "f64": formats.fma64}

TABLE: dict[str, Entry] = {
    **{
        f"v_{name}_{suffix}": (f"{k} = {' '.join(k * count)}", function)
        for suffix, k in KINDS.items()
        for name, (count, function) in _GENERIC.items()
    },
    **{f"v_fma_{suffix}": (f"{k} = {k} {k} {k}", _FMA[suffix]) for suffix, k in KINDS.items()},
    "v_div_scale_f32": ("f m = f f f", division.scale),
    "v_div_scale_f64": ("d m = d d d", division.scale),
    "v_frexp_exp_i32_f32": ("i = f", fn.exponent),
    "v_frexp_exp_i32_f64": ("i = d", fn.exponent),
    "v_frexp_exp_i16_f16": ("q = h", lambda a: fn.exponent(a).astype(np.int16)),
    "v_ldexp_f16": ("h = h q", fn.ldexp),
    "v_ldexp_f32": ("f = f i", fn.ldexp),
    "v_ldexp_f64": ("d = d i", fn.ldexp),
    "v_exp_f32": ("f = f", fn.transcendental(np.exp2)),
    "v_log_f32": ("f = f", fn.transcendental(np.log2)),
    "v_rcp_f32": ("f = f", fn.transcendental(np.reciprocal)),
    "v_rcp_iflag_f32": ("f = f", fn.transcendental(np.reciprocal)),
    "v_rsq_f32": ("f = f", fn.transcendental(lambda a: 1.0 / np.sqrt(a))),
    "v_sqrt_f32": ("f = f", fn.transcendental(np.sqrt)),
    "v_sin_f32": ("f = f", fn.transcendental(lambda a: np.sin(2 * np.pi * a))),
    "v_cos_f32": ("f = f", fn.transcendental(lambda a: np.cos(2 * np.pi * a))),
    "v_exp_f16": ("h = h", fn.half_function(np.exp2)),
    "v_log_f16": ("h = h", fn.half_function(np.log2)),
    "v_rcp_f16": ("h = h", fn.half_function(np.reciprocal)),
    "v_rsq_f16": ("h = h", fn.half_function(lambda a: 1.0 / np.sqrt(a))),
    "v_sqrt_f16": ("h = h", fn.half_function(np.sqrt)),
    # Hardware's are approximations, which the sequences around them refine.
    "v_rcp_f64": ("d = d", np.reciprocal),
    "v_rsq_f64": ("d = d", lambda a: 1.0 / np.sqrt(a)),
    "v_sqrt_f64": ("d = d", np.sqrt),
    # Conversions.
    "v_cvt_f32_u32": ("f = u", lambda a: a.astype(np.float32)),
    "v_cvt_f32_i32": ("f = i", lambda a: a.astype(np.float32)),
    "v_cvt_u32_f32": ("u = f", fn.to_int(u32, np.trunc)),
    "v_cvt_i32_f32": ("i = f", fn.to_int(np.int32, np.trunc)),
    "v_cvt_rpi_i32_f32": ("i = f", fn.to_int(np.int32, lambda a: np.floor(a + 0.5))),
    "v_cvt_flr_i32_f32": ("i = f", fn.to_int(np.int32, np.floor)),
    "v_cvt_f32_f16": ("f = h", lambda a: a.astype(np.float32)),
    "v_cvt_f32_bf16": ("f = p", formats.bf16_to_f32),
    "v_cvt_f16_f32": ("h = f", lambda a: a.astype(np.float16)),
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
        "u = h h", lambda a, b: fn.bits16(a) | fn.bits16(b) << u32(16)),
    **{
        f"v_cvt_f32_ubyte{n}": (
            "f = u", lambda a, n=n: (a >> u32(8 * n) & u32(0xFF)).astype(np.float32))
        for n in range(4)
    },
    "v_cvt_pk_i16_i32": ("u = i i", lambda a, b: fn.pack_saturated(a, b, np.int16)),
    "v_cvt_pk_u16_u32": ("u = u u", lambda a, b: fn.pack_saturated(a, b, np.uint16)),
    **{
        f"v_cvt_{to}_f16": (f"{k} = h", fn.to_int(DTYPES[k], np.trunc))
        for to, k in (("i16", "q"), ("u16", "p"))
    },
    **{
        f"v_cvt_{to}_f64": (f"{k} = d", fn.to_int(DTYPES[k], np.trunc))
        for to, k in (("i32", "i"), ("u32", "u"))
    },
    **{
        f"v_cvt_f16_{of}": (f"h = {k}", lambda a: a.astype(np.float16))
        for of, k in (("i16", "q"), ("u16", "p"))
    },
}  # fmt: skip

# fmac: the destination is the addend. fmamk, fmaak: dst, a, k, c with a literal k or c.
ACCUMULATE: dict[str, Entry] = {
    f"v_fmac_{suffix}": (f"{k} = {k} {k} {k}", _FMA[suffix]) for suffix, k in KINDS.items()
}
LITERAL: dict[str, Entry] = {
    f"v_{name}_{suffix}": (f"{k} = {k} {k} {k}", _FMA[suffix])
    for name in ("fmamk", "fmaak")
    for suffix, k in KINDS.items()
}
