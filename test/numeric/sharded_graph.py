"""Small ONNX graphs with pinned shardings, compared on simulated ranks with one rank, and their received bytes with a limit."""
import os
import tempfile

import numpy as np
import onnx
from onnx import helper, numpy_helper

import executed
import pcc

CASES = {}


class Graph:
    """A small graph: inputs `x`, …, and values computed from them."""

    def __init__(self, seed=1):
        self.random = np.random.RandomState(seed)
        self.nodes, self.inputs, self.weights, self.values = [], [], [], {}
        self.outputs = None  # names; None: all that is computed

    def input(self, name, value):
        self.values[name] = np.asarray(value)
        kind = helper.np_dtype_to_tensor_dtype(self.values[name].dtype)
        self.inputs.append(helper.make_tensor_value_info(name, kind, self.values[name].shape))
        return name

    def normal(self, name, *shape, dtype="f4"):
        return self.input(name, self.random.standard_normal(shape).astype(dtype))

    def constant(self, name, value):
        self.weights.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def op(self, kind, operands, outputs, **attributes):
        self.nodes.append(helper.make_node(kind, operands, outputs, name=kind.lower(), **attributes))

    def save(self, folder):
        names = self.outputs or [o for n in self.nodes for o in n.output if o]
        outputs = [helper.make_empty_tensor_value_info(o) for o in names]
        model = helper.make_model(helper.make_graph(self.nodes, "g", self.inputs, outputs, self.weights),
                                  opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
        path = os.path.join(folder, "m.onnx")
        onnx.save(onnx.shape_inference.infer_shapes(model), path)
        return path, executed.feed(folder, self.values)


def received(bundle):
    return sum(c["received_bytes"] * c["count"] for c in pcc.inspect(bundle)["collectives"])


def check(graph, mesh, pins, limit, options=()):
    with tempfile.TemporaryDirectory() as folder:
        path, inputs = graph.save(folder)
        layout = ["--mesh", mesh, *(w for p in pins for w in ("--shard", p)), *options]
        executed.verify(path, *layout, *inputs)
        if limit is not None:
            bundle = os.path.join(folder, "b.pcc")
            pcc.succeed(path, "-o", bundle, *layout)
            if (got := received(bundle)) > limit + 1:
                raise pcc.Failure(f"receives {got} bytes, {limit:.0f} are enough")


def check_bytes(graph, mesh, pins, wanted):
    """Compiles a graph and checks that exactly these bytes are received."""
    with tempfile.TemporaryDirectory() as folder:
        path, _ = graph.save(folder)
        bundle = os.path.join(folder, "b.pcc")
        pcc.succeed(path, "-o", bundle, "--mesh", mesh, *(w for p in pins for w in ("--shard", p)))
        if (got := received(bundle)) != wanted:
            raise pcc.Failure(f"receives {got} bytes, not {wanted}")


def reduce_bytes(ranks, numbers, size=4):
    return 2 * (ranks - 1) / ranks * numbers * size


def case(name, graph, mesh, pins, limit=None, options=()):
    CASES[name] = lambda: check(graph(), mesh, pins, limit, options)


def main(description):
    pcc.main(description, CASES)
