"""Modules of another wheel's MLIR bindings, in one process with ours."""

import pytest

pytestmark = pytest.mark.integration

TEXT = """
gpu.module @kernels {
  gpu.func @copy(%src: memref<256xf32>, %dst: memref<256xf32>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %tid = gpu.thread_id x
    %v = memref.load %src[%tid] : memref<256xf32>
    memref.store %v, %dst[%tid] : memref<256xf32>
    gpu.return
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
            ours = Module.import_(theirs)
            assert "memref.load" in str(ours)
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
        module = Module.import_(NoBytecode(foreign.Module.parse(TEXT)))
    assert "memref.load" in str(module)
