"""Warp sets: every mask of 1 to 16 warps, against a model that knows only the definition."""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lodestone.tdm import WarpSet, WarpSetError, legal_warp_sets

EIGHT = [0x01, 0x02, 0x03, 0x04, 0x05, 0x08, 0x0A, 0x0C, 0x0F, 0x10, 0x11, 0x20, 0x22, 0x30, 0x33,
         0x40, 0x44, 0x50, 0x55, 0x80, 0x88, 0xA0, 0xAA, 0xC0, 0xCC, 0xF0, 0xFF]  # fmt: skip


def subcube(free: int, anchor: int) -> frozenset[int]:
    """All warps `anchor | s`, s a subset of the bits of `free`."""
    bits = [1 << i for i in range(5) if free >> i & 1]
    subsets = chain.from_iterable(combinations(bits, n) for n in range(len(bits) + 1))
    return frozenset(anchor | sum(subset) for subset in subsets)


def model(num_warps: int) -> dict[int, tuple[int, int]]:
    """The legal masks with their free and anchored bits, from the definition."""
    pairs = [(f, a) for f in range(num_warps) for a in range(num_warps) if not f & a]
    return {sum(1 << w for w in subcube(f, a)): (f, a) for f, a in pairs}


def expected_rule(mask: int, num_warps: int) -> str:
    if mask == 0:
        return "empty"
    if mask >> num_warps:
        return "beyond-warps"
    if mask.bit_count() not in (1, 2, 4, 8, 16, 32):
        return "count-not-power-of-two"
    return "not-axis-aligned"


# The masks of 8 warps that are known to be legal are the legal ones, and 2^n warps have 3^n.
def test_known_masks() -> None:
    assert [s.mask for s in legal_warp_sets(8)] == EIGHT
    assert [len(legal_warp_sets(n)) for n in (1, 2, 4, 8, 16, 32)] == [1, 3, 9, 27, 81, 243]


# Each mask, with one warp too many as well, is accepted with its pair or refused with the first
# rule that it breaks and the legal mask that is really the nearest.
@pytest.mark.parametrize("num_warps", [1, 2, 4, 8, 16])
def test_every_mask(num_warps: int) -> None:
    pairs = model(num_warps)
    legal = np.array(sorted(pairs))
    masks = np.arange(1 << num_warps + 1)
    ones = np.array([mask.bit_count() for mask in masks.tolist()], np.int8)
    distance = ones[masks[:, None] ^ legal]
    # The first minimum is that of the smallest mask.
    for mask, nearest in enumerate(legal[distance.argmin(axis=1)].tolist()):
        check_mask(mask, num_warps, pairs, nearest)


# Any mask at all, of 32 warps.
@given(st.integers(0, 2**32 - 1))
def test_masks_of_32_warps(mask: int) -> None:
    legal = model(32)
    check_mask(mask, 32, legal, min(legal, key=lambda m: ((m ^ mask).bit_count(), m)))


def check_mask(mask: int, num_warps: int, legal: dict[int, tuple[int, int]], nearest: int) -> None:
    if mask in legal:
        warps = WarpSet(mask, num_warps)
        assert (warps.free, warps.anchor) == legal[mask]
        assert warps.active == tuple(sorted(subcube(*legal[mask])))
        assert len(warps) == mask.bit_count() and warps == WarpSet.from_pair(
            warps.free, warps.anchor, num_warps
        )
        return
    with pytest.raises(WarpSetError) as caught:
        WarpSet(mask, num_warps)
    assert caught.value.rule == expected_rule(mask, num_warps)
    assert caught.value.nearest is not None and caught.value.nearest.mask == nearest


# A number of warps that has no sets is named as the reason before the mask is looked at.
@pytest.mark.parametrize(
    ("num_warps", "rule"),
    [(0, "warps-not-power-of-two"), (12, "warps-not-power-of-two"), (64, "too-many-warps"),
     (96, "warps-not-power-of-two")],
)  # fmt: skip
def test_number_of_warps(num_warps: int, rule: str) -> None:
    for mask in (0, 1, 0x69):
        with pytest.raises(WarpSetError, match=str(num_warps)) as caught:
            WarpSet(mask, num_warps)
        assert caught.value.rule == rule and caught.value.nearest is None
    assert legal_warp_sets(num_warps) == ()


# A pair is refused if a bit is both free and anchored, or no warp of the workgroup has it.
@pytest.mark.parametrize(
    ("free", "anchor", "rule", "text"),
    [
        (0b011, 0b010, "free-and-anchor-overlap", "bit 1 of the warp id is both"),
        (0b1000, 0, "beyond-warps", "bit 3 is free, but the ids of 8 warps have 3 bits"),
        (0, 0b1000, "beyond-warps", "bit 3 is anchored"),
        (2**40, 0, "beyond-warps", "bit 40 is free"),
    ],
)
def test_pairs(free: int, anchor: int, rule: str, text: str) -> None:
    with pytest.raises(WarpSetError, match=text) as caught:
        WarpSet.from_pair(free, anchor, 8)
    assert caught.value.rule == rule


# The messages say the values and the reason: people read them to mend a mask.
@pytest.mark.parametrize(
    ("mask", "text"),
    [
        (0x00, "hint 0x00 selects no warp, but one at least must move the data"),
        (0x100, "hint 0x100 selects warp 8, but the workgroup has warps 0 to 7 only"),
        (0x07, "hint 0x07 selects 3 warps, but a block is divided among a power of two of warps"),
        (0x18, "hint 0x18 is not axis-aligned: its 2 warps (3, 4) differ in 3 bits of the warp id, "
         "but must be all the warps that agree in the other bits, so differ in exactly 1; "
         "nearest legal: 0x08 (free = 0b000, anchor = 0b011, of = 8)"),
    ],
)  # fmt: skip
def test_messages(mask: int, text: str) -> None:
    with pytest.raises(WarpSetError) as caught:
        WarpSet(mask, 8)
    assert str(caught.value).startswith(text)


# What isn't a mask at all is refused, too, and not cut off to 32 bits.
def test_not_a_mask() -> None:
    with pytest.raises(ValueError, match="mask is 4294967296"):
        WarpSet(1 << 32, 8)
    with pytest.raises(ValueError, match="mask is -1"):
        WarpSet(-1, 8)
    with pytest.raises(ValueError, match="num_warps is -8"):
        WarpSet(1, -8)
    with pytest.raises(ValueError, match="num_warps is -8"):
        legal_warp_sets(-8)


# The representation shows the pair, and the picture marks the active warps and no other.
def test_representation() -> None:
    warps = WarpSet(0xF0, num_warps=8)
    assert repr(warps) == (
        "WarpSet(0xf0, num_warps=8) <free = 0b011, anchor = 0b100, active = (4, 5, 6, 7)>"
    )
    assert 4 in warps and 3 not in warps
    svg = warps._repr_svg_()
    assert svg.count('rx="3"') == 8 and svg.count('fill="none"') == 4
    assert "<title>0xf0: warps 4, 5, 6, 7</title>" in svg
