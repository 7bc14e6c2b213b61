#!/usr/bin/env python3
"""Tests training steps: all plans compute the same as the unpartitioned step, and a run continues from its checkpoint.

    run_training.py [--only GLOB] [--jobs N]

Simulated ranks are compared with the unpartitioned step in f64: loss, norm of the gradients, and every weight and state of the
optimizer after three steps. Executables train on plans of up to 8 ranks; losses are those of one rank. A run that is saved
after two steps and resumed on another plan has the losses of an uninterrupted one.
"""
import json
import os
import re
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "models"))
import builder
import executed
import oracle
import pcc

CASES = {}
STEPS = 4
BATCH, SEQ = 8, 6
MODELS = {
    "mlp": ("mlp", dict(layers=4, hidden=16, inner=32), {"batch": BATCH}),
    "gpt2": ("gpt2", dict(layers=4, hidden=16, heads=4, inner=32, vocabulary=37), {"batch": BATCH, "seq": SEQ}),
    "llama": ("llama", dict(layers=4, hidden=16, heads=4, kv_heads=2, inner=24, vocabulary=32), {"batch": BATCH, "seq": SEQ})}
# All query heads share a key and a value head, whose weights tensor parallelism does not split.
MODELS["mqa"] = ("llama", dict(layers=2, hidden=16, heads=4, kv_heads=1, inner=24, vocabulary=32), {"batch": BATCH, "seq": SEQ})
# With 4 ranks its convolutions can be split in so many ways that the search skips some of them.
MODELS["resnet"] = ("resnet", {}, {"batch": BATCH})
ADAM = ["--optimizer", "adamw", "--lr", "0.01", "--clip-norm", "1", "--weight-decay", "0.1", "--eps", "1e-3"]
MOMENTUM = ["--optimizer", "sgd", "--lr", "0.05", "--momentum", "0.9", "--lr-schedule", "linear(steps=10, warmup=2)"]
PLANS = ["microbatches=4", "tp=2", "dp=2", "dp=2,preset=zero1", "dp=2,microbatches=2,preset=zero2", "dp=2,preset=zero3", "pp=2",
         "pp=2,microbatches=4,schedule=gpipe", "pp=2,microbatches=4,schedule=naive", "pp=4,microbatches=4",
         "pp=2,microbatches=4,schedule=interleaved", "pp=2,microbatches=4,schedule=zb-h1", "pp=2,microbatches=4,schedule=zb-v",
         # One position reads the tied weight of gpt2 with two shardings.
         "tp=2,pp=2,microbatches=4,schedule=zb-v",
         "tp=2,pp=2,dp=2", "dp=2,pp=2,preset=zero3,microbatches=2"]

# Plans for 8 ranks.
COMBINED = ["tp=2,pp=2,dp=2,microbatches=4,schedule=interleaved,preset=zero1",
            "tp=2,pp=2,dp=2,microbatches=4,schedule=zb-v,preset=zero3"]


class Model:
    """A model of `kind` in `folder`, and how to train it."""

    def __init__(self, kind, folder):
        name, sizes, dims = MODELS[kind]
        self.folder, self.path, self.dims = folder, os.path.join(folder, "model.onnx"), dims
        self.graph = builder.build(name, self.path, **sizes)
        self.output, shape = self.graph.outputs[0]
        self.classes, self.places = shape[-1], [dims.get(size, size) for size in shape[:-1]]
        self.options = pcc.dim_options(dims) + ["--train", "--loss", f"cross_entropy({self.output}, labels, ignore_index=-1)"]

    def data(self):
        """Returns STEPS batches, in which some labels are ignored."""
        path = os.path.join(self.folder, "data")
        batches = [self.graph.draw_inputs(self.dims, seed) for seed in range(STEPS)]
        labels = np.random.default_rng(7).integers(0, self.classes, [STEPS, *self.places])
        labels[:, ::3] = -1
        oracle.save(path, {n: np.stack([b[n] for b in batches]) for n in batches[0]} | {"labels": labels})
        return path

    def compile(self, name, plan, optimizer):
        bundle = os.path.join(self.folder, name)
        pcc.succeed(self.path, "-o", bundle, *self.options, *optimizer, *(pcc.plan_options(plan) if plan else []))
        return bundle


def train(bundle, data, steps, *options, comm="thread"):
    """Returns losses and norms of the steps."""
    report = bundle + ".json"
    pcc.succeed("run", bundle, "--data", data, "--steps", steps, "--comm", comm, "--report", report, *options)
    with open(report) as file:
        return [(s["step"], s["loss"], s["grad_norm"]) for s in json.load(file)["steps"]]


def compare(got, want, tolerance=2e-5):
    for (step, *numbers), (as_step, *expected) in zip(got, want):
        if step != as_step or not np.allclose(numbers, expected, rtol=tolerance):
            raise pcc.Failure(f"step {step}: {numbers}, expected {expected} of step {as_step}")
    if len(got) != len(want):
        raise pcc.Failure(f"{len(got)} steps, expected {len(want)}")


def simulate(kind, plan, optimizer):
    with tempfile.TemporaryDirectory() as folder:
        model = Model(kind, folder)
        executed.verify(model.path, *model.options, *optimizer, *pcc.plan_options(plan))


def execute(kind, plan, optimizer, comm, steps=STEPS):
    with tempfile.TemporaryDirectory() as folder:
        model = Model(kind, folder)
        data = model.data()
        alone = train(model.compile("one.pcc", "", optimizer), data, steps)
        compare(train(model.compile("many.pcc", plan, optimizer), data, steps, comm=comm), alone)


def resume(kind, first, second):
    """Tests that two steps of one plan, saved, and two of another equal four on one rank."""
    with tempfile.TemporaryDirectory() as folder:
        model = Model(kind, folder)
        data = model.data()
        whole = train(model.compile("one.pcc", "", ADAM), data, STEPS)
        saved = os.path.join(folder, "saved")
        compare(train(model.compile("first.pcc", first, ADAM), data, 2, "--save", saved), whole[:2])
        compare(train(model.compile("second.pcc", second, ADAM), data, STEPS - 2, "--resume", saved), whole[2:])


def outside(plan):
    """Tests that tokens without a row and labels without a class end the run, wherever they are read; ignored labels are no
    class. So do files that hold data of different steps."""
    with tempfile.TemporaryDirectory() as folder:
        model = Model("gpt2", folder)
        data = model.data()
        bundle = model.compile("many.pcc", plan, ADAM)
        for name, value, lowest in (("input_ids", 37, -37), ("labels", 37, 0), ("labels", -5, 0)):
            path = os.path.join(data, name + ".npy")
            good = np.load(path)
            bad = good.copy()
            bad[1, BATCH - 1, 1] = value
            np.save(path, bad)
            code, _, err = pcc.call("run", bundle, "--data", data, "--steps", STEPS, "--comm", "thread")
            if code != 10 or f"index {value} in '{name}' is outside" not in err or f"has indices {lowest}..36" not in err:
                raise pcc.Failure(f"{name} {value}: exit code {code}: {err.strip()[-300:]}")
            np.save(path, good)
        np.save(path, good[1:])
        code, _, err = pcc.call("run", bundle, "--data", data, "--steps", STEPS, "--comm", "thread")
        if code != 10 or not re.search(rf"'labels' has data of {STEPS - 1} steps?, but 'input_ids' of {STEPS}", err):
            raise pcc.Failure(f"files of different steps: exit code {code}: {err.strip()[-300:]}")


def dumps():
    """Tests that dumps of all phases give the same bundle and can be verified."""
    with tempfile.TemporaryDirectory() as folder:
        model = Model("gpt2", folder)
        dumped = os.path.join(folder, "ir")
        bundle = model.compile("dumped.pcc", f"tp=2,pp=2,dump-ir={dumped}", ADAM)
        for name in sorted(os.listdir(dumped)):
            again = os.path.join(folder, "again.pcc")
            pcc.succeed(os.path.join(dumped, name), "-o", again)
            for file in ("bundle.json", "rank-000", "rank-003"):
                with open(os.path.join(bundle, file), "rb") as one, open(os.path.join(again, file), "rb") as other:
                    if one.read() != other.read():
                        raise pcc.Failure(f"{file} of {name} differs")
            if name < "7":
                executed.verify(os.path.join(dumped, name))


CASES["dumps"] = dumps
for plan in ("tp=2,dp=2,microbatches=2,preset=zero2", "tp=4,dp=2,microbatches=2,preset=zero3", "tp=4,dp=2,preset=zero3"):
    CASES[f"execute mqa {plan}"] = lambda p=plan: execute("mqa", p, ADAM, "thread")
for kind in ("mlp", "gpt2", "llama"):
    for plan in PLANS[::3] if kind == "llama" else PLANS:
        optimizer = MOMENTUM if kind == "mlp" else ADAM
        CASES[f"simulate {kind} {plan}"] = lambda k=kind, p=plan, o=optimizer: simulate(k, p, o)
CASES["simulate resnet tp=4"] = lambda: simulate("resnet", "tp=4", MOMENTUM)
for plan in ("tp=4", "tp=8"):
    CASES[f"execute resnet {plan}"] = lambda p=plan: execute("resnet", p, MOMENTUM, "thread")
for plan in PLANS:
    CASES[f"execute gpt2 {plan}"] = lambda p=plan: execute("gpt2", p, ADAM, "thread")
for plan in ("", "dp=2,tp=2", "pp=2,microbatches=2,schedule=zb-h1", "dp=2,preset=zero3"):
    CASES[f"outside {plan}"] = lambda p=plan: outside(p)
for kind in ("gpt2", "llama"):
    for plan in COMBINED:
        CASES[f"long {kind} {plan}"] = lambda k=kind, p=plan: execute(k, p, ADAM, "thread", steps=20)
for plan in ("dp=2,microbatches=2", "dp=2,pp=2,microbatches=2,preset=zero2", "tp=2,dp=2,preset=zero3"):
    CASES[f"simulate reproducible {plan}"] = lambda p=plan: simulate("gpt2", p, ADAM + ["--reproducible"])
CASES["execute mlp mpi tp=2,pp=2"] = lambda: execute("mlp", "tp=2,pp=2", MOMENTUM, "mpi")
for first, second in (("tp=2,pp=2", "dp=2,preset=zero3"), ("dp=2,preset=zero1", "pp=2,microbatches=4,schedule=zb-v"),
                      ("pp=4,microbatches=4", ""), ("tp=2", "tp=2,pp=2,microbatches=4,schedule=zb-v"),
                      ("tp=2,pp=2,microbatches=4,schedule=zb-v", "")):
    CASES[f"resume {first} {second}"] = lambda f=first, s=second: resume("gpt2", f, s)

if __name__ == "__main__":
    pcc.main(__doc__, CASES, kind=lambda name: name.split()[0])
