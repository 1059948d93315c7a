"""Kernels whose LDS addresses are computed in many ways, and what these addresses are.

Each way to compute an address has a text and a Python function of the same meaning, so tests can
compare what the compiler claims or makes with what the kernel means.
"""

from __future__ import annotations

from dataclasses import dataclass, field

MODULUS = 2**32
BASE = 0x1000  # Where dynamic LDS starts; any number that its alignment divides.
LANES = 64

# One way to make an address from an address, as (text, function). The function maps an
# address and the environment (lane, unknown number, flag, iteration) to an address.
Environment = dict[str, int]


@dataclass
class Kernel:
    """The text of a kernel, and its accesses as functions of the environment."""

    lines: list[str] = field(default_factory=list)
    values: int = 0
    # For each memory operation in order: is it a DMA, the address, its bytes.
    accesses: list[tuple[bool, object, int]] = field(default_factory=list)

    def value(self, text: str) -> str:
        """Emits an operation with a result; returns its name."""
        name = f"%v{self.values}"
        self.values += 1
        self.lines.append(f"{name} = {text}")
        return name


def apply_step(kernel: Kernel, pointer: str, address, step, uniform: bool):
    """Emits one address computation; returns the new pointer and address function."""
    kind, amount = step
    i32 = lambda n: kernel.value(f"llvm.mlir.constant({n} : i32) : i32")  # noqa: E731

    def through_integers(op: str, operand: int, width: int = 32) -> str:
        constant = kernel.value(f"llvm.mlir.constant({operand} : i{width}) : i{width}")
        integer = kernel.value(f"llvm.ptrtoint {pointer} : !llvm.ptr<3> to i{width}")
        result = kernel.value(f"llvm.{op} {integer}, {constant} : i{width}")
        return kernel.value(f"llvm.inttoptr {result} : i{width} to !llvm.ptr<3>")

    def index(number: str, stride: int) -> str:
        return kernel.value(
            f"llvm.getelementptr {pointer}[{number}] "
            f": (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<{stride} x i8>"
        )

    if kind == "gep":
        text = f"llvm.getelementptr {pointer}[{amount}] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8"
        return kernel.value(text), lambda e: address(e) + amount
    if kind == "gep-pointers":
        text = (
            f"llvm.getelementptr {pointer}[{amount}] : (!llvm.ptr<3>) -> !llvm.ptr<3>, !llvm.ptr<3>"
        )
        return kernel.value(text), lambda e: address(e) + 4 * amount
    if kind == "add":
        return through_integers("add", amount), lambda e: address(e) + amount
    if kind == "add64":
        return through_integers("add", amount, 64), lambda e: address(e) + amount
    if kind == "sub":
        return through_integers("sub", amount), lambda e: address(e) - amount
    if kind == "round":
        mask = -(1 << (amount % 12))
        return through_integers("and", mask), lambda e: (address(e) % MODULUS) & mask
    if kind == "select":
        other = kernel.value(
            f"llvm.getelementptr {pointer}[{amount}] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8"
        )
        text = f"llvm.select %flag, {other}, {pointer} : i1, !llvm.ptr<3>"
        return kernel.value(text), lambda e: address(e) + amount * e["flag"]
    if kind == "unknown":
        bits = amount % 8
        masked = kernel.value(f"llvm.and %any, {i32((1 << bits) - 1)} : i32")
        return index(masked, 16), lambda e: address(e) + 16 * (e["any"] & ((1 << bits) - 1))
    if kind == "remainder":
        modulus = amount % 7 + 1
        rest = kernel.value(f"llvm.urem %any, {i32(modulus)} : i32")
        return index(rest, 512), lambda e: address(e) + 512 * (e["any"] % modulus)
    if kind == "counter":
        return index("%i", 256), lambda e: address(e) + 256 * e["i"]
    if kind == "lane" and not uniform:
        return index("%lane", 4), lambda e: address(e) + 4 * e["lane"]
    if kind == "narrow":
        cut = kernel.value("llvm.trunc %any : i32 to i8")
        wide = kernel.value(f"llvm.sext {cut} : i8 to i32")
        return index(wide, 4), lambda e: address(e) + 4 * ((e["any"] + 128) % 256 - 128)
    return pointer, address


def build(ops, trips: int) -> tuple[str, Kernel]:
    """A module with one kernel: all operations in the body of a loop of `trips` rounds."""
    kernel = Kernel()
    for is_dma, chain, size in ops:
        pointer, address = "%lds", lambda e: BASE
        for step in chain:
            pointer, address = apply_step(kernel, pointer, address, step, is_dma)
        if is_dma:
            size = kernel_size = 4 if size == 1 else size
            constant = kernel.value(f"llvm.mlir.constant({kernel_size} : i32) : i32")
            kernel.lines.append(
                f"rocdl.raw.ptr.buffer.load.lds %src, {pointer}, {constant}, %c0, %c0, %c0, %c0"
            )
        else:
            kind = "i8" if size == 1 else "i32" if size == 4 else f"vector<{size // 4}xi32>"
            kernel.value(f"llvm.load volatile {pointer} : !llvm.ptr<3> -> {kind}")
        kernel.accesses.append((is_dma, address, size))
    body = "\n".join(f"    {line}" for line in kernel.lines)
    text = f"""gpu.module @m [#rocdl.target<chip = "gfx950">] {{
  llvm.mlir.global external @lds() {{addr_space = 3 : i32, alignment = 1024 : i64}}
    : !llvm.array<0 x i8>
  llvm.func @k(%src: !llvm.ptr<8>, %any: i32, %flag: i1)
      attributes {{rocdl.kernel, rocdl.reqd_work_group_size = array<i32: {LANES}, 1, 1>}} {{
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %trips = llvm.mlir.constant({trips} : i32) : i32
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %lane = rocdl.workitem.id.x : i32
    llvm.br ^header(%c0 : i32)
  ^header(%i: i32):
    %more = llvm.icmp "slt" %i, %trips : i32
    llvm.cond_br %more, ^body, ^exit
  ^body:
{body}
    %next = llvm.add %i, %c1 : i32
    llvm.br ^header(%next : i32)
  ^exit:
    llvm.return
  }}
}}
"""
    return text, kernel
