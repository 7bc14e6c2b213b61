// RUN: pcc-opt --decide-shardings --insert-reshards --verify-sharded --split-input-file %s \
// RUN:   | %python %source/test/inline-aliases.py | FileCheck %s

!ids = tensor<2x32xi64>
!x = tensor<2x32x64xf32>
!q = tensor<2x32x8x8xf32>
!h = tensor<2x8x32x8xf32>
!w = tensor<64x64xf32>

// All ids are fewer bytes than keys and values, but then every rank would compute everything.
// CHECK-LABEL: @tokens_are_divided
module attributes {dist.mesh = #dist.mesh<cp = 2>} {
  graph.parameter @table : tensor<100x64xf32>
  graph.parameter @w : !w
  // CHECK-SAME: tensor<2x32xi64> {dist.sharding = {{.*}}"[-, 32@cp:2]"
  // CHECK-SAME: -> (tensor<2x8x32x8xf32> {dist.sharding = "[-, -, 32@cp:2, -]"
  func.func @tokens_are_divided(%ids: !ids {graph.batch_dim = 0 : i64, graph.sequence_dim = 1 : i64}) -> !h {
    %table = graph.get_parameter @table : tensor<100x64xf32>
    %x = graph.gather %table, %ids along 0 : tensor<100x64xf32>, !ids
    %w = graph.get_parameter @w : !w
    // CHECK: graph.matmul {{.*}}shardings = ["[-, 32@cp:2, -]"]
    %0 = graph.matmul %x, %w : !x, !w
    %1 = graph.reshape %0 : !x to !q
    %k = graph.transpose %1 [0, 2, 1, 3] : !q
    // CHECK: dist.reshard {{.*}} from "[-, -, 32@cp:2, -]" to "[-, -, -, -]"
    %y = graph.attention %k, %k, %k {scale = 0.25 : f64} : !h, !h, !h
    return %y : !h
  }
}

// -----

!ids = tensor<2x32xi64>
!h = tensor<2x8x32x8xf32>
!m = tensor<2x1x1x32xi1>

// Values that depend on inputs alone, here the padding of keys, have the wanted sharding: whole.
// CHECK-LABEL: @masks_are_free
module attributes {dist.mesh = #dist.mesh<cp = 4>} {
  graph.parameter @w : tensor<8x8xf32>
  // CHECK-SAME: %arg0: tensor<2x32xi64> {dist.sharding = {{.*}}"[-, -]"
  // CHECK-SAME: %arg1: tensor<2x8x32x8xf32> {dist.sharding = {{.*}}"[-, -, 32@cp:4, -]"
  func.func @masks_are_free(%mask: !ids {graph.sequence_dim = 1 : i64}, %x: !h {graph.sequence_dim = 2 : i64}) -> !h {
    %zero = graph.constant dense<0> : tensor<i64>
    // CHECK: graph.compare {{.*}}shardings = ["[-, -]"]
    %0 = graph.compare gt %mask, %zero : !ids, tensor<i64>
    %m = graph.reshape %0 : tensor<2x32xi1> to !m
    %w = graph.get_parameter @w : tensor<8x8xf32>
    %q = graph.matmul %x, %w : !h, tensor<8x8xf32>
    %y = graph.attention %q, %q, %q mask %m : !m, {scale = 0.25 : f64} : !h, !h, !h
    return %y : !h
  }
}

// -----

!x = tensor<32x64xf32>

// A table of positions belongs to the sequence where it meets it: each rank keeps its rows.
// CHECK-LABEL: @positions_belong_to_the_sequence
module attributes {dist.mesh = #dist.mesh<cp = 2>} {
  // CHECK-DAG: graph.get_parameter @positions {{.*}}shardings = ["[32@cp:2, -]"]
  graph.parameter @positions : !x
  func.func @positions_belong_to_the_sequence(%x: !x {graph.sequence_dim = 0 : i64}) -> !x {
    %p = graph.get_parameter @positions : !x
    %y = graph.add %x, %p : !x, !x
    return %y : !x
  }
}

// -----

!x = tensor<8x32x64xf32>

// A value that the user pins keeps that sharding; all others are divided.
// CHECK-LABEL: @pins_win
module attributes {dist.mesh = #dist.mesh<cp = 2>, dist.seeds = ["h=[-,-,-]"]} {
  graph.parameter @w : tensor<64x64xf32>
  // CHECK-SAME: %arg0: tensor<8x32x64xf32> {dist.sharding = {{.*}}"[-, 32@cp:2, -]"
  func.func @pins_win(%x: !x {graph.sequence_dim = 1 : i64}) -> !x {
    %w = graph.get_parameter @w : tensor<64x64xf32>
    // CHECK: graph.matmul {{.*}}shardings = ["[-, 32@cp:2, -]"]
    %y = graph.matmul %x, %w {graph.name = "h"} : !x, tensor<64x64xf32>
    // CHECK: dist.reshard {{.*}} from "[-, 32@cp:2, -]" to "[-, -, -]"
    // CHECK: graph.exp {{.*}}shardings = ["[-, 32@cp:2, -]"]
    %z = graph.exp %y : !x
    return %z : !x
  }
}

// -----

!x = tensor<2x32x64xf32>
!q = tensor<2x32x8x8xf32>
!h = tensor<2x8x32x8xf32>
!w = tensor<64x64xf32>

// Equally many key and query heads: each rank computes some heads for all tokens.
// CHECK-LABEL: @heads_change_places
module attributes {dist.mesh = #dist.mesh<cp = 4>} {
  graph.parameter @q : !w
  graph.parameter @k : !w
  graph.parameter @v : !w
  func.func @heads_change_places(%x: !x {graph.batch_dim = 0 : i64, graph.sequence_dim = 1 : i64}) -> !q {
    %wq = graph.get_parameter @q : !w
    %wk = graph.get_parameter @k : !w
    %wv = graph.get_parameter @v : !w
    %0 = graph.matmul %x, %wq : !x, !w
    %1 = graph.matmul %x, %wk : !x, !w
    %2 = graph.matmul %x, %wv : !x, !w
    %3 = graph.reshape %0 : !x to !q
    %4 = graph.reshape %1 : !x to !q
    %5 = graph.reshape %2 : !x to !q
    %q = graph.transpose %3 [0, 2, 1, 3] : !q
    %k = graph.transpose %4 [0, 2, 1, 3] : !q
    %v = graph.transpose %5 [0, 2, 1, 3] : !q
    // CHECK-COUNT-3: dist.reshard {{.*}} "[-, {{.*}}32@cp:4, {{.*}}-]" to "[-, {{.*}}8@cp:4, {{.*}}-]"
    // CHECK: graph.attention {{.*}}shardings = ["[-, 8@cp:4, -, -]"]
    %y = graph.attention %q, %k, %v {scale = 0.25 : f64} : !h, !h, !h
    // CHECK: graph.transpose {{.*}}shardings = ["[-, 32@cp:4, -, -]"]
    %z = graph.transpose %y [0, 2, 1, 3] : !h
    return %z : !q
  }
}

// -----

!q = tensor<2x8x32x8xf32>
!k = tensor<2x1x32x8xf32>
!w = tensor<8x8xf32>

// One key head for eight query heads: keys and values are fewer bytes than heads.
// CHECK-LABEL: @few_key_heads_are_gathered
module attributes {dist.mesh = #dist.mesh<cp = 4>} {
  graph.parameter @w : !w
  func.func @few_key_heads_are_gathered(%x: !q {graph.batch_dim = 0 : i64, graph.sequence_dim = 2 : i64}, %y: !k {graph.batch_dim = 0 : i64, graph.sequence_dim = 2 : i64}) -> !q {
    %w = graph.get_parameter @w : !w
    %q = graph.matmul %x, %w : !q, !w
    %k = graph.matmul %y, %w : !k, !w
    %v = graph.exp %k : !k
    // CHECK: dist.reshard {{.*}} from "[-, -, 32@cp:4, -]" to "[-, -, -, -]"
    // CHECK: dist.reshard {{.*}} from "[-, -, 32@cp:4, -]" to "[-, -, -, -]"
    // CHECK: graph.attention {{.*}}shardings = ["[-, -, 32@cp:4, -]"]
    %0 = graph.attention %q, %k, %v {scale = 0.25 : f64} : !q, !k, !k
    %1 = graph.exp %0 : !q
    return %1 : !q
  }
}

// -----

!s = tensor<2x8x32x32xf32>
!h = tensor<2x8x32x8xf32>
!w = tensor<8x8xf32>

// Here attention consists of single ops: its heads are split, and no value before or after.
// CHECK-LABEL: @heads_of_products_change_places
module attributes {dist.mesh = #dist.mesh<cp = 4>} {
  graph.parameter @q : !w
  graph.parameter @k : !w
  graph.parameter @v : !w
  func.func @heads_of_products_change_places(%x: !h {graph.batch_dim = 0 : i64, graph.sequence_dim = 2 : i64}) -> !h {
    %wq = graph.get_parameter @q : !w
    %wk = graph.get_parameter @k : !w
    %wv = graph.get_parameter @v : !w
    // CHECK-COUNT-3: graph.matmul {{.*}}shardings = ["[-, -, 32@cp:4, -]"]
    %q = graph.matmul %x, %wq : !h, !w
    %k = graph.matmul %x, %wk : !h, !w
    %v = graph.matmul %x, %wv : !h, !w
    // CHECK: graph.matmul {{.*}}shardings = ["[-, 8@cp:4, -, -]"]
    %s = graph.matmul %q, %k {transpose_rhs} : !h, !h
    %p = graph.softmax %s over 3 : !s
    // CHECK: graph.matmul {{.*}}shardings = ["[-, 8@cp:4, -, -]"]
    %y = graph.matmul %p, %v : !s, !h
    // CHECK: graph.exp {{.*}}shardings = ["[-, -, 32@cp:4, -]"]
    %z = graph.exp %y : !h
    return %z : !h
  }
}

// -----

!h = tensor<2x8x32x8xf32>
!w = tensor<8x8xf32>

// tp keeps its heads all the way: of those, cp takes parts.
// CHECK-LABEL: @heads_within_heads
module attributes {dist.mesh = #dist.mesh<cp = 4, tp = 2>, dist.seeds = ["q=[-,tp,cp,-]", "k=[-,tp,cp,-]", "v=[-,tp,cp,-]", "y=[-,tp,cp,-]"]} {
  func.func @heads_within_heads(%q: !h {graph.name = "q", graph.batch_dim = 0 : i64, graph.sequence_dim = 2 : i64},
      %k: !h {graph.name = "k", graph.batch_dim = 0 : i64, graph.sequence_dim = 2 : i64}, %v: !h {graph.name = "v", graph.batch_dim = 0 : i64, graph.sequence_dim = 2 : i64})
      -> (!h {graph.name = "y"}) {
    // CHECK-COUNT-3: dist.reshard {{.*}} from "[-, 8@tp:2, 32@cp:4, -]" to "[-, 8@tp:2+cp:4, -, -]"
    %y = graph.attention %q, %k, %v {scale = 0.25 : f64} : !h, !h, !h
    return %y : !h
  }
}

// -----

!h = tensor<2x8x32x8xf32>
!k = tensor<2x1x32x8xf32>

// Queries may be split although each sees only the keys before it; in four stripes, of which every rank has a part, all ranks have as
// much to do.
// CHECK-LABEL: @causal_queries_are_split
module attributes {dist.mesh = #dist.mesh<cp = 4>} {
  func.func @causal_queries_are_split(%q: !h {graph.batch_dim = 0 : i64, graph.sequence_dim = 2 : i64}, %k: !k, %v: !k) -> !h {
    // CHECK: graph.attention {{.*}}causal{{.*}}shardings = ["[-, -, 4|8@cp:4, -]"]
    %y = graph.attention %q, %k, %v {causal, scale = 0.25 : f64} : !h, !k, !k
    return %y : !h
  }
}

// -----

!h = tensor<2x8x24x8xf32>
!k = tensor<2x1x24x8xf32>

// 24 tokens make two stripes of 12, of which four ranks have 3 each; four stripes would leave parts of 2 and 1.
// CHECK-LABEL: @two_stripes
module attributes {dist.mesh = #dist.mesh<cp = 4>} {
  func.func @two_stripes(%q: !h {graph.batch_dim = 0 : i64, graph.sequence_dim = 2 : i64}, %k: !k, %v: !k) -> !h {
    // CHECK: graph.attention {{.*}}causal{{.*}}shardings = ["[-, -, 2|12@cp:4, -]"]
    %y = graph.attention %q, %k, %v {causal, scale = 0.25 : f64} : !h, !k, !k
    return %y : !h
  }
}

// -----

!h = tensor<2x8x32x8xf32>
!k = tensor<2x1x32x8xf32>

// A sum along the sequence has to know where each part begins: it takes no stripes, so that none are made.
// CHECK-LABEL: @no_stripes
module attributes {dist.mesh = #dist.mesh<cp = 4>} {
  func.func @no_stripes(%x: !h {graph.batch_dim = 0 : i64, graph.sequence_dim = 2 : i64}, %k: !k, %v: !k) -> !h {
    // CHECK: graph.attention {{.*}}causal{{.*}}shardings = ["[-, -, 32@cp:4, -]"]
    %q = graph.cumsum %x along 2 : !h
    %y = graph.attention %q, %k, %v {causal, scale = 0.25 : f64} : !h, !k, !k
    return %y : !h
  }
}
