// RUN: pcc-opt --decide-shardings --insert-reshards --localize-shapes --split-input-file %s \
// RUN:   | %python %source/test/inline-aliases.py | FileCheck %s

// Rank r of tp = 2 counts from 4·r: the index is asked for, not stored.
// CHECK-LABEL: @iota_gets_an_offset
module attributes {dist.mesh = #dist.mesh<tp = 2>, dist.seeds = ["y=[tp]"]} {
  func.func @iota_gets_an_offset(%x: tensor<8xi64>) -> (tensor<8xi64> {graph.name = "y"}) {
    // CHECK: %[[I:.*]] = dist.global_index "[8@tp:2]" of 8 {{.*}}: tensor<4xi64>
    // CHECK: graph.add %[[I]], %{{.*}} : tensor<4xi64>, tensor<4xi64>
    %i = graph.iota 0 : tensor<8xi64>
    %y = graph.add %i, %x : tensor<8xi64>, tensor<8xi64>
    return %y : tensor<8xi64>
  }
}

// -----

// Ten rows over four ranks are three each; what is contracted is zero in the padding.
// CHECK-LABEL: @uneven_contraction_is_masked
module attributes {dist.mesh = #dist.mesh<x = 4>, dist.seeds = ["w=[x,-]", "a=[-,x]"]} {
  graph.parameter @w : tensor<10x4xf32>
  func.func @uneven_contraction_is_masked(%a: tensor<8x10xf32> {graph.name = "a"})
      -> tensor<8x4xf32> {
    // CHECK: dist.global_index "[10@x:4]" of 10 {{.*}}: tensor<3xi64>
    // CHECK: %[[MASKED:.*]] = graph.select {{.*}} : tensor<1x3xi1>, tensor<8x3xf32>, tensor<f32>
    // CHECK: graph.matmul %[[MASKED]], {{.*}} : tensor<8x3xf32>, tensor<3x4xf32>
    %w = graph.get_parameter @w : tensor<10x4xf32>
    %y = graph.matmul %a, %w : tensor<8x10xf32>, tensor<10x4xf32>
    return %y : tensor<8x4xf32>
  }
}

// -----

// The padding of a maximum is the least value.
// CHECK-LABEL: @uneven_max_is_masked
module attributes {dist.mesh = #dist.mesh<x = 4>, dist.seeds = ["a=[-,x]"]} {
  func.func @uneven_max_is_masked(%x: tensor<8x10xi32> {graph.name = "a"}) -> tensor<8xi32> {
    // CHECK: graph.constant {{.*}}dense<-2147483648> : tensor<i32>
    // CHECK: graph.select
    // CHECK: graph.reduce max {{.*}} : tensor<8x3xi32>
    %y = graph.reduce max %x over [1] : tensor<8x10xi32>
    return %y : tensor<8xi32>
  }
}

// -----

// The padding of a product is 1.
// CHECK-LABEL: @uneven_product_is_masked
module attributes {dist.mesh = #dist.mesh<x = 4>, dist.seeds = ["a=[-,x]"]} {
  func.func @uneven_product_is_masked(%x: tensor<8x10xf32> {graph.name = "a"}) -> tensor<8xf32> {
    // CHECK: graph.constant {{.*}}dense<1.000000e+00> : tensor<f32>
    // CHECK: graph.select
    // CHECK: graph.reduce prod {{.*}} : tensor<8x3xf32>
    %y = graph.reduce prod %x over [1] : tensor<8x10xf32>
    return %y : tensor<8xf32>
  }
}

// -----

// A part of a mean divides by the logical count.
// CHECK-LABEL: @mean_divides_by_the_whole
module attributes {dist.mesh = #dist.mesh<x = 2>, dist.seeds = ["a=[-,x]"]} {
  func.func @mean_divides_by_the_whole(%x: tensor<8x10xf32> {graph.name = "a"}) -> tensor<8xf32> {
    // CHECK: graph.reduce mean {{.*}}divisor 10 {{.*}}: tensor<8x5xf32>
    %y = graph.reduce mean %x over [1] : tensor<8x10xf32>
    return %y : tensor<8xf32>
  }
}

// -----

// Rows that another rank owns give zeros; the sum over ranks is the row.
// CHECK-LABEL: @gather_on_a_split_table
module attributes {dist.mesh = #dist.mesh<x = 2>, dist.seeds = ["t=[x,-]", "i=[-]"]} {
  graph.parameter @t : tensor<8x4xf32>
  func.func @gather_on_a_split_table(%i: tensor<2xi64> {graph.name = "i"}) -> tensor<2x4xf32> {
    // CHECK: dist.global_index "[8@x:2]" of 8 {{.*}}: tensor<4xi64>
    // CHECK: %[[MINE:.*]] = graph.and
    // CHECK: %[[SAFE:.*]] = graph.select %[[MINE]]
    // CHECK: %[[ROWS:.*]] = graph.gather %{{.*}}, %[[SAFE]] along 0
    // CHECK: graph.select %{{.*}}, %[[ROWS]]
    %t = graph.get_parameter @t : tensor<8x4xf32>
    %y = graph.gather %t, %i along 0 : tensor<8x4xf32>, tensor<2xi64>
    return %y : tensor<2x4xf32>
  }
}

// -----

// A split depth is compared with the rank's own positions.
// CHECK-LABEL: @one_hot_on_a_split_depth
module attributes {dist.mesh = #dist.mesh<x = 2>, dist.seeds = ["y=[-,x]", "i=[-]"]} {
  func.func @one_hot_on_a_split_depth(%i: tensor<2xi64> {graph.name = "i"}, %c: tensor<f32>)
      -> (tensor<2x8xf32> {graph.name = "y"}) {
    // CHECK: dist.global_index "[8@x:2]" of 8
    // CHECK: %[[HOT:.*]] = graph.compare eq
    // CHECK: graph.select %[[HOT]], {{.*}} : tensor<2x4xi1>, tensor<f32>, tensor<f32>
    %y = graph.one_hot %i, %c, %c along 1
        : tensor<2xi64>, tensor<f32>, tensor<f32> to tensor<2x8xf32>
    return %y : tensor<2x8xf32>
  }
}

// -----

// The second of three blocks begins at the second of three local blocks.
// CHECK-LABEL: @slice_of_a_block
module attributes {dist.mesh = #dist.mesh<x = 2>, dist.seeds = ["a=[3|4@x]"]} {
  func.func @slice_of_a_block(%a: tensor<12xf32> {graph.name = "a"}) -> tensor<4xf32> {
    // CHECK: graph.slice {{.*}}starts [2] sizes [2] {{.*}}: tensor<6xf32>
    %y = graph.slice %a starts [4] sizes [4] steps [1] : tensor<12xf32>
    return %y : tensor<4xf32>
  }
}

// -----

// Groups are split with their channels.
// CHECK-LABEL: @groups_of_a_convolution
module attributes {dist.mesh = #dist.mesh<x = 2>, dist.seeds = ["a=[-,x,-]"]} {
  func.func @groups_of_a_convolution(%a: tensor<1x8x4xf32> {graph.name = "a"},
      %w: tensor<8x2x1xf32>)
      -> tensor<1x8x4xf32> {
    // CHECK: graph.conv {{.*}}group = 2
    %y = graph.conv %a, %w {dilations = array<i64: 1>, group = 4 : i64, pads = array<i64: 0, 0>,
        strides = array<i64: 1>} : tensor<1x8x4xf32>, tensor<8x2x1xf32>
    return %y : tensor<1x8x4xf32>
  }
}

// -----

// A constant is whole in the program; each rank takes its part.
// CHECK-LABEL: @constants_are_sliced
module attributes {dist.mesh = #dist.mesh<x = 2>, dist.seeds = ["a=[x]"]} {
  func.func @constants_are_sliced(%a: tensor<4xf32> {graph.name = "a"}) -> tensor<4xf32> {
    %c = graph.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
    // CHECK: dist.collective slice {{.*}} from "[-]" to "[4@x:2]"
    // CHECK: graph.add {{.*}}: tensor<2xf32>, tensor<2xf32>
    %y = graph.add %a, %c : tensor<4xf32>, tensor<4xf32>
    return %y : tensor<4xf32>
  }
}

// -----

// The user's view stays known: arguments and results carry their global types.
// CHECK-LABEL: @global_types_are_kept
module attributes {dist.mesh = #dist.mesh<mb = 2, dp = 2>} {
  // CHECK-SAME: tensor<2x4xf32> {dist.global = tensor<8x4xf32>
  // CHECK-SAME: -> (tensor<2x4xf32> {dist.global = tensor<8x4xf32>
  func.func @global_types_are_kept(%x: tensor<8x4xf32> {graph.batch_dim = 0 : i64})
      -> tensor<8x4xf32> {
    // CHECK: graph.relu
    // CHECK-NOT: dist.split
    %y = graph.relu %x : tensor<8x4xf32>
    return %y : tensor<8x4xf32>
  }
}

// -----

// Here single elements are scattered.
// CHECK-LABEL: @gather_elements_of_a_split_dim
module attributes {dist.mesh = #dist.mesh<x = 2>, dist.seeds = ["t=[-,x]", "i=[-,-]"]} {
  graph.parameter @t : tensor<4x8xf32>
  func.func @gather_elements_of_a_split_dim(%i: tensor<4x2xi64> {graph.name = "i"})
      -> tensor<4x2xf32> {
    // CHECK: dist.global_index "[8@x:2]" of 8 {{.*}}: tensor<4xi64>
    // CHECK: %[[MINE:.*]] = graph.and
    // CHECK: %[[AT:.*]] = graph.select %[[MINE]]
    // CHECK: %[[READ:.*]] = graph.gather_elements %{{.*}}, %[[AT]] {{.*}} : tensor<4x4xf32>
    // CHECK: graph.select %[[MINE]], %[[READ]]
    %t = graph.get_parameter @t : tensor<4x8xf32>
    %y = graph.gather_elements %t, %i along 1 : tensor<4x8xf32>, tensor<4x2xi64>
    return %y : tensor<4x2xf32>
  }
}

// -----

// Elements of another rank are written after the own part, and cut off.
// CHECK-LABEL: @scatter_elements_of_a_split_dim
module attributes {dist.mesh = #dist.mesh<x = 2>,
                   dist.seeds = ["t=[-,x]", "y=[-,x]", "i=[-,-]", "u=[-,-]"]} {
  func.func @scatter_elements_of_a_split_dim(
      %t: tensor<4x8xf32> {graph.name = "t"}, %i: tensor<4x2xi64> {graph.name = "i"},
      %u: tensor<4x2xf32> {graph.name = "u"}) -> (tensor<4x8xf32> {graph.name = "y"}) {
    // CHECK: %[[WIDER:.*]] = graph.pad {{.*}} high [0, 1] : tensor<4x4xf32>
    // CHECK: %[[ALL:.*]] = graph.scatter_elements add %[[WIDER]]
    // CHECK: graph.slice %[[ALL]] starts [0, 0] sizes [4, 4]
    %y = graph.scatter_elements add %t, %i, %u along 1
        : tensor<4x8xf32>, tensor<4x2xi64>, tensor<4x2xf32>
    return %y : tensor<4x8xf32>
  }
}

// -----

// Each place of an index tuple is found among the own ones.
// CHECK-LABEL: @scatter_nd_of_a_split_dim
module attributes {dist.mesh = #dist.mesh<x = 2>,
                   dist.seeds = ["t=[-,x]", "y=[-,x]", "i=[-,-]", "u=[-]"]} {
  func.func @scatter_nd_of_a_split_dim(
      %t: tensor<4x8xf32> {graph.name = "t"}, %i: tensor<3x2xi64> {graph.name = "i"},
      %u: tensor<3xf32> {graph.name = "u"}) -> (tensor<4x8xf32> {graph.name = "y"}) {
    // CHECK: %[[ROW:.*]] = graph.slice %{{.*}} starts [0, 0] sizes [3, 1]
    // CHECK: graph.and
    // CHECK: %[[COLUMN:.*]] = graph.select
    // CHECK: %[[OWN:.*]] = graph.concat %[[ROW]], %[[COLUMN]] along 1
    // CHECK: %[[WIDER:.*]] = graph.pad {{.*}} high [0, 1] : tensor<4x4xf32>
    // CHECK: %[[ALL:.*]] = graph.scatter_nd set %[[WIDER]], %[[OWN]]
    // CHECK: graph.slice %[[ALL]] starts [0, 0] sizes [4, 4]
    %y = graph.scatter_nd set %t, %i, %u : tensor<4x8xf32>, tensor<3x2xi64>, tensor<3xf32>
    return %y : tensor<4x8xf32>
  }
}

// -----

// Ranks add their share of the updates, one of them to the data.
// CHECK-LABEL: @scatter_nd_of_split_tuples
module attributes {dist.mesh = #dist.mesh<x = 2>,
                   dist.seeds = ["t=[-]", "y=[-]", "i=[x,-]", "u=[x]"]} {
  func.func @scatter_nd_of_split_tuples(
      %t: tensor<4xf32> {graph.name = "t"}, %i: tensor<64x1xi64> {graph.name = "i"},
      %u: tensor<64xf32> {graph.name = "u"}) -> (tensor<4xf32> {graph.name = "y"}) {
    // CHECK: dist.global_index "[64@x:2]" of 64
    // CHECK: %[[FIRST:.*]] = graph.compare eq 
    // CHECK: %[[ONCE:.*]] = graph.select %[[FIRST]], %arg0
    // CHECK: graph.scatter_nd add %[[ONCE]], %arg1, %arg2
    // CHECK: dist.reshard {{.*}} from "[-] partial sum(x:2)" to "[-]"
    %y = graph.scatter_nd add %t, %i, %u : tensor<4xf32>, tensor<64x1xi64>, tensor<64xf32>
    return %y : tensor<4xf32>
  }
}

// -----

// Each rank takes the rows that its part of the slice needs; nothing is left to slice.
// CHECK-LABEL: @slice_through_a_window
module attributes {dist.mesh = #dist.mesh<t = 4>, dist.seeds = ["x=[t,-]", "y=[t,-]"]} {
  func.func @slice_through_a_window(%x: tensor<16x4xf32> {graph.name = "x"})
      -> (tensor<12x4xf32> {graph.name = "y"}) {
    // CHECK: %[[Y:.*]] = dist.reshard %{{.*}} from "[16@t:4, -]" to "[12@t:4 view(1x12 by 0 of 16: 0..12 from 3), -]"
    // CHECK-SAME: tensor<4x4xf32> to tensor<3x4xf32>
    // CHECK-NEXT: return %[[Y]] : tensor<3x4xf32>
    %y = graph.slice %x starts [3, 0] sizes [12, 4] steps [1, 1] : tensor<16x4xf32>
    return %y : tensor<12x4xf32>
  }
}

// -----

// The rows around one's own come with them, zeros at the edges, so the convolution pads rows no more.
// CHECK-LABEL: @halo
module attributes {dist.mesh = #dist.mesh<t = 2>, dist.seeds = ["x=[-,-,t,-]", "y=[-,-,t,-]"]} {
  graph.parameter @w : tensor<4x4x3x3xf32>
  func.func @halo(%x: tensor<1x4x8x8xf32> {graph.name = "x"})
      -> (tensor<1x4x8x8xf32> {graph.name = "y"}) {
    %w = graph.get_parameter @w : tensor<4x4x3x3xf32>
    // CHECK: dist.reshard {{.*}} to "[-, -, 12@t:2 view(2x6 by 4 of 8: 0..6 from -1), -]"
    // CHECK: graph.conv {{.*}}pads = array<i64: 0, 1, 0, 1>{{.*}} : tensor<1x4x6x8xf32>
    %y = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>}
        : tensor<1x4x8x8xf32>, tensor<4x4x3x3xf32>
    return %y : tensor<1x4x8x8xf32>
  }
}

// -----

// A maximum must not see the zeros at the edges.
// CHECK-LABEL: @halo_of_a_maximum
module attributes {dist.mesh = #dist.mesh<t = 2>, dist.seeds = ["x=[-,-,t,-]", "y=[-,-,t,-]"]} {
  func.func @halo_of_a_maximum(%x: tensor<1x4x8x8xf32> {graph.name = "x"})
      -> (tensor<1x4x8x8xf32> {graph.name = "y"}) {
    // CHECK: graph.constant {{.*}}dense<0xFF800000> : tensor<f32>
    // CHECK: %[[X:.*]] = graph.select
    // CHECK: graph.pool max %[[X]]
    %y = graph.pool max %x {window = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>,
        dilations = array<i64: 1, 1>} : tensor<1x4x8x8xf32>
    return %y : tensor<1x4x8x8xf32>
  }
}

// -----

// Parts of unequal sizes lie where they lie in the result; each row takes one of them.
// CHECK-LABEL: @unequal_parts
module attributes {dist.mesh = #dist.mesh<t = 2>, dist.seeds = ["a=[t]", "b=[t]", "y=[t]"]} {
  func.func @unequal_parts(%a: tensor<2xf32> {graph.name = "a"}, %b: tensor<6xf32> {graph.name = "b"})
      -> (tensor<8xf32> {graph.name = "y"}) {
    // CHECK-DAG: %[[A:.*]] = dist.reshard {{.*}} to "[8@t:2 view(1x8 by 0 of 2: 0..2 from 0)]"
    // CHECK-DAG: %[[B:.*]] = dist.reshard {{.*}} to "[8@t:2 view(1x8 by 0 of 6: 2..8 from 0)]"
    // CHECK: graph.select %{{.*}}, %[[A]], %[[B]]
    %y = graph.concat %a, %b along 0 : tensor<2xf32>, tensor<6xf32>
    return %y : tensor<8xf32>
  }
}

// -----

// A lookup of constant indices that nothing splits is made of slices.
// CHECK-LABEL: @constant_indices
module attributes {dist.mesh = #dist.mesh<t = 2>, dist.seeds = ["y=[-]"]} {
  func.func @constant_indices(%x: tensor<5xf32>) -> (tensor<4xf32> {graph.name = "y"}) {
    // CHECK: graph.slice {{.*}} starts [1] sizes [3]
    // CHECK: graph.slice {{.*}} starts [0] sizes [1]
    // CHECK: graph.concat
    %i = graph.constant dense<[1, 2, 3, 0]> : tensor<4xi64>
    %y = graph.gather %x, %i along 0 : tensor<5xf32>, tensor<4xi64>
    return %y : tensor<4xf32>
  }
}

// -----

!q = tensor<2x1x10x8xf32>

// Queries 3·r … see the keys up to themselves: by a mask, as they are not the first ones.
// CHECK-LABEL: @causal_queries_know_their_places
module attributes {dist.mesh = #dist.mesh<x = 4>, dist.seeds = ["q=[-,-,x,-]", "k=[-,-,-,-]", "y=[-,-,x,-]"]} {
  func.func @causal_queries_know_their_places(%q: !q {graph.name = "q"}, %k: !q {graph.name = "k"}) -> (!q {graph.name = "y"}) {
    // CHECK: %[[I:.*]] = dist.global_index "[10@x:4]" of 10 {{.*}}: tensor<3xi64>
    // CHECK: %[[LAST:.*]] = graph.add %[[I]], %{{.*}}
    // CHECK: %[[KEY:.*]] = graph.iota 3 {{.*}}: tensor<1x1x1x10xi64>
    // CHECK: %[[MASK:.*]] = graph.compare le %[[KEY]], %{{.*}} : tensor<1x1x1x10xi64>, tensor<1x1x3x1xi64>
    // CHECK: graph.attention %{{.*}} mask %[[MASK]] : tensor<1x1x3x10xi1>, {
    // CHECK-NOT: causal
    // CHECK: return
    %y = graph.attention %q, %k, %k {causal, scale = 0.25 : f64} : !q, !q, !q
    return %y : !q
  }
}

// -----

!q = tensor<2x1x8x8xf32>
!m = tensor<8x8xf32>

// A mask that is added hides as well what comes later.
// CHECK-LABEL: @causal_queries_keep_their_mask
module attributes {dist.mesh = #dist.mesh<x = 2>, dist.seeds = ["q=[-,-,x,-]", "k=[-,-,-,-]", "m=[x,-]", "y=[-,-,x,-]"]} {
  func.func @causal_queries_keep_their_mask(%q: !q {graph.name = "q"}, %k: !q {graph.name = "k"}, %m: !m {graph.name = "m"})
      -> (!q {graph.name = "y"}) {
    // CHECK: %[[BOTH:.*]] = graph.select %{{.*}}, %arg2, %{{.*}} : tensor<1x1x4x8xi1>, tensor<4x8xf32>, tensor<f32>
    // CHECK: graph.attention %{{.*}} mask %[[BOTH]] : tensor<1x1x4x8xf32>, {
    %y = graph.attention %q, %k, %k mask %m : !m, {causal, scale = 0.25 : f64} : !q, !q, !q
    return %y : !q
  }
}

// -----

!q = tensor<2x4x7x8xf32>
!k = tensor<2x2x8x8xf32>

// Padded queries add nothing to the sum over queries, also if the queries know which keys they see.
// CHECK-LABEL: @gradients_of_queries_in_uneven_parts
module attributes {dist.mesh = #dist.mesh<x = 2>, dist.seeds = ["q=[-,-,x,-]", "g=[-,-,x,-]", "k=[-,-,-,-]", "dq=[-,-,x,-]", "dk=[-,-,-,-]"]} {
  func.func @gradients_of_queries_in_uneven_parts(%q: !q {graph.name = "q"}, %k: !k {graph.name = "k"}, %g: !q {graph.name = "g"})
      -> (!q {graph.name = "dq"}, !k {graph.name = "dk"}) {
    // CHECK: graph.attention_query_gradient
    // CHECK: %[[Q:.*]] = graph.select %{{.*}}, %arg0, %{{.*}} : {{.*}}, tensor<2x4x4x8xf32>, tensor<f32>
    // CHECK: graph.attention_key_gradient %[[Q]], %{{.*}} mask %{{.*}} : tensor<1x1x4x8xi1>, {
    %dq, %t, %s, %m = graph.attention_query_gradient %q, %k, %k of %g {causal, scale = 0.25 : f64} : !q, !k, !k, !q
    %dk, %dv = graph.attention_key_gradient %q, %k, %k of %g with %t, %s, %m {causal, scale = 0.25 : f64}
        : !q, !k, !k, !q, tensor<2x4x7xf32>, tensor<2x4x7xf32>, tensor<2x4x7xf32>
    return %dq, %dk : !q, !k
  }
}

// -----

!q = tensor<2x4x8x8xf32>
!k = tensor<2x2x8x8xf32>

// Queries of gradients, too, know which keys they see; keys and values have a part of the sum over queries.
// CHECK-LABEL: @gradients_of_queries_in_parts
module attributes {dist.mesh = #dist.mesh<x = 2>, dist.seeds = ["q=[-,-,x,-]", "g=[-,-,x,-]", "k=[-,-,-,-]", "dq=[-,-,x,-]", "dk=[-,-,-,-]"]} {
  func.func @gradients_of_queries_in_parts(%q: !q {graph.name = "q"}, %k: !k {graph.name = "k"}, %g: !q {graph.name = "g"})
      -> (!q {graph.name = "dq"}, !k {graph.name = "dk"}) {
    // CHECK: graph.attention_query_gradient %{{.*}} mask %{{.*}} : tensor<1x1x4x8xi1>, {
    // CHECK-NOT: causal
    // CHECK: graph.attention_key_gradient %{{.*}} mask %{{.*}} : tensor<1x1x4x8xi1>, {
    // CHECK-SAME: tensor<2x4x4x8xf32>
    // CHECK: dist.reshard %key_gradient
    // CHECK-NOT: dist.reshard
    // CHECK: return
    %dq, %t, %s, %m = graph.attention_query_gradient %q, %k, %k of %g {causal, scale = 0.25 : f64} : !q, !k, !k, !q
    %dk, %dv = graph.attention_key_gradient %q, %k, %k of %g with %t, %s, %m {causal, scale = 0.25 : f64}
        : !q, !k, !k, !q, tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>
    return %dq, %dk : !q, !k
  }
}

// -----

!q = tensor<2x4x8x8xf32>
!k = tensor<2x2x8x8xf32>

// Ranks that divide key heads have nothing to add up.
// CHECK-LABEL: @gradients_of_heads_in_parts
module attributes {dist.mesh = #dist.mesh<x = 2>, dist.seeds = ["q=[-,x,-,-]", "g=[-,x,-,-]", "k=[-,x,-,-]", "dk=[-,x,-,-]"]} {
  func.func @gradients_of_heads_in_parts(%q: !q {graph.name = "q"}, %k: !k {graph.name = "k"}, %g: !q {graph.name = "g"})
      -> (!k {graph.name = "dk"}) {
    // CHECK: graph.attention_key_gradient %{{.*}}tensor<2x2x8x8xf32>, tensor<2x1x8x8xf32>
    // CHECK-NOT: dist.
    // CHECK: return
    %dq, %t, %s, %m = graph.attention_query_gradient %q, %k, %k of %g {causal, scale = 0.25 : f64} : !q, !k, !k, !q
    %dk, %dv = graph.attention_key_gradient %q, %k, %k of %g with %t, %s, %m {causal, scale = 0.25 : f64}
        : !q, !k, !k, !q, tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>
    return %dk : !k
  }
}
