//===- ReductionsTest.cpp - gradients of reductions and norms -------------===//

#include "test/dialects/graph/gradients/Cases.h"
#include <gtest/gtest.h>

using namespace pcc::graph;

/// Returns a case of `op` on %x of shape `shape`.
static GradientCase of(const std::string &name, const std::string &shape,
                       const std::string &op) {
  std::string type = "tensor<" + shape + "xf64>";
  return {name, "%x: " + type, op + " : " + type};
}

static std::vector<GradientCase> reductions() {
  return {
      of("sum", "2x3x4", "%y = graph.reduce sum %x over [0, 2]"),
      of("sum_kept", "2x3", "%y = graph.reduce sum %x over [1] keep"),
      of("sum_of_all", "2x3", "%y = graph.reduce sum %x over [0, 1]"),
      of("sum_over_nothing", "2x3", "%y = graph.reduce sum %x over []"),
      of("mean", "2x3x4", "%y = graph.reduce mean %x over [1, 2]"),
      of("mean_with_divisor", "2x3",
         "%y = graph.reduce mean %x over [1] divisor 7"),
      of("max", "3x4", "%y = graph.reduce max %x over [1]"),
      of("min_kept", "3x4", "%y = graph.reduce min %x over [0] keep"),
      of("prod", "3x4", "%y = graph.reduce prod %x over [1]"),
      of("cumsum", "3x4", "%y = graph.cumsum %x along 1"),
      of("cumsum_exclusive", "3x4", "%y = graph.cumsum %x along 0 exclusive"),
      of("cumsum_reverse", "3x4", "%y = graph.cumsum %x along 1 reverse"),
      of("cumsum_both", "3x4",
         "%y = graph.cumsum %x along 1 exclusive reverse"),
      of("topk", "3x5", "%y, %i = graph.topk %x, 2 along 1"),
      of("topk_smallest_first_dim", "4x3",
         "%y, %i = graph.topk %x, 3 along 0 {largest = false}"),
      of("top_1", "3x5", "%y, %i = graph.topk %x, 1 along 1")};
}

static std::vector<GradientCase> norms() {
  const char *row = "%x: tensor<2x3x4xf64>, %s: tensor<4xf64>";
  const char *rows = "%x: tensor<2x3x4xf64>, %s: tensor<3x4xf64>";
  return {
      of("softmax", "2x5", "%y = graph.softmax %x over 1"),
      of("softmax_first_dim", "3x2x2", "%y = graph.softmax %x over 0"),
      of("log_softmax", "2x5", "%y = graph.log_softmax %x over 1"),
      of("log_softmax_middle_dim", "2x3x2", "%y = graph.log_softmax %x over 1"),
      {"layer_norm", std::string(row) + ", %b: tensor<4xf64>", R"(
        %y = graph.layer_norm %x, %s, %b from 2 epsilon 1.0e-5
             : tensor<2x3x4xf64>, tensor<4xf64>, tensor<4xf64>)"},
      {"layer_norm_without_bias", rows, R"(
        %y = graph.layer_norm %x, %s from 1 epsilon 1.0e-2
             : tensor<2x3x4xf64>, tensor<3x4xf64>)"},
      {"layer_norm_of_all", "%x: tensor<5xf64>, %s: tensor<5xf64>", R"(
        %y = graph.layer_norm %x, %s from 0 epsilon 1.0e-5
             : tensor<5xf64>, tensor<5xf64>)"},
      {"layer_norm_in_bf16", "%x: tensor<2x4xbf16>, %s: tensor<4xbf16>", R"(
        %y = graph.layer_norm %x, %s from 1 epsilon 1.0e-2
             : tensor<2x4xbf16>, tensor<4xbf16>)"},
      {"rms_norm", row, R"(
        %y = graph.rms_norm %x, %s from 2 epsilon 1.0e-5
             : tensor<2x3x4xf64>, tensor<4xf64>)"},
      {"rms_norm_of_rows", rows, R"(
        %y = graph.rms_norm %x, %s from 1 epsilon 1.0e-2
             : tensor<2x3x4xf64>, tensor<3x4xf64>)"}};
}

std::vector<GradientCase> pcc::graph::reductionCases() {
  std::vector<GradientCase> cases = reductions();
  for (GradientCase &c : norms())
    cases.push_back(std::move(c));
  return cases;
}

TEST(ReductionGradients, EqualElementsShare) {
  EXPECT_EQ(gradientsAt(of("", "2x3", "%y = graph.reduce max %x over [1]"),
                        {{1, 4, 4, 2, 2, 2}}),
            "0 0.5 0.5 0.333333 0.333333 0.333333");
  EXPECT_EQ(gradientsAt(of("", "3", "%y = graph.reduce min %x over [0]"),
                        {{1, 4, 1}}),
            "0.5 0 0.5");
}

TEST(ReductionGradients, ProductsWithZeros) {
  EXPECT_EQ(gradientsAt(of("", "3x3", "%y = graph.reduce prod %x over [1]"),
                        {{2, 3, 4, 2, 0, 4, 0, 0, 4}}),
            "12 8 6 0 8 0 0 0 0");
}

TEST(ReductionGradients, SoftmaxFarOutIsFinite) {
  EXPECT_EQ(
      gradientsAt(of("", "2", "%y = graph.log_softmax %x over 0"), {{0, 1000}}),
      "1 -1");
}

TEST(ReductionGradients, NarrowRowsAreComputedInF32) {
  GradientCase c{"", "%x: tensor<2x3xbf16>",
                 "%y = graph.softmax %x over 1 : tensor<2x3xbf16>"};
  EXPECT_EQ(opsBuilt(c, {0}), "graph.cast graph.cast graph.mul graph.reduce "
                              "graph.sub graph.mul graph.cast");
}
