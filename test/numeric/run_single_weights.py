#!/usr/bin/env python3
"""Tests that weights of one element, or without dims, train like all others, and that weights without elements do no harm: the losses are those of SGD in NumPy, on every plan.

    run_single_weights.py [--only GLOB] [--jobs N]
"""
import os
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import pcc

CASES = {}
STEPS, RATE, START = 4, 0.1, 0.5
RANDOM = np.random.RandomState(7)
X, LABELS = RANDOM.standard_normal((STEPS, 8, 3)).astype("f4"), RANDOM.standard_normal((STEPS, 8, 1)).astype("f4")
W = (RANDOM.standard_normal((3, 1)) * 0.5).astype("f4")


def wanted(trains=True):
    """Returns the losses of SGD on mean((x w + c - labels)²); c trains if asked."""
    w, c, losses = W.astype("f8"), START, []
    for x, labels in zip(X.astype("f8"), LABELS.astype("f8")):
        d = x @ w + c - labels
        losses.append((d ** 2).mean())
        w, c = w - RATE * x.T @ (2 * d / d.size), c - RATE * trains * (2 * d / d.size).sum()
    return losses


def raw(shape, dtype):
    return numpy_helper.from_array(np.full(shape, START, dtype), "c")


def typed(shape, dtype):
    """Returns the weight with its element in a typed field of the tensor: as a float, or for f16 as an integer."""
    return helper.make_tensor("c", helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape, np.full(shape, START).ravel().tolist())


def model(folder, tensor, sized=False, empty=False):
    """Saves y = x w + c. With `sized`, y is expanded to a shape that the weight `factor`, of value 1, takes part in. With `empty`, columns
    from a weight without elements are appended to x w."""
    kind = tensor.data_type
    nodes = [helper.make_node("MatMul", ["x", "w"], ["h"], "matmul")]
    c = "c"
    if kind != TensorProto.FLOAT:
        nodes.append(helper.make_node("Cast", ["c"], ["wide"], "cast", to=TensorProto.FLOAT))
        c = "wide"
    nodes.append(helper.make_node("Add", ["h", c], ["sum" if sized else "y"], "add"))
    weights = [numpy_helper.from_array(W, "w"), tensor]
    if empty:
        weights.append(numpy_helper.from_array(np.zeros((3, 0), "f4"), "z"))
        nodes[0].output[0] = "full"
        nodes[1:1] = [helper.make_node("MatMul", ["x", "z"], ["none"], "none"), helper.make_node("Concat", ["full", "none"], ["h"], "concat", axis=1)]
    if sized:
        weights.append(numpy_helper.from_array(np.ones(1, "f4"), "factor"))
        nodes += [helper.make_node("Shape", ["sum"], ["shape"], "shape"), helper.make_node("Cast", ["shape"], ["floats"], "floats", to=1),
                  helper.make_node("Mul", ["floats", "factor"], ["scaled"], "scaled"),
                  helper.make_node("Cast", ["scaled"], ["sizes"], "sizes", to=7), helper.make_node("Reshape", ["sum", "sizes"], ["y"], "last")]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", 1, [8, 3])], [helper.make_tensor_value_info("y", 1, [8, 1])], weights)
    path = os.path.join(folder, "m.onnx")
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10), path)
    return path


def case(name, tensor, options="", trains=True, sized=False, empty=False):
    def check():
        with tempfile.TemporaryDirectory() as folder:
            bundle = os.path.join(folder, "m.pcc")
            command = [model(folder, tensor, sized, empty), "--train", "--loss", "mse(y,labels)", "--optimizer", "sgd", "--lr", RATE, *options.split()]
            pcc.succeed(*command, "-o", bundle, "-q")
            np.save(os.path.join(folder, "x.npy"), X)
            np.save(os.path.join(folder, "labels.npy"), LABELS)
            got = [s["loss"] for s in pcc.report("run", bundle, "--data", folder, "--steps", STEPS, "--comm", "thread")["steps"]]
            if not np.allclose(got, wanted(trains), rtol=1e-3 if tensor.data_type == TensorProto.FLOAT16 else 1e-5):
                raise pcc.Failure(f"losses {got}, right is {wanted(trains)}")
            if "pp" in options or not options:
                pcc.succeed("verify", *command)
    CASES[name] = check


for shape in ((), (1,), (1, 1)):
    case(f"of-{len(shape)}-dims", raw(shape, "f4"))
case("as-a-float-field", typed((1,), "f4"))
case("as-an-integer-field", typed((), "f2"))
case("half", raw((1,), "f2"))
case("double", raw((), "f8"))
for options in ("--dp 2", "--dp 2 --preset zero1", "--dp 4 --preset zero3", "--tp 2", "--pp 2 --microbatches 2", "--dp 2 --pp 2 --microbatches 4"):
    case("on" + options.replace("--", "").replace(" ", "-"), raw((1,), "f4"), options)
case("frozen", raw((), "f4"), "--freeze c", trains=False)
case("not-asked-for", raw((1,), "f4"), "--train-only w", trains=False)
case("beside-an-empty-one", raw((1,), "f4"), empty=True)
case("beside-an-empty-one-on-tp-2", raw((1,), "f4"), "--tp 2", empty=True)
case("in-a-shape", raw((1,), "f4"), sized=True)

if __name__ == "__main__":
    pcc.main(__doc__, CASES)
