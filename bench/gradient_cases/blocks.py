"""Blocks of models, as ONNX nodes and in PyTorch."""
import numpy as np
import torch
import torch.nn.functional as F

from case import ints, make, normal, uniform

CASES = []
HEADS = {"heads": np.array([2, 5, 2, 4], dtype=np.int64), "rows": np.array([2, 5, 8], dtype=np.int64)}


def add(name, nodes, operands, function, constants=None):
    CASES.append(make(name, nodes, "y", operands, function, constants))


add("MLP",
    [("MatMul", ["x", "w1"], ["p"], {}), ("Add", ["p", "b1"], ["s"], {}), ("Gelu", ["s"], ["h"], {"approximate": "tanh"}),
     ("MatMul", ["h", "w2"], ["q"], {}), ("Add", ["q", "b2"], ["r"], {}), ("Add", ["r", "x"], ["y"], {})],
    dict(x=normal(3, 4), w1=normal(4, 6), b1=normal(6), w2=normal(6, 4), b2=normal(4)),
    lambda x, w1, b1, w2, b2: F.gelu(x @ w1 + b1, approximate="tanh") @ w2 + b2 + x)

add("gated MLP",
    [("MatMul", ["x", "g"], ["a"], {}), ("Sigmoid", ["a"], ["s"], {}), ("Mul", ["a", "s"], ["h"], {}), ("MatMul", ["x", "u"], ["b"], {}),
     ("Mul", ["h", "b"], ["m"], {}), ("MatMul", ["m", "d"], ["y"], {})],
    dict(x=normal(3, 4), g=normal(4, 6), u=normal(4, 6), d=normal(6, 4)), lambda x, g, u, d: (F.silu(x @ g) * (x @ u)) @ d)


def attend(x, w, o):
    q, k, v = (t.reshape(2, 5, 2, 4).transpose(1, 2) for t in (x @ w).chunk(3, -1))
    return F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(2, 5, 8) @ o


MASK = np.where(np.tril(np.ones((5, 5))) > 0, 0.0, -np.inf)
add("attention of softmax",
    [("MatMul", ["x", "w"], ["qkv"], {}), ("Split", ["qkv"], ["q0", "k0", "v0"], {"axis": -1, "num_outputs": 3}),
     *[("Reshape", [f"{n}0", "heads"], [f"{n}1"], {}) for n in "qkv"],
     ("Transpose", ["q1"], ["q"], {"perm": [0, 2, 1, 3]}), ("Transpose", ["k1"], ["k"], {"perm": [0, 2, 3, 1]}),
     ("Transpose", ["v1"], ["v"], {"perm": [0, 2, 1, 3]}), ("MatMul", ["q", "k"], ["scores"], {}), ("Mul", ["scores", "scale"], ["scaled"], {}),
     ("Add", ["scaled", "mask"], ["masked"], {}), ("Softmax", ["masked"], ["shares"], {"axis": -1}), ("MatMul", ["shares", "v"], ["z"], {}),
     ("Transpose", ["z"], ["z1"], {"perm": [0, 2, 1, 3]}), ("Reshape", ["z1", "rows"], ["z2"], {}), ("MatMul", ["z2", "o"], ["y"], {})],
    dict(x=normal(2, 5, 8), w=normal(8, 24), o=normal(8, 8)), attend, HEADS | {"mask": MASK, "scale": np.array(0.5)})

add("layer norm of parts",
    [("ReduceMean", ["x", "last"], ["m"], {}), ("Sub", ["x", "m"], ["c"], {}), ("Mul", ["c", "c"], ["cc"], {}),
     ("ReduceMean", ["cc", "last"], ["v"], {}), ("Add", ["v", "eps"], ["ve"], {}), ("Sqrt", ["ve"], ["d"], {}), ("Div", ["c", "d"], ["n"], {}),
     ("Mul", ["n", "s"], ["ns"], {}), ("Add", ["ns", "b"], ["y"], {})],
    dict(x=normal(3, 6), s=normal(6), b=normal(6)), lambda x, s, b: F.layer_norm(x, (6,), s, b, 1e-5),
    {"last": np.array([-1]), "eps": np.array(1e-5)})

add("RMS norm of parts",
    [("Pow", ["x", "two"], ["xx"], {}), ("ReduceMean", ["xx", "last"], ["v"], {}), ("Add", ["v", "eps"], ["ve"], {}), ("Sqrt", ["ve"], ["d"], {}),
     ("Reciprocal", ["d"], ["r"], {}), ("Mul", ["x", "r"], ["n"], {}), ("Mul", ["n", "s"], ["y"], {})],
    dict(x=normal(3, 6), s=normal(6)), lambda x, s: F.rms_norm(x, (6,), s, 1e-5),
    {"last": np.array([-1]), "eps": np.array(1e-5), "two": np.array(2.0)})

add("embedding and cross entropy",
    [("Gather", ["e", "ids"], ["h"], {}), ("Transpose", ["e"], ["et"], {}), ("MatMul", ["h", "et"], ["logits"], {}),
     ("SoftmaxCrossEntropyLoss", ["logits", "labels"], ["y"], {"ignore_index": 3})],
    dict(e=normal(7, 4), ids=ints(7, 9), labels=ints(7, 9)), lambda e, ids, labels: F.cross_entropy(e[ids] @ e.T, labels, ignore_index=3))

add("convolution, batch norm and pool",
    [("Conv", ["x", "w"], ["c"], {"pads": [1, 1, 1, 1]}), ("ReduceMean", ["c", "places"], ["m"], {}), ("Sub", ["c", "m"], ["d"], {}),
     ("Mul", ["d", "d"], ["dd"], {}), ("ReduceMean", ["dd", "places"], ["v"], {}), ("Add", ["v", "eps"], ["ve"], {}), ("Sqrt", ["ve"], ["r"], {}),
     ("Div", ["d", "r"], ["n"], {}), ("Mul", ["n", "s"], ["ns"], {}), ("Add", ["ns", "b"], ["nb"], {}), ("Relu", ["nb"], ["a"], {}),
     ("MaxPool", ["a"], ["p"], {"kernel_shape": [2, 2], "strides": [2, 2]}), ("GlobalAveragePool", ["p"], ["y"], {})],
    dict(x=normal(2, 3, 6, 6), w=normal(4, 3, 3, 3), s=normal(4, 1, 1), b=normal(4, 1, 1)),
    lambda x, w, s, b: F.max_pool2d(F.relu(F.batch_norm(F.conv2d(x, w, padding=1), None, None, s.reshape(4), b.reshape(4), True, 0, 1e-5)), 2).mean(
        (2, 3), keepdim=True), {"places": np.array([0, 2, 3]), "eps": np.array(1e-5)})


def experts(x, r, u, d):
    shares, chosen = torch.topk(F.softmax(x @ r, -1), 2, -1)
    gates = torch.zeros(x.shape[0], r.shape[1], dtype=x.dtype).scatter(1, chosen, shares / shares.sum(-1, keepdim=True))
    return torch.einsum("te,ted->td", gates, torch.einsum("tef,efd->ted", F.silu(torch.einsum("td,edf->tef", x, u)), d))


add("mixture of experts",
    [("MatMul", ["x", "r"], ["l"], {}), ("Softmax", ["l"], ["p"], {"axis": -1}), ("TopK", ["p", "k"], ["top", "i"], {"axis": -1}),
     ("ReduceSum", ["top", "last"], ["all"], {}), ("Div", ["top", "all"], ["share"], {}),
     ("ScatterElements", ["zeros", "i", "share"], ["gates"], {"axis": 1}), ("Einsum", ["x", "u"], ["a"], {"equation": "td,edf->tef"}),
     ("Sigmoid", ["a"], ["s"], {}), ("Mul", ["a", "s"], ["h"], {}), ("Einsum", ["h", "d"], ["o"], {"equation": "tef,efd->ted"}),
     ("Einsum", ["gates", "o"], ["y"], {"equation": "te,ted->td"})],
    dict(x=normal(6, 4), r=normal(4, 5), u=normal(5, 4, 3), d=normal(5, 3, 4)), experts,
    {"k": np.array([2]), "last": np.array([-1]), "zeros": np.zeros((6, 5))})
