"""Stacks of linear layers: mlp, moe."""
import blocks
import numpy as np


def mlp(g, layers=4, hidden=96, inner=384, classes=10):
    """A residual stack of layer norm, linear, GELU, linear."""
    x = g.input("x", ("batch", hidden), "normal")
    for i in range(layers):
        g.scope = f"/layers.{i}"
        h = blocks.layer_norm(g, x, f"layers.{i}.0", hidden)
        h = blocks.gelu_erf(g, blocks.gemm_t(g, h, f"layers.{i}.1", hidden, inner))
        x = g.op("Add", x, blocks.gemm_t(g, h, f"layers.{i}.3", inner, hidden))
    g.scope = ""
    g.output(blocks.gemm_t(g, x, "head", hidden, classes), "y", ("batch", classes))


def moe(g, layers=2, hidden=64, inner=128, experts=8, chosen=2, seq=16, classes=50):
    """Mixture of experts in its dense form: every expert sees every token, gates of the best `chosen` weigh them."""
    x = g.input("x", ("batch", seq, hidden), "normal")
    for i in range(layers):
        g.scope = f"/blocks.{i}"
        h = g.reshape(blocks.layer_norm(g, x, f"blocks.{i}.norm", hidden), -1, hidden)
        chance = g.op("Softmax", blocks.linear(g, h, f"blocks.{i}.router", hidden, experts, bias=False), axis=-1)
        weight, index = g.op("TopK", chance, g.constant([chosen]), outputs=2, axis=-1)
        weight = g.op("Div", weight, g.reduce("ReduceSum", weight, -1))
        hot = g.cast(g.op("Equal", g.op("Unsqueeze", index, [-1]), g.constant(np.arange(experts))), "f4")
        gate = g.reduce("ReduceSum", g.op("Mul", hot, g.op("Unsqueeze", weight, [-1])), 1, keepdims=0)
        up = g.op("Einsum", h, g.weight(f"blocks.{i}.up", (experts, hidden, inner)), equation="td,edh->eth")
        down = g.op("Einsum", blocks.silu(g, up), g.weight(f"blocks.{i}.down", (experts, inner, hidden)), equation="eth,ehd->etd")
        x = g.op("Add", x, g.reshape(g.op("Einsum", gate, down, equation="te,etd->td"), (x, 0), seq, hidden))
    g.scope = ""
    g.output(blocks.linear(g, x, "head", hidden, classes), "y", ("batch", seq, classes))
