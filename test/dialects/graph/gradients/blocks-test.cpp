//===- blocks-test.cpp - gradients of whole blocks of models --------------===//

#include "test/dialects/graph/gradients/Cases.h"

using namespace pcc::graph;

static GradientCase mlpBlock() {
  return {"mlp_block",
          "%x: tensor<3x4xf64>, %w1: tensor<4x5xf64>, %b1: tensor<5xf64>, "
          "%w2: tensor<5x4xf64>, %b2: tensor<4xf64>",
          R"(
      %a = graph.matmul %x, %w1 : tensor<3x4xf64>, tensor<4x5xf64>
      %b = graph.add %a, %b1 : tensor<3x5xf64>, tensor<5xf64>
      %c = graph.relu %b : tensor<3x5xf64>
      %d = graph.matmul %c, %w2 : tensor<3x5xf64>, tensor<5x4xf64>
      %e = graph.add %d, %b2 : tensor<3x4xf64>, tensor<4xf64>
      %f = graph.add %e, %x : tensor<3x4xf64>, tensor<3x4xf64>
      %p = graph.log_softmax %f over 1 : tensor<3x4xf64>
      %i = graph.constant dense<[[1], [3], [0]]> : tensor<3x1xi64>
      %l = graph.gather_elements %p, %i along 1 : tensor<3x4xf64>, tensor<3x1xi64>
      %m = graph.reduce mean %l over [0, 1] : tensor<3x1xf64>
      %y = graph.neg %m : tensor<f64>)"};
}

std::vector<GradientCase> pcc::graph::blockCases() { return {mlpBlock()}; }
