"""The alias-scope pass on random pipelined kernels, executed.

Every kernel is compiled with and without alias scopes and run on the simulator, eagerly and with
its DMAs as late as its waits allow. The numbers must be those of the kernel in program order, and
the simulator and the machine-code checker must agree. `make nightly` runs many more.
"""

from __future__ import annotations

import os
from collections import Counter

import numpy as np
import pytest

pytest.importorskip("lodestone._native")

import lodestone
from lodestone import sim
from pipelined_kernels import Pipelined

KERNELS = int(os.environ.get("LODESTONE_PIPELINED_KERNELS", "50"))
FIRST = int(os.environ.get("LODESTONE_PIPELINED_SEED", "0"))
BATCH = 10


def execute(kernel: Pipelined, code: bytes) -> tuple[bool, set[str]]:
    """Run in modes E and R; all waves in both orders when there are several."""
    program, want = sim.load(code), kernel.expected()
    right, errors = True, set()
    for mode in "ER":
        for order in ("forward", "reverse")[: kernel.waves]:
            result = sim.run(program, args=kernel.arguments(), dynamic_lds=kernel.dynamic_lds,
                             mode=mode, order=order)  # fmt: skip
            right &= np.array_equal(result.outputs[1], want)
            errors |= {f.kind for f in result.errors}
    return right, errors


def findings(report: lodestone.CheckReport) -> set[tuple[str, str]]:
    return {(f.kind, f.overlap) for f in report.findings}


def judge(seed: int) -> str:
    """Check one kernel; returns what it was an example of."""
    kernel = Pipelined(seed)
    where = f"seed {seed}: {kernel.globals}, {kernel.shape}, {kernel.chip}"
    tagged = lodestone.compile(kernel.text, alias_scopes=True)
    right, errors = execute(kernel, tagged.code_object)
    assert right and not errors, (where, right, errors)
    plain = lodestone.compile(kernel.text, alias_scopes=False)
    right, errors = execute(kernel, plain.code_object)
    # LLVM's own waits can be wrong: it tells static globals apart, and a DMA from another lane's
    # read. The checker must know of it then, and the numbers prove nothing.
    assert not plain.check.clean or (right and not errors), (where, right, errors)
    if tagged.untagged_fallback:
        # LLVM reshapes control flow after the pass, so what was safe may not be: that is what
        # the checker is for. Where the simulator sees no race, the checker was just careful.
        unchecked = lodestone.compile(kernel.text, alias_scopes=True, check=False)
        right, errors = execute(kernel, unchecked.code_object)
        return "not proved" if right and not errors else "caught"
    if not tagged.check.clean:
        # Addresses that the checker can't follow leave no verdict, which it says.
        assert all(f.overlap == "unknown" for f in tagged.check.findings), (where, tagged.check)
        return "not proved"
    if not plain.check.clean:
        return "plain is racy"
    return "exact" if waits(tagged) > waits(plain) else "same waits"


def waits(compilation: lodestone.Compilation) -> int:
    """How many DMAs are left in flight by all waits together."""
    total = 0
    for line in compilation.isa.splitlines():
        if "s_waitcnt" in line and "vmcnt(" in line:
            total += int(line.split("vmcnt(")[1].split(")")[0])
    return total


@pytest.mark.parametrize("first", range(FIRST, FIRST + KERNELS, BATCH))
def test_tagged_and_untagged_agree(first):
    """Same bits as in program order, in modes E and R, and a clean checker."""
    seen = Counter(judge(seed) for seed in range(first, min(first + BATCH, FIRST + KERNELS)))
    # The test isn't empty: scopes spare waits in most kernels, and few are not proved.
    assert seen["exact"] >= 1, seen
    assert seen["not proved"] + seen["caught"] <= BATCH // 2, seen
    print(dict(seen))


def test_generator_covers_its_choices():
    """Among the seeds there are all shapes and kinds of globals, guards and two-target DMAs."""
    kernels = [Pipelined(seed) for seed in range(FIRST, FIRST + 50)]
    assert {k.shape for k in kernels} == {"unrolled", "rolled", "rotated"}
    assert len({k.globals for k in kernels}) == 4
    assert any(o.guard is not None and o.dma for k in kernels for o in k.body)
    assert any("llvm.select" in k.text for k in kernels)
    assert {k.waves for k in kernels} == {1, 2} and {k.width for k in kernels} == {1, 4}
    assert Pipelined(7).text == Pipelined(7).text
