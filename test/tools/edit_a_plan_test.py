#!/usr/bin/env python3
"""Runs the commands of docs/edit-a-plan.md as they stand there, recipe by recipe, on the model that the page names."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "test", "numeric"), os.path.join(ROOT, "test", "models")]
import builder
import pcc

PAGE = os.path.join(ROOT, "docs", "edit-a-plan.md")


class Recipes(unittest.TestCase):
    def test_every_recipe_runs_and_verifies(self):
        with open(PAGE) as file:
            recipes = re.findall(r"^## (.*?)$.*?^```sh\n(.*?)^```", file.read(), re.M | re.S)
        self.assertEqual([title for title, _ in recipes], ["Pin a weight", "Move a cut", "Write a schedule", "Change a collective"])
        for title, commands in recipes:
            with self.subTest(title), tempfile.TemporaryDirectory() as folder:
                builder.build("mlp", os.path.join(folder, "mlp.onnx"))
                path = os.path.dirname(pcc.PCC) + os.pathsep + os.environ["PATH"]
                done = subprocess.run(["bash", "-eu", "-o", "pipefail", "-c", commands], cwd=folder, env={**os.environ, "PATH": path},
                                      capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertRegex(done.stdout, "(?m)^equal in f64")


if __name__ == "__main__":
    unittest.main()
