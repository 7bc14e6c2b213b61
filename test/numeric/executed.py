"""A plan of a model, executed on simulated ranks and on real ones."""
import os
import sys

import pcc

sys.path.insert(0, os.path.join(pcc.ROOT, "test", "models"))
import oracle


def feed(folder, inputs):
    """Writes `inputs`, arrays by name, and returns the options that pass them."""
    path = os.path.join(folder, "inputs")
    oracle.save(path, inputs)
    return pcc.input_options(path)


def verify(path, *options):
    """Checks that simulated ranks compute what the model computes in f64."""
    report = pcc.report("verify", path, *options)
    if not report["equal"]:
        raise pcc.Failure(f"differs: {report['first_difference']}")


def outputs(bundle, feeds, folder, comm="thread"):
    """Returns the outputs of real ranks by name."""
    path = os.path.join(folder, f"outputs-{os.path.basename(bundle)}-{comm}")
    pcc.succeed("run", bundle, *feeds, "--output", path, "--comm", comm)
    return oracle.load(path)


def compare(got, want, tolerance=1e-4):
    for name, expected in want.items():
        if name not in got:
            raise pcc.Failure(f"run wrote no {name}.npy")
        error = oracle.relative_error(got[name], expected)
        if not error <= tolerance:
            raise pcc.Failure(f"{name}: {got[name].dtype}{got[name].shape}, relative error {error:.2e}")
