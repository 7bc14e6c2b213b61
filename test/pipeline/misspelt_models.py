#!/usr/bin/env python3
"""Tests the messages for words that are wrong in an .mlir file: they say what stands at the place, and the nearest name that
exists, in words of pcc and not of MLIR's developers.

    misspelt_models.py
"""
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "numeric"))
import pcc

MODEL = """#whole = #dist.sharding<"[-]">
module {
  graph.parameter @bias : tensor<64xf32>
  func.func @main(%x: tensor<8x64xf32> {graph.name = "x"}) -> (tensor<8x64xf32> {graph.name = "y"}) {
    %w = graph.get_parameter @bias : tensor<64xf32>
    %h = graph.add %x, %w : tensor<8x64xf32>, tensor<64xf32>
    %k = graph.softmax %h over 1 : tensor<8x64xf32>
    %y = graph.relu %k : tensor<8x64xf32>
    return %y : tensor<8x64xf32>
  }
}
"""
#        words of the model,       the edit,                      what pcc says of it, at which line
EDITS = [("graph.relu %k", "graph.relu %m", r":8:21: there is no value '%m'"),
         ("graph.add %x", "graph.add %xx", r":6:20: there is no value '%xx'; did you mean %x"),
         ("get_parameter @bias", "get_parameter @bais", r":5:10: .*reads @bais, which no graph.parameter declares; did you mean bias\?"),
         ("over 1 : tensor", "over 1 : tensr", r":7:35: there is no type 'tensr'; did you mean tensor\?"),
         ("over 1 : tensor<8x64xf32>", "over 1 : tensor<8x64xf3>", r"there is no type 'f3'; did you mean f32\?"),
         ("over 1", "ovre 1", r":7:27: .*expected 'over', got 'ovre'"),
         ("over 1", 'over "1"', r":7:32: .*expected another kind of attribute, got \"1\""),
         ("%h over 1 :", "%h over 1 {sharding = #whol} :", r":7:\d+: there is no alias '#whol'; did you mean #whole\?"),
         ("%h over 1 :", "%h over 1 {pipe.stage = } :", r":7:\d+: expected the value of an attribute, got '}'"),
         ("%h over 1 :", "%h over 1 {dmi = 1 : i64} :", r":7:10: .*attribute 'dmi' is unknown; did you mean dim\?"),
         ("add %x, %w : tensor<8x64xf32>, tensor<64xf32>", "matmul %x, %x {graph.dims = {a = [1]}, transpose_rsh} : tensor<8x64xf32>, tensor<8x64xf32>",
          r":6:10: 'graph.matmul' op attribute 'transpose_rsh' is unknown; did you mean transpose_rhs or transpose_lhs\?"),
         ("graph.relu %k : tensor<8x64xf32>", '"graph.cast"(%k) <{rounnd}> : (tensor<8x64xf32>) -> tensor<8x64xf32>',
          r":8:\d+: 'graph.cast' op attribute 'rounnd' is unknown"),
         ("softmax %h over 1 : tensor<8x64xf32>", "rms_norm %h, %w from 1 epsilon -1.0e-5 : tensor<8x64xf32>, tensor<64xf32>", r":7:10: .*needs a finite epsilon of at least 0, got -1.0"),
         ("%y = graph", "%k = graph", r":8:5: value '%k' is defined twice"),
         ("%y = graph", "%y graph", r":8:\d+: expected '=' after SSA name, got 'graph.relu'"),
         ("add %x, %w", "add %x, %k", r":7:5: value '%k' has type 'tensor<8x64xf32>'"),
         ("softmax %h", "softmax %y", r":7:10: .*operand #0 is computed behind this op"),
         ("graph.parameter @bias", "graph.parameter @x : tensor<f32>\n  graph.parameter @x", r":4:3: symbol 'x' is defined twice"),
         ("@main", "@mian", r":4:3: .*there is a function @mian, expected the forward pass @main alone"),
         ("  func.func @main", "  func.func @other() { return }\n  func.func @main", r":4:3: .*there is a function @other")]


def check(folder, old, new, said):
    path = os.path.join(folder, "model.mlir")
    with open(path, "w") as file:
        file.write(MODEL.replace(old, new, 1))
    code, _, err = pcc.call(path, "--stop-after", "1", "-q")
    if code != 3 or not re.search(re.escape(path) + said if said.startswith(":") else said, err):
        raise pcc.Failure(f"exit code {code}: {err.strip()[:300]}")


with tempfile.TemporaryDirectory() as scratch:
    sys.exit(pcc.run_cases([(f"{new!r} for {old!r}", check, (scratch, old, new, said)) for old, new, said in EDITS]))
