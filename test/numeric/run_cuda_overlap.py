#!/usr/bin/env python3
"""Tests which transfers overlap with computation: gradients, sharded weights, values that pipelines send, inputs of the next
step. The fake GPUs (test/runtime/fake) record what every task waits for. Two tasks may run at once if neither waits for the
other.

    run_cuda_overlap.py [--only GLOB] [--every N] [--jobs N]
"""
import glob
import os
import tempfile
from collections import Counter, namedtuple

import pcc
from run_cuda import ADAMW, TARGET, builder, fake

CASES = {}
# `ended`: for every stream, the number of its tasks that have ended before.
Task = namedtuple("Task", "stream number name ended")
REPLAY = 2


def tasks_of(path):
    """Returns the tasks of one replay of a step."""
    with open(path) as file:
        lines = [line.rstrip("\n").split("\t") for line in file]
    return [Task(int(w[1]), int(w[2]), w[3], list(map(int, w[4:]))) for w in lines if int(w[0]) == REPLAY]


def is_before(task, other):
    return task.stream < len(other.ended) and task.number <= other.ended[task.stream]


def beside(tasks, name):
    """Returns for each task of that name how much computes at the same time."""
    work = [t for t in tasks if t.name.startswith(("pcc_k_", "a product", "attention"))]
    return [sum(not is_before(t, w) and not is_before(w, t) for w in work) for t in tasks if t.name == name]


def replays(options):
    """Yields the tasks of each rank that trains a GPT-2 of four blocks."""
    with tempfile.TemporaryDirectory() as folder:
        path, bundle = os.path.join(folder, "model.onnx"), os.path.join(folder, "model.pcc")
        builder.build("gpt2", path, layers=4)
        pcc.succeed(path, "-o", bundle, *TARGET, "--dim", "batch=8", "--dim", "seq=16", "--train", "--loss", "mse(logits, labels)", *ADAMW, *options)
        pcc.succeed("run", bundle, "--random-inputs", "1", "--steps", "4", "-q", env=fake(folder, "list=1"))
        files = glob.glob(os.path.join(folder, "tasks.*"))
        if len(files) != pcc.inspect(bundle)["world"]:
            raise pcc.Failure(f"tasks are listed in {files}")
        return [tasks_of(path) for path in files]


def travels(plan, least):
    """Tests that, for each kind in `least`, that share of the tasks overlaps with a computation."""
    for tasks in replays(pcc.plan_options(plan)):
        for name, share in least.items():
            counts = beside(tasks, name)
            if not counts or sum(map(bool, counts)) < share * len(counts):
                raise pcc.Failure(f"beside {len(counts)} times {name}: {dict(Counter(counts))} tasks compute")


def waits():
    """Tests that a transfer whose result the next op needs does not overlap."""
    for tasks in replays(["--tp", "2"]):
        if any(counts := beside(tasks, "all_reduce")) or not counts:
            raise pcc.Failure(f"beside {len(counts)} times all_reduce: {counts} tasks compute")


# One reduction is that of the loss, and the last gradient is complete only when the backward pass ends.
CASES["gradients"] = lambda: travels("dp=2", {"all_reduce": 0.9, "a copy from the host": 0.6})
CASES["gradients of microbatches"] = lambda: travels("dp=2,microbatches=2", {"all_reduce": 0.9})
CASES["weights in parts"] = lambda: travels("dp=2,preset=zero3", {"all_gather": 0.9, "reduce_scatter": 0.9})
CASES["a pipeline"] = lambda: travels("pp=2,microbatches=4", {"a transfer": 0.6})
CASES["an interleaved pipeline"] = lambda: travels("pp=2,virtual-stages=2,microbatches=4,schedule=interleaved", {"a transfer": 0.6})
CASES["columns and rows"] = waits

if __name__ == "__main__":
    pcc.main(__doc__, CASES)
