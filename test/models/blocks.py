"""Parts that several models share, in the forms in which exporters write them."""
import math

from graph import LOWEST


def layer_norm(g, x, name, size, epsilon=1e-5):
    scale, bias = g.norm_weight(f"{name}.weight", size), g.weight(f"{name}.bias", (size,))
    if g.opset >= 17:
        return g.op("LayerNormalization", x, scale, bias, axis=-1, epsilon=epsilon)
    centred = g.op("Sub", x, g.reduce("ReduceMean", x, -1))
    variance = g.reduce("ReduceMean", g.op("Pow", centred, 2.0), -1)
    normed = g.op("Div", centred, g.op("Sqrt", g.op("Add", variance, epsilon)))
    return g.op("Add", g.op("Mul", normed, scale), bias)


def rms_norm(g, x, name, size, epsilon=1e-6, fused=False):
    scale = g.norm_weight(f"{name}.weight", size)
    if fused:
        return g.op("RMSNormalization", x, scale, axis=-1, epsilon=epsilon)
    mean = g.reduce("ReduceMean", g.op("Pow", x, 2.0), -1)
    normed = g.op("Mul", x, g.op("Reciprocal", g.op("Sqrt", g.op("Add", mean, epsilon))))
    return g.op("Mul", scale, normed)


def gelu_tanh(g, x):
    inner = g.op("Add", x, g.op("Mul", g.op("Pow", x, 3.0), 0.044715))
    one = g.op("Add", g.op("Tanh", g.op("Mul", inner, math.sqrt(2 / math.pi))), 1.0)
    return g.op("Mul", g.op("Mul", x, 0.5), one)


def gelu_erf(g, x):
    if g.opset >= 20:
        return g.op("Gelu", x)
    one = g.op("Add", g.op("Erf", g.op("Div", x, math.sqrt(2))), 1.0)
    return g.op("Mul", g.op("Mul", x, one), 0.5)


def silu(g, x):
    return g.op("Mul", x, g.op("Sigmoid", x))


def linear(g, x, name, inputs, outputs, bias=True):
    """Adds a MatMul with a weight of shape [inputs, outputs], and an addition."""
    y = g.op("MatMul", x, g.weight(f"{name}.weight", (inputs, outputs)))
    return g.op("Add", g.weight(f"{name}.bias", (outputs,)), y) if bias else y


def conv1d(g, x, name, inputs, outputs):
    """Adds GPT-2's linear layer: flattens the rows, adds a Gemm, and restores the leading dims."""
    flat = g.reshape(x, -1, inputs)
    y = g.op("Gemm", flat, g.weight(f"{name}.weight", (inputs, outputs)), g.weight(f"{name}.bias", (outputs,)))
    return g.reshape(y, (x, 0), (x, 1), outputs)


def gemm_t(g, x, name, inputs, outputs):
    """Adds torch.nn.Linear of a matrix: the weight has the shape [outputs, inputs]."""
    weight = g.weight(f"{name}.weight", (outputs, inputs), std=inputs ** -0.5)
    return g.op("Gemm", x, weight, g.weight(f"{name}.bias", (outputs,)), transB=1)


def split_heads(g, x, heads, size):
    """Reshapes [batch, seq, heads · size] to [batch, heads, seq, size]."""
    return g.op("Transpose", g.reshape(x, (x, 0), (x, 1), heads, size), perm=[0, 2, 1, 3])


def merge_heads(g, x, heads, size):
    back = g.op("Transpose", x, perm=[0, 2, 1, 3])
    return g.reshape(back, (back, 0), (back, 1), heads * size)


def causal_mask(g, x, form="range", longest=0):
    """Returns the positions that position i may see, as booleans that broadcast to [batch, heads, seq, seq]. `x` has seq as its
    dim 1. Forms: "range" compares positions, "trilu" takes a triangle, "buffer" slices a constant of size `longest`."""
    seq = g.size(x, 1)
    if form == "buffer":
        import numpy as np
        whole = g.constant(np.tril(np.ones((longest, longest), "?")), "?")
        return g.op("Slice", g.op("Slice", whole, [0], seq, [0]), [0], seq, [1])
    if form == "trilu":
        ones = g.op("Expand", g.constant([1], "i8"), g.op("Concat", seq, seq, axis=0))
        return g.cast(g.op("Trilu", ones, upper=0), "?")
    position = g.range(seq)
    query, key = g.op("Unsqueeze", position, [1]), g.op("Unsqueeze", position, [0])
    if g.opset >= 16 and g.style == "dynamo":
        return g.op("LessOrEqual", key, query)
    return g.op("Not", g.op("Less", query, key))


def attention(g, q, k, v, size, allowed=None, bias=None, guard=False):
    """Adds softmax attention of [batch, heads, seq, size]; `allowed` is a boolean mask, `bias` is added to the scores, `guard`
    writes the IsNaN test that exporters put after a softmax."""
    scores = g.op("MatMul", q, g.op("Transpose", k, perm=[0, 1, 3, 2]))
    scores = g.op("Mul", scores, size ** -0.5) if g.style == "dynamo" else g.op("Div", scores, size ** 0.5)
    if allowed:
        scores = g.op("Where", allowed, scores, g.constant(LOWEST, "f4"))
    if bias:
        scores = g.op("Add", scores, bias)
    weights = g.op("Softmax", scores, axis=-1)
    if guard:
        weights = g.op("Where", g.op("IsNaN", weights), g.constant(0.0, "f4"), weights)
    return g.op("MatMul", weights, v)


def padding_bias(g, mask):
    """Converts a mask [batch, seq] of ones and zeros to 0 and the lowest float, [batch, 1, 1, seq]."""
    wide = g.cast(g.op("Unsqueeze", g.op("Unsqueeze", mask, [1]), [2]), "f4")
    return g.op("Mul", g.op("Sub", g.constant(1.0, "f4"), wide), g.constant(LOWEST, "f4"))


def embedding(g, ids, name, rows, size, std=1.0):
    return g.op("Gather", g.weight(name, (rows, size), std=std), ids, axis=0)
