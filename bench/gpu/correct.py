"""Sections of measure.py that test whether programs on GPUs are correct."""
import concurrent.futures
import functools
import math
import os
import re
import signal
import subprocess
import tempfile
import time

from programs import OWN_ATTENTION, SHARED, SIDE_BY_SIDE, OutOfTime, Skipped, Wrong, end, find_tool
from samples import samples

KERNELS = {"f32": 1e-5, "f64": 1e-5, "bf16": 2e-2, "f16": 2e-2}      # a kernel beside its twin
MODELS = {"f32": 1e-4, "bf16": 2e-2}                                 # a model beside the processor's
PLANS = 1e-4         # tolerance of several ranks compared with one, in f32
STEPS = 3
GONE = 5             # seconds until all ranks have noticed that one has ended
MEMCHECK = 120       # seconds after which a program is not waited for any more
MOST_TOLD = 5        # number of problems that are printed


def error_of(got, want):
    """Returns the relative error. JSON has no infinities and no NaN, so a missing number counts as infinite."""
    return abs(got - want) / abs(want) if got is not None and math.isfinite(got) else math.inf


def worst_of(got, want):
    """Returns the largest relative error of the losses and gradient norms of steps."""
    return max(error_of(a, b) for pair in zip(got, want, strict=True) for a, b in zip(*pair))


def expect_none(problems):
    if problems:
        more = f"; and {len(problems) - MOST_TOLD} more" if len(problems) > MOST_TOLD else ""
        raise Wrong("; ".join(problems[:MOST_TOLD]) + more)


def side_by_side(function, arguments):
    """Yields (argument, result or exception) for each argument."""
    with concurrent.futures.ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        calls = [pool.submit(function, argument) for argument in arguments]
        for argument, call in zip(arguments, calls):
            yield argument, call.exception() or call.result()


def kernels(bench):
    """Compares every kernel with its twin, the same kernel on the CPU."""
    figures = bench.figures["kernels"] = dict(launches=0, worst={})
    checks, problems = bench.plan["checks"], []
    for check, probed in side_by_side(lambda name: bench.probe("check", name)["instructions"], checks):
        if isinstance(probed, Exception):
            problems.append(f"{check}: {probed}")
            continue
        figures["launches"] += len(probed)
        for seen in probed:
            for dtype, error in seen["errors"].items():
                error = math.inf if error is None else error
                figures["worst"][dtype] = max(figures["worst"].get(dtype, 0), error)
                if not error <= KERNELS.get(dtype, 0):
                    problems.append(f"{check}: kernel {seen['kernel']} ({seen['node']}) differs from its twin by {error:.1e}, in {dtype}")
    bench.say(f"{figures['launches']} launches of {len(checks)} programs; largest errors "
              + ", ".join(f"{dtype} {error:.1e}" for dtype, error in figures["worst"].items()))
    expect_none(problems)


def difference(got, want):
    """Returns the largest difference, relative to the largest magnitude in `want`."""
    if got["shape"] != want["shape"]:
        return math.inf
    largest = max(map(abs, want["numbers"]))
    return max(abs(a - b) / largest if math.isfinite(a) else math.inf for a, b in zip(got["numbers"], want["numbers"], strict=True))


def logits_of(bench, bundle):
    with tempfile.TemporaryDirectory() as folder:
        bench.run(bundle, "--output", folder)
        return samples(os.path.join(folder, "logits.npy"))


def inference(bench):
    """Compares the results of GPT-2 with those on CPUs."""
    problems = []
    for dtype, case in bench.plan["inference"].items():
        try:
            error = difference(logits_of(bench, case["bundle"]), case["logits"])
        except Wrong as why:
            problems.append(f"{dtype}: {why}")
            continue
        bench.figures.setdefault("inference", {})[dtype] = error
        bench.say(f"{dtype}: {len(case['logits']['numbers'])} of the logits within {error:.1e} of the processor's")
        if not error <= MODELS[dtype]:
            problems.append(f"{case['bundle']} differs from the processor's by {error:.1e}")
    expect_none(problems)


@functools.cache
def losses_of_one(bench, dtype):
    return bench.losses(bench.plan["training"][dtype]["bundle"], STEPS)


def losses(bench):
    """Compares losses and gradient norms of GPT-2 on one rank with those on CPUs."""
    problems = []
    for dtype, case in bench.plan["training"].items():
        try:
            got = losses_of_one(bench, dtype)
        except Wrong as why:
            problems.append(f"{dtype}: {why}")
            continue
        error = bench.figures.setdefault("losses", {})[dtype] = worst_of(got, case["steps"])
        bench.say(f"{dtype}: losses and gradient norms of {len(got)} steps within {error:.1e} of the processor's")
        if not error <= MODELS[dtype]:
            problems.append(f"{case['bundle']} has losses and norms {got}, on a processor {case['steps']}")
    expect_none(problems)


def plans(bench):
    """Compares several ranks on one card, over NCCL, with one rank."""
    want, problems = losses_of_one(bench, "f32"), []
    if not want[-1][0] < want[0][0]:
        problems.append(f"losses of one rank do not fall: {want}")
    for name, bundle in bench.plan["plans"].items():
        try:
            got = bench.losses(bundle, STEPS, *SHARED)
        except Wrong as why:
            problems.append(f"{name}: {why}")
            continue
        error = bench.figures.setdefault("plans", {})[name] = worst_of(got, want)
        bench.say(f"{name}: losses and gradient norms within {error:.1e} of one rank's")
        if not error <= PLANS:
            problems.append(f"{name} has losses and norms {got}, one rank {want}")
    expect_none(problems)


def attention(bench):
    """Compares GPT-2 in bf16 with cuDNN's attention and with pcc's. If cuDNN's fails, the sections that follow use pcc's."""
    bundle = bench.plan["gpt2"]["train"]
    mine = bench.losses(bundle, STEPS, variables=OWN_ATTENTION)
    try:
        theirs = bench.losses(bundle, STEPS)
    except Wrong:
        os.environ.update(OWN_ATTENTION)
        raise
    if mine == theirs:
        raise Skipped("cuDNN is not there")
    error = bench.figures["attention"] = worst_of(theirs, mine)
    bench.say(f"losses and gradient norms with cuDNN's within {error:.1e} of those with pcc's")
    if not error <= MODELS["bf16"]:
        raise Wrong(f"losses and norms {theirs}, with pcc's attention {mine}")


# A rank that is killed ------------------------------------------------------------------------------------------------


def ranks_of(bundle, process):
    """Returns the process ids of a job's ranks."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.getsid(int(pid)) == process.pid and os.readlink(f"/proc/{pid}/exe").startswith(bundle):
                with open(f"/proc/{pid}/environ") as f:
                    rank = re.search(r"PCC_RANK=(\d+)", f.read())
                if rank:
                    found[int(rank[1])] = int(pid)
        except OSError:
            continue
    return found


def wait_for_steps(bench, process, path):
    """Waits until a file reports a few steps."""
    while process.poll() is None and bench.left() > 0:
        with open(path) as said:
            if said.read().count("\n") >= STEPS:
                return
        time.sleep(0.01)
    if process.poll() is None:
        raise OutOfTime("no step was done")
    raise Wrong(f"exit code {process.returncode} before a step was done: {process.communicate(timeout=GONE)[1][-600:]}")


def kill_one(bench, bundle, stopped):
    """Kills rank 1. Returns the seconds until all ranks have ended, and their error message. If `stopped` is not 0, rank 1 is
    first stopped for that many seconds."""
    start = time.monotonic()
    with tempfile.NamedTemporaryFile("w") as out:
        process = bench.start(os.path.join(bundle, "run"), "--random-inputs", 1, "--steps", 10 ** 6, *SHARED, stdout=out,
                              stderr=subprocess.PIPE)
        try:
            wait_for_steps(bench, process, out.name)
            ranks = ranks_of(bundle, process)
            if 1 not in ranks:
                raise Wrong(f"no rank 1 among {ranks}")
            if stopped:
                os.kill(ranks[1], signal.SIGSTOP)
                time.sleep(min(stopped, max(bench.left(), 0)))
            start = time.monotonic()
            os.kill(ranks[1], signal.SIGKILL)
            said = process.communicate(timeout=max(min(4 * GONE, bench.left()), 0))[1].strip()
            took = time.monotonic() - start
        except subprocess.TimeoutExpired:
            raise Wrong(f"ranks are still there after {time.monotonic() - start:.0f} s") from None
        finally:
            end(process)
    # Exit code of a killed rank, as shells report it, or the code for a lost peer.
    if process.returncode not in (14, 128 + signal.SIGKILL) or took > GONE or any(os.path.exists(f"/proc/{pid}") for pid in ranks.values()):
        raise Wrong(f"exit code {process.returncode} after {took:.1f} s: {said[-600:]}")
    return took, said


def killed(bench):
    """Kills one of two ranks in an all-reduce of gradients, which takes most of a step, and measures how soon the other one
    ends. The message of the other rank says whether it was waiting in an all-reduce; if the killed rank was stopped before, it
    certainly was."""
    waits = []
    figures = bench.figures["killed"] = dict(seconds=0, waits=waits)
    for stopped in (0, 0, 2):
        took, said = kill_one(bench, bench.path(bench.plan["plans"]["dp2"]), stopped)
        waited = re.search(r"rank 0 waits for it: .*\b(\w+ of \S+)", said)
        waits.append(waited[1] if waited else "nothing")
        figures["seconds"] = max(figures["seconds"], took)
        bench.say(f"all gone after {took:.2f} s{', rank 1 stopped before' if stopped else ''}: " + said.split("\n")[0])
        # The all_reduce before each step, in which ranks agree whether it is the last one, does not count.
        if waits[-1].startswith("all_reduce") and waits[-1] != "all_reduce of stop":
            break
    if not any(wait.startswith("all_reduce") for wait in waits):
        raise Wrong(f"rank 0 did not wait in an all_reduce, but for {waits}")


# Accesses outside of allocated memory
# ----------------------------------------------------------------------------------------------


def memory(bench):
    """Looks for accesses outside of allocated memory."""
    tool = find_tool("compute-sanitizer")
    if not tool:
        raise Skipped("compute-sanitizer is not there")
    until = time.monotonic() + MEMCHECK

    def check(program):
        # Libraries query the driver for features that it may lack; these calls are no errors.
        bench.call(tool, "--tool", "memcheck", "--report-api-errors", "no", "--error-exitcode", 99,
                   bench.path(os.path.join(program, "rank-000")), "--random-inputs", 1, "-q", "--no-graph",
                   seconds=until - time.monotonic(), variables=OWN_ATTENTION)

    # Take one of the two dtypes of each model, in turns.
    programs = [program for i, program in enumerate(bench.plan["checks"]) if i % 2 == i // 2 % 2]
    ended = list(side_by_side(check, programs))
    clean = sum(why is None for _, why in ended)
    bench.figures["memory"] = dict(clean=clean, programs=len(programs))
    bench.say(f"{clean} of {len(programs)} programs were run, and are clean")
    expect_none([f"{program}: {why}" for program, why in ended if why and not isinstance(why, OutOfTime)])
    if not clean or (clean < len(programs) and bench.left() <= 0):
        raise OutOfTime(f"{len(programs) - clean} programs were not done")
