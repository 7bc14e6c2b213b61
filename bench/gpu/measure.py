#!/usr/bin/env python3
"""What pcc's programs do on a GPU: measure.py FOLDER [-o FILE.json] [--only GLOB], with what bench/gpu/prepare.py has written in
FOLDER. Needs the driver, cuBLASLt and NCCL (those of PyTorch, or in PCC_CUDA_LIBRARIES), and compares with PyTorch where it is there.

Ends with 1 if something is wrong, not if it is slow. What cannot be done here (no PyTorch, no compute-sanitizer) is said."""
import argparse
import fnmatch
import importlib.util
import json
import math
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOLERANCES = {"f32": 1e-5, "f64": 1e-5, "bf16": 2e-2, "f16": 2e-2}   # a kernel beside its twin
LOSSES = 1e-4        # of f32 training on several ranks, relative to one
GONE = 5             # seconds until all ranks know of one's end
PEAKS = {"H100": 989.4e12, "H200": 989.4e12, "A100": 312e12}         # dense bf16
STEPS, WARMUP = 30, 10
MEMCHECK = 120       # seconds after which no other program is checked
SHARED = ["--share-gpu", "--timeout", "60"]
OWN_ATTENTION = {"PCC_CUDNN": "off"}


class Wrong(Exception):
    """What was measured is of a wrong program."""


class Skipped(Exception):
    """Cannot be measured here; the text says why."""


def libraries():
    """Where Python environments have CUDA's libraries: beside PyTorch."""
    found = importlib.util.find_spec("nvidia")
    roots = list(found.submodule_search_locations) if found else []
    return [folder for root in roots for name in sorted(os.listdir(root)) if os.path.isdir(folder := os.path.join(root, name, "lib"))]


def environment():
    """Of programs; what the user says comes first."""
    return {"PCC_CUDA_LIBRARIES": ":".join(libraries()), **os.environ}


def call(*command, text=None, seconds=300, variables=()):
    done = subprocess.run([str(word) for word in command], input=text, capture_output=True, text=True, env=environment() | dict(variables),
                          timeout=seconds)
    if done.returncode:
        raise Wrong(f"exit code {done.returncode}: {' '.join(map(str, command))}: {done.stderr.strip()[-600:]}")
    return done.stdout


class Bench:
    def __init__(self, folder):
        self.folder = folder
        with open(os.path.join(folder, "plan.json")) as f:
            self.plan = json.load(f)
        self.figures = {}

    def path(self, name):
        return os.path.join(self.folder, name)

    def probe(self, verb, bundle):
        # Twins are of pcc's own kernels.
        return json.loads(call(self.path("gpu-probe"), verb, self.path(bundle), variables=OWN_ATTENTION if verb == "check" else {}))

    def run(self, bundle, *options, variables=()):
        """-> the report"""
        with tempfile.TemporaryDirectory() as folder:
            report = os.path.join(folder, "report.json")
            call(os.path.join(self.path(bundle), "run"), "--random-inputs", 1, "-q", "--report", report, *options, variables=variables)
            with open(report) as f:
                return json.load(f)

    def torch(self, *arguments, text=None):
        sees_gpu = "import sys, torch; sys.exit(not torch.cuda.is_available())"
        if subprocess.run([sys.executable, "-c", sees_gpu], stderr=subprocess.DEVNULL).returncode:
            raise Skipped("PyTorch is not there, or sees no GPU")
        return json.loads(call(sys.executable, os.path.join(HERE, "torch_peer.py"), *arguments, text=text))


def quantile(values, part):
    return sorted(values)[min(int(len(values) * part), len(values) - 1)]


# Right or wrong ------------------------------------------------------------------------------------------------------


def kernels(bench):
    """Every kernel beside its twin."""
    worst, count = {}, 0
    for check in bench.plan["checks"]:
        for seen in bench.probe("check", check)["instructions"]:
            count += 1
            for dtype, error in seen["errors"].items():
                # JSON has no infinity.
                error = float("inf") if error is None else error
                if not error <= TOLERANCES.get(dtype, 0):
                    raise Wrong(f"{check}: kernel {seen['kernel']} ({seen['node']}) differs from its twin by {error:.1e}, in {dtype}")
                worst[dtype] = max(worst.get(dtype, 0), error)
    bench.figures["kernels"] = dict(launches=count, worst=worst)
    return f"{count} launches of {len(bench.plan['checks'])} models; largest errors " + ", ".join(f"{t} {e:.1e}" for t, e in worst.items())


def plans(bench):
    """Several ranks on one card, over NCCL, against one."""
    losses = {}
    for plan in bench.plan["plans"]:
        report = bench.run(plan["bundle"], "--steps", 5, *SHARED)
        losses[plan["name"]] = [step["loss"] for step in report["steps"]]
    worst = {name: max(abs(a - b) / abs(b) for a, b in zip(got, losses["1"], strict=True)) for name, got in losses.items() if name != "1"}
    for name, error in worst.items():
        if not error <= LOSSES:
            raise Wrong(f"{name} has losses {losses[name]}, one rank {losses['1']}")
    if not losses["1"][-1] < losses["1"][0]:
        raise Wrong(f"losses do not fall: {losses['1']}")
    bench.figures["plans"] = worst
    return ", ".join(f"{name} {error:.1e}" for name, error in worst.items()) + " from the losses of one rank"


def attention(bench):
    """GPT-2 in bf16 with cuDNN's attention, against pcc's."""
    def seen(variables):
        steps = bench.run(bench.plan["gpt2"]["train"], "--steps", 5, variables=variables)["steps"]
        return [(step["loss"], step["grad_norm"]) for step in steps]

    mine, theirs = seen(OWN_ATTENTION), seen({})
    if mine == theirs:
        raise Skipped("cuDNN is not there")
    worst = max(abs(a - b) / abs(b) for pair in zip(theirs, mine) for a, b in zip(*pair))
    if not worst <= TOLERANCES["bf16"]:
        raise Wrong(f"losses and norms {theirs}, with pcc's attention {mine}")
    bench.figures["attention"] = worst
    return f"losses and norms within {worst:.1e}"


def ranks_of(bundle, process):
    """Process ids of a job's ranks: rank 1's and so on."""
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


def killed(bench):
    """One of two ranks is killed between all-reduces: how soon the other is gone."""
    bundle = bench.path(next(plan["bundle"] for plan in bench.plan["plans"] if plan["name"] == "dp2"))
    process = subprocess.Popen([os.path.join(bundle, "run"), "--random-inputs", "1", "--steps", "1000000", *SHARED], env=environment(),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        for _ in range(3):
            process.stdout.readline()
        ranks = ranks_of(bundle, process)
        if 1 not in ranks:
            raise Wrong(f"no rank 1 among {ranks}: {process.stderr.read()[-300:] if process.poll() is not None else ''}")
        start = time.monotonic()
        os.kill(ranks[1], signal.SIGKILL)
        said = process.communicate(timeout=60)[1]
        took = time.monotonic() - start
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    # The rank's own end, as shells tell it, or that a peer was lost.
    if process.returncode not in (14, 128 + signal.SIGKILL) or took > GONE or any(os.path.exists(f"/proc/{pid}") for pid in ranks.values()):
        raise Wrong(f"exit code {process.returncode} after {took:.1f} s: {said.strip()[-300:]}")
    bench.figures["killed"] = dict(seconds=took)
    return f"all gone after {took:.2f} s: {said.strip().splitlines()[0][:100]}"


def memory(bench):
    """Accesses outside what was allocated."""
    tool = shutil.which("compute-sanitizer") or shutil.which("compute-sanitizer", path="/usr/local/cuda/bin")
    if not tool:
        raise Skipped("compute-sanitizer is not there")
    # Of the two dtypes of each model one, in turns.
    programs = [check for i, check in enumerate(bench.plan["checks"]) if i % 2 == i // 2 % 2]
    clean, start = 0, time.monotonic()
    for program in programs:
        if time.monotonic() - start > MEMCHECK:
            break
        call(tool, "--tool", "memcheck", "--error-exitcode", 99, bench.path(os.path.join(program, "rank-000")), "--random-inputs", 1, "-q",
             "--no-graph")
        clean += 1
    return f"{clean} of {len(programs)} programs were run, and are clean"


# Fast or slow --------------------------------------------------------------------------------------------------------


def steady(report):
    return statistics.median(step["seconds"] for step in report["steps"][WARMUP:])


def inference(bench):
    """GPT-2, a batch."""
    report = bench.run(bench.plan["gpt2"]["infer"], "--repeat", STEPS, "--warmup", WARMUP)
    seconds = statistics.median(report["ranks"][0]["steps"])
    model = bench.plan["gpt2"]
    bench.figures["inference"] = dict(seconds=seconds)
    return f"{1e3 * seconds:.2f} ms, {model['batch'] * model['seq'] / seconds:,.0f} tokens/s"


def device_name():
    tool = shutil.which("nvidia-smi")
    return call(tool, "--query-gpu=name", "--format=csv,noheader").splitlines()[0] if tool else ""


def flops_per_token(model):
    """Of PaLM, which counts all of attention, and with half of it, as a causal mask leaves it. N as weights are stored once."""
    weights = sum(math.prod(shape) for shape in model["weights"].values())
    attention = 12 * model["layers"] * model["hidden"] * model["seq"]
    return 6 * weights + attention, 6 * weights + attention // 2


def training(bench):
    """GPT-2 in bf16: tokens per second and MFU, in both conventions, with and without a graph of the step, without cuDNN, and PyTorch's."""
    model = bench.plan["gpt2"]
    seconds = {"graph": steady(bench.run(model["train"], "--steps", STEPS + WARMUP)),
               "no graph": steady(bench.run(model["train"], "--steps", STEPS + WARMUP, "--no-graph")),
               "own attention": steady(bench.run(model["train"], "--steps", STEPS + WARMUP, variables=OWN_ATTENTION))}
    try:
        seconds["torch.compile"] = statistics.median(bench.torch("train", bench.path("plan.json"), STEPS + WARMUP)["seconds"][WARMUP:])
    except Skipped as why:
        print(f"  {why}")
    peak = next((peak for name, peak in PEAKS.items() if name in device_name()), None)
    lines = []
    for name, value in seconds.items():
        tokens = model["batch"] * model["seq"] / value
        row = bench.figures.setdefault("training", {})[name] = dict(seconds=value, tokens_per_second=tokens)
        line = f"{name:14} {1e3 * value:8.2f} ms {tokens:10,.0f} tokens/s"
        if peak:
            row["mfu"], row["causal_mfu"] = (tokens * flops / peak for flops in flops_per_token(model))
            line += f"  MFU {100 * row['mfu']:.1f} %, causal {100 * row['causal_mfu']:.1f} %"
        if "torch.compile" in seconds:
            row["ratio"] = value / seconds["torch.compile"]
            line += f"  {row['ratio']:.2f} of PyTorch's time"
        lines.append(line)
    return "\n  ".join(lines)


def instructions(bench):
    """Each instruction of a training step by itself: what fused kernels move beside a copy, products beside bare ones, and how
    long a step leaves the GPU idle."""
    timed = bench.probe("time", bench.plan["gpt2"]["train"])
    seen, copy = timed["instructions"], timed["copy_bytes_per_second"]
    rows = bench.figures["instructions"] = dict(copy_bytes_per_second=copy)
    busy = sum(i["seconds"] * i["runs"] for i in seen)
    lines = [f"a copy reads and writes {copy / 1e12:.2f} TB/s"]
    large = [i for i in seen if i["kind"] == "Kernel" and not i["attention"] and i["bytes"] >= 32 << 20]
    if large:
        ratios = [i["bytes"] / i["seconds"] / copy for i in large]
        rows["kernels"] = sorted((r, i["node"], i["bytes"], i["seconds"]) for r, i in zip(ratios, large))
        lines.append(f"{len(large)} kernels of 32 MiB or more reach {statistics.median(ratios):.2f} of that (a tenth of them less than "
                     f"{quantile(ratios, 0.1):.2f}); slowest {rows['kernels'][0][1]}")
    lines += products(bench, [i for i in seen if i["kind"] == "Matmul"], rows)
    rows["busy"] = busy
    for name, row in bench.figures.get("training", {}).items():
        if "graph" in name:
            row["idle"] = 1 - busy / row["seconds"]
            lines.append(f"{name}: instructions by themselves take {1e3 * busy:.2f} ms of {1e3 * row['seconds']:.2f}, idle "
                         f"{100 * row['idle']:.1f} %")
    return "\n  ".join(lines)


def products(bench, seen, rows):
    def total(seconds):
        return sum(seconds(i) * i["runs"] for i in seen)

    mine, bare = total(lambda i: i["seconds"]), total(lambda i: i["bare_seconds"])
    row = rows["products"] = dict(seconds=mine, bare=bare)
    lines = [f"products with all that is fused into them take {1e3 * mine:.2f} ms, {mine / bare:.2f} of bare ones of cuBLASLt"]
    shape = lambda i: (math.prod(i["batch"]), i["m"], i["n"], i["k"], i["dtype"])
    shapes = sorted(set(map(shape, seen)))
    try:
        peer = dict(zip(shapes, bench.torch("products", bench.path("plan.json"), text=json.dumps(shapes))))
        row["torch"] = total(lambda i: peer[shape(i)])
        lines.append(f"and {mine / row['torch']:.2f} of torch.matmul's time")
    except Skipped as why:
        lines.append(f"torch.matmul is not compared: {why}")
    return lines


SECTIONS = [kernels, plans, attention, killed, memory, inference, training, instructions]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("-o", "--output", metavar="FILE.json")
    parser.add_argument("--only", default="*")
    arguments = parser.parse_args()
    bench, failed = Bench(os.path.abspath(arguments.folder)), 0
    print(device_name() or "no nvidia-smi", flush=True)
    for section in SECTIONS:
        if not fnmatch.fnmatch(section.__name__, arguments.only):
            continue
        start = time.monotonic()
        try:
            said = section(bench)
        except Skipped as why:
            said = f"left out: {why}"
        except (Wrong, subprocess.TimeoutExpired) as why:
            said, failed = f"WRONG: {why}", failed + 1
        print(f"{section.__name__} ({time.monotonic() - start:.0f} s): {said}", flush=True)
        if arguments.output:
            with open(arguments.output, "w") as f:
                json.dump(bench.figures, f, indent=1)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
