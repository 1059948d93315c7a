"""The grid of K/V/Q tile producers, and how one is compiled and judged."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass
from typing import Any

import lodestone
import numpy as np
from lodestone import sim
from lodestone.kernels._kernel import Kernel
from lodestone.kernels.kv_tile_load import FORMS, Chip, ElementType, Fill, kv_tile_load

TILES = 4


@dataclass(frozen=True)
class Configuration:
    """A point of the grid; tails: the last rows, the last columns of a tile don't exist."""

    head_dim: int
    dtype: ElementType
    swizzle: int
    fill: Fill
    row_tail: bool
    column_tail: bool
    paged: bool
    chip: Chip

    @property
    def row_bytes(self) -> int:
        """Bytes of a row of a tile."""
        return self.head_dim * (1 if self.dtype == "fp8" else 2)

    @property
    def rows(self) -> int:
        """Rows of a tile, the fewest there are."""
        return max(16, 4096 // self.row_bytes)

    @property
    def cells(self) -> int:
        """16-byte cells of a tile that a lane copies."""
        return self.rows * self.row_bytes // 4096

    def kernel(self, **parameters: Any) -> Kernel:
        """Build the kernel with the smallest tiles there are, four of K and of V."""
        return kv_tile_load(
            head_dim=self.head_dim,
            dtype=self.dtype,
            columns=self.head_dim - 16 if self.column_tail else self.head_dim,
            rows=self.rows,
            tiles=TILES,
            kv_heads=2,
            swizzle=self.swizzle,
            # Q has a swizzle of its own.
            q_swizzle=192 - self.swizzle,
            fill=self.fill,
            paged=self.paged,
            chip=self.chip,
            **parameters,
        )

    def dimensions(self, kernel: Kernel) -> dict[str, int]:
        """The launch: pages and groups of a size that is no power of two."""
        length = kernel.dimensions["length"][1]
        rows = kernel.dimensions["q_rows"][1]
        tail = {"length": length - 5, "q_rows": rows - 3}
        full = {"length": length, "q_rows": rows}
        page = {"page_size": 12} if self.paged else {}
        return {**(tail if self.row_tail else full), "group": 3, **page}


def grid(chips: tuple[Chip, ...] = ("gfx950", "gfx942")) -> Iterator[Configuration]:
    """Every configuration."""
    flags = (False, True)
    fills: tuple[Fill, ...] = ("zero", "none")
    dtypes: tuple[ElementType, ...] = ("f16", "bf16", "fp8")
    axes = ((64, 128, 256), dtypes, (64, 128), fills, flags, flags, flags, chips)
    for point in itertools.product(*axes):
        yield Configuration(*point)


def covering(points: list[Configuration], count: int, seed: int) -> list[Configuration]:
    """A sample of `count` points; sixteen have all pairs of values of two axes."""
    pick = random.Random(seed)
    left = pick.sample(points, len(points))
    pairs = {point: {*itertools.combinations(enumerate(astuple(point)), 2)} for point in points}
    chosen: list[Configuration] = []
    covered: set[Any] = set()
    while left and len(chosen) < count:
        best = max(left, key=lambda point: len(pairs[point] - covered))
        left.remove(best)
        chosen.append(best)
        covered |= pairs[best]
    return chosen


def execute(
    kernel: Kernel,
    code: bytes | sim.Program,
    dimensions: Mapping[str, int],
    mode: str,
    order: sim.Order,
    check: bool = True,
) -> tuple[sim.Result, float]:
    """Run on the simulator; the result, and the error in units of the tolerance."""
    arguments = kernel.inputs(**dimensions)
    launch = kernel.launch(**dimensions)
    result = sim.run(
        code,
        grid=launch.grid,
        block=launch.block,
        args=[arguments[argument.name] for argument in kernel.arguments],
        dynamic_lds=launch.dynamic_lds,
        mode=mode,
        order=order,
        check=check,
    )
    got = {
        argument.name: np.asarray(value)
        for argument, value in zip(kernel.arguments, result.outputs, strict=True)
        if argument.output
    }
    return result, kernel.error(got, arguments)


def check(configuration: Configuration, form: str) -> lodestone.Compilation:
    """Compile in one form; LDS must be NumPy's image, with early and with late copies."""
    kernel = configuration.kernel()
    compiled = lodestone.compile(kernel, **FORMS[form])
    where = (configuration, form)
    assert compiled.check.clean, (where, compiled.check)
    (resources,) = compiled.kernels
    assert (resources.vgpr_spills, resources.sgpr_spills) == (0, 0), where
    for mode, order in (("E", "forward"), ("R", "reverse")):
        dimensions = configuration.dimensions(kernel)
        result, error = execute(kernel, compiled.code_object, dimensions, mode, order)
        assert not result.findings, (where, result)
        assert error <= 1, (where, mode)
    return compiled
