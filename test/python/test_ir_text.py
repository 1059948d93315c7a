"""IR as text and bytecode, diagnostics, remarks, other bindings, threads."""

import io
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from lodestone import MLIRError
from lodestone.ir import Context, DiagnosticInfo, DiagnosticSeverity, Location, Module, Operation
from lodestone.passmanager import PassManager

MODULE = """
func.func @f(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  return %0 : i32
}
"""


def test_error_carries_its_diagnostics(context: Context) -> None:
    """A parse error says file, line, column and notes as data and in its text."""
    source = "func.func @f() { %0 = arith.constant 1 : i32\n %0 = arith.constant 2 : i32\nreturn }"
    with pytest.raises(MLIRError) as caught:
        Module.parse(source, "kernel.mlir")
    (error,) = caught.value.error_diagnostics
    assert (error.file, error.line, error.column) == ("kernel.mlir", 2, 2)
    assert error.severity is DiagnosticSeverity.ERROR
    assert [note.severity for note in error.notes] == [DiagnosticSeverity.NOTE]
    assert "kernel.mlir:2:2: error: redefinition" in str(caught.value)
    assert "kernel.mlir:1:18: note: previously defined here" in str(caught.value)


def test_print_flags(context: Context) -> None:
    """The flags of get_asm do what upstream's do."""
    module = Module.parse(MODULE, "a.mlir")
    assert '"arith.addi"' in module.operation.get_asm(print_generic_op_form=True)
    assert 'loc("a.mlir":3:8)' in module.operation.get_asm(
        enable_debug_info=True, pretty_debug_info=False, use_local_scope=True
    )
    assert "addi" not in module.operation.get_asm(skip_regions=True)
    stream = io.StringIO()
    module.operation.print(stream)
    assert stream.getvalue() == str(module) + "\n"


def test_bytecode_round_trip(context: Context, tmp_path: Path) -> None:
    """Bytecode of any supported version comes back as the same module."""
    module = Module.parse(MODULE)
    for version in (None, 4):
        stream = io.BytesIO()
        module.operation.write_bytecode(stream, desired_version=version)
        assert str(Module.parse(stream.getvalue())) == str(module)
    module.operation.write_bytecode(tmp_path / "m.mlirbc")
    assert str(Operation.parse((tmp_path / "m.mlirbc").read_bytes())) == str(module)
    with pytest.raises(MLIRError):
        module.operation.write_bytecode(io.BytesIO(), desired_version=99)


def test_handlers_see_warnings(context: Context) -> None:
    """Errors are raised; what else is reported goes to the attached handler."""
    seen: list[DiagnosticInfo] = []

    def handler(diagnostic: DiagnosticInfo) -> bool:
        seen.append(diagnostic)
        return True

    with context.attach_diagnostic_handler(handler) as attached:
        Location.file("a", 1, 2).emit_error("oh")
        assert attached.attached
    assert [(d.message, d.file, d.line) for d in seen] == [("oh", "a", 1)]
    assert not attached.attached


def test_pass_manager_text(context: Context) -> None:
    """Pipelines parse, print, grow; bad ones are refused with the reason."""
    manager = PassManager.parse("builtin.module(func.func(cse))")
    assert str(manager) == "builtin.module(func.func(cse))"
    manager.add("symbol-dce")
    assert str(manager) == "builtin.module(func.func(cse),symbol-dce)"
    for bad in ("builtin.module(no-such-pass)", "builtin.module(", "cse", ""):
        with pytest.raises(ValueError):
            PassManager.parse(bad).run(Module.parse(MODULE))
            raise ValueError("empty pipelines are fine")
    with pytest.raises(MLIRError, match="can't run"):
        PassManager("func.func").run(Module.parse(MODULE))
    with pytest.raises(ValueError, match="thread"):
        manager.enable_ir_printing(print_module_scope=True)


def test_remarks_are_collected(context: Context) -> None:
    """Collecting remarks is balanced, and refused when it goes on already."""
    from lodestone.remarks import collect_remarks

    with collect_remarks() as remarks:
        PassManager.parse("builtin.module(canonicalize)").run(Module.parse(MODULE))
        with pytest.raises(RuntimeError), collect_remarks():
            pass
    assert remarks == []
    with pytest.raises(ValueError), collect_remarks(filter="("):
        pass


class Foreign:
    """What another wheel's module looks like, with bytecode switched on or off."""

    def __init__(self, module: Module, bytecode: bool) -> None:
        self._module = module
        if bytecode:
            self.write_bytecode = module.operation.write_bytecode

    @property
    def operation(self) -> "Foreign":
        return self

    def get_asm(self, **flags: bool) -> str:
        return self._module.operation.get_asm(**flags)  # type: ignore[arg-type]


@pytest.mark.parametrize("bytecode", [True, False])
def test_modules_of_other_bindings(context: Context, bytecode: bool) -> None:
    """Anything with the methods of upstream's bindings is a module."""
    with Context():
        foreign = Foreign(Module.parse(MODULE), bytecode)
    module = Module.from_foreign(foreign)
    assert module.context is context and "arith.addi" in str(module)
    assert Module.from_foreign(module) == module
    with pytest.raises(TypeError, match="write_bytecode"):
        Module.from_foreign(object())


def test_threads_with_a_context_each() -> None:
    """Several threads parse, run passes and print at a time."""

    def work(seed: int) -> str:
        with Context(), Location.unknown():
            for _ in range(20):
                module = Module.parse(MODULE.replace("@f", f"@f{seed}"))
                PassManager.parse("builtin.module(canonicalize,func.func(cse))").run(module)
            with pytest.raises(MLIRError):
                Module.parse("?")
            return str(module)

    with ThreadPoolExecutor(4) as pool:
        texts = list(pool.map(work, range(8)))
    assert all(f"@f{seed}(" in text for seed, text in enumerate(texts))


REMARKING = """
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {
    transform.debug.emit_remark_at %m, "here" : !transform.any_op
    transform.yield
  }
}
"""


def test_busy_modules_raise(context: Context) -> None:
    """While a pass runs on a module, a diagnostic handler sees reports but not the module."""
    module = Module.parse(REMARKING)
    seen: list[tuple[str, str]] = []

    def handler(diagnostic: DiagnosticInfo) -> bool:
        with pytest.raises(RuntimeError) as caught:
            str(module)
        seen.append((diagnostic.message, str(caught.value)))
        return True

    with context.attach_diagnostic_handler(handler) as attached:
        PassManager.parse("builtin.module(transform-interpreter)").run(module)
    assert not attached.had_error
    ((message, error),) = seen
    assert message == "here" and "in use" in error
