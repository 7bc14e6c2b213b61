// RUN: pcc-opt %s --verify-diagnostics --split-input-file

// expected-error @below {{has a weight whose transforms do not fit its stored type}}
graph.parameter @transform_of_another_rank : tensor<4x3xf32>
    = #graph.weight<"model.bin", 0, 48, tensor<4x3xf32>, [#graph.permute<[0]>]>

// -----

// expected-error @below {{declares 'tensor<4x3xf32>', but its weight gives 'tensor<3x4xf32>'}}
graph.parameter @weight_of_another_shape : tensor<4x3xf32>
    = #graph.weight<"model.bin", 0, 48, tensor<4x3xf32>, [#graph.permute<[1, 0]>]>

// -----

func.func @undeclared_weight() -> tensor<4xf32> {
  // expected-error @below {{reads @w, which no graph.parameter declares}}
  %w = graph.get_parameter @w : tensor<4xf32>
  return %w : tensor<4xf32>
}

// -----

func.func @index_along_a_dim_that_is_not_there() -> tensor<4xi64> {
  // expected-error @below {{counts along dim 1 of a result of rank 1}}
  %i = graph.iota 1 : tensor<4xi64>
  return %i : tensor<4xi64>
}

// -----

// expected-error @below {{has both a weight and a fill value}}
graph.parameter @weight_that_is_filled : tensor<4xf32>
    = #graph.weight<"model.bin", 0, 16, tensor<4xf32>> fill 0.0

// -----

func.func @undeclared_state(%x: tensor<4xf32>) {
  // expected-error @below {{writes @w, which no graph.parameter declares}}
  graph.set_parameter @w, %x : tensor<4xf32>
  return
}

// -----

graph.parameter @w : tensor<4xf32>
func.func @a_weight_that_does_not_train(%x: tensor<4xf32>) {
  // expected-error @below {{writes @w, which is neither trained nor a state}}
  graph.set_parameter @w, %x : tensor<4xf32>
  return
}

// -----

// expected-error @below {{has a weight of type 'tensor<4xf32>' with 16 bytes at byte -1}}
graph.parameter @weight_before_its_file : tensor<4xf32> = #graph.weight<"model.bin", -1, 16, tensor<4xf32>>

// -----

// expected-error @below {{has a weight of type 'tensor<4xf32>' with 12 bytes at byte 0}}
graph.parameter @weight_of_fewer_bytes : tensor<4xf32> = #graph.weight<"model.bin", 0, 12, tensor<4xf32>>

// -----

// expected-error @below {{with 16 bytes at byte 9223372036854775807}}
graph.parameter @weight_beyond_all_files : tensor<4xf32>
    = #graph.weight<"model.bin", 9223372036854775807, 16, tensor<4xf32>>

// -----

// expected-error @below {{has a weight with #graph.slice<0, 2, 2, 2>, which does not fit 'tensor<4xf32>'}}
graph.parameter @slice_beyond_the_weight : tensor<2xf32>
    = #graph.weight<"model.bin", 0, 16, tensor<4xf32>, [#graph.slice<0, 2, 2, 2>]>

// -----

// The slice begins at the end of the dim.
// expected-error @below {{has a weight with #graph.slice<0, 4, 1, 2>, which does not fit 'tensor<4xf32>'}}
graph.parameter @weight_slice_behind_the_end : tensor<1xf32>
    = #graph.weight<"model.bin", 0, 16, tensor<4xf32>, [#graph.slice<0, 4, 1, 2>]>

// -----

// expected-error @below {{has type 'tensor<3xf32>', but belongs to @w of type 'tensor<4xf32>'}}
graph.parameter @w.momentum : tensor<3xf32> fill 0.0 of @w
graph.parameter @w : tensor<4xf32> trained
func.func @a_state_of_another_shape() -> tensor<3xf32> {
  %m = graph.get_parameter @w.momentum : tensor<3xf32>
  return %m : tensor<3xf32>
}

// -----

graph.parameter @w : tensor<4xf32>
func.func @a_weight_read_as_another_type() -> tensor<4xf64> {
  // expected-error @below {{has 'tensor<4xf64>' for @w, which is 'tensor<4xf32>'}}
  %w = graph.get_parameter @w : tensor<4xf64>
  return %w : tensor<4xf64>
}
