module {
  graph.parameter @w : tensor<64x64xf32>
  func.func @main(%x: tensor<8x64xf32> {graph.name = "x"}) -> (tensor<64x8xf32> {graph.name = "y"}) {
    %w = graph.get_parameter @w : tensor<64x64xf32>
    %h = graph.matmul %x, %w : tensor<8x64xf32>, tensor<64x64xf32>
    %y = graph.transpose %h [1, 0] {graph.name = "y"} : tensor<8x64xf32>
    return %y : tensor<64x8xf32>
  }
}
