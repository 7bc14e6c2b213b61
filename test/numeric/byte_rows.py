"""Textbook cases at two sizes: compiled at full size, where received bytes must be what the volumes of the collectives add
up to, and executed on simulated ranks at a small size. Pins hold a case to the layout that it is about; where fewer bytes do as
well, the case says how many.

At full size B=4 S=256 H=1024 F=4096 V=32000 on t=4 ranks with 64 elements per head, in bf16; all-reduce 2(t-1)/t of the operand,
all-gather and reduce-scatter (t-1)/t of the whole.
"""
import numpy as np
from onnx import TensorProto, helper

import sharded_graph
from sharded_graph import Graph

FULL = dict(B=4, S=256, H=1024, F=4096, V=32000, d=64)
SMALL = dict(B=2, S=8, H=16, F=32, V=40, d=4)
T = 4


class Shapes(Graph):
    """A graph whose weights are inputs, so that full size needs no data: only their shapes count."""

    def __init__(self, element):
        super().__init__()
        self.element, self.count = element, 0

    def tensor(self, name, *shape, element=None):
        kind = self.element if element is None else element
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape))
        dtype = {TensorProto.INT64: "i8"}.get(kind, "f4")
        if kind != TensorProto.BFLOAT16:
            self.values[name] = (self.random.standard_normal(shape) if dtype == "f4" else np.zeros(shape)).astype(dtype)
        return name

    def indices(self, name, bound, *shape):
        self.tensor(name, *shape, element=TensorProto.INT64)
        if self.element != TensorProto.BFLOAT16:
            self.values[name] = self.random.randint(0, bound, shape)
        return name

    def number(self, value):
        """A scalar of the graph's element type."""
        self.count += 1
        self.weights.append(helper.make_tensor(f"number{self.count}", self.element, [], [value]))
        return f"number{self.count}"

    def sizes(self, *values):
        self.count += 1
        return self.constant(f"sizes{self.count}", np.array(values))

    def make(self, kind, *operands, out=None, **attributes):
        """Adds a node; returns its one output."""
        self.count += 1
        out = out or f"v{self.count}"
        self.op(kind, list(operands), [out], **attributes)
        return out


def row(name, build, pins, good, found=None, mesh=f"t={T}", element=TensorProto.BFLOAT16, outputs=("y",), small=None):
    """`good` is the textbook's number of bytes at full size, `found` what is received where that is less; `small` replaces some of
    the small sizes."""
    assert found is None or found < good

    def graph(sizes, kind):
        g = Shapes(kind)
        g.outputs = list(outputs)
        build(g, **sizes)
        return g

    little = {**SMALL, **(small or {})}
    wanted = good if found is None else found
    sharded_graph.CASES[f"{name}-values"] = lambda: sharded_graph.check(graph(little, TensorProto.FLOAT), mesh, pins, None)
    sharded_graph.CASES[f"{name}-bytes"] = lambda: sharded_graph.check_bytes(graph(FULL, element), mesh, pins, wanted)


def one_hot_experts(g, B, S, H, F):
    """One-hot weights, [G, S, E, C], send the S tokens of each of B groups to two of four experts. Names the values that gradients
    read: what experts get `e`, keep `a` and give `o`."""
    experts, places, inner = 4, 2 * S // 4, F // 4
    x, send, back = g.tensor("x", B, S, H), g.tensor("send", B, S, experts, places), g.tensor("back", B, S, experts, places)
    g.make("Einsum", send, x, out="e", equation="gsec,gsm->egcm")
    h = g.make("Einsum", "e", g.tensor("w1", experts, H, inner), equation="egcm,emf->egcf")
    g.make("Einsum", g.make("Tanh", h, out="a"), g.tensor("w2", experts, inner, H), out="o", equation="egcf,efm->egcm")
    g.make("Einsum", back, "o", out="y", equation="gsec,egcm->gsm")
