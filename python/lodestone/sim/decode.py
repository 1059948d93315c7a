"""Instructions -> basic blocks of steps, made when they are first reached.

Each static instruction becomes one closure. In modes R and W it is guarded: touching a register
that an operation still has to write is a finding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from . import (
    checks,
    ops_lane,
    ops_lds,
    ops_mfma,
    ops_packed,
    ops_salu,
    ops_salu_float,
    ops_smem,
    ops_tdm,
    ops_valu,
    ops_vmem,
)
from .asm import Instruction, Program
from .cluster import CLUSTER_BARRIER, WORKGROUP_BARRIER
from .counters import (
    COUNTER_GFX9,
    COUNTER_GFX12,
    FLAT,
    LDS,
    SMEM,
    VMEM,
    gfx9_waitcnt,
    gfx12_wait,
    wait_step,
)
from .dpp import DPP_WORDS
from .errors import ExecutionError, UnsupportedInstruction
from .modes import Mode
from .operands import ACC_BASE, VCC, split_operands
from .ops_salu import signed
from .ops_smem import SCALAR_KEY
from .values import Step
from .wave import Wave

NEXT, JUMP, BRANCH, BARRIER, END, INDIRECT = range(6)
_MAX_BLOCK = 256
INDIRECT_JUMPS = ("s_setpc_b64", "s_swappc_b64", "s_set_pc_i64", "s_swap_pc_i64")


def _vcc(w: Wave) -> int:
    return w.scalar64(VCC) if w.lanes == 64 else w.S[VCC]


CONDITIONS: dict[str, Callable[[Wave], bool]] = {
    "s_cbranch_scc0": lambda w: not w.scc,
    "s_cbranch_scc1": lambda w: bool(w.scc),
    "s_cbranch_vccz": lambda w: not _vcc(w),
    "s_cbranch_vccnz": lambda w: bool(_vcc(w)),
    "s_cbranch_execz": lambda w: not w.exec_bits,
    "s_cbranch_execnz": lambda w: bool(w.exec_bits),
}


class Block:
    """A straight run of instructions and what ends it.

    Attributes:
        first, count: indices of its instructions, the ending one included.
        mnemonics: how often each is among them. hits: how often the block ran.
        kind: NEXT, JUMP, BRANCH, BARRIER, END or INDIRECT (to an address in scalars).
        target: index where a jump or a taken branch goes. barrier: number of the barrier.
    """

    __slots__ = (
        "barrier",
        "condition",
        "count",
        "first",
        "hits",
        "kind",
        "mnemonics",
        "steps",
        "target",
    )

    def __init__(self, first: int) -> None:
        """An empty block at instruction `first`."""
        self.first = first
        self.count = 0
        self.hits = 0
        self.mnemonics: Counter[str] = Counter()
        self.steps: list[Step] = []
        self.kind = NEXT
        self.target = -1
        self.barrier = 0
        self.condition: Callable[[Wave], bool] | None = None


class Code:
    """The blocks of a program in one memory mode."""

    def __init__(self, program: Program, mode: Mode) -> None:
        """Nothing is decoded yet."""
        self.program = program
        self.mode = mode
        self.blocks: dict[int, Block] = {}

    def block(self, first: int) -> Block:
        """The block that starts at instruction `first`."""
        found = self.blocks.get(first)
        if found is None:
            found = self.blocks[first] = self._decode(first)
        return found

    def _decode(self, first: int) -> Block:
        block = Block(first)
        instructions = self.program.instructions
        for inst in instructions[first : first + _MAX_BLOCK]:
            block.count += 1
            block.mnemonics[inst.mnemonic] += 1
            if self._ends(inst, block):
                return block
            block.steps.append(self._step(inst))
        if first + block.count >= len(instructions):
            raise ExecutionError(
                f"execution runs over the end of the code at pc {instructions[-1].address:#x}"
            )
        return block

    def _ends(self, inst: Instruction, block: Block) -> bool:
        name = inst.mnemonic
        if name in ("s_endpgm", "s_endpgm_saved"):
            block.kind = END
        elif name in ("s_barrier", "s_barrier_wait"):
            block.kind = BARRIER
            block.barrier = WORKGROUP_BARRIER if name == "s_barrier" else barrier_of(inst)
        elif name in INDIRECT_JUMPS:
            if inst.operands[-1].kind != "s":
                raise UnsupportedInstruction(inst, "jump target")
            block.kind = INDIRECT
        elif name == "s_branch" or name in CONDITIONS:
            block.kind = JUMP if name == "s_branch" else BRANCH
            block.condition = CONDITIONS.get(name)
            block.target = self._target(inst)
        else:
            return False
        return True

    def _target(self, inst: Instruction) -> int:
        distance = inst.words[0] & 0xFFFF
        distance -= (distance & 0x8000) << 1
        address = inst.address + 4 + 4 * distance
        target = self.program.at_address.get(address)
        if target is None:
            raise UnsupportedInstruction(inst, f"branch to {address:#x}, which is no instruction")
        return target

    def _step(self, inst: Instruction) -> Step:
        step = make_step(inst)
        if self.mode.eager or inst.mnemonic.startswith(("s_wait", "s_nop")):
            return step
        return guard(inst, step)


# Instructions with operands that only they understand: counters, registers, messages.
_WORDY = (
    "s_waitcnt", "s_wait_", "s_setreg", "s_getreg", "s_sendmsg", "s_delay_alu", "v_dual_", "s_nop",
)  # fmt: skip


def make_step(inst: Instruction) -> Step:
    """The closure that executes `inst`; raises UnsupportedInstruction for what isn't known."""
    name = inst.mnemonic
    step: Step | None = None
    if not name.startswith(_WORDY):
        for operand in inst.operands:
            if operand.kind == "text" and operand.text not in DPP_WORDS:
                raise UnsupportedInstruction(inst, f"operand {operand.text} is not supported")
    try:
        if name == "s_waitcnt":
            return wait_step(gfx9_waitcnt(inst.words[0] & 0xFFFF))
        if name.startswith("s_wait_") and inst.chip == "gfx1250":
            limits = gfx12_wait(name, inst.words[0] & 0xFFFF)
            if limits is not None:
                return wait_step(limits)
        if name in ("s_getpc_b64", "s_get_pc_i64"):
            slot = inst.operands[0].index
            return lambda w: w.write_scalar64(slot, w.group.code_base + inst.address + inst.size)
        if name in ("s_barrier_signal", "s_barrier_signal_isfirst"):
            return barrier_signal(inst)
        if name.startswith("v_dual_"):
            return dual(inst)
        if name.startswith("s_"):
            step = (
                ops_salu.scalar(inst)
                or ops_salu_float.scalar_float(inst)
                or ops_smem.memory_or_state(inst)
            )
        elif ops_mfma.is_matrix(name):
            return ops_mfma.matrix(inst)
        elif name.startswith("v_"):
            for table in (ops_packed.TABLE, ops_lane.TABLE):
                if name in table:
                    return table[name](inst)
            step = ops_valu.lanewise(inst) or ops_salu_float.scalar_float(inst)
        elif name in ops_lds.TABLE:
            return ops_lds.TABLE[name](inst)
        else:
            step = (
                ops_tdm.copies(inst)
                or ops_vmem.vector_memory(inst)
                or ops_smem.memory_or_state(inst)
            )
    except IndexError as error:
        raise UnsupportedInstruction(inst, "too few operands") from error
    if step is None:
        raise UnsupportedInstruction(inst, f"unknown instruction {name} on {inst.chip}")
    return step


def barrier_of(inst: Instruction) -> int:
    """The number of the barrier that an instruction names."""
    # The wait's is a 16-bit field, printed unsigned.
    numbers = [signed(o.index & 0xFFFF, 16) for o in inst.operands if o.kind == "int"]
    if numbers not in ([WORKGROUP_BARRIER], [CLUSTER_BARRIER]):
        raise UnsupportedInstruction(
            inst, "only the barriers of the workgroup (-1) and the cluster (-3) are simulated"
        )
    return numbers[0]


def barrier_signal(inst: Instruction) -> Step:
    """s_barrier_signal: the wave has arrived; `_isfirst` tells it by SCC whether as the first.

    A wave that is not the first writes 0 for the workgroup's barrier and nothing for the
    cluster's (CDNA5 ISA, tables 22 and 23). Where nobody else could arrive, nothing is written.
    """
    barrier = barrier_of(inst)
    tells = inst.mnemonic == "s_barrier_signal_isfirst"

    def step(w: Wave) -> None:
        first = w.group.signal(w, barrier)
        if tells and (first or (first is not None and barrier == WORKGROUP_BARRIER)):
            w.scc = int(first)

    return step


def dual(inst: Instruction) -> Step:
    """v_dual_*: two operations; both read before either writes."""
    halves = []
    for part in inst.text.split(" :: "):
        mnemonic, _, rest = part.strip().partition(" ")
        operands, modifiers = split_operands(rest)
        name = mnemonic.replace("v_dual_", "v_")
        halves.append(
            replace(inst, mnemonic=name, encoding="", operands=operands, modifiers=modifiers)
        )
    first, second = (make_step(half) for half in halves)
    target = halves[0].operands[0]
    rows = slice(target.index, target.index + target.width)

    def step(w: Wave) -> None:
        old = w.V[rows].copy()
        first(w)
        new = w.V[rows].copy()
        w.V[rows] = old
        second(w)
        w.V[rows] = new

    return step


_LOADS = ("ds_read", "ds_load", "buffer_load", "global_load", "cluster_load", "scratch_load")


def registers_of(inst: Instruction) -> dict[str, tuple[int, ...]]:
    """Registers an instruction touches, by key; `target` are those of a load's destination."""
    touched: list[tuple[int, ...]] = []
    for operand in inst.operands:
        base = {"v": 0, "s": SCALAR_KEY}.get(operand.kind)
        span = (
            ()
            if base is None
            else range(base + operand.index, base + operand.index + operand.width)
        )
        touched.append(tuple(span))
    loads = inst.mnemonic.startswith(_LOADS)
    loads = loads and "lds" not in inst.modifiers and "_lds_" not in inst.mnemonic
    first = touched[0] if touched and loads else ()
    rest = touched[1:] if first else touched
    return {"target": first, "touched": tuple(r for span in rest for r in span)}


def register_name(key: int, chip: str) -> str:
    """The assembly name of a register key."""
    if key >= SCALAR_KEY:
        return f"s{key - SCALAR_KEY}"
    accumulation = key >= ACC_BASE and chip != "gfx1250"
    return f"a{key - ACC_BASE}" if accumulation else f"v{key}"


def guard(inst: Instruction, step: Step) -> Step:
    """Check before `step` that no register it touches is still to be written."""
    spans = registers_of(inst)
    touched, target = spans["touched"], spans["target"]
    own_queue = LDS if inst.mnemonic.startswith("ds_") else VMEM
    keys = frozenset(touched + target)
    if not keys:
        return step
    in_touched = frozenset(touched)

    def guarded(w: Wave) -> Any:
        pending = w.pending
        if pending and not keys.isdisjoint(pending):
            for key in keys.intersection(pending):
                operation = pending[key]
                # Loads of one counter write in order: one may overwrite another's target.
                if key not in in_touched and operation.queue == own_queue:
                    continue
                _report(w, inst, key)
        return step(w)

    return guarded


def _report(w: Wave, inst: Instruction, key: int) -> None:
    operation = w.pending[key]
    gfx12 = inst.chip == "gfx1250"
    counter = (COUNTER_GFX12 if gfx12 else COUNTER_GFX9)[operation.queue]
    left = max(w.issued[operation.queue] - operation.sequence - 1, 0)
    if operation.queue in (SMEM, FLAT):
        left = 0
    missing = f"s_wait_{counter} {left}" if gfx12 else f"s_waitcnt {counter}({left})"
    w.group.findings.add(
        checks.REGISTER_BEFORE_WAIT,
        checks.ERROR,
        f"uses {register_name(key, inst.chip)}, which `{operation.instruction.text}` at pc "
        f"{operation.instruction.address:#x} may not have written yet; needs {missing} before",
        w.index,
        inst,
        operation.instruction,
        w.index,
        (0, 0),
        missing,
    )
    if key >= SCALAR_KEY:
        # The value is there already; going on with it keeps one mistake from hiding the next.
        for register in operation.registers:
            w.pending.pop(register, None)
