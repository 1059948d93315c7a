"""A run in progress: executes workgroups, here or in several processes, and adds up the parts."""

from __future__ import annotations

import multiprocessing
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from . import banks, launch, ops_lds
from .asm import Instruction, Program
from .checks import Finding, Findings
from .cluster import Cluster
from .counters import READ, WRITE
from .decode import Code
from .errors import ExecutionError
from .lds import Pattern
from .memory import Memory
from .modes import Order
from .workgroup import Workgroup

FindingKey = tuple[str, int, int]


@dataclass
class Part:
    """What some workgroups did; parts add up.

    Attributes:
        counts: executions per mnemonic.
        lds: instruction index -> [executions, cycles lost to conflicts, executions of accesses
            whose phases aren't published].
        tensor: (pc, text, workgroup, wave, descriptor groups) per TDM instruction.
        error: why it stopped, or "".
    """

    executed: int = 0
    done: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    findings: dict[FindingKey, Finding] = field(default_factory=dict)
    lds: dict[int, list[int]] = field(default_factory=dict)
    tensor: list[tuple[int, str, int, int, list[list[int]]]] = field(default_factory=list)
    error: str = ""

    def add(self, other: Part) -> None:
        """Take in `other`."""
        self.executed += other.executed
        self.done += other.done
        self.counts += other.counts
        for key, finding in other.findings.items():
            if key in self.findings:
                self.findings[key].count += finding.count
            else:
                self.findings[key] = finding
        add_lds(self.lds, other.lds)
        self.tensor += other.tensor
        self.error = self.error or other.error


@dataclass
class Session:
    """One run: the launch, its memory, and how to execute."""

    plan: launch.Launch
    memory: Memory
    code: Code
    order: Order
    limit: int

    @property
    def workgroups(self) -> int:
        """How many workgroups the grid has."""
        return self.plan.grid[0] * self.plan.grid[1] * self.plan.grid[2]

    @property
    def clusters(self) -> int:
        """How many clusters the grid has; a workgroup by itself counts as one."""
        sizes = self.plan.cluster
        return self.workgroups // (sizes[0] * sizes[1] * sizes[2])

    def execute(
        self, numbers: Iterable[int], progress: Callable[[int, int], None] | None = None
    ) -> Part:
        """Run the clusters `numbers`, one after the other; a workgroup by itself is one, too.

        Raises:
            ExecutionError: as `run`; the part that was done is its attribute `part`.
        """
        plan, part = self.plan, Part()
        entry = plan.program.at_address.get(plan.kernel.entry)
        if entry is None:
            raise ExecutionError(f"kernel entry {plan.kernel.entry:#x} is no instruction")
        for block in self.code.blocks.values():
            block.hits = 0
        findings = Findings()
        accesses: Counter[tuple[int, Pattern]] = Counter()
        try:
            with np.errstate(all="ignore"):
                for number in numbers:
                    self._cluster(number, entry, part, findings, accesses)
                    if progress is not None:
                        progress(part.done, self.workgroups)
        except ExecutionError as error:
            error.part = part
            raise
        finally:
            part.findings = findings.items
            part.counts = self._counts()
        return part

    def _cluster(
        self,
        number: int,
        entry: int,
        part: Part,
        findings: Findings,
        accesses: Counter[tuple[int, Pattern]],
    ) -> None:
        groups = [self._workgroup(place, findings, accesses) for place in self._places(number)]
        try:
            part.executed += Cluster(groups).run(entry, self.order, self.limit - part.executed)
        finally:
            # Summed up here, so that patterns don't pile up over a large grid.
            add_lds(part.lds, lds_costs(self.plan.program, accesses))
            accesses.clear()
        part.done += len(groups)
        for group in groups:
            part.tensor += [
                (pc, text, group.number, wave, words)
                for pc, text, wave, words in group.tensor_operations
            ]

    def _places(self, number: int) -> list[launch.Dim3]:
        """Positions in the grid of the workgroups of cluster `number`, x first."""
        sizes = self.plan.cluster
        counts = [g // c for g, c in zip(self.plan.grid, sizes, strict=True)]
        first = _position(number, counts)
        inside = (_position(i, sizes) for i in range(sizes[0] * sizes[1] * sizes[2]))
        return [
            (first[0] * sizes[0] + x, first[1] * sizes[1] + y, first[2] * sizes[2] + z)
            for x, y, z in inside
        ]

    def _workgroup(
        self, place: launch.Dim3, findings: Findings, accesses: Counter[tuple[int, Pattern]]
    ) -> Workgroup:
        plan = self.plan
        descriptor = plan.kernel.descriptor
        group = Workgroup(
            self.code,
            self.memory,
            plan.lds_size,
            plan.waves,
            scratch_bytes=descriptor.private_segment_size,
            fp16_overflow=descriptor.fp16_overflow,
            findings=findings,
            number=place[0] + plan.grid[0] * (place[1] + plan.grid[1] * place[2]),
        )
        group.checker.accesses = accesses
        launch.set_registers(group, plan, self.memory, place)
        return group

    def _counts(self) -> Counter[str]:
        counts: Counter[str] = Counter()
        for block in self.code.blocks.values():
            if block.hits:
                for name, times in block.mnemonics.items():
                    counts[name] += times * block.hits
        return counts

    def execute_parallel(
        self, workers: int, progress: Callable[[int, int], None] | None = None
    ) -> Part:
        """Run all workgroups in forked processes that share the memory.

        Workgroups must be independent of each other, as they must be on hardware.
        """
        total = Part()
        slices = [range(i, self.clusters, workers) for i in range(workers)]
        global _forked
        _forked = self
        try:
            with multiprocessing.get_context("fork").Pool(workers) as pool:
                for part in pool.imap_unordered(_execute_slice, slices):
                    total.add(part)
                    if progress is not None:
                        progress(total.done, self.workgroups)
        finally:
            _forked = None
        if total.error:
            stopped = ExecutionError(total.error)
            stopped.part = total
            raise stopped
        return total


def _position(number: int, sizes: Sequence[int]) -> launch.Dim3:
    """A running number, x first -> position."""
    return number % sizes[0], number // sizes[0] % sizes[1], number // sizes[0] // sizes[1]


def add_lds(total: dict[int, list[int]], more: dict[int, list[int]]) -> None:
    """Add LDS costs by instruction; see `Part.lds`."""
    for index, numbers in more.items():
        sums = total.setdefault(index, [0, 0, 0])
        for i, number in enumerate(numbers):
            sums[i] += number


# What forked workers work on; closures can't be sent to them.
_forked: Session | None = None


def _execute_slice(numbers: range) -> Part:
    assert _forked is not None
    try:
        return _forked.execute(numbers)
    except ExecutionError as error:
        part: Part = error.part or Part()
        part.error = str(error)
        return part


def lds_costs(program: Program, accesses: Counter[tuple[int, Pattern]]) -> dict[int, list[int]]:
    """Sum up LDS accesses by instruction; see `Part.lds`."""
    costs: dict[int, list[int]] = {}
    for (index, pattern), times in accesses.items():
        total = costs.setdefault(index, [0, 0, 0])
        cost = _conflicts(program.instructions[index], pattern)
        total[0] += times
        if cost is None:
            total[2] += times
        else:
            total[1] += cost * times
    return costs


def _conflicts(inst: Instruction, pattern: Pattern) -> int | None:
    """Extra cycles of one execution; the pattern remembers it by the shape of the access."""
    access = ops_lds.READS.get(inst.mnemonic) or ops_lds.WRITES[inst.mnemonic]
    direction = READ if inst.mnemonic in ops_lds.READS else WRITE
    key = (direction, access.addresses)
    if key not in pattern.conflicts:
        # The two addresses of read2 and write2 are served one after the other.
        size = len(pattern.starts) // access.addresses
        parts = [
            banks.conflicts(
                inst.chip,
                direction,
                pattern.starts[i : i + size],
                pattern.unit,
                None if pattern.active is None else pattern.active[i : i + size],
            )
            for i in range(0, len(pattern.starts), size)
        ]
        known = [part for part in parts if part is not None]
        pattern.conflicts[key] = sum(known) if len(known) == len(parts) else None
    return pattern.conflicts[key]
