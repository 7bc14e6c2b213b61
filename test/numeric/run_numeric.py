#!/usr/bin/env python3
"""Tests models x plans: `pcc verify` agrees to 1e-12 in float64, and the compiled ranks agree with ONNX Runtime to 1e-4, the
error of float32 after a few layers with another order of additions.

    run_numeric.py [--subset] [--only GLOB] [--plans 'tp=2;tp=2,pp=2'] [--comm mpi|thread] [--jobs N]

Models come from test/models and, if it exists, from the folder of real exports beside the repository.
"""
import argparse
import fnmatch
import os
import sys
import tempfile

import executed
import pcc

sys.path.insert(0, os.path.join(pcc.ROOT, "test", "models"))
import builder
import oracle

VERIFY_TOLERANCE, RUN_TOLERANCE = 1e-12, 1e-4
DIMS = {"batch": 8, "seq": 16}
ODD_DIMS = {"batch": 4, "seq": 13}

# name: (model of the builder, its options, dims)
MODELS = {
    "mlp": ("mlp", dict(layers=4), DIMS),
    "mlp-odd": ("mlp", dict(layers=3, hidden=37, inner=53, classes=7), ODD_DIMS),
    "gpt2": ("gpt2", dict(layers=4), DIMS),
    "gpt2-torchscript": ("gpt2", dict(layers=2, style="torchscript", opset=17), DIMS),
    "gpt2-untied": ("gpt2", dict(layers=2, tied=False, mask="trilu", opset=20), DIMS),
    "gpt2-attention": ("gpt2", dict(layers=2, attention="op", opset=23), DIMS),
    "gpt2-odd": ("gpt2", dict(layers=3, hidden=50, heads=5, vocabulary=101, positions=16, inner=131, mask="buffer"), ODD_DIMS),
    "llama": ("llama", dict(layers=4), DIMS),
    "llama-odd": ("llama", dict(layers=3, hidden=60, heads=6, kv_heads=3, vocabulary=97, inner=77, tied=True), ODD_DIMS),
    "llama-fused": ("llama", dict(layers=2, attention="op", norm="op", opset=23), DIMS),
    "bert": ("bert", dict(layers=4), DIMS),
    "bert-odd": ("bert", dict(layers=2, hidden=42, heads=3, vocabulary=89, inner=55, style="torchscript", opset=14), ODD_DIMS),
    "bert-classes": ("bert", dict(layers=2, classes=3), DIMS),
    "vit": ("vit", dict(layers=2), DIMS),
    "resnet": ("resnet", {}, DIMS),
    "resnet-norm": ("resnet", dict(stem=7, widths=(10, 13), depths=(1, 2), batch_norm=True, image=32), ODD_DIMS),
    "mobilenet": ("mobilenet", {}, DIMS),
    "unet": ("unet", {}, ODD_DIMS),
    "moe": ("moe", {}, DIMS),
}
PLANS = ["tp=1", "tp=2", "tp=4", "tp=3", "pp=2", "pp=4", "dp=2", "tp=2,pp=2", "dp=2,tp=2", "tp=2,pp=2,dp=2",
         "tp=1,microbatches=4", "tp=2,pp=2,microbatches=4", "pp=4,microbatches=2", "tp=3,microbatches=2", "dp=3,microbatches=2"]
SUBSET = [("mlp", "tp=2"), ("mlp-odd", "tp=2,pp=2"), ("gpt2", "tp=2,pp=2,microbatches=4"), ("gpt2-odd", "tp=3"),
          ("llama-odd", "tp=4"), ("bert", "dp=2,tp=2"), ("resnet", "dp=2"), ("resnet-norm", "tp=2"), ("mobilenet", "pp=2"),
          ("vit", "tp=2"), ("unet", "tp=3,microbatches=2"), ("moe", "tp=2"), ("gpt2-torchscript", "tp=2"),
          ("llama-fused", "pp=2,microbatches=4"),
          ("gpt2-odd", "tp=3,microbatches=2"), ("llama-odd", "tp=2,pp=2,microbatches=4"), ("bert-odd", "dp=3,microbatches=2"),
          ("real:gpt2-dynamo", "tp=2,pp=2"), ("real:bert-torchscript", "tp=2"), ("real:llama-dynamo", "tp=4"),
          ("real:resnet-dynamo", "dp=2,tp=2")]


# Models with sums over the whole batch, which cannot be cut into microbatches.
UNCUT = ["real:moe-dropping-dynamo", "real:moe-einsum-dynamo"]


def is_possible(model, plan):
    return model not in UNCUT or "microbatches" not in plan


def real_models():
    """Returns the names of the real exports that come with inputs and outputs."""
    if not os.path.isdir(pcc.REAL_MODELS):
        return []
    return [n for n in sorted(os.listdir(pcc.REAL_MODELS)) if os.path.isdir(os.path.join(pcc.REAL_MODELS, n, "outputs"))]


def dims_of(path, inputs):
    """Returns the sizes of a model's dynamic dims for the shapes of its inputs."""
    import onnx
    graph = onnx.load(path, load_external_data=False).graph
    pairs = [(d.dim_param, n) for i in graph.input if i.name in inputs
             for d, n in zip(i.type.tensor_type.shape.dim, inputs[i.name].shape)]
    return {k: n for k, n in pairs if k}


def place(name, folder):
    """Writes a model; returns its path and its inputs."""
    if name.startswith("real:"):
        source = os.path.join(pcc.REAL_MODELS, name[len("real:"):])
        return os.path.join(source, "model.onnx"), oracle.load(os.path.join(source, "inputs"))
    model, options, sizes = MODELS[name]
    path = os.path.join(folder, "model.onnx")
    return path, builder.build(model, path, **options).draw_inputs(sizes)


def prepare(name, folder):
    """Writes model, inputs and expected outputs of a case; returns the model's path and its dims."""
    path, inputs = place(name, folder)
    oracle.save(os.path.join(folder, "inputs"), inputs)
    oracle.save(os.path.join(folder, "expected"), oracle.run(path, inputs))
    return path, dims_of(path, inputs)


def check_verify(report, names):
    worst = max([report["max_relative_error"]] + [v["max_relative_error"] for v in report["values"]])
    if report["equal"] is not True or report["dtype"] != "f64" or not worst <= VERIFY_TOLERANCE:
        raise pcc.Failure(f"verify: relative error {worst}, first difference {report['first_difference']}")
    if missing := set(names) - {v["name"] for v in report["values"]}:
        raise pcc.Failure(f"verify says nothing about {sorted(missing)}")


def check_division(inspection, plan):
    """Checks that a plan of several stages or tensor-parallel ranks divides the weights."""
    sizes = dict(p.split("=") for p in plan.split(","))
    parts = int(sizes.get("pp", 1)) * int(sizes.get("tp", 1))
    total = sum({p["name"]: 4 * product(p["shape"]) for r in inspection["ranks"] for p in r["parameters"]}.values())
    held = max(r["weight_bytes"] for r in inspection["ranks"])
    if parts > 1 and held > 0.95 * total:
        raise pcc.Failure(f"a rank holds {held} of {total} bytes of weights in {parts} parts")


def product(shape):
    result = 1
    for n in shape:
        result *= n
    return result


def numeric(name, plan, comm):
    with tempfile.TemporaryDirectory() as folder:
        path, dims = prepare(name, folder)
        inputs = pcc.input_options(os.path.join(folder, "inputs"))
        options = pcc.dim_options(dims) + pcc.plan_options(plan)
        expected = oracle.load(os.path.join(folder, "expected"))
        check_verify(pcc.report("verify", path, *options, *inputs, "--run"), expected)
        bundle, out = os.path.join(folder, "model.pcc"), os.path.join(folder, "out")
        pcc.succeed(path, "-o", bundle, *options)
        check_division(pcc.inspect(bundle), plan)
        pcc.succeed("run", bundle, *inputs, "--output", out, "--comm", comm)
        executed.compare(oracle.load(out), expected, RUN_TOLERANCE)


def cases(arguments):
    real = [f"real:{n}" for n in real_models()]
    if arguments.subset:
        return [(m, p) for m, p in SUBSET if m in MODELS or m in real]
    plans = arguments.plans.split(";") if arguments.plans else PLANS
    return [(m, p) for m in [*MODELS, *real] if fnmatch.fnmatch(m, arguments.only) for p in plans if is_possible(m, p)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--subset", action="store_true", help="the cases of every change")
    parser.add_argument("--only", default="*", metavar="GLOB")
    parser.add_argument("--plans", default="")
    parser.add_argument("--comm", default="mpi")
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    return pcc.run_cases([(f"{m} {p}", numeric, (m, p, arguments.comm)) for m, p in cases(arguments)], arguments.jobs)


if __name__ == "__main__":
    sys.exit(main())
