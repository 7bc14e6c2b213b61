#!/usr/bin/env python3
"""Tests gradients of the textbook cases, written by hand, with the bytes that one rank has to receive (byte_rows.py). Forward
and backward pass in one graph share gathered and reduced values; in these cases the backward pass alone is another case.

    run_byte_rows_backward.py [--only GLOB] [--jobs N]
"""
import numpy as np
from onnx import TensorProto

import sharded_graph
from byte_rows import FULL, one_hot_experts, row

F32 = TensorProto.FLOAT
REDUCE = 3_145_728  # one all-reduce of [B, S, H]


def mlp_gradients(g, x, h, a, dy):
    """Adds the gradients of y = a w2, a = tanh(h), h = x w1; tanh' = 1 - a²."""
    da = g.make("MatMul", dy, g.make("Transpose", "w2", perm=[1, 0]))
    g.make("Einsum", a, dy, out="dw2", equation="bsf,bsh->fh")
    dh = g.make("Mul", da, g.make("Sub", g.number(1), g.make("Mul", a, a)))
    g.make("Einsum", x, dh, out="dw1", equation="bsh,bsf->hf")
    g.make("MatMul", dh, g.make("Transpose", "w1", perm=[1, 0]), out="dx")


def mlp(g, B, S, H, F, **_):
    x, dy = g.tensor("x", B, S, H), g.tensor("dy", B, S, H)
    h = g.make("MatMul", x, g.tensor("w1", H, F))
    a = g.make("Tanh", h)
    g.make("MatMul", a, g.tensor("w2", F, H), out="y")
    mlp_gradients(g, x, h, a, dy)


def mlp_backward(g, B, S, H, F, **_):
    """Adds the backward pass alone: `a` is an input that the forward pass has kept."""
    x, dy, a = g.tensor("x", B, S, H), g.tensor("dy", B, S, H), g.tensor("a", B, S, F)
    g.tensor("w1", H, F), g.tensor("w2", F, H)
    mlp_gradients(g, x, None, a, dy)


MLP = ["w1=[-,t]", "w2=[t,-]"]
MLP_GRADIENTS = ["dw1=[-,t]", "dw2=[t,-]"]
whole, scattered = "{}=[-,-,-]".format, "{}=[-,t,-]".format
row("1-megatron-mlp", mlp, MLP + MLP_GRADIENTS + [whole(n) for n in ("x", "dy", "y", "dx")], 2 * REDUCE,
    outputs=("y", "dx", "dw1", "dw2"))
row("1-megatron-mlp-backward", mlp_backward, MLP + MLP_GRADIENTS + ["a=[-,-,t]", *map(whole, ("x", "dy", "dx"))], REDUCE,
    outputs=("dx", "dw1", "dw2"))
row("2-sequence-parallel", mlp, MLP + MLP_GRADIENTS + [scattered(n) for n in ("x", "dy", "y", "dx")], 2 * REDUCE,
    outputs=("y", "dx", "dw1", "dw2"))
row("2-sequence-parallel-backward", mlp_backward, MLP + MLP_GRADIENTS + ["a=[-,-,t]", *map(scattered, ("x", "dy", "dx"))],
    REDUCE + 1_572_864, outputs=("dx", "dw1", "dw2"))


def norm_gradients(g, B, S, H, **_):
    """Adds layer norm in f32: statistics of x, then the two sums per row that dx needs."""
    x, dy, scale = g.tensor("x", B, S, H), g.tensor("dy", B, S, H), g.tensor("scale", H)
    row_sum = lambda v: g.make("ReduceMean", v, "last")
    g.constant("last", np.array([2])), g.constant("rows", np.array([0, 1]))
    mean, square = row_sum(x), row_sum(g.make("Mul", x, x))
    variance = g.make("Sub", square, g.make("Mul", mean, mean))
    deviation = g.make("Sqrt", g.make("Add", variance, g.number(1e-5)))
    normal = g.make("Div", g.make("Sub", x, mean), deviation)
    g.make("Mul", normal, scale, out="y")
    dn = g.make("Mul", dy, scale)
    inner = g.make("Mul", normal, row_sum(g.make("Mul", dn, normal)))
    g.make("Div", g.make("Sub", g.make("Sub", dn, row_sum(dn)), inner), deviation, out="dx")
    g.make("ReduceSum", g.make("Mul", dy, normal), "rows", out="dscale", keepdims=0)
    g.make("ReduceSum", dy, "rows", out="dbias", keepdims=0)


NORM = ("y", "dx", "dscale", "dbias")
row("2-norm-of-a-split-sequence", norm_gradients, [*map(scattered, ("x", "dy", "y", "dx")), "scale=[-]", "dscale=[-]", "dbias=[-]"],
    2 * 3 * (2 * FULL["H"]) * 4 // 4, element=F32, outputs=NORM)
row("9-layer-norm", norm_gradients, [*map("{}=[-,-,t]".format, ("x", "dy", "y", "dx")), "scale=[t]", "dscale=[t]", "dbias=[t]"],
    2 * 12_288, element=F32, outputs=NORM)


def softmax_gradients(g, B, S, H, **_):
    x, dy = g.tensor("x", B, S, H), g.tensor("dy", B, S, H)
    p = g.make("Softmax", x, out="y", axis=-1)
    inner = g.make("ReduceSum", g.make("Mul", dy, p), g.constant("last", np.array([2])))
    g.make("Mul", p, g.make("Sub", dy, inner), out="dx")


row("9-softmax", softmax_gradients, [*map("{}=[-,-,t]".format, ("x", "dy", "y", "dx"))], 3 * 6_144, element=F32, outputs=("y", "dx"))


class Attention:
    """Causal softmax attention with the gradients of its four weights and its input. Heads are one dim. If a key and value head
    serves several query heads, they are two dims: [kept, queries of each]."""

    def __init__(self, g, keys, B, S, H, d):
        self.g, self.B, self.S, self.H, self.d = g, B, S, H, d
        queries, kept = H // d, keys or H // d
        grouped = kept < queries
        self.of_queries = [kept, queries // kept] if grouped else [queries]
        self.of_keys = [kept, 1] if grouped else [kept]
        self.to_heads, self.to_rows = ([0, 2, 3, 1, 4], [0, 3, 1, 2, 4]) if grouped else ([0, 2, 1, 3], [0, 2, 1, 3])
        self.swapped = [0, 1, 2, 4, 3] if grouped else [0, 1, 3, 2]

    def matmul(self, *operands, out=None):
        return self.g.make("MatMul", *operands, out=out)

    def heads(self, value, count):
        """Reshapes [B, S, heads * d] -> [B, heads…, S, d]."""
        shape = self.g.sizes(self.B, self.S, *count, self.d)
        return self.g.make("Transpose", self.g.make("Reshape", value, shape), perm=self.to_heads)

    def rows(self, value):
        """Reshapes [B, heads…, S, d] -> [B, S, heads * d]."""
        return self.g.make("Reshape", self.g.make("Transpose", value, perm=self.to_rows), self.g.sizes(self.B, self.S, -1))

    def swap(self, value):
        return self.g.make("Transpose", value, perm=self.swapped)

    def kept(self, value):
        """Returns the gradient of a key or value head, summed over all query heads that it serves."""
        return self.g.make("ReduceSum", value, self.g.sizes(2)) if len(self.of_keys) == 2 else value

    def forward(self, x):
        g, S, H = self.g, self.S, self.H
        counts = dict(q=self.of_queries, k=self.of_keys, v=self.of_keys)
        self.q, self.k, self.v = (
            self.heads(self.matmul(x, g.tensor(f"w{n}", H, int(np.prod(c)) * self.d)), c) for n, c in counts.items())
        mask = g.make("Cast", g.constant("mask", np.triu(np.full((S, S), -1e4, "f4"), 1)), to=g.element)
        self.scale = g.number(self.d ** -0.5)
        scores = g.make("Mul", self.matmul(self.q, self.swap(self.k)), self.scale)
        self.p = g.make("Softmax", g.make("Add", scores, mask), out="p", axis=-1)
        self.o = self.rows(self.matmul(self.p, self.v))
        self.matmul(self.o, g.tensor("wo", H, H), out="y")

    def backward(self, x, dy):
        g = self.g
        g.make("Einsum", self.o, dy, out="dwo", equation="bso,bsh->oh")
        do = self.heads(self.matmul(dy, g.make("Transpose", "wo", perm=[1, 0])), self.of_queries)
        dp = self.matmul(do, self.swap(self.v))
        inner = g.make("ReduceSum", g.make("Mul", dp, self.p), g.sizes(-1))
        ds = g.make("Mul", g.make("Mul", self.p, g.make("Sub", dp, inner)), self.scale, out="ds")
        gradients = dict(q=self.matmul(ds, self.k), k=self.kept(self.matmul(self.swap(ds), self.q)),
                         v=self.kept(self.matmul(self.swap(self.p), do)))
        parts = []
        for name, gradient in gradients.items():
            gradient = self.rows(gradient)
            g.make("Einsum", x, gradient, out=f"dw{name}", equation="bsh,bso->ho")
            parts.append(self.matmul(gradient, g.make("Transpose", f"w{name}", perm=[1, 0])))
        g.make("Add", g.make("Add", parts[0], parts[1]), parts[2], out="dx")


def attention(keys):
    def build(g, B, S, H, d, **_):
        x, dy, layer = g.tensor("x", B, S, H), g.tensor("dy", B, S, H), Attention(g, keys, B, S, H, d)
        layer.forward(x)
        layer.backward(x, dy)
    return build


GRADIENTS = ("y", "dx", "dwq", "dwk", "dwv", "dwo")
ATTENTION = ["wo=[tp,-]", "dwo=[tp,-]", "wq=[-,tp]", "dwq=[-,tp]", *map(whole, ("x", "dy", "y", "dx"))]
row("3-attention", attention(None), ATTENTION + [f"{n}=[-,tp]" for n in ("wk", "wv", "dwk", "dwv")], 2 * REDUCE,
    outputs=GRADIENTS, mesh="tp=4")
# The forward pass is that of run_byte_rows.py; dwk and dwv are two all_reduces of 131 072 bytes.
GROUPED = [f"{n}=[-,tp:(1)2]" for n in ("wk", "wv", "dwk", "dwv")] + [f"{n}=[-,tp:(1)2,tp:(2)2,-,-]" for n in ("p", "ds")]
row("4-grouped-queries", attention(2), ATTENTION + GROUPED, 2 * REDUCE + 262_144,
    2_883_584 + REDUCE + 262_144, outputs=GRADIENTS, mesh="tp=4")


def cross_entropy(g, B, S, V, **_):
    """Adds a mean over rows; d logits = (softmax - one hot) / rows."""
    n = B * S
    z, labels = g.tensor("z", n, V), g.indices("labels", V, n)
    logs = g.make("LogSoftmax", z, axis=-1)
    chosen = g.make("GatherElements", logs, g.make("Reshape", labels, g.sizes(n, 1)), axis=1)
    g.make("Neg", g.make("ReduceMean", chosen, keepdims=0), out="y")
    hot = g.make("OneHot", labels, g.sizes(V), g.constant("off_on", np.array([0, 1], "f4")))
    g.make("Div", g.make("Sub", g.make("Exp", logs), hot), g.number(n), out="dz")


row("6-cross-entropy", cross_entropy, ["z=[-,t]", "dz=[-,t]"], 18_432, 2 * 6_144 + 6, element=F32, outputs=("y", "dz"))


def embedding_gradients(g, B, S, H, V, **_):
    """Adds a tied table, which is read by lookups and by the head that computes logits of hidden values."""
    table, ids = g.tensor("table", V, H), g.indices("ids", V, B, S)
    g.make("Gather", table, ids, out="y")
    dy, hidden, dz = g.tensor("dy", B, S, H), g.tensor("hidden", B, S, H), g.tensor("dz", B, S, V)
    zeros = g.make("ConstantOfShape", g.sizes(V, H))
    zeros = g.make("Cast", zeros, to=g.element) if g.element != F32 else zeros
    read = g.make("ScatterND", zeros, g.make("Reshape", ids, g.sizes(B, S, 1)), dy, reduction="add")
    g.make("Add", read, g.make("Einsum", dz, hidden, equation="bsv,bsh->vh"), out="dtable")


row("6-embedding", embedding_gradients, ["table=[t,-]", "dtable=[t,-]", "dz=[-,-,t]", *map(whole, ("y", "dy", "hidden"))], REDUCE,
    outputs=("y", "dtable"))


def experts(g, B, S, H, F, **_):
    one_hot_experts(g, B, S, H, F)
    dy = g.tensor("dy", B, S, H)
    g.make("Einsum", dy, "o", out="dback", equation="gsm,egcm->gsec")
    do = g.make("Einsum", "back", dy, equation="gsec,gsm->egcm")
    g.make("Einsum", "a", do, out="dw2", equation="egcf,egcm->efm")
    da = g.make("Einsum", do, "w2", equation="egcm,efm->egcf")
    dh = g.make("Mul", da, g.make("Sub", g.number(1), g.make("Mul", "a", "a")))
    g.make("Einsum", "e", dh, out="dw1", equation="egcm,egcf->emf")
    de = g.make("Einsum", dh, "w1", equation="egcf,emf->egcm")
    g.make("Einsum", "send", de, out="dx", equation="gsec,egcm->gsm")
    g.make("Einsum", "x", de, out="dsend", equation="gsm,egcm->gsec")


TOKENS = [*map("{}=[t,-,-]".format, ("x", "y", "w1", "w2", "dy", "dx", "dw1", "dw2")),
          *map("{}=[t,-,-,-]".format, ("send", "back", "dsend", "dback"))]
row("10-experts", experts, TOKENS, 2 * 1_572_864, outputs=("y", "dx", "dw1", "dw2", "dsend", "dback"), small=dict(B=4))


def convolutions(g, H, **_):
    """Adds the backward pass of convolutions: a convolution of the output's gradient with filters whose channels are swapped,
    and one of the input with the output's gradient."""
    batch, narrow, wide, rows = (8, 64, 128, 56) if H == FULL["H"] else (4, 4, 8, 8)
    x, dy = g.tensor("x", batch, narrow, rows, rows), g.tensor("dy", batch, wide, rows, rows)
    w1, w2 = g.tensor("w1", wide, narrow, 3, 3), g.tensor("w2", wide, wide, 3, 3)
    a = g.make("Relu", g.make("Conv", x, w1, pads=[1] * 4))
    g.make("Conv", a, w2, out="y", pads=[1] * 4)

    def filter_gradient(read, back, out):
        swapped = [g.make("Transpose", v, perm=[1, 0, 2, 3]) for v in (read, back)]
        g.make("Transpose", g.make("Conv", *swapped, pads=[1] * 4), out=out, perm=[1, 0, 2, 3])

    filter_gradient(a, dy, "dw2")
    da = g.make("ConvTranspose", dy, w2, pads=[1] * 4)
    dh = g.make("Mul", da, g.make("Sign", a))
    filter_gradient(x, dh, "dw1")
    g.make("ConvTranspose", dh, w1, out="dx", pads=[1] * 4)


row("11-channels", convolutions, ["w1=[t,-,-,-]", "w2=[-,t,-,-]", "dw1=[t,-,-,-]", "dw2=[-,t,-,-]",
                                  *map("{}=[-,-,-,-]".format, ("x", "y", "dx", "dy"))],
    19_267_584 + 9_633_792, 221_184 + 442_368, element=F32, outputs=("y", "dx", "dw1", "dw2"))


def batch_norm(g, H, **_):
    """Adds batch norm: statistics over batch and space and, backward, the two sums per channel that are also the gradients of
    scale and bias."""
    batch, channels, rows = (8, 64, 56) if H == FULL["H"] else (4, 4, 8)
    x, dy = (g.tensor(name, batch, channels, rows, rows) for name in ("x", "dy"))
    scale = g.tensor("scale", channels, 1, 1)
    axes = g.sizes(0, 2, 3)
    mean, square = g.make("ReduceMean", x, axes), g.make("ReduceMean", g.make("Mul", x, x), axes)
    deviation = g.make("Sqrt", g.make("Add", g.make("Sub", square, g.make("Mul", mean, mean)), g.number(1e-5)))
    normal = g.make("Div", g.make("Sub", x, mean), deviation)
    g.make("Mul", normal, scale, out="y")
    dscale = g.make("ReduceSum", g.make("Mul", dy, normal), axes, out="dscale")
    dbias = g.make("ReduceSum", dy, axes, out="dbias")
    inner = g.make("Add", g.make("Mul", normal, dscale), dbias)
    centred = g.make("Sub", dy, g.make("Div", inner, g.number(batch * rows * rows)))
    g.make("Mul", centred, g.make("Div", scale, deviation), out="dx")


row("11-batch-norm-over-the-batch", batch_norm, [*map("{}=[t,-,-,-]".format, ("x", "dy", "y", "dx"))], 2 * 768, element=F32,
    outputs=("y", "dx", "dscale", "dbias"))
row("11-batch-norm-over-rows", batch_norm, [*map("{}=[-,-,t,-]".format, ("x", "dy", "y", "dx"))], 2 * 768, element=F32,
    outputs=("y", "dx", "dscale", "dbias"))

row("14-fsdp", mlp, ["w1=[d,t]", "w2=[t,d]", "dw1=[d,t]", "dw2=[t,d]", *map("{}=[d,-,-]".format, ("x", "dy", "y", "dx"))],
    4 * 1_048_576 + 2 * REDUCE // 2, mesh="d=2,t=4", outputs=("y", "dx", "dw1", "dw2"))


def parallel(g, B, S, H, F, **_):
    """Adds two branches of one block, whose contributions to dx are added in one reduction."""
    x, dy = g.tensor("x", B, S, H), g.tensor("dy", B, S, H)
    made, back = [x], [dy]
    for name, inner in (("a", H), ("m", F)):
        first, second = g.tensor(f"{name}1", H, inner), g.tensor(f"{name}2", inner, H)
        t = g.make("Tanh", g.make("MatMul", x, first))
        made.append(g.make("MatMul", t, second))
        g.make("Einsum", t, dy, out=f"d{name}2", equation="bsf,bsh->fh")
        dt = g.make("MatMul", dy, g.make("Transpose", second, perm=[1, 0]))
        dh = g.make("Mul", dt, g.make("Sub", g.number(1), g.make("Mul", t, t)))
        g.make("Einsum", x, dh, out=f"d{name}1", equation="bsh,bsf->hf")
        back.append(g.make("MatMul", dh, g.make("Transpose", first, perm=[1, 0])))
    g.make("Add", g.make("Add", made[1], made[2]), made[0], out="y")
    g.make("Add", g.make("Add", back[1], back[2]), back[0], out="dx")


BRANCHES = ["a2=[t,-]", "m2=[t,-]", "da1=[-,t]", "dm1=[-,t]", "da2=[t,-]", "dm2=[t,-]"]
row("15-parallel-residual", parallel, BRANCHES + [*map(whole, ("x", "dy", "y", "dx"))], 2 * REDUCE, outputs=("y", "dx", "da1", "da2", "dm1", "dm2"))


if __name__ == "__main__":
    sharded_graph.main(__doc__)
