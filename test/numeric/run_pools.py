#!/usr/bin/env python3
"""Tests average pools that count padding and whose last windows hang over it (ceil_mode), in one, two and three dims: executables on
1, 2 and 4 ranks that divide a spatial dim, in all types, and their gradients.

    run_pools.py [--only GLOB] [--jobs N]
"""
import os
import tempfile

import numpy as np
import onnx
from onnx import helper, numpy_helper

import executed
import pcc

CASES = {}


def pool(x, window, stride, low, high, dilation):
    """Averages over windows dim by dim: padding counts, what hangs over it does not; a window begins within input or low pad."""
    for dim in range(2, x.ndim):
        size, span = x.shape[dim], (window - 1) * dilation + 1
        count = -(-(size + low + high - span) // stride) + 1
        count -= (count - 1) * stride >= size + low
        padded = np.pad(x, [(low, high) if d == dim else (0, 0) for d in range(x.ndim)])
        taps = [[i * stride + t * dilation for t in range(window) if i * stride + t * dilation < padded.shape[dim]] for i in range(count)]
        x = np.stack([padded.take(t, dim).mean(dim) for t in taps], dim)
    return x


def save(folder, shape, kind, attributes, trained=False):
    nodes = [helper.make_node("AveragePool", ["h" if trained else "x"], ["y"], "pool", ceil_mode=1, count_include_pad=1, **attributes)]
    weights = []
    if trained:
        nodes.insert(0, helper.make_node("Mul", ["x", "w"], ["h"], "mul"))
        weights.append(numpy_helper.from_array(np.linspace(0.5, 1.5, shape[-1]).astype("f4"), "w"))
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", kind, shape)], [helper.make_tensor_value_info("y", kind, None)], weights)
    path = os.path.join(folder, "m.onnx")
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10), path)
    return path


def case(dims, size, window, stride, low, high, dilation=1, dtype="f4", tolerance=1e-6):
    attributes = {"kernel_shape": [window] * dims, "strides": [stride] * dims, "pads": [low] * dims + [high] * dims, "dilations": [dilation] * dims}
    shape = (2, 3, *[size] * dims)

    def check():
        x = np.random.RandomState(5).standard_normal(shape).astype(dtype)
        with tempfile.TemporaryDirectory() as folder:
            path, feeds = save(folder, shape, helper.np_dtype_to_tensor_dtype(x.dtype), attributes), executed.feed(folder, {"x": x})
            for ranks in (1, 2, 4):
                pins = f"[-,-,tp{',-' * (dims - 1)}]"
                options = ["--tp", ranks, "--shard", f"x={pins}", "--shard", f"y={pins}"] if ranks > 1 else []
                bundle = os.path.join(folder, f"{ranks}.pcc")
                pcc.succeed(path, "-o", bundle, "-q", *options)
                executed.compare(executed.outputs(bundle, feeds, folder), {"y": pool(x.astype("f8"), window, stride, low, high, dilation).astype(dtype)}, tolerance)
    CASES["-".join(map(str, (f"{dims}d", size, window, stride, low, high, dilation, dtype)))] = check


case(1, 3, 2, 2, 0, 0)
case(1, 4, 3, 2, 1, 1)
case(1, 9, 3, 2, 0, 1, 2)
case(2, 5, 2, 2, 0, 0)
case(2, 7, 3, 2, 1, 0)
case(3, 4, 3, 2, 1, 1)
for dtype, tolerance in (("f2", 1e-3), ("f8", 1e-12)):
    case(2, 5, 3, 2, 1, 1, dtype=dtype, tolerance=tolerance)


def gradients(ranks):
    """The first two losses on ranks are those of one step of SGD, whose gradient is taken by central differences in NumPy."""
    def check():
        shape, attributes = (2, 3, 7), {"kernel_shape": [3], "strides": [2], "pads": [1, 0]}
        random = np.random.RandomState(2)
        x, labels = random.standard_normal((2, *shape)), random.standard_normal((2, 2, 3, 4))
        w, step = np.linspace(0.5, 1.5, 7), np.eye(7) * 1e-4

        def loss(w, i):
            return ((pool(x[i] * w, 3, 2, 1, 0, 1) - labels[i]) ** 2).mean()
        slope = np.array([(loss(w + e, 0) - loss(w - e, 0)) / 2e-4 for e in step])
        with tempfile.TemporaryDirectory() as folder:
            bundle, options = os.path.join(folder, "m.pcc"), ["--tp", ranks, "--shard", "x=[-,-,tp]"] if ranks > 1 else []
            pcc.succeed(save(folder, shape, 1, attributes, trained=True), "-o", bundle, "-q", "--train", "--loss", "mse(y,labels)",
                        "--optimizer", "sgd", "--lr", 1, *options)
            for name, value in (("x", x), ("labels", labels)):
                np.save(os.path.join(folder, name + ".npy"), value.astype("f4"))
            got = [s["loss"] for s in pcc.report("run", bundle, "--data", folder, "--steps", 2, "--comm", "thread")["steps"]]
            if not np.allclose(got, [loss(w, 0), loss(w - slope, 1)], rtol=1e-4):
                raise pcc.Failure(f"losses {got}, right is {[loss(w, 0), loss(w - slope, 1)]}")
    CASES[f"gradients-{ranks}"] = check


for ranks in (1, 2, 4):
    gradients(ranks)

if __name__ == "__main__":
    pcc.main(__doc__, CASES)
