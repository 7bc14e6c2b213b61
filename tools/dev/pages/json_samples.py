#!/usr/bin/env python3
"""Writes samples of all JSON that pcc writes, for docs/json.md: json_samples.py PCC FOLDER. It needs the packages onnx and
numpy.

The models are small, so that all samples take seconds: an MLP for inference and training on four ranks, whose nodes have source
locations; a model with an unknown op; and a changed dump, for which `verify` finds a difference."""
import concurrent.futures
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(ROOT, "test", "models"))
sys.dont_write_bytecode = True
import builder
import onnx
from onnx import TensorProto, helper

PLAN = ["--dim", "batch=4", "--tp", "2", "--pp", "2", "--microbatches", "2", "--cpu", "native", "--shard", "layers.0.1.weight=[tp,-]"]
# A cut that pcc would move, and a weight that it would split.
ADVISED = ["--dim", "batch=4", "--tp", "2", "--pp", "2", "--stage-at", "gemm_2", "--shard", "layers.0.1.weight=[-,-]"]
TRAIN = ["--train", "--loss", "cross_entropy(y, labels)", "--optimizer", "adamw", "--loss-scale", "1024", "--preset", "zero1",
         "--dim", "batch=4", "--dp", "2", "--pp", "2", "--microbatches", "2", "--cpu", "native"]


def write_models(folder):
    path = os.path.join(folder, "mlp.onnx")
    builder.build("mlp", path, layers=1, hidden=8, inner=16, classes=5)
    model = onnx.load(path)
    for number, node in enumerate(model.graph.node, 1):
        node.metadata_props.add(key="pkg.torch.onnx.stack_trace", value=f'File "model.py", line {number}, in forward')
    onnx.save(model, path)
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy")
    frob = helper.make_node("Frob", ["x"], ["y"], name="frob", domain="org.example")
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("org.example", 1)]
    onnx.save(helper.make_model(helper.make_graph([frob], "unknown", [x], [y]), opset_imports=opsets), os.path.join(folder, "unknown.onnx"))


class Samples:
    def __init__(self, pcc, folder):
        self.pcc, self.folder = pcc, folder

    def call(self, *arguments, expected=0):
        result = subprocess.run([self.pcc, *arguments], cwd=self.folder, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if result.returncode != expected:
            sys.exit(f"pcc {' '.join(arguments)} ended with exit code {result.returncode}: {result.stderr.strip()[-600:]}")
        return result.stdout

    def save(self, name, text):
        with open(os.path.join(self.folder, name), "w") as file:
            file.write(text)

    def explain(self):
        self.save("explain.json", self.call("explain", "mlp.onnx", "*", *PLAN, "-q", "--json"))
        self.save("explain-training.json", self.call("explain", "mlp.onnx", *TRAIN, "-q", "--json"))
        self.save("explain-advised.json", self.call("explain", "mlp.onnx", *ADVISED, "-q", "--json"))
        self.save("explain-one-stage.json", self.call("explain", "mlp.onnx", "--dim", "batch=4", "--tp", "2", "-q", "--json"))
        self.call("unknown.onnx", "--report", "compile-unknown.json", expected=4)

    def plan(self):
        self.save("plan-pipeline.json", self.call("plan", "--stage-times", "2,2,1,0.5", "--pp", "4", "--microbatches", "8", "--schedule", "zb-h1", "--json"))

    def verify(self):
        """Writes a report with a difference: the dump has a gelu of another slope."""
        self.call("verify", "mlp.onnx", *PLAN, "--run", "-q", "--report", "verify.json")
        self.call("mlp.onnx", *PLAN, "-q", "--stop-after", "5", "--dump-ir=ir")
        with open(os.path.join(self.folder, "ir", "5-localize.mlir")) as file:
            self.save("changed.mlir", re.sub(r"slope = [\d.e-]+", "slope = 0.5", file.read()))
        self.call("verify", "changed.mlir", "-q", "--report", "verify-changed.json", expected=15)

    def run(self, name, options, report, *further):
        self.call("mlp.onnx", *options, "-o", f"{name}.pcc", "--report", f"compile-{name}.json")
        self.save(f"inspect-{name}.json", self.call("inspect", f"{name}.pcc", "--json"))
        self.call("run", f"{name}.pcc", "--random-inputs", "1", "--comm", "thread", report, f"run-{name}.json", *further)

    def infer(self):
        self.run("inference", PLAN, "--measurements")
        self.save("table.json", self.call("run", "inference.pcc", "--random-inputs", "1", "--comm", "thread", "--format", "json", "-q"))

    def train(self):
        self.run("training", TRAIN, "--report", "--steps", "2", "--metrics", "metrics.jsonl", "--peak-flops", "1e9")
        with open(os.path.join(self.folder, "metrics.jsonl")) as file:
            self.save("metrics.json", json.dumps([json.loads(line) for line in file]))


def main():
    samples = Samples(*sys.argv[1:])
    write_models(samples.folder)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(step) for step in (samples.train, samples.verify, samples.infer, samples.explain, samples.plan)]:
            done.result()


if __name__ == "__main__":
    main()
