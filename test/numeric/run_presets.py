#!/usr/bin/env python3
"""Tests presets and memory limits on real models: the search never chooses a plan that receives more than one forced by a
preset, presets give the layouts after which they are named, and every rank stays below its limit.

    run_presets.py [--only GLOB] [--jobs N]

Models are those of run_volumes.py. Forced plans with which the choice is compared:

  megatron     --preset megatron: columns, then rows
  sequence     with --preset sequence as well: as many bytes, less memory between
  fsdp         --preset fsdp: weights of two or more dims stored over dp and gathered once, (d-1)/d of them
  replication  all weights on every rank, each with a part of the batch; on an axis that may do anything, all on every rank: nothing

Executed on small models of test/models, on simulated ranks, threads and processes.
"""
import os
import sys
import tempfile

import numpy as np

import executed
import pcc
import run_volumes as volumes

sys.path.insert(0, os.path.join(pcc.ROOT, "test", "models"))
import builder
import oracle

CASES = {}


def local(parameter):
    """Returns the number of elements of one rank."""
    size = 1
    for runs in parameter["runs"]:
        size *= sum(high - low for low, high in runs)
    return size


def whole(parameter):
    return int(np.prod(parameter["shape"], dtype=np.int64))


def width(parameter):
    return {"f32": 4, "bf16": 2, "f16": 2, "i64": 8, "f64": 8, "i32": 4}.get(parameter["dtype"], 1)


def gathered(inspection):
    """Returns, for the rank of each position that stores least, the bytes that it receives to have all its weights."""
    most = {}
    for r in inspection["ranks"]:
        bytes = sum((whole(p) - local(p)) * width(p) for p in r["parameters"])
        most[r["coordinates"].get("pp", 0)] = max(most.get(r["coordinates"].get("pp", 0), 0), bytes)
    return sum(most.values())


def tensor(name, sizes, ranks):
    with tempfile.TemporaryDirectory() as folder:
        path = volumes.place(name, folder)
        chosen, megatron, sequence = (volumes.compile(path, sizes, folder, "--tp", ranks, *options) for options in
                                      ([], ["--preset", "megatron"], ["--preset", "megatron,sequence"]))
    got = volumes.received(chosen)
    for what, limit in (("megatron", volumes.received(megatron)), ("sequence", volumes.received(sequence))):
        if got > limit:
            raise pcc.Failure(f"receives {got} bytes, with {what} {limit}")
    if sizes.keys:
        check_megatron(sizes, ranks, megatron, sequence)


def check_megatron(sizes, ranks, megatron, sequence):
    """Checks two sums per layer and one for the table. With `sequence` each has two halves, which are as many bytes."""
    formula = (sizes.sums * sizes.layers + 1) * 2 * (ranks - 1) * sizes.volume(sizes.hidden) // ranks
    for what, plan in (("megatron", megatron), ("sequence", sequence)):
        if volumes.received(plan) > formula * 1.001:
            raise pcc.Failure(f"{what} receives {volumes.received(plan)} bytes, the formula has {formula}")
    kinds = {c["kind"] for c in sequence["collectives"] if c["local_bytes"] >= sizes.volume(sizes.hidden) // ranks}
    if kinds & {"all_reduce"} or not kinds >= {"all_gather", "reduce_scatter"}:
        raise pcc.Failure(f"sequence sums by {sorted(kinds)}")


def data(name, sizes, ranks):
    with tempfile.TemporaryDirectory() as folder:
        path = volumes.place(name, folder)
        chosen, fsdp = (volumes.compile(path, sizes, folder, "--dp", ranks, *options) for options in ([], ["--preset", "fsdp"]))
        free = volumes.compile(path, sizes, folder, "--mesh", f"x={ranks}")
    if volumes.received(chosen) > 0 or volumes.received(free) > 0:
        raise pcc.Failure(f"receives {volumes.received(chosen)} bytes on dp, {volumes.received(free)} on an axis that may replicate")
    parameters = fsdp["ranks"][0]["parameters"]
    for p in parameters:
        divided = sum(n > 1 for n in p["shape"]) >= 2 and max(p["shape"]) >= ranks
        if divided and local(p) * ranks > whole(p) * 1.2 + ranks * max(p["shape"]):
            raise pcc.Failure(f"{p['name']} {p['shape']} is stored as {p['runs']}")
    if volumes.received(fsdp) > gathered(fsdp):
        raise pcc.Failure(f"fsdp receives {volumes.received(fsdp)} bytes, all weights are {gathered(fsdp)}")


def held(inspection):
    return max(r["weight_bytes"] + r["arena_bytes"] for r in inspection["ranks"])


def memory(name, sizes, plan):
    """Tests limits between the memory of the default plan and that of a plan with all weights sharded."""
    with tempfile.TemporaryDirectory() as folder:
        path = volumes.place(name, folder)
        options = pcc.plan_options(plan)
        free, fsdp = volumes.compile(path, sizes, folder, *options), volumes.compile(path, sizes, folder, *options, "--preset", "fsdp")
        if volumes.compile(path, sizes, folder, *options, "--memory-limit", held(free))["ranks"] != free["ranks"]:
            raise pcc.Failure("a limit that is met by itself changes the plan")
        before = volumes.received(free)
        for share in (0.25, 0.5, 0.75):
            limit = int(held(free) + share * (min(held(fsdp), held(free)) - held(free)))
            bounded = volumes.compile(path, sizes, folder, *options, "--memory-limit", limit)
            if held(bounded) > limit:
                raise pcc.Failure(f"a rank holds {held(bounded)} bytes, the limit is {limit}")
            if volumes.received(bounded) > before + gathered(bounded) - gathered(free):
                raise pcc.Failure(f"receives {volumes.received(bounded)} bytes, {before} and weights of {gathered(bounded)} are enough")
        code, _, err = pcc.call(path, "-o", os.path.join(folder, "none.pcc"), *pcc.dim_options(dict(sizes.dims)), *options,
                                "--memory-limit", "1KiB")
        if code != 6 or "--memory-limit of 1.0 KiB cannot be met" not in err:
            raise pcc.Failure(f"a limit of 1 KiB ends with {code}: {err}")


def execute(kind, options, comm="thread"):
    with tempfile.TemporaryDirectory() as folder:
        path, bundle, dims = os.path.join(folder, "m.onnx"), os.path.join(folder, "b.pcc"), {"batch": 8}
        graph = builder.build(kind, path)
        if kind in ("gpt2", "llama"):
            dims["seq"] = 16
        inputs = graph.draw_inputs(dims)
        feeds, options = executed.feed(folder, inputs), [*pcc.dim_options(dims), *options]
        executed.verify(path, *options, *feeds)
        pcc.succeed(path, "-o", bundle, *options)
        executed.compare(executed.outputs(bundle, feeds, folder, comm), oracle.run(path, inputs))


def add(name, function, *arguments):
    CASES[name] = lambda: function(*arguments)


models = {n: s for n, s in {**volumes.REAL, **volumes.FULL}.items() if os.path.isdir(os.path.join(pcc.REAL_MODELS, n))} or volumes.OWN
for name, sizes in models.items():
    for ranks in (2, 4, 8) if name not in volumes.FULL else (4,):
        add(f"{name} tp={ranks}", tensor, name, sizes, ranks)
        if dict(sizes.dims)["batch"] % ranks == 0:
            add(f"{name} dp={ranks}", data, name, sizes, ranks)
    if name not in volumes.FULL:
        for plan in ("dp=4", "dp=2,tp=2", "dp=2,pp=2", "dp=2,microbatches=4"):
            add(f"{name} {plan} limit", memory, name, sizes, plan)
for kind in ("gpt2", "llama", "mlp", "moe"):
    add(f"{kind} fsdp", execute, kind, ["--dp", "4", "--preset", "fsdp"])
    add(f"{kind} megatron", execute, kind, ["--tp", "2", "--dp", "2", "--preset", "megatron,zero3"], "mpi")
    add(f"{kind} own mesh", execute, kind, ["--mesh", "a=2,b=3", "--preset", "zero3"])
for kind in ("gpt2", "llama"):
    add(f"{kind} sequence", execute, kind, ["--tp", "4", "--preset", "megatron,sequence"], "mpi")
    add(f"{kind} all", execute, kind, ["--tp", "2", "--dp", "2", "--pp", "2", "--microbatches", "2", "--preset", "megatron,sequence,fsdp"])
    add(f"{kind} cp", execute, kind, ["--cp", "3", "--preset", "fsdp"])

if __name__ == "__main__":
    pcc.main(__doc__, CASES)
