"""An ONNX graph under construction: nodes, weights that exist only when the file is written, and inputs that can be drawn.

Weights and inputs depend on the seed and their own name only, so a model is the same on every machine and does not
change when another weight is added."""
import dataclasses
import os
import zlib

import numpy as np
from onnx import TensorProto, helper

ONNX_TYPES = {np.dtype("f4"): TensorProto.FLOAT, np.dtype("i8"): TensorProto.INT64, np.dtype("?"): TensorProto.BOOL,
              np.dtype("f8"): TensorProto.DOUBLE, np.dtype("i4"): TensorProto.INT32}
IR_VERSION = {13: 7, 14: 7, 15: 8, 16: 8, 17: 8}
LOWEST = float(np.finfo("f4").min)


@dataclasses.dataclass
class Weight:
    """A weight with a normal distribution of mean `mean` and deviation `std`, drawn when it is needed."""
    name: str
    shape: tuple
    mean: float
    std: float

    def draw(self, seed):
        random = np.random.Generator(np.random.Philox(key=zlib.crc32(f"{seed}:{self.name}".encode())))
        values = random.standard_normal(self.shape, dtype="f4")
        values *= np.float32(self.std)
        values += np.float32(self.mean)
        return values


@dataclasses.dataclass
class Input:
    """A graph input. `shape` holds sizes and names of dynamic dims. `kind` says how it is drawn: "ids" below `bound`, "mask" of
    ones with zeros at the end of rows, or "normal"."""
    name: str
    shape: tuple
    kind: str
    bound: int = 0

    @property
    def dtype(self):
        return np.dtype("f4" if self.kind == "normal" else "i8")

    def draw(self, dims, seed):
        shape = tuple(dims.get(d, d) for d in self.shape)
        random = np.random.Generator(np.random.Philox(key=zlib.crc32(f"{seed}:input:{self.name}".encode())))
        if self.kind == "ids":
            return random.integers(0, self.bound, shape, dtype="i8")
        if self.kind == "mask":
            length = random.integers(1, shape[1] + 1, shape[0])
            length[0] = shape[1]
            return (np.arange(shape[1]) < length[:, None]).astype("i8")
        return random.standard_normal(shape, dtype="f4")


class Graph:
    """Collects nodes. Values are named by strings, as in ONNX; every method that creates a value returns its name.

    `style` is the form in which shapes of dynamic dims are written: "torchscript" (Shape, Gather, Unsqueeze, Concat, and
    Constant nodes) or "dynamo" (Shape with start and end, Concat, and initializers). `scope` prefixes node names as exporters
    do."""

    def __init__(self, opset=18, style="dynamo", seed=0, dims=None):
        if style not in ("torchscript", "dynamo"):
            raise SystemExit(f"unknown style {style}: torchscript or dynamo")
        self.opset, self.style, self.seed, self.dims = opset, style, seed, dims or {}
        self.nodes, self.weights, self.constants, self.inputs, self.outputs = [], [], [], [], []
        self.scope, self._count = "", 0

    # Inputs, outputs, weights -----------------------------------------------------------------------------------------
    def input(self, name, shape, kind, bound=0):
        """Adds a graph input. A dim whose name `dims` binds is static in the file."""
        shape = tuple(self.dims.get(d, d) for d in shape)
        self.inputs.append(Input(name, shape, kind, bound))
        return name

    def output(self, value, name, shape):
        self.nodes.append(helper.make_node("Identity", [value], [name], name=f"{self.scope}/output_{name}"))
        self.outputs.append((name, tuple(self.dims.get(d, d) for d in shape)))

    def weight(self, name, shape, std=None, mean=0.0):
        """Adds a weight. The deviations are large on purpose: attention is then far from uniform and every bias matters, so
        that a wrong shard has an effect."""
        if std is None:
            std = 0.2 if len(shape) == 1 else float(np.prod(shape[1:])) ** -0.5 if len(shape) == 4 else float(shape[-2]) ** -0.5
        self.weights.append(Weight(name, tuple(shape), mean, std))
        return name

    def norm_weight(self, name, size):
        return self.weight(name, (size,), std=0.2, mean=1.0)

    # Nodes ------------------------------------------------------------------------------------------------------------
    def constant(self, value, dtype=None):
        array = np.asarray(value, dtype=dtype if dtype else ("i8" if np.asarray(value).dtype.kind == "i" else "f4"))
        name = self._fresh("val")
        tensor = helper.make_tensor(name, ONNX_TYPES[array.dtype], array.shape, np.ascontiguousarray(array).tobytes(), raw=True)
        if self.style == "torchscript":
            self.nodes.append(helper.make_node("Constant", [], [name], name=f"{self.scope}/Constant_{name}", value=tensor))
        else:
            self.constants.append(tensor)
        return name

    def op(self, kind, *inputs, outputs=1, **attributes):
        """Appends a node. Inputs that are numbers or arrays become constants; `None` is an absent optional input."""
        names = ["" if i is None else i if isinstance(i, str) else self.constant(i) for i in inputs]
        results = [self._fresh(kind.lower()) for _ in range(outputs)]
        self.nodes.append(helper.make_node(kind, names, results, name=f"{self.scope}/{kind}_{results[0]}", **attributes))
        return results[0] if outputs == 1 else results

    def cast(self, x, dtype):
        return self.op("Cast", x, to=ONNX_TYPES[np.dtype(dtype)])

    def size(self, x, dim):
        """Returns the size of one dim as a tensor of one element."""
        if self.style == "torchscript":
            return self.op("Unsqueeze", self.op("Gather", self.op("Shape", x), self.constant(dim, "i8"), axis=0), [0])
        if self.opset >= 15:
            return self.op("Shape", x, start=dim, end=dim + 1)
        return self.op("Slice", self.op("Shape", x), [dim], [dim + 1], [0])

    def reshape(self, x, *shape):
        """Adds a reshape. `shape` holds sizes, -1, and (value, dim) for the size of a value's dim."""
        if all(isinstance(s, int) for s in shape):
            return self.op("Reshape", x, list(shape))
        return self.op("Reshape", x, self.shape_of(*shape))

    def shape_of(self, *shape):
        """Returns the shape as a tensor; see `reshape`."""
        parts = [self.constant([s]) if isinstance(s, int) else self.size(*s) for s in shape]
        return self.op("Concat", *parts, axis=0)

    def reduce(self, kind, x, axis, keepdims=1):
        """Adds a reduction. ReduceMean and the like take their axes as an attribute before opset 18, ReduceSum before 13."""
        if self.opset >= 18 or kind == "ReduceSum":
            return self.op(kind, x, [axis], keepdims=keepdims)
        return self.op(kind, x, axes=[axis], keepdims=keepdims)

    def split(self, x, sizes, axis=-1):
        return self.op("Split", x, list(sizes), outputs=len(sizes), axis=axis)

    def slice(self, x, axis, start, end):
        return self.op("Slice", x, [start], [end], [axis])

    def range(self, end):
        """Returns 0, 1, … up to `end`, a tensor of one element."""
        return self.op("Range", self.constant(0, "i8"), self.op("Squeeze", end, [0]), self.constant(1, "i8"))

    def _fresh(self, stem):
        self._count += 1
        return f"{stem}_{self._count}"

    # Files ------------------------------------------------------------------------------------------------------------
    def draw_inputs(self, dims, seed=1):
        """Draws one batch of inputs by name, for the given sizes of the dynamic dims."""
        return {i.name: i.draw(dims, seed) for i in self.inputs}

    def save(self, path, external=False, alignment=4096):
        """Writes the model; with `external` its weights go to a file beside it, at multiples of `alignment`."""
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        tensors = self._external(path, alignment) if external else [self._inline(w) for w in self.weights]
        # Constants are initializers in this style, so the exporter marks the parameters that train.
        for tensor in tensors if self.style == "dynamo" else ():
            tensor.metadata_props.add(key="pkg.torch.export.graph_signature.InputSpec.kind", value="PARAMETER")
        info = lambda name, dtype, shape: helper.make_tensor_value_info(name, ONNX_TYPES[np.dtype(dtype)], shape)
        graph = helper.make_graph(self.nodes, "main_graph", [info(i.name, i.dtype, i.shape) for i in self.inputs],
                                  [info(n, "f4", s) for n, s in self.outputs], tensors + self.constants)
        imports = [helper.make_opsetid(d, 1 if d else self.opset) for d in sorted({""} | {n.domain for n in self.nodes})]
        model = helper.make_model(graph, opset_imports=imports,
                                  ir_version=IR_VERSION.get(self.opset, 10), producer_name="pcc-test-models")
        with open(path, "wb") as f:
            f.write(model.SerializeToString())

    def _inline(self, weight):
        return helper.make_tensor(weight.name, TensorProto.FLOAT, weight.shape, weight.draw(self.seed).tobytes(), raw=True)

    def _external(self, path, alignment):
        location = os.path.splitext(os.path.basename(path))[0] + ".weights.bin"
        tensors, offset = [], 0
        with open(os.path.join(os.path.dirname(os.path.abspath(path)), location), "wb") as f:
            for w in self.weights:
                offset = -(-offset // alignment) * alignment
                f.seek(offset)
                data = w.draw(self.seed)
                data.tofile(f)
                t = TensorProto(name=w.name, data_type=TensorProto.FLOAT, dims=w.shape, data_location=TensorProto.EXTERNAL)
                for k, v in (("location", location), ("offset", offset), ("length", data.nbytes)):
                    t.external_data.add(key=k, value=str(v))
                tensors.append(t)
                offset += data.nbytes
        return tensors
