"""The kernels that use the TDM: numbers, races, mutated waits, and scalar descriptors."""

from __future__ import annotations

import re

import lodestone
import numpy as np
import pytest
from lodestone import sim
from lodestone.kernels._kernel import Kernel
from lodestone.kernels.tdm_copy import tdm_copy
from lodestone.kernels.tdm_gemm import tdm_gemm
from lodestone.kernels.tdm_pipeline import tdm_pipeline
from lodestone.kernels.tdm_vector_add import tdm_vector_add
from lodestone.sim import mutation

KERNELS = {
    "copy": lambda: tdm_copy((300, 100), block=(64, 32), num_warps=4, padding=(16, 4)),
    "vector_add": lambda: tdm_vector_add(5000, num_warps=4),
    "integers": lambda: tdm_vector_add(5000, dtype="i32", hint=0x50),
    "pipeline": lambda: tdm_pipeline(7),
    "gemm": lambda: tdm_gemm(40, 33, 70),
}


def build(kernel: Kernel) -> sim.asm.Program:
    return sim.load(lodestone.compile(kernel).code_object)


def execute(kernel: Kernel, program: sim.asm.Program, arguments: dict, **options) -> sim.Result:
    launch = kernel.launch()
    return sim.run(program, grid=launch.grid, block=launch.block, dynamic_lds=launch.dynamic_lds,
                   args=list(arguments.values()), **options)  # fmt: skip


def outputs(kernel: Kernel, result: sim.Result) -> dict[str, np.ndarray]:
    pairs = zip(kernel.arguments, result.outputs, strict=True)
    return {argument.name: value for argument, value in pairs if argument.output}


# Right numbers with copies that are early, late, or read late, in any order of the waves.
@pytest.mark.parametrize("name", KERNELS)
def test_numbers_and_races(name: str) -> None:
    kernel = KERNELS[name]()
    program, arguments = build(kernel), kernel.inputs()
    for mode in "ERW":
        for order in ("forward", "reverse", 1):
            result = execute(kernel, program, arguments, mode=mode, order=order)
            assert not result.findings, result
            assert kernel.error(outputs(kernel, result), arguments) <= 1, (mode, order)


# The same bytes arrive whichever warps move them.
@pytest.mark.parametrize("partition", [None, (0, 2), (1, 4), (0, 8)])
@pytest.mark.parametrize("padding", [None, (16, 4)])
def test_hints_change_nothing(partition, padding) -> None:
    found = []
    for hint in (None, 0x01, 0xF0, 0x33, 0xA0, 0xFF):
        if hint and partition and hint.bit_count() % partition[1]:
            continue
        kernel = tdm_copy((150, 70), block=(64, 64), hint=hint, padding=padding,
                          partition=partition)  # fmt: skip
        arguments = kernel.inputs()
        result = execute(kernel, build(kernel), arguments, mode="R")
        assert not result.findings
        assert kernel.error(outputs(kernel, result), arguments) <= 1
        found.append(result.outputs[1].tobytes())
    assert len(set(found)) == 1


# Every element type and rank, with tails, sizes known and not; a strided tensor.
@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize(
    ("shape", "block", "dtype"),
    [
        ((100,), (64,), "f8E4M3FN"),
        ((9, 40), (4, 32), "bf16"),
        ((5, 6, 20), (2, 4, 16), "i32"),
        ((3, 3, 5, 9), (2, 2, 2, 8), "f64"),
        ((2, 3, 3, 3, 10), (1, 2, 2, 2, 8), "f16"),
    ],
)
def test_ranks_and_types(shape, block, dtype, dynamic) -> None:
    strides = [1]
    for size in shape[:0:-1]:
        strides.insert(0, strides[0] * size + 3)
    kernel = tdm_copy(shape, strides, block, 4, dtype, dynamic=dynamic)
    arguments = kernel.inputs()
    result = execute(kernel, build(kernel), arguments, mode="R")
    assert not result.findings
    assert kernel.error(outputs(kernel, result), arguments) <= 1


# Each wait that is dropped or weakened, and each barrier, is missed by a finding or in the
# numbers, with copies as late as they may be.
@pytest.mark.parametrize("name", ["copy", "vector_add", "pipeline", "gemm"])
def test_mutated_waits(name: str) -> None:
    kernel = KERNELS[name]()
    program, arguments = build(kernel), kernel.inputs()
    alive, mutants = [], 0
    for mutant in mutation.mutants(program):
        if "tensorcnt" not in mutant.description:
            continue
        mutants += 1
        results = [
            execute(kernel, mutant.program, arguments, mode="R", order=order, check=False)
            for order in ("forward", "reverse")
        ]
        if not mutation.killed(results, lambda r: kernel.error(outputs(kernel, r), arguments) <= 1):
            alive.append(mutant.description)
    assert mutants > 0
    assert [a for a in alive if not final_wait(program, a)] == []


def final_wait(program: sim.asm.Program, description: str) -> bool:
    """The wait right before the end: the hardware finishes stores of a wave that ended."""
    at = int(description.rsplit("0x", 1)[1], 16)
    return program.instructions[program.at_address[at] + 1].mnemonic == "s_endpgm"


DESCRIPTOR_ONLY = """
gpu.module @m {
  gpu.func @k(%a: memref<?x?xf16, strided<[?, 1]>>, %i: index, %j: index, %p: i1) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %x = lds.region @x : memref<256x64xf16, 3>
    %y = lds.region @y : memref<256x64xf16, 3>
    %z0 = lds.region @z0 : memref<128x64xf16, 3>
    %z1 = lds.region @z1 : memref<128x64xf16, 3>
    tdm.load %a[%i, %j] to %x if %p hint(0x50 : i32)
      : memref<?x?xf16, strided<[?, 1]>> to memref<256x64xf16, 3>
    tdm.load %a[%i, %j] to %z0, %z1 partition(0) hint(0xf0 : i32)
      : memref<?x?xf16, strided<[?, 1]>> to memref<128x64xf16, 3>, memref<128x64xf16, 3>
    tdm.fused_load {
      tdm.load %a[%i, %j] to %x hint(0x0f : i32)
        : memref<?x?xf16, strided<[?, 1]>> to memref<256x64xf16, 3>
      tdm.load %a[%j, %i] to %y hint(0xf0 : i32)
        : memref<?x?xf16, strided<[?, 1]>> to memref<256x64xf16, 3>
    }
    tdm.wait 0
    gpu.return
  }
}"""


# Descriptors are made by the scalar unit: with hints, conditions, pieces, fused loads and sizes
# that are arguments, there is no vector instruction in the kernel.
def test_descriptors_are_scalar() -> None:
    text = lodestone.compile(DESCRIPTOR_ONLY, chip="gfx1250", format="isa").isa
    code = text[: text.index("s_endpgm")]
    assert len(re.findall(r"^\s+tensor_load_to_lds", code, re.MULTILINE)) == 3
    assert re.findall(r"^\s+(v_\w+)", code, re.MULTILINE) == []


# What a kernel can't be built for is said before MLIR is.
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dtype": "f7"}, "dtype must be one of"),
        ({"shape": (10,)}, "must have one rank, got 1, 1, 2"),
        ({"partition": 3}, "partition must be two numbers, got 3"),
        ({"partition": (0, 0)}, "must be positive"),
        ({"block": (0, 4)}, "must be positive"),
        ({"dtype": "f64", "padding": (16, 3)}, "3 dwords of padding are no whole elements"),
    ],
)
def test_bad_parameters(options, message) -> None:
    with pytest.raises(ValueError, match=message):
        tdm_copy(**options)


# A rule of the dialect is the compiler's to check.
def test_bad_hint() -> None:
    with pytest.raises(lodestone.MLIRError, match="not axis-aligned"):
        tdm_copy(hint=0x18)
