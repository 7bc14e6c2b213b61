#!/usr/bin/env python3
"""Tests the descriptions of bundles and sessions: their texts, drawings of shards, explanations, and the tool as a module."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

import models
import pcc
from pcc.keywords import PRINTING


def tool(*words):
    return subprocess.run([os.environ["PCC"], *words], text=True, capture_output=True, check=True).stdout


class Descriptions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.model, cls.inputs = models.gpt2(folder)
        cls.bundle = pcc.compile(cls.model, dims=models.DIMS, tp=2, pp=2)

    def test_a_bundle_tells_ranks_and_memory(self):
        self.assertRegex(repr(self.bundle), r"^Bundle\(4 ranks: pp 2 × tp 2, cpu, \d+\.\d KiB weights \+ \d+\.\d KiB arena a rank, '.*'\)$")
        trainer = pcc.compile(self.model, dims=models.DIMS, train=True, loss="cross_entropy(logits, labels)")
        self.assertRegex(repr(trainer), r"^Bundle\(1 rank, cpu, .* weights \+ .* gradients \+ .* arena a rank, ")
        with trainer.train() as session:
            self.assertTrue(repr(session).startswith("Session(open, no step yet, Bundle("), session)
            loss = session.step({**self.inputs, "labels": self.inputs["input_ids"]})["loss"]
            self.assertIn(f"open, step 1, loss {loss:.4g}, ", repr(session))
        self.assertTrue(repr(session).startswith("Session(closed, step 1, "), session)
        os.rename(trainer.path, trainer.path + ".away")
        self.assertEqual(repr(trainer), f"Bundle({trainer.path!r})")

    def test_shards_are_drawn_as_ranks_hold_them(self):
        facts = self.bundle.inspect()
        names = {p["name"] for rank in facts["ranks"] for p in rank["parameters"]}
        self.assertEqual({shards.name for shards in self.bundle.shards()}, names)
        for shards in self.bundle.shards():
            for rank in facts["ranks"]:
                runs = [p["runs"] for p in rank["parameters"] if p["name"] == shards.name]
                self.assertEqual([shards.parts[rank["rank"]]] if rank["rank"] in shards.parts else [], runs)
        rows = pcc.Shards("w", "f32", (4, 6), {0: [[[0, 2]], [[0, 6]]], 1: [[[2, 4]], [[0, 6]]]})
        self.assertEqual(repr(rows).splitlines(), ["w f32[4, 6]", "┌────────┐", "│ rank 0 │", "├────────┤", "│ rank 1 │", "└────────┘"])
        blocks = pcc.Shards("w", "f32", (2, 4), {0: [[[0, 2]], [[0, 1], [2, 3]]], 3: [[[0, 2]], [[1, 2], [3, 4]]]})
        self.assertIn("│ rank 0 │ rank 3 │ rank 0 │ rank 3 │", repr(blocks))
        whole = pcc.Shards("w", "f32", (), {rank: [] for rank in (0, 1, 2, 5)})
        self.assertIn("│ rank 0-2 5 │", repr(whole))
        grid = pcc.Shards("w", "f32", (2, 2), {2 * i + j: [[[i, i + 1]], [[j, j + 1]]] for i in (0, 1) for j in (0, 1)})
        self.assertEqual([line for line in repr(grid).splitlines() if "rank" in line], ["│ rank 0 │ rank 1 │", "│ rank 2 │ rank 3 │"])
        many = pcc.Shards("w", "f32", (40,), {i: [[[i, i + 1]]] for i in range(40)})
        self.assertIn("and 24 more parts of a dim", repr(many))
        name = next(iter(sorted(names)))
        self.assertEqual(repr(self.bundle.shards(name)[0]).splitlines()[1:],
                         tool("inspect", self.bundle.path, "--shards", name).splitlines()[1:])

    def test_explanations_are_those_of_the_tool(self):
        words = ["explain", self.model, "--json", "--dim=batch=4", "--dim=seq=6", "--tp=2", "--pp=2"]
        self.assertEqual(self.bundle.explain(), json.loads(tool(*words)))
        self.assertEqual(pcc.explain(self.model, "logits", dims=models.DIMS, tp=2, pp=2), json.loads(tool(*words, "logits")))
        with self.assertRaises(pcc.Error):
            pcc.open(self.bundle.path).explain()

    def test_version_and_module(self):
        said = subprocess.run([sys.executable, "-m", "pcc", "--version"], text=True, capture_output=True, check=True).stdout
        self.assertEqual(said, f"pcc {pcc.__version__}\n")
        self.assertEqual(said, tool("--version"))

    def test_help_lists_keywords_with_types(self):
        for function in (pcc.compile, pcc.verify, pcc.explain, pcc.Bundle.run):
            self.assertRegex(function.__doc__, r"(?m)^    \w+ \(\w.*\): \w")
            for keyword in PRINTING:
                self.assertNotIn(f"    {keyword} (", function.__doc__)
        self.assertIn("    dims (Mapping[str, int]", pcc.compile.__doc__)


if __name__ == "__main__":
    unittest.main()
