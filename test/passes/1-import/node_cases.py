#!/usr/bin/env python3
"""Runs the ONNX backend node cases through the importer: node_cases.py TOOL OPT [--only GLOB] [--every N] [--list] [--facts
FILE [--write]]

TOOL is pcc-import-model, OPT pcc-opt. Each case is imported and evaluated, and its outputs are compared with the recorded ones.
Operands that must be known while compiling (shapes, axes) are inputs in these cases: they are first changed to initializers
with their recorded values. A case that the importer calls unsupported (exit code 4) is counted; any other error or difference
is a failure. Gradients of the outputs by the inputs are compared with central differences. --facts compares the results of the
cases with the file from which docs/onnx-ops.md is rendered; --write writes that file. With --every N, one of N cases is run:
their number is then not checked, but facts that the file lacks are an error.
"""
import argparse, concurrent.futures, fnmatch, glob, os, re, subprocess, sys, tempfile

import numpy as np
import onnx
from onnx import numpy_helper

import gradient_cases
import op_facts
import sharding_probe

# Number of cases of onnx 1.22 that must at least pass.
FLOOR = 1383
# Cases recorded with a fractional output size, which ONNX Runtime interprets differently as well.
DISPUTED = {"test_resize_downsample_scales_cubic_align_corners", "test_resize_downsample_scales_linear_align_corners"}
DATA = os.path.join(os.path.dirname(onnx.__file__), "backend", "test", "data")
FOLDERS = ("node", "pytorch-converted", "pytorch-operator", "simple")


def read(path):
    """Returns the tensor in a recorded file, or None for a sequence, a string or a type that NumPy lacks."""
    tensor = onnx.TensorProto()
    with open(path, "rb") as f:
        try:
            tensor.ParseFromString(f.read())
            array = numpy_helper.to_array(tensor)
        except Exception:
            return None
    return array if is_real(array) or array.dtype.kind in "iub" else None


def recorded(case, kind):
    count = len(glob.glob(os.path.join(case, "test_data_set_0", f"{kind}_*.pb")))
    return [read(os.path.join(case, "test_data_set_0", f"{kind}_{i}.pb")) for i in range(count)]


def is_real(array):
    return array.dtype.kind == "f" or "float" in array.dtype.name


def tolerance(array):
    return {"float16": 5e-3, "bfloat16": 2e-2}.get(array.dtype.name, 1e-3)


def free_inputs(model):
    weights = {i.name for i in model.graph.initializer}
    return [i.name for i in model.graph.input if i.name not in weights]


def import_command(tool, model, inputs, folder):
    shapes = [w for n in free_inputs(model) for w in ("--shape", f"{n}=" + "x".join(map(str, inputs[n].shape)))]
    return [tool, os.path.join(folder, "model.onnx"), *shapes]


def call(tool, model, inputs, folder):
    """Returns exit code, stderr and stdout of one run; `inputs` are by name."""
    for i, name in enumerate(free_inputs(model)):
        inputs[name].astype("f8" if is_real(inputs[name]) else "i8").tofile(os.path.join(folder, f"in{i}.bin"))
    onnx.save(model, os.path.join(folder, "model.onnx"))
    command = [*import_command(tool, model, inputs, folder), "--evaluate", folder]
    r = subprocess.run(command, capture_output=True, text=True, timeout=60)
    return r.returncode, r.stderr.strip(), r.stdout


def add_facts(tools, model, inputs, folder, shown):
    """Adds the facts that a passed case shows about its only op."""
    if len(model.graph.node) == 1:
        command = import_command(tools.tool, model, inputs, folder)
        module = subprocess.run(command, capture_output=True, text=True, timeout=60).stdout
        op_facts.add_case(model, module, sharding_probe.splits(tools.opt, module), shown)


def settle(tool, model, inputs, folder):
    """Runs the case. Changes operands to initializers as long as the importer asks for one."""
    while True:
        code, text, gradients = call(tool, model, inputs, folder)
        asked = re.search(r"operand \d+ \('(.*?)'\) must be known", text)
        known = {i.name for i in model.graph.initializer}
        if code != 4 or not asked or asked[1] not in inputs or asked[1] in known:
            return code, text, gradients
        model.graph.initializer.append(numpy_helper.from_array(inputs[asked[1]], asked[1]))


def difference(want, folder, i):
    """Returns the error of output `i`, or None."""
    shape = re.match(r"tensor<((?:\d+x)*)", open(os.path.join(folder, f"out{i}.txt")).read())[1]
    shape = tuple(int(n) for n in shape.split("x")[:-1])
    if shape != want.shape:
        return f"output {i} has shape {shape}, expected {want.shape}"
    kind = "f8" if is_real(want) else "i8"
    got = np.fromfile(os.path.join(folder, f"out{i}.bin"), kind).reshape(shape)
    if kind == "i8":
        return None if np.array_equal(got.astype(want.dtype), want) else f"output {i} differs"
    want = want.astype("f8")
    if np.allclose(got, want, rtol=tolerance(want), atol=1e-6, equal_nan=True):
        return None
    return f"output {i} differs by {np.nanmax(np.abs(got - want))}"


def run(tools, case, shown):
    """Returns ('passed' | 'unsupported' | 'failed', text). Adds the facts that the case shows about its op to `shown`."""
    model = onnx.load(os.path.join(case, "model.onnx"))
    inputs, outputs = recorded(case, "input"), recorded(case, "output")
    kept = [i for i, v in enumerate(model.graph.output) if v.name]
    if any(x is None for x in inputs + outputs):
        return "unsupported", "strings, sequences or optionals"
    named = {v.name: x for v, x in zip(model.graph.input, inputs)}
    with tempfile.TemporaryDirectory() as folder:
        code, text, gradients = settle(tools.tool, model, named, folder)
        if code == 4:
            return "unsupported", text
        if code:
            return "failed", f"exit code {code}: {text[-300:]}"
        wrong = [w for i, n in enumerate(kept) if (w := difference(outputs[n], folder, i))]
        if unlike := op_facts.add_gradients(model, gradients, shown):
            wrong.append(unlike)
        if tools.facts and not wrong:
            add_facts(tools, model, named, folder, shown)
    return ("failed", wrong[0]) if wrong else ("passed", "")


def check_gradients(tools, shown):
    """Returns the errors in the gradients of nodes for which ONNX has no case."""
    for model, inputs in gradient_cases.models():
        with tempfile.TemporaryDirectory() as folder:
            code, text, gradients = call(tools.tool, model, inputs, folder)
            wrong = text if code else op_facts.add_gradients(model, gradients, shown)
            if tools.facts and not wrong:
                add_facts(tools, model, inputs, folder, shown)
        if wrong or not gradients:
            yield f"{model.graph.name}: {wrong or 'has no gradient'}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("opt")
    parser.add_argument("--only", default="*")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--list", action="store_true", help="name the unsupported cases, too")
    parser.add_argument("--facts")
    parser.add_argument("--write", action="store_true")
    a = parser.parse_args()
    cases = sorted(c for folder in FOLDERS for c in glob.glob(os.path.join(DATA, folder, "test_*"))
                   if fnmatch.fnmatch(os.path.basename(c)[5:], a.only) and os.path.basename(c) not in DISPUTED)[::a.every]
    is_whole = a.only == "*" and a.every == 1
    shown = op_facts.collect()
    count = {"passed": 0, "unsupported": 0, "failed": 0}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for case, (kind, text) in zip(cases, pool.map(lambda c: run(a, c, shown), cases)):
            count[kind] += 1
            if kind == "failed" or (a.list and kind == "unsupported"):
                print(f"{kind}: {os.path.basename(case)}: {text}")
    print(", ".join(f"{n} {kind}" for kind, n in count.items()))
    if is_whole:
        wrong = list(check_gradients(a, shown))
        print("".join(f"failed: {text}\n" for text in wrong), end="")
        count["failed"] += len(wrong)
    if a.facts and not op_facts.compare(a.facts, shown, is_whole, a.write):
        sys.exit(1)
    sys.exit(count["failed"] > 0 or (is_whole and count["passed"] < FLOOR))


if __name__ == "__main__":
    main()
