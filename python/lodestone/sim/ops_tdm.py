"""TDM and asynchronous copies between memory and LDS (gfx1250).

A tensor instruction takes a descriptor (D#) from scalar registers and copies one tile. EXEC takes
no part. Elements outside of the tensor load as zero and are not stored; count 0 does nothing but
still counts in TENSORcnt. Stores ignore padding and the multicast mask. Not simulated, and refused:
the atomic barrier.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from . import checks
from .asm import Instruction
from .counters import ASYNC, ASYNC_STORE, DMA, READ, TENSOR, Pending, issue
from .errors import ExecutionError, UnsupportedInstruction
from .lds import Pattern
from .ops_vmem import (
    Data,
    active,
    gather,
    global_addresses,
    multicast_addresses,
    note_multicast,
    scatter,
)
from .values import Step, check_modifiers, vector_row
from .wave import Array, Wave


@dataclass(frozen=True)
class Descriptor:
    """A decoded D#; sizes and strides in elements, dimension 0 innermost.

    Attributes:
        interval, amount: padding in bytes: after each `interval` bytes, `amount` are skipped.
        rows: row indices of a gather, or None.
        mask: workgroups of the cluster that get the data, or 0.
        repeats: (LDS increment, global increment) in elements for each iteration but the first.
    """

    element: int
    lds: int
    address: int
    tensor: tuple[int, ...]
    tile: tuple[int, ...]
    strides: tuple[int, ...]
    interval: int = 0
    amount: int = 0
    rows: tuple[int, ...] | None = None
    repeats: int = 1
    increments: tuple[int, int] = (0, 0)
    mask: int = 0


def _field(words: Sequence[int], low: int, bits: int) -> int:
    value = 0
    for i, word in enumerate(words):
        value |= word << 32 * i
    return value >> low & (1 << bits) - 1


def decode(groups: Sequence[Sequence[int]]) -> Descriptor | None:
    """Decode descriptor groups (2 or 4 lists of words); None when count is 0."""
    g0, g1 = groups[0], groups[1]
    if _field(g0, 0, 2) == 0:
        return None
    if _field(g0, 126, 2) != 2:
        raise ExecutionError(f"descriptor type {_field(g0, 126, 2)}, expected 2")
    if _field(g1, 18, 1):
        raise ExecutionError("the descriptor's atomic barrier is not simulated")
    g2 = groups[2] if len(groups) > 2 else [0] * 4
    g3 = groups[3] if len(groups) > 3 else [0] * 4
    padded = _field(g1, 20, 1)
    iterates, gathers = _field(g1, 19, 1), g0[0] >> 31
    tensor = [_field(g1, 48, 32), _field(g1, 80, 32), g2[0], g2[1], _field(g3, 48, 32)]
    tile = [_field(g1, 112, 16), _field(g1, 128, 16), _field(g1, 144, 16),
            _field(g2, 112, 16), _field(g3, 80, 16)]  # fmt: skip
    strides = [1, _field(g1, 160, 48), _field(g1, 208, 48), _field(g2, 64, 48), _field(g3, 0, 48)]
    rows: tuple[int, ...] | None = None
    if gathers:
        words = [*g2, *g3]
        wide = g0[0] >> 30 & 1
        indices = words if wide else [w >> s & 0xFFFF for w in words for s in (0, 16)]
        if tile[1] > len(indices):
            raise ExecutionError(f"gather of {tile[1]} rows, the descriptor holds {len(indices)}")
        rows = tuple(indices[: tile[1]])
    rank = 2 if gathers or len(groups) == 2 else 3 if iterates else 5
    # A tile size of zero means that the dimension isn't used.
    while rank > 1 and tile[rank - 1] == 0:
        rank -= 1
    return Descriptor(
        element=1 << _field(g1, 16, 2),
        lds=_field(g0, 32, 32),
        address=_field(g0, 64, 57),
        tensor=tuple(tensor[:rank]),
        tile=tuple(max(1, size) for size in tile[:rank]),
        strides=tuple(strides[:rank]),
        interval=4 << (_field(g1, 22, 3) + 1) if padded else 0,
        amount=4 * (_field(g1, 25, 7) + 1) if padded else 0,
        rows=rows,
        repeats=_field(g2, 112, 16) + 1 if iterates else 1,
        increments=(g2[1], _field(g2, 64, 48)) if iterates else (0, 0),
        mask=_field(g1, 0, 16),
    )


def elements(tile: Descriptor, turn: int = 0) -> tuple[Array, Array, Array]:
    """The elements of a tile in LDS order.

    Returns:
        Byte addresses in LDS and in memory, int64 [n], and which are inside of the tensor.
    """
    count = int(np.prod(tile.tile))
    linear = np.arange(count, dtype=np.int64)
    lds = linear * tile.element
    if tile.interval:
        lds = lds + lds // tile.interval * tile.amount
    lds = lds + tile.lds + turn * tile.increments[0] * tile.element
    memory = np.zeros(count, np.int64)
    inside = np.ones(count, bool)
    rest = linear
    for dimension, size in enumerate(tile.tile):
        index = rest % size
        rest = rest // size
        if dimension == 1 and tile.rows is not None:
            index = np.array(tile.rows, np.int64)[index]
        inside &= index < tile.tensor[dimension]
        memory += index * tile.strides[dimension]
    start = tile.address + turn * tile.increments[1] * tile.element
    return lds, memory * tile.element + start, inside


def tensor(inst: Instruction) -> Step:
    """tensor_load_to_lds and tensor_store_from_lds."""
    check_modifiers(inst, "th", "scope")
    widths = [o.width for o in inst.operands]
    if any(o.kind != "s" for o in inst.operands) or widths not in ([4, 8], [4, 8, 4, 4]):
        raise UnsupportedInstruction(inst, "operands must be groups of 4, 8, 4 and 4 scalars")
    spans = [(o.index, o.index + o.width) for o in inst.operands]
    loads = inst.mnemonic == "tensor_load_to_lds"

    def step(w: Wave) -> None:
        groups = [w.S[first:last] for first, last in spans]
        w.group.tensor_operations.append((inst.address, inst.text, w.index, groups))
        tile = decode(groups)
        if tile is None:
            issue(w, Pending(inst, TENSOR))
            return
        if tile.mask and not w.group.in_cluster:
            raise ExecutionError(f"multicast mask {tile.mask:#x} outside of a cluster, must be 0")
        if loads:
            note_multicast(w, inst, tile.mask, replace(tile, lds=0))
        elif tile.interval:
            tile = replace(tile, interval=0, amount=0)
            w.group.findings.add(
                checks.PADDING_IGNORED,
                checks.WARNING,
                "stores from LDS ignore the descriptor's padding",
                w.index,
                inst,
            )
        parts = [elements(tile, turn) for turn in range(tile.repeats)]
        lds, memory, inside = (np.concatenate(x) for x in zip(*parts, strict=True))
        live = None if inside.all() else inside[None]
        data = Data(min(4, tile.element), max(1, tile.element // 4))
        _copy(w, inst, TENSOR, loads, lds, memory - w.group.memory.base, live, data)

    return step


_ASYNC = re.compile(
    r"(?:global_(load_async_to|store_async_from)|cluster_(load_async_to))_lds_b(8|32|64|128)$"
)


def asynchronous(inst: Instruction) -> Step:
    """global_load_async_to_lds, cluster_load_async_to_lds and global_store_async_from_lds.

    The lane's LDS address is a register plus the instruction offset, which is added to the
    memory address, too.
    """
    found = _ASYNC.match(inst.mnemonic)
    assert found
    check_modifiers(inst, "offset", "th", "scope", "scale_offset")
    size = int(found[3]) // 8
    data = Data(min(4, size), max(1, size // 4))
    loads = found[1] != "store_async_from"
    # Operands: LDS address and memory address for loads, the other way round for stores.
    row = vector_row(inst, 0 if loads else 1)
    addresses = global_addresses(inst, 1 if loads else 0, 2, data)
    if found[2]:
        addresses = multicast_addresses(inst, addresses)
    offset = inst.modifiers.get("offset", 0)

    def step(w: Wave) -> None:
        start, inside = addresses(w)
        live = active(w, inside)
        lds = w.R[row].astype(np.int64) + offset
        _copy(w, inst, ASYNC if loads else ASYNC_STORE, loads, lds, start, live, data)

    return step


def _copy(
    w: Wave,
    inst: Instruction,
    queue: str,
    loads: bool,
    lds: Array,
    memory: Array,
    live: Array | None,
    data: Data,
) -> None:
    """Move `data` between LDS bytes and memory offsets; complete at the wait for `queue`.

    A load writes all elements of a tensor tile (zero outside of the tensor), but only the active
    lanes of an asynchronous copy; a store writes what is live.
    """
    group = w.group
    components = tuple(range(0, data.size * data.count, data.size))
    mask: Any = None
    if live is not None and (queue == ASYNC or not loads):
        mask = live[0]
    pattern = Pattern(lds, components, data.size, mask, group.lds.size)
    if not pattern.in_bounds:
        group.lds_fault(w, inst, pattern, checks.ERROR)
    if loads:
        values = gather(group.memory, memory, live, data)
        operation = Pending(inst, queue, DMA, pattern)
        if group.mode.late_writes:
            operation.deliver = lambda: pattern.write(group.lds, values)
        else:
            pattern.write(group.lds, values)
    else:
        if queue == TENSOR:
            _land_tensor_loads(w)
        operation = Pending(inst, queue, READ, pattern)

        def store() -> None:
            scatter(group.memory, memory, live, data, pattern.read(group.lds))

        if group.mode.late_reads:
            operation.deliver = store
        else:
            store()
    issue(w, operation)


def _land_tensor_loads(w: Wave) -> None:
    """A wave's tensor instructions are in order: what was loaded is there when a store reads."""
    for operation in w.queues[TENSOR]:
        if operation.kind == DMA and operation.deliver is not None:
            deliver, operation.deliver = operation.deliver, None
            deliver()


def copies(inst: Instruction) -> Step | None:
    """The step of an instruction of this module, or None when `inst` is not one."""
    if inst.mnemonic in ("tensor_load_to_lds", "tensor_store_from_lds"):
        return tensor(inst)
    if _ASYNC.match(inst.mnemonic):
        return asynchronous(inst)
    return None
