"""What the commands share: exit codes, input, output, progress."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, TextIO

import typer
from rich.console import Console

from lodestone._errors import MissingToolError, MLIRError, StrictError
from lodestone._result import Result

EXIT_FINDINGS = 1
EXIT_INPUT = 2
EXIT_MISSING_TOOL = 3

Source = Annotated[
    Path, typer.Argument(help="MLIR, text or bytecode; - for standard input.", show_default=False)
]
Chip = Annotated[str, typer.Option(help="The chip, such as gfx950; default: what the module says.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def read_source(path: Path) -> tuple[object, str]:
    """The source for the library's functions and its name; ``-`` is standard input.

    Raises:
        ValueError: there is nothing in it.
    """
    if str(path) == "-":
        contents = sys.stdin.buffer.read()
        if not contents.strip():
            raise ValueError("<stdin> is empty; give a module")
        return contents, "<stdin>"
    if path.is_file() and not path.read_bytes().strip():
        raise ValueError(f"{path} is empty; give a module")
    return path, str(path)


@contextmanager
def progress(what: str) -> Iterator[None]:
    """Shows on a terminal that work goes on."""
    if not sys.stderr.isatty():
        yield
        return
    with Console(stderr=True).status(what):
        yield


def console(stream: TextIO) -> Console:
    """A console on the stream; wide enough for tables where there is no terminal."""
    return Console(file=stream, width=None if stream.isatty() else 140)


def show(result: Result, json: bool) -> None:
    """Prints a result on standard output, as tables or JSON."""
    if json:
        print(result.to_json())
    else:
        console(sys.stdout).print(result)


def report_failure(error: Exception) -> int | None:
    """Says on standard error what went wrong.

    Returns:
        The exit code; None for an error that is no one's input but a bug.
    """

    def say(text: str) -> None:
        print(text, file=sys.stderr)

    if isinstance(error, MLIRError):
        say("\n".join(map(str, error.error_diagnostics)) or f"error: {error}")
        if isinstance(error, MissingToolError):
            return EXIT_MISSING_TOOL
        return EXIT_FINDINGS if isinstance(error, StrictError) else EXIT_INPUT
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        say(f"error: {where}{error.strerror or error}")
        return EXIT_INPUT
    if isinstance(error, (ValueError, TypeError)):
        say(f"error: {error}")
        return EXIT_INPUT
    return None
