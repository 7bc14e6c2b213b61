#!/usr/bin/env python3
"""Tests the textbook cases of sharding, forward only, with the bytes that one rank has to receive (byte_rows.py).

    run_byte_rows.py [--only GLOB] [--jobs N]
"""
import numpy as np
from onnx import TensorProto

import sharded_graph
from byte_rows import FULL, one_hot_experts, row


def mlp(g, B, S, H, F, **_):
    g.op("MatMul", [g.tensor("x", B, S, H), g.tensor("w1", H, F)], ["h"])
    g.op("Tanh", ["h"], ["a"])
    g.op("MatMul", ["a", g.tensor("w2", F, H)], ["y"])


row("1-megatron-mlp", mlp, ["w1=[-,t]", "w2=[t,-]", "x=[-,-,-]", "y=[-,-,-]"], 3_145_728)
row("1-megatron-mlp-of-a-split-output", mlp, ["w1=[-,t]", "w2=[t,-]", "x=[-,-,-]"], 1_572_864)
row("2-sequence-parallel", mlp, ["w1=[-,t]", "w2=[t,-]", "x=[-,t,-]", "y=[-,t,-]"], 3_145_728)
row("14-fsdp-gather", mlp, ["x=[d,-,-]", "w1=[d,t]", "w2=[t,d]", "y=[d,-,-]"], 2 * 1_048_576 + 3_145_728 // 2, mesh="d=2,t=4")


def attention(keys):
    def build(g, B, S, H, d, **_):
        heads = H // d
        kept = keys or heads
        x = g.tensor("x", B, S, H)
        for letter, count in (("q", heads), ("k", kept), ("v", kept)):
            g.op("MatMul", [x, g.tensor(f"w{letter}", H, count * d)], [letter])
            g.op("Reshape", [letter, g.constant(f"{letter}s", np.array([B, S, count, d]))], [f"{letter}r"])
            g.op("Transpose", [f"{letter}r"], [f"{letter}h"], perm=[0, 2, 1, 3])
            if count < heads:
                g.op("Reshape", [f"{letter}h", g.constant(f"{letter}u", np.array([B, count, 1, S, d]))], [f"{letter}e"])
                g.op("Expand", [f"{letter}e", g.constant(f"{letter}x", np.array([B, count, heads // count, S, d]))], [f"{letter}g"])
                g.op("Reshape", [f"{letter}g", g.constant(f"{letter}f", np.array([B, heads, S, d]))], [f"{letter}a"])
            else:
                g.op("Identity", [f"{letter}h"], [f"{letter}a"])
        g.op("Transpose", ["ka"], ["kt"], perm=[0, 1, 3, 2])
        g.op("MatMul", ["qa", "kt"], ["s"])
        g.op("Softmax", ["s"], ["p"], axis=-1)
        g.op("MatMul", ["p", "va"], ["o"])
        g.op("Transpose", ["o"], ["ot"], perm=[0, 2, 1, 3])
        g.op("Reshape", ["ot", g.constant("os", np.array([B, S, H]))], ["or"])
        g.op("MatMul", ["or", g.tensor("wo", H, H)], ["y"])
    return build


HEADS = ["wo=[tp,-]", "wq=[-,tp]", "p=[-,tp,-,-]", "x=[-,-,-]", "y=[-,-,-]"]
row("3-attention", attention(None), HEADS + ["wk=[-,tp]", "wv=[-,tp]"], 3_145_728, mesh="tp=4")
# After the heads, two ranks take half of each sequence: one part of the sum has half the size, and wo is small.
row("4-grouped-queries", attention(2), HEADS + ["wk=[-,tp:(1)2]", "wv=[-,tp:(1)2]"], 3_145_728, 2_883_584, mesh="tp=4")


def fused_qkv(g, B, S, H, **_):
    g.op("MatMul", [g.tensor("x", B, S, H), g.tensor("w", H, 3 * H)], ["z"])
    g.op("Split", ["z"], ["q", "k", "v"], axis=-1, num_outputs=3)
    g.op("Mul", ["q", "k"], ["qk"])
    g.op("Mul", ["qk", "v"], ["y"])


row("5-fused-qkv", fused_qkv, ["y=[-,-,t]"], 0)
row("5-fused-qkv-stored-contiguously", fused_qkv, ["x=[-,-,-]", "w=[-,t]", "y=[-,-,t]"], 1_048_576)


def embedding(g, B, S, H, V, **_):
    g.op("Gather", [g.tensor("table", V, H), g.indices("ids", V, B, S)], ["y"])


row("6-embedding", embedding, ["table=[t,-]", "y=[-,-,-]"], 3_145_728)
row("6-embedding-scattered", embedding, ["table=[t,-]", "y=[-,t,-]"], 1_572_864)


def cross_entropy(reduction):
    def build(g, B, S, V, **_):
        g.op("SoftmaxCrossEntropyLoss", [g.tensor("z", B * S, V), g.indices("labels", V, B * S)], ["y"], reduction=reduction)
    return build


# The mean is summed over rows first, then over ranks: two of the three numbers per row are left.
row("6-cross-entropy", cross_entropy("none"), ["z=[-,t]", "y=[-]"], 18_432, element=TensorProto.FLOAT)
row("6-cross-entropy-mean", cross_entropy("mean"), ["z=[-,t]"], 18_432, 2 * 6_144 + 6, element=TensorProto.FLOAT)


def merge(g, B, S, H, **_):
    g.op("Reshape", [g.tensor("x", B, S, H), g.constant("s", np.array([B * S, H]))], ["y"])


row("7c-merge", merge, ["x=[-,t,-]", "y=[t,-]"], 393_216)


def roll(g, S, H, **_):
    c = lambda name, value: g.constant(name, np.array([value]))
    g.op("Slice", [g.tensor("x", S, H), c("one", 1), c("end", S), c("axis", 0)], ["a"])
    g.op("Slice", ["x", c("zero", 0), c("first", 1), "axis"], ["b"])
    g.op("Concat", ["a", "b"], ["y"], axis=0)


row("8-roll", roll, ["x=[t,-]", "y=[t,-]"], 2_048)


def layer_norm(g, B, S, H, **_):
    g.op("LayerNormalization", [g.tensor("x", B, S, H), g.tensor("scale", H)], ["y"], axis=-1)


def arg_max(g, B, S, H, **_):
    g.op("ArgMax", [g.tensor("x", B * S, H)], ["y"], axis=1)


row("9-layer-norm", layer_norm, ["x=[-,-,t]", "y=[-,-,t]"], 12_288)
# The extremes of value and index are two all_reduces, of 2 bytes (4 in f32) and 4 bytes per row; gathered pairs have 8 bytes.
row("9-arg-max", arg_max, ["x=[-,t]", "y=[-,-]"], 24_576, 3_072 + 6_144)
row("9-arg-max-in-f32", arg_max, ["x=[-,t]", "y=[-,-]"], 24_576, 2 * 6_144, element=TensorProto.FLOAT)


def experts(g, B, S, H, F, **_):
    one_hot_experts(g, B, S, H, F)


row("10-experts", experts, [*map("{}=[t,-,-]".format, ("x", "y", "w1", "w2")), "send=[t,-,-,-]", "back=[t,-,-,-]"], 1_572_864,
    small=dict(B=4))


def image(H):
    """Returns batch, input channels, output channels and rows."""
    return (8, 64, 128, 56) if H == FULL["H"] else (4, 4, 8, 8)


def two_convolutions(g, H, **_):
    batch, narrow, wide, rows = image(H)
    g.op("Conv", [g.tensor("x", batch, narrow, rows, rows), g.tensor("w1", wide, narrow, 3, 3)], ["a"], pads=[1] * 4)
    g.op("Relu", ["a"], ["h"])
    g.op("Conv", ["h", g.tensor("w2", wide, wide, 3, 3)], ["y"], pads=[1] * 4)


def one_convolution(g, H, **_):
    batch, narrow, wide, rows = image(H)
    g.op("Conv", [g.tensor("x", batch, narrow, rows, rows), g.tensor("w", wide, narrow, 3, 3)], ["y"], pads=[1] * 4)


def batch_statistics(g, H, **_):
    batch, narrow, _, rows = image(H)
    x, axes = g.tensor("x", batch, narrow, rows, rows), g.constant("axes", np.array([0, 2, 3]))
    g.op("Mul", [x, x], ["squares"])
    g.op("ReduceMean", [x, axes], ["mean"])
    g.op("ReduceMean", ["squares", axes], ["square"])
    g.op("Mul", ["mean", "mean"], ["mean2"])
    g.op("Sub", ["square", "mean2"], ["variance"])
    g.op("Add", ["variance", g.number(1e-5)], ["positive"])
    g.op("Sqrt", ["positive"], ["deviation"])
    g.op("Sub", [x, "mean"], ["centred"])
    g.op("Div", ["centred", "deviation"], ["y"])


# Filters are small compared with images: gathering them costs fewer bytes than the sum of the second image.
row("11-channels", two_convolutions, ["w1=[t,-,-,-]", "w2=[-,t,-,-]", "y=[-,-,-,-]"], 19_267_584, 221_184 + 442_368,
    element=TensorProto.FLOAT)
row("11-halo", one_convolution, ["x=[-,-,t,-]", "y=[-,-,t,-]"], 229_376, element=TensorProto.FLOAT)
row("11-batch-statistics", batch_statistics, ["x=[t,-,-,-]", "y=[t,-,-,-]"], 768, element=TensorProto.FLOAT)


def same(*shape):
    def build(g, **_):
        g.op("Abs", [g.tensor("x", *shape)], ["y"])
    return build


row("13-two-axes-join", same(16, 16, 16), ["x=[y,-,x]", "y=[-,x+y,-]"], 1_792, mesh="x=4,y=2", element=TensorProto.FLOAT)
row("13-two-axes-swap", same(16, 16), ["x=[x,y]", "y=[y,x]"], 16 * 16 * 4 // 8, mesh="x=4,y=2", element=TensorProto.FLOAT)


def parallel(g, B, S, H, F, **_):
    x = g.tensor("x", B, S, H)
    for name, inner in (("a", H), ("m", F)):
        g.op("MatMul", [x, g.tensor(f"{name}1", H, inner)], [f"{name}h"])
        g.op("Tanh", [f"{name}h"], [f"{name}t"])
        g.op("MatMul", [f"{name}t", g.tensor(f"{name}2", inner, H)], [f"{name}o"])
    g.op("Add", ["ao", "mo"], ["s"])
    g.op("Add", ["s", x], ["r"])
    g.op("Tanh", ["r"], ["y"])


row("15-parallel-residual", parallel, ["a2=[t,-]", "m2=[t,-]", "x=[-,-,-]", "y=[-,-,-]"], 3_145_728)


if __name__ == "__main__":
    sharded_graph.main(__doc__)
