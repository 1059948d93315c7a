"""Random loops that copy tiles into LDS and read them, in all forms that the compiler makes.

Each kernel is compiled as it is written and with every combination of the options on copies, and
run on the simulator with copies as early as can be, and as late as their waits allow with the
waves in the other order. What is read, and LDS at the end, must be NumPy's; a copy that isn't
rewritten must have a remark that says why. `make nightly` runs many more.
"""

from __future__ import annotations

import itertools
import os
import re
from collections import Counter
from typing import Any

import numpy as np
import pytest

pytest.importorskip("lodestone._native")

import lodestone
from lodestone import ir, sim
from lodestone.remarks import Remark, collect_remarks
from tile_loops import TileLoop

KERNELS = int(os.environ.get("LODESTONE_TILE_LOOPS", "32"))
FIRST = int(os.environ.get("LODESTONE_TILE_LOOPS_SEED", "0"))
BATCH = 4
# Of the two dozen combinations, `make test` tries the first and some others.
OPTIONS: list[dict[str, Any]] = [
    {"inverse_swizzle": inverse, "direct_to_lds": direct, "alias_scopes": scopes,
     "register_budget": budget}
    for inverse, direct, scopes, budget in itertools.product(
        (False, True), ("off", "auto", "on"), (True, False), (0, 64))
]  # fmt: skip
ALL = "LODESTONE_TILE_LOOPS" in os.environ
COMBINATIONS = len(OPTIONS) if ALL else 4
RUNS = [*itertools.product("ER", ("forward", "reverse"))] if ALL else [
    ("E", "forward"), ("R", "reverse")]  # fmt: skip


def compile_loop(kernel: TileLoop, options: dict[str, Any]) -> tuple[bytes, list[Remark]]:
    """The code object, and the remarks of the passes on copies."""
    with ir.Context():
        module = ir.Module.parse(kernel.text())
        with collect_remarks(filter="lds-.*") as remarks:
            compiled = lodestone.compile(module, chip=kernel.chip, bare_pointers=True, **options)
    return compiled.code_object, remarks


def execute(kernel: TileLoop, code: bytes, where: Any) -> None:
    """All modes and orders give the numbers of NumPy, without a finding."""
    program = sim.load(code)
    outs, lds, known = kernel.expected()
    for mode, order in RUNS:
        result = sim.run(program, args=kernel.arguments(), dynamic_lds=kernel.lds_bytes,
                         mode=mode, order=order)  # fmt: skip
        run = (*where, mode, order)
        assert not result.errors, (run, result.errors)
        outputs = iter(result.outputs[1:])
        for tile, out in zip(kernel.tiles, outs, strict=True):
            next(outputs)
            np.testing.assert_array_equal(next(outputs), out, str(run))
            if tile.page:
                next(outputs)
        if kernel.dump:
            np.testing.assert_array_equal(next(outputs)[known], lds[known], str(run))


def check_remarks(kernel: TileLoop, options: dict[str, Any], remarks: list[Remark]) -> Counter[str]:
    """Each copy has been rewritten or refused by each pass that was asked for; what was said.

    lds-inverse-swizzle has nothing to say about a copy whose threads store in order as it is.
    """
    lines = kernel.text().splitlines()
    copies = {number: re.search(r"%tile\d__(\w)", line) for number, line in enumerate(lines, 1)
              if line.endswith("// copy")}  # fmt: skip
    in_order = {"ab"[n] for n, tile in enumerate(kernel.tiles) if tile.is_in_order}
    passes = {"lds-inverse-swizzle": options["inverse_swizzle"],
              "lds-form-direct-loads": options["direct_to_lds"] != "off"}  # fmt: skip
    for name, asked in passes.items():
        said = {r.line for r in remarks if r.pass_name == name and r.kind in ("passed", "missed")}
        silent = copies.keys() - said if asked else set()
        if name == "lds-inverse-swizzle":
            silent = {n for n in silent if (tile := copies[n]) and tile[1] not in in_order}
        assert not silent, (kernel.seed, options, name, [lines[n - 1] for n in silent])
    return Counter(r.name for r in remarks)


def judge(seed: int) -> Counter[str]:
    """Check one kernel in several forms; returns the remarks by name."""
    kernel = TileLoop(seed)
    others = [(seed + n * 7) % (len(OPTIONS) - 1) + 1 for n in range(COMBINATIONS - 1)]
    seen: Counter[str] = Counter()
    done: set[bytes] = set()
    for number in [0, *others]:
        code, remarks = compile_loop(kernel, OPTIONS[number])
        seen += check_remarks(kernel, OPTIONS[number], remarks)
        if code not in done:
            execute(kernel, code, (seed, OPTIONS[number]))
        done.add(code)
    return seen


@pytest.mark.parametrize("first", range(FIRST, FIRST + KERNELS, BATCH))
def test_all_forms_agree(first: int) -> None:
    """Every form leaves NumPy's bytes, and no copy is passed over in silence."""
    for seed in range(first, min(first + BATCH, FIRST + KERNELS)):
        print(seed, dict(judge(seed)))
