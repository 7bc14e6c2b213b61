"""Blocks of transformers, and the layers before and after them."""
import jax
import jax.numpy as jnp
import layers
from case import case

B, S, D, HEADS, F = 4, 128, 768, 12, 3072
SIZE = D // HEADS
REDUCE = 2_359_296  # one all_reduce of [B, S, D] over 4


def weights(width=D, kept=None, kv="[-,t]"):
    kept = kept or width
    return {"scale1": ((width,), "[-]"), "bias1": ((width,), "[-]"), "wq": ((width, width), "[-,t]"), "wk": ((width, kept), kv),
            "wv": ((width, kept), kv), "wo": ((width, width), "[t,-]"), "scale2": ((width,), "[-]"), "bias2": ((width,), "[-]"),
            "up": ((width, 4 * width), "[-,t]"), "down": ((4 * width, width), "[t,-]")}


def sorted_gradients(gradients, names):
    """Returns the gradients in the order in which JAX lists them."""
    return [gradients[n] for n in sorted(names)]


# A block

def onnx_block(g):
    return [layers.Block(g, B, S, HEADS, SIZE).forward("x")]


def jax_block(x, **w):
    return layers.block(x, w, HEADS)


def one_block(name, mesh, x, ideal, **rest):
    case(name, mesh, {"x": ((B, S, D), x), **weights()}, jax_block, onnx_block, ideal=ideal, **rest)


one_block("block, tp 4", "t=4", "[-,-,-]", 2 * REDUCE)
one_block("block, dp 2 x tp 2", "d=2,t=2", "[d,-,-]", 1_572_864)
one_block("block, x split by sequence", "t=4", "[-,t,-]", 2 * REDUCE, above=True)


def onnx_gradients(names, **options):
    def build(g):
        b = layers.Block(g, B, S, HEADS, SIZE, **options)
        y = b.forward("x")
        dx, gradients = b.backward("dy")
        return [y, dx, *sorted_gradients(gradients, names)]
    return build


def jax_gradients(forward):
    def function(x, dy, **w):
        y, back = jax.vjp(forward, x, w)
        return y, back(dy)
    return function


ROWS = {"x": ((B, S, D), "[-,-,-]"), "dy": ((B, S, D), "[-,-,-]")}
case("block with gradients", "t=4", {**ROWS, **weights()}, jax_gradients(lambda x, w: layers.block(x, w, HEADS)),
     onnx_gradients(weights()), ideal=4 * REDUCE, above=True)


# Few heads of keys: 2 for 8 of queries

def onnx_grouped(g):
    a = layers.Attention(g, B, S, 8, 64, kept=2)
    parts = [a.heads(g.matmul("x", w), n) for w, n in (("wq", 8), ("wk", 2), ("wv", 2))]
    return [g.matmul(a.forward(*parts), "wo")]


def jax_grouped(x, wq, wk, wv, wo):
    return layers.attend(layers.heads(x @ wq, 8), layers.heads(x @ wk, 2), layers.heads(x @ wv, 2)) @ wo


for text, kv in (("split", "[-,t]"), ("whole", "[-,-]")):
    grouped = {n: w for n, w in weights(512, 128, kv).items() if n in ("wq", "wk", "wv", "wo")}
    case(f"grouped queries, keys {text}", "t=4", {"x": ((B, S, 512), "[-,-,-]"), **grouped}, jax_grouped, onnx_grouped, ideal=1_572_864,
         above=text == "split")


# Queries, keys and values by one weight

def fused_weights():
    return {**{n: w for n, w in weights().items() if n not in ("wq", "wk", "wv")}, "wqkv": ((D, 3 * D), "[-,t]")}


def onnx_thirds(a, n):
    return [a.heads(part, HEADS) for part in a.g.op("Split", a.g.matmul(n, "wqkv"), results=3, axis=-1, num_outputs=3)]


def jax_thirds(w):
    return lambda n: [layers.heads(part, HEADS) for part in jnp.split(n @ w["wqkv"], 3, -1)]


def onnx_reshaped(dim):
    """Reshapes in ONNX. `dim` is the dim of query, key and value: 2 or 3 of [batch, seq, 3, heads, size]."""
    def project(a, n):
        shape = [B, S, HEADS, SIZE]
        shape.insert(dim, 3)
        parts = a.g.op("Split", a.g.reshape(a.g.matmul(n, "wqkv"), *shape), results=3, axis=dim, num_outputs=3)
        return [a.g.op("Transpose", a.g.op("Squeeze", p, a.g.sizes(dim)), perm=[0, 2, 1, 3]) for p in parts]
    return project


def jax_reshaped(dim):
    def project(w):
        shape = [B, S, HEADS, SIZE]
        shape.insert(dim, 3)
        return lambda n: [jnp.take((n @ w["wqkv"]).reshape(shape), i, dim).swapaxes(1, 2) for i in range(3)]
    return project


def fused(name, onnx_project, jax_project, **rest):
    case(name, "t=4", {"x": ROWS["x"], **fused_weights()}, lambda x, **w: layers.block(x, w, HEADS, project=jax_project(w)),
         lambda g: [layers.Block(g, B, S, HEADS, SIZE, fused=onnx_project).forward("x")], ideal=2 * REDUCE, **rest)


BLOCKS = {"wqkv": f"[-,3|{D}@t]"}
fused("fused qkv", onnx_thirds, jax_thirds, above=True, strided=BLOCKS)
fused("fused qkv as (3, heads, size)", onnx_reshaped(2), jax_reshaped(2), above=True, strided=BLOCKS)
fused("fused qkv as (heads, 3, size)", onnx_reshaped(3), jax_reshaped(3))
case("fused qkv with gradients", "t=4", {**ROWS, **fused_weights()},
     jax_gradients(lambda x, w: layers.block(x, w, HEADS, project=jax_thirds(w))), onnx_gradients(fused_weights(), fused=onnx_thirds),
     ideal=4 * REDUCE, above=True, strided=BLOCKS)


# Sequences on ranks

def onnx_attention(g):
    return [layers.Attention(g, B, S, HEADS, SIZE).forward("q", "k", "v")]


case("attention, sequence split", "t=4", {n: ((B, HEADS, S, SIZE), "[-,-,t,-]") for n in "qkv"}, lambda q, k, v: layers.attend(q, k, v),
     onnx_attention, ideal=REDUCE)


# A split vocabulary

V = 50304
TABLE, IDS = {"table": ((V, D), "[t,-]")}, {"ids": ((B, S), "[-,-]")}
LOGITS = {"z": ((B * S, V), "[-,t]"), "labels": ((B * S,), "[-]")}


def onnx_loss(g, z, labels):
    """Adds the loss. Returns it and the logarithms of the softmax."""
    logs = g.op("LogSoftmax", z, axis=-1)
    chosen = g.op("GatherElements", logs, g.reshape(labels, -1, 1), axis=1)
    return g.op("Neg", g.op("ReduceMean", chosen, keepdims=0)), logs


def onnx_logit_gradients(g, logs, labels, rows, classes):
    hot = g.one_hot(labels, classes)
    return g.op("Div", g.sub(g.op("Exp", logs), hot), g.number(rows))


def onnx_table_gradients(g, ids, dy, classes, rows, width=D):
    zeros = g.op("ConstantOfShape", g.sizes(classes, width))
    return g.op("ScatterND", zeros, g.reshape(ids, -1, 1), g.reshape(dy, rows, width), reduction="add")


def onnx_vocabulary_gradients(g):
    loss, logs = onnx_loss(g, "z", "labels")
    return [g.op("Gather", "table", "ids"), onnx_table_gradients(g, "ids", "dy", V, B * S), loss,
            onnx_logit_gradients(g, logs, "labels", B * S, V)]


def jax_vocabulary_gradients(table, ids, dy, z, labels):
    y, back = jax.vjp(lambda t: t[ids], table)
    return y, back(dy), jax.value_and_grad(layers.cross_entropy)(z, labels)


case("embedding", "t=4", {**TABLE, **IDS}, lambda table, ids: table[ids], lambda g: [g.op("Gather", "table", "ids")], ideal=REDUCE,
     indices={"ids": V})
case("cross entropy", "t=4", LOGITS, lambda z, labels: layers.cross_entropy(z, labels), lambda g: onnx_loss(g, "z", "labels")[:1],
     ideal=11_000, indices={"labels": V})
case("embedding and cross entropy, gradients", "t=4", {**TABLE, **IDS, "dy": ROWS["dy"], **LOGITS}, jax_vocabulary_gradients,
     onnx_vocabulary_gradients, ideal=REDUCE + 11_000, indices={"ids": V, "labels": V})
