#!/usr/bin/env python3
"""Compiles what bench/gpu/run measures, on a machine that needs no GPU:

    build/venv/bin/python bench/gpu/prepare.py [--folder build/bench-gpu] [--arch sm_90] [--small]

Writes a folder of bundles with random weights, gpu-probe and plan.json, which says what they are, and FOLDER.tar.xz of all that, to
be carried to a machine with a GPU. --small: models of toys' size, to try the script itself."""
import argparse
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.join(ROOT, "build", "release")
for part in ("models", "numeric"):
    sys.path.insert(0, os.path.join(ROOT, "test", part))
sys.dont_write_bytecode = True
import builder
import onnx
from run_numeric import MODELS

PCC = os.environ.get("PCC", os.path.join(BUILD, "bin", "pcc"))
PROBE = os.path.join(BUILD, "bench", "gpu-probe")
# Kernels of steps of training are compared with their twins.
TRAINED = ["mlp", "gpt2", "gpt2-attention", "llama", "bert", "vit", "resnet", "mobilenet", "unet", "moe"]
DTYPES = ["f32", "bf16"]
GPT2 = dict(layers=12, hidden=768, heads=12, vocabulary=50257, positions=1024)
TOY = dict(layers=2, hidden=64, heads=2, vocabulary=509, positions=64)
TWINS = ["--cpu", "x86-64-v3"]
# Of GPT-2 on several ranks; losses are those of one rank.
PLANS = {"1": [], "tp2": ["--tp", "2"], "pp2": ["--pp", "2", "--microbatches", "2"], "dp2": ["--dp", "2"],
         "tp2-pp2": ["--tp", "2", "--pp", "2", "--microbatches", "2"], "dp2-tp2": ["--dp", "2", "--tp", "2"]}


def training(output, loss="mse"):
    return ["--train", "--loss", f"{loss}({output}, labels)", "--optimizer", "adamw", "--clip-norm", "1"]


def sizes(dims):
    return [w for k, v in dims.items() for w in ("--dim", f"{k}={v}")]


def dims_in(path, dims):
    """Those of `dims` that the model leaves open."""
    graph = onnx.load(path, load_external_data=False).graph
    open_dims = {d.dim_param for i in graph.input for d in i.type.tensor_type.shape.dim}
    return {k: v for k, v in dims.items() if k in open_dims}


class Folder:
    def __init__(self, path, arch):
        self.path, self.arch, self.jobs, self.plan = path, arch, [], {"checks": [], "plans": []}
        shutil.rmtree(path, ignore_errors=True)
        os.makedirs(path)
        shutil.copy(PROBE, path)

    def compile(self, model, name, *options):
        bundle = os.path.join(self.path, name + ".pcc")
        command = [PCC, model, "-o", bundle, "--target", "cuda", "--gpu-arch", self.arch, "--random-weights", "7", "-q", *options]
        self.jobs.append(command)
        return name + ".pcc"

    def finish(self):
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for command, done in zip(self.jobs, pool.map(lambda c: subprocess.run(c, stderr=subprocess.PIPE, text=True), self.jobs)):
                if done.returncode:
                    raise SystemExit(f"{' '.join(command)}: {done.stderr}")
        with open(os.path.join(self.path, "plan.json"), "w") as f:
            json.dump(self.plan, f, indent=1)
        with tarfile.open(self.path + ".tar.xz", "w:xz") as archive:
            archive.add(self.path, os.path.basename(self.path))


def add_checks(folder, models, names):
    for name in names:
        model, options, dims = MODELS[name]
        path = os.path.join(models, name + ".onnx")
        builder.build(model, path, **options)
        output = builder.without_weights(path)
        for dtype in DTYPES:
            folder.plan["checks"].append(folder.compile(path, f"check-{name}-{dtype}", *TWINS, "--dtype", dtype, *sizes(dims_in(path, dims)),
                                                        *training(output)))


def add_gpt2(folder, models, sizes_of_model, plans, batch, seq, *options):
    path = os.path.join(models, "large.onnx")  # not one of MODELS
    graph = builder.build("gpt2", path, external=True, **sizes_of_model)
    builder.without_weights(path)
    weights = {w.name: list(w.shape) for w in graph.weights}
    dims = [*options, *sizes(dict(batch=batch, seq=seq))]
    small = [*options, *sizes(dict(batch=4, seq=min(seq, 256)))]
    adamw = training("logits", "cross_entropy")
    folder.plan["gpt2"] = dict(
        sizes_of_model, batch=batch, seq=seq, weights=weights,
        train=folder.compile(path, "gpt2-train", "--dtype", "bf16", *dims, *adamw),
        infer=folder.compile(path, "gpt2-infer", "--dtype", "bf16", *dims))
    for name, plan in plans.items():
        folder.plan["plans"].append(dict(name=name, bundle=folder.compile(path, f"gpt2-{name}", *small, *adamw, *plan)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", default=os.path.join(ROOT, "build", "bench-gpu"))
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--small", action="store_true")
    arguments = parser.parse_args()
    folder = Folder(os.path.abspath(arguments.folder), arguments.arch)
    with tempfile.TemporaryDirectory(prefix="pcc-bench-") as models:
        if arguments.small:
            add_checks(folder, models, ["mlp"])
            # GPUs that are not there (test/runtime/fake) have nothing but twins.
            add_gpt2(folder, models, TOY, {name: PLANS[name] for name in ("1", "dp2", "tp2-pp2")}, 4, 64, *TWINS)
        else:
            add_checks(folder, models, TRAINED)
            add_gpt2(folder, models, GPT2, PLANS, arguments.batch, 1024)
        folder.finish()
    print(f"{folder.path}.tar.xz: {os.path.getsize(folder.path + '.tar.xz') / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
