"""The swizzle algebra against formulas written down independently in NumPy."""

from __future__ import annotations

import itertools
import math
import re

import lodestone
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lodestone.swizzle import Swizzle

# Formulas ---------------------------------------------------------------------------------------


def xor(q, bits, base, shift):
    """CuTe's definition, in floor arithmetic instead of masks."""
    if shift >= 0:
        field = q // 2 ** (base + shift) % 2**bits
        return np.bitwise_xor(q, field * 2**base)
    field = q // 2**base % 2**bits
    return np.bitwise_xor(q, field * 2 ** (base - shift))


def row_xor(q, cells, phases, rows_per_phase, cell_bytes):
    """By coordinates; cells may leave their row."""
    row, column = np.divmod(q, cells * cell_bytes)
    cell, byte = np.divmod(column, cell_bytes)
    cell = np.bitwise_xor(cell, row // rows_per_phase % phases)
    return (row * cells + cell) * cell_bytes + byte


def rotate(q, row_bytes, cell_bytes, step):
    row, column = np.divmod(q, row_bytes)
    cell, byte = np.divmod(column, cell_bytes)
    return row * row_bytes + (cell + step * row) % (row_bytes // cell_bytes) * cell_bytes + byte


def padded(q, row_bytes, pad_bytes):
    return q + q // row_bytes * pad_bytes


def granule(image: np.ndarray) -> int:
    """The largest power of two whose aligned blocks `image` keeps together and aligned."""
    size = 1
    while size < len(image):
        blocks = image[: len(image) // (2 * size) * 2 * size].reshape(-1, 2 * size)
        if len(image) % (2 * size) or (blocks[:, 0] % (2 * size)).any():
            break
        if (blocks != blocks[:, :1] + np.arange(2 * size)).any():
            break
        size *= 2
    return size


def check(swizzle: Swizzle, image: np.ndarray, exact: bool = True) -> None:
    """The swizzle is the map `image` of offsets 0, 1, ..., and says the truth about it."""
    q = np.arange(len(image))
    assert np.array_equal(swizzle.apply(q), image)
    assert np.array_equal(swizzle.inverse(image), q)
    assert np.array_equal(swizzle.inverted.apply(image), q)
    assert len(np.unique(image)) == len(image)
    period, shift = swizzle.period, swizzle.image_period
    assert len(image) >= 2 * period
    assert np.array_equal(image[period:], image[:-period] + shift)
    assert swizzle.is_identity == np.array_equal(image, q)
    # An involution maps whole periods onto themselves, so the image of the image is known.
    whole = len(q) // period * period
    onto = period == shift and (image[:whole] < whole).all()
    assert swizzle.is_involution == (onto and np.array_equal(image[image[:whole]], q[:whole]))
    assert swizzle.image_bytes(len(q)) == image.max() + 1
    if exact and not swizzle.is_identity:
        assert swizzle.granule == granule(image[:whole])
        assert all(
            (image[p:] - image[:-p] != image[p] - image[0]).any()
            for p in range(1, period)
            if period % p == 0
        )
    g = min(swizzle.granule, len(q))
    blocks = image[: len(q) // g * g].reshape(-1, g)
    assert (blocks == blocks[:, :1] + np.arange(g)).all() and (blocks[:, 0] % g == 0).all()


# Exhaustive -------------------------------------------------------------------------------------


def test_every_small_xor():
    """All xors of up to 3 bits: the formula, and an involution exactly if |shift| >= bits."""
    for bits, base, shift in itertools.product(range(4), range(4), range(-4, 5)):
        if bits and not shift:
            with pytest.raises(ValueError, match=f"offsets 0 and {2**base} both go to 0"):
                Swizzle.xor(bits, base, shift)
            continue
        swizzle = Swizzle.xor(bits, base, shift)
        check(swizzle, xor(np.arange(2 * 2 ** (bits + base + abs(shift))), bits, base, shift))
        assert swizzle.is_involution == (bits == 0 or abs(shift) >= bits)


def test_every_small_row_xor():
    """Accepted exactly if the formula permutes each row; else the message has a true example."""
    refused = collisions = 0
    for cells, phases, rows in itertools.product(range(1, 25), range(1, 18), (1, 2, 3)):
        q = np.arange(2 * cells * phases * rows * 4)
        image = row_xor(q, cells, phases, rows, 4)
        closed = (image // (cells * 4) == q // (cells * 4)).all()
        if closed:
            check(Swizzle.row_xor(cells, phases, rows, cell_bytes=4), image)
            continue
        refused += 1
        with pytest.raises(ValueError) as error:
            Swizzle.row_xor(cells, phases, rows, cell_bytes=4)
        if len(np.unique(image)) == len(image):
            a, p = map(
                int, re.findall(r"offset (\d+) goes to (\d+), in another", str(error.value))[0]
            )
            assert row_xor(a, cells, phases, rows, 4) == p
            assert a // (cells * 4) != p // (cells * 4)
            continue
        collisions += 1
        a, b, p = collision(str(error.value))
        assert a != b
        assert row_xor(np.array([a, b]), cells, phases, rows, 4).tolist() == [p, p]
    assert refused > collisions > 100


def collision(message: str) -> tuple[int, ...]:
    found = re.search(r"offsets (\d+) and (\d+) both go to (\d+)", message)
    assert found, message
    return tuple(map(int, found.groups()))


def test_every_small_coordinate_xor():
    """By row and column, as FlyDSL has it, for rows that are powers of two and others."""
    accepted = 0
    for bits, base_row, base_col, cells in itertools.product(
        range(4), range(3), range(4), range(1, 13)
    ):
        row_bytes = cells * 4
        row, column = np.divmod(np.arange(2 * row_bytes * 2 ** (bits + base_row)), row_bytes)
        moved = np.bitwise_xor(column, (row >> base_row & (2**bits - 1)) << base_col)
        if bits and (row_bytes % 2**base_col or (moved >= row_bytes).any()):
            with pytest.raises(ValueError):
                Swizzle.coord_xor(bits, base_row, base_col, row_bytes)
            continue
        accepted += 1
        check(Swizzle.coord_xor(bits, base_row, base_col, row_bytes), row * row_bytes + moved)
    assert accepted > 100


def test_every_small_rotation():
    """Any number of cells; the inverse turns the other way."""
    for cells, cell_bytes, step in itertools.product(range(1, 13), (1, 4, 16), range(5)):
        swizzle = Swizzle.rotate(cells * cell_bytes, cell_bytes, step)
        q = np.arange(2 * cells * cells * cell_bytes)
        check(swizzle, rotate(q, cells * cell_bytes, cell_bytes, step))


def test_every_small_padding():
    """Injective; bytes of the padding have no logical offset."""
    for row_bytes, pad_bytes in itertools.product(range(1, 20), range(6)):
        swizzle = Swizzle.padded(row_bytes, pad_bytes)
        check(swizzle, padded(np.arange(row_bytes * 4), row_bytes, pad_bytes))
        if pad_bytes:
            with pytest.raises(ValueError, match=f"offset {row_bytes} is in the padding"):
                swizzle.inverse(row_bytes)


# Beyond -----------------------------------------------------------------------------------------


@st.composite
def steps(draw):
    """A swizzle and its formula."""
    kind = draw(st.sampled_from(["xor", "row_xor", "rotate", "padded"]))
    if kind == "xor":
        a = (draw(st.integers(1, 5)), draw(st.integers(0, 5)),
             draw(st.integers(-5, 5).filter(bool)))  # fmt: skip
        return Swizzle.xor(*a), lambda q: xor(q, *a)
    if kind == "row_xor":
        phases = draw(st.integers(1, 9))
        cells = draw(st.integers(1, 3)) * 2 ** (phases - 1).bit_length()
        a = (cells, phases, draw(st.integers(1, 3)), 2 ** draw(st.integers(0, 5)))
        return Swizzle.row_xor(*a), lambda q: row_xor(q, *a)
    cell = 2 ** draw(st.integers(0, 5))
    row = cell * draw(st.integers(1, 12))
    if kind == "rotate":
        step = draw(st.integers(0, 20))
        return Swizzle.rotate(row, cell, step), lambda q: rotate(q, row, cell, step)
    pad = draw(st.integers(0, 40))
    return Swizzle.padded(row, pad), lambda q: padded(q, row, pad)


@st.composite
def compositions(draw):
    """A composition of up to three, its formula, and the parts."""
    parts = draw(st.lists(steps(), max_size=3))

    def formula(q):
        for _, part in parts:
            q = part(q)
        return q

    try:
        return Swizzle.compose(*(swizzle for swizzle, _ in parts)), formula
    except ValueError as error:
        assert "period exceeds" in str(error)
        return Swizzle(), lambda q: q


@settings(max_examples=300, deadline=None)
@given(compositions())
def test_compositions(pair):
    """Steps one after the other; inverse, period, image and granule of the whole are right."""
    swizzle, formula = pair
    if swizzle.period <= 1 << 14:
        check(swizzle, formula(np.arange(3 * swizzle.period)), exact=False)
    else:
        q = np.random.default_rng(0).integers(0, 1 << 30, 1000)
        assert np.array_equal(swizzle.apply(q), formula(q))
        assert np.array_equal(swizzle.inverse(swizzle.apply(q)), q)


@settings(max_examples=200, deadline=None)
@given(compositions(), st.integers(0, 5000), st.integers(0, 6000))
def test_tiles(pair, tile, available):
    """A tile fits exactly if the formula says so, and the message is true."""
    swizzle, formula = pair
    image = formula(np.arange(tile))
    assert swizzle.image_bytes(tile) == (image.max() + 1 if tile else 0)
    if (image < available).all():
        swizzle.verify(tile, available)
        return
    with pytest.raises(ValueError) as error:
        swizzle.verify(tile, available)
    q, p = map(int, re.findall(r"offset (\d+) goes to (\d+)", str(error.value))[0])
    assert image[q] == p >= available


@settings(max_examples=100, deadline=None)
@given(compositions())
def test_repr_and_attribute_round_trip(pair):
    """What is printed makes the same swizzle again, and so does its attribute."""
    swizzle, _ = pair
    assert eval(repr(swizzle), {"Swizzle": Swizzle}) == swizzle
    try:
        text = swizzle.to_mlir()
    except ValueError:
        phases = [values[1] for name, values in swizzle._map.steps if name == "row_xor"]
        per = [values[2] for name, values in swizzle._map.steps if name == "row_xor"]
        assert swizzle == Swizzle() or any(n & (n - 1) for n in phases + per)
        return
    assert Swizzle.parse(text) == swizzle


# What goes wrong elsewhere ----------------------------------------------------------------------


def test_96_columns_of_f16_and_8_phases():
    """12 cells a row can't be xored by 8 rows: some cells would be written twice."""
    with pytest.raises(ValueError, match="12 cells a row are no multiple of 8") as error:
        Swizzle.coord_xor(bits=3, base_row=0, base_col=4, row_bytes=192)
    a, b, p = collision(str(error.value))
    assert row_xor(np.array([a, b]), 12, 8, 1, 16).tolist() == [p, p]
    # By 4 rows they can, and any number can be rotated.
    Swizzle.coord_xor(bits=2, base_row=0, base_col=4, row_bytes=192).verify(64 * 192)
    Swizzle.rotate(row_bytes=192).verify(64 * 192)


def test_24_cells_and_16_phases():
    """A tile of 24 cells a row with period 16."""
    with pytest.raises(ValueError, match="24 cells a row are no multiple of 16"):
        Swizzle.row_xor(cells=24, phases=16)


def test_s_3_4_2_is_not_its_own_inverse():
    """Applying it twice is not the identity; its inverse takes another step."""
    swizzle = Swizzle.xor(3, 4, 2)
    assert not swizzle.is_involution
    q = np.arange(swizzle.period)
    assert (swizzle.apply(swizzle.apply(q)) != q).any()
    assert np.array_equal(swizzle.inverse(swizzle.apply(q)), q)
    assert swizzle.inverted == Swizzle.compose(Swizzle.xor(3, 4, 2), Swizzle.xor(1, 4, 4))


def test_flydsl_and_cute():
    """(3, 1, 4) in rows of 128 bytes is S<3, 4, 4>; elements are counted in bytes here."""
    assert Swizzle.from_flydsl(3, 1, 4, row_bytes=128) == Swizzle.xor(3, 4, 4)
    assert Swizzle.from_flydsl(3, 1, 3, 128, element_bytes=2) == Swizzle.xor(3, 4, 4)
    # The usual swizzle of 128-byte rows of f16: CuTe counts elements.
    assert Swizzle.from_cute(3, 3, 3, element_bytes=2) == Swizzle.xor(3, 4, 3)
    with pytest.raises(ValueError, match="element_bytes 3 is no power of two"):
        Swizzle.from_cute(3, 3, 3, element_bytes=3)


def test_row_stride():
    """A tile with a gap behind each row: packed offsets in, swizzled ones of the wide rows out."""
    swizzle = Swizzle.xor(2, 4, 4).with_row_stride(64, 256)
    row, column = np.divmod(np.arange(0, 1024), 64)
    assert np.array_equal(swizzle.apply(np.arange(0, 1024)), xor(row * 256 + column, 2, 4, 4))
    with pytest.raises(ValueError, match="rows of 64 bytes overlap at a stride of 48"):
        Swizzle.xor(2, 4, 4).with_row_stride(64, 48)


def test_part_of_a_period():
    """A tile may end inside of a period if nothing leaves it."""
    swizzle = Swizzle.xor(3, 4, 3)
    assert swizzle.period == 1024
    swizzle.verify(640)
    with pytest.raises(ValueError, match="offset 543 goes to 607, outside of the 592 bytes"):
        swizzle.verify(592)


def test_inverse_undoes_composition():
    """Steps that undo each other are dropped."""
    for swizzle in (Swizzle.xor(3, 4, 3), Swizzle.rotate(192), Swizzle.padded(128, 16),
                    Swizzle.coord_xor(2, 0, 4, 192)):  # fmt: skip
        assert swizzle.then(swizzle.inverted) == Swizzle()
    assert Swizzle.xor(3, 4, 2).then(Swizzle.xor(3, 4, 2).inverted).is_identity


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Swizzle.xor(8, 8, 5), "make a period above 1048576"),
        (lambda: Swizzle.xor(-1, 4, 3), "bits -1 is not between"),
        (lambda: Swizzle.xor(3, 4, 2**70), "integers of 64 bits"),
        (lambda: Swizzle.xor(2**62, 2**62, 1), "make a period above 1048576"),
        (lambda: Swizzle.rotate(100), "a row of 100 bytes is no multiple of a cell of 16 bytes"),
        (lambda: Swizzle.rotate(96, cell_bytes=12), "a cell of 12 bytes is no power of two"),
        (lambda: Swizzle.rotate(2**40), "is not between 1 and 1048576"),
        (lambda: Swizzle.padded(0, 4), "a row of 0 bytes"),
        (lambda: Swizzle.padded(128, 2**21), "a padding of 2097152 bytes exceeds"),
        (lambda: Swizzle.row_xor(0, 4), "0 cells is not between"),
        (lambda: Swizzle.row_xor(2**10, 2**10, 2**10), "exceeds 1048576"),
        (lambda: Swizzle.row_xor(2, 2, cell_bytes=2**60), "is no"),
        (lambda: Swizzle.coord_xor(3, 0, 4, 72), "a row of 72 bytes is no multiple"),
        (lambda: Swizzle.coord_xor(63, 0, 4, 72), "are not all below 21"),
        (lambda: Swizzle.xor(1, 10, 4).then(Swizzle.padded(997, 1)).then(Swizzle.rotate(208)),
         "the composition's period exceeds"),
        (lambda: Swizzle.xor(3, 4, 3).verify(2**21), "tile_bytes 2097152 is not between"),
        (lambda: Swizzle.xor(3, 4, 3).apply(-1), "offset -1 is negative"),
        (lambda: Swizzle.parse("3 : i32"), "not a swizzle"),
    ],
)  # fmt: skip
def test_errors(make, message):
    """Each limit is a ValueError with the values."""
    with pytest.raises(ValueError, match=message):
        make()


def test_other_errors():
    """Text that isn't an attribute, one that is no bijection, offsets that aren't integers."""
    for text in ("#lds.xor<", "#lds.xor<bits = 3, base = 4, shift = 0>", ""):
        with pytest.raises(lodestone.MLIRError):
            Swizzle.parse(text)
    with pytest.raises(TypeError, match="float64, not integers"):
        Swizzle().apply([0.5])
    assert Swizzle().apply([]).shape == (0,)
    assert Swizzle.xor(3, 4, 3).apply(128) == 128 + 16
    assert Swizzle.xor(3, 4, 3).apply(np.zeros((2, 3), np.uint8)).shape == (2, 3)


# The arithmetic that the passes emit ------------------------------------------------------------


def emitted(attribute: str, offsets: list[int], size: int) -> list[int]:
    """The physical offsets that lds-apply-swizzles gives constant indices, by folding."""
    from lodestone import ir
    from lodestone.passmanager import PassManager

    lines = [
        f"%i{n} = arith.constant {q} : index\nmemref.store %v, %a[%i{n}] : memref<{size}xi8, 3>"
        for n, q in enumerate(offsets)
    ]
    text = f"""gpu.module @m {{ gpu.func @k(%v: i8) kernel {{
      %a = lds.region @a size({2**20}) swizzle({attribute}) : memref<{size}xi8, 3>
      {chr(10).join(lines)}
      gpu.return }} }}"""
    with ir.Context():
        module = ir.Module.parse(text)
        PassManager.parse(
            "builtin.module(gpu.module(lds-apply-swizzles{strict=true},canonicalize))"
        ).run(module.operation)
        folded = str(module)
    constants = {
        name: int(value)
        for name, value in re.findall(r"(%\S+) = arith.constant (\d+) : index", folded)
    }
    return [constants[name] for name in re.findall(r"memref.store %\S+, %\S+\[(%\S+)\]", folded)]


@settings(max_examples=60, deadline=None)
@given(compositions(), st.lists(st.integers(0, 8191), min_size=1, max_size=20))
def test_emitted_arithmetic(pair, offsets):
    """Folded on constants, what the pass emits gives what `apply` gives."""
    swizzle, _ = pair
    try:
        attribute = swizzle.to_mlir()
        swizzle.verify(8192, 2**20)
    except ValueError:
        return
    assert emitted(attribute, offsets, 8192) == swizzle.apply(offsets).tolist()


def test_period_is_lcm():
    """The period of a composition of rotations is what both divide."""
    swizzle = Swizzle.rotate(48).then(Swizzle.rotate(80))
    assert swizzle.period == math.lcm(48 * 3, 80 * 5)
