#!/usr/bin/env python3
"""Runs the tool's numeric table (test/numeric/run_numeric.py) with the module: pcc verify agrees to 1e-12 in float64 and its
executables within float32's precision, ranks as threads agree with ONNX Runtime to 1e-4, and ranks as processes give the same
bits.

    numeric_test.py [--all] [--only GLOB] [--plans 'tp=2;tp=2,pp=2'] [--jobs N]

Without --all, runs the subset of the tool's own test in the gate.
"""
import argparse
import os
import sys
import tempfile

import models
import pcc

numeric = models.load_numeric()


def check(name, plan):
    """Tests a case of run_numeric.py by calls of the module, also on threads."""
    with tempfile.TemporaryDirectory() as folder:
        path, dims = numeric.prepare(name, folder)
        inputs = models.oracle.load(os.path.join(folder, "inputs"))
        expected = models.oracle.load(os.path.join(folder, "expected"))
        bundle = pcc.compile(path, dims=dims, **{k: int(v) for k, v in (p.split("=") for p in plan.split(","))})
        numeric.check_division(bundle.inspect(), plan)
        numeric.check_verify(bundle.verify(inputs, run=True), expected)
        outputs = bundle.run(inputs)
        numeric.executed.compare(outputs, expected, numeric.RUN_TOLERANCE)
        for output, value in bundle.run(inputs, comm="mpi").items():
            if value.tobytes() != outputs[output].tobytes():
                raise numeric.pcc.Failure(f"{output} is not the same from processes")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", dest="subset", action="store_false", help="every model under every plan")
    parser.add_argument("--only", default="*", metavar="GLOB")
    parser.add_argument("--plans", default="")
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    cases = numeric.cases(arguments)
    return numeric.pcc.run_cases([(f"{m} {p}", check, (m, p)) for m, p in cases], arguments.jobs)


if __name__ == "__main__":
    sys.exit(main())
