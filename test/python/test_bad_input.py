"""Bad input that people give: each is refused in words that say what to do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import lodestone
import pytest
from lodestone import MLIRError
from lodestone.ir import Context, Module

INPUTS = Path(__file__).parent / "Inputs"
TWO_BUFFERS = INPUTS / "two-buffers.mlir"
CLI = [sys.executable, "-m", "lodestone.cli"]

WIDE_DMA = """
gpu.module @m {
  llvm.func @k(%from: !llvm.ptr<8>, %to: !llvm.ptr<3>) attributes {rocdl.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c16 = llvm.mlir.constant(16 : i32) : i32
    rocdl.raw.ptr.buffer.load.lds %from, %to, %c16, %c0, %c0, %c0, %c0
    llvm.return
  }
}
"""


def regions(count: int, size: str) -> str:
    """A kernel with `count` regions of `size` bytes."""
    body = "\n".join(
        f"%a{i} = lds.region @A{i} size({size}) align(1) : !llvm.ptr<3>" for i in range(count)
    )
    return f"gpu.module @m {{ gpu.func @k() kernel {{\n{body}\ngpu.return }} }}"


@pytest.mark.parametrize(
    ("text", "chip", "message"),
    [
        (WIDE_DMA, "gfx942", "an LDS-DMA of 16 bytes a lane, but gfx942 has those of 4"),
        (WIDE_DMA, "gfx1250", "is an LDS-DMA that gfx1250 does not have"),
        (regions(1, "200000"), "gfx950", "needs 200000 bytes of LDS .* but gfx950 has 163840"),
        (regions(1, str(2**63 - 1)), "gfx950", "beyond the largest LDS offset 2147483647"),
        (regions(1, str(2**70)), "gfx950", "integer constant out of range"),
        (regions(1, "-4"), "gfx950", "size -4 is not positive"),
        ("", "gfx950", "the module is empty; put kernels into a gpu.module"),
        ("func.func private @f()", "gfx950", "no gpu.module; put kernels into one"),
        (b"\xff\xfe\x00", "gfx950", "unexpected character"),
        ("module attributes {a = " + "[" * 10**6, "gfx950", "1000 brackets are open here"),
        ("module {" * 10**5, "gfx950", "1000 brackets are open here"),
        ("module attributes {a = array< index: 1>} {}", "gfx950", "elements of type 'index'"),
        ("@x = global " + "{" * 10**5, "gfx950", "1000 brackets are open here"),
    ],
)
def test_compile_says_what_is_wrong(text: str | bytes, chip: str, message: str) -> None:
    """Modules that can't be compiled, and what is said about them."""
    with pytest.raises(MLIRError, match=message):
        lodestone.compile(text, chip=chip)


def test_many_regions() -> None:
    """10^5 regions are no trouble."""
    with Context():
        module = Module.parse(regions(100_000, "1"))
        assert lodestone.compile(module, chip="gfx950", format="isa").kernels


def test_global_isel_loses_no_waits() -> None:
    """GlobalISel drops what scopes need: the code is compiled without, with a warning."""
    result = lodestone.compile(TWO_BUFFERS, chip="gfx950", format="isa", global_isel=True)
    assert result.untagged_fallback and result.check.clean and result.diagnostics


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"chip": 950}, "'chip' must be a str, not 950"),
        ({"opt_level": "3"}, "'opt_level' must be a small int"),
        ({"opt_level": 10**30}, "'opt_level' must be a small int"),
        ({"opt_level": -1}, "'opt_level' must be a small int"),
        ({"strict": "yes"}, "'strict' must be True or False"),
        ({"linker": 3}, "PathLike"),
    ],
)
def test_wrong_types_of_options(options: dict[str, object], message: str) -> None:
    """An option of a wrong type is named, with what it must be."""
    with pytest.raises(TypeError, match=message):
        lodestone.compile(TWO_BUFFERS, **{"chip": "gfx950", **options})  # type: ignore[arg-type]


@pytest.mark.parametrize("thing", [None, 3, [1], {}, object()])
def test_wrong_types_of_modules(thing: object) -> None:
    """What is no module is named by its type."""
    for function in (lodestone.compile, lodestone.analyze, lodestone.check):
        with pytest.raises(TypeError, match=f"not a {type(thing).__name__}"):
            function(thing, chip="gfx950")


def test_unknown_features() -> None:
    """LLVM would ignore an unknown feature in passing."""
    with pytest.raises(MLIRError, match=r"unknown feature '\+nonsense'"):
        lodestone.compile(TWO_BUFFERS, chip="gfx950", features="+xnack,+nonsense")


def test_missing_linker_has_a_code() -> None:
    """Without ld.lld the command line ends with 3 and says how to get it."""
    result = subprocess.run(
        [*CLI, "compile", str(TWO_BUFFERS), "--chip", "gfx950"],
        env={**os.environ, "LODESTONE_LLD": "/nowhere/ld.lld"}, capture_output=True, check=False,
    )  # fmt: skip
    assert result.returncode == 3 and b"apt-get install lld-22" in result.stderr


@pytest.mark.parametrize("output", ["/nowhere/k.hsaco", "/proc/k.hsaco", "/"])
def test_unwritable_output(output: str) -> None:
    """An output that can't be written is named."""
    result = subprocess.run(
        [*CLI, "compile", str(TWO_BUFFERS), "--chip", "gfx950", "-o", output],
        capture_output=True, check=False,
    )  # fmt: skip
    assert result.returncode == 2 and output.encode() in result.stderr


def test_closed_output() -> None:
    """A closed standard output, or one whose reader is gone, is no traceback and no finding."""
    command = " ".join([*CLI, "check", str(INPUTS / "naive.ll")])
    closed = subprocess.run(["sh", "-c", f"{command} >&-"], capture_output=True, check=False)
    assert closed.returncode == 1 and b"Traceback" not in closed.stderr
    read, write = os.pipe()
    os.close(read)
    gone = subprocess.run(command.split(), stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert gone.returncode == 2 and b"Traceback" not in gone.stderr
