#!/usr/bin/env python3
"""Tests faults on fake GPUs (test/runtime/fake). Defects are detected: work that does not wait for its inputs, communicators in
different orders, transfers that are not grouped. Other faults end with one clear line: an unsuitable machine, a launch that
fails, a rank that is killed or hangs.

    run_cuda_faults.py [--only GLOB] [--every N] [--jobs N]
"""
import glob
import os
import re
import signal
import subprocess
import tempfile
import time

import pcc
from run_cuda import TARGET, builder, fake

CASES = {}
# Plans whose ranks reduce over one group, gather over another one and send along a pipeline.
PLANS = {"dp,tp": ["--dp", "2", "--tp", "2"], "pp": ["--pp", "2", "--microbatches", "2"], "one": [],
         "interleaved": ["--pp", "2", "--microbatches", "4", "--schedule", "interleaved"]}


def compile_mlp(folder, options, train=True):
    path = os.path.join(folder, "model.onnx")
    builder.build("mlp", path, layers=2)
    training = ["--train", "--loss", "mse(y, labels)", "--optimizer", "sgd"] if train else []
    bundle = os.path.join(folder, "model.pcc")
    pcc.succeed(path, "-o", bundle, "--dim", "batch=8", *TARGET, *training, *options)
    return bundle


def run(bundle, folder, settings, *options, variables=()):
    """Returns exit code, stdout and stderr of three steps."""
    trains = any(output["name"] == "loss" for output in pcc.inspect(bundle)["outputs"])
    return pcc.call("run", bundle, "--random-inputs", "1", "--steps" if trains else "--repeat", "3", "--timeout", "5", "--load-timeout", "5", "-q",
                    *options, env=fake(folder, settings) | dict(variables), timeout=60)


def expect(code, pattern, got):
    if got[0] != code or not re.search(pattern, got[2]):
        raise pcc.Failure(f"exit code {got[0]}, not {code} and /{pattern}/: {got[2].strip()[:400]}")


def left_out(plan, setting, pattern, most):
    """Tests that leaving out a call at any place is detected or changes nothing."""
    with tempfile.TemporaryDirectory() as folder:
        bundle = compile_mlp(folder, PLANS[plan])
        right, caught = run(bundle, folder, "")[1], 0
        for number in range(1, most, 7):
            code, out, err = run(bundle, folder, f"{setting}={number},seed={number}")
            if code == 0 and out == right:
                continue
            if code == 0 or not re.search(pattern, err):
                raise pcc.Failure(f"{setting}={number}: exit code {code}: {err.strip()[:400]}{out if code == 0 else ''}")
            caught += 1
        if caught < 3:
            raise pcc.Failure(f"{caught} faults were caught")


def seeds(plan):
    """Tests that the result does not depend on the order in which streams execute their work."""
    with tempfile.TemporaryDirectory() as folder:
        bundle = compile_mlp(folder, PLANS[plan])
        said = {run(bundle, folder, f"seed={seed}")[1] for seed in range(1, 6)}
        if len(said) != 1 or not said.pop().startswith("step 1 loss"):
            raise pcc.Failure(f"ranks say {said}")


def swapped():
    """Tests two ranks that call two communicators in different orders."""
    with tempfile.TemporaryDirectory() as folder:
        bundle = compile_mlp(folder, PLANS["dp,tp"])
        run(bundle, folder, "", "--no-graph")
        with open(glob.glob(os.path.join(folder, "pcc-fake-nccl-*", "calls"))[0]) as file:
            comms = file.read().split()
        # The first call of each communicator, and messages outside of steps, are waited for, so they cannot come after the next
        # call.
        begin = max(map(comms.index, comms)) + 1
        places = [i + 1 for i in range(begin, len(comms) - 1) if comms[i] != comms[i + 1] and "world" not in comms[i:i + 2]]
        if not places:
            raise pcc.Failure(f"no two calls to swap among those of {sorted(set(comms))}")
        for place in places[:12:3]:
            expect(1, "in different orders|does not wait for it", run(bundle, folder, f"swap-at={place}", "--no-graph"))


def waited_behind():
    """Tests calls of NCCL that are not started in the host's order, although the user sets the order: a receive that is posted
    early would delay the work that it waits for."""
    with tempfile.TemporaryDirectory() as folder:
        bundle = compile_mlp(folder, PLANS["interleaved"])
        expect(0, "", run(bundle, folder, "", variables={"NCCL_LAUNCH_ORDER_IMPLICIT": "1"}))


def misfit(settings, code, pattern, options=(), plan="one", run_options=(), train=True):
    with tempfile.TemporaryDirectory() as folder:
        bundle = compile_mlp(folder, [*PLANS[plan], *options], train)
        expect(code, pattern, run(bundle, folder, settings, *run_options))


def start(bundle, folder, settings, *options):
    """Starts a run in the background. Returns it and its ranks' process ids by rank."""
    process = subprocess.Popen([pcc.PCC, "run", bundle, "--random-inputs", "1", "--steps", "100000", "-q", *options],
                               env={**os.environ, **fake(folder, settings)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               start_new_session=True)
    for _ in range(3):
        process.stdout.readline()
    ranks = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline") as command, open(f"/proc/{pid}/environ") as environ:
                if "rank-0" in command.read() and folder in (words := environ.read()):
                    ranks[int(re.search(r"PCC_RANK=(\d+)", words)[1])] = int(pid)
        except OSError:
            continue
    return process, ranks


def lost(plan, what, pattern, seconds, settings=""):
    """Sends a signal to one rank: the others end in time, and the error names the rank that they waited for."""
    with tempfile.TemporaryDirectory() as folder:
        process, ranks = start(compile_mlp(folder, PLANS[plan]), folder, settings, "--timeout", "3")
        begin = time.monotonic()
        os.kill(ranks[1], what)
        _, err = process.communicate(timeout=60)
        took = time.monotonic() - begin
        expect(14, pattern, (process.returncode, "", err))
        if took > seconds:
            raise pcc.Failure(f"the others were gone after {took:.1f} s")
        if left := [r for r, pid in ranks.items() if os.path.exists(f"/proc/{pid}")]:
            raise pcc.Failure(f"ranks {left} are still there")


def damaged(library, plan):
    """Tests damaged libraries: the error names the first one that cannot be opened."""
    with tempfile.TemporaryDirectory() as folder:
        bundle, libraries = compile_mlp(folder, PLANS[plan]), os.path.join(folder, "libraries")
        os.mkdir(libraries)
        for name in ("libcuda.so.1", "libcublasLt.so.13", "libnccl.so.2"):
            os.symlink(os.path.join(fake(folder)["PCC_CUDA_LIBRARIES"], name), os.path.join(libraries, name))
        os.remove(os.path.join(libraries, library))
        with open(os.path.join(libraries, library), "w") as file:
            file.write("no library")
        expect(13, f"cannot open {library}", run(bundle, folder, "", variables={"PCC_CUDA_LIBRARIES": libraries}))


def unsupported():
    """Tests a dump made for CPUs with rows that only a host could select."""
    with tempfile.TemporaryDirectory() as folder:
        path, dump = os.path.join(folder, "model.onnx"), os.path.join(folder, "5-localize.mlir")
        builder.build("moe", path)
        pcc.succeed(path, "--dim", "batch=8", "--ep", "4", "--dump-ir=" + folder, "--stop-after", "5")
        with open(dump) as file:
            text = file.read()
        with open(dump, "w") as file:
            file.write(text.replace("dist.mesh =", 'dist.target = "cuda", dist.mesh =', 1))
        expect(4, "the cuda device cannot run dist.collective", pcc.call(dump, "-o", os.path.join(folder, "model.pcc")))


CASES["fault: rows of experts"] = unsupported
CASES["order: a receive that others wait behind"] = waited_behind
for p in PLANS:
    CASES[f"order: seeds {p}"] = lambda p=p: seeds(p)
    CASES[f"order: a late copy {p}"] = lambda p=p: left_out(p, "late-copy", "does not wait for it|the host changed", 60)
for p in ("dp,tp", "pp"):
    CASES[f"order: a dropped wait {p}"] = lambda p=p: left_out(p, "drop-wait", "does not wait for it", 100)
    CASES[f"fault: killed {p}"] = lambda p=p: lost(p, signal.SIGKILL, "rank 1 was lost: it was ended by signal 9", 5)
    CASES[f"fault: stopped {p}"] = lambda p=p: lost(p, signal.SIGSTOP, r"rank 1.*(action|step)", 3 + 5)
CASES["order: communicators in another order"] = swapped
# Two ranks that exchange columns. If the sends and receives are not one group, each rank sends and none receives.
EXCHANGE = dict(options=["--mesh", "a=2", "--shard", "x=[-,a]"], train=False)
CASES["fault: an exchange"] = lambda: misfit("", 0, "", **EXCHANGE)
CASES["fault: an exchange that is not grouped"] = lambda: misfit("ungroup=1", 14, r"exchange of x .* waited 5[.0-9]* s; rank . of \{0,1\} did not arrive", **EXCHANGE)
CASES["fault: no GPU"] = lambda: misfit("count=0", 13, "the driver sees no GPU")
CASES["fault: too few GPUs"] = lambda: misfit("count=1", 13, "ranks 0 and 1 both have GPU 0000:00:00.0 of .*--share-gpu", plan="pp")
CASES["fault: one GPU for all"] = lambda: misfit("count=1", 0, "", plan="pp", run_options=["--share-gpu"])
CASES["fault: an old driver"] = lambda: misfit("driver=12040", 13, "the driver is one of CUDA 12.4, pcc needs CUDA 13.0")
CASES["fault: an old GPU"] = lambda: misfit("capability=80", 13, "compiled for sm_90, but GPU 0 .* is older")
CASES["fault: code for older GPUs"] = lambda: misfit("capability=90", 0, "", ["--gpu-arch", "sm_80"])
CASES["fault: too little memory"] = lambda: misfit("memory=100", 13, "cuMemAlloc failed: CUDA_ERROR_OUT_OF_MEMORY")
CASES["fault: memory that ends"] = lambda: misfit("no-memory-at=3", 13, "cuMemAlloc failed: CUDA_ERROR_OUT_OF_MEMORY")
CASES["fault: a newer GPU"] = lambda: misfit("capability=120", 0, "")
CASES["fault: an old NCCL"] = lambda: misfit("nccl=22503", 13, "libnccl.so.2 is of version 2.25.3, pcc needs 2.27.0", plan="pp")
CASES["fault: another cuBLASLt"] = lambda: misfit("blas=120800", 13, "libcublasLt.so.13 is of version 12, not 13")
for name, p in (("libcuda.so.1", "one"), ("libcublasLt.so.13", "one"), ("libnccl.so.2", "pp")):
    CASES[f"fault: damaged {name}"] = lambda name=name, p=p: damaged(name, p)
CASES["fault: a peer that NCCL misses"] = lambda: misfit("remote-at=10", 14, "(send|receive) failed: a peer is gone", plan="pp")
CASES["fault: an abort that hangs"] = lambda: lost("dp,tp", signal.SIGKILL, "rank 1 was lost: it was ended by signal 9", 5, "stuck-abort=1")
CASES["fault: a launch that fails"] = lambda: misfit("fail-at=5", 1, "cuLaunchKernel failed: CUDA_ERROR_LAUNCH_FAILED")

if __name__ == "__main__":
    pcc.main(__doc__, CASES)
