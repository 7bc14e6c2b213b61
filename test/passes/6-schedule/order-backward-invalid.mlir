// RUN: pcc-opt %s --order-backward --split-input-file --verify-diagnostics

module {
  // expected-error @below {{argument 0 takes result 0 of 'stage_0_shared', which does not exist}}
  func.func @stage_0(%d: tensor<2xf32> {pipe.held = {by = @stage_0_shared, result = 0 : i64}}) attributes {pipe.stage = 0 : i64} {
    return
  }
}

// -----

module {
  func.func @stage_0_shared() -> tensor<2xf32> attributes {pipe.stage = 0 : i64, pipe.action = "UNSHARD"} {
    %d = graph.loss_gradient : tensor<2xf32>
    return %d : tensor<2xf32>
  }
  // expected-error @below {{argument 0 takes result 1 of 'stage_0_shared', which does not exist}}
  func.func @stage_0(%d: tensor<2xf32> {pipe.held = {by = @stage_0_shared, result = 1 : i64}}) attributes {pipe.stage = 0 : i64} {
    return
  }
}
