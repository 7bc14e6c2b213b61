#!/usr/bin/env python3
"""Tests `pcc checkpoint export`: the trained weights of a checkpoint of two ranks as plain safetensors, and in a copy of the
model. ONNX Runtime computes the same with that copy as with one that the onnx package has made.

    run_checkpoint_export.py [--only GLOB] [--jobs N]
"""
import json
import os
import struct
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnx.numpy_helper
import pcc

sys.path.insert(0, os.path.join(pcc.ROOT, "test", "models"))
import builder
import oracle

SAVE_ARRAYS = os.environ.get("SAVE_ARRAYS", os.path.join(os.path.dirname(os.path.dirname(pcc.PCC)), "test", "save-arrays"))
DIMS = {"batch": 4, "seq": 8}
CASES = {}


def case(function):
    """Registers a case, which gets an empty folder."""
    def run():
        with tempfile.TemporaryDirectory() as folder:
            function(folder)
    CASES[function.__name__] = run
    return function


def initializers(path):
    return {i.name: onnx.numpy_helper.to_array(i) for i in onnx.load(path).graph.initializer}


def trained_weights(path, seed=1):
    """Returns other values for every second float weight, beginning with the first."""
    random = np.random.default_rng(seed)
    floats = [n for n, v in initializers(path).items() if v.dtype == np.float32 and v.size]
    return {n: (initializers(path)[n] + 0.1 * random.standard_normal(initializers(path)[n].shape)).astype("f4") for n in floats[::2]}


def save(folder, model, weights, step=3, transposed=()):
    """Writes a checkpoint with `weights`, by name; those in `transposed` become transposed parameters. Returns its folder."""
    arrays, out = os.path.join(folder, "arrays"), os.path.join(folder, "checkpoints")
    os.makedirs(arrays, exist_ok=True)
    words = {True: ["transposed"], False: []}
    for i, (name, value) in enumerate(weights.items()):
        path = os.path.join(arrays, f"{step}-{i}.npy")
        np.save(path, value)
        words[name in transposed].append(f"{name}={path}")
    subprocess.run([SAVE_ARRAYS, out, str(step), model, *words[False], *words[True]], check=True)
    return out


def read_safetensors(path):
    """Reads a file according to the documentation of the format."""
    with open(path, "rb") as f:
        content = f.read()
    length, = struct.unpack("<Q", content[:8])
    header, data = json.loads(content[8:8 + length]), content[8 + length:]
    ends = sorted(e["data_offsets"] for e in header.values())
    if ends[0][0] != 0 or ends[-1][1] != len(data) or any(a[1] != b[0] for a, b in zip(ends, ends[1:])):
        raise pcc.Failure(f"{path} has holes")
    kinds = {"F32": "f4", "F64": "f8", "I64": "i8"}
    return {n: np.frombuffer(data[slice(*e["data_offsets"])], kinds[e["dtype"]]).reshape(e["shape"]) for n, e in header.items()}


def expect_equal(got, want, what):
    if set(got) != set(want):
        raise pcc.Failure(f"{what}: {sorted(set(got) ^ set(want))[:5]} are on one side only")
    for name in want:
        if got[name].dtype != want[name].dtype or got[name].shape != want[name].shape or (got[name] != want[name]).any():
            raise pcc.Failure(f"{what}: {name} differs")


def expect_exported(model, out, weights, inputs):
    """Checks that `out` is `model` with `weights` and no other change."""
    onnx.checker.check_model(out, full_check=True)
    want = onnx.load(model)
    for i in want.graph.initializer:
        if i.name in weights:
            i.CopyFrom(onnx.numpy_helper.from_array(weights[i.name], i.name))
    reference = os.path.join(os.path.dirname(out), "reference.onnx")
    onnx.save(want, reference)
    expect_equal(initializers(out), initializers(reference), "initializers")
    got = onnx.load(out)
    for graph in (got.graph, want.graph):
        del graph.initializer[:]
    if got.SerializeToString(deterministic=True) != want.SerializeToString(deterministic=True):
        raise pcc.Failure("more than weights was changed")
    expect_equal(oracle.run(out, inputs), oracle.run(reference, inputs), "outputs")


def files(folder):
    return {os.path.relpath(os.path.join(d, f), folder) for d, _, fs in os.walk(folder) for f in fs}


def expect_error(code, mention, folder, *arguments, **options):
    """Checks that the export fails with a line that contains `mention`, and leaves no file."""
    before = files(folder)
    got, out, err = pcc.call("checkpoint", "export", *arguments, **options)
    if got != code or mention not in err or not err.startswith("pcc: error: ") or out:
        raise pcc.Failure(f"exit code {got} instead of {code}: {err.strip()[-400:]}")
    if files(folder) != before:
        raise pcc.Failure(f"left behind: {sorted(files(folder) - before)[:5]}")


def small(folder, **options):
    """Returns a model, inputs for it, and other values for half of its weights."""
    path = os.path.join(folder, "m", "model.onnx")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    inputs = builder.build("gpt2", path, layers=1, **options).draw_inputs(DIMS)
    return path, inputs, trained_weights(path)


# Exports -----------------------------------------------------------------------------------------------------------------
@case
def safetensors(folder):
    model, _, weights = small(folder)
    matrices = [n for n, v in weights.items() if v.ndim == 2]
    out = os.path.join(folder, "trained.safetensors")
    pcc.succeed("checkpoint", "export", save(folder, model, weights, transposed=matrices[:2]), "-o", out)
    expect_equal(read_safetensors(out), weights, "safetensors")


@case
def within_the_model(folder):
    model, inputs, weights = small(folder)
    matrices = [n for n, v in weights.items() if v.ndim == 2]
    out = os.path.join(folder, "out.onnx")
    pcc.succeed("checkpoint", "export", save(folder, model, weights, transposed=matrices[:2]), "-o", out)
    expect_exported(model, out, weights, inputs)


@case
def weights_as_typed_data(folder):
    """Tests elements that the model has in float_data."""
    path = os.path.join(folder, "model.onnx")
    inputs = builder.build("mlp", path, layers=2).draw_inputs(DIMS)
    model = onnx.load(path)
    for i in model.graph.initializer:
        if i.data_type == onnx.TensorProto.FLOAT:
            values = onnx.numpy_helper.to_array(i)
            i.CopyFrom(onnx.helper.make_tensor(i.name, i.data_type, values.shape, values.flatten()))
    onnx.save(model, path)
    weights, out = trained_weights(path), os.path.join(folder, "out.onnx")
    pcc.succeed("checkpoint", "export", save(folder, path, weights), "-o", out)
    expect_exported(path, out, weights, inputs)


@case
def external_data(folder):
    """Tests that the export contains all of its weights: it does not need the model."""
    model, inputs, weights = small(folder, external=True)
    checkpoints = save(folder, model, weights)
    os.makedirs(os.path.join(folder, "out"))
    out = os.path.join(folder, "out", "out.onnx")
    pcc.succeed("checkpoint", "export", checkpoints, "-o", out)
    if not os.path.exists(out + ".data") or os.path.getsize(out) > 100000:
        raise pcc.Failure("the weights are not beside the model")
    expect_exported(model, out, weights, inputs)


@case
def newest_or_one_step(folder):
    model, _, first = small(folder)
    second = trained_weights(model, seed=2)
    checkpoints, out = save(folder, model, first, step=3), os.path.join(folder, "out.safetensors")
    save(folder, model, second, step=5)
    code, said, told = pcc.call("checkpoint", "export", checkpoints, "-o", out)
    result = f"{out}: {len(second)} trained weights of {os.path.join(checkpoints, 'step-00000005')}\n"
    if (code, said, told) != (0, "", result):
        raise pcc.Failure(f"said {said!r} and {told!r}, not {result!r}")
    if (quiet := pcc.call("checkpoint", "export", checkpoints, "-o", out, "-q")) != (0, "", ""):
        raise pcc.Failure(f"-q: {quiet}")
    expect_equal(read_safetensors(out), second, "newest")
    pcc.succeed("checkpoint", "export", os.path.join(checkpoints, "step-00000003"), "-o", out)
    expect_equal(read_safetensors(out), first, "one step")


@case
def moved_model(folder):
    model, inputs, weights = small(folder)
    checkpoints = save(folder, os.path.join(folder, "gone.onnx"), weights)
    out = os.path.join(folder, "out.onnx")
    expect_error(3, "gone.onnx", folder, checkpoints, "-o", out)
    pcc.succeed("checkpoint", "export", checkpoints, "-o", out, "--model", model)
    expect_exported(model, out, weights, inputs)


# Errors ------------------------------------------------------------------------------------------------------------------
@case
def wrong_usage(folder):
    expect_error(2, "needs FILE.safetensors or FILE.onnx, got 'out.bin'", folder, folder, "-o", "out.bin")
    code, _, err = pcc.call("checkpoint")
    if code != 2 or "pcc: error: " not in err:
        raise pcc.Failure(f"exit code {code}: {err}")


@case
def no_checkpoint(folder):
    expect_error(10, "there is no checkpoint in", folder, folder, "-o", os.path.join(folder, "out.onnx"))
    expect_error(10, "does not exist", folder, os.path.join(folder, "absent"), "-o", os.path.join(folder, "out.onnx"))


@case
def damaged_checkpoint(folder):
    model, _, weights = small(folder)
    checkpoints = save(folder, model, weights)
    with open(os.path.join(checkpoints, "step-00000003", "rank-001.safetensors"), "r+b") as f:
        f.seek(8 + struct.unpack("<Q", f.read(8))[0])
        f.write(b"\x55\x55")
    for out in ("out.onnx", "out.safetensors"):
        expect_error(11, "has another checksum", folder, checkpoints, "-o", os.path.join(folder, out))


@case
def another_model(folder):
    model, _, weights = small(folder)
    out = os.path.join(folder, "out.onnx")
    name = next(iter(weights))
    checkpoints = save(folder, model, {**weights, "no/such/weight": np.zeros(3, "f4")}, step=1)
    expect_error(6, "has no initializer 'no/such/weight'", folder, checkpoints, "-o", out)
    checkpoints = save(folder, model, {**weights, name: weights[name][:-1]}, step=2)
    expect_error(6, f"has initializer '{name}' as float[", folder, checkpoints, "-o", out)


@case
def places_that_are_taken(folder):
    model, _, weights = small(folder)
    checkpoints = save(folder, model, weights)
    expect_error(7, "pcc reads it", folder, checkpoints, "-o", model)
    os.makedirs(os.path.join(folder, "folder.safetensors", "full"))
    expect_error(7, "folder.safetensors", folder, checkpoints, "-o", os.path.join(folder, "folder.safetensors"))
    expect_error(7, "does not exist", folder, checkpoints, "-o", os.path.join(folder, "absent", "out.onnx"))


@case
def data_of_the_model_itself(folder):
    """Tests an export whose data file would be that of the model."""
    model, _, weights = small(folder, external=True)
    checkpoints = save(folder, model, weights)
    data = next(f for f in os.listdir(os.path.dirname(model)) if f != "model.onnx")
    moved = onnx.load(model, load_external_data=False)
    for i in moved.graph.initializer:
        for entry in i.external_data:
            if entry.key == "location":
                entry.value = "out.onnx.data"
    onnx.save(moved, model)
    os.rename(os.path.join(os.path.dirname(model), data), os.path.join(os.path.dirname(model), "out.onnx.data"))
    expect_error(7, "would overwrite those of the model", folder, checkpoints, "-o", os.path.join(os.path.dirname(model), "out.onnx"))


@case
def full_disk(folder):
    model, _, weights = small(folder)
    checkpoints = save(folder, model, weights)
    limited = ["bash", "-c", "trap '' XFSZ; ulimit -f 8; exec \"$@\"", "limited", pcc.PCC]
    for out in ("out.onnx", "out.safetensors"):
        expect_error(7, "cannot write", folder, checkpoints, "-o", os.path.join(folder, out), command=limited)


@case
def paths_of_any_bytes(folder):
    """A path may have any byte but zero: the checkpoint is found again, and the model that it names."""
    for name in ("a\nb", os.fsdecode(b"\xff"), "100%s", "\"it's\" \\ -"):
        place = os.path.join(folder, name)
        os.mkdir(place)
        model, bundle, saved, trained = (os.path.join(place, part) for part in ("m.onnx", "m.pcc", "saved", "trained.onnx"))
        builder.build("mlp", model)
        pcc.succeed(model, "-o", bundle, "-q", "--dim", "batch=8", "--dp", "2", "--train", "--loss", "mse(y, labels)")
        run = ["run", bundle, "--comm", "thread", "--random-inputs", "1", "-q"]
        pcc.succeed(*run, "--steps", "1", "--save", saved)
        pcc.succeed(*run, "--steps", "2", "--resume", saved)
        pcc.succeed("checkpoint", "export", saved, "-o", trained)
        if initializers(trained).keys() != initializers(model).keys():
            raise pcc.Failure(f"{name!r}: the model's weights are not those of the export")


if __name__ == "__main__":
    pcc.main(__doc__, CASES)
