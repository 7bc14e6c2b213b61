// RUN: pcc-opt --insert-index-checks --split-input-file %s | FileCheck %s

// The whole table counts, not the part that a rank holds.
// CHECK-LABEL: @ids_of_an_embedding
module attributes {dist.mesh = #dist.mesh<t = 2>} {
  graph.parameter @wte : tensor<50x8xf32>
  func.func @ids_of_an_embedding(
      %ids: tensor<4xi64> {graph.name = "ids", dist.sharding = #dist.sharding<"[4@t:2]">}) -> tensor<4x8xf32> {
    %w = graph.get_parameter @wte : tensor<50x8xf32>
    // CHECK:      graph.check_indices %arg0 below [50] of "'wte'"
    // CHECK-SAME: {dist.split = #split, graph.name = "ids"}
    // CHECK-NEXT: graph.gather
    %y = graph.gather %w, %ids along 0 : tensor<50x8xf32>, tensor<4xi64>
    return %y : tensor<4x8xf32>
  }
}

// -----

// Each index of a tuple has its dim; computed indices have the name of their value.
// CHECK-LABEL: @places_of_a_scatter
func.func @places_of_a_scatter(%x: tensor<4x5xf32>, %i: tensor<3x2xi64>, %u: tensor<3xf32>) -> tensor<4x5xf32> {
  %two = graph.constant dense<2> : tensor<i64>
  %j = graph.mul %i, %two {graph.name = "places"} : tensor<3x2xi64>, tensor<i64>
  // CHECK:      graph.check_indices %{{.*}} below [4, 5] of {{.*}} {graph.name = "places"} : tensor<3x2xi64>
  // CHECK-NEXT: graph.scatter_nd
  %y = graph.scatter_nd add %x, %j, %u : tensor<4x5xf32>, tensor<3x2xi64>, tensor<3xf32>
  return %y : tensor<4x5xf32>
}

// -----

// CHECK-LABEL: @equal_checks_are_made_once
func.func @equal_checks_are_made_once(%x: tensor<4x5xf32>, %i: tensor<2x5xi64>, %u: tensor<2x5xf32>)
    -> (tensor<2x5xf32>, tensor<4x5xf32>) {
  // CHECK:     graph.check_indices
  // CHECK-NOT: graph.check_indices
  %y = graph.gather_elements %x, %i along 0 : tensor<4x5xf32>, tensor<2x5xi64>
  %z = graph.scatter_elements set %x, %i, %u along 0 : tensor<4x5xf32>, tensor<2x5xi64>, tensor<2x5xf32>
  return %y, %z : tensor<2x5xf32>, tensor<4x5xf32>
}

// -----

// Positions, remainders, bounded numbers and results of topk are in range.
// CHECK-LABEL: @known_ranges
func.func @known_ranges(%x: tensor<8x8xf32>, %i: tensor<2xi64>)
    -> (tensor<4x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<8x3xf32>) {
  // CHECK-NOT: graph.check_indices
  %0 = graph.iota 0 : tensor<4xi64>
  %four = graph.constant dense<4> : tensor<i64>
  %1 = graph.add %0, %four : tensor<4xi64>, tensor<i64>
  %a = graph.gather %x, %1 along 0 : tensor<8x8xf32>, tensor<4xi64>
  %eight = graph.constant dense<8> : tensor<i64>
  %2 = graph.mod %i, %eight : tensor<2xi64>, tensor<i64>
  %b = graph.gather %x, %2 along 0 : tensor<8x8xf32>, tensor<2xi64>
  %low = graph.constant dense<-8> : tensor<i64>
  %high = graph.constant dense<7> : tensor<i64>
  %3 = graph.max %i, %low : tensor<2xi64>, tensor<i64>
  %4 = graph.min %3, %high : tensor<2xi64>, tensor<i64>
  %c = graph.gather %x, %4 along 0 : tensor<8x8xf32>, tensor<2xi64>
  %v, %p = graph.topk %x, 3 along 1 : tensor<8x8xf32>
  %d = graph.gather_elements %x, %p along 1 : tensor<8x8xf32>, tensor<8x3xi64>
  return %a, %b, %c, %d : tensor<4x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<8x3xf32>
}

// -----

// The first index of a tuple is a position, the second one is computed: it needs a check.
// CHECK-LABEL: @parts_of_tuples
func.func @parts_of_tuples(%x: tensor<4x5xf32>, %i: tensor<4x1xi64>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = graph.iota 0 : tensor<4x1xi64>
  %five = graph.constant dense<5> : tensor<i64>
  %1 = graph.mod %i, %five : tensor<4x1xi64>, tensor<i64>
  // CHECK-NOT: graph.check_indices
  %2 = graph.concat %0, %1 along 1 : tensor<4x1xi64>, tensor<4x1xi64>
  %a = graph.gather_nd %x, %2 : tensor<4x5xf32>, tensor<4x2xi64>
  // CHECK: graph.check_indices %{{.*}} below [4, 5]
  %3 = graph.concat %1, %0 along 1 : tensor<4x1xi64>, tensor<4x1xi64>
  %b = graph.gather_nd %x, %3 : tensor<4x5xf32>, tensor<4x2xi64>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// -----

// Labels are not negative; ignored ones were masked.
// CHECK-LABEL: @labels_of_a_loss
func.func @labels_of_a_loss(%p: tensor<4x7xf32>, %l: tensor<4xi64> {graph.name = "labels", graph.labels}) -> tensor<4x1xf32> {
  %ignore = graph.constant dense<-100> : tensor<i64>
  %zero = graph.constant dense<0> : tensor<i64>
  %ignored = graph.compare eq %l, %ignore : tensor<4xi64>, tensor<i64>
  %used = graph.select %ignored, %zero, %l : tensor<4xi1>, tensor<i64>, tensor<4xi64>
  %column = graph.reshape %used : tensor<4xi64> to tensor<4x1xi64>
  // CHECK: graph.check_indices %{{.*}} below [7] from_zero of "the classes of the loss"
  // CHECK-SAME: {graph.name = "labels"} : tensor<4x1xi64>
  %y = graph.gather_elements %p, %column along 1 : tensor<4x7xf32>, tensor<4x1xi64>
  return %y : tensor<4x1xf32>
}

// -----

// The import marks labels that are no input of the model by a select that moves negative ones out of range.
// CHECK-LABEL: @labels_of_a_node
func.func @labels_of_a_node(%p: tensor<4x7xf32>, %l: tensor<4xi64>) -> tensor<4x1xf32> {
  %zero = graph.constant dense<0> : tensor<i64>
  %seven = graph.constant dense<7> : tensor<i64>
  %negative = graph.compare lt %l, %zero : tensor<4xi64>, tensor<i64>
  %beyond = graph.sub %l, %seven : tensor<4xi64>, tensor<i64>
  %used = graph.select %negative, %beyond, %l : tensor<4xi1>, tensor<4xi64>, tensor<4xi64>
  %column = graph.reshape %used : tensor<4xi64> to tensor<4x1xi64>
  // CHECK: graph.check_indices %arg1 below [7] from_zero of "the classes of the loss" : tensor<4xi64>
  %y = graph.gather_elements %p, %column along 1 : tensor<4x7xf32>, tensor<4x1xi64>
  return %y : tensor<4x1xf32>
}
