#!/usr/bin/env python3
"""Tests training, and inference in microbatches, where ranks do not divide a dim evenly: the losses of many ranks are those of
one. The dim is the rows of a microbatch, the heads or groups that a weight with a requested sharding is cut into, or the parts
of an axis that experts leave to ZeRO.

    run_uneven_training.py [--only GLOB] [--jobs N]
"""
import os
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import executed
import pcc
import run_training

CASES = {}
STEPS = 2


class Model:
    """A small model with weights drawn at random, an input `x` and an output `y`."""

    def __init__(self):
        self.random = np.random.default_rng(0)
        self.nodes, self.weights, self.inputs, self.outputs, self.data = [], [], [], [], {}

    def constant(self, name, value):
        self.weights.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def weight(self, name, *shape):
        return self.constant(name, (self.random.standard_normal(shape) * 0.5).astype("f4"))

    def input(self, name, *shape):
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
        self.data[name] = self.random.standard_normal([STEPS, *shape]).astype("f4")
        return name

    def ids(self, name, limit, *shape):
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.INT64, shape))
        self.data[name] = self.random.integers(0, limit, [STEPS, *shape])
        return name

    def op(self, kind, *operands, out=None, **attributes):
        out = out or f"value{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, operands, [out], name=f"n{len(self.nodes)}", **attributes))
        return out

    def output(self, *shape, kind=TensorProto.FLOAT):
        self.outputs.append(helper.make_tensor_value_info("y", kind, shape))
        self.data["labels"] = self.random.standard_normal([STEPS, *shape]).astype("f4")
        return self

    def classes(self, count, *shape):
        self.outputs.append(helper.make_tensor_value_info("y", TensorProto.FLOAT, [*shape, count]))
        self.data["labels"] = self.random.integers(0, count, [STEPS, *shape])
        return self

    def save(self, folder):
        path = os.path.join(folder, "m.onnx")
        graph = helper.make_graph(self.nodes, "g", self.inputs, self.outputs, self.weights)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10), path)
        return path


def heads():
    m = Model()
    h = m.op("Reshape", m.op("MatMul", m.input("x", 2, 6), m.weight("w", 6, 6)), m.constant("heads", [2, 3, 2]))
    m.op("Mul", h, m.weight("g", 3, 1), out="y")
    return m.output(2, 3, 2)


def groups():
    m = Model()
    m.op("Conv", m.input("x", 1, 6, 4), m.weight("w", 6, 2, 1), m.weight("b", 6), group=3, out="y")
    return m.output(1, 6, 4)


def vector():
    m = Model()
    m.op("MatMul", m.input("x", 4, 3), m.op("Reshape", m.weight("w", 6), m.constant("shape", [3, 2])), out="y")
    return m.output(4, 2)


def tied():
    m = Model()
    w = m.weight("w", 6, 6)
    h = m.op("Reshape", m.op("MatMul", m.input("x", 2, 6), w), m.constant("heads", [2, 3, 2]))
    h = m.op("Reshape", m.op("Tanh", h), m.constant("rows", [2, 6]))
    m.op("MatMul", h, m.op("Transpose", w, perm=[1, 0]), out="y")
    return m.output(2, 6)


def column(rows):
    def build():
        m = Model()
        m.op("MatMul", m.input("x", 6, rows), m.weight("w", rows, 5), out="y")
        return m.output(6, 5)
    return build


def words(batch):
    def build():
        m = Model()
        x = m.op("Add", m.op("Gather", m.weight("table", 10, 6), m.ids("x", 10, batch, 4)), m.weight("places", 4, 6))
        m.op("MatMul", m.op("Tanh", m.op("MatMul", x, m.weight("w", 6, 6))), m.weight("head", 6, 5), out="y")
        return m.classes(5, batch, 4)
    return build


def experts():
    m = Model()
    x = m.input("x", 4, 3, 4)
    gates = m.op("Softmax", m.op("MatMul", x, m.weight("router", 4, 4)), axis=-1)
    h = m.op("Relu", m.op("Einsum", x, m.weight("up", 4, 4, 6), equation="bsd,edf->ebsf"))
    y = m.op("Einsum", h, m.weight("down", 4, 6, 4), equation="ebsf,efd->ebsd")
    m.op("Add", x, m.op("Einsum", gates, y, equation="bse,ebsd->bsd"), out="y")
    return m.output(4, 3, 4)


def train(name, build, *plan, optimizer=("--optimizer", "sgd", "--lr", "0.3", "--momentum", "0.9")):
    def check():
        with tempfile.TemporaryDirectory() as folder:
            model, losses = build(), []
            path, data = model.save(folder), os.path.join(folder, "data")
            loss = "cross_entropy(y, labels)" if model.data["labels"].dtype == np.int64 else "mse(y, labels)"
            os.mkdir(data)
            for array, value in model.data.items():
                np.save(os.path.join(data, f"{array}.npy"), value)
            for bundle, options in (("one.pcc", ()), ("many.pcc", plan)):
                bundle = os.path.join(folder, bundle)
                pcc.succeed(path, "-o", bundle, "--train", "--loss", loss, *optimizer, *options)
                losses.append(run_training.train(bundle, data, STEPS))
            run_training.compare(losses[1], losses[0], 1e-5)
    CASES[name] = check


def infer(name, shape, *plan):
    """Adds a case of y = relu(x), with x of `shape`."""
    def check():
        with tempfile.TemporaryDirectory() as folder:
            model, bundle = Model(), os.path.join(folder, "b.pcc")
            model.op("Relu", model.input("x", *shape), out="y")
            pcc.succeed(model.output(*shape).save(folder), "-o", bundle, *plan)
            x = model.data["x"][0]
            executed.compare(executed.outputs(bundle, executed.feed(folder, {"x": x}), folder), {"y": np.maximum(x, 0)}, 1e-6)
    CASES[name] = check


# A sum of gradients with one row, or one element, is no bias.
for microbatches in "1", "3", "6":
    train(f"one row of a weight, {microbatches} microbatches", column(3), "--mesh", "a=3", "--shard", "x=[-,a]", "--microbatches", microbatches)
    train(f"a weight of one row, {microbatches} microbatches", column(1), "--tp", "2", "--microbatches", microbatches)

# A weight is written in the sharding in which it is read, also where its gradient is cut into heads.
train("heads", heads, "--tp", "2", "--shard", "w=[-,tp]")
train("heads-stored-whole-elsewhere", heads, "--mesh", "a=4", "--shard", "w=[-,a]")
train("heads-by-rows", heads, "--dp", "2", "--shard", "w=[dp,-]", optimizer=("--optimizer", "adamw", "--lr", "0.01"))
train("groups", groups, "--mesh", "a=2", "--shard", "w=[a,-,-]")
train("vector", vector, "--mesh", "a=2", "--shard", "w=[a]")
train("tied", tied, "--tp", "2", "--shard", "w=[-,tp]")
# Each microbatch has as many rows as without ranks, and ranks have some of them, or none.
train("rows-3-by-2", words(8), "--dp", "3", "--tp", "2", "--microbatches", "4")
train("rows-5-by-2", words(8), "--dp", "5", "--tp", "2", "--microbatches", "2", "--preset", "megatron")
train("rows-fewer-than-ranks", words(6), "--dp", "4", "--microbatches", "2")
train("rows-and-tokens", words(6), "--dp", "2", "--cp", "2", "--microbatches", "2")
train("rows-in-stages", words(6), "--dp", "2", "--pp", "2", "--microbatches", "2", "--preset", "zero2")
infer("pinned-rows", (4, 6), "--mesh", "d=3,t=2", "--microbatches", "2", "--shard", "x=[d,t]", "--shard", "y=[d,-]")
infer("pinned-rows-made-whole", (6, 4), "--mesh", "d=4", "--microbatches", "3", "--shard", "x=[d,-]", "--shard", "y=[-,d]")
# Experts take a part of the data axis, ZeRO what they leave.
train("experts-zero2", experts, "--dp", "4", "--ep", "2", "--preset", "zero2")
train("experts-zero3", experts, "--dp", "4", "--ep", "2", "--preset", "zero3")
train("experts-zero3-whole-axis", experts, "--dp", "4", "--ep", "4", "--preset", "zero3")

if __name__ == "__main__":
    pcc.main(__doc__, CASES)
