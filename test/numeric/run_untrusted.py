#!/usr/bin/env python3
"""Files that strangers may have made or damaged: dumps that name files outside of the model's directory, bundles with altered parts,
text that is nested deeply or holds control characters, and pipes, devices, sockets and folders in place of any file that pcc reads.

    run_untrusted.py [--only GLOB] [--jobs N]
"""
import json
import os
import re
import shutil
import socket
import tempfile

import numpy as np
import pcc
from run_errors import builder, check_message, files

BATCH = ["--dim", "batch=8"]
TRAINING = [*BATCH, "--train", "--loss", "mse(y, labels)", "--pp", "2", "--microbatches", "2"]
SECRET = "not for strangers"
CASES = {}


def case(function):
    """A case gets an empty folder."""
    def run():
        with tempfile.TemporaryDirectory() as folder:
            function(os.path.realpath(folder))
    CASES[function.__name__] = run
    return function


def refused(codes, *arguments, mention=(), **options):
    """Checks that pcc fails within seconds, with one of `codes` and a message of one printable line."""
    codes = codes if isinstance(codes, tuple) else (codes,)
    code, _, said = pcc.call(*arguments, timeout=30, **options)
    if code not in codes:
        raise pcc.Failure(f"exit code {code}, expected {codes}: {' '.join(map(str, arguments))[-200:]}: {said.strip()[-300:]}")
    check_message(said, mention, strict=False)
    if re.search(r"[^\n\x20-\x7e\x80-\uffff]", said) or SECRET in said:
        raise pcc.Failure(f"prints {said[-300:]!r}")


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, data):
    with open(path, "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())
    return path


# Dumps that name files ------------------------------------------------------------------------------------------------------
def make_dumps(folder):
    """Compiles a model with weights in a file of their own; returns the path of the last dump, the weights and the bundle."""
    path, ir, bundle = (os.path.join(folder, "m", name) for name in ("model.onnx", "ir", "own.pcc"))
    builder.build("mlp", path, external=True, layers=2, hidden=16, inner=16)
    pcc.succeed(path, *BATCH, "-q", "-o", bundle, f"--dump-ir={ir}")
    return os.path.join(ir, "6-schedule.mlir"), os.path.join(folder, "m", "model.weights.bin"), bundle


def edited(dump, root=None, name=None):
    """Copies a dump elsewhere, with another root or another name of its weights."""
    text = read(dump).decode()
    if root is not None:
        text = re.sub(r'graph\.root = "[^"]*"', f'graph.root = "{root}"', text)
    if name is not None:
        text = text.replace('<"model.weights.bin"', f'<"{name}"')
    os.makedirs(os.path.join(os.path.dirname(dump), "edited"), exist_ok=True)
    return write(os.path.join(os.path.dirname(dump), "edited", "edited.mlir"), text)


def packs_nothing(folder, dump, *mention):
    """Every command refuses the dump, and no bundle holds bytes of the file that it names."""
    target = os.path.join(folder, "stolen.pcc")
    for options in ([], ["--pack-weights"], ["--stop-after", "7"]):
        refused(3, dump, "-o", target, *options, mention=mention)
    refused(3, "verify", dump, mention=mention)
    if os.path.exists(target):
        raise pcc.Failure("a bundle was written")


def secret(folder):
    return write(os.path.join(folder, "secret"), SECRET * 1000)


@case
def a_dump_is_taken_up_anywhere(folder):
    """The files that a dump was made from are known by their hashes, wherever the dump lies."""
    dump, _, own = make_dumps(folder)
    for place in (dump, shutil.copy(dump, folder), edited(dump)):
        again = os.path.join(folder, "again.pcc")
        pcc.succeed(place, "--start-at", "7", "-q", "-o", again, "--pack-weights")
        pcc.succeed(place, "--start-at", "7", "-q", "-o", again)
        if read(os.path.join(own, "rank-000")) != read(os.path.join(again, "rank-000")):
            raise pcc.Failure("another executable")


@case
def a_dump_names_the_root_of_all_files(folder):
    dump, _, _ = make_dumps(folder)
    packs_nothing(folder, edited(dump, root="/", name=secret(folder)[1:]), "secret")
    packs_nothing(folder, edited(dump, root="/", name="etc/passwd"), "/etc/passwd")


@case
def a_dump_names_a_parent(folder):
    dump, _, _ = make_dumps(folder)
    secret(folder)
    packs_nothing(folder, edited(dump, name="../secret"), "secret")


@case
def a_dump_names_an_absolute_path(folder):
    dump, _, _ = make_dumps(folder)
    packs_nothing(folder, edited(dump, name=secret(folder)), "secret")


@case
def a_symlink_leads_out_of_the_root(folder):
    dump, weights, _ = make_dumps(folder)
    os.remove(weights)
    os.symlink(secret(folder), weights)
    packs_nothing(folder, dump, "model.weights.bin")


@case
def another_folder_has_a_file_of_that_name(folder):
    dump, weights, _ = make_dumps(folder)
    os.makedirs(os.path.join(folder, "theirs"))
    write(os.path.join(folder, "theirs", "model.weights.bin"), b"\1" * os.path.getsize(weights))
    changed = edited(dump, root=os.path.join(folder, "theirs"))
    packs_nothing(folder, changed, "theirs/model.weights.bin")
    pcc.succeed(changed, "-q", "-o", os.path.join(folder, "b.pcc"), "--pack-weights", "--external-data-root", os.path.join(folder, "theirs"))


@case
def weights_changed_since_the_dump(folder):
    dump, weights, _ = make_dumps(folder)
    write(weights, b"\1" * os.path.getsize(weights))
    packs_nothing(folder, dump, "model.weights.bin")


@case
def weights_beside_a_model_written_by_hand(folder):
    """Files beside a .mlir file are its own; links out of its folder are not, and no names of other files."""
    model = '''module {{
  graph.parameter @w : tensor<4x4xf32> = <"{0}", 0, 64, tensor<4x4xf32>>
  func.func @main(%x: tensor<2x4xf32> {{graph.name = "x"}}) -> (tensor<2x4xf32> {{graph.name = "y"}}) {{
    %w = graph.get_parameter @w : tensor<4x4xf32>
    %y = graph.matmul %x, %w : tensor<2x4xf32>, tensor<4x4xf32>
    return %y : tensor<2x4xf32>
  }}
}}
'''
    here = os.path.join(folder, "here")
    os.makedirs(here)
    write(os.path.join(here, "w.bin"), bytes(64))
    os.symlink(secret(folder), os.path.join(here, "symbolic"))
    os.link(secret(folder), os.path.join(here, "hard"))
    target = os.path.join(folder, "b.pcc")
    pcc.succeed(write(os.path.join(here, "model.mlir"), model.format("w.bin")), "-q", "-o", target, "--pack-weights")
    for name in ("symbolic", "hard", "../secret", secret(folder), "../here/../secret"):
        refused(3, write(os.path.join(here, "model.mlir"), model.format(name)), "-q", "-o", target, "--pack-weights", mention=["model.mlir"])


@case
def a_dump_names_a_model_elsewhere(folder):
    dump, _, _ = make_dumps(folder)
    text = read(dump).decode().replace('graph.model = "model.onnx"', 'graph.model = "../m/model.onnx"')
    refused(3, "verify", write(os.path.join(folder, "edited.mlir"), text), mention=["../m/model.onnx"])


# Bundles --------------------------------------------------------------------------------------------------------------------
def make_bundle(folder):
    path, bundle = os.path.join(folder, "model.onnx"), os.path.join(folder, "own.pcc")
    builder.build("mlp", path, layers=2, hidden=16, inner=16)
    pcc.succeed(path, *BATCH, "-q", "-o", bundle, "--pp", "2")
    return bundle


def bundle_refused(bundle, *mention):
    refused(11, "run", bundle, "--random-inputs", "1", "--comm", "thread", mention=mention)
    refused(11, "run", bundle, "--random-inputs", "1", mention=mention)


@case
def bundle_json_is_plain_and_sealed(folder):
    bundle = make_bundle(folder)
    name = os.path.join(bundle, "bundle.json")
    whole = read(name)
    if json.loads(whole)["world"] != 2 or "seal" in pcc.inspect(bundle):
        raise pcc.Failure("bundle.json is not what inspect prints")
    for damaged in (whole.replace(b'"world":2', b'"world":1'), whole.replace(b'"cpu"', b'"gpu"'), whole[:-20], b"{}", b"", whole + b" "):
        write(name, damaged)
        bundle_refused(bundle, "bundle.json")
        refused(11, "inspect", bundle, mention=["bundle.json"])
        refused(11, command=[os.path.join(bundle, "run")], mention=["bundle.json"])
    os.remove(name)
    bundle_refused(bundle, "bundle.json")
    refused(11, "inspect", bundle, mention=["bundle.json"])


@case
def run_is_sealed(folder):
    """A byte in the text of a message of `run` leaves it executable, so that it can say itself what is wrong."""
    bundle = make_bundle(folder)
    name = os.path.join(bundle, "run")
    whole = read(name)
    at = whole.index(b"no launcher has started this process")
    write(name, whole[:at] + b"N" + whole[at + 1:])
    bundle_refused(bundle, "run")
    refused(11, command=[name], mention=["run"])
    write(name, whole[:-8])
    bundle_refused(bundle, "run")
    os.remove(name)
    bundle_refused(bundle, "run")


@case
def a_rank_of_another_bundle(folder):
    bundle = make_bundle(folder)
    shutil.copy(os.path.join(bundle, "rank-001"), os.path.join(bundle, "rank-002"))
    bundle_refused(bundle, "rank-002")


# Text -----------------------------------------------------------------------------------------------------------------------
@case
def schedules_of_strangers(folder):
    path, table = os.path.join(folder, "model.onnx"), os.path.join(folder, "table.csv")
    builder.build("mlp", path, layers=2, hidden=16, inner=16)
    for text in ("(" * 40000, "0F0," + "(0F0;" * 40000 + "0B0" + ")OVERLAP_F_B" * 40000, "(" * 40000 + "0F0" + ")OVERLAP_F_B" * 40000,
                 "0F0\0,0B0", "\x1b[2J\x1b]0;title\x07", "0F0\x9b,", "-0.0F0", "-0F0,0B0", "2147483648F0", "0F99999999999999999999", ""):
        write(table, text.encode("latin-1"))
        refused(6, path, *TRAINING, "--schedule", table, "--stop-after", "1", mention=["table.csv"])


def make_training_dumps(folder):
    path, ir = os.path.join(folder, "model.onnx"), os.path.join(folder, "ir")
    builder.build("mlp", path, layers=2, hidden=16, inner=16)
    pcc.succeed(path, *TRAINING, "--dp", "2", "--tp", "2", "-q", "--stop-after", "6", f"--dump-ir={ir}")
    return ir


#         dump            what is changed                                               by
EDITS = [
    ("1-import", r"pipe\.microbatches = 2", "pipe.microbatches = 2147483647"),
    ("1-import", r"pipe\.stages = 2", "pipe.stages = 2147483648"),
    ("1-import", r"pipe\.stages = 2", "pipe.stages = 2147483647"),
    ("1-import", r'(<"model\.onnx"), \d+', r"\1, -9223372036854775808"),
    ("1-import", r'(<"model\.onnx"), \d+', r"\1, 9223372036854775807"),
    ("1-import", r"pcc\.phase = 1 : i64, ", ""),
    ("1-import", r"mb = 2, ", ""),
    ("2-prepare", r"mb = 2, dp", "mb = 2, mb"),
    ("2-prepare", r"mb = 2, dp = 2", "mb = 2, dp = 65537"),
    ("2-prepare", r"(exp_avg_sq : tensor<)(\d+)", r"\g<1>3"),
    ("2-prepare", r"tensor<1xf32>|tensor<16xf32>", "tensor<9223372036854775807x2xf32>"),
    ("3-place", r"pipe\.stage = 1 : i64", "pipe.stage = 2147483648 : i64"),
    ("3-place", r"pipe\.stage = 1 : i64", "pipe.stage = 0 : i64"),
    ("3-place", r"func\.func @main", "func.func @mb"),
    ("4-shard", r"partial sum\([^)]*\)", "partial sum()"),
    ("4-shard", r"mb = 2, dp", "mb = 2, pp"),
    ("4-shard", r"array<i64:", "array<index:"),
    ("5-localize", r"pipe\.stage = 1 : i64", "pipe.stage = 0 : i64"),
    ("5-localize", r", pipe\.stage = 1 : i64", ""),
    ("5-localize", r"(dist\.collective .* shape \[)\d+", r"\g<1>2147483647"),
    ("6-schedule", r'"0F0"', '"-0.0F0"'),
    ("6-schedule", r'"0F0"', '"2147483648F0"'),
    ("6-schedule", r"result = \d+ : i64", "result = 99 : i64"),
    ("6-schedule", r"on \d+|position = \d+", "position = 2147483647"),
    ("6-schedule", r'"U0"', '"U4294967295"'),
]


@case
def edited_numbers_and_names(folder):
    """Each edit of a dump is refused when the dump is read, at its place, or is harmless."""
    ir, count = make_training_dumps(folder), 0
    for dump, old, new in EDITS:
        path = next(os.path.join(ir, name) for name in os.listdir(ir) if name.startswith(dump))
        text = read(path).decode()
        changed = re.sub(old, new, text, count=1)
        if changed == text:
            continue
        count += 1
        place = write(os.path.join(folder, "edited.mlir"), changed)
        code, _, said = pcc.call(place, "-q", "-o", os.path.join(folder, "b.pcc"), timeout=60)
        if code not in (0, 2, 3, 4, 5, 6) or "crashed" in said:
            raise pcc.Failure(f"{dump}: {old} -> {new}: exit code {code}: {said[-300:]}")
    if count < len(EDITS) - 3:
        raise pcc.Failure(f"only {count} of {len(EDITS)} edits changed something")


@case
def deep_and_strange_text(folder):
    ir = make_training_dumps(folder)
    text = read(os.path.join(ir, "1-import.mlir"))
    place = os.path.join(folder, "edited.mlir")
    for inserted in (b"(" * 100000, b"[" * 100000, b"{" * 100000, b"<" * 100000, b'#a = affine_map<() -> (' + b"-" * 100000, b"\0" * 1000, b"\x1b[2J",
                     b"\xff\xfe", b'"' + b"x" * 1000):
        refused(3, write(place, inserted + text), "--stop-after", "2", mention=["edited.mlir"])
    refused(3, write(place, b"ML\xefR" + text), mention=["bytecode"])


@case
def names_with_control_characters(folder):
    ir = make_training_dumps(folder)
    text = read(os.path.join(ir, "3-place.mlir")).decode()
    changed = text.replace('graph.name = "', 'graph.name = "\\1B[31m\\00', 1).replace("pipe.stage = 1", "pipe.stage = 7", 1)
    refused(3, write(os.path.join(folder, "edited.mlir"), changed))
    refused((2, 3, 7), os.path.join(folder, "no\x1b[31m\nmodel.onnx"))


# Other things than files ----------------------------------------------------------------------------------------------------
def strange_things(folder):
    """Paths of things that are no regular files."""
    paths = {kind: os.path.join(folder, f"strange-{kind}") for kind in ("pipe", "folder", "socket")}
    os.mkfifo(paths["pipe"])
    os.mkdir(paths["folder"])
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(paths["socket"])
    return [*paths.values(), "/dev/zero", "/dev/tty"]


def in_place(path, strange):
    """Replaces the file at `path` by a link to a strange thing."""
    if os.path.lexists(path):
        os.remove(path)
    os.symlink(strange, path)


@case
def models_that_are_no_files(folder):
    for strange in strange_things(folder):
        for name in ("model.onnx", "model.mlir"):
            path = os.path.join(folder, name)
            in_place(path, strange)
            for command in ([], ["verify"], ["explain"]):
                refused((2, 3, 7), *command, path, *BATCH, mention=[name])
            os.remove(path)


@case
def weights_that_are_no_files(folder):
    dump, weights, own = make_dumps(folder)
    model = os.path.join(folder, "m", "model.onnx")
    for strange in strange_things(folder):
        in_place(weights, strange)
        for options in ([], ["--pack-weights"]):
            refused((3, 7), model, *BATCH, "-o", os.path.join(folder, "b.pcc"), *options, mention=["model.weights.bin"])
            refused((3, 7), dump, "-o", os.path.join(folder, "b.pcc"), *options, mention=["model.weights.bin"])
        refused((3, 7), "verify", dump, mention=["model.weights.bin"])
        refused((7, 11), "run", own, "--random-inputs", "1", "--comm", "thread", mention=["model.weights.bin"])


@case
def options_that_are_no_files(folder):
    path, out = os.path.join(folder, "model.onnx"), os.path.join(folder, "b.pcc")
    builder.build("mlp", path, layers=2, hidden=16, inner=16)
    for strange in strange_things(folder):
        refused((2, 3, 6, 7), path, *BATCH, "--tp", "2", "--cluster", strange, "-o", out, mention=["--cluster"])
        table = os.path.join(folder, "table.csv")
        in_place(table, strange)
        refused((2, 3, 6, 7), path, *TRAINING, "--schedule", table, "-o", out, mention=["table.csv"])
        os.remove(table)


@case
def inputs_of_runs_that_are_no_files(folder):
    bundle, given = make_bundle(folder), os.path.join(folder, "x.npy")
    np.save(given, np.zeros((8, 16), "f4"))
    for strange in strange_things(folder):
        for option in (["--input", f"x={strange}"],):
            for comm in ("thread", "mpi"):
                refused((3, 7, 10), "run", bundle, *option, "--comm", comm)
        refused((3, 7, 10, 11), "run", bundle, "--random-inputs", "1", "--comm", "thread", "--weights", strange)
        if not os.path.isdir(strange):
            refused((3, 7, 11), "run", strange, "--random-inputs", "1")
            refused((3, 7, 11), "inspect", strange)
            refused((2, 3, 7, 10, 11), "checkpoint", "export", strange, "-o", os.path.join(folder, "w.safetensors"))
    for name in ("bundle.json", "run", "rank-001"):
        kept = read(os.path.join(bundle, name))
        for strange in strange_things(tempfile.mkdtemp(dir=folder)):
            in_place(os.path.join(bundle, name), strange)
            bundle_refused(bundle, name)
        os.remove(os.path.join(bundle, name))
        write(os.path.join(bundle, name), kept)
        os.chmod(os.path.join(bundle, name), 0o755)


@case
def reasons_for_pages_are_sealed(folder):
    """Only pages read explain.json: a run without a page ignores its damage, and a page is refused before the run begins."""
    bundle, page = make_bundle(folder), os.path.join(folder, "page.html")
    name, run = os.path.join(bundle, "explain.json"), ["run", bundle, "--random-inputs", "1", "--comm", "thread"]
    whole = read(name)
    for damaged in (whole.replace(b'"world":2', b'"world":1'), whole[:-20], b"{}", b""):
        write(name, damaged)
        refused(11, *run, "--html", page, mention=["explain.json"])
        refused(11, "report", bundle, "-o", page, mention=["explain.json"])
        if os.path.exists(page):
            raise pcc.Failure("a page is written from a damaged explain.json")
        pcc.succeed(*run)
    for strange in strange_things(tempfile.mkdtemp(dir=folder)):
        in_place(name, strange)
        refused((7, 11), "report", bundle, "-o", page, mention=["explain.json"])


@case
def training_files_that_are_no_files(folder):
    path, bundle, save = (os.path.join(folder, name) for name in ("model.onnx", "b.pcc", "ckpt"))
    builder.build("mlp", path, layers=2, hidden=16, inner=16)
    pcc.succeed(path, *BATCH, "--train", "--loss", "mse(y, labels)", "-q", "-o", bundle)
    run = ["run", bundle, "--comm", "thread", "--steps", "1", "-q"]
    pcc.succeed(*run, "--random-inputs", "1", "--save", save)
    saved = [os.path.join(d, f) for d, _, names in os.walk(save) for f in names]
    for strange in strange_things(folder):
        if not os.path.isdir(strange):
            refused((2, 3, 7, 10, 11), *run, "--data", strange)
            refused((2, 3, 7, 10, 11), *run, "--random-inputs", "1", "--resume", strange)
        for name in saved:
            kept = read(name)
            in_place(name, strange)
            code, _, said = pcc.call(*run, "--random-inputs", "1", "--resume", save, timeout=30)
            if code not in (0, 7, 10, 11):
                raise pcc.Failure(f"{name} is {strange}: exit code {code}: {said[-300:]}")
            os.remove(name)
            write(name, kept)


if __name__ == "__main__":
    pcc.main(__doc__, CASES)
