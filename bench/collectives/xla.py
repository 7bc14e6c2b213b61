#!/usr/bin/env python3
"""The collectives of XLA's CPU pipeline: xla.py shardy|gspmd CASE... compiles each case, in which only the inputs are annotated
(and the outputs if the case says so), and prints a line of JSON per case: the collectives, and the shardings that Shardy chose
for the outputs."""
import json
import os
import re
import sys

DEVICES = 4
if __name__ == "__main__":
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={DEVICES}"
    os.environ["JAX_PLATFORMS"] = "cpu"
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import jax
import jax.numpy as jnp
import numpy as np
from case import CASES, axes_of
from jax.sharding import NamedSharding, PartitionSpec

BYTES = {"pred": 1, "s8": 1, "u8": 1, "bf16": 2, "f16": 2, "f32": 4, "s32": 4, "u32": 4, "f64": 8, "s64": 8, "u64": 8}
LINE = re.compile(r"= (?P<type>\(?[^=]*?) (?P<kind>all-reduce|all-gather|all-to-all|collective-permute|reduce-scatter)(-start)?\(")


def type_bytes(text):
    """Returns the bytes of a type 'f32[4,8]{1,0}' or of a tuple of types."""
    arrays = re.findall(r"(\w+)\[([\d,]*)\]", text)
    return sum(BYTES[kind] * int(np.prod([int(n) for n in sizes.split(",") if n])) for kind, sizes in arrays)


def group_size(line):
    """Returns the number of devices in one group of a collective: replica_groups={{0,1},{2,3}}, [2,2]<=[4] or mesh['x'=2,'y'=2]
    {'y'}."""
    if found := re.search(r"replica_groups=mesh\[(.*?)\] \{(.*?)\}", line):
        sizes, joined = dict(re.findall(r"'(\w+)'=(\d+)", found[1])), re.findall(r"'(\w+)'(?::\(\d+\)(\d+))?", found[2])
        return int(np.prod([int(part or sizes[axis]) for axis, part in joined]))
    if found := re.search(r"replica_groups=\[\d+,(\d+)\]", line):
        return int(found[1])
    if found := re.search(r"replica_groups=\{\{([\d,]*)\}", line):
        return found[1].count(",") + 1
    return DEVICES


def wire_bytes(kind, size, n):
    """Returns the bytes that a device receives in a collective whose result has `size` bytes."""
    return {"all-reduce": 2 * (n - 1) * size // n, "all-gather": (n - 1) * size // n, "all-to-all": (n - 1) * size // n,
            "collective-permute": size, "reduce-scatter": (n - 1) * size}[kind]


def collectives(text):
    """Returns [(kind, bytes received)] from optimized HLO. No collective of these modules is in a loop."""
    found = []
    for line in re.sub(r"/\*index=\d+\*/", "", text).splitlines():
        if match := LINE.search(line):
            kind = match["kind"]
            found.append((kind.replace("-", "_"), wire_bytes(kind, type_bytes(match["type"]), group_size(line))))
    return found


def compiled(case):
    mesh = jax.sharding.Mesh(np.array(jax.devices()).reshape(*case.mesh.values()), tuple(case.mesh))
    lies = lambda spec: NamedSharding(mesh, PartitionSpec(*(a or None for a in axes_of(spec))))
    shapes = {name: jax.ShapeDtypeStruct(shape, jnp.int32 if name in case.indices else jnp.float32, sharding=lies(spec))
              for name, (shape, spec) in case.inputs.items()}
    outputs = dict(out_shardings=lies(*case.outputs)) if case.outputs else {}
    return jax.jit(lambda inputs: case.jax(**inputs), **outputs).lower(shapes).compile()


def output_specs(result):
    """Returns the sharding of each output in the syntax of `--shard`; null if that syntax cannot express it."""
    def spec(sharding, shape):
        if not isinstance(sharding, NamedSharding):
            return None
        dims = list(sharding.spec) + [None] * (len(shape.shape) - len(sharding.spec))
        return "[" + ",".join("-" if not d else d if isinstance(d, str) else "+".join(d) for d in dims) + "]"
    shapes = jax.tree.leaves(result.out_info)
    return [spec(s, shape) for s, shape in zip(jax.tree.leaves(result.output_shardings), shapes, strict=True)]


def main():
    import cases
    jax.config.update("jax_use_shardy_partitioner", sys.argv[1] == "shardy")
    for name in sys.argv[2:]:
        result = compiled(CASES[name])
        print(json.dumps(dict(case=name, collectives=collectives(result.as_text()), outputs=output_specs(result))), flush=True)


if __name__ == "__main__":
    main()
