// A model without weights.
!x = tensor<8x4xf32>
func.func @main(%x: !x {graph.name = "x"}) -> (!x {graph.name = "y"}) {
  %0 = graph.relu %x {graph.name = "h"} : !x
  %1 = graph.exp %0 {graph.name = "e"} : !x
  return %1 : !x
}
