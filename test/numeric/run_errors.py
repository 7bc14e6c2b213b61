#!/usr/bin/env python3
"""Tests bad input: the exit code of each mistake, one line `pcc: error: …`, no text on stdout, no file left.

    run_errors.py [--only GLOB] [--jobs N]
"""
import argparse
import fnmatch
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import bad_models
import numpy as np
import onnx
import pcc

sys.path.insert(0, os.path.join(pcc.ROOT, "test", "models"))
import builder

DIMS = {"batch": 8, "seq": 16}
BOUND = pcc.dim_options(DIMS)
VOCABULARY = 101
CRASH = re.compile(r"Stack dump|Assertion|terminate called|Segmentation|LLVM ERROR|UNREACHABLE|Traceback|Aborted|Sanitizer")
LAUNCH = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
CASES = {}


def case(function):
    """Registers a case, which gets an empty folder. `model(folder)` writes a small GPT-2 there, the MODEL of its arguments."""
    CASES[function.__name__] = function
    return function


def files(folder):
    return {os.path.relpath(os.path.join(d, f), folder) for d, _, fs in os.walk(folder) for f in fs}


def expect(codes, *arguments, mention=(), keeps=None, env=None, command=None):
    """Checks that `arguments` fail with one of `codes`, that the message has each word of `mention`, and that the folder
    `keeps` is unchanged."""
    codes = codes if isinstance(codes, tuple) else (codes,)
    with tempfile.TemporaryDirectory() as scratch:
        before = files(keeps) if keeps else None
        code, out, err = pcc.call(*arguments, timeout=120, cwd=scratch, env={"TMPDIR": scratch, **(env or {})}, command=command)
        left = {f for f in files(scratch) if "ompi." not in f and "pmix" not in f}
        left |= files(keeps) - before if keeps else set()
    if code not in codes:
        raise pcc.Failure(f"exit code {code}, expected {codes}: {err.strip()[-300:]}")
    check_message(err, mention, strict=command is None)
    if out:
        raise pcc.Failure(f"stdout has {out[:100]!r}")
    if left:
        raise pcc.Failure(f"left behind: {sorted(left)[:5]}")


def check_message(err, mention, strict=True):
    """Checks for exactly one error line of the right form, or for at least one if others write to stderr."""
    errors = [line for line in err.splitlines() if re.match(r"pcc: error: [^A-Z\s]", line)]
    if not errors or (strict and len([line for line in err.splitlines() if re.search(r"\berror\b", line, re.I)]) != 1):
        raise pcc.Failure(f"not one line 'pcc: error: …': {err.strip()[-300:]}")
    if crash := CRASH.search(err):
        raise pcc.Failure(f"a crash is no message: {crash.group()}")
    if missing := [m for m in mention if m not in err]:
        raise pcc.Failure(f"the message does not mention {missing}: {err.strip()[-300:]}")


def model(folder, **options):
    path = os.path.join(folder, "m", "model.onnx")
    builder.build("gpt2", path, **{**dict(layers=2, hidden=32, heads=4, vocabulary=VOCABULARY, external=True), **options})
    return path


def bundle(folder, *options):
    """Returns a compiled bundle for two ranks, and the options that give it its input."""
    path = os.path.join(folder, "b.pcc")
    pcc.succeed(model(folder), "-o", path, *BOUND, "--tp", "2", *options)
    np.save(os.path.join(folder, "ids.npy"), np.ones((8, 16), "i8"))
    return path, ["--input", f"input_ids={folder}/ids.npy", "--comm", "thread"]


# Wrong usage --------------------------------------------------------------------------------------------------------------
USAGE = {
    "no_number": ["--tp", "two"], "negative_axis": ["--tp", "-1"], "fraction": ["--pp", "1.5"], "dim_without_value": ["--dim", "batch"],
    "dim_of_zero": ["--dim", "batch=0"], "dim_of_letters": ["--dim", "batch=many"], "no_microbatch": ["--microbatches", "0"],
    "unknown_schedule": ["--schedule", "2f2b"], "unknown_target": ["--target", "tpu"], "unknown_dtype": ["--dtype", "f8"],
    "unknown_phase": ["--stop-after", "9"], "unknown_phase_name": ["--stop-after", "shards"], "shard_without_value": ["--shard", "wte.weight"],
    "open_bracket": ["--shard", "wte.weight=[tp,-"], "unknown_cpu": ["--cpu", "pentium"], "unknown_preset": ["--preset", "alpa"],
    "memory_without_number": ["--memory-limit", "lots"], "missing_value": ["--tp"],
}


def usage(name):
    def run(folder):
        expect(2, model(folder), *BOUND, *USAGE[name], mention=USAGE[name][:1])
    CASES[f"usage_{name}"] = run


for usage_name in USAGE:
    usage(usage_name)


def options_with_values(*command):
    """Long options of a command whose help shows a value."""
    found = re.findall(r"^  (?:-\w,)?(--[\w-]+) (?=[A-Z])(?!Excludes)", pcc.succeed(*command, "--help"), re.MULTILINE)
    if not found:
        raise pcc.Failure(f"{command} has no options with values")
    return found


@case
def empty_values(folder):
    """An option that takes a value rejects an empty one, as an unset variable of a script gives it, in every command."""
    path, given = bundle(folder)
    models = [model(folder), *BOUND]
    for command, words in (([], models), (["verify"], models), (["explain"], models), (["run"], [path, *given]), (["inspect"], [path]),
                           (["checkpoint", "export"], [folder, "-o", "w.safetensors"])):
        for option in options_with_values(*command):
            for empty in ([option, ""], [option + "="]):
                expect(2, *command, *words, *empty, mention=[option])
    for words in ([""], ["run", ""], ["inspect", ""], ["verify", ""], ["checkpoint", "export", ""]):
        expect(2, *words)
    rank = os.path.join(path, "rank-000")
    code, _, err = pcc.call("--output", "", command=[rank], env={"PCC_RANK": "0", "PCC_WORLD_SIZE": "2"})
    if code != 2 or "--output" not in err:
        raise pcc.Failure(f"a rank ends with {code}: {err[-300:]}")


@case
def no_arguments(folder):
    expect(2)


@case
def two_models(folder):
    path = model(folder)
    expect(2, path, path, *BOUND)


@case
def names_that_control_a_terminal(folder):
    """Tests that the command that a message suggests binds a dim of such a name, and that pcc inspect shows the name in one line."""
    path = bad_models.save(os.path.join(folder, "m"), [bad_models.node("Relu", ["i\nn"])], [bad_models.value("i\nn", ["ba\ntch", 10])])
    expect(5, path, mention=[r"'ba\x0atch'", r"--dim $'ba\x0atch=1'"])
    bundle_path = os.path.join(folder, "b.pcc")
    pcc.succeed(path, "--dim", "ba\ntch=8", "-q", "-o", bundle_path)
    if r"inputs i\x0an f32[8,10]" not in pcc.succeed("inspect", bundle_path):
        raise pcc.Failure("the name of the input is not in one line")


@case
def rank_that_is_not_there(folder):
    path, _ = bundle(folder)
    expect(2, "inspect", path, "--rank", "7", mention=["7"])


@case
def dim_given_twice(folder):
    expect(2, model(folder), *BOUND, "--dim", "batch=4", mention=["batch"])


# Models that cannot be read -----------------------------------------------------------------------------------------------
def models_of(codes, makers, mention=()):
    def add(maker):
        def run(folder):
            expect(codes, maker(os.path.join(folder, "m")), "-o", os.path.join(folder, "b.pcc"), mention=mention, keeps=None)
            if os.path.exists(os.path.join(folder, "b.pcc")):
                raise pcc.Failure("b.pcc is left behind")
        CASES[maker.__name__] = run
    for m in makers:
        add(m)


models_of(3, bad_models.INVALID)
models_of(4, bad_models.UNSUPPORTED)
models_of((3, 5), bad_models.CONTRADICTING, mention=["the_node"])


def found(name):
    def run(folder):
        write, mention = bad_models.FOUND[name]
        expect(3, write(os.path.join(folder, "m")), "-o", os.path.join(folder, "b.pcc"), mention=mention, keeps=folder)
    CASES[f"found_{name}"] = run


for found_name in bad_models.FOUND:
    found(found_name)


def annotation(name):
    def run(folder):
        spec, mention = bad_models.ANNOTATIONS[name]
        path = bad_models.annotated(os.path.join(folder, "m"), **spec)
        expect(6, path, "-o", os.path.join(folder, "b.pcc"), mention=["the_node", *mention], keeps=folder)
    CASES[f"annotation_{name}"] = run


for annotation_name in bad_models.ANNOTATIONS:
    annotation(annotation_name)


@case
def annotation_for_another_world(folder):
    path = bad_models.annotated(os.path.join(folder, "m"))
    expect(6, path, "--tp", "4", "-o", os.path.join(folder, "b.pcc"), mention=["'c'", "2 devices", "tp=4"], keeps=folder)


@case
def annotation_against_a_flag(folder):
    path = bad_models.annotated(os.path.join(folder, "m"))
    expect(6, path, "--tp", "2", "--shard", "w=[tp,-]", "-o", os.path.join(folder, "b.pcc"), mention=["'w'", "[tp,-]"], keeps=folder)


@case
def annotated_model_over_its_model(folder):
    path = model(folder)
    before = open(path, "rb").read()
    expect(7, path, *BOUND, "--tp", "2", "--emit", "onnx", "-o", path, keeps=folder)
    if open(path, "rb").read() != before:
        raise pcc.Failure("the model was changed")


@case
def annotated_model_away_from_its_weights(folder):
    path, elsewhere = model(folder), os.path.join(folder, "elsewhere")
    os.makedirs(elsewhere)
    expect(6, path, *BOUND, "--tp", "2", "--emit", "onnx", "-o", os.path.join(elsewhere, "o.onnx"), mention=["weights"], keeps=folder)


@case
def folder_as_model(folder):
    expect(3, folder)


@case
def links_to_nothing(folder):
    for name, command in (("m.onnx", ()), ("m.mlir", ()), ("b.pcc", ("run",))):
        path = os.path.join(folder, name)
        os.symlink("absent", path)
        expect((3, 11), *command, path, mention=["is a link to 'absent', which does not exist"])


@case
def mlir_with_a_syntax_error(folder):
    path = os.path.join(folder, "m.mlir")
    open(path, "w").write("func.func @main( {\n")
    expect(3, path, "-o", os.path.join(folder, "b.pcc"), mention=["m.mlir"], keeps=folder)


@case
def mlir_of_unknown_ops(folder):
    path = os.path.join(folder, "m.mlir")
    open(path, "w").write("func.func @main() {\n  \"nosuch.op\"() : () -> ()\n  return\n}\n")
    expect((3, 4), path, "-o", os.path.join(folder, "b.pcc"), keeps=folder)


@case
def no_mutation_crashes(folder):
    """Tests that the answer to any changed bytes is a bundle or one of the documented errors."""
    path = model(folder, external=False, layers=1, hidden=8, heads=2, vocabulary=11)
    data, random = open(path, "rb").read(), np.random.default_rng(0)
    for i in range(40):
        broken = bytearray(data[:random.integers(len(data))] if i % 4 == 0 else data)
        for at in random.integers(0, max(1, min(len(broken), 4000)), 3 if i % 4 else 0):
            broken[at] = random.integers(256)
        mutant = os.path.join(folder, "mutant.onnx")
        open(mutant, "wb").write(bytes(broken))
        code, out, err = pcc.call(mutant, "-o", os.path.join(folder, "b.pcc"), *BOUND, "--stop-after", "import", timeout=60)
        if code not in (0, 2, 3, 4, 5):
            raise pcc.Failure(f"mutant {i}: exit code {code}: {err.strip()[-300:]}")
        if code:
            check_message(err, ())


# Links as caches have them --------------------------------------------------------------------------------------------------
@case
def model_and_weights_by_links(folder):
    """Tests a cache that stores blobs and links to them: both links resolve into one folder, so no file outside is read."""
    path = model(folder)
    blobs, snapshot = os.path.join(folder, "blobs"), os.path.join(folder, "snapshot")
    os.makedirs(blobs), os.makedirs(snapshot)
    for name, blob in (("model.onnx", "1f"), ("model.weights.bin", "2e")):
        shutil.move(os.path.join(os.path.dirname(path), name), os.path.join(blobs, blob))
        os.symlink(os.path.join("..", "blobs", blob), os.path.join(snapshot, name))
    pcc.succeed(os.path.join(snapshot, "model.onnx"), "-o", os.path.join(folder, "b.pcc"), *BOUND)


@case
def weights_elsewhere_when_allowed(folder):
    path = bad_models.folder_linked_outside(os.path.join(folder, "m"))
    pcc.succeed(path, "-o", os.path.join(folder, "b.pcc"), "--external-data-root", os.path.join(folder, "outside"))


# Dims and requests --------------------------------------------------------------------------------------------------------
@case
def all_unbound_dims_at_once(folder):
    expect(5, model(folder), mention=["--dim batch=", "--dim seq="])


@case
def shape_of_another_rank(folder):
    expect((2, 5), model(folder), "--shape", "input_ids=8x16x2", mention=["input_ids"])


@case
def shape_against_dim(folder):
    expect((2, 5), model(folder), *BOUND, "--shape", "input_ids=4x16", mention=["batch"])


@case
def too_long_for_the_position_table(folder):
    expect((5, 10), model(folder, positions=12, mask="buffer"), *BOUND)


@case
def too_few_cuts(folder):
    path = model(folder)
    cut = next(n.name for n in onnx.load(path, load_external_data=False).graph.node if n.name.startswith("/h.1"))
    expect(6, path, "-o", os.path.join(folder, "b.pcc"), *BOUND, "--pp", "3", "--stage-at", cut, mention=["2"], keeps=folder)


REQUESTS = {
    "microbatches_that_do_not_divide": (["--microbatches", "3"], ["3", "2", "4"]),
    "experts_that_do_not_divide": (["--dp", "2", "--ep", "3"], ["3"]),
    "unknown_cut": (["--pp", "2", "--stage-at", "nowhere"], ["nowhere"]),
    "pin_of_another_rank": (["--tp", "2", "--shard", "wte.weight=[tp]"], ["wte.weight"]),
    "sub_axis_that_does_not_fit": (["--tp", "4", "--shard", "wte.weight=[tp:(2)4,-]"], ["tp"]),
}


def request(name):
    def run(folder):
        options, mention = REQUESTS[name]
        expect(6, model(folder), "-o", os.path.join(folder, "b.pcc"), *BOUND, *options, mention=mention, keeps=folder)
    CASES[name] = run


for request_name in REQUESTS:
    request(request_name)


# Files that cannot be written ---------------------------------------------------------------------------------------------
@case
def a_folder_of_the_user_stays(folder):
    """Tests -o with a folder that is no bundle: its files are not replaced."""
    path, target = model(folder), os.path.join(folder, "thesis")
    os.makedirs(target)
    open(os.path.join(target, "chapter.txt"), "w").write("years of work")
    expect(7, path, "-o", target, *BOUND, keeps=folder)
    if not os.path.exists(os.path.join(target, "chapter.txt")):
        raise pcc.Failure("the user's file is gone")


@case
def bundle_is_a_file(folder):
    path, target = model(folder), os.path.join(folder, "b.pcc")
    open(target, "w").write("a file")
    expect(7, path, "-o", target, *BOUND, mention=["b.pcc"])
    if open(target).read() != "a file":
        raise pcc.Failure("the file was changed")


@case
def dumps_into_a_file(folder):
    path, target = model(folder), os.path.join(folder, "ir")
    open(target, "w").close()
    expect(7, path, "-o", os.path.join(folder, "b.pcc"), *BOUND, f"--dump-ir={target}", keeps=folder)


# Runs -----------------------------------------------------------------------------------------------------------------------
def expect_run(code, folder, *arguments, mention=(), **options):
    expect(code, "run", *arguments, "--output", os.path.join(folder, "out"), mention=mention, **options)
    if os.path.exists(os.path.join(folder, "out")):
        raise pcc.Failure("outputs are left behind")


@case
def index_just_outside_the_table(folder):
    path, _ = bundle(folder)
    np.save(os.path.join(folder, "ids.npy"), np.full((8, 16), VOCABULARY, "i8"))
    expect_run(10, folder, path, "--input", f"input_ids={folder}/ids.npy", "--comm", "thread", mention=[str(VOCABULARY)])


@case
def input_file_is_not_there(folder):
    path, _ = bundle(folder)
    expect_run((7, 10), folder, path, "--input", "input_ids=nothing.npy", "--comm", "thread", mention=["nothing.npy"])


@case
def input_file_is_no_array(folder):
    path, given = bundle(folder)
    open(os.path.join(folder, "ids.npy"), "wb").write(b"\x93NUMPY\x01\x00\xff\xff{'descr'")
    expect_run(10, folder, path, *given, mention=["ids.npy"])


@case
def input_file_is_cut_off(folder):
    path, given = bundle(folder)
    data = open(os.path.join(folder, "ids.npy"), "rb").read()
    open(os.path.join(folder, "ids.npy"), "wb").write(data[:-8])
    expect_run(10, folder, path, *given, mention=["ids.npy"])


@case
def input_file_with_more_than_its_shape(folder):
    path, given = bundle(folder)
    open(os.path.join(folder, "ids.npy"), "ab").write(bytes(8))
    expect_run(10, folder, path, *given, mention=["ids.npy", "it holds 1032 bytes", "[8, 16] of i64 needs 1024 bytes"])


@case
def input_that_the_model_does_not_have(folder):
    path, given = bundle(folder)
    expect_run((2, 10), folder, path, *given, "--input", f"labels={folder}/ids.npy", mention=["labels", "input_ids"])


@case
def folder_that_is_no_bundle(folder):
    expect((3, 11), "run", folder, "--random-inputs", "1")


@case
def rank_file_is_gone(folder):
    path, given = bundle(folder)
    os.remove(os.path.join(path, "rank-001"))
    expect_run(11, folder, path, *given, mention=["rank-001"])


@case
def rank_file_is_cut_off(folder):
    path, given = bundle(folder)
    name = os.path.join(path, "rank-000")
    data = open(name, "rb").read()
    os.remove(name)
    open(name, "wb").write(data[:len(data) // 2])
    os.chmod(name, 0o755)
    expect_run(11, folder, path, *given)


@case
def weights_changed_since(folder):
    path, given = bundle(folder)
    with open(os.path.join(folder, "m", "model.weights.bin"), "r+b") as f:
        f.write(b"\1\2\3\4")
    expect_run(11, folder, path, *given, mention=["model.weights.bin"])


@case
def weights_changed_where_no_sample_lies(folder):
    """Tests a changed byte between the sampled pages, with the old file time: only --check-weights reads it."""
    path, target = os.path.join(folder, "m", "model.onnx"), os.path.join(folder, "b.pcc")
    builder.build("mlp", path, layers=2, hidden=64, inner=1024, external=True)
    pcc.succeed(path, "-o", target, "--dim", "batch=8", "--tp", "2")
    weights = os.path.join(folder, "m", "model.weights.bin")
    times = os.stat(weights)
    with open(weights, "r+b") as f:
        f.seek(5 * 4096)
        f.write(b"\1\2\3\4")
    os.utime(weights, ns=(times.st_atime_ns, times.st_mtime_ns))
    run = ["run", target, "--random-inputs", "1", "--comm", "thread"]
    pcc.succeed(*run)
    expect(11, *run, "--check-weights", mention=["model.weights.bin"])


@case
def weights_gone(folder):
    path, given = bundle(folder)
    os.remove(os.path.join(folder, "m", "model.weights.bin"))
    expect_run(11, folder, path, *given, mention=["model.weights.bin"])


@case
def world_of_one(folder):
    path, given = bundle(folder)
    expect(12, "-n", "1", os.path.join(path, "run"), *given[:2], command=["mpirun"], env=LAUNCH, mention=["1", "2"])


@case
def launcher_contradicts_itself(folder):
    path, given = bundle(folder)
    expect(12, *given[:2], command=[os.path.join(path, "run")], env={"RANK": "5", "WORLD_SIZE": "2", "LOCAL_RANK": "5"}, mention=["5"])


@case
def no_device(folder):
    path, given = bundle(folder)
    expect_run(13, folder, path, *given[:2], "--comm", "nccl")


@case
def interrupted_while_the_bundle_is_written(folder):
    """Tests Ctrl-C, a closed terminal, and signals that shells and batch systems send: no file is left. Copied weights make the writing slow."""
    path = os.path.join(folder, "model.onnx")
    builder.build("mlp", path, layers=8, hidden=1024, inner=4096)
    target = os.path.join(folder, "b.pcc")
    for sent in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGALRM, signal.SIGXCPU):
        process = subprocess.Popen([pcc.PCC, path, "-o", target, "--dim", "batch=8", "--tp", "2", "--pack-weights"],
                                   stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and not any(".part-" in name for name in os.listdir(folder)):
            time.sleep(0.001)
        process.send_signal(sent)
        if process.wait(timeout=60) != -sent:
            raise pcc.Failure(f"ended with {process.returncode} after signal {sent}")
        if left := files(folder) - {"model.onnx"}:
            raise pcc.Failure(f"left behind: {sorted(left)[:5]}")


@case
def interrupted_runs_tell_the_signal(folder):
    """Tests that a run says which signal has ended it, as threads and as processes. The exit code is that of shells."""
    path, given = bundle(folder)
    for comm in ("thread", "mpi"):
        for sent in (signal.SIGINT, signal.SIGTERM):
            process = subprocess.Popen([pcc.PCC, "run", path, *given[:2], "--comm", comm, "--repeat", "1000000000"], stdin=subprocess.DEVNULL,
                                       stderr=subprocess.PIPE, text=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
            time.sleep(2)
            process.send_signal(sent)
            _, err = process.communicate(timeout=60)
            if process.returncode != 128 + sent or err != f"pcc: error: the run was ended by signal {int(sent)} ({signal.strsignal(sent)})\n":
                raise pcc.Failure(f"{comm}: exit code {process.returncode} after {sent.name}, said {err!r}")


@case
def outputs_stay_in_their_folder(folder):
    """Tests that outputs stay in their folder: an output's name comes from the model, which may be hostile."""
    evil = "../../evil"
    path = bad_models.save(os.path.join(folder, "m"), [bad_models.node("Relu", ["x"], [evil])], outputs=[bad_models.value(evil, None)])
    pcc.succeed(path, "-o", os.path.join(folder, "b.pcc"))
    np.save(os.path.join(folder, "x.npy"), np.ones((2, 10), "f4"))
    before = files(folder)
    pcc.succeed("run", os.path.join(folder, "b.pcc"), "--input", f"x={folder}/x.npy", "--output", os.path.join(folder, "a", "b", "out"))
    new = files(folder) - before
    if not new or any(not f.startswith(os.path.join("a", "b", "out") + os.sep) for f in new):
        raise pcc.Failure(f"wrote {sorted(new)}")


def run_case(function):
    with tempfile.TemporaryDirectory() as folder:
        function(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="*", metavar="GLOB")
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    return pcc.run_cases([(n, run_case, (f,)) for n, f in CASES.items() if fnmatch.fnmatch(n, arguments.only)], arguments.jobs)


if __name__ == "__main__":
    sys.exit(main())
