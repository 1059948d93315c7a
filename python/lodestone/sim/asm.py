"""Code objects and assembly text -> instructions, by LLVM's own assembler and disassembler."""

from __future__ import annotations

import hashlib
import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .._tools import ToolError, find_tool, run_tool
from . import elf
from .errors import CodeObjectError
from .operands import Operand, split_operands

TRIPLE = "amdgcn-amd-amdhsa"
# Chip -> lanes of a wave.
LANES = {"gfx942": 64, "gfx950": 64, "gfx1250": 32}

_LINE = re.compile(
    r"^\s+(?P<text>\S.*?)\s*// (?P<address>[0-9A-F]+): (?P<words>[0-9A-F]{8}(?: [0-9A-F]{8})*)"
)
_SOURCE = re.compile(r"^; (?P<file>\S.*):(?P<line>\d+)$")
_HIGH_VGPR = re.compile(r"v(?:\d+|\[\d+:\d+\]) /\*(v[^*]+)\*/")
_ENCODING_SUFFIX = re.compile(r"_(e32|e64|e64_dpp|dpp|sdwa)$")


@dataclass(frozen=True)
class Instruction:
    """One disassembled instruction.

    Attributes:
        index: position in the program.
        address: byte address in its section.
        text: the disassembler's canonical form.
        mnemonic: without the encoding suffix (`_e32`, `_e64`, `_dpp`, `_sdwa`).
        words: the encoding, 32-bit words.
        source: `(file, line)` when there is debug info.
    """

    index: int
    address: int
    text: str
    mnemonic: str
    encoding: str
    words: tuple[int, ...]
    operands: tuple[Operand, ...]
    modifiers: dict[str, Any] = field(hash=False)
    source: tuple[str, int] | None
    chip: str

    @property
    def size(self) -> int:
        """Bytes of the encoding."""
        return 4 * len(self.words)


@dataclass
class Program:
    """A disassembled code object, ready to run.

    Decoding and the closures made of it are kept here, so a second run of the same program
    (`load` returns the same object for the same bytes) costs no decoding.
    """

    chip: str
    code: elf.CodeObject
    instructions: list[Instruction]
    at_address: dict[int, int]
    compiled: dict[Any, Any] = field(default_factory=dict, repr=False)
    caches: dict[str, dict[Any, Any]] = field(default_factory=dict, repr=False)

    def cache(self, name: str) -> dict[Any, Any]:
        """A named memo table that lives as long as the program."""
        return self.caches.setdefault(name, {})


_programs: dict[str, Program] = {}


def load(kernel: bytes | str | Path, chip: str | None = None) -> Program:
    """Load a kernel.

    Args:
        kernel: bytes of a code object, the path of a code object or `.s` file, or assembly text.
        chip: needed for assembly text without an `.amdgcn_target` line; checked otherwise.

    Raises:
        CodeObjectError: malformed input, or `chip` is not the one the code is for.
    """
    data = code_object(kernel, chip)
    # The chip takes part: asking for the wrong one must fail, cached or not.
    key = f"{chip}:{hashlib.sha256(data).hexdigest()}"
    if key not in _programs:
        _programs[key] = disassemble(data, chip)
    return _programs[key]


def code_object(kernel: bytes | str | Path, chip: str | None = None) -> bytes:
    """The ELF of a kernel; assembly text is assembled. As `load`."""
    if chip is not None and chip not in LANES:
        raise CodeObjectError(f"chip {chip} is not one of {', '.join(LANES)}")
    data = _read(kernel)
    return assemble(data, chip) if isinstance(data, str) else data


def _read(kernel: bytes | str | Path) -> bytes | str:
    if isinstance(kernel, bytes | bytearray | memoryview):
        return bytes(kernel)
    if isinstance(kernel, str) and "\n" in kernel:
        return kernel
    try:
        data = Path(kernel).read_bytes()
    except OSError as error:
        raise CodeObjectError(f"can't read {kernel}: {error.strerror}") from error
    if data[:4] == b"\x7fELF":
        return data
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise CodeObjectError(f"{kernel} is neither a code object nor assembly text") from error


def assemble(text: str, chip: str | None = None) -> bytes:
    """Assemble `text` and link it, so that branches and constant tables are resolved."""
    target = re.search(r'\.amdgcn_target\s+"[^"]*--(gfx[0-9a-f]+)((?::\w+[+-])*)', text)
    chip = chip or (target[1] if target else None)
    if chip is None:
        raise CodeObjectError("assembly text has no .amdgcn_target line and no chip was given")
    if target and target[1] != chip:
        raise CodeObjectError(f"assembly text is for {target[1]}, not {chip}")
    # `gfx950:sramecc+:xnack-` -> +sramecc,-xnack
    features = [f[-1] + f[:-1] for f in (target[2] if target else "").split(":") if f]
    # A missing tool is not the input's fault: ToolError, not CodeObjectError.
    find_tool("llvm-mc"), find_tool("ld.lld")
    with tempfile.TemporaryDirectory(prefix="lodestone-sim-") as directory:
        object_file, linked = Path(directory, "a.o"), Path(directory, "a.hsaco")
        try:
            run_tool(
                "llvm-mc",
                [
                    f"-triple={TRIPLE}",
                    f"-mcpu={chip}",
                    f"-mattr={','.join(features)}",
                    "-filetype=obj",
                    "-o",
                    object_file,
                ],
                stdin=text,
            )
            run_tool("ld.lld", ["-shared", "--no-undefined", "-o", linked, object_file])
        except ToolError as error:
            raise CodeObjectError(str(error)) from error
        return linked.read_bytes()


def disassemble(data: bytes, chip: str | None = None) -> Program:
    """Disassemble the code object `data`."""
    code = elf.parse(data)
    if chip is not None and chip != code.chip:
        raise CodeObjectError(f"code object is for {code.chip}, not {chip}")
    find_tool("llvm-objdump")
    with tempfile.NamedTemporaryFile(prefix="lodestone-sim-", suffix=".hsaco") as file:
        file.write(data)
        file.flush()
        try:
            listing = run_tool("llvm-objdump", ["-d", "-l", f"--mcpu={code.chip}", file.name])
        except ToolError as error:
            raise CodeObjectError(str(error)) from error
    instructions = parse_listing(listing, code.chip)
    if not instructions:
        raise CodeObjectError("code object has no instructions")
    return Program(code.chip, code, instructions, {i.address: i.index for i in instructions})


def parse_listing(listing: str, chip: str) -> list[Instruction]:
    """Parse llvm-objdump's output."""
    instructions: list[Instruction] = []
    source: tuple[str, int] | None = None
    for line in listing.splitlines():
        if match := _SOURCE.match(line):
            source = (match["file"], int(match["line"]))
        if not (match := _LINE.match(line)):
            continue
        # With s_set_vgpr_msb in force the disassembler appends the real register in a comment.
        text = _HIGH_VGPR.sub(r"\1", match["text"])
        mnemonic, _, rest = text.partition(" ")
        encoding = _ENCODING_SUFFIX.search(mnemonic)
        operands, modifiers = split_operands(rest)
        instructions.append(
            Instruction(
                index=len(instructions),
                address=int(match["address"], 16),
                text=text,
                mnemonic=_ENCODING_SUFFIX.sub("", mnemonic),
                encoding=encoding[1] if encoding else "",
                words=tuple(int(word, 16) for word in match["words"].split()),
                operands=operands,
                modifiers=modifiers,
                source=source,
                chip=chip,
            )
        )
    return instructions
