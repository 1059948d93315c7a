"""tdm-infer-warp-hints and tdm-fuse-copies, executed: the same bytes, however late copies are.

In mode R a copy arrives in LDS at the wait that stands for it, so a wait that a pass had made too
weak would leave the poison that LDS begins with.
"""

from __future__ import annotations

import dataclasses
import re

import lodestone
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lodestone import ir, passmanager, sim
from lodestone.kernels._kernel import Kernel
from lodestone.kernels.tdm_pipeline import tdm_pipeline

INFER = "tdm-infer-warp-hints"
FUSE = "tdm-fuse-copies"
SOURCE = (96, 80)


@dataclasses.dataclass(frozen=True)
class Load:
    """A block of f32, and where it is in the source; it may stick out."""

    block: tuple[int, int]
    at: tuple[int, int]


@dataclasses.dataclass(frozen=True)
class Batch:
    """Adjacent loads, and then a wait that lets `in_flight` copies be in flight."""

    loads: list[Load]
    in_flight: int


def kernel_text(batches: list[Batch], num_warps: int) -> str:
    """A kernel that copies each block to its place in the output as soon as it may be read."""
    lines = ["%thread = gpu.thread_id x", f"%threads = arith.constant {32 * num_warps} : index"]
    loads = [load for batch in batches for load in batch.loads]
    starts = np.cumsum([0, *(load.block[0] * load.block[1] for load in loads)]).tolist()
    out = f"memref<{starts[-1]}xf32>"
    for n, load in enumerate(loads):
        elements = load.block[0] * load.block[1]
        lines += [
            f"%lds{n} = lds.region @r{n} : memref<{elements}xf32, 3>",
            f"%size{n} = arith.constant {elements} : index",
            f"%start{n} = arith.constant {starts[n]} : index",
            *(f"%at{n}_{d} = arith.constant {at} : index" for d, at in enumerate(load.at)),
        ]
    issued = read = 0
    for batch in [*batches, Batch([], 0)]:
        for _ in batch.loads:
            rows, columns = loads[issued].block
            lines.append(
                f"tdm.load %source[%at{issued}_0, %at{issued}_1] to %lds{issued}"
                f" block([{rows}, {columns}]) : {SOURCE_TYPE} to memref<{rows * columns}xf32, 3>"
            )
            issued += 1
        lines += [f"tdm.wait {batch.in_flight}", "gpu.barrier"]
        while read < issued - batch.in_flight:
            rows, columns = loads[read].block
            lines += [
                f"scf.for %i = %thread to %size{read} step %threads {{",
                f"  %v = memref.load %lds{read}[%i] : memref<{rows * columns}xf32, 3>",
                f"  %to = arith.addi %i, %start{read} : index",
                f"  memref.store %v, %out[%to] : {out}",
                "}",
            ]
            read += 1
    body = "\n    ".join(lines)
    return f"""
gpu.module @m {{
  gpu.func @k(%source: {SOURCE_TYPE}, %out: {out}) kernel
      attributes {{known_block_size = array<i32: {32 * num_warps}, 1, 1>}} {{
    {body}
    gpu.return
  }}
}}"""


SOURCE_TYPE = f"memref<{SOURCE[0]}x{SOURCE[1]}xf32>"


def expected(batches: list[Batch], source: np.ndarray) -> np.ndarray:
    padded = np.zeros((256, 256), np.float32)
    padded[: SOURCE[0], : SOURCE[1]] = source
    parts = []
    for batch in batches:
        for load in batch.loads:
            (rows, columns), (row, column) = load.block, load.at
            parts.append(padded[row : row + rows, column : column + columns].ravel())
    return np.concatenate(parts)


def transform(text: str, passes: str) -> str:
    """The module after `passes` on its gpu.module."""
    with ir.Context():
        module = ir.Module.parse(text)
        pipeline = f"builtin.module(gpu.module({passes}))"
        passmanager.PassManager.parse(pipeline).run(module.operation)
        return str(module)


def run(text: str, elements: int, source: np.ndarray, mode: str = "R", order: object = "forward"):
    code = lodestone.compile(text, chip="gfx1250", bare_pointers=True).code_object
    arguments = [source, np.full(elements, np.nan, np.float32)]
    return sim.run(code, args=arguments, dynamic_lds=320 << 10, mode=mode, order=order)


loads = st.builds(
    Load,
    st.tuples(st.sampled_from([4, 8, 12, 16, 32]), st.sampled_from([8, 16, 20])),
    st.tuples(st.integers(0, SOURCE[0]), st.integers(0, SOURCE[1])),
)
batches = st.lists(
    st.builds(Batch, st.lists(loads, min_size=1, max_size=5), st.integers(0, 6)),
    min_size=1,
    max_size=3,
)


# Whatever is inferred and fused: the same bytes as without, as NumPy says, and no race.
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(batches, st.sampled_from([1, 2, 4, 8, 16]), st.sampled_from([
    "complementary", "one-per-simd", "complementary one-per-simd"]))  # fmt: skip
def test_same_bytes(batches: list[Batch], num_warps: int, rules: str) -> None:
    source = np.arange(1, SOURCE[0] * SOURCE[1] + 1, dtype=np.float32).reshape(SOURCE)
    want = expected(batches, source)
    text = kernel_text(batches, num_warps)
    for passes in (None, f"{INFER}{{{rules}}}", f"{INFER}{{{rules}}},{FUSE}"):
        changed = transform(text, passes) if passes else text
        result = run(changed, want.size, source, order="reverse")
        assert not result.findings, result
        np.testing.assert_array_equal(result.outputs[1], want)


# Fused, two loads take one instruction of each warp; the waits follow, so that the third load is
# still in flight while the two are read.
def test_fused_instructions_and_counts() -> None:
    batch = [Load((32, 16), (0, 0)), Load((32, 16), (8, 4)), Load((32, 16), (90, 0))]
    batches = [Batch(batch[:2], 0), Batch(batch[:2], 2), Batch(batch[1:], 2)]
    text = kernel_text(batches, 8)
    source = np.random.default_rng(1).standard_normal(SOURCE).astype(np.float32)
    plain = run(text, 6 * 512, source)
    changed = transform(text, f"{INFER}{{complementary}},{FUSE}")
    assert re.findall(r"tdm\.wait (\d)", changed) == ["0", "1", "1", "0"]
    fused = run(changed, 6 * 512, source)
    np.testing.assert_array_equal(fused.outputs[1], expected(batches, source))
    np.testing.assert_array_equal(fused.outputs[1], plain.outputs[1])
    assert plain.counts["tensor_load_to_lds"] == 8 * 6
    assert fused.counts["tensor_load_to_lds"] == 8 * 3
    # All warps move data in the fused ones.
    assert all(operation.descriptor[0][0] & 3 == 1 for operation in fused.tensor_operations)


def without_loop_hints(kernel: Kernel) -> str:
    """The kernel without the hints of the loads in its loop; that of the first load stays."""
    head, loop, tail = str(kernel.module).partition("scf.for")
    assert head.count("hint(15 : i32)") == 1 and tail.count("hint(15 : i32)") == 3
    return head + loop + tail.replace(" hint(15 : i32)", "")


def run_pipeline(kernel: Kernel, text: str, mode: str, order: object) -> tuple[sim.Result, bool]:
    code = lodestone.compile(text, chip="gfx1250", **kernel.compile_options).code_object
    arguments = kernel.inputs()
    launch = kernel.launch()
    result = sim.run(
        code,
        grid=launch.grid,
        block=launch.block,
        dynamic_lds=launch.dynamic_lds,
        args=list(arguments.values()),
        mode=mode,
        order=order,
        check=False,
    )
    want = kernel.compute(arguments)["y"]
    right = result.outputs[1] is not None and np.array_equal(result.outputs[1], want)
    return result, right and not result.findings


# In a warp-pipelined loop the leading group's hint is found from the barrier that sets the groups
# apart, is the one that a person wrote, and makes the loop right; without a hint the late warps'
# parts would arrive a stage too late.
def test_leading_group_of_a_real_pipeline() -> None:
    kernel = tdm_pipeline(5)
    text = without_loop_hints(kernel)
    inferred = transform(text, f"{INFER}{{leading-group}}")
    hints = re.findall(r"tdm\.load .*hint\((#tdm.warps<[^>]*>)", inferred)
    assert hints == ["#tdm.warps<free = 0b011, anchor = 0b000, of = 8>"] * 3
    for mode in ("E", "R"):
        for order in ("forward", "reverse"):
            assert run_pipeline(kernel, inferred, mode, order)[1], (mode, order)
    assert not all(run_pipeline(kernel, text, "R", order)[1] for order in ("forward", "reverse"))


PIPELINED = """
gpu.module @m {
  gpu.func @k(%source: memref<512x16xf32>, %out: memref<256x16xf32>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %c256 = arith.constant 256 : index
    %thread = gpu.thread_id x
    %row = arith.divui %thread, %c16 : index
    %column = arith.remui %thread, %c16 : index
    %a0 = lds.region @a0 : memref<16x16xf32, 3>
    %b0 = lds.region @b0 : memref<16x16xf32, 3>
    %a1 = lds.region @a1 : memref<16x16xf32, 3>
    %b1 = lds.region @b1 : memref<16x16xf32, 3>
    LOAD0
    scf.for %k = %c0 to %c256 step %c32 {
      %k1 = arith.addi %k, %c16 : index
      %k2 = arith.addi %k, %c32 : index
      LOAD1
      tdm.wait 2
      gpu.barrier
      USE0
      gpu.barrier
      LOAD2
      tdm.wait 2
      gpu.barrier
      USE1
      gpu.barrier
    }
    gpu.return
  }
}"""


def pipelined_text() -> str:
    """out = upper half + lower half, in blocks of 16 rows, with two buffers for each."""

    def load(at: str, slot: int) -> str:
        array, block = "memref<512x16xf32>", "memref<16x16xf32, 3>"
        return f"""%other{at} = arith.addi %{at}, %c256 : index
      tdm.load %source[%{at}, %c0] to %a{slot} : {array} to {block}
      tdm.load %source[%other{at}, %c0] to %b{slot} : {array} to {block}"""

    def use(at: str, slot: int) -> str:
        return f"""%x{slot} = memref.load %a{slot}[%row, %column] : memref<16x16xf32, 3>
      %y{slot} = memref.load %b{slot}[%row, %column] : memref<16x16xf32, 3>
      %z{slot} = arith.addf %x{slot}, %y{slot} : f32
      %at{slot} = arith.addi %{at}, %row : index
      memref.store %z{slot}, %out[%at{slot}, %column] : memref<256x16xf32>"""

    text = PIPELINED
    for name, code in (("LOAD0", load("c0", 0)), ("LOAD1", load("k1", 1)), ("LOAD2", load("k2", 0)),
                       ("USE0", use("k", 0)), ("USE1", use("k1", 1))):  # fmt: skip
        text = text.replace(name, code)
    return text


# A double-buffered loop with two operands: half the instructions, waits that count them, and right
# numbers with late copies.
@pytest.mark.parametrize("order", ["forward", "reverse"])
def test_double_buffered_loop(order: str) -> None:
    source = np.random.default_rng(2).standard_normal((512, 16)).astype(np.float32)
    text = transform(pipelined_text(), f"{INFER}{{complementary}},{FUSE}")
    assert text.count("tdm.fused_load") == 3
    assert re.findall(r"tdm\.wait (\d)", text) == ["1", "1"]
    want = (source[:256] + source[256:]).ravel()
    result = run(text, 256 * 16, source, order=order)
    assert not result.findings
    np.testing.assert_array_equal(result.outputs[1], want)
    assert result.counts["tensor_load_to_lds"] == 8 * (1 + 2 * 8)
    # The counts that the waits had before the loads were fused are too weak now.
    with pytest.raises(lodestone.MLIRError, match=r"without a tdm\.wait for it"):
        lodestone.compile(text.replace("tdm.wait 1", "tdm.wait 2"), chip="gfx1250")


# The compiler's own options do what the passes by hand do, and say what they don't know.
def test_compile_options() -> None:
    text = pipelined_text()

    def loads(**options) -> int:
        code = lodestone.compile(text, chip="gfx1250", format="isa", **options).isa
        return len(re.findall(r"^\s+tensor_load_to_lds", code, re.MULTILINE))

    without = loads()
    assert loads(tdm_fuse=True) == without
    assert loads(tdm_hints=["complementary"]) == without
    assert loads(tdm_hints=("one-per-simd", "complementary"), tdm_fuse=True) == without // 2
    with pytest.raises(ValueError, match="'all' is no rule for hints; rules are complementary"):
        loads(tdm_hints=["all"])
    with pytest.raises(TypeError, match="'tdm_hints' must be a sequence of str"):
        loads(tdm_hints="complementary")
