"""Decoders: gpt2, llama."""
import blocks
import experts
import numpy as np


def gpt2(g, layers=4, hidden=64, heads=8, head_size=0, inner=0, vocabulary=509, positions=64, tied=True, mask="range",
         attention="softmax"):
    """GPT-2: fused QKV, tanh GELU. attention: "softmax" in single ops, or "op" for opset 23's Attention."""
    size, inner = head_size or hidden // heads, inner or 4 * hidden
    ids = g.input("input_ids", ("batch", "seq"), "ids", vocabulary)
    position = g.op("Unsqueeze", g.range(g.size(ids, 1)), [0])
    x = g.op("Add", blocks.embedding(g, ids, "wte.weight", vocabulary, hidden),
             blocks.embedding(g, position, "wpe.weight", positions, hidden))
    allowed = None if attention == "op" else blocks.causal_mask(g, ids, mask, positions)
    for i in range(layers):
        g.scope = f"/h.{i}"
        h = blocks.layer_norm(g, x, f"h.{i}.ln_1", hidden)
        qkv = g.split(blocks.conv1d(g, h, f"h.{i}.attn.c_attn", hidden, 3 * heads * size), [heads * size] * 3)
        q, k, v = (blocks.split_heads(g, part, heads, size) for part in qkv)
        if attention == "op":
            y = g.op("Attention", q, k, v, is_causal=1, scale=size ** -0.5)
        else:
            y = blocks.attention(g, q, k, v, size, allowed=allowed, guard=g.style == "dynamo")
        y = blocks.conv1d(g, blocks.merge_heads(g, y, heads, size), f"h.{i}.attn.c_proj", heads * size, hidden)
        x = g.op("Add", y, x)
        h = blocks.layer_norm(g, x, f"h.{i}.ln_2", hidden)
        h = blocks.gelu_tanh(g, blocks.conv1d(g, h, f"h.{i}.mlp.c_fc", hidden, inner))
        x = g.op("Add", x, blocks.conv1d(g, h, f"h.{i}.mlp.c_proj", inner, hidden))
    g.scope = ""
    x = blocks.layer_norm(g, x, "ln_f", hidden)
    head = g.op("Transpose", "wte.weight", perm=[1, 0]) if tied else g.weight("lm_head.weight", (hidden, vocabulary))
    g.output(g.op("MatMul", x, head), "logits", ("batch", "seq", vocabulary))


def rotary_tables(g, ids, size, theta):
    """Returns cosines and sines, [1, 1, seq, size]."""
    frequency = g.constant((theta ** (-np.arange(0, size, 2) / size)).reshape(1, 1, -1), "f4")
    position = g.op("Unsqueeze", g.cast(g.range(g.size(ids, 1)), "f4"), [0, 2])
    angle = g.op("MatMul", position, frequency)
    angle = g.op("Unsqueeze", g.op("Concat", angle, angle, axis=-1), [1])
    return g.op("Cos", angle), g.op("Sin", angle)


def rotate(g, x, size, tables):
    low, high = g.slice(x, 3, 0, size // 2), g.slice(x, 3, size // 2, 2**63 - 1)
    turned = g.op("Concat", g.op("Neg", high), low, axis=-1)
    return g.op("Add", g.op("Mul", x, tables[0]), g.op("Mul", turned, tables[1]))


def repeat_heads(g, x, kv_heads, repeats, size):
    """Repeats heads for grouped queries: each key or value head serves `repeats` query heads."""
    if repeats == 1:
        return x
    shape = g.shape_of((x, 0), kv_heads, repeats, (x, 2), size)
    return g.reshape(g.op("Expand", g.op("Unsqueeze", x, [2]), shape), (x, 0), kv_heads * repeats, (x, 2), size)


def mixture(g, h, name, hidden, inner, count):
    y = experts.dense(g, g.reshape(h, -1, hidden), name, hidden, inner, count, 2, "dense")
    return g.reshape(y, (h, 0), (h, 1), hidden)


def llama(g, layers=4, hidden=64, heads=8, kv_heads=2, head_size=0, inner=172, vocabulary=500, theta=10000.0, tied=False,
          mask="range", attention="softmax", norm="single", experts=0):
    """Llama: RMS norm (single ops, or "op" for opset 23's), rotary positions, grouped queries, SwiGLU. With `experts`, each
    block has that many experts, of which a token chooses two (Mixtral)."""
    size = head_size or hidden // heads
    ids = g.input("input_ids", ("batch", "seq"), "ids", vocabulary)
    x = blocks.embedding(g, ids, "model.embed_tokens.weight", vocabulary, hidden)
    tables = rotary_tables(g, ids, size, theta)
    allowed = None if attention == "op" else blocks.causal_mask(g, ids, mask, 128)
    for i in range(layers):
        g.scope, name = f"/layers.{i}", f"model.layers.{i}"
        h = blocks.rms_norm(g, x, f"{name}.input_layernorm", hidden, fused=norm == "op")
        project = lambda part, n: blocks.split_heads(
            g, blocks.linear(g, h, f"{name}.self_attn.{part}_proj", hidden, n * size, bias=False), n, size)
        q, k, v = project("q", heads), project("k", kv_heads), project("v", kv_heads)
        q, k = rotate(g, q, size, tables), rotate(g, k, size, tables)
        if attention == "op":
            y = g.op("Attention", q, k, v, is_causal=1, scale=size ** -0.5)
        else:
            k, v = (repeat_heads(g, t, kv_heads, heads // kv_heads, size) for t in (k, v))
            y = blocks.attention(g, q, k, v, size, allowed=allowed)
        y = blocks.merge_heads(g, y, heads, size)
        x = g.op("Add", x, blocks.linear(g, y, f"{name}.self_attn.o_proj", heads * size, hidden, bias=False))
        h = blocks.rms_norm(g, x, f"{name}.post_attention_layernorm", hidden, fused=norm == "op")
        if experts:
            x = g.op("Add", x, mixture(g, h, f"{name}.moe", hidden, inner, experts))
            continue
        gate = blocks.silu(g, blocks.linear(g, h, f"{name}.mlp.gate_proj", hidden, inner, bias=False))
        up = blocks.linear(g, h, f"{name}.mlp.up_proj", hidden, inner, bias=False)
        x = g.op("Add", x, blocks.linear(g, g.op("Mul", gate, up), f"{name}.mlp.down_proj", inner, hidden, bias=False))
    g.scope = ""
    x = blocks.rms_norm(g, x, "model.norm", hidden, fused=norm == "op")
    head = (g.op("Transpose", "model.embed_tokens.weight", perm=[1, 0]) if tied
            else g.weight("lm_head.weight", (hidden, vocabulary)))
    g.output(g.op("MatMul", x, head), "logits", ("batch", "seq", vocabulary))
