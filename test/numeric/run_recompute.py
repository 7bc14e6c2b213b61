#!/usr/bin/env python3
"""Tests recomputed activations: less memory, and equal results.

    run_recompute.py [--only GLOB] [--jobs N]

A model that recomputes has the same losses, gradient norms and checkpoints as one that does not, bit for bit. Simulated ranks
are compared with the unpartitioned step in f64. A memory limit between the needs of both is met with fewer operations than full
recomputation costs, and one below both is rejected.
"""
import json
import os
import re
import tempfile

import executed
import pcc
import run_training as training

LONG = {"batch": 16, "seq": 32}  # activations take more than weights
training.MODELS.update({
    "gpt2": training.MODELS["gpt2"][:2] + (LONG,), "llama": training.MODELS["llama"][:2] + (LONG,),
    "bert": ("bert", dict(layers=3, hidden=16, heads=4, inner=32, vocabulary=32, positions=64), LONG),
    "moe": ("moe", dict(layers=2, hidden=16, inner=24, experts=4, seq=6, classes=20), {"batch": training.BATCH})})
PLANS = ["tp=2", "dp=2,preset=zero1", "dp=2,preset=zero3,microbatches=2", "pp=2,microbatches=4",
         "pp=2,microbatches=4,schedule=gpipe", "pp=2,microbatches=4,schedule=interleaved", "pp=2,microbatches=4,schedule=zb-h1"]
CASES = {}


def taken(bundle):
    """Returns the largest number of bytes that a rank holds."""
    return max(r["weight_bytes"] + r["state_bytes"] + r["arena_bytes"] for r in pcc.inspect(bundle)["ranks"])


def arenas(bundle):
    """Returns the bytes of the arenas of all ranks."""
    return sum(r["arena_bytes"] for r in pcc.inspect(bundle)["ranks"])


def added(bundle):
    """Returns the operations that recomputation adds to a step."""
    return sum(stage["recomputed_flops"] for stage in pcc.inspect(bundle)["stages"])


def checkpoint(folder):
    """Returns the bytes of all weights and states that a run has saved, by file."""
    files = {}
    for place, _, names in os.walk(folder):
        for name in names:
            if name.endswith(".safetensors"):
                with open(os.path.join(place, name), "rb") as file:
                    files[os.path.relpath(os.path.join(place, name), folder)] = file.read()
    if not files:
        raise pcc.Failure("nothing was saved")
    return files


class Trained:
    """A plan of a model that was compiled with `options` and trained for three steps."""

    def __init__(self, model, name, plan, *options):
        self.options = [*model.options, *training.ADAM, *pcc.plan_options(plan), *options]
        self.bundle = os.path.join(model.folder, name + ".pcc")
        pcc.succeed(model.path, "-o", self.bundle, *self.options)
        saved = os.path.join(model.folder, name)
        self.steps = training.train(self.bundle, os.path.join(model.folder, "data"), 3, "--save", saved)
        self.saved = checkpoint(saved)
        self.taken, self.arenas, self.added = taken(self.bundle), arenas(self.bundle), added(self.bundle)

    def must_equal(self, other, name):
        if self.steps != other.steps:
            raise pcc.Failure(f"{name}: steps {self.steps}, without recomputation {other.steps}")
        for file, content in other.saved.items():
            if self.saved.get(file) != content:
                raise pcc.Failure(f"{name}: {file} differs")


def same_numbers(kind, plan):
    with tempfile.TemporaryDirectory() as folder:
        model = training.Model(kind, folder)
        model.data()
        if kind == "bert":  # what a bias of keys adds to all scores of a row cancels: its gradient is rounding alone
            model.options += ["--freeze", "*.key.bias"]
        modes = {mode: Trained(model, mode, plan, "--recompute", mode) for mode in ("none", "selective", "full")}
        none, full = modes["none"], modes["full"]
        limit = (none.taken + full.taken) // 2
        modes["auto"] = Trained(model, "auto", plan, "--recompute", "auto", "--memory-limit", limit)
        for name, mode in modes.items():
            mode.must_equal(none, name)
            executed.verify(model.path, *mode.options)
        if full.arenas + (kind in ("gpt2", "llama", "bert")) > none.arenas or not full.added > none.added == 0:
            raise pcc.Failure(f"full has arenas of {full.arenas} bytes and {full.added} operations more, none {none.arenas} bytes")
        if modes["auto"].taken > limit or modes["auto"].added > full.added:
            raise pcc.Failure(f"auto takes {modes['auto'].taken} bytes of {limit}, {modes['auto'].added} operations more")


def limits():
    """Tests that a limit that is met without recomputation causes none, and that one that full recomputation cannot meet is an
    error."""
    with tempfile.TemporaryDirectory() as folder:
        model = training.Model("gpt2", folder)
        plan = "pp=2,microbatches=4"
        options = [*model.options, *training.ADAM, *pcc.plan_options(plan), "--recompute", "auto"]
        bundles = {}
        for name, more in {"free": [], "least": ["--memory-limit", 1]}.items():
            bundles[name] = os.path.join(folder, name + ".pcc")
            code, _, err = pcc.call(model.path, "-o", bundles[name], *options, *more)
            if code != (6 if more else 0):
                raise pcc.Failure(f"{name}: exit code {code}: {err}")
        if not re.search(r"--memory-limit of 1 B cannot be met: a rank of position 0 \(stage 0\) holds [\d.]+ [KM]?i?B: ", err):
            raise pcc.Failure(f"the error names no stage: {err}")
        pcc.succeed(model.path, "-o", bundles["least"], *options, "--memory-limit", taken(bundles["free"]))
        if added(bundles["least"]) or added(bundles["free"]):
            raise pcc.Failure("recomputes where all fits")


def dumps():
    """Tests that each dump of a step with as much recomputation as necessary gives the same bundle."""
    with tempfile.TemporaryDirectory() as folder:
        model = training.Model("gpt2", folder)
        options = [*model.options, *training.ADAM, "--pp", 2, "--microbatches", 4, "--recompute"]
        sizes = []
        for mode in ("none", "full"):
            pcc.succeed(model.path, "-o", os.path.join(folder, mode), *options, mode)
            sizes.append(taken(os.path.join(folder, mode)))
        dumped, bundle = os.path.join(folder, "ir"), os.path.join(folder, "whole.pcc")
        pcc.succeed(model.path, "-o", bundle, *options, "auto", "--memory-limit", sum(sizes) // 2, f"--dump-ir={dumped}")
        for name in sorted(os.listdir(dumped)):
            again = os.path.join(folder, "again.pcc")
            pcc.succeed(os.path.join(dumped, name), "-o", again)
            facts = []
            for one in (bundle, again):
                with open(os.path.join(one, "bundle.json")) as file:
                    facts.append(json.load(file))
            if facts[0] != facts[1]:
                raise pcc.Failure(f"the bundle of {name} differs")


CASES["limits"], CASES["dumps"] = limits, dumps
for kind in training.MODELS:
    for plan in PLANS:
        CASES[f"{kind} {plan}"] = lambda k=kind, p=plan: same_numbers(k, p)

if __name__ == "__main__":
    pcc.main(__doc__, CASES)
