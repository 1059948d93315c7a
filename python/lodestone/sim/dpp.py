"""DPP: the first source of a vector instruction, moved between lanes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .asm import LANES, Instruction
from .errors import UnsupportedInstruction
from .wave import Array, Wave

DPP_MODIFIERS = (
    "quad_perm", "row_shl", "row_shr", "row_ror", "row_newbcast", "row_mirror",
    "row_half_mirror", "row_bcast", "wave_shl", "wave_shr", "wave_rol", "wave_ror", "row_mask",
    "bank_mask", "bound_ctrl", "fi",
)  # fmt: skip
# Controls without a value, which parse as operands.
DPP_WORDS = ("row_mirror", "row_half_mirror")


def dpp_lanes(inst: Instruction) -> tuple[Array, Array]:
    """The DPP lane map: source lane of each lane, and which of them exist."""
    lanes = LANES[inst.chip]
    at = np.arange(lanes)
    row, place = at & ~15, at & 15
    m = inst.modifiers
    text = inst.text
    if "quad_perm" in m:
        return (at & ~3) + np.array(m["quad_perm"])[at & 3], np.ones(lanes, bool)
    if "row_shl" in m:
        return row + (place + m["row_shl"] & 15), place + m["row_shl"] < 16
    if "row_shr" in m:
        return row + (place - m["row_shr"] & 15), place >= m["row_shr"]
    if "row_ror" in m:
        return row + (place - m["row_ror"] & 15), np.ones(lanes, bool)
    if "row_newbcast" in m:
        return row + m["row_newbcast"], np.ones(lanes, bool)
    if "row_half_mirror" in text:
        return (at & ~7) + 7 - (at & 7), np.ones(lanes, bool)
    if "row_mirror" in text:
        return row + 15 - place, np.ones(lanes, bool)
    if "row_bcast" in m:
        size = m["row_bcast"] + 1
        return (at // size) * size - 1 & lanes - 1, at >= size
    if "wave_shl" in m:
        return at + 1 & lanes - 1, at + 1 < lanes
    if "wave_shr" in m:
        return at - 1 & lanes - 1, at >= 1
    if "wave_rol" in m:
        return at + 1 & lanes - 1, np.ones(lanes, bool)
    if "wave_ror" in m:
        return at - 1 & lanes - 1, np.ones(lanes, bool)
    raise UnsupportedInstruction(inst, "DPP control is not supported")


def dpp_source(inst: Instruction, row: int) -> Callable[[Wave], Any]:
    """Getter that permutes `row` across lanes.

    A lane whose source lane doesn't exist or is off reads 0; without bound_ctrl it isn't written
    at all (`dpp_write_mask`).
    """
    index, exists = dpp_lanes(inst)
    fetch_inactive = bool(inst.modifiers.get("fi", 0))

    def get(w: Wave) -> Array:
        valid = exists if w.full or fetch_inactive else exists & w.mask[index]
        return np.where(valid, w.R[row][index], np.uint32(0))

    return get


def dpp_write_mask(inst: Instruction) -> Callable[[Wave], Array]:
    """The lanes that a DPP instruction writes."""
    index, exists = dpp_lanes(inst)
    at = np.arange(LANES[inst.chip])
    m = inst.modifiers
    rows = (m.get("row_mask", 15) >> (at >> 4) & 1).astype(bool)
    banks = (m.get("bank_mask", 15) >> (at >> 2 & 3) & 1).astype(bool)
    enabled = rows & banks
    if m.get("bound_ctrl", 0):
        return lambda w: enabled & w.mask
    fetch_inactive = bool(m.get("fi", 0))

    def mask(w: Wave) -> Array:
        valid = exists if fetch_inactive else exists & w.mask[index]
        return np.asarray(enabled & valid & w.mask)

    return mask
