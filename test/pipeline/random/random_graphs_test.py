#!/usr/bin/env python3
"""Tests random graphs on random meshes with random pins: the ranks compute the same as the model, and values are sharded as
pinned.

    random_graphs_test.py [--first SEED] [--count N] [--executed N] [--jobs N]

If pcc rejects a request (exit 6, naming a pin, or stages or microbatches of small models), the request is dropped and the model
is tried again. Any other error is a failure. The first models are also compiled, executed, and inspected for the shards that
their ranks hold. Prints the seeds that fail with a command that repeats each, the rejected requests, and a closing line."""
import argparse
import collections
import concurrent.futures
import copy
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "many"), os.path.join(os.path.dirname(os.path.dirname(HERE)), "numeric")]
import draw
import many
import pcc

REFUSAL = re.compile(r"sharding '([^']+)=\[[^']*' cannot be met|cannot shard '([^']+)' as|is named '([^']+)'")
CUT_BATCH = re.compile(r"microbatches|of a value that is \[.*\bmb\b")
# Largest share of all pins that may be rejected.
MOST_REFUSED = 0.15


def leave_out(drawn, result):
    """Removes the pin, the stages or the microbatches that an error with exit code 6 names. Returns whether it did."""
    if result["exit"] != 6:
        return False
    error = result["error"]
    if m := REFUSAL.search(error):
        name = next(filter(None, m.groups()))
        kept = [p for p in drawn.pins if p.name != name]
        changed, drawn.pins = len(kept) < len(drawn.pins), kept
        return changed
    word = "pp" if error.startswith("cannot cut the model") else "microbatches" if CUT_BATCH.search(error) else None
    return drawn.plan.pop(word, None) is not None


def misplaced(drawn, held):
    """Returns the first pin that some rank does not satisfy."""
    shapes = drawn.shapes()
    for pin in drawn.pins:
        if held.get(pin.name) is None:
            return f"{pin.text(drawn.mesh)}: no such value is left"
        for rank, got in enumerate(held[pin.name]):
            wanted = pin.runs(shapes[pin.name], drawn.mesh, rank)
            if any(w is not None and w != g for w, g in zip(wanted, got)):
                return f"{pin.text(drawn.mesh)}: rank {rank} holds {got}, not {wanted}"
    return None


class Run:
    """Verifies drawn models until no request is rejected any more."""

    def __init__(self, folder, jobs):
        self.folder, self.jobs = folder, jobs
        self.refusals, self.problems, self.communicating = collections.Counter(), {}, 0

    def path(self, drawn):
        return os.path.join(self.folder, f"{drawn.seed}.onnx")

    def verify(self, models):
        """Returns the results of `models`, in their order. Rejected requests are removed from the models."""
        for drawn in models:
            drawn.write(self.path(drawn))
        results, left = {}, models
        while left:
            again = []
            for drawn, result in zip(left, many.verify([d.case(self.path(d)) for d in left], self.folder, self.jobs)):
                results[drawn.seed] = result
                if leave_out(drawn, result):
                    self.refusals[re.sub(r"'[^']*'|\"[^\"]*\"|\d+", "…", result["error"])] += 1
                    again.append(drawn)
            left = again
        return results

    def judge(self, drawn, result):
        self.communicating += result.get("received", 0) > 0
        if result["exit"]:
            self.problems[drawn.seed] = f"exit {result['exit']}: {result['error']}"
        elif problem := misplaced(drawn, result["held"]):
            self.problems[drawn.seed] = problem


def execute(drawn, path):
    """Compiles and executes a model that verifies. Returns an error."""
    try:
        pcc.succeed("verify", path, *drawn.options(), "--run", "-q")
        pcc.succeed(path, "-o", path + ".pcc", *drawn.options(), "-q")
    except pcc.Failure as failure:
        return str(failure)
    ranks = pcc.inspect(path + ".pcc")["ranks"]
    held = {}
    for rank in ranks:
        for entry in rank["parameters"] + rank["inputs"] + rank["outputs"]:
            held.setdefault(entry["name"], []).append(entry["runs"])
    seen = copy.copy(drawn)
    seen.pins = [p for p in drawn.pins if p.name in held]
    return misplaced(seen, held)


def report(run, models, pins):
    for drawn in models:
        if drawn.seed in run.problems:
            print(f"FAIL seed {drawn.seed}: {run.problems[drawn.seed]}\n"
                  f"  {os.path.relpath(HERE, many.ROOT)}/draw.py {drawn.seed} -o model.onnx; {drawn.command('model.onnx')}")
    refused = sum(run.refusals.values())
    for reason, count in run.refusals.most_common():
        print(f"{count} refused: {reason}")
    print(f"{len(models)} graphs, of which {run.communicating} communicate, {len(run.problems)} failed; {pins} pins, {refused} refusals")
    return 1 if run.problems or refused > MOST_REFUSED * pins else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=0, metavar="SEED")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--executed", type=int, default=40)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    models = [draw.draw(s) for s in range(arguments.first, arguments.first + arguments.count)]
    pins = sum(len(d.pins) for d in models)
    with tempfile.TemporaryDirectory() as folder:
        run = Run(folder, arguments.jobs)
        for drawn, result in zip(models, run.verify(models).values()):
            run.judge(drawn, result)
        executed = [d for d in models[:arguments.executed] if d.seed not in run.problems]
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            for drawn, problem in zip(executed, pool.map(lambda d: execute(d, run.path(d)), executed)):
                if problem:
                    run.problems[drawn.seed] = problem
    return report(run, models, pins)


if __name__ == "__main__":
    sys.exit(main())
