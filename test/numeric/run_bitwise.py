#!/usr/bin/env python3
"""Tests that choices which do not affect the order of arithmetic change no bit of a training run.

    run_bitwise.py [--only GLOB] [--jobs N]

Compares losses, norms, weights and states of the optimizer after some steps: stage cuts and schedules with one stage and as
many microbatches, schedules also with tensor parallelism and with --dtype bf16; storage rules (zero1, zero2, zero3) with plain
data parallelism, for one microbatch; any data parallelism with one rank, under --reproducible; stages in which no weight is
trained; a run that is saved and resumed, also on other stages, with an uninterrupted one.
"""
import os
import tempfile

import pcc
from run_training import ADAM, MOMENTUM, Model, train

CASES = {}
STEPS = 3
# Rows of plans that have equal results.
EQUAL = [
    ["microbatches=4", "pp=2,microbatches=4", "pp=2,microbatches=4,schedule=gpipe", "pp=2,microbatches=4,schedule=naive",
     "pp=4,microbatches=4", "pp=2,microbatches=4,schedule=interleaved", "pp=2,microbatches=4,schedule=zb-h1",
     "pp=2,microbatches=4,schedule=zb-v"],
    ["tp=2,pp=2,microbatches=2", "tp=2,pp=2,microbatches=2,schedule=zb-h1", "tp=2,pp=2,microbatches=2,schedule=gpipe"],
    ["dp=2,microbatches=1", "dp=2,microbatches=1,preset=zero1", "dp=2,microbatches=1,preset=zero2",
     "dp=2,microbatches=1,preset=zero3"],
    ["dp=2,microbatches=2,preset=zero1", "dp=2,pp=2,microbatches=2,preset=zero1"]]

# Plans on one rank and on many that have equal results with --reproducible.
REPRODUCIBLE = ["microbatches=2", "dp=2,microbatches=2", "dp=4,microbatches=2", "dp=2,microbatches=2,preset=zero1",
                "dp=2,microbatches=2,preset=zero2", "dp=4,microbatches=2,preset=zero3", "dp=2,pp=2,microbatches=2",
                "dp=2,pp=2,microbatches=2,preset=zero2,schedule=zb-h1", "dp=2,pp=2,microbatches=2,preset=zero3,schedule=gpipe"]

# The same for one microbatch of eight samples.
REPRODUCIBLE_WHOLE = ["microbatches=1", "dp=4,microbatches=1", "dp=8,microbatches=1", "dp=8,microbatches=1,preset=zero2"]


def outcome(bundle, data, steps, *options):
    """Returns losses and norms, and the trained weights as a file."""
    saved = bundle + ".saved"
    curve = train(bundle, data, steps, "--save", saved, *options)
    weights = bundle + ".safetensors"
    pcc.succeed("checkpoint", "export", saved, "-o", weights)
    with open(weights, "rb") as file:
        return curve, file.read()


def compare(got, want):
    if got[0] != want[0]:
        raise pcc.Failure(f"the curve is {got[0]}, expected {want[0]}")
    if got[1] != want[1]:
        raise pcc.Failure("the losses are equal, the weights are not")


def equal(kind, optimizer, first, plan):
    with tempfile.TemporaryDirectory() as folder:
        model = Model(kind, folder)
        data = model.data()
        compare(outcome(model.compile("second.pcc", plan, optimizer), data, STEPS),
                outcome(model.compile("first.pcc", first, optimizer), data, STEPS))


def resumed(kind, first, second):
    """Tests that one step of the first plan, saved, and two of the second equal three of the second."""
    with tempfile.TemporaryDirectory() as folder:
        model = Model(kind, folder)
        data = model.data()
        whole = outcome(model.compile("whole.pcc", second, ADAM), data, STEPS)
        saved = os.path.join(folder, "saved")
        begun = train(model.compile("first.pcc", first, ADAM), data, 1, "--save", saved)
        curve, weights = outcome(model.compile("second.pcc", second, ADAM), data, STEPS - 1, "--resume", saved)
        compare((begun + curve, weights), whole)


for plans in EQUAL:
    for plan in plans[1:]:
        for kind, optimizer in ("mlp", MOMENTUM), ("gpt2", ADAM), ("llama", ADAM):
            CASES[f"{kind} {plan} as {plans[0]}"] = lambda k=kind, o=optimizer, f=plans[0], p=plan: equal(k, o, f, p)
for plan in ("pp=4,microbatches=4", "pp=2,microbatches=4,schedule=zb-v", "pp=2,microbatches=4,recompute=full",
             "microbatches=4,recompute=selective"):
    for kind in ("gpt2", "llama"):
        CASES[f"bf16 {kind} {plan}"] = lambda k=kind, p=plan: equal(k, ADAM + ["--dtype", "bf16"], "microbatches=4", p)
for plans in REPRODUCIBLE, REPRODUCIBLE_WHOLE:
    for plan in plans[1:]:
        for kind in ("mlp", "gpt2", "llama"):
            CASES[f"reproducible {kind} {plan}"] = lambda k=kind, f=plans[0], p=plan: equal(k, ADAM + ["--reproducible"], f, p)
for plan in ("dp=2,microbatches=2", "dp=2,pp=2,microbatches=2,preset=zero2,schedule=zb-h1"):
    for kind in ("gpt2", "llama"):
        CASES[f"reproducible bf16 {kind} {plan}"] = lambda k=kind, p=plan: equal(
            k, ADAM + ["--reproducible", "--dtype", "bf16"], REPRODUCIBLE[0], p)
for plan in ("pp=4,microbatches=4", "pp=2,microbatches=4,schedule=zb-v", "pp=2,microbatches=4,schedule=interleaved"):
    CASES[f"frozen {plan}"] = lambda p=plan: equal("gpt2", ADAM + ["--train-only", "*h.3*"], "microbatches=4", p)
for first, second in (("microbatches=4", "microbatches=4"), ("pp=4,microbatches=4", "pp=2,microbatches=4,schedule=zb-v"),
                      ("dp=2,microbatches=1,preset=zero3", "dp=2,microbatches=1")):
    CASES[f"resumed {first} {second}"] = lambda f=first, s=second: resumed("gpt2", f, s)

if __name__ == "__main__":
    pcc.main(__doc__, CASES)
