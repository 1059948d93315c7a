"""Compiled arithmetic of all integer and float types, on all chips, against this machine's."""

from __future__ import annotations

import os
import shutil

import numpy as np
import pytest
from lodestone import sim
from random_arithmetic import Program, compile_gpu, inputs, outputs, run_host, same

FIRST = int(os.environ.get("LODESTONE_ARITHMETIC_SEED", "1"))
COUNT = int(os.environ.get("LODESTONE_ARITHMETIC_KERNELS", "6"))

pytestmark = pytest.mark.skipif(
    shutil.which("clang-22") is None, reason="compiles C with clang-22, which is not there"
)


# What LLVM makes of an expression computes it: each instruction that it picks is known and right,
# whole numbers and floats of all sizes, optimized or not bothered with; and no wait is missing.
@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_arithmetic(seed, tmp_path):
    source = Program(seed).source()
    arguments = inputs(seed)
    expected = run_host(source, arguments, tmp_path)
    level = ("-O1", "-O2", "-O3")[seed % 3]
    for chip in ("gfx942", "gfx950", "gfx1250"):
        kernel = compile_gpu(source, chip, tmp_path, level)
        result = sim.run(kernel, args=arguments + outputs(), mode="R")
        assert result.ok, (chip, result)
        for got, want in zip(result.outputs[len(arguments) :], expected, strict=True):
            right = same(got, want)
            wrong = np.flatnonzero(~right)[:4]
            assert right.all(), (chip, level, got.dtype, wrong, got[wrong], want[wrong])
