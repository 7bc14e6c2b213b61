#!/usr/bin/env python3
"""Compares a training step of pcc on one rank with PyTorch, in one interleaved run: seconds per step and ratios to PyTorch
eager.

    bench/setup && build/bench-venv/bin/python bench/training.py -o training.json
    … --layers 4 --batch 4 --rounds 3 --steps 3

The model is GPT-2 of test/models with AdamW in float32, on one thread. The losses of the first steps are compared before
anything is timed. Each variant is a process of its own; in a round, each variant executes some steps, in random order. Ratios
are computed within a round, and the medians over rounds are reported, because absolute times drift. CPU seconds are a second
measure, which other processes disturb less."""
import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path.insert(0, os.path.join(ROOT, "test", "models"))
sys.dont_write_bytecode = True
import builder
import numpy as np
import oracle
from asked import Asked

PCC = os.environ.get("PCC", os.path.join(ROOT, "build", "release", "bin", "pcc"))
BASE = "torch-eager"
PEERS = ["torch-eager", "torch-eager-fused", "torch-compile"]
WARMUP = 2           # steps in which a new process touches memory for the first time
COMPARED = 5
TOLERANCE = 1e-3     # for the losses of other variants, relative to BASE


class Peer(Asked):
    """A process that answers with loss, seconds and CPU seconds of each step."""

    def losses(self, count):
        return [loss for loss, _, _ in self.ask(count)]

    def steps(self, count):
        """Executes steps. Returns the seconds and CPU seconds of one step."""
        return [statistics.median(values) for values in list(zip(*self.ask(count)))[1:]]


class Pcc:
    """`pcc run` of a bundle with one thread per rank, as a new process each time. Its own report has the time of each step. CPU
    seconds are those of all its processes minus those of a run that only executes the warm-up steps."""

    def __init__(self, folder, dims, plan=(), comm="thread", name="model"):
        self.bundle, self.data = os.path.join(folder, f"{name}.pcc"), os.path.join(folder, "data")
        self.comm = comm
        options = [w for k, v in dims.items() for w in ("--dim", f"{k}={v}")]
        subprocess.run([PCC, os.path.join(folder, "model.onnx"), "-o", self.bundle, "-q", "--train", "--loss",
                        "cross_entropy(logits, labels)", "--optimizer", "adamw", "--lr", "0.001", "--weight-decay", "0.01",
                        *options, *plan], check=True)

    def run(self, count, *options):
        """Returns the report and the CPU seconds."""
        with tempfile.TemporaryDirectory() as folder:
            report = os.path.join(folder, "report.json")
            process = subprocess.Popen([PCC, "run", self.bundle, "--data", self.data, "--steps", str(count), "--comm", self.comm,
                                        "--threads", "1", "-q", "--report", report, *options], stdout=subprocess.DEVNULL)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode:
                raise SystemExit("pcc run failed")
            with open(report) as f:
                return json.load(f), usage.ru_utime + usage.ru_stime

    def losses(self, count):
        return [step["loss"] for step in self.run(count)[0]["steps"]]

    def steps(self, count):
        fewer = self.run(WARMUP)[1]
        report, more = self.run(WARMUP + count)
        return statistics.median(s["seconds"] for s in report["steps"][WARMUP:]), (more - fewer) / count

    def end(self):
        pass


def prepare(arguments, folder, **options):
    """Writes the model and its data. Returns the sizes of its dims and the number of its weights."""
    dims = {"batch": arguments.batch, "seq": arguments.seq}
    graph = builder.build("gpt2", os.path.join(folder, "model.onnx"), external=True, layers=arguments.layers, hidden=arguments.hidden,
                          heads=arguments.heads, vocabulary=arguments.vocabulary, positions=arguments.seq, **options)
    tokens = np.random.default_rng(3).integers(0, arguments.vocabulary, [COMPARED, arguments.batch, arguments.seq + 1])
    oracle.save(os.path.join(folder, "data"), {"input_ids": tokens[..., :-1], "labels": tokens[..., 1:]})
    return dims, sum(int(np.prod(w.shape)) for w in graph.weights)


def differences(variants, base):
    """Returns the difference of the losses of the first steps from those of `base`. The time of a wrong program would mean
    nothing."""
    losses = {name: np.array(variant.losses(COMPARED)) for name, variant in variants.items()}
    errors = {name: float(np.max(np.abs(value - losses[base]) / losses[base])) for name, value in losses.items()}
    for name, error in errors.items():
        if not error < TOLERANCE:
            raise SystemExit(f"{name} has losses {losses[name]}, {base} {losses[base]}")
    return errors


def interleave(variants, arguments):
    """Returns per round the results of steps() of each variant."""
    rounds = []
    for _ in range(arguments.rounds):
        rounds.append({name: variants[name].steps(arguments.steps) for name in random.sample(list(variants), len(variants))})
        print(" ".join(f"{n} {wall:.3f} ({cpu:.3f})" for n, (wall, cpu) in sorted(rounds[-1].items())), file=sys.stderr, flush=True)
    for v in variants.values():
        v.end()
    return rounds


def rows_of(variants, rounds, base, errors):
    median = lambda of: statistics.median(map(of, rounds))
    return [dict(variant=v, seconds=median(lambda r: r[v][0]), cpu_seconds=median(lambda r: r[v][1]),
                 ratio=median(lambda r: r[v][0] / r[base][0]), cpu_ratio=median(lambda r: r[v][1] / r[base][1]),
                 loss_error=errors[v]) for v in variants]


def print_rows(rows):
    for row in rows:
        print(f"{row['variant']:18} {1e3 * row['seconds']:8.1f} ms  ratio {row['ratio']:.2f}  CPU {1e3 * row['cpu_seconds']:8.1f} ms  "
              f"ratio {row['cpu_ratio']:.2f}  losses differ by {row['loss_error']:.1e}")


def add_options(parser, **defaults):
    for name, default in defaults.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("-o", "--output", metavar="FILE.json")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser, layers=6, hidden=384, heads=6, vocabulary=8192, batch=8, seq=128, rounds=7, steps=4)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pcc-bench-") as folder:
        dims, weights = prepare(arguments, folder)
        print(f"{weights / 1e6:.1f} M weights", flush=True)
        files = [os.path.join(folder, name) for name in ("model.onnx", "data")]
        variants = {"pcc": Pcc(folder, dims)} | {v: Peer("training_peer.py", v, *files, arguments.heads) for v in PEERS}
        errors = differences(variants, BASE)
        rows = rows_of(variants, interleave(variants, arguments), BASE, errors)
    print_rows(rows)
    if arguments.output:
        with open(arguments.output, "w") as f:
            json.dump(rows, f, indent=1)


if __name__ == "__main__":
    main()
