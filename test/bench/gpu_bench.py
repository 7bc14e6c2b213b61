#!/usr/bin/env python3
"""bench/gpu/run with models of toys' size on GPUs that are not there (test/runtime/fake): what it says is right there is, and what is
not ends it with 1."""
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PREPARE, RUN = (os.path.join(ROOT, "bench", "gpu", name) for name in ("prepare.py", "run"))


def measure(folder, only, settings=""):
    """Exit code, what it says and the figures."""
    figures = os.path.join(folder, "figures.json")
    done = subprocess.run([RUN, "-o", figures, "--only", only], capture_output=True, text=True, timeout=300,
                          env={**os.environ, "PCC_BENCH_GPU": os.path.join(folder, "toys"), "PCC_CUDA_LIBRARIES": os.environ["FAKE_CUDA"],
                               "PCC_FAKE_CUDA": settings, "TMPDIR": folder})
    with open(figures) as f:
        return done.returncode, done.stdout + done.stderr, json.load(f)


def expect(holds, said):
    if not holds:
        sys.exit(f"bench/gpu/run says: {said}")


with tempfile.TemporaryDirectory() as folder:
    subprocess.run([sys.executable, "-B", PREPARE, "--small", "--folder", os.path.join(folder, "toys")], check=True)
    code, said, figures = measure(folder, "[kp]*")
    expect(code == 0 and "WRONG" not in said, said)
    expect(figures["kernels"]["launches"] > 50 and set(figures["kernels"]["worst"]) >= {"f32", "bf16"}, said)
    expect(set(figures["plans"]) == {"dp2", "tp2-pp2"} and figures["killed"]["seconds"] < 5, said)
    code, said, figures = measure(folder, "attention")
    expect(code == 0 and "attention" not in figures and "cuDNN" in said, said)
    code, said, figures = measure(folder, "attention", "dnn=91900")
    expect(code == 0 and 0 < figures["attention"] < 2e-2, said)
    code, said, figures = measure(folder, "i*")
    expect(code == 0 and figures["inference"]["seconds"] > 0 and figures["instructions"]["busy"] > 0, said)
    expect(figures["instructions"]["products"]["bare"] > 0, said)
    code, said, _ = measure(folder, "plans", "fail-at=100")
    expect(code == 1 and "plans" in said and "WRONG" in said, said)
