#!/usr/bin/env python3
"""Tests bundles for CUDA on fake GPUs (test/runtime/fake): kernels run on the host, but driver, libraries, streams and
communicators are called as usual. Inference agrees with ONNX Runtime to 1e-4, and losses and gradient norms of training agree
with those on CPUs to 1e-4.

    run_cuda.py [--only GLOB] [--every N] [--jobs N]

Models are those of run_numeric.py.
"""
import os
import tempfile

import executed
import numpy as np
import onnx
import pcc
import run_dropless
from run_numeric import MODELS, RUN_TOLERANCE, builder, dims_of, oracle, place, prepare, real_models
from sharded_graph import Graph

LIBRARIES = os.environ["FAKE_CUDA"]
TARGET = ["--target", "cuda", "--cpu", "x86-64-v3"]
PLANS = ["tp=1", "tp=2", "tp=4", "pp=2", "pp=4", "dp=2", "tp=2,pp=2", "dp=2,tp=2", "tp=1,microbatches=4", "tp=2,pp=2,microbatches=4",
         "pp=4,microbatches=4"]
TRAINING_PLANS = ["tp=1", "dp=2,microbatches=2", "tp=2", "pp=2,microbatches=4", "dp=2,preset=zero3", "tp=2,pp=2,schedule=zb-h1",
                  "pp=2,virtual-stages=2,microbatches=4,schedule=interleaved", "pp=2,microbatches=4,schedule=zb-v", "dp=2,tp=2,recompute=full"]
TRAINED = ["mlp", "gpt2", "gpt2-untied", "llama", "bert", "vit", "resnet", "mobilenet", "unet", "moe"]
# Tolerances for models with kinks: rounding decides on which side of a kink an activation near it lies.
KINKED = {"resnet": 1e-2, "mobilenet": 1e-2, "unet": 1e-2}
# Models with running sums over the tokens of all samples: their batch cannot be cut into microbatches.
WHOLE_BATCH = ("real:moe-dropping", "real:moe-einsum")
ADAMW = ["--optimizer", "adamw", "--clip-norm", "1"]
# Largest number of launches that update all weights, and tolerance of losses and norms compared with a CPU.
UPDATES = {
    "sgd": (["--optimizer", "sgd", "--lr", "0.1"], RUN_TOLERANCE),
    "momentum": (["--optimizer", "sgd", "--lr", "0.05", "--momentum", "0.9", "--weight-decay", "0.01"], RUN_TOLERANCE),
    "adam": (["--optimizer", "adam"], RUN_TOLERANCE),
    "adamw bf16": ([*ADAMW, "--dtype", "bf16"], 2e-2),
    "adamw f16": ([*ADAMW, "--dtype", "f16"], 5e-3),
}
UPDATE_PLANS = ["tp=1", "tp=2", "dp=2,preset=zero1", "dp=2,preset=zero2", "dp=4,preset=zero3"]
# First words of the cases that do more than infer.
KINDS = ("train", "feed", "dropless", "dropout", "resume", "verify")
CASES = {}


def fake(folder, settings=""):
    """Returns the environment of ranks on fake GPUs."""
    return {"PCC_CUDA_LIBRARIES": LIBRARIES, "PCC_FAKE_CUDA": settings, "TMPDIR": folder}


def outputs(build, options):
    """Returns the outputs, on the fake GPU and expected, of a graph of a few ops that `build` makes."""
    graph = Graph()
    build(graph)
    with tempfile.TemporaryDirectory() as folder:
        path, inputs = graph.save(folder)
        bundle, out = os.path.join(folder, "b.pcc"), os.path.join(folder, "out")
        pcc.succeed(path, "-o", bundle, *TARGET, *options)
        pcc.succeed("run", bundle, *inputs, "--output", out, env=fake(folder))
        return oracle.load(out), oracle.run(path, graph.values)


def infer(name, plan):
    with tempfile.TemporaryDirectory() as folder:
        path, dims = prepare(name, folder)
        inputs = pcc.input_options(os.path.join(folder, "inputs"))
        bundle, out = os.path.join(folder, "model.pcc"), os.path.join(folder, "out")
        pcc.succeed(path, "-o", bundle, *TARGET, *pcc.dim_options(dims), *pcc.plan_options(plan))
        pcc.succeed("run", bundle, *inputs, "--output", out, env=fake(folder))
        executed.compare(oracle.load(out), oracle.load(os.path.join(folder, "expected")), RUN_TOLERANCE)


def steps(said):
    """Returns loss and gradient norm of every step."""
    return [(float(words[3]), float(words[5])) for words in map(str.split, said.splitlines()) if words[:1] == ["step"]]


def train(name, plan, optimizer=ADAMW, tolerance=RUN_TOLERANCE):
    with tempfile.TemporaryDirectory() as folder:
        path, inputs = place(name, folder)
        output = onnx.load(path, load_external_data=False).graph.output[0].name
        options = [*pcc.dim_options(dims_of(path, inputs)), "--train", "--loss", f"mse({output}, labels)", *optimizer]
        bundle = os.path.join(folder, "model.pcc")
        run = ["run", bundle, "--random-inputs", "1", "--steps", "3", "-q"]
        pcc.succeed(path, "-o", bundle, *TARGET, *options, *pcc.plan_options(plan))
        got = steps(pcc.succeed(*run, env=fake(folder)))
        if steps(pcc.succeed(*run, "--no-graph", env=fake(folder, "seed=7"))) != got:
            raise pcc.Failure("a graph of the step gives other numbers than its kernels")
        pcc.succeed(path, "-o", bundle, *options)
        want = steps(pcc.succeed(*run))
        for step, pair in enumerate(zip(got, want, strict=True), 1):
            for mine, theirs in zip(*pair):
                if mine != theirs and not abs(mine - theirs) <= tolerance * abs(theirs):
                    raise pcc.Failure(f"step {step}: loss and norm {pair[0]}, on a processor {pair[1]}")


def feed(plan):
    """Tests steps with different inputs, which are read while the GPU still executes the steps before. An index outside of its
    table ends the step that has it."""
    with tempfile.TemporaryDirectory() as folder:
        path, data = os.path.join(folder, "model.onnx"), os.path.join(folder, "data")
        builder.build("gpt2", path, layers=2)
        tokens = np.random.default_rng(5).integers(0, 509, [6, 8, 17])
        options = ["--dim", "batch=8", "--dim", "seq=16", "--train", "--loss", "cross_entropy(logits, labels)", *ADAMW]
        run = ["run", bundle := os.path.join(folder, "model.pcc"), "--data", data, "-q", "--steps"]
        oracle.save(data, {"input_ids": tokens[..., :-1], "labels": tokens[..., 1:]})
        pcc.succeed(path, "-o", bundle, *options)
        want = steps(pcc.succeed(*run, 8))
        pcc.succeed(path, "-o", bundle, *TARGET, *options, *pcc.plan_options(plan))
        got = {kind: steps(pcc.succeed(*run, 8, *said, env=fake(folder, settings)))
               for kind, said, settings in (("graph", [], ""), ("kernels", ["--no-graph"], "seed=3"),
                                            ("graph that allocates nothing", ["--metrics", os.path.join(folder, "metrics")], "frozen-at=2"))}
        executed.compare({k: np.array(v) for k, v in got.items()}, {k: np.array(want) for k in got}, RUN_TOLERANCE)
        tokens[4, 3, 2] = 509
        oracle.save(data, {"input_ids": tokens[..., :-1], "labels": tokens[..., 1:]})
        code, said, err = pcc.call(*run, 6, env=fake(folder))
        if code != 10 or "509" not in err or steps(said) != got["graph"][:4]:
            raise pcc.Failure(f"exit code {code} after {steps(said)}: {err[:300]}")


def dropless(options, routing):
    """Tests that tokens are sent to the experts that they chose, and that none is dropped."""
    batch = 8
    with tempfile.TemporaryDirectory() as folder:
        path, bundle, out = (os.path.join(folder, name) for name in ("model.onnx", "model.pcc", "out"))
        run_dropless.Model(2, "einsum", run_dropless.EXPERTS).save(path)
        inputs = run_dropless.draw(routing, batch)
        pcc.succeed(path, "-o", bundle, *TARGET, "--dim", f"batch={batch}", *options)
        pcc.succeed("run", bundle, *executed.feed(folder, inputs), "--output", out, env=fake(folder))
        executed.compare(oracle.load(out), oracle.run(path, inputs), RUN_TOLERANCE)


def drop(plan):
    """Tests that the dropped elements depend on their logical place only, and not on the device."""
    train("gpt2", plan + ",dropout=on,seed=7")


def resume(plan, other):
    """Tests that one plan continues from a checkpoint that another has saved."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.onnx")
        builder.build("gpt2", path, layers=2)
        options = ["--dim", "batch=8", "--dim", "seq=16", "--train", "--loss", "mse(logits, labels)", *ADAMW]
        data = ["--random-inputs", "1", "-q", "--steps"]
        bundles = [os.path.join(folder, f"{i}.pcc") for i in range(3)]
        for bundle, words in zip(bundles, ([*TARGET, *pcc.plan_options(plan)], [*TARGET, *pcc.plan_options(other)], []), strict=True):
            pcc.succeed(path, "-o", bundle, *options, *words)
        saved, environment = os.path.join(folder, "saved"), fake(folder)
        got = steps(pcc.succeed("run", bundles[0], *data, 2, "--save", saved, env=environment))
        got += steps(pcc.succeed("run", bundles[1], *data, 2, "--resume", saved, env=environment))
        want = steps(pcc.succeed("run", bundles[2], *data, 4))
        executed.compare({"": np.array(got)}, {"": np.array(want)}, RUN_TOLERANCE)


def verified(plan):
    """Tests pcc verify --run for executables for GPUs."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.onnx")
        builder.build("gpt2", path, layers=2)
        pcc.succeed("verify", path, "--run", *TARGET, "--dim", "batch=4", "--dim", "seq=16", *pcc.plan_options(plan), env=fake(folder))


for model in list(MODELS) + ["real:" + n for n in real_models()]:
    for p in PLANS:
        if not (model.startswith(WHOLE_BATCH) and "microbatches" in p):
            CASES[f"{model} {p}"] = lambda m=model, p=p: infer(m, p)
for model in ("gpt2", "llama", "bert"):
    CASES[f"{model} cp=2"] = lambda m=model: infer(m, "cp=2")
for model in TRAINED:
    for p in TRAINING_PLANS:
        CASES[f"train {model} {p}"] = lambda m=model, p=p: train(m, p, tolerance=KINKED.get(m, RUN_TOLERANCE))

for p in ("tp=1", "pp=2,microbatches=4", "dp=2,tp=2"):
    CASES[f"feed {p}"] = lambda p=p: feed(p)
for options, routing in ((["--ep", "2"], "any"), (["--ep", "4"], "uneven"), (["--ep", "4"], "one"),
                         (["--ep", "2", "--pp", "2", "--microbatches", "2"], "half"), (["--dp", "4", "--ep", "2"], "any")):
    CASES[f"dropless {' '.join(options)} {routing}"] = lambda o=options, r=routing: dropless(o, r)
for p in ("tp=2", "dp=2,preset=zero2"):
    CASES[f"dropout {p}"] = lambda p=p: drop(p)
CASES["resume"] = lambda: resume("tp=2,pp=2,microbatches=2", "dp=4,preset=zero3")
CASES["verify tp=2,pp=2"] = lambda: verified("tp=2,pp=2")
CASES["train gpt2 cp=2"] = lambda: train("gpt2", "cp=2")
for p in UPDATE_PLANS:
    for update, (o, t) in UPDATES.items():
        CASES[f"train gpt2 {p} {update}"] = lambda p=p, o=o, t=t: train("gpt2", p, o, t)

if __name__ == "__main__":
    pcc.main(__doc__, CASES, kind=lambda name: name.split()[0] if name.split()[0] in KINDS else "infer")
