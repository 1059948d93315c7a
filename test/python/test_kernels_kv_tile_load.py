"""The K/V/Q tile producer: its parameters, its record, and the parts that it is made of."""

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kv_tiles import Configuration, grid
from lodestone.kernels._fast_division import FastDivisor
from lodestone.kernels._kv_problem import SWIZZLES, Swizzle
from lodestone.kernels.kv_tile_load import kv_tile_load


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"head_dim": 96}, "head_dim must be one of .*, got 96"),
        ({"dtype": "f32"}, "dtype must be one of .*, got 'f32'"),
        ({"columns": 136}, r"columns must be a multiple of 8 in 8..128, got 136"),
        ({"columns": 20}, r"columns must be a multiple of 8 in 8..128, got 20"),
        ({"rows": 24}, r"rows must be a multiple of 16 in 16..256, got 24"),
        ({"rows": 32, "head_dim": 64, "dtype": "fp8"}, "rows must be a multiple of 64 .* got 32"),
        ({"tiles": 3}, "tiles must be even, 2 to 4096, got 3"),
        ({"kv_heads": 0}, r"kv_heads must be in 1..256, got 0"),
        ({"kv_heads": 256, "tiles": 4096}, r"less than 2147483648 bytes"),
        ({"swizzle": 32}, "swizzle must be one of .*, got 32"),
        ({"q_swizzle": 96}, "q_swizzle must be one of .*, got 96"),
        ({"fill": "ones"}, "fill must be one of .*, got 'ones'"),
        ({"result": "sums"}, "result must be one of .*, got 'sums'"),
        ({"chip": "gfx90a"}, "chip must be one of .*, got 'gfx90a'"),
        ({"result": "scores", "fill": "none"}, "fill must be 'zero'"),
        ({"result": "scores", "rows": 16}, "scores need a multiple of 4 tiles"),
    ],
)
def test_bad_parameters(parameters: dict[str, Any], message: str) -> None:
    """A parameter out of range is refused with the rule and the value."""
    with pytest.raises(ValueError, match=message):
        kv_tile_load(**parameters)


def test_dimensions_are_checked() -> None:
    """A page size belongs to a paged kernel, and no row lies beyond the tiles."""
    contiguous, paged = kv_tile_load(), kv_tile_load(paged=True)
    sizes = {"length": 256, "q_rows": 64, "group": 4}
    assert paged.launch(**sizes, page_size=16).dynamic_lds == 5 * 64 * 128 * 2
    with pytest.raises(ValueError, match=r"dimension length must be in 1..256, got 257"):
        contiguous.launch(**{**sizes, "length": 257})
    with pytest.raises(ValueError, match="needs the dimensions length, q_rows, group, page_size"):
        paged.launch(**sizes)


@pytest.mark.parametrize("configuration", [*grid()][::7], ids=str)
def test_builds(configuration: Configuration) -> None:
    """Configurations of all axes make modules that verify, with LDS for five buffers."""
    kernel = configuration.kernel()
    assert kernel.module.operation.verify()
    assert list(kernel.layout()) == [argument.name for argument in kernel.arguments]
    # Of a launch at the limits, too: no row of the inputs is out of their bounds.
    sizes = {name: limit for name, (_, limit) in kernel.dimensions.items()}
    kernel.reference(kernel.inputs(**sizes))


def test_error_counts_single_bits() -> None:
    """An image with one wrong bit is wrong."""
    kernel = kv_tile_load(head_dim=64, rows=32, tiles=2)
    arguments = kernel.inputs(length=64, q_rows=32, group=2)
    image = kernel.reference(arguments)["result"].copy()
    assert kernel.error({"result": image}, arguments) == 0
    image[0, -1, -1] ^= 1
    assert kernel.error({"result": image}, arguments) > 1
    # What a kernel that stores nothing leaves behind.
    assert kernel.error({"result": np.asarray(arguments["result"])}, arguments) > 1


@pytest.mark.parametrize("bytes_", SWIZZLES)
@pytest.mark.parametrize("row_bytes", [64, 128, 256, 512])
def test_image_is_the_attributes(bytes_: int, row_bytes: int) -> None:
    """The image in rows and cells is that of the attribute's xor of byte offsets."""
    swizzle = Swizzle(bytes_, row_bytes)
    tile = np.random.default_rng(0).integers(0, 256, (64, row_bytes), np.uint8)
    numbers = re.findall(r"= (-?\d+)", swizzle.attribute)
    bits, base, shift = map(int, numbers) if numbers else (0, 0, 0)
    offset = np.arange(tile.size)
    mask = ((1 << bits) - 1) << (base + shift)
    expected = np.empty(tile.size, np.uint8)
    expected[offset ^ ((offset & mask) >> shift)] = tile.ravel()
    assert np.array_equal(swizzle.image(tile), expected)
    assert bool(bytes_) != np.array_equal(expected, tile.ravel())


@given(divisor=st.integers(1, 1 << 30), data=st.data())
def test_fast_division(divisor: int, data: st.DataObject) -> None:
    """The quotient is right on both sides of every multiple, up to the largest dividend."""
    fast = FastDivisor(divisor)
    assert fast.magic < 1 << 32
    largest = (1 << 31) - 1
    multiple = data.draw(st.integers(0, largest // divisor)) * divisor
    near = [multiple - 1, multiple, multiple + 1, largest]
    numbers = np.array([n for n in near if 0 <= n <= largest], np.uint32)
    assert np.array_equal(fast.divide(numbers), numbers // np.uint32(divisor))


def test_fast_division_is_exhaustive_for_small_numbers() -> None:
    """Every divisor and dividend below 512."""
    numbers = np.arange(512, dtype=np.uint32)
    for divisor in range(1, 512):
        assert np.array_equal(FastDivisor(divisor).divide(numbers), numbers // np.uint32(divisor))


@pytest.mark.parametrize("divisor", [0, -1, (1 << 30) + 1])
def test_bad_divisor(divisor: int) -> None:
    """Beyond the range of the proof there is no fast divisor."""
    with pytest.raises(ValueError, match=f"a divisor must be in .*, got {divisor}"):
        FastDivisor(divisor)
