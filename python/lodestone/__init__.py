"""Lodestone: fast and provably safe LDS traffic for AMD GPU kernels written in MLIR."""
