"""The table of chips in docs/direct-to-lds.md is what the passes do."""

from __future__ import annotations

import re

import pytest
from doc_snippets import ROOT
from lodestone import _native, ir
from lodestone.passmanager import PassManager

CHIPS = _native.known_chips().split(", ")
WIDTHS = (1, 2, 4, 8, 12, 16)


def table() -> dict[str, tuple[str, str, str]]:
    """Widths, kind of LDS address, and counter, by chip."""
    rows: dict[str, tuple[str, str, str]] = {}
    for line in (ROOT / "docs/direct-to-lds.md").read_text().splitlines():
        if match := re.match(r"\| (gfx\w+(?:, gfx\w+)*) \| (.*) \| (.*) \| (.*) \|$", line):
            chips, *facts = match.groups()
            for chip in chips.split(", "):
                assert chip not in rows
                rows[chip] = (facts[0], facts[1], facts[2])
    return rows


def copied(chip: str, width: int, order: str) -> str:
    """What becomes of a copy of `width` bytes a lane, to the lane's place in `order`."""
    source, lds = "memref<4096xi8>", "memref<4096xi8, #gpu.address_space<workgroup>>"
    text = f"""
      gpu.module @m {{
        gpu.func @k(%g: {source}) workgroup(%lds: {lds}) kernel
            attributes {{known_block_size = array<i32: 256, 1, 1>}} {{
          %width = arith.constant {width} : index
          %c0 = arith.constant 0 : index
          %c255 = arith.constant 255 : index
          %forward = gpu.thread_id x
          %reverse = arith.subi %c255, %forward : index
          %from = arith.muli %forward, %width : index
          %to = arith.muli %{order}, %width : index
          %v = vector.load %g[%from] : {source}, vector<{width}xi8>
          vector.store %v, %lds[%to] : {lds}, vector<{width}xi8>
          gpu.barrier
          %x = memref.load %lds[%forward] : {lds}
          memref.store %x, %g[%c0] : {source}
          gpu.return
        }}
      }}"""
    passes = f"lds-form-direct-loads{{chip={chip} narrow=false}},lds-lower-async-groups"
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        PassManager.parse(f"builtin.module(gpu.module({passes}))").run(module.operation)
        return str(module)


def test_all_chips_have_a_row() -> None:
    """A chip that is added is added to the page."""
    assert sorted(table()) == sorted(CHIPS)


@pytest.mark.parametrize("chip", CHIPS)
def test_row(chip: str) -> None:
    """Copies of these widths, and no others, become one DMA of the stated kind."""
    widths, address, counter = table()[chip]
    dma = re.compile("gather_to_lds|lds.async_load")
    formed = [width for width in WIDTHS if dma.search(copied(chip, width, "forward"))]
    assert widths == ", ".join(map(str, formed))
    # Lanes whose places lie the other way round have no common address.
    reverse = bool(dma.search(copied(chip, formed[-1], "reverse")))
    assert address == ("each lane's own" if reverse else "one for the wave")
    code = copied(chip, formed[-1], "forward")
    counters = {
        "vmcnt": "amdgpu.memory_counter_wait load(0)",
        "asynccnt": "rocdl.s.wait.asynccnt 0",
    }
    assert [name for name, wait in counters.items() if wait in code] == [counter]
