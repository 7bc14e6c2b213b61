#!/usr/bin/env python3
"""Tests models that contain their training step (TrainingInfo): weights, state and losses of some steps equal those of a step
in NumPy with ONNX's definition of the update in onnx.reference.

    run_own_training.py [--only GLOB] [--jobs N]
"""
import json
import os
import sys
import tempfile

import numpy as np
import onnx
import onnx.helper as oh
import onnx.numpy_helper as nh
import onnx.reference

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "models"))
import executed
import oracle
import pcc
from run_checkpoint_export import read_safetensors

CASES = {}
STEPS, ROWS, SIZES = 4, 8, (6, 10, 4)
DOMAIN = "ai.onnx.preview.training"
OPSETS = [oh.make_opsetid("", 18), oh.make_opsetid(DOMAIN, 1)]
RANDOM = np.random.default_rng(1)
WEIGHTS = {"w1": RANDOM.standard_normal(SIZES[:2]), "b1": RANDOM.standard_normal(SIZES[1]),
           "w2": RANDOM.standard_normal(SIZES[1:]), "b2": RANDOM.standard_normal(SIZES[2])}
WEIGHTS = {n: w.astype("f4") for n, w in WEIGHTS.items()}
# Per optimizer: its attributes, and the number of its states per weight.
OPTIMIZERS = {"Momentum": (dict(alpha=0.9, beta=0.8, mode="nesterov", norm_coefficient=0.01), 1),
              "Adagrad": (dict(decay_factor=0.1, epsilon=1e-3, norm_coefficient=0.01), 1),
              "Adam": (dict(alpha=0.8, beta=0.9, epsilon=1e-3, norm_coefficient=0.01, norm_coefficient_post=0.01), 2)}
RATE = np.float32(0.05)


def forward():
    return [oh.make_node("MatMul", ["x", "w1"], ["p1"], "m1"), oh.make_node("Add", ["p1", "b1"], ["s1"], "a1"),
            oh.make_node("Tanh", ["s1"], ["h"], "t1"), oh.make_node("MatMul", ["h", "w2"], ["p2"], "m2"),
            oh.make_node("Add", ["p2", "b2"], ["y"], "a2")]


def states(count):
    return [f"{name}.state{k}" for k in range(count) for name in WEIGHTS]


def algorithm(op, attributes, count, initialized):
    """Returns the loss, its gradients, and the update of all weights by one node. The number of steps is counted."""
    names = list(WEIGHTS)
    nodes = [oh.make_node("Sub", ["y", "t"], ["d"], "sub"), oh.make_node("Mul", ["d", "d"], ["dd"], "square"),
             oh.make_node("ReduceMean", ["dd"], ["loss"], "mean", keepdims=0),
             oh.make_node("Gradient", names + ["x", "t"], [f"{n}.grad" for n in names], "gradient", domain=DOMAIN, xs=names,
                          zs=["x", "t"], y="loss"),
             oh.make_node(op, ["rate", "count"] + names + [f"{n}.grad" for n in names] + states(count),
                          [f"{n}.new" for n in names + states(count)], "update", domain=DOMAIN, **attributes),
             oh.make_node("Add", ["count", "one"], ["count.new"], "counter")]
    shapes = WEIGHTS | {s: WEIGHTS[s.split(".")[0]] for s in states(count)}
    held = {"rate": RATE, "count": np.int64(0), "one": np.int64(1)}
    # States that the initialization sets may have any value in the file.
    held |= {s: np.full_like(shapes[s], 7 if initialized else 0) for s in states(count)}
    outputs = [oh.make_tensor_value_info(f"{n}.new", 1, w.shape) for n, w in shapes.items()]
    outputs += [oh.make_tensor_value_info("loss", 1, []), oh.make_tensor_value_info("count.new", 7, [])]
    return oh.make_graph(nodes, "step", [oh.make_tensor_value_info("t", 1, ["batch", SIZES[2]])], outputs,
                         [nh.from_array(np.asarray(v), n) for n, v in held.items()])


def initialization(count):
    """Returns zeros for all states of a weight."""
    nodes, outputs = [], []
    for state in states(count):
        shape = nh.from_array(np.array(WEIGHTS[state.split(".")[0]].shape), "")
        nodes += [oh.make_node("Constant", [], [f"{state}.shape"], value=shape),
                  oh.make_node("ConstantOfShape", [f"{state}.shape"], [f"{state}.first"])]
        outputs.append(oh.make_tensor_value_info(f"{state}.first", 1, None))
    return oh.make_graph(nodes, "first", [], outputs)


def write(path, op, initialized=False):
    attributes, count = OPTIMIZERS[op]
    graph = oh.make_graph(forward(), "mlp", [oh.make_tensor_value_info("x", 1, ["batch", SIZES[0]])],
                          [oh.make_tensor_value_info("y", 1, ["batch", SIZES[2]])], [nh.from_array(w, n) for n, w in WEIGHTS.items()])
    model = oh.make_model(graph, opset_imports=OPSETS, ir_version=8)
    info = oh.make_training_info(algorithm(op, attributes, count, initialized),
                                 [(n, f"{n}.new") for n in [*WEIGHTS, *states(count), "count"]],
                                 initialization(count) if initialized else None,
                                 [(s, f"{s}.first") for s in states(count)] if initialized else None)
    model.training_info.append(info)
    onnx.save(model, path)


def data():
    random = np.random.default_rng(2)
    return {n: random.standard_normal((STEPS, ROWS, size)).astype("f4") for n, size in (("x", SIZES[0]), ("t", SIZES[2]))}


def gradients(weights, x, t):
    """Returns loss and gradients in float64."""
    w = {n: v.astype("f8") for n, v in weights.items()}
    h = np.tanh(x @ w["w1"] + w["b1"])
    d = h @ w["w2"] + w["b2"] - t
    dy = 2 * d / d.size
    ds = dy @ w["w2"].T * (1 - h * h)
    return (d * d).mean(), {"w1": x.T @ ds, "b1": ds.sum(0), "w2": h.T @ dy, "b2": dy.sum(0)}


def expected(op):
    """Returns the losses of all steps, and the weights after them."""
    attributes, count = OPTIMIZERS[op]
    names = ["x", "g", *(f"s{k}" for k in range(count))]
    node = oh.make_node(op, ["r", "t", *names], ["y", *(f"n{k}" for k in range(count))], domain=DOMAIN, **attributes)
    weights, kept, losses, batches = dict(WEIGHTS), {n: [np.zeros_like(w)] * count for n, w in WEIGHTS.items()}, [], data()
    for step in range(STEPS):
        loss, grads = gradients(weights, batches["x"][step], batches["t"][step])
        losses.append(loss)
        for name, w in weights.items():
            info = [oh.make_tensor_value_info("r", 1, []), oh.make_tensor_value_info("t", 7, [])]
            tensors = [oh.make_tensor_value_info(n, 1, w.shape) for n in names]
            graph = oh.make_graph([node], "step", info + tensors, [oh.make_tensor_value_info(n, 1, w.shape) for n in node.output])
            feeds = {"r": RATE, "t": np.int64(step), "x": w, "g": grads[name].astype("f4")}
            run = onnx.reference.ReferenceEvaluator(oh.make_model(graph, opset_imports=OPSETS))
            new, *kept[name] = run.run(None, feeds | {f"s{k}": s for k, s in enumerate(kept[name])})
            weights[name] = new.astype("f4")
    return losses, weights


def options(plan):
    return ["--dim", f"batch={ROWS}", "--train", *(pcc.plan_options(plan) if plan else [])]


def losses(bundle, batches, report, *options):
    pcc.succeed("run", bundle, "--data", batches, "--steps", STEPS, "--comm", "thread", "--report", report, *options)
    with open(report) as file:
        return [s["loss"] for s in json.load(file)["steps"]]


def train(op, plan, initialized):
    with tempfile.TemporaryDirectory() as folder:
        model, bundle, batches, saved, report = (os.path.join(folder, n) for n in ("m.onnx", "m.pcc", "data", "saved", "r.json"))
        write(model, op, initialized)
        oracle.save(batches, data())
        pcc.succeed(model, "-o", bundle, *options(plan))
        got = losses(bundle, batches, report, "--save", saved)
        pcc.succeed("checkpoint", "export", saved, "-o", os.path.join(folder, "w.safetensors"))
        want, weights = expected(op)
        trained = read_safetensors(os.path.join(folder, "w.safetensors"))
        executed.compare({"loss": np.array(got)} | {n: trained[n] for n in WEIGHTS}, {"loss": np.array(want)} | weights, 1e-5)


def count_states(initialized):
    """Tests that states, which may have their values in the file, count as optimizer state everywhere, and not as weights."""
    with tempfile.TemporaryDirectory() as folder:
        model, bundle, page = (os.path.join(folder, n) for n in ("m.onnx", "m.pcc", "m.html"))
        write(model, "Adam", initialized)
        code, _, err = pcc.call(model, "-o", bundle, "--html", page, *options(""))
        if code or "trains all 4 weights (114 parameters)" not in err or "456 B weights + 928 B state" not in err:
            raise pcc.Failure(f"exit code {code}: {err}")
        inspection = pcc.inspect(bundle)
        rank, stage = inspection["ranks"][0], inspection["stages"][0]
        got = (rank["weight_bytes"], rank["state_bytes"], stage["weight_bytes"], sorted(p["name"] for p in rank["parameters"]))
        # Two states per weight, the counter of the model and that of pcc.
        if got != (456, 2 * 456 + 16, 456, sorted(WEIGHTS)):
            raise pcc.Failure(f"weights, state, weights of the stage, names: {got}")
        with open(page, encoding="utf-8") as file:
            if "w1.state0" in file.read():
                raise pcc.Failure("the page shows a state as a weight")


def feed_rate():
    """Tests a learning rate that is an input of the step."""
    with tempfile.TemporaryDirectory() as folder:
        model, bundle, batches, report = (os.path.join(folder, n) for n in ("m.onnx", "m.pcc", "data", "r.json"))
        write(model, "Adam")
        changed = onnx.load(model)
        algorithm = changed.training_info[0].algorithm
        algorithm.initializer.remove(next(i for i in algorithm.initializer if i.name == "rate"))
        algorithm.input.append(oh.make_tensor_value_info("rate", 1, []))
        onnx.save(changed, model)
        oracle.save(batches, data() | {"rate": np.full(STEPS, RATE)})
        pcc.succeed(model, "-o", bundle, *options("dp=2"))
        got = losses(bundle, batches, report)
        executed.compare({"loss": np.array(got)}, {"loss": np.array(expected("Adam")[0])}, 1e-5)


def narrow(dtype, tolerance):
    """Tests narrow products with weights that are not narrow."""
    with tempfile.TemporaryDirectory() as folder:
        model, bundle, batches, report = (os.path.join(folder, n) for n in ("m.onnx", "m.pcc", "data", "r.json"))
        write(model, "Momentum")
        oracle.save(batches, data())
        scale = ["--loss-scale", "8"] if dtype == "f16" else []
        pcc.succeed(model, "-o", bundle, *options("tp=2"), "--dtype", dtype, *scale)
        got = losses(bundle, batches, report)
        executed.compare({"loss": np.array(got)}, {"loss": np.array(expected("Momentum")[0])}, tolerance)


def keep_gradient(path, written):
    """Tests a tensor that is written in every step and never read."""
    model = onnx.load(path)
    info = model.training_info[0]
    info.algorithm.initializer.append(nh.from_array(np.zeros(SIZES[2], "f4"), written))
    info.algorithm.node.append(oh.make_node("Identity", ["b2.grad"], [f"{written}.new"], "keep"))
    info.algorithm.output.append(oh.make_tensor_value_info(f"{written}.new", 1, [SIZES[2]]))
    info.update_binding.add(key=written, value=f"{written}.new")
    onnx.save(model, path)


def written(plan):
    with tempfile.TemporaryDirectory() as folder:
        model, bundle, batches, saved, weights = (os.path.join(folder, n) for n in ("m.onnx", "m.pcc", "data", "saved", "w.safetensors"))
        write(model, "Momentum")
        keep_gradient(model, "seen")
        oracle.save(batches, data())
        pcc.succeed(model, "-o", bundle, *options(plan))
        pcc.succeed("run", bundle, "--data", batches, "--steps", 1, "--comm", "thread", "--save", saved)
        pcc.succeed("checkpoint", "export", saved, "-o", weights)
        _, expected = gradients(WEIGHTS, data()["x"][0], data()["t"][0])
        executed.compare({"seen": read_safetensors(weights)["seen"]}, {"seen": expected["b2"].astype("f4")}, 1e-5)
        # The resumed run writes it again.
        pcc.succeed("run", bundle, "--data", batches, "--steps", 1, "--comm", "thread", "--save", saved, "--resume", saved)


def verify(op, plan):
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "m.onnx")
        write(model, op)
        executed.verify(model, *options(plan))


def refuse(change, words, *more):
    """Tests that a changed model is rejected with these words."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "m.onnx")
        write(path, "Momentum")
        model = onnx.load(path)
        change(model)
        onnx.save(model, path)
        code, _, err = pcc.call(path, "-o", os.path.join(folder, "m.pcc"), *options(""), *more)
        if code not in (2, 3, 4) or words not in err:
            raise pcc.Failure(f"exit code {code}: {err}")


def infer():
    """Tests that the model is an inference model without --train."""
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "m.onnx")
        write(model, "Adam")
        executed.verify(model, "--dim", f"batch={ROWS}", "--tp", "2")


RETURNED = """
graph.parameter @w : tensor<4xf32> fill 1.0 trained
func.func @main(%x: tensor<4xf32> {graph.name = "x"}) -> (tensor<4xf32> {graph.name = "before"}) {
  %w = graph.get_parameter @w : tensor<4xf32>
  %y = graph.add %x, %w : tensor<4xf32>, tensor<4xf32>
  graph.set_parameter @w, %y : tensor<4xf32>
  return %w : tensor<4xf32>
}"""


def returned():
    """Tests that a returned weight has the value from before its write."""
    with tempfile.TemporaryDirectory() as folder:
        model, bundle, x, out = (os.path.join(folder, n) for n in ("m.mlir", "m.pcc", "x.npy", "out"))
        with open(model, "w") as file:
            file.write(RETURNED)
        np.save(x, np.arange(4, dtype="f4"))
        pcc.succeed(model, "-o", bundle)
        pcc.succeed("run", bundle, "--input", f"x={x}", "--output", out, "--comm", "thread")
        executed.compare({"before": np.load(os.path.join(out, "before.npy"))}, {"before": np.ones(4, "f4")})


PLANS = ["", "tp=2", "dp=2", "dp=2,preset=zero1", "dp=2,preset=zero3", "pp=2", "pp=2,microbatches=4,schedule=gpipe"]
for plan in PLANS:
    for op in OPTIMIZERS:
        if op == "Adam" or plan in ("", "pp=2"):
            CASES[f"train {op} {plan or 'one rank'}"] = lambda o=op, p=plan: train(o, p, initialized=o == "Momentum")
    CASES[f"written {plan or 'one rank'}"] = lambda p=plan: written(p)
    CASES[f"verify Adam {plan or 'one rank'}"] = lambda p=plan: verify("Adam", p)
CASES["states of the file"] = lambda: count_states(False)
CASES["states that are initialized"] = lambda: count_states(True)
CASES["infer"] = infer
CASES["returned"] = returned
CASES["a rate that is an input"] = feed_rate
CASES["bf16"] = lambda: narrow("bf16", 3e-2)
CASES["f16"] = lambda: narrow("f16", 4e-3)
CASES["a second TrainingInfo"] = lambda: refuse(lambda m: m.training_info.append(m.training_info[0]), "2 TrainingInfos")
CASES["an option of a loss"] = lambda: refuse(lambda m: None, "option --lr needs --loss", "--lr", "1")
CASES["a binding of another shape"] = lambda: refuse(
    lambda m: setattr(m.training_info[0].update_binding[0], "value", "b1.new"), "of another type or shape")
CASES["no gradient"] = lambda: refuse(lambda m: m.training_info[0].algorithm.node.pop(3), "w1.grad")

if __name__ == "__main__":
    pcc.main(__doc__, CASES)
