#!/usr/bin/env python3
"""Tests that no command replaces a file of the user: one that lies where a bundle or a checkpoint goes, or one that the command itself
reads. Exit code 7, and the file stays as it is.

    run_kept_files.py [--only GLOB] [--jobs N]
"""
import os
import resource
import shutil
import subprocess
import sys
import tempfile

import numpy as np

import pcc

sys.path.insert(0, os.path.join(pcc.ROOT, "test", "models"))
import builder

CASES = {}
DIM = ["--dim", "batch=4"]
TRAIN = ["--train", "--loss", "mse(y, labels)", "--optimizer", "sgd"]


def case(function):
    """Registers a case, which gets an empty folder."""
    def run():
        with tempfile.TemporaryDirectory() as folder:
            function(folder)
    CASES[function.__name__] = run


def model(folder):
    path = os.path.join(folder, "model.onnx")
    builder.build("family", path, kind="feed_forward", layers=1, external=True)
    return path


def bundle(folder, *options):
    path = os.path.join(folder, "b.pcc")
    pcc.succeed(model(folder), "-o", path, "-q", *DIM, *options)
    return path


def training(folder):
    """Returns a bundle that trains, and the options of a run of two steps."""
    data = os.path.join(folder, "data")
    os.mkdir(data)
    for name in "x", "labels":
        np.save(os.path.join(data, f"{name}.npy"), np.ones((3, 4, 4, 8), "f4"))
    return bundle(folder, *TRAIN), ["--data", data, "--steps", "2", "--comm", "thread"]


def write(*parts, text="mine"):
    path = os.path.join(*parts)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)
    return path


def content(path):
    with open(path, "rb") as file:
        return file.read()


def refused(*arguments, keeps, mention=(), codes=(7,)):
    """Checks that a command is refused, with the words of `mention`, and leaves the files `keeps` as they are."""
    before = [content(path) for path in keeps]
    code, _, err = pcc.call(*arguments, timeout=60)
    if code not in codes or any(word not in err for word in mention):
        raise pcc.Failure(f"exit code {code}: {err.strip()[-300:]}")
    if before != [content(path) for path in keeps]:
        raise pcc.Failure(f"{arguments} changed one of {keeps}")


@case
def folder_with_a_file_called_bundle_json(folder):
    keeps = [write(folder, "u", "bundle.json"), write(folder, "u", "run")]
    refused(model(folder), *DIM, "-o", os.path.join(folder, "u"), keeps=keeps, mention=["bundle.json"])


@case
def bundle_with_files_of_the_user(folder):
    path = bundle(folder)
    for name in "notes.txt", "rank-005/notes.txt", "rank-777":
        keeps = [write(path, name)]
        refused(model(folder), *DIM, "-o", path, keeps=keeps, mention=[name.split("/")[0]])
        shutil.rmtree(os.path.dirname(keeps[0])) if "/" in name else os.remove(keeps[0])
    pcc.succeed(model(folder), *DIM, "-o", path, "-q")


@case
def checkpoint_with_files_of_the_user(folder):
    path, options = training(folder)
    saved = os.path.join(folder, "saved")
    keeps = [write(saved, "step-00000002", "thesis.txt")]
    refused("run", path, *options, "--save", saved, keeps=keeps, mention=["thesis.txt"])
    os.remove(keeps[0])
    for _ in range(2):
        pcc.succeed("run", path, *options, "--save", saved, "-q")
    keeps = [write(saved, "step-00000002", "thesis.txt")]
    refused("run", path, *options, "--save", saved, keeps=keeps, mention=["thesis.txt"])


@case
def checkpoints_of_another_training(folder):
    path, options = training(folder)
    saved = os.path.join(folder, "saved")
    for others, more in (False, []), (True, []), (False, ["--resume", saved]), (False, ["--resume", f"{saved}/step-00000002"]), (False, ["-q"]):
        if "--resume" in more:
            options[options.index("--steps") + 1] = "3"
        code, _, err = pcc.call("run", path, *options, "--save", saved, *more)
        if code or ("holds step-00000002 of another training" in err) != others:
            raise pcc.Failure(f"exit code {code}: {err}")


@case
def outputs_of_a_run_over_what_it_reads(folder):
    path, options = training(folder)
    weights = os.path.join(folder, "model.weights.bin")
    for kept in os.path.join(path, "bundle.json"), os.path.join(path, "rank-000"), os.path.join(folder, "data", "x.npy"), weights:
        for option in "--report", "--trace", "--metrics", "--html":
            refused("run", path, *options, option, kept, keeps=[kept], mention=[option, os.path.basename(kept)])
    for option in "--trace", "--html":
        refused("run", path, *options, "--report", f"{folder}/z", option, f"{folder}/z", keeps=[], mention=["--report"])
    report = write(folder, "report.json")
    for _ in range(2):
        pcc.succeed("run", path, *options, "-q", "--report", report, "--metrics", f"{folder}/data/m.jsonl")
    packed = os.path.join(folder, "packed.pcc")
    pcc.succeed(model(folder), "-o", packed, "-q", "--pack-weights", *DIM, *TRAIN)
    kept = os.path.join(packed, "weights", os.listdir(os.path.join(packed, "weights"))[0])
    refused("run", packed, *options, "--report", kept, keeps=[kept], mention=["--report"])


def cluster(folder):
    return write(folder, "cluster.toml", text='links = [ { level = "net", span = 64, alpha_us = 5, beta_gbps = 10 } ]\n')


@case
def outputs_of_a_compilation_over_what_it_reads(folder):
    path, weights, links = model(folder), os.path.join(folder, "model.weights.bin"), cluster(folder)
    table = write(folder, "table.csv", text="0F0,0B0\n")
    dump = os.path.join(folder, "3-place.mlir")
    pcc.succeed(path, *DIM, "--stop-after", "3", "-o", dump, "-q")
    arguments = [*DIM, *TRAIN, "--cluster", links, "--schedule", table, "-q"]
    read = [path, weights, links, table]
    for kept in read:
        for option in "--report", "--trace", "--html", "--schedule-svg":
            refused(path, *arguments, "-o", f"{folder}/b.pcc", option, kept, keeps=read, mention=[option, os.path.basename(kept)])
        refused(path, *arguments, "--stop-after", "4", "-o", kept, keeps=read, mention=["-o"])
        refused("verify", path, *arguments, "--report", kept, keeps=read, mention=["--report"])
        refused("explain", path, *arguments, "--html", kept, keeps=read, mention=["--html"])
    for kept in dump, weights:
        refused(dump, "-o", f"{folder}/b.pcc", "--report", kept, keeps=[dump, weights])
        refused(dump, "--stop-after", "4", "-o", kept, keeps=[dump, weights])
        refused("verify", dump, "--report", kept, keeps=[dump, weights])
    pcc.succeed(path, *DIM, "-o", f"{folder}/b.pcc", "-q", "--dump-ir", folder, "--report", f"{folder}/b.json")


@case
def dump_over_the_model(folder):
    path = write(folder, "2-prepare.mlir", text="func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>) {\n"
                                                "  return %x : tensor<2xf32>\n}\n")
    refused(path, "-o", f"{folder}/b.pcc", "--dump-ir", folder, keeps=[path], mention=["--dump-ir"])


@case
def inputs_of_verify(folder):
    path, values = model(folder), os.path.join(folder, "x.npy")
    np.save(values, np.ones((4, 4, 8), "f4"))
    refused("verify", path, *DIM, "--input", f"x={values}", "--report", values, keeps=[values], mention=["--input reads"])


@case
def one_file_for_two_outputs(folder):
    path = model(folder)
    write(folder, "z")
    os.symlink("z", f"{folder}/link")
    for other in f"{folder}/z", f"{folder}/./z", f"{folder}/../{os.path.basename(folder)}/z", f"{folder}/link", os.path.relpath(f"{folder}/z"):
        refused(path, *DIM, "-o", f"{folder}/b.pcc", "--report", f"{folder}/z", "--trace", other, keeps=[], mention=["--report writes"])
    refused(path, *DIM, "-o", f"{folder}/b.pcc", "--report", f"{folder}/b.pcc/run", keeps=[], mention=["-o writes"])
    refused(path, *DIM, "-o", f"{folder}/b.pcc", "--dump-ir", f"{folder}/b.pcc", keeps=[], mention=["-o writes"])
    if os.path.exists(f"{folder}/b.pcc"):
        raise pcc.Failure("a folder is left behind")
    trained, options = training(folder)
    for other in f"{folder}/z", f"{folder}/./z", f"{folder}/link", os.path.relpath(f"{folder}/z"):
        refused("run", trained, *options, "--metrics", f"{folder}/z", "--html", other, keeps=[], mention=["--metrics writes"])


@case
def outputs_over_checkpoints(folder):
    path, options = training(folder)
    saved = os.path.join(folder, "saved")
    pcc.succeed("run", path, *options, "--save", saved, "-q")
    step = os.path.join(saved, "step-00000002")
    options[options.index("--steps") + 1] = "3"
    keeps = [f"{step}/{name}" for name in os.listdir(step)]
    for kept in *keeps, f"{saved}/latest":
        for option in "--report", "--metrics", "--html", "--measurements":
            for asked in ["--resume", saved], ["--resume", step], ["--save", saved]:
                refused("run", path, *options, *asked, option, kept, keeps=keeps, mention=[option])
    pcc.succeed("run", path, *options, "--resume", saved, "--save", saved, "-q", "--metrics", f"{saved}/m.jsonl")


@case
def outputs_over_inputs(folder):
    path, output = bundle(folder), os.path.join(folder, "out")
    os.mkdir(output)
    pcc.succeed("run", path, "--comm", "thread", "--random-inputs", "1", "--output", output, "-q")
    kept = os.path.join(output, os.listdir(output)[0])
    os.rename(kept, values := os.path.join(output, "x.npy"))
    np.save(values, np.ones((4, 4, 8), "f4"))
    os.symlink("x.npy", kept)
    refused("run", path, "--comm", "thread", "--input", f"x={values}", "--output", output, keeps=[values], mention=["--output"])
    os.remove(kept)
    pcc.succeed("run", path, "--comm", "thread", "--input", f"x={values}", "--output", output, "-q")


@case
def pages_over_bundles(folder):
    path = bundle(folder)
    for name in "run", "rank-000", "bundle.json", "explain.json":
        kept = os.path.join(path, name)
        refused("report", path, "-o", kept, keeps=[kept], mention=["the page shows"])
    pcc.succeed("report", path, "-o", f"{folder}/page.html")


@case
def input_without_a_file(folder):
    for text in "x=", "=x.npy", "x":
        refused("run", bundle(folder), "--comm", "thread", "--random-inputs", "1", "--input", text, keeps=[], mention=["NAME=FILE.npy"], codes=(2,))


@case
def report_of_no_regular_file(folder):
    pipe = os.path.join(folder, "pipe")
    os.mkfifo(pipe)
    for path in pipe, "/dev/zero", "/dev/null":
        refused("report", path, "-o", f"{folder}/r.html", keeps=[], mention=["not a regular file"], codes=(3,))


@case
def export_over_its_checkpoint(folder):
    path, options = training(folder)
    saved = os.path.join(folder, "saved")
    pcc.succeed("run", path, *options, "--save", saved, "-q")
    rank = os.path.join(saved, "step-00000002", "rank-000.safetensors")
    refused("checkpoint", "export", saved, "-o", rank, keeps=[rank], mention=["the export reads"])
    for name in "e.onnx", "e.onnx", "e.safetensors", "e.safetensors":
        pcc.succeed("checkpoint", "export", saved, "-o", f"{folder}/{name}", "-q")


@case
def export_that_does_not_fit(folder):
    path, options = training(folder)
    saved = os.path.join(folder, "saved")
    pcc.succeed("run", path, *options, "--save", saved, "-q")
    done = subprocess.run([pcc.PCC, "checkpoint", "export", saved, "-o", f"{folder}/e.onnx"], capture_output=True, text=True,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512)))
    if done.returncode != 7 or "File too large" not in done.stderr:
        raise pcc.Failure(f"exit code {done.returncode}: {done.stderr.strip()[-300:]}")


if __name__ == "__main__":
    pcc.main(__doc__, CASES)
