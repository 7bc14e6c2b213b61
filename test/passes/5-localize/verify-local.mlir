// RUN: pcc-opt --verify-local %s | FileCheck %s

#columns = #dist.sharding<"[-, 8@tp:2]">
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  graph.parameter @w : tensor<4x8xf32>
  // CHECK-LABEL: @local
  func.func @local() -> tensor<4x4xf32> {
    // CHECK: graph.get_parameter @w {{.*}} : tensor<4x4xf32>
    %w = graph.get_parameter @w {dist.shardings = [#columns]} : tensor<4x4xf32>
    return %w : tensor<4x4xf32>
  }
}
