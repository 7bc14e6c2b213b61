#!/usr/bin/env python3
"""Tests what a training tells of losses, gradients and weights that are not finite: a warning at once, and with --check-finite
the rank, step, microbatch, action, op and node that made the first such value, on CPUs and on fake GPUs.

    run_finite.py [--only GLOB] [--jobs N]
"""
import json
import os
import re
import sys
import tempfile

import numpy as np
import onnx
from onnx import helper, numpy_helper
import pcc

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "models"))
import builder
import oracle

CASES = {}
BATCH, WIDTH, STEPS, BAD = 8, 16, 5, 3
PLANS = ["tp=1", "microbatches=4", "dp=2", "tp=2", "pp=2,microbatches=4", "pp=2,tp=2,microbatches=2", "pp=2,microbatches=4,schedule=zb-h1",
         "pp=2,microbatches=4,schedule=interleaved", "dp=2,pp=2,microbatches=2,preset=zero1"]
SGD = ["--optimizer", "sgd", "--lr", "0.001"]
GPU = ["--target", "cuda", "--cpu", "x86-64-v3"]


class Model:
    """y = second(inner(relu(first(x)))), where `inner` is an op with a name of its own, or without the relu and with weights above 0;
    the loss is mse(y, labels)."""

    def __init__(self, folder, inner, weights=None, relu=True):
        random = np.random.default_rng(1)
        self.folder, self.path = folder, os.path.join(folder, "m.onnx")
        values = {n: (0.1 * random.standard_normal((WIDTH, WIDTH))).astype("f4") for n in ("w1", "w2")} | (weights or {})
        nodes = [("MatMul", ["x", "w1"], "h", "first"), (inner, ["r" if relu else "h"], "a", "inner"), ("MatMul", ["a", "w2"], "y", "second")]
        if relu:
            nodes.insert(1, ("Relu", ["h"], "r", "positive"))
        else:
            values["w1"] = np.abs(values["w1"])
        tensors = [helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, [BATCH, WIDTH]) for n in ("x", "y")]
        graph = helper.make_graph([helper.make_node(op, ins, [out], name=name) for op, ins, out, name in nodes], "g", tensors[:1], tensors[1:],
                                  [numpy_helper.from_array(v, n) for n, v in values.items()])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10), self.path)
        self.x = random.standard_normal((STEPS, BATCH, WIDTH)).astype("f4")
        self.labels = random.standard_normal((STEPS, BATCH, WIDTH)).astype("f4")

    def compile(self, plan, *options):
        bundle = os.path.join(self.folder, "b.pcc")
        pcc.succeed(self.path, "-o", bundle, "--train", "--loss", "mse(y, labels)", *SGD, *options, *pcc.plan_options(plan))
        return bundle

    def run(self, bundle, *options, comm="thread", env=None):
        data = os.path.join(self.folder, "data")
        oracle.save(data, {"x": self.x, "labels": self.labels})
        words = [] if comm is None else ["--comm", comm]
        return pcc.call("run", bundle, "--data", data, "--steps", STEPS, *words, *options, env=env)


def expect(condition, text):
    if not condition:
        raise pcc.Failure(text)


def expect_origin(result, headline, place):
    """Checks the error of a training that ends, both texts being patterns."""
    code, out, err = result
    expect(code == 17, f"exit code {code}: {err[-600:]}")
    expect(re.fullmatch(rf"pcc: error: {headline}\nnote: the first {place}\n", err), f"'{headline}', '{place}' expected: {err}")
    return out


def case(name):
    def register(function):
        CASES[name] = lambda: in_folder(function)
        return function
    return register


def in_folder(function, *arguments):
    with tempfile.TemporaryDirectory() as folder:
        function(folder, *arguments)


def forward(folder, plan, comm="thread", target=(), env=None):
    """One sample of step BAD overflows in `inner`: its microbatch and the lowest rank that sees it are named, and the step is the
    last one that is told."""
    model = Model(folder, "Exp")
    bundle = model.compile(plan, *target)
    info = pcc.inspect(bundle)
    sample = BATCH - 1
    model.x[BAD - 1, sample] = 1e4
    microbatches, dp = info["microbatches"], info["mesh"].get("dp", 1)
    place = (rf"inf was made on rank (\d+) in step {BAD}, microbatch {microbatches - 1}, action (\d+)F{microbatches - 1} by ops? (relu, )?exp "
             "of node 'inner'")
    metrics, saved = os.path.join(folder, "m.jsonl"), os.path.join(folder, "saved")
    result = model.run(bundle, "-q", "--check-finite", "--metrics", metrics, "--save", saved, comm=comm, env=env)
    out = expect_origin(result, rf"the loss of step {BAD} is (inf|nan)", place)
    expect(out.count("step ") == BAD, out)
    rank, stage = map(int, re.search(place, result[2]).groups()[:2])
    told = info["ranks"][rank]
    expect(stage in told["stages"], f"rank {rank} does not run stage {stage}")
    expect(dp == 1 or told["coordinates"]["dp"] == dp - 1, f"rank {rank} has no sample {sample}")
    with open(metrics) as file:
        lines = [json.loads(line) for line in file]
    expect([line["step"] for line in lines] == list(range(1, BAD + 1)), f"metrics {lines}")
    expect(not os.path.exists(saved) or not any(f.startswith("step-") for f in os.listdir(saved)), "weights that are not finite were saved")


for plan in PLANS:
    CASES[f"forward {plan}"] = lambda p=plan: in_folder(forward, p)
for plan in "pp=2,tp=2,microbatches=2", "dp=2":
    CASES[f"forward mpi {plan}"] = lambda p=plan: in_folder(forward, p, "mpi")


def on_fake_gpus(folder, plan):
    forward(folder, plan, None, GPU, {"PCC_CUDA_LIBRARIES": os.environ["FAKE_CUDA"], "PCC_FAKE_CUDA": "", "TMPDIR": folder})


for plan in "tp=1", "pp=2,tp=2,microbatches=2":
    CASES[f"forward cuda {plan}"] = lambda p=plan: in_folder(on_fake_gpus, p)


def backward(folder, plan):
    """The derivative of a root at 0 is infinite; the loss is finite."""
    model = Model(folder, "Sqrt", relu=False)
    bundle = model.compile(plan)
    model.x = np.abs(model.x) + 1
    model.x[BAD - 1] = 0
    expect_origin(model.run(bundle, "-q", "--check-finite"), f"the gradient norm of step {BAD} is nan",
                  rf"inf( and -inf)? was made on rank \d in step {BAD}, microbatch 0, action \d[BIW]0 by ops? [a-z_, ]+ of node 'inner'")


for plan in "tp=1", "tp=2", "pp=2,microbatches=4", "pp=2,microbatches=4,schedule=zb-h1":
    CASES[f"backward {plan}"] = lambda p=plan: in_folder(backward, p)


@case("input")
def of_an_input(folder):
    model = Model(folder, "Exp")
    bundle = model.compile("dp=2,microbatches=2")
    model.x[BAD - 1, BATCH - 1, 0] = np.nan
    expect_origin(model.run(bundle, "-q", "--check-finite"), f"the loss of step {BAD} is nan",
                  rf"nan is in input 'x' of step {BAD}, microbatch 1 \(rank 1\)")


@case("weight")
def of_a_weight(folder):
    model = Model(folder, "Exp", {"w2": np.full((WIDTH, WIDTH), np.nan, "f4")})
    expect_origin(model.run(model.compile("pp=2"), "-q", "--check-finite"), "the loss of step 1 is nan",
                  r"nan is in weight 'w2' before step 1 \(rank 1\)")


@case("update")
def of_an_update(folder):
    """The loss of step 1 is finite, the weights after it are not."""
    model = Model(folder, "Exp")
    model.labels *= 1e6
    bundle = os.path.join(folder, "fast.pcc")
    pcc.succeed(model.path, "-o", bundle, "--train", "--loss", "mse(y, labels)", "--optimizer", "sgd", "--lr", "1e38")
    expect_origin(model.run(bundle, "-q", "--check-finite"), "weights are not finite after step 1",
                  r"(-?inf|inf and -inf) was made on rank 0 in step 1, action 0U\d by ops [a-z_, ]* of node '(first|second)'")


@case("masks")
def masks_are_no_origin(folder):
    """A causal mask adds infinities in every step, also in the first one that is bad."""
    path = os.path.join(folder, "m.onnx")
    dims = {"batch": 4, "seq": 8}
    graph = builder.build("gpt2", path, layers=2, hidden=16, heads=4, vocabulary=37)
    options = [*pcc.dim_options(dims), "--train", "--loss", f"cross_entropy({graph.outputs[0][0]}, labels)", "--optimizer", "sgd"]
    batches = [graph.draw_inputs(dims, seed) for seed in range(2)]
    labels = np.random.default_rng(7).integers(0, 37, (2, 4, 8))
    data = os.path.join(folder, "data")
    oracle.save(data, {n: np.stack([b[n] for b in batches]) for n in batches[0]} | {"labels": labels})
    bundle = os.path.join(folder, "b.pcc")
    for lr, want in ("0.01", 0), ("1e20", 17):
        pcc.succeed(path, "-o", bundle, *options, "--lr", lr, "--tp", "2")
        code, _, err = pcc.call("run", bundle, "--data", data, "--steps", 2, "--comm", "thread", "-q", "--check-finite")
        expect(code == want, f"lr {lr}: exit code {code}: {err}")
    expect(re.search(r"the loss of step 2 is nan\nnote: the first \S+.* was made on rank \d in step 2, microbatch 0, action 0F0 by ", err), err)
    expect("-inf was" not in err or "and -inf was" in err, err)


@case("warning")
def warns_once(folder):
    """Without the option training goes on; the loss of the first such step is told in any case, also with -q and --log-every."""
    model = Model(folder, "Exp")
    bundle = model.compile("pp=2,microbatches=2")
    model.x[BAD - 2, 0] = 1e4
    for comm in "thread", "mpi":
        code, out, err = model.run(bundle, "-q", "--log-every", "4", comm=comm)
        expect(code == 0, f"exit code {code}: {err}")
        expect(re.fullmatch(rf"pcc: warning: the loss of step {BAD - 1} is (inf|nan)\nnote: --check-finite names the op that makes it\n", err), err)
        expect([int(n) for n in re.findall(r"^step (\d+) loss \S+ grad_norm \S+ lr \S+$", out, re.M)] == [BAD - 1, 4, 5], out)


@case("scaled")
def a_loss_scale_may_overflow(folder):
    """A gradient that the loss scale makes infinite is skipped, and neither a reason to warn nor to end."""
    model = Model(folder, "Exp")
    model.labels *= 100
    bundle = model.compile("tp=1", "--loss-scale", "dynamic(initial=3e38, interval=2000)")
    for options in [], ["--check-finite"]:
        code, out, err = model.run(bundle, "-q", *options)
        expect((code, err) == (0, ""), f"exit code {code}: {err}")
        expect("grad_norm inf" in out or "grad_norm nan" in out, out)


if __name__ == "__main__":
    pcc.main(__doc__, CASES)
