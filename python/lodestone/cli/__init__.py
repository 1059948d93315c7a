"""The command line: ``lodestone compile|analyze|check|opt|kernels|...``.

Exit codes: 0 done, 1 findings (or refused, with ``--strict``), 2 bad usage or input, 3 a tool is
missing. Each command lives in a module of its own with a function ``register(app)``.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys

import typer

from lodestone.cli._common import EXIT_INPUT, report_failure

app = typer.Typer(
    name="lodestone",
    help="Fast and provably safe LDS traffic for AMD GPU kernels written in MLIR.",
    epilog="Exit codes: 0 done, 1 findings or refused, 2 bad usage or input, 3 missing tool.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _register() -> None:
    """Takes in every command module beside this one."""
    for info in sorted(pkgutil.iter_modules(__path__), key=lambda info: info.name):
        if not info.name.startswith("_"):
            importlib.import_module(f"{__name__}.{info.name}").register(app)


_register()


def main() -> None:
    """The entry point: runs a command and ends the process with its exit code."""
    # Python has None for a stream that was closed before it started.
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")
    try:
        code = app(standalone_mode=True, prog_name="lodestone")
        sys.exit(code)
    except SystemExit as end:
        # Who read our output has seen enough. Click makes that 1, which is our code for findings.
        if isinstance(end.__context__, BrokenPipeError):
            os._exit(EXIT_INPUT)
        raise
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:
        code = report_failure(error)
        if code is None:
            raise
        sys.exit(code)
