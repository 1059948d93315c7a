"""Modules of another wheel's MLIR bindings, in one process with ours."""

import pytest

pytestmark = pytest.mark.integration

# Attributes that have no bytecode encoding travel as text, and some changed their text since
# (`#gpu<dim x>`); a lowered kernel has none of these.
TEXT = """
gpu.module @kernels {
  llvm.func @copy(%src: !llvm.ptr<1>, %dst: !llvm.ptr<1>) attributes {gpu.kernel, rocdl.kernel} {
    %tid = rocdl.workitem.id.x : i32
    %from = llvm.getelementptr %src[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %to = llvm.getelementptr %dst[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %v = llvm.load %from : !llvm.ptr<1> -> f32
    llvm.store %v, %to : f32, !llvm.ptr<1>
    llvm.return
  }
}
"""


def test_iree_modules_are_accepted() -> None:
    """A module of IREE's bindings (a newer MLIR) is imported and compiled."""
    foreign = pytest.importorskip("iree.compiler.ir")
    import lodestone
    from lodestone.ir import Context, Module

    with foreign.Context():
        theirs = foreign.Module.parse(TEXT)
        with Context():
            ours = Module.from_foreign(theirs)
            assert "llvm.load" in str(ours)
        result = lodestone.compile(theirs, chip="gfx950", format="isa")
    assert "s_endpgm" in result.isa


def test_text_is_the_fallback() -> None:
    """Where bytecode of version 4 can't be written, generic text passes."""
    foreign = pytest.importorskip("iree.compiler.ir")
    from lodestone.ir import Context, Module

    class NoBytecode:
        def __init__(self, module: object) -> None:
            self.operation = self
            self._module = module

        def write_bytecode(self, file: object, desired_version: int) -> None:
            raise ValueError("no such version")

        def get_asm(self, **flags: bool) -> str:
            text: str = self._module.operation.get_asm(**flags)  # type: ignore[attr-defined]
            return text

    with foreign.Context(), Context():
        module = Module.from_foreign(NoBytecode(foreign.Module.parse(TEXT)))
    assert "llvm.load" in str(module)
