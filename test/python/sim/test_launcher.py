"""`lodestone.run`: the calls it makes of the HIP runtime, and what it does without one.

The runtime here is a stand-in, compiled from C. It checks how arguments are passed; it is no
evidence that kernels run on a GPU.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import lodestone
import numpy as np
import pytest
from copy_kernel import copy_arguments, copy_text
from lodestone import sim

SOURCE = Path(__file__).parents[1] / "Inputs" / "fake_hip.c"


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    compiler = next((c for c in ("cc", "clang-22", "gcc", "clang") if shutil.which(c)), None)
    if compiler is None:
        pytest.skip("no C compiler")
    path = tmp_path_factory.mktemp("hip") / "libamdhip64.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", path, SOURCE], check=True)
    return path


@pytest.fixture
def log(library, tmp_path, monkeypatch):
    """The stand-in is in place; returns a function that reads the calls so far."""
    path = tmp_path / "calls"
    monkeypatch.setenv("LODESTONE_HIP_LIBRARY", str(library))
    monkeypatch.setenv("FAKE_HIP_LOG", str(path))
    return lambda: path.read_text().splitlines()


def run(**options):
    return lodestone.run(copy_text(), args=copy_arguments(), dynamic_lds=8192, **options)


def test_calls_and_arguments(log):
    """Arrays go to the device and back; scalars, grid, block and LDS size arrive as they are."""
    arguments = copy_arguments()
    result = run(grid=(1, 1))
    assert result.device == "Fake GPU 0" and result.ok and result.simulation is None
    np.testing.assert_array_equal(result.outputs[1], arguments[0])
    assert result.outputs[2] is None
    launch = next(line for line in log() if line.startswith("hipModuleLaunchKernel"))
    assert launch.endswith(
        "0x2000 grid 1 1 1 block 256 1 1 lds 8192 stream 0 extra 0 tiles 4"
    ), launch  # fmt: skip
    names = [line.split()[0] for line in log()]
    assert names == [
        "hipInit", "hipGetDeviceCount", "hipSetDevice", "hipModuleLoadData",
        "hipModuleGetFunction", "hipMalloc", "hipMemcpy", "hipMalloc", "hipMemcpy",
        "hipModuleLaunchKernel", "hipDeviceSynchronize", "hipMemcpy", "hipMemcpy",
        "hipFree", "hipFree", "hipModuleUnload", "hipDeviceGetName",
    ]  # fmt: skip
    assert "hipModuleLoadData ELF" in log() and "hipModuleGetFunction 0x1000 copy" in log()
    assert [x.split()[1:] for x in log() if "Memcpy" in x] == [["16384", "1"]] * 2 + [
        ["16384", "2"]
    ] * 2


def test_gpu_and_simulator_agree_on_the_call(log):
    """The same call on either gives arrays of the same shape, type and content."""
    gpu, simulated = run(where="gpu"), run(where="simulator")
    for one, other in zip(gpu.outputs, simulated.outputs, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            assert one.dtype == other.dtype
            np.testing.assert_array_equal(one, other)
    assert simulated.simulation is not None and not simulated.reason


@pytest.mark.parametrize(
    ("fail", "message"),
    [
        ("hipMalloc:2", "hipMalloc failed with status 2: out of memory"),
        ("hipModuleLaunchKernel:1", "hipModuleLaunchKernel failed with status 1: some error"),
        ("hipDeviceSynchronize:719", "hipDeviceSynchronize failed with status 719"),
        ("hipModuleLoadData:200", "hipModuleLoadData failed with status 200"),
    ],
)
def test_failures_are_errors(log, monkeypatch, fail, message):
    """A GPU that fails is not a missing GPU: no silent simulation, and nothing leaks."""
    monkeypatch.setenv("FAKE_HIP_FAIL", fail)
    with pytest.raises(lodestone.HipError, match=message):
        run()
    calls = [line.split()[0] for line in log()]
    assert ("hipModuleUnload" in calls) == (fail != "hipModuleLoadData:200")


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("FAKE_HIP_DEVICES", "0", "no GPU: the HIP runtime finds no device"),
        ("FAKE_HIP_FAIL", "hipModuleLoadData:209", "hipModuleLoadData failed with status 209"),
        ("LODESTONE_HIP_LIBRARY", "/nonexistent/libamdhip64.so", "no HIP runtime: .*nonexistent"),
    ],
)
def test_without_a_fitting_gpu(log, monkeypatch, name, value, reason):
    """It says so and simulates; asked for a GPU, it raises."""
    monkeypatch.setenv(name, value)
    with pytest.warns(UserWarning, match=f"{reason}.*; the kernel runs on the simulator"):
        result = run(mode="R")
    assert result.device == "simulator" and result.reason in str(result)
    assert result.simulation is not None and result.simulation.mode == "R" and result.ok
    np.testing.assert_array_equal(result.outputs[1], copy_arguments()[0])
    with pytest.raises(lodestone.HipError, match=reason):
        run(where="gpu")


def test_bad_input_never_reaches_the_gpu(log):
    """The launch is checked against the metadata before any call."""
    with pytest.raises(sim.LaunchError, match="1 arguments, the kernel takes 3"):
        lodestone.run(copy_text(), args=[1], dynamic_lds=8192)
    with pytest.raises(sim.LaunchError, match="device 3 is not one of 1"):
        run(device=3)
    with pytest.raises(ValueError, match="where is 'cloud'"):
        run(where="cloud")
    with pytest.raises(sim.CodeObjectError, match="a int is no kernel"):
        lodestone.run(3)
    with pytest.raises(sim.CodeObjectError, match="for gfx950, not gfx942"):
        run(chip="gfx942")
    assert not any("Launch" in line for line in log())
