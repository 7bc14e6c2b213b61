#!/usr/bin/env python3
"""Tests single ops without a GPU library, compiled for CUDA and run on a fake GPU (test/runtime/fake). Results agree with ONNX
Runtime: f32 to 1e-5 (additions are in another order), bf16 to 2e-2, integers exactly.

    run_cuda_ops.py [--only GLOB] [--every N] [--jobs N]
"""
import numpy as np

import executed
import pcc
from run_cuda import outputs

CASES = {}
TOLERANCE, NARROW_TOLERANCE = 1e-5, 2e-2


def check(build, options, tolerance):
    executed.compare(*outputs(build, options), tolerance)


def case(name, build):
    CASES[name] = lambda: check(build, [], TOLERANCE)


def narrow_case(name, build):
    CASES[name + " bf16"] = lambda: check(build, ["--dtype", "bf16"], NARROW_TOLERANCE)


# Products -----------------------------------------------------------------------------------------------------------------
def product(rows, depth, columns, turned):
    def build(g):
        shape = (columns, depth) if turned else (depth, columns)
        g.op("Gemm", [g.normal("x", rows, depth), g.constant("w", g.random.standard_normal(shape).astype("f4")),
                      g.constant("b", g.random.standard_normal(columns).astype("f4"))], ["h"], transB=int(turned))
        g.op("Relu", ["h"], ["y"])
    return build


for sizes in ((5, 7, 3), (5, 7, 1), (1, 7, 5), (1, 1, 1), (1, 7, 1), (4, 1, 6)):
    for turned in (False, True):
        case(f"product {sizes} {'turned' if turned else 'plain'}", product(*sizes, turned))


# Windows ------------------------------------------------------------------------------------------------------------------
def window(kind, image, filters=None, **attributes):
    def build(g):
        operands = [g.normal("x", *image)]
        if filters:
            operands.append(g.constant("w", g.random.standard_normal(filters).astype("f4")))
        g.op(kind, operands, ["y"], **attributes)
    return build


CONVOLUTIONS = {
    "1d": ((2, 3, 17), (4, 3, 5), dict(pads=[2, 2])),
    "1d strided": ((2, 3, 17), (4, 3, 4), dict(strides=[3], pads=[1, 0])),
    "2d": ((2, 3, 9, 8), (5, 3, 3, 3), {}),
    "2d same": ((1, 3, 9, 8), (5, 3, 3, 3), dict(pads=[1, 1, 1, 1])),
    "2d large": ((1, 2, 16, 15), (3, 2, 3, 3), dict(pads=[1, 1, 1, 1])),
    "2d large of a batch": ((2, 2, 16, 15), (3, 2, 3, 3), dict(pads=[1, 1, 1, 1])),
    "2d strided": ((2, 3, 9, 8), (5, 3, 3, 2), dict(strides=[2, 3], pads=[1, 0, 2, 1])),
    "2d dilated": ((2, 3, 12, 11), (5, 3, 3, 3), dict(dilations=[2, 3], pads=[2, 3, 2, 3])),
    "2d all attributes": ((2, 4, 13, 11), (6, 2, 3, 2), dict(strides=[2, 1], dilations=[1, 2], pads=[0, 2, 3, 1], group=2)),
    "2d window of the image": ((3, 4, 5, 6), (2, 4, 5, 6), {}),
    "1x1": ((2, 3, 7, 5), (4, 3, 1, 1), {}),
    "1x1 strided": ((2, 3, 7, 5), (4, 3, 1, 1), dict(strides=[2, 2])),
    "1x1 padded": ((2, 3, 7, 5), (4, 3, 1, 1), dict(pads=[1, 0, 0, 1])),
    "groups": ((2, 6, 7, 5), (4, 3, 3, 3), dict(group=2)),
    "depthwise": ((2, 6, 9, 8), (6, 1, 3, 3), dict(group=6, pads=[1, 1, 1, 1], strides=[2, 1])),
    "depthwise of several": ((2, 3, 9, 8), (6, 1, 3, 3), dict(group=3)),
    "depthwise 1d": ((2, 5, 12), (5, 1, 4), dict(group=5, pads=[3, 0])),
    "3d": ((2, 2, 5, 6, 7), (3, 2, 2, 3, 3), dict(strides=[1, 2, 1], pads=[1, 0, 1, 0, 1, 1])),
    "3d depthwise": ((1, 3, 4, 5, 6), (3, 1, 2, 2, 2), dict(group=3, dilations=[2, 1, 2])),
}
for name, (image, filters, attributes) in CONVOLUTIONS.items():
    case(f"conv {name}", window("Conv", image, filters, **attributes))
for name in ("2d strided", "depthwise", "groups"):
    image, filters, attributes = CONVOLUTIONS[name]
    narrow_case(f"conv {name}", window("Conv", image, filters, **attributes))

TRANSPOSED = {
    "1d": ((2, 3, 7), (3, 4, 5), dict(pads=[2, 1])),
    "2d": ((2, 3, 5, 4), (3, 2, 3, 3), {}),
    "2d strided": ((2, 3, 5, 4), (3, 2, 2, 3), dict(strides=[2, 3])),
    "output padding": ((2, 3, 5, 4), (3, 2, 3, 3), dict(strides=[2, 3], pads=[1, 1, 1, 0], output_padding=[1, 2])),
    "dilated": ((1, 3, 5, 4), (3, 2, 3, 2), dict(dilations=[2, 3], strides=[3, 1], pads=[0, 1, 2, 0])),
    "groups": ((2, 4, 5, 4), (4, 3, 3, 3), dict(group=2, strides=[2, 2], output_padding=[1, 1])),
    "depthwise": ((2, 4, 5, 4), (4, 1, 3, 3), dict(group=4, strides=[2, 1])),
    "1x1": ((2, 3, 5, 4), (3, 2, 1, 1), {}),
    "window of the output": ((2, 3, 1, 1), (3, 2, 4, 5), {}),
    "padded beyond its window": ((1, 2, 6, 6), (2, 2, 1, 1), dict(pads=[1, 2, 0, 1])),
    "3d": ((1, 2, 3, 4, 3), (2, 3, 2, 3, 2), dict(strides=[2, 1, 2], pads=[0, 1, 0, 1, 1, 0])),
}
for name, (image, filters, attributes) in TRANSPOSED.items():
    case(f"conv-transpose {name}", window("ConvTranspose", image, filters, **attributes))
image, filters, attributes = TRANSPOSED["output padding"]
narrow_case("conv-transpose output padding", window("ConvTranspose", image, filters, **attributes))

POOLS = {
    "1d": ((2, 3, 17), dict(kernel_shape=[4], strides=[3], pads=[1, 2])),
    "2d": ((2, 3, 9, 8), dict(kernel_shape=[3, 2], strides=[2, 2])),
    "2d overlapping": ((2, 3, 16, 15), dict(kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1])),
    "asymmetric": ((2, 3, 9, 8), dict(kernel_shape=[3, 3], strides=[2, 2], pads=[0, 2, 2, 1])),
    "ceil": ((2, 3, 10, 9), dict(kernel_shape=[3, 2], strides=[2, 2], ceil_mode=1)),
    "ceil padded": ((2, 3, 10, 8), dict(kernel_shape=[3, 3], strides=[3, 2], pads=[1, 1, 0, 1], ceil_mode=1)),
    "of the image": ((2, 3, 5, 6), dict(kernel_shape=[5, 6])),
    "3d": ((1, 2, 5, 6, 7), dict(kernel_shape=[2, 3, 2], strides=[2, 1, 2], pads=[1, 1, 0, 0, 1, 1])),
}
for name, (image, attributes) in POOLS.items():
    case(f"max {name}", window("MaxPool", image, **attributes))
    for counts in (0, 1):
        case(f"average {'with padding ' * counts}{name}", window("AveragePool", image, count_include_pad=counts, **attributes))
case("max dilated", window("MaxPool", (2, 3, 9, 8), kernel_shape=[3, 2], dilations=[2, 3], pads=[1, 1, 1, 1]))
narrow_case("max 2d", window("MaxPool", (2, 3, 9, 8), kernel_shape=[3, 2]))
narrow_case("average of many", window("AveragePool", (1, 2, 40, 40), kernel_shape=[40, 40]))


# Sorts and scans ----------------------------------------------------------------------------------------------------------
def topk(x, k, outputs=None, **attributes):
    def build(g):
        g.outputs = outputs
        g.op("TopK", [g.input("x", x), g.constant("k", np.array([k]))], ["values", "indices"], **attributes)
    return build


DRAWN = np.random.RandomState(3)
TIES = DRAWN.randint(-3, 4, (4, 60)).astype("f4")
for largest in (0, 1):
    name = "largest" if largest else "smallest"
    case(f"topk {name}", topk(DRAWN.standard_normal((5, 40)).astype("f4"), 7, largest=largest))
    case(f"topk {name} ties", topk(TIES, 13, largest=largest))
    case(f"topk {name} of all", topk(TIES, 60, largest=largest))
    case(f"topk {name} infinities", topk(np.where(TIES > 1, np.inf, np.where(TIES < -1, -np.inf, TIES)).astype("f4"), 30,
                                               outputs=["indices"], largest=largest))
    case(f"topk {name} whole numbers", topk(TIES.astype("i8"), 5, largest=largest))
    case(f"topk {name} in front", topk(DRAWN.standard_normal((20, 3, 10)).astype("f4"), 4, largest=largest, axis=0))
    case(f"topk {name} in the middle", topk(DRAWN.standard_normal((2, 20, 3)).astype("f4"), 4, largest=largest, axis=1))
case("topk one", topk(DRAWN.standard_normal((1, 300)).astype("f4"), 1))


def cumsum(x, axis, **attributes):
    def build(g):
        g.op("CumSum", [g.input("x", x), g.constant("axis", np.array(axis))], ["y"], **attributes)
    return build


for exclusive in (0, 1):
    for reverse in (0, 1):
        form = dict(exclusive=exclusive, reverse=reverse)
        name = f"cumsum {'exclusive ' * exclusive}{'reverse ' * reverse}"
        case(name + "short", cumsum(DRAWN.standard_normal((3, 20, 5)).astype("f4"), 1, **form))
        case(name + "last", cumsum(DRAWN.standard_normal((3, 4, 70)).astype("f4"), -1, **form))
        case(name + "long", cumsum(DRAWN.randint(-5, 9, (2, 1000)), 1, **form))
        case(name + "long in front", cumsum(DRAWN.standard_normal((301, 9)).astype("f4"), 0, **form))
case("cumsum very long", cumsum(DRAWN.randint(-5, 9, 70000), 0))
narrow_case("cumsum of ones", cumsum(np.ones((2, 900), "f4"), 1))


# Scatters -----------------------------------------------------------------------------------------------------------------
REDUCTIONS = ["none", "add", "mul", "max", "min"]


def scatter(kind, data, indices, reduction, **attributes):
    def build(g):
        shape = indices.shape
        if kind == "ScatterND":
            shape = shape[:-1] + data.shape[indices.shape[-1]:]
        updates = (3 * DRAWN.standard_normal(shape)).astype(data.dtype)
        g.op(kind, [g.input("x", data), g.input("i", indices), g.input("u", updates)], ["y"], reduction=reduction, **attributes)
    return build


ROWS, TABLE = DRAWN.standard_normal((9, 6)).astype("f4"), DRAWN.standard_normal((40, 4, 12)).astype("f4")
# Without a reduction, ONNX does not allow an index twice.
ONCE = np.stack([DRAWN.permutation(9)[:4] for _ in range(6)], axis=1)
for reduction in REDUCTIONS:
    # Few indices of many rows, and many indices of few rows. Some count from the end.
    few = ONCE if reduction == "none" else DRAWN.randint(-3, 3, (4, 6))
    case(f"scatter-elements {reduction} few", scatter("ScatterElements", ROWS, few - 9 * (few > 5), reduction))
    case(f"scatter-nd {reduction}", scatter("ScatterND", TABLE, np.array([[3, 1], [-1, -4], [7, 2]]), reduction))
    case(f"scatter-nd {reduction} rows", scatter("ScatterND", TABLE, np.array([[[5], [-40]], [[39], [-2]]]), reduction))
    case(f"scatter-nd {reduction} elements", scatter("ScatterND", ROWS, np.array([[1, -1], [-9, 0], [4, 4]]), reduction))
    case(f"scatter-nd {reduction} whole numbers", scatter("ScatterND", ROWS.astype("i8"), np.array([[4], [-1]]), reduction))
    if reduction == "none":
        continue
    case(f"scatter-elements {reduction} many", scatter("ScatterElements", ROWS, DRAWN.randint(-9, 9, (30, 6)), reduction))
    case(f"scatter-elements {reduction} narrower", scatter("ScatterElements", TABLE, DRAWN.randint(-4, 4, (13, 7, 5)), reduction, axis=1))
    case(f"scatter-nd {reduction} again", scatter("ScatterND", TABLE, DRAWN.randint(-3, 3, (9, 1)), reduction))
    case(f"scatter-nd {reduction} again and again", scatter("ScatterND", ROWS, DRAWN.randint(-9, 9, (50, 1)), reduction))
narrow_case("scatter-nd add", scatter("ScatterND", ROWS, DRAWN.randint(-9, 9, (50, 1)), "add"))

if __name__ == "__main__":
    pcc.main(__doc__, CASES)
