"""Lodestone: fast and provably safe LDS traffic for AMD GPU kernels written in MLIR."""

from lodestone._errors import MLIRError

__all__ = ["MLIRError"]
