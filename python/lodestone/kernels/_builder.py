"""A thin layer over `lodestone.ir`: one method per op that the reference kernels use.

Ops are built in their generic form; what the methods add is the result type where it
follows from the operands, and Python's arithmetic on integers. There is nothing in here
that a kernel of your own could not call, too: `Builder.op` builds any op there is.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeAlias

from lodestone import ir

# Classes of instructions in rocdl.sched.group.barrier.
SCHED_MFMA = 0x008
SCHED_VMEM_READ = 0x020
SCHED_DS_READ = 0x100

# Word 3 of a buffer resource on gfx9: raw bytes, no swizzling, no formats.
RAW_BUFFER_FLAGS = 0x00027000


class Int:
    """An integer SSA value with Python's operators; `//` and `%` are unsigned.

    The other operand is an `Int` of the same type or a Python int, which becomes a
    constant.
    """

    def __init__(self, builder: Builder, value: ir.Value) -> None:
        """Wrap `value`, whose uses `builder` builds."""
        self.builder = builder
        self.value = value

    def _binary(self, name: str, other: IntLike) -> Int:
        builder = self.builder
        rhs = builder.integer(other, str(self.value.type))
        return Int(builder, builder.op(name, (self, rhs), (str(self.value.type),)))

    def __add__(self, other: IntLike) -> Int:
        return self._binary("arith.addi", other)

    def __sub__(self, other: IntLike) -> Int:
        return self._binary("arith.subi", other)

    def __mul__(self, other: IntLike) -> Int:
        return self._binary("arith.muli", other)

    def __floordiv__(self, other: IntLike) -> Int:
        return self._binary("arith.divui", other)

    def __mod__(self, other: IntLike) -> Int:
        return self._binary("arith.remui", other)

    def __and__(self, other: IntLike) -> Int:
        return self._binary("arith.andi", other)

    def __xor__(self, other: IntLike) -> Int:
        return self._binary("arith.xori", other)

    def minimum(self, other: IntLike) -> Int:
        """Return the smaller of two signed numbers."""
        return self._binary("arith.minsi", other)

    def less_than(self, other: IntLike) -> ir.Value:
        """Return an i1: signed less-than."""
        rhs = self.builder.integer(other, str(self.value.type))
        # 2 is arith's CmpIPredicate::slt.
        return self.builder.op("arith.cmpi", (self, rhs), ("i1",), predicate="2 : i64")

    def widen(self) -> Int:
        """Return the i32 as an i64, sign-extended."""
        return Int(self.builder, self.builder.op("arith.extsi", (self,), ("i64",)))


IntLike: TypeAlias = Int | int
Operand: TypeAlias = Int | ir.Value


class Builder:
    """Builds ops at the current `ir.InsertionPoint`, each with the caller's location."""

    def __init__(self) -> None:
        """Use the current `ir.Context`."""
        self._types: dict[str, ir.Type] = {}

    def type(self, text: str) -> ir.Type:
        """Parse a type, once."""
        if text not in self._types:
            self._types[text] = ir.Type.parse(text)
        return self._types[text]

    def operation(
        self,
        name: str,
        operands: Sequence[Operand] = (),
        results: Sequence[str] = (),
        attributes: Mapping[str, str] | None = None,
        regions: int = 0,
    ) -> ir.Operation:
        """Build an op from the text of its result types and attributes."""
        return ir.Operation.create(
            name,
            results=[self.type(text) for text in results],
            operands=[o.value if isinstance(o, Int) else o for o in operands],
            attributes={key: ir.Attribute.parse(text) for key, text in (attributes or {}).items()},
            regions=regions,
            loc=_caller_location(),
        )

    def op(
        self,
        name: str,
        operands: Sequence[Operand] = (),
        results: Sequence[str] = (),
        **attributes: str,
    ) -> ir.Value:
        """Build an op with one result and return that result."""
        return self.operation(name, operands, results, attributes).results[0]

    # Integers ------------------------------------------------------------------

    def integer(self, value: IntLike, type: str = "i32") -> Int:
        """Return `value`; a Python int becomes a constant of `type`."""
        if isinstance(value, Int):
            return value
        return Int(self, self.op("arith.constant", (), (type,), value=f"{value} : {type}"))

    def _index(self, name: str, dimension: str) -> Int:
        index = self.op(name, (), ("index",), dimension=f"#gpu<dim {dimension}>")
        return Int(self, self.op("arith.index_castui", (index,), ("i32",)))

    def thread_id(self, dimension: str) -> Int:
        """Return the thread's number in its workgroup along "x", "y" or "z", as i32."""
        return self._index("gpu.thread_id", dimension)

    def block_id(self, dimension: str) -> Int:
        """Return the workgroup's number in the grid along "x", "y" or "z", as i32."""
        return self._index("gpu.block_id", dimension)

    def uniform(self, value: Int) -> Int:
        """Tell the compiler that all lanes of a wave hold the same i32: it goes to an SGPR."""
        return Int(self, self.op("rocdl.readfirstlane", (value,), ("i32",)))

    def select(self, condition: ir.Value, if_true: Int, if_false: IntLike) -> Int:
        """Return one of two i32."""
        operands = (condition, if_true, self.integer(if_false))
        return Int(self, self.op("arith.select", operands, ("i32",)))

    # Pointers, LDS -------------------------------------------------------------

    def advance(self, pointer: ir.Value, byte_count: IntLike) -> ir.Value:
        """Return `pointer` + `byte_count`; a Python int becomes part of the address mode."""
        pointer_type = str(pointer.type)
        if isinstance(byte_count, int):
            return self.op(
                "llvm.getelementptr",
                (pointer,),
                (pointer_type,),
                elem_type="i8",
                rawConstantIndices=f"array<i32: {byte_count}>",
            )
        return self.op(
            "llvm.getelementptr",
            (pointer, byte_count),
            (pointer_type,),
            elem_type="i8",
            # LLVM::GEPOp::kDynamicIndex
            rawConstantIndices="array<i32: -2147483648>",
        )

    def region(self, name: str, offset: int, size: int) -> ir.Value:
        """Declare `size` bytes at `offset` of the kernel's dynamic LDS; a pointer."""
        return self.op(
            "lds.region",
            (),
            ("!llvm.ptr<3>",),
            region_name=f'"{name}"',
            offset=f"{offset} : i64",
            size=f"{size} : i64",
            align="1024 : i64",
        )

    def static_lds(self, name: str, size: int) -> None:
        """Define a static LDS buffer of `size` bytes; the insertion point is in a gpu.module."""
        self.operation(
            "llvm.mlir.global",
            attributes={
                "global_type": f"!llvm.array<{size} x i8>",
                "sym_name": f'"{name}"',
                "linkage": "#llvm.linkage<internal>",
                "addr_space": "3 : i32",
                "alignment": "1024 : i64",
            },
            regions=1,
        )

    def address_of(self, name: str) -> ir.Value:
        """Return the address of a static LDS buffer."""
        return self.op("llvm.mlir.addressof", (), ("!llvm.ptr<3>",), global_name=f"@{name}")

    def load(self, pointer: ir.Value, type: str, alignment: int) -> ir.Value:
        """Load a value of `type`."""
        return self.op(
            "llvm.load", (pointer,), (type,), alignment=f"{alignment} : i64", ordering="0 : i64"
        )

    # Buffers -------------------------------------------------------------------

    def buffer_resource(self, base: ir.Value, byte_count: Int) -> ir.Value:
        """Describe `byte_count` (i32) bytes of global memory.

        Reads beyond them give zeros and writes are dropped.
        """
        stride, flags = self.integer(0, "i16"), self.integer(RAW_BUFFER_FLAGS)
        operands = (base, stride, byte_count.widen(), flags)
        return self.op("rocdl.make.buffer.rsrc", operands, ("!llvm.ptr<8>",))

    def buffer_load_lds(
        self, resource: ir.Value, lds: ir.Value, lane_offset: Int, wave_offset: Int
    ) -> None:
        """Copy 16 bytes a lane from global memory to LDS, asynchronously.

        Lane i reads at `lane_offset` + `wave_offset` (bytes; the first is range-checked)
        and the wave writes 1024 consecutive bytes from `lds`, lane 0 first.
        """
        zero = self.integer(0)
        operands = (resource, lds, self.integer(16), lane_offset, wave_offset, zero, zero)
        self.operation("rocdl.raw.ptr.buffer.load.lds", operands)

    def buffer_load(self, resource: ir.Value, byte_offset: Int, type: str) -> ir.Value:
        """Load a value of `type` from global memory."""
        zero = self.integer(0)
        return self.op("rocdl.raw.ptr.buffer.load", (resource, byte_offset, zero, zero), (type,))

    def buffer_store(self, value: ir.Value, resource: ir.Value, byte_offset: Int) -> None:
        """Store `value` to global memory."""
        zero = self.integer(0)
        self.operation("rocdl.raw.ptr.buffer.store", (value, resource, byte_offset, zero, zero))

    # Vectors, MFMA -------------------------------------------------------------

    def constant(self, text: str, type: str) -> ir.Value:
        """Return a constant, `text` as in the assembly format (`dense<0.0>`)."""
        return self.op("arith.constant", (), (type,), value=f"{text} : {type}")

    def concatenate(self, low: ir.Value, high: ir.Value, type: str, length: int) -> ir.Value:
        """Return a vector of `length` elements, those of `low` and then those of `high`."""
        mask = ", ".join(map(str, range(length)))
        return self.op("vector.shuffle", (low, high), (type,), mask=f"array<i64: {mask}>")

    def broadcast(self, value: ir.Value, type: str) -> ir.Value:
        """Return a vector of `type` whose elements all are `value`."""
        return self.op("vector.broadcast", (value,), (type,))

    def multiply(self, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
        """Return the product of two floating-point values."""
        return self.op("arith.mulf", (lhs, rhs), (str(lhs.type),))

    def narrow(self, value: ir.Value, type: str) -> ir.Value:
        """Round a floating-point value to a narrower type."""
        return self.op("arith.truncf", (value,), (type,))

    def bitcast(self, value: ir.Value, type: str) -> ir.Value:
        """Return the bits of a vector as another type."""
        return self.op("vector.bitcast", (value,), (type,))

    def mfma_fp8_16x16x128(self, a: ir.Value, b: ir.Value, c: ir.Value) -> ir.Value:
        """Return a b^T + c for two 16x128 fp8 (e4m3) tiles, in f32.

        a, b: vector<8xi32>: 32 values of row lane % 16. Any order of the 128 columns will
        do that is the same in both. c and the result: vector<4xf32>, rows
        4 * (lane // 16) + 0..3 of column lane % 16.
        """
        # The formats (0 = e4m3) of a and b, then a scale's selector and value for each.
        # Scales that are constant 0 mean "unscaled": the instruction without scales.
        zero = self.integer(0)
        operands = (a, b, c, zero, zero, zero, zero, zero, zero)
        name = "rocdl.mfma.scale.f32.16x16x128.f8f6f4"
        return self.op(name, operands, ("vector<4xf32>",))

    # Waiting, scheduling -------------------------------------------------------

    def wait(self, outstanding_loads: int) -> None:
        """Wait until at most so many of the wave's global accesses, and no LDS access, run."""
        counters = {"load": f"{outstanding_loads} : i32", "ds": "0 : i32"}
        self.operation("amdgpu.memory_counter_wait", attributes=counters)

    def barrier(self) -> None:
        """Wait for the workgroup's other waves and for nothing else.

        gpu.barrier would drain every outstanding DMA.
        """
        self.operation("rocdl.s.barrier")

    def schedule_fence(self) -> None:
        """Keep the compiler from moving any instruction over this point."""
        self.operation("rocdl.sched.barrier", attributes={"mask": "0 : i32"})

    def schedule_next(self, mask: int, count: int = 1) -> None:
        """Ask for `count` instructions of a class next, among those since the last fence."""
        group = {"mask": f"{mask} : i32", "size": f"{count} : i32", "groupId": "0 : i32"}
        self.operation("rocdl.sched.group.barrier", attributes=group)

    # Structure -----------------------------------------------------------------

    @contextmanager
    def gpu_module(self, name: str) -> Iterator[None]:
        """Build a gpu.module; the body of the `with` fills it."""
        module = self.operation("gpu.module", attributes={"sym_name": f'"{name}"'}, regions=1)
        with ir.InsertionPoint(module.regions[0].blocks.append()):
            yield

    @contextmanager
    def kernel(
        self,
        name: str,
        arguments: Sequence[str],
        block: tuple[int, int, int],
        noalias: Sequence[int] = (),
    ) -> Iterator[list[ir.Value]]:
        """Build a kernel of one workgroup a compute unit; the `with` gets its arguments.

        The known block size gives the thread ids their ranges, without which no LDS
        address is bounded. One wave per SIMD leaves it all 512 registers. What the arguments
        numbered in `noalias` point to is accessed through no other argument.
        """
        threads = block[0] * block[1] * block[2]
        argument_attributes = [
            "{llvm.noalias}" if number in noalias else "{}" for number in range(len(arguments))
        ]
        function = self.operation(
            "gpu.func",
            attributes={
                "sym_name": f'"{name}"',
                "function_type": f"({', '.join(arguments)}) -> ()",
                "gpu.kernel": "unit",
                "arg_attrs": f"[{', '.join(argument_attributes)}]",
                "workgroup_attributions": "0 : i64",
                "known_block_size": f"array<i32: {', '.join(map(str, block))}>",
                "rocdl.flat_work_group_size": f'"{threads},{threads}"',
                "rocdl.waves_per_eu": "1 : i32",
            },
            regions=1,
        )
        entry = function.regions[0].blocks.append(*(self.type(text) for text in arguments))
        with ir.InsertionPoint(entry):
            yield list(entry.arguments)
            self.operation("gpu.return")

    def loop(
        self,
        count: int,
        initial: Sequence[ir.Value],
        body: Callable[[Int, list[ir.Value]], Sequence[ir.Value]],
    ) -> list[ir.Value]:
        """Run `body` for i = 0..count-1; it takes i (i32) and values and returns the next."""
        bounds = (self.integer(0), self.integer(count), self.integer(1))
        types = [str(value.type) for value in initial]
        loop = self.operation("scf.for", (*bounds, *initial), types, regions=1)
        block = loop.regions[0].blocks.append(*(self.type(text) for text in ("i32", *types)))
        with ir.InsertionPoint(block):
            induction, *carried = block.arguments
            self.operation("scf.yield", body(Int(self, induction), list(carried)))
        return list(loop.results)


def _caller_location() -> ir.Location:
    """Return the line of the kernel that asked for an op, so that findings can name it."""
    frame = sys._getframe(1)
    # A context manager of this file is entered through contextlib.
    inner = (__file__, contextmanager.__code__.co_filename)
    while frame.f_back is not None and frame.f_code.co_filename in inner:
        frame = frame.f_back
    path = frame.f_code.co_filename
    # The last part alone: code must not depend on where the package is installed.
    return ir.Location.file(path.rsplit("/", 1)[-1], frame.f_lineno, 1)
