// RUN: pcc-opt --decide-shardings --insert-reshards --verify-sharded --split-input-file %s \
// RUN:   | %python %source/test/inline-aliases.py | FileCheck %s

// Each rank has all tokens for its experts; the sum over experts goes back to where its tokens live.
// CHECK-LABEL: @dense
module attributes {dist.mesh = #dist.mesh<dp = 4>, dist.experts = 4} {
  graph.parameter @router : tensor<16x8xf32>
  graph.parameter @up : tensor<8x16x32xf32>
  graph.parameter @down : tensor<8x32x16xf32>
  // CHECK-SAME: tensor<64x16xf32> {dist.sharding = "[64@dp:4, -]"
  func.func @dense(%x: tensor<64x16xf32> {graph.batch_dim = 0 : i64}) -> tensor<64x16xf32> {
    // CHECK: dist.reshard %arg0 from "[64@dp:4, -]" to "[-, -]"
    %router = graph.get_parameter @router : tensor<16x8xf32>
    %z = graph.matmul %x, %router : tensor<64x16xf32>, tensor<16x8xf32>
    %p = graph.softmax %z over 1 : tensor<64x8xf32>
    %w, %i = graph.topk %p, 1 along 1 : tensor<64x8xf32>
    %zero = graph.sub %p, %p : tensor<64x8xf32>, tensor<64x8xf32>
    %gate = graph.scatter_elements set %zero, %i, %w along 1
        : tensor<64x8xf32>, tensor<64x1xi64>, tensor<64x1xf32>
    // CHECK: graph.get_parameter @up {{.*}}shardings = ["[8@dp:4, -, -]"]
    %up = graph.get_parameter @up : tensor<8x16x32xf32>
    // CHECK: graph.einsum "td,edh->eth" {{.*}}shardings = ["[8@dp:4, -, -]"]
    %h = graph.einsum "td,edh->eth" %x, %up : tensor<64x16xf32>, tensor<8x16x32xf32>
    %a = graph.relu %h : tensor<8x64x32xf32>
    // CHECK: graph.get_parameter @down {{.*}}shardings = ["[8@dp:4, -, -]"]
    %down = graph.get_parameter @down : tensor<8x32x16xf32>
    %e = graph.einsum "eth,ehd->etd" %a, %down : tensor<8x64x32xf32>, tensor<8x32x16xf32>
    // CHECK: graph.einsum "te,etd->td" {{.*}}shardings = ["[-, -] partial sum(dp:4)"]
    %y = graph.einsum "te,etd->td" %gate, %e : tensor<64x8xf32>, tensor<8x64x16xf32>
    // CHECK: dist.reshard {{.*}} from "[-, -] partial sum(dp:4)" to "[64@dp:4, -]"
    %s = graph.add %x, %y : tensor<64x16xf32>, tensor<64x16xf32>
    return %s : tensor<64x16xf32>
  }
}

// -----

// Slots per group: tokens go to their experts and back, groups to experts to groups. Experts take the minor half of dp; the
// other half has groups all the way.
// CHECK-LABEL: @grouped
module attributes {dist.mesh = #dist.mesh<dp = 4>, dist.experts = 2} {
  graph.parameter @router : tensor<16x8xf32>
  graph.parameter @up : tensor<8x16x16xf32>
  func.func @grouped(%x: tensor<4x32x16xf32> {graph.batch_dim = 0 : i64}) -> tensor<4x32x16xf32> {
    %router = graph.get_parameter @router : tensor<16x8xf32>
    %z = graph.matmul %x, %router : tensor<4x32x16xf32>, tensor<16x8xf32>
    %i = graph.arg_reduce max %z over 2 : tensor<4x32x8xf32>
    %on = graph.constant dense<1.0> : tensor<f32>
    %off = graph.constant dense<0.0> : tensor<f32>
    %hot = graph.one_hot %i, %on, %off along 2
        : tensor<4x32xi64>, tensor<f32>, tensor<f32> to tensor<4x32x8xf32>
    %c = graph.cumsum %hot along 1 : tensor<4x32x8xf32>
    %place = graph.reduce sum %c over [2] : tensor<4x32x8xf32>
    %whole = graph.cast %place : tensor<4x32xf32> to tensor<4x32xi64>
    %slot = graph.one_hot %whole, %on, %off along 2
        : tensor<4x32xi64>, tensor<f32>, tensor<f32> to tensor<4x32x4xf32>
    %to = graph.einsum "gse,gsc->gsec" %hot, %slot : tensor<4x32x8xf32>, tensor<4x32x4xf32>
    // CHECK: graph.einsum "gsec,gsd->egcd" {{.*}}shardings = ["[-, 4@dp:4, -, -]"]
    %b = graph.einsum "gsec,gsd->egcd" %to, %x : tensor<4x32x8x4xf32>, tensor<4x32x16xf32>
    // CHECK: graph.get_parameter @up {{.*}}shardings = ["[8@dp:(2)2, -, -]"]
    %up = graph.get_parameter @up : tensor<8x16x16xf32>
    // CHECK: dist.reshard {{.*}} from "[-, 4@dp:4, -, -]" to "[8@dp:(2)2, 4@dp:2, -, -]"
    %h = graph.einsum "egcd,edh->egch" %b, %up : tensor<8x4x4x16xf32>, tensor<8x16x16xf32>
    // CHECK: dist.reshard {{.*}} from "[8@dp:(2)2, 4@dp:2, -, -]" to "[-, 4@dp:4, -, -]"
    // CHECK: graph.einsum "gsec,egch->gsh" {{.*}}shardings = ["[4@dp:4, -, -]"]
    %y = graph.einsum "gsec,egch->gsh" %to, %h : tensor<4x32x8x4xf32>, tensor<8x4x4x16xf32>
    return %y : tensor<4x32x16xf32>
  }
}

// -----

// Heads batch a weight, too, but nothing routes them: only the experts are divided.
// CHECK-LABEL: @heads_are_no_experts
module attributes {dist.mesh = #dist.mesh<dp = 2>, dist.experts = 2} {
  graph.parameter @mix : tensor<4x8x8xf32>
  graph.parameter @up : tensor<4x32x32xf32>
  // CHECK-SAME: tensor<64x4xf32> {dist.sharding = "[64@dp:2, -]"
  func.func @heads_are_no_experts(%x: tensor<64x4x8xf32> {graph.batch_dim = 0 : i64},
                                  %choice: tensor<64x4xf32> {graph.batch_dim = 0 : i64})
      -> tensor<64x32xf32> {
    // CHECK: graph.get_parameter @mix {{.*}}shardings = ["[-, -, -]"]
    %mix = graph.get_parameter @mix : tensor<4x8x8xf32>
    %m = graph.einsum "thd,hdf->thf" %x, %mix : tensor<64x4x8xf32>, tensor<4x8x8xf32>
    %t = graph.reshape %m : tensor<64x4x8xf32> to tensor<64x32xf32>
    // CHECK: graph.get_parameter @up {{.*}}shardings = ["[4@dp:2, -, -]"]
    %up = graph.get_parameter @up : tensor<4x32x32xf32>
    %b = graph.einsum "te,td->etd" %choice, %t : tensor<64x4xf32>, tensor<64x32xf32>
    %h = graph.einsum "etd,edf->etf" %b, %up : tensor<4x64x32xf32>, tensor<4x32x32xf32>
    %gate = graph.softmax %choice over 1 : tensor<64x4xf32>
    %y = graph.einsum "te,etf->tf" %gate, %h : tensor<64x4xf32>, tensor<4x64x32xf32>
    return %y : tensor<64x32xf32>
  }
}

// -----

// Two parts of dp and two of cp, the minor ones; everything else has the batch and the sequence there.
// CHECK-LABEL: @over_both
module attributes {dist.mesh = #dist.mesh<dp = 2, cp = 4>, dist.experts = 4} {
  graph.parameter @up : tensor<4x16x16xf32>
  func.func @over_both(%x: tensor<8x32x16xf32> {graph.batch_dim = 0 : i64, graph.sequence_dim = 1 : i64},
                       %z: tensor<8x32x4xf32> {graph.batch_dim = 0 : i64, graph.sequence_dim = 1 : i64})
      -> tensor<8x32x16xf32> {
    %gate = graph.softmax %z over 2 : tensor<8x32x4xf32>
    // CHECK: graph.get_parameter @up {{.*}}shardings = ["[4@dp:2+cp:(2)2, -, -]"]
    %up = graph.get_parameter @up : tensor<4x16x16xf32>
    %g = graph.einsum "bse,bsd->ebsd" %gate, %x : tensor<8x32x4xf32>, tensor<8x32x16xf32>
    %e = graph.einsum "ebsd,edh->ebsh" %g, %up : tensor<4x8x32x16xf32>, tensor<4x16x16xf32>
    %h = graph.reduce sum %e over [0] : tensor<4x8x32x16xf32>
    // CHECK: graph.add {{.*}}shardings = ["[8@dp:2, 32@cp:4, -]"]
    %y = graph.add %h, %x : tensor<8x32x16xf32>, tensor<8x32x16xf32>
    return %y : tensor<8x32x16xf32>
  }
}
