#!/usr/bin/env python3
"""Bundles for CUDA on a GPU that is not there (test/runtime/fake): its kernels are the host's, but driver, libraries and
streams are called as ever. What the ranks compute agrees with ONNX Runtime to 1e-4.

    run_cuda.py [--only GLOB] [--every N] [--jobs N]

Models are those of run_numeric.py.
"""
import os
import tempfile

import executed
import pcc
from run_numeric import MODELS, RUN_TOLERANCE, oracle, prepare, real_models

FAKE = {"PCC_CUDA_LIBRARIES": os.environ["FAKE_CUDA"]}
PLANS = ["tp=1", "tp=1,microbatches=4"]
CASES = {}


def infer(name, plan):
    with tempfile.TemporaryDirectory() as folder:
        path, dims = prepare(name, folder)
        inputs = pcc.input_options(os.path.join(folder, "inputs"))
        bundle, out = os.path.join(folder, "model.pcc"), os.path.join(folder, "out")
        pcc.succeed(path, "-o", bundle, "--target", "cuda", "--cpu", "x86-64-v3", *pcc.dim_options(dims), *pcc.plan_options(plan))
        pcc.succeed("run", bundle, *inputs, "--output", out, env=FAKE)
        executed.compare(oracle.load(out), oracle.load(os.path.join(folder, "expected")), RUN_TOLERANCE)


for model in list(MODELS) + ["real:" + n for n in real_models()]:
    for plan in PLANS:
        CASES[f"{model} {plan}"] = lambda m=model, p=plan: infer(m, p)

if __name__ == "__main__":
    pcc.main(__doc__, CASES)
