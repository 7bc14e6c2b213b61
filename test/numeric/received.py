"""Counts the bytes that a rank receives in each collective of its program, by the index sets that it holds before and after,
independently of the compiler's figures. A reduction counts like a bandwidth-optimal algorithm."""
import itertools
import math

from liveness import read_program

SIZES = {"F64": 8, "I64": 8, "U64": 8, "F32": 4, "I32": 4, "U32": 4, "BF16": 2, "F16": 2, "I16": 2, "U16": 2}


def indices(dim, coordinates, whole):
    """Returns the global indices of a dim that the rank at `coordinates` holds, without padding."""
    held, size = [0], 1
    for factor in dim.get("factors", []):
        parts = [(p["axis"], p["pre"], p["size"]) for p in factor.get("parts", [])]
        number, digit = 1, 0
        for axis, pre, count in parts:
            number, digit = number * count, digit * count + coordinates[axis][0] // (coordinates[axis][1] // (pre * count)) % count
        part = -(-factor["size"] // number)
        held = [h * factor["size"] + i for h in held for i in range(digit * part, min((digit + 1) * part, factor["size"]))]
        size *= factor["size"]
    return set(held) if dim.get("factors") else set(range(whole))


def box(layout, shape, coordinates):
    return [indices(dim, coordinates, whole) for dim, whole in zip(layout["dims"], shape)]


def count(dims):
    return math.prod(len(d) for d in dims)


def ranks_of(program):
    """Returns the coordinates of all ranks, each with its axis's size, in the first microbatch."""
    sizes = [axis["size"] for axis in program["axes"]] + [program["microbatches"]]
    return [[(c, n) for c, n in zip((*where, 0), sizes)] for where in itertools.product(*map(range, sizes[:-1]))]


def of_collective(collective, program):
    """Returns the bytes of the rank that receives the most."""
    kind, shape = collective["kind"], collective.get("shape", [])
    if any(v.get("blocks") for v in collective.get("views", [])):
        return None
    element = SIZES[program["buffers"][collective["out"]]["type"]]
    group = math.prod(p["size"] for p in program["groups"][collective["group"]]["parts"])
    if kind == "AllReduce":
        return 2 * (group - 1) * element * math.prod(program["buffers"][collective["in"]]["shape"]) // group
    most = 0
    for where in ranks_of(program):
        before, after = (box(collective[end], shape, where) for end in ("from", "to"))
        if kind == "ReduceScatter":
            most = max(most, (group - 1) * element * count(before) // group)
        else:
            most = max(most, element * (count(after) - count([a & b for a, b in zip(after, before)])))
    return most


def collectives_of(function):
    """Returns the collectives of a function. If a collective has two parts, the one that starts it counts."""
    bodies = [i["body"] for i in function["instructions"] if i["body_type"] == "Collective"]
    return [b for b in bodies if b["group"] >= 0 and b["kind"] != "Slice" and b.get("part") != "Finish"]


def in_step(executable):
    """Returns the bytes that a rank receives in the collectives of all actions of one step, and the number of these
    collectives."""
    program = read_program(executable)
    run = [c for a in program["actions"] if a["function"] >= 0 for c in collectives_of(program["functions"][a["function"]])
           if c.get("only", -1) in (-1, a["microbatch"])]
    return sum(of_collective(c, program) for c in run), len(run)


def of_program(executable):
    """Returns (kind, bytes) of every collective that communicates, each function once, sorted. The bytes are None if views make
    them unclear."""
    program = read_program(executable)
    return sorted([(c["kind"], of_collective(c, program)) for f in program["functions"] for c in collectives_of(f)], key=str)
