// RUN: pcc-opt --decide-shardings --expand-split-ops --insert-reshards --verify-sharded --split-input-file %s \
// RUN:   | %python %source/test/inline-aliases.py | FileCheck %s

// The maximum and the sum of each row are all that is communicated.
// CHECK-LABEL: @softmax
module attributes {dist.mesh = #dist.mesh<t = 4>, dist.seeds = ["x=[-,t]", "y=[-,t]"]} {
  func.func @softmax(%x: tensor<8x64xf32> {graph.name = "x"})
      -> (tensor<8x64xf32> {graph.name = "y"}) {
    // CHECK: %[[MAX:.*]] = graph.reduce max {{.*}}shardings = ["[-, -] partial max(t:4)"]
    // CHECK-NEXT: %[[TOP:.*]] = dist.reshard %[[MAX]]
    // CHECK-NEXT: %[[LOW:.*]] = graph.sub %{{.*}}, %[[TOP]] {{.*}}shardings = ["[-, 64@t:4]"]
    // CHECK-NEXT: %[[POWER:.*]] = graph.exp %[[LOW]]
    // CHECK-NEXT: %[[PART:.*]] = graph.reduce sum {{.*}}shardings = ["[-, -] partial sum(t:4)"]
    // CHECK-NEXT: %[[SUM:.*]] = dist.reshard %[[PART]]
    // CHECK-NEXT: graph.div %[[POWER]], %[[SUM]] {{.*}}shardings = ["[-, 64@t:4]"]
    // CHECK-NEXT: return
    %y = graph.softmax %x over 1 : tensor<8x64xf32>
    return %y : tensor<8x64xf32>
  }
}

// -----

// The mean is reduced before the deviations from it, both in f32 and divided by the logical count.
// CHECK-LABEL: @layer_norm
module attributes {dist.mesh = #dist.mesh<t = 4>, dist.seeds = ["x=[-,t]", "y=[-,t]"]} {
  graph.parameter @s : tensor<250xf16>
  graph.parameter @b : tensor<250xf16>
  func.func @layer_norm(%x: tensor<8x250xf16> {graph.name = "x"})
      -> (tensor<8x250xf16> {graph.name = "y"}) {
    // CHECK: graph.get_parameter @s {{.*}}shardings = ["[250@t:4]"]
    %s = graph.get_parameter @s : tensor<250xf16>
    %b = graph.get_parameter @b : tensor<250xf16>
    // CHECK: graph.cast %{{.*}} : tensor<8x250xf16> to tensor<8x250xf32>
    // CHECK: %[[SUM:.*]] = graph.reduce sum {{.*}}shardings = ["[-, -] partial sum(t:4)"]
    // CHECK: dist.reshard %[[SUM]] {{.*}} : tensor<8x1xf32>
    // CHECK: %[[MEAN:.*]] = graph.div {{.*}} : tensor<8x1xf32>
    // CHECK: %[[FROM:.*]] = graph.sub %{{.*}}, %[[MEAN]]
    // CHECK: %[[SQUARES:.*]] = graph.mul %[[FROM]], %[[FROM]]
    // CHECK: %[[SUM:.*]] = graph.reduce sum %[[SQUARES]] {{.*}}shardings = ["[-, -] partial sum(t:4)"]
    // CHECK: dist.reshard %[[SUM]] {{.*}} : tensor<8x1xf32>
    // CHECK-NOT: dist.reshard
    // CHECK: return
    %y = graph.layer_norm %x, %s, %b from 1 epsilon 1.0e-5
        : tensor<8x250xf16>, tensor<250xf16>, tensor<250xf16>
    return %y : tensor<8x250xf16>
  }
}

// -----

// CHECK-LABEL: @rms_norm
module attributes {dist.mesh = #dist.mesh<t = 4>, dist.seeds = ["x=[-,t]", "y=[-,t]"]} {
  graph.parameter @s : tensor<256xf32>
  func.func @rms_norm(%x: tensor<8x256xf32> {graph.name = "x"})
      -> (tensor<8x256xf32> {graph.name = "y"}) {
    %s = graph.get_parameter @s : tensor<256xf32>
    // CHECK: %[[PART:.*]] = graph.reduce sum
    // CHECK: dist.reshard %[[PART]] from "[-, -] partial sum(t:4)"
    // CHECK-NOT: dist.reshard
    // CHECK: return
    %y = graph.rms_norm %x, %s from 1 epsilon 1.0e-5 : tensor<8x256xf32>, tensor<256xf32>
    return %y : tensor<8x256xf32>
  }
}

// -----

// The largest value is reduced, then the least index that has it.
// CHECK-LABEL: @arg_reduce
module attributes {dist.mesh = #dist.mesh<t = 4>, dist.seeds = ["x=[-,t]"]} {
  func.func @arg_reduce(%x: tensor<8x513xf32> {graph.name = "x"}) -> tensor<8xi64> {
    // CHECK: graph.reduce max {{.*}}shardings = ["[-, -] partial max(t:4)"]
    // CHECK: graph.iota 1 {{.*}}shardings = ["[-, 513@t:4]"]{{.*}} : tensor<1x513xi32>
    // CHECK: dist.reshard {{.*}} : tensor<8x1xf32>
    // CHECK: graph.reduce min {{.*}}shardings = ["[-] partial min(t:4)"]
    // CHECK-NEXT: dist.reshard {{.*}} : tensor<8xi32>
    // CHECK-NOT: dist.reshard
    // CHECK: return
    %y = graph.arg_reduce max %x over 1 : tensor<8x513xf32>
    return %y : tensor<8xi64>
  }
}

// -----

// The last index counts instead.
// CHECK-LABEL: @last_index
module attributes {dist.mesh = #dist.mesh<t = 4>, dist.seeds = ["x=[-,t]"]} {
  func.func @last_index(%x: tensor<8x512xi32> {graph.name = "x"}) -> tensor<8x1xi64> {
    // CHECK: graph.reduce min {{.*}}shardings = ["[-, -] partial min(t:4)"]
    // CHECK: graph.constant {{.*}}dense<-1>
    // CHECK: graph.reduce max {{.*}}shardings = ["[-, -] partial max(t:4)"]
    %y = graph.arg_reduce min %x over 1 keep last : tensor<8x512xi32>
    return %y : tensor<8x1xi64>
  }
}

// -----

// Three candidates of each part are gathered; who has the winners gives their global indices.
// CHECK-LABEL: @topk
module attributes {dist.mesh = #dist.mesh<t = 4>, dist.seeds = ["x=[-,t]"]} {
  func.func @topk(%x: tensor<8x512xf32> {graph.name = "x"})
      -> (tensor<8x3xf32>, tensor<8x3xi64>) {
    // CHECK: %[[PARTS:.*]] = graph.reshape {{.*}}shardings = ["[-, 4@t:4, -]"]
    // CHECK-NEXT: graph.topk %[[PARTS]], 3 along 2
    // CHECK-NEXT: graph.reshape {{.*}}shardings = ["[-, 12@t:4]"]
    // CHECK-NEXT: %[[ALL:.*]] = dist.reshard {{.*}} to "[-, -]" {{.*}} : tensor<8x12xf32>
    // CHECK-NEXT: %[[Y:.*]], %[[PLACES:.*]] = graph.topk %[[ALL]], 3 along 1
    // CHECK: %[[OWN:.*]] = graph.gather_elements %{{.*}}, %[[PLACES]] {{.*}}partial sum(t:4)
    // CHECK-NEXT: %[[I:.*]] = dist.reshard %[[OWN]] {{.*}} : tensor<8x3xi32>
    // CHECK-NEXT: %[[Z:.*]] = graph.cast %[[I]]
    // CHECK: return
    %y, %z = graph.topk %x, 3 along 1 : tensor<8x512xf32>
    return %y, %z : tensor<8x3xf32>, tensor<8x3xi64>
  }
}

// -----

// Indices that nobody reads are not made.
// CHECK-LABEL: @values_only
module attributes {dist.mesh = #dist.mesh<t = 4>, dist.seeds = ["x=[-,t]"]} {
  func.func @values_only(%x: tensor<8x512xf32> {graph.name = "x"}) -> tensor<8x3xf32> {
    // CHECK: graph.topk
    // CHECK: graph.topk
    // CHECK-NOT: graph.gather_elements
    // CHECK: return
    %y, %z = graph.topk %x, 3 along 1 : tensor<8x512xf32>
    return %y : tensor<8x3xf32>
  }
}

// -----

// Padding loses against every number.
// CHECK-LABEL: @uneven_topk
module attributes {dist.mesh = #dist.mesh<t = 4>, dist.seeds = ["x=[-,t]"]} {
  func.func @uneven_topk(%x: tensor<8x513xi32> {graph.name = "x"}) -> tensor<8x3xi32> {
    // CHECK: graph.constant {{.*}}dense<2147483647>
    // CHECK: graph.pad {{.*}} low [0, 0] high [0, 3]
    // CHECK: graph.reshape {{.*}}shardings = ["[-, 4@t:4, -]"]{{.*}} to tensor<8x4x129xi32>
    %y, %z = graph.topk %x, 3 along 1 {largest = false} : tensor<8x513xi32>
    return %y : tensor<8x3xi32>
  }
}

// -----

// One total per part is gathered.
// CHECK-LABEL: @cumsum
module attributes {dist.mesh = #dist.mesh<t = 4>, dist.seeds = ["x=[t,-]", "y=[t,-]"]} {
  func.func @cumsum(%x: tensor<8x3xf32> {graph.name = "x"})
      -> (tensor<8x3xf32> {graph.name = "y"}) {
    // CHECK: graph.reshape {{.*}}shardings = ["[4@t:4, -, -]"]{{.*}} to tensor<4x2x3xf32>
    // CHECK: %[[SUMS:.*]] = graph.reduce sum
    // CHECK-NEXT: %[[ALL:.*]] = dist.reshard %[[SUMS]] {{.*}} : tensor<4x1x3xf32>
    // CHECK-NEXT: graph.cumsum %[[ALL]] along 0 exclusive
    // CHECK-NEXT: graph.cumsum %{{.*}} along 1
    // CHECK: graph.add {{.*}}shardings = ["[4@t:4, -, -]"]
    %y = graph.cumsum %x along 0 : tensor<8x3xf32>
    return %y : tensor<8x3xf32>
  }
}

// -----

// The batch stays split by another axis.
// CHECK-LABEL: @two_axes
module attributes {dist.mesh = #dist.mesh<d = 2, t = 4>,
                   dist.seeds = ["x=[d,t]", "y=[d,t]"]} {
  func.func @two_axes(%x: tensor<8x512xf32> {graph.name = "x"})
      -> (tensor<8x512xf32> {graph.name = "y"}) {
    // CHECK: graph.reduce max {{.*}}shardings = ["[8@d:2, -] partial max(t:4)"]
    // CHECK: graph.log
    // CHECK-NEXT: graph.sub {{.*}}shardings = ["[8@d:2, 512@t:4]"]
    %y = graph.log_softmax %x over 1 : tensor<8x512xf32>
    return %y : tensor<8x512xf32>
  }
}

// -----

// New ops have the stage and the name of the old one.
// CHECK-LABEL: @what_is_kept
module attributes {dist.mesh = #dist.mesh<t = 4>, dist.seeds = ["x=[-,t]", "y=[-,t]"]} {
  func.func @what_is_kept(%x: tensor<8x64xf32> {graph.name = "x"})
      -> (tensor<8x64xf32> {graph.name = "y"}) {
    // CHECK: graph.exp {{.*}}pipe.stage = 3
    // CHECK: graph.div {{.*}}graph.name = "y", pipe.stage = 3
    %y = graph.softmax %x over 1 {graph.name = "y", pipe.stage = 3 : i64} : tensor<8x64xf32>
    return %y : tensor<8x64xf32>
  }
}

// -----

!h = tensor<2x8x6x4xf32>

// Keys and values travel together to the rank before; what a rank has seen so far shrinks when larger scores come.
// CHECK-LABEL: @attention_in_a_ring
module attributes {dist.mesh = #dist.mesh<cp = 2>} {
  graph.parameter @w : tensor<4x4xf32>
  func.func @attention_in_a_ring(%x: !h {graph.batch_dim = 0 : i64, graph.sequence_dim = 2 : i64}) -> !h {
    %w = graph.get_parameter @w : tensor<4x4xf32>
    %q = graph.matmul %x, %w : !h, tensor<4x4xf32>
    %k = graph.exp %q : !h
    %v = graph.exp %k : !h
    // CHECK: %[[KV:.*]] = graph.concat %{{.*}}, %{{.*}} along 3 {{.*}}shardings = ["[-, -, 6@cp:2, -]"]
    // CHECK: %[[GUEST:.*]] = graph.reshape %[[KV]] {{.*}} to tensor<2x8x1x6x8xf32>
    // CHECK: %[[NEXT:.*]] = dist.reshard %[[GUEST]] from "[-, -, -, 6@cp:2, -]" to
    // CHECK-SAME:   "[-, -, -, 6@cp:2 view(1x6 by 0 of 6: 0..3 from 3, 3..6 from 0), -]"
    // CHECK: graph.gather %[[NEXT]], {{.*}}shardings = ["[-, -, -, 6@cp:2, -]"]
    // CHECK: graph.matmul {{.*}}shardings = ["[-, -, 2@cp:2, -, -]"]{{.*}} : tensor<2x8x2x3x4xf32>,
    // CHECK-SAME:   tensor<2x8x2x3x4xf32>
    // CHECK: %[[TOP:.*]] = graph.reduce max
    // CHECK: graph.matmul
    // CHECK-NOT: dist.reshard
    // CHECK: graph.max %[[TOP]]
    // CHECK-NOT: dist.reshard
    // CHECK: return
    %y = graph.attention %q, %k, %v {scale = 0.25 : f64} : !h, !h, !h
    return %y : !h
  }
}

// -----

!h = tensor<2x2x7x4xf32>
!k = tensor<2x1x7x4xf32>

// Parts of 3, 3 and 1 tokens; a rank needs rows of the mask, and takes those columns that are there.
// CHECK-LABEL: @uneven_ring
module attributes {dist.mesh = #dist.mesh<cp = 3>} {
  graph.parameter @w : tensor<4x4xf32>
  func.func @uneven_ring(%x: !h {graph.batch_dim = 0 : i64, graph.sequence_dim = 2 : i64}, %z: !k {graph.batch_dim = 0 : i64, graph.sequence_dim = 2 : i64}, %m: tensor<7x7xi1>) -> !h {
    %w = graph.get_parameter @w : tensor<4x4xf32>
    %q = graph.matmul %x, %w : !h, tensor<4x4xf32>
    %k = graph.matmul %z, %w : !k, tensor<4x4xf32>
    %v = graph.exp %k : !k
    // CHECK-COUNT-2: dist.reshard {{.*}} to "[-, -, -, 9@cp:3 view(1x9 by 0 of 9: 0..6 from 3, 6..9 from 0), -]"
    // CHECK: return
    %y = graph.attention %q, %k, %v mask %m : tensor<7x7xi1>, {scale = 0.25 : f64} : !h, !k, !k
    return %y : !h
  }
}

// -----

!h = tensor<2x8x16x4xf32>

// Each of four stripes of queries meets the stripes of keys up to its own: 2, 4, 6 and 8 keys of each part. The whole ring takes one
// exchange.
// CHECK-LABEL: @ring_in_stripes
module attributes {dist.mesh = #dist.mesh<cp = 2>} {
  graph.parameter @w : tensor<4x4xf32>
  func.func @ring_in_stripes(%x: !h {graph.batch_dim = 0 : i64, graph.sequence_dim = 2 : i64}) -> !h {
    %w = graph.get_parameter @w : tensor<4x4xf32>
    %q = graph.matmul %x, %w : !h, tensor<4x4xf32>
    %k = graph.exp %q : !h
    %v = graph.exp %k : !h
    // CHECK: dist.reshard {{.*}} from "[-, -, -, 4@cp:2, -]" to
    // CHECK-SAME:   "[-, -, -, 4@cp:2 view(1x4 by 0 of 4: 0..2 from 2, 2..4 from 0), -]"
    // CHECK: graph.matmul {{.*}} : tensor<2x8x2x2x4xf32>, tensor<2x8x2x2x4xf32>
    // CHECK: graph.matmul {{.*}} : tensor<2x8x2x2x4xf32>, tensor<2x8x2x4x4xf32>
    // CHECK: graph.matmul {{.*}} : tensor<2x8x2x2x4xf32>, tensor<2x8x2x6x4xf32>
    // CHECK: graph.matmul {{.*}} : tensor<2x8x2x2x4xf32>, tensor<2x8x2x8x4xf32>
    // CHECK-NOT: dist.reshard
    // CHECK: %[[Y:.*]] = graph.concat {{.*}} along 2 {{.*}}shardings = ["[-, -, -, 4@cp:2, -]"]
    // CHECK: graph.reshape %[[Y]] {{.*}}shardings = ["[-, -, 4|4@cp:2, -]"]
    %y = graph.attention %q, %k, %v {causal, scale = 0.25 : f64} : !h, !h, !h
    return %y : !h
  }
}

// -----

!h = tensor<2x8x32x8xf32>
!k = tensor<2x1x32x8xf32>

// Where all ranks have the keys, each stripe is an attention of its own, over those before it.
// CHECK-LABEL: @gather_in_stripes
module attributes {dist.mesh = #dist.mesh<cp = 4>} {
  func.func @gather_in_stripes(%q: !h {graph.batch_dim = 0 : i64, graph.sequence_dim = 2 : i64}, %k: !k, %v: !k, %m: tensor<2x1x32x32xf32>) -> !h {
    // CHECK: graph.slice %arg1 starts [0, 0, 0, 0] sizes [2, 1, 8, 8]
    // CHECK: graph.attention {{.*}}causal{{.*}}shardings = ["[-, -, 8@cp:4, -]"]{{.*}} :
    // CHECK-SAME:   tensor<2x8x8x8xf32>, tensor<2x1x8x8xf32>, tensor<2x1x8x8xf32>
    // CHECK: graph.attention {{.*}} mask {{.*}} : tensor<2x1x8x16xf32>, {causal{{.*}} :
    // CHECK-SAME:   tensor<2x8x8x8xf32>, tensor<2x1x16x8xf32>, tensor<2x1x16x8xf32>
    // CHECK: graph.attention {{.*}} : tensor<2x8x8x8xf32>, tensor<2x1x24x8xf32>, tensor<2x1x24x8xf32>
    // CHECK: graph.attention {{.*}} : tensor<2x8x8x8xf32>, tensor<2x1x32x8xf32>, tensor<2x1x32x8xf32>
    // CHECK: graph.concat
    %y = graph.attention %q, %k, %v mask %m : tensor<2x1x32x32xf32>, {causal, scale = 0.25 : f64} : !h, !k, !k
    return %y : !h
  }
}
