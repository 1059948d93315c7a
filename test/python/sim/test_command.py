"""The `lodestone sim` command: arguments, output, exit codes."""

from __future__ import annotations

import json

import ml_dtypes
import numpy as np
import pytest
from copy_kernel import copy_text

pytest.importorskip("lodestone._native")

from lodestone.cli import app
from lodestone.cli.sim import parse_argument
from typer.testing import CliRunner


def invoke(*arguments):
    return CliRunner().invoke(app, ["sim", *map(str, arguments)])


COPY = ["--arg", "random:u32:4096", "--arg", "zeros:u32:4096", "--arg", "4", "--dynamic-lds",
        "8192"]  # fmt: skip


@pytest.fixture
def copy_file(tmp_path):
    path = tmp_path / "copy.s"
    path.write_text(copy_text())
    return path


def test_a_right_kernel(copy_file, tmp_path):
    saved = tmp_path / "out.npz"
    result = invoke(copy_file, *COPY, "--save", saved)
    assert result.exit_code == 0, result.output
    assert "Main loop" in result.output and "Runs" in result.output
    arrays = np.load(saved)
    np.testing.assert_array_equal(arrays["arg0"], arrays["arg1"])


def test_a_race_is_printed_and_fails(copy_file):
    copy_file.write_text(copy_text().replace("s_waitcnt vmcnt(1)", "s_waitcnt vmcnt(2)"))
    result = invoke(copy_file, *COPY)
    assert result.exit_code == 1
    assert "error: missing-wait: pc 0x" in result.output
    assert "needs s_waitcnt vmcnt(1) before the barrier" in result.output
    report = json.loads(invoke(copy_file, *COPY, "--mode", "R", "--json").output)
    assert not report["runs"][0]["ok"] and report["main_loop"]["barriers"] == 4


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (["--arg", "1"], "1 arguments, the kernel takes 3"),
        (["--mode", "Q"], "mode 'Q' is not one of E, R, W"),
        (["--arg", "zeros:f3:4"], "dtype f3 is not one of"),
        (["--chip", "gfx942"], "assembly text is for gfx950, not gfx942"),
    ],
)
def test_bad_input(copy_file, extra, message):
    arguments = extra if extra[0] == "--arg" else COPY + extra
    result = CliRunner().invoke(app, ["sim", str(copy_file), *arguments])
    assert result.exit_code == 2
    assert message in result.output


def test_argument_forms(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(3))
    assert (parse_argument(str(tmp_path / "x.npy")) == [0, 1, 2]).all()
    assert parse_argument("zeros:bf16:2x3").dtype == ml_dtypes.bfloat16
    assert parse_argument("random:fp8:2x3").shape == (2, 3)
    assert parse_argument("random:i8:64").dtype == np.int8
    assert parse_argument("0x10") == 16 and parse_argument("1.5") == 1.5
    assert parse_argument("f32:2.5") == np.float32(2.5) and parse_argument("u64:7").nbytes == 8
