#!/usr/bin/env python3
"""Tests that the stubs are generated and complete: the package and a script that uses all of it pass `mypy --strict`, and a
wrong script does not. Keywords and their types are those of the tool."""
import os
import subprocess
import sys
import tempfile
import unittest

import pcc
from pcc import _pcc

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.append(os.path.join(ROOT, "tools", "dev"))
import option_stubs

PACKAGE = os.path.dirname(os.path.abspath(pcc.__file__))
SCRIPT = """
import numpy as np
import pcc

bundle: pcc.Bundle = pcc.compile("m.onnx", output="m.pcc", tp=2, dims={"batch": 8}, seed=7, preset=["megatron"],
                                mesh={"a": 2}, shapes={"x": (8, 4)}, stop_after=4, cpus="native", loss_scale=1024)
world: int = bundle.inspect(rank=0)["world"]
outputs = bundle.run({"x": np.zeros(3)}, comm="mpi", repeat=2)
print(pcc.__version__, bundle.shards("*")[0].parts, bundle.explain("x")["lints"], pcc.explain("m.onnx", tp=2, dtype="bf16", top=3).text)
print(outputs["y"].shape, bundle.verify()["equal"], bundle.notes, bundle.path)
try:
    report: pcc.Report = pcc.report(bundle, "m.pcc", bundle.explain(verbose=True), bundle.inspect(), [{"step": 1}], output="m.html",
                                    titles=["a", "b", "c", "d", "e"])
    print(report.html, report.path, bundle.report()._repr_html_())
    with bundle.train(resume="saved", data="data") as session:
        losses: list[float] = [m["loss"] for m in session.steps([{"x": np.zeros(3)}], progress=True)]
        session.save("saved")
        print(session.parameters()["w"].dtype, session.step(), session.outputs())
except pcc.Error as error:
    print(error.message, error.notes, error.exit_code)
"""


def mypy(script, folder):
    path = os.path.join(folder, "script.py")
    with open(path, "w") as file:
        file.write(script)
    return subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", os.path.join(folder, "cache"), path],
                          capture_output=True, text=True, env={**os.environ, "MYPYPATH": os.path.dirname(PACKAGE)})


class Types(unittest.TestCase):
    def test_stubs_cover_the_module(self):
        with open(os.path.join(PACKAGE, "_pcc.pyi")) as file:
            stub = file.read()
        names = [n for n in dir(_pcc) if not n.startswith("_")] + [n for n in dir(_pcc.Ranks) if not n.startswith("_")]
        self.assertIn("compile", names)
        self.assertEqual([n for n in names if f"def {n}(" not in stub and f"class {n}:" not in stub], [])

    def test_mypy(self):
        with tempfile.TemporaryDirectory() as folder:
            good = mypy(SCRIPT, folder)
            self.assertEqual(good.returncode, 0, good.stdout + good.stderr)
            bad = mypy(SCRIPT.replace("world: int", "world: int = bundle.nothing; world"), folder)
            self.assertIn("has no attribute \"nothing\"", bad.stdout)
            for wrong, says in (("tpp=2", "tpp"), ("tp=\"two\"", "\"tp\""), ("tp=2, target=\"gpu\"", "\"target\"")):
                self.assertIn(says, mypy(SCRIPT.replace("tp=2", wrong), folder).stdout)

    def test_keywords_are_those_of_the_tool(self):
        with open(os.path.join(PACKAGE, "options.pyi")) as file:
            self.assertEqual(file.read(), option_stubs.stub(), "tools/dev/option_stubs.py writes options.pyi anew")


if __name__ == "__main__":
    unittest.main()
