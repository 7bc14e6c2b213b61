"""Textbook cases at two sizes: compiled at full size, where the received bytes must equal the sum of the volumes of the
collectives, and executed on simulated ranks at a small size. Pins fix the layout of a case; if fewer bytes are enough, the case
states their number.

At full size B=4 S=256 H=1024 F=4096 V=32000 on t=4 ranks with 64 elements per head, in bf16; all-reduce 2(t-1)/t of the
operand, all-gather and reduce-scatter (t-1)/t of the whole.
"""
import numpy as np
from onnx import TensorProto, helper

import sharded_graph
from sharded_graph import Graph

FULL = dict(B=4, S=256, H=1024, F=4096, V=32000, d=64)
SMALL = dict(B=2, S=8, H=16, F=32, V=40, d=4)
T = 4


class Shapes(Graph):
    """A graph whose weights are inputs: only their shapes matter, so that full size needs no data."""

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
        """Returns a scalar of the graph's element type."""
        self.count += 1
        self.weights.append(helper.make_tensor(f"number{self.count}", self.element, [], [value]))
        return f"number{self.count}"

    def sizes(self, *values):
        self.count += 1
        return self.constant(f"sizes{self.count}", np.array(values))

    def make(self, kind, *operands, out=None, **attributes):
        """Adds a node and returns its one output."""
        self.count += 1
        out = out or f"v{self.count}"
        self.op(kind, list(operands), [out], **attributes)
        return out


def row(name, build, pins, good, found=None, mesh=f"t={T}", element=TensorProto.BFLOAT16, outputs=("y",), small=None):
    """Adds a case. `good` is the textbook's number of bytes at full size, `found` the number that is received if it is smaller.
    `small` replaces some of the small sizes."""
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
    """Adds experts. One-hot weights, [G, S, E, C], send the S tokens of each of B groups to two of four experts. Returns the
    names of the values that gradients read: `e` (inputs of experts), `a` (kept activations) and `o` (outputs)."""
    experts, places, inner = 4, 2 * S // 4, F // 4
    x, send, back = g.tensor("x", B, S, H), g.tensor("send", B, S, experts, places), g.tensor("back", B, S, experts, places)
    g.make("Einsum", send, x, out="e", equation="gsec,gsm->egcm")
    h = g.make("Einsum", "e", g.tensor("w1", experts, H, inner), equation="egcm,emf->egcf")
    g.make("Einsum", g.make("Tanh", h, out="a"), g.tensor("w2", experts, inner, H), out="o", equation="egcf,efm->egcm")
    g.make("Einsum", back, "o", out="y", equation="gsec,egcm->gsm")
