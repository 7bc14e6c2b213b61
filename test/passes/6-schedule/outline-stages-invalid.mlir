// RUN: pcc-opt --outline-stages --split-input-file --verify-diagnostics %s

// expected-error @below {{phase '6-schedule' needs the model in @main}}
module {
  func.func @model(%x: tensor<8xf32>) -> tensor<8xf32> {
    return %x : tensor<8xf32>
  }
}
