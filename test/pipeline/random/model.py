"""A random ONNX graph under construction: values of known shape and magnitude, from which generators of ops pick operands.

Values stay small, so that f64 is precise to 1e-12: every value has a bound on its magnitude, and is squashed if the bound
grows. A `rounded` value, such as a float sum, depends on the order of additions: it is not compared, sorted or truncated to an
integer before noise has made ties impossible."""
import dataclasses
import random

import numpy as np
from onnx import TensorProto, helper

FLOAT, INT, BOOL = "float", "int", "bool"
ONNX_TYPES = {FLOAT: TensorProto.FLOAT, INT: TensorProto.INT64, BOOL: TensorProto.BOOL}
NUMPY_TYPES = {FLOAT: np.dtype("f4"), INT: np.dtype("i8"), BOOL: np.dtype("?")}
SIZES = [1, 2, 2, 3, 3, 4, 4, 4, 5, 6, 6, 7, 8, 8, 10, 12]
OPSET, IR_VERSION = 20, 10
MOST_ELEMENTS, HIGHEST_RANK = 400, 5
LARGEST = {FLOAT: 100.0, INT: 1 << 20, BOOL: 1}


@dataclasses.dataclass(eq=False)
class Value:
    name: str
    shape: tuple
    type: str
    bound: float = 1.0
    rounded: bool = False
    source: str = "value"          # or "input", "weight"
    used: bool = False

    @property
    def rank(self):
        return len(self.shape)


class Model:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.values, self.nodes, self.weights, self.outputs, self.constants = [], [], [], [], 0

    # Leaves -----------------------------------------------------------------------------------------------------------
    def shape(self, rank=None):
        """Returns a random shape with a moderate number of elements."""
        rank = self.random.choice([1, 2, 2, 3, 3, 4]) if rank is None else rank
        while True:
            shape = tuple(self.random.choice(SIZES) for _ in range(rank))
            if np.prod(shape, dtype=int) <= MOST_ELEMENTS:
                return shape

    def weight(self, shape, type=FLOAT, below=5):
        """Adds a weight: floats within [-1, 1), or integers from 0 up to `below`."""
        if type == FLOAT:
            data = self.numbers.uniform(-1, 1, shape)
        else:
            data = self.numbers.integers(0, 2 if type == BOOL else below, shape)
        return self.given(np.asarray(data), type, max(below - 1, 1) if type == INT else 1.0)

    def given(self, data, type, bound):
        """Adds a weight that holds `data`."""
        name = f"w{len(self.weights)}"
        tensor = np.ascontiguousarray(data, dtype=NUMPY_TYPES[type])
        self.weights.append(helper.make_tensor(name, ONNX_TYPES[type], data.shape, tensor.tobytes(), raw=True))
        return self.add(Value(name, tuple(data.shape), type, bound, source="weight"))

    def input(self, shape, type=FLOAT):
        """Adds an input: floats within [-1, 1), integers 0 or 1."""
        return self.add(Value(f"x{sum(v.source == 'input' for v in self.values)}", tuple(shape), type, source="input"))

    def leaf(self, shape, type=FLOAT):
        return self.input(shape, type) if self.random.random() < 0.3 else self.weight(shape, type)

    def constant(self, numbers, type=INT):
        """Adds a constant for shapes, axes and the like, which is no operand that could be split. Returns a name."""
        self.constants += 1
        data = np.asarray(numbers, dtype=NUMPY_TYPES[type])
        tensor = helper.make_tensor(f"c{self.constants}", ONNX_TYPES[type], data.shape, data.tobytes(), raw=True)
        self.weights.append(tensor)
        return tensor.name

    # Choice -----------------------------------------------------------------------------------------------------------
    def pick(self, type=FLOAT, fits=lambda value: True, shape=None):
        """Returns a value of this type that fits, mostly a late one; else a new leaf of `shape`, or of any shape."""
        found = [v for v in self.values if v.type == type and fits(v)]
        if found and self.random.random() < 0.9:
            return found[-1 - min(int(self.random.expovariate(0.4)), len(found) - 1)]
        return self.leaf(self.shape() if shape is None else shape, type)

    def of_rank(self, lowest, highest=HIGHEST_RANK, type=FLOAT, fits=lambda value: True):
        """Returns a value with a rank from `lowest` to `highest`."""
        rank = self.random.randint(lowest, min(highest, max(lowest, 3)))
        while not fits(Value("", shape := self.shape(rank), type)):
            pass
        return self.pick(type, lambda v: lowest <= v.rank <= highest and fits(v), shape)

    def like(self, shape, type=FLOAT):
        """Returns a value of exactly this shape."""
        return self.pick(type, lambda v: v.shape == tuple(shape), shape)

    def axis(self, value):
        """Returns a dim of `value`, and the same dim in a form that ONNX allows."""
        dim = self.random.randrange(value.rank)
        return dim, dim if self.random.random() < 0.5 else dim - value.rank

    # Nodes ------------------------------------------------------------------------------------------------------------
    def add(self, value):
        self.values.append(value)
        return value

    def op(self, kind, operands, shape, type=None, bound=None, sums=False, **attributes):
        """Appends a node of one result. `operands` are values, names of constants, or None; type and bound are those of the
        first operand unless given; `sums` tells that the result depends on the order of additions."""
        return self.op_of_many(kind, operands, [(shape, type)], bound, sums, **attributes)[0]

    def op_of_many(self, kind, operands, results, bound=None, sums=False, domain="", **attributes):
        values = [o for o in operands if isinstance(o, Value)]
        for value in values:
            value.used = True
        names = [f"v{len(self.nodes)}" + (f"_{i}" if len(results) > 1 else "") for i in range(len(results))]
        self.nodes.append(helper.make_node(kind, [o.name if isinstance(o, Value) else o or "" for o in operands], names,
                                           name=f"{kind}_{len(self.nodes)}", domain=domain, **attributes))
        made = []
        for name, (shape, type) in zip(names, results):
            type = type or values[0].type
            bound_of = float(values[0].bound if bound is None else bound) if type != BOOL else 1.0
            rounded = type == FLOAT and (sums or any(v.rounded for v in values))
            value = Value(name, tuple(int(n) for n in shape), type, bound_of, rounded)
            made.append(self.add(value) if bound_of <= LARGEST[type] else self.squash(value))
        return made

    def squash(self, value):
        """Makes a large value small: by tanh, or by a remainder."""
        if value.type == FLOAT:
            return self.op("Tanh", [value], value.shape, bound=1.0)
        return self.op("Mod", [value, self.constant(7)], value.shape, bound=7)

    def settled(self, value):
        """Returns `value` for use in a discontinuous op: noise keeps rounded values from ties."""
        if not value.rounded:
            return value
        noisy = self.op("Add", [value, self.weight(value.shape)], value.shape, bound=value.bound + 1)
        return noisy

    # Files ------------------------------------------------------------------------------------------------------------
    def finish(self):
        """Makes outputs of all values without users, and of some with users."""
        made = [v for v in self.values if v.source == "value"]
        self.outputs = [v for v in made if not v.used or self.random.random() < 0.05]

    def inputs(self):
        return [v for v in self.values if v.source == "input" and v.used]

    def named(self):
        """Returns all values that a user may name."""
        return [v for v in self.values if v.used or v in self.outputs]

    def proto(self):
        info = lambda v: helper.make_tensor_value_info(v.name, ONNX_TYPES[v.type], v.shape)
        graph = helper.make_graph(self.nodes, "random", [info(v) for v in self.inputs()], [info(v) for v in self.outputs],
                                  self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION,
                                 producer_name="pcc-random-models")
