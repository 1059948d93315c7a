"""Lodestone: fast and provably safe LDS traffic for AMD GPU kernels written in MLIR.

The names below load on first use, so that `lodestone.sim`, which reads only machine code, works
without the native module.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lodestone._errors import MissingToolError, MLIRError, StrictError
    from lodestone.analyzer import Analysis, analyze
    from lodestone.checker import CheckReport, WaitFinding, check
    from lodestone.compiler import Compilation, CompiledModule, KernelResources, compile
    from lodestone.launcher import HipError, Run, run
    from lodestone.remarks import Remark, collect_remarks

_HOME = {
    "_errors": ("MLIRError", "MissingToolError", "StrictError"),
    "analyzer": ("Analysis", "analyze"),
    "checker": ("CheckReport", "WaitFinding", "check"),
    "compiler": ("Compilation", "CompiledModule", "KernelResources", "compile"),
    "launcher": ("HipError", "Run", "run"),
    "remarks": ("Remark", "collect_remarks"),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "Analysis",
    "CheckReport",
    "Compilation",
    "CompiledModule",
    "HipError",
    "KernelResources",
    "MLIRError",
    "MissingToolError",
    "Remark",
    "Run",
    "StrictError",
    "WaitFinding",
    "analyze",
    "check",
    "collect_remarks",
    "compile",
    "run",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
