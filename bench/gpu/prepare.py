#!/usr/bin/env python3
"""Compiles the programs that bench/gpu/run measures, on a machine that needs no GPU:

    build/venv/bin/python bench/gpu/prepare.py [--folder build/bench-gpu] [--arch sm_90] [--small]

Writes a folder with bundles (which have random weights), gpu-probe, and plan.json, which describes the bundles and holds the
results of some of them on this machine's CPUs. Also packs the folder as FOLDER.tar.xz, to be copied to a machine with a GPU.
--small: toy models, to try the script itself."""
import argparse
import concurrent.futures
import json
import lzma
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
from samples import samples

PCC = os.environ.get("PCC", os.path.join(BUILD, "bin", "pcc"))
PROBE = os.path.join(BUILD, "bench", "gpu-probe")
# Models whose kernels of training steps are compared with their twins on the CPU.
TRAINED = ["mlp", "gpt2", "gpt2-attention", "llama", "bert", "vit", "resnet", "mobilenet", "unet", "moe"]
DTYPES = ["f32", "bf16"]
GPT2 = dict(layers=12, hidden=768, heads=12, vocabulary=50257, positions=1024)
TOY = dict(layers=2, hidden=64, heads=2, vocabulary=509, positions=64)
TWINS = ["--cpu", "x86-64-v3"]
# Plans of GPT-2 on several ranks, which are compared with one rank.
PLANS = {"tp2": ["--tp", "2"], "pp2": ["--pp", "2", "--microbatches", "2"], "dp2": ["--dp", "2"],
         "tp2-pp2": ["--tp", "2", "--pp", "2", "--microbatches", "2"], "dp2-tp2": ["--dp", "2", "--tp", "2"]}
# Batch and tokens of the computations that CPUs repeat. All layers are alike, so twins compute only two of them.
CHECKED, INFERRED, TRAINED_BY_ALL = (1, 256), (1, 1024), (4, 64)
CHECKED_LAYERS = 2
STEPS = 3
# The bundles have many bytes in common, at distances of some megabytes.
PACKED = [dict(id=lzma.FILTER_LZMA2, preset=1, dict_size=64 << 20)]
ADAMW = ["--optimizer", "adamw", "--clip-norm", "1"]


def training(output, loss="mse"):
    return ["--train", "--loss", f"{loss}({output}, labels)", *ADAMW]


def sizes(dims):
    return [w for k, v in dims.items() for w in ("--dim", f"{k}={v}")]


def dims_in(path, dims):
    """Returns those of `dims` that are dynamic in the model."""
    graph = onnx.load(path, load_external_data=False).graph
    open_dims = {d.dim_param for i in graph.input for d in i.type.tensor_type.shape.dim}
    return {k: v for k, v in dims.items() if k in open_dims}


class Folder:
    """The folder that is copied to a GPU machine. Models, and programs for this machine, are in another folder."""

    def __init__(self, path, models, arch):
        self.path, self.models, self.arch, self.jobs, self.references = path, models, arch, [], []
        self.plan = dict(checks=[], inference={}, training={}, plans={})
        shutil.rmtree(path, ignore_errors=True)
        os.makedirs(path)
        shutil.copy(PROBE, path)

    def add_job(self, model, bundle, *options):
        self.jobs.append([PCC, model, "-o", bundle, "--random-weights", "7", "-q", *options])

    def compile(self, model, name, *options):
        self.add_job(model, os.path.join(self.path, name + ".pcc"), "--target", "cuda", "--gpu-arch", self.arch, *options)
        return name + ".pcc"

    def refer(self, model, name, options, *run_options, take):
        """Returns a case of the plan. It will hold the result of take(folder of outputs) for the same computation on this
        machine."""
        case, here = dict(bundle=self.compile(model, name, *options)), os.path.join(self.models, name + ".pcc")
        self.add_job(model, here, *options)
        self.references.append((case, [os.path.join(here, "run"), "--random-inputs", "1", "-q", *run_options], take))
        return case

    def finish(self):
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(succeed, self.jobs))
        for case, command, take in self.references:
            with tempfile.TemporaryDirectory(dir=self.models) as out:
                succeed([*command, "--output", out, "--report", os.path.join(out, "report.json")])
                case.update(take(out))
        with open(os.path.join(self.path, "plan.json"), "w") as f:
            json.dump(self.plan, f, indent=1)
        with lzma.open(self.path + ".tar.xz", "wb", filters=PACKED) as file, tarfile.open(fileobj=file, mode="w") as archive:
            archive.add(self.path, os.path.basename(self.path))


def succeed(command):
    done = subprocess.run(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: {done.stderr}")


def logits_in(out):
    found = samples(os.path.join(out, "logits.npy"))
    return dict(logits=found | dict(numbers=[float(f"{number:.8g}") for number in found["numbers"]]))


def steps_in(out):
    with open(os.path.join(out, "report.json")) as f:
        return dict(steps=[[step["loss"], step["grad_norm"]] for step in json.load(f)["steps"]])


def add_check(folder, path, name, options):
    for dtype in DTYPES:
        folder.plan["checks"].append(folder.compile(path, f"check-{name}-{dtype}", *TWINS, "--dtype", dtype, *options))


def add_checks(folder, names):
    for name in names:
        model, options, dims = MODELS[name]
        path = os.path.join(folder.models, name + ".onnx")
        builder.build(model, path, **options)
        add_check(folder, path, name, [*sizes(dims_in(path, dims)), *training(builder.without_weights(path))])


def build_gpt2(folder, name, model):
    """Writes a GPT-2. Returns its path and the shapes of its weights."""
    path = os.path.join(folder.models, name + ".onnx")
    graph = builder.build("gpt2", path, external=True, **model)
    builder.without_weights(path)
    return path, {w.name: list(w.shape) for w in graph.weights}


def add_gpt2(folder, model, plans, batch, steps, options=()):
    """Adds the comparisons with twins and with CPUs, the timed programs, and the plans for several ranks."""
    def dims(batch, seq):
        return [*sizes(dict(batch=batch, seq=min(seq, model["positions"]))), *options]

    adamw, plan = training("logits", "cross_entropy"), folder.plan
    path, _ = build_gpt2(folder, "gpt2-two-layers", model | dict(layers=CHECKED_LAYERS))
    add_check(folder, path, "gpt2-124m", [*dims(*CHECKED), *adamw])
    path, weights = build_gpt2(folder, "gpt2-124m", model)
    for dtype in DTYPES:
        plan["inference"][dtype] = folder.refer(path, f"gpt2-infer-{dtype}", ["--dtype", dtype, *dims(*INFERRED)], take=logits_in)
        plan["training"][dtype] = folder.refer(path, f"gpt2-train-{dtype}", ["--dtype", dtype, *dims(*TRAINED_BY_ALL), *adamw], "--steps",
                                               str(STEPS), take=steps_in)
    timed = ["--dtype", "bf16", *dims(batch, model["positions"])]
    plan["gpt2"] = dict(model, batch=batch, seq=model["positions"], weights=weights, steps=steps, warmup=steps // 3,
                        infer=folder.compile(path, "gpt2-infer", *timed), train=folder.compile(path, "gpt2-train", *timed, *adamw))
    for name in plans:
        plan["plans"][name] = folder.compile(path, f"gpt2-{name}", *dims(*TRAINED_BY_ALL), *adamw, *PLANS[name])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", default=os.path.join(ROOT, "build", "bench-gpu"))
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--small", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pcc-bench-") as models:
        folder = Folder(os.path.abspath(arguments.folder), models, arguments.arch)
        if arguments.small:
            # Fake GPUs (test/runtime/fake) only have twins.
            add_gpt2(folder, TOY, ["dp2", "tp2-pp2"], 4, 3, TWINS)
            add_checks(folder, ["mlp"])
        else:
            add_gpt2(folder, GPT2, PLANS, arguments.batch, 30)
            add_checks(folder, TRAINED)
        folder.finish()
    print(f"{folder.path}.tar.xz: {os.path.getsize(folder.path + '.tar.xz') / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
