#!/usr/bin/env python3
"""Results of ONNX Runtime, with which compiled models are compared.

    oracle.py MODEL.onnx INPUTS_DIR OUTPUTS_DIR
"""
import os
import sys

import numpy as np


def run(model, inputs, threads=2):
    """Returns the outputs of `model` by name, for `inputs` by name."""
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = threads, 3
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    names = [o.name for o in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs)))


def load(folder):
    """Returns the arrays of a folder of NAME.npy by name."""
    return {f[:-4]: np.load(os.path.join(folder, f)) for f in sorted(os.listdir(folder)) if f.endswith(".npy")}


def save(folder, values):
    os.makedirs(folder, exist_ok=True)
    for name, value in values.items():
        np.save(os.path.join(folder, f"{name}.npy"), value)


def relative_error(got, want):
    """Returns the largest difference divided by the largest expected magnitude; infinity if shapes or types differ."""
    if got.shape != want.shape or got.dtype != want.dtype:
        return float("inf")
    if not want.size:
        return 0.0
    scale = np.abs(want.astype("f8")).max()
    error = np.abs(got.astype("f8") - want).max() / (scale if scale else 1.0)
    return float("inf") if np.isnan(error) else float(error)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    save(sys.argv[3], run(sys.argv[1], load(sys.argv[2])))
