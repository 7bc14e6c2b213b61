#!/usr/bin/env python3
"""Tests ops at values where a formula that is right elsewhere fails: rows of zeros whose gradient is 0, infinite slopes, denormal
numbers.

    run_special_values.py [--only GLOB] [--jobs N]
"""
import os
import tempfile

import numpy as np
import onnx
from onnx import helper, numpy_helper

import pcc

CASES = {}


def case(function):
    CASES[function.__name__] = function


def save(folder, nodes, x, out, weights, opset):
    """Saves a model of x and `weights` whose output y has the shape `out`. Returns its path."""
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", 1, x.shape)],
                              [helper.make_tensor_value_info("y", 1, out)],
                              [numpy_helper.from_array(np.asarray(v, "f4"), k) for k, v in weights.items()])
    path = os.path.join(folder, "m.onnx")
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8), path)
    return path


def infer(op, x, weights=(), opset=17):
    """Returns the result of an op on x, and on further operands that are weights."""
    x, weights = np.asarray(x, "f4"), dict(weights)
    with tempfile.TemporaryDirectory() as folder:
        path = save(folder, [helper.make_node(op, ["x", *weights], ["y"])], x, x.shape, weights, opset)
        np.save(os.path.join(folder, "x.npy"), x)
        bundle = os.path.join(folder, "b.pcc")
        pcc.succeed(path, "-o", bundle, "-q")
        pcc.succeed("run", bundle, "--comm", "thread", "--input", f"x={folder}/x.npy", "--output", folder, "-q")
        return np.load(os.path.join(folder, "y.npy"))


def trained(op, out, plan, **attributes):
    """Returns the lines of two steps of training w in op(x · w), where one row of x is 0."""
    x = np.array([[1, 2, 3], [0, 0, 0]], "f4")
    with tempfile.TemporaryDirectory() as folder:
        nodes = [helper.make_node("Mul", ["x", "w"], ["h"]), helper.make_node(op, ["h"], ["y"], **attributes)]
        path = save(folder, nodes, x, out, {"w": [1, -1, 0.5]}, 17)
        data = os.path.join(folder, "data")
        os.mkdir(data)
        np.save(os.path.join(data, "x.npy"), np.stack([x, x]))
        np.save(os.path.join(data, "labels.npy"), np.zeros((2, *out), "f4"))
        bundle = os.path.join(folder, "b.pcc")
        pcc.succeed(path, "--train", "--loss", "mse(y, labels)", "--optimizer", "sgd", "--lr", "0.1", "-o", bundle, "-q", *plan)
        return pcc.succeed("run", bundle, "--data", data, "--steps", "2", "--comm", "thread")


def expect_numbers(lines):
    if "nan" in lines or "loss" not in lines:
        raise pcc.Failure(f"training gives {lines.strip()!r}")


def expect(got, wanted):
    np.testing.assert_allclose(got, np.asarray(wanted, "f4"), rtol=1e-6)


for plan in [], ["--dp", "2"]:
    CASES[f"normalized rows of zeros {' '.join(plan)}"] = lambda plan=plan: expect_numbers(trained("LpNormalization", (2, 3), plan, axis=1, p=2))
    CASES[f"lengths of rows of zeros {' '.join(plan)}"] = lambda plan=plan: expect_numbers(trained("ReduceL2", (2, 1), plan, axes=[1], keepdims=1))


@case
def normalized_zeros():
    expect(infer("LpNormalization", [[3, 4], [0, 0]]), [[0.6, 0.8], [0, 0]])


@case
def sines_of_large_numbers():
    """The argument of a sine is reduced by as many digits of π as f32 has exponents."""
    magnitudes = np.concatenate([np.geomspace(1e-3, 3.4e38, 4000), [2.0**n for n in (46, 47, 70, 71, 94, 95, 118, 119, 127)]]).astype("f4")
    x = np.concatenate([magnitudes, -magnitudes, [0, -0.0]])
    expect(infer("Sin", x), np.sin(x.astype("f8")))
    expect(infer("Cos", x), np.cos(x.astype("f8")))
    assert np.isnan(infer("Sin", [np.inf, -np.inf, np.nan])).all()


@case
def infinite_slope():
    expect(infer("PRelu", [1, 2, -1, 0], {"slope": [np.inf]}), [1, 2, -np.inf, 0])


@case
def logarithms_of_denormal_numbers():
    x = np.array([1e-45, 1e-40, 1.1754942e-38, 1.1754944e-38, 0, 1, np.inf], "f4")
    with np.errstate(divide="ignore"):
        expect(infer("Log", x), np.log(x.astype("f8")))


if __name__ == "__main__":
    pcc.main(__doc__, CASES)
