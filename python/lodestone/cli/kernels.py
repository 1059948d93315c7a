"""``lodestone kernels``."""

from __future__ import annotations

import importlib
import inspect
import json as json_module
import pkgutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from lodestone import kernels
from lodestone._result import add_row
from lodestone.cli._common import Json, console, progress

EPILOG = """
[bold]Examples[/bold]

lodestone kernels

lodestone kernels fp8_gemm --set tile_m=128 --set k=512 -o gemm.mlir
"""


def find_kernels() -> dict[str, Callable[..., Any]]:
    """The reference kernels: each module of ``lodestone.kernels`` has a function of its name."""
    found: dict[str, Callable[..., Any]] = {}
    for info in pkgutil.iter_modules(kernels.__path__):
        if not info.name.startswith("_"):
            module = importlib.import_module(f"{kernels.__name__}.{info.name}")
            found[info.name] = getattr(module, info.name)
    return found


def _convert(name: str, value: str, default: object) -> object:
    """`value` as the type of a parameter's default; lists of numbers as 256,64."""
    if isinstance(default, bool):
        return value.lower() in ("1", "true", "yes", "on")
    if isinstance(default, (int, float)):
        return type(default)(value)
    if isinstance(default, str):
        return value
    try:
        numbers = tuple(int(number, 0) for number in value.split(","))
    except ValueError:
        raise ValueError(f"{name} must be a number, or some as 256,64; got {value}") from None
    # Without a default value, it may be one number.
    return numbers[0] if default is None and len(numbers) == 1 else numbers


def _settings(items: list[str], kernel: Callable[..., Any]) -> dict[str, Any]:
    """``name=value`` pairs."""
    parameters = inspect.signature(kernel).parameters
    settings: dict[str, Any] = {}
    for item in items:
        name, equals, value = item.partition("=")
        if not equals:
            raise ValueError(f"'{item}' is no name=value")
        if name not in parameters:
            raise ValueError(
                f"the kernel has no parameter '{name}'; it has {', '.join(parameters)}"
            )
        settings[name] = _convert(name, value, parameters[name].default)
    return settings


def _list(found: dict[str, Callable[..., Any]], json: bool) -> None:
    rows = {
        name: {
            "summary": (inspect.getdoc(kernel) or "").split("\n")[0],
            "parameters": {
                key: None if parameter.default is inspect.Parameter.empty else parameter.default
                for key, parameter in inspect.signature(kernel).parameters.items()
            },
        }
        for name, kernel in found.items()
    }
    if json:
        print(json_module.dumps(rows, indent=2, default=str))
        return
    table = Table("kernel", "parameters and defaults", "what it is")
    for name, row in rows.items():
        parameters: Any = row["parameters"]
        add_row(
            table, name, ", ".join(f"{k}={v}" for k, v in parameters.items()), str(row["summary"])
        )
    console(sys.stdout).print(table)


def register(app: typer.Typer) -> None:
    """Adds the command."""

    @app.command("kernels", epilog=EPILOG)
    def command(
        kernel: Annotated[str, typer.Argument(help="The kernel to print; none: list them.")] = "",
        set_: Annotated[
            list[str] | None, typer.Option("--set", "-s", help="A parameter, as name=value.")
        ] = None,
        output: Annotated[
            Path, typer.Option("--output", "-o", help="Where the module goes; - for stdout.")
        ] = Path("-"),
        json: Json = False,
    ) -> None:
        """List the reference kernels, or print the MLIR of one."""
        found = find_kernels()
        if not kernel:
            _list(found, json)
            return
        if kernel not in found:
            raise ValueError(f"unknown kernel '{kernel}'; known kernels are {', '.join(found)}")
        with progress(f"building {kernel}"):
            built = found[kernel](**_settings(set_ or [], found[kernel]))
        data = str(built.module).encode()
        if str(output) == "-":
            sys.stdout.buffer.write(data)
        else:
            output.write_bytes(data)
