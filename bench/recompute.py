#!/usr/bin/env python3
"""Measures what recomputation costs and saves: bytes and operations of a training step per mode. Reads bundles only; no program
runs.

    python3 bench/recompute.py [--model gpt2.onnx] [--plans 'tp=2;pp=4,microbatches=8'] [--dim batch=8] [--dim seq=512]
    python3 bench/recompute.py --layer

Without --model, the model is the GPT-2 of test/models with 12 layers. `arena` is the largest of any rank; operations are those
of all ranks. The memory limits of `auto` lie between the needs of `full` and `none`. --layer compares what one layer keeps
under --tp, a difference of two depths, with the formulas of Korthikanti et al. (2022) in bytes of float32, without the masks of
dropout, which the model lacks."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "test", "models"))
sys.dont_write_bytecode = True
import builder

PCC = os.environ.get("PCC", os.path.join(ROOT, "build", "release", "bin", "pcc"))
TRAIN = ["-q", "--train", "--loss", "cross_entropy(logits, labels)", "--optimizer", "adamw", "--random-weights", "1"]
HIDDEN, HEADS, VOCABULARY = 768, 12, 50257


class Plan:
    """Figures of a bundle: bytes of the rank that needs most, operations of all ranks."""

    def __init__(self, model, options, *more):
        with tempfile.TemporaryDirectory() as folder:
            bundle = os.path.join(folder, "model.pcc")
            subprocess.run([PCC, model, "-o", bundle, *TRAIN, *options, *map(str, more)], check=True)
            facts = json.loads(subprocess.run([PCC, "inspect", bundle, "--json"], check=True, capture_output=True, text=True).stdout)
        self.arena = max(rank["arena_bytes"] for rank in facts["ranks"])
        self.bytes = max(rank["weight_bytes"] + rank["state_bytes"] + rank["arena_bytes"] for rank in facts["ranks"])
        self.flops = sum(stage["flops"] for stage in facts["stages"])
        self.added = sum(stage["recomputed_flops"] for stage in facts["stages"])


def row(plan, mode, one, none):
    print(f"| {plan} | {mode} | {one.arena / 2**20:.0f} MiB | {one.arena / none.arena:.3f} | {one.flops / 1e12:.3f} | "
          f"{one.flops / none.flops:.3f} | {one.added / one.flops:.3f} |", flush=True)


def print_modes(model, plans, dims):
    print("| plan | mode | arena | to none | Tflop | to none | recomputed |\n|---|---|---|---|---|---|---|")
    for plan in plans:
        options = [*dims, *(w for part in plan.split(",") for w in ("--" + part).split("=", 1))]
        modes = {mode: Plan(model, options, "--recompute", mode) for mode in ("none", "selective", "full")}
        none, full = modes["none"], modes["full"]
        for mode, one in modes.items():
            row(plan, mode, one, none)
        for share in (0.75, 0.5, 0.25):
            limit = int(full.bytes + share * (none.bytes - full.bytes))
            row(plan, f"auto, {share:.0%} of the way to none", Plan(model, options, "--recompute", "auto", "--memory-limit", limit), none)


def print_layer(folder, tp, batch, seq):
    options = ["--tp", str(tp), "--preset", "sequence", "--dim", f"batch={batch}", "--dim", f"seq={seq}"] if tp > 1 else \
        ["--dim", f"batch={batch}", "--dim", f"seq={seq}"]
    arenas = {}
    for layers in (4, 8):
        model = os.path.join(folder, f"gpt2-{layers}.onnx")
        builder.build("gpt2", model, layers=layers, hidden=HIDDEN, heads=HEADS, vocabulary=VOCABULARY, positions=seq)
        for mode in ("none", "selective", "full"):
            arenas[layers, mode] = Plan(model, options, "--recompute", mode).arena
    weights = 4 * (12 * HIDDEN * HIDDEN + 13 * HIDDEN) / tp  # the gradients of a layer are part of the arena
    unit = 4 * batch * seq * HIDDEN / tp
    print("\n| mode | elements per token and hidden unit | formula |\n|---|---|---|")
    for mode, formula in (("none", 16), ("selective", 16), ("full", 1)):
        kept = (arenas[8, mode] - arenas[4, mode]) / 4 - weights
        print(f"| {mode}, tp={tp} and sequence | {kept / unit:.2f} | {formula} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model")
    parser.add_argument("--plans", default="tp=2;pp=4,microbatches=8")
    parser.add_argument("--dim", action="append", default=[])
    parser.add_argument("--layer", action="store_true")
    parser.add_argument("--tp", type=int, default=2)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if arguments.layer:
            return print_layer(folder, arguments.tp, batch=4, seq=512)
        model = arguments.model or os.path.join(folder, "gpt2.onnx")
        if not arguments.model:
            builder.build("gpt2", model, layers=12, hidden=HIDDEN, heads=HEADS, vocabulary=VOCABULARY, positions=1024)
        dims = [w for dim in arguments.dim or ["batch=8", "seq=512"] for w in ("--dim", dim)]
        print_modes(model, arguments.plans.split(";"), dims)


if __name__ == "__main__":
    main()
