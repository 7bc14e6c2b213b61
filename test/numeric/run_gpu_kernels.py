#!/usr/bin/env python3
"""Tests the GPU kernels of all models, in f32 and bf16, for inference and training: NVIDIA's assembler accepts them for every
architecture, and those without reductions use no local memory.

    run_gpu_kernels.py [--only GLOB] [--every N] [--jobs N]

Models are those of run_numeric.py and, if the folder of real exports exists beside the repository, the full-size ones, whose
weights are missing.
"""
import json
import os
import re
import tempfile

import onnx
import pcc
from run_numeric import MODELS, builder, dims_of, place, real_models
from sharded_graph import Graph

ARCHITECTURES = ["sm_80", "sm_90"]
KERNELS_TO_PTX = os.environ["KERNELS_TO_PTX"]
PTXAS, LIBDEVICE = os.environ["PTXAS"], os.environ["LIBDEVICE"]
CASES = {}
# Hashes of kernels that passed. Equal kernels of other models would pass as well.
GOOD = set()


def kernels_of(program, folder):
    """Returns the output of kernels-to-ptx for kernels that are not known yet, and writes their PTX."""
    known = os.path.join(folder, "known")
    with open(known, "w") as file:
        file.write("\n".join(sorted(GOOD)))
    code, told, err = pcc.call(program, LIBDEVICE, folder, known, *ARCHITECTURES, command=[KERNELS_TO_PTX])
    if code:
        raise pcc.Failure(f"kernels-to-ptx: exit code {code}: {err[-600:]}")
    return [json.loads(line) for line in told.splitlines()]


def assemble(kernels, arch, folder):
    """Assembles kernels. Returns for each, as `local`, the bytes of local memory per thread."""
    ptx = os.path.join(folder, arch + ".ptx")
    code, _, said = pcc.call("-v", f"-arch={arch}", ptx, "-o", os.devnull, command=[PTXAS])
    if code:
        raise pcc.Failure(f"ptxas: {said[-600:]}")
    frames = re.findall(r"Function properties for pcc_k_(\d+)\n\s*(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes", said)
    if len(frames) != len(kernels):
        raise pcc.Failure(f"{len(frames)} of {len(kernels)} kernels were assembled")
    for number, *sizes in frames:
        kernels[int(number)]["local"] = max(map(int, sizes))


def check(model, options):
    with tempfile.TemporaryDirectory() as folder:
        pcc.succeed(model, *options, "--dump-ir=" + folder, "--stop-after", "6-schedule", "-q")
        kernels = kernels_of(os.path.join(folder, "6-schedule.mlir"), folder)
        for arch in ARCHITECTURES if kernels else []:
            assemble(kernels, arch, folder)
            for kernel in kernels:
                if kernel["local"] and not kernel["reduces"]:
                    raise pcc.Failure(f"{arch}: {kernel['name']} has {kernel['local']} bytes of local memory")
        GOOD.update(k["hash"] for k in kernels if "hash" in k)


def check_model(name, options, is_random=False):
    with tempfile.TemporaryDirectory() as folder:
        model, inputs = place(name, folder)
        if is_random:
            builder.without_weights(model)
        check(model, [*pcc.dim_options(dims_of(model, inputs)), *for_output(model, options)])


def for_output(model, options):
    output = onnx.load(model, load_external_data=False).graph.output[0].name
    return [o.format(output=output) for o in options]


def full_models():
    """Returns the names of the real exports whose descriptions say how their weights are generated."""
    if not os.path.isdir(pcc.REAL_MODELS):
        return []
    return [n for n in sorted(os.listdir(pcc.REAL_MODELS)) if os.path.exists(os.path.join(pcc.REAL_MODELS, n, "weights.json"))]


def check_full(name, options):
    model = os.path.join(pcc.REAL_MODELS, name, "model.onnx")
    graph = onnx.load(model, load_external_data=False).graph
    open_dims = {d.dim_param for i in graph.input for d in i.type.tensor_type.shape.dim}
    dims = {k: v for k, v in {"batch": 8, "seq": 512}.items() if k in open_dims}
    check(model, [*pcc.dim_options(dims), "--random-weights", "7", *for_output(model, options)])


def check_joined(count, kind, **attributes):
    """Checks that `count` reductions of one kind whose results are added need no more memory than a block's threads can share."""
    graph = Graph()
    for i in range(count):
        x = graph.normal(f"x{i}", 64, 96)
        graph.op(kind, [x], [f"r{i}"], **attributes)
        if i:
            graph.op("Add", [f"s{i - 1}" if i > 1 else "r0", f"r{i}"], [f"s{i}"])
    graph.outputs = [f"s{count - 1}"]
    with tempfile.TemporaryDirectory() as folder:
        check(graph.save(folder)[0], ["--target", "cuda"])


TRAIN = ["--train", "--loss", "mse({output}, labels)", "--optimizer", "adamw", "--clip-norm", "1"]
FORMS = {"infer": [], "infer bf16": ["--dtype", "bf16"], "train": TRAIN, "train bf16": TRAIN + ["--dtype", "bf16"]}
for name in list(MODELS) + ["real:" + n for n in real_models()]:
    for form, options in FORMS.items():
        CASES[f"{name} {form}"] = lambda n=name, o=options: check_model(n, o + ["--tp", "2", "--target", "cuda"])
for name in full_models():
    for form, options in FORMS.items():
        dtype = [] if "--dtype" in options else ["--dtype", "f32"]
        CASES[f"full:{name} {form}"] = lambda n=name, o=options + dtype: check_full(n, o + ["--tp", "2", "--target", "cuda"])

CASES["many transposes"] = lambda: check_joined(13, "Transpose", perm=[1, 0])
CASES["many reductions"] = lambda: check_joined(20, "ArgMax", axis=0)
for form in ("train", "train bf16"):
    CASES[f"gpt2 {form} random weights"] = lambda o=FORMS[form]: check_model(
        "gpt2", [*o, "--random-weights", "7", "--target", "cuda"], is_random=True)

if __name__ == "__main__":
    pcc.main(__doc__, CASES)
