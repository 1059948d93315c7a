"""Vector memory instructions: buffer, global, flat, scratch; to and from registers, to LDS.

Addresses: buffers are raw (stride 0, no swizzle); a component is out of range when offset +
instruction offset >= num_records (the scalar offset takes no part) and then reads zero or isn't
written. Global accesses must lie inside a buffer of the caller, and so must flat ones: the
apertures of LDS and scratch are not mapped.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import checks
from .asm import Instruction
from .counters import DMA, STORE, VMEM, Pending, issue, issue_flat
from .errors import ExecutionError, UnsupportedInstruction
from .lds import MAX_PATTERNS, Pattern
from .memory import Arena, Scratch
from .operands import M0, Operand
from .values import Getter, Step, check_modifiers, scalar_source, vector_row
from .wave import POISON, Array, Wave

u32 = np.uint32
CACHE_BITS = ("sc0", "sc1", "nt", "glc", "slc", "th", "scope")


@dataclass(frozen=True)
class Data:
    """What a memory instruction moves per lane.

    Attributes:
        size: bytes of a component (1, 2 or 4). count: components.
        signed: sign-extend a component smaller than a register.
        d16: 0 writes the whole register; 1 the low and 2 the high half only.
    """

    size: int
    count: int = 1
    signed: bool = False
    d16: int = 0


# Names: gfx9's and those of gfx11 and later.
_LOADS = {
    "ubyte": Data(1), "sbyte": Data(1, signed=True), "ushort": Data(2),
    "sshort": Data(2, signed=True),
    "ubyte_d16": Data(1, d16=1), "ubyte_d16_hi": Data(1, d16=2),
    "sbyte_d16": Data(1, signed=True, d16=1), "sbyte_d16_hi": Data(1, signed=True, d16=2),
    "short_d16": Data(2, d16=1), "short_d16_hi": Data(2, d16=2),
    **{f"dword{f'x{n}' if n > 1 else ''}": Data(4, n) for n in (1, 2, 3, 4)},
    **{f"b{32 * n}": Data(4, n) for n in (1, 2, 3, 4)},
    "u8": Data(1), "i8": Data(1, signed=True), "u16": Data(2), "i16": Data(2, signed=True),
    "d16_b16": Data(2, d16=1), "d16_hi_b16": Data(2, d16=2),
}  # fmt: skip
_STORES = {
    "byte": Data(1), "short": Data(2), "byte_d16_hi": Data(1, d16=2),
    "short_d16_hi": Data(2, d16=2),
    **{f"dword{f'x{n}' if n > 1 else ''}": Data(4, n) for n in (1, 2, 3, 4)},
    **{f"b{32 * n}": Data(4, n) for n in (1, 2, 3, 4)},
    "b8": Data(1), "b16": Data(2), "d16_hi_b16": Data(2, d16=2), "d16_hi_b8": Data(1, d16=2),
}  # fmt: skip
_NAME = re.compile(r"(buffer|global|flat|scratch|cluster)_(load|store)_(lds_)?(\w+)$")

# lane offsets -> (arena offsets [lanes] int64, components in range [count, lanes] or None)
Addresses = Callable[[Wave], tuple[Array, Array | None]]


def _buffer_addresses(inst: Instruction, first: int, data: Data) -> Addresses:
    """Address of a raw buffer access: operands vaddr, srsrc, soffset from position `first`."""
    m = inst.modifiers
    resource = inst.operands[first + 1]
    if "idxen" in m:
        raise UnsupportedInstruction(inst, "structured buffers (idxen) are not supported")
    if resource.kind != "s" or resource.width != 4:
        raise UnsupportedInstruction(inst, f"buffer resource {resource.text}")
    slot = resource.index
    row = vector_row(inst, first) if "offen" in m else -1
    constant = m.get("offset", 0)
    offset_of = scalar_source(inst, inst.operands[first + 2])
    sizes = data.size * np.arange(data.count, dtype=np.int64)[:, None]
    aligned = ~np.int64(3) if data.size == 4 else ~np.int64(0)

    def addresses(w: Wave) -> tuple[Array, Array | None]:
        s = w.S
        if s[slot + 1] >> 16 & 0xBFFF or s[slot + 3] >> 23 & 1:
            raise ExecutionError(
                f"buffer resource {s[slot]:#x} {s[slot + 1]:#x} {s[slot + 2]:#x} "
                f"{s[slot + 3]:#x} is not raw (stride, swizzle or add-tid set)"
            )
        base = (s[slot] | (s[slot + 1] & 0xFFFF) << 32) + offset_of(w) - w.group.memory.base
        records = s[slot + 2]
        cache = w.group.offsets
        key = (constant, w.R[row].tobytes()) if row >= 0 else (constant, b"")
        kept = cache.get(key)
        if kept is None:
            lane = (
                w.R[row].astype(np.int64) + constant
                if row >= 0
                else np.full(w.lanes, constant, np.int64)
            )
            if len(cache) >= MAX_PATTERNS:
                cache.clear()
            kept = cache[key] = (lane, int(lane.max()))
        lane, highest = kept
        inside = None
        if highest + data.size * data.count > records:
            inside = lane + sizes < records
        return (lane + base) & aligned, inside

    return addresses


def global_addresses(inst: Instruction, first: int, scalar: int, data: Data) -> Addresses:
    """Address of a global access: 64-bit vaddr, or scalar base plus 32-bit vaddr.

    With `scale_offset` the 32-bit vaddr counts elements (CDNA5 ISA, 10.8.1).
    """
    constant = inst.modifiers.get("offset", 0)
    row = vector_row(inst, first)
    base = inst.operands[scalar] if scalar < len(inst.operands) else Operand("off")
    scale = data.size * data.count if "scale_offset" in inst.modifiers else 1

    def wide(w: Wave) -> tuple[Array, Array | None]:
        low = w.R[row].astype(np.int64)
        high = w.R[row + 1].astype(np.int64) << 32
        return (low | high) + (constant - w.group.memory.base), None

    if base.kind in ("off", "null"):
        if scale != 1:
            raise UnsupportedInstruction(inst, "scale_offset without a scalar base")
        return wide
    base_of = scalar_source(inst, base, 64)

    def narrow(w: Wave) -> tuple[Array, Array | None]:
        start = base_of(w) + constant - w.group.memory.base
        return w.R[row].astype(np.int64) * scale + start, None

    return narrow


def active(w: Wave, inside: Array | None) -> Array | None:
    """Active components [count or 1, lanes]; None means all."""
    if w.full:
        return inside
    return w.mask[None] if inside is None else inside & w.mask


def gather(memory: Arena, start: Array, live: Array | None, data: Data) -> Array:
    """Read uint32 [count, lanes]; what isn't live is zero."""
    at = start[None, :] + data.size * np.arange(data.count, dtype=np.int64)[:, None]
    if live is None:
        memory.check(start, data.size * data.count, "read")
    else:
        live = np.broadcast_to(live, at.shape)
        memory.check(at[live], data.size, "read")
        at = np.where(live, at, 0)
    if data.size == 4 and not (at & 3).any():
        values = memory.words.take(at >> 2)
    else:
        values = memory.bytes.take(at).astype(np.uint32)
        for byte in range(1, data.size):
            values |= memory.bytes.take(at + byte).astype(np.uint32) << u32(8 * byte)
    if live is not None:
        values = np.where(live, values, u32(0))
    if data.signed:
        up = 32 - 8 * data.size
        values = (values << u32(up)).view(np.int32).__rshift__(up).view(np.uint32)
    return values


def scatter(memory: Arena, start: Array, live: Array | None, data: Data, values: Array) -> None:
    """Write the low bytes of `values` [count, lanes] where live; later lanes win."""
    at = start[None, :] + data.size * np.arange(data.count, dtype=np.int64)[:, None]
    if live is None:
        memory.check(start, data.size * data.count, "write")
    else:
        live = np.broadcast_to(live, at.shape)
        at, values = at[live], values[live]
        memory.check(at, data.size, "write")
    if data.size == 4 and not (at & 3).any():
        memory.words[at >> 2] = values
    elif data.size == 2 and not (at & 1).any():
        memory.halves[at >> 1] = values.astype(np.uint16)
    else:
        for byte in range(data.size):
            memory.bytes[at + byte] = (values >> u32(8 * byte)).astype(np.uint8)


def load(inst: Instruction, addresses: Addresses, data: Data, arena: Getter) -> Step:
    """A load to registers."""
    row = vector_row(inst, 0)
    if inst.operands[0].width != data.count:
        raise UnsupportedInstruction(inst, f"destination must be {data.count} registers")
    targets = tuple(range(row, row + data.count))
    flat = inst.mnemonic.startswith("flat")

    def merged(w: Wave, values: Array) -> Array:
        return w.merged_half(row, values, data.d16 == 2) if data.d16 else values

    def step(w: Wave) -> None:
        start, inside = addresses(w)
        values = gather(arena(w), start, active(w, inside), data)
        mask = None if w.full else w.mask
        if w.group.mode.eager:
            w.write_rows(row, merged(w, values), mask)
            (issue_flat if flat else issue)(w, Pending(inst, VMEM))
            return

        def deliver() -> None:
            w.write_rows(row, merged(w, values), mask)

        if not data.d16:
            w.write_rows(row, np.broadcast_to(POISON, values.shape), mask)
        operation = Pending(inst, VMEM, "", None, targets, deliver)
        (issue_flat if flat else issue)(w, operation)

    return step


def store(
    inst: Instruction, addresses: Addresses, data: Data, position: int, arena: Getter
) -> Step:
    """A store from registers; it lands at issue (its data is read then)."""
    row = vector_row(inst, position)
    if inst.operands[position].width != data.count:
        raise UnsupportedInstruction(inst, f"data must be {data.count} registers")
    queue = STORE if inst.chip == "gfx1250" else VMEM
    enter = issue_flat if inst.mnemonic.startswith("flat") else issue

    def step(w: Wave) -> None:
        start, inside = addresses(w)
        values = w.V[row : row + data.count]
        if data.d16 == 2:
            values = values >> u32(16)
        scatter(arena(w), start, active(w, inside), data, values)
        enter(w, Pending(inst, queue))

    return step


# M0 bits that are the LDS address of a load to LDS.
M0_BITS = {"gfx942": 16, "gfx950": 18, "gfx1250": 32}


def load_to_lds(inst: Instruction, addresses: Addresses, data: Data) -> Step:
    """A load from memory to LDS: address = M0 + instruction offset + lane * 4 (or 16).

    M0, addresses and the data in memory are read at issue. Three dwords leave the fourth alone.
    """
    if data.count == 2 or (inst.chip == "gfx942" and data.count > 1):
        raise UnsupportedInstruction(inst, f"{4 * data.count} bytes a lane to LDS on {inst.chip}")
    offset = inst.modifiers.get("offset", 0)
    step_bytes = 4 if data.count == 1 else 16
    m0_mask = (1 << M0_BITS[inst.chip]) - 1
    components = tuple(4 * i for i in range(data.count))

    def pattern_of(w: Wave) -> Pattern:
        base = (w.S[M0] & m0_mask) + offset
        cache = w.group.patterns
        key = (DMA, base, components, None if w.full else w.exec_bits)
        pattern = cache.get(key)
        if pattern is None:
            lane = base + step_bytes * np.arange(w.lanes, dtype=np.int64)
            mask = None if w.full else w.mask
            pattern = cache[key] = Pattern(lane, components, 4, mask, w.group.lds.size)
        if not pattern.in_bounds:
            w.group.lds_fault(w, inst, pattern, checks.WARNING)
        return pattern

    def step(w: Wave) -> None:
        group = w.group
        pattern = pattern_of(w)
        start, inside = addresses(w)
        values = gather(group.memory, start, active(w, inside), data)
        operation = Pending(inst, VMEM, DMA, pattern)
        if group.mode.late_writes:
            operation.deliver = lambda: pattern.write(group.lds, values)
        else:
            pattern.write(group.lds, values)
        issue(w, operation)

    return step


def _scratch_addresses(inst: Instruction, first: int, data: Data) -> Addresses:
    """Place in the wave's scratch arena: vaddr + saddr + offset, inside of the lane's part."""
    vector, scalar = inst.operands[first], inst.operands[2]
    constant = inst.modifiers.get("offset", 0)
    scale = data.size * data.count if "scale_offset" in inst.modifiers else 1
    base_of = (lambda w: 0) if scalar.kind in ("off", "null") else scalar_source(inst, scalar)

    def addresses(w: Wave) -> tuple[Array, Array | None]:
        start = np.full(w.lanes, base_of(w) + constant, np.int64)
        if vector.kind == "v":
            start += w.R[vector.index].astype(np.int64) * scale
        arena = scratch_of(w)
        live = start if w.full else start[w.mask]
        end = data.size * data.count
        if len(live) and (live.min() < 0 or live.max() + end > arena.size):
            raise ExecutionError(
                f"scratch access at {int(live.min())}..{int(live.max()) + end} "
                f"exceeds the {arena.size} bytes per lane"
            )
        return start + arena.first, None

    return addresses


def scratch_of(w: Wave) -> Scratch:
    """The wave's scratch memory, allocated at the first access."""
    if w.scratch is None:
        w.scratch = Scratch(w.group.scratch_bytes, w.lanes)
    return w.scratch


def multicast_addresses(inst: Instruction, addresses: Addresses) -> Addresses:
    """Addresses of a cluster load: the same, and the request is noted. M0 holds the mask."""

    def noted(w: Wave) -> tuple[Array, Array | None]:
        start, inside = addresses(w)
        note_multicast(w, inst, w.S[M0] & 0xFFFF, (start.tobytes(), w.exec_bits))
        return start, inside

    return noted


def note_multicast(w: Wave, inst: Instruction, mask: int, key: Any) -> None:
    """Note a multicast load of `key` in the cluster; without a mask or a cluster it is none."""
    group = w.group
    if mask and group.cluster is not None and group.in_cluster:
        group.cluster.request(w, inst, mask, key)


def vector_memory(inst: Instruction) -> Step | None:
    """The step of a vector memory instruction, or None when `inst` is not one."""
    found = _NAME.match(inst.mnemonic)
    if not found:
        return None
    space, direction, to_lds, suffix = found.groups()
    data: Any = (_LOADS if direction == "load" else _STORES).get(suffix)
    if data is None:
        return None
    loading = direction == "load"
    arena: Getter = lambda w: w.group.memory  # noqa: E731
    first = 1 if loading else 0
    if space == "buffer":
        if inst.chip == "gfx1250":
            raise UnsupportedInstruction(inst, "buffer instructions on gfx1250")
        check_modifiers(inst, "offset", "offen", "idxen", "lds", *CACHE_BITS)
        if "lds" in inst.modifiers:
            return load_to_lds(inst, _buffer_addresses(inst, 0, data), data)
        addresses = _buffer_addresses(inst, 1, data)
        return (
            load(inst, addresses, data, arena)
            if loading
            else store(inst, addresses, data, 0, arena)
        )
    check_modifiers(inst, "offset", "scale_offset", *CACHE_BITS)
    if to_lds:
        return load_to_lds(inst, global_addresses(inst, 0, 1, data), data)
    if space == "scratch":
        addresses, arena = _scratch_addresses(inst, first, data), scratch_of
    else:
        addresses = global_addresses(inst, first, 2, data)
    if space == "cluster":
        addresses = multicast_addresses(inst, addresses)
    if loading:
        return load(inst, addresses, data, arena)
    return store(inst, addresses, data, 1, arena)
