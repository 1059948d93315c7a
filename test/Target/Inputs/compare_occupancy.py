"""Compare the occupancy that Lodestone computes with LLVM's `; Occupancy:`.

Each case is a kernel with inline assembly that takes a number of registers, and a
static array in LDS.
"""

import itertools
import re
import subprocess
import sys

CHIPS = {
    "gfx90a": ((8, 64, 65, 81, 129, 256), (1, 4096, 20480, 65536)),
    "gfx942": ((8, 72, 80, 88, 104, 176), (1, 8192, 40960, 65536)),
    "gfx950": ((8, 72, 96, 128, 129, 256), (1, 16384, 65536, 163840)),
    "gfx1250": ((8, 72, 96, 128, 168, 256), (1, 40960, 98304, 163840)),
}
AGPRS = (0, 32, 256)  # accumulation registers, beside 100 vector registers
SGPRS = (64, 96, 98)


def cases(chip):
    """Yield (vgprs, agprs, sgprs, bytes of LDS, lanes of the workgroup)."""
    vgprs, lds = CHIPS[chip]
    yield from ((v, 0, 8, 0, 256) for v in vgprs)
    yield from ((8, 0, s, 0, 256) for s in SGPRS)
    yield from ((8, 0, 8, b, w) for b, w in itertools.product(lds, (64, 256, 1024)))
    if chip != "gfx1250":
        yield from ((100, a, 8, 0, 256) for a in AGPRS)


def kernel(index, case):
    """The kernel of a case in the LLVM dialect."""
    vgprs, agprs, sgprs, lds, lanes = case
    clobbers = [f"~{{v{vgprs - 1}}}", f"~{{s{sgprs - 1}}}"]
    if agprs:
        clobbers.append(f"~{{a{agprs - 1}}}")
    array = store = ""
    if lds:
        array = (
            f"llvm.mlir.global internal @lds{index}() {{addr_space = 3 : i32}}"
            f" : !llvm.array<{lds} x i8>"
        )
        store = f"""%p = llvm.mlir.addressof @lds{index} : !llvm.ptr<3>
          %zero = llvm.mlir.constant(0 : i8) : i8
          llvm.store volatile %zero, %p : i8, !llvm.ptr<3>"""
    return f"""{array}
      llvm.func @k{index}() attributes {{rocdl.kernel,
          rocdl.flat_work_group_size = "{lanes},{lanes}"}} {{
        llvm.inline_asm has_side_effects "", "{",".join(clobbers)}" : () -> ()
        {store}
        llvm.return
      }}"""


def run(command, text):
    """Return what `command` prints for `text` on its standard input."""
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def main():
    """Compare all cases of the chip in argv[1]; one line each that differs."""
    chip = sys.argv[1]
    table = list(cases(chip))
    body = "\n".join(kernel(i, case) for i, case in enumerate(table))
    source = f"gpu.module @m {{ {body} }}"
    pipeline = f"builtin.module(lodestone-to-binary{{chip={chip} alias-scopes=false}})"
    compiled = run(["lodestone-opt", f"--pass-pipeline={pipeline}"], source)
    ours = dict(re.findall(r'kernel_metadata<"(k\d+)".*?occupancy = (\d+)', compiled))

    llvm_ir = run(["mlir-translate", "--mlir-to-llvmir"], f"module {{ {body} }}")
    assembly = run(["llc", "-mtriple=amdgcn-amd-amdhsa", f"-mcpu={chip}"], llvm_ir)
    llvms = dict(re.findall(r"^(k\d+):.*?; Occupancy: (\d+)", assembly, re.MULTILINE | re.DOTALL))

    assert len(ours) == len(llvms) == len(table), (len(ours), len(llvms), len(table))
    wrong = 0
    for i, case in enumerate(table):
        if ours[f"k{i}"] != llvms[f"k{i}"]:
            wrong += 1
            print(f"{chip} {case}: Lodestone {ours[f'k{i}']}, LLVM {llvms[f'k{i}']}")
    print(f"{len(table)} kernels compared, {wrong} differ")
    return wrong != 0


sys.exit(main())
