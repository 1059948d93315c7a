"""The FP8 GEMM as a problem: its parameters, its inputs, and the NumPy reference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import ml_dtypes
import numpy as np

from lodestone.kernels._fp8_gemm_operand import STEP
from lodestone.kernels._kernel import Arguments, Array

# How the LDS buffers are declared: regions of one dynamic global, regions that become a
# dynamic global each, or a static global each.
Form = Literal["regions", "separate-globals", "static"]

TILES = (64, 128, 256)


@dataclass(frozen=True)
class Parameters:
    """What a kernel is built for; all checked on construction."""

    tile_m: int = 256
    tile_n: int = 256
    k: int = 1024
    form: Form = "regions"

    def __post_init__(self) -> None:
        """Raise ValueError, with the rule and the value."""
        for name, size in (("tile_m", self.tile_m), ("tile_n", self.tile_n)):
            if size not in TILES:
                raise ValueError(f"{name} must be one of {TILES}, got {size}")
        if self.k % STEP or self.k < 2 * STEP:
            raise ValueError(f"k must be a multiple of {STEP}, at least {2 * STEP}, got {self.k}")
        if self.k > 1 << 20:
            raise ValueError(f"k must be at most {1 << 20}, got {self.k}")
        if self.form not in get_args(Form):
            raise ValueError(f"form must be one of {get_args(Form)}, got {self.form!r}")


def inputs(size: Mapping[str, int], k: int, random: np.random.Generator) -> Arguments:
    """Return random arguments, with NaN for C.

    Args:
        size: "m" and "n".
        k: columns of A and B.
        random: where the numbers come from.
    """
    m, n = size["m"], size["n"]
    fp8 = ml_dtypes.float8_e4m3fn
    return {
        "a": random.standard_normal((m, k)).astype(fp8),
        "b": random.standard_normal((n, k)).astype(fp8),
        "c": np.full((m, n), np.nan, ml_dtypes.bfloat16),
        "row_scale": random.uniform(0.5, 2, m).astype(np.float32),
        "column_scale": random.uniform(0.5, 2, n).astype(np.float32),
        "m": m,
        "n": n,
    }


def reference(arguments: Arguments) -> dict[str, Array]:
    """Return C in f32, of the same arguments as the kernel's."""
    a, b, rows, columns = (
        np.asarray(arguments[name]).astype(np.float32)
        for name in ("a", "b", "row_scale", "column_scale")
    )
    return {"c": (a @ b.T) * rows[:, None] * columns[None, :]}
