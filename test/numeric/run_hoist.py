#!/usr/bin/env python3
"""Tests that sharded weights that are used whole are gathered once per step, however many microbatches there are. Values are
those of the unpartitioned model, on simulated ranks (1e-12) and on real ones (1e-4, as in run_numeric.py).

    run_hoist.py [--only GLOB] [--jobs N]

Bytes that a rank receives for weights of W bytes over n ranks in a step of M microbatches: (n-1)/n · W, not M times that. The
programs of the ranks are counted, and compared with the description of the bundle.
"""
import os
import re
import tempfile

import numpy as np
import executed
import liveness
import pcc
import received
from run_numeric import check_verify, dims_of
from sharded_graph import Graph
import builder
import oracle

CASES = {}
DIMS = {"batch": 8, "seq": 8}
SMALL = dict(layers=4)


def once(bundle):
    return [c for c in bundle["collectives"] if c["per"] == "step"]


def check_gathers(bundle, ranks, pinned, microbatches):
    """Checks that each pinned weight of a stage is gathered once by its ranks."""
    gathers = [c for c in bundle["collectives"] if c["kind"] == "all_gather" and c["axes"] == ["dp"]]
    weights = {p["name"]: p for r in bundle["ranks"] for p in r["parameters"] if re.fullmatch(pinned, p["name"])}
    total = sum(4 * p["shape"][0] * p["shape"][1] for p in weights.values())
    got = sum(c["received_bytes"] * c["count"] for c in gathers)
    if not weights or got != total * (ranks - 1) // ranks:
        raise pcc.Failure(f"{got} bytes are gathered of {len(weights)} weights of {total} bytes")
    if {c["per"] for c in gathers} != {"step" if microbatches > 1 else "microbatch"}:
        raise pcc.Failure(f"gathers are {[(c['node'], c['per']) for c in gathers]}")


def actions_of(executable):
    """Returns the actions of a rank in one step, without messages: "0F1", "0UNSHARD"."""
    names = {"Forward": "{stage}F{microbatch}", "Unshard": "{stage}UNSHARD"}
    return [names[a["kind"]].format(**a) for a in liveness.read_program(executable)["actions"] if a["kind"] not in ("Post", "Wait")]


def check_actions(bundle, folder, microbatches):
    """Checks that a stage computes shared values right before its first microbatch; with one microbatch there are none.
    `inspect` lists the actions of microbatches only."""
    sharing = {c["stage"] for c in once(bundle)}
    if bool(sharing) != (microbatches > 1):
        raise pcc.Failure(f"stages {sorted(sharing)} share in {microbatches} microbatches")
    for rank in bundle["ranks"]:
        done = actions_of(os.path.join(folder, f"rank-{rank['rank']:03}"))
        if [a for a in done if "F" in a] != rank["actions"] or len(done) != len(rank["actions"]) + len(sharing & set(rank["stages"])):
            raise pcc.Failure(f"rank {rank['rank']} does {done}, listed are {rank['actions']}")
        for stage in rank["stages"]:
            forwards = [a for a in done if re.match(rf"{stage}F", a)]
            if forwards != [f"{stage}F{m}" for m in range(microbatches)]:
                raise pcc.Failure(f"rank {rank['rank']} does {done}")
            if stage in sharing and done.index(f"{stage}UNSHARD") != done.index(f"{stage}F0") - 1:
                raise pcc.Failure(f"stage {stage} shares in {done}")


def check_received(bundle, folder, microbatches):
    """Checks that the stated received bytes of a rank are those of its collectives, call by call, and of messages."""
    for rank in bundle["ranks"]:
        messages = sum(t["bytes"] * microbatches for t in bundle["transfers"]
                       if t["to_stage"] in rank["stages"] and t["from_stage"] not in rank["stages"])
        entries = [(c, c["count"] * (1 if c["per"] == "step" else microbatches)) for c in bundle["collectives"]
                   if c["stage"] in rank["stages"]]
        size, calls = received.in_step(os.path.join(folder, f"rank-{rank['rank']:03}"))
        if (size, calls) != (sum(c["received_bytes"] * n for c, n in entries), sum(n for _, n in entries)):
            raise pcc.Failure(f"rank {rank['rank']} receives {size} bytes in {calls} collectives, which entries do not say")
        if rank["received_bytes"] != size + messages:
            raise pcc.Failure(f"rank {rank['rank']} receives {size + messages} bytes, not {rank['received_bytes']}")


def check(model, sizes, options, pins, pinned, ranks, microbatches):
    with tempfile.TemporaryDirectory() as folder:
        path, bundle = os.path.join(folder, "m.onnx"), os.path.join(folder, "b.pcc")
        inputs = builder.build(model, path, **sizes).draw_inputs(DIMS)
        expected = oracle.run(path, inputs)
        options = [*pcc.dim_options(dims_of(path, inputs)), *options, "--microbatches", str(microbatches),
                   *(w for p in pins for w in ("--shard", p))]
        given = executed.feed(folder, inputs)
        check_verify(pcc.report("verify", path, *options, *given, "--run"), expected)
        pcc.succeed(path, "-o", bundle, *options)
        inspection = pcc.inspect(bundle)
        check_gathers(inspection, ranks, pinned, microbatches)
        check_actions(inspection, bundle, microbatches)
        check_received(inspection, bundle, microbatches)
        explanation = pcc.explain(path, *options)
        for rank in inspection["ranks"]:
            if explanation["received_bytes"][rank["coordinates"].get("pp", 0)] != rank["received_bytes"]:
                raise pcc.Failure(f"explain says {explanation['received_bytes']} of rank {rank['rank']}'s {rank['received_bytes']}")
        for comm in ("thread", "mpi"):
            executed.compare(executed.outputs(bundle, given, folder, comm), expected)


def taken(bundle):
    return max(r["weight_bytes"] + r["arena_bytes"] for r in bundle["ranks"])


def check_limit():
    """Checks that values that exceed the memory limit are received again in every microbatch."""
    with tempfile.TemporaryDirectory() as folder:
        path, bundle = os.path.join(folder, "m.onnx"), os.path.join(folder, "b.pcc")
        builder.build("mlp", path, **SMALL)
        options = ["--dim", "batch=8", "--dp", "2", "--microbatches", "4", "--shard", "layers.*.1.weight=[dp,-]"]
        pcc.succeed(path, "-o", bundle, *options)
        free = pcc.inspect(bundle)
        pcc.succeed(path, "-o", bundle, *options, "--memory-limit", taken(free) - 1)
        bounded = pcc.inspect(bundle)
        report = pcc.report("verify", path, *options, "--memory-limit", taken(free) - 1)
    if not once(free) or once(bounded):
        raise pcc.Failure(f"{len(once(free))} collectives run once without a limit, {len(once(bounded))} with one")
    sizes = [b["ranks"][0]["received_bytes"] for b in (free, bounded)]
    if sizes[1] != 4 * sizes[0] or taken(bounded) >= taken(free) or not report["equal"]:
        raise pcc.Failure(f"receives {sizes[0]} bytes and takes {taken(free)}, bounded {sizes[1]} and {taken(bounded)}")


def small_graph(index):
    """Returns y = x[:, index] and, without a batch, z = exp(t). Both depend on values that microbatches do not cut."""
    graph = Graph()
    graph.normal("x", 4, 8)
    graph.input("index", np.array([0, 2, index], "i8"))
    graph.normal("t", 5)
    graph.op("Gather", ["x", "index"], ["y"], axis=1)
    graph.op("Exp", ["t"], ["z"])
    return graph


def check_small(index, code):
    """Checks that an index that all microbatches share is verified, and that an output that they share is written once."""
    with tempfile.TemporaryDirectory() as folder:
        graph = small_graph(index)
        path, given = graph.save(folder)
        bundle = os.path.join(folder, "b.pcc")
        pcc.succeed(path, "-o", bundle, "--microbatches", "2")
        done = actions_of(os.path.join(bundle, "rank-000"))
        if done != ["0UNSHARD", "0F0", "0F1"]:
            raise pcc.Failure(f"does {done}")
        got, _, err = pcc.call("run", bundle, *given, "--output", folder, "--comm", "thread")
        if got != code or code and "'index'" not in err:
            raise pcc.Failure(f"exit code {got} for index {index}: {err}")
        if code:
            return
        x, t = (graph.values[n] for n in "xt")
        executed.compare({n: np.load(os.path.join(folder, f"{n}.npy")) for n in "yz"}, {"y": x[:, [0, 2, index]], "z": np.exp(t)})
        executed.verify(path, "--microbatches", "2", *given)


PLANS = {"one-stage": [], "two-stages": ["--pp", "2"], "two-stages-per-rank": ["--pp", "2", "--virtual-stages", "2"]}
MODELS = {"mlp": ("mlp", SMALL, ["layers.*.1.weight=[dp,-]"], r"layers\.\d+\.1\.weight"),
          "gpt2": ("gpt2", SMALL, ["h.*.mlp.c_fc.weight=[dp,-]"], r"h\.\d+\.mlp\.c_fc\.weight")}
for model, (kind, sizes, pins, pinned) in MODELS.items():
    for plan, words in PLANS.items():
        for m in (1, 2, 4):
            CASES[f"{model}-{plan}-{m}"] = lambda a=(kind, sizes, ["--dp", "2", *words], pins, pinned, 2, m): check(*a)
CASES["index"] = lambda: check_small(-1, 0)
CASES["index-outside"] = lambda: check_small(8, 10)
CASES["limit"] = check_limit


if __name__ == "__main__":
    pcc.main(__doc__, CASES)
