"""Encoders: bert, vit."""
import blocks
import numpy as np


def encoder_attention(g, x, name, hidden, heads, bias=None):
    """Adds self-attention with separate q, k and v, without a causal mask."""
    size = hidden // heads
    q, k, v = (blocks.split_heads(g, blocks.linear(g, x, f"{name}.{part}", hidden, hidden), heads, size)
               for part in ("query", "key", "value"))
    y = blocks.merge_heads(g, blocks.attention(g, q, k, v, size, bias=bias), heads, size)
    return blocks.linear(g, y, f"{name}.output", hidden, hidden)


def bert(g, layers=4, hidden=64, heads=8, inner=0, vocabulary=512, positions=64, classes=0):
    """BERT: padding mask, post-norm, erf GELU; with `classes`, a pooled classifier."""
    inner = inner or 4 * hidden
    ids = g.input("input_ids", ("batch", "seq"), "ids", vocabulary)
    mask = g.input("attention_mask", ("batch", "seq"), "mask")
    types = g.input("token_type_ids", ("batch", "seq"), "ids", 2)
    position = g.op("Slice", g.constant(np.arange(positions).reshape(1, -1)), [0], g.size(ids, 1), [1])
    x = g.op("Add", blocks.embedding(g, ids, "embeddings.word", vocabulary, hidden),
             blocks.embedding(g, types, "embeddings.type", 2, hidden))
    x = g.op("Add", x, blocks.embedding(g, position, "embeddings.position", positions, hidden))
    x = blocks.layer_norm(g, x, "embeddings.norm", hidden, 1e-12)
    bias = blocks.padding_bias(g, mask)
    for i in range(layers):
        g.scope, name = f"/layer.{i}", f"encoder.layer.{i}"
        y = encoder_attention(g, x, f"{name}.attention", hidden, heads, bias)
        x = blocks.layer_norm(g, g.op("Add", y, x), f"{name}.attention.norm", hidden, 1e-12)
        h = blocks.gelu_erf(g, blocks.linear(g, x, f"{name}.intermediate", hidden, inner))
        x = blocks.layer_norm(g, g.op("Add", blocks.linear(g, h, f"{name}.output", inner, hidden), x), f"{name}.norm", hidden, 1e-12)
    g.scope = ""
    if classes:
        first = g.op("Gather", x, g.constant(0, "i8"), axis=1)
        pooled = g.op("Tanh", blocks.gemm_t(g, first, "pooler", hidden, hidden))
        g.output(blocks.gemm_t(g, pooled, "classifier", hidden, classes), "logits", ("batch", classes))
    else:
        g.output(x, "last_hidden_state", ("batch", "seq", hidden))


def vit(g, layers=4, hidden=48, heads=6, inner=0, image=32, patch=8, classes=10):
    """Vision transformer: patches by convolution, a class token, pre-norm blocks."""
    inner, patches = inner or 4 * hidden, (image // patch) ** 2
    pixels = g.input("pixels", ("batch", 3, image, image), "normal")
    x = g.op("Conv", pixels, g.weight("embed.weight", (hidden, 3, patch, patch)), g.weight("embed.bias", (hidden,)),
             kernel_shape=[patch, patch], strides=[patch, patch])
    x = g.op("Transpose", g.reshape(x, (x, 0), hidden, patches), perm=[0, 2, 1])
    token = g.op("Expand", g.weight("class_token", (1, 1, hidden), std=1.0), g.shape_of((pixels, 0), 1, hidden))
    x = g.op("Add", g.op("Concat", token, x, axis=1), g.weight("position", (1, patches + 1, hidden), std=1.0))
    for i in range(layers):
        g.scope, name = f"/layer.{i}", f"layer.{i}"
        h = blocks.layer_norm(g, x, f"{name}.norm_1", hidden, 1e-6)
        x = g.op("Add", x, encoder_attention(g, h, f"{name}.attention", hidden, heads))
        h = blocks.layer_norm(g, x, f"{name}.norm_2", hidden, 1e-6)
        h = blocks.gelu_erf(g, blocks.linear(g, h, f"{name}.up", hidden, inner))
        x = g.op("Add", x, blocks.linear(g, h, f"{name}.down", inner, hidden))
    g.scope = ""
    x = blocks.layer_norm(g, x, "norm", hidden, 1e-6)
    g.output(blocks.gemm_t(g, g.op("Gather", x, g.constant(0, "i8"), axis=1), "head", hidden, classes), "logits", ("batch", classes))
