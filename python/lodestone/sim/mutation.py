"""Mutate the synchronization of a kernel: would a missing wait or barrier be noticed?

Each mutant is the program with one wait dropped, one vmcnt weakened by one, or one barrier
dropped. A mutant is killed when a run reports a hard finding, stops, or gives other numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from .asm import Instruction, Program
from .run import Result

S_NOP = 0xBF800000
# gfx12: one instruction per counter; its immediate is the count.
_GFX12_WAITS = ("loadcnt", "storecnt", "dscnt", "kmcnt", "asynccnt", "tensorcnt")


@dataclass(frozen=True)
class Mutant:
    """A mutated program: what was done, and where."""

    description: str
    instruction: Instruction
    program: Program


def mutants(program: Program) -> Iterator[Mutant]:
    """All mutants of `program`, in order of address; code that never runs is mutated, too."""
    for inst in program.instructions:
        name, value = inst.mnemonic, inst.words[0] & 0xFFFF
        if name == "s_waitcnt":
            vector, local = value & 15 | value >> 14 << 4, value >> 8 & 15
            if vector != 63:
                without = value & 0x3FF0 | 0xC00F
                yield _mutant(program, inst, f"drop vmcnt({vector})", _wait(inst, without))
                if vector < 62:
                    relaxed = value & 0x3FF0 | (vector + 1) & 15 | (vector + 1) >> 4 << 14
                    text = f"weaken vmcnt({vector}) to {vector + 1}"
                    yield _mutant(program, inst, text, _wait(inst, relaxed))
            if local != 15:
                yield _mutant(program, inst, f"drop lgkmcnt({local})", _wait(inst, value | 0xF00))
        elif name in ("s_barrier", "s_barrier_wait"):
            yield _mutant(program, inst, "drop the barrier", _nop(inst))
        elif name.startswith("s_wait_") and name[7:] in _GFX12_WAITS:
            yield _mutant(program, inst, f"drop {name[7:]}({value})", _nop(inst))
            weaker = replace(inst, words=(inst.words[0] + 1,), text=f"{name} {value + 1}")
            yield _mutant(program, inst, f"weaken {name[7:]}({value}) to {value + 1}", weaker)


def _mutant(program: Program, inst: Instruction, what: str, replacement: Instruction) -> Mutant:
    instructions = list(program.instructions)
    instructions[inst.index] = replacement
    mutated = Program(program.chip, program.code, instructions, program.at_address)
    # Address patterns don't depend on waits.
    mutated.caches = program.caches
    return Mutant(f"{what} at pc {inst.address:#x}", inst, mutated)


def _wait(inst: Instruction, value: int) -> Instruction:
    if value & 0xCF0F == 0xCF0F:
        return _nop(inst)
    return replace(inst, words=(inst.words[0] & ~0xFFFF | value,), text=f"{inst.text} (mutated)")


def _nop(inst: Instruction) -> Instruction:
    return replace(
        inst, mnemonic="s_nop", text="s_nop 0 (mutated)", words=(S_NOP,), operands=(), modifiers={}
    )


def killed(results: list[Result], same: Callable[[Result], bool]) -> bool:
    """Did any of a mutant's runs notice? `same` compares a run's outputs with the right ones."""
    return any(not result.ok or not same(result) for result in results)
