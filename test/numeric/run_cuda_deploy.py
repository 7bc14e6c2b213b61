#!/usr/bin/env python3
"""Tests bundles for GPUs on machines without the model's files, LLVM and MPI. If the GPU's driver is missing as well, every
command ends with one clear line.

    run_cuda_deploy.py [--only GLOB] [--every N] [--jobs N]
"""
import ctypes
import glob
import os
import re
import shutil
import tempfile

import executed
import oracle
import pcc
from run_cuda import TARGET, builder, fake

CASES = {}
DIMS = ["--dim", "batch=4", "--dim", "seq=16"]
TRAIN = ["--train", "--loss", "mse(logits, labels)", "--optimizer", "adamw"]
FORMS = {"one": [], "tp": ["--tp", "2"], "pp,tp": ["--pp", "2", "--tp", "2"], "train": TRAIN,
         "train dp,pp": [*TRAIN, "--dp", "2", "--pp", "2", "--microbatches", "2"]}
FULL = dict(layers=12, hidden=768, heads=12, vocabulary=50257, positions=1024)
MOST_BYTES = 60 << 20
# Libraries that an executable may need, including those of NCCL.
ALLOWED = re.compile(r"linux-vdso|ld-linux|lib(c|m|dl|pthread|rt|stdc\+\+|gcc_s)\.so")
# Start of an ELF file for NVIDIA GPUs.
CUBIN = re.compile(rb"\x7fELF.{14}\xbe\x00", re.DOTALL)


def compile_gpt2(folder, form, *options):
    path, bundle = os.path.join(folder, "model", "model.onnx"), os.path.join(folder, "model.pcc")
    os.mkdir(os.path.dirname(path))
    builder.build("gpt2", path, layers=2)
    pcc.succeed(path, "-o", bundle, *DIMS, *FORMS[form], *options)
    return path, bundle


def executables(bundle):
    return [os.path.join(bundle, "run"), *sorted(glob.glob(os.path.join(bundle, "rank-*")))]


def alone(form):
    """Tests that executables need no other library and that weights are in the bundle."""
    with tempfile.TemporaryDirectory() as folder:
        path, bundle = compile_gpt2(folder, form, *TARGET, "--pack-weights")
        for executable in executables(bundle):
            needed = pcc.succeed(executable, command=["ldd"]).splitlines()
            if others := [line.strip() for line in needed if not ALLOWED.search(line) and "statically linked" not in line]:
                raise pcc.Failure(f"{os.path.basename(executable)} needs {others}")
        plain = os.path.join(folder, "plain.pcc")
        pcc.succeed(path, "-o", plain, *DIMS, *FORMS[form])
        run = ["--random-inputs", "1", "-q"] + (["--steps", "2"] if "train" in form else [])
        want = outputs(folder, ["run", plain, *run])
        shutil.rmtree(os.path.dirname(path))
        got = outputs(folder, run, command=[os.path.join(bundle, "run")], env=fake(folder))
        executed.compare(got, want, 1e-4)


def outputs(folder, words, **how):
    out = os.path.join(folder, "out")
    shutil.rmtree(out, ignore_errors=True)
    pcc.succeed(*words, "--output", out, **how)
    return oracle.load(out)


def small(options):
    """Tests a GPT-2 with 124M weights, which the GPU generates."""
    with tempfile.TemporaryDirectory() as folder:
        path, bundle = os.path.join(folder, "model.onnx"), os.path.join(folder, "model.pcc")
        real = os.path.join(pcc.REAL_MODELS, "gpt2-124m", "model.onnx")
        if os.path.exists(real):
            path = real
        else:
            builder.build("gpt2", path, external=True, **FULL)
            builder.without_weights(path)
        pcc.succeed(path, "-o", bundle, "--target", "cuda", "--random-weights", "7", "--dim", "batch=16", "--dim", "seq=1024",
                    *options)
        size = sum({(s := os.stat(f)).st_ino: s.st_size for f in glob.glob(os.path.join(bundle, "**"), recursive=True)
                     if os.path.isfile(f)}.values())
        if size > MOST_BYTES:
            raise pcc.Failure(f"{size} bytes")


def assembled(arch):
    """Tests that a rank's executable has code for its GPUs, and PTX for later ones."""
    with tempfile.TemporaryDirectory() as folder:
        path, bundle = os.path.join(folder, "model.onnx"), os.path.join(folder, "model.pcc")
        builder.build("gpt2", path, layers=1)
        pcc.succeed(path, "-o", bundle, "--target", "cuda", "--gpu-arch", arch, *DIMS, env={"PCC_CUDA_LIBRARIES": os.environ["NVJITLINK"]})
        with open(executables(bundle)[1], "rb") as file:
            code = file.read()
        if not CUBIN.search(code) or f".target {arch}".encode() not in code:
            raise pcc.Failure(f"cubins at {[m.start() for m in CUBIN.finditer(code)]}, PTX of {re.findall(rb'[.]target sm_[0-9]+', code)}")


def has_driver():
    try:
        ctypes.CDLL("libcuda.so.1")
        return True
    except OSError:
        return False


def no_driver(form):
    """Tests that each command exits with 13 and prints the reason once."""
    if has_driver():
        print(f"skipped: no driver {form}: this machine has one")
        return
    with tempfile.TemporaryDirectory() as folder:
        _, bundle = compile_gpt2(folder, form, "--target", "cuda")
        environment = {"PCC_CUDA_LIBRARIES": "", "TMPDIR": folder}
        world = pcc.inspect(bundle)["world"]
        commands = [[pcc.PCC, "run", bundle], [executables(bundle)[0]]] + ([[executables(bundle)[1]]] if world == 1 else [])
        for command in commands:
            code, out, err = pcc.call("--random-inputs", "1", command=command, env=environment, timeout=60)
            if code != 13 or out or err.count("error") != 1 or not err.startswith("pcc: error: cannot open libcuda.so.1"):
                raise pcc.Failure(f"{os.path.basename(command[-1])}: exit code {code}: {out}{err}")


for form in FORMS:
    CASES[f"alone {form}"] = lambda f=form: alone(f)
    CASES[f"no driver {form}"] = lambda f=form: no_driver(f)
for arch in ("sm_80", "sm_90"):
    CASES[f"assembled {arch}"] = lambda a=arch: assembled(a)
CASES["small"] = lambda: small([])
CASES["small bf16"] = lambda: small(["--dtype", "bf16"])
CASES["small train"] = lambda: small(TRAIN)
CASES["small train tp,pp"] = lambda: small([*TRAIN, "--dtype", "bf16", "--tp", "2", "--pp", "2"])

if __name__ == "__main__":
    pcc.main(__doc__, CASES)
