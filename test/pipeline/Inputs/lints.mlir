// Weights and values that --shard can spoil: w has 10 columns, t is the elements of x in another order.
module {
  graph.parameter @w : tensor<64x10xf32>
  func.func @main(%x: tensor<8x64xf32> {graph.name = "x"})
      -> (tensor<8x10xf32> {graph.name = "y"}, tensor<512xf32> {graph.name = "u"}, tensor<512xf32> {graph.name = "z"}) {
    %w = graph.get_parameter @w : tensor<64x10xf32>
    %y = graph.matmul %x, %w {graph.name = "y"} : tensor<8x64xf32>, tensor<64x10xf32>
    %u = graph.reshape %x {graph.name = "u"} : tensor<8x64xf32> to tensor<512xf32>
    %t = graph.transpose %x [1, 0] {graph.name = "t"} : tensor<8x64xf32>
    %z = graph.reshape %t {graph.name = "z"} : tensor<64x8xf32> to tensor<512xf32>
    return %y, %u, %z : tensor<8x10xf32>, tensor<512xf32>, tensor<512xf32>
  }
}
