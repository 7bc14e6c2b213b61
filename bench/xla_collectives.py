#!/usr/bin/env python3
"""Kinds, counts and bytes of collectives: compares pcc with XLA's partitioners for the same functions, meshes and shardings of
inputs. Compiles only. Bytes are those that one device receives. Each compiler chooses the shardings of outputs; pcc is also
measured with those that XLA has chosen.

    build/bench-venv/bin/python bench/xla_collectives.py [--only GLOB] [--partitioner shardy,gspmd] [-o results.json]
    build/bench-venv/bin/python bench/xla_collectives.py --check [--only GLOB]

Fails if pcc receives more than the best of XLA's partitioners, or more than the ideal if XLA is known to exceed it. --check
executes both sides of each case on one device, with the same random inputs, and requires equal outputs."""
import argparse
import collections
import fnmatch
import json
import os
import subprocess
import sys
import tempfile

import onnx

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path.insert(0, os.path.join(HERE, "collectives"))
sys.dont_write_bytecode = True
import cases
from onnx_graph import Graph

PCC = os.environ.get("PCC", os.path.join(ROOT, "build", "release", "bin", "pcc"))


def xla(names, partitioner):
    """Returns {case: [(kind, bytes received)]} and {case: shardings of its outputs}."""
    process = subprocess.Popen([sys.executable, "-B", os.path.join(HERE, "collectives", "xla.py"), partitioner, *names],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    found, outputs = {}, {}
    for line in process.stdout:
        result = json.loads(line)
        found[result["case"]], outputs[result["case"]] = [tuple(c) for c in result["collectives"]], result["outputs"]
        print(f"\r{partitioner}: {len(found)} of {len(names)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    if process.wait():
        sys.exit(f"{partitioner} failed at {[n for n in names if n not in found][:1]}")
    return found, outputs


def pcc(case, folder, outputs=(), strided=False):
    """Returns [(kind, bytes received)] of every call. `outputs`: their required shardings, null if a sharding is free."""
    path, bundle = os.path.join(folder, "case.onnx"), os.path.join(folder, "case.pcc")
    graph = Graph(case)
    onnx.save(graph.model(case.onnx(graph)), path)
    pins = {n: spec for n, (_, spec) in case.inputs.items() if spec != "[]"}
    pins.update({f"y{i}": spec for i, spec in enumerate(case.outputs or outputs) if spec and spec != "[]"})
    pins.update(case.strided if strided else {})
    options = ["--mesh", ",".join(f"{a}={n}" for a, n in case.mesh.items())]
    options += [w for n, spec in pins.items() for w in ("--shard", f"{n}={spec}")]
    subprocess.run([PCC, path, "-q", "-o", bundle, *options], check=True)
    text = subprocess.run([PCC, "inspect", bundle, "--json"], check=True, stdout=subprocess.PIPE, text=True).stdout
    return [(c["kind"], c["received_bytes"]) for c in json.loads(text)["collectives"] for _ in range(c["count"])]


def difference(case):
    """Returns the largest relative error between the results of JAX and of ONNX Runtime."""
    import jax
    import numpy as np
    import onnxruntime
    random = np.random.default_rng(1)
    values = {n: random.integers(0, case.indices[n], shape) if n in case.indices else
              (random.standard_normal(shape) * (0.5 if len(shape) < 2 else shape[-2] ** -0.5)).astype("f4")
              for n, (shape, _) in case.inputs.items()}
    graph = Graph(case)
    session = onnxruntime.InferenceSession(graph.model(case.onnx(graph)).SerializeToString(), providers=["CPUExecutionProvider"])
    read = {i.name for i in session.get_inputs()}
    got = session.run(None, {n: np.asarray(v, "i8") if n in case.indices else v for n, v in values.items() if n in read})
    wanted = jax.tree.leaves(jax.jit(lambda inputs: case.jax(**inputs))(values))
    return max(float(np.abs(g - w).max() / max(np.abs(w).max(), 1e-30)) for g, w in zip(got, map(np.asarray, wanted), strict=True))


def check(chosen):
    """Checks that both sides compute the same. The tolerance is 1e-3, because f32 sums are in another order through twelve
    layers."""
    failed = 0
    for case in chosen:
        error = difference(case)
        failed += not error < 1e-3
        print(f"{case.name}: {error:.1e}", flush=True)
    return 1 if failed else 0


def total(found):
    return sum(n for _, n in found)


SHORT = {"all_reduce": "AR", "all_gather": "AG", "reduce_scatter": "RS", "all_to_all": "A2A", "collective_permute": "P", "permute": "P",
         "exchange": "X", "broadcast": "B"}


def summary(found):
    """Formats the collectives: '2 AR, 1 AG'."""
    return " + ".join(f"{n} {SHORT[k]}" for k, n in collections.Counter(k for k, _ in found).items()) or "–"


def verdict(row, case, partitioners):
    """Returns the reason why the comparison fails, or nothing."""
    if total(row["pcc"]) > min(total(row[p]) for p in partitioners):
        return "more than XLA"
    if total(row["same_outputs"]) > total(row[partitioners[0]]):
        return "more than XLA with its outputs"
    if case.above and case.ideal is not None and total(row["pcc"]) > case.ideal:
        return "more than the ideal"
    return ""


def compare(case, xla_results, folder):
    partitioners = list(xla_results)
    row = dict(case=case.name, mesh=case.mesh, ideal=case.ideal, **{p: found[case.name] for p, (found, _) in xla_results.items()})
    row["pcc"] = pcc(case, folder)
    row["same_outputs"] = pcc(case, folder, outputs=xla_results[partitioners[0]][1][case.name])
    if case.strided:
        row["strided"] = pcc(case, folder, strided=True)
    row["failure"] = verdict(row, case, partitioners)
    return row


def thousands(found):
    return f"{summary(found)}, {total(found) / 1000:.0f}"


def line(row, partitioners):
    ideal = "–" if row["ideal"] is None else f"{row['ideal'] / 1000:.0f}"
    own = thousands(row["pcc"]) + (f"; strided {thousands(row['strided'])}" if "strided" in row else "")
    cells = [row["case"], *(thousands(row[p]) for p in partitioners), own, thousands(row["same_outputs"]), ideal, row["failure"]]
    return "| " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="*", metavar="GLOB")
    parser.add_argument("--partitioner", default="shardy,gspmd")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("-o", "--output", metavar="FILE.json")
    arguments = parser.parse_args()
    chosen = [c for n, c in cases.CASES.items() if fnmatch.fnmatch(n, arguments.only)]
    if arguments.check:
        return check(chosen)
    partitioners = arguments.partitioner.split(",")
    xla_results = {p: xla([c.name for c in chosen], p) for p in partitioners}
    print("| " + " | ".join(["case", *partitioners, "pcc", "with the first one's outputs", "ideal", ""]) + " |")
    print("|---" * (len(partitioners) + 5) + "|")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for case in chosen:
            rows.append(compare(case, xla_results, folder))
            print(line(rows[-1], partitioners), flush=True)
    if arguments.output:
        with open(arguments.output, "w") as f:
            json.dump(rows, f, indent=1)
    failed = sum(bool(r["failure"]) for r in rows)
    print(f"{len(rows) - failed} as they should be, {failed} not", file=sys.stderr)
    return 1 if failed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
