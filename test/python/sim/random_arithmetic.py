"""Random straight-line arithmetic as C, and the same compiled for this machine as the reference.

One function per lane reads elements of every type and combines them. Compiled for a GPU it is a
kernel of 64 work items; compiled for the host it gives what the kernel must give, bit for bit: what
C leaves open (overflow of signed integers, shift counts, conversions out of range, the sign of
a NaN or of a zero that a maximum picks) is kept out of the programs.
"""

from __future__ import annotations

import ctypes
import random
import subprocess
from collections import defaultdict
from pathlib import Path

import numpy as np

LANES, READ, KEPT = 64, 2, 6
INTEGERS = {
    "uchar": np.uint8, "char": np.int8, "ushort": np.uint16, "short": np.int16,
    "uint": np.uint32, "int": np.int32, "ulong": np.uint64, "long": np.int64,
}  # fmt: skip
FLOATS = {"half": np.float16, "float": np.float32, "double": np.float64}
TYPES = INTEGERS | FLOATS
UNSIGNED = {8: "uchar", 16: "ushort", 32: "uint", 64: "ulong"}

PRELUDE = """\
#ifdef HOST
#define __global
#define KERNEL static
#define LANE , uint lane
typedef unsigned char uchar; typedef unsigned short ushort;
typedef unsigned int uint; typedef unsigned long ulong; typedef _Float16 half;
#else
#define KERNEL __attribute__((reqd_work_group_size(64, 1, 1))) __kernel
#define LANE
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
static inline float as_f(uint x) { union { uint u; float f; } c; c.u = x; return c.f; }
static inline uint as_u(float x) { union { uint u; float f; } c; c.f = x; return c.u; }
"""
GPU_LANE = "#ifndef HOST\n  uint lane = __builtin_amdgcn_workitem_id_x();\n#endif\n"

# Of integers {a}, {c}, {d}; in capitals as unsigned, {u} the unsigned type, {m} its bits less one.
INTEGER_FORMS = [
    "{A} + {C}", "{A} - {C}", "{A} * {C}", "{A} & {C}", "{A} | {C}", "{A} ^ {C}", "~{A}",
    "{A} << ({C} & {m})", "{a} >> ({C} & {m})", "({A} & {C}) | {D}", "({A} + {C}) + {D}",
    "({A} << 3) + {D}", "({A} * {C}) + {D}", "({A} >> 7) & 0x1f", "({A} & {C}) ^ ({D} & ~{A})",
    "({A} & 0xff) * ({C} & 0xff)", "({A} << ({C} & {m})) | ({A} >> ((-{C}) & {m}))",
    "{a} / ({c} == 0 ? ({t})3 : ({c} == ({t})-1 ? ({t})5 : {c}))",
    "{a} % ({c} == 0 ? ({t})3 : ({c} == ({t})-1 ? ({t})5 : {c}))",
    "{a} < {c} ? {a} : {d}", "{a} == {c} ? {d} : {c}", "{a} > {c} ? {A} - {C} : {C} - {A}",
    "{a} < 0 ? ({u})0 - {A} : {A}", "__builtin_popcountl((ulong){A})",
    "__builtin_clzl((ulong){A} | 1ul)", "__builtin_ctzl((ulong){A} | 0x8000000000000000ul)",
    "__builtin_clz((uint){A} | 1u)", "__builtin_bitreverse{b}({A})",
    "((ulong)(uint){A} * (uint){C}) >> 32", "(ulong)((long)(int){A} * (int){C}) >> 32",
    "__builtin_elementwise_add_sat(({t}){a}, ({t}){c})",
    "__builtin_elementwise_sub_sat(({t}){a}, ({t}){c})",
    "__builtin_elementwise_max(__builtin_elementwise_min(({t}){a}, ({t}){c}), ({t}){d})",
    "__builtin_elementwise_max(__builtin_elementwise_min(({t}){a}, ({t}){c}),"
    " __builtin_elementwise_min(__builtin_elementwise_max(({t}){a}, ({t}){c}), ({t}){d}))",
]  # fmt: skip
# Of floats; {f}( stands for the element-wise builtin, {i} is an integer.
FLOAT_FORMS = [
    "{a} + {c}", "{a} - {c}", "{a} * {c}", "{a} / {c}", "-{a}", "-({a} * {c}) * ({t})2.0",
    "{f}fma({a}, {c}, {d})", "{f}fma(-{a}, {f}abs({c}), {d})", "{f}sqrt({a})", "{f}floor({a})",
    "{f}ceil({a})", "{f}trunc({a})", "{f}rint({a})", "{f}abs({a})", "{f}canonicalize({a})",
    "{a} <= {c} ? {d} : {a}", "{f}copysign({a}, ({t}){i})",
    "__builtin_ldexp{s}({a}, (int){i}) + ({t})0.0",
    "{f}maxnum({a}, {c}) + ({t})0.0", "{f}minnum({a}, {f}abs({c})) + ({t})0.0",
    "{f}maxnum({f}maxnum({a}, {c}), {d}) + ({t})0.0",
    "{f}minnum({f}maxnum({a}, ({t})0.0), ({t})1.0) + ({t})0.0",
]  # fmt: skip


class Program:
    """A random program, the same for the same seed."""

    def __init__(self, seed: int, length: int = 40) -> None:
        """Make one of `length` operations."""
        self.random = random.Random(seed)
        self.values: dict[str, list[str]] = defaultdict(list)
        self.lines: list[str] = []
        for kind in TYPES:
            for part in range(READ):
                self._define(kind, f"in_{kind}[lane + {LANES * part}]")
            # The same for all lanes: arithmetic of the scalar unit.
            for at in (1, LANES, LANES * READ - 1):
                self._define(kind, f"in_{kind}[{at}]")
        for _ in range(length):
            self.random.choice([self._integer, self._integer, self._float, self._convert])()

    def _define(self, kind: str, expression: str) -> None:
        name = f"v{len(self.lines)}"
        self.lines.append(f"  {kind} {name} = ({kind})({expression});")
        self.values[kind].append(name)

    def _pick(self, kind: str) -> str:
        if self.random.random() < 0.85:
            return self.random.choice(self.values[kind])
        if kind in FLOATS:
            text = self.random.choice(["0.0", "1.0", "-2.0", "0.5", "3.140625", "6e-5", "1e4"])
            return f"(({kind}){text})"
        bits = 8 * np.dtype(TYPES[kind]).itemsize
        value = self.random.choice([0, 1, 7, 1 << bits - 1, self.random.getrandbits(bits)])
        return f"(({kind}){value}{'ul' if bits == 64 else 'u'})"

    def _integer(self) -> None:
        kind = self.random.choice(list(INTEGERS))
        bits = 8 * np.dtype(TYPES[kind]).itemsize
        unsigned = UNSIGNED[bits]
        small = {name: self._pick(kind) for name in "acd"}
        large = {name.upper(): f"(({unsigned}){value})" for name, value in small.items()}
        form = self.random.choice(INTEGER_FORMS)
        self._define(kind, form.format(**small, **large, t=kind, u=unsigned, b=bits, m=bits - 1))

    def _float(self) -> None:
        kind = self.random.choice(list(FLOATS))
        names = {name: f"(({kind}){self._pick(kind)})" for name in "acd"}
        suffix = {"half": "f", "float": "f", "double": ""}[kind]
        form = self.random.choice(FLOAT_FORMS)
        self._define(
            kind,
            form.format(
                **names, t=kind, s=suffix, i=self._pick("char"), f="__builtin_elementwise_"
            ),
        )

    def _convert(self) -> None:
        choose = self.random.choice
        real, other, integer = choose(list(FLOATS)), choose(list(FLOATS)), choose(list(INTEGERS))
        a, c = self._pick(real), self._pick(real)
        info = np.iinfo(TYPES[integer])
        # Well inside of the range, whatever the type rounds to; NaN fails both.
        inside = f"(double){a} > {info.min * 0.99} && (double){a} < {info.max * 0.99}"
        relation = choose(["<", "<=", "==", "!=", ">", ">="])
        forms = [
            (real, self._pick(integer)),
            (integer, f"{inside} ? {a} : ({real})1.0"),
            # A product that is then made a half is one instruction that adds +0, also to -0.
            (other, a if other != "half" else f"({other}){a} + (half)0.0"),
            ("float", f"as_f({self._pick('uint')})"),
            ("uint", f"as_u({self._pick('float')})"),
            (integer, f"{a} {relation} {c} ? {self._pick(integer)} : {self._pick(integer)}"),
            (integer, f"__builtin_isunordered({a}, {c}) ? {self._pick(integer)} : 1"),
            (real, f"lane & {1 << self.random.randrange(6)}u ? {a} : {c}"),
        ]
        self._define(*choose(forms))

    def source(self) -> str:
        """The program as C that is OpenCL C, too."""
        inputs = [f"__global const {kind}* in_{kind}" for kind in TYPES]
        outputs = [f"__global {kind}* out_{kind}" for kind in TYPES]
        stores = [
            f"  out_{kind}[lane + {LANES * i}] = {name};"
            for kind in TYPES
            for i, name in enumerate(self.values[kind][-KEPT:])
        ]
        parameters = ", ".join(inputs + outputs)
        names = ", ".join([f"in_{kind}" for kind in TYPES] + [f"out_{kind}" for kind in TYPES])
        return (
            f"{PRELUDE}KERNEL void k({parameters} LANE) {{\n{GPU_LANE}"
            + "\n".join(self.lines + stores)
            + f"\n}}\n#ifdef HOST\nvoid all({parameters}) {{\n"
            f"  for (uint lane = 0; lane < {LANES}; ++lane) k({names}, lane);\n}}\n#endif\n"
        )


def inputs(seed: int) -> list[np.ndarray]:
    """Elements of every type: small and random integers, special and random floats."""
    rng = np.random.default_rng(seed)
    result = []
    for kind in TYPES.values():
        size = np.dtype(kind).itemsize
        values = rng.integers(0, 256, LANES * READ * size, dtype=np.uint8).view(kind)
        if np.issubdtype(kind, np.floating):
            info = np.finfo(kind)
            special = np.array(
                [0.0, -0.0, np.inf, -np.inf, 1, -1, info.tiny, info.max, info.smallest_subnormal],
                kind,
            )
            values = np.where(np.isnan(values), kind(2), values)
            values[::2] = (rng.standard_normal(len(values[::2])) * 10).astype(kind)
            values[::5] = rng.choice(special, len(values[::5]))
        else:
            values[::3] = rng.integers(0, 16, len(values[::3])).astype(kind)
        result.append(values)
    return result


def outputs() -> list[np.ndarray]:
    """Where the results go."""
    return [np.zeros(LANES * KEPT, kind) for kind in TYPES.values()]


def clang(*arguments: str | Path) -> None:
    """Call clang-22, without contraction of products and sums."""
    subprocess.run(["clang-22", "-w", "-ffp-contract=off", *arguments], check=True)


def compile_gpu(source: str, chip: str, directory: Path, level: str = "-O3") -> Path:
    """Compile OpenCL C for `chip`; returns the code object."""
    path, result = directory / "k.cl", directory / f"{chip}.hsaco"
    path.write_text(source)
    clang("-target", "amdgcn-amd-amdhsa", f"-mcpu={chip}", "-nogpulib", level, "-x", "cl",
          "-cl-std=CL2.0", "-cl-fp32-correctly-rounded-divide-sqrt", "-Xclang",
          "-finclude-default-header", path, "-o", result)  # fmt: skip
    return result


def run_host(source: str, arguments: list[np.ndarray], directory: Path) -> list[np.ndarray]:
    """What the program computes on this machine."""
    path, library = directory / "k.c", directory / "k.so"
    path.write_text(source)
    clang("-DHOST", "-O1", "-shared", "-fPIC", "-Xclang", "-ffloat16-excess-precision=none",
           path, "-o", library, "-lm")  # fmt: skip
    results = outputs()
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in arguments + results]
    ctypes.CDLL(str(library)).all(*pointers)
    return results


def same(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """Equal bits; any NaN equals any NaN."""
    equal = got.view(f"u{got.itemsize}") == want.view(f"u{want.itemsize}")
    if np.issubdtype(got.dtype, np.floating):
        equal |= np.isnan(got) & np.isnan(want)
    return equal
