#!/usr/bin/env python3
"""Tests plans in which a rank holds one element along each divided dim: one row of the batch, one token, one column or head. The
ops of a rank then have dims of size 1 that the model does not have. Each plan computes the values of the unpartitioned model.

    run_single_elements.py [--only GLOB] [--jobs N]
"""
import os
import sys
import tempfile

import pcc

sys.path.insert(0, os.path.join(pcc.ROOT, "test", "models"))
import builder
import families

CASES = {}
TRAIN = ["--train", "--loss", "mse(y, labels)", "--optimizer", "adam"]
#        name: sizes of the model, options
PLANS = {
    "a row": (dict(batch=2), ["--dp", "2"]),
    "a row of a microbatch": (dict(batch=6), ["--dp", "3", "--microbatches", "2"]),
    "a token": (dict(batch=2, seq=4), ["--cp", "4"]),
    "a row and a token": (dict(batch=2, seq=2), ["--dp", "2", "--cp", "2"]),
    "a column": (dict(batch=2, width=4), ["--tp", "4"]),
    "a head of each group": (dict(batch=4), ["--tp", "3", "--dp", "2", "--pp", "2", "--schedule", "zb-v", "--shard", "mid=[-,-,tp]"]),
    "a row in stages": (dict(batch=4), ["--dp", "2", "--pp", "2", "--microbatches", "2", "--preset", "zero2"]),
}


def add(family, name, batch, sizes, options):
    def check():
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.onnx")
            builder.build("family", path, kind=family, layers=1 if "--pp" not in options else 2, **sizes)
            pcc.succeed("verify", path, "--dim", f"batch={batch}", *options, "-q")
    CASES[f"{family}, {name}"] = check


for family in families.FAMILIES:
    for name, (sizes, options) in PLANS.items():
        sizes = dict(sizes)
        batch = sizes.pop("batch")
        add(family, name, batch, sizes, [*options, *TRAIN])
        if "--pp" not in options:
            add(family, f"{name}, inference", batch, sizes, options)

if __name__ == "__main__":
    pcc.main(__doc__, CASES)
