"""Operand and modifier syntax of the disassembler, and the getters built from it.

A getter is a function of the wave. It returns a row of `lanes` values, or a NumPy scalar for
what is the same in all lanes (constants, SGPRs), which broadcasts.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from typing import Any

# Slots of the scalar register file. AGPR i is vector row ACC_BASE + i, as in the unified file.
VCC, TTMP, M0, EXEC = 106, 108, 124, 126
SGPR_SLOTS = 128
ACC_BASE = 256

_FLOATS = {
    text: float(text) for text in ("0.5", "-0.5", "1.0", "-1.0", "2.0", "-2.0", "4.0", "-4.0")
}
# 1/(2 pi): the inline constant's value depends on the operand's width; this is its text.
INV_2PI_TEXTS = ("0.15915494", "0.15915494309189532", "0.1592")

_SPECIAL = {
    "vcc": (VCC, 2), "vcc_lo": (VCC, 1), "vcc_hi": (VCC + 1, 1),
    "exec": (EXEC, 2), "exec_lo": (EXEC, 1), "exec_hi": (EXEC + 1, 1), "m0": (M0, 1),
}  # fmt: skip
_SINGLE = re.compile(r"(v|s|a|ttmp)(\d+)$")
_RANGE = re.compile(r"(v|s|a|ttmp)\[(\d+)(?::(\d+))?\]$")
_INTEGER = re.compile(r"-?(0x[0-9a-f]+|\d+)$")
# A literal whose value would also fit an inline constant, or 32 bits where it has 64.
_LITERAL = re.compile(r"lit(64)?\((0x[0-9a-f]+)\)$")
_MODIFIER = re.compile(r"([a-z_0-9]+):(.*)$")
FLAGS = frozenset(
    "offen idxen lds sc0 sc1 nt glc slc clamp scc nv tfe gds done scale_offset".split()
)


@dataclass(frozen=True)
class Operand:
    """A parsed operand.

    Attributes:
        kind: `v` vector row, `s` scalar slot, `int` or `float` constant, `off`/`null`, `scc`,
            or `text` for what only its own instruction understands (hwreg, message names).
        index: row, slot or the integer constant.
        width: number of 32-bit registers.
        literal: bits of a literal, 32 or 64; 0 for an inline constant.
    """

    kind: str
    index: int = 0
    width: int = 1
    value: float = 0.0
    literal: int = 0
    negate: bool = False
    absolute: bool = False
    sign_extend: bool = False
    text: str = ""

    @property
    def is_constant(self) -> bool:
        """True for inline constants and literals."""
        return self.kind in ("int", "float")

    @property
    def signed(self) -> bool:
        """True when a sign modifier applies."""
        return self.negate or self.absolute

    def bits32(self) -> int:
        """The 32-bit pattern of a constant, in a 32-bit operand."""
        if self.kind == "float":
            return int(struct.unpack("<I", struct.pack("<f", self.value))[0])
        return self.index & 0xFFFFFFFF

    def bits16(self) -> int:
        """The 16-bit pattern of a constant, in a 16-bit operand."""
        if self.kind == "float":
            return int(struct.unpack("<H", struct.pack("<e", self.value))[0])
        return self.index & 0xFFFF

    def bits64(self, floating: bool) -> int:
        """The 64-bit pattern of a constant.

        A 32-bit literal is the high half of an f64 and zero-extends to a 64-bit integer
        (sign-extends when it was written as a negative number); an inline integer sign-extends.
        """
        if self.kind == "float":
            return int(struct.unpack("<Q", struct.pack("<d", self.value))[0])
        if self.literal == 32 and floating:
            return (self.index & 0xFFFFFFFF) << 32
        return self.index & 0xFFFFFFFFFFFFFFFF


def parse_operand(text: str) -> Operand:
    """Parse one operand; what is not understood becomes kind `text`."""
    plain = text.strip()
    if match := _LITERAL.match(plain):
        return Operand("int", int(match[2], 0), literal=int(match[1] or 32), text=plain)
    if plain in _FLOATS or _INTEGER.match(plain):
        return _constant(plain)
    negate = absolute = sign_extend = False
    if plain.startswith("sext(") and plain.endswith(")"):
        sign_extend, plain = True, plain[5:-1]
    if plain.startswith("neg(") and plain.endswith(")"):
        negate, plain = True, plain[4:-1]
    elif plain.startswith("-"):
        negate, plain = True, plain[1:]
    if plain.startswith("|") and plain.endswith("|"):
        absolute, plain = True, plain[1:-1]
    base = _plain_operand(plain)
    if base.kind == "text":
        return Operand("text", text=text.strip())
    return Operand(
        base.kind, base.index, base.width, base.value, base.literal,
        negate, absolute, sign_extend, text.strip(),
    )  # fmt: skip


def _plain_operand(plain: str) -> Operand:
    if plain in _SPECIAL:
        index, width = _SPECIAL[plain]
        return Operand("s", index, width)
    if match := _SINGLE.match(plain):
        return _register(match[1], int(match[2]), 1)
    if match := _RANGE.match(plain):
        first = int(match[2])
        return _register(match[1], first, int(match[3] or first) - first + 1)
    if plain in ("off", "null"):
        return Operand(plain)
    if plain in ("scc", "src_scc"):
        return Operand("scc")
    if plain in _FLOATS or plain in INV_2PI_TEXTS or _INTEGER.match(plain):
        return _constant(plain)
    return Operand("text", text=plain)


def _register(file: str, index: int, width: int) -> Operand:
    if file == "v":
        return Operand("v", index, width)
    if file == "a":
        return Operand("v", index + ACC_BASE, width)
    return Operand("s", index + (TTMP if file == "ttmp" else 0), width)


def _constant(plain: str) -> Operand:
    if plain in _FLOATS:
        return Operand("float", value=_FLOATS[plain], text=plain)
    if plain in INV_2PI_TEXTS:
        return Operand("float", value=0.15915494309189532, text=plain)
    value = int(plain, 0)
    bits = 0 if "0x" not in plain else 64 if abs(value) >> 32 else 32
    return Operand("int", value, literal=bits, text=plain)


def split_operands(rest: str) -> tuple[tuple[Operand, ...], dict[str, Any]]:
    """Split what follows the mnemonic into operands and modifiers.

    A modifier is `name:value`, `name:[list]` or a flag; lists and numbers are converted.
    """
    operands: list[Operand] = []
    modifiers: dict[str, Any] = {}
    for piece in _top_level(rest):
        for word in piece.split():
            if word in FLAGS:
                modifiers[word] = True
            elif (match := _MODIFIER.match(word)) and not _RANGE.match(word):
                modifiers[match[1]] = _modifier_value(match[2])
            else:
                operands.append(parse_operand(word))
    return tuple(operands), modifiers


def _modifier_value(text: str) -> Any:
    if text.startswith("["):
        return [int(x, 0) for x in text.strip("[]").split(",")]
    return int(text, 0) if _INTEGER.match(text) else text


def _top_level(rest: str) -> list[str]:
    pieces, depth, start = [], 0, 0
    for at, character in enumerate(rest):
        if character in "[(":
            depth += 1
        elif character in "])":
            depth -= 1
        elif character == "," and depth == 0:
            pieces.append(rest[start:at])
            start = at + 1
    pieces.append(rest[start:])
    return [p for p in pieces if p.strip()]
