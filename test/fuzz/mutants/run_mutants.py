#!/usr/bin/env python3
"""Damages everything that pcc reads and has written itself: dumps of all phases, bundles and schedules. A command that reads a damaged file
ends in time and in bounded memory, with a documented exit code: never as a defect (1), by a signal, or with control characters in
its message. Mutant N of a target is always the same, so that a failure can be repeated: --only TARGET --first N --count 1 --keep DIR.

    run_mutants.py [--count N] [--first N] [--jobs N] [--only GLOB] [--keep DIR]
"""
import argparse
import concurrent.futures
import fnmatch
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

import mutate

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path[:0] = [os.path.join(ROOT, "test", "numeric"), os.path.join(ROOT, "test", "models")]
import builder
import pcc

SECONDS, MEMORY = 60, 4 << 30
#           model, its sizes,                              plan
MODELS = {
    "inference": ("mlp", {}, ["--tp", "2", "--pp", "2", "--microbatches", "2"]),
    "training": ("mlp", dict(layers=2, hidden=8, inner=8), ["--train", "--loss", "mse(y, labels)", "--optimizer", "adamw", "--dp", "2", "--tp", "2",
                                                            "--pp", "2", "--microbatches", "2"]),
    "attention": ("gpt2", dict(layers=1, hidden=8, heads=2, vocabulary=11, positions=8), ["--dim", "seq=4", "--cp", "2", "--tp", "2"]),
    "convolution": ("resnet", dict(widths=(8, 16), depths=(1, 1)), ["--cp", "2", "--tp", "2"]),
    "experts": ("moe", dict(layers=1, hidden=8, inner=8, experts=4, seq=4, classes=6), ["--dp", "2", "--ep", "2"]),
}
COMPILES = {0, 2, 3, 4, 5, 6, 7}


class Target:
    """A file to damage, and the command that reads it. `place` stores a damaged copy in a folder and returns the command."""

    def __init__(self, name, path, place, codes, weight):
        self.name, self.place, self.codes, self.weight = name, place, codes, weight
        with open(path, "rb") as file:
            self.data = file.read()

    def mutant(self, number):
        generator = random.Random(f"{self.name} {number}")
        data = self.data
        while data == self.data:
            data = mutate.mutate(generator, data)
        return data


def store(folder, name, data):
    path = os.path.join(folder, name)
    if os.path.lexists(path):
        os.remove(path)
    with open(path, "wb") as file:
        file.write(data)
    return path


def dumps_of(name, folder):
    """Targets for the dumps of a model: the next phase reads each of them, and at times `verify` or `explain`."""
    for dump in sorted(f for f in os.listdir(folder) if f.endswith(".mlir")):
        phase = int(dump[0])

        def place(scratch, data, number, phase=phase):
            path = store(scratch, "edited.mlir", data)
            kind = random.Random(number).random()
            if kind < 0.1 and phase < 7:
                return ["verify", path, "-q"]
            if kind < 0.2:
                return ["explain", path, "-q"]
            return [path, "-q", "-o", os.path.join(scratch, "again.pcc"), *(["--stop-after", str(phase + 1)] if phase < 7 else [])]
        yield Target(f"{name}/{dump}", os.path.join(folder, dump), place, COMPILES | {15}, 4 if phase < 6 else 2)


def bundle_files(bundle):
    """Targets for the files of a bundle, all of which are sealed: `pcc run` reads each of them, `inspect` reads bundle.json, and `report` reads explain.json, too."""
    files = ("bundle.json", "explain.json", "rank-001", "run")
    for name in files:
        def place(scratch, data, number, name=name):
            copy = os.path.join(scratch, "copy.pcc")
            if not os.path.exists(copy):
                shutil.copytree(bundle, copy)
            for file in files:
                shutil.copy(os.path.join(bundle, file), copy)
            path = store(copy, name, data)
            os.chmod(path, 0o755)
            given = ["--random-inputs", "1", "--comm", "thread", "-q"]
            if name == "explain.json":
                return ["report", copy, "-o", os.path.join(scratch, "page.html")]
            return ["inspect", copy] if name == "bundle.json" and number % 2 else ["run", copy, *given]
        yield Target(f"bundle/{name}", os.path.join(bundle, name), place, {11}, 1)


def schedule(folder, model, options, bundle):
    path = os.path.join(folder, "table.csv")
    with open(path, "w") as file:
        file.write(pcc.succeed("inspect", bundle, "--schedule"))

    def place(scratch, data, number):
        return [model, *options, "--schedule", store(scratch, "table.csv", data), "--stop-after", "1", "-q"]
    return Target("schedule", path, place, COMPILES, 2)


def targets(folder):
    """Compiles the models and returns all targets."""
    found = []
    for name, (model, sizes, plan) in MODELS.items():
        path, ir, bundle = (os.path.join(folder, name, part) for part in ("model.onnx", "ir", "model.pcc"))
        builder.build(model, path, **sizes)
        options = ["--dim", "batch=8", *plan]
        pcc.succeed(path, *options, "-q", "-o", bundle, f"--dump-ir={ir}")
        found += dumps_of(name, ir)
        if name == "inference":
            found += bundle_files(bundle)
        if name == "training":
            found.append(schedule(folder, path, options, bundle))
    return found


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def fault(target, number, scratch):
    """Runs one mutant; returns what is wrong, or None."""
    words = target.place(scratch, target.mutant(number), number)
    process = subprocess.Popen([pcc.PCC, *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=limit,
                               env={**os.environ, "TMPDIR": scratch}, start_new_session=True)
    try:
        said = process.communicate(timeout=SECONDS)[1]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return f"still running after {SECONDS} s"
    text = said.decode(errors="replace")
    # A size that was changed may need more memory than there is, which is exit code 13.
    needs_memory = "out of memory" in text
    codes = target.codes | {13} if needs_memory else target.codes
    if process.returncode not in codes or "crashed" in text and not needs_memory:
        return f"exit code {process.returncode}: {text.strip()[:400]}"
    if any(ord(c) < 32 and c != "\n" or ord(c) == 127 for c in text):
        return f"control characters: {text.strip()[:400]!r}"
    if process.returncode and "pcc: error: " not in text:
        return f"exit code {process.returncode} without a message: {text.strip()[:400]}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", default="*")
    parser.add_argument("--keep", metavar="DIR")
    a = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        chosen = [t for t in targets(folder) if fnmatch.fnmatch(t.name, a.only)]
        places = [t for t in chosen for _ in range(t.weight)]
        mutants = [(places[n % len(places)], n) for n in range(a.first, a.first + a.count)]

        def run(part):
            failed = 0
            with tempfile.TemporaryDirectory(dir=folder) as scratch:
                for target, number in mutants[part::a.jobs]:
                    if problem := fault(target, number, scratch):
                        failed += 1
                        print(f"FAIL {target.name} {number}: {problem}", flush=True)
                        if a.keep:
                            os.makedirs(a.keep, exist_ok=True)
                            store(a.keep, f"{target.name.replace('/', '-')}-{number}", target.mutant(number))
            return failed
        with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
            failed = sum(pool.map(run, range(a.jobs)))
    print(f"{len(mutants) - failed} passed, {failed} failed")
    sys.exit(1 if failed or not mutants else 0)


if __name__ == "__main__":
    main()
