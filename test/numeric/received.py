"""How many bytes a rank receives in each collective, counted in the program that it executes: by the index sets that it holds
before and after, whatever the compiler says about them. A reduction counts as bandwidth-optimal algorithms have it."""
import itertools
import math

from liveness import read_program

SIZES = {"F64": 8, "I64": 8, "U64": 8, "F32": 4, "I32": 4, "U32": 4, "BF16": 2, "F16": 2, "I16": 2, "U16": 2}


def indices(dim, coordinates, whole):
    """The global indices of a dim that the rank at `coordinates` holds, padding left out."""
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
    """The coordinates of all ranks, each with its axis's size, in the first microbatch."""
    sizes = [axis["size"] for axis in program["axes"]] + [program["microbatches"]]
    return [[(c, n) for c, n in zip((*where, 0), sizes)] for where in itertools.product(*map(range, sizes[:-1]))]


def of_collective(collective, program):
    """Bytes that the rank that gets most receives."""
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
    """One in two parts is the one that starts."""
    bodies = [i["body"] for i in function["instructions"] if i["body_type"] == "Collective"]
    return [b for b in bodies if b["group"] >= 0 and b["kind"] != "Slice" and b.get("part") != "Finish"]


def in_step(executable):
    """Bytes that a rank receives in the collectives of all actions of one step, and how many these are."""
    program = read_program(executable)
    run = [c for a in program["actions"] if a["function"] >= 0 for c in collectives_of(program["functions"][a["function"]])
           if c.get("only", -1) in (-1, a["microbatch"])]
    return sum(of_collective(c, program) for c in run), len(run)


def of_program(executable):
    """(kind, bytes) of every collective that communicates, each function once, sorted; None for bytes that views make unclear."""
    program = read_program(executable)
    return sorted([(c["kind"], of_collective(c, program)) for f in program["functions"] for c in collectives_of(f)], key=str)
