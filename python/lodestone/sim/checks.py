"""Findings, and the access-epoch race check for LDS.

Two LDS accesses of different waves are ordered only by a barrier that the first one's wave
reached with that access complete. An epoch is the time between two barriers. An operation is
active in each epoch from its issue to the wait that completes it; a write of one wave that is
active in an epoch in which another wave touches the same bytes is a race. No lucky schedule is
needed to see it. Inside one wave, program order counts, except for loads to LDS, which are
complete only at their wait.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .counters import (
    COMPLETE,
    COUNTER_GFX9,
    COUNTER_GFX12,
    DMA,
    LDS,
    READ,
    SIGNAL,
    TENSOR,
    VMEM,
    WRITE,
    Pending,
)
from .lds import Pattern, overlap

if TYPE_CHECKING:
    from .asm import Instruction
    from .wave import Wave

ERROR, WARNING = "error", "warning"

READ_BEFORE_WAIT = "read-before-wait"
WRITE_BEFORE_WAIT = "write-before-wait"
MISSING_WAIT = "missing-wait"
MISSING_BARRIER = "missing-barrier"
READ_IN_FLIGHT = "read-in-flight"
WRITE_WRITE = "write-write"
REGISTER_BEFORE_WAIT = "register-before-wait"
LDS_OUT_OF_BOUNDS = "lds-out-of-bounds"
MULTICAST_PARTNER = "multicast-partner"
PADDING_IGNORED = "padding-ignored"


@dataclass
class Finding:
    """Something the kernel does that the ISA doesn't allow (error) or promise (warning).

    Attributes:
        kind: one of the constants of this module.
        severity: `error` or `warning`.
        pc, instruction, wave: the access at which it was seen.
        other_pc, other_instruction, other_wave: the access that it races; -1 and "" without.
        low, high: LDS byte interval [low, high); both 0 when LDS has no part in it.
        missing: the wait or barrier that would order the two.
        source: `(file, line)` of the access when there is debug info.
        count: how often it was seen.
    """

    kind: str
    severity: str
    message: str
    pc: int
    instruction: str
    wave: int
    other_pc: int = -1
    other_instruction: str = ""
    other_wave: int = -1
    low: int = 0
    high: int = 0
    missing: str = ""
    source: tuple[str, int] | None = None
    workgroup: int = 0
    count: int = 1

    def __str__(self) -> str:
        """One line: severity, kind, place, message."""
        where = f" at {self.source[0]}:{self.source[1]}" if self.source else ""
        times = f" ({self.count} times)" if self.count > 1 else ""
        return (
            f"{self.severity}: {self.kind}: pc {self.pc:#x} `{self.instruction}`"
            f" wave {self.wave}{where}: {self.message}{times}"
        )


@dataclass
class Findings:
    """Collects findings; the same kind at the same pair of instructions counts as one."""

    items: dict[tuple[str, int, int], Finding] = field(default_factory=dict)
    workgroup: int = 0

    def seen(self, kind: str, at: Instruction, other: Instruction | None = None) -> bool:
        """Count a finding that is already there."""
        found = self.items.get((kind, at.index, other.index if other else -1))
        if found is None:
            return False
        found.count += 1
        return True

    def add(
        self,
        kind: str,
        severity: str,
        message: str,
        wave: int,
        at: Instruction,
        other: Instruction | None = None,
        other_wave: int = -1,
        extent: tuple[int, int] = (0, 0),
        missing: str = "",
    ) -> None:
        """Record a finding at instruction `at` of `wave`."""
        if self.seen(kind, at, other):
            return
        self.items[kind, at.index, other.index if other else -1] = Finding(
            kind=kind,
            severity=severity,
            message=message,
            pc=at.address,
            instruction=at.text,
            wave=wave,
            other_pc=other.address if other else -1,
            other_instruction=other.text if other else "",
            other_wave=other_wave,
            low=extent[0],
            high=extent[1],
            missing=missing,
            source=at.source,
            workgroup=self.workgroup,
        )


class EpochState:
    """What a wave carries from epoch to epoch: its operations in flight."""

    __slots__ = (
        "after_signal",
        "flying",
        "issued_at_barrier",
        "late_reads",
        "read_granules",
        "reads",
        "writes",
    )

    def __init__(self) -> None:
        """Nothing is in flight."""
        self.flying: dict[str, list[Pending]] = {READ: [], WRITE: [], DMA: []}
        self.after_signal: list[Pending] = []
        self.reads: list[Pending] = []
        self.late_reads: list[Pending] = []
        self.writes: list[Pending] = []
        self.issued_at_barrier: dict[str, int] = {}


def _granules(operations: Iterable[Pending]) -> int:
    bits = 0
    for operation in operations:
        assert operation.pattern is not None
        bits |= operation.pattern.granules
    return bits


def _in_order(one: Pending, other: Pending) -> bool:
    """Does hardware keep these two copies of a wave in order?

    Loads to LDS that vmcnt counts, and tensor instructions, are in order among themselves;
    asynchronous loads may write LDS out of order (CDNA5 ISA, 10.8 and 10.11.1).
    """
    return one.queue == other.queue and one.queue in (VMEM, TENSOR)


def _pattern(operation: Pending) -> Pattern:
    assert operation.pattern is not None
    return operation.pattern


class RaceChecker:
    """Checks the LDS accesses of a workgroup, one epoch at a time."""

    def __init__(self, findings: Findings, gfx12: bool) -> None:
        """Report into `findings`."""
        self.findings = findings
        self.epoch = 0
        # (instruction index, pattern) -> executions, for the bank conflict report.
        self.accesses: Counter[tuple[int, Pattern]] = Counter()
        self.counter_names = COUNTER_GFX12 if gfx12 else COUNTER_GFX9
        self.wait_format = "s_wait_{} {}" if gfx12 else "s_waitcnt {}({})"

    def wait_text(self, queue: str, outstanding: int) -> str:
        """The wait instruction that leaves at most `outstanding` operations."""
        return self.wait_format.format(self.counter_names[queue], max(outstanding, 0))

    def close_epoch(self, waves: list[Wave]) -> None:
        """All waves reached the barrier (or the end): check what they did since the last one."""
        for wave in waves:
            self._replay(wave)
        granules = [
            (
                _granules(w.epoch_state.reads),
                _granules(w.epoch_state.late_reads),
                _granules(w.epoch_state.writes),
            )
            for w in waves
        ]
        for writer, (_, _, written) in zip(waves, granules, strict=True):
            if not written:
                continue
            for other, (read, late, other_written) in zip(waves, granules, strict=True):
                if other is writer:
                    continue
                if written & read:
                    self._read_write(writer, other)
                if written & late:
                    self._late_reads(writer, other)
                if written & other_written and writer.index < other.index:
                    self._write_write(writer, other)
        for wave in waves:
            wave.epoch_state.issued_at_barrier = dict(wave.issued)
        self.epoch += 1

    def _replay(self, wave: Wave) -> None:
        """Walk the wave's log in program order; fills its epoch state."""
        state: EpochState = wave.epoch_state
        flying = state.flying
        # What happened between signalling the last barrier and waiting at it is concurrent with
        # what the others did before and after that barrier.
        between, state.after_signal = state.after_signal, []
        state.reads = [o for o in between if o.kind == READ]
        state.late_reads = list(flying[READ])
        state.writes = flying[WRITE] + flying[DMA] + [o for o in between if o.kind != READ]
        signalled = False
        dma_granules = _granules(flying[DMA])
        read_granules = _granules(flying[READ])
        for event, operation, issued in wave.log:
            if event == SIGNAL:
                signalled = True
                continue
            kind = operation.kind
            pattern = operation.pattern
            if signalled:
                state.after_signal.append(operation)
            if event == COMPLETE:
                flying[kind].remove(operation)
                if kind == DMA:
                    dma_granules = _granules(flying[DMA])
                elif kind == READ:
                    read_granules = _granules(flying[READ])
                continue
            operation.epoch = self.epoch
            if operation.queue == LDS:
                self.accesses[operation.instruction.index, pattern] += 1
            flying[kind].append(operation)
            if operation.queue != LDS and flying[WRITE]:
                # Not in order with the wave's LDS instructions.
                what = WRITE_BEFORE_WAIT if kind == DMA else READ_BEFORE_WAIT
                self._own(wave, operation, issued, what, WRITE)
            if kind == READ:
                state.reads.append(operation)
                read_granules |= pattern.granules
                if pattern.granules & dma_granules:
                    self._own(wave, operation, issued, READ_BEFORE_WAIT, DMA)
                continue
            state.writes.append(operation)
            if kind == WRITE:
                if pattern.granules & dma_granules:
                    self._own(wave, operation, issued, WRITE_BEFORE_WAIT, DMA)
                continue
            if pattern.granules & dma_granules:
                self._own(wave, operation, issued, WRITE_BEFORE_WAIT, DMA)
            dma_granules |= pattern.granules
            if pattern.granules & read_granules:
                self._own_late_read(wave, operation)
        wave.log.clear()

    def _own(
        self, wave: Wave, access: Pending, issued: dict[str, int], kind: str, earlier: str
    ) -> None:
        """Report overlaps of `access` with the wave's own writes in flight of kind `earlier`."""
        verb = "reads" if kind == READ_BEFORE_WAIT else "writes"
        for write in wave.epoch_state.flying[earlier]:
            if write is access or _in_order(write, access):
                continue
            if not (extent := overlap(_pattern(access), _pattern(write))):
                continue
            missing = self.wait_text(write.queue, issued[write.queue] - write.sequence - 1)
            self.findings.add(
                kind,
                ERROR,
                f"{verb} LDS bytes {extent[0]}..{extent[1] - 1} that `{write.instruction.text}` "
                f"at pc {write.instruction.address:#x} may not have written yet; needs {missing} "
                f"before",
                wave.index,
                access.instruction,
                write.instruction,
                wave.index,
                extent,
                missing,
            )

    def _own_late_read(self, wave: Wave, dma: Pending) -> None:
        for read in wave.epoch_state.flying[READ]:
            if _in_order(read, dma):
                continue
            if extent := overlap(_pattern(read), _pattern(dma)):
                missing = self.wait_text(read.queue, 0)
                self.findings.add(
                    READ_IN_FLIGHT,
                    WARNING,
                    f"overwrites LDS bytes {extent[0]}..{extent[1] - 1} while the wave's own "
                    f"`{read.instruction.text}` at pc {read.instruction.address:#x} may still be "
                    f"reading them; needs {missing} before",
                    wave.index,
                    dma.instruction,
                    read.instruction,
                    wave.index,
                    extent,
                    missing,
                )

    def _read_write(self, writer: Wave, reader: Wave) -> None:
        state = writer.epoch_state
        wanted = _granules(reader.epoch_state.reads)
        for write in state.writes:
            if not _pattern(write).granules & wanted:
                continue
            for read in reader.epoch_state.reads:
                if not _pattern(write).granules & _pattern(read).granules:
                    continue
                extent = overlap(_pattern(write), _pattern(read))
                if not extent:
                    continue
                carried = write.epoch < self.epoch
                if carried:
                    left = state.issued_at_barrier[write.queue] - write.sequence - 1
                    missing = self.wait_text(write.queue, left)
                    why = (
                        f"that wave passed the barrier before the write was complete; it needs "
                        f"{missing} before the barrier"
                    )
                else:
                    missing = "s_barrier"
                    why = "no barrier lies between the two"
                self.findings.add(
                    MISSING_WAIT if carried else MISSING_BARRIER,
                    ERROR,
                    f"reads LDS bytes {extent[0]}..{extent[1] - 1} that `{write.instruction.text}` "
                    f"at pc {write.instruction.address:#x} of wave {writer.index} writes; {why}",
                    reader.index,
                    read.instruction,
                    write.instruction,
                    writer.index,
                    extent,
                    missing,
                )

    def _late_reads(self, writer: Wave, reader: Wave) -> None:
        for read in reader.epoch_state.late_reads:
            for write in writer.epoch_state.writes:
                # What was already in flight in the read's own epoch is reported there.
                if write.epoch <= read.epoch:
                    continue
                if extent := overlap(_pattern(read), _pattern(write)):
                    left = reader.epoch_state.issued_at_barrier[read.queue] - read.sequence - 1
                    missing = self.wait_text(read.queue, left)
                    self.findings.add(
                        READ_IN_FLIGHT,
                        WARNING,
                        f"overwrites LDS bytes {extent[0]}..{extent[1] - 1} that "
                        f"`{read.instruction.text}` at pc {read.instruction.address:#x} of wave "
                        f"{reader.index} may still be reading: that wave passed the barrier "
                        f"without {missing}",
                        writer.index,
                        write.instruction,
                        read.instruction,
                        reader.index,
                        extent,
                        missing,
                    )

    def _write_write(self, one: Wave, other: Wave) -> None:
        for write in one.epoch_state.writes:
            for second in other.epoch_state.writes:
                if extent := overlap(_pattern(write), _pattern(second)):
                    carried = min(write.epoch, second.epoch) < self.epoch
                    self.findings.add(
                        WRITE_WRITE,
                        ERROR if carried else WARNING,
                        f"writes LDS bytes {extent[0]}..{extent[1] - 1} that "
                        f"`{write.instruction.text}` at pc {write.instruction.address:#x} of wave "
                        f"{one.index} also writes; nothing orders the two",
                        other.index,
                        second.instruction,
                        write.instruction,
                        one.index,
                        extent,
                        "s_barrier",
                    )
