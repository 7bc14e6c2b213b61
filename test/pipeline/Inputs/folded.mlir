// A constant of stage 0 from which stage 1 computes another one: it is rounded to f32 there, as it is on one rank.
#mesh = #dist.mesh<pp = 2>
module attributes {dist.mesh = #mesh, pcc.phase = 2 : i64, pipe.microbatches = 1 : i64, pipe.schedule = "forward", pipe.stages = 2 : i64, pipe.virtual_stages = 1 : i64} {
  func.func @main(%x: tensor<4xf32> {graph.name = "x"}) -> (tensor<4xf32> {graph.name = "y"}) {
    %rate = graph.constant {pipe.stage = 0 : i64} dense<1.0e-3> : tensor<f64>
    %narrow = graph.cast %rate {pipe.stage = 0 : i64} : tensor<f64> to tensor<f32>
    %h = graph.mul %x, %narrow {pipe.stage = 0 : i64} : tensor<4xf32>, tensor<f32>
    %wide = graph.cast %narrow {pipe.stage = 1 : i64} : tensor<f32> to tensor<f64>
    %three = graph.constant {pipe.stage = 1 : i64} dense<3.0> : tensor<f64>
    %third = graph.div %wide, %three {pipe.stage = 1 : i64} : tensor<f64>, tensor<f64>
    %k = graph.cast %third {pipe.stage = 1 : i64} : tensor<f64> to tensor<f32>
    %y = graph.mul %h, %k {pipe.stage = 1 : i64} : tensor<4xf32>, tensor<f32>
    return %y : tensor<4xf32>
  }
}
