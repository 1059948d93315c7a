"""Generates software-pipelined kernels: DMAs run `distance` buffers ahead of the reads.

The buffers form a ring. In round i the kernel issues the DMA into buffer i + distance and
then reads buffer i, so a wait that is exact leaves `distance` DMAs outstanding. One
module holds a kernel `n<buffers>_d<distance>` for each combination.
"""

import argparse

SIZE = 1024  # Bytes a buffer; a DMA fills 256 of them, one dword a lane.
FORMS = ("one-global", "separate-globals", "one-static", "statics")


class Kernel:
    """The text of one kernel."""

    def __init__(self, form: str, shape: str, buffers: int, distance: int) -> None:
        """A ring of `buffers`, whose DMAs run `distance` ahead."""
        self.form, self.shape = form, shape
        self.buffers, self.distance = buffers, distance
        self.name = f"n{buffers}_d{distance}"
        self.lines: list[str] = []
        self.issued = 0

    def globals(self) -> list[str]:
        """The LDS globals of this kernel, in its form."""

        def declare(name: str, size: int, linkage: str) -> str:
            return (
                f"llvm.mlir.global {linkage} @{self.name}_{name}() "
                f"{{addr_space = 3 : i32, alignment = 1024 : i64}} : !llvm.array<{size} x i8>"
            )

        if self.form == "one-global":
            return [declare("lds", 0, "external")]
        if self.form == "separate-globals":
            return [declare(f"lds{i}", 0, "external") for i in range(self.buffers)]
        if self.form == "one-static":
            return [declare("lds", SIZE * self.buffers, "internal")]
        return [declare(f"lds{i}", SIZE, "internal") for i in range(self.buffers)]

    def emit(self, line: str) -> None:
        """Appends a line to the body."""
        self.lines.append(f"    {line}")

    def buffer_addresses(self) -> None:
        """Defines %b<i>, where buffer i starts, and %p<i>, the lane's dword in it."""
        for i in range(self.buffers):
            name = "lds" if self.form.startswith("one-") else f"lds{i}"
            # All external [0 x i8] globals name the same memory, hence the offset.
            offset = 0 if self.form == "statics" else i * SIZE
            self.emit(f"%g{i} = llvm.mlir.addressof @{self.name}_{name} : !llvm.ptr<3>")
            self.emit(
                f"%b{i} = llvm.getelementptr %g{i}[{offset}] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8"
            )
            self.emit(
                f"%p{i} = llvm.getelementptr %b{i}[%lane] "
                ": (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32"
            )

    def dma(self, i: int) -> None:
        """Issues the DMA that fills the buffer of round i."""
        n, self.issued = self.issued, self.issued + 1
        self.emit(f"%s{n} = llvm.mlir.constant({n * 256} : i32) : i32")
        self.emit(
            f"rocdl.raw.ptr.buffer.load.lds %src, %b{i % self.buffers}, "
            f"%c4, %voffset, %s{n}, %c0, %c0"
        )
        self.emit("rocdl.sched.barrier 0")

    def round(self, i: int, total: str) -> str:
        """The DMA ahead and the read of round i; returns the new running total."""
        self.dma(i + self.distance)
        self.emit(f"%v{i} = llvm.load volatile %p{i % self.buffers} : !llvm.ptr<3> -> i32")
        self.emit(f"%t{i} = llvm.add {total}, %v{i} : i32")
        self.emit("rocdl.sched.barrier 0")
        return f"%t{i}"

    def text(self) -> str:
        """The function."""
        self.lines = [
            f"  llvm.func @{self.name}(%src: !llvm.ptr<8>, %out: !llvm.ptr<1>, %rounds: i32) "
            "attributes {rocdl.kernel, gpu.kernel, "
            "rocdl.reqd_work_group_size = array<i32: 64, 1, 1>} {"
        ]
        for value in (0, 1, 4):
            self.emit(f"%c{value} = llvm.mlir.constant({value} : i32) : i32")
        self.emit("%lane = rocdl.workitem.id.x : i32")
        self.emit("%voffset = llvm.mul %lane, %c4 : i32")
        self.buffer_addresses()
        for i in range(self.distance):
            self.dma(i)
        total = "%c0"
        if self.shape == "loop":
            self.emit("llvm.br ^body(%c0, %c0 : i32, i32)")
            self.lines.append("  ^body(%round: i32, %sum: i32):")
            total = "%sum"
        # A loop's body holds as many rounds as there are buffers, so that each DMA and
        # each read has one buffer.
        for i in range(self.buffers * (1 if self.shape == "loop" else 2)):
            total = self.round(i, total)
        if self.shape == "loop":
            self.emit("%next = llvm.add %round, %c1 : i32")
            self.emit('%again = llvm.icmp "slt" %next, %rounds : i32')
            self.emit(f"llvm.cond_br %again, ^body(%next, {total} : i32, i32), ^exit")
            self.lines.append("  ^exit:")
        self.emit(f"llvm.store {total}, %out : i32, !llvm.ptr<1>")
        self.emit("llvm.return")
        self.lines.append("  }")
        return "\n".join(self.lines)


def main() -> None:
    """Prints the module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--form", choices=FORMS, default="one-global")
    parser.add_argument("--shape", choices=("straight", "loop"), default="straight")
    parser.add_argument("--chip", default="gfx950")
    parser.add_argument("--buffers", type=int, nargs="+", default=[2, 4, 8, 12, 16])
    parser.add_argument("--distance", type=int, nargs="+", default=[1, 2, 3, 7])
    args = parser.parse_args()
    kernels = [
        Kernel(args.form, args.shape, n, d) for n in args.buffers for d in args.distance if d < n
    ]
    print("module attributes {gpu.container_module} {")
    print(f'gpu.module @pipeline [#rocdl.target<chip = "{args.chip}">] {{')
    for kernel in kernels:
        print("\n".join(f"  {line}" for line in kernel.globals()))
        print(kernel.text())
    print("}\n}")


if __name__ == "__main__":
    main()
