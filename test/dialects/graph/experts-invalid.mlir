// RUN: pcc-opt %s --verify-diagnostics --split-input-file

func.func @gates_of_one_dim(%gate: tensor<8xf32>) {
  // expected-error @below {{chooses 2 experts by gates of type 'tensor<8xf32>'}}
  %token, %expert, %weight, %counts = graph.group_rows %gate chosen 2 : tensor<8xf32>
  return
}

// -----

func.func @no_expert_chosen(%gate: tensor<3x8xf32>) {
  // expected-error @below {{chooses 0 experts by gates of type 'tensor<3x8xf32>'}}
  %token, %expert, %weight, %counts = graph.group_rows %gate chosen 0 : tensor<3x8xf32>
  return
}

// -----

func.func @rows_that_do_not_fit(%rows: tensor<6x4xf32>, %w: tensor<8x5x4xf32>, %c: tensor<8xi64>) {
  // expected-error @below {{multiplies rows 'tensor<6x4xf32>' by matrices 'tensor<8x5x4xf32>'}}
  %y = graph.grouped_matmul %rows, %w by %c : tensor<6x4xf32>, tensor<8x5x4xf32>, tensor<8xi64>
  return
}

// -----

func.func @counts_of_other_experts(%rows: tensor<6x4xf32>, %w: tensor<8x4x5xf32>,
                                   %c: tensor<7xi64>) {
  // expected-error @below {{has counts 'tensor<7xi64>' for the rows of matrices 'tensor<8x4x5xf32>'}}
  %y = graph.grouped_matmul %rows, %w by %c : tensor<6x4xf32>, tensor<8x4x5xf32>, tensor<7xi64>
  return
}

// -----

func.func @two_types(%rows: tensor<6x4xf32>, %w: tensor<8x4x5xbf16>, %c: tensor<8xi64>) {
  // expected-error @below {{mixes elements of 'tensor<6x4xf32>' and 'tensor<8x4x5xbf16>'}}
  %y = graph.grouped_matmul %rows, %w by %c : tensor<6x4xf32>, tensor<8x4x5xbf16>, tensor<8xi64>
  return
}
