"""Lodestone: fast and provably safe LDS traffic for AMD GPU kernels written in MLIR."""

from lodestone._errors import MissingToolError, MLIRError, StrictError
from lodestone.analyzer import Analysis, analyze
from lodestone.checker import CheckReport, WaitFinding, check
from lodestone.compiler import Compilation, CompiledModule, KernelResources, compile
from lodestone.remarks import Remark, collect_remarks

__all__ = [
    "Analysis",
    "CheckReport",
    "Compilation",
    "CompiledModule",
    "KernelResources",
    "MLIRError",
    "MissingToolError",
    "Remark",
    "StrictError",
    "WaitFinding",
    "analyze",
    "check",
    "collect_remarks",
    "compile",
]
