"""Damaged input of every kind: a diagnostic and a documented exit code, never a crash or a hang.

The mutants are the same on every run. `LODESTONE_FUZZ_COUNT` multiplies their number (`make fuzz`),
`LODESTONE_FUZZ_SEED` makes others. A mutant that fails is kept, and the message says how to run it.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random

import pytest
from fuzz_mutants import (
    Mutant,
    Seeds,
    bytecode_seeds,
    llvm_seeds,
    mir_seeds,
    mlir_seeds,
    mutants,
)

COUNT = int(os.environ.get("LODESTONE_FUZZ_COUNT", "1"))
SEED = os.environ.get("LODESTONE_FUZZ_SEED", "lodestone")
WORKER = Path(__file__).with_name("fuzz_worker.py")
# A mutant takes milliseconds; this is for a loaded machine.
SECONDS = 60.0
LLVM_TOOLS = "/usr/lib/llvm-22/bin"
PATH = os.pathsep.join([os.environ["PATH"], LLVM_TOOLS])


# Who takes more memory than this is taken for a failure, before the machine suffers.
BYTES = 8 << 30


def limit_memory() -> None:
    """What a child process does first."""
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))


@dataclass(frozen=True)
class Upstream:
    """A crash that is MLIR's or LLVM's own: `mlir-opt` or `llc` alone do the same.

    Attributes:
        stack: what the stack dump contains.
        reproducer: the least input, and what to run on it.
        reason: what is wrong upstream, and why nothing here guards against it.
    """

    stack: str
    reproducer: str
    reason: str


KNOWN_UPSTREAM: list[Upstream] = []


def known(stderr: str) -> Upstream | None:
    """The upstream crash that a stack dump shows, if it is a known one."""
    return next((crash for crash in KNOWN_UPSTREAM if re.search(crash.stack, stderr)), None)


def folder_of(tmp_path: Path, found: Iterable[Mutant]) -> tuple[Path, int]:
    """Writes the mutants as files named by their number; the folder and how many there are."""
    folder = tmp_path / "mutants"
    folder.mkdir()
    number = -1
    for number, mutant in enumerate(found):
        (folder / f"{number}{mutant.suffix}").write_bytes(mutant.contents)
    return folder, number + 1


def keep(path: Path) -> Path:
    """Puts a failing mutant where it outlives the test."""
    kept = Path(tempfile.gettempdir()) / f"lodestone-fuzz-{path.parent.parent.name}-{path.name}"
    shutil.copy(path, kept)
    return kept


def run_worker(folder: Path, first: int, count: int) -> Iterator[tuple[int, str, str]]:
    """Runs one process until it is done or dead: number, outcome and stderr of what went wrong."""
    command = [sys.executable, str(WORKER), str(folder), str(first), str(count)]
    with tempfile.TemporaryFile() as errors:
        budget = SECONDS + 0.2 * (count - first)
        try:
            done = subprocess.run(
                command,
                stdout=subprocess.PIPE,
                stderr=errors,
                timeout=budget,
                check=False,
                preexec_fn=limit_memory,
            )
            output, end = done.stdout, f"ended with {done.returncode}"
        except subprocess.TimeoutExpired as expired:
            output, end = expired.stdout or b"", f"hangs (more than {budget:.0f} s)"
            done = None
        errors.seek(0)
        stderr = errors.read().decode(errors="replace")
    last = {"begin": first}
    for line in output.splitlines():
        last = json.loads(line)
        if last.get("outcome", "done") not in ("done", "refused"):
            yield last["end"], last["outcome"], stderr
    if done is None or done.returncode != 0:
        yield last.get("begin", first), end, stderr


def drive(folder: Path, count: int) -> list[str]:
    """Feeds all mutants to the Python package; what went wrong, ready to be read."""
    problems = []
    first = 0
    while first < count:
        died_at = None
        for number, outcome, stderr in run_worker(folder, first, count):
            path = next(folder.glob(f"{number}.*"))
            if outcome.startswith(("ended", "hangs")):
                died_at = number
                if known(stderr):
                    continue
                outcome += "\n" + stderr[-6000:]
            renamed = keep(path)
            problems.append(f"{renamed} (number {number}) {outcome}")
        if died_at is None:
            break
        first = died_at + 1
    return problems


@pytest.fixture(scope="session")
def texts() -> Seeds:
    """The undamaged MLIR."""
    return mlir_seeds()


def make_mir(path: Path) -> bytes | None:
    """MIR of LLVM IR, from llc."""
    llc = shutil.which("llc", path=PATH)
    if not llc:
        return None
    command = [llc, "-mtriple=amdgcn-amd-amdhsa", "-mcpu=gfx950", "-O2", "-o", "-", str(path),
               "-stop-after=si-insert-waitcnts"]  # fmt: skip
    return subprocess.run(command, capture_output=True, check=False).stdout or None


# Mutants of each kind in one round; a round takes some seconds.
ROUND = {"mlir": 220, "bytecode": 150, "llvm": 120, "mir": 120}


@pytest.mark.parametrize("kind", ROUND)
def test_python_survives(kind: str, tmp_path: Path, texts: Seeds) -> None:
    """Parsing, passes, compile, analyze and check end with a result or a documented exception."""
    make: dict[str, Callable[[], Seeds]] = {
        "mlir": lambda: texts,
        "bytecode": lambda: bytecode_seeds(texts),
        "llvm": llvm_seeds,
        "mir": lambda: mir_seeds(make_mir),
    }
    found = mutants(kind, make[kind](), Random(f"{SEED} {kind}"))
    problems = drive(*folder_of(tmp_path, islice(found, ROUND[kind] * COUNT)))
    assert not problems, "\n\n".join(problems)


def ends_well(command: list[str], codes: set[int], seconds: float = SECONDS) -> str:
    """Runs a command; what was wrong with how it ended, if anything."""
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            timeout=seconds,
            check=False,
            stdin=subprocess.DEVNULL,
            preexec_fn=limit_memory,
        )
    except subprocess.TimeoutExpired:
        return f"{command}: hangs"
    stderr = done.stderr.decode(errors="replace")
    if done.returncode not in codes or "Traceback (most" in stderr:
        return f"{command}: ended with {done.returncode}\n{stderr[-4000:]}"
    if done.returncode != 0 and not stderr and not done.stdout:
        return f"{command}: ended with {done.returncode} and says nothing"
    return ""


def narrow(paths: list[Path], fails: Callable[[list[Path]], str]) -> list[str]:
    """Runs on all, and where that fails on halves, down to single files."""
    problem = fails(paths)
    if not problem:
        return []
    if len(paths) == 1:
        return [f"{keep(paths[0])}: {problem}"]
    half = len(paths) // 2
    return narrow(paths[:half], fails) + narrow(paths[half:], fails) or [problem]


OPT_PIPELINES = [
    "builtin.module(lodestone-to-rocdl{chip=gfx950})",
    "builtin.module(lds-verify-alias-scopes{chip=gfx942})",
    "builtin.module(gpu.module(lds-lower-regions,lds-attach-alias-scopes{chip=gfx950}))",
    "builtin.module(lodestone-to-binary{chip=gfx942 format=isa})",
]


def test_opt_survives(tmp_path: Path, texts: Seeds) -> None:
    """`lodestone-opt`, many mutants in one file: 0 or 1, and a diagnostic for the latter."""
    found = mutants("mlir", texts, Random(f"{SEED} opt"))
    folder, count = folder_of(tmp_path, islice(found, 160 * COUNT))
    paths = [folder / f"{number}.mlir" for number in range(count)]
    separator = b"\n// -----\n"
    problems = []
    for start, pipeline in zip(range(0, count, 40), OPT_PIPELINES * COUNT, strict=False):

        def fails(some: list[Path], pipeline: str = pipeline) -> str:
            joined = tmp_path / "joined.mlir"
            joined.write_bytes(separator.join(path.read_bytes() for path in some))
            return ends_well(
                ["lodestone-opt", str(joined), "--split-input-file", "-o", os.devnull,
                 f"--pass-pipeline={pipeline}"], {0, 1}
            )  # fmt: skip

        problems += narrow(paths[start : start + 40], fails)
    assert not problems, "\n\n".join(problems)


@pytest.mark.parametrize("kind", ["llvm", "mir"])
def test_check_survives(kind: str, tmp_path: Path) -> None:
    """`lodestone-check`, many files at a time: 0, 1 or 2, and a word on each."""
    seeds = llvm_seeds() if kind == "llvm" else mir_seeds(make_mir)
    found = mutants(kind, seeds, Random(f"{SEED} check {kind}"))
    folder, _ = folder_of(tmp_path, islice(found, 80 * COUNT))
    paths = sorted(folder.iterdir())
    problems = []
    for start in range(0, len(paths), 80):
        problems += narrow(
            paths[start : start + 80],
            lambda some: ends_well(
                ["lodestone-check", "--chip=gfx950", *map(str, some)], {0, 1, 2}
            ),
        )
    assert not problems, "\n\n".join(problems)


@pytest.mark.parametrize("command", ["compile", "analyze", "check", "opt"])
def test_command_line_survives(command: str, tmp_path: Path, texts: Seeds) -> None:
    """The command line on a damaged file of each kind: a documented code, no traceback."""
    random = Random(f"{SEED} {command}")
    problems = []
    kinds = {"mlir": texts, "bytecode": bytecode_seeds(texts[:30]), "llvm": llvm_seeds()}
    for number, (kind, seeds) in enumerate(list(kinds.items()) * COUNT):
        mutant = next(mutants(kind, seeds, random))
        path = tmp_path / f"{number}{mutant.suffix}"
        path.write_bytes(mutant.contents)
        line = [sys.executable, "-m", "lodestone.cli", command, str(path)]
        if problem := ends_well(line + ([] if command == "opt" else ["--chip=gfx950"]), {0, 1, 2}):
            problems.append(f"{keep(path)}: {problem}")
    assert not problems, "\n\n".join(problems)
