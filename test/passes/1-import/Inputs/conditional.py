"""Writes a model with an If whose condition depends on the size of the batch: conditional.py FILE"""
import sys

import onnx.parser

onnx.save(onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 20]>
g (float[batch, 2] x) => (float[batch, 2] y) {
  s = Shape <end = 1> (x)
  four = Constant <value_ints = [4]> ()
  c = Equal (s, four)
  y = If (c) <
    then_branch = yes () => (float[batch, 2] a) { a = Exp (x) },
    else_branch = no () => (float[batch, 2] b) { b = Log (x) }
  >
}
"""), sys.argv[1])
