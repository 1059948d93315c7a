"""``lodestone.run``: a kernel on the GPU of this machine, or else on the simulator."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from ctypes import c_void_p
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from lodestone import sim
from lodestone._hip import DEVICE_TO_HOST, HOST_TO_DEVICE, WRONG_CHIP, Hip, HipError
from lodestone.sim import asm, elf, launch

__all__ = ["HipError", "Run", "run"]

Where = Literal["auto", "gpu", "simulator"]


@dataclass
class Run:
    """What a run did.

    Attributes:
        outputs: the arrays after the run, in argument order; None for scalars. The arrays that
            were passed in are left alone.
        device: the GPU's name, or ``simulator``.
        reason: why it was not a GPU; empty if it was, or if the simulator was asked for.
        simulation: findings, counts and conflicts; None on a GPU, which reports none.
        seconds: wall-clock time of the run with its copies. Not a kernel's speed.
    """

    outputs: list[npt.NDArray[Any] | None]
    device: str
    reason: str = ""
    simulation: sim.Result | None = None
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """The kernel ended, and the simulator, if it ran there, has no hard finding."""
        return self.simulation is None or self.simulation.ok

    def __str__(self) -> str:
        """Where it ran, and what the simulator says."""
        text = f"ran on {self.device} in {self.seconds:.3f} s"
        if self.reason:
            text += f" ({self.reason})"
        return text if self.simulation is None else f"{text}\n{self.simulation}"


def run(
    kernel: object,
    *,
    grid: int | Sequence[int] = 1,
    block: int | Sequence[int] | None = None,
    args: Sequence[Any] | Mapping[str, Any] = (),
    dynamic_lds: int = 0,
    chip: str | None = None,
    name: str | None = None,
    where: Where = "auto",
    device: int = 0,
    mode: str = "E",
    order: sim.Order = "forward",
    **simulator: Any,
) -> Run:
    """Executes a kernel on a GPU through the HIP runtime, or on the simulator.

    Both get the same code object, and both check the launch against its metadata first.

    Args:
        kernel: bytes of a code object, path of one or of a `.s` file, assembly text, or what
            ``lodestone.compile`` returned.
        grid: number of workgroups, up to three dimensions.
        block: work items per workgroup; the metadata's required size by default.
        args: one value per argument, in order or by name: arrays for pointers, numbers.
        dynamic_lds: bytes of dynamic LDS.
        chip: as in `sim.run`.
        name: the kernel, when there are several.
        where: ``gpu`` or ``simulator`` demand one; ``auto`` takes the GPU if there is one for
            which the kernel is, and else warns and simulates.
        device: which GPU.
        mode, order: of the simulator.
        simulator: further options of `sim.run`.

    Raises:
        HipError: a call of the HIP runtime failed, or ``gpu`` was asked for and there is none.
        sim.SimulationError: bad input, on either; or the simulation stopped.
        ValueError: `where` is unknown.
    """
    if where not in ("auto", "gpu", "simulator"):
        raise ValueError(f"where is {where!r}, must be 'auto', 'gpu' or 'simulator'")
    code = asm.code_object(_code(kernel), chip)
    parsed = elf.parse(code)
    if chip not in (None, parsed.chip):
        raise sim.CodeObjectError(f"code object is for {parsed.chip}, not {chip}")
    reason = ""
    if where != "simulator":
        program = asm.Program(parsed.chip, parsed, [], {})
        plan = launch.prepare(
            program, name=name, grid=grid, block=block, args=args, dynamic_lds=dynamic_lds
        )
        try:
            return _on_gpu(code, plan, device)
        except HipError as error:
            if where == "gpu" or not _absent(error):
                raise
            reason = str(error)
            warnings.warn(f"{reason}; the kernel runs on the simulator", stacklevel=2)
    result = sim.run(
        code, grid=grid, block=block, args=args, dynamic_lds=dynamic_lds, name=name,
        mode=mode, order=order, **simulator,
    )  # fmt: skip
    return Run(result.outputs, "simulator", reason, result, result.seconds)


def _code(kernel: object) -> bytes | str | Path:
    """What to run: a compilation's code object, or the input as it is."""
    code = getattr(kernel, "code_object", kernel)
    if not isinstance(code, bytes | bytearray | memoryview | str | Path):
        raise sim.CodeObjectError(f"a {type(kernel).__name__} is no kernel; compile it first")
    if not isinstance(code, str | Path) and not code:
        raise sim.CodeObjectError("there is no code object; compile with the format hsaco")
    return bytes(code) if isinstance(code, bytearray | memoryview) else code


def _absent(error: HipError) -> bool:
    """There is no GPU that could run the kernel, as opposed to one that failed."""
    # hipErrorNoDevice, hipErrorInsufficientDriver
    return error.status in (-1, 100, 35, WRONG_CHIP)


def _on_gpu(code: bytes, plan: launch.Launch, device: int) -> Run:
    hip = Hip()
    count = hip.device_count()
    if count == 0:
        raise HipError("hipGetDeviceCount", -1, "no GPU: the HIP runtime finds no device")
    if not 0 <= device < count:
        raise sim.LaunchError(f"device {device} is not one of {count}")
    hip.call("hipSetDevice", device)
    start = time.perf_counter()
    module: c_void_p | None = None
    buffers: dict[int, c_void_p] = {}
    try:
        module = hip.load_module(code)
        function = hip.function(module, plan.kernel.name)
        arguments = []
        for index, (argument, value) in enumerate(zip(plan.arguments, plan.values, strict=True)):
            address = 0
            if argument.kind in launch.POINTER_KINDS:
                host = np.ascontiguousarray(value)
                buffers[index] = hip.allocate(host.nbytes)
                address = buffers[index].value or 0
                hip.copy(buffers[index], host.ctypes.data, host.nbytes, HOST_TO_DEVICE)
            arguments.append(launch.argument_bytes(argument, value, address))
        hip.launch(function, plan.grid, plan.block, plan.dynamic_lds, arguments)
        outputs: list[npt.NDArray[Any] | None] = []
        for index, value in enumerate(plan.values):
            result = np.empty_like(value, order="C") if index in buffers else None
            if result is not None:
                hip.copy(result.ctypes.data, buffers[index], result.nbytes, DEVICE_TO_HOST)
            outputs.append(result)
    finally:
        # After a fault every call fails; the first error is the one to report.
        for function_name, handle in [("hipFree", b) for b in buffers.values()] + (
            [("hipModuleUnload", module)] if module else []
        ):
            try:
                hip.call(function_name, handle)
            except HipError as error:
                warnings.warn(str(error), stacklevel=3)
    return Run(outputs, hip.device_name(device), seconds=time.perf_counter() - start)
