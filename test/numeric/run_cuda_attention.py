#!/usr/bin/env python3
"""Tests attention by cuDNN on fake GPUs (test/runtime/fake). Results equal those of pcc's own kernels within the type's
precision, but not in all bits, which shows that cuDNN has computed them. Without cuDNN, pcc's kernels compute them.

    run_cuda_attention.py [--only GLOB] [--every N] [--jobs N]
"""
import os
import tempfile

import executed
import numpy as np
import oracle
import pcc
from run_cuda import TARGET, builder, fake, steps

CASES = {}
CUDNN = "dnn=91900"
TOLERANCES = {"bf16": 2e-2, "f16": 5e-3}
# Models with heads that share keys, and with attention that sees all keys.
MODELS = {"gpt2": ("logits", {"batch": 4, "seq": 24}, dict(layers=2)), "llama": ("logits", {"batch": 4, "seq": 16}, dict(layers=2, kv_heads=2)),
          "vit": ("logits", {"batch": 4}, dict(layers=2))}
PLANS = ["tp=1", "tp=2", "tp=2,pp=2,microbatches=2"]
TRAINING_PLANS = ["tp=1,microbatches=2", "tp=2", "dp=2,preset=zero3", "pp=2,microbatches=2,schedule=zb-h1"]


def compile(folder, model, dtype, plan, *options):
    _, dims, sizes = MODELS[model]
    path, bundle = os.path.join(folder, "model.onnx"), os.path.join(folder, "model.pcc")
    builder.build(model, path, **sizes)
    pcc.succeed(path, "-o", bundle, *TARGET, "--dtype", dtype, *pcc.dim_options(dims), *pcc.plan_options(plan), *options)
    return bundle


def environment(folder, settings, **more):
    return fake(folder, settings) | more


def infer(model, dtype, plan):
    with tempfile.TemporaryDirectory() as folder:
        bundle = compile(folder, model, dtype, plan)

        def outputs(settings, **more):
            out = os.path.join(folder, "out")
            pcc.succeed("run", bundle, "--random-inputs", "1", "--output", out, "-q", env=environment(folder, settings, **more))
            return oracle.load(out)

        mine, theirs = outputs("", PCC_CUDNN="off"), outputs(CUDNN + ",seed=3")
        executed.compare(theirs, mine, TOLERANCES[dtype])
        if all(np.array_equal(mine[name], theirs[name]) for name in mine):
            raise pcc.Failure("cuDNN has computed nothing")
        for settings, more in (("", {}), ("dnn=81000", {}), (CUDNN, {"PCC_CUDNN": "off"})):
            other = outputs(settings, **more)
            if not all(np.array_equal(mine[name], other[name]) for name in mine):
                raise pcc.Failure(f"other numbers with {settings} {more}")


def train(model, dtype, plan):
    with tempfile.TemporaryDirectory() as folder:
        output = MODELS[model][0]
        bundle = compile(folder, model, dtype, plan, "--train", "--loss", f"mse({output}, labels)", "--optimizer", "sgd", "--lr", "0.05")

        def losses(settings, *options):
            return steps(pcc.succeed("run", bundle, "--random-inputs", "1", "--steps", "3", "-q", *options, env=environment(folder, settings)))

        mine, theirs = losses(""), losses(CUDNN)
        if losses(CUDNN + ",seed=7", "--no-graph") != theirs:
            raise pcc.Failure("a graph of the step gives other numbers than its kernels")
        if not np.allclose(mine, theirs, rtol=TOLERANCES[dtype], atol=0):
            raise pcc.Failure(f"losses and norms {theirs}, of pcc's kernels {mine}")
        if np.array_equal(mine, theirs):
            raise pcc.Failure("cuDNN has computed nothing")
        # The six digits of f16 do not always show a difference.
        if dtype == "bf16" and np.array_equal(losses(CUDNN + ",gradless=1"), theirs):
            raise pcc.Failure("cuDNN has computed no gradients")


for m in MODELS:
    for t in TOLERANCES:
        for p in PLANS:
            CASES[f"{m} {t} {p}"] = lambda m=m, t=t, p=p: infer(m, t, p)
        for p in TRAINING_PLANS:
            CASES[f"train {m} {t} {p}"] = lambda m=m, t=t, p=p: train(m, t, p)

if __name__ == "__main__":
    pcc.main(__doc__, CASES)
