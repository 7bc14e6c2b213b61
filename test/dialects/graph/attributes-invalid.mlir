// RUN: pcc-opt %s --verify-diagnostics --split-input-file

// expected-error @below {{attribute 'graph.trainin' is unknown; did you mean graph.training?}}
module attributes {graph.trainin = {}} {}

// -----

// No declared name is near.
// expected-error @below {{attribute 'graph.quantized_as' is unknown}}
module attributes {graph.quantized_as = i8} {}

// -----

// expected-error @below {{attribute 'graph.names' of argument 1 is unknown; did you mean graph.name?}}
func.func @misspelt_on_an_argument(%x: tensor<4xf32>, %y: tensor<4xf32> {graph.names = "y"}) { return }

// -----

// expected-error @below {{attribute 'graph.name' of result 0 needs a string, got 3}}
func.func @no_string(%x: tensor<4xf32>) -> (tensor<4xf32> {graph.name = 3 : i64}) { return %x : tensor<4xf32> }

// -----

func.func @wrong_place(%x: tensor<4xf32>) {
  // expected-error @below {{attribute 'graph.model' belongs on a module, not on graph.relu}}
  %y = graph.relu %x {graph.model = "m.onnx"} : tensor<4xf32>
  return
}

// -----

// expected-error @below {{attribute 'graph.name' belongs on an op, an argument or a result, not on a function}}
func.func @a_function_has_none(%x: tensor<4xf32>) attributes {graph.name = "x"} { return }

// -----

func.func @wrong_op(%x: tensor<4xf32>) {
  // expected-error @below {{attribute 'graph.chosen' belongs on graph.einsum, not on graph.relu}}
  %y = graph.relu %x {graph.chosen = 2 : i64} : tensor<4xf32>
  return
}

// -----

func.func @too_small(%gate: tensor<8x4xf32>, %x: tensor<4x8x2xf32>) {
  // expected-error @below {{attribute 'graph.chosen' needs an i64 from 1 to 2147483647, got 0}}
  %y = graph.einsum "te,etd->td" %gate, %x {graph.chosen = 0 : i64} : tensor<8x4xf32>, tensor<4x8x2xf32>
  return
}

// -----

// expected-error @below {{attribute 'graph.batch_dim' of argument 0 needs the index of a dim of a tensor with 2 dims, got 2}}
func.func @no_such_dim(%x: tensor<8x4xf32> {graph.batch_dim = 2 : i64}) { return }

// -----

// expected-error @below {{attribute 'graph.dims' of argument 0 needs 2 entries, one per dim, got 1}}
func.func @too_few_names(%x: tensor<8x4xf32> {graph.dims = ["batch"]}) { return }

// -----

func.func @no_value(%x: tensor<4xf32>) {
  // expected-error @below {{attribute 'graph.pinned' needs no value, got "y"}}
  %y = graph.relu %x {graph.pinned = "y"} : tensor<4xf32>
  return
}

// -----

func.func @no_symbol(%x: tensor<4xf32>) {
  // expected-error @below {{attribute 'graph.updates' needs a symbol, got "w"}}
  %y = graph.relu %x {graph.updates = "w"} : tensor<4xf32>
  return
}

// -----

// expected-error @below {{attribute 'graph.bound_dims' needs a dictionary of i64, got {batch = "8"}}}
module attributes {graph.bound_dims = {batch = "8"}} {}

// -----

// expected-error @below {{attribute 'graph.inputs' needs an array of dictionaries, got ["x"]}}
module attributes {graph.inputs = ["x"]} {}

// -----

// expected-error @below {{attribute 'graph.precision' needs a type, got "bf16"}}
module attributes {graph.precision = "bf16"} {}
