// RUN: pcc-opt --decide-shardings --expand-split-ops --insert-reshards --verify-sharded --localize-shapes \
// RUN:     --reshard-to-collectives --verify-local --split-input-file %s | %python %source/test/inline-aliases.py \
// RUN:   | FileCheck %s --implicit-check-not="received {{[1-9]}}"

// All collectives of lookups and losses over a split vocabulary with the bytes that one rank receives;
// nothing else is received. B=4 S=256 H=1024 V=32000 on 4 ranks.

!table = tensor<32000x1024xbf16>
!rows = tensor<4x256x1024xbf16>

// Each rank reads what it owns.
// CHECK-LABEL: @lookup_is_a_masked_sum
module attributes {dist.mesh = #dist.mesh<t = 4>, dist.seeds = ["table=[t,-]", "y=[-,-,-]"]} {
  func.func @lookup_is_a_masked_sum(
      %table: !table {graph.name = "table"}, %ids: tensor<4x256xi64> {graph.name = "ids"})
      -> (!rows {graph.name = "y"}) {
    // CHECK: all_reduce {{.*}} from "[-, -, -] partial sum(t:4)" to "[-, -, -]"
    // CHECK-SAME: shape [4, 256, 1024] received 3145728{{ }}
    %y = graph.gather %table, %ids along 0 : !table, tensor<4x256xi64>
    return %y : !rows
  }
}

// -----

!table = tensor<32000x1024xbf16>
!rows = tensor<4x256x1024xbf16>

// Scattered over the sequence it is half of that.
// CHECK-LABEL: @lookup_is_scattered
module attributes {dist.mesh = #dist.mesh<t = 4>, dist.seeds = ["table=[t,-]", "y=[-,t,-]"]} {
  func.func @lookup_is_scattered(
      %table: !table {graph.name = "table"}, %ids: tensor<4x256xi64> {graph.name = "ids"})
      -> (!rows {graph.name = "y"}) {
    // CHECK: reduce_scatter {{.*}} from "[-, -, -] partial sum(t:4)" to "[-, 256@t:4, -]"
    // CHECK-SAME: shape [4, 256, 1024] received 1572864{{ }}
    %y = graph.gather %table, %ids along 0 : !table, tensor<4x256xi64>
    return %y : !rows
  }
}

// -----

!table = tensor<32000x1024xbf16>
!rows = tensor<4x256x1024xbf16>
!logits = tensor<4x256x32000xbf16>

// The gradients of a lookup and a head are written, and added, in the sharding of the table.
// CHECK-LABEL: @tied_table_is_written_where_it_lies
module attributes {dist.mesh = #dist.mesh<t = 4>, dist.seeds = [
    "table=[t,-]", "dtable=[t,-]", "dz=[-,-,t]", "y=[-,-,-]", "dy=[-,-,-]", "hidden=[-,-,-]"]} {
  func.func @tied_table_is_written_where_it_lies(
      %table: !table {graph.name = "table"}, %ids: tensor<4x256xi64> {graph.name = "ids"},
      %dy: !rows {graph.name = "dy"}, %hidden: !rows {graph.name = "hidden"},
      %dz: !logits {graph.name = "dz"})
      -> (!rows {graph.name = "y"}, !table {graph.name = "dtable"}) {
    // CHECK: all_reduce {{.*}} from "[-, -, -] partial sum(t:4)" to "[-, -, -]"
    // CHECK-SAME: shape [4, 256, 1024] received 3145728{{ }}
    %0 = graph.constant dense<0.000000e+00> : tensor<bf16>
    %y = graph.gather %table, %ids along 0 : !table, tensor<4x256xi64>
    %1 = graph.broadcast %0 : tensor<bf16> to !table
    %2 = graph.reshape %ids : tensor<4x256xi64> to tensor<4x256x1xi64>
    %3 = graph.scatter_nd add %1, %2, %dy : !table, tensor<4x256x1xi64>, !rows
    %4 = graph.einsum "bsv,bsh->vh" %dz, %hidden : !logits, !rows
    %dtable = graph.add %3, %4 : !table, !table
    return %y, %dtable : !rows, !table
  }
}

// -----

!logits = tensor<1024x32000xf32>

// Maximum, sum of exponentials and the label's logit of each row; logits stay where they are.
// CHECK-LABEL: @loss_of_each_row
module attributes {dist.mesh = #dist.mesh<t = 4>, dist.seeds = ["z=[-,t]", "y=[-]"]} {
  func.func @loss_of_each_row(
      %z: !logits {graph.name = "z"}, %labels: tensor<1024xi64> {graph.name = "labels"})
      -> (tensor<1024xf32> {graph.name = "y"}) {
    // CHECK: all_reduce {{.*}} from "[-, -] partial max(t:4)" to "[-, -]"
    // CHECK-SAME: shape [1024, 1] received 6144{{ }}
    // CHECK: all_reduce {{.*}} from "[-, -] partial sum(t:4)" to "[-, -]"
    // CHECK-SAME: shape [1024, 1] received 6144{{ }}
    // CHECK: all_reduce {{.*}} from "[-, -] partial sum(t:4)" to "[-, -]"
    // CHECK-SAME: shape [1024, 1] received 6144{{ }}
    %0 = graph.log_softmax %z over 1 : !logits
    %1 = graph.reshape %labels : tensor<1024xi64> to tensor<1024x1xi64>
    %2 = graph.gather_elements %0, %1 along 1 : !logits, tensor<1024x1xi64>
    %3 = graph.reshape %2 : tensor<1024x1xf32> to tensor<1024xf32>
    %y = graph.neg %3 : tensor<1024xf32>
    return %y : tensor<1024xf32>
  }
}

// -----

!logits = tensor<1024x32000xf32>

// Labels' logits are summed over rows before they are over ranks; gradients of logits are local.
// CHECK-LABEL: @mean_loss_and_gradients
module attributes {dist.mesh = #dist.mesh<t = 4>, dist.seeds = ["z=[-,t]", "dz=[-,t]"]} {
  graph.parameter @off_on : tensor<2xf32> = <"m.onnx", 426, 8, tensor<2xf32>>
  func.func @mean_loss_and_gradients(
      %z: !logits {graph.name = "z"}, %labels: tensor<1024xi64> {graph.name = "labels"})
      -> (tensor<f32> {graph.name = "y"}, !logits {graph.name = "dz"}) {
    // CHECK: all_reduce {{.*}} from "[-, -] partial max(t:4)" to "[-, -]"
    // CHECK-SAME: shape [1024, 1] received 6144{{ }}
    // CHECK: all_reduce {{.*}} from "[-, -] partial sum(t:4)" to "[-, -]"
    // CHECK-SAME: shape [1024, 1] received 6144{{ }}
    // CHECK: all_reduce {{.*}} from "[] partial sum(t:4)" to "[]"
    // CHECK-SAME: shape [] received 6{{ }}
    %0 = graph.constant dense<1.024000e+03> : tensor<f32>
    %1 = graph.log_softmax %z over 1 : !logits
    %2 = graph.reshape %labels : tensor<1024xi64> to tensor<1024x1xi64>
    %3 = graph.gather_elements %1, %2 along 1 : !logits, tensor<1024x1xi64>
    %4 = graph.reduce mean %3 over [0, 1] : tensor<1024x1xf32>
    %y = graph.neg %4 : tensor<f32>
    %5 = graph.get_parameter @off_on : tensor<2xf32>
    %6 = graph.slice %5 starts [0] sizes [1] steps [1] : tensor<2xf32>
    %7 = graph.reshape %6 : tensor<1xf32> to tensor<f32>
    %8 = graph.slice %5 starts [1] sizes [1] steps [1] : tensor<2xf32>
    %9 = graph.reshape %8 : tensor<1xf32> to tensor<f32>
    %10 = graph.one_hot %labels, %9, %7 along 1 : tensor<1024xi64>, tensor<f32>, tensor<f32> to !logits
    %11 = graph.exp %1 : !logits
    %12 = graph.sub %11, %10 : !logits, !logits
    %dz = graph.div %12, %0 : !logits, tensor<f32>
    return %y, %dz : tensor<f32>, !logits
  }
}
