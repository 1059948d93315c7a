"""Reads AMDGPU code objects: ELF sections and symbols, metadata note, kernel descriptors.

Only what a launch needs is decoded. Every offset is checked against the file, so that a
truncated or foreign file gives a CodeObjectError and nothing else.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Any

from .errors import CodeObjectError

EM_AMDGPU = 224
# EF_AMDGPU_MACH, the low byte of e_flags.
MACH_NAMES = {0x4C: "gfx942", 0x4F: "gfx950", 0x49: "gfx1250"}
# EF_AMDGPU_FEATURE_SRAMECC, code object version 4 and later: 0 unsupported, 1 any, 2 off, 3 on.
_SRAM_ECC_SHIFT, _SRAM_ECC_OFF = 10, 2
NT_AMDGPU_METADATA = 32
SHF_ALLOC = 2
SHT_NOBITS, SHT_SYMTAB, SHT_RELA, SHT_NOTE, SHT_DYNSYM = 8, 2, 4, 7, 11


@dataclass(frozen=True)
class Section:
    """One ELF section: virtual address, bytes (empty for NOBITS) and flags."""

    name: str
    kind: int
    address: int
    flags: int
    data: bytes
    link: int


@dataclass(frozen=True)
class KernelDescriptor:
    """The fields of the 64-byte amdhsa kernel descriptor that a launch uses."""

    group_segment_size: int
    private_segment_size: int
    kernarg_size: int
    rsrc1: int
    rsrc2: int
    properties: int
    preload: int

    @classmethod
    def parse(cls, raw: bytes) -> KernelDescriptor:
        """Decode `raw` (64 bytes)."""
        if len(raw) < 64:
            raise CodeObjectError(f"kernel descriptor has {len(raw)} bytes, expected 64")
        group, private, kernarg = struct.unpack_from("<III", raw, 0)
        rsrc1, rsrc2, properties, preload = struct.unpack_from("<IIHH", raw, 48)
        return cls(group, private, kernarg, rsrc1, rsrc2, properties, preload)

    def bit(self, index: int) -> bool:
        """Bit `index` of kernel_code_properties."""
        return bool(self.properties >> index & 1)

    @property
    def denormals(self) -> tuple[int, int]:
        """FP32 and FP16/64 denormal modes; 3 means that denormals are kept."""
        return self.rsrc1 >> 16 & 3, self.rsrc1 >> 18 & 3

    @property
    def round_modes(self) -> tuple[int, int]:
        """FP32 and FP16/64 rounding modes; 0 is round to nearest even."""
        return self.rsrc1 >> 12 & 3, self.rsrc1 >> 14 & 3

    @property
    def fp16_overflow(self) -> bool:
        """FP16_OVFL: conversions to narrow floats saturate."""
        return bool(self.rsrc1 >> 26 & 1)


@dataclass(frozen=True)
class Argument:
    """One kernel argument of the metadata: kernarg offset and size in bytes, and its kind."""

    name: str
    offset: int
    size: int
    kind: str

    @property
    def hidden(self) -> bool:
        """True for arguments that the runtime fills in."""
        return self.kind.startswith("hidden_")


@dataclass(frozen=True)
class KernelInfo:
    """A kernel of a code object: entry address, descriptor and metadata."""

    name: str
    entry: int
    descriptor: KernelDescriptor
    arguments: tuple[Argument, ...]
    max_workgroup_size: int
    required_workgroup_size: tuple[int, int, int] | None
    cluster_dims: tuple[int, int, int] | None
    has_metadata: bool


@dataclass
class CodeObject:
    """A parsed code object.

    Attributes:
        sram_ecc: registers have ECC, so that a load of 16 bits writes all of one, with zeros.
    """

    chip: str
    sections: list[Section]
    sram_ecc: bool = False
    symbols: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    kernels: dict[str, KernelInfo] = field(default_factory=dict)

    def image(self) -> bytes:
        """The loaded code object: what is at each virtual address, from 0."""
        loaded = [s for s in self.sections if s.flags & SHF_ALLOC and s.data]
        image = bytearray(max((s.address + len(s.data) for s in loaded), default=0))
        for section in loaded:
            image[section.address : section.address + len(section.data)] = section.data
        return bytes(image)


def parse(data: bytes) -> CodeObject:
    """Parse an AMDGPU ELF file.

    Raises:
        CodeObjectError: not an AMDGPU ELF64 file, truncated, or for another chip.
    """
    try:
        return _parse(data)
    except (struct.error, IndexError, UnicodeDecodeError, KeyError, TypeError) as error:
        raise CodeObjectError(f"truncated or malformed code object: {error}") from error


def _parse(data: bytes) -> CodeObject:
    if data[:4] != b"\x7fELF":
        raise CodeObjectError("not an ELF file")
    if data[4:6] != b"\x02\x01":
        raise CodeObjectError("not a little-endian ELF64 file")
    machine = struct.unpack_from("<H", data, 18)[0]
    if machine != EM_AMDGPU:
        raise CodeObjectError(f"machine {machine} is not AMDGPU ({EM_AMDGPU})")
    flags = struct.unpack_from("<I", data, 48)[0]
    chip = MACH_NAMES.get(flags & 0xFF)
    if chip is None:
        known = ", ".join(MACH_NAMES.values())
        raise CodeObjectError(f"EF_AMDGPU_MACH {flags & 0xFF:#x} is not one of {known}")
    # gfx1250's loads of 16 bits write no more than these (CDNA5 ISA, 10.4).
    ecc = chip != "gfx1250" and flags >> _SRAM_ECC_SHIFT & 3 not in (0, _SRAM_ECC_OFF)
    code = CodeObject(chip, _sections(data), ecc)
    code.symbols = _symbols(code.sections)
    metadata = _metadata(code.sections)
    for name, (section, value, _) in code.symbols.items():
        if not name.endswith(".kd"):
            continue
        kernel = name[: -len(".kd")]
        if kernel not in code.symbols:
            raise CodeObjectError(f"kernel descriptor {name} has no function {kernel}")
        home = code.sections[section]
        start = value - home.address
        descriptor = KernelDescriptor.parse(home.data[start : start + 64])
        code.kernels[kernel] = _kernel(
            kernel, code.symbols[kernel][1], descriptor, metadata.get(name)
        )
    return code


def _sections(data: bytes) -> list[Section]:
    table = struct.unpack_from("<Q", data, 40)[0]
    entry_size, count, names_index = struct.unpack_from("<HHH", data, 58)
    headers = [
        struct.unpack_from("<IIQQQQIIQQ", data, table + index * entry_size)
        for index in range(count)
    ]

    def contents(header: tuple[int, ...]) -> bytes:
        if header[1] == SHT_NOBITS:
            return b""
        if header[4] + header[5] > len(data):
            raise CodeObjectError(
                f"truncated: section ends at {header[4] + header[5]}, the file at {len(data)}"
            )
        return data[header[4] : header[4] + header[5]]

    names = contents(headers[names_index])
    return [Section(_string(names, h[0]), h[1], h[3], h[2], contents(h), h[6]) for h in headers]


def _string(table: bytes, offset: int) -> str:
    return table[offset : table.index(b"\0", offset)].decode()


def _symbols(sections: list[Section]) -> dict[str, tuple[int, int, int]]:
    """Name -> (section index, value, size); the full table wins over the dynamic one."""
    found: dict[str, tuple[int, int, int]] = {}
    for kind in (SHT_DYNSYM, SHT_SYMTAB):
        for section in sections:
            if section.kind != kind:
                continue
            strings = sections[section.link].data
            for at in range(0, len(section.data) - 23, 24):
                name, _, _, index, value, size = struct.unpack_from("<IBBHQQ", section.data, at)
                if name and 0 < index < len(sections):
                    found[_string(strings, name)] = (index, value, size)
    return found


def _metadata(sections: list[Section]) -> dict[str, dict[str, Any]]:
    """The metadata note's kernels, by descriptor symbol."""
    for section in sections:
        at = 0
        while section.kind == SHT_NOTE and at + 12 <= len(section.data):
            name_size, size, kind = struct.unpack_from("<III", section.data, at)
            start = at + 12 + (name_size + 3 & ~3)
            if kind == NT_AMDGPU_METADATA:
                root, _ = _unpack(section.data[start : start + size], 0)
                return {k[".symbol"]: k for k in root.get("amdhsa.kernels", [])}
            at = start + (size + 3 & ~3)
    return {}


def _kernel(
    name: str, entry: int, descriptor: KernelDescriptor, metadata: dict[str, Any] | None
) -> KernelInfo:
    meta = metadata or {}
    arguments = tuple(
        Argument(a.get(".name", f"#{i}"), a[".offset"], a[".size"], a[".value_kind"])
        for i, a in enumerate(meta.get(".args", []))
    )
    required, cluster = meta.get(".reqd_workgroup_size"), meta.get(".cluster_dims")
    return KernelInfo(
        name=name,
        entry=entry,
        descriptor=descriptor,
        arguments=arguments,
        max_workgroup_size=int(meta.get(".max_flat_workgroup_size", 1024)),
        required_workgroup_size=(required[0], required[1], required[2]) if required else None,
        cluster_dims=(cluster[0], cluster[1], cluster[2]) if cluster else None,
        has_metadata=metadata is not None,
    )


def _unpack(data: bytes, at: int) -> tuple[Any, int]:
    """One MessagePack value at `at`; returns it and the offset behind it."""
    tag = data[at]
    at += 1
    if tag < 0x80:
        return tag, at
    if tag < 0x90:
        return _unpack_map(data, at, tag & 15)
    if tag < 0xA0:
        return _unpack_array(data, at, tag & 15)
    if tag < 0xC0:
        return _unpack_text(data, at, tag & 31)
    if tag >= 0xE0:
        return tag - 256, at
    if tag in (0xC0, 0xC2, 0xC3):
        return {0xC0: None, 0xC2: False, 0xC3: True}[tag], at
    if tag in _SCALARS:
        code, size = _SCALARS[tag]
        return struct.unpack_from(code, data, at)[0], at + size
    if tag in _CONTAINERS:
        code, size, reader = _CONTAINERS[tag]
        value, at = reader(data, at + size, struct.unpack_from(code, data, at)[0])
        return value, at
    raise CodeObjectError(f"metadata has MessagePack tag {tag:#x}, which is not used there")


def _unpack_text(data: bytes, at: int, size: int) -> tuple[str, int]:
    return data[at : at + size].decode(), at + size


def _unpack_array(data: bytes, at: int, count: int) -> tuple[list[Any], int]:
    values = []
    for _ in range(count):
        value, at = _unpack(data, at)
        values.append(value)
    return values, at


def _unpack_map(data: bytes, at: int, count: int) -> tuple[dict[Any, Any], int]:
    values = {}
    for _ in range(count):
        key, at = _unpack(data, at)
        values[key], at = _unpack(data, at)
    return values, at


_SCALARS = {
    0xCA: (">f", 4), 0xCB: (">d", 8),
    0xCC: (">B", 1), 0xCD: (">H", 2), 0xCE: (">I", 4), 0xCF: (">Q", 8),
    0xD0: (">b", 1), 0xD1: (">h", 2), 0xD2: (">i", 4), 0xD3: (">q", 8),
}  # fmt: skip
_CONTAINERS: dict[int, tuple[str, int, Any]] = {
    0xD9: (">B", 1, _unpack_text), 0xDA: (">H", 2, _unpack_text), 0xDB: (">I", 4, _unpack_text),
    0xDC: (">H", 2, _unpack_array), 0xDD: (">I", 4, _unpack_array),
    0xDE: (">H", 2, _unpack_map), 0xDF: (">I", 4, _unpack_map),
}  # fmt: skip
