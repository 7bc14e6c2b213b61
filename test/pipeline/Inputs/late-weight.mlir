// A model that works on its input before it reads its only weight.
!x = tensor<8x4xf32>
!w = tensor<4x4xf32>
graph.parameter @w : !w
func.func @main(%x: !x {graph.name = "x"}) -> (!x {graph.name = "y"}) {
  %0 = graph.relu %x : !x
  %1 = graph.exp %0 {graph.name = "h"} : !x
  %w = graph.get_parameter @w : !w
  %2 = graph.matmul %1, %w : !x, !w
  return %2 : !x
}
