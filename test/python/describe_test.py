#!/usr/bin/env python3
"""Tests the descriptions of bundles and sessions: their texts, drawings of shards, explanations, reports, and the tool as a module."""
import html
import json
import os
import pickle
import re
import shutil
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
        cls.folder = folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.model, cls.inputs = models.gpt2(folder)
        cls.bundle = pcc.compile(cls.model, dims=models.DIMS, tp=2, pp=2)

    def test_a_bundle_tells_ranks_and_memory(self):
        self.assertRegex(repr(self.bundle), r"^Bundle\(4 ranks: pp 2 × tp 2, cpu, \d+\.\d KiB weights \+ \d+\.\d KiB arena a rank, '.*'\)$")
        trainer = pcc.compile(self.model, dims=models.DIMS, train=True, loss="cross_entropy(logits, labels)")
        self.assertRegex(repr(trainer), r"^Bundle\(1 rank, cpu, .* weights \+ .* optimizer state \+ .* arena a rank, ")
        self.assertNotIn("gradients", repr(trainer))
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
        words = ["explain", self.model, "--dim=batch=4", "--dim=seq=6", "--tp=2", "--pp=2"]
        plan = dict(dims=models.DIMS, tp=2, pp=2)
        texts = set()
        for more, value, keywords in [([], None, {}), (["--top=1"], None, dict(top=1)), (["-v"], None, dict(verbose=True)),
                                      (["logits"], "logits", {})]:
            explained = self.bundle.explain(value, **keywords)
            self.assertEqual(explained, pcc.explain(self.model, value, **plan, **keywords))
            self.assertEqual(explained, json.loads(tool(*words, "--json", *([value] if value else []))))
            self.assertEqual(f"{explained}\n", tool(*words, *more))
            self.assertEqual(repr(pickle.loads(pickle.dumps(explained))), explained.text.rstrip("\n"))
            texts.add(explained.text)
        self.assertEqual(len(texts), 4)
        page = os.path.join(self.folder, "why.html")
        self.bundle.explain(html=page, quiet=True)
        self.assertTrue(os.path.getsize(page))
        for keywords in (dict(json=True), dict(top=0), dict(top=1, verbose=True)):
            with self.assertRaises(pcc.Error) as caught:
                self.bundle.explain(**keywords)
            self.assertEqual(caught.exception.exit_code, 2)
            self.assertNotIn("--", str(caught.exception))
        with self.assertRaises(pcc.Error):
            pcc.open(self.bundle.path).explain()

    def test_reports_are_those_of_the_tool(self):
        other = pcc.compile(self.model, dims=models.DIMS, output=os.path.join(self.folder, "tp4.pcc"), tp=4)
        facts = os.path.join(self.folder, "facts.json")
        with open(facts, "w") as file:
            json.dump(self.bundle.inspect(), file)
        pages = [os.path.join(self.folder, name) for name in ("tool.html", "module.html")]
        tool("report", self.bundle.path, other.path, facts, "-o", pages[0])
        report = pcc.report(self.bundle, other.path, facts, output=pages[1])
        for page in pages:
            with open(page) as file:
                self.assertEqual(file.read(), report.html)
        self.assertEqual(report.path, pages[1])
        self.assertRegex(repr(report), r"^Report\(\d+ KiB of HTML, '.*/module\.html'\)$")
        self.assertIsNone(self.bundle.report().path)

    def test_reports_take_results(self):
        trainer = pcc.compile(self.model, dims=models.DIMS, train=True, loss="cross_entropy(logits, labels)")
        with trainer.train() as session:
            steps = [session.step({**self.inputs, "labels": self.inputs["input_ids"]}) for _ in range(3)]
        explained = self.bundle.explain()
        sources = self.sources(pcc.report(self.bundle, explained, trainer.inspect(), steps, [{**steps[0], "loss": float("nan")}]))
        self.assertEqual([source["title"] for source in sources], [os.path.basename(self.bundle.path), "explain (argument 2)",
                         "inspect (argument 3)", "training (argument 4)", "training (argument 5)"])
        self.assertEqual(sources[1]["explain"]["totals"], explained["totals"])
        self.assertEqual(sources[2]["bundle"]["world"], 1)
        self.assertEqual(sources[3]["metrics"], steps)
        self.assertIsNone(sources[4]["metrics"][0]["loss"])
        named = self.sources(pcc.report(self.bundle, steps, titles=["plan", "<b>"]))
        self.assertEqual([source["title"] for source in named], ["plan", "<b>"])

    def sources(self, report):
        return json.loads(re.search(r'<script[^>]* id="data"[^>]*>(.*?)</script>', report.html, re.S)[1])["sources"]

    def test_notebooks_show_reports_in_a_frame(self):
        page = self.bundle.report()
        for shown in (self.bundle, page):
            frame = re.fullmatch(r'<iframe title="pcc report" sandbox="allow-scripts" style="[^"]*height: \d+px[^"]*" '
                                 r'srcdoc="([^"]*)"></iframe>', shown._repr_html_())
            self.assertNotRegex(frame[1], "[<>]|[^\\x00-\\x7f]")
            self.assertEqual(html.unescape(frame[1]), page.html)
        gone = pcc.compile(self.model, output=os.path.join(self.folder, "gone.pcc"), dims=models.DIMS)
        shutil.rmtree(gone.path)
        self.assertIsNone(gone._repr_html_())

    def test_reports_that_cannot_be_made(self):
        takes = "report() takes bundles, results of explain()"
        bundle = os.path.join(self.bundle.path, "bundle.json")
        with open(bundle) as file:
            sealed = json.load(file)
        for shown, keywords, exit_code, message in [
                ((), {}, 2, "report() got nothing to show"), ((3,), {}, 2, "report() cannot show argument 1, which is of type int"),
                (([1],), {}, 2, "report() cannot show argument 1, which is of type list"),
                (("none.json",), {}, 3, "cannot read 'none.json': it does not exist"),
                ((self.bundle, {"a": 1}), {}, 3, "cannot read 'argument 2': it is JSON of another kind"),
                ((sealed,), {}, 3, "cannot read 'argument 1': it is JSON of another kind"),
                (([],), {}, 3, "cannot read 'argument 1': it is empty"),
                ((bundle,), dict(titles=["a", "b"]), 2, "titles needs a list of 1 title, got ['a', 'b']"),
                ((bundle,), dict(titles="a"), 2, "titles needs a list of 1 title, got 'a'"),
                ((bundle,), dict(output=os.path.join(self.folder, "no", "page.html")), 7, None)]:
            with self.subTest(message=message), self.assertRaises(pcc.Error) as caught:
                pcc.report(*shown, **keywords)
            self.assertIn(message, (None, str(caught.exception)))
            self.assertEqual(caught.exception.exit_code, exit_code)
            if not keywords:
                self.assertTrue(caught.exception.notes[0].startswith(takes), caught.exception.notes)

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
        self.assertIn("without dp and cp", pcc.compile.__doc__)
        for function in (pcc.compile, pcc.verify, pcc.explain, pcc.Bundle.run):
            self.assertNotRegex(function.__doc__.partition("Options:")[2], r"(?<![\w-])--[a-z]")



class Transformer(unittest.TestCase):
    """A transformer without a file."""

    def test_sizes_take_the_place_of_a_model(self):
        sizes = "layers=1,hidden=16,heads=2,ffn=32,vocab=20,seq=4"
        bundle = pcc.compile(transformer=sizes, dim={"batch": 2}, random_weights=1, tp=2)
        self.assertEqual(os.path.basename(bundle.path), "transformer.pcc")
        self.assertEqual(bundle.inspect()["outputs"][0]["shape"], [2, 4, 20])
        self.assertTrue(bundle.verify()["equal"])
        self.assertEqual(bundle.explain()["world"], 2)


if __name__ == "__main__":
    unittest.main()
