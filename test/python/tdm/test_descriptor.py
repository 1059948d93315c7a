"""Tensor descriptors against a second transcription of the layout, field by field."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lodestone.sim import ops_tdm
from lodestone.tdm import Gather, Iteration, Padding, TDMDescriptor

# Group, first bit in the group, bits: from the ISA text's table of each group.
TENSOR_DIMS = [(1, 48, 32), (1, 80, 32), (2, 0, 32), (2, 32, 32), (3, 48, 32)]
TILE_DIMS = [(1, 112, 16), (1, 128, 16), (1, 144, 16), (2, 112, 16), (3, 80, 16)]
STRIDES = [(1, 160, 48), (1, 208, 48), (2, 64, 48), (3, 0, 48)]


def model(d: TDMDescriptor) -> tuple[tuple[int, ...], ...]:
    """The words of `d`, which is legal, by adding numbers of any size."""
    groups = [0, 0, 0, 0]

    def put(place: tuple[int, int, int], value: int) -> None:
        group, first, width = place
        assert 0 <= value < 1 << width and groups[group] >> first & (1 << width) - 1 == 0
        groups[group] += value << first

    put((0, 0, 2), int(d.enabled))
    put((0, 32, 32), d.lds_address)
    put((0, 64, 57), d.global_address)
    put((0, 126, 2), 2)
    put((1, 0, 16), d.workgroup_mask)
    put((1, 16, 2), d.element_bytes.bit_length() - 1)
    put((1, 21, 1), int(d.early_timeout))
    if d.barrier_address is not None:
        put((1, 18, 1), 1)
        put((1, 32, 16), d.barrier_address // 8)
    if d.padding:
        put((1, 20, 1), 1)
        put((1, 22, 3), d.padding.interval.bit_length() - 2)
        put((1, 25, 7), d.padding.amount - 1)
    for i in range(len(d.tile_dims)):
        put(TENSOR_DIMS[i], d.tensor_dims[i])
        put(TILE_DIMS[i], d.tile_dims[i])
    for i, stride in enumerate(d.strides):
        put(STRIDES[i], stride)
    if d.iteration:
        put((1, 19, 1), 1)
        put((2, 32, 32), d.iteration.lds_increment)
        put((2, 64, 48), d.iteration.global_increment)
        put((2, 112, 16), d.iteration.count - 1)
    if d.gather:
        put((0, 31, 1), 1)
        put((0, 30, 1), int(d.gather.wide))
        width, per_group = (32, 4) if d.gather.wide else (16, 8)
        for i, row in enumerate(d.gather.rows):
            put((2 + i // per_group, i % per_group * width, width), row)
    sizes = (4, 8, 4, 4)
    return tuple(
        tuple(value >> 32 * i & 0xFFFFFFFF for i in range(n))
        for value, n in zip(groups, sizes, strict=True)
    )


def check(d: TDMDescriptor) -> None:
    words = d.encode()
    assert words == model(d)
    assert TDMDescriptor.decode(words) == d
    if len(d.tile_dims) <= 2 and not d.iteration and not d.gather:
        assert TDMDescriptor.decode(words[:2]) == d


PLAIN = TDMDescriptor(tensor_dims=(300, 200), tile_dims=(64, 32), strides=(300,))


def of_rank(rank: int) -> TDMDescriptor:
    return TDMDescriptor((9,) * rank, (3,) * rank, (9,) * (rank - 1))


def with_item(values: tuple[int, ...], index: int, value: int) -> tuple[int, ...]:
    return (*values[:index], value, *values[index + 1 :])


# Word values known from elsewhere: a multicast f32 copy, 5 dwords of padding every 64, a barrier,
# early timeout, 7 iterations.
def test_known_words() -> None:
    d = replace(
        of_rank(2),
        workgroup_mask=0x8005,
        padding=Padding(64, 5),
        barrier_address=0,
        early_timeout=True,
        iteration=Iteration(7, 0, 0),
    )
    words = d.encode()
    assert words[1][0] == 0x097E8005
    assert words[2][3] == 6 << 16
    assert replace(d, early_timeout=False).encode()[1][0] == 0x095E8005


# Every value of every small field, and each bit and the limits of the wide ones, is written where
# it belongs, changes nothing else, and reads back.
def test_small_fields() -> None:
    for enabled in (False, True):
        check(replace(PLAIN, enabled=enabled, early_timeout=not enabled))
    for element_bytes in (1, 2, 4, 8):
        check(replace(PLAIN, element_bytes=element_bytes))
    for interval in (2, 4, 8, 16, 32, 64, 128, 256):
        for amount in range(1, 129):
            check(replace(PLAIN, padding=Padding(interval, amount)))


def wide(bits: int) -> list[int]:
    return [0, (1 << bits) - 1, *(1 << i for i in range(bits))]


def test_sixteen_bit_fields_in_full() -> None:
    for value in range(1 << 16):
        d = replace(PLAIN, workgroup_mask=value, tile_dims=(max(value, 1), 0xFFFF - value or 1))
        check(replace(d, barrier_address=8 * value))


@pytest.mark.parametrize("rank", [1, 2, 3, 4, 5])
def test_wide_fields(rank: int) -> None:
    base = of_rank(rank)
    for value in wide(32):
        check(replace(base, lds_address=value))
        for i in range(rank):
            check(replace(base, tensor_dims=with_item(base.tensor_dims, i, value)))
    for value in wide(57):
        check(replace(base, global_address=value))
    for value in wide(48):
        for i in range(rank - 1):
            check(replace(base, strides=with_item(base.strides, i, value)))
    for value in wide(16)[1:]:
        for i in range(rank):
            check(replace(base, tile_dims=with_item(base.tile_dims, i, value)))


def test_iteration_and_gather() -> None:
    for rank in (1, 2, 3):
        for value in wide(16):
            check(replace(of_rank(rank), iteration=Iteration(value + 1, 5, 6)))
        for value in wide(32):
            check(replace(of_rank(rank), iteration=Iteration(2, value, 6)))
        for value in wide(48):
            check(replace(of_rank(rank), iteration=Iteration(2, 5, value)))
    for is_wide, limit, bits in ((False, 16, 16), (True, 8, 32)):
        for count in range(1, limit + 1):
            for value in wide(bits):
                rows = tuple((value + i) % (1 << bits) for i in range(count))
                check(replace(PLAIN, tile_dims=(64, count), gather=Gather(is_wide, rows)))


def descriptors() -> st.SearchStrategy[TDMDescriptor]:
    """Any legal descriptor."""

    @st.composite
    def build(draw: st.DrawFn) -> TDMDescriptor:
        def number(bits: int, low: int = 0) -> int:
            return draw(st.integers(low, (1 << bits) - 1))

        kind = draw(st.sampled_from(["plain", "iterate", "gather"]))
        rank = 2 if kind == "gather" else draw(st.integers(1, 3 if kind == "iterate" else 5))
        d = TDMDescriptor(
            tensor_dims=tuple(number(32) for _ in range(rank)),
            tile_dims=tuple(number(16, 1) for _ in range(rank)),
            strides=tuple(number(48) for _ in range(rank - 1)),
            lds_address=number(32),
            global_address=number(57),
            element_bytes=1 << number(2),
            enabled=draw(st.booleans()),
            workgroup_mask=number(16),
            early_timeout=draw(st.booleans()),
            barrier_address=draw(st.none() | st.integers(0, 0xFFFF).map(lambda x: 8 * x)),
            padding=draw(
                st.none()
                | st.builds(Padding, st.integers(1, 8).map(lambda x: 1 << x), st.integers(1, 128))
            ),
        )
        if kind == "iterate":
            d = replace(d, iteration=Iteration(number(16) + 1, number(32), number(48)))
        if kind == "gather":
            is_wide = draw(st.booleans())
            count = draw(st.integers(1, 8 if is_wide else 16))
            rows = tuple(number(32 if is_wide else 16) for _ in range(count))
            d = replace(d, tile_dims=(d.tile_dims[0], count), gather=Gather(is_wide, rows))
        return d

    return build()


# All fields together: none runs into another.
@given(descriptors())
def test_any_descriptor(d: TDMDescriptor) -> None:
    check(d)


# The simulator has a decoder of its own; both read the same copy from the same words.
@given(descriptors())
def test_simulator_reads_the_same(d: TDMDescriptor) -> None:
    d = replace(d, enabled=True, workgroup_mask=0, barrier_address=None)
    read = ops_tdm.decode(d.encode())
    assert read is not None
    assert (read.tensor, read.tile, read.strides) == (d.tensor_dims, d.tile_dims, (1, *d.strides))
    assert (read.lds, read.address, read.element) == (
        d.lds_address,
        d.global_address,
        d.element_bytes,
    )
    padding = d.padding or Padding(0, 0)
    assert (read.interval, read.amount) == (4 * padding.interval, 4 * padding.amount)
    assert read.rows == (d.gather.rows if d.gather else None)
    iteration = d.iteration or Iteration(1, 0, 0)
    assert read.repeats == iteration.count
    assert read.increments == (iteration.lds_increment, iteration.global_increment)


# Each value that doesn't fit its field is refused with the field's name and the value.
@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"lds_address": -1}, "the LDS address is -1, not in 0 to 4294967295"),
        ({"lds_address": 1 << 32}, "the LDS address is 4294967296"),
        ({"global_address": 1 << 57}, "the global address is 144115188075855872"),
        ({"element_bytes": 3}, "an element has 1, 2, 4 or 8 bytes, not 3"),
        ({"element_bytes": 16}, "an element has 1, 2, 4 or 8 bytes, not 16"),
        ({"element_bytes": 0}, "an element has 1, 2, 4 or 8 bytes, not 0"),
        ({"tensor_dims": (1 << 32, 1)}, "tensor dimension 0 is 4294967296"),
        ({"tensor_dims": (1, -1)}, "tensor dimension 1 is -1"),
        ({"tile_dims": (65536, 1)}, "tile dimension 0 is 65536, not in 1 to 65535"),
        ({"tile_dims": (1, 0)}, "tile dimension 1 is 0, not in 1 to 65535"),
        ({"strides": (1 << 48,)}, "the stride of dimension 1 is 281474976710656"),
        ({"strides": ()}, "rank 2 needs 2 tensor dimensions and 1 strides, not 2 and 0"),
        ({"tile_dims": ()}, "rank is 0, not in 1 to 5"),
        ({"tile_dims": (1,) * 6}, "rank is 6, not in 1 to 5"),
        ({"workgroup_mask": 1 << 16}, "the workgroup mask is 65536, not in 0 to 65535"),
        ({"barrier_address": 12}, "the barrier's LDS address is 12, not a multiple of 8"),
        ({"barrier_address": 1 << 19}, "the barrier's LDS address is 524288"),
        ({"barrier_address": -8}, "the barrier's LDS address is -8"),
        ({"padding": Padding(1, 4)}, "the pad interval is 1 dwords"),
        ({"padding": Padding(512, 4)}, "the pad interval is 512 dwords"),
        ({"padding": Padding(48, 4)}, "the pad interval is 48 dwords, not a power of two"),
        ({"padding": Padding(64, 0)}, "the pad amount in dwords is 0, not in 1 to 128"),
        ({"padding": Padding(64, 129)}, "the pad amount in dwords is 129"),
        ({"iteration": Iteration(0, 0, 0)}, "the number of iterations is 0, not in 1 to 65536"),
        ({"iteration": Iteration(65537, 0, 0)}, "the number of iterations is 65537"),
        ({"iteration": Iteration(1, 1 << 32, 0)}, "the LDS increment is 4294967296"),
        ({"iteration": Iteration(1, 0, 1 << 48)}, "the global increment is 281474976710656"),
        ({"gather": Gather(False, tuple(range(17)))}, "at most 16 rows of 16 bits, not 17"),
        ({"gather": Gather(True, tuple(range(9)))}, "at most 8 rows of 32 bits, not 9"),
        ({"gather": Gather(False, (1, 2))}, "a gather of 2 rows has a tile of 32 rows"),
        (
            {"gather": Gather(False, (65536,)), "tile_dims": (64, 1)},
            "row 0 is 65536, not in 0 to 65535",
        ),
        (
            {"gather": Gather(False, (1,)), "iteration": Iteration(2, 0, 0)},
            "a gather can't iterate",
        ),
        ({"elements": 4}, "unexpected keyword"),
        ({"tile_dims": ("64", 1)}, "tile_dims is .*, not ints of 64 bits"),
        ({"global_address": 1 << 70}, "global_address is 1180591620717411303424, not an int of 64"),
    ],
)
def test_out_of_range(changes: dict[str, object], text: str) -> None:
    with pytest.raises((ValueError, TypeError), match=text):
        replace(PLAIN, **changes).encode()  # type: ignore[arg-type]


# Dimension 3 has no room beside the increments, and a gather has rows and columns alone.
def test_rank_of_special_forms() -> None:
    with pytest.raises(ValueError, match="a copy that iterates has rank 3 at most, not 4"):
        replace(of_rank(4), iteration=Iteration(2, 0, 0)).encode()
    with pytest.raises(ValueError, match="a gather has rank 2, not 3"):
        replace(of_rank(3), gather=Gather(False, (1, 2, 3))).encode()


# Words that the hardware doesn't define are refused instead of read somehow.
def test_decode_refuses() -> None:
    words = [list(group) for group in PLAIN.encode()]
    with pytest.raises(ValueError, match="groups of"):
        TDMDescriptor.decode(words[:3])
    with pytest.raises(ValueError, match="more than 32 bits"):
        TDMDescriptor.decode([[1 << 32, 0, 0, 0], [0] * 8])

    def changed(group: int, word: int, bits: int) -> list[list[int]]:
        copy = [list(g) for g in words]
        copy[group][word] ^= bits
        return copy

    with pytest.raises(ValueError, match="count is 3, not 0 or 1"):
        TDMDescriptor.decode(changed(0, 0, 2))
    with pytest.raises(ValueError, match="type is 3, not 2"):
        TDMDescriptor.decode(changed(0, 3, 1 << 30))
    with pytest.raises(ValueError, match="can't iterate"):
        TDMDescriptor.decode(changed(1, 0, 1 << 19)[:2])
    with pytest.raises(ValueError, match="can't gather"):
        TDMDescriptor.decode(changed(0, 0, 1 << 31)[:2])
    with pytest.raises(ValueError, match="at most 16 rows of 16 bits, not 32"):
        TDMDescriptor.decode(changed(0, 0, 1 << 31))
