// Causal attention of 301 queries.
!x = tensor<1x1x301x8xf32>
!w = tensor<8x8xf32>
graph.parameter @w : !w
func.func @main(%x: !x {graph.name = "x"}) -> (!x {graph.name = "y"}) {
  %w = graph.get_parameter @w : !w
  %0 = graph.matmul %x, %w : !x, !w
  %1 = graph.attention %0, %0, %0 {causal, graph.name = "att", scale = 0.5 : f64} : !x, !x, !x
  return %1 : !x
}
