#!/usr/bin/env python3
"""Bundles for CUDA on a GPU that is not there (test/runtime/fake): its kernels are the host's, but driver, libraries and
streams are called as ever. What the ranks compute agrees with ONNX Runtime to 1e-4, the losses of three steps of training
with those of a processor.

    run_cuda.py [--only GLOB] [--every N] [--jobs N]

Models are those of run_numeric.py.
"""
import json
import os
import tempfile

import numpy as np
import onnx

import executed
import pcc
from run_numeric import MODELS, RUN_TOLERANCE, dims_of, oracle, place, prepare, real_models

FAKE = {"PCC_CUDA_LIBRARIES": os.environ["FAKE_CUDA"]}
CUDA = ["--target", "cuda", "--cpu", "x86-64-v3"]
PLANS = ["tp=1", "tp=1,microbatches=4"]
# Running sums over tokens of all samples: their batch cannot be cut into microbatches.
WHOLE_BATCH = ("real:moe-dropping", "real:moe-einsum")
TRAINED = ["gpt2", "gpt2-untied", "llama", "bert", "vit", "resnet", "mobilenet", "unet", "moe"]
CASES = {}


def infer(name, plan):
    with tempfile.TemporaryDirectory() as folder:
        path, dims = prepare(name, folder)
        inputs = pcc.input_options(os.path.join(folder, "inputs"))
        bundle, out = os.path.join(folder, "model.pcc"), os.path.join(folder, "out")
        pcc.succeed(path, "-o", bundle, *CUDA, *pcc.dim_options(dims), *pcc.plan_options(plan))
        pcc.succeed("run", bundle, *inputs, "--output", out, env=FAKE)
        executed.compare(oracle.load(out), oracle.load(os.path.join(folder, "expected")), RUN_TOLERANCE)


def losses(path, bundle, options, env):
    pcc.succeed(path, "-o", bundle, *options)
    report = bundle + ".json"
    pcc.succeed("run", bundle, "--random-inputs", 1, "--steps", 3, "--report", report, env=env)
    with open(report) as file:
        return [step["loss"] for step in json.load(file)["steps"]]


def train(name, plan):
    with tempfile.TemporaryDirectory() as folder:
        path, inputs = place(name, folder)
        output = onnx.load(path, load_external_data=False).graph.output[0].name
        options = [*pcc.dim_options(dims_of(path, inputs)), *pcc.plan_options(plan), "--train", "--loss", f"mse({output}, labels)",
                   "--optimizer", "adamw"]
        want = losses(path, os.path.join(folder, "cpu.pcc"), options, {})
        got = losses(path, os.path.join(folder, "cuda.pcc"), options + CUDA, FAKE)
        if len(want) != 3 or not np.allclose(got, want, rtol=RUN_TOLERANCE, atol=0):
            raise pcc.Failure(f"losses {got}, expected {want}")


for model in list(MODELS) + ["real:" + n for n in real_models()]:
    for plan in PLANS:
        if not (model.startswith(WHOLE_BATCH) and "microbatches" in plan):
            CASES[f"{model} {plan}"] = lambda m=model, p=plan: infer(m, p)
for model in TRAINED:
    for plan in PLANS:
        CASES[f"train {model} {plan}"] = lambda m=model, p=plan: train(m, p)

if __name__ == "__main__":
    pcc.main(__doc__, CASES)
