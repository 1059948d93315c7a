"""Floating point on the scalar unit (gfx1250): the vector instructions' functions on one value.

Results are those of the vector counterparts; a half sits in the low 16 bits and the upper ones
become zero (CDNA5 ISA, 6.8).
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from . import ops_valu, valu_floats
from .asm import Instruction
from .errors import UnsupportedInstruction
from .ops_salu import target
from .values import Step, check_modifiers, source
from .wave import Wave

_ARITHMETIC = re.compile(
    r"s_((add|sub|mul|min_num|max_num|minimum|maximum|fmac|ceil|floor|trunc|rndne)_f(16|32)"
    r"|(fmaak|fmamk)_f32|cvt_(f32_[iu]32|[iu]32_f32|f16_f32|f32_f16|pk_rtz_f16_f32))$"
)
# The transcendental unit takes values from scalars, too: `v_s_`, one value in, one out.
_PSEUDO = re.compile(r"v_s_((?:sqrt|rcp|rsq|exp|log)_f(?:16|32))$")
_COMPARE = re.compile(r"s_cmp_n?(lt|eq|le|gt|lg|ge|o|u)_f(16|32)$")


def scalar_float(inst: Instruction) -> Step | None:
    """The step of a scalar float instruction, or None when `inst` is not one."""
    if inst.chip != "gfx1250":
        return None
    if inst.mnemonic == "s_cvt_hi_f32_f16":
        return _convert_high(inst)
    if _COMPARE.match(inst.mnemonic):
        return _compare(inst)
    if _ARITHMETIC.match(inst.mnemonic):
        return _arithmetic(inst, ops_valu.gfx9_name("v" + inst.mnemonic[1:]))
    if found := _PSEUDO.match(inst.mnemonic):
        return _arithmetic(inst, f"v_{found[1]}")
    return None


def _arithmetic(inst: Instruction, name: str) -> Step:
    """The operation `name` of the vector tables on scalars."""
    check_modifiers(inst)
    accumulates = name in valu_floats.ACCUMULATE
    tables = valu_floats.TABLE | valu_floats.ACCUMULATE | valu_floats.LITERAL
    signature, function = tables[name]
    kinds = signature.split()[2:]
    operands = [1 + i for i in range(len(kinds) - accumulates)] + [0] * accumulates
    if len(inst.operands) != 1 + len(kinds) - accumulates:
        raise UnsupportedInstruction(inst, f"expected {1 + len(kinds) - accumulates} operands")
    getters = [
        source(inst, at, k, i) for i, (at, k) in enumerate(zip(operands, kinds, strict=True))
    ]
    write = target(inst, inst.operands[0], 32)

    def step(w: Wave) -> None:
        value = np.asarray(function(*[get(w) for get in getters]))
        write(w, int(value.view(f"u{value.itemsize}")))

    return step


def _convert_high(inst: Instruction) -> Step:
    check_modifiers(inst)
    get = source(inst, 1, "u", 0)
    write = target(inst, inst.operands[0], 32)

    def step(w: Wave) -> None:
        half = np.uint16(int(get(w)) >> 16).view(np.float16)
        write(w, int(np.float32(half).view(np.uint32)))

    return step


def _compare(inst: Instruction) -> Step:
    check_modifiers(inst)
    kind, function = ops_valu.COMPARE["v" + inst.mnemonic[1:]]
    a, b = source(inst, 0, kind, 0), source(inst, 1, kind, 1)

    def step(w: Wave) -> None:
        result: Any = function(a(w), b(w))
        w.scc = int(result)

    return step
