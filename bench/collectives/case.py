"""A comparison: the same function of the same inputs in JAX and as an ONNX graph, with the inputs' shardings on a mesh."""
import dataclasses

CASES = {}


@dataclasses.dataclass
class Case:
    """`inputs`: name -> (shape, sharding in the syntax of `--shard`); inputs in `indices` hold numbers below the given bound.
    `jax` gets the inputs as keywords, `onnx` gets a Graph that has them; both return all outputs. `ideal`: bytes that one
    device has to receive, estimated by hand, or None if not known. `above`: XLA is known to receive more than `ideal`."""
    name: str
    mesh: dict
    inputs: dict
    jax: object
    onnx: object
    ideal: int = None
    above: bool = False
    indices: dict = dataclasses.field(default_factory=dict)
    outputs: tuple = ()  # how they must lie; none: as the compiler likes
    strided: dict = dataclasses.field(default_factory=dict)  # inputs that pcc can be told to lay out in blocks


def case(name, mesh, inputs, jax, onnx, **rest):
    assert name not in CASES, name
    CASES[name] = Case(name, dict((a, int(n)) for a, n in (p.split("=") for p in mesh.split(","))), inputs, jax, onnx, **rest)


def axes_of(spec):
    """Parses a sharding: '[-,t,x+y]' -> [(), ("t",), ("x", "y")]."""
    return [() if dim == "-" else tuple(dim.split("+")) for dim in spec.strip("[]").split(",")] if spec != "[]" else []
