#!/usr/bin/env python3
"""Tests weights of --random-weights on fake GPUs (test/runtime/fake): kernels generate them with the same bits as a CPU,
however they are sharded, transposed or converted, and the host generates none. The model's own weights are missing.

    run_cuda_weights.py [--only GLOB] [--every N] [--jobs N]

Models are those of run_numeric.py.
"""
import os
import tempfile

import pcc
from run_cuda import TARGET, fake
from run_numeric import builder, dims_of, place

PLANS = ["tp=1", "tp=2", "tp=4", "tp=3", "pp=2", "dp=2,preset=zero1", "dp=4,preset=zero3", "tp=2,pp=2"]
MODELS = ["mlp-odd", "gpt2", "gpt2-odd", "llama-odd", "bert", "resnet", "unet", "moe"]
PRECISIONS = {"": [], " bf16": ["--dtype", "bf16"], " f16": ["--dtype", "f16"]}
CASES = {}


def weights(bundle, *options, **settings):
    """Returns the checkpoint after a step that changes no weight."""
    saved, out = bundle + ".saved", bundle + ".safetensors"
    pcc.succeed("run", bundle, "--random-inputs", 1, "--steps", 1, "--save", saved, "-q", *options, **settings)
    pcc.succeed("checkpoint", "export", saved, "-o", out)
    with open(out, "rb") as file:
        return file.read()


def check(name, plan, options):
    with tempfile.TemporaryDirectory() as folder:
        path, inputs = place(name, folder)
        dims = pcc.dim_options(dims_of(path, inputs))
        loss = f"mse({builder.without_weights(path)}, labels)"
        options = [*dims, *options, "--train", "--loss", loss, "--optimizer", "sgd", "--lr", 0, "--random-weights", 7]
        bundle, plain = os.path.join(folder, "gpu.pcc"), os.path.join(folder, "cpu.pcc")
        pcc.succeed(path, "-o", plain, *options)
        pcc.succeed(path, "-o", bundle, *options, *TARGET, *pcc.plan_options(plan))
        os.remove(path)
        if weights(bundle, env=fake(folder)) != weights(plain):
            raise pcc.Failure("a processor makes other weights")


def launches():
    """Tests that launches generate the weights before the first launch of a step."""
    with tempfile.TemporaryDirectory() as folder:
        path, inputs = place("mlp", folder)
        builder.without_weights(path)
        bundle = os.path.join(folder, "gpu.pcc")
        pcc.succeed(path, "-o", bundle, *pcc.dim_options(dims_of(path, inputs)), "--random-weights", 7, *TARGET)
        first = pcc.inspect(bundle)["kernels"]["calls"] + 1
        code, _, said = pcc.call("run", bundle, "--random-inputs", 1, env=fake(folder, f"fail-at={first}"))
        if code == 0 or "cuLaunchKernel" not in said:
            raise pcc.Failure(f"exit code {code}: {said}")


CASES["launches make them"] = launches
for model in MODELS:
    for plan in PLANS:
        for precision, options in PRECISIONS.items():
            CASES[f"{model} {plan}{precision}"] = lambda m=model, p=plan, o=options: check(m, p, o)

if __name__ == "__main__":
    pcc.main(__doc__, CASES)
