"""Whole kernels: modes, orders, findings, mutation of waits, launch errors."""

from __future__ import annotations

import numpy as np
import pytest
from copy_kernel import COPY_ARGS, copy_arguments, copy_text, kernel_text
from lodestone import sim
from lodestone.sim import mutation

ORDERS = ["forward", "reverse", 1, 2]


@pytest.fixture(scope="module")
def copy():
    return sim.load(copy_text())


def run_copy(program, **options):
    return sim.run(program, args=copy_arguments(), dynamic_lds=8192, **options)


# The right kernel is right in all modes and orders, without any finding.
@pytest.mark.parametrize("mode", ["E", "R", "W"])
@pytest.mark.parametrize("order", ORDERS)
def test_copy(copy, mode, order):
    arguments = copy_arguments()
    result = sim.run(copy, args=arguments, dynamic_lds=8192, mode=mode, order=order)
    assert not result.findings, result
    np.testing.assert_array_equal(result.outputs[1], arguments[0])
    assert result.outputs[2] is None and not arguments[1].any(), "inputs are left alone"
    assert result.counts["s_barrier"] == 4 * 4 * 2
    assert result.extra_lds_cycles == 0


# Every dropped wait, weakened vmcnt and dropped barrier of the copy is noticed in mode R.
def test_mutation_score(copy):
    source = copy_arguments()[0]
    alive = []
    all_mutants = list(mutation.mutants(copy))
    for mutant in all_mutants:
        results = [run_copy(mutant.program, mode="R", order=order, check=False) for order in ORDERS]
        if not mutation.killed(results, lambda r: np.array_equal(r.outputs[1], source)):
            alive.append(mutant.description)
    assert len(all_mutants) == 2 + 2 + 3 + 4
    assert alive == []


# Eager mode with numbers only sees none of them: that is why the other modes exist.
def test_eager_numbers_miss_them(copy):
    source = copy_arguments()[0]
    for mutant in mutation.mutants(copy):
        if "vmcnt" in mutant.description:
            result = run_copy(mutant.program, mode="E")
            np.testing.assert_array_equal(result.outputs[1], source)


def changed(old, new, count=1):
    text = copy_text()
    assert old in text
    return text.replace(old, new, count)


# A weak wait: the finding names the read, the load it races, the wave and the wait that is missing.
def test_missing_wait_is_explained():
    program = sim.load(changed("s_waitcnt vmcnt(1)", "s_waitcnt vmcnt(2)"))
    result = run_copy(program, mode="R")
    finding = next(f for f in result.errors if f.kind == "missing-wait")
    assert finding.instruction.startswith("ds_read_b128")
    assert finding.other_instruction.startswith("buffer_load_dwordx4")
    assert (finding.wave + 1) % 4 == finding.other_wave
    assert finding.missing == "s_waitcnt vmcnt(1)"
    assert finding.high - finding.low == 1024 and finding.low == 1024 * finding.other_wave
    assert "passed the barrier before the write was complete" in str(finding)
    # The race check needs no late landing to see it.
    assert any(f.kind == "missing-wait" for f in run_copy(program, mode="E").errors)


# A wait on the wrong side of the barrier is a wait too late.
def test_wait_after_the_barrier():
    text = changed("s_waitcnt vmcnt(1)\n  s_barrier", "s_barrier\n  s_waitcnt vmcnt(1)")
    result = run_copy(sim.load(text), mode="R", order="reverse")
    assert {f.kind for f in result.errors} == {"missing-barrier"} or any(
        f.kind in ("missing-wait", "missing-barrier") for f in result.errors
    )


def test_missing_barrier_is_explained():
    result = run_copy(sim.load(changed("s_waitcnt lgkmcnt(0)\n  s_barrier",
                                       "s_waitcnt lgkmcnt(0)")), mode="R")  # fmt: skip
    assert any(f.kind == "missing-barrier" and f.missing == "s_barrier" for f in result.errors)


# Registers used before their load is waited for are an error by themselves.
def test_register_before_wait():
    result = run_copy(sim.load(changed("s_waitcnt lgkmcnt(0)\n  s_barrier", "s_barrier")), mode="R")
    found = next(f for f in result.errors if f.kind == "register-before-wait")
    assert found.missing == "s_waitcnt lgkmcnt(0)" and "v4" in found.message


# Reuse of a buffer whose reads may still be in flight is a warning.
def test_reads_in_flight_are_warnings():
    late = """ds_read_b128 v[4:7], v2 offset:{here}
  s_barrier
  s_waitcnt lgkmcnt(0)"""
    text = copy_text()
    for here in ("0", "4096"):
        text = text.replace(
            f"ds_read_b128 v[4:7], v2 offset:{here}\n  s_waitcnt lgkmcnt(0)\n  s_barrier",
            late.format(here=here),
        )
    # The reads are waited for before the next buffer is loaded, so only other waves are late.
    result = run_copy(sim.load(text), mode="R")
    assert result.ok and {f.kind for f in result.warnings} == {"read-in-flight"}
    assert "s_waitcnt lgkmcnt(0)" in result.warnings[0].missing


# Several workgroups and dimensions; ids arrive in the scalar registers and in v0.
def test_grid_and_ids():
    body = """
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_and_b32_e32 v1, 0x3ff, v0
  v_bfe_u32 v2, v0, 10, 10
  s_mul_i32 s6, s3, 3
  s_add_u32 s6, s6, s2
  v_lshl_or_b32 v3, v2, 5, v1
  v_lshlrev_b32_e32 v4, 2, v3
  s_lshl_b32 s7, s6, 8
  v_add_u32_e32 v4, s7, v4
  v_lshl_or_b32 v5, s6, 16, v3
  s_waitcnt lgkmcnt(0)
  global_store_dword v4, v5, s[4:5]
  s_endpgm
"""
    text = kernel_text(body, args=[("out", 8, "global_buffer")], threads=64)
    text = text.replace(".amdhsa_user_sgpr_count 2", ".amdhsa_user_sgpr_count 2\n"
                        "  .amdhsa_system_vgpr_workitem_id 1")  # fmt: skip
    text = text.replace("[64, 1, 1]", "[32, 2, 1]")
    seen = []
    result = sim.run(text, grid=(3, 2), args=[np.zeros((6, 64), np.uint32)],
                     progress=lambda done, total: seen.append((done, total)))  # fmt: skip
    want = (np.arange(6)[:, None] << 16) | np.arange(64)[None]
    np.testing.assert_array_equal(result.outputs[0], want)
    assert result.workgroups == 6 and seen[-1] == (6, 6)


# A kernel that never ends stops at the limit and tells where it loops.
def test_endless_loop():
    text = kernel_text(".Lx:\n  s_nop 0\n  s_branch .Lx\n  s_endpgm", args=())
    with pytest.raises(sim.InstructionLimit, match=r"still running at pc 0x.*most executed blocks"):
        sim.run(text, max_instructions=10_000)


def test_errors_name_the_place(copy):
    arguments = copy_arguments()
    arguments[1] = arguments[1][:100]
    message = (
        r"pc 0x.* `buffer_store_dwordx4.* wave 0: .*write of .* the nearest buffer is "
        r"argument 1 \(target\), 400 bytes"
    )
    with pytest.raises(sim.ExecutionError, match=message):
        sim.run(copy, args=arguments, dynamic_lds=8192)
    result = sim.run(copy, args=arguments, dynamic_lds=8192, check=False)
    assert not result.ok and "buffer_store" in result.error


SOURCE = np.zeros(4096, np.uint32)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"args": [SOURCE]}, "1 arguments, the kernel takes 3 .source: global_buffer 8 bytes"),
        ({"args": [SOURCE, 3, 4]}, "target is a pointer; got int"),
        ({"args": [SOURCE, SOURCE, np.float64(1)]}, "tiles has 4 bytes, got float64 with 8"),
        ({"args": [SOURCE, SOURCE, 1 << 32]}, "which can't hold 4294967296"),
        ({"args": [SOURCE, SOURCE, "x"]}, "tiles is a scalar; got str"),
        ({"args": {"source": SOURCE}}, "don't match the kernel's"),
        ({"grid": 0}, r"grid \(0, 1, 1\) has a size below 1"),
        ({"grid": (1, 1, 1, 1)}, "not one to three integers"),
        ({"grid": 1 << 31}, "above 2.31 - 1"),
        ({"grid": (1 << 25, 2)}, r"grid \(33554432, 2, 1\) of blocks .* 2.32 work items or more"),
        ({"block": 64}, r"block \(64, 1, 1\) is not the required workgroup size"),
        ({"dynamic_lds": 1 << 20}, "1048576 bytes of LDS .* gfx950 has 163840"),
        ({"mode": "X"}, "mode 'X' is not one of E, R, W"),
        ({"order": "backward"}, "order 'backward' is not"),
        ({"name": "other"}, "no kernel other; there is copy"),
    ],
)
def test_launch_errors(copy, options, message):
    with pytest.raises(sim.LaunchError, match=message):
        sim.run(copy, **{"args": copy_arguments(), "dynamic_lds": 8192, **options})


def test_arguments_by_name(copy):
    source, target, tiles = copy_arguments()
    result = sim.run(copy, args={"tiles": tiles, "source": source, "target": target},
                     dynamic_lds=8192)  # fmt: skip
    np.testing.assert_array_equal(result.outputs[1], source)


# Bad code objects give one kind of error, whatever is wrong with them.
def test_bad_code_objects():
    from lodestone.sim import asm

    data = asm.assemble(copy_text())
    with pytest.raises(sim.CodeObjectError, match="for gfx950, not gfx942"):
        sim.load(data, "gfx942")
    with pytest.raises(sim.CodeObjectError, match="not an ELF file"):
        sim.load(b"abc")
    with pytest.raises(sim.CodeObjectError, match="can't read"):
        sim.load("/nonexistent/kernel.hsaco")
    with pytest.raises(sim.CodeObjectError, match="no chip was given"):
        sim.load("s_endpgm\n")
    with pytest.raises(sim.CodeObjectError, match="llvm-mc failed"):
        sim.load("bogus v0\n", "gfx950")
    with pytest.raises(sim.CodeObjectError, match="not one of"):
        sim.load(data, "gfx906")
    for size in range(0, len(data), 97):
        with pytest.raises(sim.CodeObjectError):
            asm.elf.parse(data[:size])
    foreign = bytearray(data)
    foreign[18] = 62
    with pytest.raises(sim.CodeObjectError, match="machine 62 is not AMDGPU"):
        sim.load(bytes(foreign))


def test_arguments_are_described_in_copy_kernel():
    assert [a.name for a in sim.load(copy_text()).code.kernels["copy"].arguments] == [
        name for name, _, _ in COPY_ARGS
    ]


# The same text gives the same decoded program; results don't depend on what ran before.
def test_cache_and_repeatability(copy):
    assert sim.load(copy_text()) is copy
    one, two = run_copy(copy, mode="R", order=3), run_copy(copy, mode="R", order=3)
    assert one.counts == two.counts
    np.testing.assert_array_equal(one.outputs[1], two.outputs[1])


# Constant tables and calls: addresses are relative to the loaded code object.
def test_constants_and_calls():
    body = """
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_getpc_b64 s[6:7]
  s_add_u32 s6, s6, table@rel32@lo+4
  s_addc_u32 s7, s7, table@rel32@hi+12
  s_load_dwordx2 s[8:9], s[6:7], 0x4
  s_getpc_b64 s[10:11]
  s_add_u32 s10, s10, .Lfunction@rel32@lo+4
  s_addc_u32 s11, s11, .Lfunction@rel32@hi+12
  s_swappc_b64 s[30:31], s[10:11]
  v_lshlrev_b32_e32 v1, 3, v0
  s_waitcnt lgkmcnt(0)
  v_mov_b32_e32 v2, s8
  v_mov_b32_e32 v3, s12
  global_store_dwordx2 v1, v[2:3], s[4:5]
  s_endpgm
.Lfunction:
  s_movk_i32 s12, 0x55
  s_setpc_b64 s[30:31]
"""
    text = kernel_text(body, args=[("out", 8, "global_buffer")], threads=64)
    text += '\n.section .rodata,"a"\n.p2align 4\ntable:\n.long 1, 22, 333\n'
    result = sim.run(text, args=[np.zeros((64, 2), np.uint32)], mode="R")
    assert result.ok, result
    np.testing.assert_array_equal(result.outputs[0], [[22, 0x55]] * 64)


# A missing tool says which and where to name it, and is not a bad code object.
def test_missing_tool(monkeypatch, tmp_path):
    from lodestone import _tools

    monkeypatch.setattr(_tools, "DEBIAN_LLVM_BIN", tmp_path)
    monkeypatch.setenv("LODESTONE_LLVM_BIN", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(_tools.ToolError, match=r"llvm-mc not found in .*set LODESTONE_LLVM_BIN"):
        sim.load(kernel_text("s_nop 3\ns_endpgm"))


# The simulator reads machine code only: importing it loads neither MLIR nor the native module.
def test_imports_are_lazy():
    import subprocess
    import sys

    code = "import sys, lodestone.sim; print([m for m in sys.modules if 'native' in m])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
