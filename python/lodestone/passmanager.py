"""Pass pipelines, in the names of MLIR's own Python bindings."""

from lodestone._native import PassManager

__all__ = ["PassManager"]
