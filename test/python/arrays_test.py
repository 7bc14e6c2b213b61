#!/usr/bin/env python3
"""Tests arrays: inputs come from NumPy and by DLPack, in any layout; outputs are NumPy arrays."""
import gc
import os
import tempfile
import unittest

import models
import numpy as np
import onnx
import pcc
from onnx import TensorProto, helper

TYPES = {"f4": TensorProto.FLOAT, "i8": TensorProto.INT64, "?": TensorProto.BOOL, "f8": TensorProto.DOUBLE, "i4": TensorProto.INT32}


class Tensor:
    """A tensor of another library, which only has DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **keywords):
        return self.array.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def identity(folder, dtype):
    """Writes y = x of four by six."""
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "g", *(
        [helper.make_tensor_value_info(name, TYPES[dtype], [4, 6])] for name in "xy"))
    path = os.path.join(folder, f"{np.dtype(dtype)}.onnx")
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)
    return path


class Arrays(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.bundle = pcc.compile(identity(cls.folder, "f4"), tp=2)
        cls.x = np.arange(24, dtype="f4").reshape(4, 6)

    def passes(self, x):
        np.testing.assert_array_equal(self.bundle.run({"x": x})["y"], self.x)

    def test_types(self):
        for dtype in TYPES:
            with self.subTest(dtype=dtype):
                x = np.arange(24).reshape(4, 6).astype(dtype)
                y = pcc.compile(identity(self.folder, dtype)).run({"x": x})["y"]
                self.assertEqual(y.dtype, x.dtype)
                np.testing.assert_array_equal(y, x)

    def test_layouts(self):
        wide = np.zeros((8, 12), "f4")
        wide[::2, 1::2] = self.x
        for x in (self.x, self.x.T.copy().T, wide[::2, 1::2], self.x[::-1][::-1]):
            self.passes(x)

    def test_arrays_that_may_not_be_written(self):
        x = self.x.copy()
        x.flags.writeable = False
        self.passes(x)

    def test_dlpack(self):
        self.passes(Tensor(self.x))

    def test_outputs_own_their_memory(self):
        y = self.bundle.run({"x": self.x})["y"]
        gc.collect()
        y += 1
        np.testing.assert_array_equal(y, self.x + 1)

    def test_keywords(self):
        """Lists, dicts, flags, paths and numbers become words of the command line."""
        from pcc.keywords import words_of
        self.assertEqual(words_of("compile", dict(dims={"batch": 8}, shapes={"ids": (8, 32)}, shard=["a=[tp]", "b=[-]"], betas=(0.5, 1e-9),
                                                  preset=["megatron", "zero1"], mesh={"a": 2, "b": 4}, train=True, pack_weights=False,
                                                  lr=np.float64(0.1), report=None, weight_decay=0)),
                         ["--dim=batch=8", "--shape=ids=8x32", "--shard=a=[tp]", "--shard=b=[-]", "--betas=0.5,1e-09",
                          "--preset=megatron,zero1", "--mesh=a=2,b=4", "--train", "--lr=0.1", "--weight-decay=0"])


if __name__ == "__main__":
    unittest.main()
