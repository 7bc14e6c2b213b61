// RUN: pcc-opt --decide-shardings --insert-reshards --verify-sharded --split-input-file %s \
// RUN:   | %python %source/test/inline-aliases.py | FileCheck %s

// The batch is cut into microbatches first, then over dp; weights are the same everywhere.
// CHECK-LABEL: @mb_lies_outside_dp
module attributes {dist.mesh = #dist.mesh<mb = 2, dp = 2>} {
  graph.parameter @w : tensor<64x64xf32>
  // CHECK-SAME: %{{.*}}: tensor<8x64xf32> {dist.sharding = "[8@mb:2+dp:2, -]"
  func.func @mb_lies_outside_dp(%x: tensor<8x64xf32> {graph.batch_dim = 0 : i64})
      -> tensor<8x64xf32> {
    // CHECK: graph.get_parameter @w {{.*}}shardings = ["[-, -]"]
    %w = graph.get_parameter @w : tensor<64x64xf32>
    // CHECK: graph.matmul {{.*}}shardings = ["[8@mb:2+dp:2, -]"]
    %y = graph.matmul %x, %w : tensor<8x64xf32>, tensor<64x64xf32>
    return %y : tensor<8x64xf32>
  }
}

// -----

// The batch is followed through a reshape: [batch, sequence] are the factors of the rows.
// CHECK-LABEL: @batch_in_a_factor
module attributes {dist.mesh = #dist.mesh<dp = 2>} {
  func.func @batch_in_a_factor(%x: tensor<8x3x4xf32> {graph.batch_dim = 0 : i64})
      -> tensor<24x4xf32> {
    // CHECK: graph.reshape {{.*}}shardings = ["[24@dp:2, -]"]
    %y = graph.reshape %x : tensor<8x3x4xf32> to tensor<24x4xf32>
    // CHECK: graph.relu {{.*}}shardings = ["[24@dp:2, -]"]
    %z = graph.relu %y : tensor<24x4xf32>
    return %z : tensor<24x4xf32>
  }
}

// -----

!x = tensor<8x32x64xf32>

// cp splits the sequence and nothing else.
// CHECK-LABEL: @sequence_over_cp
module attributes {dist.mesh = #dist.mesh<cp = 2>} {
  graph.parameter @w : tensor<64x64xf32>
  func.func @sequence_over_cp(%x: !x {graph.sequence_dim = 1 : i64}) -> !x {
    // CHECK: graph.get_parameter @w {{.*}}shardings = ["[-, -]"]
    %w = graph.get_parameter @w : tensor<64x64xf32>
    // CHECK: graph.matmul {{.*}}shardings = ["[-, 32@cp:2, -]"]
    %y = graph.matmul %x, %w : !x, tensor<64x64xf32>
    return %y : !x
  }
}

// -----

// Fewer bytes would be received if x were gathered and all of the batch were computed on both ranks; dp is to divide it.
// CHECK-LABEL: @gradient_of_few_tokens
module attributes {dist.mesh = #dist.mesh<dp = 2>} {
  graph.parameter @w : tensor<4x1000xf32> trained
  func.func @gradient_of_few_tokens(%x: tensor<8x4xf32> {graph.batch_dim = 0 : i64}) -> tensor<4x1000xf32> {
    %w = graph.get_parameter @w {pipe.stage = 0 : i64} : tensor<4x1000xf32>
    // CHECK: graph.matmul {{.*}}shardings = ["[8@dp:2, -]"]
    %y = graph.matmul %x, %w {pipe.stage = 0 : i64} : tensor<8x4xf32>, tensor<4x1000xf32>
    // CHECK: graph.matmul {{.*}}shardings = ["[-, -] partial sum(dp:2)"]
    %g = graph.matmul %x, %y {pipe.stage = 0 : i64, transpose_lhs} : tensor<8x4xf32>, tensor<8x1000xf32>
    %s = graph.accumulate %g {pipe.stage = 0 : i64} : tensor<4x1000xf32>
    %n = graph.sub %w, %s {pipe.stage = 0 : i64} : tensor<4x1000xf32>, tensor<4x1000xf32>
    graph.set_parameter @w, %n {pipe.stage = 0 : i64} : tensor<4x1000xf32>
    return %s : tensor<4x1000xf32>
  }
}

// -----

// The addend of a microbatch is sent to the stage that continues the sum.
// CHECK-LABEL: @sum_on_its_way
module attributes {dist.mesh = #dist.mesh<mb = 2>} {
  graph.parameter @sum : tensor<4xf32> trained
  func.func @sum_on_its_way(%x: tensor<8x4xf32> {graph.batch_dim = 0 : i64}) -> tensor<4xf32> {
    %w = graph.get_parameter @sum {pipe.stage = 1 : i64} : tensor<4xf32>
    %y = graph.mul %x, %w {pipe.stage = 1 : i64} : tensor<8x4xf32>, tensor<4xf32>
    // CHECK: graph.reduce {{.*}}shardings = ["[-] partial sum(mb:2)"]
    %a = graph.reduce sum %y over [0] {pipe.stage = 1 : i64} : tensor<8x4xf32>
    // CHECK: pipe.transfer {{.*}}shardings = ["[-] partial sum(mb:2)"]
    %t = pipe.transfer %a from 1 to 0 {pipe.stage = 0 : i64} : tensor<4xf32>
    %v = graph.get_parameter @sum {pipe.stage = 0 : i64} : tensor<4xf32>
    %z = graph.add %x, %v {pipe.stage = 0 : i64} : tensor<8x4xf32>, tensor<4xf32>
    %b = graph.reduce sum %z over [0] {pipe.stage = 0 : i64} : tensor<8x4xf32>
    // CHECK: graph.add {{.*}}shardings = ["[-] partial sum(mb:2)"]
    %c = graph.add %t, %b {pipe.stage = 0 : i64} : tensor<4xf32>, tensor<4xf32>
    // CHECK: graph.accumulate {{.*}}shardings = ["[-]"]
    %s = graph.accumulate %c {pipe.stage = 0 : i64} : tensor<4xf32>
    graph.set_parameter @sum, %s {pipe.stage = 0 : i64} : tensor<4xf32>
    %u = pipe.transfer %s from 0 to 1 {pipe.stage = 1 : i64} : tensor<4xf32>
    graph.set_parameter @sum, %u {pipe.stage = 1 : i64} : tensor<4xf32>
    return %s : tensor<4xf32>
  }
}

// -----

// Two microbatches have three rows each, of which two ranks have two and one, where the user pins them, too.
// CHECK-LABEL: @uneven_microbatches
module attributes {dist.mesh = #dist.mesh<mb = 2, dp = 2>, dist.seeds = ["y=[dp]"]} {
  // CHECK-SAME: %{{.*}}: tensor<6xf32> {dist.sharding = "[2@mb:2|3@dp:2]"
  func.func @uneven_microbatches(%x: tensor<6xf32> {graph.batch_dim = 0 : i64}) -> (tensor<6xf32> {graph.name = "y"}) {
    // CHECK: graph.relu {{.*}}shardings = ["[2@mb:2|3@dp:2]"]
    // CHECK-NOT: dist.reshard
    %y = graph.relu %x : tensor<6xf32>
    return %y : tensor<6xf32>
  }
}
