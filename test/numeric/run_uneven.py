#!/usr/bin/env python3
"""Tests dims that are not divisible by the ranks: parts have the size ceil(size / ranks), the last ones are short or empty, no
output contains padding, and no reduction includes it. Plans are verified, executed on all ranks, and their bytes counted.

    run_uneven.py [--only GLOB] [--jobs N]
"""
import os
import tempfile

import numpy as np

import pcc
import sharded_graph
from sharded_graph import Graph, reduce_bytes


def starts(sizes):
    """Returns the runs per rank: [3, 3, 1] -> [[0, 3]], [[3, 6]], [[6, 7]]; an empty part has no runs."""
    ends = np.cumsum(sizes)
    return [[[int(e - n), int(e)]] if n else [] for n, e in zip(sizes, ends)]


def outputs(bundle, options, folder):
    pcc.succeed("run", bundle, "--comm", "thread", "--output", folder, *options)
    return {f[:-4]: np.load(os.path.join(folder, f)) for f in sorted(os.listdir(folder))}


def case(name, graph, ranks, pins, parts, wanted, limit):
    """Adds a case. `parts`: sizes on each rank of the first dim, or of dim `d`, of an input: {name: (d, sizes)}. `wanted`: the
    whole outputs."""
    def check():
        g = graph()
        sharded_graph.check(g, f"t={ranks}", pins, limit)
        with tempfile.TemporaryDirectory() as folder:
            path, inputs = g.save(folder)
            bundle = os.path.join(folder, "b.pcc")
            pcc.succeed(path, "-o", bundle, "--mesh", f"t={ranks}", *(w for p in pins for w in ("--shard", p)))
            described = pcc.inspect(bundle)["ranks"]
            for value, (dim, sizes) in parts.items():
                got = [v["runs"][dim] for r in described for v in r["inputs"] + r["outputs"] + r["parameters"] if v["name"] == value]
                if got != starts(sizes):
                    raise pcc.Failure(f"{value} lies as {got}, not {starts(sizes)}")
            for value, array in outputs(bundle, inputs, os.path.join(folder, "out")).items():
                expected = wanted(g.values)[value]
                if array.shape != expected.shape or not np.allclose(array, expected, rtol=1e-4, atol=1e-5):
                    raise pcc.Failure(f"{value} of {array.shape} is not what NumPy computes, of {expected.shape}")
    sharded_graph.CASES[name] = check


def chain(kind, shape, **attributes):
    """Returns a graph of one op on `x`, with its axes as attribute or as operand."""
    def build():
        g = Graph()
        x = g.normal("x", *shape)
        axes = [g.constant("axes", np.array([0]))] if kind.startswith("Reduce") else []
        g.op(kind, [x, *axes], ["y"], **attributes)
        return g
    return build


def same(x):
    return {"y": np.abs(x["x"])}


case("batch-of-ten", chain("Abs", (10, 6)), 4, ["x=[t,-]", "y=[t,-]"], {"x": (0, [3, 3, 3, 1]), "y": (0, [3, 3, 3, 1])}, same, 0)
case("fewer-rows-than-ranks", chain("Abs", (2, 6)), 4, ["x=[t,-]", "y=[t,-]"], {"x": (0, [1, 1, 0, 0]), "y": (0, [1, 1, 0, 0])}, same, 0)


def softmax(x):
    e = np.exp(x - x.max(0))
    return e / e.sum(0)


TEN = {"x": (0, [3, 3, 3, 1])}
row = reduce_bytes(4, 6)
case("maximum", chain("ReduceMax", (10, 6)), 4, ["x=[t,-]", "y=[-,-]"], TEN, lambda v: {"y": v["x"].max(0, keepdims=True)}, row)
case("minimum", chain("ReduceMin", (10, 6)), 4, ["x=[t,-]", "y=[-,-]"], TEN, lambda v: {"y": v["x"].min(0, keepdims=True)}, row)
case("mean", chain("ReduceMean", (10, 6)), 4, ["x=[t,-]", "y=[-,-]"], TEN, lambda v: {"y": v["x"].mean(0, keepdims=True)}, row)
case("product", chain("ReduceProd", (10, 6)), 4, ["x=[t,-]", "y=[-,-]"], TEN, lambda v: {"y": v["x"].prod(0, keepdims=True)}, row)
case("softmax", chain("Softmax", (10, 6), axis=0), 4, ["x=[t,-]", "y=[t,-]"], {**TEN, "y": TEN["x"]}, lambda v: {"y": softmax(v["x"])},
     2 * row)
case("arg-max", chain("ArgMax", (10, 6), axis=0), 4, ["x=[t,-]", "y=[-,-]"], TEN, lambda v: {"y": v["x"].argmax(0)[None]}, 2 * row)
case("minimum-of-fewer-rows-than-ranks", chain("ReduceMin", (2, 6)), 4, ["x=[t,-]", "y=[-,-]"], {"x": (0, [1, 1, 0, 0])},
     lambda v: {"y": v["x"].min(0, keepdims=True)}, row)


def contraction():
    g = Graph()
    g.op("MatMul", [g.normal("x", 5, 10), g.normal("w", 10, 6)], ["y"])
    return g


case("contraction", contraction, 4, ["x=[-,t]", "w=[t,-]", "y=[-,-]"], {"x": (1, [3, 3, 3, 1]), "w": TEN["x"]},
     lambda v: {"y": v["x"] @ v["w"]}, reduce_bytes(4, 30))


def vocabulary():
    g = Graph()
    g.constant("table", g.random.standard_normal((50257, 4)).astype("f4"))
    g.op("Gather", ["table", g.input("ids", np.array([[0, 6282, 6283, 50256], [43980, 43981, 12345, 25132]]))], ["y"])
    g.table = g.weights[0]
    return g


def looked_up(values):
    from onnx import numpy_helper
    return {"y": numpy_helper.to_array(vocabulary().table)[values["ids"]]}


case("vocabulary-of-50257", vocabulary, 8, ["table=[t,-]", "y=[-,-,-]"], {"table": (0, [6283] * 7 + [6276])}, looked_up,
     reduce_bytes(8, 8 * 4))


def vocabulary_head():
    g = Graph()
    g.op("SoftmaxCrossEntropyLoss", [g.normal("z", 6, 50257), g.input("labels", np.array([0, 6282, 6283, 50256, 43981, 9]))], ["y"],
         reduction="none")
    return g


def losses(values):
    z = values["z"].astype("f8")
    return {"y": np.log(np.exp(z).sum(1)) - z[np.arange(6), values["labels"]]}


case("cross-entropy-of-50257", vocabulary_head, 8, ["z=[-,t]", "y=[-]"], {"z": (1, [6283] * 7 + [6276])}, losses, reduce_bytes(8, 3 * 6))


if __name__ == "__main__":
    sharded_graph.main(__doc__)
