#!/usr/bin/env python3
"""Files that change, or get shorter, under a command that has mapped them: the command ends with a message that names the file, never
with a signal or with numbers from memory of the process.

    run_changed_files.py [--only GLOB] [--jobs N]
"""
import os
import subprocess
import tempfile
import threading
import time

import numpy as np
import pcc
from run_errors import builder, check_message, files

BATCH = ["--dim", "batch=8"]
CASES = {}


def case(function):
    """A case gets an empty folder."""
    def run():
        with tempfile.TemporaryDirectory() as folder:
            function(folder)
    CASES[function.__name__] = run
    return function


def place(folder, **options):
    """A model with weights of four megabytes; returns its path and the path of its weights."""
    path = os.path.join(folder, "model.onnx")
    builder.build("mlp", path, external=True, **{**dict(layers=2, hidden=512, inner=1024), **options})
    return path, os.path.join(folder, "model.weights.bin")


def expect_failure(code, said, expected, name):
    if code != expected:
        raise pcc.Failure(f"exit code {code}, expected {expected}: {said[-400:]}")
    check_message(said, [name], strict=False)


def maps(process, path):
    """Whether a process of the session of `process` has mapped the file."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.getsid(int(pid)) == process.pid and path in open(f"/proc/{pid}/maps").read():
                return True
        except OSError:
            continue
    return False


def while_mapped(path, change, *arguments):
    """Calls `change` once a command has mapped the file at `path`; returns how the command ends."""
    process = subprocess.Popen([pcc.PCC, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               text=True, start_new_session=True)
    try:
        for _ in range(1200):
            if maps(process, os.path.realpath(path)):
                break
            time.sleep(0.05)
        else:
            raise pcc.Failure(f"{path} was not mapped within a minute")
        time.sleep(0.3)
        change()
        _, said = process.communicate(timeout=60)
        return process.returncode, said
    finally:
        if process.poll() is None:
            pcc.end(process)


@case
def weights_that_change_all_the_time(folder):
    """A file that is cut and restored again and again gives a result or exit code 3, for whatever reads it at whatever moment."""
    path, weights = place(folder)
    whole = open(weights, "rb").read()
    isDone = threading.Event()

    def change():
        while not isDone.is_set():
            os.truncate(weights, 0)
            with open(weights, "wb") as file:
                file.write(whole)
            time.sleep(0.01)

    writer = threading.Thread(target=change)
    writer.start()
    try:
        for _ in range(4):
            for command in ["-o", f"{folder}/a.pcc", "--pack-weights"], ["-o", f"{folder}/b.pcc"]:
                code, _, said = pcc.call(path, *BATCH, "--tp", "2", "-q", *command, timeout=60)
                if code:
                    expect_failure(code, said, 3, "model.weights.bin")
            code, _, said = pcc.call("verify", path, *BATCH, "--tp", "2", "-q", timeout=60)
            if code:
                expect_failure(code, said, 3, "model.weights.bin")
    finally:
        isDone.set()
        writer.join()


@case
def weights_cut_after_the_import(folder):
    """With and without packing: no program is made from bytes that are not in the file."""
    path, weights = place(folder)
    dumps = os.path.join(folder, "ir")
    pcc.succeed(path, *BATCH, "--dump-ir", dumps, "--stop-after", "6", "-o", os.path.join(folder, "a.pcc"))
    dump = os.path.join(dumps, "6-schedule.mlir")
    os.truncate(weights, 4096)
    before = files(folder)
    for options in ([], ["--pack-weights"]):
        code, _, said = pcc.call(dump, "--start-at", "7", "-o", os.path.join(folder, "b.pcc"), *options)
        expect_failure(code, said, 3, "model.weights.bin")
        if left := files(folder) - before:
            raise pcc.Failure(f"left behind: {sorted(left)[:5]}")


def cut_while_it_runs(folder, comm, ranks):
    path, weights = place(folder)
    bundle = os.path.join(folder, "model.pcc")
    pcc.succeed(path, *BATCH, "-o", bundle, "--pp", ranks)
    return while_mapped(weights, lambda: os.truncate(weights, 4096), "run", bundle, "--random-inputs", "1", "--comm", comm, "--repeat",
                        "10000000", "-q")


for comm, ranks in (("thread", "1"), ("thread", "2"), ("mpi", "2")):
    def run(folder, comm=comm, ranks=ranks):
        expect_failure(*cut_while_it_runs(folder, comm, ranks), 11, "model.weights.bin")
    run.__name__ = f"weights_cut_while_{ranks}_ranks_run_by_{comm}"
    case(run)


@case
def weights_written_to_while_ranks_run(folder):
    """The size stays, so no page fails: the time tells."""
    path, weights = place(folder)
    bundle = os.path.join(folder, "model.pcc")
    pcc.succeed(path, *BATCH, "-o", bundle)

    def change():
        with open(weights, "r+b") as file:
            file.write(b"\1" * 4096)
    ended = while_mapped(weights, change, "run", bundle, "--random-inputs", "1", "--comm", "thread", "--repeat", "10000000", "-q")
    expect_failure(*ended, 11, "model.weights.bin")


@case
def training_data_cut_while_it_is_read(folder):
    path, data = os.path.join(folder, "model.onnx"), os.path.join(folder, "tokens.bin")
    builder.build("gpt2", path, layers=1)
    bundle = os.path.join(folder, "model.pcc")
    pcc.succeed(path, "-o", bundle, "--dim", "batch=4", "--dim", "seq=16", "--train", "--loss", "cross_entropy(logits, labels)")
    np.random.default_rng(0).integers(0, 509, 1 << 20).astype("u2").tofile(data)
    ended = while_mapped(data, lambda: os.truncate(data, 4096), "run", bundle, "--data", data, "--tokens", "u16", "--steps", "10000000",
                         "--comm", "thread", "-q")
    expect_failure(*ended, 7, "tokens.bin")


if __name__ == "__main__":
    pcc.main(__doc__, CASES)
