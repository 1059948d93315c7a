"""The command line: output, exit codes, messages without tracebacks."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

INPUTS = Path(__file__).parent / "Inputs"
TWO_BUFFERS = str(INPUTS / "two-buffers.mlir")


def run(*arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Runs the command line and makes sure that it didn't end in a traceback."""
    command = [sys.executable, "-m", "lodestone.cli", *arguments]
    result = subprocess.run(command, input=stdin, capture_output=True, timeout=120, check=False)
    assert b"Traceback" not in result.stderr, result.stderr.decode()
    return result


def test_help_has_examples() -> None:
    """Every command explains itself with examples."""
    listed = run("--help").stdout.decode()
    for command in ("compile", "analyze", "check", "opt", "kernels", "swizzle"):
        assert command in listed
        assert b"Examples" in run(command, "--help").stdout


def test_compile_writes_code(tmp_path: Path) -> None:
    """`compile` writes the code object and reports resources as JSON."""
    target = tmp_path / "k.hsaco"
    result = run("compile", TWO_BUFFERS, "--chip", "gfx950", "-o", str(target), "--json")
    assert result.returncode == 0, result.stderr
    assert target.read_bytes().startswith(b"\x7fELF")
    (module,) = json.loads(result.stdout)["modules"]
    assert module["kernels"][0]["name"] == "two_buffers" and module["check"]["clean"]
    piped = run("compile", "-", "--chip", "gfx950", "-f", "isa", "-o", "-",
                stdin=Path(TWO_BUFFERS).read_bytes())  # fmt: skip
    assert b"s_endpgm" in piped.stdout and b"two_buffers" in piped.stderr


def test_check_exit_codes() -> None:
    """`check` ends with 0 on clean code and 1 on findings."""
    clean = run("check", str(INPUTS / "untagged.ll"))
    assert clean.returncode == 0 and b"clean" in clean.stdout
    bad = run("check", str(INPUTS / "naive.ll"), "--json")
    assert bad.returncode == 1 and json.loads(bad.stdout)["findings"]


def test_analyze() -> None:
    """`analyze` shows the regions, as a table and as JSON."""
    table = run("analyze", TWO_BUFFERS, "--chip", "gfx950", "--strict")
    assert table.returncode == 0 and b"81920" in table.stdout
    parsed = json.loads(run("analyze", TWO_BUFFERS, "--chip", "gfx950", "--json").stdout)
    assert parsed["kernels"][0]["name"] == "two_buffers"


def test_opt() -> None:
    """`opt` runs a pipeline and prints the module, with remarks on request."""
    passes = "lds-attach-alias-scopes{chip=gfx950}"
    result = run("opt", TWO_BUFFERS, "-p", passes, "--remarks")
    assert result.returncode == 0 and b"alias_scopes" in result.stdout and result.stderr
    again = run("opt", "-", "--emit-bytecode", stdin=result.stdout)
    assert again.stdout.startswith(b"ML\xefR")


def test_kernels_lists() -> None:
    """`kernels` lists what there is; an unknown name is answered with the known ones."""
    assert run("kernels").returncode == 0
    json.loads(run("kernels", "--json").stdout)
    unknown = run("kernels", "no-such")
    assert unknown.returncode == 2 and b"unknown kernel" in unknown.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["compile", "none.mlir"], 2, b"none.mlir: No such file"),
        (["compile", TWO_BUFFERS, "--chip", "gfx1"], 2, b"known chips are"),
        (["compile", TWO_BUFFERS, "--chip", "gfx950", "-f", "exe"], 2, b"known formats"),
        (["compile", "-"], 2, b"<stdin> is empty"),
        (["compile", str(INPUTS)], 2, b"Is a directory"),
        (["compile", str(INPUTS / "naive.ll"), "--chip", "gfx950", "--strict"], 1, b""),
        (["analyze", str(INPUTS / "naive.ll")], 2, b"only MLIR"),
        (["opt", TWO_BUFFERS, "-p", "no-such-pass"], 2, b"no-such-pass"),
        (["compile", TWO_BUFFERS, "--no-such-option"], 2, b"No such option"),
        (["no-such-command"], 2, b"No such command"),
    ],
)
def test_bad_usage(arguments: list[str], code: int, message: bytes) -> None:
    """Bad usage and input end with the documented code and say what is wrong."""
    result = run(*arguments)
    assert result.returncode == code, result.stderr.decode()
    assert message in result.stderr


def test_bad_modules_are_diagnosed() -> None:
    """A module that doesn't parse or has no kernel: file, line and reason."""
    result = run("compile", "-", "--chip", "gfx950", stdin=b"gpu.module @m {\n  foo.bar\n}")
    assert result.returncode == 2 and b"<stdin>:2:3: error" in result.stderr
    result = run("compile", "-", "--chip", "gfx950", stdin=b"module {}")
    assert result.returncode == 2 and b"gpu.module" in result.stderr
