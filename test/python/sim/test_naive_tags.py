"""Scopes that one would write at first, executed: the simulator sees the wait that is missing.

The kernels are those of the lit test, which checks the waits in the listing; here they run.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("lodestone._native")

import lodestone
from lodestone import sim

KERNELS = Path(__file__).parents[2] / "Integration" / "naive-tags.mlir"
NAMES = ["d1", "d1_tbaa", "d2", "d3", "d3_untagged", "d4", "d4_lists", "d5", "d5_untagged"]
VALUE = 7


@pytest.fixture(scope="module", params=[False, True], ids=["naive", "ours"])
def compiled(request):
    result = lodestone.compile(KERNELS.read_text(), alias_scopes=request.param)
    return request.param, result, sim.load(result.code_object)


def run(program, name, mode):
    """Run one kernel; its first argument is a buffer resource over the source."""
    source = np.full(16384, VALUE, np.uint32)
    # The number is the address of d1's untraced DMA and the bound of d4_lists' loop; the flag
    # takes d4's branch.
    arguments = [source, np.zeros(64, np.uint32), 20 if name == "d4_lists" else 0, 1]
    lds = 0 if name.startswith("d5") else 8192
    return sim.run(program, name=name, args=arguments, dynamic_lds=lds, mode=mode)


def found_by_checker(result, name):
    """The machine-code checker's findings in one kernel."""
    return [f for f in result.check.findings if f.function == name]


@pytest.mark.parametrize("name", NAMES)
def test_defect(compiled, name):
    """The naive form fails in mode R and in the checker; after the pass both are content."""
    ours, result, program = compiled
    late = run(program, name, "R")
    verdict = found_by_checker(result, name)
    # The loop of d4_lists adds the value up until it reaches the bound.
    expected = 21 if name == "d4_lists" else VALUE
    if ours:
        assert late.ok and late.outputs[1][0] == expected
        assert not verdict
        assert run(program, name, "E").outputs[1][0] == expected
        return
    assert verdict, "the checker sees it"
    if name == "d3_untagged":
        # The read moved above the DMA. Nothing is missing in this order: only the checker knows
        # the one that was meant, and the value is wrong in eager mode, too.
        assert verdict[0].kind == "reordered"
        assert run(program, name, "E").outputs[1][0] != expected
    else:
        finding = next(f for f in late.errors if f.kind == "read-before-wait")
        assert finding.instruction.startswith("ds_read") and "lds" in finding.other_instruction
        assert verdict[0].kind == "missing-wait"
        assert finding.missing == f"s_waitcnt vmcnt({verdict[0].needed_wait})"
        # The loop reads what an earlier round left there, which has the same value.
        if name not in ("d1", "d4_lists"):
            assert late.outputs[1][0] != expected, "the late data is missed"


def test_all_defects_are_covered():
    """A kernel that is added to the file is executed, too."""
    text = KERNELS.read_text()
    assert all(f"@{name}(" in text for name in NAMES)
    assert text.count("llvm.func @d") == len(NAMES)
