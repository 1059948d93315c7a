"""LDS instructions: tables of shapes, one function for reads and one for writes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import checks
from .asm import Instruction
from .counters import LDS, READ, WRITE, Pending, issue
from .errors import UnsupportedInstruction
from .lds import MAX_PATTERNS, Pattern
from .values import Step, check_modifiers, vector_row
from .wave import POISON, Array, Wave

u32 = np.uint32


@dataclass(frozen=True)
class Access:
    """Shape of an LDS access: components of `unit` bytes, their registers, conversion.

    Attributes:
        count: components per address.
        addresses: 1, or 2 for read2/write2.
        stride: bytes per unit of the two offsets of read2/write2.
        convert: applied to the components after a read, before they go to registers.
        keep: merge into the half of the register that the read doesn't write.
    """

    unit: int
    count: int
    addresses: int = 1
    stride: int = 1
    convert: Callable[[Array], Array] | None = None
    high: bool = False
    merge: bool = False


def _sign8(data: Array) -> Array:
    return (data << u32(24)).view(np.int32).__rshift__(24).view(np.uint32)


def _sign16(data: Array) -> Array:
    return (data << u32(16)).view(np.int32).__rshift__(16).view(np.uint32)


_LANES = np.arange(64)
# Lane l gets element l % 4 of each of the lanes 4j + (l % 16) / 4 of its row of 16.
_TR16_LANE = np.array([(_LANES & ~15) + 4 * j + (_LANES & 15) // 4 for j in range(4)])
_TR16_ELEMENT = np.broadcast_to(_LANES & 3, (4, 64))
# The 8-bit form: of 16 lanes with 8 elements, lane l gets element l % 8 of the lanes
# 2j + (l % 16) / 8.
_TR8_LANE = np.array([(_LANES & ~15) + 2 * j + (_LANES & 15) // 8 for j in range(8)])
_TR8_ELEMENT = np.broadcast_to(_LANES & 7, (8, 64))


def _transpose(kind: Any, lanes: Array, elements: Array) -> Callable[[Array], Array]:
    def apply(data: Array) -> Array:
        per_lane = np.ascontiguousarray(data.T).view(kind)
        picked = np.ascontiguousarray(per_lane[lanes, elements].T)
        return np.ascontiguousarray(picked.view(np.uint32).T)

    return apply


READS: dict[str, Access] = {
    "ds_read_b32": Access(4, 1),
    "ds_read_b64": Access(4, 2),
    "ds_read_b96": Access(4, 3),
    "ds_read_b128": Access(4, 4),
    "ds_read_u8": Access(1, 1),
    "ds_read_i8": Access(1, 1, convert=_sign8),
    "ds_read_u16": Access(2, 1),
    "ds_read_i16": Access(2, 1, convert=_sign16),
    "ds_read_u8_d16": Access(1, 1, merge=True),
    "ds_read_u8_d16_hi": Access(1, 1, merge=True, high=True),
    "ds_read_u16_d16": Access(2, 1, merge=True),
    "ds_read_u16_d16_hi": Access(2, 1, merge=True, high=True),
    "ds_read2_b32": Access(4, 1, addresses=2, stride=4),
    "ds_read2_b64": Access(4, 2, addresses=2, stride=8),
    "ds_read2st64_b32": Access(4, 1, addresses=2, stride=256),
    "ds_read2st64_b64": Access(4, 2, addresses=2, stride=512),
    "ds_read_b64_tr_b16": Access(4, 2, convert=_transpose(np.uint16, _TR16_LANE, _TR16_ELEMENT)),
    "ds_read_b64_tr_b8": Access(4, 2, convert=_transpose(np.uint8, _TR8_LANE, _TR8_ELEMENT)),
}
WRITES: dict[str, Access] = {
    "ds_write_b32": Access(4, 1),
    "ds_write_b64": Access(4, 2),
    "ds_write_b96": Access(4, 3),
    "ds_write_b128": Access(4, 4),
    "ds_write_b8": Access(1, 1),
    "ds_write_b16": Access(2, 1),
    "ds_write_b8_d16_hi": Access(1, 1, high=True),
    "ds_write_b16_d16_hi": Access(2, 1, high=True),
    "ds_write2_b32": Access(4, 1, addresses=2, stride=4),
    "ds_write2_b64": Access(4, 2, addresses=2, stride=8),
    "ds_write2st64_b32": Access(4, 1, addresses=2, stride=256),
    "ds_write2st64_b64": Access(4, 2, addresses=2, stride=512),
}
# gfx11 and later name the same accesses ds_load / ds_store.
for _table, _old, _new in ((READS, "read", "load"), (WRITES, "write", "store")):
    for _name in list(_table):
        _table[_name.replace(f"ds_{_old}", f"ds_{_new}").replace("2st64", "_2addr_stride64")
               .replace(f"{_new}2_", f"{_new}_2addr_")] = _table[_name]  # fmt: skip


def _components(inst: Instruction, access: Access) -> tuple[int, ...]:
    m = inst.modifiers
    if access.addresses == 2:
        starts = [m.get("offset0", 0) * access.stride, m.get("offset1", 0) * access.stride]
    else:
        starts = [m.get("offset", 0)]
    return tuple(start + access.unit * i for start in starts for i in range(access.count))


def pattern_getter(inst: Instruction, row: int, access: Access) -> Callable[[Wave], Pattern]:
    """The pattern of this access for the current address register; remembered by its value."""
    components, unit = _components(inst, access), access.unit
    key = (components, unit)

    def get(w: Wave) -> Pattern:
        cache = w.group.patterns
        addresses = w.R[row]
        name = (key, addresses.tobytes(), None if w.full else w.exec_bits)
        pattern = cache.get(name)
        if pattern is None:
            mask = None if w.full else w.mask
            pattern = Pattern(addresses.astype(np.int64), components, unit, mask, w.group.lds.size)
            if len(cache) >= MAX_PATTERNS:
                cache.clear()
            cache[name] = pattern
        if not pattern.in_bounds:
            w.group.lds_fault(w, inst, pattern, checks.ERROR)
        return pattern

    return get


def read(inst: Instruction) -> Step:
    """An LDS read."""
    access = READS[inst.mnemonic]
    check_modifiers(inst, "offset", "offset0", "offset1")
    row, address = vector_row(inst, 0), vector_row(inst, 1)
    registers = inst.operands[0].width
    pattern_of = pattern_getter(inst, address, access)
    convert = access.convert

    def fetch(w: Wave, pattern: Pattern) -> Array:
        data = pattern.read(w.group.lds)
        if convert is not None:
            data = convert(data)
        if access.merge:
            data = w.merged_half(row, data, access.high)
        return data

    targets = tuple(range(row, row + registers))

    def eager(w: Wave) -> None:
        pattern = pattern_of(w)
        w.write_rows(row, fetch(w, pattern), None if w.full else w.mask)
        issue(w, Pending(inst, LDS, READ, pattern))

    def delayed(w: Wave) -> None:
        pattern = pattern_of(w)
        mask = None if w.full else w.mask
        w.group.land_stores(w)
        if w.group.mode.late_reads:
            # Sampled when it is waited for; a half that is kept is merged then, too.
            deliver = lambda: w.write_rows(row, fetch(w, pattern), mask)  # noqa: E731
        else:
            data = fetch(w, pattern)
            deliver = lambda: w.write_rows(row, data, mask)  # noqa: E731
        if not access.merge:
            w.write_rows(row, np.broadcast_to(POISON, (registers, w.lanes)), mask)
        issue(w, Pending(inst, LDS, READ, pattern, targets, deliver))

    return lambda w: eager(w) if w.group.mode.eager else delayed(w)


def write(inst: Instruction) -> Step:
    """An LDS write."""
    access = WRITES[inst.mnemonic]
    check_modifiers(inst, "offset", "offset0", "offset1")
    address = vector_row(inst, 0)
    per_address = max(1, access.count)
    rows = [
        vector_row(inst, 1 + i) + register
        for i in range(access.addresses)
        for register in range(per_address)
    ]
    contiguous = rows == list(range(rows[0], rows[0] + len(rows)))
    pattern_of = pattern_getter(inst, address, access)

    def step(w: Wave) -> None:
        pattern = pattern_of(w)
        data = w.V[rows[0] : rows[0] + len(rows)] if contiguous else w.V[rows]
        if access.high:
            data = data >> u32(16)
        group = w.group
        if group.mode.late_writes:
            group.land_stores(w)
            kept = data.copy()
            operation = Pending(inst, LDS, WRITE, pattern)
            operation.deliver = lambda: pattern.write(group.lds, kept)
            w.unlanded.append(operation)
        else:
            pattern.write(group.lds, data)
            operation = Pending(inst, LDS, WRITE, pattern)
        issue(w, operation)

    return step


def bpermute(inst: Instruction) -> Step:
    """ds_bpermute_b32 (lanes pull) and ds_permute_b32 (lanes push); no memory is touched."""
    check_modifiers(inst, "offset")
    row, address, value = (vector_row(inst, i) for i in range(3))
    offset = u32(inst.modifiers.get("offset", 0))
    push = inst.mnemonic == "ds_permute_b32"

    def result(w: Wave) -> Array:
        lanes = ((w.R[address] + offset) >> u32(2)).astype(np.int64) & w.lanes - 1
        if not push:
            return np.where(w.mask[lanes], w.R[value][lanes], u32(0))[None]
        data = np.zeros(w.lanes, np.uint32)
        data[lanes[w.mask]] = w.R[value][w.mask]
        return data[None]

    return _lane_move(inst, row, result)


def swizzle(inst: Instruction) -> Step:
    """ds_swizzle_b32: quad permutation or and/or/xor of the lane number, in groups of 32."""
    check_modifiers(inst, "offset")
    row, value = vector_row(inst, 0), vector_row(inst, 1)
    code = inst.words[0] & 0xFFFF
    lane = np.arange(64)
    if code & 0x8000:
        if code & 0x7F00:
            raise UnsupportedInstruction(inst, "swizzle mode is not supported")
        pick = np.array([code >> 2 * i & 3 for i in range(4)])
        lanes = (lane & ~3) + pick[lane & 3]
    else:
        lanes = (lane & ~31) | ((lane & code & 31 | code >> 5 & 31) ^ (code >> 10 & 31)) & 31
    return _lane_move(inst, row, lambda w: np.where(w.mask[lanes], w.R[value][lanes], u32(0))[None])


def _lane_move(inst: Instruction, row: int, result: Callable[[Wave], Array]) -> Step:
    def step(w: Wave) -> None:
        data, mask = result(w), None if w.full else w.mask
        if w.group.mode.eager:
            w.write_rows(row, data, mask)
            issue(w, Pending(inst, LDS))
            return
        w.write_rows(row, np.broadcast_to(POISON, data.shape), mask)
        issue(w, Pending(inst, LDS, "", None, (row,), lambda: w.write_rows(row, data, mask)))

    return step


TABLE: dict[str, Callable[[Instruction], Step]] = {
    **dict.fromkeys(READS, read),
    **dict.fromkeys(WRITES, write),
    "ds_bpermute_b32": bpermute,
    "ds_permute_b32": bpermute,
    "ds_swizzle_b32": swizzle,
}
