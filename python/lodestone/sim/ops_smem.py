"""Scalar memory loads and other instructions that touch state outside of the registers."""

from __future__ import annotations

import re
from typing import Any

from .asm import Instruction
from .counters import SMEM, Pending, issue
from .errors import ExecutionError, UnsupportedInstruction
from .values import Step, check_modifiers, scalar_source
from .wave import Wave

_LOAD = re.compile(r"s_load_(?:dword(?:x(\d+))?|b(\d+)|([ui])(8|16))$")
# Key of scalar slot i in the table of registers that wait for data; vector rows are below.
SCALAR_KEY = 1024
NO_EFFECT = frozenset(
    "s_nop s_sleep s_setprio s_icache_inv s_dcache_inv s_dcache_wb s_clause s_delay_alu "
    "s_wait_alu s_wait_xcnt s_code_end s_setprio_inc_wg s_sched_barrier s_waitcnt_depctr "
    "s_prefetch_inst s_prefetch_data s_prefetch_inst_pc_rel s_ttracedata s_ttracedata_imm "
    "buffer_wbl2 buffer_inv global_wb global_inv global_prefetch_b8 s_set_vgpr_msb".split()
)


def scalar_load(inst: Instruction) -> Step:
    """s_load: returns out of order; only a wait for zero completes it. Small ones extend."""
    found = _LOAD.match(inst.mnemonic)
    assert found
    size = int(found[4] or 32) // 8
    count = 1 if found[4] else int(found[2]) // 32 if found[2] else int(found[1] or 1)
    check_modifiers(inst, "offset", "glc", "nv", "th", "scope", "scale_offset")
    target, base = inst.operands[0], inst.operands[1]
    if target.kind != "s" or target.width != count or base.kind != "s" or base.width != 2:
        raise UnsupportedInstruction(inst, "operands of a scalar load")
    row = target.index
    base_of = scalar_source(inst, base, 64)
    extra: Any = scalar_source(inst, inst.operands[2]) if len(inst.operands) > 2 else (lambda w: 0)
    offset = inst.modifiers.get("offset", 0)
    scale = size * count if "scale_offset" in inst.modifiers else 1
    registers = tuple(range(SCALAR_KEY + row, SCALAR_KEY + row + count))

    def step(w: Wave) -> None:
        memory = w.group.memory
        at = (base_of(w) + extra(w) * scale + offset & -size) - memory.base
        memory.check_range(at, at + size * count, "scalar read")
        if size == 4:
            w.S[row : row + count] = memory.words[at >> 2 : (at >> 2) + count].tolist()
        else:
            raw = memory.bytes[at : at + size].tobytes()
            value = int.from_bytes(raw, "little", signed=found[3] == "i")
            w.S[row] = value & 0xFFFFFFFF
        # The values are there at once; using them before the wait is reported, see `guard`.
        issue(w, Pending(inst, SMEM, "", None, () if w.group.mode.eager else registers))

    return step


_FIELD = re.compile(r"hwreg\((HW_REG_\w+|\d+)(?:, ?(\d+), ?(\d+))?\)")
_FP16_OVERFLOW_BIT = 23


def set_register(inst: Instruction) -> Step:
    """s_setreg on MODE: only what the simulator models may be changed."""
    found = _FIELD.search(inst.text)
    if not found or found[1] not in ("HW_REG_MODE", "HW_REG_WAVE_MODE"):
        raise UnsupportedInstruction(inst, "only MODE can be written")
    low, width = int(found[2] or 0), int(found[3] or 32)
    if found[1] == "HW_REG_WAVE_MODE" and low >= 25:
        # Replay and scheduling modes: no effect on results.
        return lambda w: None
    get = scalar_source(inst, inst.operands[-1])

    def step(w: Wave) -> None:
        value = get(w) & (1 << width) - 1
        bits = value << low
        field = (1 << width) - 1 << low
        if bits & 0b1111 & field:
            raise ExecutionError(f"rounding mode {bits & 0b1111:#x} is not simulated")
        if field >> 4 & 15 and (bits | ~field) >> 4 & 15 != 15:
            raise ExecutionError(f"denormal mode {bits >> 4 & 15:#x} is not simulated")
        if field >> _FP16_OVERFLOW_BIT & 1:
            w.group.fp16_overflow = bool(bits >> _FP16_OVERFLOW_BIT & 1)

    return step


def get_register(inst: Instruction) -> Step:
    """s_getreg of IB_STS2: whether the wave is in a cluster, and where (CDNA5 ISA, 3.4.9)."""
    found = _FIELD.search(inst.text)
    if not found or found[1] != "HW_REG_IB_STS2" or inst.operands[0].kind != "s":
        raise UnsupportedInstruction(inst, "only IB_STS2 can be read")
    low, width = int(found[2] or 0), int(found[3] or 32)
    # CLUSTER_ID is in bits 9:6, WG_IN_CLUSTER in 24:21; the others are about the wave's progress.
    if not any(first <= low and low + width <= first + 4 for first in (6, 21)):
        raise UnsupportedInstruction(inst, f"bits {low}..{low + width - 1} of IB_STS2")
    target = inst.operands[0].index

    def step(w: Wave) -> None:
        group = w.group
        value = group.in_cluster << 6 | group.member << 21
        w.write_scalar(target, value >> low & (1 << width) - 1)

    return step


def memory_or_state(inst: Instruction) -> Step | None:
    """The step of an instruction of this module, or None when `inst` is not one."""
    if _LOAD.match(inst.mnemonic):
        return scalar_load(inst)
    if inst.mnemonic in ("s_setreg_imm32_b32", "s_setreg_b32"):
        return set_register(inst)
    if inst.mnemonic == "s_getreg_b32":
        return get_register(inst)
    if inst.mnemonic == "s_sendmsg" and "MSG_DEALLOC_VGPRS" in inst.text:
        return lambda w: None
    if inst.mnemonic in NO_EFFECT:
        return lambda w: None
    return None
