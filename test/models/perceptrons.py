"""Stacks of linear layers: mlp."""
import blocks


def mlp(g, layers=4, hidden=96, inner=384, classes=10):
    """Residual stack of layer norm, linear, GELU, linear."""
    x = g.input("x", ("batch", hidden), "normal")
    for i in range(layers):
        g.scope = f"/layers.{i}"
        h = blocks.layer_norm(g, x, f"layers.{i}.0", hidden)
        h = blocks.gelu_erf(g, blocks.gemm_t(g, h, f"layers.{i}.1", hidden, inner))
        x = g.op("Add", x, blocks.gemm_t(g, h, f"layers.{i}.3", inner, hidden))
    g.scope = ""
    g.output(blocks.gemm_t(g, x, "head", hidden, classes), "y", ("batch", classes))
