#!/usr/bin/env python3
"""Tests ops that read a split dim through windows: slices, pads, concatenations, rolls, convolutions and pools on simulated
ranks compute the same as one rank, and a rank receives only elements that its part needs and that it lacks.

    run_windows.py [--only GLOB] [--jobs N]
"""
import numpy as np

import sharded_graph
from sharded_graph import Graph, case

ROWS = ["x=[t,-]", "y=[t,-]"]
WIDTH = 6


def parts(size, ranks):
    step = -(-size // ranks)
    return [range(min(size, r * step), min(size, (r + 1) * step)) for r in range(ranks)]


def missing(size, result, ranks):
    """Returns the bytes of the rows that some rank's part of `result`, a list of row numbers of x (or None), needs and its part
    of x lacks."""
    worst = 0
    for own, part in zip(parts(size, ranks), parts(len(result), ranks)):
        worst = max(worst, len({result[i] for i in part} - {None} - set(own)))
    return worst * WIDTH * 4


def rows(name, size, ranks, build, result):
    def graph():
        g = Graph()
        g.outputs = ["y"]
        build(g, g.normal("x", size, WIDTH))
        return g
    case(f"{name}-{size}-over-{ranks}", graph, f"t={ranks}", ROWS, missing(size, result, ranks))


def slice_of(g, x, out, start, stop, step=1, axis=0):
    c = lambda what, value: g.constant(f"{out}_{what}", np.array([value]))
    g.op("Slice", [x, c("start", start), c("stop", stop), c("axis", axis), c("step", step)], [out])
    return out


for ranks in (2, 3, 4, 8):
    for size in (5 * ranks, 5 * ranks + 1, 4):
        numbers = list(range(size))
        for start, stop, step in ((1, size, 1), (2, size - 1, 1), (0, size, 2), (size - 1, -size - 1, -1), (0, size // 2, 1)):
            rows(f"slice-{start}-{stop}-by-{step}", size, ranks, lambda g, x, s=(start, stop, step): slice_of(g, x, "y", *s),
                 numbers[start:stop if stop >= 0 else None:step])
        for low, high in ((1, 0), (0, 2), (3, 1)):
            rows(f"pad-{low}-{high}", size, ranks,
                 lambda g, x, p=(low, high): g.op("Pad", [x, g.constant("pads", np.array([p[0], 0, p[1], 0]))], ["y"]),
                 [None] * low + numbers + [None] * high)
        for mode, result in (("reflect", numbers[2:0:-1] + numbers + numbers[-2:-3:-1]),
                             ("edge", numbers[:1] * 2 + numbers + numbers[-1:]), ("wrap", numbers[-2:] + numbers + numbers[:1])):
            rows(f"pad-{mode}", size, ranks,
                 lambda g, x, m=mode: g.op("Pad", [x, g.constant("pads", np.array([2, 0, 1, 0]))], ["y"], mode=m), result)
        rows("roll", size, ranks,
             lambda g, x, n=size: g.op("Concat", [slice_of(g, x, "a", 1, n), slice_of(g, x, "b", 0, 1)], ["y"], axis=0),
             numbers[1:] + numbers[:1])
        rows("prefix", size, ranks, lambda g, x: g.op("Concat", [slice_of(g, x, "a", 0, 2), x], ["y"], axis=0), numbers[:2] + numbers)
        rows("lookup", size, ranks, lambda g, x: g.op("Gather", [x, g.constant("i", np.array([3, 2, 1, -1]))], ["y"], axis=0),
             [3, 2, 1, size - 1])


# Pads with another value than zero; one dim is padded on every rank, and a slice of a few rows goes to all.
def filled(g):
    g.op("Pad", [g.normal("x", 9, WIDTH), g.constant("pads", np.array([1, 2, 2, 0])), g.constant("seven", np.float32(7))], ["y"])
    return g


case("pad-with-7", lambda: filled(Graph()), "t=4", ROWS)


def few_rows(g):
    slice_of(g, g.normal("x", 64, WIDTH), "y", 5, 7)
    return g


case("few-rows-to-all", lambda: few_rows(Graph()), "t=4", ["x=[t,-]", "y=[-,-]"], 2 * WIDTH * 4)


def unequal(sizes):
    def build():
        g = Graph()
        g.op("Concat", [g.normal(f"x{i}", n, WIDTH) for i, n in enumerate(sizes)], ["y"], axis=0)
        return g
    return build


for sizes in ((3, 5), (1, 9, 2), (7, 1)):
    pins = [f"x{i}=[t,-]" for i in range(len(sizes))] + ["y=[t,-]"]
    for ranks in (2, 3, 4):
        case(f"concat-{'-'.join(map(str, sizes))}-over-{ranks}", unequal(sizes), f"t={ranks}", pins)


# Convolutions and pools ---------------------------------------------------------------------------------------------------
def image(kind, size, attributes, filters=None):
    def build():
        g = Graph()
        operands = [g.normal("x", 2, 4, size, 5)]
        if filters:
            operands.append(g.constant("w", g.random.standard_normal(filters).astype("f4")))
        g.op(kind, operands, ["y"], **attributes)
        return g
    return build


IMAGE = ["x=[-,-,t,-]", "y=[-,-,t,-]"]
ROW = 2 * 4 * 5 * 4
for ranks in (2, 3, 4):
    for size in (6 * ranks, 6 * ranks + 1, 5):
        for k, stride, pad, dilation in ((3, 1, 1, 1), (3, 2, 1, 1), (5, 1, 2, 1), (3, 1, 2, 2), (2, 2, 0, 1), (1, 1, 0, 1), (4, 1, 0, 1)):
            shape = dict(kernel_shape=[k, k], strides=[stride] * 2, pads=[pad] * 4)
            name = f"{k}x{k}-by-{stride}-pad-{pad}-every-{dilation}-{size}-over-{ranks}"
            edge = (k - 1) * dilation * ROW if size == 6 * ranks and stride == 1 and 2 * pad == (k - 1) * dilation else None
            case(f"conv-{name}", image("Conv", size, dict(shape, dilations=[dilation] * 2), (6, 4, k, k)), f"t={ranks}", IMAGE, edge)
            if dilation == 1 and pad < k:
                case(f"max-{name}", image("MaxPool", size, shape), f"t={ranks}", IMAGE, edge)
                for counts in (0, 1):
                    case(f"average-{counts}-{name}", image("AveragePool", size, dict(shape, count_include_pad=counts)), f"t={ranks}", IMAGE)
case("conv-rows-and-columns", image("Conv", 8, dict(kernel_shape=[3, 3], pads=[1] * 4), (6, 4, 3, 3)), "a=2,b=2", ["x=[-,-,a,b]", "y=[-,-,a,b]"])
case("conv-rows-and-channels", image("Conv", 8, dict(kernel_shape=[3, 3], pads=[1] * 4), (6, 4, 3, 3)), "a=2,b=2",
     ["x=[-,-,a,-]", "y=[-,b,a,-]", "w=[b,-,-,-]"])
case("conv-rows-of-partial-sums", image("Conv", 8, dict(kernel_shape=[3, 3], pads=[1] * 4), (6, 4, 3, 3)), "a=2,b=2",
     ["x=[-,b,a,-]", "w=[-,b,-,-]"])
case("conv-over-both-axes-of-rows", image("Conv", 13, dict(kernel_shape=[3, 3], pads=[1] * 4), (6, 4, 3, 3)), "a=2,b=3",
     ["x=[-,-,a+b,-]", "y=[-,-,b+a,-]"])


# Pins ---------------------------------------------------------------------------------------------------------------------
def element_wise(*shape):
    def build():
        g = Graph()
        g.op("Exp", [g.normal("x", *shape)], ["h"])
        g.op("Neg", ["h"], ["y"])
        return g
    return build


for name, shape, mesh, pins in (
        ("fewer-rows-than-ranks", (2, 5), "t=4", ["x=[t,-]", "y=[t,-]"]),
        ("one-row", (1, 5), "t=3", ["x=[t,-]", "h=[-,t]"]),
        ("another-order", (8, 5), "a=2,b=2", ["x=[a+b,-]", "h=[b+a,-]", "y=[a,b]"]),
        ("one-order", (8, 5), "a=2,b=2", ["x=[b+a,-]", "y=[b+a,-]"]),
        ("thirds-and-halves", (12, 5), "a=6", ["x=[a:(1)3,-]", "h=[a:(3)2,a:(1)3]"]),
        ("inner-value", (8, 6), "a=2,b=3", ["x=[a,-]", "h=[-,b]", "y=[a,-]"])):
    case(f"pin-{name}", element_wise(*shape), mesh, pins)


# Gradients of grouped convolutions: a rank may have one channel of each group ---------------------------------------------
def grouped_weights(groups, channels, kernel):
    def build():
        g = Graph()
        g.outputs = ["yy"]
        weight = lambda name, *shape: g.constant(name, g.random.standard_normal(shape).astype("f4"))
        g.op("Conv", [weight("x", 2, groups * channels, 10), weight("w", groups * 2, channels, kernel)], ["y"], group=groups)
        g.op("Mul", ["y", g.normal("scale", 2, groups * 2, 11 - kernel)], ["yy"])
        return g
    return build


for groups, channels in ((2, 1), (2, 2), (2, 4), (3, 2), (3, 4)):
    for ranks in (2, 3, 4):
        for preset in ([], ["--preset", "megatron"]):
            case(f"grouped-conv-of-weights-{groups}-{channels}-over-{ranks}{'-megatron' if preset else ''}", grouped_weights(groups, channels, 2),
                 f"tp={ranks}", [], options=["--train", "--loss", "mse(yy, labels)", "--optimizer", "sgd", *preset])


# Gradients of pieces of unequal length: partial sums are joined on ranks that hold parts of both ---------------------------
def split_tokens(sizes, width):
    def build():
        g = Graph()
        g.outputs = ["y"]
        weight = lambda name, *shape: g.constant(name, g.random.standard_normal(shape).astype("f4"))
        g.op("Gather", [weight("table", 8, width), g.input("ids", g.random.randint(0, 8, (6, sum(sizes))))], ["x"])
        g.op("Split", ["x", g.constant("sizes", np.array(sizes))], ["a", "b"], axis=1)
        g.op("Mul", ["a", "b"], ["p"])
        g.op("Relu", ["p"], ["r"])
        g.op("MatMul", ["r", weight("head", width, 7)], ["y"])
        return g
    return build


for sizes in ((1, 2), (1, 3), (1, 5), (2, 2)):
    for mesh in ("cp=3,tp=2", "cp=3,tp=4", "dp=2,cp=3,tp=2", "cp=2,tp=3"):
        for preset in ([], ["--preset", "megatron"]):
            case(f"split-tokens-{sizes[0]}-{sizes[1]}-over-{mesh}{'-megatron' if preset else ''}", split_tokens(sizes, 6), mesh, [],
                 options=["--train", "--loss", "mse(y, labels)", *preset])

if __name__ == "__main__":
    sharded_graph.main(__doc__)
