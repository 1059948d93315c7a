"""lds-inverse-swizzle leaves the bytes of LDS as they were, executed.

Kernels that copy tiles in many shapes are run as written and rewritten; both must leave the image
that NumPy computes.
"""

from __future__ import annotations

import re
import subprocess

import numpy as np
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from tile_copies import TileCopy

pytest.importorskip("lodestone._native")

import lodestone
from lodestone import sim

KINDS = ["xor", "xor-high", "flat", "not-own-inverse", "rotate", "rotate-back", "none"]


def transform(text: str, *passes: str) -> tuple[str, list[str]]:
    """The module after the passes, and the names of their remarks, with [Passed] or [Missed]."""
    out = subprocess.run(
        ["lodestone-opt", *passes, "--remarks-filter=.*", "--remark-format=emitRemark"],
        input=text, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert out.returncode == 0, out.stderr
    return out.stdout, re.findall(r"\[(?:Passed|Missed)\] [a-z-]+", out.stderr)


def run(kernel: TileCopy, text: str, mode: str = "E", chip: str = "gfx950") -> None:
    """Compile, run, and compare the image that the threads find in LDS."""
    code = lodestone.compile(text, chip=chip, bare_pointers=True).code_object
    image = np.zeros(kernel.lds_words, np.uint32)
    result = sim.run(sim.load(code), args=[kernel.source(), image], mode=mode,
                     dynamic_lds=kernel.lds_words * 4)  # fmt: skip
    assert not result.findings, result.findings
    np.testing.assert_array_equal(result.outputs[1], kernel.expected())


@st.composite
def copies(draw: st.DrawFn) -> TileCopy:
    """Any shape; what doesn't fit together is part of it."""
    threads = draw(st.sampled_from([64, 128, 192, 256, 512]))
    row_cells = draw(st.sampled_from([2, 4, 8, 16, 32, 12, 24]))
    steps = draw(st.integers(1, 4))
    rows = -(-threads * steps // row_cells)
    return TileCopy(
        words=draw(st.sampled_from([1, 2, 4])),
        row_cells=row_cells,
        threads=threads,
        width=draw(st.sampled_from([threads, 16, 32])),
        steps=steps,
        unrolled=draw(st.booleans()),
        along=draw(st.booleans()),
        nested=2 if steps % 2 == 0 and draw(st.booleans()) else 1,
        carried=draw(st.booleans()),
        guarded=draw(st.booleans()),
        steps_valid=draw(st.sampled_from([steps, steps, 1])),
        swizzle=draw(st.sampled_from(KINDS)),
        fill=draw(st.sampled_from(["none", "zero", "select", "keep", "zero-first"])),
        rows_valid=draw(st.integers(0, rows)),
        columns_valid=draw(st.integers(0, row_cells)),
    )


def is_whole(kernel: TileCopy) -> bool:
    """True if LDS holds whole periods, so that no cell leaves it."""
    return kernel.swizzle != "not-own-inverse" or kernel.cells % 32 == 0


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    copies().filter(is_whole),
    st.sampled_from(["gfx950", "gfx942"]),
    st.sampled_from(
        [[], ["--lds-split-copy-phases"], ["--lds-split-copy-phases=register-budget=5"]]
    ),
)
def test_any_shape(kernel: TileCopy, chip: str, then: list[str]) -> None:
    """Rewritten or refused, loads first or not, LDS is the same."""
    rewritten, remarks = transform(kernel.text(), "--lds-inverse-swizzle", *then)
    for remark in set(remarks):
        event(remark)
    run(kernel, kernel.text(), chip=chip)
    for mode in "ER":
        run(kernel, rewritten, mode, chip)


@pytest.mark.parametrize("swizzle", ["not-own-inverse", "rotate", "rotate-back", "xor-high"])
@pytest.mark.parametrize("unrolled", [False, True])
def test_other_swizzles_are_rewritten(swizzle: str, unrolled: bool) -> None:
    """Bijections that aren't their own inverse, and those that depend on the step."""
    kernel = TileCopy(threads=64, width=16, steps=4, swizzle=swizzle, unrolled=unrolled,
                      fill="zero", rows_valid=27, columns_valid=7)  # fmt: skip
    rewritten, remarks = transform(kernel.text(), "--lds-inverse-swizzle")
    assert set(remarks) == {"[Passed] inverse-swizzle-applied"}
    run(kernel, rewritten)


@pytest.mark.parametrize(
    "attribute",
    ["#lds.xor<bits = 3, base = 4, shift = 3>", "#lds.xor<bits = 3, base = 4, shift = 2>"],
)
@pytest.mark.parametrize("fill", ["none", "zero", "keep"])
def test_attribute_is_rewritten(attribute: str, fill: str) -> None:
    """A swizzle of the allocation: readers, who use logical indices, find the tile."""
    kernel = TileCopy(threads=128, width=128, steps=2, swizzle="none", attribute=attribute,
                      fill=fill, rows_valid=29, columns_valid=6)  # fmt: skip
    rewritten, remarks = transform(kernel.text(), "--lds-inverse-swizzle")
    assert "[Passed] inverse-swizzle-applied" in remarks and "swizzle(" not in rewritten
    run(kernel, rewritten)


@pytest.mark.parametrize(
    "loops", [{}, {"nested": 2}, {"carried": True}, {"steps_valid": 3}], ids=str
)
@pytest.mark.parametrize("threads", [64, 192])
@pytest.mark.parametrize("swizzle", ["xor", "rotate", "none"])
def test_rows_of_threads_are_rewritten(swizzle: str, threads: int, loops: dict[str, int]) -> None:
    """Threads that copy a row each: no step fills a window, all steps do."""
    kernel = TileCopy(
        threads=threads, width=threads, steps=8, along=True, swizzle=swizzle,
        fill="keep", rows_valid=threads - 3, columns_valid=7, **loops,  # type: ignore[arg-type]
    )  # fmt: skip
    rewritten, remarks = transform(kernel.text(), "--lds-inverse-swizzle")
    assert remarks == ["[Passed] inverse-swizzle-applied"]
    run(kernel, rewritten)


@pytest.mark.parametrize("steps_valid", [8, 3])
@pytest.mark.parametrize("nested", [1, 2])
def test_guard_moves_into_loops(nested: int, steps_valid: int) -> None:
    """A bound of rows around the loops, where each thread has one row."""
    kernel = TileCopy(steps=8, along=True, guarded=True, fill="keep", nested=nested, rows_valid=50,
                      columns_valid=7, steps_valid=steps_valid)  # fmt: skip
    assert kernel.guards_rows
    rewritten, remarks = transform(kernel.text(), "--lds-inverse-swizzle")
    assert remarks == ["[Passed] inverse-swizzle-applied"]
    run(kernel, rewritten)


@pytest.mark.parametrize("unrolled", [False, True])
@pytest.mark.parametrize("fill", ["none", "zero", "select", "keep", "zero-first"])
@pytest.mark.parametrize("words", [1, 2, 4])
def test_xor_is_rewritten(words: int, fill: str, unrolled: bool) -> None:
    """Rows of 128 bytes with tails: every copy of these is rewritten, and right."""
    row_cells = 32 // words
    kernel = TileCopy(words=words, row_cells=row_cells, threads=128, width=128, steps=2,
                      unrolled=unrolled, fill=fill, rows_valid=5,
                      columns_valid=row_cells - 1)  # fmt: skip
    rewritten, remarks = transform(kernel.text(), "--lds-inverse-swizzle")
    stores = 2 if fill == "zero-first" else 1
    steps = 2 if unrolled else 1
    assert remarks == ["[Passed] inverse-swizzle-applied"] * (stores * steps)
    run(kernel, rewritten)
