// RUN: pcc-opt --verify-local --split-input-file --verify-diagnostics %s

#whole = #dist.sharding<"[-]">

func.func @reshard_left(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{remains after 5-localize; it has to be a 'dist.collective'}}
  %0 = dist.reshard %x from #whole to #whole : tensor<8xf32> to tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

#half = #dist.sharding<"[8@tp:2]">

graph.parameter @w : tensor<8xf32>
func.func @weight_of_global_shape() -> tensor<8xf32> {
  // expected-error @below {{but its shard is 'tensor<4xf32>'}}
  %w = graph.get_parameter @w {dist.shardings = [#half]} : tensor<8xf32>
  return %w : tensor<8xf32>
}

// -----

graph.parameter @w : tensor<8xf32>
func.func @weight_without_sharding() -> tensor<8xf32> {
  // expected-error @below {{reads a weight without a sharding}}
  %w = graph.get_parameter @w : tensor<8xf32>
  return %w : tensor<8xf32>
}

// -----

#half = #dist.sharding<"[8@tp:2]">

graph.parameter @w : tensor<8xf32> trained
func.func @write_without_sharding() {
  %w = graph.get_parameter @w {dist.shardings = [#half]} : tensor<4xf32>
  %0 = graph.neg %w : tensor<4xf32>
  // expected-error @below {{writes a value that has no sharding}}
  graph.set_parameter @w, %0 : tensor<4xf32>
  return
}

// -----

#sum = #dist.sharding<"[-] partial sum(tp:2)">

func.func @not_linear(%x: tensor<8xf32> {dist.sharding = #sum}) -> tensor<8xf32> {
  // expected-error @below {{reads operand 0, which is partial sum(tp:2), before it is reduced}}
  %0 = graph.relu %x {dist.shardings = [#sum]} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

#sum = #dist.sharding<"[-] partial sum(tp:2)">
#whole = #dist.sharding<"[-]">

func.func @chosen_or_complete(%x: tensor<8xf32> {dist.sharding = #sum}, %y: tensor<8xf32> {dist.sharding = #whole},
                              %c: tensor<8xi1> {dist.sharding = #whole}) -> tensor<8xf32> {
  // expected-error @below {{reads operand 1, which is partial sum(tp:2), before it is reduced}}
  %0 = graph.select %c, %x, %y {dist.shardings = [#sum]} : tensor<8xi1>, tensor<8xf32>, tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

#max = #dist.sharding<"[-] partial max(tp:2)">

func.func @linear_but_no_sum(%x: tensor<8xf32> {dist.sharding = #max}) -> tensor<8xf32> {
  // expected-error @below {{reads operand 0, which is partial max(tp:2), before it is reduced}}
  %0 = graph.neg %x {dist.shardings = [#max]} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

#sum = #dist.sharding<"[-] partial sum(tp:2)">
#whole = #dist.sharding<"[-]">

func.func @added_on_every_rank(%x: tensor<8xf32> {dist.sharding = #sum}, %b: tensor<8xf32> {dist.sharding = #whole}) -> tensor<8xf32> {
  // expected-error @below {{adds a complete value to partial sum(tp:2) on every rank}}
  %0 = graph.add %x, %b {dist.shardings = [#sum]} : tensor<8xf32>, tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

#tp = #dist.sharding<"[-] partial sum(tp:2)">
#dp = #dist.sharding<"[-] partial sum(dp:2)">

func.func @of_two_axes(%x: tensor<8xf32> {dist.sharding = #tp}, %y: tensor<8xf32> {dist.sharding = #dp}) -> tensor<8xf32> {
  // expected-error @below {{mixes sum(tp:2) and sum(dp:2)}}
  %0 = graph.add %x, %y {dist.shardings = [#tp]} : tensor<8xf32>, tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

#sum = #dist.sharding<"[-] partial sum(tp:2)">

func.func @squared(%x: tensor<8xf32> {dist.sharding = #sum}) -> tensor<8xf32> {
  // expected-error @below {{reads 2 operands that are partial sum(tp:2); it is linear in one only}}
  %0 = graph.mul %x, %x {dist.shardings = [#sum]} : tensor<8xf32>, tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

#sum = #dist.sharding<"[-] partial sum(tp:2)">
#whole = #dist.sharding<"[-]">

func.func @forgotten(%x: tensor<8xf32> {dist.sharding = #sum}) -> tensor<8xf32> {
  // expected-error @below {{reads partial sum(tp:2), but its result does not record it}}
  %0 = graph.neg %x {dist.shardings = [#whole]} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

#columns = #dist.sharding<"[-, 8@tp:2]">
#rows = #dist.sharding<"[8@tp:2, -]">
#whole = #dist.sharding<"[-, -]">

func.func @never_reduced(%x: tensor<4x4xf32> {dist.sharding = #columns}, %w: tensor<4x6xf32> {dist.sharding = #rows}) -> tensor<4x6xf32> {
  // expected-error @below {{reduces a dim that ranks divide, but its result is not partial sum(tp:2)}}
  %0 = graph.matmul %x, %w {dist.shardings = [#whole]} : tensor<4x4xf32>, tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----

#columns = #dist.sharding<"[-, 8@tp:2]">
#max = #dist.sharding<"[-] partial max(tp:2)">

func.func @of_another_kind(%x: tensor<4x4xf32> {dist.sharding = #columns}) -> tensor<4xf32> {
  // expected-error @below {{but its result is not partial sum(tp:2)}}
  %0 = graph.reduce sum %x over [1] {dist.shardings = [#max]} : tensor<4x4xf32>
  return %0 : tensor<4xf32>
}

// -----

#whole = #dist.sharding<"[-]">
#sum = #dist.sharding<"[-] partial sum(tp:2)">

func.func @out_of_nothing(%x: tensor<8xf32> {dist.sharding = #whole}) -> tensor<8xf32> {
  // expected-error @below {{is marked partial sum(tp:2), but no reduction causes it}}
  %0 = graph.neg %x {dist.shardings = [#sum]} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

#whole = #dist.sharding<"[-]">
#sum = #dist.sharding<"[-] partial sum(tp:2)">

func.func @reduced_twice(%x: tensor<8xf32> {dist.sharding = #sum}) -> tensor<8xf32> {
  %0 = dist.collective all_reduce %x from #sum to #whole shape [8] received 32 value "y" {dist.shardings = [#whole]}
      : tensor<8xf32> to tensor<8xf32>
  // expected-error @below {{starts from [-] partial sum(tp:2), but its operand is [-]}}
  %1 = dist.collective all_reduce %0 from #sum to #whole shape [8] received 32 value "y" {dist.shardings = [#whole]}
      : tensor<8xf32> to tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

#sum = #dist.sharding<"[-] partial sum(tp:2)">

func.func @partial_result(%x: tensor<8xf32> {dist.sharding = #sum}) -> tensor<8xf32> {
  // expected-error @below {{reads a value that is partial sum(tp:2), but has no sharding rule}}
  return %x : tensor<8xf32>
}

// -----

#whole = #dist.sharding<"[-]">
#sum = #dist.sharding<"[-] partial sum(tp:2)">

func.func @sum_is_lost_on_its_way(%x: tensor<8xf32> {dist.sharding = #sum}) -> tensor<8xf32> {
  // expected-error @below {{sends a value with partial sum(tp:2), which arrives with partial none instead}}
  %0 = pipe.transfer %x from 0 to 1 {dist.shardings = [#whole]} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

#columns = #dist.sharding<"[-, 8@tp:2]">
#sum = #dist.sharding<"[-] partial sum(tp:2)">

func.func @mean_of_a_part(%x: tensor<4x4xf32> {dist.sharding = #columns}) -> tensor<4xf32> {
  // expected-error @below {{divides by 4, but all ranks have 8 elements}}
  %0 = graph.reduce mean %x over [1] {dist.shardings = [#sum]} : tensor<4x4xf32>
  return %0 : tensor<4xf32>
}

// -----

#channels = #dist.sharding<"[-, 6@tp:2, -]">
#filters = #dist.sharding<"[6@tp:2, -, -]">
#whole = #dist.sharding<"[-, -, -]">

func.func @channels_of_one_group(%x: tensor<1x3x4xf32> {dist.sharding = #channels},
                                 %w: tensor<3x2x1xf32> {dist.sharding = #filters}) -> tensor<1x2x4xf32> {
  // expected-error @below {{reduces a dim that ranks divide, but its result is not partial sum(tp:2)}}
  %0 = graph.conv_transpose %x, %w {dist.shardings = [#whole], strides = array<i64: 1>, pads = array<i64: 0, 0>,
      dilations = array<i64: 1>, output_pads = array<i64: 0>} : tensor<1x3x4xf32>, tensor<3x2x1xf32>
  return %0 : tensor<1x2x4xf32>
}

// -----

#sum = #dist.sharding<"[-] partial sum(tp:2)">

graph.parameter @w : tensor<8xf32> = <"w.bin", 0, 32, tensor<8xf32>>

func.func @partial_weight() -> tensor<8xf32> {
  // expected-error @below {{reads a weight as a partial value, but ranks store elements of the weight itself}}
  %0 = graph.get_parameter @w {dist.shardings = [#sum]} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

#half = #dist.sharding<"[8@tp:2]">
#whole = #dist.sharding<"[-]">

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
// expected-error @below {{result 'y' is marked [-], but the value that is returned has [tp]}}
func.func @other_output(%x: tensor<4xf32> {dist.sharding = #half})
    -> (tensor<4xf32> {dist.global = tensor<4xf32>, dist.sharding = #whole, graph.name = "y"}) {
  // expected-note @below {{the value is computed here}}
  %0 = graph.relu %x {dist.shardings = [#half]} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
}

// -----

#half = #dist.sharding<"[8@tp:2]">

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
// expected-error @below {{argument 'x' is [tp] of 'tensor<16xf32>': }}
func.func @other_global_size(%x: tensor<4xf32> {dist.global = tensor<16xf32>, dist.sharding = #half, graph.name = "x"}) {
  return
}
}

// -----

#half = #dist.sharding<"[8@tp:2]">

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
// expected-error @below {{result 'y' is 'tensor<8xf32>', but [tp] of 'tensor<8xf32>' is 'tensor<4xf32>'}}
func.func @whole_result(%x: tensor<8xf32>) -> (tensor<8xf32> {dist.global = tensor<8xf32>, dist.sharding = #half, graph.name = "y"}) {
  return %x : tensor<8xf32>
}
}

// -----

#whole = #dist.sharding<"[-]">
#sum = #dist.sharding<"[-] partial sum(tp:2)">

func.func @gather_of_a_sum(%x: tensor<8xf32> {dist.sharding = #sum}) {
  // expected-error @below {{is of kind all_gather, but [-] partial sum(tp:2) to [-] takes all_reduce}}
  %0 = dist.collective all_gather %x from #sum to #whole shape [8] received 32 value "x" {dist.shardings = [#whole]}
      : tensor<8xf32> to tensor<8xf32>
  return
}

// -----

#whole = #dist.sharding<"[-]">
#sum = #dist.sharding<"[-] partial sum(tp:2)">

func.func @scatter_to_the_whole(%x: tensor<8xf32> {dist.sharding = #sum}) {
  // expected-error @below {{is of kind reduce_scatter, but [-] partial sum(tp:2) to [-] takes all_reduce}}
  %0 = dist.collective reduce_scatter %x from #sum to #whole shape [8] received 32 value "x" {dist.shardings = [#whole]}
      : tensor<8xf32> to tensor<8xf32>
  return
}

// -----

#half = #dist.sharding<"[8@tp:2]">
#whole = #dist.sharding<"[-]">

func.func @exchange_of_a_slice(%x: tensor<8xf32> {dist.sharding = #whole}) {
  // expected-error @below {{is of kind exchange, but [-] to [tp:2] takes slice}}
  %0 = dist.collective exchange %x from #whole to #half shape [8] received 0 value "x" {dist.shardings = [#half]}
      : tensor<8xf32> to tensor<4xf32>
  return
}

// -----

#half = #dist.sharding<"[8@tp:2]">
#whole = #dist.sharding<"[-]">

func.func @other_bytes(%x: tensor<4xf32> {dist.sharding = #half}) {
  // expected-error @below {{says 'received 32', but a rank receives 16 bytes}}
  %0 = dist.collective all_gather %x from #half to #whole shape [8] received 32 value "x" {dist.shardings = [#whole]}
      : tensor<4xf32> to tensor<8xf32>
  return
}

// -----

#columns = #dist.sharding<"[-, 8@tp:2]">
#sum = #dist.sharding<"[8@tp:2, -] partial sum(ep:2)">

func.func @two_in_one(%x: tensor<4x8xf32> {dist.sharding = #sum}) {
  // expected-error @below {{but a tensor needs more than one collective}}
  %0 = dist.collective reduce_scatter %x from #sum to #columns shape [8, 8] received 64 value "x" {dist.shardings = [#columns]}
      : tensor<4x8xf32> to tensor<8x4xf32>
  return
}

// -----

#half = #dist.sharding<"[8@tp:2]">

func.func @needless(%x: tensor<4xf32> {dist.sharding = #half}) {
  // expected-error @below {{but a tensor needs no collective}}
  %0 = dist.collective exchange %x from #half to #half shape [8] received 0 value "x" {dist.shardings = [#half]}
      : tensor<4xf32> to tensor<4xf32>
  return
}

// -----

#rows = #dist.sharding<"[8@tp:2, -]">

func.func @other_size(%x: tensor<8x8xf32>) {
  // expected-error @below {{has a result 'tensor<8x8xf32>', but a shard of [tp:2, -] has 4 elements along dim 0}}
  %0 = graph.relu %x {dist.shardings = [#rows]} : tensor<8x8xf32>
  return
}

// -----

#columns = #dist.sharding<"[-, 8@tp:2]">
#bias = #dist.sharding<"[8@cp:2]">

func.func @bias_of_other_columns(%x: tensor<4x4xf32> {dist.sharding = #columns}, %bias: tensor<4xf32> {dist.sharding = #bias}) {
  // expected-error @below {{takes dim 1 of operand 0 as [tp:2], but dim 0 of operand 1 as [cp:2], whose elements belong together}}
  %0 = graph.add %x, %bias {dist.shardings = [#columns]} : tensor<4x4xf32>, tensor<4xf32>
  return
}

// -----

#image = #dist.sharding<"[-, 8@cp:2, -]">
#filters = #dist.sharding<"[8@tp:2, -, -]">

func.func @channels_of_other_filters(%x: tensor<1x3x8xf32>, %w: tensor<4x3x1xf32> {dist.sharding = #filters}) {
  // expected-error @below {{takes dim 0 of operand 1 as [tp:2], but dim 1 of result 0 as [cp:2], whose elements belong together}}
  %0 = graph.conv %x, %w {dilations = array<i64: 1>, dist.shardings = [#image], pads = array<i64: 0, 0>, strides = array<i64: 1>} : tensor<1x3x8xf32>, tensor<4x3x1xf32>
  return
}

// -----

#bias = #dist.sharding<"[8@cp:2]">
#channels = #dist.sharding<"[-, 8@tp:2, -]">

func.func @reshape_of_other_elements(%bias: tensor<4xf32> {dist.sharding = #bias}) {
  // expected-error @below {{gives [-, tp:2, -], but other axes split its operand, which is [cp:2]}}
  %0 = graph.reshape %bias {dist.shardings = [#channels]} : tensor<4xf32> to tensor<1x4x1xf32>
  return
}

// -----

#columns = #dist.sharding<"[-, 8@tp:2]">
#rows = #dist.sharding<"[8@tp:2, -]">
#max = #dist.sharding<"[-, -] partial max(tp:2)">

func.func @stage_0_forward(%x: tensor<4x4xf32> {dist.sharding = #columns}, %w: tensor<4x4xf32> {dist.sharding = #rows}) -> tensor<4x4xf32>
    attributes {pipe.action = "F", pipe.stage = 0 : i64} {
  // expected-error @below {{reduces a dim that ranks divide, but its result is not partial sum(tp:2)}}
  %0 = graph.matmul %x, %w {dist.shardings = [#max]} : tensor<4x4xf32>, tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
