#!/usr/bin/env python3
"""Tests bench/gpu/run with toy models on fake GPUs (test/runtime/fake): its results are right (--results), its figures are whole
(--figures), and a wrong or late result makes it exit with 1 (--faults)."""
import json
import os
import re
import subprocess
import sys
import tempfile
import time

# Whether only one section is run with wrong numbers.
QUICK = "--quick" in sys.argv[1:]
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PREPARE, RUN = (os.path.join(ROOT, "bench", "gpu", name) for name in ("prepare.py", "run"))
# Replacement for compute-sanitizer: skips three options with a value each, then runs the given command.
CHECKER = '#!/bin/sh\nshift 6\n[ -z "$FINDS" ] || exit 99\nexec "$@"\n'


def expect(holds, said):
    if not holds:
        sys.exit(f"bench/gpu/run says: {said}")


class Toys:
    """A folder of toy models, and tools of CUDA beside it."""

    def __init__(self, folder):
        self.folder, self.toys, self.cuda = folder, os.path.join(folder, "toys"), os.path.join(folder, "cuda")
        subprocess.run([sys.executable, "-B", PREPARE, "--small", "--folder", self.toys], check=True)

    def measure(self, only, settings="", options=(), variables=()):
        """Runs a measurement. Returns the exit code, the output and the figures."""
        figures = os.path.join(self.folder, "figures.json")
        done = subprocess.run([RUN, "-o", figures, "--only", only, *options], capture_output=True, text=True, timeout=300,
                              env={**os.environ, "PCC_BENCH_GPU": self.toys, "PCC_CUDA_LIBRARIES": os.environ["FAKE_CUDA"],
                                   "PCC_FAKE_CUDA": settings, "CUDA_HOME": self.cuda, "TMPDIR": self.folder, **dict(variables)})
        with open(figures) as f:
            return done.returncode, done.stdout + done.stderr, json.load(f)

    def add_checker(self):
        path = os.path.join(self.cuda, "bin", "compute-sanitizer")
        os.makedirs(os.path.dirname(path))
        with open(path, "w") as f:
            f.write(CHECKER)
        os.chmod(path, 0o755)

    def falsify(self):
        """Changes the expected results of CPUs, so that a comparison fails."""
        path = os.path.join(self.toys, "plan.json")
        with open(path) as f:
            plan = json.load(f)
        logits = plan["inference"]["f32"]["logits"]
        logits["numbers"] = [1.001 * number for number in logits["numbers"]]
        plan["training"]["bf16"]["steps"][2][1] *= 1.1
        with open(path, "w") as f:
            json.dump(plan, f)

    def left(self):
        """Returns the programs of the folder that still run."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                found.append(os.readlink(f"/proc/{pid}/exe"))
            except OSError:
                continue
        return [program for program in found if program.startswith(self.toys)]


def is_right(toys):
    code, said, figures = toys.measure("[kp]*")
    expect(code == 0 and "WRONG" not in said, said)
    expect(figures["kernels"]["launches"] > 50 and set(figures["kernels"]["worst"]) >= {"f32", "bf16"}, said)
    expect(set(figures["plans"]) == {"dp2", "tp2-pp2"}, said)
    expect(figures["killed"]["seconds"] < 5 and "all_reduce" in str(figures["killed"]["waits"]), said)
    code, said, figures = toys.measure("attention")
    expect(code == 0 and "attention" not in figures and "cuDNN" in said, said)
    code, said, figures = toys.measure("attention", "dnn=91900")
    expect(code == 0 and 0 < figures["attention"] < 2e-2, said)


def is_timed(toys):
    code, said, figures = toys.measure("[ilt]*")
    expect(code == 0 and set(figures) == {"inference", "losses", "training", "latency", "instructions"}, said)
    expect(figures["inference"]["f32"] < 1e-4 and figures["losses"]["f32"] < 1e-4, said)
    expect(figures["latency"]["seconds"] > 0 and figures["instructions"]["busy"] > 0, said)
    expect(figures["instructions"]["products"]["bare"] > 0 and said.count("idle, ") == 2, said)


def is_checked(toys):
    code, said, figures = toys.measure("memory")
    expect(code == 0 and "left out: compute-sanitizer" in said and not figures, said)
    toys.add_checker()
    code, said, figures = toys.measure("memory")
    expect(code == 0 and figures["memory"] == dict(clean=2, programs=2), said)
    code, said, _ = toys.measure("memory", variables={"FINDS": "1"})
    expect(code == 1 and "WRONG: check-gpt2-124m-f32.pcc: exit code 99" in said, said)


def is_wrong(toys):
    code, said, _ = toys.measure("plans", "fail-at=100")
    expect(code == 1 and "plans" in said and "WRONG" in said, said)
    toys.falsify()
    only, wrong = ("inf*", "1 of 1 sections are wrong: inference") if QUICK else ("[il]*", "2 of 4 sections are wrong: inference, losses")
    code, said, _ = toys.measure(only)
    expect(code == 1 and wrong in said, said)


def is_late(toys):
    begin = time.monotonic()
    code, said, _ = toys.measure("[pm]*", "hang-at=100", ["--seconds", "16"])
    expect(code == 1 and re.search(r" had \d s", said) and "WRONG: out of time: not begun" in said, said)
    expect(time.monotonic() - begin < 16 and not toys.left(), f"after {time.monotonic() - begin:.1f} s, with {toys.left()}: {said}")


with tempfile.TemporaryDirectory() as scratch:
    models = Toys(scratch)
    for case in {"--results": (is_right,), "--figures": (is_timed,), "--faults": (is_checked, is_wrong, is_late)}[sys.argv[1]]:
        case(models)
