#!/usr/bin/env python3
"""The kernels of all models, in f32 and bf16, to infer and to train, as a GPU's: NVIDIA's assembler takes them for every
architecture, and those without reductions keep everything in registers.

    run_gpu_kernels.py [--only GLOB] [--every N] [--jobs N]

Models are those of run_numeric.py.
"""
import json
import os
import re
import tempfile

import onnx
import pcc
from run_numeric import MODELS, builder, dims_of, place, real_models

ARCHITECTURES = ["sm_80", "sm_90"]
KERNELS_TO_PTX = os.environ["KERNELS_TO_PTX"]
PTXAS, LIBDEVICE = os.environ["PTXAS"], os.environ["LIBDEVICE"]
CASES = {}


def assemble(dump, arch, folder):
    """Per kernel what kernels-to-ptx tells and, as `local`, the bytes of local memory that a thread has."""
    ptx = os.path.join(folder, arch + ".ptx")
    _, told, err = pcc.call(dump, arch, LIBDEVICE, ptx, command=[KERNELS_TO_PTX])
    kernels = [json.loads(line) for line in told.splitlines()]
    code, _, said = pcc.call("-v", f"-arch={arch}", ptx, "-o", os.devnull, command=[PTXAS])
    if code:
        raise pcc.Failure(f"ptxas: {err}{said[-600:]}")
    frames = re.findall(r"Function properties for pcc_k_(\d+)\n\s*(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes", said)
    if len(frames) != len(kernels):
        raise pcc.Failure(f"{len(frames)} of {len(kernels)} kernels were assembled")
    for number, *sizes in frames:
        kernels[int(number)]["local"] = max(map(int, sizes))
    return kernels


def check(model, options):
    with tempfile.TemporaryDirectory() as folder:
        pcc.succeed(model, *options, "--dump-ir=" + folder, "-o", os.path.join(folder, "b.pcc"), "-q")
        for arch in ARCHITECTURES:
            for kernel in assemble(os.path.join(folder, "7-emit.mlir"), arch, folder):
                if kernel["local"] and not kernel["reduces"]:
                    raise pcc.Failure(f"{arch}: {kernel['name']} has {kernel['local']} bytes of local memory")


def check_model(name, options, is_random=False):
    with tempfile.TemporaryDirectory() as folder:
        model, inputs = place(name, folder)
        if is_random:
            builder.without_weights(model)
        dims = pcc.dim_options(dims_of(model, inputs))
        output = onnx.load(model, load_external_data=False).graph.output[0].name
        check(model, dims + [o.format(output=output) for o in options])


TRAIN = ["--train", "--loss", "mse({output}, labels)", "--optimizer", "adamw", "--clip-norm", "1"]
FORMS = {"infer": [], "infer bf16": ["--dtype", "bf16"], "train": TRAIN, "train bf16": TRAIN + ["--dtype", "bf16"]}
for name in list(MODELS) + ["real:" + n for n in real_models()]:
    for form, options in FORMS.items():
        CASES[f"{name} {form}"] = lambda n=name, o=options: check_model(n, o + ["--tp", "2", "--target", "cuda"])

for form in ("train", "train bf16"):
    CASES[f"gpt2 {form} random weights"] = lambda o=FORMS[form]: check_model(
        "gpt2", [*o, "--random-weights", "7", "--target", "cuda"], is_random=True)

if __name__ == "__main__":
    pcc.main(__doc__, CASES)
