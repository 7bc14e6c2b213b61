"""Writes ONNX graphs node by node."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Graph:
    """An ONNX graph. Every method adds nodes and returns the name of its result."""

    def __init__(self, case):
        self.nodes, self.weights, self.count = [], [], 0
        self.inputs = [helper.make_tensor_value_info(n, TensorProto.INT64 if n in case.indices else TensorProto.FLOAT, shape)
                       for n, (shape, _) in case.inputs.items()]
        self.shapes = {n: shape for n, (shape, _) in case.inputs.items()}

    def op(self, kind, *operands, results=1, **attributes):
        self.count += 1
        names = [f"v{self.count}_{i}" for i in range(results)]
        self.nodes.append(helper.make_node(kind, list(operands), names, name=f"n{self.count}_{kind}", **attributes))
        return names[0] if results == 1 else names

    def constant(self, value):
        self.count += 1
        self.weights.append(numpy_helper.from_array(np.asarray(value), f"c{self.count}"))
        return f"c{self.count}"

    def number(self, value):
        return self.constant(np.float32(value))

    def sizes(self, *values):
        return self.constant(np.array(values, "i8"))

    def add(self, *values):
        result = values[0]
        for v in values[1:]:
            result = self.op("Add", result, v)
        return result

    def sub(self, a, b):
        return self.op("Sub", a, b)

    def mul(self, *values):
        result = values[0]
        for v in values[1:]:
            result = self.op("Mul", result, v)
        return result

    def swap(self, value, rank):
        return self.op("Transpose", value, perm=[*range(rank - 2), rank - 1, rank - 2])

    def matmul(self, a, b):
        return self.op("MatMul", a, b)

    def back(self, value, weight):
        """Adds value · weightᵀ, where the weight has two dims."""
        return self.matmul(value, self.swap(weight, 2))

    def einsum(self, equation, *operands):
        return self.op("Einsum", *operands, equation=equation)

    def reshape(self, value, *shape):
        return self.op("Reshape", value, self.sizes(*shape))

    def sum(self, value, *axes, keep=True):
        return self.op("ReduceSum", value, self.sizes(*axes), keepdims=int(keep))

    def mean(self, value, *axes):
        return self.op("ReduceMean", value, self.sizes(*axes), keepdims=1)

    def one_hot(self, indices, classes):
        return self.op("OneHot", indices, self.sizes(classes), self.constant(np.array([0, 1], "f4")), axis=-1)

    def slice(self, value, axis, start, stop, step=1):
        return self.op("Slice", value, self.sizes(start), self.sizes(stop), self.sizes(axis), self.sizes(step))

    def model(self, outputs):
        """Returns the model. Its outputs are called y0, y1, …"""
        for i, name in enumerate(outputs):
            self.nodes.append(helper.make_node("Identity", [name], [f"y{i}"], name=f"output{i}"))
        results = [helper.make_empty_tensor_value_info(f"y{i}") for i in range(len(outputs))]
        graph = helper.make_graph(self.nodes, "case", self.inputs, results, self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
        return onnx.shape_inference.infer_shapes(model, data_prop=True)
