#!/usr/bin/env python3
"""`pip install ./python-bindings`, from packages that are there, gives a module and a tool that need nothing of the build; the example
compiles, inspects, runs, verifies and trains with them."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

import models


def call(*command, **environment):
    result = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})
    if result.returncode:
        raise AssertionError(f"{command}: {result.stdout[-2000:]}{result.stderr[-2000:]}")
    return result.stdout


class Install(unittest.TestCase):
    def test_pip(self):
        bindings = os.path.join(models.ROOT, "python-bindings")
        with tempfile.TemporaryDirectory() as folder:
            site, model = os.path.join(folder, "site"), os.path.join(folder, "gpt2.onnx")
            call(sys.executable, "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-index", "--no-deps", "--target", site, bindings)
            maps = "import pcc, pcc._pcc; print(open('/proc/self/maps').read())"
            self.assertNotIn(os.path.join(models.ROOT, "build", "release"), call(sys.executable, "-B", "-c", maps, PYTHONPATH=site))
            models.builder.build("gpt2", model, layers=2, hidden=16, heads=4, inner=32, vocabulary=37)
            example = os.path.join(bindings, "examples", "train_gpt2.py")
            said = call(sys.executable, "-B", example, model, PYTHONPATH=site)
            first, last = map(float, re.search(r"loss ([0-9.]+) -> ([0-9.]+)", said).groups())
            self.assertLess(last, first)
            bundle = os.path.join(folder, "b.pcc")
            call(os.path.join(site, "bin", "pcc"), model, "--dim", "batch=2", "--dim", "seq=4", "-o", bundle, PYTHONPATH=site)
            self.assertTrue(os.path.exists(os.path.join(bundle, "rank-000")))


if __name__ == "__main__":
    unittest.main()
