// RUN: pcc-opt %s --form-kernels --split-input-file | FileCheck %s

// Element-wise ops with one reader each become one kernel.
// CHECK-LABEL: @a_chain_is_one_kernel
func.func @a_chain_is_one_kernel(%x: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  // CHECK-NEXT: %[[Y:.*]] = rank.launch @[[K:[a-z_0-9]+]](%{{.*}}, %{{.*}}) : (tensor<4x8xf32>, tensor<8xf32>)
  // CHECK-NEXT: return %[[Y]]
  %0 = graph.add %x, %b : tensor<4x8xf32>, tensor<8xf32>
  %1 = graph.gelu %0 : tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}
// CHECK: rank.kernel @[[K]](
// CHECK-SAME: attributes {extent = 4 : i64
// CHECK-NEXT: graph.add
// CHECK-NEXT: graph.gelu
// CHECK-NEXT: rank.yield

// -----

// Two layers of the same shape share one kernel.
// CHECK-LABEL: @equal_groups_share_a_kernel
func.func @equal_groups_share_a_kernel(%x: tensor<4x4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>) -> tensor<4x4xf32> {
  // CHECK: rank.launch @[[K:[a-z_0-9]+]](
  // CHECK: graph.matmul
  // CHECK: rank.launch @[[K]](
  %0 = graph.add %x, %b : tensor<4x4xf32>, tensor<4xf32>
  %1 = graph.matmul %0, %x : tensor<4x4xf32>, tensor<4x4xf32>
  %2 = graph.add %1, %c : tensor<4x4xf32>, tensor<4xf32>
  return %2 : tensor<4x4xf32>
}
// CHECK: rank.kernel @[[K]](
// CHECK-NOT: rank.kernel

// -----

// The sum of a residual connection and its norm are two results of one kernel.
// CHECK-LABEL: @a_sum_and_its_norm_are_one_kernel
func.func @a_sum_and_its_norm_are_one_kernel(%x: tensor<2x8xf32>, %y: tensor<2x8xf32>, %s: tensor<8xf32>)
    -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  // CHECK-NEXT: %[[R:.*]]:2 = rank.launch
  // CHECK-NEXT: return %[[R]]#0, %[[R]]#1
  %0 = graph.add %x, %y : tensor<2x8xf32>, tensor<2x8xf32>
  %1 = graph.rms_norm %0, %s from 1 epsilon 1.0e-5 : tensor<2x8xf32>, tensor<8xf32>
  return %0, %1 : tensor<2x8xf32>, tensor<2x8xf32>
}

// -----

// A reduction whose result is moved cannot share rows with what reads it there.
// CHECK-LABEL: @a_moved_row_is_another_kernel
func.func @a_moved_row_is_another_kernel(%x: tensor<4x8xf32>) -> tensor<8x4xf32> {
  // CHECK-COUNT-2: rank.launch
  %0 = graph.softmax %x over 1 : tensor<4x8xf32>
  %1 = graph.transpose %0 [1, 0] : tensor<4x8xf32>
  return %1 : tensor<8x4xf32>
}

// -----

// A value that an op between needs cannot be computed by the kernel that needs that op.
// CHECK-LABEL: @no_cycle
func.func @no_cycle(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK: %[[E:.*]] = rank.launch
  // CHECK: %[[M:.*]] = graph.matmul %[[E]], %[[E]]
  // CHECK: rank.launch @{{.*}}(%[[E]], %[[M]])
  %0 = graph.exp %x : tensor<4x4xf32>
  %1 = graph.matmul %0, %0 : tensor<4x4xf32>, tensor<4x4xf32>
  %2 = graph.add %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

// A kernel computes its early ops where its last op is: the sum leads back to the product through tanh, so exp cannot be in the
// kernel of the product.
// CHECK-LABEL: @no_cycle_through_the_early_op_of_a_later_kernel
func.func @no_cycle_through_the_early_op_of_a_later_kernel(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>)
    -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  // CHECK: %[[EXP:.*]] = rank.launch {{.*}}(%arg0)
  // CHECK: %[[M:.*]] = graph.matmul %[[EXP]], %arg1
  // CHECK: %[[SUM:.*]]:2 = rank.launch {{.*}}%[[M]]
  // CHECK: %[[Z:.*]] = graph.matmul %[[SUM]]#
  // CHECK: rank.launch {{.*}}%[[Z]]
  %exp = graph.exp %x : tensor<4x4xf32>
  %tanh = graph.tanh %w : tensor<4x4xf32>
  %z = graph.matmul %tanh, %w : tensor<4x4xf32>, tensor<4x4xf32>
  %product = graph.mul %exp, %z : tensor<4x4xf32>, tensor<4x4xf32>
  %m = graph.matmul %exp, %w : tensor<4x4xf32>, tensor<4x4xf32>
  %sum = graph.add %tanh, %m : tensor<4x4xf32>, tensor<4x4xf32>
  return %product, %sum : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// A reshape is no work: it stays between the kernels.
// CHECK-LABEL: @reshapes_stay_outside
func.func @reshapes_stay_outside(%x: tensor<4x6xf32>) -> tensor<24xf32> {
  // CHECK: %[[Y:.*]] = rank.launch
  // CHECK: graph.reshape %[[Y]]
  %0 = graph.relu %x : tensor<4x6xf32>
  %1 = graph.reshape %0 : tensor<4x6xf32> to tensor<24xf32>
  return %1 : tensor<24xf32>
}

// -----

// Where a rank's part begins is a number that the launch hands in.
// CHECK-LABEL: @an_index_takes_a_scalar
func.func @an_index_takes_a_scalar() -> tensor<6xi64> {
  // CHECK: rank.launch
  %0 = dist.global_index #dist.sharding<"[12@tp:2]"> of 12 : tensor<6xi64>
  return %0 : tensor<6xi64>
}
// CHECK: rank.kernel @{{.*}}() -> tensor<6xi64> attributes {{.*}}scalars = [#rank.offset<#split, 0>]

// -----

// The parts of a fused projection add their own part of the bias.
// CHECK-LABEL: @slices_have_their_own_producer
func.func @slices_have_their_own_producer(%x: tensor<4x6xf32>, %b: tensor<6xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>) {
  // CHECK-COUNT-2: rank.launch {{.*}} -> tensor<4x3xf32>
  // CHECK-NOT: rank.launch
  %0 = graph.add %x, %b : tensor<4x6xf32>, tensor<6xf32>
  %1 = graph.slice %0 starts [0, 0] sizes [4, 3] steps [1, 1] : tensor<4x6xf32>
  %2 = graph.slice %0 starts [0, 3] sizes [4, 3] steps [1, 1] : tensor<4x6xf32>
  return %1, %2 : tensor<4x3xf32>, tensor<4x3xf32>
}

// -----

// If the model returns a weight that it writes, the result is a copy from before the write.
// CHECK-LABEL: @a_written_weight_is_copied
func.func @a_written_weight_is_copied(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[W:.*]] = graph.get_parameter @w
  // CHECK-NEXT: %[[COPY:.*]] = rank.launch @{{.*}}(%[[W]])
  // CHECK: graph.set_parameter @w
  // CHECK: %[[V:.*]] = graph.get_parameter @v
  // CHECK-NEXT: return %[[COPY]], %[[V]]
  %w = graph.get_parameter @w : tensor<4xf32>
  %y = graph.add %x, %w : tensor<4xf32>, tensor<4xf32>
  graph.set_parameter @w, %y : tensor<4xf32>
  %v = graph.get_parameter @v : tensor<4xf32>
  return %w, %v : tensor<4xf32>, tensor<4xf32>
}
graph.parameter @w : tensor<4xf32> fill 1.0 trained
graph.parameter @v : tensor<4xf32> fill 1.0 trained

// -----

// Attention of a GPU reads the parts of a fused projection where they lie, and
// stores heads behind one another.
// CHECK-LABEL: @attention_is_one_kernel
module @attention_is_one_kernel attributes {dist.target = "cuda"} {
func.func @main(%x: tensor<2x20x48xf32>, %o: tensor<16x5xf32>) -> tensor<2x20x5xf32> {
  // CHECK: %[[Y:.*]] = rank.launch @[[KERNEL:.*]](%{{.*}}) : (tensor<2x20x48xf32>) -> tensor<2x20x2x8xf32>
  // CHECK-NEXT: %[[J:.*]] = graph.reshape %[[Y]]
  // CHECK-NEXT: graph.matmul %[[J]]
  // CHECK: rank.kernel @[[KERNEL]]
  // CHECK: graph.attention
  // CHECK-NEXT: graph.transpose
  // CHECK-NEXT: rank.yield
  %a = graph.slice %x starts [0, 0, 0] sizes [2, 20, 16] steps [1, 1, 1] : tensor<2x20x48xf32>
  %b = graph.slice %x starts [0, 0, 16] sizes [2, 20, 16] steps [1, 1, 1] : tensor<2x20x48xf32>
  %c = graph.slice %x starts [0, 0, 32] sizes [2, 20, 16] steps [1, 1, 1] : tensor<2x20x48xf32>
  %a1 = graph.reshape %a : tensor<2x20x16xf32> to tensor<2x20x2x8xf32>
  %b1 = graph.reshape %b : tensor<2x20x16xf32> to tensor<2x20x2x8xf32>
  %c1 = graph.reshape %c : tensor<2x20x16xf32> to tensor<2x20x2x8xf32>
  %q = graph.transpose %a1 [0, 2, 1, 3] : tensor<2x20x2x8xf32>
  %k = graph.transpose %b1 [0, 2, 1, 3] : tensor<2x20x2x8xf32>
  %v = graph.transpose %c1 [0, 2, 1, 3] : tensor<2x20x2x8xf32>
  %y = graph.attention %q, %k, %v {scale = 0.5 : f64, causal} : tensor<2x2x20x8xf32>, tensor<2x2x20x8xf32>, tensor<2x2x20x8xf32>
  %t = graph.transpose %y [0, 2, 1, 3] : tensor<2x2x20x8xf32>
  %j = graph.reshape %t : tensor<2x20x2x8xf32> to tensor<2x20x16xf32>
  %r = graph.matmul %j, %o : tensor<2x20x16xf32>, tensor<16x5xf32>
  return %r : tensor<2x20x5xf32>
}
}

// -----

// A kernel that reads the result anyway puts it in order; keys whose elements
// do not lie side by side are turned before.
// CHECK-LABEL: @attention_between_kernels
module @attention_between_kernels attributes {dist.target = "cuda"} {
func.func @main(%q: tensor<2x2x20x8xf32>, %k: tensor<2x2x8x20xf32>) -> tensor<2x20x2x8xf32> {
  // CHECK: %[[K:.*]] = rank.launch @{{.*}}(%{{.*}}) : (tensor<2x2x8x20xf32>) -> tensor<2x2x20x8xf32>
  // CHECK: %[[Y:.*]] = rank.launch @{{.*}}(%{{.*}}, %[[K]]) : {{.*}} -> tensor<2x2x20x8xf32>
  // CHECK: rank.launch @{{.*}}(%[[Y]]) : {{.*}} -> tensor<2x20x2x8xf32>
  %t = graph.transpose %k [0, 1, 3, 2] : tensor<2x2x8x20xf32>
  %y = graph.attention %q, %t, %t {scale = 0.5 : f64} : tensor<2x2x20x8xf32>, tensor<2x2x20x8xf32>, tensor<2x2x20x8xf32>
  %o = graph.transpose %y [0, 2, 1, 3] : tensor<2x2x20x8xf32>
  %r = graph.exp %o : tensor<2x20x2x8xf32>
  return %r : tensor<2x20x2x8xf32>
}
}

// -----

// An update that does the same with tensors of many shapes launches once for all of them.
module attributes {dist.target = "cuda"} {
  graph.parameter @a : tensor<6x8xf32> = #graph.weight<"", 0, 0, tensor<6x8xf32>> trained
  graph.parameter @b : tensor<5xf32> = #graph.weight<"", 0, 0, tensor<5xf32>> trained
  // CHECK-LABEL: @equal_updates_are_one_launch
  func.func @equal_updates_are_one_launch(%da: tensor<6x8xf32>, %db: tensor<5xf32>, %rate: tensor<f32>)
      attributes {pipe.action = "U0"} {
    // CHECK:      %[[A:.*]] = graph.get_parameter @a
    // CHECK:      %[[B:.*]] = graph.get_parameter @b
    // CHECK-NEXT: %[[R:.*]]:2 = rank.launch_parts @[[K:[a-z_0-9]+]]
    // CHECK-SAME:   shared(%arg2 : tensor<f32>)
    // CHECK-SAME:   over(%arg0, %arg1, %[[A]], %[[B]] : tensor<6x8xf32>, tensor<5xf32>, tensor<6x8xf32>, tensor<5xf32>)
    // CHECK-NEXT: graph.set_parameter @a, %[[R]]#0
    // CHECK-NEXT: graph.set_parameter @b, %[[R]]#1
    %a = graph.get_parameter @a : tensor<6x8xf32>
    %0 = graph.mul %da, %rate : tensor<6x8xf32>, tensor<f32>
    %1 = graph.sub %a, %0 : tensor<6x8xf32>, tensor<6x8xf32>
    graph.set_parameter @a, %1 : tensor<6x8xf32>
    %b = graph.get_parameter @b : tensor<5xf32>
    %2 = graph.mul %db, %rate : tensor<5xf32>, tensor<f32>
    %3 = graph.sub %b, %2 : tensor<5xf32>, tensor<5xf32>
    graph.set_parameter @b, %3 : tensor<5xf32>
    return
  }
  // CHECK: rank.kernel @[[K]](%{{.*}}: tensor<f32>, %{{.*}}: tensor<1024xf32>, %{{.*}}: tensor<1024xf32>)
  // CHECK-SAME: in_parts
  // CHECK-NOT: rank.kernel
}

// -----

// No part of a launch reads a tensor that another part of it writes.
module attributes {dist.target = "cuda"} {
  graph.parameter @a : tensor<6xf32> = #graph.weight<"", 0, 0, tensor<6xf32>> trained
  graph.parameter @b : tensor<6xf32> = #graph.weight<"", 0, 0, tensor<6xf32>> trained
  // CHECK-LABEL: @updates_that_read_each_others_weights
  func.func @updates_that_read_each_others_weights() attributes {pipe.action = "U0"} {
    // CHECK-NOT: launch_parts
    // CHECK-COUNT-2: rank.launch @
    // CHECK-COUNT-2: graph.set_parameter
    %a = graph.get_parameter @a : tensor<6xf32>
    %b = graph.get_parameter @b : tensor<6xf32>
    %0 = graph.exp %b : tensor<6xf32>
    %1 = graph.exp %a : tensor<6xf32>
    graph.set_parameter @a, %0 : tensor<6xf32>
    graph.set_parameter @b, %1 : tensor<6xf32>
    return
  }
}

// -----

// A launch comes after those whose results it reads: two launches of two parts each.
module attributes {dist.target = "cuda"} {
  // CHECK-LABEL: @launches_that_wait
  func.func @launches_that_wait(%x: tensor<6x1xf32>, %y: tensor<8x1xf32>, %m: tensor<6x6xf32>, %n: tensor<8x8xf32>)
      -> (tensor<6x1xf32>, tensor<8x1xf32>) attributes {pipe.action = "U0"} {
    // CHECK-NEXT: %[[F:.*]]:2 = rank.launch_parts
    // CHECK-NEXT: graph.matmul
    // CHECK-NEXT: graph.matmul
    // CHECK-NEXT: %[[S:.*]]:2 = rank.launch_parts
    // CHECK-NEXT: return
    %0 = graph.exp %x : tensor<6x1xf32>
    %1 = graph.matmul %m, %0 : tensor<6x6xf32>, tensor<6x1xf32>
    %2 = graph.exp %1 : tensor<6x1xf32>
    %3 = graph.exp %y : tensor<8x1xf32>
    %4 = graph.matmul %n, %3 : tensor<8x8xf32>, tensor<8x1xf32>
    %5 = graph.exp %4 : tensor<8x1xf32>
    return %2, %5 : tensor<6x1xf32>, tensor<8x1xf32>
  }
}

// -----

// A row has one block: parts of a long one are rows of their own. Partial sums are f32.
module attributes {dist.target = "cuda"} {
  // CHECK-LABEL: @a_long_row_is_reduced_in_parts
  func.func @a_long_row_is_reduced_in_parts(%x: tensor<50257x768xbf16>) -> tensor<bf16> {
    // CHECK-NEXT: %[[PARTS:.*]] = rank.launch {{.*}}(%arg0) : (tensor<50257x768xbf16>) -> tensor<2784xf32>
    // CHECK-NEXT: rank.launch {{.*}}(%[[PARTS]]) : (tensor<2784xf32>) -> tensor<bf16>
    %0 = graph.mul %x, %x : tensor<50257x768xbf16>, tensor<50257x768xbf16>
    %1 = graph.reduce sum %0 over [0, 1] : tensor<50257x768xbf16>
    return %1 : tensor<bf16>
  }
  // CHECK-LABEL: @long_columns_are_reduced_in_parts
  func.func @long_columns_are_reduced_in_parts(%x: tensor<16x1024x768xf32>) -> tensor<1x1x768xf32> {
    // CHECK: rank.launch {{.*}} : (tensor<32x512x768xf32>) -> tensor<32x768xf32>
    // CHECK: rank.launch {{.*}} : (tensor<32x768xf32>) -> tensor<768xf32>
    %0 = graph.reduce mean %x over [0, 1] keep : tensor<16x1024x768xf32>
    return %0 : tensor<1x1x768xf32>
  }
  // CHECK-LABEL: @a_row_that_a_block_can_do
  func.func @a_row_that_a_block_can_do(%x: tensor<8x65536xf32>) -> tensor<8xf32> {
    // CHECK-NEXT: rank.launch {{.*}}(%arg0) : (tensor<8x65536xf32>) -> tensor<8xf32>
    // CHECK-NEXT: return
    %0 = graph.reduce sum %x over [1] : tensor<8x65536xf32>
    return %0 : tensor<8xf32>
  }
  // CHECK-LABEL: @a_prime_has_no_parts
  func.func @a_prime_has_no_parts(%x: tensor<1000003xf32>) -> tensor<f32> {
    // CHECK-NEXT: rank.launch {{.*}}(%arg0) : (tensor<1000003xf32>) -> tensor<f32>
    %0 = graph.reduce sum %x over [0] : tensor<1000003xf32>
    return %0 : tensor<f32>
  }
}

// -----

// CHECK-LABEL: @processors_reduce_long_rows_at_once
func.func @processors_reduce_long_rows_at_once(%x: tensor<2x100000xf32>) -> tensor<2xf32> {
  // CHECK-NEXT: rank.launch {{.*}}(%arg0) : (tensor<2x100000xf32>) -> tensor<2xf32>
  %0 = graph.reduce sum %x over [1] : tensor<2x100000xf32>
  return %0 : tensor<2xf32>
}

// -----

// Eighteen parts are joined in two steps, each of at most sixteen parts: a kernel has a branch per part.
// CHECK-LABEL: @many_parts
func.func @many_parts(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<36xf32> {
  %0 = graph.concat %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y, %x, %y along 0 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
  return %0 : tensor<36xf32>
}
// CHECK: %[[FIRST:.*]] = graph.concat {{(%[a-z0-9]+, ){15}%[a-z0-9]+}} along 0
// CHECK: %[[SECOND:.*]] = graph.concat {{%[a-z0-9]+, %[a-z0-9]+}} along 0
// CHECK: graph.concat %[[FIRST]], %[[SECOND]] along 0
