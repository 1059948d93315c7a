"""Vector instructions that move data between lanes, and between vector and scalar registers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .asm import Instruction
from .errors import UnsupportedInstruction
from .values import Step, check_modifiers, scalar_source, source, vector_row
from .wave import Wave


def _scalar_target(inst: Instruction) -> int:
    operand = inst.operands[0]
    if operand.kind != "s":
        raise UnsupportedInstruction(inst, f"destination {operand.text} is not scalar")
    return operand.index


def readfirstlane(inst: Instruction) -> Step:
    """The value of the lowest active lane (lane 0 when none is)."""
    check_modifiers(inst)
    target = _scalar_target(inst)
    get = source(inst, 1, "u", 0)

    def step(w: Wave) -> None:
        bits = w.exec_bits
        lane = (bits & -bits).bit_length() - 1 if bits else 0
        w.write_scalar(target, int(np.broadcast_to(get(w), w.lanes)[lane]))

    return step


def readlane(inst: Instruction) -> Step:
    """The value of one lane, whether it is active or not."""
    check_modifiers(inst)
    target, row = _scalar_target(inst), vector_row(inst, 1)
    lane = scalar_source(inst, inst.operands[2])
    return lambda w: w.write_scalar(target, int(w.R[row][lane(w) & w.lanes - 1]))


def writelane(inst: Instruction) -> Step:
    """Write one lane, whether it is active or not."""
    check_modifiers(inst)
    row = vector_row(inst, 0)
    value = scalar_source(inst, inst.operands[1])
    lane = scalar_source(inst, inst.operands[2])

    def step(w: Wave) -> None:
        w.R[row][lane(w) & w.lanes - 1] = value(w) & 0xFFFFFFFF

    return step


def permlane32_swap(inst: Instruction) -> Step:
    """Swap lanes 32..63 of the first register with lanes 0..31 of the second."""
    check_modifiers(inst)
    return _swap(inst, [(slice(32, 64), slice(0, 32))])


def permlane16_swap(inst: Instruction) -> Step:
    """Swap the odd 16-lane rows of the first register with the even rows of the second."""
    check_modifiers(inst)
    return _swap(inst, [(slice(16, 32), slice(0, 16)), (slice(48, 64), slice(32, 48))])


def _swap(inst: Instruction, parts: list[tuple[slice, slice]]) -> Step:
    first, second = vector_row(inst, 0), vector_row(inst, 1)

    def step(w: Wave) -> None:
        one, other = w.R[first], w.R[second]
        for mine, theirs in parts:
            kept = one[mine].copy()
            # Both lanes of a pair take part only if both are active.
            live = w.mask[mine] & w.mask[theirs]
            np.copyto(one[mine], other[theirs], where=live)
            np.copyto(other[theirs], kept, where=live)

    return step


def swap(inst: Instruction) -> Step:
    """Swap two registers in the active lanes."""
    check_modifiers(inst)
    first, second = vector_row(inst, 0), vector_row(inst, 1)

    def step(w: Wave) -> None:
        kept = w.R[first].copy()
        np.copyto(w.R[first], w.R[second], where=w.mask)
        np.copyto(w.R[second], kept, where=w.mask)

    return step


def nothing(inst: Instruction) -> Step:
    """v_nop."""
    return lambda w: None


TABLE: dict[str, Callable[[Instruction], Any]] = {
    "v_readfirstlane_b32": readfirstlane,
    "v_readlane_b32": readlane,
    "v_writelane_b32": writelane,
    "v_permlane32_swap_b32": permlane32_swap,
    "v_permlane16_swap_b32": permlane16_swap,
    "v_swap_b32": swap,
    "v_nop": nothing,
}
