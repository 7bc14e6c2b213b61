"""Configuration of lit for the .mlir and .test files of this tree, with LLVM's FileCheck, not and split-file, and our own
tools."""
import os

import lit.formats

config.name = "pcc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "corpus"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.pcc_build, "test", "lit")
config.environment["PATH"] = os.pathsep.join([config.pcc_tools, config.llvm_tools, os.environ["PATH"]])
config.substitutions += [
    ("%python", config.python),
    ("%source", config.pcc_source),
    ("%models", os.path.join(config.pcc_source, "test", "models")),
]
