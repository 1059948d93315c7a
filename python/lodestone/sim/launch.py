"""Kernel arguments and initial registers, as the runtime and the dispatcher set them up."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .asm import LANES, Program
from .cluster import LIMIT as CLUSTER_LIMIT
from .elf import Argument, KernelInfo
from .errors import CodeObjectError, LaunchError
from .memory import CODE, KERNARG, Memory
from .operands import TTMP
from .wave import Array, Wave
from .workgroup import Workgroup

Dim3 = tuple[int, int, int]
LDS_LIMIT = {"gfx942": 65536, "gfx950": 163840, "gfx1250": 327680}
POINTER_KINDS = ("global_buffer",)
# By value: a number; a pointer to LDS is the byte offset there.
VALUE_KINDS = ("by_value", "dynamic_shared_pointer")
# Bytes of a pointer argument that is a buffer resource (`!llvm.ptr<8>`), and its last word for a
# raw buffer of dwords on gfx9.
RESOURCE_SIZE, RESOURCE_FLAGS = 16, 0x27000


@dataclass
class Launch:
    """A checked launch: kernel, shape, and the arguments by position."""

    program: Program
    kernel: KernelInfo
    grid: Dim3
    block: Dim3
    cluster: Dim3
    dynamic_lds: int
    values: list[Any]
    arguments: list[Argument]

    @property
    def threads(self) -> int:
        """Work items of a workgroup."""
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def waves(self) -> int:
        """Waves of a workgroup."""
        lanes = LANES[self.program.chip]
        return (self.threads + lanes - 1) // lanes

    @property
    def clustered(self) -> bool:
        """Workgroups run in clusters of more than one."""
        return self.cluster != (1, 1, 1)

    @property
    def lds_size(self) -> int:
        """Bytes of LDS of a workgroup: static and dynamic."""
        return self.kernel.descriptor.group_segment_size + self.dynamic_lds


def dim3(value: int | Sequence[int], what: str) -> Dim3:
    """An int or up to three ints -> three positive ints."""
    parts = [value] if isinstance(value, int | np.integer) else list(value)
    if not 1 <= len(parts) <= 3 or not all(isinstance(p, int | np.integer) for p in parts):
        raise LaunchError(f"{what} {value!r} is not one to three integers")
    full = [int(p) for p in parts] + [1] * (3 - len(parts))
    if any(not 1 <= p < 1 << 31 for p in full):
        raise LaunchError(f"{what} {tuple(full)} has a size below 1 or above 2^31 - 1")
    return full[0], full[1], full[2]


def find_kernel(program: Program, name: str | None) -> KernelInfo:
    """The kernel `name`, or the only one."""
    kernels = program.code.kernels
    if not kernels:
        raise CodeObjectError("code object has no kernel descriptor")
    if name is None:
        if len(kernels) > 1:
            raise LaunchError(f"code object has several kernels: {', '.join(kernels)}; name one")
        return next(iter(kernels.values()))
    if name not in kernels:
        raise LaunchError(f"no kernel {name}; there is {', '.join(kernels)}")
    return kernels[name]


def prepare(
    program: Program,
    *,
    name: str | None,
    grid: int | Sequence[int],
    block: int | Sequence[int] | None,
    args: Sequence[Any] | Mapping[str, Any],
    dynamic_lds: int,
    cluster: int | Sequence[int] | None = None,
) -> Launch:
    """Check a launch against the kernel's metadata.

    Raises:
        LaunchError: shape, LDS size or an argument doesn't fit; the message has the values.
    """
    kernel = find_kernel(program, name)
    if block is None:
        if kernel.required_workgroup_size is None:
            raise LaunchError(
                f"kernel {kernel.name} has no required workgroup size in its metadata; give block"
            )
        block = kernel.required_workgroup_size
    shape = dim3(block, "block")
    threads = shape[0] * shape[1] * shape[2]
    if threads > kernel.max_workgroup_size:
        raise LaunchError(
            f"block {shape} has {threads} threads, the kernel allows {kernel.max_workgroup_size}"
        )
    if kernel.required_workgroup_size not in (None, shape):
        raise LaunchError(
            f"block {shape} is not the required workgroup size {kernel.required_workgroup_size}"
        )
    visible = [a for a in kernel.arguments if not a.hidden]
    full = dim3(grid, "grid")
    launch = Launch(
        program,
        kernel,
        full,
        shape,
        _cluster(program, kernel, full, cluster),
        dynamic_lds,
        _ordered(visible, args),
        visible,
    )
    if any(g * b >= 1 << 32 for g, b in zip(launch.grid, shape, strict=True)):
        raise LaunchError(
            f"grid {launch.grid} of blocks {shape} has a side of 2^32 work items or more"
        )
    limit = LDS_LIMIT[program.chip]
    if dynamic_lds < 0 or launch.lds_size > limit:
        raise LaunchError(
            f"{launch.lds_size} bytes of LDS ({kernel.descriptor.group_segment_size} static, "
            f"{dynamic_lds} dynamic), {program.chip} has {limit}"
        )
    for argument, value in zip(visible, launch.values, strict=True):
        _check_argument(argument, value)
    return launch


def _cluster(
    program: Program, kernel: KernelInfo, grid: Dim3, given: int | Sequence[int] | None
) -> Dim3:
    """Workgroups per cluster: as given, or of the metadata, or one."""
    fixed = kernel.cluster_dims
    cluster = dim3(given, "cluster") if given is not None else fixed or (1, 1, 1)
    if fixed not in (None, cluster):
        raise LaunchError(f"cluster {cluster} is not the one of the kernel's metadata, {fixed}")
    count = cluster[0] * cluster[1] * cluster[2]
    if count > 1 and program.chip != "gfx1250":
        raise LaunchError(f"cluster {cluster} on {program.chip}, which has no clusters")
    if count > CLUSTER_LIMIT:
        raise LaunchError(f"cluster {cluster} has {count} workgroups, at most {CLUSTER_LIMIT}")
    if any(g % c for g, c in zip(grid, cluster, strict=True)):
        raise LaunchError(f"grid {grid} is not a multiple of the cluster {cluster}")
    return cluster


def check_float_mode(kernel: KernelInfo) -> None:
    """Require the rounding and denormal modes that are simulated.

    Raises:
        LaunchError: the kernel starts with others.
    """
    descriptor = kernel.descriptor
    if descriptor.round_modes != (0, 0) or descriptor.denormals != (3, 3):
        raise LaunchError(
            f"kernel {kernel.name} sets rounding modes {descriptor.round_modes} and denormal modes "
            f"{descriptor.denormals}; simulated are (0, 0) and (3, 3)"
        )


def _ordered(visible: list[Argument], args: Sequence[Any] | Mapping[str, Any]) -> list[Any]:
    if isinstance(args, Mapping):
        names = [a.name for a in visible]
        if set(args) != set(names):
            raise LaunchError(f"arguments {sorted(args)} don't match the kernel's {names}")
        return [args[name] for name in names]
    if len(args) != len(visible):
        described = ", ".join(f"{a.name}: {a.kind} {a.size} bytes" for a in visible)
        raise LaunchError(f"{len(args)} arguments, the kernel takes {len(visible)} ({described})")
    return list(args)


def _check_argument(argument: Argument, value: Any) -> None:
    if argument.kind in POINTER_KINDS:
        if not isinstance(value, np.ndarray):
            raise LaunchError(
                f"argument {argument.name} is a pointer; got {type(value).__name__}, not an array"
            )
        return
    if argument.kind not in VALUE_KINDS:
        raise LaunchError(f"argument {argument.name} has unsupported kind {argument.kind}")
    _scalar_bytes(argument, value)


def _scalar_bytes(argument: Argument, value: Any) -> bytes:
    """The bytes of a by-value argument; a NumPy scalar must have its size."""
    if isinstance(value, np.generic | np.ndarray):
        if value.nbytes != argument.size:
            raise LaunchError(
                f"argument {argument.name} has {argument.size} bytes, got {value.dtype} with "
                f"{value.nbytes}"
            )
        return value.tobytes()
    try:
        if isinstance(value, float):
            return struct.pack({2: "<e", 4: "<f", 8: "<d"}[argument.size], value)
        if isinstance(value, bool | int):
            return int(value).to_bytes(argument.size, "little", signed=value < 0)
    except (KeyError, OverflowError, struct.error) as error:
        raise LaunchError(
            f"argument {argument.name} has {argument.size} bytes, which can't hold {value!r}"
        ) from error
    raise LaunchError(f"argument {argument.name} is a scalar; got {type(value).__name__}")


def build_memory(launch: Launch, shared: bool = False) -> Memory:
    """Allocate and fill the arrays, the code's constant sections and the kernarg segment."""
    sizes: dict[str, int] = {}
    for index, value in enumerate(launch.values):
        if isinstance(value, np.ndarray) and launch.arguments[index].kind in POINTER_KINDS:
            sizes[_buffer_name(launch, index)] = value.nbytes
    # Hand-written code objects may leave the descriptor's size at zero.
    ends = [a.offset + a.size for a in launch.kernel.arguments]
    image = launch.program.code.image()
    if image:
        sizes[CODE] = len(image)
    sizes[KERNARG] = (max(launch.kernel.descriptor.kernarg_size, 16, *ends) + 15) // 16 * 16
    memory = Memory(sizes, shared)
    if image:
        memory.view(CODE)[:] = np.frombuffer(image, np.uint8)
    kernarg = memory.view(KERNARG)
    for index, (argument, value) in enumerate(zip(launch.arguments, launch.values, strict=True)):
        address = 0
        if argument.kind in POINTER_KINDS:
            name = _buffer_name(launch, index)
            memory.view(name)[:] = np.ascontiguousarray(value).view(np.uint8).ravel()
            address = memory.allocations[name].address
        raw = argument_bytes(argument, value, address)
        kernarg[argument.offset : argument.offset + len(raw)] = np.frombuffer(raw, np.uint8)
    for argument in launch.kernel.arguments:
        if argument.hidden:
            raw = _hidden(launch, argument)
            kernarg[argument.offset : argument.offset + len(raw)] = np.frombuffer(raw, np.uint8)
    return memory


def argument_bytes(argument: Argument, value: Any, address: int) -> bytes:
    """The bytes of an argument in the kernarg segment.

    Args:
        value: what the caller passed. address: where an array is in device memory.
    """
    if argument.kind not in POINTER_KINDS:
        return _scalar_bytes(argument, value)
    if argument.size == RESOURCE_SIZE:
        return struct.pack("<QII", address, value.nbytes, RESOURCE_FLAGS)
    return address.to_bytes(8, "little")


def _buffer_name(launch: Launch, index: int) -> str:
    return f"argument {index} ({launch.arguments[index].name})"


def outputs(launch: Launch, memory: Memory) -> list[Array | None]:
    """The arrays after the run, in argument order; None for scalars."""
    result: list[Array | None] = []
    for index, value in enumerate(launch.values):
        if launch.arguments[index].kind in POINTER_KINDS:
            raw = memory.view(_buffer_name(launch, index)).copy()
            result.append(raw.view(value.dtype).reshape(value.shape))
        else:
            result.append(None)
    return result


def _hidden(launch: Launch, argument: Argument) -> bytes:
    """The runtime's part of the kernarg segment."""
    values = {
        **{f"hidden_block_count_{d}": launch.grid[i] for i, d in enumerate("xyz")},
        **{f"hidden_group_size_{d}": launch.block[i] for i, d in enumerate("xyz")},
        **{f"hidden_remainder_{d}": 0 for d in "xyz"},
        **{f"hidden_global_offset_{d}": 0 for d in "xyz"},
        "hidden_grid_dims": max((i + 1 for i in range(3) if launch.grid[i] > 1), default=1),
        "hidden_dynamic_lds_size": launch.dynamic_lds,
    }
    return values.get(argument.kind, 0).to_bytes(argument.size, "little")


def set_registers(group: Workgroup, launch: Launch, memory: Memory, index: Dim3) -> None:
    """Write the registers a wave starts with: user and system SGPRs, work item ids."""
    descriptor = launch.kernel.descriptor
    kernarg = memory.allocations[KERNARG].address
    lanes = LANES[launch.program.chip]
    threads = launch.threads
    for wave in group.waves:
        slots: list[int] = []
        for bit, count in ((0, 4), (1, 2), (2, 2)):
            slots += [0] * count if descriptor.bit(bit) else []
        if descriptor.bit(3):
            slots += [kernarg & 0xFFFFFFFF, kernarg >> 32]
        for bit, count in ((4, 2), (5, 2), (6, 1)):
            slots += [0] * count if descriptor.bit(bit) else []
        length, skip = descriptor.preload & 0x7F, descriptor.preload >> 7
        if length:
            words = memory.view(KERNARG).view(np.uint32)
            slots += words[skip : skip + length].tolist()
        user = descriptor.rsrc2 >> 1 & 0x1F
        slots += [0] * (user - len(slots))
        if launch.program.chip != "gfx1250":
            slots += [index[i] for i in range(3) if descriptor.rsrc2 >> 7 + i & 1]
        wave.S[: len(slots)] = slots
        if launch.program.chip == "gfx1250":
            _set_trap_temporaries(wave, launch, index)
        thread = wave.index * lanes + np.arange(lanes)
        x = thread % launch.block[0]
        y = thread // launch.block[0] % launch.block[1]
        z = thread // (launch.block[0] * launch.block[1])
        wave.R[0][:] = x | y << 10 | z << 20
        wave.set_exec((1 << min(lanes, threads - wave.index * lanes)) - 1)


def _set_trap_temporaries(wave: Wave, launch: Launch, index: Dim3) -> None:
    """gfx1250's place in the grid: the cluster, or the workgroup when clusters are of one.

    CDNA5 ISA, 2.3.1; the wave's number is in bits 29:25 of TTMP8.
    """
    sizes = launch.cluster
    x, y, z = (i // c for i, c in zip(index, sizes, strict=True))
    wave.S[TTMP + 9] = x
    wave.S[TTMP + 7] = y & 0xFFFF | z << 16
    wave.S[TTMP + 8] = wave.index << 25
    if launch.clustered:
        place = [i % c for i, c in zip(index, sizes, strict=True)]
        nibbles = [*place, *(c - 1 for c in sizes), sizes[0] * sizes[1] * sizes[2] - 1]
        wave.S[TTMP + 6] = sum(value << 4 * i for i, value in enumerate(nibbles))
