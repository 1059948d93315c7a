"""``lodestone.compile``: from a module to checked ISA, code object or fat binary."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

from rich.console import RenderableType
from rich.table import Table

from lodestone import _native
from lodestone._errors import MissingToolError, MLIRError, StrictError
from lodestone._input import Input, read
from lodestone._result import Diagnostic, Result, add_row
from lodestone.checker import CheckReport

Format = Literal["isa", "hsaco", "fatbin"]
DirectToLDS = Literal["off", "auto", "on"]
TDMHintRule = Literal["complementary", "leading-group", "one-per-simd"]


@dataclass(frozen=True)
class Argument:
    """One argument in the kernel's argument buffer; offset and size in bytes."""

    name: str
    kind: str
    offset: int
    size: int


@dataclass(frozen=True)
class KernelResources:
    """What a kernel takes of the chip, read from its code object.

    Attributes:
        name: the kernel.
        vgprs: vector registers of a lane, accumulation registers included.
        agprs: accumulation registers of those.
        sgprs: scalar registers of a wave.
        vgpr_spills: vector registers spilled to scratch.
        sgpr_spills: scalar registers spilled.
        scratch_bytes: scratch memory of a lane.
        dynamic_stack: more scratch may be needed than that.
        static_lds_bytes: LDS that the code object declares.
        dynamic_lds_bytes: LDS that a launch must add.
        max_workgroup_size: lanes of a workgroup at most.
        required_workgroup_size: the size it demands, zeros if any.
        wave_size: lanes of a wave.
        kernarg_bytes: size of the argument buffer.
        kernarg_align: its alignment in bytes.
        arguments: its layout.
        occupancy: waves that a SIMD can hold at once.
        occupancy_limit: what limits them: registers, lds, workgroup or chip.
    """

    name: str
    vgprs: int
    agprs: int
    sgprs: int
    vgpr_spills: int
    sgpr_spills: int
    scratch_bytes: int
    dynamic_stack: bool
    static_lds_bytes: int
    dynamic_lds_bytes: int
    max_workgroup_size: int
    required_workgroup_size: tuple[int, int, int]
    wave_size: int
    kernarg_bytes: int
    kernarg_align: int
    arguments: tuple[Argument, ...]
    occupancy: int
    occupancy_limit: str


@dataclass(frozen=True)
class Seconds:
    """Time spent in each step, in seconds; a fallback's included."""

    pipeline: float = 0.0
    translate: float = 0.0
    optimize: float = 0.0
    codegen: float = 0.0
    check: float = 0.0
    assemble: float = 0.0
    link: float = 0.0

    @property
    def total(self) -> float:
        """All steps together."""
        return sum(float(getattr(self, f.name)) for f in fields(self))


@dataclass(frozen=True)
class CompiledModule:
    """One gpu.module (or LLVM IR module), compiled.

    Attributes:
        name: the module's name.
        chip: ``gfx950``.
        isa: assembly text.
        code_object: the linked ELF; empty for the format ``isa``.
        fat_binary: the bundle; empty unless asked for.
        kernels: their resources.
        check: the wait checker's report on this code, None if it didn't run.
        untagged_fallback: the code with alias scopes failed the check; this is the one without.
        tagged_check: what was wrong with the other.
        seconds: time spent.
    """

    name: str
    chip: str
    isa: str
    code_object: bytes
    fat_binary: bytes
    kernels: tuple[KernelResources, ...]
    check: CheckReport | None
    untagged_fallback: bool
    tagged_check: CheckReport | None
    seconds: Seconds

    @classmethod
    def from_native(cls, native: dict[str, Any]) -> CompiledModule:
        """From the native module's dictionary."""

        def report(value: dict[str, Any] | None) -> CheckReport | None:
            return None if value is None else CheckReport.from_native(value)

        kernels = tuple(
            KernelResources(
                **{**kernel, "arguments": tuple(Argument(**a) for a in kernel["arguments"])}
            )
            for kernel in native["kernels"]
        )
        return cls(
            **{
                **native,
                "kernels": kernels,
                "check": report(native["check"]),
                "tagged_check": report(native["tagged_check"]),
                "seconds": Seconds(**native["seconds"]),
            }
        )


@dataclass(frozen=True)
class Compilation(Result):
    """The result of ``compile``.

    Attributes:
        modules: one for each gpu.module.
        diagnostics: warnings and remarks; errors are raised.
        format: what was asked for.
    """

    modules: tuple[CompiledModule, ...]
    diagnostics: tuple[Diagnostic, ...] = ()
    format: Format = "hsaco"

    @property
    def _only(self) -> CompiledModule:
        if len(self.modules) != 1:
            raise ValueError(f"there are {len(self.modules)} modules; take one from .modules")
        return self.modules[0]

    @property
    def isa(self) -> str:
        """The assembly text of the only module."""
        return self._only.isa

    @property
    def code_object(self) -> bytes:
        """The ELF of the only module."""
        return self._only.code_object

    @property
    def fat_binary(self) -> bytes:
        """The bundle of the only module."""
        return self._only.fat_binary

    @property
    def kernels(self) -> tuple[KernelResources, ...]:
        """The kernels of all modules."""
        return tuple(kernel for module in self.modules for kernel in module.kernels)

    @property
    def check(self) -> CheckReport:
        """The reports of all modules as one."""
        return CheckReport.merge(module.check for module in self.modules if module.check)

    @property
    def untagged_fallback(self) -> bool:
        """Some module was compiled without alias scopes because of the check."""
        return any(module.untagged_fallback for module in self.modules)

    @property
    def output(self) -> bytes:
        """The only module in the format that was asked for; assembly text as UTF-8."""
        if self.format == "isa":
            return self.isa.encode()
        return self.code_object if self.format == "hsaco" else self.fat_binary

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes ``output`` to a file and returns its path."""
        target = Path(path)
        target.write_bytes(self.output)
        return target

    def summary(self) -> dict[str, Any]:
        """``to_dict`` with sizes in bytes in place of code."""
        plain = self.to_dict()
        for module, entry in zip(self.modules, plain["modules"], strict=True):
            for name in ("isa", "code_object", "fat_binary"):
                entry[f"{name}_bytes"] = len(getattr(module, name))
                del entry[name]
        return plain

    def _renderables(self) -> Iterable[RenderableType]:
        table = Table(title="Kernels", title_justify="left")
        table.add_column("kernel", overflow="fold")
        table.add_column("chip")
        for name in ("VGPR", "AGPR", "SGPR", "spills", "scratch", "LDS", "waves/SIMD"):
            table.add_column(name, justify="right")
        table.add_column("alias scopes")
        for module in self.modules:
            for kernel in module.kernels:
                numbers = (
                    kernel.vgprs, kernel.agprs, kernel.sgprs,
                    kernel.vgpr_spills + kernel.sgpr_spills, kernel.scratch_bytes,
                    kernel.static_lds_bytes + kernel.dynamic_lds_bytes, kernel.occupancy,
                )  # fmt: skip
                scopes = "dropped by check" if module.untagged_fallback else "as asked"
                add_row(table, kernel.name, module.chip, *map(str, numbers), scopes)
        yield table
        for module in self.modules:
            if module.check:
                yield from module.check._renderables()
        for diagnostic in self.diagnostics:
            yield str(diagnostic)


def run_compiler(source: Input, options: Mapping[str, Any]) -> Compilation:
    """Compiles what was read; the options are those of ``compile``, by name."""
    options = dict(options)
    if source.module is not None:
        operation = source.module.operation
        result = _native.compile_module(operation, options)
    elif source.language == "llvm":
        result = _native.compile_llvm_ir(source.contents, source.name, source.context, options)
    else:
        raise ValueError("MIR can be checked, not compiled")
    diagnostics: list[_native.DiagnosticInfo] = result["diagnostics"]
    if result["failed"]:
        kinds = {"missing-tool": MissingToolError, "strict": StrictError}
        raise kinds.get(result["failure"], MLIRError)(
            f"{source.name} cannot be compiled", diagnostics
        )
    return Compilation(
        modules=tuple(map(CompiledModule.from_native, result["modules"])),
        diagnostics=tuple(map(Diagnostic.of, diagnostics)),
        format=options.get("format", "hsaco"),
    )


def compile(
    module: object,
    *,
    chip: str = "",
    format: Format = "hsaco",
    alias_scopes: bool | None = None,
    check: bool | None = None,
    strict: bool | None = None,
    opt_level: int | None = None,
    inverse_swizzle: bool | None = None,
    register_budget: int | None = None,
    direct_to_lds: DirectToLDS | None = None,
    tdm_hints: Sequence[TDMHintRule] | None = None,
    tdm_fuse: bool | None = None,
    assume_small_buffers: bool | None = None,
    separate_globals: bool | None = None,
    bare_pointers: bool | None = None,
    features: str | None = None,
    linker: str | os.PathLike[str] | None = None,
    name: str | None = None,
    **more: Any,
) -> Compilation:
    """Compiles each gpu.module, with alias scopes where they are safe, and checks the code.

    If the check finds a missing wait in code with alias scopes, the code is compiled without,
    and a warning says so. None means the kernel's own choice, or else the default.

    Args:
        module: MLIR or LLVM IR: text, bytes, a path, a module of any MLIR bindings, or a kernel
            object. A module is left as it is.
        chip: ``gfx950``; default: what the module says.
        format: ``isa`` (text), ``hsaco`` (code object) or ``fatbin`` (HIP fat binary).
        alias_scopes: attach alias scopes to LDS accesses (default: true).
        check: check the machine code's waits (default: true).
        strict: raise for what can't be tagged and for findings of the check (default: false).
        opt_level: LLVM's optimization level, 0 to 3 (default: 3).
        inverse_swizzle: store copies to swizzled LDS linearly, and load what belongs there
            (default: false).
        register_budget: vector registers of a lane that copies to LDS may take to load
            everything before they store; 0, the default, leaves their order.
        direct_to_lds: which copies from global memory to LDS become LDS-DMAs: ``off`` (none,
            the default), ``auto`` (those that are one DMA each) or ``on`` (all that can).
        tdm_hints: rules that choose the warps of TDM loads without a hint: ``complementary``
            (divide the warps among adjacent loads), ``leading-group`` (those that are ahead in a
            warp-pipelined loop), ``one-per-simd`` (no more than a compute unit has SIMDs);
            default: none.
        tdm_fuse: make one instruction of adjacent TDM loads on disjoint warps (default: false).
        assume_small_buffers: take memrefs of dynamic sizes or strides that LDS-DMAs read to have
            less than 2^32 bytes, and no negative stride; nothing checks it (default: false).
        separate_globals: give each ``lds.region`` a global of its own (default: false).
        bare_pointers: pass a memref to a kernel as one pointer (default: false).
        features: of the target machine, ``+xnack``.
        linker: the ``ld.lld`` to link with.
        name: what messages call the source.
        more: ``index_bitwidth``, ``rocm_path``, ``resources``, ``global_isel``,
            ``optimize_llvm_ir``.

    Returns:
        The code, the kernels' resources, the check's report and warnings.

    Raises:
        MLIRError: the module cannot be compiled; ``error_diagnostics`` says why.
        MissingToolError: ``ld.lld`` or device libraries are missing.
        StrictError: ``strict``, and something was refused or found.
        OSError: the file cannot be read.
        ValueError: the chip, format, level, kind of copies or rule is unknown.
    """
    source = read(module, name)
    options: dict[str, Any] = {**source.compile_options, **more}
    given = {
        "alias_scopes": alias_scopes,
        "check": check,
        "strict": strict,
        "opt_level": opt_level,
        "inverse_swizzle": inverse_swizzle,
        "register_budget": register_budget,
        "direct_to_lds": direct_to_lds,
        "tdm_hints": tdm_hints,
        "tdm_fuse": tdm_fuse,
        "assume_small_buffers": assume_small_buffers,
        "separate_globals": separate_globals,
        "bare_pointers": bare_pointers,
        "features": features,
        "linker": None if linker is None else os.fspath(linker),
    }
    options.update({key: value for key, value in given.items() if value is not None})
    options["format"] = format
    options["chip"] = chip or options.get("chip", "") or source.chip
    return run_compiler(source, options)
