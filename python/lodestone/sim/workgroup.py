"""One workgroup: its waves, LDS, and how they run from barrier to barrier."""

from __future__ import annotations

from typing import Any

from . import checks
from .asm import LANES, Instruction
from .checks import EpochState, Findings, RaceChecker
from .cluster import CLUSTER_BARRIER, WORKGROUP_BARRIER, Cluster
from .counters import CAPACITY_GFX9, CAPACITY_GFX12, SIGNAL
from .decode import BARRIER, BRANCH, END, INDIRECT, JUMP, Block, Code
from .errors import ExecutionError, InstructionLimit, SimulationError
from .lds import Lds, Pattern
from .memory import CODE, Memory
from .modes import Mode
from .wave import Array, Wave


class Workgroup:
    """The state that the waves of a workgroup share.

    Attributes:
        patterns, offsets: memo tables of address patterns; they outlive the workgroup.
        matrix_operands: the last decoded matrix operands by wave and register.
        code_base: where the code object is in memory; instruction addresses are relative to it.
        tensor_operations: one record per executed TDM instruction.
        number: in the grid. cluster, member: the cluster it is in, and its number there.
        signalled: it signalled the cluster's barrier and has not passed it yet.
    """

    def __init__(
        self,
        code: Code,
        memory: Memory,
        lds_size: int,
        waves: int,
        *,
        scratch_bytes: int = 0,
        fp16_overflow: bool = False,
        findings: Findings | None = None,
        number: int = 0,
    ) -> None:
        """Create the workgroup with poisoned registers and LDS."""
        program = code.program
        self.code = code
        self.mode: Mode = code.mode
        self.memory = memory
        self.lds = Lds(lds_size)
        self.sram_ecc = program.code.sram_ecc
        self.scratch_bytes = scratch_bytes
        self.fp16_overflow = fp16_overflow
        self.findings = findings if findings is not None else Findings()
        self.patterns: dict[Any, Pattern] = program.cache(f"patterns-{lds_size}")
        self.offsets: dict[Any, tuple[Array, int]] = program.cache("offsets")
        self.matrix_operands: dict[Any, tuple[bytes, Array]] = {}
        self.tensor_operations: list[Any] = []
        self.number = number
        self.cluster: Cluster | None = None
        self.member = 0
        self.signalled = False
        self._first_signal = True
        code_object = memory.allocations.get(CODE)
        self.code_base = code_object.address if code_object else 0
        gfx12 = program.chip == "gfx1250"
        capacity = CAPACITY_GFX12 if gfx12 else CAPACITY_GFX9
        self.checker = RaceChecker(self.findings, gfx12)
        self.waves = [Wave(self, i, LANES[program.chip], capacity) for i in range(waves)]
        for wave in self.waves:
            wave.epoch_state = EpochState()

    def lds_fault(self, wave: Wave, inst: Instruction, pattern: Pattern, severity: str) -> None:
        """Report an access outside of the LDS allocation."""
        self.findings.add(
            checks.LDS_OUT_OF_BOUNDS,
            severity,
            f"touches LDS outside of the {self.lds.size} bytes allocated",
            wave.index,
            inst,
            extent=(pattern.low, pattern.high),
        )

    def land_stores(self, wave: Wave) -> None:
        """LDS operations of a wave are in order: its delayed stores land before the next one."""
        for operation in wave.unlanded:
            if operation.deliver is not None:
                deliver, operation.deliver = operation.deliver, None
                deliver()
        wave.unlanded.clear()

    @property
    def running(self) -> bool:
        """Some wave has not ended."""
        return any(not wave.done for wave in self.waves)

    @property
    def in_cluster(self) -> bool:
        """A single workgroup is no cluster."""
        return self.cluster is not None and len(self.cluster.groups) > 1

    @property
    def blocked(self) -> bool:
        """Nothing can go on before the cluster's barrier is released."""
        stops = [wave.stopped_at for wave in self.waves if not wave.done]
        return CLUSTER_BARRIER in stops and all(stops)

    def advance(self, order: list[int], limit: int) -> int:
        """Run the waves, in this order, until each has ended or is stopped at a barrier.

        When all are at the workgroup's barrier they pass it, and the epoch ends.

        Returns:
            The number of instructions executed.
        """
        self.findings.workgroup = self.number
        executed = 0
        for index in order:
            wave = self.waves[index]
            if not wave.done and not wave.stopped_at:
                executed += self._advance(wave, limit - executed)
        if not self.blocked:
            for wave in self.waves:
                wave.stopped_at = 0
            self._first_signal = True
            self.checker.close_epoch(self.waves)
        return executed

    def signal(self, wave: Wave, barrier: int) -> bool | None:
        """The wave arrives at a barrier.

        Returns:
            Whether it (or its workgroup, for the cluster's) is the first to arrive; None where
            there is nobody to wait for, and the instruction does nothing.
        """
        if barrier == CLUSTER_BARRIER:
            cluster = self.cluster
            return cluster.signal(self) if cluster is not None and self.in_cluster else None
        wave.signalled = True
        wave.log.append((SIGNAL, None, None))
        first, self._first_signal = self._first_signal, False
        return first if len(self.waves) > 1 else None

    def _passes(self, wave: Wave, inst: Instruction, barrier: int) -> bool:
        """Does the wave go on at this wait? Otherwise it is stopped there."""
        if barrier == CLUSTER_BARRIER and not self.in_cluster:
            return True
        if inst.mnemonic == "s_barrier_wait" and barrier == WORKGROUP_BARRIER:
            if not wave.signalled:
                raise ExecutionError(
                    f"pc {inst.address:#x} `{inst.text}` wave {wave.index}: waits at a barrier "
                    f"that it did not signal",
                    pc=inst.address,
                    wave=wave.index,
                )
            wave.signalled = False
        wave.stopped_at = barrier
        return False

    def _advance(self, wave: Wave, limit: int) -> int:
        """Run `wave` to the next barrier or its end; returns the instructions executed."""
        code = self.code
        blocks = code.blocks
        executed = 0
        at = wave.block
        while True:
            block = blocks.get(at) or code.block(at)
            block.hits += 1
            executed += block.count
            if executed > limit:
                raise self._endless(wave, block, at)
            steps = iter(block.steps)
            try:
                for step in steps:
                    step(wave)
            except SimulationError as error:
                raise self._located(wave, block, steps, error) from error
            except (IndexError, ValueError, OverflowError) as error:
                inner = ExecutionError(f"{type(error).__name__}: {error}")
                raise self._located(wave, block, steps, inner) from error
            kind = block.kind
            at = block.first + block.count
            if kind == BRANCH:
                assert block.condition is not None
                if block.condition(wave):
                    at = block.target
            elif kind == JUMP:
                at = block.target
            elif kind == BARRIER:
                if not self._passes(wave, code.program.instructions[at - 1], block.barrier):
                    wave.block = at
                    return executed
            elif kind == INDIRECT:
                at = self._indirect(wave, code.program.instructions[at - 1])
            elif kind == END:
                wave.done = True
                return executed

    def _indirect(self, wave: Wave, inst: Instruction) -> int:
        """Jump to the address in a scalar pair; s_swappc also saves the return address."""
        source = inst.operands[-1].index
        address = wave.scalar64(source) - self.code_base
        if len(inst.operands) == 2:
            back = self.code_base + inst.address + inst.size
            wave.write_scalar64(inst.operands[0].index, back)
        target = self.code.program.at_address.get(address)
        if target is None:
            raise ExecutionError(
                f"pc {inst.address:#x} `{inst.text}` wave {wave.index}: jumps to {address:#x}, "
                f"where no instruction is",
                pc=inst.address,
                wave=wave.index,
            )
        return target

    def _located(
        self, wave: Wave, block: Block, rest: Any, error: SimulationError
    ) -> SimulationError:
        """Add the place to an error: the failed step is the one before what is left."""
        index = block.first + len(block.steps) - len(list(rest)) - 1
        inst = self.code.program.instructions[index]
        where = f" at {inst.source[0]}:{inst.source[1]}" if inst.source else ""
        return ExecutionError(
            f"pc {inst.address:#x} `{inst.text}` wave {wave.index}{where}: {error}",
            pc=inst.address,
            wave=wave.index,
        )

    def _endless(self, wave: Wave, block: Block, at: int) -> InstructionLimit:
        """The error for a kernel that doesn't end: the pcs of the loop it is in."""
        trail: list[int] = []
        for other in sorted(self.code.blocks.values(), key=lambda b: -b.hits)[:8]:
            if other.hits * 2 >= block.hits:
                trail.append(self.code.program.instructions[other.first].address)
        loop = ", ".join(f"{pc:#x}" for pc in sorted(trail))
        pc = self.code.program.instructions[at].address
        return InstructionLimit(
            f"wave {wave.index} is still running at pc {pc:#x} after the instruction limit; "
            f"most executed blocks start at pc {loop}",
            pc=pc,
            wave=wave.index,
        )
