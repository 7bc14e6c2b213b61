// RUN: pcc-opt --group-experts --split-input-file %s | FileCheck %s

!gate = tensor<6x8xf32>
!up = tensor<8x4x5xf32>
!hidden = tensor<8x6x5xf32>
!outputs = tensor<8x6x4xf32>

// Twelve rows instead of 48; what is beyond the last one adds nothing.
// CHECK-LABEL: @two_of_eight
func.func @two_of_eight(%gate: !gate, %x: tensor<6x4xf32>, %up: !up, %down: tensor<8x5x4xf32>)
    -> tensor<6x4xf32> {
  // CHECK:      %[[T:[a-z]*]], %{{.*}}, %[[W:[a-z]*]], %[[C:[a-z]*]] = graph.group_rows %arg0 chosen 2
  // CHECK-NEXT: %[[X:.*]] = graph.gather %arg1, %[[T]] along 0
  // CHECK-NEXT: %[[A:.*]] = graph.grouped_matmul %[[X]], %arg2 by %[[C]] : tensor<12x4xf32>
  // CHECK-NEXT: %[[H:.*]] = graph.relu %[[A]] : tensor<12x5xf32>
  // CHECK-NEXT: %[[Y:.*]] = graph.grouped_matmul %[[H]], %arg3 by %[[C]] : tensor<12x5xf32>
  // CHECK:      %[[P:.*]] = graph.mul %[[Y]]
  // CHECK:      %[[S:.*]] = graph.select %{{.*}}, %{{.*}}, %[[P]]
  // CHECK:      %[[R:.*]] = graph.scatter_nd add {{.*}}, %[[S]] : tensor<6x4xf32>
  // CHECK-NEXT: return %[[R]]
  %a = graph.einsum "td,edh->eth" %x, %up : tensor<6x4xf32>, !up
  %h = graph.relu %a : !hidden
  %y = graph.einsum "eth,ehd->etd" %h, %down : !hidden, tensor<8x5x4xf32>
  %r = graph.einsum "te,etd->td" %gate, %y {graph.chosen = 2 : i64} : !gate, !outputs
  return %r : tensor<6x4xf32>
}

// -----

!gate = tensor<6x8xf32>
!outputs = tensor<8x6x4xf32>

// Values with a dim of experts or tokens are gathered by rows; others are not.
// CHECK-LABEL: @addends
func.func @addends(%gate: !gate, %x: tensor<6x4xf32>, %w: tensor<8x4x4xf32>,
                   %b: tensor<8x1x4xf32>, %r: tensor<6x1xf32>, %all: !outputs, %d: tensor<4xf32>)
    -> tensor<6x4xf32> {
  // CHECK: %[[T:[a-z]*]], %[[E:[a-z]*]], %{{.*}}, %{{.*}} = graph.group_rows
  // CHECK: graph.grouped_matmul
  // CHECK: %[[B:.*]] = graph.reshape %arg3 : tensor<8x1x4xf32> to tensor<8x4xf32>
  // CHECK: graph.gather %[[B]], %[[E]] along 0 : tensor<8x4xf32>, tensor<12xi64>
  // CHECK: graph.gather %arg4, %[[T]] along 0 : tensor<6x1xf32>, tensor<12xi64>
  // CHECK: %[[N:.*]] = graph.mul %[[E]], %{{.*}} : tensor<12xi64>, tensor<i64>
  // CHECK: %[[P:.*]] = graph.add %[[N]], %[[T]] : tensor<12xi64>, tensor<12xi64>
  // CHECK: graph.gather %{{.*}}, %[[P]] along 0 : tensor<48x4xf32>, tensor<12xi64>
  // CHECK: graph.mul %{{.*}}, %arg6 : tensor<12x4xf32>, tensor<4xf32>
  %0 = graph.matmul %x, %w : tensor<6x4xf32>, tensor<8x4x4xf32>
  %1 = graph.add %0, %b : !outputs, tensor<8x1x4xf32>
  %2 = graph.add %1, %r : !outputs, tensor<6x1xf32>
  %3 = graph.add %2, %all : !outputs, !outputs
  %4 = graph.mul %3, %d : !outputs, tensor<4xf32>
  %5 = graph.einsum "te,etd->td" %gate, %4 {graph.chosen = 2 : i64} : !gate, !outputs
  return %5 : tensor<6x4xf32>
}

// -----

!gate = tensor<2x3x8xf32>

// Tokens of two dims, and a gated unit whose parts lie in pairs.
// CHECK-LABEL: @pairs
func.func @pairs(%gate: !gate, %x: tensor<2x3x4xf32>, %w: tensor<8x10x4xf32>,
                 %v: tensor<8x5x4xf32>) -> tensor<2x3x4xf32> {
  // CHECK: graph.group_rows {{.*}} chosen 2 : tensor<6x8xf32>
  // CHECK: graph.grouped_matmul {{.*}} {transpose_rhs} : tensor<12x4xf32>, tensor<8x10x4xf32>
  // CHECK: %[[H:.*]] = graph.reshape {{.*}} : tensor<12x10xf32> to tensor<12x5x2xf32>
  // CHECK: graph.slice %[[H]] starts [0, 0, 1] sizes [12, 5, 1] steps [1, 1, 1]
  // CHECK: graph.reshape {{.*}} : tensor<12x5x1xf32> to tensor<12x5xf32>
  // CHECK: graph.scatter_nd add
  // CHECK: graph.reshape {{.*}} : tensor<6x4xf32> to tensor<2x3x4xf32>
  %0 = graph.einsum "bsd,ehd->ebsh" %x, %w : tensor<2x3x4xf32>, tensor<8x10x4xf32>
  %1 = graph.reshape %0 : tensor<8x2x3x10xf32> to tensor<8x6x5x2xf32>
  %2 = graph.slice %1 starts [0, 0, 0, 1] sizes [8, 6, 5, 1] steps [1, 1, 1, 1]
      : tensor<8x6x5x2xf32>
  %3 = graph.reshape %2 : tensor<8x6x5x1xf32> to tensor<8x2x3x5xf32>
  %4 = graph.einsum "ebsh,ehd->ebsd" %3, %v : tensor<8x2x3x5xf32>, tensor<8x5x4xf32>
  %5 = graph.einsum "bse,ebsd->bsd" %gate, %4 {graph.chosen = 2 : i64}
      : !gate, tensor<8x2x3x4xf32>
  return %5 : tensor<2x3x4xf32>
}

// -----

// A rank that owns one expert of those that a token may choose has a row per token at most.
// CHECK-LABEL: @one_expert_here
func.func @one_expert_here(%gate: tensor<6x1xf32>, %x: tensor<6x4xf32>, %w: tensor<1x4x4xf32>)
    -> tensor<6x4xf32> {
  // CHECK: graph.grouped_matmul {{.*}} : tensor<6x4xf32>, tensor<1x4x4xf32>, tensor<1xi64>
  %0 = graph.einsum "td,edh->eth" %x, %w : tensor<6x4xf32>, tensor<1x4x4xf32>
  %1 = graph.einsum "te,etd->td" %gate, %0 {graph.chosen = 2 : i64}
      : tensor<6x1xf32>, tensor<1x6x4xf32>
  return %1 : tensor<6x4xf32>
}

// -----

!gate = tensor<2x3x8xf32>
!outputs = tensor<8x2x3x4xf32>

// A value that repeats along one of two token dims is added for all experts; rows begin after that.
// CHECK-LABEL: @repeated_for_some_tokens
func.func @repeated_for_some_tokens(%gate: !gate, %x: tensor<2x3x4xf32>, %w: tensor<8x4x4xf32>,
                                    %b: tensor<2x1x4xf32>) -> tensor<2x3x4xf32> {
  // CHECK: %[[ALL:.*]] = graph.add %{{.*}}, %arg3 : tensor<8x2x3x4xf32>, tensor<2x1x4xf32>
  // CHECK: %[[LONG:.*]] = graph.reshape %[[ALL]] : tensor<8x2x3x4xf32> to tensor<48x4xf32>
  // CHECK: graph.gather %[[LONG]], %{{.*}} along 0 : tensor<48x4xf32>, tensor<12xi64>
  // CHECK: graph.grouped_matmul
  %0 = graph.einsum "bsd,edh->ebsh" %x, %w : tensor<2x3x4xf32>, tensor<8x4x4xf32>
  %1 = graph.add %0, %b : !outputs, tensor<2x1x4xf32>
  %2 = graph.einsum "ebsh,ehd->ebsd" %1, %w : !outputs, tensor<8x4x4xf32>
  %3 = graph.einsum "bse,ebsd->bsd" %gate, %2 {graph.chosen = 2 : i64} : !gate, !outputs
  return %3 : tensor<2x3x4xf32>
}

// -----

!gate = tensor<6x8xbf16>

// The rows of a token are added in f32, and rounded once.
// CHECK-LABEL: @narrow_floats
func.func @narrow_floats(%gate: !gate, %x: tensor<6x4xbf16>, %w: tensor<8x4x5xbf16>)
    -> tensor<5x6xbf16> {
  // CHECK: graph.scatter_nd add {{.*}} : tensor<6x5xf32>
  // CHECK: graph.cast {{.*}} : tensor<6x5xf32> to tensor<6x5xbf16>
  // CHECK: graph.transpose {{.*}} [1, 0] : tensor<6x5xbf16>
  %0 = graph.einsum "td,edh->eth" %x, %w : tensor<6x4xbf16>, tensor<8x4x5xbf16>
  %1 = graph.einsum "te,eth->ht" %gate, %0 {graph.chosen = 2 : i64} : !gate, tensor<8x6x5xbf16>
  return %1 : tensor<5x6xbf16>
}

// -----

// A transpose stays on all rows, also one of dims of size 1, for its permutation has a number per dim.
// CHECK-LABEL: @transpose_of_unit_dims
func.func @transpose_of_unit_dims(%gate: tensor<6x8xf32>, %x: tensor<6x4xf32>, %w: tensor<8x4x1xf32>)
    -> tensor<6x1xf32> {
  // CHECK: graph.transpose %{{.*}} [0, 1, 3, 2] : tensor<8x6x1x1xf32>
  %0 = graph.einsum "td,edh->eth" %x, %w : tensor<6x4xf32>, tensor<8x4x1xf32>
  %1 = graph.reshape %0 : tensor<8x6x1xf32> to tensor<8x6x1x1xf32>
  %2 = graph.transpose %1 [0, 1, 3, 2] : tensor<8x6x1x1xf32>
  %3 = graph.reshape %2 : tensor<8x6x1x1xf32> to tensor<8x6x1xf32>
  %4 = graph.einsum "te,etd->td" %gate, %3 {graph.chosen = 2 : i64} : tensor<6x8xf32>, tensor<8x6x1xf32>
  return %4 : tensor<6x1xf32>
}
