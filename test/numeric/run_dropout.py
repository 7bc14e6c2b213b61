#!/usr/bin/env python3
"""Tests that the elements which Dropout drops depend on the element, the step, the seed and the node only.

    run_dropout.py [--only GLOB] [--jobs N]

The model is y = dropout(x w) with the sum of y as loss. Row b of x is 2^b, so that the bits of w's gradient tell which rows
dropped which element, also in narrow types: all plans must have those bits, and they are those of Philox in NumPy.
"""
import itertools
import os
import sys
import tempfile

import numpy as np
import onnx
import onnx.helper as oh
import onnx.numpy_helper

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "models"))
import executed
import oracle
import pcc
from run_checkpoint_export import read_safetensors

CASES = {}
ROWS, SIZE = 8, 24
PLANS = ["microbatches=4", "dp=2", "dp=4,microbatches=2", "tp=2", "dp=2,tp=2,microbatches=2", "dp=2,preset=zero3", "pp=2",
         "pp=2,microbatches=8,schedule=gpipe,dp=2", "dp=3,microbatches=2"]


def constant(name, value):
    return onnx.numpy_helper.from_array(np.asarray(value), name)


def write(path, swapped=False, mode=True, opset=18):
    """Writes x a -> dropout -> first; x b -> dropout -> second; loss = sum of both. `swapped`: the nodes of b come first."""
    def branch(name):
        ends = [f"ratio_{name}", *([f"mode_{name}"] if mode is not None else [])]
        return [oh.make_node("MatMul", ["x", name], [f"scaled_{name}"], f"product_{name}"),
                oh.make_node("Dropout", [f"scaled_{name}", *ends], [f"dropped_{name}"], f"drop_{name}")]
    branches = [branch(n) for n in ("ba" if swapped else "ab")]
    nodes = [*itertools.chain(*branches), oh.make_node("Add", ["dropped_a", "dropped_b"], ["both"], "add"),
             oh.make_node("ReduceSum", ["both"], ["loss"], "sum", keepdims=0)]
    weights = [constant(n, np.zeros((1, SIZE), "f4")) for n in "ab"]
    weights += [constant(f"ratio_{n}", np.float32(0.5)) for n in "ab"]
    weights += [constant(f"mode_{n}", np.bool_(mode)) for n in "ab"] if mode is not None else []
    graph = oh.make_graph(nodes, "dropout", [oh.make_tensor_value_info("x", 1, ["batch", 1])],
                          [oh.make_tensor_value_info("loss", 1, [])], weights)
    onnx.save(oh.make_model(graph, opset_imports=[oh.make_opsetid("", opset)], ir_version=8), path)


OPTIONS = ["--dim", f"batch={ROWS}", "--train", "--loss", "loss", "--lr", "1"]


def masks(folder, *options, steps=1, **form):
    """Returns the elements that each weight's dropout kept, [rows, size], in the last of `steps` steps."""
    model, bundle, data = (os.path.join(folder, n) for n in ("model.onnx", "model.pcc", "data"))
    write(model, **form)
    x = np.broadcast_to(2.0 ** np.arange(ROWS, dtype="f4")[:, None], (steps, ROWS, 1))
    oracle.save(data, {"x": np.ascontiguousarray(x)})
    pcc.succeed(model, "-o", bundle, *OPTIONS, *options)
    weights = []
    for count in (steps - 1, steps):
        saved, file = (os.path.join(folder, f"{n}-{count}") for n in ("saved", "weights.safetensors"))
        if count:
            pcc.succeed("run", bundle, "--data", data, "--steps", count, "--comm", "thread", "--save", saved)
            pcc.succeed("checkpoint", "export", saved, "-o", file + ".safetensors")
        weights.append(read_safetensors(file + ".safetensors") if count else {n: np.zeros((1, SIZE), "f4") for n in "ab"})
    found = {}
    for name in "ab":
        bits = (weights[0][name] - weights[1][name]) / 2  # gradients are multiplied by 1 / (1 - 0.5)
        whole = bits.astype("i8")
        if (whole != bits).any() or (whole < 0).any() or (whole >= 2**ROWS).any():
            raise pcc.Failure(f"gradients {bits}")
        found[name] = whole >> np.arange(ROWS)[:, None] & 1 == 1
    return found


def philox(counter, key):
    """Returns the first word of Philox 4x32-10 for counters [n, 4] (Salmon et al. 2011)."""
    a, b, c, d = (counter[:, i].astype("u8") for i in range(4))
    low, k = np.uint64(0xFFFFFFFF), [np.uint64(key & 0xFFFFFFFF), np.uint64(key >> 32)]
    for _ in range(10):
        first, second = np.uint64(0xD2511F53) * a, np.uint64(0xCD9E8D57) * c
        a, b, c, d = (second >> np.uint64(32)) ^ b ^ k[0], second & low, (first >> np.uint64(32)) ^ d ^ k[1], first & low
        k = [k[0] + np.uint64(0x9E3779B9) & low, k[1] + np.uint64(0xBB67AE85) & low]
    return a


def expect(got, want, what):
    if any((got[n] != want[n]).any() for n in "ab"):
        raise pcc.Failure(f"{what}: {got}, expected {want}")


def expect_other(got, other, what):
    if any((got[n] == other[n]).mean() > 0.75 for n in "ab"):
        raise pcc.Failure(f"{what} makes no difference")


def isolated(function, *arguments):
    """Lets a case run in an empty folder."""
    def run():
        with tempfile.TemporaryDirectory() as folder:
            function(folder, *arguments)
    return run


def plan(folder, text):
    expect(masks(folder, *pcc.plan_options(text), steps=2), masks(folder, steps=2), text)


def narrow(folder, dtype, text):
    options = ["--dtype", dtype, "--loss-scale", "1", *pcc.plan_options(text)]
    expect(masks(folder, *options), masks(folder), f"{dtype} {text}")


def verified(folder, text):
    model = os.path.join(folder, "model.onnx")
    write(model)
    executed.verify(model, *OPTIONS, *pcc.plan_options(text))


def counters(folder):
    """Tests that element i of step 0 draws from counter (i, step) in every op, and that half of the elements are dropped."""
    found = masks(folder)
    index = np.arange(ROWS * SIZE, dtype="u8")
    counter = np.stack([index, 0 * index, 0 * index, 0 * index], axis=1)
    ir = os.path.join(folder, "ir")
    pcc.succeed(os.path.join(folder, "model.onnx"), *OPTIONS, "--dump-ir", ir, "--stop-after", "2", "-o", os.path.join(folder, "no.pcc"))
    with open(os.path.join(ir, "2-prepare.mlir")) as file:
        keys = [int(line.split(" key ")[1].split()[0]) % 2**64 for line in file if "graph.random" in line]
    if len(set(keys)) != 2:
        raise pcc.Failure(f"keys {keys}")
    want = [(philox(counter, key) >> np.uint64(8) >= 2**23).reshape(ROWS, SIZE) for key in keys]
    for name in "ab":
        if not any((found[name] == w).all() for w in want):
            raise pcc.Failure(f"{name} is of no key")
    expect_other(found, {"a": found["b"], "b": found["a"]}, "the node")
    if not all(0.4 < found[n].mean() < 0.6 for n in "ab"):
        raise pcc.Failure("not half of the elements are dropped")


def order(folder):
    """Tests that nodes draw the same numbers in any order."""
    expect(masks(folder, swapped=True), masks(folder), "swapped nodes")


def steps_and_seeds(folder):
    first = masks(folder)
    expect(masks(folder, "--seed", "0"), first, "--seed 0")
    expect_other(masks(folder, "--seed", "1"), first, "the seed")
    expect_other(masks(folder, steps=2), first, "the step")


def modes(folder):
    """Tests that training_mode applies unless --dropout overrides it."""
    first = masks(folder)
    expect(masks(folder, "--dropout", "on", mode=False), first, "--dropout on")
    expect(masks(folder, "--dropout", "on", mode=None), first, "--dropout on, without a mode")
    for words, mode in (((), False), ((), None), (("--dropout", "off"), True)):
        model = os.path.join(folder, "model.onnx")
        write(model, mode=mode)
        ir = os.path.join(folder, "ir")
        pcc.succeed(model, *OPTIONS, *words, "--dump-ir", ir, "--stop-after", "2", "-o", os.path.join(folder, "no.pcc"))
        with open(os.path.join(ir, "2-prepare.mlir")) as file:
            if "graph.random" in file.read():
                raise pcc.Failure(f"mode {mode} {words}: drops")


def inference(folder):
    """Tests that a model that drops elements is rejected if it is not trained."""
    write(os.path.join(folder, "model.onnx"))
    code, _, err = pcc.call(os.path.join(folder, "model.onnx"), "--dim", f"batch={ROWS}", "-o", os.path.join(folder, "no.pcc"))
    if code != 4 or "training_mode is true" not in err:
        raise pcc.Failure(f"exit code {code}: {err}")


for function in (counters, order, steps_and_seeds, modes, inference):
    CASES[function.__name__] = isolated(function)
for text in PLANS:
    CASES[f"plan {text}"] = isolated(plan, text)
    CASES[f"verified {text}"] = isolated(verified, text)
for dtype in ("bf16", "f16"):
    for text in ("dp=1", "microbatches=4,dp=2"):
        CASES[f"{dtype} {text}"] = isolated(narrow, dtype, text)

if __name__ == "__main__":
    pcc.main(__doc__, CASES)
