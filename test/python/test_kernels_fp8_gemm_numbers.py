"""The FP8 GEMM computes what it should, on the instruction set simulator."""

from typing import get_args

import lodestone
import pytest
from lodestone.kernels.fp8_gemm import Form, fp8_gemm

sim = pytest.importorskip("lodestone.sim")


def check(tile_m: int, tile_n: int, k: int, form: Form, m: int, n: int, mode: str) -> None:
    kernel = fp8_gemm(tile_m, tile_n, k, form)
    arguments, launch = kernel.inputs(m=m, n=n), kernel.launch(m=m, n=n)
    result = sim.run(
        lodestone.compile(kernel).code_object,
        grid=launch.grid,
        block=launch.block,
        args=list(arguments.values()),
        dynamic_lds=launch.dynamic_lds,
        mode=mode,
    )
    assert not result.findings
    c = result.outputs[2]
    assert c is not None
    assert kernel.error({"c": c}, arguments) <= 1


@pytest.mark.parametrize("mode", ["E", "R", "W"])
@pytest.mark.parametrize("form", get_args(Form))
def test_every_form_in_every_mode(form: Form, mode: str) -> None:
    """Right numbers with early and with late DMAs, at the ragged edges of C, without races."""
    check(64, 128, 512, form, m=100, n=136, mode=mode)


@pytest.mark.parametrize("k", [256, 384, 1024])
def test_big_tile(k: int) -> None:
    """The 256x256 tile: no loop, an odd number of steps, and the main loop."""
    check(256, 256, k, "regions", m=256, n=256, mode="R")


@pytest.mark.parametrize(("tile_m", "tile_n"), [(128, 64), (256, 64), (64, 256), (128, 256)])
def test_other_tiles(tile_m: int, tile_n: int) -> None:
    """Waves and halves of other sizes."""
    check(tile_m, tile_n, 640, "regions", m=tile_m + 3, n=tile_n - 4, mode="R")
