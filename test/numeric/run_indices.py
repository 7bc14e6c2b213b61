#!/usr/bin/env python3
"""Tests indices out of range, for every op whose specification makes them invalid: exit code 10 with node, input, index and bounds, for
indices from inputs and computed ones, however index and data are divided, in inference and training, on CPUs and (fake) GPUs.
Indices just in range are computed, and so are those for which ONNX defines a result.

    run_indices.py [--only GLOB] [--every N] [--jobs N]
"""
import os
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import executed
import pcc
from run_cuda import TARGET, fake

CASES = {}
DATA = np.arange(24, dtype="f4").reshape(4, 6)


def build(folder, kind, data, indices, rest=(), computed=False, trained=False, **attributes):
    """Saves a model of one op, whose node is called "reader". Computed indices are (i · 2 + 2) / 2 - 1, of the node "made"."""
    def info(name, value):
        return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.asarray(value).dtype), np.shape(value))
    weights, nodes, used = [], [], "i"
    if computed:
        weights += [numpy_helper.from_array(np.array(v, indices.dtype), n) for n, v in (("two", 2), ("one", 1))]
        nodes = [helper.make_node("Mul", ["i", "two"], ["a"], "a"), helper.make_node("Add", ["a", "two"], ["b"], "b"),
                 helper.make_node("Div", ["b", "two"], ["c"], "c"), helper.make_node("Sub", ["c", "one"], ["used"], "made")]
        used = "used"
    source = "x"
    if trained:
        weights.append(numpy_helper.from_array(np.ones_like(data), "w"))
        nodes.append(helper.make_node("Mul", ["x", "w"], ["h"], "h"))
        source = "h"
    nodes.append(helper.make_node(kind, [source, used, *(n for n, _ in rest)], ["y"], "reader", **attributes))
    graph = helper.make_graph(nodes, "g", [info("x", data), info("i", indices), *(info(n, v) for n, v in rest)],
                              [helper.make_empty_tensor_value_info("y")], weights)
    model = onnx.shape_inference.infer_shapes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10))
    path = os.path.join(folder, "m.onnx")
    onnx.save(model, path)
    return path, {"x": data, "i": indices, **dict(rest)}


def expect(got, index, low, high, computed):
    code, _, err = got
    name = "used" if computed else "i"
    words = (f"index {index} in '{name}'", f"indices {low}..{high}", "node 'reader'")
    if code != 10 or any(w not in err for w in words) or sum(line.startswith("pcc: error:") for line in err.splitlines()) != 1:
        raise pcc.Failure(f"exit code {code}, not 10 with {words}: {err.strip()[:400]}")


def case(name, kind, good, bad, index, low, high, rest=(), pins=("x=[t,-]",), data=DATA, ranks=(1, 2, 4), **attributes):
    """Adds cases of an op that reads the indices `bad`, of which `index` is outside of low..high, and then `good` ones."""
    def check(computed, cuda):
        with tempfile.TemporaryDirectory() as folder:
            environment, target = (fake(folder), TARGET) if cuda else ({}, [])
            for n in ranks[:2] if cuda else ranks:
                for pin in pins:
                    path, feeds = build(folder, kind, data, np.array(bad), rest, computed, **attributes)
                    options = ["--mesh", f"t={n}", "--shard", pin] if n > 1 else []
                    bundle = os.path.join(folder, "b.pcc")
                    pcc.succeed(path, "-o", bundle, "-q", *target, *options)
                    comm = [] if cuda else ["--comm", "thread"]
                    expect(pcc.call("run", bundle, *executed.feed(folder, feeds), *comm, env=environment), index, low, high, computed)
                    feeds["i"] = np.array(good)
                    pcc.succeed("run", bundle, *executed.feed(folder, feeds), *comm, env=environment)
    for computed in (False, True):
        CASES[f"{name}-{'computed' if computed else 'given'}"] = lambda computed=computed: check(computed, False)
        CASES[f"{name}-{'computed' if computed else 'given'}-cuda"] = lambda computed=computed: check(computed, True)


ROWS = ("x=[t,-]", "i=[t]", "x=[-,t]")
CELLS = ("x=[t,-]", "i=[t,-]", "x=[-,t]")
case("gather", "Gather", [0, 3, -4, 1], [0, 3, 4, 1], 4, -4, 3, pins=ROWS)
case("gather-of-an-uneven-part", "Gather", [0, 3, -4, 1, 2], [0, 3, 2, 1, -5], -5, -4, 3, pins=ROWS)
case("gather-columns", "Gather", [[0], [5], [-6], [1]], [[0], [5], [6], [1]], 6, -6, 5, pins=("x=[-,t]",), axis=1)
case("gather-elements", "GatherElements", [[0] * 6, [3] * 6, [-4] * 6, [1] * 6], [[0] * 6, [3] * 6, [-5] * 6, [1] * 6], -5, -4, 3, pins=CELLS)
case("gather-nd", "GatherND", [[0, 5], [3, -6], [-4, 0], [1, 1]], [[0, 5], [3, 6], [-4, 0], [1, 1]], 6, -6, 5, pins=CELLS)
case("gather-nd-first", "GatherND", [[0], [3], [-4], [1]], [[0], [3], [4], [1]], 4, -4, 3, pins=CELLS)
case("gather-nd-of-a-batch", "GatherND", [[0], [5], [-6], [1]], [[0], [5], [6], [1]], 6, -6, 5, pins=("x=[t,-]", "i=[t,-]"), batch_dims=1)
UPDATES = np.ones((4, 6), "f4")
for reduction in ("none", "add"):
    case(f"scatter-elements-{reduction}", "ScatterElements", [[0] * 6, [3] * 6, [-3] * 6, [2] * 6], [[0] * 6, [3] * 6, [4] * 6, [2] * 6],
         4, -4, 3, [("u", UPDATES)], CELLS[::2], axis=0, reduction=reduction)
    case(f"scatter-nd-{reduction}", "ScatterND", [[0, 5], [3, -6], [-4, 0], [1, 1]], [[0, 5], [3, -7], [-4, 0], [1, 1]], -7, -6, 5,
         [("u", UPDATES[:, 0])], CELLS, reduction=reduction)
SCORES = np.log(np.full((4, 6), 1 / 6, "f4"))
for kind in ("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"):
    for index in (6, -1):
        case(f"{kind[:8].lower()}-{index}", kind, [0, 5, -7, 1], [0, 5, index, 1], index, 0, 5, pins=("x=[-,t]", "x=[t,-]", "i=[t]"),
             data=SCORES, ignore_index=-7)


def one_hot():
    """An index out of range gives a row without the value, as ONNX says."""
    with tempfile.TemporaryDirectory() as folder:
        weights = [numpy_helper.from_array(np.array(4), "depth"), numpy_helper.from_array(np.array([0, 1], "f4"), "values")]
        graph = helper.make_graph([helper.make_node("OneHot", ["i", "depth", "values"], ["y"], "hot")], "g",
                                  [helper.make_tensor_value_info("i", TensorProto.INT64, [3])],
                                  [helper.make_tensor_value_info("y", 1, [3, 4])], weights)
        path, bundle = os.path.join(folder, "m.onnx"), os.path.join(folder, "b.pcc")
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10), path)
        pcc.succeed(path, "-o", bundle, "-q")
        got = executed.outputs(bundle, executed.feed(folder, {"i": np.array([1, 4, -5])}), folder)
        executed.compare(got, {"y": np.array([[0, 1, 0, 0], [0] * 4, [0] * 4], "f4")})


CASES["one-hot"] = one_hot


def training(kind, good, bad, index, low, high, rest=(), **attributes):
    """A step of training ends the same way, on one rank and on two, and so does `pcc verify`."""
    def check():
        with tempfile.TemporaryDirectory() as folder:
            for options in ([], ["--mesh", "t=2", "--shard", "x=[t,-]"]):
                path, feeds = build(folder, kind, DATA, np.array(bad), rest, trained=True, **attributes)
                command = [path, "--train", "--loss", "mse(y,labels)", "--optimizer", "sgd", *options]
                bundle, data = os.path.join(folder, "b.pcc"), os.path.join(folder, "data")
                os.makedirs(data, exist_ok=True)
                pcc.succeed(*command, "-o", bundle, "-q")
                shape = pcc.inspect(bundle)["inputs"][-1]["shape"]
                feeds["labels"] = np.zeros(shape, "f4")
                got = pcc.call("verify", *command, *executed.feed(folder, feeds))
                if got[0] != 10 or f"index {index}" not in got[2]:
                    raise pcc.Failure(f"verify: exit code {got[0]}: {got[2].strip()[:300]}")
                for name, value in feeds.items():
                    np.save(os.path.join(data, name + ".npy"), value[None])
                run = ("run", bundle, "--data", data, "--steps", 1, "--comm", "thread")
                expect(pcc.call(*run), index, low, high, False)
                np.save(os.path.join(data, "i.npy"), np.array(good)[None])
                pcc.succeed(*run)
    CASES[f"training-{kind.lower()}"] = check


training("Gather", [0, 3], [0, 4], 4, -4, 3)
training("GatherND", [[0, 5], [3, 1]], [[0, 5], [3, 6]], 6, -6, 5)
training("ScatterND", [[0, 5], [3, 1]], [[0, 5], [-5, 1]], -5, -4, 3, [("u", UPDATES[:2, 0])])
training("ScatterElements", [[0] * 6, [3] * 6], [[0] * 6, [4] * 6], 4, -4, 3, [("u", UPDATES[:2])], axis=0)

if __name__ == "__main__":
    pcc.main(__doc__, CASES, kind=lambda name: name.split("-")[0])
