#!/usr/bin/env python3
"""Compares optimizers with ONNX's definitions in onnx.reference: the weight after some steps with known gradients.

    run_optimizers.py [--only GLOB] [--jobs N]
"""
import os
import sys
import tempfile

import numpy as np
import onnx
import onnx.helper as oh
import onnx.numpy_helper
import onnx.reference

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "models"))
import executed
import oracle
import pcc
from run_checkpoint_export import read_safetensors

CASES = {}
STEPS, ROWS, SIZE = 4, 4, 6
DOMAIN = "ai.onnx.preview.training"
START = np.random.default_rng(1).standard_normal((2, SIZE)).astype("f4")


def write(path):
    """Writes a model whose loss is the sum of x w; its gradient is the sum of x over rows."""
    nodes = [oh.make_node("Mul", ["x", "w"], ["product"], "mul"), oh.make_node("ReduceSum", ["product"], ["loss"], "sum", keepdims=0)]
    graph = oh.make_graph(nodes, "sum", [oh.make_tensor_value_info("x", 1, ["batch", 2, SIZE])],
                          [oh.make_tensor_value_info("loss", 1, [])], [onnx.numpy_helper.from_array(START, "w")])
    onnx.save(oh.make_model(graph, opset_imports=[oh.make_opsetid("", 18)], ir_version=8), path)


def expected(op, rate, gradients, first, num_states, **attributes):
    """Returns the weight after steps of ONNX's op, whose count of steps begins with `first`."""
    names = ["x", "g", *(f"s{i}" for i in range(num_states))]
    outputs = ["y", *(f"n{i}" for i in range(num_states))]
    node = oh.make_node(op, ["r", "t", *names], outputs, domain=DOMAIN, **attributes)
    info = [oh.make_tensor_value_info("r", 1, []), oh.make_tensor_value_info("t", 7, [])]
    graph = oh.make_graph([node], "step", info + [oh.make_tensor_value_info(n, 1, [2, SIZE]) for n in names],
                          [oh.make_tensor_value_info(n, 1, [2, SIZE]) for n in outputs])
    model = onnx.reference.ReferenceEvaluator(oh.make_model(graph, opset_imports=[oh.make_opsetid(DOMAIN, 1), oh.make_opsetid("", 18)]))
    x, states = START, [np.zeros_like(START)] * num_states
    for i, gradient in enumerate(gradients):
        feeds = {"r": np.float32(rate), "t": np.int64(first + i), "x": x, "g": gradient}
        x, *states = model.run(None, feeds | {f"s{k}": s for k, s in enumerate(states)})
    return x.astype("f4")


def trained(folder, options, plan):
    """Returns the gradients of the steps, and the weight after them."""
    model, bundle, data, saved = (os.path.join(folder, n) for n in ("model.onnx", "model.pcc", "data", "saved"))
    write(model)
    x = np.random.default_rng(2).standard_normal((STEPS, ROWS, 2, SIZE)).astype("f4")
    oracle.save(data, {"x": x})
    pcc.succeed(model, "-o", bundle, "--dim", f"batch={ROWS}", "--train", "--loss", "loss", *options, *pcc.plan_options(plan))
    pcc.succeed("run", bundle, "--data", data, "--steps", STEPS, "--comm", "thread", "--save", saved)
    pcc.succeed("checkpoint", "export", saved, "-o", os.path.join(folder, "w.safetensors"))
    return x.sum(axis=1), read_safetensors(os.path.join(folder, "w.safetensors"))["w"]


def check(options, plan, op, rate, first, num_states, **attributes):
    with tempfile.TemporaryDirectory() as folder:
        gradients, got = trained(folder, options, plan)
        executed.compare({"w": got}, {"w": expected(op, rate, gradients, first, num_states, **attributes)}, 1e-5)


ROWS_OF = {
    "adagrad": (["--optimizer", "adagrad", "--lr", "0.1", "--lr-decay", "0.5", "--weight-decay", "0.1", "--eps", "1e-3"],
                "Adagrad", 0.1, 0, 1, dict(decay_factor=0.5, norm_coefficient=0.1, epsilon=1e-3)),
    "adagrad defaults": (["--optimizer", "adagrad"], "Adagrad", 0.01, 0, 1, dict(epsilon=1e-10)),
    "momentum": (["--optimizer", "sgd", "--lr", "0.1", "--momentum", "0.9", "--weight-decay", "0.1"], "Momentum", 0.1, 0, 1,
                 dict(alpha=0.9, beta=1.0, mode="standard", norm_coefficient=0.1)),
    # If eps is 0, its place in the formula does not matter.
    "adam": (["--optimizer", "adam", "--lr", "0.1", "--betas", "0.8,0.9", "--eps", "0", "--weight-decay", "0.1"], "Adam", 0.1, 1, 2,
             dict(alpha=0.8, beta=0.9, epsilon=0.0, norm_coefficient=0.1))}

for name, (options, op, rate, first, count, attributes) in ROWS_OF.items():
    for plan in ("dp=1", "dp=2,preset=zero1"):
        CASES[f"{name} {plan}"] = lambda o=options, p=plan, k=op, r=rate, f=first, c=count, a=attributes: check(o, p, k, r, f, c, **a)

if __name__ == "__main__":
    pcc.main(__doc__, CASES)
