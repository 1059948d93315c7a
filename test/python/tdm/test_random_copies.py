"""Random TDM copies, compiled and executed: LDS, memory and what is read behind each wait.

Copies are as early as can be and as late as their waits allow, and the warps run in both orders.
The compiler's own hints and fused loads must change nothing. `make nightly` runs many more.
"""

from __future__ import annotations

import itertools
import os

import lodestone
import numpy as np
import pytest
from lodestone import sim
from random_copies import CopyProgram

PROGRAMS = int(os.environ.get("LODESTONE_TDM_COPIES", "24"))
FIRST = int(os.environ.get("LODESTONE_TDM_COPIES_SEED", "0"))
BATCH = 4
OPTIONS = [
    {},
    {"tdm_hints": ["complementary"], "tdm_fuse": True},
    {"tdm_hints": ["complementary", "one-per-simd"]},
]


def judge(seed: int) -> int:
    """Check one program in all forms; returns how many tensor instructions moved something."""
    program = CopyProgram(seed)
    moved = 0
    done: set[bytes] = set()
    for options in OPTIONS:
        compiled = lodestone.compile(program.text(), chip="gfx1250", bare_pointers=True, **options)
        if compiled.code_object in done:
            continue
        done.add(compiled.code_object)
        code = sim.load(compiled.code_object)
        for mode, order in itertools.product("ER", ("forward", "reverse")):
            where = (seed, options, mode, order)
            result = sim.run(code, args=program.arguments(), dynamic_lds=program.lds_bytes,
                             mode=mode, order=order)  # fmt: skip
            assert not result.findings, (where, result.findings)
            written = [n for n, value in enumerate(program.arguments())
                       if isinstance(value, np.ndarray) and value.dtype == np.uint8]  # fmt: skip
            for n, want in zip(written, program.expected(), strict=True):
                np.testing.assert_array_equal(result.outputs[n], want, str((where, n)))
            moved += sum(t.descriptor[0][0] & 3 for t in result.tensor_operations)
    return moved


@pytest.mark.parametrize("first", range(FIRST, FIRST + PROGRAMS, BATCH))
def test_random_copies(first: int) -> None:
    """All bytes that a kernel may have changed are those of the model."""
    assert sum(map(judge, range(first, min(first + BATCH, FIRST + PROGRAMS))))
