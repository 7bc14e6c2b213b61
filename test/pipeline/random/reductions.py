"""Generators of reductions, scans and norms."""
import math

import numpy as np

from model import FLOAT, INT


def power(b, n):
    """Returns b ** n for b >= 1; infinity if that exceeds a float."""
    return b ** n if n * math.log2(b) < 1000 else math.inf


#          op                bound of the result for n elements of a bound b, whether it is a sum
FLOATS = {"ReduceSum": (lambda n, b: n * b, True), "ReduceMean": (lambda n, b: b, True), "ReduceMax": (lambda n, b: b, False),
          "ReduceMin": (lambda n, b: b, False), "ReduceProd": (lambda n, b: power(max(1, b), n), True),
          "ReduceL1": (lambda n, b: n * b, True), "ReduceL2": (lambda n, b: n * b, True),
          "ReduceSumSquare": (lambda n, b: n * b * b, True), "ReduceLogSumExp": (lambda n, b: b + np.log(n), True)}
INTS = {"ReduceSum": lambda n, b: n * b, "ReduceMax": lambda n, b: b, "ReduceMin": lambda n, b: b,
        "ReduceProd": lambda n, b: power(max(1, b), n), "ReduceL1": lambda n, b: n * b}


def reduced(m, x):
    """Returns some dims of `x`, the shape without them, and the number of elements that are reduced to one."""
    axes = m.random.sample(range(x.rank), m.random.randint(1, x.rank))
    keep = m.random.randint(0, 1)
    shape = [1 if d in axes else n for d, n in enumerate(x.shape) if keep or d not in axes]
    written = [d - x.rank if m.random.random() < 0.3 else d for d in axes]
    return written, keep, shape, int(np.prod([x.shape[d] for d in axes]))


def reduce_float(m):
    kind = m.random.choice(list(FLOATS))
    bound, sums = FLOATS[kind]
    x = m.of_rank(1)
    axes, keep, shape, count = reduced(m, x)
    if kind == "ReduceProd" and count > 24:
        return                          # so small that executables have zeros
    if kind == "ReduceProd" and bound(count, x.bound) > 1e6:
        x = m.op("Tanh", [x], x.shape, bound=1)
    m.op(kind, [x, m.constant(axes)], shape, bound=bound(count, x.bound), sums=sums, keepdims=keep)


def reduce_int(m):
    kind = m.random.choice(list(INTS))
    x = m.of_rank(1, type=INT)
    axes, keep, shape, count = reduced(m, x)
    bound = INTS[kind](count, x.bound)
    if bound < 1 << 40:
        m.op(kind, [x, m.constant(axes)], shape, bound=bound, keepdims=keep)


def arg_reduce(m):
    x = m.settled(m.of_rank(1, type=m.random.choice([FLOAT, INT])))
    dim, axis = m.axis(x)
    keep = m.random.randint(0, 1)
    shape = x.shape[:dim] + ((1,) if keep else ()) + x.shape[dim + 1:]
    m.op(m.random.choice(["ArgMax", "ArgMin"]), [x], shape, INT, bound=x.shape[dim], axis=axis, keepdims=keep,
         select_last_index=m.random.choice([0, 0, 1]))


def cumsum(m):
    x = m.of_rank(1, type=m.random.choice([FLOAT, INT]))
    dim, axis = m.axis(x)
    m.op("CumSum", [x, m.constant(axis)], x.shape, bound=x.bound * x.shape[dim], sums=True, exclusive=m.random.randint(0, 1),
         reverse=m.random.randint(0, 1))


def topk(m):
    x = m.settled(m.of_rank(1, type=m.random.choice([FLOAT, FLOAT, INT])))
    dim, axis = m.axis(x)
    k = m.random.randint(1, min(4, x.shape[dim]))
    shape = x.shape[:dim] + (k,) + x.shape[dim + 1:]
    m.op_of_many("TopK", [x, m.constant([k])], [(shape, None), (shape, INT)], bound=max(x.bound, x.shape[dim]), axis=axis,
                 largest=m.random.randint(0, 1))


def softmax(m):
    x = m.of_rank(1)
    _, axis = m.axis(x)
    kind = m.random.choice(["Softmax", "Softmax", "LogSoftmax"])
    m.op(kind, [x], x.shape, bound=1 if kind == "Softmax" else 2 * x.bound + 6, sums=True, axis=axis)


def layer_norm(m):
    x = m.of_rank(1)
    dim, axis = m.axis(x)
    scale = m.leaf(x.shape[dim:])
    bias = [m.leaf(x.shape[dim:])] if m.random.random() < 0.7 else []
    m.op("LayerNormalization", [x, scale, *bias], x.shape, bound=12, sums=True, axis=axis, epsilon=0.01)


def rms_norm(m):
    """Adds an RMS norm in the form that exporters write."""
    x = m.of_rank(1)
    square = m.op("Pow", [x, m.constant(2, FLOAT)], x.shape, bound=min(100, x.bound ** 2))
    mean = m.op("ReduceMean", [square, m.constant([-1])], x.shape[:-1] + (1,), sums=True, keepdims=1)
    root = m.op("Sqrt", [m.op("Add", [mean, m.constant(0.01, FLOAT)], mean.shape)], mean.shape)
    m.op("Mul", [m.op("Div", [x, root], x.shape, bound=12), m.leaf(x.shape[-1:])], x.shape, bound=12)


def channel_norm(m):
    x = m.of_rank(3, 4)
    channels = x.shape[1]
    scale, bias = m.leaf((channels,)), m.leaf((channels,))
    kind = m.random.choice(["InstanceNormalization", "BatchNormalization", "GroupNormalization"])
    if kind == "BatchNormalization":
        variance = m.given(m.numbers.uniform(0.5, 2, channels), FLOAT, 2.0)
        m.op(kind, [x, scale, bias, m.weight((channels,)), variance], x.shape, bound=2 * x.bound + 3, epsilon=0.01)
    elif kind == "InstanceNormalization":
        m.op(kind, [x, scale, bias], x.shape, bound=12, sums=True, epsilon=0.01)
    else:
        groups = m.random.choice([g for g in range(1, channels + 1) if channels % g == 0])
        m.op(kind, [x, m.leaf((groups,)), m.leaf((groups,))], x.shape, bound=12, sums=True, num_groups=groups, epsilon=0.01)


MAKERS = [reduce_float, reduce_float, reduce_float, reduce_int, reduce_int, arg_reduce, arg_reduce, cumsum, cumsum, topk, topk,
          softmax, softmax, layer_norm, layer_norm, rms_norm, channel_norm]
