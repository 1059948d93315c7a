"""Mutants for `test_fuzz.py`: the repository's own test inputs, damaged."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from lodestone.ir import Context, MLIRError, Module
from lodestone.kernels.fp8_gemm import fp8_gemm

ROOT = Path(__file__).parents[1]

# Words (with their sigil), numbers, strings, arrows, and single characters.
_TOKEN = re.compile(rb'[%@#!^$]?[A-Za-z_][\w.$-]*|[%^]\d+|\d+|"[^"\n]*"|->|::|\s+|.', re.DOTALL)
_NUMBER = re.compile(rb"\d+")
_NUMBERS = [b"0", b"1", b"3", b"8", b"63", b"64", b"65536", b"163840", b"2147483648",
            b"4294967295", b"9223372036854775807", b"9223372036854775808",
            b"18446744073709551616", b"9" * 40]  # fmt: skip
_WORDS: dict[str, list[bytes]] = {
    "mlir": b"i0 i1 i8 i32 i64 i128 index f8E4M3FN bf16 f32 vector<4xi32> vector<0xf32> ptr<3> "
    b"ptr<1> ptr<8> ptr<7> memref<4xf32> memref<?x?xf32,#gpu.address_space<workgroup>> none - {} "
    b"[] unit dense<> loc(unknown) @kernel %0 ^bb0 true 0x7FC00000 inf lds.region lds.extent "
    b"#lds.xor<bits=7,base=31,shift=31> llvm.load llvm.getelementptr memref.load llvm.call "
    b"gpu.barrier nuw volatile".split(),
    "llvm": b"i1 i8 i32 i64 i128 float half <4 x i32> <0 x i8> ptr ptr addrspace(3) undef poison "
    b"null zeroinitializer volatile atomic unordered inbounds !0 !{} #0 ret unreachable".split(),
    "mir": b"$vgpr0 $sgpr0 $m0 $exec $vcc %0 killed undef implicit-def renamable S_WAITCNT "
    b"DS_READ_B32 DS_READ_B32_gfx9 S_ENDPGM S_BRANCH %bb.0 %bb.1 addrspace load store _".split(),
}


@dataclass(frozen=True)
class Mutant:
    """A bad input.

    Attributes:
        kind: `mlir`, `bytecode`, `llvm` or `mir`.
        origin: the inputs that it was made of.
        contents: the text or bytecode.
    """

    kind: str
    origin: str
    contents: bytes

    @property
    def suffix(self) -> str:
        """What a file of this kind is called."""
        return {"mlir": ".mlir", "bytecode": ".mlirbc", "llvm": ".ll", "mir": ".mir"}[self.kind]


Seeds = list[tuple[str, bytes]]


def _files(*suffixes: str) -> Iterator[Path]:
    for path in sorted(ROOT.rglob("*")):
        if path.suffix in suffixes:
            yield path


def mlir_seeds() -> Seeds:
    """The pieces of every `.mlir` file, and a small fp8_gemm in each form; some generic."""
    seeds: Seeds = []
    for path in _files(".mlir"):
        for piece in re.split(rb"^// -----.*$", path.read_bytes(), flags=re.MULTILINE):
            text = re.sub(rb"^ *//.*\n", b"", piece, flags=re.MULTILINE).strip()
            if text:
                seeds.append((path.name, text + b"\n"))
    generic: Seeds = []
    for name, text in seeds[::3]:
        with Context():
            try:
                module = Module.parse(text)
            except MLIRError:
                continue
            generic.append((name, module.operation.get_asm(print_generic_op_form=True).encode()))
    for form in ("regions", "static"):
        generic.append(("fp8_gemm", str(fp8_gemm(64, 64, 256, form).module).encode()))
    return seeds + generic


def bytecode_seeds(texts: Seeds) -> Seeds:
    """The bytecode of those of `texts` that parse."""
    import io

    seeds: Seeds = []
    for name, text in texts[::2]:
        with Context():
            stream = io.BytesIO()
            try:
                Module.parse(text).operation.write_bytecode(stream)
            except MLIRError:
                continue
            seeds.append((name, stream.getvalue()))
    return seeds


def llvm_seeds() -> Seeds:
    """The LLVM IR of the wait checker's tests."""
    return [
        (path.name, re.sub(rb"^ *;.*\n", b"", path.read_bytes(), flags=re.MULTILINE))
        for path in _files(".ll")
    ]


def mir_seeds(make_mir: Callable[[Path], bytes | None]) -> Seeds:
    """The MIR of the wait checker's tests, and what `make_mir` makes of some LLVM IR."""
    seeds = [(path.name, path.read_bytes()) for path in _files(".mir")]
    for path in list(_files(".ll"))[::5]:
        if made := make_mir(path):
            seeds.append((path.name, made))
    return seeds


def mutate_bytes(random: Random, data: bytes) -> bytes:
    """Flips, drops, repeats or overwrites a few bytes."""
    result = bytearray(data)
    for _ in range(random.choice([1, 1, 1, 2, 4, 16])):
        at = random.randrange(len(result) + 1)
        length = random.choice([1, 1, 2, 8, 64])
        choice = random.randrange(5)
        if choice == 0:
            del result[at : at + length]
        elif choice == 1:
            result[at:at] = result[at : at + length]
        elif choice == 2:
            result[at : at + length] = random.randbytes(length)
        elif choice == 3 and at < len(result):
            result[at] ^= 1 << random.randrange(8)
        elif at < len(result):
            result[at] = random.choice([0, 1, 0x7F, 0x80, 0xFF, 0x22, 0x7B])
    return bytes(result[: random.randrange(len(result) + 1)] if random.random() < 0.05 else result)


def mutate_tokens(random: Random, data: bytes, other: bytes, words: list[bytes]) -> bytes:
    """Swaps words and numbers of the text for others, of its own, of `other` or of `words`."""
    tokens = _TOKEN.findall(data)
    solid = [i for i, token in enumerate(tokens) if not token.isspace()]
    pool = [token for token in _TOKEN.findall(other) if not token.isspace()] or words
    if not solid:
        return other
    for _ in range(random.choice([1] * 8 + [2, 3, 8])):
        at = random.choice(solid)
        choice = random.randrange(12)
        if choice < 4:
            numbers = [i for i in solid if _NUMBER.fullmatch(tokens[i])] or [at]
            tokens[random.choice(numbers)] = random.choice(_NUMBERS)
        elif choice < 8:
            # Of the same sigil, which mostly parses.
            alike = [tokens[i] for i in solid if tokens[i][:1] == tokens[at][:1]]
            tokens[at] = random.choice(alike)
        elif choice == 8:
            tokens[at] = random.choice(words)
        elif choice == 9:
            tokens[at] = random.choice(pool)
        elif choice == 10:
            tokens[at] = b""
        else:
            tokens[at] = tokens[at] + b" " + random.choice(pool)
    return b"".join(tokens)


def mutate_lines(random: Random, data: bytes, other: bytes) -> bytes:
    """Drops, repeats or moves lines, or puts lines of `other` in."""
    lines = data.splitlines(keepends=True)
    others = other.splitlines(keepends=True)
    if not lines or not others:
        return other
    for _ in range(random.choice([1, 1, 2, 4])):
        at, to = random.randrange(len(lines)), random.randrange(len(lines))
        choice = random.randrange(5)
        if choice == 0 and len(lines) > 1:
            del lines[at]
        elif choice == 1:
            lines.insert(to % len(lines), lines[at])
        elif choice == 2:
            lines[at], lines[to] = lines[to], lines[at]
        elif choice == 3:
            start = random.randrange(len(others))
            lines[at:at] = others[start : start + random.choice([1, 1, 3, 10])]
        else:
            nest = random.choice([2, 5, 400])
            lines[at] = lines[at].rstrip(b"\n") * nest + b"\n"
    return b"".join(lines)


def mutants(kind: str, seeds: Seeds, random: Random) -> Iterator[Mutant]:
    """Mutants of `seeds` without end."""
    while True:
        name, data = random.choice(seeds)
        other_name, other = random.choice(seeds)
        origin = f"{name}+{other_name}"
        if kind == "bytecode" or random.random() < 0.15:
            made, origin = mutate_bytes(random, data), name
        elif random.random() < 0.7:
            made = mutate_tokens(random, data, other, _WORDS[kind])
        else:
            made = mutate_lines(random, data, other)
        # A diagnostic shows its line: a huge one with many errors makes gigabytes.
        if len(made) <= len(data) + 100_000:
            yield Mutant(kind, origin, made)
