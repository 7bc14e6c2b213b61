//===- BlocksTest.cpp - gradients of whole blocks of models ---------------===//

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

/// Returns a case with two heads of size 2 over 3 tokens. The last token is
/// padding.
static GradientCase transformerBlock() {
  return {"transformer_block",
          "%x: tensor<1x3x4xf64>, %s1: tensor<4xf64>, %b1: tensor<4xf64>, "
          "%wq: tensor<4x4xf64>, %wk: tensor<4x4xf64>, %wv: tensor<4x4xf64>, "
          "%wo: tensor<4x4xf64>, %s2: tensor<4xf64>, %b2: tensor<4xf64>, "
          "%w1: tensor<4x6xf64>, %c1: tensor<6xf64>, %w2: tensor<6x4xf64>",
          R"(
      %n = graph.layer_norm %x, %s1, %b1 from 2 epsilon 1.0e-5
           : tensor<1x3x4xf64>, tensor<4xf64>, tensor<4xf64>
      %q0 = graph.matmul %n, %wq : tensor<1x3x4xf64>, tensor<4x4xf64>
      %k0 = graph.matmul %n, %wk : tensor<1x3x4xf64>, tensor<4x4xf64>
      %v0 = graph.matmul %n, %wv : tensor<1x3x4xf64>, tensor<4x4xf64>
      %q1 = graph.reshape %q0 : tensor<1x3x4xf64> to tensor<1x3x2x2xf64>
      %k1 = graph.reshape %k0 : tensor<1x3x4xf64> to tensor<1x3x2x2xf64>
      %v1 = graph.reshape %v0 : tensor<1x3x4xf64> to tensor<1x3x2x2xf64>
      %q = graph.transpose %q1 [0, 2, 1, 3] : tensor<1x3x2x2xf64>
      %k = graph.transpose %k1 [0, 2, 1, 3] : tensor<1x3x2x2xf64>
      %v = graph.transpose %v1 [0, 2, 1, 3] : tensor<1x3x2x2xf64>
      %m = graph.constant dense<[true, true, false]> : tensor<3xi1>
      %a = graph.attention %q, %k, %v mask %m : tensor<3xi1>,
           {scale = 0.7 : f64, causal}
           : tensor<1x2x3x2xf64>, tensor<1x2x3x2xf64>, tensor<1x2x3x2xf64>
      %h0 = graph.transpose %a [0, 2, 1, 3] : tensor<1x2x3x2xf64>
      %h1 = graph.reshape %h0 : tensor<1x3x2x2xf64> to tensor<1x3x4xf64>
      %h2 = graph.matmul %h1, %wo : tensor<1x3x4xf64>, tensor<4x4xf64>
      %r = graph.add %x, %h2 : tensor<1x3x4xf64>, tensor<1x3x4xf64>
      %o = graph.layer_norm %r, %s2, %b2 from 2 epsilon 1.0e-5
           : tensor<1x3x4xf64>, tensor<4xf64>, tensor<4xf64>
      %u0 = graph.matmul %o, %w1 : tensor<1x3x4xf64>, tensor<4x6xf64>
      %u1 = graph.add %u0, %c1 : tensor<1x3x6xf64>, tensor<6xf64>
      %u = graph.gelu %u1 : tensor<1x3x6xf64>
      %d = graph.matmul %u, %w2 : tensor<1x3x6xf64>, tensor<6x4xf64>
      %y = graph.add %r, %d : tensor<1x3x4xf64>, tensor<1x3x4xf64>)"};
}

static GradientCase convBlock() {
  return {"conv_block",
          "%x: tensor<2x2x6x6xf64>, %w1: tensor<3x2x3x3xf64>, "
          "%b1: tensor<3x1x1xf64>, %w2: tensor<4x12xf64>",
          R"(
      %a = graph.conv %x, %w1 {strides = array<i64: 1, 1>,
           pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>}
           : tensor<2x2x6x6xf64>, tensor<3x2x3x3xf64>
      %b = graph.add %a, %b1 : tensor<2x3x6x6xf64>, tensor<3x1x1xf64>
      %c = graph.tanh %b : tensor<2x3x6x6xf64>
      %d = graph.pool max %c {window = array<i64: 3, 3>,
           strides = array<i64: 3, 3>, pads = array<i64: 0, 0, 0, 0>,
           dilations = array<i64: 1, 1>}
           : tensor<2x3x6x6xf64>
      %e = graph.reshape %d : tensor<2x3x2x2xf64> to tensor<2x12xf64>
      %f = graph.matmul %e, %w2 {transpose_rhs}
           : tensor<2x12xf64>, tensor<4x12xf64>
      %y = graph.softmax %f over 1 : tensor<2x4xf64>)"};
}

std::vector<GradientCase> pcc::graph::blockCases() {
  return {mlpBlock(), transformerBlock(), convBlock()};
}
