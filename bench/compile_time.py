#!/usr/bin/env python3
"""Compile time of GPT-2 124M for a mesh: pcc compared with JAX, in a new process each time: CPU seconds and peak memory.

    build/bench-venv/bin/python bench/compile_time.py --mesh 1x1,2x2,1x4 --rounds 5 -o results.json

A mesh is DPxTP. pcc's figure covers everything: reading the file, compiling, writing the bundle. JAX's figure includes its
imports, so the seconds of lowering and compilation alone are given as well."""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path.insert(0, os.path.join(ROOT, "test", "models"))
sys.dont_write_bytecode = True
import builder

PCC = os.environ.get("PCC", os.path.join(ROOT, "build", "release", "bin", "pcc"))
SIZE = dict(layers=12, hidden=768, heads=12, vocabulary=50257, positions=1024)
BATCH, SEQ = 4, 128


def timed(command):
    """Runs a command; returns its wall and CPU seconds, peak MiB and stdout."""
    with tempfile.NamedTemporaryFile("r") as times:
        result = subprocess.run(["/usr/bin/time", "-f", "%e %U %S %M", "-o", times.name, *command], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, text=True, check=True)
        wall, user, system, memory = map(float, times.read().split())
    return dict(wall_seconds=wall, cpu_seconds=user + system, peak_mib=memory / 1024), result.stdout


def pcc(folder, dp, tp):
    command = [PCC, os.path.join(folder, "gpt2.onnx"), "-o", os.path.join(folder, f"{dp}x{tp}.pcc"), "-q", "--dp", str(dp), "--tp",
               str(tp), "--dim", f"batch={BATCH}", "--dim", f"seq={SEQ}"]
    return timed(command)[0]


def jax(folder, dp, tp):
    figures, out = timed([sys.executable, "-B", os.path.join(HERE, "jax_gpt2.py"), *map(str, (dp, tp, BATCH, SEQ))])
    return {**figures, **json.loads(out)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mesh", default="1x1,2x2,1x4")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--without-pcc", action="store_true", help="JAX alone")
    parser.add_argument("-o", "--output", metavar="FILE.json")
    arguments = parser.parse_args()
    compilers, results = [jax] if arguments.without_pcc else [pcc, jax], []
    with tempfile.TemporaryDirectory() as folder:
        builder.build("gpt2", os.path.join(folder, "gpt2.onnx"), external=True, **SIZE)
        for mesh in arguments.mesh.split(","):
            dp, tp = map(int, mesh.split("x"))
            rounds = [{c.__name__: c(folder, dp, tp) for c in compilers} for _ in range(arguments.rounds)]
            for c in compilers:
                names = rounds[0][c.__name__]
                row = dict(mesh=mesh, compiler=c.__name__, **{n: statistics.median(r[c.__name__][n] for r in rounds) for n in names})
                results.append(row)
                print("  ".join(f"{k} {v:.2f}" if isinstance(v, float) else str(v) for k, v in row.items()), flush=True)
    if arguments.output:
        with open(arguments.output, "w") as f:
            json.dump(results, f, indent=1)


if __name__ == "__main__":
    main()
