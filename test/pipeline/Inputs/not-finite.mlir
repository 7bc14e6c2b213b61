// Outputs of which all elements are NaN, some are, and some overflow in f16.
!x = tensor<8x4xf16>
func.func @main(%x: !x {graph.name = "x"}) -> (!x {graph.name = "negative"}, !x {graph.name = "root"}, !x {graph.name = "large"}) {
  %e = graph.exp %x : !x
  %n = graph.neg %e : !x
  %negative = graph.log %n : !x
  %root = graph.sqrt %x : !x
  %f = graph.exp %e : !x
  %large = graph.exp %f : !x
  return %negative, %root, %large : !x, !x, !x
}
