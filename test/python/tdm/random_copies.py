"""Random kernels of TDM copies, with what is in LDS and in memory after them.

Loads, gathers, stores and fused loads of any rank, element type, padding, pieces, repetitions,
hints and conditions, at and beyond the ends of their tensors. Some waits let copies be in flight,
and what is done is read behind them. The NumPy model is the sentence in the dialect's
reference: an element of the block is the tensor's at that place, or zero if there is none.
"""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import dataclass, field, replace

import numpy as np
from copies import BYTES, Copy, model, tensor_of
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Places = NDArray[np.int64]
MOST_ELEMENTS = 2048


@dataclass
class Move:
    """One copy and what the clauses of `Copy` don't say.

    Attributes:
        kind: load, gather or store.
        iteration: count, step in memory and step in LDS, in elements.
        rows: the rows of a gather.
        row_bits: of their indices.
        condition: moves only if this is 1; None: always.
        shaped: the memref in LDS has the block's shape; else it is bytes.
        base: where its regions begin in LDS.
    """

    kind: str
    copy: Copy
    iteration: tuple[int, int, int] | None = None
    rows: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    row_bits: int = 16
    condition: int | None = None
    shaped: bool = False
    early: bool = False
    base: int = 0

    @property
    def turns(self) -> int:
        return self.iteration[0] if self.iteration else 1

    @property
    def region_elements(self) -> int:
        """Elements of the region of a piece."""
        step = self.iteration[2] if self.iteration else 0
        return self.copy.piece_bytes // self.copy.element + (self.turns - 1) * step

    def regions(self) -> list[int]:
        """Where the pieces are in LDS."""
        size = -(-self.region_elements * self.copy.element // 16) * 16
        order = [at // self.copy.piece_bytes for at in self.copy.regions()]
        return [self.base + place * size for place in order]

    @property
    def lds_bytes(self) -> int:
        size = -(-self.region_elements * self.copy.element // 16) * 16
        return size * len(self.copy.regions())

    def places(self) -> tuple[Places, Places, NDArray[np.bool_]]:
        """Of each element that is moved, the first byte in LDS and in memory, and if it exists."""
        copy = self.copy
        index = np.indices(copy.block).reshape(len(copy.block), -1)
        at = index + np.array(copy.offsets)[:, None]
        if self.kind == "gather":
            at[0] = self.rows[index[0]]
        inside = (at < np.array(copy.shape)[:, None]).all(axis=0)
        memory = (at * np.array(copy.all_strides)[:, None]).sum(axis=0)
        dimension = copy.partition[0] if copy.partition else 0
        piece = index[dimension] // copy.piece[dimension]
        index[dimension] %= copy.piece[dimension]
        linear = np.ravel_multi_index(tuple(index), copy.piece) * copy.element
        gaps = linear // (4 * copy.padding[0]) * 4 * copy.padding[1] if copy.padding else 0
        lds = np.array(self.regions())[piece] + linear + gaps
        _, global_step, lds_step = self.iteration or (1, 0, 0)
        turn = np.arange(self.turns)[:, None]
        return (
            (lds + turn * lds_step * copy.element).reshape(-1),
            ((memory + turn * global_step) * copy.element).reshape(-1),
            np.tile(inside, self.turns),
        )

    @property
    def tensor_bytes(self) -> int:
        """Bytes of the array that the tensor is in, with all repetitions."""
        last = sum((n - 1) * s for n, s in zip(self.copy.shape, self.copy.all_strides, strict=True))
        steps = (self.turns - 1) * self.iteration[1] if self.iteration else 0
        return (1 + last + steps) * self.copy.element


def legal_hints(copy: Copy, num_warps: int) -> list[int]:
    """The masks that the block can be divided among."""
    hints = []
    bits = num_warps.bit_length() - 1
    for free, anchor in itertools.product(range(num_warps), repeat=2):
        count = 1 << free.bit_count()
        if free & anchor or (copy.partition and count % copy.partition[1]):
            continue
        alone = replace(copy, hint=None)
        if all(model(alone, count, warp) != [None] for warp in range(count)):
            warps = [anchor | sum(1 << b for b in range(bits) if s >> b & free >> b & 1)
                     for s in range(num_warps)]  # fmt: skip
            hints.append(sum(1 << w for w in set(warps)))
    return hints


def random_copy(pick: random.Random, rank: int, num_warps: int, kind: str) -> Move:
    """A legal copy."""
    dtype = pick.choice(sorted(BYTES))
    while True:
        block = tuple(pick.choice([1, 2, 3, 4, 7, 8, 16, 32, 64]) for _ in range(rank))
        if math.prod(block) <= MOST_ELEMENTS:
            break
    shape = tuple(pick.choice([1, n, n + 3, 2 * n, 40]) for n in block)
    offsets = tuple(pick.choice([0, 0, 1, max(0, s - n + 1), s, s + 5])
                    for s, n in zip(shape, block, strict=True))  # fmt: skip
    strides = None
    if pick.random() < 0.4:
        strides = [1]
        for size in reversed(shape[1:]):
            strides.append(strides[-1] * (size + pick.choice([0, 1, 3])))
        strides = tuple(reversed(strides))
    copy = Copy(shape, block, offsets, dtype, strides, dynamic=pick.random() < 0.4)
    if kind != "store" and pick.random() < 0.4:
        copy = replace(copy, padding=(pick.choice([2, 4, 8, 32]), pick.choice([1, 2, 4, 5])))
    move = Move(kind, copy, early=pick.random() < 0.1)
    if kind == "gather":
        move.row_bits = pick.choice([16, 32])
        move.rows = np.array([pick.randrange(shape[0] + 2) for _ in range(block[0])])
        copy = replace(copy, offsets=(0, offsets[1]))
        if copy.padding and block[1] * copy.element % (4 * copy.padding[0]):
            # An instruction must end where the padding starts anew.
            copy = replace(copy, padding=None)
        move.copy = copy
    elif pick.random() < 0.25:
        divided = [(d, p) for d, n in enumerate(block) for p in (2, 3, 4) if n % p == 0]
        if divided and not copy.padding:
            move.copy = copy = replace(copy, partition=pick.choice(divided))
    if kind != "gather" and not copy.partition and rank in (2, 3) and pick.random() < 0.3:
        # In LDS without overlap, and aligned to elements; in memory anywhere.
        size = -(-copy.piece_bytes // copy.element)
        count, step = pick.choice([2, 3, 5]), pick.choice([0, 1, 7, 64])
        if kind == "store":
            # Repetitions don't write the same place.
            step = sum(n * s for n, s in zip(copy.shape, copy.all_strides, strict=True))
        if copy.padding is None or size * copy.element % 4 == 0:
            move.iteration = (count, step, size + pick.choice([0, 0, 16]))
    hints = legal_hints(copy, num_warps)
    if kind == "gather":
        # Whole rows only.
        hints = [h for h in hints if block[0] % h.bit_count() == 0]
    if hints and pick.random() < 0.6:
        move.copy = replace(copy, hint=pick.choice(hints))
    move.shaped = not (copy.padding or move.iteration) and pick.random() < 0.5
    if pick.random() < 0.15:
        move.condition = pick.choice([0, 1])
    return move


@dataclass
class CopyProgram:
    """A random kernel; all of it follows from the seed.

    Attributes:
        steps: what is started, one after the other; several loads are a fused one.
        waits: behind each step, how many may be in flight; None: no wait.
    """

    seed: int

    def __post_init__(self) -> None:
        """Choose everything."""
        pick = random.Random(self.seed)
        self.num_warps = pick.choice([1, 2, 4, 4, 8, 16])
        self.steps: list[list[Move]] = []
        self.waits: list[int | None] = []
        for _ in range(pick.randint(1, 5)):
            kind = pick.choice(["load", "load", "gather", "store", "fused"])
            rank = 2 if kind == "gather" else pick.choice([1, 2, 2, 3, 4, 5])
            step = self._fused(pick, rank) if kind == "fused" else []
            alone = "load" if kind == "fused" else kind
            self.steps.append(step or [random_copy(pick, rank, self.num_warps, alone)])
            self.waits.append(pick.choice([None, 0, 1, 1, 2]))
        at = 0
        for move in self.moves:
            move.base = at
            at += -(-move.lds_bytes // 16) * 16 + pick.choice([0, 16, 48])
        self.lds_bytes = max(at, 16)

    def _fused(self, pick: random.Random, rank: int) -> list[Move]:
        """Loads with disjoint hints; fewer than two if they aren't found."""
        members: list[Move] = []
        used = 0
        for _ in range(12):
            move = random_copy(pick, rank, self.num_warps, "load")
            hint = move.copy.hint
            if hint and not hint & used and len(members) < 4:
                members.append(move)
                used |= hint
        return members if len(members) > 1 else []

    @property
    def moves(self) -> list[Move]:
        return [move for step in self.steps for move in step]

    def read_after(self, step: int) -> list[int]:
        """The moves that are read behind the wait of a step: loads that it finds done."""
        wait = self.waits[step]
        if wait is None:
            return []
        numbers, done = itertools.count(), []
        for n, members in enumerate(self.steps):
            these = [next(numbers) for _ in members]
            # Those that an earlier wait covered have been read.
            if n <= step - wait and not any(
                w is not None and n <= earlier - w for earlier, w in enumerate(self.waits[:step])
            ):
                done += these
        return [n for n in done if self.moves[n].kind != "store"]

    # Text --------------------------------------------------------------------------

    def _move(self, number: int) -> tuple[list[str], list[str], str]:
        """Arguments, code before, and the copy."""
        move = self.moves[number]
        copy = move.copy
        arguments, lines, at, source, memref = tensor_of(copy, number)
        count = move.region_elements
        plain = f"memref<{count}x{copy.dtype}, 3>"
        names, regions = [], move.regions()
        for piece, offset in enumerate(regions):
            names.append(f"%lds{number}_{piece}")
            lines.append(
                f"{names[-1]} = lds.region @r{number}_{piece} offset({offset}) "
                f"size({-(-count * copy.element // 16) * 16}) : {plain}"
            )
        clauses, lds, targets = "", plain, names
        if move.shaped:
            lds = f"memref<{'x'.join(map(str, copy.piece))}x{copy.dtype}, 3>"
            targets = [f"{name}_shaped" for name in names]
            elements = math.prod(copy.piece)
            groups = ", ".join(map(str, range(len(copy.piece))))
            sizes = ", ".join(map(str, copy.piece))
            for name, target in zip(names, targets, strict=True):
                exact = f"memref<{elements}x{copy.dtype}, strided<[1]>, 3>"
                lines += [
                    f"{target}_cut = memref.subview {name}[0] [{elements}] [1] "
                    f": {plain} to {exact}",
                    f"{target}_flat = memref.cast {target}_cut : {exact} "
                    f"to memref<{elements}x{copy.dtype}, 3>",
                    f"{target} = memref.expand_shape {target}_flat [[{groups}]] "
                    f"output_shape [{sizes}] : memref<{elements}x{copy.dtype}, 3> into {lds}",
                ]  # fmt: skip
        else:
            clauses += f" block([{', '.join(map(str, copy.block))}])"
        if move.condition is not None:
            arguments.append(f"%flag{number}: i32")
            lines.append(f"%p{number} = arith.cmpi ne, %flag{number}, %zero : i32")
            clauses += f" if %p{number}"
        if copy.padding:
            clauses += f" padding(<interval = {copy.padding[0]}, amount = {copy.padding[1]}>)"
        if copy.partition:
            clauses += f" partition({copy.partition[0]})"
        if move.iteration:
            count, global_step, lds_step = move.iteration
            clauses += (f" iterate(<count = {count}, global_step = {global_step}, "
                        f"lds_step = {lds_step}>)")  # fmt: skip
        if copy.hint is not None:
            clauses += f" hint({copy.hint:#x} : i32)"
        if move.early:
            clauses += " early_timeout"
        blocks, types = ", ".join(targets), ", ".join([lds] * len(targets))
        memrefs = f"{memref} to {types}"
        if move.kind == "store":
            text = f"tdm.store {blocks} to {source}[{at}]{clauses} : {types} to {memref}"
        elif move.kind == "gather":
            vector = f"vector<{len(move.rows)}xi{move.row_bits}>"
            rows = f"memref<{len(move.rows)}xi{move.row_bits}>"
            arguments.append(f"%rows{number}_: {rows}")
            lines.append(f"%rows{number} = vector.load %rows{number}_[%c0] : {rows}, {vector}")
            column = at.split(", ")[1]
            text = (f"tdm.gather {source}[{column}] rows(%rows{number} : {vector}) "
                    f"to {blocks}{clauses} : {memrefs}")  # fmt: skip
        else:
            text = f"tdm.load {source}[{at}] to {blocks}{clauses} : {memrefs}"
        return arguments, lines, text

    def _read(self, number: int) -> list[str]:
        """Write the regions of a move to memory."""
        move = self.moves[number]
        count, dtype = move.region_elements, move.copy.dtype
        lines: list[str] = []
        for piece in range(len(move.regions())):
            lds = f"memref<{count}x{dtype}, 3>"
            out = f"memref<{count}x{dtype}>"
            lines += [f"%n{number}_{piece} = arith.constant {count} : index",
                      f"scf.for %j = %t to %n{number}_{piece} step %threads {{",
                      f"%x = memref.load %lds{number}_{piece}[%j] : {lds}",
                      f"memref.store %x, %read{number}_{piece}[%j] : {out}", "}"]  # fmt: skip
        return lines

    def text(self) -> str:
        """The kernel: fills LDS, starts the copies, reads what is done, and writes LDS out."""
        words = self.lds_bytes // 4
        arguments, before, copies = [], [], []
        for number in range(len(self.moves)):
            more, lines, copy = self._move(number)
            arguments += more
            before += lines
            copies.append(copy)
        body: list[str] = []
        numbers = itertools.count()
        for step, members in enumerate(self.steps):
            these = [copies[next(numbers)] for _ in members]
            body += these if len(these) == 1 else ["tdm.fused_load {", *these, "}"]
            wait = self.waits[step]
            if wait is not None:
                body += [f"tdm.wait {wait}", "gpu.barrier"]
            for number in self.read_after(step):
                move = self.moves[number]
                arguments += [f"%read{number}_{p}: memref<{move.region_elements}x{move.copy.dtype}>"
                              for p in range(len(move.regions()))]  # fmt: skip
                body += self._read(number)
        regions = [f"@r{n}_{p}" for n, move in enumerate(self.moves)
                   for p in range(len(move.regions()))]  # fmt: skip
        raw = f"memref<{words}xi32, 3>"
        newline = "\n    "
        return f"""
gpu.module @m {{
  gpu.func @k({", ".join([*arguments, f"%image: memref<{words}xi32>"])}) kernel
      attributes {{known_block_size = array<i32: {32 * self.num_warps}, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    %threads = arith.constant {32 * self.num_warps} : index
    %words = arith.constant {words} : index
    %factor = arith.constant {FACTOR} : i32
    %t = gpu.thread_id x
    {newline.join(before)}
    %raw = lds.region @raw offset(0) overlays {", ".join(regions)} : {raw}
    scf.for %j = %t to %words step %threads {{
      %i = arith.index_cast %j : index to i32
      %x = arith.muli %i, %factor : i32
      memref.store %x, %raw[%j] : {raw}
    }}
    gpu.barrier
    {newline.join(body)}
    tdm.wait 0
    gpu.barrier
    scf.for %j = %t to %words step %threads {{
      %x = memref.load %raw[%j] : {raw}
      memref.store %x, %image[%j] : memref<{words}xi32>
    }}
    gpu.return
  }}
}}
"""

    # Numbers -----------------------------------------------------------------------

    def arguments(self) -> list[object]:
        """What the kernel is launched with; tensors are random bytes."""
        values: list[object] = []
        for number, move in enumerate(self.moves):
            values.append(self.tensor(number))
            if move.copy.dynamic:
                values += [np.int64(n) for n in (*move.copy.shape, *move.copy.offsets)]
            if move.condition is not None:
                values.append(np.int32(move.condition))
            if move.kind == "gather":
                values.append(move.rows.astype(f"uint{move.row_bits}"))
        for step in range(len(self.steps)):
            for number in self.read_after(step):
                move = self.moves[number]
                size = move.region_elements * move.copy.element
                values += [np.zeros(size, np.uint8) for _ in move.regions()]
        return [*values, np.zeros(self.lds_bytes, np.uint8)]

    def tensor(self, number: int) -> Bytes:
        """The array that the tensor of a move is in."""
        size = self.moves[number].tensor_bytes
        return np.random.default_rng([self.seed, number]).integers(1, 256, size, np.uint8)

    def expected(self) -> list[Bytes]:
        """All arrays that the kernel may write, as arguments has them, in order."""
        words = np.arange(self.lds_bytes // 4, dtype=np.uint32) * np.uint32(FACTOR)
        lds = words.view(np.uint8).copy()
        tensors = []
        for number, move in enumerate(self.moves):
            tensor = self.tensor(number)
            at, memory, inside = move.places()
            byte = np.arange(move.copy.element)
            if move.condition != 0 and move.kind == "store":
                tensor[memory[inside][:, None] + byte] = lds[at[inside][:, None] + byte]
            elif move.condition != 0:
                lds[at[:, None] + byte] = 0
                lds[at[inside][:, None] + byte] = tensor[memory[inside][:, None] + byte]
            tensors.append(tensor)
        reads = []
        for step in range(len(self.steps)):
            for number in self.read_after(step):
                move = self.moves[number]
                size = move.region_elements * move.copy.element
                reads += [lds[at : at + size] for at in move.regions()]
        return [*tensors, *reads, lds]


# Of the pattern that LDS holds before.
FACTOR = 0x1E3779B1
