"""Small networks, each of one family of ops, in which every feature of a plan can be tried. All map [batch, seq, width] to
[batch, seq, width]:

    x -> in -> norm, family, add -> mid -> norm, family, add -> head -> y

`in` and `head` are linear layers. The value between the layers is named `mid`."""
import math

import blocks
import decoders


def feed_forward(g, x, name, width, seq):
    return blocks.linear(g, blocks.gelu_tanh(g, blocks.linear(g, x, f"{name}.up", width, 2 * width)), f"{name}.down", 2 * width, width)


def gated(g, x, name, width, seq):
    gate = blocks.silu(g, blocks.linear(g, x, f"{name}.gate", width, width + 2, bias=False))
    return blocks.linear(g, g.op("Mul", gate, blocks.linear(g, x, f"{name}.up", width, width + 2)), f"{name}.down", width + 2, width)


def norms(g, x, name, width, seq):
    return g.op("Add", blocks.rms_norm(g, x, f"{name}.rms", width), blocks.layer_norm(g, g.op("Tanh", x), f"{name}.ln", width))


def attention(g, x, name, width, seq):
    q, k, v = (blocks.split_heads(g, blocks.linear(g, x, f"{name}.{part}", width, 2 * width), width, 2) for part in "qkv")
    mixed = blocks.attention(g, q, k, v, 2, allowed=blocks.causal_mask(g, x))
    return blocks.linear(g, blocks.merge_heads(g, mixed, width, 2), f"{name}.o", 2 * width, width)


def shared_heads(g, x, name, width, seq):
    q = blocks.split_heads(g, blocks.linear(g, x, f"{name}.q", width, 12), 6, 2)
    k, v = (decoders.repeat_heads(g, blocks.split_heads(g, blocks.linear(g, x, f"{name}.{part}", width, 4), 2, 2), 2, 3, 2) for part in "kv")
    return blocks.linear(g, blocks.merge_heads(g, blocks.attention(g, q, k, v, 2), 6, 2), f"{name}.o", 12, width)


def convolution(g, x, name, width, seq):
    y = g.op("Transpose", x, perm=[0, 2, 1])
    y = g.op("Conv", y, g.weight(f"{name}.wide", (width, width, 3), std=(3 * width) ** -0.5), g.weight(f"{name}.bias", (width,)), pads=[1, 1])
    y = g.op("Conv", g.op("Relu", y), g.weight(f"{name}.depth", (width, 1, 3), std=0.6), pads=[2, 0], group=width)
    return g.op("Transpose", y, perm=[0, 2, 1])


def channel_norms(g, x, name, width, seq):
    y = g.op("Transpose", x, perm=[0, 2, 1])
    y = g.op("InstanceNormalization", y, g.norm_weight(f"{name}.weight", width), g.weight(f"{name}.bias", (width,)), epsilon=1e-5)
    return g.op("Transpose", y, perm=[0, 2, 1])


def pools(g, x, name, width, seq):
    y = g.op("Transpose", x, perm=[0, 2, 1])
    y = g.op("Add", g.op("AveragePool", y, kernel_shape=[3], pads=[1, 1]), g.op("MaxPool", y, kernel_shape=[2], pads=[0, 1]))
    y = g.op("Mul", y, g.op("GlobalAveragePool", y))
    return g.op("Transpose", y, perm=[0, 2, 1])


def reductions(g, x, name, width, seq):
    total = g.op("Add", g.reduce("ReduceLogSumExp", x, 1), g.reduce("ReduceMax", x, 2))
    return g.op("Mul", total, g.op("Sigmoid", g.op("Sub", x, g.reduce("ReduceMean", x, 1))))


def softmaxes(g, x, name, width, seq):
    return g.op("Add", g.op("Softmax", x, axis=-1), g.op("Mul", g.op("LogSoftmax", x, axis=1), 0.25))


def layouts(g, x, name, width, seq):
    low, high = g.split(x, [width // 2, width - width // 2])
    turned = g.op("Concat", high, g.op("Neg", low), axis=-1)
    padded = g.op("Pad", turned, [0, 1, 0, 0, 0, 1])
    moved = g.op("Slice", padded, [0, 1], [seq, width + 1], [1, 2])
    flat = g.reshape(g.op("Transpose", x, perm=[0, 2, 1]), -1, width * seq)
    return g.op("Add", moved, g.op("Transpose", g.reshape(flat, -1, width, seq), perm=[0, 2, 1]))


def indices(g, x, name, width, seq):
    values, places = g.op("TopK", x, [2], outputs=2, axis=-1)
    taken = g.op("GatherElements", g.op("Tanh", x), places, axis=-1)
    rolled = g.op("Gather", x, [(i + 1) % seq for i in range(seq)], axis=1)
    return g.op("Mul", rolled, g.reduce("ReduceSum", g.op("Mul", values, taken), -1))


def scans(g, x, name, width, seq):
    return g.op("Add", g.op("CumSum", x, g.constant(1, "i8")), g.op("CumSum", g.op("Tanh", x), g.constant(2, "i8"), exclusive=1, reverse=1))


def selections(g, x, name, width, seq):
    large = g.op("Greater", x, g.reduce("ReduceMean", x, -1))
    return g.op("Where", large, g.op("Clip", x, -1.0, 1.0), g.op("Max", g.op("Mul", x, 0.1), g.op("Min", x, -0.5)))


def einsums(g, x, name, width, seq):
    y = g.op("Einsum", x, g.weight(f"{name}.table", (width, 2, width)), equation="bsi,iho->bsho")
    scores = g.op("Mul", g.op("Einsum", y, y, equation="bsho,btho->bhst"), 1 / math.sqrt(width))
    return g.op("Einsum", g.op("Softmax", scores, axis=-1), y, equation="bhst,btho->bso")


def mixture(g, x, name, width, seq):
    return decoders.mixture(g, x, name, width, width, 4)


def resizes(g, x, name, width, seq):
    y = g.op("Transpose", x, perm=[0, 2, 1])
    y = g.op("Resize", y, None, [1.0, 1.0, 2.0], mode="linear", coordinate_transformation_mode="half_pixel")
    y = g.op("Conv", y, g.weight(f"{name}.half", (width, width, 2), std=(2 * width) ** -0.5), strides=[2])
    return g.op("Transpose", y, perm=[0, 2, 1])


FAMILIES = {f.__name__: f for f in (feed_forward, gated, norms, attention, shared_heads, convolution, channel_norms, pools, reductions,
                                    softmaxes, layouts, indices, scans, selections, einsums, mixture, resizes)}


def family(g, kind="feed_forward", width=8, seq=4, layers=2):
    """Norms, ops of one family and residuals between two linear layers."""
    x = g.input("x", ("batch", seq, width), "normal")
    x = blocks.linear(g, x, "in", width, width)
    for i in range(layers):
        g.scope = f"/layers.{i}"
        h = blocks.layer_norm(g, x, f"layers.{i}.norm", width)
        x = g.op("Add", x, FAMILIES[kind](g, h, f"layers.{i}", width, seq))
        if i == 0:
            g.nodes[-1].output[0] = x = "mid"
    g.scope = ""
    g.output(blocks.linear(g, x, "head", width, width), "y", ("batch", seq, width))
