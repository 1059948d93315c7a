"""What the kernels that use the tensor data mover (TDM) of gfx1250 have in common."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from lodestone import ir

CHIP = "gfx1250"
LANES = 32

# MLIR's element types that the kernels are built for.
DTYPES: dict[str, np.dtype[np.generic]] = {
    "i8": np.dtype(np.int8),
    "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
    "f8E4M3FN": np.dtype(ml_dtypes.float8_e4m3fn),
    "f8E5M2": np.dtype(ml_dtypes.float8_e5m2),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f16": np.dtype(np.float16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
}


def dtype_named(name: str) -> np.dtype[np.generic]:
    """Return the NumPy dtype of an MLIR element type.

    Raises:
        ValueError: the kernels aren't built for this type.
    """
    if name not in DTYPES:
        raise ValueError(f"dtype must be one of {', '.join(DTYPES)}, got {name}")
    return DTYPES[name]


def parse_kernel(name: str, arguments: str, num_warps: int, body: str) -> ir.Module:
    """Parse a kernel of `num_warps` warps, in the current context or one of its own.

    Raises:
        MLIRError: the body breaks a rule, such as those of `tdm.load`.
    """
    text = f"""
module attributes {{gpu.container_module}} {{
gpu.module @kernels {{
  gpu.func @{name}({arguments}) kernel
      attributes {{known_block_size = array<i32: {num_warps * LANES}, 1, 1>}} {{
    {body}
    gpu.return
  }}
}}
}}"""
    context = ir.Context.current if ir.Context.current is not None else ir.Context()
    return ir.Module.parse(text, context=context)


def clauses(hint: int | None = None, padding: tuple[int, int] | None = None) -> str:
    """Return the clauses of a copy for a hint, and for padding (interval, amount) in dwords."""
    text = ""
    if padding is not None:
        text += f" padding(<interval = {padding[0]}, amount = {padding[1]}>)"
    if hint is not None:
        text += f" hint({hint:#x} : i32)"
    return text
