"""Kernels with swizzled tiles, compiled and run on the simulator: the LDS image and the reads.

Each kernel fills a tile through its logical indices, dumps the physical bytes through a region that
overlays it, and reads the tile back through its logical indices.
"""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("lodestone._native")

import lodestone
from lodestone import ir, sim
from lodestone.passmanager import PassManager
from lodestone.report.swizzle_picture import Picture
from lodestone.swizzle import Swizzle

THREADS = 64
SPACE = "#gpu.address_space<workgroup>"

# rows, columns of f16, the swizzle; elements that a lane stores and loads at a time.
TILES = {
    "xor": (64, 64, Swizzle.xor(3, 4, 3), 8),
    "xor of every second row": (32, 64, Swizzle.from_flydsl(3, 1, 4, row_bytes=128), 8),
    "not its own inverse": (64, 64, Swizzle.xor(3, 4, 2), 8),
    "to the left": (64, 64, Swizzle.xor(3, 4, -3), 8),
    "96 columns, 4 phases": (32, 96, Swizzle.coord_xor(2, 0, 4, 192), 8),
    "96 columns, rotated": (32, 96, Swizzle.rotate(row_bytes=192), 8),
    "3 phases": (32, 64, Swizzle.compose(Swizzle.rotate(128, step=3), Swizzle.xor(1, 4, 5)), 8),
    "padded": (32, 64, Swizzle.padded(128, 16), 8),
    "xor and padding": (64, 64, Swizzle.xor(3, 4, 3).then(Swizzle.padded(1024, 64)), 8),
    "16 bytes over a granule of 8": (64, 64, Swizzle.xor(4, 3, 4), 8),
    "16 elements over a granule of 8": (64, 64, Swizzle.xor(3, 4, 3), 16),
    "elements": (16, 64, Swizzle.xor(3, 4, 3), 1),
    "a part of a period": (10, 64, Swizzle.xor(3, 4, 3), 4),
}


def kernel(rows: int, columns: int, swizzle: Swizzle, width: int, at: int) -> tuple[str, int]:
    """A kernel with one workgroup, and the dynamic LDS that it needs.

    Args:
        at: offset of the tile in LDS.
    """
    tile = rows * columns
    image = swizzle.image_bytes(tile * 2) // 2
    memref = f"memref<{rows}x{columns}xf16, {SPACE}>"
    vector = f"vector<{width}xf16>"
    text = f"""
    gpu.module @m {{
      gpu.func @k(%in: memref<{tile}xf16, 1>, %image: memref<{image}xf16, 1>, %out: memref<{tile}xf16, 1>)
          kernel attributes {{known_block_size = array<i32: {THREADS}, 1, 1>}} {{
        %tile = lds.region @tile offset({at}) size({image * 2})
          swizzle({swizzle.to_mlir()}) : {memref}
        %raw = lds.region @raw offset({at}) overlays @tile : memref<{image}xf16, {SPACE}>
        %t = gpu.thread_id x
        %c0 = arith.constant 0 : index
        %width = arith.constant {width} : index
        %columns = arith.constant {columns} : index
        %rows = arith.constant {rows} : index
        %threads = arith.constant {THREADS} : index
        %image_end = arith.constant {image} : index
        %poison = arith.constant -1.0 : f16
        scf.for %i = %t to %image_end step %threads {{
          memref.store %poison, %raw[%i] : memref<{image}xf16, {SPACE}>
        }}
        gpu.barrier
        scf.for %row = %t to %rows step %threads {{
        scf.for %column = %c0 to %columns step %width {{
          %first = arith.muli %row, %columns : index
          %e = arith.addi %first, %column : index
          %x = vector.load %in[%e] : memref<{tile}xf16, 1>, {vector}
          vector.store %x, %tile[%row, %column] : {memref}, {vector}
        }} }}
        gpu.barrier
        scf.for %i = %t to %image_end step %threads {{
          %x = memref.load %raw[%i] : memref<{image}xf16, {SPACE}>
          memref.store %x, %image[%i] : memref<{image}xf16, 1>
        }}
        scf.for %row = %t to %rows step %threads {{
        scf.for %column = %c0 to %columns step %width {{
          %first = arith.muli %row, %columns : index
          %e = arith.addi %first, %column : index
          %x = vector.load %tile[%row, %column] : {memref}, {vector}
          vector.store %x, %out[%e] : memref<{tile}xf16, 1>, {vector}
        }} }}
        gpu.return
      }}
    }}"""  # noqa: E501
    return text, at + image * 2


def run(text: str, dynamic_lds: int, *args: np.ndarray, chip: str, passes: str) -> sim.Result:
    """Compile after `passes` and run a workgroup."""
    with ir.Context():
        module = ir.Module.parse(text)
        PassManager.parse(f"builtin.module(gpu.module({passes}))").run(module.operation)
        code = lodestone.compile(module, chip=chip, bare_pointers=True).code_object
    return sim.run(code, args=list(args), dynamic_lds=dynamic_lds)


@pytest.mark.parametrize("chip", ["gfx950", "gfx942"])
@pytest.mark.parametrize("name", TILES)
def test_image_and_reads(name: str, chip: str) -> None:
    """The bytes are where `apply` says, and logical reads get them back.

    The tile is not at a multiple of the period: swizzles count from its start.
    """
    rows, columns, swizzle, width = TILES[name]
    text, dynamic_lds = kernel(rows, columns, swizzle, width, at=208)
    source = np.arange(rows * columns, dtype=np.uint16).view(np.float16)
    image_size = swizzle.image_bytes(source.nbytes) // 2
    result = run(text, dynamic_lds, source, np.zeros(image_size, np.float16),
                 np.zeros_like(source), chip=chip, passes="lds-apply-swizzles{strict}")  # fmt: skip
    assert not result.findings
    expected = np.full(image_size, -1.0, np.float16)
    expected[swizzle.apply(np.arange(0, source.nbytes, 2)) // 2] = source
    assert np.array_equal(result.outputs[1].view(np.uint16), expected.view(np.uint16))
    assert np.array_equal(result.outputs[2].view(np.uint16), source.view(np.uint16))


def test_dropped_swizzle_computes_the_same() -> None:
    """Without the swizzle, the reads are the same and the image is the tile."""
    rows, columns, swizzle, width = TILES["xor"]
    text, dynamic_lds = kernel(rows, columns, swizzle, width, at=0)
    # What can't be rewritten: the address goes to inline assembly.
    leak = """
        %p = memref.extract_aligned_pointer_as_index %tile : MEMREF -> index
        memref.assume_alignment %raw, 16 : RAW
        gpu.barrier
    """.replace("MEMREF", f"memref<{rows}x{columns}xf16, {SPACE}>").replace(
        "RAW", f"memref<{rows * columns}xf16, {SPACE}>"
    )
    text = text.replace("gpu.barrier\n", leak, 1)
    source = np.arange(rows * columns, dtype=np.uint16).view(np.float16)
    result = run(text, dynamic_lds, source, np.zeros_like(source), np.zeros_like(source),
                 chip="gfx950", passes="lds-apply-swizzles{drop-refused}")  # fmt: skip
    assert not result.findings
    assert np.array_equal(result.outputs[1].view(np.uint16), source.view(np.uint16))
    assert np.array_equal(result.outputs[2].view(np.uint16), source.view(np.uint16))


@pytest.mark.parametrize("swizzle", [Swizzle(), Swizzle.xor(3, 4, 3), Swizzle.padded(128, 32)])
def test_conflicts_of_the_picture(swizzle: Swizzle) -> None:
    """The picture's extra cycles are those that the simulator counts for the same read."""
    rows, row_bytes = 16, 128
    picture = Picture(swizzle, rows, row_bytes)
    clause = "" if swizzle.is_identity else f"swizzle({swizzle.to_mlir()})"
    memref = f"memref<{rows}x64xf16, {SPACE}>"
    size = swizzle.image_bytes(rows * row_bytes)
    text = f"""
    gpu.module @m {{
      gpu.func @k(%out: memref<512xf16, 1>)
          kernel attributes {{known_block_size = array<i32: {THREADS}, 1, 1>}} {{
        %tile = lds.region @tile size({size}) {clause} : {memref}
        %t = gpu.thread_id x
        %rows = arith.constant {rows} : index
        %c8 = arith.constant 8 : index
        %row = arith.remui %t, %rows : index
        %cell = arith.divui %t, %rows : index
        %column = arith.muli %cell, %c8 : index
        %x = vector.load %tile[%row, %column] {{alignment = 16}} : {memref}, vector<8xf16>
        %e = arith.muli %t, %c8 : index
        vector.store %x, %out[%e] : memref<512xf16, 1>, vector<8xf16>
        gpu.return
      }}
    }}"""
    result = run(text, size, np.zeros(512, np.float16), chip="gfx950",
                 passes="lds-apply-swizzles{strict}")  # fmt: skip
    assert [c.extra_cycles for c in result.bank_conflicts] == [picture.extra_cycles]
    assert (picture.extra_cycles == 0) == (not swizzle.is_identity)
