#!/usr/bin/env python3
"""Compares inference of pcc, ONNX Runtime and PyTorch, in one interleaved run: seconds per step and ratios to PyTorch eager.

    bench/setup && build/bench-venv/bin/python bench/inference.py -o results.json
    … --models gpt2 --threads 1 --rounds 3 --steps 5
    … --exports DIR

Models are those of test/models, or with --exports real ones with their weights: DIR/gpt2-124m, bert-base, resnet50, each with a
model.onnx whose inputs and sizes are the same.

Every variant is a process of its own. In a round, each variant executes some steps, in random order and with pauses in between.
Ratios are computed within a round, and the medians over rounds are reported, because absolute times drift."""
import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path.insert(0, os.path.join(ROOT, "test", "models"))
sys.dont_write_bytecode = True
import builder
import exports
import oracle
from asked import Asked

PCC = os.environ.get("PCC", os.path.join(ROOT, "build", "release", "bin", "pcc"))
BASE = "torch-eager"
PEERS = ["onnxruntime", "torch-eager", "torch-compile", "torch-compile-frozen"]
PAUSE = 0.5          # seconds; ONNX Runtime's workers spin for a while after a step

# name: (options of the builder, dims, tolerance for outputs)
MODELS = {
    "gpt2": (dict(layers=12, hidden=768, heads=12, vocabulary=50257, positions=1024), {"batch": 1, "seq": 128}),
    "bert": (dict(layers=12, hidden=768, heads=12, vocabulary=30522, positions=512), {"batch": 1, "seq": 128}),
    "resnet": (dict(stem=64, widths=(256, 512, 1024, 2048), depths=(3, 4, 6, 3), classes=1000, image=224), {"batch": 1}),
}


class Peer(Asked):
    """A process of peer.py."""

    def steps(self, count):
        return self.ask(count)

    def outputs(self, folder):
        self.ask(f"outputs {folder}")


class Pcc:
    """`pcc run` of a bundle for one rank. Its own report has the time of each step."""

    def __init__(self, path, folder, inputs, dims, threads):
        self.bundle, self.threads = os.path.join(folder, "model.pcc"), threads
        self.inputs = [w for f in sorted(os.listdir(inputs)) for w in ("--input", f"{f[:-4]}={os.path.join(inputs, f)}")]
        if not os.path.exists(self.bundle):
            options = [w for k, v in dims.items() for w in ("--dim", f"{k}={v}")]
            subprocess.run([PCC, path, "-o", self.bundle, "-q", *options], check=True)

    def run(self, *options):
        subprocess.run([PCC, "run", self.bundle, *self.inputs, "--comm", "thread", "--threads", str(self.threads), *options],
                       check=True, stderr=subprocess.DEVNULL)

    def steps(self, count):
        with tempfile.TemporaryDirectory() as folder:
            report = os.path.join(folder, "report.json")
            self.run("--repeat", str(count), "--warmup", "2", "--report", report)
            with open(report) as f:
                return json.load(f)["ranks"][0]["steps"]

    def outputs(self, folder):
        self.run("--output", folder)

    def end(self):
        pass


def differences(variants, folder):
    """Returns the difference of each variant's output from that of the first one. The time of a wrong program would mean
    nothing."""
    values = {}
    for name, variant in variants.items():
        target = os.path.join(folder, "outputs", name)
        variant.outputs(target)
        values[name] = next(iter(oracle.load(target).values()))
    want = values[BASE]
    return {name: oracle.relative_error(value.astype(want.dtype), want) for name, value in values.items()}


def prepare(model, arguments, folder):
    """Writes the model and its inputs once; returns the model's path."""
    options, dims = MODELS[model]
    graph = builder.Graph()
    builder.MODELS[model](graph, **options)
    oracle.save(os.path.join(folder, "inputs"), graph.draw_inputs(dims))
    if arguments.exports:
        return os.path.join(arguments.exports, exports.MODELS[model][0], "model.onnx")
    path = os.path.join(folder, "model.onnx")
    if not os.path.exists(path):
        graph.save(path, external=True)
    return path


def measure(model, threads, arguments, folder):
    path, inputs, dims = prepare(model, arguments, folder), os.path.join(folder, "inputs"), MODELS[model][1]
    variants = {} if arguments.without_pcc else {"pcc": Pcc(path, folder, inputs, dims, threads)}
    variants |= {v: Peer("peer.py", v, model, path, inputs, threads, threads=threads) for v in PEERS}
    error = differences(variants, folder)
    rounds = []
    for _ in range(arguments.rounds):
        seconds = {}
        for name in random.sample(list(variants), len(variants)):
            time.sleep(PAUSE)
            seconds[name] = statistics.median(variants[name].steps(arguments.steps))
        rounds.append(seconds)
    for v in variants.values():
        v.end()
    return [dict(model=model, threads=threads, variant=v, seconds=statistics.median(r[v] for r in rounds),
                 ratio=statistics.median(r[v] / r[BASE] for r in rounds), relative_error=error[v]) for v in variants]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--exports", metavar="DIR", help="real exports instead of the models of test/models")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--without-pcc", action="store_true", help="the peers alone")
    parser.add_argument("-o", "--output", metavar="FILE.json")
    arguments = parser.parse_args()
    results, scratch = [], tempfile.mkdtemp(prefix="pcc-bench-")
    try:
        for model in arguments.models.split(","):
            folder = os.path.join(scratch, model)
            for threads in map(int, arguments.threads.split(",")):
                for row in measure(model, threads, arguments, folder):
                    results.append(row)
                    print(f"{row['model']:8} {row['threads']} threads  {row['variant']:22} {1e3 * row['seconds']:8.1f} ms  "
                          f"ratio {row['ratio']:.2f}  difference {row['relative_error']:.1e}", flush=True)
            shutil.rmtree(folder)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    if arguments.output:
        with open(arguments.output, "w") as f:
            json.dump(results, f, indent=1)


if __name__ == "__main__":
    main()
