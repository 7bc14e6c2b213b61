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
