"""Configuration of the lit tests: which files are tests, and the tools they call."""

import os
import sys

import lit.formats

config.name = "Lodestone"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".ll", ".mir", ".test"]
config.excludes = ["Inputs", "CMakeLists.txt"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.lodestone_build_dir, "test")

# Our own tools first, then LLVM's (FileCheck, not, mlir-opt, llc ...), which Debian
# does not put on PATH, then the Python that runs lit (the one with `lodestone`).
config.environment["PATH"] = os.pathsep.join(
    [
        os.path.join(config.lodestone_build_dir, "bin"),
        os.path.dirname(sys.executable),
        config.llvm_tools_dir,
        os.environ["PATH"],
    ]
)
config.environment["PYTHONPATH"] = os.path.join(config.lodestone_build_dir, "python")
config.substitutions.append(
    ("%lodestone_plugin", os.path.join(config.lodestone_build_dir, "lib", "libLodestone.so"))
)
config.substitutions.append(("%llvm_tools", config.llvm_tools_dir))
