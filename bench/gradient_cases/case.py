"""A function, as ONNX nodes and in PyTorch."""
import dataclasses

import numpy as np

RANDOM = np.random.default_rng(4)


def normal(*shape):
    return RANDOM.standard_normal(shape)


def uniform(low, high, *shape):
    return RANDOM.uniform(low, high, shape)


def ints(high, *shape):
    return RANDOM.integers(0, high, shape)


@dataclasses.dataclass
class Case:
    name: str
    nodes: list  # (op, inputs, outputs, attributes)
    output: str
    operands: dict  # arrays by name, which `function` takes; those of floats are differentiated by
    function: object
    weights: np.ndarray  # of the output's elements in the loss
    constants: dict = dataclasses.field(default_factory=dict)


def make(name, nodes, output, operands, function, constants=None):
    """Makes a case. The result of PyTorch has one weight per element."""
    import torch
    result = function(*[torch.tensor(x) for x in operands.values()])
    return Case(name, nodes, output, operands, function, np.asarray(normal(*result.shape)), constants or {})


def single(op, function, operands, constants=None, name=None, outputs=1, **attributes):
    """Makes a case of one node, whose inputs are all operands, then all constants; '' leaves an input out."""
    constants = constants or {}
    inputs = [n if not n.startswith("skip") else "" for n in [*operands, *constants]]
    given = {n: x for n, x in constants.items() if not n.startswith("skip")}
    results = ["y", *(f"rest{i}" for i in range(1, outputs))]
    domain = attributes.pop("domain", None)
    attributes = attributes | ({"domain": domain} if domain else {})
    return make(name or op, [(op, inputs, results, attributes)], "y", operands, function, given)
