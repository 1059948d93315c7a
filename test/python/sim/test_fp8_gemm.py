"""The FP8 GEMM on the simulator: numbers, races, bank conflicts, speed, and mutated waits."""

from __future__ import annotations

import time
from typing import get_args

import pytest

pytest.importorskip("lodestone._native")

import lodestone
from lodestone import sim
from lodestone.kernels.fp8_gemm import Form, fp8_gemm
from lodestone.sim import mutation

ORDERS = ["forward", "reverse", 1, 2]


def build(tile_m, tile_n, k, form="regions", tags=True):
    kernel = fp8_gemm(tile_m, tile_n, k=k, form=form)
    code = lodestone.compile(kernel, chip="gfx950", alias_scopes=tags).code_object
    return kernel, sim.load(code)


def execute(kernel, program, inputs, m, n, **options):
    launch = kernel.launch(m=m, n=n)
    return sim.run(program, grid=launch.grid, block=launch.block, dynamic_lds=launch.dynamic_lds,
                   args=[inputs[a.name] for a in kernel.arguments], **options)  # fmt: skip


def outputs(kernel, result):
    pairs = zip(kernel.arguments, result.outputs, strict=True)
    return {a.name: value for a, value in pairs if a.output}


def bits(kernel, result):
    return [value.tobytes() for value in outputs(kernel, result).values()]


# Right numbers, the same bits in all modes and orders, no finding and no bank conflict.
@pytest.mark.parametrize("tags", [False, True], ids=["untagged", "tagged"])
@pytest.mark.parametrize("form", get_args(Form))
def test_numbers_and_races(form, tags):
    kernel, program = build(128, 64, 256, form, tags)
    inputs = kernel.inputs(m=128, n=64)
    first = None
    for mode in "ERW":
        for order in ORDERS:
            result = execute(kernel, program, inputs, 128, 64, mode=mode, order=order)
            assert not result.findings, result
            first = first or result
            assert bits(kernel, result) == bits(kernel, first), (mode, order)
    assert kernel.error(outputs(kernel, first), inputs) <= 1
    assert first.extra_lds_cycles == 0


# A problem that doesn't divide into tiles: several workgroups, ragged edges, longer K.
def test_ragged_problem():
    kernel, program = build(64, 128, 512)
    inputs = kernel.inputs(m=100, n=200)
    result = execute(kernel, program, inputs, 100, 200, mode="R", order="reverse")
    assert result.ok and result.workgroups == 4
    assert kernel.error(outputs(kernel, result), inputs) <= 1


# The large tile in all modes and orders; the budget is CPU time, as machines are shared.
def test_large_tile_is_fast():
    kernel, program = build(256, 256, 512)
    inputs = kernel.inputs(m=256, n=256)
    first = execute(kernel, program, inputs, 256, 256)
    start = time.process_time()
    eager = execute(kernel, program, inputs, 256, 256)
    eager_seconds = time.process_time() - start
    start = time.process_time()
    for mode in "RW":
        for order in ORDERS:
            result = execute(kernel, program, inputs, 256, 256, mode=mode, order=order)
            assert not result.findings, result
            assert bits(kernel, result) == bits(kernel, first)
    late_seconds = time.process_time() - start
    assert kernel.error(outputs(kernel, first), inputs) <= 1
    assert first.extra_lds_cycles == 0
    # Twice the target each, so that a busy machine doesn't fail the test.
    assert eager_seconds / eager.instructions < 10e-6
    assert eager_seconds < 0.4 and late_seconds < 6


# Each dropped wait, weakened vmcnt and dropped barrier is noticed, but for two waits: the first
# two synchronizations of the prologue also wait for lgkmcnt(0), once when nothing is outstanding
# and once for reads that the third one waits for before any register of theirs is used.
def test_mutation_score():
    kernel, program = build(128, 64, 256)
    inputs = kernel.inputs(m=128, n=64)

    def run(mutant, order):
        return execute(kernel, mutant, inputs, 128, 64, mode="R", order=order, check=False)

    expected = bits(kernel, run(program, "forward"))
    mutants = list(mutation.mutants(program))
    alive = [
        m
        for m in mutants
        if not mutation.killed(
            [run(m.program, order) for order in ("forward", "reverse")],
            lambda result: bits(kernel, result) == expected,
        )
    ]
    assert len(mutants) >= 20
    barriers = [i.index for i in program.instructions if i.mnemonic == "s_barrier"]
    assert all(m.description.startswith("drop lgkmcnt(0)") for m in alive), alive
    # They stand right before the first two barriers; the third barrier's wait covers the second.
    assert {m.instruction.index + 1 for m in alive} <= set(barriers[:2])
