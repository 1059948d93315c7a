"""Reading gfx9 assembly as LLVM prints it: instructions, loops, register counts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

_LABEL = re.compile(r"([.$\w@]+):")
_VMCNT = re.compile(r"\bvmcnt\((\d+)\)")
_METADATA = re.compile(r"^\s+\.(\w+):\s+(\S+)\s*$")
# What counts in vmcnt on gfx9: loads, stores and atomics alike. Cache control is none.
_VMEM = re.compile(r"(?:buffer|tbuffer|global|flat|scratch|image)_(?!wb|inv)")
_LDS_DMA = re.compile(r"(?:buffer_load|global_load_lds)_")


class AssemblyError(ValueError):
    """The text is not the assembly of a function; the message says what is missing."""


@dataclass(frozen=True)
class Instruction:
    """One instruction; `operands` as written, with the modifiers."""

    mnemonic: str
    operands: str

    @property
    def text(self) -> str:
        """The instruction as it stands in the assembly."""
        return f"{self.mnemonic} {self.operands}".rstrip()

    @property
    def vmcnt(self) -> int | None:
        """N if this is an s_waitcnt that waits for vmcnt(N)."""
        if self.mnemonic != "s_waitcnt":
            return None
        if found := _VMCNT.search(self.operands):
            return int(found[1])
        # A plain 0 waits for all counters.
        return 0 if self.operands == "0" else None

    @property
    def is_lds_dma(self) -> bool:
        """Whether it copies from global memory to LDS."""
        if not _LDS_DMA.match(self.mnemonic):
            return False
        return "_lds_" in self.mnemonic or re.search(r"\blds\b", self.operands) is not None

    @property
    def counts_in_vmcnt(self) -> bool:
        """Whether it raises vmcnt until it is done."""
        return _VMEM.match(self.mnemonic) is not None

    @property
    def is_mfma(self) -> bool:
        """Whether it is a matrix instruction."""
        return self.mnemonic.startswith(("v_mfma", "v_smfmac"))

    @property
    def is_lds_read(self) -> bool:
        """Whether it reads LDS into registers."""
        return self.mnemonic.startswith("ds_read")

    @property
    def branch_target(self) -> str | None:
        """The label that it may jump to."""
        if self.mnemonic == "s_branch" or self.mnemonic.startswith("s_cbranch"):
            return self.operands
        return None


@dataclass(frozen=True)
class Function:
    """A kernel's instructions; the value of a label is the index of what follows it.

    Attributes:
        name: the symbol.
        instructions: in order, up to the end of the function.
        labels: of this function.
        metadata: integers of the kernel's entry in `.amdgpu_metadata`, empty for a
            function that is not a kernel.
    """

    name: str
    instructions: tuple[Instruction, ...]
    labels: Mapping[str, int]
    metadata: Mapping[str, int]

    @cached_property
    def loops(self) -> list[range]:
        """The instructions of each loop, from a branch's target to the branch back to it."""
        found = []
        for index, instruction in enumerate(self.instructions):
            target = instruction.branch_target
            start = None if target is None else self.labels.get(target)
            if start is not None and start <= index:
                found.append(range(start, index + 1))
        return found

    @cached_property
    def main_loop(self) -> range | None:
        """The loop with most MFMAs, the innermost of equals; None if no loop has any."""

        def weight(loop: range) -> tuple[int, int]:
            return sum(self.instructions[i].is_mfma for i in loop), -len(loop)

        best = max(self.loops, key=weight, default=None)
        return best if best is not None and weight(best)[0] else None

    @cached_property
    def steady_state(self) -> range:
        """The main loop, or, where it was unrolled, what lies between the first MFMA and
        the last LDS-DMA; empty if there is neither.
        """
        if self.main_loop is not None:
            return self.main_loop
        first = next((i for i, x in enumerate(self.instructions) if x.is_mfma), None)
        dmas = [i for i, x in enumerate(self.instructions) if x.is_lds_dma]
        if first is None or not dmas:
            return range(0)
        return range(first, max(first, dmas[-1] + 1))


def parse_function(assembly: str, name: str | None = None) -> Function:
    """Read one function of LLVM's assembly text.

    Args:
        assembly: as `llc`, `gpu-module-to-binary{format=isa}` or `lodestone.compile` emit it.
        name: its symbol; by default the first function.

    Raises:
        AssemblyError: there is no such function.
    """
    pattern = re.compile(r"^\s*\.type\s+(\S+),@function", re.MULTILINE)
    names = pattern.findall(assembly)
    if not names:
        raise AssemblyError("no function in the assembly: there is no .type directive of one")
    name = name or names[0]
    if name not in names:
        raise AssemblyError(f"no function {name!r} in the assembly, only {', '.join(names)}")

    instructions: list[Instruction] = []
    labels: dict[str, int] = {}
    inside = False
    for line in assembly.splitlines():
        line = line.split(";", 1)[0].split("//", 1)[0].strip()
        if label := _LABEL.match(line):
            if label[1] == name:
                inside = True
            elif label[1].startswith(".Lfunc_end") and inside:
                break
            elif inside:
                labels[label[1]] = len(instructions)
            line = line[label.end() :].strip()
        if not inside or not line:
            continue
        if line.startswith(".section"):
            break
        if not line.startswith("."):
            mnemonic, _, operands = line.partition(" ")
            mnemonic, _, tabbed = mnemonic.partition("\t")
            instructions.append(Instruction(mnemonic, f"{tabbed} {operands}".strip()))
    if not instructions:
        raise AssemblyError(f"function {name!r} has no instructions")
    return Function(name, tuple(instructions), labels, _kernel_metadata(assembly, name))


def _kernel_metadata(assembly: str, name: str) -> dict[str, int]:
    """The integers of a kernel's entry in the metadata at the end of the assembly."""
    start = assembly.find(".amdgpu_metadata")
    if start < 0:
        return {}
    # An entry starts with `  - .first_key:`; deeper lists belong to its arguments.
    for entry in re.split(r"^  - ", assembly[start:], flags=re.MULTILINE)[1:]:
        values = {}
        for line in ("    " + entry).splitlines():
            if (found := _METADATA.match(line)) and line.startswith("    ."):
                values[found[1]] = found[2]
        if values.get("name") == name:
            return {key: int(value) for key, value in values.items() if value.isdigit()}
    return {}
