// Causal attention of queries that are NaN where x is negative.
!x = tensor<1x2x8x4xf32>
func.func @main(%x: !x {graph.name = "x"}, %k: !x {graph.name = "k"}, %v: !x {graph.name = "v"}) -> (!x {graph.name = "y"}) {
  %0 = graph.log %x : !x
  %1 = graph.attention %0, %k, %v {causal, graph.name = "att", scale = 0.5 : f64} : !x, !x, !x
  return %1 : !x
}
