// RUN: pcc-opt --verify-sharded --split-input-file --verify-diagnostics %s

#half = #dist.sharding<"[8@tp:2]">
#whole = #dist.sharding<"[-]">
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
func.func @missing_reshard(%x: tensor<8xf32> {dist.sharding = #whole}) -> tensor<8xf32> {
  // expected-error @below {{takes operand 0 as [tp], but it is [-]}}
  %0 = graph.relu %x {dist.shardings = [#half], dist.split = #half} : tensor<8xf32>
  return %0 : tensor<8xf32>
}
}

// -----

#half = #dist.sharding<"[8@tp:2]">
#whole = #dist.sharding<"[-]">
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
func.func @wrong_mark(%x: tensor<8xf32> {dist.sharding = #half}) -> tensor<8xf32> {
  // expected-error @below {{gives [tp], but is marked [-]}}
  %0 = graph.relu %x {dist.shardings = [#whole], dist.split = #half} : tensor<8xf32>
  return %0 : tensor<8xf32>
}
}

// -----

#half = #dist.sharding<"[8@tp:2]">
#whole = #dist.sharding<"[-]">
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
func.func @reshard_of_something_else(%x: tensor<8xf32> {dist.sharding = #whole}) -> tensor<8xf32> {
  // expected-error @below {{but its operand is}}
  %0 = dist.reshard %x from #half to #whole {dist.shardings = [#whole]}
      : tensor<8xf32> to tensor<8xf32>
  return %0 : tensor<8xf32>
}
}

// -----

#ep = #dist.sharding<"[8@ep:2]">
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
// expected-error @below {{dim 0 uses axis 'ep', which the mesh does not have; it has tp=2}}
func.func @unknown_axis(%x: tensor<8xf32> {dist.sharding = #ep}) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
}

// -----

// expected-error @below {{a value of 'tensor<8xf32>' has no sharding; every value has one after 4-shard}}
func.func @nothing_decided(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// -----

#partial = #dist.sharding<"[-] partial sum(tp:2)">
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
// expected-error @below {{an output is partial}}
func.func @partial_output(%x: tensor<8xf32> {dist.sharding = #partial}) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
}

// -----

#columns = #dist.sharding<"[-, 8@t:2]">
module attributes {dist.mesh = #dist.mesh<t = 2>} {
func.func @hidden_communication(%x: tensor<4x8xf32> {dist.sharding = #columns}) -> tensor<4x8xf32> {
  // expected-error @below {{is split over t along a dim whose parts exchange values; after 4-shard it has to be replaced by ops that do so}}
  %y = graph.softmax %x over 1 {dist.shardings = [#columns], dist.split = #columns} : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
}

// -----

#whole = #dist.sharding<"[-]">
func.func @pin_left(%x: tensor<8xf32> {dist.sharding = #whole}) -> tensor<8xf32> {
  // expected-error @below {{remains after 4-shard; pins are for dumps of earlier phases}}
  %0 = dist.pin %x to #whole value "x" {dist.shardings = [#whole], dist.split = #whole} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

#half = #dist.sharding<"[8@dp:2]">
#whole = #dist.sharding<"[-]">
module attributes {dist.mesh = #dist.mesh<dp = 2>} {
graph.parameter @state : tensor<8xf32> fill 0.0
func.func @copy_that_is_not_updated() -> tensor<8xf32> {
  // expected-error @below {{reads 'state' on stage 0 as [-], in which no 'graph.set_parameter' of this stage writes it}}
  %0 = graph.get_parameter @state {dist.shardings = [#whole], dist.split = #whole} : tensor<8xf32>
  %1 = graph.get_parameter @state {dist.shardings = [#half], dist.split = #half} : tensor<8xf32>
  // expected-note @below {{stage 0 writes it as [dp]}}
  graph.set_parameter @state, %1 {dist.split = #half} : tensor<8xf32>
  return %0 : tensor<8xf32>
}
}

// -----

#scalar = #dist.sharding<"[]">
module attributes {dist.mesh = #dist.mesh<pp = 2>, pipe.stages = 2 : i64} {
graph.parameter @step : tensor<i64> fill 0.0
func.func @stages_that_count_apart() {
  %0 = graph.get_parameter @step {dist.shardings = [#scalar], dist.split = #scalar, pipe.stage = 0 : i64} : tensor<i64>
  %1 = graph.constant {dist.shardings = [#scalar], dist.split = #scalar, pipe.stage = 0 : i64} dense<1> : tensor<i64>
  %2 = graph.add %0, %1 {dist.shardings = [#scalar], dist.split = #scalar, pipe.stage = 0 : i64} : tensor<i64>, tensor<i64>
  // expected-note @below {{the other one is here}}
  graph.set_parameter @step, %2 {dist.split = #scalar, pipe.stage = 0 : i64} : tensor<i64>
  %3 = graph.get_parameter @step {dist.shardings = [#scalar], dist.split = #scalar, pipe.stage = 1 : i64} : tensor<i64>
  %4 = graph.constant {dist.shardings = [#scalar], dist.split = #scalar, pipe.stage = 1 : i64} dense<2> : tensor<i64>
  %5 = graph.add %3, %4 {dist.shardings = [#scalar], dist.split = #scalar, pipe.stage = 1 : i64} : tensor<i64>, tensor<i64>
  // expected-error @below {{writes 'step' on stage 1, but another value than stage 0 does}}
  graph.set_parameter @step, %5 {dist.split = #scalar, pipe.stage = 1 : i64} : tensor<i64>
  return
}
}

// -----

#vector = #dist.sharding<"[8@tp:2]">
#matrix = #dist.sharding<"[-, 8@tp:2]">
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
func.func @reshard_of_other_dims(%x: tensor<8x8xf32> {dist.sharding = #matrix}) -> tensor<8x8xf32> {
  // expected-error @below {{has a sharding of 1 dim for a shape of 2}}
  %0 = dist.reshard %x from #matrix to #vector {dist.shardings = [#matrix]} : tensor<8x8xf32> to tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
}

// -----

#rows = #dist.sharding<"[8@tp:2, -]">
#other_rows = #dist.sharding<"[6@tp:2, -]">
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
func.func @splits_of_other_sizes(%x: tensor<8x8xf32> {dist.sharding = #rows}) -> tensor<8x8xf32> {
  // expected-error @below {{has no 'dist.split' that fits its sharding rule}}
  %0 = graph.neg %x {dist.shardings = [#rows], dist.split = #other_rows} : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
}

// -----

#rows = #dist.sharding<"[8@tp:2, -]">
#blocks = #dist.sharding<"[2|8@tp:2, -]">
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
func.func @blocks_of_other_sizes(%x: tensor<8x8xf32> {dist.sharding = #rows}) -> tensor<8x8xf32> {
  // expected-error @below {{has no 'dist.split' that fits its sharding rule}}
  %0 = graph.neg %x {dist.shardings = [#rows], dist.split = #blocks} : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
}
