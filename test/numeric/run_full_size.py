#!/usr/bin/env python3
"""Models of the sizes that people publish, with random weights. Inference agrees with ONNX Runtime to 1e-4, the losses and gradient
norms of three training steps agree with those of a single rank to 1e-4. A part of the long check: it needs 16 GB of memory.

    run_full_size.py [--only GLOB]
"""
import os
import tempfile

import executed
import pcc
from run_cuda import steps
from run_numeric import RUN_TOLERANCE, builder, dims_of, oracle

# name: (model of the builder, its options, dims)
MODELS = {
    "GPT-2 124M": ("gpt2", dict(layers=12, hidden=768, heads=12, vocabulary=50257, positions=1024), dict(batch=4, seq=128)),
    "GPT-2 355M": ("gpt2", dict(layers=24, hidden=1024, heads=16, vocabulary=50257, positions=1024), dict(batch=4, seq=64)),
    "BERT base": ("bert", dict(layers=12, hidden=768, heads=12, vocabulary=30522, positions=512), dict(batch=4, seq=128)),
    "ViT base": ("vit", dict(layers=12, hidden=768, heads=12, image=224, patch=16, classes=1000), dict(batch=4)),
    "ResNet-50": ("resnet", dict(stem=64, widths=(256, 512, 1024, 2048), depths=(3, 4, 6, 3), classes=1000, image=224), dict(batch=4)),
    "Llama 1.1B": ("llama", dict(layers=22, hidden=2048, heads=32, kv_heads=4, inner=5632, vocabulary=32000), dict(batch=2, seq=32)),
}
PLANS = ["tp=2", "tp=2,pp=2,microbatches=2", "dp=2"]
# A squared error over GPT-2's 26 million logits would add up too many f32 numbers to compare.
TRAINED = {"GPT-2 124M": "cross_entropy", "BERT base": "mse", "ViT base": "mse"}
TRAINING_PLANS = ["tp=2,pp=2,dp=2,microbatches=2", "dp=2,preset=zero3", "pp=4,microbatches=4,schedule=zb-h1"]
CASES = {}


def place(name, folder):
    """Builds a model; returns its path and inputs of the sizes of MODELS."""
    model, options, dims = MODELS[name]
    path = os.path.join(folder, "model.onnx")
    return path, builder.build(model, path, external=True, **options).draw_inputs(dims)


def infer(name, plan):
    with tempfile.TemporaryDirectory() as folder:
        path, inputs = place(name, folder)
        feeds, bundle = executed.feed(folder, inputs), os.path.join(folder, "model.pcc")
        pcc.succeed(path, "-o", bundle, *pcc.dim_options(dims_of(path, inputs)), *pcc.plan_options(plan))
        executed.compare(executed.outputs(bundle, feeds, folder), oracle.run(path, inputs), RUN_TOLERANCE)


def train(name, plan):
    with tempfile.TemporaryDirectory() as folder:
        path, inputs = place(name, folder)
        output = builder.onnx.load(path, load_external_data=False).graph.output[0].name
        options = [*pcc.dim_options(dims_of(path, inputs)), "--train", "--loss", f"{TRAINED[name]}({output}, labels)", "--optimizer", "adamw"]
        found = {}
        for case, words in (("ranks", pcc.plan_options(plan)), ("one rank", [])):
            bundle = os.path.join(folder, case.replace(" ", "-") + ".pcc")
            pcc.succeed(path, "-o", bundle, *options, *words)
            found[case] = steps(pcc.succeed("run", bundle, "--random-inputs", "1", "--steps", "3", "-q"))
        for step, pair in enumerate(zip(found["ranks"], found["one rank"], strict=True), 1):
            for got, want in zip(*pair):
                if not abs(got - want) <= RUN_TOLERANCE * abs(want):
                    raise pcc.Failure(f"step {step}: loss and norm {pair[0]}, on one rank {pair[1]}")
        if len(found["ranks"]) != 3:
            raise pcc.Failure(f"{len(found['ranks'])} of 3 steps")


for model in MODELS:
    for p in PLANS:
        CASES[f"{model} {p}"] = lambda m=model, p=p: infer(m, p)
for model in TRAINED:
    for p in TRAINING_PLANS:
        CASES[f"train {model} {p}"] = lambda m=model, p=p: train(m, p)

if __name__ == "__main__":
    pcc.main(__doc__, CASES)
