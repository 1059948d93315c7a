"""The K/V/Q tile producer executed: one source, three forms, one LDS image.

Each form of each configuration must leave NumPy's image in LDS, byte for byte, with every copy as
early as can be and as late as its waits allow, without a race. `make test` takes a sample of the
grid, `make nightly` all of it.
"""

from __future__ import annotations

import itertools
import os
from dataclasses import astuple

import lodestone
import pytest
from kv_tiles import TILES, Configuration, check, covering, execute, grid
from lodestone import sim
from lodestone.kernels._kernel import Kernel
from lodestone.kernels.kv_tile_load import FORMS, kv_tile_load
from lodestone.report.isa import Function, parse_function
from lodestone.sim import mutation
from lodestone.sim.mutation import Mutant

SAMPLE = int(os.environ.get("LODESTONE_KV_TILES", "24"))
SEED = int(os.environ.get("LODESTONE_KV_TILES_SEED", "0"))


def sample(chip: str, count: int) -> list[Configuration]:
    return covering([point for point in grid() if point.chip == chip], count, SEED)


def test_sample_has_all_pairs() -> None:
    """Any two values of two axes are in sixteen points, and a large sample is the grid."""
    points = [*grid(("gfx950",))]
    assert len(points) == 3 * 3 * 2**5
    pairs = [{*itertools.combinations(enumerate(astuple(point)), 2)} for point in points]
    few = covering(points, 16, SEED)
    found = [{*itertools.combinations(enumerate(astuple(point)), 2)} for point in few]
    assert set().union(*found) == set().union(*pairs)
    assert {*covering(points, 1000, SEED)} == {*points}


def function_of(compiled: lodestone.Compilation) -> Function:
    return parse_function(compiled.isa)


def count(function: Function, prefix: str) -> int:
    return sum(x.mnemonic.startswith(prefix) for x in function.instructions)


def check_divisions(configuration: Configuration, form: str, function: Function) -> None:
    """The index of a group, and those of pages, cost one multiplication each; K and V share theirs.

    A lane has its own for each 16 bytes. Where they are four DMAs it may have four, of which some
    are the wave's and scalar.
    """
    divisions = configuration.cells * (1 + TILES * configuration.paged)
    vector, scalar = count(function, "v_mul_hi_u32"), count(function, "s_mul_hi_u32")
    if form == "direct" and configuration.chip == "gfx942":
        assert divisions <= vector + scalar <= 4 * divisions
    else:
        assert (vector, scalar) == (divisions, 0)
    # Nothing that stands in for a division.
    assert not count(function, "v_rcp") and not count(function, "v_cvt")


def check_waits(configuration: Configuration, function: Function) -> None:
    """All but the youngest group's DMAs, for each tile; besides, pages are waited for."""
    youngest = 2 * configuration.cells * (4 if configuration.chip == "gfx942" else 1)
    waits = [x.vmcnt for x in function.instructions if x.vmcnt is not None]
    if configuration.paged:
        assert waits.count(youngest) >= TILES
    else:
        assert waits == [youngest] * TILES + [0]


# NumPy's image, in every form and both modes; what the form promises is in the code. gfx942 has
# DMAs of 4 bytes only: each cell takes four, each lane another one's bytes.
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "configuration", [*sample("gfx950", SAMPLE), *sample("gfx942", SAMPLE * 2 // 3)], ids=str
)
def test_image(configuration: Configuration, form: str) -> None:
    function = function_of(check(configuration, form))
    stores = count(function, "ds_write")
    dmas = sum(x.is_lds_dma for x in function.instructions)
    check_divisions(configuration, form, function)
    if form != "direct":
        assert stores and not dmas
        return
    # What clears LDS before the first copy is the only store left.
    assert dmas
    assert bool(stores) == (configuration.fill == "none")
    if configuration.fill == "zero":
        check_waits(configuration, function)


# All that lies between tile and tail: empty K, one row, a page that ends in a tile, one group.
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("fill", ["zero", "none"])
def test_edges(form: str, fill: str) -> None:
    kernel = kv_tile_load(head_dim=128, rows=16, tiles=4, columns=112, fill=fill, paged=True)
    code = lodestone.compile(kernel, **FORMS[form]).code_object
    for length, q_rows, group, page_size in (
        (1, 1, 1, 1), (15, 16, 16, 7), (16, 15, 5, 16), (17, 7, 2, 64), (64, 16, 1, 33),
    ):  # fmt: skip
        sizes = {"length": length, "q_rows": q_rows, "group": group, "page_size": page_size}
        result, error = execute(kernel, code, sizes, "R", "reverse")
        assert not result.findings and error <= 1, (sizes, result)


# The products of Q and K are right in every form, and a swizzle that spans a row, or all banks
# if a row is longer, takes all readers' conflicts: 32 banks of 4 bytes on gfx942, 64 on gfx950.
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("dtype", "chip", "enough"),
    [("f16", "gfx950", 256), ("bf16", "gfx942", 128), ("fp8", "gfx950", 128)],
)
def test_readers(form: str, dtype: str, chip: str, enough: int) -> None:
    lost = {}
    for swizzle in (0, enough):
        kernel = kv_tile_load(128, dtype, rows=32, tiles=4, swizzle=swizzle,
                              q_swizzle=swizzle, result="scores", chip=chip)  # fmt: skip
        code = lodestone.compile(kernel, **FORMS[form]).code_object
        sizes = {"length": 121, "q_rows": 30, "group": 4}
        for mode in "ER":
            result, error = execute(kernel, code, sizes, mode, "forward")
            assert not result.findings and error <= 1, (swizzle, mode, result)
        reads = [b for b in result.bank_conflicts if "ds_read" in b.instruction]
        assert reads
        lost[swizzle] = sum(b.extra_cycles for b in reads)
    assert lost[0] > 0 and lost[enough] == 0


# The index of a page, and that of a group, costs one v_mul_hi_u32 for each 16 bytes of a lane; K
# and V share theirs. A tile of 32 rows of 256 bytes is two cells a lane; Q has one, K and V two.
@pytest.mark.parametrize("form", FORMS)
def test_one_multiplication_a_division(form: str) -> None:
    kernel = kv_tile_load(rows=32, tiles=2, kv_heads=2, paged=True)
    function = function_of(lodestone.compile(kernel, **FORMS[form]))
    assert count(function, "v_mul_hi_u32") == 2 * (1 + 2)
    # Nothing that stands in for a division.
    assert not count(function, "v_rcp") and not count(function, "v_cvt")


# The waits of the DMA form are the kernel's: at each turn all but the youngest group's DMAs.
def test_counted_waits() -> None:
    # LLVM unrolls shorter loops.
    kernel = kv_tile_load(rows=32, tiles=64)
    function = function_of(lodestone.compile(kernel, **FORMS["direct"]))
    (loop,) = function.loops
    waits = [x.vmcnt for x in (function.instructions[i] for i in loop) if x.vmcnt is not None]
    # K and V, of two 16-byte cells a lane each.
    assert waits == [4, 4]


def survivors(kernel: Kernel, sizes: dict[str, int]) -> tuple[list[Mutant], list[Mutant]]:
    """Mutants of the DMA form's waits for copies and its barriers: all, and those nobody notices.

    Every copy is as late as its waits allow; the waves run in both orders.
    """
    program = sim.load(lodestone.compile(kernel, **FORMS["direct"]).code_object)
    mutants = [m for m in mutation.mutants(program) if "lgkmcnt" not in m.description]
    alive = []
    for mutant in mutants:
        runs = [
            execute(kernel, mutant.program, sizes, "R", order, check=False)
            for order in ("forward", "reverse")
        ]
        if all(result.ok and error <= 1 for result, error in runs):
            alive.append(mutant)
    return mutants, alive


# No wait may be dropped: without it an image is wrong. Weakened by one, a wait lets the oldest
# global store of an image be in flight, where there is one: it was issued between the copies that
# the wait is for and those that it leaves, but LLVM may merge stores, so it isn't counted. (Each
# lane dumps what it copied itself, so the barriers are another test's.)
def test_mutated_waits() -> None:
    kernel = kv_tile_load(head_dim=64, rows=32, tiles=4)
    mutants, alive = survivors(kernel, {"length": 128, "q_rows": 32, "group": 2})
    waits = [m for m in mutants if "vmcnt" in m.description]
    alive = [m for m in alive if "vmcnt" in m.description]
    assert len(waits) == 2 * 5
    code = waits[0].program.instructions
    stores = [i.index for i in code if i.mnemonic.startswith("global_store")]
    for mutant in waits:
        at = mutant.instruction.index
        slack = mutant.description.startswith("weaken") and stores[0] < at
        assert (mutant in alive) == slack, mutant.description


# Nor may a barrier, where lanes read what others copied: Q and K, by MFMA. The last two tiles'
# buffers aren't copied to again, so that nothing needs the barriers that free them. V, the younger
# half of each group but Q's, isn't read here: a wait weakened by one still covers K.
def test_mutated_barriers() -> None:
    kernel = kv_tile_load(head_dim=64, rows=32, tiles=4, result="scores")
    mutants, alive = survivors(kernel, {"length": 128, "q_rows": 32, "group": 2})
    barriers = [m for m in mutants if m.description.startswith("drop the barrier")]
    assert len(barriers) == 1 + 2 * 4
    assert [m for m in alive if m in barriers] == [barriers[-3], barriers[-1]]
    weakened = [m for m in mutants if m.description.startswith("weaken")]
    assert [m for m in alive if m not in barriers] == weakened[1:]
