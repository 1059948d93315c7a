"""Random software-pipelined kernels, with what they must compute.

A ring of LDS buffers is filled by DMAs that run some rounds ahead of the reads. The seed chooses
how many buffers, how far ahead, how wide, how many waves (each has its part of every buffer),
in which LDS globals the buffers are, how pointers to them are made, and what is guarded.
`expected` executes the same operations in program order, one at a time: no compiler or simulator
takes part in it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from random_kernels import LANES, Kernel, apply_step

POISON = 0x7FC0DEAD  # What LDS holds at start.
GLOBALS = ("one-global", "separate-globals", "one-static", "statics")
# unrolled: the body has a round per buffer. rolled: one round, the buffer is the counter modulo
# their number. rotated: one round, pointers go round in the loop's arguments.
SHAPES = ("unrolled", "unrolled", "unrolled", "unrolled", "rolled", "rotated")

Environment = dict[str, int]
Address = Callable[[Environment], int]


@dataclass
class Operation:
    """A DMA or a read, as a function of lane, wave, iteration, flag and the unknown number.

    Attributes:
        words: dwords a lane.
        address: LDS byte address; for a DMA without the lane's share.
        source: for a DMA, the dword in the source that lane 0 of wave 0 loads.
        position: for a read, its number among those of the iteration.
        guard: runs only if the flag has this value; None: always.
    """

    dma: bool
    words: int
    address: Address
    source: Address | None = None
    position: int = 0
    guard: int | None = None


@dataclass
class Pipelined:
    """A random kernel; all of it follows from the seed."""

    seed: int
    kernel: Kernel = field(default_factory=Kernel)
    prologue: list[Operation] = field(default_factory=list)
    body: list[Operation] = field(default_factory=list)
    epilogue: list[Operation] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Choose everything and write the text."""
        pick = self.random = random.Random(self.seed)
        self.chip = pick.choice(["gfx950", "gfx950", "gfx942"])
        self.globals = pick.choice(GLOBALS)
        # Across globals of their own no index reaches.
        self.shape = pick.choice([s for s in SHAPES if s != "rolled" or self.globals != "statics"])
        self.buffers = pick.randint(2, 6)
        self.distance = pick.randint(1, self.buffers - 1)
        self.waves = pick.choice([1, 1, 2])
        self.width = pick.choice([1, 4]) if self.chip == "gfx950" else 1
        self.pieces = pick.choice([1, 1, 2])
        self.trips = pick.randint(1, 3)
        # A DMA that not all paths issue keeps the pass from tagging its buffer's reads.
        self.guarded = pick.random() < 0.35
        self.flag, self.any = pick.randint(0, 1), pick.choice([0, 1, 2, 255])
        self.part = LANES * 4 * self.width * self.pieces  # Bytes of a wave in a buffer.
        self.size = self.waves * self.part + pick.choice([0, 0, 256])
        self.reads = 0
        self.blocks = 0
        self.threads = LANES * self.waves
        self.chunk = self.threads * self.width * self.pieces  # Dwords of a round in the source.
        self.pointers: list[str] | None = None
        rounds = self.buffers if self.shape == "unrolled" else 1
        self.unroll = rounds
        starts = self._starts()
        text_before = self._take(lambda: self._fill_first(starts))
        self.pointers = (
            [f"%ring{i}" for i in range(self.buffers)] if self.shape == "rotated" else None
        )
        body = self._take(lambda: self._rounds(rounds))
        self.body_reads = self.reads
        self.pointers = None
        after = self._take(self._read_rest) if self.shape == "unrolled" else []
        self.text = self._module(text_before, starts, body, after)

    # Emission ----------------------------------------------------------------------

    def _take(self, emit: Callable[[], None]) -> list[str]:
        self.kernel.lines = []
        emit()
        return self.kernel.lines

    def _constant(self, number: int) -> str:
        return self.kernel.value(f"llvm.mlir.constant({number} : i32) : i32")

    def _start(self, buffer: int) -> tuple[str, int]:
        """The global that buffer is in, and its offset there."""
        offset = buffer * self.size
        if self.globals in ("one-global", "one-static"):
            return "lds", offset
        # External [0 x i8] globals all start where dynamic LDS does.
        return f"lds{buffer}", offset if self.globals == "separate-globals" else 0

    def _buffer(self, buffer: int) -> tuple[str, Address]:
        """A pointer to a buffer, made in a random way."""
        name, offset = self._start(buffer)
        pick = self.random
        pointer = self.kernel.value(f"llvm.mlir.addressof @{name} : !llvm.ptr<3>")
        address: Address = lambda e, at=buffer * self.size - offset: at  # noqa: E731
        left = offset
        for _ in range(pick.randint(0, 2)):
            kind = pick.choice(["gep", "add", "add64", "sub"])
            amount = pick.choice([0, 16, 256, 1024])
            pointer, address = apply_step(self.kernel, pointer, address, (kind, amount), True)
            left += amount if kind == "sub" else -amount
        kind = pick.choice(["gep", "add"]) if left >= 0 else "gep"
        return apply_step(self.kernel, pointer, address, (kind, left), True)

    def _starts(self) -> list[str]:
        """Pointers to all buffers, in order; only a rotated ring needs them."""
        names: list[str] = []

        def emit() -> None:
            names.extend(self._buffer(i)[0] for i in range(self.buffers))

        self.start_lines = self._take(emit) if self.shape == "rotated" else []
        return names

    def _ring(self, ahead: int) -> tuple[str, Address]:
        """A pointer to the buffer of the round `ahead` of this one."""
        n = self.buffers
        if self.shape == "unrolled" or not self.in_loop:
            return self._buffer(ahead % n)
        if self.pointers is not None:
            return self.pointers[ahead % n], lambda e: (e["i"] + ahead) % n * self.size
        step = self.kernel.value(f"llvm.add %i, {self._constant(ahead)} : i32")
        index = self.kernel.value(f"llvm.urem {step}, {self._constant(n)} : i32")
        name, _ = self._start(0)
        start = self.kernel.value(f"llvm.mlir.addressof @{name} : !llvm.ptr<3>")
        pointer = self._index(start, index, self.size)
        return pointer, lambda e: (e["i"] + ahead) % n * self.size

    def _index(self, pointer: str, number: str, stride: int) -> str:
        return self.kernel.value(
            f"llvm.getelementptr {pointer}[{number}] "
            f": (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<{stride} x i8>"
        )

    def _guarded(self, emit: Callable[[], Operation], operations: list[Operation]) -> None:
        """Emit an operation, under the flag now and then."""
        guard = self.random.choice([None] * 6 + [0, 1]) if self.guarded else None
        if guard is None:
            operations.append(emit())
            return
        then, join = f"^then{self.blocks}", f"^join{self.blocks}"
        self.blocks += 1
        order = f"{then}, {join}" if guard else f"{join}, {then}"
        self.kernel.lines += [f"llvm.cond_br %flag, {order}", f"{then}:"]
        operation = emit()
        self.kernel.lines += [f"llvm.br {join}", f"{join}:"]
        operation.guard = guard
        operations.append(operation)

    def _dma(self, ahead: int, piece: int) -> Operation:
        """The DMA of a piece of the buffer of the round `ahead` of this iteration's first."""
        pointer, address = self._ring(ahead)
        if self.waves > 1:
            pointer = self._index(pointer, "%wave", self.part)
        offset = piece * LANES * 4 * self.width
        if offset:
            step = (self.random.choice(["gep", "add"]), offset)
            pointer, address = apply_step(self.kernel, pointer, address, step, True)
        if self.random.random() < 0.1:
            # May write this buffer or the next: a pointer with two targets.
            other = -self.size if ahead % self.buffers else self.size
            if self.globals != "statics" and (self.shape == "unrolled" or not self.in_loop):
                pointer, address = apply_step(
                    self.kernel, pointer, address, ("select", other), True
                )
        round_ = self._constant(ahead)
        if self.in_loop:
            rounds = self.kernel.value(f"llvm.mul %i, {self._constant(self.unroll)} : i32")
            round_ = self.kernel.value(f"llvm.add {rounds}, {round_} : i32")
        scale = self._constant(4 * self.chunk)
        start = self.kernel.value(f"llvm.mul {round_}, {scale} : i32")
        offset_in_round = 4 * piece * self.threads * self.width
        start = self.kernel.value(f"llvm.add {start}, {self._constant(offset_in_round)} : i32")
        self.kernel.lines.append(
            f"rocdl.raw.ptr.buffer.load.lds %src, {pointer}, "
            f"{self._constant(4 * self.width)}, %voffset, {start}, %c0, %c0"
        )
        in_loop, first = self.in_loop, offset_in_round // 4
        return Operation(
            True,
            self.width,
            lambda e: address(e) + self.part * e["wave"],
            lambda e: (ahead + (e["i"] * self.unroll if in_loop else 0)) * self.chunk + first,
        )

    def _read(self, ahead: int) -> Operation:
        """A read of this wave's part of a buffer, stored to the output."""
        pick = self.random
        pointer, address = self._ring(ahead)
        if self.waves > 1:
            pointer = self._index(pointer, "%wave", self.part)
        words = pick.choice([1, 1, 2, 4])
        # Lanes read in order, backwards, or all from one place.
        form = pick.choice(["forward", "forward", "backward", "same"])
        stride = 4 * words if self.part >= LANES * 4 * words else 4
        last = (LANES - 1) * stride + 4 * words
        room = self.part - (4 * words if form == "same" else last)
        constant = pick.choice([0, room // 2 // (4 * words) * 4 * words]) if room > 0 else 0
        if room < 0:
            words, constant = 1, 0
        if constant:
            step = (pick.choice(["gep", "add", "add64"]), constant)
            pointer, address = apply_step(self.kernel, pointer, address, step, False)
        sign = {"forward": 1, "backward": -1, "same": 0}[form]
        if form == "forward":
            pointer = self._index(pointer, "%lane", stride)
        elif form == "backward":
            back = self.kernel.value(f"llvm.sub {self._constant(LANES - 1)}, %lane : i32")
            pointer = self._index(pointer, back, stride)
        kind = "i32" if words == 1 else f"vector<{words}xi32>"
        volatile = pick.choice(["", "", "volatile "])
        value = self.kernel.value(f"llvm.load {volatile}{pointer} {{alignment = 4 : i64}} "
                                  f": !llvm.ptr<3> -> {kind}")  # fmt: skip
        position = self.reads
        self.reads += 1
        self._store(value, kind, position)
        first = (LANES - 1) * stride if sign < 0 else 0
        return Operation(
            False,
            words,
            lambda e: address(e) + self.part * e["wave"] + first + sign * stride * e["lane"],
            position=position,
        )

    def _store(self, value: str, kind: str, position: int) -> None:
        """out[iteration, position, thread] = value; every slot has four dwords."""
        if self.in_loop:
            row = self.kernel.value("llvm.mul %i, %row_stride : i32")
        else:
            row = "%rows"
        row = self.kernel.value(f"llvm.add {row}, {self._constant(position)} : i32")
        base = self.kernel.value(f"llvm.mul {row}, {self._constant(self.threads)} : i32")
        slot = self.kernel.value(f"llvm.add {base}, %tid : i32")
        target = self.kernel.value(
            f"llvm.getelementptr %out[{slot}] "
            ": (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, !llvm.array<4 x i32>"
        )
        self.kernel.lines.append(f"llvm.store {value}, {target} : {kind}, !llvm.ptr<1>")

    def _between(self) -> None:
        """Now and then something that keeps the scheduler or a wave back."""
        extra = self.random.choice(["", "", "rocdl.sched.barrier 0", "rocdl.s.barrier"])
        if extra:
            self.kernel.lines.append(extra)

    def _fill_first(self, starts: list[str]) -> None:
        self.in_loop = False
        self.kernel.lines += self.start_lines
        for ahead in range(self.distance):
            for piece in range(self.pieces):
                self._guarded(lambda a=ahead, p=piece: self._dma(a, p), self.prologue)  # type: ignore[misc]
                self._between()

    def _rounds(self, rounds: int) -> None:
        self.in_loop = True
        for round_ in range(rounds):
            for piece in range(self.pieces):
                ahead = round_ + self.distance
                self._guarded(lambda a=ahead, p=piece: self._dma(a, p), self.body)  # type: ignore[misc]
                self._between()
            for _ in range(self.random.randint(1, 2)):
                self._guarded(lambda r=round_: self._read(r), self.body)  # type: ignore[misc]
                self._between()

    def _read_rest(self) -> None:
        self.in_loop = False
        self.reads = 0
        for ahead in range(self.random.randint(0, self.distance)):
            self._guarded(lambda a=ahead: self._read(a), self.epilogue)  # type: ignore[misc]

    def _module(
        self, before: list[str], starts: list[str], body: list[str], after: list[str]
    ) -> str:
        names = {self._start(i)[0] for i in range(self.buffers)}
        external = self.globals in ("one-global", "separate-globals")
        size = 0 if external else self.size * (1 if self.globals == "statics" else self.buffers)
        declared = "\n".join(
            f"  llvm.mlir.global {'external' if external else 'internal'} @{name}() "
            f"{{addr_space = 3 : i32, alignment = 1024 : i64}} : !llvm.array<{size} x i8>"
            for name in sorted(names)
        )
        rotated = self.shape == "rotated"
        ring = [f"%ring{i}" for i in range(self.buffers)] if rotated else []
        types = ", ".join(["i32"] + ["!llvm.ptr<3>"] * len(ring))
        arguments = ", ".join(["%i: i32"] + [f"{name}: !llvm.ptr<3>" for name in ring])
        first = ", ".join(["%c0", *starts])
        following = ", ".join(["%next", *ring[1:], *ring[:1]])
        lines = "\n".join(f"    {line}" for line in before)
        inner = "\n".join(f"    {line}" for line in body)
        last = "\n".join(f"    {line}" for line in after)
        return f"""module attributes {{gpu.container_module}} {{
gpu.module @m [#rocdl.target<chip = "{self.chip}">] {{
{declared}
  llvm.func @k(%base: !llvm.ptr<1>, %out: !llvm.ptr<1>, %any: i32, %flags: i32, %trips: i32)
      attributes {{rocdl.kernel, gpu.kernel,
                   rocdl.reqd_work_group_size = array<i32: {self.threads}, 1, 1>}} {{
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %c6 = llvm.mlir.constant(6 : i32) : i32
    %c63 = llvm.mlir.constant(63 : i32) : i32
    %stride = llvm.mlir.constant(0 : i16) : i16
    %records = llvm.mlir.constant(16777216 : i64) : i64
    %resource_flags = llvm.mlir.constant(159744 : i32) : i32
    %src = rocdl.make.buffer.rsrc %base, %stride, %records, %resource_flags : <1> to <8>
    %flag = llvm.icmp "ne" %flags, %c0 : i32
    %tid = rocdl.workitem.id.x : i32
    %lane = llvm.and %tid, %c63 : i32
    %wave_any = llvm.lshr %tid, %c6 : i32
    %wave = rocdl.readfirstlane %wave_any : i32
    %width = llvm.mlir.constant({4 * self.width} : i32) : i32
    %voffset = llvm.mul %tid, %width : i32
    %row_stride = llvm.mlir.constant({self.body_reads} : i32) : i32
    %rows = llvm.mul %trips, %row_stride : i32
{lines}
    llvm.br ^body({first} : {types})
  ^body({arguments}):
{inner}
    %next = llvm.add %i, %c1 : i32
    %more = llvm.icmp "slt" %next, %trips : i32
    llvm.cond_br %more, ^body({following} : {types}), ^exit
  ^exit:
{last}
    llvm.return
  }}
}}
}}
"""

    # Meaning -----------------------------------------------------------------------

    @property
    def dynamic_lds(self) -> int:
        """Bytes of dynamic LDS of a launch."""
        return self.size * self.buffers if self.globals in GLOBALS[:2] else 0

    def arguments(self) -> list[object]:
        """The launch's arguments; the output is the second."""
        rounds = self.trips * self.unroll + self.distance
        source = np.random.default_rng(self.seed).integers(
            0, 1 << 31, rounds * self.chunk, np.uint32
        )
        rows = self.trips * self.body_reads + len(self.epilogue)
        out = np.zeros((max(rows, 1), self.threads, 4), np.uint32)
        return [source, out, self.any, self.flag, self.trips]

    def _executed(self) -> Iterator[tuple[Operation, int, int]]:
        """The operations in program order, with iteration and row of the output."""
        for operation in self.prologue:
            yield operation, 0, 0
        for i in range(self.trips):
            for operation in self.body:
                yield operation, i, i * self.body_reads + operation.position
        for operation in self.epilogue:
            yield operation, self.trips, self.trips * self.body_reads + operation.position

    def expected(self) -> np.ndarray:
        """What the output must be."""
        source, out = self.arguments()[:2]
        assert isinstance(source, np.ndarray) and isinstance(out, np.ndarray)
        lds = np.full(self.size * self.buffers // 4, POISON, np.uint32)
        for operation, i, row in self._executed():
            if operation.guard not in (None, self.flag):
                continue
            for thread in range(self.threads):
                wave, lane = divmod(thread, LANES)
                e = {"wave": wave, "lane": lane, "i": i, "flag": self.flag, "any": self.any}
                at, n = operation.address(e) // 4, operation.words
                if operation.dma:
                    assert operation.source is not None
                    first = operation.source(e) + thread * n
                    to = at + lane * n
                    lds[to : to + n] = source[first : first + n]
                else:
                    out[row, thread, :n] = lds[at : at + n]
        return out
