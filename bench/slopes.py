#!/usr/bin/env python3
"""How the time of each phase of a compilation grows with the model and with the plan. Prints, per axis of growth and per phase,
the seconds at the largest size and the exponent e of seconds ~ size^e over the largest three sizes; fails where one is above
--most. A phase that takes less than --least seconds at the largest size is left out: its exponent is that of the clock.

    build/venv/bin/python bench/slopes.py [--only GLOB] [--steps N] [--repeat N] [--least S] [--most E] [--pcc build/release/bin/pcc]

`files` is what a compilation takes behind its phases: machine code, linking and writing the bundle. Seconds are processor time, to
which other processes add little, and the least of --repeat runs. 7-emit has a search of at most 0.2 s for a small arena (Arena.h); its slope
is steep where that search begins and flat behind it. With more than a thousand microbatches, the placement of buffers with a
slot for each microbatch takes longer than that: 0.4 s for 2,048, and 5 s for 8,192."""
import argparse
import fnmatch
import json
import math
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHAPE = [8, 8]
TRAIN = ["--train", "--loss", "mse(y, labels)", "--optimizer", "sgd"]


class Model:
    """A model of values of `shape`, with an input `x` if nothing else is added."""

    def __init__(self, shape=SHAPE):
        self.shape = shape
        self.nodes, self.inputs, self.outputs, self.weights = [], [], [], []
        self.random = np.random.default_rng(0)

    def input(self, name):
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, self.shape))
        return name

    def weight(self, shape=SHAPE):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(self.random.standard_normal(shape).astype("f4") * 0.3, name))
        return name

    def op(self, kind, *operands, out=None, **attributes):
        out = out or f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, operands, [out], name=f"n{len(self.nodes)}", **attributes))
        return out

    def output(self, name, shape=None):
        self.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape or self.shape))
        return self

    def finish(self, value):
        """Makes the Relu of `value` the only output."""
        self.op("Relu", value, out="y")
        return self.output("y")

    def save(self, path):
        graph = helper.make_graph(self.nodes, "g", self.inputs, self.outputs, self.weights)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10), path)


def nodes(n):
    m = Model()
    v = m.input("x")
    for i in range(n - 1):
        v = m.op("MatMul", v, m.weight()) if i % 8 == 0 else m.op("Tanh" if i % 2 else "Neg", v)
    return m.finish(v)


def layers(n, shape=SHAPE):
    m = Model(shape)
    v = m.input("x")
    for _ in range(n):
        h = m.op("Relu", m.op("MatMul", v, m.weight()))
        v = m.op("Add", v, m.op("MatMul", h, m.weight()))
    return m.finish(v)


def biased(n):
    """Eight layers of n rows whose weights have few elements, in uneven parts."""
    m = Model([n, 12])
    v = m.input("x")
    for _ in range(8):
        v = m.op("Relu", m.op("Add", m.op("MatMul", v, m.weight([12, 12])), m.weight([12])))
    return m.finish(v)


def square(n):
    """Ranks hold rows of the input and columns of the output, in uneven shards."""
    m = Model([4 * n + 3, 4 * n + 5])
    return m.finish(m.input("x"))


def uses(n):
    """One value with n users, one after another."""
    m = Model()
    v = x = m.op("Relu", m.input("x"))
    for i in range(n):
        v = m.op("Mul" if i % 2 else "Add", v, x)
    return m.finish(v)


def readers(n):
    """One value with n users side by side."""
    m = Model()
    x = m.op("Relu", m.input("x"))
    level = [m.op("Mul", x, m.weight()) for _ in range(n)]
    while len(level) > 1:
        level = [m.op("Add", *level[i:i + 2]) if i + 1 < len(level) else level[i] for i in range(0, len(level), 2)]
    return m.finish(level[0])


def weight_uses(n):
    """One weight with n users."""
    m = Model()
    v, w = m.input("x"), m.weight()
    for _ in range(n):
        v = m.op("Tanh", m.op("MatMul", v, w))
    return m.finish(v)


def parts(n):
    m = Model()
    x = m.input("x")
    m.op("Concat", *[m.op("Mul", x, m.weight([1])) for _ in range(n)], axis=0, out="y")
    return m.output("y", [n * SHAPE[0], SHAPE[1]])


def inputs(n):
    m = Model()
    v = m.input("x")
    for i in range(n - 1):
        v = m.op("Add", v, m.input(f"x{i}"))
    return m.finish(v)


def outputs(n):
    m = Model()
    x = m.input("x")
    for i in range(n):
        m.output(m.op("Mul", x, m.weight([1]), out=f"y{i}"))
    return m


def same_output(n):
    """One value that is copied to n outputs."""
    m = Model()
    x = m.op("Relu", m.input("x"))
    for i in range(n):
        m.output(m.op("Identity", x, out=f"y{i}"))
    return m


def fixed(build, size):
    return lambda n: build(size)


def microbatches(schedule):
    """Returns the axis of a pipeline of two stages with more and more microbatches."""
    return (lambda n: layers(4, [n, 8]), 64,
            lambda n: [*TRAIN, "--pp", "2", "--microbatches", str(n), "--schedule", schedule])


TWO = ["--mesh", "a=2"]
# name: (model of size n, smallest size, options of size n)
AXES = {
    "nodes": (nodes, 2000, lambda n: []),
    "nodes-tp": (nodes, 250, lambda n: ["--tp", "2"]),
    "nodes-train": (nodes, 125, lambda n: TRAIN),
    "nodes-train-dp-reproducible": (layers, 32, lambda n: [*TRAIN, "--dp", "2", "--reproducible"]),
    "layers-tp-pp": (layers, 64, lambda n: ["--tp", "2", "--pp", "2", "--microbatches", "2"]),
    "layers-free": (layers, 32, lambda n: TWO),
    "layers-pinned": (layers, 32, lambda n: ["--tp", "2", "--shard", "w0=[-,tp]"]),
    "uses": (uses, 1000, lambda n: []),
    "uses-tp": (uses, 250, lambda n: ["--tp", "2"]),
    "uses-free": (uses, 250, lambda n: TWO),
    "readers": (readers, 500, lambda n: []),
    "readers-free": (readers, 125, lambda n: TWO),
    "weight-uses": (weight_uses, 125, lambda n: ["--tp", "2"]),
    "weight-uses-train": (weight_uses, 64, lambda n: [*TRAIN, "--dp", "2"]),
    "parts": (parts, 125, lambda n: []),
    "parts-free": (parts, 64, lambda n: TWO),
    "inputs": (inputs, 1000, lambda n: []),
    "inputs-free": (inputs, 125, lambda n: TWO),
    "outputs": (outputs, 125, lambda n: []),
    "outputs-free": (outputs, 64, lambda n: TWO),
    "same-output": (same_output, 2000, lambda n: []),
    "ranks-dp": (fixed(layers, 8), 8, lambda n: [*TRAIN, "--dp", str(n)]),
    "ranks-tp": (fixed(layers, 8), 8, lambda n: ["--tp", str(n)]),
    "ranks-zero3": (biased, 256, lambda n: [*TRAIN, "--dp", str(n), "--preset", "zero3"]),
    "ranks-tp-uneven": (fixed(biased, 24), 64, lambda n: ["--tp", str(n)]),
    "ranks-all-to-all-uneven": (square, 64, lambda n: ["--tp", str(n), "--shard", "x=[tp,-]", "--shard", "y=[-,tp]"]),
    "ranks-pp": (fixed(layers, 256), 8, lambda n: ["--pp", str(n)]),
    **{f"microbatches-{s}": microbatches(s) for s in ("1f1b", "gpipe", "interleaved", "zb-h1", "zb-v")},
}


def compile(pcc, model, options, folder):
    """Returns the processor seconds by phase of one compilation."""
    report = os.path.join(folder, "r.json")
    done = subprocess.run([pcc, model, "-o", os.path.join(folder, "m.pcc"), "-q", "--report", report, *options],
                          stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(options)}: exit {done.returncode}: {done.stderr[:400]}")
    with open(report) as file:
        times = json.load(file)
    return {**{p["name"]: p["cpu_seconds"] for p in times["phases"]}, "files": times["bundle"]["cpu_seconds"]}


def measure(pcc, name, steps, repeat):
    """Returns the sizes of an axis, and the seconds by phase, one for each size."""
    build, smallest, options = AXES[name]
    sizes, seconds = [smallest * 2**i for i in range(steps)], {}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "m.onnx")
        for n in sizes:
            build(n).save(path)
            runs = [compile(pcc, path, options(n), folder) for _ in range(repeat)]
            for phase in runs[0]:
                seconds.setdefault(phase, []).append(min(run[phase] for run in runs))
    return sizes, seconds


def exponent(sizes, seconds):
    """Returns the slope of log(seconds) over log(size), by least squares over the largest three sizes."""
    return np.polyfit(np.log(sizes[-3:]), [math.log(max(s, 1e-6)) for s in seconds[-3:]], 1)[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="*")
    parser.add_argument("--steps", type=int, default=4, help="sizes per axis, each twice the one before")
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--least", type=float, default=0.1)
    parser.add_argument("--most", type=float, default=1.15)
    parser.add_argument("--pcc", default=os.path.join(ROOT, "build", "release", "bin", "pcc"))
    arguments = parser.parse_args()
    print("| axis | sizes | phase | seconds | exponent |\n|---|---|---|---|---|")
    steep = 0
    for name in fnmatch.filter(AXES, arguments.only):
        sizes, seconds = measure(arguments.pcc, name, arguments.steps, arguments.repeat)
        for phase, times in seconds.items():
            if times[-1] >= arguments.least:
                slope = exponent(sizes, times)
                steep += slope > arguments.most
                print(f"| {name} | {sizes[0]} to {sizes[-1]} | {phase} | {times[-1]:.2f} | {slope:.2f}"
                      f"{' (!)' if slope > arguments.most else ''} |", flush=True)
    return 1 if steep else 0


if __name__ == "__main__":
    sys.exit(main())
