// RUN: pcc-opt %s --verify-diagnostics --split-input-file

func.func @misspelt(%x: tensor<4xf32>) {
  // expected-error @below {{attribute 'dist.shardigns' is unknown; did you mean dist.shardings or dist.sharding?}}
  %y = graph.relu %x {dist.shardigns = [#dist.sharding<"[-]">]} : tensor<4xf32>
  return
}

// -----

func.func @wrong_kind(%x: tensor<4xf32>) {
  // expected-error @below {{attribute 'dist.shardings' needs an array of #dist.sharding, got "[-]"}}
  %y = graph.relu %x {dist.shardings = "[-]"} : tensor<4xf32>
  return
}

// -----

func.func @wrong_number(%x: tensor<4xf32>) {
  // expected-error @below {{attribute 'dist.shardings' needs 1 entry, one per result of the op, got 2}}
  %y = graph.relu %x {dist.shardings = [#dist.sharding<"[-]">, #dist.sharding<"[-]">]} : tensor<4xf32>
  return
}

// -----

func.func @wrong_rank(%x: tensor<4xf32>) {
  // expected-error @below {{attribute 'dist.shardings' needs a sharding of 1 dim, as the tensor has, got 2}}
  %y = graph.relu %x {dist.shardings = [#dist.sharding<"[-, -]">]} : tensor<4xf32>
  return
}

// -----

// expected-error @below {{attribute 'dist.sharding' of argument 0 needs a sharding of 1 dim, as the tensor has, got 2}}
func.func @wrong_rank_of_an_argument(%x: tensor<4xf32> {dist.sharding = #dist.sharding<"[-, -]">}) { return }

// -----

// expected-error @below {{attribute 'dist.sharding' needs a sharding of 1 dim, as the tensor has, got 2}}
graph.parameter @w : tensor<4xf32> {dist.sharding = #dist.sharding<"[-, -]">}

// -----

func.func @wrong_op(%x: tensor<4xf32>) {
  // expected-error @below {{attribute 'dist.sharding' belongs on an argument, a result or graph.parameter, not on graph.relu}}
  %y = graph.relu %x {dist.sharding = #dist.sharding<"[-]">} : tensor<4xf32>
  return
}

// -----

// expected-error @below {{attribute 'dist.mesh' needs a #dist.mesh, got "tp=2"}}
module attributes {dist.mesh = "tp=2"} {}

// -----

// expected-error @below {{attribute 'dist.target' needs "cpu" or "cuda", got "rocm"}}
module attributes {dist.target = "rocm"} {}

// -----

// expected-error @below {{attribute 'dist.experts' needs an i64 from 1 to 2147483647, got 0}}
module attributes {dist.experts = 0 : i64} {}

// -----

// expected-error @below {{attribute 'dist.decisions' belongs in the metadata of a location, not on a module}}
module attributes {dist.decisions = []} {}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
func.func @unknown_axis(%x: tensor<4xf32>) {
  // expected-error @below {{'dist.shardings': dim 0 uses axis 'tq', which the mesh does not have; it has tp=2}}
  %y = graph.relu %x {dist.shardings = [#dist.sharding<"[4@tq:2]">]} : tensor<4xf32>
  return
}
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
// expected-error @below {{'dist.sharding': dim 0 uses sub-axis tp:(1)4, which does not divide axis 'tp' of size 2}}
func.func @too_large(%x: tensor<4xf32> {dist.sharding = #dist.sharding<"[4@tp:4]">}) {
  %y = graph.relu %x {dist.shardings = [#dist.sharding<"[-]">]} : tensor<4xf32>
  return
}
}

// -----

#whole = #dist.sharding<"[-]">
#split = #dist.sharding<"[4@tq:2]">
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
func.func @unknown_axis_of_a_reshard(%x: tensor<4xf32>) {
  // expected-error @below {{'to': dim 0 uses axis 'tq'}}
  %y = dist.reshard %x from #whole to #split : tensor<4xf32> to tensor<4xf32>
  return
}
}

// -----

func.func @no_split(%x: tensor<4xf32>) {
  // expected-error @below {{attribute 'dist.through' needs 'dist.split' beside it}}
  %y = graph.relu %x {dist.through = array<i64: 0>} : tensor<4xf32>
  return
}

// -----

func.func @nothing_passes(%x: tensor<4xf32>) {
  // expected-error @below {{attribute 'dist.through' needs 0 entries, one per partial of 'dist.split', got 1}}
  %y = graph.relu %x {dist.split = #dist.sharding<"[-]">, dist.through = array<i64: 0>} : tensor<4xf32>
  return
}

// -----

func.func @no_such_operand(%x: tensor<4xf32>) {
  // expected-error @below {{attribute 'dist.through' needs -1 or the index of an operand (1 operand), got 1}}
  %y = graph.relu %x {dist.split = #dist.sharding<"[-] partial sum(tp:2)">, dist.through = array<i64: 1>} : tensor<4xf32>
  return
}

// -----

func.func @no_window(%x: tensor<4xf32>) {
  // expected-error @below {{attribute 'dist.windows' needs indices of windows, got -1}}
  %y = graph.relu %x {dist.split = #dist.sharding<"[-]">, dist.windows = array<i64: -1>} : tensor<4xf32>
  return
}

// -----

// expected-error @below {{attribute 'dist.global' of argument 0 needs the type of a ranked tensor, got i64}}
func.func @no_tensor(%x: tensor<4xf32> {dist.global = i64}) { return }

// -----

// expected-error @below {{attribute 'dist.global' of argument 0 needs a type of 1 dim, as the tensor has, got 2}}
func.func @another_rank(%x: tensor<4xf32> {dist.global = tensor<4x4xf32>}) { return }

// -----

// expected-error @below {{the mesh has two axes 'dp'}}
module attributes {dist.mesh = #dist.mesh<dp = 2, dp = 2>} {}
