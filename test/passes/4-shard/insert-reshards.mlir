// RUN: pcc-opt --insert-reshards --split-input-file %s \
// RUN:   | %python %source/test/inline-aliases.py | FileCheck %s

#half = #dist.sharding<"[8@tp:2]">
#whole = #dist.sharding<"[-]">

// Two uses on one stage that want the same share one reshard.
// CHECK-LABEL: @one_reshard_for_two_uses
func.func @one_reshard_for_two_uses(%x: tensor<8xf32> {dist.sharding = #whole}) -> tensor<8xf32> {
  // CHECK: %[[HALF:.*]] = dist.reshard %{{.*}} from "[-]" to "[8@tp:2]"
  // CHECK-NEXT: graph.relu %[[HALF]]
  %0 = graph.relu %x {dist.shardings = [#half], dist.split = #half} : tensor<8xf32>
  // CHECK-NEXT: graph.neg %[[HALF]]
  %1 = graph.neg %x {dist.shardings = [#half], dist.split = #half} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

#half = #dist.sharding<"[8@tp:2]">

// CHECK-LABEL: @nothing_where_shardings_agree
func.func @nothing_where_shardings_agree(%x: tensor<8xf32> {dist.sharding = #half})
    -> tensor<8xf32> {
  // CHECK-NOT: dist.reshard
  %0 = graph.relu %x {dist.shardings = [#half], dist.split = #half} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

#half = #dist.sharding<"[8@tp:2]">
#whole = #dist.sharding<"[-]">

// A sent value is resharded before, on the sending stage.
// CHECK-LABEL: @reshard_before_the_transfer
func.func @reshard_before_the_transfer(%x: tensor<8xf32> {dist.sharding = #whole})
    -> tensor<8xf32> {
  %0 = graph.relu %x {dist.shardings = [#half], dist.split = #half, pipe.stage = 1 : i64}
      : tensor<8xf32>
  // CHECK: %[[SENT:.*]] = dist.reshard {{.*}} from "[8@tp:2]" to "[-]" {{.*}}pipe.stage = 1
  // CHECK-NEXT: pipe.transfer %[[SENT]] from 1 to 2
  %1 = pipe.transfer %0 from 1 to 2
    {dist.shardings = [#whole], dist.split = #whole, pipe.stage = 2 : i64} : tensor<8xf32>
  return %1 : tensor<8xf32>
}
