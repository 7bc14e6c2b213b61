// RUN: pcc-opt %s --verify-diagnostics --split-input-file

func.func @global_length() {
  // expected-error @below {{result is 'tensor<10xi64>', but its sharding gives}}
  %i = dist.global_index #dist.sharding<"[10@tp:4]"> of 10 : tensor<10xi64>
  return
}

// -----

func.func @index_of_floats() {
  // expected-error @below {{gives 'tensor<3xf32>', not a list of i64}}
  %i = dist.global_index #dist.sharding<"[10@tp:4]"> of 10 : tensor<3xf32>
  return
}
