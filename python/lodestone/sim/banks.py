"""LDS bank conflicts from the published phases.

The lanes of one instruction are served in phases; a conflict is two different dwords of one bank
within a phase. Each table entry lists the lane groups that are served together.
"""

from __future__ import annotations

import numpy as np

from .wave import Array

BANKS = {"gfx942": 32, "gfx950": 64, "gfx1250": 64}

Phases = tuple[tuple[int, ...], ...]


def _lanes(*ranges: tuple[int, int]) -> tuple[int, ...]:
    return tuple(lane for first, last in ranges for lane in range(first, last + 1))


def _both_halves(*phases: tuple[int, ...]) -> Phases:
    return phases + tuple(tuple(lane + 32 for lane in phase) for phase in phases)


def _consecutive(size: int, lanes: int = 64) -> Phases:
    return tuple(tuple(range(i, i + size)) for i in range(0, lanes, size))


# (chip, direction, bytes per lane) -> phases.
PHASES: dict[tuple[str, str, int], Phases] = {
    ("gfx950", "read", 4): _consecutive(64),
    ("gfx950", "read", 8): _consecutive(32),
    ("gfx950", "read", 16): _both_halves(
        _lanes((0, 3), (12, 15), (20, 27)), _lanes((4, 11), (16, 19), (28, 31))
    ),
    ("gfx950", "write", 4): _consecutive(32),
    ("gfx950", "write", 8): _consecutive(16),
    ("gfx950", "write", 16): _consecutive(8),
    ("gfx942", "read", 4): _consecutive(32),
    ("gfx942", "read", 8): _consecutive(16),
    ("gfx942", "read", 16): _both_halves(
        _lanes((0, 3), (20, 23)),
        _lanes((4, 7), (16, 19)),
        _lanes((8, 11), (28, 31)),
        _lanes((12, 15), (24, 27)),
    ),
    ("gfx942", "write", 4): _consecutive(32),
    ("gfx942", "write", 8): _consecutive(16),
    ("gfx942", "write", 16): _consecutive(8),
}


def bank_use(
    chip: str, direction: str, starts: Array, unit: int, active: Array | None = None
) -> Array | None:
    """Different dwords that one instruction asks each bank for, phase by phase.

    Args:
        direction: "read" or "write".
        starts: int64 [components, lanes], byte address of each component.
        unit: bytes of a component.
        active: boolean [components, lanes], or None for all.

    Returns:
        int64 [phases, banks], or None when no phases are published for this chip and width.
    """
    size = max(4, unit * len(starts))
    phases = PHASES.get((chip, direction, size))
    if phases is None:
        return None
    banks = BANKS[chip]
    order = np.array(phases)
    dwords = (starts >> 2)[:, order].transpose(1, 0, 2).reshape(len(phases), -1)
    live = np.ones(dwords.shape, bool)
    if active is not None:
        live = active[:, order].transpose(1, 0, 2).reshape(len(phases), -1)
    # One row per phase; a dword read by several lanes is a broadcast and counts once.
    dwords = np.sort(np.where(live, dwords, -1), axis=1)
    first = np.ones(dwords.shape, bool)
    first[:, 1:] = dwords[:, 1:] != dwords[:, :-1]
    first &= dwords >= 0
    bank = dwords % banks + banks * np.arange(len(phases))[:, None]
    return np.bincount(bank[first], minlength=banks * len(phases)).reshape(len(phases), banks)


def conflicts(
    chip: str, direction: str, starts: Array, unit: int, active: Array | None
) -> int | None:
    """Extra cycles that bank conflicts cost one instruction.

    Args: those of `bank_use`.

    Returns:
        The sum over phases of (dwords in the busiest bank - 1), or None when no phases are
        published for this chip and width.
    """
    busy = bank_use(chip, direction, starts, unit, active)
    return None if busy is None else int(np.maximum(busy.max(axis=1) - 1, 0).sum())
