"""The shared library is what stock MLIR tools can load."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = ROOT / "build" / "lib" / "libLodestone.so"
LLVM_BIN = Path(os.environ.get("LLVM_PREFIX", "/usr/lib/llvm-22")) / "bin"
PLUGIN = [f"--load-dialect-plugin={LIBRARY}", f"--load-pass-plugin={LIBRARY}"]


def _run(*command: str | Path, source: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in command],
        input=source, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


def _mlir_opt(source: str, *flags: str) -> str:
    """What stock mlir-opt says on standard error."""
    return _run(LLVM_BIN / "mlir-opt", *flags, "-", source=source).stderr


def _passes() -> dict[str, str]:
    """The passes of all Passes.td: argument -> the operation it runs on, empty for any."""
    found = {}
    for td in sorted(ROOT.glob("include/lodestone/*/Passes.td")):
        folders = [f"-I{ROOT}/include", f"-I{LLVM_BIN}/../include"]
        result = _run(LLVM_BIN / "llvm-tblgen", "--dump-json", td, *folders)
        assert result.returncode == 0, result.stderr
        records = json.loads(result.stdout)
        for name in records["!instanceof"]["PassBase"]:
            base = re.search(r"OperationPass<(.*)>$", records[name]["baseClass"])
            found[records[name]["argument"]] = base[1] if base else ""
    assert found
    return found


def test_needed_libraries() -> None:
    """Nothing but MLIR, LLVM and the C and C++ runtimes.

    A static copy of a part of MLIR would duplicate its type ids, and a third library would
    be one more thing to install.
    """
    result = _run(LLVM_BIN / "llvm-readelf", "--needed-libs", LIBRARY)
    needed = set(re.findall(r"^\s+(\S+\.so\S*)$", result.stdout, re.MULTILINE))
    runtime = {"libstdc++.so.6", "libm.so.6", "libgcc_s.so.1", "libc.so.6", "ld-linux-x86-64.so.2"}
    ours = needed - runtime
    assert {re.sub(r"\.so.*", "", name) for name in ours} == {"libMLIR", "libLLVM"}, needed
    assert "libc.so.6" in needed


def test_stock_mlir_opt_knows_every_pass() -> None:
    """With the plugin, MLIR's own mlir-opt takes each pass of Passes.td in a pipeline."""
    parts = []
    for argument, op in _passes().items():
        nested = "gpu.module" if op.endswith("GPUModuleOp") else ""
        parts.append(f"{nested}({argument})" if nested else argument)
    pipeline = f"builtin.module({','.join(parts)})"
    # Whether the passes succeed on nothing isn't the question; the dump comes before.
    said = _mlir_opt("module {}", *PLUGIN, f"--pass-pipeline={pipeline}", "--dump-pass-pipeline")
    assert "does not refer to a registered pass" not in said
    for argument in _passes():
        assert re.search(rf"[(,\s]{argument}\b", said), f"{argument}\n{said}"


@pytest.mark.parametrize("pipeline", ["lodestone-to-rocdl", "lodestone-to-binary"])
def test_stock_mlir_opt_knows_the_pipelines(pipeline: str) -> None:
    """The pipelines are there by name, too."""
    said = _mlir_opt(
        "module {}", *PLUGIN, f"--pass-pipeline=builtin.module({pipeline}{{chip=gfx950}})"
    )
    assert "does not refer to a registered pass" not in said
    # That there is nothing to compile is what our first pass says.
    assert "gpu.module" in said


def test_stock_mlir_opt_knows_the_dialect() -> None:
    """Without the plugin `lds.region` is unknown; with it the verifier speaks."""
    source = 'gpu.module @m { gpu.func @k() kernel { "lds.region"() : () -> () gpu.return } }'
    assert "unregistered" in _mlir_opt(source)
    assert "'lds.region' op requires" in _mlir_opt(source, *PLUGIN)
