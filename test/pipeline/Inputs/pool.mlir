// A maximum over 3x3 windows, padded on all sides.
func.func @main(%x: tensor<1x1x8x7xf32> {graph.name = "x"}) -> (tensor<1x1x8x7xf32> {graph.name = "y"}) {
  %y = graph.pool max %x {dilations = array<i64: 1, 1>, graph.name = "y", pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>, window = array<i64: 3, 3>} : tensor<1x1x8x7xf32>
  return %y : tensor<1x1x8x7xf32>
}
