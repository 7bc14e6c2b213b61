#!/usr/bin/env python3
"""Compares pcc's gradients of ONNX ops and of whole blocks with those of torch.autograd for the same function, in float64.

    build/bench-venv/bin/python bench/gradients.py [--only GLOB] [--run] [-o FILE.json]

In each case, an ONNX Gradient node differentiates a weighted sum of the graph's outputs by all float inputs. The imported graph
is evaluated in float64 (pcc-import-model, 1e-7: attributes of ONNX are float32); with --run, bundles of it are compiled and run
in float32 as well (1e-4 of the largest element).
"""
import argparse
import fnmatch
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnx.helper as oh
import onnx.numpy_helper as nh
import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "gradient_cases"))
import blocks
import ops

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BIN = os.environ.get("PCC_BIN", os.path.join(ROOT, "build", "release", "bin"))
DOMAIN = "ai.onnx.preview.training"
OPSETS = [oh.make_opsetid("", 24), oh.make_opsetid(DOMAIN, 1)]


def model_of(case, dtype):
    """Returns the model and its inputs by name. Float operands are inputs; all others are initializers."""
    floats = {n: x.astype(dtype) for n, x in case.operands.items() if x.dtype.kind == "f"}
    held = {n: x for n, x in case.operands.items() if x.dtype.kind != "f"}
    held |= {n: x.astype(dtype) if x.dtype.kind == "f" else x for n, x in case.constants.items()}
    kind = oh.np_dtype_to_tensor_dtype(np.dtype(dtype))
    nodes = [oh.make_node(op, ins, outs, **attributes) for op, ins, outs, attributes in case.nodes]
    held["weights"] = case.weights.astype(dtype)
    names = list(floats)
    nodes += [oh.make_node("Mul", [case.output, "weights"], ["weighted"]),
              oh.make_node("ReduceSum", ["weighted"], ["loss"], keepdims=0),
              oh.make_node("Gradient", names, [f"{n}.grad" for n in names], domain=DOMAIN, xs=names, y="loss")]
    graph = oh.make_graph(nodes, "case", [oh.make_tensor_value_info(n, kind, x.shape) for n, x in floats.items()],
                          [oh.make_tensor_value_info(f"{n}.grad", kind, x.shape) for n, x in floats.items()],
                          [nh.from_array(x, n) for n, x in held.items()])
    return oh.make_model(graph, opset_imports=OPSETS, ir_version=10), floats


def expected(case):
    """Returns the gradients of torch.autograd by operand."""
    tensors = {n: torch.tensor(x, dtype=torch.float64 if x.dtype.kind == "f" else None, requires_grad=x.dtype.kind == "f")
               for n, x in case.operands.items()}
    loss = (case.function(*tensors.values()) * torch.tensor(case.weights, dtype=torch.float64)).sum()
    loss.backward()
    return {n: (t.grad if t.grad is not None else torch.zeros_like(t)).numpy() for n, t in tensors.items() if t.is_floating_point()}


def call(*words):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{os.path.basename(str(words[0]))}: {done.stderr.strip()[-400:]}")


def evaluate(case, folder):
    model, inputs = model_of(case, "f8")
    path = os.path.join(folder, "model.onnx")
    onnx.save(model, path)
    for i, x in enumerate(inputs.values()):
        x.tofile(os.path.join(folder, f"in{i}.bin"))
    call(os.path.join(BIN, "pcc-import-model"), path, "--evaluate", folder)
    return {n: np.fromfile(os.path.join(folder, f"out{i}.bin"), "f8").reshape(x.shape) for i, (n, x) in enumerate(inputs.items())}


def execute(case, folder):
    model, inputs = model_of(case, "f4")
    path, bundle, out = (os.path.join(folder, n) for n in ("model.onnx", "model.pcc", "out"))
    onnx.save(model, path)
    given = []
    for name, x in inputs.items():
        np.save(os.path.join(folder, f"{name}.npy"), x)
        given += ["--input", f"{name}={os.path.join(folder, name)}.npy"]
    call(os.path.join(BIN, "pcc"), path, "-o", bundle, "-q")
    call(os.path.join(BIN, "pcc"), "run", bundle, *given, "--output", out)
    return {n: np.load(os.path.join(out, f"{n}.grad.npy")) for n in inputs}


def difference(got, want):
    """Returns the largest difference, relative to the largest element of its tensor, or to 1 if that is larger."""
    return max((float(np.max(np.abs(got[n] - w))) / max(1.0, float(np.max(np.abs(w)))) for n, w in want.items() if w.size), default=0.0)


def check(case, run):
    want = expected(case)
    ways = [("float64", evaluate, 1e-7)] + ([("float32", execute, 1e-4)] if run else [])
    row = {"case": case.name, "by": sorted(want)}
    for name, way, tolerance in ways:
        with tempfile.TemporaryDirectory() as folder:
            try:
                row[name] = difference(way(case, folder), want)
            except RuntimeError as error:
                row["error"] = str(error)
                return row, False
        if not row[name] <= tolerance:
            return row, False
    return row, True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="*")
    parser.add_argument("--run", action="store_true")
    parser.add_argument("-o", "--output")
    a = parser.parse_args()
    rows, failed = [], 0
    for case in ops.CASES + blocks.CASES:
        if not fnmatch.fnmatch(case.name, a.only):
            continue
        row, good = check(case, a.run)
        rows.append(row)
        failed += not good
        if not good:
            print(f"FAIL {json.dumps(row)}", flush=True)
    worst = {k: max((r.get(k, 0) for r in rows), default=0) for k in ("float64", "float32")}
    print(f"{len(rows) - failed} agree, {failed} do not; largest difference in float64 {worst['float64']:.1e}"
          + (f", executed in float32 {worst['float32']:.1e}" if a.run else ""))
    if a.output:
        with open(a.output, "w") as file:
            json.dump(rows, file, indent=1)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
