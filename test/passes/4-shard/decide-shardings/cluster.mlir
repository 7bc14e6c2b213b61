// RUN: pcc-opt --decide-shardings --insert-reshards --verify-sharded --split-input-file %s \
// RUN:   | %python %source/test/inline-aliases.py | FileCheck %s

// Without a cluster bytes decide: nothing is split, nothing is communicated.
// CHECK-LABEL: @by_bytes
module attributes {dist.mesh = #dist.mesh<a = 2>, dist.seeds = ["x=[-,-]", "w=[-,-]", "y=[-,-]"]} {
  graph.parameter @w : tensor<64x64xf32>
  func.func @by_bytes(%x: tensor<64x64xf32> {graph.name = "x"}) -> (tensor<64x64xf32> {graph.name = "y"}) {
    %w = graph.get_parameter @w : tensor<64x64xf32>
    // CHECK: graph.matmul {{.*}}shardings = ["[-, -]"]
    %y = graph.matmul %x, %w : tensor<64x64xf32>, tensor<64x64xf32>
    return %y : tensor<64x64xf32>
  }
}

// -----

// Where computing takes longer than gathering, each rank computes half.
// CHECK-LABEL: @slow_devices
module attributes {dist.mesh = #dist.mesh<a = 2>, dist.seeds = ["x=[-,-]", "w=[-,-]", "y=[-,-]"],
                   dist.cluster = "device = { peak_tflops = { f32 = 0.00001 } }\nlinks = [ { level = \"host\", span = 2, alpha_us = 1, beta_gbps = 10 } ]"} {
  graph.parameter @w : tensor<64x64xf32>
  func.func @slow_devices(%x: tensor<64x64xf32> {graph.name = "x"}) -> (tensor<64x64xf32> {graph.name = "y"}) {
    %w = graph.get_parameter @w : tensor<64x64xf32>
    // CHECK: graph.matmul {{.*}}shardings = ["[{{(64@a:2, -|-, 64@a:2)}}]"]
    // CHECK: dist.reshard
    %y = graph.matmul %x, %w : tensor<64x64xf32>, tensor<64x64xf32>
    return %y : tensor<64x64xf32>
  }
}

// -----

// Two calls that receive the result cost fewer bytes than one that gathers the weight.
// CHECK-LABEL: @few_bytes
module attributes {dist.mesh = #dist.mesh<a = 2, b = 2>, dist.seeds = ["w=[a,b]", "y=[-,-]"]} {
  graph.parameter @w : tensor<8x8xf32>
  func.func @few_bytes(%x: tensor<2x8xf32> {graph.name = "x"}) -> (tensor<2x8xf32> {graph.name = "y"}) {
    %w = graph.get_parameter @w : tensor<8x8xf32>
    // CHECK: graph.matmul {{.*}}partial sum(a:2)
    %y = graph.matmul %x, %w : tensor<2x8xf32>, tensor<8x8xf32>
    return %y : tensor<2x8xf32>
  }
}

// -----

// Where a call takes long, the weight is gathered in one.
// CHECK-LABEL: @slow_calls
module attributes {dist.mesh = #dist.mesh<a = 2, b = 2>, dist.seeds = ["w=[a,b]", "y=[-,-]"],
                   dist.cluster = "links = [ { level = \"net\", span = 64, alpha_us = 1000, beta_gbps = 1 } ]"} {
  graph.parameter @w : tensor<8x8xf32>
  func.func @slow_calls(%x: tensor<2x8xf32> {graph.name = "x"}) -> (tensor<2x8xf32> {graph.name = "y"}) {
    %w = graph.get_parameter @w : tensor<8x8xf32>
    // CHECK: dist.reshard {{.*}} from "[8@a:2, 8@b:2]" to "[-, -]"
    // CHECK: graph.matmul {{.*}}shardings = ["[-, -]"]
    // CHECK-NOT: dist.reshard
    %y = graph.matmul %x, %w : tensor<2x8xf32>, tensor<8x8xf32>
    return %y : tensor<2x8xf32>
  }
}
