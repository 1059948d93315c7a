"""`compile`, `analyze` and `check` as Python calls them."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import lodestone
import numpy as np
import pytest
from lodestone import MissingToolError, MLIRError, sim
from lodestone.ir import Context, Module
from lodestone.report.isa import parse_function

INPUTS = Path(__file__).parent / "Inputs"
TWO_BUFFERS = INPUTS / "two-buffers.mlir"

COPY = """
gpu.module @kernels {
  gpu.func @copy(%src: memref<256xf32>, %dst: memref<256xf32>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %tid = gpu.thread_id x
    %v = memref.load %src[%tid] : memref<256xf32>
    memref.store %v, %dst[%tid] : memref<256xf32>
    gpu.return
  }
}
"""


@pytest.mark.parametrize("direct_to_lds", ["off", "on"])
def test_swizzled_allocation_runs(direct_to_lds: Literal["off", "on"]) -> None:
    """A memref.alloc of LDS is static LDS of its kernel, swizzled for all its accesses."""
    compiled = lodestone.compile(
        INPUTS / "swizzled-alloc.mlir",
        chip="gfx950",
        bare_pointers=True,
        inverse_swizzle=True,
        direct_to_lds=direct_to_lds,
    )
    assert compiled.kernels[0].static_lds_bytes == 1024
    copies = [x for x in parse_function(compiled.isa).instructions if x.is_lds_dma]
    assert len(copies) == (direct_to_lds == "on")
    source = np.arange(512, dtype=np.float16).reshape(8, 64)
    result = sim.run(
        compiled.code_object, grid=(1, 1, 1), args=[source, np.zeros_like(source)], mode="R"
    )
    expected = source.reshape(8, 8, 8).transpose(1, 0, 2).reshape(8, 64)
    np.testing.assert_array_equal(result.outputs[1], expected)
    assert not result.errors


@pytest.mark.parametrize("unroll", [0, 4])
@pytest.mark.parametrize("direct_to_lds", ["off", "on"])
def test_double_buffer_runs(direct_to_lds: Literal["off", "on"], unroll: int) -> None:
    """A tile of two buffers, chosen by the loop's counter, gives the same sums in every form.

    With a copy of the body for each buffer its loop waits as the kernel does: one DMA in flight.
    """
    compiled = lodestone.compile(
        INPUTS / "double-buffer.mlir",
        chip="gfx950",
        bare_pointers=True,
        inverse_swizzle=True,
        direct_to_lds=direct_to_lds,
        unroll_buffers=unroll,
    )
    assert compiled.check.clean
    if direct_to_lds == "on":
        function = parse_function(compiled.isa)
        code = function.instructions
        copies = [loop for loop in function.loops if any(code[i].is_lds_dma for i in loop)]
        waits = {code[i].vmcnt for i in min(copies, key=len)} - {None}
        assert waits == ({1} if unroll else {0, 1})
    source = np.random.default_rng(0).integers(-4, 4, (32, 4096)).astype(np.float16)
    cell = np.arange(256) % 8
    for tiles in (1, 2, 3, 6):
        result = sim.run(
            compiled.code_object,
            grid=(1, 1, 1),
            dynamic_lds=8192,
            args=[source, np.zeros((256, 8), np.float16), tiles],
            mode="R",
        )
        parts = source.reshape(32, 64, 8, 8)[cell, :tiles, cell].sum(1)
        np.testing.assert_array_equal(result.outputs[1], parts)
        assert not result.errors


def test_chains_of_loops_take_no_time() -> None:
    """What is left of a number is given up on, not looked for in all ways through many loops."""
    loops = "".join(
        f"""
    %a{i + 1}, %b{i + 1} = scf.for %k = %c0 to %n step %c1
        iter_args(%x = %a{i}, %y = %b{i}) -> (index, index) {{
      memref.store %x, %out[%y] : memref<?xindex>
      scf.yield %b{i}, %a{i} : index, index
    }}"""
        for i in range(40)
    )
    text = f"""
!tile = memref<2x64xf32, #gpu.address_space<workgroup>>
gpu.module @kernels {{
  gpu.func @chain(%src: memref<64xf32>, %out: memref<?xindex>, %n: index) kernel
      attributes {{known_block_size = array<i32: 64, 1, 1>}} {{
    %tid = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %tile = lds.region @tile : !tile
    %a0, %b0 = scf.for %k = %c0 to %n step %c2
        iter_args(%x = %c0, %y = %c0) -> (index, index) {{
      scf.yield %k, %y : index, index
    }}{loops}
    %rest = arith.remui %a40, %c2 : index
    memref.store %rest, %out[%c0] : memref<?xindex>
    scf.for %k = %c0 to %n step %c1 {{
      %slot = arith.remui %k, %c2 : index
      %x = memref.load %src[%tid] : memref<64xf32>
      memref.store %x, %tile[%slot, %tid] : !tile
      gpu.barrier
    }}
    gpu.return
  }}
}}
"""
    assert lodestone.compile(text, chip="gfx950", direct_to_lds="on", format="isa").isa


def test_compile_text_to_code_object() -> None:
    """Text in, a linked code object, its assembly and its kernels' resources out."""
    result = lodestone.compile(COPY, chip="gfx950")
    assert result.code_object.startswith(b"\x7fELF") and "s_endpgm" in result.isa
    (kernel,) = result.kernels
    assert kernel.name == "copy" and kernel.required_workgroup_size == (256, 1, 1)
    assert kernel.vgpr_spills == 0 and kernel.occupancy > 0
    assert result.check.clean and not result.untagged_fallback
    assert result.modules[0].seconds.total > 0


def test_scopes_split_the_wait() -> None:
    """With scopes the first buffer's read waits for its own DMA only; the check agrees."""
    tagged = lodestone.compile(TWO_BUFFERS, chip="gfx950", format="isa")
    assert "vmcnt(1)" in tagged.isa and tagged.check.clean
    plain = lodestone.compile(TWO_BUFFERS, chip="gfx950", format="isa", alias_scopes=False)
    assert "vmcnt(1)" not in plain.isa and plain.check.clean
    assert lodestone.check(tagged).dmas == 2


def test_modules_stay_as_they_are() -> None:
    """Compiling and analyzing a module object doesn't change it."""
    with Context():
        module = Module.parse(COPY)
        before = str(module)
        function = module.body.operations[0]
        assert lodestone.compile(module, chip="gfx942", format="isa").isa
        assert lodestone.analyze(module, chip="gfx942").kernels
        assert str(module) == before and function.name == "gpu.module"


def test_kernel_objects_bring_their_options() -> None:
    """A kernel object's chip and options are the defaults; arguments win."""

    @dataclass
    class Kernel:
        module: str
        chip: str
        compile_options: dict[str, object]

    kernel = Kernel(COPY, "gfx942", {"bare_pointers": True})
    result = lodestone.compile(kernel, format="isa")
    assert result.modules[0].chip == "gfx942"
    explicit = [a for a in result.kernels[0].arguments if not a.kind.startswith("hidden")]
    assert len(explicit) == 2
    assert lodestone.compile(kernel, chip="gfx950", format="isa").modules[0].chip == "gfx950"


def test_analyze_names_regions_and_reasons() -> None:
    """The analysis lists the DMA ranges, what each access touches and why one stays untagged."""
    analysis = lodestone.analyze(TWO_BUFFERS, chip="gfx950")
    (kernel,) = analysis.kernels
    assert kernel.has_dma and [r.begin for r in kernel.ranges] == [0, 81920]
    assert [a.kind for a in kernel.accesses] == ["dma", "dma", "access", "access"]
    assert not analysis.refused and any(r.kind == "passed" for r in analysis.remarks)

    opaque = TWO_BUFFERS.read_text().replace(
        "%va = llvm.load %pa",
        "%q = llvm.load %out : !llvm.ptr<1> -> !llvm.ptr<3>\n%va = llvm.load %q",
    )
    refused = lodestone.analyze(opaque, chip="gfx950").refused
    assert [a.refusal for a in refused] == ["unknown-pointer"] and refused[0].reason


def test_check_finds_the_missing_wait() -> None:
    """One-sided tags are flagged; the same kernel without tags passes."""
    report = lodestone.check(INPUTS / "naive.ll")
    assert not report.clean and report.findings[0].function == "naive"
    assert report.findings[0].needed_wait == 0
    assert lodestone.check(INPUTS / "untagged.ll").clean
    with pytest.raises(MLIRError, match="is for gfx950, not for gfx942"):
        lodestone.check((INPUTS / "untagged.ll").read_text(), chip="gfx942")


@pytest.mark.parametrize("what", ["compilation", "analysis", "report"])
def test_results_print_and_serialize(what: str) -> None:
    """Each result prints as tables, renders as HTML, and survives JSON."""
    result: lodestone.Compilation | lodestone.Analysis | lodestone.CheckReport
    if what == "compilation":
        result = lodestone.compile(TWO_BUFFERS, chip="gfx950", format="isa")
    elif what == "analysis":
        result = lodestone.analyze(TWO_BUFFERS, chip="gfx950")
    else:
        result = lodestone.check(INPUTS / "naive.ll")
    text = str(result)
    assert "two_buffers" in text or "naive" in text
    assert "<pre>" in result._repr_html_()
    assert json.loads(result.to_json()) == result.to_dict()


def test_errors_say_what_to_do(tmp_path: Path) -> None:
    """Bad input of each kind: an exception with a reason, never a crash."""
    with pytest.raises(ValueError, match=r"known chips are .*gfx950"):
        lodestone.compile(COPY, chip="gfx1")
    with pytest.raises(ValueError, match="known formats are"):
        lodestone.compile(COPY, chip="gfx950", format="exe")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="opt_level"):
        lodestone.compile(COPY, chip="gfx950", opt_level=7)
    with pytest.raises(TypeError, match="unknown option"):
        lodestone.compile(COPY, chip="gfx950", colour="red")
    with pytest.raises(FileNotFoundError):
        lodestone.compile(tmp_path / "none.mlir", chip="gfx950")
    with pytest.raises(TypeError):
        lodestone.compile(3, chip="gfx950")
    for text in ("", "module {}", "func.func private @f()", "gpu.module @m {}"):
        with pytest.raises(MLIRError) as caught:
            lodestone.compile(text, chip="gfx950")
        assert caught.value.error_diagnostics
    with pytest.raises(MLIRError):
        lodestone.check("define void @f( {\n", chip="gfx950")
    with pytest.raises(MissingToolError, match=r"ld\.lld"):
        lodestone.compile(COPY, chip="gfx950", linker=tmp_path / "none")


def test_threads_compile_at_a_time() -> None:
    """Several threads compile, each text in a context of its own."""
    with ThreadPoolExecutor(3) as pool:
        texts = [COPY.replace("@copy", f"@copy{i}") for i in range(6)]
        results = list(pool.map(lambda t: lodestone.compile(t, chip="gfx950", format="isa"), texts))
    assert [r.kernels[0].name for r in results] == [f"copy{i}" for i in range(6)]


# 256 threads copy a float each, zero from %n on, of a memref whose size nobody knows.
DYNAMIC_COPY = """
!lds = memref<256xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @copy(%g: memref<?xf32>, %n: index, %out: memref<?xf32>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %lds = lds.region @tile : !lds
    %t = gpu.thread_id x
    %zero = arith.constant 0.0 : f32
    %in = arith.cmpi ult, %t, %n : index
    %v = scf.if %in -> f32 {
      %x = memref.load %g[%t] : memref<?xf32>
      scf.yield %x : f32
    } else {
      scf.yield %zero : f32
    }
    memref.store %v, %lds[%t] : !lds
    gpu.barrier
    %y = memref.load %lds[%t] : !lds
    memref.store %y, %out[%t] : memref<?xf32>
    gpu.return
  }
}
"""


@pytest.mark.parametrize("small", [False, True])
def test_small_buffers_are_assumed_when_told(small: bool) -> None:
    """The DMA that fills zeros reads through a buffer, whose size must be known or promised."""
    compiled = lodestone.compile(
        DYNAMIC_COPY, chip="gfx950", format="isa", direct_to_lds="on", assume_small_buffers=small
    )
    dmas = [x for x in parse_function(compiled.isa).instructions if x.is_lds_dma]
    assert len(dmas) == (1 if small else 0)
    assert compiled.check.clean
