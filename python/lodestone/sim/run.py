"""`run`: execute a kernel on a grid and report what happened."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from . import asm, banks, launch, modes, ops_lds
from .asm import Instruction, Program
from .checks import ERROR, WARNING, Finding, Findings
from .counters import READ
from .decode import Code
from .errors import ExecutionError, SimulationError
from .lds import Pattern
from .memory import Memory
from .wave import Array
from .workgroup import Workgroup

DEFAULT_LIMIT = 200_000_000


@dataclass
class BankConflicts:
    """Conflicts of one LDS instruction over the whole run.

    Attributes:
        executed: how often it ran. extra_cycles: cycles lost to conflicts, None when the phases
            of this access are not published.
    """

    pc: int
    instruction: str
    executed: int
    extra_cycles: int | None


@dataclass
class TensorOperation:
    """One executed TDM instruction: place, wave, and its descriptor groups as words."""

    pc: int
    instruction: str
    workgroup: int
    wave: int
    descriptor: list[list[int]]


@dataclass
class Result:
    """What a run did.

    Attributes:
        outputs: the arrays after the run, in argument order; None for scalars. The arrays that
            were passed in are left alone.
        counts: executions per mnemonic.
        findings: errors first.
        bank_conflicts: one entry per LDS instruction that ran.
        tensor_operations: one entry per TDM instruction executed.
        error: set when the kernel stopped (with `check=False`); outputs are then partial.
    """

    outputs: list[Array | None]
    counts: dict[str, int]
    findings: list[Finding]
    bank_conflicts: list[BankConflicts]
    tensor_operations: list[TensorOperation]
    instructions: int
    workgroups: int
    waves: int
    seconds: float
    mode: str
    order: modes.Order
    error: str = ""
    extra: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def errors(self) -> list[Finding]:
        """Hard findings."""
        return [f for f in self.findings if f.severity == ERROR]

    @property
    def warnings(self) -> list[Finding]:
        """Findings that shipped kernels live with."""
        return [f for f in self.findings if f.severity == WARNING]

    @property
    def ok(self) -> bool:
        """No hard finding, and the kernel ended."""
        return not self.errors and not self.error

    @property
    def extra_lds_cycles(self) -> int:
        """Cycles lost to bank conflicts, over all instructions with published phases."""
        return sum(b.extra_cycles or 0 for b in self.bank_conflicts)

    def to_json(self) -> dict[str, Any]:
        """Everything but the arrays, as plain data."""
        return {
            "mode": self.mode,
            "order": self.order,
            "ok": self.ok,
            "error": self.error,
            "instructions": self.instructions,
            "workgroups": self.workgroups,
            "waves": self.waves,
            "seconds": self.seconds,
            "counts": self.counts,
            "findings": [asdict(f) for f in self.findings],
            "bank_conflicts": [asdict(b) for b in self.bank_conflicts],
            "tensor_operations": [asdict(t) for t in self.tensor_operations],
        }

    def __str__(self) -> str:
        """A summary in a few lines."""
        lines = [
            f"{self.instructions} instructions, {self.workgroups} workgroups of {self.waves} waves,"
            f" mode {self.mode}, order {self.order}, {self.seconds:.3f} s:"
            f" {len(self.errors)} errors, {len(self.warnings)} warnings,"
            f" {self.extra_lds_cycles} cycles lost to bank conflicts"
        ]
        if self.error:
            lines.append(f"stopped: {self.error}")
        return "\n".join(lines + [str(f) for f in self.findings])


def run(
    kernel: bytes | str | Path | Program,
    *,
    grid: int | Sequence[int] = 1,
    block: int | Sequence[int] | None = None,
    args: Sequence[Any] | Mapping[str, Any] = (),
    mode: str = "E",
    order: modes.Order = "forward",
    dynamic_lds: int = 0,
    chip: str | None = None,
    name: str | None = None,
    max_instructions: int = DEFAULT_LIMIT,
    check: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> Result:
    """Execute a kernel.

    Args:
        kernel: bytes of a code object, path of one or of a `.s` file, assembly text, or what
            `load` returned.
        grid: number of workgroups, up to three dimensions.
        block: work items per workgroup; the metadata's required size by default.
        args: one value per argument of the kernel, in order or by name: a NumPy array for a
            pointer (any dtype, also of ml_dtypes), a number or NumPy scalar otherwise.
        mode: E, R or W (see `modes`).
        order: `forward`, `reverse` or a seed: in which order the waves run between barriers.
        dynamic_lds: bytes of dynamic LDS.
        chip: needed for assembly text without a target line; checked otherwise.
        name: kernel, when there are several.
        max_instructions: limit for the whole run.
        check: raise when the kernel stops with an error; otherwise report it in the result.
        progress: called with (workgroups done, workgroups in all).

    Raises:
        CodeObjectError, LaunchError: bad input.
        UnsupportedInstruction: an instruction without semantics here was reached.
        ExecutionError: access outside of all buffers, endless loop, ...
    """
    program = kernel if isinstance(kernel, Program) else asm.load(kernel, chip)
    if isinstance(kernel, Program) and chip not in (None, program.chip):
        raise SimulationError(f"program is for {program.chip}, not {chip}")
    plan = launch.prepare(
        program, name=name, grid=grid, block=block, args=args, dynamic_lds=dynamic_lds
    )
    chosen = modes.mode_named(mode)
    next(modes.wave_orders(order, 1))
    memory = launch.build_memory(plan)
    code: Code = program.compiled.setdefault(chosen.name, Code(program, chosen))
    for block_of_code in code.blocks.values():
        block_of_code.hits = 0
    session = _Session(plan, memory, code, order, max_instructions)
    start = time.perf_counter()
    error = ""
    try:
        with np.errstate(all="ignore"):
            session.run_grid(progress)
    except ExecutionError as stopped:
        if check:
            raise
        error = str(stopped)
    return session.result(time.perf_counter() - start, error)


class _Session:
    """A run in progress: what accumulates over its workgroups."""

    def __init__(
        self,
        plan: launch.Launch,
        memory: Memory,
        code: Code,
        order: modes.Order,
        limit: int,
    ) -> None:
        self.plan = plan
        self.memory = memory
        self.code = code
        self.order = order
        self.limit = limit
        self.findings = Findings()
        self.accesses: Counter[tuple[int, Pattern]] = Counter()
        self.tensor: list[TensorOperation] = []
        self.executed = 0
        self.done = 0

    def run_grid(self, progress: Callable[[int, int], None] | None) -> None:
        plan = self.plan
        total = plan.grid[0] * plan.grid[1] * plan.grid[2]
        entry = plan.program.at_address.get(plan.kernel.entry)
        if entry is None:
            raise ExecutionError(f"kernel entry {plan.kernel.entry:#x} is no instruction")
        for number in range(total):
            x = number % plan.grid[0]
            y = number // plan.grid[0] % plan.grid[1]
            z = number // (plan.grid[0] * plan.grid[1])
            self.findings.workgroup = number
            group = Workgroup(
                self.code,
                self.memory,
                plan.lds_size,
                plan.waves,
                scratch_bytes=plan.kernel.descriptor.private_segment_size,
                fp16_overflow=plan.kernel.descriptor.fp16_overflow,
                findings=self.findings,
            )
            group.checker.accesses = self.accesses
            launch.set_registers(group, plan, self.memory, (x, y, z))
            self.executed += group.run(entry, self.order, self.limit - self.executed)
            self.tensor += [
                TensorOperation(pc, text, number, wave, words)
                for pc, text, wave, words in group.tensor_operations
            ]
            self.done += 1
            if progress is not None:
                progress(self.done, total)

    def result(self, seconds: float, error: str) -> Result:
        instructions = self.code.program.instructions
        counts: Counter[str] = Counter()
        for block in self.code.blocks.values():
            if block.hits:
                for inst in instructions[block.first : block.first + block.count]:
                    counts[inst.mnemonic] += block.hits
        findings = sorted(
            self.findings.items.values(), key=lambda f: (f.severity != ERROR, f.pc, f.other_pc)
        )
        return Result(
            outputs=launch.outputs(self.plan, self.memory),
            counts=dict(counts.most_common()),
            findings=findings,
            bank_conflicts=bank_report(self.code.program, self.accesses),
            tensor_operations=self.tensor,
            instructions=self.executed,
            workgroups=self.done,
            waves=self.plan.waves,
            seconds=seconds,
            mode=self.code.mode.name,
            order=self.order,
            error=error,
        )


def bank_report(
    program: Program, accesses: Mapping[tuple[int, Pattern], int]
) -> list[BankConflicts]:
    """Sum up conflicts by instruction; `accesses` counts (instruction index, pattern)."""
    executed: Counter[int] = Counter()
    extra: dict[int, int | None] = {}
    for (index, pattern), times in accesses.items():
        inst = program.instructions[index]
        executed[index] += times
        cost = _conflicts(program, inst, pattern)
        known = extra.get(index, 0)
        extra[index] = None if cost is None or known is None else known + cost * times
    return [
        BankConflicts(program.instructions[i].address, program.instructions[i].text, n, extra[i])
        for i, n in sorted(executed.items())
    ]


def _conflicts(program: Program, inst: Instruction, pattern: Pattern) -> int | None:
    """Extra cycles of one execution, remembered per pattern and access shape."""
    access = ops_lds.READS.get(inst.mnemonic) or ops_lds.WRITES[inst.mnemonic]
    direction = READ if inst.mnemonic in ops_lds.READS else "write"
    memo = program.cache("conflicts")
    key = (direction, access.addresses, pattern)
    if key not in memo:
        # The two addresses of read2 and write2 are served one after the other.
        size = len(pattern.starts) // access.addresses
        parts = [
            banks.conflicts(
                program.chip,
                direction,
                pattern.starts[i : i + size],
                pattern.unit,
                None if pattern.active is None else pattern.active[i : i + size],
            )
            for i in range(0, len(pattern.starts), size)
        ]
        memo[key] = None if None in parts else sum(p for p in parts if p is not None)
    cost: int | None = memo[key]
    return cost
