"""Writes small ONNX models for lit: model.py EXPRESSION -o FILE

EXPRESSION builds nodes with the names below; `x` is an input [2, 3] unless `input()` declares others first.

    y = node("Gemm", input("x", [2, 3]), weight("w", [4, 3]), transB=1)
"""
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

nodes, inputs, weights, opset = [], [], [], [22]


def input(name, shape, dtype=TensorProto.FLOAT):
    inputs.append(helper.make_tensor_value_info(name, dtype, shape))
    return name


def weight(name, shape):
    return constant(name, np.zeros(shape, "f4"))


def constant(name, values, dtype=None):
    weights.append(numpy_helper.from_array(np.asarray(values, dtype), name))
    return name


def version(number):
    opset[0] = number


def node(op, *operands, outputs=1, name=None, domain="", trace=None, **attributes):
    name = name or f"{op.lower()}_{len(nodes)}"
    made = [f"{name}.{i}" if i else name for i in range(outputs)]
    nodes.append(helper.make_node(op, list(operands), made, name=name, domain=domain, **attributes))
    if trace:
        entry = nodes[-1].metadata_props.add()
        entry.key, entry.value = "pkg.torch.onnx.stack_trace", trace
    return made[0] if outputs == 1 else made


def main():
    scope = dict(globals())
    exec(sys.argv[1], scope)
    results = scope["y"] if isinstance(scope["y"], (list, tuple)) else [scope["y"]]
    outputs = [helper.make_tensor_value_info(r, TensorProto.FLOAT, None) for r in results]
    graph = helper.make_graph(nodes, "g", inputs, outputs, weights)
    domains = {n.domain for n in nodes if n.domain}
    imports = [helper.make_opsetid("", opset[0])] + [helper.make_opsetid(d, 1) for d in sorted(domains)]
    onnx.save(helper.make_model(graph, opset_imports=imports, ir_version=10), sys.argv[3])


if __name__ == "__main__":
    main()
