#!/usr/bin/env python3
"""Tests normalisations of rows whose mean is large beside their spread, on 1, 2 and 4 ranks that divide the normalised dim:
executables keep the digits of the variance, forward and backward, and `pcc verify` finds the ranks as accurate as one rank.

    run_norms.py [--only GLOB] [--jobs N]
"""
import json
import os
import re
import tempfile

import numpy as np
import onnx
from onnx import helper, numpy_helper

import executed
import pcc
from executed import oracle
from run_cuda import TARGET, fake

CASES = {}
EPSILON = 1e-5
# Means whose distance to the next number of the type is about a thousandth.
MEANS = {"f4": 10000, "f8": 1e12, "f2": 1}


class Model:
    """An ONNX model with input x, weights and output y."""

    def __init__(self, shape, dtype, opset=22):
        self.dtype, self.opset, self.nodes, self.weights = dtype, opset, [], []
        random = np.random.RandomState(3)
        steps = random.randint(-3, 4, shape) + random.permutation(shape[-1])
        self.x = (steps + np.array(MEANS[dtype]) * np.linspace(-1, 1, shape[0]).reshape(-1, *[1] * (len(shape) - 1))).astype(dtype)

    def weight(self, name, value, dtype=None):
        self.weights.append(numpy_helper.from_array(np.asarray(value, dtype or self.dtype), name))
        return name

    def op(self, kind, *operands, out=None, **attributes):
        outs = [out or f"v{len(self.nodes)}"]
        self.nodes.append(helper.make_node(kind, operands, outs, f"{kind.lower()}_{len(self.nodes)}", **attributes))
        return outs[0]

    def save(self, folder):
        kind = helper.np_dtype_to_tensor_dtype(self.x.dtype)
        graph = helper.make_graph(self.nodes, "g", [helper.make_tensor_value_info("x", kind, self.x.shape)],
                                  [helper.make_tensor_value_info("y", kind, self.x.shape)], self.weights)
        path = os.path.join(folder, "m.onnx")
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=10), path)
        return path


def normalised(x, dims):
    wide = x.astype(np.float64)
    return (wide - wide.mean(dims, keepdims=True)) / np.sqrt(wide.var(dims, keepdims=True) + EPSILON)


def layer_norm(m, axis=-1):
    m.op("LayerNormalization", "x", m.weight("s", np.ones(m.x.shape[axis:])), m.weight("b", np.zeros(m.x.shape[axis:])), axis=axis, out="y")
    return normalised(m.x, tuple(range(m.x.ndim))[axis:])


def layer_norm_of_two(m):
    return layer_norm(m, -2)


def instance_norm(m):
    m.op("InstanceNormalization", "x", m.weight("s", np.ones(m.x.shape[1])), m.weight("b", np.zeros(m.x.shape[1])), out="y")
    return normalised(m.x, tuple(range(2, m.x.ndim)))


def group_norm(m):
    m.op("GroupNormalization", "x", m.weight("s", np.ones(m.x.shape[1])), m.weight("b", np.zeros(m.x.shape[1])), num_groups=2, out="y")
    return normalised(m.x.reshape(m.x.shape[0], 2, -1), 2).reshape(m.x.shape)


def batch_norm(m):
    channels = [m.weight(n, np.full(m.x.shape[1], v)) for n, v in (("s", 1), ("b", 0), ("mean", 0), ("var", 1))]
    m.op("BatchNormalization", "x", *channels, training_mode=1, out="y")
    return normalised(m.x, (0, *range(2, m.x.ndim)))


def mean_variance_norm(m):
    m.op("MeanVarianceNormalization", "x", axes=[2], out="y")
    return normalised(m.x, 2)


def single_ops(m, square="Mul", dim=-1):
    axes = m.weight("axes", [dim], "i8")
    d = m.op("Sub", "x", m.op("ReduceMean", "x", axes))
    squared = m.op("Mul", d, d) if square == "Mul" else m.op("Pow", d, m.weight("two", 2))
    deviation = m.op("Sqrt", m.op("Add", m.op("ReduceMean", squared, axes), m.weight("epsilon", EPSILON)))
    m.op("Div", d, deviation, out="y")
    return normalised(m.x, dim)


def single_ops_of_powers(m):
    return single_ops(m, "Pow")


def single_ops_of_an_inner_dim(m):
    return single_ops(m, dim=1)


def case(norm, shape, pin, dtype="f4", parts=(1, 2, 4)):
    def check():
        with tempfile.TemporaryDirectory() as folder:
            m = Model(shape, dtype)
            wanted = norm(m)
            path, feeds = m.save(folder), executed.feed(folder, {"x": m.x})
            for ranks in parts:
                options = ["--tp", ranks, *(["--shard", f"x={pin}", "--shard", f"y={pin}"] if ranks > 1 else [])]
                bundle = os.path.join(folder, f"{ranks}.pcc")
                pcc.succeed(path, "-o", bundle, "-q", *options)
                got = executed.outputs(bundle, feeds, folder)
                executed.compare(got, {"y": wanted.astype(m.x.dtype)}, 3e-3)
                if ranks == max(parts):
                    executed.verify(path, *options, *feeds)
    CASES[f"{norm.__name__.replace('_', '-')}-{dtype}-{'x'.join(map(str, shape))}"] = check


def gpu_case(norm, shape, pin, dtype="f4"):
    """Adds a case on fake GPUs."""
    def check():
        with tempfile.TemporaryDirectory() as folder:
            m = Model(shape, dtype)
            wanted = norm(m)
            path, feeds = m.save(folder), executed.feed(folder, {"x": m.x})
            for ranks in (1, 2):
                bundle, out = (os.path.join(folder, f"{kind}-{ranks}") for kind in ("bundle", "out"))
                pins = ["--shard", f"x={pin}", "--shard", f"y={pin}"] if ranks > 1 else []
                pcc.succeed(path, "-o", bundle, "-q", *TARGET, "--tp", ranks, *pins)
                pcc.succeed("run", bundle, *feeds, "--output", out, env=fake(folder))
                executed.compare(oracle.load(out), {"y": wanted.astype(dtype)}, 3e-3)
    CASES[f"{norm.__name__.replace('_', '-')}-{dtype}-gpu"] = check


case(layer_norm, (3, 8), "[-,tp]")
case(layer_norm, (3, 2, 10), "[-,-,tp]")
case(layer_norm, (3, 8), "[-,tp]", "f8")
case(layer_norm, (3, 8), "[-,tp]", "f2")
case(layer_norm_of_two, (3, 4, 5), "[-,tp,-]")
case(instance_norm, (2, 3, 8), "[-,-,tp]")
case(instance_norm, (2, 3, 6, 5), "[-,-,tp,-]")
case(group_norm, (2, 4, 6), "[-,-,tp]")
case(batch_norm, (4, 3, 8), "[-,-,tp]")
case(mean_variance_norm, (2, 3, 8), "[-,-,tp]")
case(single_ops, (3, 8), "[-,tp]")
case(single_ops_of_powers, (3, 7), "[-,tp]")
case(single_ops_of_an_inner_dim, (3, 8, 2), "[-,tp,-]")
gpu_case(layer_norm, (3, 8), "[-,tp]")
gpu_case(layer_norm, (3, 8), "[-,tp]", "f2")
gpu_case(instance_norm, (2, 3, 8), "[-,-,tp]")
gpu_case(batch_norm, (4, 3, 8), "[-,-,tp]")
gpu_case(single_ops, (3, 8), "[-,tp]")


def losses(folder, path, options, arrays, steps):
    bundle = os.path.join(folder, "t.pcc")
    pcc.succeed(path, "-o", bundle, "-q", "--train", "--loss", "mse(y,labels)", "--optimizer", "sgd", "--lr", 0.5, *options)
    data = os.path.join(folder, "data")
    os.makedirs(data, exist_ok=True)
    for name, value in arrays.items():
        np.save(os.path.join(data, name + ".npy"), value)
    return [s["loss"] for s in pcc.report("run", bundle, "--data", data, "--steps", steps, "--comm", "thread")["steps"]]


def training():
    """A weight before the norm and one behind it train as on one rank, also where the mean is large."""
    with tempfile.TemporaryDirectory() as folder:
        m = Model((4, 8), "f4")
        shifted = m.op("Add", "x", m.weight("w", np.zeros(8)))
        m.op("LayerNormalization", shifted, m.weight("s", np.ones(8)), m.weight("b", np.zeros(8)), out="y")
        path = m.save(folder)
        arrays = {"x": np.stack([m.x] * 4), "labels": np.random.RandomState(1).standard_normal((4, 4, 8)).astype("f4")}
        first = normalised(m.x, -1) - arrays["labels"][0]
        whole = losses(folder, path, [], arrays, 4)
        if not abs(whole[0] - (first ** 2).mean()) < 1e-3 * whole[0]:
            raise pcc.Failure(f"the first loss is {whole[0]}, right is {(first ** 2).mean()}")
        for ranks in (2, 4):
            parts = losses(folder, path, ["--tp", ranks, "--shard", "x=[-,tp]"], arrays, 4)
            if not np.allclose(parts, whole, rtol=2e-3):
                raise pcc.Failure(f"{ranks} ranks have the losses {parts}, one has {whole}")


CASES["training"] = training


def lost_digits():
    """In a dump of local shapes the variance becomes mean(x²) - mean(x)²: equal in f64, but without digits in f32."""
    with tempfile.TemporaryDirectory() as folder:
        m = Model((3, 8), "f4")
        layer_norm(m)
        ir, feeds = os.path.join(folder, "ir"), executed.feed(folder, {"x": m.x})
        pcc.succeed(m.save(folder), "-o", os.path.join(folder, "b"), "-q", "--tp", 2, "--shard", "x=[-,tp]", "--shard", "y=[-,tp]", f"--dump-ir={ir}")
        path = os.path.join(ir, "5-localize.mlir")
        with open(path) as file:
            lines = file.read().split("\n")
        pcc.succeed("verify", path, *feeds)
        mean, variance = [line for line in lines if "graph.div" in line]
        names = [line.split(" = ")[0].strip() for line in (mean, variance)]
        added = re.sub(r"graph\.div \S+, \S+ ", f"graph.mul {names[0]}, {names[0]} ", mean).replace("tensor<f32>", "tensor<3x1xf32>")
        taken = re.sub(r"graph\.div \S+, \S+ ", f"graph.sub {names[1]}, %square ", variance).replace("tensor<f32>", "tensor<3x1xf32>")
        at = lines.index(variance)
        lines[at + 1:] = [line.replace(f"graph.add {names[1]},", "graph.add %variance,") for line in lines[at + 1:]]
        lines[at + 1:at + 1] = [added.replace(names[0] + " =", "%square ="), taken.replace(names[1] + " =", "%variance =")]
        lines = [re.sub(r"graph\.mul (%\d+), \1 ", "graph.mul %arg0, %arg0 ", line) if line not in lines[at:] else line for line in lines]
        with open(path, "w") as file:
            file.write("\n".join(lines))
        report = os.path.join(folder, "report.json")
        code, _, err = pcc.call("verify", path, *feeds, "--report", report)
        with open(report) as file:
            found = json.load(file)
        own = found["own_types"]
        if code != 15 or "loses far more accuracy" not in err or found["equal"] or own["equal"] or not found["max_relative_error"] < 1e-6:
            raise pcc.Failure(f"exit code {code}: {err.strip()[:300]} {found}")
        if not own["max_relative_error"] > 100 * own["one_rank_max_relative_error"]:
            raise pcc.Failure(f"errors of ranks and of one rank: {own}")


CASES["lost-digits"] = lost_digits


def mean_of_integers():
    """A mean of integers is truncated once, not on each rank before the sum."""
    with tempfile.TemporaryDirectory() as folder:
        x = np.array([[1, 1, 1, 2], [-1, -1, -1, -1], [5, 0, 0, 2], [2**30, 2**30, 2**30, 2**30]], "i4")
        kind = helper.np_dtype_to_tensor_dtype(x.dtype)
        node = helper.make_node("ReduceMean", ["x", "axes"], ["y"], "mean", keepdims=0)
        graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x", kind, x.shape)], [helper.make_tensor_value_info("y", kind, [4])],
                                  [numpy_helper.from_array(np.array([1]), "axes")])
        path = os.path.join(folder, "m.onnx")
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10), path)
        feeds = executed.feed(folder, {"x": x})
        for ranks in (1, 2, 4):
            bundle = os.path.join(folder, f"{ranks}.pcc")
            pcc.succeed(path, "-o", bundle, "-q", "--tp", ranks, *(["--shard", "x=[-,tp]"] if ranks > 1 else []))
            got = executed.outputs(bundle, feeds, folder)["y"]
            if not np.array_equal(got, [1, -1, 1, 2**30]):
                raise pcc.Failure(f"{ranks} ranks have {got}")


CASES["mean-of-integers"] = mean_of_integers

if __name__ == "__main__":
    pcc.main(__doc__, CASES)
