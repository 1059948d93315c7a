"""The package imports, and its native module is the one that was just built."""

import lodestone._native


def test_native_module_loads() -> None:
    assert lodestone._native.__name__ == "lodestone._native"
