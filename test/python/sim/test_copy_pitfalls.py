"""Copies that other compilers get wrong, executed: the right bytes, or a refusal with its name.

Whatever is refused runs as it was written, and so leaves the bytes that it leaves without options.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tile_copies import TileCopy

pytest.importorskip("lodestone._native")

import lodestone
from lodestone import ir, sim
from lodestone.remarks import collect_remarks
from lodestone.swizzle import Swizzle

PLAIN: dict[str, Any] = {"inverse_swizzle": False, "direct_to_lds": "off"}
DIRECT: dict[str, Any] = {"inverse_swizzle": True, "direct_to_lds": "on"}


def compile_text(text: str, chip: str, options: dict[str, Any]) -> tuple[bytes, set[str]]:
    """The code object, and the names of the refusals of the passes on copies."""
    with ir.Context():
        module = ir.Module.parse(text)
        with collect_remarks(filter="lds-(inverse-swizzle|form-direct-loads)") as remarks:
            code = lodestone.compile(module, chip=chip, bare_pointers=True, **options).code_object
    return code, {r.name for r in remarks if r.kind == "missed"}


def images(kernel: TileCopy, code: bytes) -> Iterator[NDArray[np.uint32]]:
    """LDS after the kernel, with copies early and late."""
    program = sim.load(code)
    for mode, order in itertools.product("ER", ("forward", "reverse")):
        image = np.zeros(kernel.lds_words, np.uint32)
        result = sim.run(program, args=[kernel.source(), image], mode=mode, order=order,
                         dynamic_lds=kernel.lds_words * 4 + 1024)  # fmt: skip
        assert not result.errors, result.errors
        output = result.outputs[1]
        assert output is not None
        yield output


XOR = "#lds.xor<bits = 3, base = {}, shift = {}>"
ABSOLUTE = {"no-closed-form", "not-lane-linear"}
KERNELS: dict[str, tuple[TileCopy, set[str]]] = {
    "8 bytes a lane": (TileCopy(words=2, row_cells=16, threads=128, width=128), set()),
    "not its own inverse": (TileCopy(swizzle="not-own-inverse", threads=128, width=128), set()),
    "not its own inverse, steps": (TileCopy(swizzle="not-own-inverse", steps=4), set()),
    "not its own inverse, attribute": (
        TileCopy(swizzle="none", attribute=XOR.format(4, 2)), set()),
    "base 3": (TileCopy(swizzle="flat", base=3), ABSOLUTE),
    "base 8": (TileCopy(swizzle="flat", base=8), set()),
    "base 16, a period": (TileCopy(swizzle="flat", base=16), set()),
    "small granule": (
        TileCopy(swizzle="none", attribute=XOR.format(3, 4)),
        {"value-used-elsewhere", "value-changed"}),
}  # fmt: skip


# Eight bytes a lane are two DMAs of dwords on gfx942 and gfx950, but not with the lanes as they
# are: 63 of 64 places would overlap. S<3, 4, 2> isn't its own inverse. A tile that begins in the
# middle of a period of the xor, which is on whole addresses. A granule smaller than the DMA.
@pytest.mark.parametrize("chip", ["gfx942", "gfx950"])
@pytest.mark.parametrize("name", KERNELS)
def test_right_or_refused(name: str, chip: str) -> None:
    """LDS is NumPy's, and the refusals are these."""
    kernel, refusals = KERNELS[name]
    expected = kernel.expected()
    if kernel.attribute:
        # The image is read back through the logical indices.
        assert not Swizzle.parse(kernel.attribute).is_identity
    for options in (PLAIN, DIRECT):
        code, missed = compile_text(kernel.text(), chip, options)
        assert missed == (refusals if options is DIRECT else set())
        for image in images(kernel, code):
            np.testing.assert_array_equal(image, expected)
    isa = lodestone.compile(
        kernel.text(), chip=chip, bare_pointers=True, format="isa", **DIRECT
    ).isa
    assert bool(re.search(r"buffer_load_dword.* lds$", isa, re.MULTILINE)) != bool(refusals)


# An xor by 8 rows on the 12 cells of 96 columns of f16, and by 16 on 24: cells leave their rows and
# land on others. Such a copy is wrong as it is written: the last of two lanes that store to one
# place wins. It is refused, and so not made worse.
@pytest.mark.parametrize(("row_cells", "phases"), [(12, 8), (24, 16)])
@pytest.mark.parametrize("chip", ["gfx942", "gfx950"])
def test_colliding_rows(row_cells: int, phases: int, chip: str) -> None:
    """Refused by both passes, and the same bytes with them as without."""
    kernel = TileCopy(row_cells=row_cells, phases=phases, steps=6, element="f16",
                      unrolled=True)  # fmt: skip
    place = kernel.place(*np.divmod(np.arange(kernel.cells), row_cells))
    assert len(np.unique(place)) < kernel.cells
    plain, _ = compile_text(kernel.text(), chip, PLAIN)
    direct, missed = compile_text(kernel.text(), chip, DIRECT)
    assert missed & {"colliding-cells", "no-contiguous-window"} and "not-lane-linear" in missed
    for want, got in zip(images(kernel, plain), images(kernel, direct), strict=True):
        np.testing.assert_array_equal(got, want)
    # As an attribute it is an error, with two bytes that collide.
    with pytest.raises(ValueError, match=r"offsets \d+ and \d+ both go to \d+"):
        Swizzle.row_xor(row_cells, phases)


def with_use(use: str, attribute: str) -> tuple[TileCopy, str]:
    """A kernel whose tile is also used by `use`, behind the copy's barrier."""
    kernel = TileCopy(swizzle="none" if attribute else "xor", attribute=attribute)
    before, barrier, after = kernel.text().rpartition("gpu.barrier")
    lds = f"memref<{kernel.lds_elements}xi32, #lds>"
    text = before + barrier + use.replace("LDS", lds) + after
    other = f"func.func private @other(%tile: {lds}) attributes {{no_inline}} {{ return }}\n"
    return kernel, text.replace("gpu.module @m {\n", "gpu.module @m {\n" + other, 1)


CALL = "\n    func.call @other(%tile) : (LDS) -> ()"
VIEW = """
    %step = memref.load %image[%c0] : memref<256xi32>
    %stride = arith.index_cast %step : i32 to index
    %view = memref.subview %tile[0] [1] [%stride]
      : LDS to memref<1xi32, strided<[?]>, #lds>
    %read = memref.load %view[%c0] : memref<1xi32, strided<[?]>, #lds>
    memref.store %read, %image[%c0] : memref<256xi32>"""


# An allocation that is passed to a call, and a reader that can't be rewritten: with a swizzle of
# the allocation, the compiler stops, for nobody knows where the other side looks. A swizzle that
# is written by hand is in the readers' own indices: they find the bytes where they are.
@pytest.mark.parametrize(
    ("use", "refusal"), [(CALL, "swizzle-escapes"), (VIEW, "swizzle-unsupported-view")]
)
@pytest.mark.parametrize("options", [PLAIN, DIRECT], ids=["plain", "direct"])
def test_all_or_none(use: str, refusal: str, options: dict[str, Any]) -> None:
    """The attribute stays or goes as a whole."""
    _, text = with_use(use, "#lds.xor<bits = 3, base = 4, shift = 3>")
    with ir.Context():
        module = ir.Module.parse(text)
        with collect_remarks(filter="lds-.*") as remarks:
            with pytest.raises(lodestone.MLIRError, match="swizzle"):
                lodestone.compile(module, chip="gfx950", bare_pointers=True, **options)
    assert refusal in {r.name for r in remarks if r.kind == "missed"}
    kernel, text = with_use(use, "")
    code, _ = compile_text(text, "gfx950", options)
    for image in images(kernel, code):
        np.testing.assert_array_equal(image[1:], kernel.expected()[1:])
