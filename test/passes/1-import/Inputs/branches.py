"""Writes a model with two Ifs, whose branches have different weights called `w`: branches.py FILE"""
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def value(name):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, [2])


def conditional(number):
    weight = numpy_helper.from_array(np.full(2, number, "f4"), "w")
    branch = helper.make_graph([helper.make_node("Add", ["x", "w"], [f"a{number}"])], "branch", [], [value(f"a{number}")], [weight])
    other = helper.make_graph([helper.make_node("Neg", ["x"], [f"b{number}"])], "other", [], [value(f"b{number}")])
    return helper.make_node("If", ["yes"], [f"y{number}"], then_branch=branch, else_branch=other)


yes = numpy_helper.from_array(np.array(True), "yes")
graph = helper.make_graph([conditional(1), conditional(2)], "g", [value("x")], [value("y1"), value("y2")], [yes])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10), sys.argv[1])
