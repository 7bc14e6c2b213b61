#!/usr/bin/env python3
"""Exports a PyTorch model to ONNX, compiles it for four ranks, shows where its weights lie, runs it and verifies the plan.

    from_torch.py               exports the model below; needs torch and onnxscript
    from_torch.py MODEL.onnx    takes a model with the dynamic dim `batch` instead
"""
import os
import sys
import tempfile

import pcc


def export(path):
    """Writes a perceptron of two blocks. Its batch can have any size."""
    try:
        import onnxscript  # noqa: F401
        import torch
    except ImportError as error:
        sys.exit(f"{error}\n{__doc__}")
    layers = [torch.nn.Linear(64, 256), torch.nn.GELU(), torch.nn.Linear(256, 64)] * 2
    x = torch.randn(8, 64)
    torch.onnx.export(torch.nn.Sequential(*layers).eval(), (x,), path, input_names=["x"], output_names=["y"], dynamo=True,
                      dynamic_shapes=({0: torch.export.Dim("batch")},))
    return path


with tempfile.TemporaryDirectory() as folder:
    model = sys.argv[1] if len(sys.argv) > 1 else export(os.path.join(folder, "model.onnx"))
    bundle = pcc.compile(model, tp=2, pp=2, dims={"batch": 8})
    print(bundle)
    for weight in bundle.shards("*weight"):
        print(weight)
    outputs = bundle.run(random_inputs=1)       # or: bundle.run({"x": array})
    print("outputs:", {name: array.shape for name, array in outputs.items()})
    print("ranks agree with the model to", bundle.verify()["max_relative_error"])
