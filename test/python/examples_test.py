#!/usr/bin/env python3
"""Runs the examples of python-bindings/examples on models of the tests' builder. The one that begins with PyTorch also exports its own
model, if torch is installed."""
import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest

import models

EXAMPLES = os.path.join(models.ROOT, "python-bindings", "examples")


def run(name, *words):
    done = subprocess.run([sys.executable, os.path.join(EXAMPLES, name), *words], text=True, capture_output=True)
    if done.returncode:
        raise AssertionError(f"{name} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


class Examples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.mlp = os.path.join(folder, "mlp.onnx")
        models.builder.build("mlp", cls.mlp)
        cls.gpt2, _ = models.gpt2(folder, vocabulary=500, positions=64)

    def check_from_torch(self, said):
        self.assertTrue(said.startswith("Bundle(4 ranks: pp 2 × tp 2, cpu, "), said)
        self.assertIn("│ rank 0 │ rank 1 │", said)
        self.assertRegex(said, r"outputs: \{'y': \(8, \d+\)\}\nranks agree with the model to \d(\.\d+)?e-1[4-9]\n$")

    def test_from_torch_with_a_model(self):
        self.check_from_torch(run("from_torch.py", self.mlp))

    @unittest.skipUnless(importlib.util.find_spec("torch"), "torch is not installed")
    def test_from_torch(self):
        self.check_from_torch(run("from_torch.py"))

    def test_train_and_plot(self):
        self.assertRegex(run("train_and_plot.py", self.gpt2), r"(?s)^4 ranks; .*loss \S+ -> \S+; \d+ weights have been trained")

    def test_edit_a_plan(self):
        page = self.mlp.replace(".onnx", ".html")
        said = run("edit_a_plan.py", self.mlp, "mse(y, labels)", page)
        self.assertIn("pinned plan: equal True", said)
        self.assertIn("['0F0', '0F1', '0F2', '0F3', '0B0', '0B1', '0B2', '0B3']", said)
        self.assertIn("own schedule: equal True", said)
        self.assertRegex(said, r"(?m)^├─ tp .* a step")
        self.assertRegex(said, rf"Report\(\d+ KiB of HTML, '{page}'\)\n$")
        self.assertTrue(os.path.getsize(page))


if __name__ == "__main__":
    unittest.main()
