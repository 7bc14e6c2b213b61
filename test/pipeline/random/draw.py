#!/usr/bin/env python3
"""Draws the random model of a seed, a mesh for it and pins that a user might give.

    draw.py SEED [-o model.onnx]

Writes the model and prints the command that verifies it.
"""
import argparse
import dataclasses
import math
import shlex

import contractions
import element_wise
import indexing
import layout
import reductions
import windows
from model import FLOAT, Model

# generators of a family, and how often it is chosen
FAMILIES = [(element_wise.MAKERS, 7), (contractions.MAKERS, 4), (layout.MAKERS, 6), (reductions.MAKERS, 4),
            (indexing.MAKERS, 2), (windows.MAKERS, 1)]
MESHES = [(2,), (3,), (4,), (6,), (12,), (2, 2), (2, 3), (3, 2), (4, 2), (2, 4), (6, 2), (3, 4), (2, 6), (2, 2, 2), (2, 2, 3),
          (3, 2, 2)]


# Axes that have a role, stages and microbatches: one seed in five has these instead of a mesh and pins.
PLANS = [dict(tp=2), dict(tp=3), dict(tp=4), dict(dp=2), dict(dp=3), dict(cp=2), dict(dp=2, tp=2), dict(cp=2, tp=2), dict(pp=2),
         dict(pp=3), dict(pp=2, tp=2), dict(pp=2, dp=3), dict(pp=2, dp=2, tp=2), dict(microbatches=2), dict(dp=2, microbatches=2),
         dict(pp=2, tp=2, microbatches=2)]


@dataclasses.dataclass
class Weight:
    """Facts about a value that a pin needs."""
    name: str
    shape: tuple


@dataclasses.dataclass
class Pin:
    """A pin: per dim, the (axis, parts before it, parts) that split it, major first, or None if the dim is left open."""
    name: str
    dims: list

    def text(self, mesh):
        def axis(name, pre, size):
            return name if size == mesh[name] else f"{name}:({pre}){size}"
        dims = ["?" if d is None else "+".join(axis(*a) for a in d) or "-" for d in self.dims]
        return f"{self.name}=[{','.join(dims)}]"

    def runs(self, shape, mesh, rank):
        """Returns the indices that a rank holds per dim, or None if the dim is open. Parts have the size ceil(size / parts), the
        last ones less."""
        where, rest = {}, rank
        for name, size in reversed(mesh.items()):
            where[name], rest = rest % size, rest // size
        return [None if d is None else part(n, d, where, mesh) for n, d in zip(shape, self.dims)]


def part(size, axes, where, mesh):
    index, parts = 0, 1
    for name, pre, count in axes:
        index = index * count + where[name] // (mesh[name] // (pre * count)) % count
        parts *= count
    length = -(-size // parts)
    low, high = min(index * length, size), min((index + 1) * length, size)
    return [[low, high]] if high > low else []


def draw_axis(random, name, size):
    """Draws the whole axis or, sometimes, a part of it."""
    divisors = [d for d in range(2, size) if size % d == 0]
    if not divisors or random.random() < 0.85:
        return name, 1, size
    count = random.choice(divisors)
    return name, random.choice([p for p in range(1, size // count + 1) if size // count % p == 0]), count


def draw_pin(random, value, mesh):
    """Draws a pin: mostly dims that can be split, by axes in the order of the mesh; sometimes anything."""
    dims = [[] for _ in value.shape]
    longer = [d for d, n in zip(dims, value.shape) if n > 1]
    names = list(mesh) if random.random() < 0.9 else random.sample(list(mesh), len(mesh))
    for name in names:
        if dims and random.random() < 0.7:
            random.choice(longer if longer and random.random() < 0.95 else dims).append(draw_axis(random, name, mesh[name]))
    return Pin(value.name, [None if not d and random.random() < 0.1 else d for d in dims])


def draw_pins(random, values, mesh):
    """Draws pins. Integer weights, which become constants, are rarely pinned."""
    fit = [v for v in values if v.source != "weight" or v.type == FLOAT or random.random() < 0.1]
    chosen = random.sample(fit, min(len(fit), random.choice([0, 1, 2, 3, 4, 6, 8, 12])))
    return [draw_pin(random, v, mesh) for v in chosen]


def draw_model(seed):
    m = Model(seed)
    for _ in range(m.random.randint(1, 2)):
        m.input(m.shape())
    makers, weights = [f for f, _ in FAMILIES], [w for _, w in FAMILIES]
    count = m.random.randint(5, 30)
    while len(m.nodes) < count:
        m.random.choice(m.random.choices(makers, weights)[0])(m)
    m.finish()
    return m


@dataclasses.dataclass
class Drawn:
    seed: int
    model: Model
    mesh: dict
    pins: list
    plan: dict

    def shapes(self):
        return {v.name: v.shape for v in self.model.values}

    def case(self, path):
        """Returns the case in the form that verify-many takes."""
        axes = {k: n for k, n in self.plan.items() if k != "microbatches"}
        return {"model": path, "mesh": list(self.mesh.items()), "shards": [p.text(self.mesh) for p in self.pins],
                "held": [p.name for p in self.pins], "axes": axes, "microbatches": self.plan.get("microbatches")}

    def options(self):
        """Returns the options in the form that the command line takes."""
        mesh = ["--mesh", ",".join(f"{axis}={size}" for axis, size in self.mesh.items())] if self.mesh else []
        return [*(w for option, size in self.plan.items() for w in (f"--{option}", str(size))), *mesh,
                *(w for pin in self.pins for w in ("--shard", pin.text(self.mesh)))]

    def command(self, path):
        return shlex.join(["pcc", "verify", path, *self.options()])

    def write(self, path):
        with open(path, "wb") as f:
            f.write(self.model.proto().SerializeToString())


def draw(seed):
    m = draw_model(seed)
    if m.random.random() < 0.2:
        return Drawn(seed, m, {}, [], dict(m.random.choice(PLANS)))
    mesh = dict(zip("abc", m.random.choice(MESHES)))
    assert math.prod(mesh.values()) <= 12
    return Drawn(seed, m, mesh, draw_pins(m.random, m.named(), mesh), {})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seed", type=int)
    parser.add_argument("-o", "--output")
    arguments = parser.parse_args()
    drawn = draw(arguments.seed)
    path = arguments.output or f"random-{arguments.seed}.onnx"
    drawn.write(path)
    print(drawn.command(path))


if __name__ == "__main__":
    main()
