#!/usr/bin/env python3
"""GPT-2 of 124M parameters on four CPU ranks, compared with ONNX Runtime. Files go to build/demo; see tools/dev/demo."""
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
PLAN = [w for k, v in DIMS.items() for w in ("--dim", f"{k}={v}")] + "--tp 2 --pp 2 --microbatches 2".split()


def run(*command):
    """Shows a command and runs it. A failure ends the demo."""
    print("$", shlex.join(command), flush=True)
    start = time.time()
    code = subprocess.run(command, stdin=subprocess.DEVNULL).returncode
    if code:
        sys.exit(f"demo: {os.path.basename(command[0])} ended with exit code {code}")
    print(f"  {time.time() - start:.1f} s\n", flush=True)


def write_model(path):
    """Writes the model and one batch of inputs; returns the inputs."""
    print(f"writing {path}: GPT-2, 124M parameters, seeded weights\n", flush=True)
    inputs = builder.build("gpt2", path, external=True, **SIZE).draw_inputs(DIMS)
    oracle.save(os.path.join(FOLDER, "inputs"), inputs)
    return inputs


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


def show_next(path, bundle, report):
    """Tells where the report is and what to try. Each line that begins with two spaces is a command."""
    print(f"""
{report} has the step as it was planned and as it ran: open it in a browser. What to try next:

  {PCC} explain {path} {shlex.join(PLAN)}
  {PCC} run {bundle} --random-inputs 1 --warmup 2 --repeat 10
  {PCC} verify {path} {shlex.join(PLAN)}

They tell why ranks communicate, how fast a step is when repeated, and, within some minutes, whether four ranks compute the same as one.
README.md goes on with "The first ten minutes".""")


def main():
    os.chdir(ROOT)
    shutil.rmtree(FOLDER, ignore_errors=True)
    path, bundle, out, report = (os.path.join(FOLDER, n) for n in ("gpt2.onnx", "gpt2.pcc", "outputs", "report.html"))
    inputs = write_model(path)
    run(PCC, path, "-o", bundle, *PLAN)
    given = [w for n in inputs for w in ("--input", f"{n}={os.path.join(FOLDER, 'inputs', n)}.npy")]
    run(PCC, "run", bundle, *given, "--output", out, "--warmup", "1", "--repeat", "3", "--html", report)
    if not compare(oracle.load(out), inputs, path):
        print("demo: the outputs differ")
        return 1
    print("demo: equal to ONNX Runtime")
    show_next(path, bundle, report)
    return 0


if __name__ == "__main__":
    sys.exit(main())
