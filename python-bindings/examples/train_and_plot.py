#!/usr/bin/env python3
"""Compiles, inspects, runs, verifies and trains a GPT-2 on four ranks, threads of this process.

    train_and_plot.py GPT2.onnx [LOSS.png]     a model with the dynamic dims `batch` and `seq`; LOSS.png needs matplotlib
"""
import sys

import numpy as np
import pcc

if len(sys.argv) < 2:
    sys.exit(__doc__)
if len(sys.argv) > 2:
    try:
        from matplotlib import pyplot
    except ImportError:
        sys.exit(f"{sys.argv[2]} needs matplotlib: pip install matplotlib")

plan = dict(tp=2, pp=2, dims={"batch": 8, "seq": 32})
bundle = pcc.compile(sys.argv[1], **plan)
facts = bundle.inspect()
name, logits = facts["inputs"][0]["name"], facts["outputs"][0]
print(f"{facts['world']} ranks; each holds at most {max(r['weight_bytes'] for r in facts['ranks'])} bytes of weights")

tokens = np.random.default_rng(0).integers(0, logits["shape"][-1], (8, 33))
batch = {name: tokens[:, :-1], "labels": tokens[:, 1:]}
print("it runs:", bundle.run({name: batch[name]})[logits["name"]].shape)
print("ranks agree with the model to", bundle.verify({name: batch[name]})["max_relative_error"])

trainer = pcc.compile(sys.argv[1], train=True, loss=f"cross_entropy({logits['name']}, labels)", optimizer="adamw", lr=1e-3, **plan)
with trainer.train() as session:
    losses = [metrics["loss"] for metrics in session.steps([batch] * 30, progress=True)]
    print(f"loss {losses[0]:.4f} -> {losses[-1]:.4f}; {len(session.parameters())} weights have been trained")

if len(sys.argv) > 2:
    pyplot.plot(range(1, len(losses) + 1), losses)
    pyplot.xlabel("step")
    pyplot.ylabel("loss")
    pyplot.savefig(sys.argv[2])
