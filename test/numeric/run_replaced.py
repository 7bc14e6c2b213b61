#!/usr/bin/env python3
"""Tests that commands replace bundles and files as a whole, and delete nothing that belongs to the user.

    run_replaced.py [--only GLOB] [--every N] [--jobs N]

A command whose result replaces an older one is killed before one of its changes of the file system (a write is torn), at every
such change in turn, or at every N-th with --every N. Under the name there must be all of the old result or all of the new one.
The next command removes what the killed ones left.
"""
import argparse
import fnmatch
import hashlib
import itertools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

import numpy as np

import pcc
sys.path.insert(0, os.path.join(pcc.ROOT, "test", "models"))
import builder

CASES = {}
EVERY = 1


def case(function):
    CASES[function.__name__] = function
    return function


def content(path):
    """Returns the hash of a file, or of each file in a folder; None if nothing is there. Files of a command that was killed, whose
    names have `.part`, do not count: the next command removes them."""
    def read(file):
        with open(file, "rb") as f:
            return hashlib.sha256(f.read()).hexdigest()
    if os.path.isdir(path):
        return {os.path.relpath(os.path.join(folder, name), path): read(os.path.join(folder, name))
                for folder, _, names in os.walk(path) for name in names if ".part" not in name}
    return read(path) if os.path.exists(path) else None


def litter(folder):
    return [name for _, folders, names in os.walk(folder) for name in folders + names if ".part" in name]


def remove(path):
    """Removes a file or a bundle; of another folder, its files."""
    if not os.path.isdir(path):
        os.remove(path)
    elif path.endswith(".pcc"):
        shutil.rmtree(path)
    else:
        for name in os.listdir(path):
            os.remove(os.path.join(path, name))


def check_kills(folder, target, old, new, may_be=lambda found: False):
    """Tests the command `new` over the result of the command `old`; both are arguments of pcc and write `target`. After a kill,
    `target` is the old or the new result, or what `may_be` allows."""
    pcc.succeed(*new)
    after = content(target)
    remove(target)
    pcc.succeed(*old)
    before = content(target)
    environment = {"LD_PRELOAD": os.environ["CRASH_AT_LIBRARY"], "CRASH_FOLDER": folder}
    kills = 0
    for number in itertools.count(1, EVERY):
        code, _, err = pcc.call(*new, env={**environment, "CRASH_AT": str(number)})
        found = content(target)
        if found not in (before, after) and not may_be(found):
            raise pcc.Failure(f"killed before change {number}: {target} is neither the old nor the new result")
        if code == 0:
            break
        if code != -signal.SIGKILL:
            raise pcc.Failure(f"exit code {code} at change {number}: {err[-300:]}")
        kills += 1
        pcc.succeed(*old)
    if not kills or content(target) != after:
        raise pcc.Failure(f"{kills} kills, and the command that was not killed left another result")
    if left := litter(folder):
        raise pcc.Failure(f"left behind: {left}")


def models(folder, **options):
    """Returns the paths of two models with inputs and outputs of the same names."""
    paths = [os.path.join(folder, f"{name}.onnx") for name in "ab"]
    for path, inner in zip(paths, (8, 12)):
        builder.build("mlp", path, layers=1, hidden=8, inner=inner, **options)
    return paths


@case
def bundle(folder):
    target = os.path.join(folder, "m.pcc")
    old, new = ([model, "-o", target, "--dim", "batch=4", "--tp", tp, "--pack-weights", "-q"]
                for model, tp in zip(models(folder), (2, 1)))
    check_kills(folder, target, old, new)


@case
def annotated_model(folder):
    target = os.path.join(folder, "annotated.onnx")
    old, new = ([model, "--emit", "onnx", "-o", target, "--dim", "batch=4", "--tp", 2, "-q"] for model in models(folder))
    check_kills(folder, target, old, new)


@case
def exported_model_with_data(folder):
    """Tests that a model file never meets the data file of another export. For a moment, there is no model file."""
    model, out = models(folder, external=True)[0], os.path.join(folder, "out")
    made, exports = os.path.join(folder, "m.pcc"), []
    pcc.succeed(model, "-o", made, "--dim", "batch=4", "-q", "--train", "--loss", "mse(y, labels)")
    for seed in "1", "2":
        saved = os.path.join(folder, f"saved-{seed}")
        pcc.succeed("run", made, "--comm", "thread", "--random-inputs", seed, "--save", saved, "-q")
        exports.append(["checkpoint", "export", saved, "-o", os.path.join(out, "e.onnx")])
    os.mkdir(out)
    pcc.succeed(*exports[1])
    check_kills(folder, out, *exports, may_be=lambda found: "e.onnx" not in found)


@case
def drawing(folder):
    target = os.path.join(folder, "m.svg")
    old, new = ([model, "-o", f"{folder}/m.pcc", "--schedule-svg", target, "--dim", "batch=4", "--microbatches", count, "-q"]
                for model, count in zip(models(folder), (2, 4)))
    check_kills(folder, target, old, new)


@case
def two_runs_into_one_folder(folder):
    """Tests that files of runs that end at the same time are of one run. The outputs of the two models differ."""
    commands = []
    for model in models(folder):
        made = model.replace(".onnx", ".pcc")
        pcc.succeed(model, "-o", made, "--dim", "batch=4", "-q")
        given = []
        for tensor in pcc.inspect(made)["inputs"]:
            file = os.path.join(folder, f"{tensor['name']}.npy")
            np.save(file, np.ones(tensor["shape"], np.float32))
            given += ["--input", f"{tensor['name']}={file}"]
        commands.append(["run", made, *given, "--output", os.path.join(folder, "out")])
    wanted = []
    for command in commands:
        pcc.succeed(*command)
        wanted.append(content(os.path.join(folder, "out")))
    for _ in range(10):
        threads = [threading.Thread(target=pcc.succeed, args=command) for command in commands]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if content(os.path.join(folder, "out")) not in wanted:
            raise pcc.Failure("the outputs are of no single run")


@case
def files_of_the_user(folder):
    """Tests that a bundle that holds files of the user is not replaced."""
    model, _ = models(folder)
    target = os.path.join(folder, "m.pcc")
    command = [model, "-o", target, "--dim", "batch=4", "-q"]
    for name in "notes.txt", "checkpoints/step-8/manifest.json", "weights/mine/w.bin", "run.sh", "rank-000.bak", "rank-1", "rank-abc", \
            "weights/notes", "weights/mine.safetensors", "weights/position-0.safetensors.old", "algorithms-of-mine.txt":
        pcc.succeed(*command)
        path = os.path.join(target, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write("mine")
        before = content(target)
        code, _, err = pcc.call(*command)
        if code != 7 or name.split("/")[0] not in err or content(target) != before:
            raise pcc.Failure(f"exit code {code} with {name} in the bundle: {err}")
        if left := litter(folder):
            raise pcc.Failure(f"left behind: {left}")
        shutil.rmtree(target)


@case
def reports_to_devices(folder):
    """Tests reports to a pipe and to a device that is full; neither may be replaced by a file."""
    model, _ = models(folder)
    made = os.path.join(folder, "m.pcc")
    out = pcc.succeed(model, "-o", made, "--dim", "batch=4", "-q", "--schedule-svg", "/dev/stdout")
    if "</svg>" not in out:
        raise pcc.Failure("no drawing on stdout")
    code, _, err = pcc.call(model, "-o", made, "--dim", "batch=4", "-q", "--schedule-svg", "/dev/full")
    if code != 7 or "/dev/full" not in err or not os.path.exists("/dev/full"):
        raise pcc.Failure(f"exit code {code} for a full device: {err}")
    with open("/dev/full", "w") as full:
        done = subprocess.run([pcc.PCC, "verify", model, "--dim", "batch=4", "--tp", "2"], stdout=full, stderr=subprocess.PIPE, text=True)
    if done.returncode != 7 or "No space left" not in done.stderr:
        raise pcc.Failure(f"exit code {done.returncode} of a verdict that cannot be written: {done.stderr}")


@case
def outputs_that_cannot_be_opened(folder):
    """Tests a pipe that nobody reads and a link to itself: an error that names it, and no wait without end."""
    model, _ = models(folder)
    pipe, link, made = (os.path.join(folder, name) for name in ("pipe", "link", "m.pcc"))
    os.mkfifo(pipe)
    os.symlink(link, link)
    for path, cause in (pipe, "no process reads this pipe"), (link, "Too many levels of symbolic links"):
        code, _, err = pcc.call(model, "-o", made, "--dim", "batch=4", "--trace", path)
        if code != 7 or path not in err or cause not in err or litter(folder):
            raise pcc.Failure(f"exit code {code}: {err}")
    pcc.succeed(model, "-o", made, "--dim", "batch=4", "--train", "--loss", "mse(y, labels)")
    code, _, err = pcc.call("run", made, "--comm", "thread", "--random-inputs", "1", "--metrics", pipe)
    if code != 7 or pipe not in err:
        raise pcc.Failure(f"exit code {code}: {err}")


def without_reader(*words):
    """Runs pcc with a stdout that nobody reads. Returns its exit code and stderr."""
    unread, stdout = os.pipe()
    os.close(unread)
    try:
        done = subprocess.run([pcc.PCC, *words], stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE, text=True, timeout=60)
        return done.returncode, done.stderr
    finally:
        os.close(stdout)


@case
def reports_to_a_pipe_without_reader(folder):
    """Tests that nothing is left behind, and that the exit code says that output was lost."""
    model, _ = models(folder)
    made = os.path.join(folder, "m.pcc")
    for option in "--schedule-svg", "--trace":
        code, err = without_reader(model, "-o", made, "--dim", "batch=4", "-q", option, "/dev/stdout")
        if code != 7 or "Broken pipe" not in err or litter(folder):
            raise pcc.Failure(f"exit code {code}, left behind {litter(folder)}: {err}")
    code, err = without_reader(model, "--dim", "batch=4", "-q", "--stop-after", "4", "-o", "-")
    if code != -signal.SIGPIPE or err:
        raise pcc.Failure(f"exit code {code}: {err}")
    pcc.succeed(model, "-o", made, "--dim", "batch=4", "-q", "--tp", "2")
    for comm in "mpi", "thread":
        code, err = without_reader("run", made, "--random-inputs", "1", "--comm", comm, "--report", "/dev/stdout")
        if code not in (7, 141) or "was lost" in err or os.path.exists("/dev/stdout.flight.json"):
            raise pcc.Failure(f"{comm}: exit code {code}: {err}")


def run_case(function):
    with tempfile.TemporaryDirectory() as folder:
        function(folder)


def main():
    global EVERY
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="*", metavar="GLOB")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="kill at every N-th change only")
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    EVERY = arguments.every
    return pcc.run_cases([(n, run_case, (f,)) for n, f in CASES.items() if fnmatch.fnmatch(n, arguments.only)], arguments.jobs)


if __name__ == "__main__":
    sys.exit(main())
