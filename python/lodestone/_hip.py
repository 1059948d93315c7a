"""The few functions of the HIP runtime that a launch needs, by ctypes.

The library is looked for in `$LODESTONE_HIP_LIBRARY`, then where the loader looks, then in
`/opt/rocm/lib`. Every call's status is checked.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_uint, c_void_p
from typing import Any

LIBRARY_VARIABLE = "LODESTONE_HIP_LIBRARY"
NAMES = (
    "libamdhip64.so",
    "libamdhip64.so.7",
    "libamdhip64.so.6",
    "/opt/rocm/lib/libamdhip64.so",
)
HOST_TO_DEVICE, DEVICE_TO_HOST = 1, 2
# hipErrorNoBinaryForGpu: the code object is for another chip than the device.
WRONG_CHIP = 209

_SIGNATURES: dict[str, list[Any]] = {
    "hipInit": [c_uint],
    "hipGetDeviceCount": [POINTER(c_int)],
    "hipSetDevice": [c_int],
    "hipDeviceGetName": [c_char_p, c_int, c_int],
    "hipModuleLoadData": [POINTER(c_void_p), c_char_p],
    "hipModuleGetFunction": [POINTER(c_void_p), c_void_p, c_char_p],
    "hipModuleUnload": [c_void_p],
    "hipMalloc": [POINTER(c_void_p), c_size_t],
    "hipFree": [c_void_p],
    "hipMemcpy": [c_void_p, c_void_p, c_size_t, c_int],
    # function, grid (workgroups), block (work items), dynamic LDS, stream, arguments, extra
    "hipModuleLaunchKernel": [c_void_p, *[c_uint] * 7, c_void_p, POINTER(c_void_p), c_void_p],
    "hipDeviceSynchronize": [],
}


class HipError(RuntimeError):
    """A call of the HIP runtime failed.

    Attributes:
        function: which call. status: what it returned; -1: the library is missing or incomplete.
    """

    def __init__(self, function: str, status: int, why: str) -> None:
        """Name the call, its status, and what the runtime says of it."""
        super().__init__(f"{function} failed with status {status}: {why}" if status >= 0 else why)
        self.function = function
        self.status = status


class Hip:
    """The loaded library. Methods raise HipError."""

    def __init__(self) -> None:
        """Load and initialize the library."""
        chosen = os.environ.get(LIBRARY_VARIABLE)
        self._library = self._load((chosen,) if chosen else NAMES)
        self._library.hipGetErrorString.argtypes = [c_int]
        self._library.hipGetErrorString.restype = c_char_p
        self.call("hipInit", 0)

    @staticmethod
    def _load(names: Sequence[str]) -> ctypes.CDLL:
        why = ""
        for name in names:
            try:
                library = ctypes.CDLL(name)
                for function, arguments in _SIGNATURES.items():
                    getattr(library, function).argtypes = arguments
                    getattr(library, function).restype = c_int
                library.hipGetErrorString  # noqa: B018 - raises when it is missing
            except (OSError, AttributeError) as error:
                why = why or str(error)
            else:
                return library
        raise HipError("dlopen", -1, f"no HIP runtime: {why}")

    def call(self, function: str, *arguments: Any) -> None:
        """Call a function and check its status."""
        status = getattr(self._library, function)(*arguments)
        if status != 0:
            text = self._library.hipGetErrorString(status)
            raise HipError(function, status, text.decode() if text else "unknown error")

    def device_count(self) -> int:
        """How many GPUs there are."""
        count = c_int()
        self.call("hipGetDeviceCount", byref(count))
        return count.value

    def device_name(self, device: int) -> str:
        """The marketing name of a GPU."""
        name = ctypes.create_string_buffer(256)
        self.call("hipDeviceGetName", name, len(name), device)
        return name.value.decode(errors="replace")

    def load_module(self, code_object: bytes) -> c_void_p:
        """Load a code object on the current device."""
        module = c_void_p()
        self.call("hipModuleLoadData", byref(module), code_object)
        return module

    def function(self, module: c_void_p, name: str) -> c_void_p:
        """A kernel of a module."""
        function = c_void_p()
        self.call("hipModuleGetFunction", byref(function), module, name.encode())
        return function

    def allocate(self, size: int) -> c_void_p:
        """Device memory; at least one byte, so that it has an address."""
        pointer = c_void_p()
        self.call("hipMalloc", byref(pointer), max(size, 1))
        return pointer

    def copy(self, to: Any, source: Any, size: int, kind: int) -> None:
        """Copy `size` bytes; waits for what was launched before."""
        if size:
            self.call("hipMemcpy", to, source, size, kind)

    def launch(
        self,
        function: c_void_p,
        grid: Sequence[int],
        block: Sequence[int],
        dynamic_lds: int,
        arguments: Sequence[bytes],
    ) -> None:
        """Launch a kernel and wait for its end.

        Args:
            grid: workgroups in three dimensions. block: work items of one, likewise.
            dynamic_lds: bytes. arguments: the bytes of each explicit argument.
        """
        storage = [ctypes.create_string_buffer(raw, len(raw)) for raw in arguments]
        pointers = (c_void_p * max(len(storage), 1))(*[ctypes.addressof(s) for s in storage])
        self.call(
            "hipModuleLaunchKernel", function, *grid, *block, dynamic_lds, None, pointers, None
        )
        self.call("hipDeviceSynchronize")
