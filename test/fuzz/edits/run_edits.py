#!/usr/bin/env python3
"""Edits single tokens of the dumps of 2-prepare to 6-schedule, and resumes from them.

An edit of how the model is divided (shardings, axes, stages, actions, pins, shapes, names, attributes) gives a bundle that `pcc verify`
finds equal, or an error that names a place of the dump: the dump breaks a rule (3), or asks for something that cannot be met (6).
An edit of what is computed (op, operand, constant, positions) gives a bundle, too, or breaks a rule. `pcc verify` finds it equal to the edited
dump of 2-prepare to 4-shard. Of a later dump, verify compares with the model, and names the node that differs, the optimizer step or the loss (15). Edit N of a
dump is always the same: --only DUMP --first N --count 1 --keep DIR repeats it.

    run_edits.py [--count N] [--first N] [--jobs N] [--only GLOB] [--keep DIR]
"""
import argparse
import collections
import concurrent.futures
import fnmatch
import os
import random
import re
import sys
import tempfile

import edit

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path[:0] = [os.path.join(ROOT, "test", "numeric"), os.path.join(ROOT, "test", "models")]
import builder
import pcc

SECONDS = 120
TRAIN = ["--train", "--loss"]
#            model, its sizes,                                                 plan
MODELS = {
    "mlp": ("mlp", dict(layers=2, hidden=8, inner=16, classes=6), ["--tp", "2", "--pp", "2", "--microbatches", "2"]),
    "mlp-training": ("mlp", dict(layers=2, hidden=8, inner=8, classes=4),
                     [*TRAIN, "mse(y, labels)", "--optimizer", "adamw", "--dp", "2", "--tp", "2", "--pp", "2", "--preset", "zero1"]),
    "gpt2": ("gpt2", dict(layers=2, hidden=8, heads=2, vocabulary=11, positions=8), ["--dim", "seq=4", "--tp", "2", "--pp", "2"]),
    "gpt2-training": ("gpt2", dict(layers=2, hidden=8, heads=2, vocabulary=11, positions=8),
                      ["--dim", "seq=4", *TRAIN, "cross_entropy(logits, labels)", "--tp", "2", "--pp", "2", "--microbatches", "4"]),
    "llama": ("llama", dict(layers=1, hidden=16, heads=4, kv_heads=2, inner=12, vocabulary=10), ["--dim", "seq=4", "--cp", "2", "--tp", "2"]),
    "bert": ("bert", dict(layers=1, hidden=8, heads=2, vocabulary=11, positions=8), ["--dim", "seq=4", "--tp", "2", "--preset", "megatron"]),
    "resnet": ("resnet", dict(stem=4, widths=(4, 8), depths=(1, 1), classes=5, image=16), ["--cp", "2", "--tp", "2"]),
    "moe": ("moe", dict(layers=1, hidden=8, inner=8, experts=4, seq=4, classes=6), ["--dp", "2", "--ep", "2"]),
}


class Dump:
    def __init__(self, model, phase, path):
        self.name, self.phase = f"{model}/{phase}", phase
        with open(path) as file:
            self.text = file.read()

    def edited(self, number):
        """Returns the kind of edit `number`, its line, and the text. Every third edit changes what is computed."""
        generator = random.Random(f"{self.name} {number}")
        return edit.edit(generator, self.text, edit.COMPUTES if number % 3 == 2 else edit.PLANS)


def dumps(folder, only):
    found = []
    for name, (model, sizes, plan) in MODELS.items():
        path, ir = os.path.join(folder, name, "model.onnx"), os.path.join(folder, name, "ir")
        phases = [n for n in range(2, 7) if fnmatch.fnmatch(f"{name}/{n}", only)]
        if phases:
            builder.build(model, path, **sizes)
            pcc.succeed(path, "--dim", "batch=8", *plan, "-q", "--stop-after", "6", f"--dump-ir={ir}")
        for file in sorted(os.listdir(ir)) if phases else []:
            if int(file[0]) in phases:
                found.append(Dump(name, int(file[0]), os.path.join(ir, file)))
    return found


def is_of_positions(kind, line, text):
    """Returns whether the edit of a sharding changes nothing but what dist.global_index computes: positions of elements."""
    lines = text.split("\n")
    alias = re.match(r"(#\w+) = #dist\.sharding", lines[line])
    readers = [other for i, other in enumerate(lines) if i != line and re.search(rf"{alias[1]}\b", other)] if alias else [lines[line]]
    return kind == "sharding" and bool(readers) and all("dist.global_index" in reader for reader in readers)


def fault(dump, kind, line, text, path):
    """Returns what is wrong with how pcc treats the edited dump `text` at `path`, or None, and the exit codes."""
    # Another name of a weight that is read is another operand, and that of one that is written gives it another value.
    names_other = kind == "name" and re.search(r"graph\.[gs]et_parameter @", text.split("\n")[line])
    computes = names_other or is_of_positions(kind, line, text) or kind in {k.__name__ for k in edit.COMPUTES}
    bundle = os.path.join(os.path.dirname(path), "edited.pcc")
    code, _, said = pcc.call(path, "-q", "-o", bundle, timeout=SECONDS)
    if code not in (0, 3, 6):
        return f"exit code {code}: {said.strip()[:500]}", str(code)
    if code and not re.match(r"pcc: error: \S*edited\.mlir:\d+:\d+: ", said):
        return f"exit code {code} without a place: {said.strip()[:500]}", str(code)
    if code and "please report" in said:
        return f"exit code {code} asks for a report: {said.strip()[:500]}", str(code)
    if code:
        return None, str(code)
    code, _, said = pcc.call("verify", path, "-q", timeout=SECONDS)
    allowed = (0, 10, 15) if computes and dump.phase > 4 else (0, 10) if computes else (0, 3)
    if code not in allowed:
        return f"verify ends in {code}: {said.strip()[:500]}", f"0 {code}"
    if code == 15 and not re.search(r"node '|in the optimizer step|in the loss", said):
        return f"verify names no place: {said.strip()[:500]}", f"0 {code}"
    return None, f"0 {code}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", default="*", help="dumps, as gpt2/4")
    parser.add_argument("--keep", metavar="DIR", help="keeps the dumps whose edits failed")
    a = parser.parse_args()
    ends, failed = collections.Counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        chosen = dumps(folder, a.only)

        def run(number):
            dump = chosen[number % len(chosen)]
            kind, line, text = dump.edited(number)
            with tempfile.TemporaryDirectory(dir=folder) as scratch:
                path = os.path.join(scratch, "edited.mlir")
                with open(path, "w") as file:
                    file.write(text)
                try:
                    problem, end = fault(dump, kind, line, text, path)
                except pcc.Failure as failure:
                    problem, end = str(failure), "late"
                if problem:
                    print(f"FAIL {dump.name} {number}, {kind} in line {line + 1}: {problem}", flush=True)
                    if a.keep:
                        os.makedirs(a.keep, exist_ok=True)
                        os.rename(path, os.path.join(a.keep, f"{dump.name.replace('/', '-')}-{number}.mlir"))
                return kind, end, problem
        with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
            for kind, end, problem in pool.map(run, range(a.first, a.first + a.count)):
                ends[kind, end] += 1
                failed += problem is not None
    for (kind, end), count in sorted(ends.items()):
        print(f"{kind}: {count} ended in {end}")
    print(f"{a.count - failed} passed, {failed} failed")
    sys.exit(1 if failed or not a.count else 0)


if __name__ == "__main__":
    main()
