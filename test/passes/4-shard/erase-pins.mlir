// RUN: pcc-opt --decide-shardings --insert-reshards --erase-pins --verify-sharded --split-input-file %s \
// RUN:   | %python %source/test/inline-aliases.py | FileCheck %s

#whole = #dist.sharding<"[-, -]">

// A pin says what its users get, not how its operand is made: the sum stays split, and is added up behind it.
// CHECK-LABEL: @pinned_between
module attributes {dist.mesh = #dist.mesh<x = 2>} {
  graph.parameter @w : tensor<8x4xf32> {dist.sharding = #dist.sharding<"[8@x:2, -]">}
  func.func @pinned_between(%a: tensor<4x8xf32> {graph.name = "a", dist.sharding = #dist.sharding<"[-, 8@x:2]">})
      -> (tensor<4x4xf32> {graph.name = "y", dist.sharding = #whole}) {
    %w = graph.get_parameter @w : tensor<8x4xf32>
    // CHECK: %[[PART:.*]] = graph.matmul {{.*}}partial sum(x:2)
    %0 = graph.matmul %a, %w : tensor<4x8xf32>, tensor<8x4xf32>
    // CHECK-NEXT: %[[SUM:.*]] = dist.reshard %[[PART]] from "[-, -] partial sum(x:2)" to "[-, -]"
    // CHECK-NOT: dist.pin
    %1 = dist.pin %0 to #whole value "t" : tensor<4x4xf32>
    // CHECK: graph.relu %[[SUM]]
    %2 = graph.relu %1 : tensor<4x4xf32>
    return %2 : tensor<4x4xf32>
  }
}

// -----

// Two uses of one value, each with its own sharding.
// CHECK-LABEL: @one_pin_per_use
module attributes {dist.mesh = #dist.mesh<x = 2>} {
  func.func @one_pin_per_use(%a: tensor<4x8xf32> {graph.name = "a", dist.sharding = #dist.sharding<"[4@x:2, -]">})
      -> (tensor<4x8xf32> {graph.name = "y"}, tensor<4x8xf32> {graph.name = "z"}) {
    // CHECK-DAG: %[[COLUMNS:.*]] = dist.reshard {{.*}} to "[-, 8@x:2]"
    // CHECK-DAG: dist.reshard %{{.*}} to "[-, -]"
    // CHECK-NOT: dist.pin
    // CHECK: graph.relu %[[COLUMNS]]
    %0 = dist.pin %a to #dist.sharding<"[-, 8@x:2]"> value "a" : tensor<4x8xf32>
    %1 = graph.relu %0 : tensor<4x8xf32>
    %2 = dist.pin %a to #dist.sharding<"[-, -]"> value "a" : tensor<4x8xf32>
    %3 = graph.softmax %2 over 1 : tensor<4x8xf32>
    return %1, %3 : tensor<4x8xf32>, tensor<4x8xf32>
  }
}
