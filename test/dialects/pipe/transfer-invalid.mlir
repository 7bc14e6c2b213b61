// RUN: pcc-opt %s --verify-diagnostics --split-input-file

func.func @to_itself(%x: tensor<4xf32>) {
  // expected-error @below {{goes from stage 1 to itself}}
  %y = pipe.transfer %x from 1 to 1 : tensor<4xf32>
  return
}

// -----

func.func @another_type(%x: tensor<4xf32>) -> tensor<3xf32> {
  // expected-note @above {{prior use here}}
  // expected-error @below {{expects different type than prior uses}}
  %y = pipe.transfer %x from 0 to 1 : tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

func.func @of_another_stage(%x: tensor<4xf32>) {
  // expected-error @below {{goes to stage 1, but is an op of stage 0}}
  %y = pipe.transfer %x from 0 to 1 {pipe.stage = 0 : i64} : tensor<4xf32>
  return
}
