"""Nodes for which ONNX has no case with floats, so that op_facts.py would lack their gradients. Their outputs are not checked."""
import numpy as np
from onnx import TensorProto, helper

RANDOM = np.random.default_rng(3)


def floats(*shape):
    return RANDOM.uniform(-1, 1, shape).astype("f4")


def positive(*shape):
    return RANDOM.uniform(0.5, 1.5, shape).astype("f4")


# op, domain, version, operands in order, attributes, number of outputs
NODES = [
    ("Conv", "", 22, [floats(1, 2, 5, 5), floats(3, 2, 3, 3), floats(3)], {}, 1),
    ("ConvTranspose", "", 22, [floats(1, 2, 4, 4), floats(2, 3, 3, 3), floats(3)], {}, 1),
    ("SimplifiedLayerNormalization", "", 17, [floats(2, 3, 4), positive(4)], {}, 1),
    ("Trilu", "", 14, [floats(2, 3, 4)], {}, 1),
    ("BiasGelu", "com.microsoft", 1, [floats(2, 4), floats(4)], {}, 1),
    ("FastGelu", "com.microsoft", 1, [floats(2, 4), floats(4)], {}, 1),
    ("FusedMatMul", "com.microsoft", 1, [floats(2, 4, 3), floats(2, 4, 5)], {"transA": 1, "alpha": 0.5}, 1),
    ("Gelu", "com.microsoft", 1, [floats(2, 4)], {}, 1),
    ("MoE", "com.microsoft", 1, [floats(5, 4), floats(5, 3), floats(3, 4, 4), floats(3, 4), floats(3, 4, 4), floats(3, 4)],
     {"k": 2, "activation_type": "silu", "normalize_routing_weights": 1}, 1),
    ("SimplifiedLayerNormalization", "com.microsoft", 1, [floats(2, 3, 4), positive(4)], {}, 1),
    ("SkipLayerNormalization", "com.microsoft", 1, [floats(2, 3, 4), floats(2, 3, 4), positive(4), floats(4), floats(4)], {}, 1),
    ("SkipSimplifiedLayerNormalization", "com.microsoft", 1, [floats(2, 3, 4), floats(2, 3, 4), positive(4), floats(4)], {}, 1),
]


def models():
    """Yields (model, inputs by name) for each node."""
    for op, domain, version, operands, attributes, outputs in NODES:
        names = [f"x{i}" for i in range(len(operands))]
        results = [f"y{i}" for i in range(outputs)]
        graph = helper.make_graph(
            [helper.make_node(op, names, results, domain=domain, **attributes)], op,
            [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape) for n, x in zip(names, operands)],
            [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in results])
        opsets = [helper.make_opsetid("", 17 if domain else version)] + ([helper.make_opsetid(domain, version)] if domain else [])
        yield helper.make_model(graph, opset_imports=opsets), dict(zip(names, operands))
