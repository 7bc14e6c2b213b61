#!/usr/bin/env python3
"""Tests ops whose inner dim is split: softmaxes, norms, scans, selections and losses on simulated ranks compute the same as one
rank, and receive no more bytes than their statistics have.

    run_inner_dims.py [--only GLOB] [--jobs N]
"""
import numpy as np

import sharded_graph
from sharded_graph import Graph, case, reduce_bytes


# Softmaxes ----------------------------------------------------------------------------------------------------------------
def softmax(shape, axis, kind="Softmax", dtype="f4", spoil=None):
    def build():
        g = Graph()
        x = g.random.standard_normal(shape).astype(dtype)
        if spoil:
            spoil(x)
        g.op(kind, [g.input("x", x)], ["y"], axis=axis)
        return g
    return build


def low_row(x):
    x[0] = -np.inf


def high_element(x):
    x[0, 1] = np.inf


def undefined_element(x):
    x[0, -1] = np.nan


BOTH = ["x=[-,t]", "y=[-,t]"]
for kind in ("Softmax", "LogSoftmax"):
    for ranks, size in ((2, 8), (3, 8), (4, 9), (4, 3), (8, 13), (6, 7)):
        case(f"{kind.lower()}-{size}-over-{ranks}", softmax((5, size), -1, kind), f"t={ranks}", BOTH,
             reduce_bytes(ranks, 10) if size >= ranks else None)
    case(f"{kind.lower()}-batch-too", softmax((6, 9, 4), 1, kind), "d=2,t=3", ["x=[d,t,-]", "y=[d,t,-]"], reduce_bytes(3, 2 * 3 * 4))
    case(f"{kind.lower()}-two-axes", softmax((6, 21), 1, kind), "d=2,t=3", ["x=[-,d+t]", "y=[-,d+t]"], reduce_bytes(6, 2 * 6))
    case(f"{kind.lower()}-half", softmax((4, 10), 1, kind, "f2"), "t=4", BOTH, reduce_bytes(4, 4, 2) + reduce_bytes(4, 4))
    for spoil in (low_row, high_element, undefined_element):
        case(f"{kind.lower()}-{spoil.__name__}", softmax((3, 7), 1, kind, spoil=spoil), "t=4", BOTH)
case("softmax-first-dim", softmax((7, 6), 0), "t=4", ["x=[t,-]", "y=[t,-]"], reduce_bytes(4, 2 * 6))


# Norms --------------------------------------------------------------------------------------------------------------------
def layer_norm(shape, axis, bias=True, dtype="f4", offset=0):
    def build():
        g = Graph()
        x = g.input("x", (g.random.standard_normal(shape) + offset).astype(dtype))
        weights = [g.constant(n, g.random.standard_normal(shape[axis:]).astype(dtype)) for n in (["scale", "bias"] if bias else ["scale"])]
        g.op("LayerNormalization", [x, *weights], ["y"], axis=axis)
        return g
    return build


def rms_norm(shape):
    def build():
        g = Graph()
        g.op("SimplifiedLayerNormalization", [g.normal("x", *shape), g.constant("scale", g.random.standard_normal(shape[-1:]).astype("f4"))],
             ["y"], axis=-1, epsilon=1e-5)
        return g
    return build


ROWS = ["x=[-,-,t]", "y=[-,-,t]"]
for ranks, size in ((2, 16), (3, 16), (4, 10), (4, 3)):
    case(f"layer-norm-{size}-over-{ranks}", layer_norm((2, 3, size), 2), f"t={ranks}", ROWS, reduce_bytes(ranks, 12) if size > ranks else None)
    case(f"rms-norm-{size}-over-{ranks}", rms_norm((2, 3, size)), f"t={ranks}", ROWS, reduce_bytes(ranks, 6) if size > ranks else None)
case("layer-norm-half", layer_norm((2, 3, 10), 2, dtype="f2"), "t=4", ROWS, reduce_bytes(4, 12))
case("layer-norm-no-bias", layer_norm((2, 3, 12), 2, bias=False), "t=4", ROWS, reduce_bytes(4, 12))
case("layer-norm-far-from-zero", layer_norm((2, 3, 12), 2, offset=10), "t=4", ROWS, reduce_bytes(4, 12))
case("layer-norm-batch-too", layer_norm((2, 3, 12), 2), "d=2,t=3", ["x=[d,-,t]", "y=[d,-,t]"], reduce_bytes(3, 6))
case("layer-norm-two-dims", layer_norm((2, 3, 12), 1), "t=4", ROWS, reduce_bytes(4, 4))
case("layer-norm-both-dims-split", layer_norm((2, 4, 9), 1), "d=2,t=3", ["x=[-,d,t]", "y=[-,d,t]"], reduce_bytes(6, 4))


# Scans --------------------------------------------------------------------------------------------------------------------
def cumsum(shape, axis, dtype="f4", **attributes):
    def build():
        g = Graph()
        x = g.input("x", (g.random.standard_normal(shape) * 9).astype(dtype))
        g.op("CumSum", [x, g.constant("axis", np.array(axis, "i8"))], ["y"], **attributes)
        return g
    return build


COLUMNS = ["x=[t,-]", "y=[t,-]"]
for exclusive in (0, 1):
    for reverse in (0, 1):
        for ranks, size in ((2, 6), (4, 8), (4, 10), (4, 3), (6, 7)):
            case(f"cumsum-{size}-over-{ranks}-exclusive{exclusive}-reverse{reverse}", cumsum((size, 3), 0, exclusive=exclusive, reverse=reverse),
                 f"t={ranks}", COLUMNS, (ranks - 1) * 3 * 4 if size % ranks == 0 else None)
case("cumsum-integers", cumsum((8, 3), 0, "i4"), "t=4", COLUMNS, 3 * 3 * 4)
case("cumsum-batch-too", cumsum((6, 6, 2), 1), "d=2,t=3", ["x=[d,t,-]", "y=[d,t,-]"], 2 * 3 * 2 * 4)
case("cumsum-two-axes", cumsum((12, 2), 0), "d=2,t=3", ["x=[d+t,-]", "y=[d+t,-]"], 5 * 2 * 4)


# Selections ---------------------------------------------------------------------------------------------------------------
def selection(kind, shape, axis, dtype="f4", k=None, spoil=None, **attributes):
    def build():
        g = Graph()
        x = np.round(g.random.standard_normal(shape) * 2).astype(dtype)  # many ties
        if spoil:
            spoil(x)
        operands = [g.input("x", x)] + ([g.constant("k", np.array([k], "i8"))] if k else [])
        g.op(kind, operands, ["y", "places"] if k else ["y"], axis=axis, **attributes)
        return g
    return build


def select_bytes(ranks, rows, k, size):
    return max((ranks - 1) * rows * min(k, -(-size // ranks)) * 4 + reduce_bytes(ranks, rows * k), 0)


for ranks, size in ((2, 8), (3, 10), (4, 9), (4, 3), (8, 24)):
    for kind in ("ArgMax", "ArgMin"):
        for last in (0, 1):
            case(f"{kind.lower()}-{size}-over-{ranks}-last{last}", selection(kind, (5, size), 1, keepdims=last, select_last_index=last),
                 f"t={ranks}", ["x=[-,t]"], reduce_bytes(ranks, 10) if size >= ranks else None)
    for largest in (0, 1):
        for k in (1, 3):
            case(f"topk-{k}-of-{size}-over-{ranks}-largest{largest}", selection("TopK", (5, size), 1, k=k, largest=largest),
                 f"t={ranks}", ["x=[-,t]"], select_bytes(ranks, 5, k, size) if size % ranks == 0 else None)
case("argmax-undefined", selection("ArgMax", (3, 7), 1, spoil=undefined_element), "t=4", ["x=[-,t]"])
case("argmax-low-row", selection("ArgMax", (3, 7), 1, spoil=low_row), "t=4", ["x=[-,t]"])
case("argmax-integers", selection("ArgMax", (3, 7), 1, "i4"), "t=4", ["x=[-,t]"])
case("argmax-first-dim", selection("ArgMax", (7, 6), 0), "t=4", ["x=[t,-]"], reduce_bytes(4, 12))
case("argmax-batch-too", selection("ArgMax", (6, 7), 1), "d=2,t=3", ["x=[d,t]"])
case("topk-more-than-a-part", selection("TopK", (3, 12), 1, k=7), "t=4", ["x=[-,t]"])
case("topk-all", selection("TopK", (3, 12), 1, k=12), "t=4", ["x=[-,t]"])
case("topk-low-row", selection("TopK", (3, 7), 1, k=4, spoil=low_row), "t=4", ["x=[-,t]"])
for largest in (0, 1):
    case(f"topk-undefined-largest{largest}", selection("TopK", (3, 7), 1, k=2, spoil=undefined_element, largest=largest), "t=4", ["x=[-,t]"])
case("topk-integers", selection("TopK", (3, 8), 1, "i8", k=2), "t=4", ["x=[-,t]"])
case("topk-batch-too", selection("TopK", (4, 6, 3), 1, k=2), "d=2,t=3", ["x=[d,t,-]"], 2 * 2 * 2 * 3 * 4 + reduce_bytes(3, 2 * 2 * 3))
case("topk-two-axes", selection("TopK", (4, 12), 1, k=2), "d=2,t=3", ["x=[-,d+t]"], select_bytes(6, 4, 2, 12))


# Reads and writes at computed places --------------------------------------------------------------------------------------
def gather_elements(size):
    def build():
        g = Graph()
        places = g.random.randint(-size, size, (5, 4))
        g.op("GatherElements", [g.normal("x", 5, size), g.input("i", places)], ["y"], axis=1)
        return g
    return build


def scatter_elements(size, **attributes):
    def build():
        g = Graph()
        places = np.stack([g.random.permutation(size)[:3] for _ in range(5)]) - size // 2
        g.op("ScatterElements", [g.normal("x", 5, size), g.input("i", places), g.normal("u", 5, 3)], ["y"], axis=1, **attributes)
        return g
    return build


def scatter_nd(size, tuples, reduction, depth=1):
    """Scatters into rows, or into single elements of rows; the places are distinct unless updates are combined."""
    def build():
        g = Graph()
        whole = (size, 5)
        flat = g.random.permutation(np.prod(whole[:depth]))[:tuples] if reduction == "none" else g.random.randint(0, size, tuples)
        places = np.stack(np.unravel_index(flat, whole[:depth]), -1) - (0 if reduction == "none" else 1)
        g.op("ScatterND", [g.normal("x", *whole), g.input("i", places), g.normal("u", tuples, *whole[depth:])], ["y"], reduction=reduction)
        return g
    return build


for ranks, size in ((2, 8), (4, 9), (4, 3)):
    case(f"gather-elements-{size}-over-{ranks}", gather_elements(size), f"t={ranks}", ["x=[-,t]", "i=[-,-]"],
         reduce_bytes(ranks, 20) if size >= ranks else None)
    for reduction in ("none", "add", "max"):
        case(f"scatter-elements-{reduction}-{size}-over-{ranks}", scatter_elements(size, reduction=reduction), f"t={ranks}",
             ["x=[-,t]", "y=[-,t]", "i=[-,-]", "u=[-,-]"], 0 if size >= ranks else None)
        for depth, u in ((1, "[-,-]"), (2, "[-]")):
            case(f"scatter-nd-{reduction}-{size}-by-{depth}-over-{ranks}", scatter_nd(size, 3, reduction, depth), f"t={ranks}",
                 ["x=[t,-]", "y=[t,-]", "i=[-,-]", f"u={u}"], 0 if size >= ranks else None)
    # One rank has the data, all have updates, and their sums are added.
    case(f"scatter-nd-of-split-updates-{size}-over-{ranks}", scatter_nd(size, 101, "add"), f"t={ranks}",
         ["x=[-,-]", "y=[-,-]", "i=[t,-]", "u=[t,-]"], reduce_bytes(ranks, size * 5))


# Losses -------------------------------------------------------------------------------------------------------------------
def loss(kind, shape, weighted=False, ignore=None, reduction="mean", log_prob=False):
    def build():
        g = Graph()
        labels = g.random.randint(0, shape[1], (shape[0], *shape[2:]))
        if ignore is not None:
            labels.ravel()[::3] = ignore
        operands = [g.normal("x", *shape), g.input("labels", labels)]
        if weighted:
            operands.append(g.constant("w", g.random.rand(shape[1]).astype("f4")))
        attributes = {} if ignore is None else {"ignore_index": ignore}
        g.op(kind, operands, ["loss", "log"] if log_prob else ["loss"], reduction=reduction, **attributes)
        return g
    return build


for kind in ("SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss"):
    for reduction in ("mean", "sum", "none"):
        for shape, pin in (((8, 13), "x=[-,t]"), ((4, 9, 3), "x=[-,t,-]")):
            for weighted in (False, True):
                for ignore in (None, -5):
                    name = f"{kind[:8].lower()}-{reduction}-{len(shape)}d" + "-weighted" * weighted + "-ignored" * (ignore is not None)
                    case(name, loss(kind, shape, weighted, ignore, reduction), "t=4", [pin])
case("loss-bytes", loss("SoftmaxCrossEntropyLoss", (8, 13)), "t=4", ["x=[-,t]"], reduce_bytes(4, 3 * 8) + 8)
case("loss-log-prob", loss("SoftmaxCrossEntropyLoss", (8, 13), log_prob=True), "t=4", ["x=[-,t]", "log=[-,t]"], reduce_bytes(4, 3 * 8) + 8)
case("loss-batch-too", loss("SoftmaxCrossEntropyLoss", (8, 13)), "d=2,t=3", ["x=[d,t]"])


# Together -----------------------------------------------------------------------------------------------------------------
def head(size):
    """Returns a graph of a model's next token, whose head is split, and its probabilities."""
    def build():
        g = Graph()
        g.op("LayerNormalization", [g.normal("x", 8, 24), g.constant("scale", g.random.standard_normal(24).astype("f4"))], ["h"], axis=1)
        g.op("MatMul", ["h", g.constant("w", g.random.standard_normal((24, size)).astype("f4"))], ["z"])
        g.op("ArgMax", ["z"], ["next"], axis=1)
        g.op("LogSoftmax", ["z"], ["log"], axis=1)
        g.op("TopK", ["log", g.constant("k", np.array([4]))], ["best", "places"], axis=1)
        return g
    return build


HALVES = ["--microbatches", "2", "--batch-dim", "x=0"]
for size in (160, 163):
    case(f"head-{size}", head(size), "t=4", ["w=[-,t]"])
    case(f"head-{size}-batch-too", head(size), "d=2,t=3", ["x=[d,-]", "w=[-,t]"])
    case(f"head-{size}-microbatches", head(size), "t=4", ["w=[-,t]"], options=HALVES)
    case(f"head-{size}-stages", head(size), "tp=2", [], options=["--pp", "2", *HALVES])
case("softmax-microbatches", softmax((8, 13), 1), "t=4", BOTH, options=HALVES)
case("layer-norm-microbatches", layer_norm((8, 3, 12), 2), "t=4", ROWS, options=HALVES)


if __name__ == "__main__":
    sharded_graph.main(__doc__)
