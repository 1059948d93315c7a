"""Copies global -> LDS, through registers and by LDS-DMA, leave the same LDS image."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pytest

pytest.importorskip("lodestone._native")

import lodestone
from lodestone import sim

TYPES = {"f16": np.uint16, "f32": np.uint32, "i8": np.uint8}


@dataclass
class Tile:
    """A tile of `rows` x `cols` elements that `threads` threads copy, `per` elements at a time.

    The threads' cells go along the rows, a thread a cell, again until the tile is full. `limit`
    is the number of rows that the kernel copies; the others keep what is in LDS, or become zero.
    """

    chip: str
    type: str
    rows: int
    cols: int
    per: int
    threads: int
    fill: str = "all"
    wait: str = "barrier"

    @property
    def text(self) -> str:
        """The kernel: fill LDS with a pattern, copy, and write the image out element by element."""
        elements = self.rows * self.cols
        steps = elements // self.per // self.threads
        assert steps * self.per * self.threads == elements
        value = f"vector<{self.per}x{self.type}>"
        tile = f"memref<{self.rows}x{self.cols}x{self.type}>"
        copies = []
        for step in range(steps):
            load = f"vector.load %g[%r{step}, %q{step}] : {tile}, {value}"
            store = f"vector.store %v{step}, %lds[%r{step}, %q{step}] : !lds, {value}"
            copies.append(f"""
      %n{step} = arith.constant {step * self.threads} : index
      %i{step} = arith.addi %t, %n{step} : index
      %r{step} = arith.divui %i{step}, %percell : index
      %k{step} = arith.remui %i{step}, %percell : index
      %q{step} = arith.muli %k{step}, %per : index
      %in{step} = arith.cmpi ult, %r{step}, %limit : index""")
            if self.fill == "all":
                copies.append(f"%v{step} = {load}\n{store}")
            elif self.fill == "none":
                copies.append(f"scf.if %in{step} {{\n%v{step} = {load}\n{store}\n}}")
            else:
                copies.append(f"""%v{step} = scf.if %in{step} -> {value} {{
        %x{step} = {load}
        scf.yield %x{step} : {value}
      }} else {{
        scf.yield %zero : {value}
      }}
      {store}""")
        waits = {
            "barrier": "gpu.barrier",
            "group": "lds.commit_group\nlds.wait_group 0\namdgpu.memory_counter_wait ds(0)\n"
            "rocdl.s.barrier",
        }
        zero = "0.0" if self.type.startswith("f") else "0"
        newline = "\n"
        return f"""
!lds = memref<{self.rows}x{self.cols}x{self.type}, #gpu.address_space<workgroup>>
module attributes {{gpu.container_module}} {{
  gpu.module @m {{
    gpu.func @copy(%g: {tile}, %out: {tile}, %rows: i32) kernel
        attributes {{known_block_size = array<i32: {self.threads}, 1, 1>}} {{
      %lds = lds.region @tile align(128) : !lds
      %t = gpu.thread_id x
      %limit = arith.index_castui %rows : i32 to index
      %per = arith.constant {self.per} : index
      %percell = arith.constant {self.cols // self.per} : index
      %zero = arith.constant dense<{zero}> : {value}
      %old = arith.constant {"5.0" if self.type.startswith("f") else "5"} : {self.type}
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %cols = arith.constant {self.cols} : index
      %all = arith.constant {elements} : index
      %threads = arith.constant {self.threads} : index
      scf.for %e = %t to %all step %threads {{
        %r = arith.divui %e, %cols : index
        %q = arith.remui %e, %cols : index
        memref.store %old, %lds[%r, %q] : !lds
      }}
      gpu.barrier
      {newline.join(copies)}
      {waits[self.wait]}
      scf.for %e = %t to %all step %threads {{
        %r = arith.divui %e, %cols : index
        %q = arith.remui %e, %cols : index
        %x = memref.load %lds[%r, %q] : !lds
        memref.store %x, %out[%r, %q] : {tile}
      }}
      gpu.return
    }}
  }}
}}"""

    def image(self, data: np.ndarray, limit: int) -> np.ndarray:
        """What is in LDS after the copy."""
        old = np.float16(5).view(np.uint16) if self.type == "f16" else np.float32(5).view(np.uint32)
        left = {"all": data, "none": np.full_like(data, old), "zero": np.zeros_like(data)}[
            self.fill
        ]
        rows = np.arange(self.rows)[:, None]
        return np.where(rows < limit, data, left)

    def run(self, mode: str, direct: str, limit: int) -> tuple[str, np.ndarray, np.ndarray]:
        compiled = lodestone.compile(
            self.text, chip=self.chip, direct_to_lds=direct, bare_pointers=True
        )
        data = np.random.default_rng(1).integers(
            1, 1 << 14, (self.rows, self.cols), dtype=TYPES[self.type]
        )
        out = np.zeros_like(data)
        result = sim.run(
            compiled.code_object, args=[data, out, np.int32(limit)], mode=mode,
            dynamic_lds=compiled.kernels[0].dynamic_lds_bytes,
        )  # fmt: skip
        assert not result.errors
        return compiled.isa, result.outputs[1], self.image(data, limit)


DMA = re.compile(
    r"(buffer_load|global_load|global_load_async_to)_(lds_)?\w+.*\blds\b|_to_lds_|load_lds"
)
SHAPES = [
    # One DMA a copy on gfx950; dwords on gfx942, and on both for eight bytes.
    ("f16", 16, 64, 8, 128),
    ("f16", 32, 32, 4, 256),
    ("f32", 16, 16, 1, 64),
    ("f32", 24, 16, 2, 192),
    ("f16", 16, 24, 2, 64),
]


@pytest.mark.parametrize("chip", ["gfx942", "gfx950", "gfx1250"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("fill", ["all", "none", "zero"])
def test_images(chip: str, shape: tuple[str, int, int, int, int], fill: str) -> None:
    """With and without DMAs, eagerly and as late as the waits allow: the image is NumPy's."""
    tile = Tile(chip, *shape, fill=fill)
    limit = tile.rows if fill == "all" else tile.rows // 2 + 1
    for direct in ("off", "on"):
        for mode in "ER":
            isa, got, want = tile.run(mode, direct, limit)
            np.testing.assert_array_equal(got, want)
        if direct == "off":
            assert not DMA.search(isa)
        elif fill != "zero" or chip != "gfx1250":
            assert DMA.search(isa)


@pytest.mark.parametrize("chip", ["gfx942", "gfx950", "gfx1250"])
@pytest.mark.parametrize("direct", ["off", "on"])
def test_groups(chip: str, direct: str) -> None:
    """One source with groups is right whether its copies are stores or DMAs."""
    tile = Tile(chip, "f32", 16, 16, 1, 64, wait="group")
    for mode in "ER":
        _, got, want = tile.run(mode, direct, tile.rows)
        np.testing.assert_array_equal(got, want)
