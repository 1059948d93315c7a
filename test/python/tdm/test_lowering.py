"""What `convert-tdm-to-rocdl` puts into the descriptors, warp by warp, in compiled code."""

from __future__ import annotations

import dataclasses
import math

import copies as tdm
import pytest
from copies import Copy, execute, model
from hypothesis import assume, given, settings
from hypothesis import strategies as st


def check(copies: list[Copy], num_warps: int) -> None:
    found = execute(copies, num_warps)
    for warp in range(num_warps):
        want = [say for copy in copies for say in model(copy, num_warps, warp)]
        assert found[warp] == want, (warp, copies)


def legal_hints(num_warps: int) -> list[int]:
    hints = []
    for mask in range(1, 1 << num_warps):
        active = [w for w in range(num_warps) if mask >> w & 1]
        differing = 0
        for w in active:
            differing |= w ^ active[0]
        if len(active) == 1 << differing.bit_count():
            hints.append(mask)
    return hints


# Every legal hint, and none, on the block of the documentation; with sizes that are known
# and with sizes that are arguments.
@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("num_warps", [1, 2, 4, 8, 16])
def test_hints(num_warps: int, dynamic: bool) -> None:
    hints = legal_hints(num_warps)
    assert len(hints) == 3 ** (num_warps.bit_length() - 1)
    for first in range(0, len(hints), 27):
        check(
            [
                Copy((1000, 100), (256, 64), (256, 64), hint=hint, dynamic=dynamic)
                for hint in [None, *hints[first : first + 27]]
            ],
            num_warps,
        )


# Ranks, elements, strides; inside of the tensor, at its end, and beyond it in one or all
# dimensions.
@pytest.mark.parametrize("dtype", ["f8E4M3FN", "f16", "f32", "f64"])
@pytest.mark.parametrize("num_warps", [1, 2, 4, 8, 16])
def test_ranks_and_ends(num_warps: int, dtype: str) -> None:
    shape, block = (5, 6, 7, 20, 33), (4, 2, 2, 8, 16)
    copies = []
    for rank in range(1, 6):
        for offsets in [(0,) * rank, (3, 5, 6, 15, 30)[5 - rank :], shape[5 - rank :],
                        (0,) * (rank - 1) + (40,), (64,) * rank]:  # fmt: skip
            strides = None if len(copies) % 2 else (60000, 9000, 1200, 50, 1)[5 - rank :]
            copies.append(
                Copy(shape[5 - rank :], block[5 - rank :], offsets, dtype, strides,
                     hint=(1 << num_warps) - 1 if rank > 2 else None)
            )  # fmt: skip
    check([copy for copy in copies if copy.hint is None], num_warps)
    check([copy for copy in copies if copy.hint is not None], num_warps)


# Gaps in LDS move the parts of the warps.
@pytest.mark.parametrize("num_warps", [1, 4, 8])
def test_padding(num_warps: int) -> None:
    check(
        [
            Copy((300, 64), (128, 64), (5, 0), dtype, hint=hint, padding=padding)
            for dtype in ("f8E4M3FN", "f16", "f64")
            for padding in [(2, 1), (16, 4), (32, 8), (64, 128), (256, 128)]
            for hint in (None, 1, (1 << num_warps) - 1)
        ],
        num_warps,
    )


# Pieces at different places in LDS, along each dimension: with a hint in one instruction,
# without in as many as it takes.
@pytest.mark.parametrize("pieces", [2, 4, 8, 6])
@pytest.mark.parametrize("num_warps", [1, 2, 4, 8, 16])
def test_partitions(num_warps: int, pieces: int) -> None:
    copies = []
    for dimension, block in ((0, (pieces * 8, 64)), (1, (64, pieces * 16)), (1, (1, pieces * 16))):
        hints = [h for h in legal_hints(num_warps) if h.bit_count() % pieces == 0]
        fitting = [h for h in hints if block[0] > 1 or h.bit_count() == pieces]
        for hint in [None, *fitting[:6]]:
            copies.append(
                Copy((200, 300), block, (10, 20), hint=hint, partition=(dimension, pieces))
            )
        copies.append(Copy((200, 300), block, (10, 20), "f32", padding=(16, 4),
                           partition=(dimension, pieces)))  # fmt: skip
    check(copies, num_warps)


@st.composite
def any_copy(draw: st.DrawFn, num_warps: int) -> Copy:
    rank = draw(st.integers(1, 5))
    block = tuple(draw(st.integers(1, 12)) for _ in range(rank))
    shape = tuple(draw(st.integers(1, 20)) for _ in range(rank))
    offsets = tuple(draw(st.integers(0, 25)) for _ in range(rank))
    dtype = draw(st.sampled_from(sorted(tdm.BYTES)))
    # Eight of them fit into the LDS.
    assume(math.prod(block) * tdm.BYTES[dtype] <= 32768)
    copy = Copy(shape, block, offsets, dtype, dynamic=draw(st.booleans()))
    # The largest hint that the block can be divided among.
    parts = sum(model(copy, num_warps, warp) != [None] for warp in range(num_warps))
    hints = [h for h in legal_hints(num_warps) if h.bit_count() <= parts]
    return dataclasses.replace(copy, hint=draw(st.sampled_from([None, *hints])))


# Blocks of any size, also odd ones, which can be divided among few warps only.
@settings(max_examples=8, deadline=None)
@given(st.data())
def test_any_block(data: st.DataObject) -> None:
    num_warps = data.draw(st.sampled_from([1, 2, 4, 8, 16]))
    check(data.draw(st.lists(any_copy(num_warps), min_size=1, max_size=8)), num_warps)


# One instruction with another descriptor on each group of warps; warps of no member rest.
def test_fused() -> None:
    members = [
        Copy((1000, 100), (256, 64), (512, 64), "f16", hint=0x03),
        Copy((64, 300), (32, 128), (0, 128), "f8E4M3FN", hint=0x30, padding=(32, 4)),
        Copy((50, 50), (16, 16), (49, 49), "f64", hint=0x04, dynamic=True),
    ]
    found = execute(members, 8, fused=True)
    for warp in range(8):
        said = [model(m, 8, warp) for m in members if (m.hint or 0) >> warp & 1]
        assert found[warp] == (said[0] if said else [None])
