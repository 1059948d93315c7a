"""Static figures of compiled gfx9 kernels: waits, early drains, registers, cycles.

Works on assembly text alone, of any compiler; needs neither MLIR nor a GPU.
"""

from lodestone.report.drains import EarlyDrains, early_drains
from lodestone.report.figures import Figures, figures
from lodestone.report.isa import AssemblyError, Function, Instruction, parse_function

__all__ = [
    "AssemblyError",
    "EarlyDrains",
    "Figures",
    "Function",
    "Instruction",
    "early_drains",
    "figures",
    "parse_function",
]
