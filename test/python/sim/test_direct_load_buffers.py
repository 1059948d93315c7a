"""What LDS holds after copies by LDS-DMA through buffers, executed."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("lodestone._native")

import lodestone
from lodestone import sim

ROWS, COLUMNS, PITCH, TILE = 24, 48, 80, 64

# A tile of 64 columns out of rows of 48 that are 80 apart in memory: what is outside is zero,
# though memory goes on there with other numbers.
KERNEL = """
#lds = #gpu.address_space<workgroup>
gpu.module @m {
  gpu.func @copy(%whole: memref<24x80xi32>, %image: memref<2048xi32>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %tile = lds.region @tile align(16) : memref<32x64xi32, #lds>
    %zero = arith.constant dense<0> : vector<4xi32>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c128 = arith.constant 128 : index
    %c2048 = arith.constant 2048 : index
    %rows = arith.constant 24 : index
    %columns = arith.constant 48 : index
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %some_rows = arith.addi %rows, %b : index
    %one = arith.addi %c1, %b : index
    VIEW
    %cell = arith.remui %t, %c16 : index
    %column = arith.muli %cell, %c4 : index
    scf.for %step = %c0 to %c4 step %c1 {
      %first = arith.muli %step, %c8 : index
      %t_row = arith.divui %t, %c16 : index
      %row = arith.addi %first, %t_row : index
      %row_in = arith.cmpi ult, %row, %rows : index
      %column_in = arith.cmpi ult, %column, %columns : index
      %in = arith.andi %row_in, %column_in : i1
      %v = scf.if %in -> vector<4xi32> {
        %x = vector.load %source[%row, %column] : TYPE, vector<4xi32>
        scf.yield %x : vector<4xi32>
      } else {
        scf.yield %zero : vector<4xi32>
      }
      vector.store %v, %tile[%row, %column] : memref<32x64xi32, #lds>, vector<4xi32>
    }
    GROUP
    gpu.barrier
    %flat = memref.collapse_shape %tile [[0, 1]]
        : memref<32x64xi32, #lds> into memref<2048xi32, #lds>
    scf.for %j = %t to %c2048 step %c128 {
      %word = memref.load %flat[%j] : memref<2048xi32, #lds>
      memref.store %word, %image[%j] : memref<2048xi32>
    }
    gpu.return
  }
}
"""
VIEWS = {
    "static": ("%source = memref.subview %whole[0, 4] [24, 48] [1, 1] : memref<24x80xi32> to TYPE",
               "memref<24x48xi32, strided<[80, 1], offset: 4>>"),
    "dynamic": ("%source = memref.subview %whole[%b, %c4] [%some_rows, %columns] [%one, 1] : "
                "memref<24x80xi32> to TYPE", "memref<?x?xi32, strided<[?, 1], offset: ?>>"),
}  # fmt: skip


def check(view: str, group: str, chip: str, small: bool) -> str:
    """Compile, run and compare with NumPy; the assembly."""
    line, kind = VIEWS[view]
    text = KERNEL.replace("VIEW", line).replace("GROUP", group).replace("TYPE", kind)
    compiled = lodestone.compile(text, chip=chip, direct_to_lds="on", bare_pointers=True,
                                 assume_small_buffers=small)  # fmt: skip
    source = np.arange(1, ROWS * PITCH + 1, dtype=np.uint32).reshape(ROWS, PITCH)
    image = np.zeros(32 * TILE, np.uint32)
    for mode in "ER":
        result = sim.run(sim.load(compiled.code_object), args=[source, image], mode=mode,
                         dynamic_lds=4 * image.size)  # fmt: skip
        assert not result.findings, result.findings
        expected = np.zeros((32, TILE), np.uint32)
        expected[:ROWS, :COLUMNS] = source[:, 4 : 4 + COLUMNS]
        np.testing.assert_array_equal(result.outputs[1].reshape(32, TILE), expected)
    return compiled.isa


@pytest.mark.parametrize("chip", ["gfx942", "gfx950"])
@pytest.mark.parametrize("view", VIEWS)
def test_zero_fill_of_strided_source(view: str, chip: str) -> None:
    """A row's end isn't the buffer's: zeros come from behind the last row, and nowhere else."""
    isa = check(view, group="", chip=chip, small=True)
    assert "buffer_load" in isa and "ds_write" not in isa


@pytest.mark.parametrize(
    ("view", "chip", "dma"),
    [
        ("static", "gfx1250", "global_load_async_to_lds_b128"),
        ("dynamic", "gfx1250", "global_load_async_to_lds_b128"),
        ("dynamic", "gfx950", "global_load_lds_dwordx4"),
    ],
)
def test_zero_fill_by_stores(view: str, chip: str, dma: str) -> None:
    """Where there is no buffer, lanes outside store zeros; the wait of the group is for both."""
    isa = check(view, "lds.commit_group\n    lds.wait_group 0", chip, small=False)
    assert dma in isa and ("ds_store_b128" in isa or "ds_write_b128" in isa)
