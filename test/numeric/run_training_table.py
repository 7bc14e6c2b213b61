#!/usr/bin/env python3
"""Tests schedules x sharding of weights, gradients and state x recomputation x axes: simulated ranks train like one device, in
f64 to 1e-12.

    run_training_table.py [--only GLOB] [--every N] [--jobs N]

Compares the loss and the gradient norm of each of three steps and, after them, every weight, all state of the optimizer, and
the sum of every weight's gradients, which `pcc verify` makes the step keep.
"""
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import pcc
from run_training import ADAM, MOMENTUM, Model

SCHEDULES = ["", "pp=2,microbatches=4,schedule=naive", "pp=2,microbatches=4,schedule=gpipe", "pp=2,microbatches=4,schedule=1f1b",
             "pp=2,microbatches=4,schedule=interleaved", "pp=2,microbatches=4,schedule=zb-h1", "pp=2,microbatches=4,schedule=zb-v"]
PRESETS = ["", "preset=zero1", "preset=zero2", "preset=zero3"]
RECOMPUTE = ["", "recompute=full", "recompute=selective"]
AXES = ["dp=2", "dp=2,tp=2"]
CASES = {}


def verify(kind, plan):
    with tempfile.TemporaryDirectory() as folder:
        model = Model(kind, folder)
        optimizer = MOMENTUM if kind == "mlp" else ADAM
        report = pcc.report("verify", model.path, *model.options, *optimizer, *pcc.plan_options(plan))
        if not report["equal"]:
            raise pcc.Failure(f"differs: {report['first_difference']}")
        names = {v["name"] for v in report["values"]}
        weights = {n.removesuffix(".gradients") for n in names if n.endswith(".gradients")}
        if not weights or not weights <= names:
            raise pcc.Failure(f"weights and their gradients were not compared: {sorted(names)}")


for kind in ("gpt2", "mlp"):
    for axes in AXES:
        for schedule in SCHEDULES:
            for preset in PRESETS:
                for recompute in RECOMPUTE:
                    plan = ",".join(filter(None, [axes, schedule, preset, recompute]))
                    CASES[f"{kind} {plan}"] = lambda k=kind, p=plan: verify(k, p)

if __name__ == "__main__":
    pcc.main(__doc__, CASES)
