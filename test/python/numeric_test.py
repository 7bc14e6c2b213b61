#!/usr/bin/env python3
"""The tool's numeric subset (test/numeric/run_numeric.py) through the module: pcc verify agrees to 1e-12 in float64, ranks as
threads agree with ONNX Runtime to 1e-4, and ranks as processes give the same bits."""
import os
import tempfile
import unittest

import models
import numpy as np
import pcc

numeric = models.load_numeric()
MPI = ("mlp", "tp=2")


class Numeric(unittest.TestCase):
    def check(self, name, plan):
        with tempfile.TemporaryDirectory() as folder:
            path, dims = numeric.prepare(name, folder)
            inputs = models.oracle.load(os.path.join(folder, "inputs"))
            expected = models.oracle.load(os.path.join(folder, "expected"))
            bundle = pcc.compile(path, dims=dims, **{k: int(v) for k, v in (p.split("=") for p in plan.split(","))})
            numeric.check_division(bundle.inspect(), plan)
            numeric.check_verify(bundle.verify(inputs), expected)
            outputs = bundle.run(inputs)
            numeric.executed.compare(outputs, expected, numeric.RUN_TOLERANCE)
            if (name, plan) == MPI:
                for output, value in bundle.run(inputs, comm="mpi").items():
                    np.testing.assert_array_equal(value, outputs[output])

    def test_subset(self):
        arguments = type("Arguments", (), dict(subset=True))
        for name, plan in numeric.cases(arguments):
            with self.subTest(model=name, plan=plan):
                self.check(name, plan)


if __name__ == "__main__":
    unittest.main()
