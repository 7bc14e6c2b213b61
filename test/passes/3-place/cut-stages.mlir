// RUN: pcc-opt --cut-stages --verify-placed --split-input-file %s | FileCheck %s
// RUN: pcc-opt --cut-stages --split-input-file %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: pcc-opt --cut-stages --split-input-file --mlir-print-debuginfo --mlir-print-local-scope %s | FileCheck %s --check-prefix=NODE

!x = tensor<8x64xf32>
!w = tensor<64x64xf32>

// Equal work on both sides: the cut lies in the middle, what crosses it is transferred.
// CHECK-LABEL: @two_stages
module attributes {pipe.stages = 2 : i64} {
  graph.parameter @a : !w
  graph.parameter @b : !w
  func.func @two_stages(%x: !x) -> !x {
    %a = graph.get_parameter @a : !w
    // CHECK: %[[Y:.*]] = graph.matmul {{.*}}pipe.stage = 0
    %y = graph.matmul %x, %a : !x, !w
    // CHECK: %[[SENT:.*]] = pipe.transfer %[[Y]] from 0 to 1 {pipe.stage = 1
    // CHECK: graph.get_parameter @b {pipe.stage = 1
    %b = graph.get_parameter @b : !w
    // CHECK: graph.matmul %[[SENT]], {{.*}}pipe.stage = 1
    %z = graph.matmul %y, %b : !x, !w
    return %z : !x
  }
}

// -----

!x = tensor<8x8xf32>

// A mask depends on no input that a link makes: every stage that adds it computes its own.
// CHECK-LABEL: @masks_are_cloned
module attributes {pipe.stages = 2 : i64} {
  func.func @masks_are_cloned(%x: !x) -> !x {
    // CHECK: %[[M0:.*]] = graph.iota 0 {pipe.stage = 0
    // CHECK: %[[M1:.*]] = graph.iota 0 {pipe.stage = 1
    %m = graph.iota 0 : !x
    %0 = graph.matmul %x, %x : !x, !x
    // CHECK: graph.add %{{.*}}, %[[M0]] {pipe.stage = 0
    %1 = graph.add %0, %m : !x, !x
    // CHECK: pipe.transfer
    %2 = graph.matmul %1, %x : !x, !x
    // CHECK: graph.add %{{.*}}, %[[M1]] {pipe.stage = 1
    %3 = graph.add %2, %m : !x, !x
    return %3 : !x
  }
}

// -----

!x = tensor<8x64xf32>
!w = tensor<64x64xf32>

// A value for the next but one stage is sent there directly.
// CHECK-LABEL: @skip_connection
module attributes {pipe.stages = 3 : i64, pipe.stage_at = ["b", "c"]} {
  graph.parameter @w : !w
  func.func @skip_connection(%x: !x) -> !x {
    %w = graph.get_parameter @w : !w
    // CHECK: %[[A:.*]] = graph.matmul
    %a = graph.matmul %x, %w : !x, !w
    // CHECK-DAG: pipe.transfer %[[A]] from 0 to 1
    // CHECK-DAG: pipe.transfer %[[A]] from 0 to 2
    %b = graph.matmul %a, %w {graph.name = "b"} : !x, !w
    %c = graph.add %a, %b {graph.name = "c"} : !x, !x
    return %c : !x
  }
}

// -----

!x = tensor<8x64xf32>
!w = tensor<64x64xf32>

// The user's cut wins over balance, and a weight of two stages is read on both. Each read is named after the node that needs it.
// NODE-LABEL: @pinned_cut_and_tied_weight
// NODE: graph.get_parameter @w {pipe.stage = 0{{.*}}loc("first")
// NODE: graph.get_parameter @w {pipe.stage = 1{{.*}}loc("last")
// CHECK-LABEL: @pinned_cut_and_tied_weight
module attributes {pipe.stages = 2 : i64, pipe.stage_at = ["last"]} {
  graph.parameter @w : !w
  func.func @pinned_cut_and_tied_weight(%x: !x) -> !x {
    // CHECK: graph.get_parameter @w {pipe.stage = 0
    // CHECK: graph.get_parameter @w {pipe.stage = 1
    %w = graph.get_parameter @w : !w loc("first")
    %0 = graph.matmul %x, %w : !x, !w loc("first")
    // CHECK: graph.matmul
    // CHECK: graph.matmul {{.*}}pipe.stage = 0
    %1 = graph.matmul %0, %w : !x, !w
    // CHECK: graph.matmul {{.*}}pipe.stage = 1
    %2 = graph.matmul %1, %w {graph.name = "last"} : !x, !w loc("last")
    return %2 : !x
  }
}

// -----

!x = tensor<8x64xf32>

// Where the model says which node is on which stage, the first one of a stage is where it begins.
// CHECK-LABEL: @nodes_with_stages
module attributes {pipe.stages = 2 : i64, pipe.stage_of_nodes = {first = 0 : i64, last = 1 : i64}} {
  func.func @nodes_with_stages(%x: !x, %w: tensor<64x64xf32>) -> !x {
    // CHECK: graph.matmul {{.*}}pipe.stage = 0
    %0 = graph.matmul %x, %w : !x, tensor<64x64xf32> loc("first")
    // CHECK: graph.matmul {{.*}}pipe.stage = 0
    %1 = graph.matmul %0, %w : !x, tensor<64x64xf32> loc("between")
    // CHECK: graph.matmul {{.*}}pipe.stage = 1
    %2 = graph.matmul %1, %w : !x, tensor<64x64xf32> loc("last")
    return %2 : !x
  }
}

// -----

!x = tensor<8x64xf32>

// Without weights, all ops that depend on an input of the model are cut into stages.
// CHECK-LABEL: @without_weights
module attributes {pipe.stages = 2 : i64} {
  func.func @without_weights(%x: !x) -> !x {
    // CHECK: graph.relu {{.*}}pipe.stage = 0
    %0 = graph.relu %x : !x
    // CHECK: graph.exp {{.*}}pipe.stage = 1
    %1 = graph.exp %0 : !x
    return %1 : !x
  }
}

// -----

!x = tensor<8x64xf32>
!w = tensor<64x64xf32>

// A copy is no work.
// REMARK: remark: 2 of 3 stages compute nothing: the model has too few ops to cut
module attributes {pipe.stages = 3 : i64} {
  func.func @few_ops(%x: !x, %w: !w) -> tensor<512xf32> {
    %0 = graph.matmul %x, %w : !x, !w
    %1 = graph.reshape %0 : !x to tensor<64x8xf32>
    %2 = graph.reshape %1 : tensor<64x8xf32> to tensor<512xf32>
    return %2 : tensor<512xf32>
  }
}

// -----

!x = tensor<8x64xf32>
!w = tensor<64x64xf32>

// The user may cut before the first op with much work.
// CHECK-LABEL: @cut_before_the_first_weight
module attributes {pipe.stages = 2 : i64, pipe.stage_at = ["h"]} {
  graph.parameter @w : !w
  func.func @cut_before_the_first_weight(%x: !x) -> !x {
    %w = graph.get_parameter @w : !w
    // CHECK: graph.relu {{.*}}pipe.stage = 0
    %0 = graph.relu %x : !x
    // CHECK: graph.exp {{.*}}pipe.stage = 1
    %1 = graph.exp %0 {graph.name = "h"} : !x
    // CHECK: graph.matmul {{.*}}pipe.stage = 1
    %2 = graph.matmul %1, %w : !x, !w
    return %2 : !x
  }
}

// -----

!x = tensor<8x64xf32>
!w = tensor<64x64xf32>

// An annotated node may lie before the first op with much work.
// CHECK-LABEL: @annotated_before_the_first_weight
module attributes {pipe.stages = 2 : i64, pipe.stage_of_nodes = {first = 0 : i64, second = 1 : i64}} {
  graph.parameter @w : !w
  func.func @annotated_before_the_first_weight(%x: !x) -> !x {
    %w = graph.get_parameter @w : !w
    // CHECK: graph.relu {{.*}}pipe.stage = 0
    %0 = graph.relu %x : !x loc("first")
    // CHECK: graph.matmul {{.*}}pipe.stage = 1
    %1 = graph.matmul %0, %w : !x, !w loc("second")
    return %1 : !x
  }
}
