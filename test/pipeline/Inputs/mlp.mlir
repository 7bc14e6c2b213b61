module {
  graph.parameter @w1 : tensor<64x256xf32>
  graph.parameter @w2 : tensor<256x64xf32>
  func.func @main(%x: tensor<8x64xf32> {graph.name = "x"}) -> (tensor<8x64xf32> {graph.name = "y"}) {
    %w1 = graph.get_parameter @w1 : tensor<64x256xf32>
    %h = graph.matmul %x, %w1 : tensor<8x64xf32>, tensor<64x256xf32>
    %a = graph.relu %h : tensor<8x256xf32>
    %w2 = graph.get_parameter @w2 : tensor<256x64xf32>
    %y = graph.matmul %a, %w2 : tensor<8x256xf32>, tensor<256x64xf32>
    return %y : tensor<8x64xf32>
  }
}
