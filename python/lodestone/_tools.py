"""Where the LLVM tools are.

Order: the directory in ``$LODESTONE_LLVM_BIN``, Debian's LLVM 22 prefix, then ``PATH``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

LLVM_BIN_VARIABLE = "LODESTONE_LLVM_BIN"
DEBIAN_LLVM_BIN = Path("/usr/lib/llvm-22/bin")


class ToolError(RuntimeError):
    """An LLVM tool is missing or rejected its input."""


@cache
def _find(name: str, override: str | None) -> Path:
    directories = [Path(override)] if override else []
    directories.append(DEBIAN_LLVM_BIN)
    for directory in directories:
        if (directory / name).is_file():
            return directory / name
    if found := shutil.which(name):
        return Path(found)
    raise ToolError(
        f"{name} not found in {', '.join(map(str, directories))} or PATH; "
        f"set {LLVM_BIN_VARIABLE} to the directory that has it"
    )


def find_tool(name: str) -> Path:
    """Return the path of the LLVM tool `name`; raise ToolError when there is none."""
    return _find(name, os.environ.get(LLVM_BIN_VARIABLE))


def run_tool(name: str, arguments: Sequence[str | Path], stdin: str | None = None) -> str:
    """Run an LLVM tool and return its standard output.

    Raises:
        ToolError: the tool is missing, or it failed (its own message is the text).
    """
    done = subprocess.run(
        [str(find_tool(name)), *map(str, arguments)], input=stdin, capture_output=True, text=True
    )
    if done.returncode != 0:
        raise ToolError(f"{name} failed with status {done.returncode}: {done.stderr.strip()}")
    return done.stdout
