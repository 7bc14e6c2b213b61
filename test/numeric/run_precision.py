#!/usr/bin/env python3
"""Tests --dtype: a model computes in bf16, f16 or f32, and trains so with weights and sums in f32.

    run_precision.py [--only GLOB] [--jobs N]

In f64, where casts between floats change nothing, all plans equal the unpartitioned model at 1e-12; executables compute the
same as the model in f32, within the precision of the type. Losses in narrow types follow those in f32. A loss scale that is too
large is halved, and the step in which a gradient overflows changes nothing.
"""
import json
import os
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "models"))
import builder
import executed
import oracle
import pcc

CASES = {}
STEPS = 8
BATCH, SEQ = 8, 6
MODELS = {
    "mlp": ("mlp", dict(layers=3, hidden=16, inner=32), {"batch": BATCH}),
    "gpt2": ("gpt2", dict(layers=2, hidden=16, heads=4, inner=32, vocabulary=37), {"batch": BATCH, "seq": SEQ}),
    "llama": ("llama", dict(layers=2, hidden=16, heads=4, kv_heads=2, inner=24, vocabulary=32), {"batch": BATCH, "seq": SEQ}),
    "bert": ("bert", dict(layers=2, hidden=16, heads=4, inner=32, vocabulary=40), {"batch": BATCH, "seq": SEQ}),
    "moe": ("moe", dict(layers=1, hidden=16, inner=16, experts=4, chosen=2, seq=SEQ, classes=20), {"batch": BATCH}),
    "resnet": ("resnet", dict(stem=4, widths=(4, 8), depths=(1, 1), classes=10, image=16), {"batch": BATCH})}
# A narrow gradient near 0 may have the other sign, and the first steps of Adam depend on the sign only.
ADAM = ["--optimizer", "adamw", "--lr", "0.01", "--clip-norm", "1", "--eps", "1e-2"]
PLANS = ["microbatches=4", "tp=2", "dp=2,preset=zero1", "dp=2,microbatches=2,preset=zero3", "pp=2,microbatches=4",
         "pp=2,microbatches=4,schedule=zb-v", "tp=2,pp=2,dp=2"]


class Model:
    """A model of `kind` in `folder`, and how to train it."""

    def __init__(self, kind, folder):
        name, sizes, dims = MODELS[kind]
        self.folder, self.path, self.dims = folder, os.path.join(folder, "model.onnx"), dims
        self.graph = builder.build(name, self.path, **sizes)
        self.output, self.shape = self.graph.outputs[0]
        self.options = pcc.dim_options(dims)
        self.training = self.options + ["--train", "--loss", f"cross_entropy({self.output}, labels)"]

    def data(self, fresh=True):
        """Returns STEPS batches. All are equal to the first unless `fresh`."""
        path = os.path.join(self.folder, "data")
        batches = [self.graph.draw_inputs(self.dims, seed if fresh else 0) for seed in range(STEPS)]
        labels = [np.random.default_rng(seed if fresh else 0).integers(0, self.shape[-1], list(self.dims.values()))
                  for seed in range(STEPS)]
        oracle.save(path, {n: np.stack([b[n] for b in batches]) for n in batches[0]} | {"labels": np.stack(labels)})
        return path

    def train(self, name, data, *options, steps=STEPS, run=()):
        """Returns the metrics of each step."""
        bundle, metrics = os.path.join(self.folder, name + ".pcc"), os.path.join(self.folder, name + ".jsonl")
        pcc.succeed(self.path, "-o", bundle, *self.training, *options)
        pcc.succeed("run", bundle, "--data", data, "--steps", steps, "--comm", "thread", "--metrics", metrics, *run)
        with open(metrics) as file:
            return [json.loads(line) for line in file]


def case(name, function, *arguments):
    def run():
        with tempfile.TemporaryDirectory() as folder:
            function(Model(name, folder), *arguments)
    return run


def losses(metrics):
    return np.array([m["loss"] for m in metrics])


def compare(got, want, tolerance, what):
    error = np.abs(np.asarray(got) / np.asarray(want) - 1).max()
    if not error <= tolerance:
        raise pcc.Failure(f"{what}: {np.asarray(got)}, expected {np.asarray(want)}: relative error {error:.2e} above {tolerance}")


def store_as(path, dtype):
    """Changes a model of f32 to one whose weights, inputs and values are of a narrow type, as people export it."""
    narrow = {"bf16": TensorProto.BFLOAT16, "f16": TensorProto.FLOAT16}[dtype]
    bits = {"bf16": lambda a: (a.astype("<f4").view("<u4") >> 16).astype("<u2"), "f16": lambda a: a.astype("<f2")}[dtype]
    model = onnx.load(path)

    def change(tensor):
        if tensor.data_type == TensorProto.FLOAT:
            array = onnx.numpy_helper.to_array(tensor)
            with np.errstate(over="ignore"):
                tensor.CopyFrom(onnx.helper.make_tensor(tensor.name, narrow, array.shape, bits(array).tobytes(), raw=True))
    for tensor in model.graph.initializer:
        change(tensor)
    for node in model.graph.node:
        for attribute in node.attribute:
            change(attribute.t)
            if node.op_type == "Cast" and attribute.name == "to" and attribute.i == TensorProto.FLOAT:
                attribute.i = narrow
    for value in [*model.graph.input, *model.graph.output, *model.graph.value_info]:
        if value.type.tensor_type.elem_type == TensorProto.FLOAT:
            value.type.tensor_type.elem_type = narrow
    onnx.save(model, path)


def simulate_narrow(model, dtype, plan):
    """Tests the training of a model whose weights are narrow."""
    store_as(model.path, dtype)
    executed.verify(model.path, *model.training, "--optimizer", "sgd", "--lr", "0.01", *pcc.plan_options(plan))


def simulate(model, dtype, plan):
    executed.verify(model.path, *model.options, "--dtype", dtype, *pcc.plan_options(plan))


def simulate_training(model, dtype, plan):
    executed.verify(model.path, *model.training, *ADAM, "--dtype", dtype, *pcc.plan_options(plan))


def execute(model, dtype, plan, tolerance):
    inputs = model.graph.draw_inputs(model.dims)
    bundle = os.path.join(model.folder, "model.pcc")
    pcc.succeed(model.path, "-o", bundle, *model.options, "--dtype", dtype, *pcc.plan_options(plan))
    executed.compare(executed.outputs(bundle, executed.feed(model.folder, inputs), model.folder),
                     oracle.run(model.path, inputs), tolerance)
    kinds = {(p["name"], p["dtype"]) for p in pcc.inspect(bundle)["ranks"][0]["parameters"] if len(p["shape"]) > 1}
    if {d for _, d in kinds} != {dtype}:
        raise pcc.Failure(f"weights of two dims are stored as {kinds}")


def curve(model, dtype):
    """Tests that losses and norms in a narrow type are close to those in f32, and that weights and state stay in f32."""
    data = model.data()
    options = [*ADAM, "--dtype", dtype, *(["--loss-scale", "64"] if dtype == "f16" else [])]
    wide, narrow = model.train("wide", data, *ADAM), model.train("narrow", data, *options)
    compare(losses(narrow), losses(wide), 2e-2, "losses")
    if np.array_equal(losses(narrow), losses(wide)):
        raise pcc.Failure("nothing was rounded")
    compare([m["grad_norm"] for m in narrow], [m["grad_norm"] for m in wide], 6e-2, "norms")
    kept = {p["dtype"] for p in pcc.inspect(os.path.join(model.folder, "narrow.pcc"))["ranks"][0]["parameters"]}
    if not kept <= {"f32", "i64"}:
        raise pcc.Failure(f"keeps {kept}")


def plans(model, dtype, plan):
    """Tests that all plans compute the same as one rank, except for the rounding of sums in another order."""
    data = model.data()
    options = [*ADAM, "--dtype", dtype]
    compare(losses(model.train("many", data, *options, *pcc.plan_options(plan))), losses(model.train("one", data, *options)),
            1e-2, "losses")


def scales(model, plan):
    """Tests that the scale is halved until gradients are finite; till then weights do not change, and then all goes as with a
    small one."""
    data = model.data(fresh=False)
    plan = pcc.plan_options(plan) if plan else []
    small = model.train("small", data, *ADAM, "--dtype", "f16", "--loss-scale", "8", *plan)
    large = model.train("large", data, *ADAM, "--dtype", "f16", "--loss-scale", "dynamic(initial=1048576, interval=20)", *plan)
    scale = [m["loss_scale"] for m in large]
    skipped = next((i for i in range(1, STEPS) if scale[i] >= scale[i - 1]), 0)
    if skipped < 3 or scale[:skipped] != [1048576 / 2**i for i in range(skipped)]:
        raise pcc.Failure(f"scales {scale}, losses {losses(large)}")
    if len(set(losses(large)[:skipped])) != 1:
        raise pcc.Failure(f"weights changed in skipped steps: {losses(large)}")
    compare(losses(large)[skipped - 1:], losses(small)[:STEPS - skipped + 1], 1e-2, f"losses behind {skipped - 1} skipped steps")


def grows(model):
    """Tests that a scale that is never too large doubles after every second step."""
    scale = [m["loss_scale"] for m in model.train("grows", model.data(), *ADAM, "--dtype", "f16", "--loss-scale",
                                                  "dynamic(initial=4, interval=2)")]
    if scale != [4 * 2**(i // 2) for i in range(STEPS)]:
        raise pcc.Failure(f"scales {scale}")


def defaults(model):
    """Tests the defaults: f16 begins with 65536, bf16 and f32 have no scale."""
    data = model.data()
    found = {d: model.train(d, data, "--dtype", d, steps=1)[0].get("loss_scale") for d in ("f16", "bf16", "f32")}
    if found != {"f16": 65536, "bf16": None, "f32": None}:
        raise pcc.Failure(f"scales {found}")


def resumed(model):
    """Tests that scale and count of finite steps are saved as state."""
    data, saved = model.data(), os.path.join(model.folder, "saved")
    options = [*ADAM, "--dtype", "f16", "--loss-scale", "dynamic(initial=4, interval=3)"]
    whole = model.train("whole", data, *options)
    model.train("first", data, *options, steps=4, run=["--save", saved])
    rest = model.train("second", data, *options, *pcc.plan_options("dp=2"), steps=STEPS - 4, run=["--resume", saved])
    if [m["loss_scale"] for m in rest] != [m["loss_scale"] for m in whole[4:]]:
        raise pcc.Failure(f"scales {rest}, expected {whole[4:]}")
    compare(losses(rest), losses(whole[4:]), 1e-2, "losses")


def gathered(model, plan):
    """Tests that sharded weights of two dims are gathered in the narrow type. Exception: rows of tables are looked up and
    converted."""
    bundle = os.path.join(model.folder, "model.pcc")
    pcc.succeed(model.path, "-o", bundle, *model.training, *ADAM, "--dtype", "bf16", *pcc.plan_options(plan))
    bytes_of = {"bf16": 0, "f32": 0}
    for c in pcc.inspect(bundle)["collectives"]:
        if c["kind"] == "all_gather" and c["dtype"] in bytes_of:
            bytes_of[c["dtype"]] += c["local_bytes"] * c["count"]
    weights = {p["name"]: np.prod(p["shape"]) for p in pcc.inspect(bundle)["ranks"][0]["parameters"] if p["name"].endswith(".weight")}
    tables = weights.pop("wte.weight") + weights.pop("wpe.weight")
    products = sum(count for name, count in weights.items() if "ln_" not in name)
    # One rank of two has half of the elements, of 2 or 4 bytes each.
    if bytes_of["bf16"] < products or bytes_of["f32"] > 2 * tables:
        raise pcc.Failure(f"gathers {bytes_of} of {products} elements and of {tables} in tables")


for dtype in ("bf16", "f16", "f32"):
    for kind in MODELS:
        CASES[f"simulate {kind} {dtype}"] = case(kind, simulate, dtype, "tp=2,dp=2")
        # In bf16, some token of the mixture chooses another expert.
        if (kind, dtype) != ("moe", "bf16"):
            tolerance = {"bf16": 4e-2, "f16": 6e-3, "f32": 1e-4}[dtype]
            CASES[f"execute {kind} {dtype}"] = case(kind, execute, dtype, "tp=2", tolerance)
for dtype in ("bf16", "f16"):
    for kind in ("mlp", "gpt2", "llama"):
        CASES[f"curve {kind} {dtype}"] = case(kind, curve, dtype)
for plan in PLANS:
    for kind in ("mlp", "gpt2", "llama"):
        CASES[f"simulate training {kind} bf16 {plan}"] = case(kind, simulate_training, "bf16", plan)
    for kind, dtype in (("llama", "bf16"), ("gpt2", "f16"), ("bert", "bf16"), ("resnet", "f16")):
        CASES[f"narrow weights {kind} {dtype} {plan}"] = case(kind, simulate_narrow, dtype, plan)
    CASES[f"simulate training gpt2 f16 {plan}"] = case("gpt2", simulate_training, "f16", plan)
    CASES[f"plans gpt2 bf16 {plan}"] = case("gpt2", plans, "bf16", plan)
    CASES[f"scales gpt2 {plan}"] = case("gpt2", scales, plan)
CASES["scales mlp"] = case("mlp", scales, "")
CASES["grows"] = case("mlp", grows)
CASES["defaults"] = case("mlp", defaults)
CASES["resumed"] = case("gpt2", resumed)
CASES["gathered zero3"] = case("gpt2", gathered, "dp=2,preset=zero3,microbatches=2")
CASES["gathered zero1"] = case("gpt2", gathered, "dp=2,preset=zero1,microbatches=2")

if __name__ == "__main__":
    pcc.main(__doc__, CASES)
