// Five products, of which the second has a wide result. The most even cut into two stages is behind it.
module {
  graph.parameter @a : tensor<64x64xf32>
  graph.parameter @b : tensor<64x256xf32>
  graph.parameter @c : tensor<256x64xf32>
  graph.parameter @d : tensor<64x128xf32>
  graph.parameter @e : tensor<128x64xf32>
  func.func @main(%x: tensor<8x64xf32> {graph.name = "x"}) -> (tensor<8x64xf32> {graph.name = "y"}) {
    %a = graph.get_parameter @a : tensor<64x64xf32>
    %1 = graph.matmul %x, %a {graph.name = "first"} : tensor<8x64xf32>, tensor<64x64xf32>
    %b = graph.get_parameter @b : tensor<64x256xf32>
    %2 = graph.matmul %1, %b {graph.name = "wide"} : tensor<8x64xf32>, tensor<64x256xf32>
    %c = graph.get_parameter @c : tensor<256x64xf32>
    %3 = graph.matmul %2, %c {graph.name = "narrow"} : tensor<8x256xf32>, tensor<256x64xf32>
    %d = graph.get_parameter @d : tensor<64x128xf32>
    %4 = graph.matmul %3, %d {graph.name = "fourth"} : tensor<8x64xf32>, tensor<64x128xf32>
    %e = graph.get_parameter @e : tensor<128x64xf32>
    %5 = graph.matmul %4, %e {graph.name = "y"} : tensor<8x128xf32>, tensor<128x64xf32>
    return %5 : tensor<8x64xf32>
  }
}
