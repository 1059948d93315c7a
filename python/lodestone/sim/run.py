"""`run`: execute a kernel on a grid and report what happened."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from . import asm, launch, modes
from .asm import Program
from .checks import ERROR, WARNING, Finding
from .decode import Code
from .errors import ExecutionError, LaunchError, SimulationError
from .session import Part, Session
from .wave import Array

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
    cluster: int | Sequence[int] | None = None,
    args: Sequence[Any] | Mapping[str, Any] = (),
    mode: str = "E",
    order: modes.Order = "forward",
    dynamic_lds: int = 0,
    chip: str | None = None,
    name: str | None = None,
    max_instructions: int = DEFAULT_LIMIT,
    check: bool = True,
    progress: Callable[[int, int], None] | None = None,
    workers: int = 1,
) -> Result:
    """Execute a kernel.

    Args:
        kernel: bytes of a code object, path of one or of a `.s` file, assembly text, or what
            `load` returned.
        grid: number of workgroups, up to three dimensions.
        block: work items per workgroup; the metadata's required size by default.
        cluster: workgroups per cluster (gfx1250); the metadata's by default, or one.
        args: one value per argument of the kernel, in order or by name: a NumPy array for a
            pointer (any dtype, also of ml_dtypes), a number or NumPy scalar otherwise; of a
            pointer to LDS, the byte offset there.
        mode: E, R or W (see `modes`).
        order: `forward`, `reverse` or a seed: in which order the waves run between barriers.
        dynamic_lds: bytes of dynamic LDS.
        chip: needed for assembly text without a target line; checked otherwise.
        name: kernel, when there are several.
        max_instructions: limit for the whole run.
        check: raise when the kernel stops with an error; otherwise report it in the result.
        progress: called with (workgroups done, workgroups in all).
        workers: processes to spread the workgroups over.

    Raises:
        CodeObjectError, LaunchError: bad input.
        UnsupportedInstruction: an instruction without semantics here was reached.
        ExecutionError: access outside of all buffers, endless loop, ...
    """
    program = kernel if isinstance(kernel, Program) else asm.load(kernel, chip)
    if isinstance(kernel, Program) and chip not in (None, program.chip):
        raise SimulationError(f"program is for {program.chip}, not {chip}")
    plan = launch.prepare(
        program,
        name=name,
        grid=grid,
        block=block,
        args=args,
        dynamic_lds=dynamic_lds,
        cluster=cluster,
    )
    launch.check_float_mode(plan.kernel)
    chosen = modes.mode_named(mode)
    next(modes.wave_orders(order, 1))
    if workers < 1:
        raise LaunchError(f"workers is {workers}, must be at least 1")
    code: Code = program.compiled.setdefault(chosen.name, Code(program, chosen))
    memory = launch.build_memory(plan, shared=workers > 1)
    session = Session(plan, memory, code, order, max_instructions)
    start = time.perf_counter()
    error = ""
    try:
        if workers > 1:
            part = session.execute_parallel(min(workers, session.clusters), progress)
        else:
            part = session.execute(range(session.clusters), progress)
    except ExecutionError as stopped:
        if check:
            raise
        part, error = stopped.part or Part(), str(stopped)
    return _result(session, part, time.perf_counter() - start, error)


def _result(session: Session, part: Part, seconds: float, error: str) -> Result:
    instructions = session.plan.program.instructions
    return Result(
        outputs=launch.outputs(session.plan, session.memory),
        counts=dict(part.counts.most_common()),
        findings=sorted(
            part.findings.values(), key=lambda f: (f.severity != ERROR, f.pc, f.other_pc)
        ),
        bank_conflicts=[
            BankConflicts(
                instructions[i].address, instructions[i].text, n, None if unknown else extra
            )
            for i, (n, extra, unknown) in sorted(part.lds.items())
        ],
        tensor_operations=[TensorOperation(*fields) for fields in part.tensor],
        instructions=part.executed,
        workgroups=part.done,
        waves=session.plan.waves,
        seconds=seconds,
        mode=session.code.mode.name,
        order=session.order,
        error=error,
    )
