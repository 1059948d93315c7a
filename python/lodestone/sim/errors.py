"""The errors that the simulator raises. All of them derive from SimulationError."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .asm import Instruction


class SimulationError(Exception):
    """The simulation can't go on: bad input, or the kernel did what hardware traps on."""


class CodeObjectError(SimulationError):
    """The code object is truncated, malformed or for a chip that is not simulated."""


class LaunchError(SimulationError):
    """Grid, block or arguments don't fit the kernel."""


class UnsupportedInstruction(SimulationError):
    """A mnemonic, operand or modifier that has no semantics here. Never skipped or guessed."""

    def __init__(self, instruction: Instruction, why: str) -> None:
        """Name the instruction, its text and its address."""
        super().__init__(f"{why}: `{instruction.text}` at pc {instruction.address:#x}")
        self.instruction = instruction


class ExecutionError(SimulationError):
    """An executed instruction failed; carries where.

    Attributes:
        pc: byte address of the instruction in its section.
        wave: index of the wave in its workgroup.
        part: what was done before (a `session.Part`), for a result with `check=False`.
    """

    def __init__(self, message: str, *, pc: int = -1, wave: int = -1) -> None:
        """Record the message and, when known, the place."""
        super().__init__(message)
        self.pc = pc
        self.wave = wave
        self.part: Any = None


class InstructionLimit(ExecutionError):
    """The kernel executed more instructions than allowed; the message lists the loop's pcs."""
