// RUN: pcc-opt --decide-shardings --insert-reshards --verify-sharded --split-input-file %s \
// RUN:   | %python %source/test/inline-aliases.py | FileCheck %s

// A weight is split as the user says, although columns would cost less.
// CHECK-LABEL: @seed_wins
module attributes {dist.mesh = #dist.mesh<tp = 2>, dist.seeds = ["w=[tp,-]"]} {
  graph.parameter @w : tensor<64x64xf32>
  func.func @seed_wins(%x: tensor<8x64xf32> {graph.batch_dim = 0 : i64}) -> tensor<8x64xf32> {
    // CHECK: graph.get_parameter @w {{.*}}shardings = ["[64@tp:2, -]"]
    %w = graph.get_parameter @w : tensor<64x64xf32>
    // CHECK: graph.matmul {{.*}}shardings = ["[-, -] partial sum(tp:2)"]
    %y = graph.matmul %x, %w : tensor<8x64xf32>, tensor<64x64xf32>
    return %y : tensor<8x64xf32>
  }
}

// -----

// A glob names several weights.
// CHECK-LABEL: @globs
module attributes {dist.mesh = #dist.mesh<x = 2>, dist.seeds = ["block*.w=[-,x]"]} {
  graph.parameter @block0.w : tensor<4x4xf32>
  graph.parameter @block1.w : tensor<4x4xf32>
  func.func @globs(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
    // CHECK: graph.get_parameter @block0.w {{.*}}shardings = ["[-, 4@x:2]"]
    %0 = graph.get_parameter @block0.w : tensor<4x4xf32>
    %1 = graph.matmul %x, %0 : tensor<8x4xf32>, tensor<4x4xf32>
    // CHECK: graph.get_parameter @block1.w {{.*}}shardings = ["[-, 4@x:2]"]
    %2 = graph.get_parameter @block1.w : tensor<4x4xf32>
    %3 = graph.matmul %1, %2 : tensor<8x4xf32>, tensor<4x4xf32>
    return %3 : tensor<8x4xf32>
  }
}

// -----

// An output is made whole where the user asks for it.
// CHECK-LABEL: @output_is_gathered
module attributes {dist.mesh = #dist.mesh<tp = 2>, dist.seeds = ["y=[-,-]", "w=[-,tp]"]} {
  graph.parameter @w : tensor<64x64xf32>
  func.func @output_is_gathered(%x: tensor<8x64xf32>) -> (tensor<8x64xf32> {graph.name = "y"}) {
    %w = graph.get_parameter @w : tensor<64x64xf32>
    // CHECK: graph.matmul {{.*}}shardings = ["[-, 64@tp:2]"]
    %y = graph.matmul %x, %w : tensor<8x64xf32>, tensor<64x64xf32>
    // CHECK: dist.reshard {{.*}} from "[-, 64@tp:2]" to "[-, -]"
    return %y : tensor<8x64xf32>
  }
}

// -----

// Parts of three blocks: each rank has a half of every block.
// CHECK-LABEL: @blocks
module attributes {dist.mesh = #dist.mesh<tp = 2>, dist.seeds = ["x=[3|4@tp]"]} {
  func.func @blocks(%x: tensor<12xf32> {graph.name = "x"}) -> tensor<12xf32> {
    // CHECK: graph.relu {{.*}}shardings = ["[3|4@tp:2]"]
    %y = graph.relu %x : tensor<12xf32>
    return %y : tensor<12xf32>
  }
}

// -----

// Fewer rows than ranks, axes in another order than the mesh's, and parts of an axis that are no primes in order.
// CHECK-LABEL: @any_sharding
// CHECK-SAME: dist.sharding = "[2@a:4, -]"
// CHECK-SAME: dist.sharding = {{.*}}"[8@b:2+a:4]"
// CHECK-SAME: dist.sharding = "[6@c:3]"
module attributes {dist.mesh = #dist.mesh<a = 4, b = 2, c = 6>, dist.seeds = ["x=[a,-]", "y=[b+a]", "z=[c:(1)3]"]} {
  func.func @any_sharding(%x: tensor<2x8xf32> {graph.name = "x"}, %y: tensor<8xf32> {graph.name = "y"},
      %z: tensor<6xf32> {graph.name = "z"}) -> (tensor<2x8xf32>, tensor<6xf32>) {
    %0 = graph.add %x, %y : tensor<2x8xf32>, tensor<8xf32>
    %1 = graph.relu %z : tensor<6xf32>
    return %0, %1 : tensor<2x8xf32>, tensor<6xf32>
  }
}

// -----

// A sharding that an op cannot produce is made from its result.
// CHECK-LABEL: @inner_value
module attributes {dist.mesh = #dist.mesh<a = 2>, dist.seeds = ["v=[a,-]", "x=[-,a]"]} {
  func.func @inner_value(%x: tensor<1x8xf32> {graph.name = "x"}) -> tensor<1x8xf32> {
    // CHECK: %[[V:.*]] = graph.exp {{.*}}shardings = ["[-, 8@a:2]"]
    // CHECK: %[[P:.*]] = dist.reshard %[[V]] from "[-, 8@a:2]" to "[1@a:2, -]" {{.*}}graph.name = "v"
    // CHECK: dist.reshard %[[P]]
    // CHECK: graph.neg
    %v = graph.exp %x {graph.name = "v"} : tensor<1x8xf32>
    %y = graph.neg %v : tensor<1x8xf32>
    return %y : tensor<1x8xf32>
  }
}

// -----

// A few rows go to all ranks; the rest stays where it is.
// CHECK-LABEL: @few_rows
module attributes {dist.mesh = #dist.mesh<t = 4>, dist.seeds = ["x=[t,-]", "y=[-,-]"]} {
  func.func @few_rows(%x: tensor<64x8xf32> {graph.name = "x"}) -> (tensor<2x8xf32> {graph.name = "y"}) {
    // CHECK: dist.reshard {{.*}} to "[- view(1x2 by 0 of 64: 0..2 from 5), -]"
    // CHECK: graph.slice {{.*}}dist.windows
    %y = graph.slice %x starts [5, 0] sizes [2, 8] steps [1, 1] : tensor<64x8xf32>
    return %y : tensor<2x8xf32>
  }
}

// -----

// Half of an axis is named, and what lies between two halves is split like them.
// CHECK-LABEL: @half_of_an_axis
module attributes {dist.mesh = #dist.mesh<a = 4>, dist.seeds = ["x=[a:(1)2]", "y=[a:(1)2]"]} {
  func.func @half_of_an_axis(%x: tensor<8xf32> {graph.name = "x"}) -> (tensor<8xf32> {graph.name = "y"}) {
    // CHECK-NOT: dist.reshard
    // CHECK: graph.exp {{.*}}shardings = ["[8@a:2]"]
    %y = graph.exp %x : tensor<8xf32>
    return %y : tensor<8xf32>
  }
}

// -----

// Two rows are room for one axis. The sum is split as the larger operand is, if nothing is said …
// CHECK-LABEL: @cheapest_first
module attributes {dist.mesh = #dist.mesh<a = 2, b = 2>, dist.seeds = ["u=[a,-]", "v=[b,-]"]} {
  func.func @cheapest_first(%u: tensor<2x64xf32> {graph.name = "u"}, %v: tensor<2x1xf32> {graph.name = "v"}) -> tensor<2x64xf32> {
    // CHECK: graph.add {{.*}}shardings = ["[2@a:2, 64@b:2]"]
    %z = graph.add %u, %v : tensor<2x64xf32>, tensor<2x1xf32>
    return %z : tensor<2x64xf32>
  }
}

// -----

// … and as the axis of the first round splits it, if rounds are: by then nothing is split by the other.
// CHECK-LABEL: @rounds
module attributes {dist.mesh = #dist.mesh<a = 2, b = 2>, dist.seeds = ["u=[a p1,-]", "v=[b,-]"]} {
  func.func @rounds(%u: tensor<2x64xf32> {graph.name = "u"}, %v: tensor<2x1xf32> {graph.name = "v"}) -> tensor<2x64xf32> {
    // CHECK: graph.add {{.*}}shardings = ["[2@b:2, 64@a:2]"]
    %z = graph.add %u, %v : tensor<2x64xf32>, tensor<2x1xf32>
    return %z : tensor<2x64xf32>
  }
}

// -----

// The slice cuts what the seed leaves whole in front of what it splits.
// CHECK-LABEL: @cut_in_front
module attributes {dist.mesh = #dist.mesh<x = 2>, dist.seeds = ["w=[8|8@x,-]"]} {
  graph.parameter @w : tensor<64x4xf32>
  func.func @cut_in_front(%x: tensor<32x4xf32>) -> tensor<32x4xf32> {
    // CHECK: graph.get_parameter @w {{.*}}shardings = ["[8|8@x:2, -]"]
    // CHECK-NOT: dist.reshard
    // CHECK: graph.slice {{.*}}shardings = ["[4|8@x:2, -]"]
    // CHECK: return
    %w = graph.get_parameter @w : tensor<64x4xf32>
    %0 = graph.slice %w starts [0, 0] sizes [32, 4] steps [1, 1] : tensor<64x4xf32>
    %1 = graph.add %x, %0 : tensor<32x4xf32>, tensor<32x4xf32>
    return %1 : tensor<32x4xf32>
  }
}

// -----

// A weight is written in the sharding in which it is read. Its gradient is cut into 3 heads, which 2 ranks do not divide.
// CHECK-LABEL: @written_as_read
module attributes {dist.mesh = #dist.mesh<tp = 2>, dist.seeds = ["w=[-,tp]"]} {
  graph.parameter @w : tensor<6x6xf32> trained
  func.func @written_as_read(%g: tensor<6x3x2xf32>) {
    // CHECK: graph.get_parameter @w {{.*}}shardings = ["[-, 6@tp:2]"]
    %w = graph.get_parameter @w : tensor<6x6xf32>
    // CHECK: dist.reshard {{.*}} to "[-, 6@tp:2]"
    // CHECK-NEXT: graph.set_parameter @w
    %0 = graph.relu %g : tensor<6x3x2xf32>
    %1 = graph.reshape %0 : tensor<6x3x2xf32> to tensor<6x6xf32>
    %2 = graph.sub %w, %1 : tensor<6x6xf32>, tensor<6x6xf32>
    graph.set_parameter @w, %2 : tensor<6x6xf32>
    return
  }
}
