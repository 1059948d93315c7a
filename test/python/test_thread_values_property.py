"""What the compiler knows of an integer in each thread, against the integer itself."""

from __future__ import annotations

import itertools
import re
import subprocess

from hypothesis import given, settings
from hypothesis import strategies as st

THREADS = 4
BITS = {"i32": 32, "i64": 64}


def signed(value: int, bits: int) -> int:
    return (value + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


# On unsigned numbers of `bits` bits: MLIR's arith dialect, "Operations".
OPERATIONS = {
    "addi": lambda a, b, bits: a + b,
    "subi": lambda a, b, bits: a - b,
    "muli": lambda a, b, bits: a * b,
    "andi": lambda a, b, bits: a & b,
    "ori": lambda a, b, bits: a | b,
    "xori": lambda a, b, bits: a ^ b,
    "shli": lambda a, b, bits: a << b if b < bits else None,
    "shrui": lambda a, b, bits: a >> b if b < bits else None,
    "shrsi": lambda a, b, bits: signed(a, bits) >> b if b < bits else None,
    "divui": lambda a, b, bits: a // b if b else None,
    "remui": lambda a, b, bits: a % b if b else None,
    "floordivsi": lambda a, b, bits: signed(a, bits) // signed(b, bits) if b else None,
    "ceildivui": lambda a, b, bits: -(-a // b) if b else None,
    "minui": lambda a, b, bits: min(a, b),
    "maxsi": lambda a, b, bits: max(signed(a, bits), signed(b, bits)),
}
# Mostly what addresses are made of.
NUMBERS = [0, 1, 2, 3, 4, 5, 7, 8, 12, 16, 31, 56, 63, 64, 96, 448, 4096, -1, -4, -16, -64]
SCALES = [1, 4, 8, 64, 96, 512, 4096]
CASTS = {
    "index": [("index_cast", "i32"), ("index_castui", "i64"), ("index_cast", "i64")],
    "i32": [("extui", "i64"), ("extsi", "i64"), ("index_cast", "index")],
    "i64": [("trunci", "i32"), ("index_castui", "index"), ("index_cast", "index")],
}
UNKNOWNS = st.one_of(st.integers(0, 9), st.integers(-(2**63), 2**63 - 1))
Program = list[tuple[str, ...]]


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """Lines of straight code. Values are numbered: 0 is the thread, 1 and 2 aren't known."""
    types = ["index", "index", "index"]
    lines: Program = []

    def add(name: str, result: str, *rest: object) -> None:
        lines.append((name, result, *map(str, rest)))
        types.append(result)

    def pick(result: str) -> int:
        # Late ones: what is built is built on.
        return draw(st.sampled_from([i for i, t in enumerate(types) if t == result][-4:]))

    def constant(result: str) -> int:
        add("constant", result, draw(st.sampled_from(NUMBERS)))
        return len(types) - 1

    def scaled(operand: int) -> int:
        add("constant", "index", draw(st.sampled_from(SCALES)))
        add("muli", "index", operand, len(types) - 1)
        return len(types) - 1

    add("addi", "index", scaled(0), scaled(1))
    if draw(st.booleans()):
        add(*draw(st.sampled_from(CASTS["index"])), len(types) - 1, "index")
    for _ in range(draw(st.integers(1, 8))):
        kind = draw(st.sampled_from(["cast", "affine", "pair", "constant", "constant"]))
        result = types[-1]
        if kind == "cast":
            add(*draw(st.sampled_from(CASTS[result])), len(types) - 1, result)
        elif kind == "affine":
            name = draw(st.sampled_from(["floordiv", "mod"]))
            add(name, "index", pick("index"), draw(st.sampled_from([2, 3, 8, 64])))
        else:
            a = pick(result)
            b = constant(result) if kind == "constant" else pick(result)
            often = ["andi", "andi", "xori", "shrui", "divui", "remui"]
            add(draw(st.sampled_from(often + sorted(OPERATIONS))), result, a, b)
    return lines


def to_mlir(program: Program) -> str:
    body, types = ["%v0 = gpu.thread_id x"], ["index"] * 3
    for number, (name, result, *rest) in enumerate(program, start=3):
        if name == "constant":
            text = f"arith.constant {rest[0]} : {result}"
        elif name in ("floordiv", "mod"):
            text = f"affine.apply affine_map<(d0) -> (d0 {name} {rest[1]})>(%v{rest[0]})"
        elif name in OPERATIONS:
            text = f"arith.{name} %v{rest[0]}, %v{rest[1]} : {result}"
        else:
            text = f"arith.{name} %v{rest[0]} : {rest[1]} to {result}"
        body.append(f"%v{number} = {text}")
        types.append(result)
    values = ", ".join(f"%v{i}" for i in range(len(types)))
    body.append(f'"t.use"({values}) {{show}} : ({", ".join(types)}) -> ()')
    return (
        "gpu.module @m { gpu.func @k(%v1: index, %v2: index) kernel attributes "
        f"{{known_block_size = array<i32: {THREADS}, 1, 1>}} {{\n"
        + "\n".join(body)
        + "\ngpu.return } }"
    )


def run(program: Program, start: tuple[int, int, int], index_bits: int) -> list[int | None]:
    """Each value in one thread, unsigned; None where it is undefined, or follows from what is."""
    bits = BITS | {"index": index_bits}
    values: list[int | None] = [v % (1 << index_bits) for v in start]
    for name, result, *rest in program:
        if name == "constant":
            value: int | None = int(rest[0])
        elif name in ("floordiv", "mod"):
            a = values[int(rest[0])]
            value = None
            if a is not None:
                quotient, remainder = divmod(signed(a, index_bits), int(rest[1]))
                value = quotient if name == "floordiv" else remainder
        elif name in OPERATIONS:
            a, b = (values[int(x)] for x in rest)
            # Poison and undefined behaviour make everything after them undefined.
            value = None if a is None or b is None else OPERATIONS[name](a, b, bits[result])
        else:
            value = values[int(rest[0])]
            if value is not None and name in ("extsi", "index_cast"):
                value = signed(value, bits[rest[1]])
        values.append(None if value is None else value % (1 << bits[result]))
    return values


def parse(line: str) -> tuple[int, list[int], list[tuple[str, list[int]]]] | None:
    """Of `%3: [0 8] + 64 * %arg0 mod 2^32`: 32, the constants, the terms; None if unknown."""
    if "unknown" in line:
        return None
    form, width = re.fullmatch(r"%\S+: (.*) mod 2\^(\d+).*", line).groups()

    def numbers(text: str) -> list[int]:
        found = [int(x) for x in text.strip("[]").split()]
        return found * THREADS if len(found) == 1 else found

    constant, *terms = form.split(" + ")
    pairs = [term.rsplit(" * ", 1) for term in terms]
    return int(width), numbers(constant), [(name, numbers(text)) for text, name in pairs]


@settings(max_examples=80, deadline=None)
@given(programs(), st.lists(st.tuples(UNKNOWNS, UNKNOWNS), min_size=3, max_size=3))
def test_forms_hold(program: Program, unknowns: list[tuple[int, int]]) -> None:
    """A form is the value modulo its power of two, whatever is unknown and how wide index is."""
    done = subprocess.run(
        ["lodestone-thread-values-test", "-"],
        input=to_mlir(program),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    forms = [parse(line) for line in done.stdout.splitlines() if line.startswith("%")]
    assert len(forms) == len(program) + 3
    types = ["index"] * 3 + [result for _, result, *_ in program]
    for (first, second), index, thread in itertools.product(unknowns, (64, 32), range(THREADS)):
        values = run(program, (thread, first, second), index)
        names = {"%arg0": values[1], "%arg1": values[2]}
        for value, type_, form in zip(values, types, forms, strict=True):
            # Other terms are values whose form is themselves.
            if form is None or value is None or any(name not in names for name, _ in form[2]):
                continue
            width, constant, terms = form
            expected = constant[thread] + sum(names[name] * c[thread] for name, c in terms)
            bits = min(width, BITS.get(type_, index))
            assert (value - expected) % (1 << bits) == 0, (form, thread, first, second)
