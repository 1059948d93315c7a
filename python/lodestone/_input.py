"""What ``compile``, ``analyze`` and ``check`` take: text, files, modules, kernels."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from lodestone import ir

Language = Literal["mlir", "llvm", "mir"]

_LLVM_LINE = re.compile(
    rb"^(; ModuleID|source_filename *=|target (triple|datalayout) *=|define |declare |@[\w.]+ *=)",
    re.MULTILINE,
)
_SUFFIXES: dict[str, Language] = {
    ".mlir": "mlir",
    ".mlirbc": "mlir",
    ".ll": "llvm",
    ".bc": "llvm",
    ".mir": "mir",
}


@dataclass(frozen=True)
class Input:
    """A source, read: a module, or the bytes of LLVM IR or MIR."""

    language: Language
    name: str
    context: ir.Context
    module: ir.Module | None = None
    contents: bytes = b""
    chip: str = ""
    compile_options: Mapping[str, Any] = field(default_factory=dict)


def _language(contents: bytes, suffix: str) -> Language:
    if contents.startswith((b"BC\xc0\xde", b"\xde\xc0\x17\x0b")):
        return "llvm"
    if contents.startswith(b"ML\xefR"):
        return "mlir"
    if suffix in _SUFFIXES:
        return _SUFFIXES[suffix]
    if contents.lstrip().startswith(b"---"):
        return "mir"
    return "llvm" if _LLVM_LINE.search(contents) else "mlir"


def read(source: object, name: str | None = None) -> Input:
    """Reads a source.

    Args:
        source: text (``str``), bytes (text, bytecode or bitcode), a path (``os.PathLike``), an
            ``ir.Module``, a module of other MLIR bindings, or an object with such a ``module``
            (a kernel), whose ``chip`` and ``compile_options`` are then the defaults.
        name: what messages call it; default: the path.

    Raises:
        OSError: the file cannot be read.
        MLIRError: the text cannot be parsed.
        TypeError: the object is none of these.
    """
    suffix = ""
    if isinstance(source, os.PathLike):
        path = Path(source)
        name = name or str(path)
        suffix = path.suffix
        source = path.read_bytes()
    if isinstance(source, str):
        source = source.encode("utf-8", "surrogatepass")
    if isinstance(source, (bytes, bytearray, memoryview)):
        contents = bytes(source)
        name = name or "<source>"
        context = ir.Context()
        language = _language(contents, suffix)
        if language != "mlir":
            return Input(language, name, context, contents=contents)
        module = ir.Module.parse(contents, name, context)
        return Input(language, name, context, module)
    chip = getattr(source, "chip", "")
    options = getattr(source, "compile_options", {})
    if not hasattr(source, "operation") and hasattr(source, "module"):
        source = source.module
        if isinstance(source, str):
            inner = read(source, name)
            return Input(
                inner.language, inner.name, inner.context, inner.module, b"", chip, options
            )
    else:
        chip, options = "", {}
    if not hasattr(source, "operation") and not hasattr(source, "get_asm"):
        raise TypeError(
            "MLIR or LLVM IR is needed, as text, bytes, a path or an MLIR module; not a "
            f"{type(source).__name__}"
        )
    if isinstance(source, (ir.Module, ir.Operation)):
        module = ir.Module.from_foreign(source)
    else:
        module = ir.Module.from_foreign(source, ir.Context())
    return Input("mlir", name or "<module>", module.context, module, b"", chip, options)
