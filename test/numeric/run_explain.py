#!/usr/bin/env python3
"""Tests that `pcc explain` agrees with the bundle: its collectives are those of `inspect`, and their bytes are those that ranks
receive in the programs that they execute. Its output for real exports is stored as text beside this file.

    run_explain.py [--only GLOB] [--update] [--jobs N]

--update writes the texts anew."""
import argparse
import fnmatch
import json
import os
import sys
import tempfile

import pcc
import received
from run_numeric import dims_of, place

GOLDENS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "explain")
KINDS = {"AllReduce": "all_reduce", "AllGather": "all_gather", "ReduceScatter": "reduce_scatter", "AllToAll": "all_to_all",
         "Permute": "permute", "Exchange": "exchange"}

BYTES = [("mlp", "tp=2"), ("mlp-odd", "tp=3"), ("gpt2", "tp=4"), ("gpt2", "tp=2,pp=2,microbatches=2"), ("gpt2-odd", "tp=3"),
         ("llama-odd", "dp=2,tp=2"), ("bert", "cp=2,tp=2"), ("moe", "tp=4"), ("resnet", "dp=2,tp=2"), ("mobilenet", "tp=3"),
         ("vit", "tp=8")]
# Training, in which stages also exchange values once per step, such as parts of the gradient's norm.
TRAINING = ["--train", "--loss", "cross_entropy(logits, labels)"]
STEPS = [("gpt2", "pp=2,microbatches=4", [*TRAINING, "--clip-norm", "1"]), ("gpt2-odd", "pp=4,microbatches=4", TRAINING),
         ("gpt2", "pp=2,microbatches=4", [*TRAINING, "--schedule", "interleaved"])]

# Questions about the real exports. The texts are named after the models.
TEXTS = {
    "gpt2-torchscript": "--tp 2", "gpt2-dynamo": "--tp 4", "gpt2-dynamo-opset23": "--dp 2 --tp 2", "bert-torchscript": "--tp 2",
    "bert-dynamo": "--cp 2 --tp 2", "llama-dynamo": "--tp 2 --pp 2", "llama-dynamo-opset24": "--tp 4",
    "resnet-torchscript": "--tp 2", "resnet-dynamo": "--dp 2 --tp 2", "mlp-torchscript": "--tp 2",
    "moe-dense-dynamo": "--tp 4", "moe-einsum-dynamo": "--mesh ep=4", "moe-dropping-dynamo": "--mesh ep=2,t=2",
}


def check_equal(got, want, what):
    if got != want:
        raise pcc.Failure(f"{what}: explain says {got}, not {want}")


def check_choices(entry):
    """Checks that a rejected choice is not allowed or costs no less; costs compare bytes, then calls."""
    for decision in [entry["decision"] and {**entry["decision"], "alternatives": entry["alternatives"]}, *entry["further_decisions"]]:
        for other in (decision or {}).get("alternatives", []):
            cost, least = ((c["received_bytes"], c["calls"]) for c in (other, decision))
            if not other["refused"] and cost < least:
                raise pcc.Failure(f"'{other['strategy']}' costs {cost}, '{decision['strategy']}' was taken for {least} at {entry['node']}")


def check_cause(entry):
    cause = entry["cause"]
    if not cause or not cause["uses"] or not cause["op"]:
        raise pcc.Failure(f"{entry['kind']} at {entry['node']} has no cause")


def check_bytes(name, plan, training=()):
    with tempfile.TemporaryDirectory() as folder:
        path, inputs = place(name, folder)
        options = [*pcc.dim_options(dims_of(path, inputs)), *pcc.plan_options(plan), *training]
        bundle = os.path.join(folder, "model.pcc")
        pcc.succeed(path, "-o", bundle, *options)
        inspection = pcc.inspect(bundle)
        explanation = pcc.explain(path, *options)
        for field in ("world", "mesh", "target", "microbatches", "schedule", "transfers"):
            check_equal(explanation[field], inspection[field], field)
        base = inspection["collectives"]
        check_equal([{k: e[k] for k in b} for e, b in zip(explanation["collectives"], base)], base, "collectives")
        check_equal(len(explanation["collectives"]), len(base), "collectives")
        for position, received_bytes in enumerate(explanation["received_bytes"]):
            total = sum(e["received_bytes"] for e in explanation["totals"] if e["position"] == position)
            check_equal(total, received_bytes, f"totals of position {position}")
        for rank in inspection["ranks"]:
            position = rank["coordinates"].get("pp", 0)
            check_equal(explanation["received_bytes"][position], rank["received_bytes"], f"rank {rank['rank']}")
            check_received(explanation, rank, os.path.join(bundle, f"rank-{rank['rank']:03}"))
        for entry in explanation["collectives"]:
            check_cause(entry)
            check_choices(entry)
        check_price(explanation, inspection)
        check_cuts(explanation)
        check_tree(pcc.succeed("explain", path, "-q", *options), explanation)


def check_price(explanation, inspection):
    """Compares the prices with those of the bundle, and those of remedies with the price of the plan."""
    price, step = explanation["price"], inspection["planned_step"]
    check_equal(round(price["seconds"], 9), step["seconds"], "seconds of a step")
    check_equal(price["received_bytes"], max(explanation["received_bytes"]), "bytes of a step")
    check_equal(price["memory_bytes"], max(r["weight_bytes"] + r["state_bytes"] + r["arena_bytes"] for r in inspection["ranks"]), "memory")
    check_equal([stage["flops"] for stage in explanation["stages"]], [stage["flops"] for stage in inspection["stages"]], "work of stages")
    for remedy in [explanation["other_cut"], *(lint["remedy"] for lint in explanation["lints"])]:
        if remedy and remedy["price"] == price:
            raise pcc.Failure(f"{remedy['option']} changes nothing")


def check_cuts(explanation):
    """Checks that each cut has the price of another place, or the reason why it has none, and that options name nodes."""
    for cut in explanation["cuts"]:
        has_price = cut["other"] is not None and cut["other"]["price"] is not None
        if not cut["optimizer_step"] and not has_price and not cut["other_reason"]:
            raise pcc.Failure(f"no price of the cut between stages {cut['from_stage']} and {cut['to_stage']}")
    if "--stage-at NAME" in json.dumps(explanation):
        raise pcc.Failure("--stage-at without a node")


def check_tree(text, explanation):
    """Checks that the tree fits a screen, and shows no more entries than it says."""
    lines = text.splitlines()
    if len(lines) > 40:
        raise pcc.Failure(f"the tree has {len(lines)} lines")
    entries = [line for line in lines if " x " in line or "cut between" in line]
    if len(entries) > 4 or (explanation["collectives"] and not entries):
        raise pcc.Failure(f"the tree shows {len(entries)} entries")


def check_received(explanation, rank, executable):
    """Compares, position by position, the program with the statements of explain about its stages."""
    measured = [(KINDS[kind], size) for kind, size in received.of_program(executable)]
    told = sorted([(e["kind"], e["received_bytes"]) for e in explanation["collectives"] if e["stage"] in rank["stages"]
                   for _ in range(e["count"])])
    check_equal([kind for kind, _ in told], sorted(kind for kind, _ in measured), "kinds")
    if all(size is not None for _, size in measured):
        check_equal(told, sorted((kind, int(size)) for kind, size in measured), f"bytes that rank {rank['rank']} receives")


def check_text(model, options, update):
    path = os.path.join(pcc.REAL_MODELS, model, "model.onnx")
    _, inputs = place(f"real:{model}", None)
    options = [*options.split(), *pcc.dim_options(dims_of(path, inputs))]
    for entry in pcc.explain(path, *options)["collectives"]:
        check_cause(entry)
        check_choices(entry)
    got = pcc.succeed("explain", path, "-q", "-v", *options)
    golden = os.path.join(GOLDENS, f"{model}.txt")
    if update:
        with open(golden, "w") as f:
            f.write(got)
    with open(golden) as f:
        want = f.read()
    for number, (g, w) in enumerate(zip(got.splitlines(), want.splitlines()), 1):
        if g != w:
            raise pcc.Failure(f"{golden}:{number}: got '{g}', expected '{w}'")
    check_equal(len(got.splitlines()), len(want.splitlines()), "lines")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="*")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    cases = [(f"bytes {name} {plan}", check_bytes, (name, plan)) for name, plan in BYTES]
    cases += [(f"training {name} {plan} {training[-1]}", check_bytes, (name, plan, training)) for name, plan, training in STEPS]
    if os.path.isdir(pcc.REAL_MODELS):
        cases += [(f"text {m} {o}", check_text, (m, o, arguments.update)) for m, o in TEXTS.items()]
    return pcc.run_cases([c for c in cases if fnmatch.fnmatch(c[0], arguments.only)], arguments.jobs)


if __name__ == "__main__":
    sys.exit(main())
