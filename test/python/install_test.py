#!/usr/bin/env python3
"""Tests that the wheel of `pip wheel ./python-bindings`, installed into a new virtual environment, is a module and a tool that need
neither the build nor a library that not every system has; the example compiles, inspects, runs, verifies and trains a GPT-2 with
them, from another folder.

    install_test.py --build BUILD        of a build that is there, offline: builds nothing but the module
    install_test.py --isolated [--plot LOSS.png]
                                         a clone of what is committed, build requirements from the package index, with [progress]
                                         and [plot], then all tests of this folder; a quarter of an hour or more on two cores
"""
import argparse
import glob
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
import time

import closed
import models

numeric = models.load_numeric()
ROOT = models.ROOT
REAL = "gpt2-dynamo"
OTHERS = ("arrays", "errors", "interrupt", "session", "numeric", "describe")
SCRIPT = """
import numpy as np
import pcc

def first(bundle: pcc.Bundle) -> float:
    with bundle.train() as session:
        return float(session.step({"x": np.zeros(3)})["loss"])
"""


class Environment:
    """A virtual environment in `folder`. Commands see no variable of this process and run in an empty folder."""

    def __init__(self, folder):
        self.folder, self.elsewhere = os.path.join(folder, "env"), os.path.join(folder, "elsewhere")
        os.mkdir(self.elsewhere)
        self.variables = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PCC", "VIRTUAL_ENV"))}
        self.python, self.tool = (os.path.join(self.folder, "bin", name) for name in ("python", "pcc"))
        self.call("/usr/bin/python3", "-m", "venv", self.folder)
        self.site = self.call(self.python, "-c", "import sysconfig; print(sysconfig.get_path('platlib'))").strip()

    def call(self, *command, succeeds=True, timeout=600, **options):
        """Returns the stdout of a command that succeeds, or all output of one that fails."""
        result = subprocess.run(command, cwd=options.pop("cwd", self.elsewhere), env={**self.variables, **options}, text=True,
                                stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout)
        if (result.returncode == 0) != succeeds:
            raise AssertionError(f"{' '.join(command)} ended with {result.returncode}:\n{result.stdout[-3000:]}{result.stderr[-3000:]}")
        return result.stdout if succeeds else result.stdout + result.stderr

    def lend_packages(self):
        """Lends it the packages of the tests' environment, because there is no index from which to install them."""
        with open(os.path.join(self.site, "lent.pth"), "w") as file:
            file.write(sysconfig.get_path("platlib"))

    def install(self, root, *words, extras=""):
        """Makes the wheel of the tree `root` and installs it."""
        start = time.time()
        self.call(self.python, "-m", "pip", "wheel", "--no-deps", *words, "./python-bindings", "-w", self.elsewhere, cwd=root, timeout=7200)
        wheel, = glob.glob(os.path.join(self.elsewhere, "pcc_dataflow-*.whl"))
        size = os.path.getsize(wheel)
        print(f"{os.path.basename(wheel)} has {size / 1e6:.1f} MB, made in {time.time() - start:.0f} s")
        assert size < 80e6, size
        index = [word for word in words if word == "--no-index"]
        self.call(self.python, "-m", "pip", "install", *index, wheel + extras, timeout=7200)


def check_package(env, trees):
    """Checks that the module and all files that it loads are in the environment, together with its types."""
    loaded = env.call(env.python, "-c", "import pcc; print(pcc.__file__); print(open('/proc/self/maps').read())")
    assert loaded.startswith(os.path.join(env.site, "pcc", "")), loaded
    assert os.path.join(env.site, "pcc", "lib", "libpcc.so") in loaded, loaded
    foreign = [line for line in loaded.splitlines() if any(tree in line for tree in trees)]
    assert not foreign, foreign
    names = os.listdir(os.path.join(env.site, "pcc"))
    assert {"py.typed", "_pcc.pyi"} <= set(names), names


def check_example(env, model, *plot):
    """Checks the output of the example for a model; returns the number of weights that it trained."""
    said = env.call(env.python, os.path.join(ROOT, "python-bindings", "examples", "train_and_plot.py"), model, *plot)
    print(said.strip())
    assert said.startswith("4 ranks; "), said
    assert re.search(r"it runs: \(8, 32, \d+\)", said), said
    assert float(re.search(r"agree with the model to (\S+)", said).group(1)) <= 1e-12, said
    first, last, weights = re.search(r"loss (\S+) -> (\S+); (\d+) weights", said).groups()
    assert float(last) < 0.9 * float(first) and int(weights) > 20, said


def check_types(env):
    """Checks that a type checker that runs elsewhere finds the installed types."""
    command = (sys.executable, "-m", "mypy", "--strict", "--python-executable", env.python, "--cache-dir", "cache", "-c")
    env.call(*command, SCRIPT)
    said = env.call(*command, SCRIPT.replace("bundle.train()", "bundle.nothing()"), succeeds=False)
    assert 'has no attribute "nothing"' in said, said


def check_tool(env, model):
    """Checks the tool, and that neither it nor what it makes loads a library that the package lacks."""
    env.call(env.tool, model, "--dim", "batch=2", "--dim", "seq=4", "-o", "b.pcc")
    package = os.path.join(env.site, "pcc")
    closed.check_closed(package, glob.glob(os.path.join(package, "_pcc.*.so")) + [os.path.join(env.elsewhere, "b.pcc", "rank-000")])
    closed.check_notices(os.path.join(package, "notices"))


def check_damage(env, model):
    """Checks that a package with a missing part says which part."""
    for name, script in (("lib/libpcc.so", "import pcc"),
                         ("lib/pcc/rank-main-cpu.o", f"import pcc; pcc.compile({model!r}, dims=dict(batch=2, seq=4))")):
        path = os.path.join(env.site, "pcc", name)
        os.rename(path, path + ".away")
        said = env.call(env.python, "-c", script, succeeds=False)
        os.rename(path + ".away", path)
        assert re.search(rf"{os.path.basename(name)}\b.*(No such file|is missing)", said), said


def check_all(env, model, trees):
    check_package(env, trees)
    check_types(env)
    check_tool(env, model)
    check_damage(env, model)


def check_compiler(env, build):
    """Checks that another vendor's compiler is rejected: its code would crash when it calls pcc."""
    said = " ".join(env.call("cmake", "-G", "Ninja", "-S", os.path.join(ROOT, "python-bindings"), "-B", "other",
                             "-DCMAKE_CXX_COMPILER=g++", f"-DPCC_BUILD={build}", succeeds=False).split())
    assert "was compiled by Clang" in said and "got GNU" in said, said


def of_build(folder, build, model):
    env = Environment(folder)
    check_compiler(env, build)
    env.lend_packages()
    env.install(ROOT, "--no-index", "--no-build-isolation", f"--config-settings=cmake.define.PCC_BUILD={build}",
                f"--config-settings=build-dir={build}/test/python-install")
    check_all(env, model, [build])
    check_example(env, model)


def isolated(folder, plot, model):
    clone = os.path.join(folder, "clone")
    subprocess.run(["git", "clone", "-q", ROOT, clone], check=True)
    env = Environment(folder)
    env.install(clone, extras="[progress,plot]")
    check_all(env, model, [clone, os.path.join(ROOT, "build", "release")])
    check_example(env, model, plot)
    assert os.path.getsize(plot) > 5000, plot
    print("drawn:", plot)
    env.lend_packages()
    for name in OTHERS:
        env.call(env.python, "-B", os.path.join(ROOT, "test", "python", f"{name}_test.py"), PCC=env.tool, timeout=1800)
        print(f"{name}_test.py passed")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build")
    parser.add_argument("--isolated", action="store_true")
    parser.add_argument("--plot", default="loss.png", metavar="LOSS.png")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if REAL in numeric.real_models():
            model, _ = numeric.place(f"real:{REAL}", folder)
        else:
            model, _ = models.gpt2(folder, hidden=64, vocabulary=500)
        if arguments.isolated:
            isolated(folder, os.path.abspath(arguments.plot), model)
        elif arguments.build:
            of_build(folder, os.path.abspath(arguments.build), model)
        else:
            parser.error("--build or --isolated")


if __name__ == "__main__":
    main()
