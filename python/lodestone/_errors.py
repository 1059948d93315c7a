"""The exceptions that Lodestone raises beside Python's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lodestone._native import DiagnosticInfo


class MLIRError(Exception):
    """Something that MLIR refused: text that doesn't parse, invalid IR, a failed pass.

    Attributes:
        message: what was tried.
        error_diagnostics: what MLIR reported, in order; each with its notes.
    """

    message: str
    error_diagnostics: list[DiagnosticInfo]

    def __init__(self, message: str, error_diagnostics: Sequence[DiagnosticInfo] = ()) -> None:
        """Makes an exception of `message` and the diagnostics behind it."""
        self.message = message
        self.error_diagnostics = list(error_diagnostics)
        super().__init__(message, self.error_diagnostics)

    def __str__(self) -> str:
        """The message, then a line for each diagnostic and note."""
        lines = [self.message + (":" if self.error_diagnostics else "")]
        return "\n".join(lines + [str(diagnostic) for diagnostic in self.error_diagnostics])


class MissingToolError(MLIRError):
    """A tool or library that the work needs isn't installed; the message says which."""


class StrictError(MLIRError):
    """With ``strict``: something was refused or found that is only reported otherwise."""
