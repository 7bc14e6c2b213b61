// RUN: pcc-opt --hoist-shared --split-input-file %s | %python %source/test/inline-aliases.py | FileCheck %s

#part = #dist.sharding<"[8@dp:2, -]">
#whole = #dist.sharding<"[-, -]">
#rows = #dist.sharding<"[4@mb:2, -]">

// A weight is gathered once; what the stage computes with it takes it as an argument.
// CHECK-LABEL: func.func @gathered_weight_shared() -> tensor<8x4xf32>
// CHECK-SAME:    attributes {pipe.action = "UNSHARD"
// CHECK-NEXT:    %[[W:.*]] = graph.get_parameter @w
// CHECK-NEXT:    %[[G:.*]] = dist.collective all_gather %[[W]]
// CHECK-NEXT:    return %[[G]]
// CHECK-LABEL: func.func @gathered_weight(
// CHECK-SAME:    %[[X:.*]]: tensor<2x8xf32> {{.*}}, %[[G:.*]]: tensor<8x4xf32> {{.*}}pipe.held =
// CHECK-SAME:   {by = @{{.*}}_shared, result = 0 : i64}})
// CHECK-NEXT:    %[[Y:.*]] = graph.matmul %[[X]], %[[G]]
// CHECK-NEXT:    return %[[Y]]
module attributes {dist.mesh = #dist.mesh<mb = 2, dp = 2>, pipe.microbatches = 2 : i64} {
  graph.parameter @w : tensor<8x4xf32>
  func.func @gathered_weight(%x: tensor<2x8xf32> {dist.sharding = #rows}) -> tensor<2x4xf32>
      attributes {pipe.stage = 0 : i64} {
    %w = graph.get_parameter @w {dist.shardings = [#part]} : tensor<4x4xf32>
    %g = dist.collective all_gather %w from #part to #whole shape [8, 4] received 64 value "w"
        {dist.shardings = [#whole]} : tensor<4x4xf32> to tensor<8x4xf32>
    %y = graph.matmul %x, %g {dist.shardings = [#rows]} : tensor<2x8xf32>, tensor<8x4xf32>
    return %y : tensor<2x4xf32>
  }
}

// -----

// With one microbatch there is nothing to share.
// CHECK-NOT: UNSHARD
module attributes {pipe.microbatches = 1 : i64} {
  // CHECK-LABEL: func.func @one_microbatch
  func.func @one_microbatch(%t: tensor<8xf32>, %x: tensor<8xf32>) -> tensor<8xf32>
      attributes {pipe.stage = 0 : i64} {
    %0 = graph.exp %t : tensor<8xf32>
    %1 = graph.add %x, %0 : tensor<8xf32>, tensor<8xf32>
    return %1 : tensor<8xf32>
  }
}

// -----

#cut = #dist.sharding<"[16@mb:2]">

// Values that microbatches compute from an input that is not cut are computed once.
// CHECK-LABEL: func.func @input_without_batch_shared(%{{.*}}: tensor<8xf32> {graph.name = "t"})
// CHECK-NEXT:    graph.exp
// CHECK-NEXT:    return
// CHECK-LABEL: func.func @input_without_batch(
// CHECK-NOT:     graph.exp
// CHECK:         graph.add
module attributes {pipe.microbatches = 2 : i64} {
  func.func @input_without_batch(%t: tensor<8xf32> {graph.name = "t"},
      %x: tensor<8xf32> {graph.name = "x", dist.sharding = #cut}) -> tensor<8xf32>
      attributes {pipe.stage = 0 : i64} {
    %0 = graph.exp %t : tensor<8xf32>
    %1 = graph.add %x, %0 : tensor<8xf32>, tensor<8xf32>
    return %1 : tensor<8xf32>
  }
}

// -----

#cut = #dist.sharding<"[16@mb:2, -]">

// A value that is larger than its operands is recomputed, and so is a view.
// CHECK-NOT: UNSHARD
module attributes {pipe.microbatches = 2 : i64} {
  // CHECK-LABEL: func.func @cheaper_to_make_than_to_keep
  func.func @cheaper_to_make_than_to_keep(%r: tensor<8x1xf32>, %c: tensor<1x8xf32>, %w: tensor<8x8xf32>,
      %x: tensor<8x8xf32> {dist.sharding = #cut}) -> tensor<8x8xf32>
      attributes {pipe.stage = 0 : i64} {
    %0 = graph.add %r, %c : tensor<8x1xf32>, tensor<1x8xf32>
    %1 = graph.transpose %w [1, 0] : tensor<8x8xf32>
    %2 = graph.add %x, %0 : tensor<8x8xf32>, tensor<8x8xf32>
    %3 = graph.mul %2, %1 : tensor<8x8xf32>, tensor<8x8xf32>
    return %3 : tensor<8x8xf32>
  }
}

// -----

#part = #dist.sharding<"[8@dp:2]">
#whole = #dist.sharding<"[-]">
#cut = #dist.sharding<"[16@mb:2]">

// Behind a message everything counts as different, and a slice that microbatches take in turn is.
// CHECK-NOT: UNSHARD
module attributes {dist.mesh = #dist.mesh<mb = 2, dp = 2>, pipe.microbatches = 2 : i64} {
  // CHECK-LABEL: func.func @differs
  func.func @differs(%t: tensor<16xf32>) -> (tensor<8xf32>, tensor<8xf32>) attributes {pipe.stage = 1 : i64} {
    %h = pipe.receive from 0 value "h" : tensor<4xf32>
    %0 = dist.collective all_gather %h from #part to #whole shape [8] received 16 value "h"
        : tensor<4xf32> to tensor<8xf32>
    %1 = dist.collective slice %t from <"[-]"> to #cut shape [16] received 0 value "t" : tensor<16xf32> to tensor<8xf32>
    return %0, %1 : tensor<8xf32>, tensor<8xf32>
  }
}

// -----

#part = #dist.sharding<"[8@dp:2]">
#whole = #dist.sharding<"[-]">

// The second gather fits into 40 bytes beside nothing else; what it shares with the first is recomputed there.
// CHECK-LABEL: func.func @bounded_shared(
// CHECK-COUNT-1: dist.collective all_gather
// CHECK-LABEL: func.func @bounded(
// CHECK-COUNT-1: dist.collective all_gather
module attributes {dist.mesh = #dist.mesh<mb = 2, dp = 2>, pipe.microbatches = 2 : i64, pipe.max_held_bytes = 40 : i64} {
  graph.parameter @v : tensor<8xf32>
  graph.parameter @w : tensor<8xf32>
  func.func @bounded(%x: tensor<8xf32> {dist.sharding = #dist.sharding<"[16@mb:2]">}) -> tensor<8xf32>
      attributes {pipe.stage = 0 : i64} {
    %v = graph.get_parameter @v {dist.shardings = [#part]} : tensor<4xf32>
    %0 = dist.collective all_gather %v from #part to #whole shape [8] received 16 value "v"
        : tensor<4xf32> to tensor<8xf32>
    %w = graph.get_parameter @w {dist.shardings = [#part]} : tensor<4xf32>
    %1 = dist.collective all_gather %w from #part to #whole shape [8] received 16 value "w"
        : tensor<4xf32> to tensor<8xf32>
    %2 = graph.add %x, %0 : tensor<8xf32>, tensor<8xf32>
    %3 = graph.add %2, %1 : tensor<8xf32>, tensor<8xf32>
    return %3 : tensor<8xf32>
  }
}
