#!/usr/bin/env python3
"""Tests the calls of cuBLASLt on fake GPUs (test/runtime/fake): products of all types and shapes, sums over microbatches, tf32,
and algorithms that a bundle stores. Results agree with ONNX Runtime to 1e-5 in f32, and to 2e-2 with narrow factors.

    run_cuda_blas.py [--only GLOB] [--every N] [--jobs N]
"""
import glob
import os
import shutil
import tempfile

import numpy as np

import executed
import oracle
import pcc
from run_cuda import TARGET, builder, fake, outputs, steps

CASES = {}
TOLERANCE, NARROW_TOLERANCE, TF32_ERROR = 1e-5, 2e-2, (1e-5, 2e-3)


# Products -----------------------------------------------------------------------------------------------------------------
def linear(rows, depth, columns):
    """Returns a graph of relu(x w + b)."""
    def build(g):
        g.op("MatMul", [g.normal("x", *rows, depth), g.constant("w", g.random.standard_normal((depth, columns)).astype("f4"))], ["p"])
        g.op("Add", ["p", g.constant("b", g.random.standard_normal(columns).astype("f4"))], ["h"])
        g.op("Relu", ["h"], ["y"])
        g.outputs = ["y"]
    return build


def residual(rows, depth, columns):
    """Returns a graph of x w + b + r."""
    def build(g):
        g.op("Gemm", [g.normal("x", rows, depth), g.constant("w", g.random.standard_normal((depth, columns)).astype("f4")),
                      g.constant("b", g.random.standard_normal(columns).astype("f4"))], ["h"])
        g.op("Add", ["h", g.normal("r", rows, columns)], ["y"])
        g.outputs = ["y"]
    return build


def product(build, options, least, most):
    """Tests a product, whose error must lie between `least` and `most`."""
    got, want = outputs(build, options)
    executed.compare(got, want, most)
    worst = max(oracle.relative_error(got[n], want[n]) for n in want)
    if worst < least:
        raise pcc.Failure(f"the error is {worst}, which is too small to be rounded")


SHAPES = {"a matrix": ((5,), 7, 3), "a batch": ((2, 3, 4), 6, 5), "a row": ((1,), 8, 1), "no depth": ((4,), 0, 3),
          "no rows": ((0,), 5, 3), "no columns": ((4,), 5, 0)}
for name, shape in SHAPES.items():
    CASES[f"product of {name}"] = lambda s=shape: product(linear(*s), [], 0, TOLERANCE)
    for dtype in ("bf16", "f16"):
        CASES[f"product of {name} {dtype}"] = lambda s=shape, d=dtype: product(linear(*s), ["--dtype", d], 0, NARROW_TOLERANCE)
CASES["residual"] = lambda: product(residual(5, 7, 3), [], 0, TOLERANCE)
CASES["residual of no depth"] = lambda: product(residual(4, 0, 6), [], 0, TOLERANCE)
CASES["tf32"] = lambda: product(linear((20,), 30, 10), ["--tf32"], *TF32_ERROR)


# Sums over microbatches ---------------------------------------------------------------------------------------------------
def train(folder, model, *options, settings=""):
    """Returns losses and gradient norms of three steps."""
    path, bundle = os.path.join(folder, "model.onnx"), os.path.join(folder, "model.pcc")
    dims = {"mlp": ["--dim", "batch=8"], "gpt2": ["--dim", "batch=8", "--dim", "seq=12"]}[model]
    output = {"mlp": "y", "gpt2": "logits"}[model]
    builder.build(model, path, layers=2)
    pcc.succeed(path, "-o", bundle, *TARGET, *dims, "--train", "--loss", f"mse({output}, labels)", "--optimizer", "sgd", "--lr", "0.05",
                *options)
    return bundle, steps(pcc.succeed("run", bundle, "--random-inputs", "1", "--steps", "3", "-q", env=fake(folder, settings)))


def microbatches(model, dtype, tolerance):
    """Tests that a batch cut in four gives the same steps, with fewer kernels than gradients."""
    with tempfile.TemporaryDirectory() as folder:
        _, whole = train(folder, model, "--dtype", dtype, "--microbatches", "1")
        _, cut = train(folder, model, "--dtype", dtype, "--microbatches", "4")
    for step, pair in enumerate(zip(cut, whole, strict=True), 1):
        for mine, theirs in zip(*pair):
            if not abs(mine - theirs) <= tolerance * abs(theirs):
                raise pcc.Failure(f"step {step}: loss and norm {pair[0]}, of the whole batch {pair[1]}")


def sums_apart(*options):
    """Tests a cuBLASLt that cannot compute column sums along with a product: the matrix is multiplied by ones instead. Only the
    order of additions differs."""
    with tempfile.TemporaryDirectory() as folder:
        _, together = train(folder, "mlp", *options)
        _, apart = train(folder, "mlp", *options, settings="sumless=1")
    if not np.allclose(together, apart, rtol=TOLERANCE, atol=0):
        raise pcc.Failure(f"{together} together, {apart} apart")


for dtype in ("f32", "bf16"):
    for count in ("1", "2"):
        CASES[f"sums apart {dtype} {count}"] = lambda o=("--dtype", dtype, "--microbatches", count): sums_apart(*o)
for model in ("mlp", "gpt2"):
    CASES[f"microbatches {model} f32"] = lambda m=model: microbatches(m, "f32", TOLERANCE)
    CASES[f"microbatches {model} bf16"] = lambda m=model: microbatches(m, "bf16", NARROW_TOLERANCE)


# Algorithms ---------------------------------------------------------------------------------------------------------------
def remembered(bundle):
    return glob.glob(os.path.join(bundle, "algorithms-*"))


def run(bundle, folder, settings, expected=None, code=0):
    got = pcc.call("run", bundle, "--random-inputs", "1", "--steps", "3", "-q", env=fake(folder, settings))
    if got[0] != code:
        raise pcc.Failure(f"exit code {got[0]}, not {code}: {got[2][-400:]}")
    if code == 0 and expected is not None and steps(got[1]) != expected:
        raise pcc.Failure(f"{steps(got[1])}, not {expected}")


def algorithms(change, works, settings="", options=()):
    """Tests whether a run works without choosing algorithms, after the file of an earlier run was changed. A run that may
    choose always works, and writes a file with which a run works."""
    with tempfile.TemporaryDirectory() as folder:
        bundle, expected = train(folder, "mlp", *options)
        if len(remembered(bundle)) != 1:
            raise pcc.Failure(f"the bundle remembers {remembered(bundle)}")
        change(remembered(bundle)[0])
        forgetful = ",".join(filter(None, [settings, "forgetful=1"]))
        run(bundle, folder, forgetful, expected, 0 if works else 1)
        run(bundle, folder, settings, expected)
        run(bundle, folder, forgetful, expected)
        if [f for f in os.listdir(bundle) if ".partial" in f or f.count(".") > 1]:
            raise pcc.Failure(f"left behind: {os.listdir(bundle)}")


def flip(path):
    with open(path, "r+b") as file:
        file.seek(40)
        byte = file.read(1)
        file.seek(40)
        file.write(b"0" if byte != b"0" else b"1")


def foreign():
    """Tests a valid file with algorithms that this cuBLASLt does not know."""
    with tempfile.TemporaryDirectory() as folder:
        bundle, expected = train(folder, "mlp", settings="blas=130100")
        path = remembered(bundle)[0]
        os.rename(path, path.replace("130100", "130000"))
        run(bundle, folder, "forgetful=1", code=1)
        run(bundle, folder, "", expected)
        run(bundle, folder, "forgetful=1", expected)


def read_only():
    """Tests a folder that cannot be written, because the file's name is taken."""
    with tempfile.TemporaryDirectory() as folder:
        bundle, expected = train(folder, "mlp")
        path = remembered(bundle)[0]
        os.remove(path)
        os.mkdir(path)
        run(bundle, folder, "", expected)
        if len(remembered(bundle)) != 1 or os.listdir(path):
            raise pcc.Failure(f"left behind: {remembered(bundle)}")


def packed():
    """Tests that a copy of the bundle contains its stored algorithms."""
    with tempfile.TemporaryDirectory() as folder:
        bundle, expected = train(folder, "mlp")
        copy = os.path.join(folder, "copy.pcc")
        shutil.copytree(bundle, copy)
        run(copy, folder, "forgetful=1", expected)


CASES["algorithms are remembered"] = lambda: algorithms(lambda path: None, True)
CASES["algorithms of several ranks"] = lambda: algorithms(lambda path: None, True, options=["--pp", "2", "--tp", "2"])
CASES["algorithms that are lost"] = lambda: algorithms(os.remove, False)
CASES["algorithms in a damaged file"] = lambda: algorithms(flip, False)
CASES["algorithms in an empty file"] = lambda: algorithms(lambda path: open(path, "w").close(), False)
CASES["algorithms that cuBLASLt does not know"] = foreign
CASES["algorithms of another cuBLASLt"] = lambda: algorithms(lambda path: None, False, "blas=130100")
CASES["algorithms where nothing can be written"] = read_only
CASES["algorithms in a copy"] = packed


# Memory -------------------------------------------------------------------------------------------------------------------
def workspace(arch, capability, code):
    """Tests the size of the workspace, which is smaller on GPUs before Hopper."""
    with tempfile.TemporaryDirectory() as folder:
        bundle, _ = train(folder, "mlp", "--gpu-arch", arch)
        run(bundle, folder, f"memory={16 << 10},capability={capability}", code=code)


CASES["workspace of older GPUs"] = lambda: workspace("sm_80", 80, 0)
CASES["workspace of Hopper"] = lambda: workspace("sm_80", 90, 13)


# --tf32 -------------------------------------------------------------------------------------------------------------------
def refused(options, pattern):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.onnx")
        builder.build("mlp", path, layers=1)
        code, _, err = pcc.call(path, "-o", os.path.join(folder, "b.pcc"), "--dim", "batch=8", "--tf32", *options)
        if code != 2 or pattern not in err:
            raise pcc.Failure(f"exit code {code}: {err}")


def shown(options, expected):
    with tempfile.TemporaryDirectory() as folder:
        bundle = train(folder, "mlp", *options)[0]
        if pcc.inspect(bundle)["tf32"] is not expected:
            raise pcc.Failure("inspect says something else")


CASES["--tf32 on processors"] = lambda: refused([], "--tf32 needs --target cuda")
CASES["--tf32 of bf16"] = lambda: refused(["--target", "cuda", "--dtype", "bf16"], "--tf32 applies to products of f32")
CASES["--tf32 is shown"] = lambda: shown(["--tf32"], True)
CASES["no --tf32 is shown"] = lambda: shown([], False)

if __name__ == "__main__":
    pcc.main(__doc__, CASES)
