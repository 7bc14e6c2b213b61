"""Single ONNX ops and their equivalents in PyTorch."""
import numpy as np
import torch
import torch.nn.functional as F

from case import ints, normal, single, uniform

CASES = []


def add(*arguments, **attributes):
    CASES.append(single(*arguments, **attributes))


def i64(*numbers):
    return np.array(numbers, dtype=np.int64)


X = dict(x=normal(2, 3, 4))
UNIT = dict(x=uniform(-0.9, 0.9, 2, 3))
ABOVE = dict(x=uniform(1.1, 3, 2, 3))
for op, function in {
        "Abs": torch.abs, "Neg": torch.neg, "Exp": torch.exp, "Tanh": torch.tanh, "Erf": torch.erf, "Sigmoid": torch.sigmoid,
        "Relu": torch.relu, "Softplus": F.softplus, "Sin": torch.sin, "Cos": torch.cos, "Tan": torch.tan, "Sinh": torch.sinh,
        "Cosh": torch.cosh, "Atan": torch.atan, "Asinh": torch.asinh, "Floor": torch.floor, "Ceil": torch.ceil,
        "Round": torch.round, "Sign": torch.sign, "Elu": F.elu, "Selu": F.selu, "Softsign": F.softsign, "HardSwish": F.hardswish,
        "Mish": F.mish, "Identity": lambda x: x * 1}.items():
    add(op, lambda x, f=function: f(x), X)
for op, function in {"Asin": torch.asin, "Acos": torch.acos, "Atanh": torch.atanh}.items():
    add(op, lambda x, f=function: f(x), UNIT)
for op, function in {"Acosh": torch.acosh, "Log": torch.log, "Sqrt": torch.sqrt, "Reciprocal": torch.reciprocal}.items():
    add(op, lambda x, f=function: f(x), ABOVE)
add("LeakyRelu", lambda x: F.leaky_relu(x, 0.2), X, alpha=0.2)
add("Celu", lambda x: F.celu(x, 0.7), X, alpha=0.7)
add("HardSigmoid", lambda x: torch.clamp(0.2 * x + 0.5, 0, 1), X, alpha=0.2, beta=0.5)
add("ThresholdedRelu", lambda x: F.threshold(x, 0.3, 0), X, alpha=0.3)
add("Shrink", lambda x: F.softshrink(x, 0.4), X, lambd=0.4, bias=0.4)
add("Swish", F.silu, X)
add("Gelu", F.gelu, X)
add("Gelu", lambda x: F.gelu(x, approximate="tanh"), X, name="Gelu tanh", approximate="tanh")
add("PRelu", lambda x, s: torch.where(x > 0, x, x * s), dict(x=normal(2, 3, 4), s=normal(3, 1)))
add("Clip", lambda x: torch.clamp(x, -0.5, 0.6), X, dict(low=np.array(-0.5), high=np.array(0.6)))

ROW = dict(a=normal(2, 3, 4), b=normal(3, 1))
for op, function in {"Add": torch.add, "Sub": torch.sub, "Mul": torch.mul, "Div": torch.div, "Max": torch.maximum,
                     "Min": torch.minimum}.items():
    add(op, lambda a, b, f=function: f(a, b), ROW)
add("Pow", torch.pow, dict(a=uniform(0.5, 2, 2, 3), b=normal(3)), name="Pow")
add("Mod", torch.fmod, dict(a=normal(2, 3), b=uniform(0.5, 1, 3)), fmod=1)
add("Sum", lambda a, b, c: a + b + c, dict(a=normal(2, 3), b=normal(3), c=normal(2, 1)))
add("Mean", lambda a, b: (a + b) / 2, dict(a=normal(2, 3), b=normal(3)))
add("Where", lambda c, a, b: torch.where(c, a, b), dict(c=ints(2, 2, 3).astype(bool), a=normal(2, 3), b=normal(3)))

add("MatMul", torch.matmul, dict(a=normal(2, 3, 4), b=normal(4, 5)))
add("MatMul", torch.matmul, dict(a=normal(2, 1, 3, 4), b=normal(5, 4, 2)), name="MatMul batches")
add("Gemm", lambda a, b, c: 0.5 * a.T @ b.T + 2 * c, dict(a=normal(4, 3), b=normal(5, 4), c=normal(5)), alpha=0.5, beta=2.0, transA=1, transB=1)
add("Einsum", lambda a, b: torch.einsum("bij,bkj->bik", a, b), dict(a=normal(2, 3, 4), b=normal(2, 5, 4)), equation="bij,bkj->bik")

IMAGE = dict(x=normal(2, 4, 7, 6), w=normal(6, 2, 3, 3), b=normal(6))
add("Conv", lambda x, w, b: F.conv2d(x, w, b, (2, 1), (1, 2), (1, 2), 2), IMAGE, strides=[2, 1], pads=[1, 2, 1, 2], dilations=[1, 2], group=2)
add("Conv", lambda x, w: F.conv2d(x, w), dict(x=normal(2, 3, 5, 5), w=normal(4, 3, 1, 1)), name="Conv 1x1")
add("ConvTranspose", lambda x, w, b: F.conv_transpose2d(x, w, b, 2, 1, 1), dict(x=normal(2, 3, 4, 5), w=normal(3, 2, 3, 3), b=normal(2)),
    strides=[2, 2], pads=[1, 1, 1, 1], output_padding=[1, 1])
add("MaxPool", lambda x: F.max_pool2d(x, 3, 2, 1), dict(x=normal(2, 3, 7, 6)), kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
add("AveragePool", lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False), dict(x=normal(2, 3, 7, 6)), kernel_shape=[3, 3], strides=[2, 2],
    pads=[1, 1, 1, 1])
add("AveragePool", lambda x: F.avg_pool2d(x, 2, 1, 1), dict(x=normal(2, 3, 4, 4)), name="AveragePool padded", kernel_shape=[2, 2],
    pads=[1, 1, 1, 1], count_include_pad=1)
add("GlobalAveragePool", lambda x: x.mean((2, 3), keepdim=True), dict(x=normal(2, 3, 4, 5)))
add("GlobalMaxPool", lambda x: x.amax((2, 3), keepdim=True), dict(x=normal(2, 3, 4, 5)))
add("LRN", lambda x: F.local_response_norm(x, 3, 0.1, 0.75, 1.0), dict(x=normal(2, 5, 3, 3)), size=3, alpha=0.1, beta=0.75, bias=1.0)


def batch_norm(x, scale, bias, mean, variance):
    """Computes batch normalization with gradients of the statistics, which PyTorch's own function lacks."""
    return (x - mean) / torch.sqrt(variance + 1e-5) * scale + bias


for op, function in {"ReduceSum": torch.sum, "ReduceMean": torch.mean, "ReduceMax": torch.amax, "ReduceMin": torch.amin,
                     "ReduceLogSumExp": torch.logsumexp}.items():
    add(op, lambda x, f=function: f(x, (0, 2)), X, dict(axes=i64(0, 2)), keepdims=0)
add("ReduceProd", lambda x: torch.prod(x, 1, keepdim=True), X, dict(axes=i64(1)))
add("ReduceL1", lambda x: x.abs().sum(1, keepdim=True), X, dict(axes=i64(1)))
add("ReduceL2", lambda x: x.norm(dim=1, keepdim=True), X, dict(axes=i64(1)))
add("ReduceSumSquare", lambda x: (x * x).sum(1, keepdim=True), X, dict(axes=i64(1)))
add("ReduceLogSum", lambda x: x.sum(1, keepdim=True).log(), dict(x=uniform(0.5, 2, 2, 3)), dict(axes=i64(1)))
add("CumSum", lambda x: torch.cumsum(x, 1), X, dict(axis=np.array(1)))
add("TopK", lambda x: torch.topk(x, 2, 2)[0], X, dict(k=i64(2)), outputs=2, axis=2)

add("Softmax", lambda x: F.softmax(x, 1), X, axis=1)
add("LogSoftmax", lambda x: F.log_softmax(x, -1), X, axis=-1)
add("LayerNormalization", lambda x, s, b: F.layer_norm(x, (4,), s, b, 1e-5), dict(x=normal(2, 3, 4), s=normal(4), b=normal(4)))
add("RMSNormalization", lambda x, s: F.rms_norm(x, (4,), s, 1e-5), dict(x=normal(2, 3, 4), s=normal(4)))
add("BatchNormalization", lambda x, *of: batch_norm(x, *(t.reshape(3, 1) for t in of)),
    dict(x=normal(2, 3, 4), s=normal(3), b=normal(3), m=normal(3), v=uniform(0.5, 2, 3)), name="BatchNormalization of known statistics")
add("InstanceNormalization", lambda x, s, b: F.instance_norm(x, weight=s, bias=b, eps=1e-5), dict(x=normal(2, 3, 4, 5), s=normal(3), b=normal(3)))
add("GroupNormalization", lambda x, s, b: F.group_norm(x, 2, s, b, 1e-5), dict(x=normal(2, 4, 3), s=normal(4), b=normal(4)), num_groups=2)
add("LpNormalization", lambda x: F.normalize(x, 2, 1), X, axis=1)

add("Transpose", lambda x: x.permute(2, 0, 1), X, perm=[2, 0, 1])
add("Reshape", lambda x: x.reshape(4, 6), X, dict(shape=i64(4, 6)))
add("Flatten", lambda x: x.reshape(2, 12), X)
add("Squeeze", lambda x: x.squeeze(1), dict(x=normal(2, 1, 3)), dict(axes=i64(1)))
add("Unsqueeze", lambda x: x.unsqueeze(1), X, dict(axes=i64(1)))
add("Concat", lambda a, b: torch.cat((a, b), 1), dict(a=normal(2, 3), b=normal(2, 4)), axis=1)
add("Split", lambda x: torch.split(x, [1, 2], 1)[0], X, dict(sizes=i64(1, 2)), outputs=2, axis=1)
add("Slice", lambda x: x[:, 1:3, ::2], X, dict(starts=i64(1, 0), ends=i64(3, 4), axes=i64(1, 2), steps=i64(1, 2)))
add("Expand", lambda x: x.expand(2, 3, 4), dict(x=normal(3, 1)), dict(shape=i64(2, 3, 4)))
add("Tile", lambda x: x.repeat(2, 3), dict(x=normal(2, 3)), dict(repeats=i64(2, 3)))
for mode, torch_mode in (("constant", "constant"), ("reflect", "reflect"), ("edge", "replicate"), ("wrap", "circular")):
    add("Pad", lambda x, m=torch_mode: F.pad(x, (2, 1), m), dict(x=normal(2, 3, 5)), dict(pads=i64(0, 0, 2, 0, 0, 1)), name=f"Pad {mode}", mode=mode)
add("Trilu", torch.tril, X, upper=0)
add("DepthToSpace", lambda x: F.pixel_shuffle(x, 2), dict(x=normal(1, 8, 2, 3)), blocksize=2, mode="CRD")
add("SpaceToDepth", lambda x: x.reshape(1, 2, 2, 2, 3, 2).permute(0, 3, 5, 1, 2, 4).reshape(1, 8, 2, 3), dict(x=normal(1, 2, 4, 6)), blocksize=2)

SIZES = dict(skip1=None, skip2=None, sizes=i64(1, 2, 7, 9))
for mode, torch_mode in (("nearest", "nearest"), ("linear", "bilinear"), ("cubic", "bicubic")):
    rounding = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"} if mode == "nearest" else {"cubic_coeff_a": -0.75}
    add("Resize", lambda x, m=torch_mode: F.interpolate(x, (7, 9), mode=m), dict(x=normal(1, 2, 4, 5)), SIZES, name=f"Resize {mode}", mode=mode,
        **rounding)

add("Gather", lambda x, i: x[:, i], dict(x=normal(2, 5, 3), i=ints(5, 4)), axis=1)
add("GatherElements", lambda x, i: torch.gather(x, 1, i), dict(x=normal(2, 5), i=ints(5, 2, 4)), axis=1)
add("GatherND", lambda x, i: x[i[:, 0], i[:, 1]], dict(x=normal(3, 4, 2), i=ints(3, 5, 2)))
add("ScatterElements", lambda x, i, u: torch.scatter_add(x, 1, i, u), dict(x=normal(2, 5), i=ints(5, 2, 4), u=normal(2, 4)), axis=1,
    reduction="add")
add("ScatterElements", lambda x, i, u: torch.scatter(x, 1, i, u), dict(x=normal(2, 5), i=i64(*[[0, 3, 2], [1, 4, 0]]), u=normal(2, 3)), axis=1,
    name="ScatterElements set")
add("ScatterND", lambda x, i, u: x.index_put((i[:, 0],), u), dict(x=normal(5, 3), i=i64([4], [1]), u=normal(2, 3)), name="ScatterND set")
add("ScatterND", lambda x, i, u: x.index_put((i[:, 0],), u, accumulate=True), dict(x=normal(5, 3), i=i64([4], [1], [4]), u=normal(3, 3)), reduction="add")


def weighted(x, labels, weights):
    """Computes the weighted loss with a gradient of the weights, which PyTorch's own function lacks."""
    of = weights[labels]
    return -(F.log_softmax(x, 1)[torch.arange(len(labels)), labels] * of).sum() / of.sum()


for kind in ("mean", "sum"):
    add("SoftmaxCrossEntropyLoss", lambda x, t, k=kind: F.cross_entropy(x, t, ignore_index=2, reduction=k), dict(x=normal(6, 5), t=ints(5, 6)),
        name=f"SoftmaxCrossEntropyLoss {kind}", reduction=kind, ignore_index=2)
add("SoftmaxCrossEntropyLoss", weighted, dict(x=normal(6, 5), t=ints(5, 6), w=uniform(0.5, 2, 5)),
    name="SoftmaxCrossEntropyLoss weighted")
add("NegativeLogLikelihoodLoss", lambda x, t: F.nll_loss(x, t), dict(x=normal(6, 5), t=ints(5, 6)))

QKV = dict(q=normal(2, 4, 5, 6), k=normal(2, 2, 5, 6), v=normal(2, 2, 5, 6))
add("Attention", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True), QKV, is_causal=1, name="Attention causal")
add("Attention", lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, m, enable_gqa=True), QKV | dict(m=normal(5, 5)), name="Attention bias")


def rotary(x, cos, sin):
    a, b = x.chunk(2, -1)
    c, s = cos.unsqueeze(1), sin.unsqueeze(1)
    return torch.cat((a * c - b * s, a * s + b * c), -1)


add("RotaryEmbedding", rotary, dict(x=normal(2, 3, 4, 6), cos=normal(2, 4, 3), sin=normal(2, 4, 3)))
