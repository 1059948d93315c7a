"""A functional simulator of the final AMDGPU ISA: numbers, races, missing waits, without a GPU.

    result = sim.run(hsaco, grid=(4, 4), args=[a, b, c], mode="R", order="reverse")
    assert result.ok, result

It executes what was compiled, as disassembled by LLVM. `modes` describes the memory modes,
`checks` the findings. Needs NumPy and ml_dtypes, and LLVM's command line tools; no MLIR.
"""

from .asm import Instruction, Program, load
from .checks import Finding
from .errors import (
    CodeObjectError,
    ExecutionError,
    InstructionLimit,
    LaunchError,
    SimulationError,
    UnsupportedInstruction,
)
from .modes import Order
from .run import BankConflicts, Result, TensorOperation, run

__all__ = [
    "BankConflicts",
    "CodeObjectError",
    "ExecutionError",
    "Finding",
    "Instruction",
    "InstructionLimit",
    "LaunchError",
    "Order",
    "Program",
    "Result",
    "SimulationError",
    "TensorOperation",
    "UnsupportedInstruction",
    "load",
    "run",
]
