// 64 MiB, and a row less.
func.func @main(%x: tensor<4096x4096xf32> {graph.name = "x"}, %v: tensor<4092x4096xf32> {graph.name = "v"})
    -> (tensor<4096x4096xf32> {graph.name = "y"}, tensor<4092x4096xf32> {graph.name = "w"}) {
  %y = graph.relu %x {graph.name = "y"} : tensor<4096x4096xf32>
  %w = graph.relu %v {graph.name = "w"} : tensor<4092x4096xf32>
  return %y, %w : tensor<4096x4096xf32>, tensor<4092x4096xf32>
}
