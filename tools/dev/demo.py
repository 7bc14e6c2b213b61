#!/usr/bin/env python3
"""GPT-2 of 124M parameters on four CPU ranks, compared with ONNX Runtime. Files go to build/demo; see tools/dev/demo."""
import json
import os
import shlex
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "test", "models"))
sys.dont_write_bytecode = True
import builder
import oracle

FOLDER, PCC = os.path.join("build", "demo"), os.path.join("build", "release", "bin", "pcc")
DIMS = {"batch": 4, "seq": 128}
SIZE = dict(layers=12, hidden=768, heads=12, vocabulary=50257, positions=1024)
TOLERANCE = 1e-4


def run(*command):
    """Shows a command, runs it, and returns what it wrote to stdout."""
    print("$", shlex.join(command), flush=True)
    start = time.time()
    result = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    if result.returncode:
        sys.exit(f"demo: {os.path.basename(command[0])} ended with exit code {result.returncode}")
    print(f"  {time.time() - start:.1f} s", flush=True)
    return result.stdout


def model():
    """Writes the model and one batch of inputs; returns the path and the inputs."""
    path = os.path.join(FOLDER, "gpt2.onnx")
    print(f"writing {path}: GPT-2, 124M parameters, seeded weights", flush=True)
    inputs = builder.build("gpt2", path, external=True, **SIZE).draw_inputs(DIMS)
    oracle.save(os.path.join(FOLDER, "inputs"), inputs)
    return path, inputs


def mib(n):
    return f"{n / 2**20:.1f}"


def show_ranks(inspection, report):
    print("\nrank  stage  coordinates     weights MiB  arena MiB  received MiB  actions          seconds  peak MiB")
    measured = {r["rank"]: r for r in report["ranks"]}
    for r in inspection["ranks"]:
        m = measured[r["rank"]]
        place = " ".join(f"{k}={v}" for k, v in r["coordinates"].items())
        print(f"{r['rank']:4}  {','.join(map(str, r['stages'])):5}  {place:14}  {mib(r['weight_bytes']):>11}  {mib(r['arena_bytes']):>9}  "
              f"{mib(r['received_bytes']):>12}  {' '.join(r['actions']):15}  {m['seconds']:7.2f}  {mib(m['peak_memory_bytes']):>8}")
    total = {}
    for c in inspection["collectives"]:
        count, size = total.get((c["kind"], c["per"]), (0, 0))
        total[c["kind"], c["per"]] = count + c["count"], size + c["count"] * c["received_bytes"]
    for (kind, per), (count, size) in total.items():
        print(f"{count} {kind}, {mib(size)} MiB received per rank and {per}")


def compare(got, inputs, path):
    """Prints the differences to ONNX Runtime; returns whether they are small."""
    import numpy as np
    fine = True
    for name, want in oracle.run(path, inputs).items():
        error = oracle.relative_error(got[name], want)
        fine &= error <= TOLERANCE
        print(f"{name} {list(want.shape)}: largest absolute difference to ONNX Runtime {np.abs(got[name] - want).max():.2e}, "
              f"relative {error:.2e} (at most {TOLERANCE:g})")
    return fine


def main():
    os.chdir(ROOT)
    shutil.rmtree(FOLDER, ignore_errors=True)
    path, inputs = model()
    bundle, out, report = (os.path.join(FOLDER, n) for n in ("gpt2.pcc", "outputs", "run.json"))
    dims = [w for k, v in DIMS.items() for w in ("--dim", f"{k}={v}")]
    run(PCC, path, "-o", bundle, *dims, "--tp", "2", "--pp", "2", "--microbatches", "2")
    given = [w for n in inputs for w in ("--input", f"{n}={os.path.join(FOLDER, 'inputs', n)}.npy")]
    run(PCC, "run", bundle, *given, "--output", out, "--report", report)
    inspection = json.loads(run(PCC, "inspect", bundle, "--json"))
    with open(report) as f:
        show_ranks(inspection, json.load(f))
    fine = compare(oracle.load(out), inputs, path)
    print("demo: equal to ONNX Runtime" if fine else "demo: the outputs differ")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
