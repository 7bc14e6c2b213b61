#!/usr/bin/env python3
"""Checks that a plan without presets receives no more than any preset that keeps its axes, for inference and training, also where
sizes do not divide. Training steps of transformers receive at most four sums over ranks of [batch, seq, hidden] per layer, two
forward and two backward, one for the embedding and one for the head.

    run_cheapest.py [--only GLOB] [--every N] [--jobs N]
"""
import os
import sys
import tempfile

import onnx

import pcc

sys.path.insert(0, os.path.join(pcc.ROOT, "test", "models"))
import builder

LAYERS, HIDDEN, BATCH, SEQ = 2, 48, 8, 16
TEXT, IMAGE = {"batch": BATCH, "seq": SEQ}, {"batch": BATCH}
NORMAL = dict(layers=LAYERS, hidden=HIDDEN, heads=6)
SMALL = dict(widths=(4, 8), classes=5)
# Models: the builder's model, its options, dims, the loss, and whether the closed form holds.
MODELS = {
    "gpt2": ("gpt2", dict(NORMAL, vocabulary=97, positions=SEQ), TEXT, "cross_entropy(OUTPUT, labels)", True),
    "gpt2-torchscript": ("gpt2", dict(NORMAL, vocabulary=97, positions=SEQ, style="torchscript"), TEXT, "cross_entropy(OUTPUT, labels)", True),
    "bert": ("bert", dict(NORMAL, vocabulary=97, positions=SEQ), TEXT, "mse(OUTPUT, labels)", True),
    "llama": ("llama", dict(NORMAL, kv_heads=2, inner=72, vocabulary=97), TEXT, "cross_entropy(OUTPUT, labels)", True),
    "mlp": ("mlp", dict(layers=3, hidden=24, inner=60, classes=7), IMAGE, "cross_entropy(OUTPUT, labels)", False),
    "moe": ("moe", dict(layers=1, hidden=16, inner=24, experts=4, seq=8, classes=6), IMAGE, "cross_entropy(OUTPUT, labels)", False),
    "vit": ("vit", NORMAL, IMAGE, "cross_entropy(OUTPUT, labels)", False),
    "resnet": ("resnet", dict(SMALL, stem=4, depths=(1, 1), image=16), IMAGE, "cross_entropy(OUTPUT, labels)", False),
    "mobilenet": ("mobilenet", dict(SMALL, stem=4, image=16), IMAGE, "cross_entropy(OUTPUT, labels)", False),
}
PRESETS = ("megatron", "megatron,sequence")


def received(path, dims, folder, *options):
    """Returns the bytes that all ranks receive in one execution."""
    bundle = os.path.join(folder, "b.pcc")
    pcc.succeed(path, "-o", bundle, "-q", *pcc.dim_options(dims), *options)
    return sum(rank["received_bytes"] for rank in pcc.inspect(bundle)["ranks"])


def enough(ranks):
    """Returns the closed form for a training step of a transformer, with some bytes for losses and norms."""
    per_sum = 2 * (ranks - 1) * BATCH * SEQ * HIDDEN * 4
    return 1.02 * (4 * LAYERS + 2) * per_sum + ranks * 8192


def check(name, ranks, trains):
    model, sizes, dims, loss, is_transformer = MODELS[name]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.onnx")
        builder.build(model, path, **sizes)
        output = onnx.load(path).graph.output[0].name
        plan = ["--tp", ranks, *(["--train", "--loss", loss.replace("OUTPUT", output)] if trains else [])]
        got = received(path, dims, folder, *plan)
        presets = {p: received(path, dims, folder, *plan, "--preset", p) for p in PRESETS}
    if got > min(presets.values()):
        raise pcc.Failure(f"receives {got} bytes, but {presets} with presets")
    if trains and is_transformer and got > enough(ranks):
        raise pcc.Failure(f"receives {got} bytes, {enough(ranks):.0f} are enough")


CASES = {f"{name} tp={ranks} {'training' if trains else 'inference'}": lambda case=(name, ranks, trains): check(*case)
         for name in MODELS for ranks in (2, 3, 4, 8) for trains in (True, False)}

if __name__ == "__main__":
    pcc.main(__doc__, CASES)
