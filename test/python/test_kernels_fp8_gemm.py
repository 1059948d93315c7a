"""The FP8 GEMM: its parameters, its record, and the code that it compiles to."""

import itertools
from typing import Any, get_args

import lodestone
import numpy as np
import pytest
from lodestone import ir
from lodestone.kernels.fp8_gemm import TILES, Form, fp8_gemm
from lodestone.report import figures

FORMS = get_args(Form)


@pytest.mark.parametrize(("tile_m", "tile_n"), list(itertools.product(TILES, TILES)))
def test_every_tile_builds(tile_m: int, tile_n: int) -> None:
    """Each pair of tiles makes a module that verifies, with LDS for two steps of K."""
    kernel = fp8_gemm(tile_m, tile_n, k=256)
    assert kernel.module.operation.verify()
    assert kernel.dynamic_lds == 2 * 128 * (tile_m + tile_n)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"tile_m": 96}, "tile_m must be one of .*, got 96"),
        ({"tile_n": 512}, "tile_n must be one of .*, got 512"),
        ({"k": 128}, "k must be a multiple of 128, at least 256, got 128"),
        ({"k": 300}, "k must be a multiple of 128, at least 256, got 300"),
        ({"form": "dynamic"}, "form must be one of .*, got 'dynamic'"),
    ],
)
def test_bad_parameters(parameters: dict[str, Any], message: str) -> None:
    """A parameter out of range is refused with the rule and the value."""
    with pytest.raises(ValueError, match=message):
        fp8_gemm(**parameters)


def test_launch_covers_the_problem() -> None:
    """Tiles that stick out of C count as whole workgroups."""
    launch = fp8_gemm(128, 64, k=256).launch(m=129, n=64)
    assert (launch.grid, launch.block, launch.dynamic_lds) == ((1, 2, 1), (256, 1, 1), 49152)
    assert fp8_gemm(64, 64, k=256, form="static").launch(m=1, n=4).dynamic_lds == 0


def test_dimensions_are_checked() -> None:
    """A missing, unknown or empty dimension is an error, not a launch of nothing."""
    kernel = fp8_gemm(64, 64, k=256)
    for dimensions in ({}, {"m": 1}, {"m": 1, "n": 4, "k": 256}, {"m": 0, "n": 4}):
        with pytest.raises(ValueError, match="dimension"):
            kernel.launch(**dimensions)
    with pytest.raises(ValueError, match="dimension n must be a multiple of 4, got 6"):
        kernel.inputs(m=8, n=6)


def test_argument_layout() -> None:
    """Five pointers and two 32-bit numbers, as the kernel descriptor has them."""
    layout = fp8_gemm(64, 64, k=256).layout()
    assert list(layout.values()) == [0, 8, 16, 24, 32, 40, 44]


def test_reference_and_tolerance() -> None:
    """The reference rounded to bf16 is right; one wrong element, or a NaN, is not."""
    kernel = fp8_gemm(64, 64, k=256)
    arguments = kernel.inputs(m=5, n=8)
    right = kernel.reference(arguments)["c"].astype(kernel.arguments[2].dtype)
    assert kernel.error({"c": right}, arguments) <= 1
    for wrong in (0, np.nan):
        spoiled = right.copy()
        spoiled[4, 7] = wrong
        assert kernel.error({"c": spoiled}, arguments) > 1
    # What a kernel that stores nothing leaves behind.
    assert kernel.error({"c": arguments["c"]}, arguments) == np.inf


def test_ops_carry_their_source() -> None:
    """Findings can name the line of the kernel that asked for an op."""
    kernel = fp8_gemm(64, 64, k=256)
    assert "fp8_gemm.py" in kernel.module.operation.get_asm(enable_debug_info=True)


def test_builds_in_the_current_context() -> None:
    """A kernel can be put beside other code."""
    with ir.Context() as context:
        assert fp8_gemm(64, 64, k=256).module.context is context


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("k", [256, 512, 1024])
def test_scopes_leave_the_kernels_own_waits(form: Form, k: int) -> None:
    """With alias scopes: no spill, no wait for all in the main loop, no DMA drained early,
    and the checker proves that no wait is missing.
    """
    compiled = lodestone.compile(fp8_gemm(k=k, form=form), format="isa")
    assert compiled.check.clean, compiled.check
    assert not compiled.untagged_fallback
    x = figures(compiled.isa, "gfx950", cycles=False)
    assert (x.spills, x.scratch_bytes) == (0, 0)
    assert x.loop_zero_waits == 0
    assert x.drains is not None and x.drains.early == 0
    # A step takes 16 DMAs, 32 LDS reads and 64 MFMAs; LLVM keeps a loop of two steps.
    steps = x.mfmas // 64
    assert (x.mfmas, x.lds_reads, x.lds_dmas) == (64 * steps, 32 * steps, 16 * steps)
    assert {16} >= set(x.loop_waits)


@pytest.mark.parametrize(("tile_m", "tile_n"), [(64, 64), (64, 256), (256, 64), (128, 128)])
def test_small_tiles_compile_clean(tile_m: int, tile_n: int) -> None:
    """Other tiles keep the same promises."""
    compiled = lodestone.compile(fp8_gemm(tile_m, tile_n, 1024), format="isa")
    assert compiled.check.clean, compiled.check
    x = figures(compiled.isa, "gfx950", cycles=False)
    assert (x.spills, x.loop_zero_waits) == (0, 0)


@pytest.mark.parametrize("form", ["regions", "separate-globals"])
def test_without_scopes_the_loss_shows(form: Form) -> None:
    """Without alias scopes the same kernel drains almost every DMA early."""
    kernel = fp8_gemm(k=1024, form=form)
    x = figures(lodestone.compile(kernel, format="isa", alias_scopes=False).isa, "gfx950")
    assert x.loop_zero_waits >= 8
    assert x.drains is not None and x.drains.early > x.drains.dmas // 2
