//===- WindowsTest.cpp - the meaning of convolutions and pools ------------===//

#include "test/dialects/graph/reference/Evaluated.h"
#include <gtest/gtest.h>

using namespace pcc::graph;

TEST(Conv, PadsStridesAndDilates) {
  const char *operands = R"(
    %x = graph.constant dense<[[[1.0, 2.0, 3.0, 4.0]]]> : tensor<1x1x4xf32>
    %w = graph.constant dense<[[[1.0, 10.0]]]> : tensor<1x1x2xf32>
    %y = graph.conv %x, %w )";
  const char *types = " : tensor<1x1x4xf32>, tensor<1x1x2xf32>";
  auto conv = [&](const std::string &attributes) {
    return evaluated(operands + attributes + types);
  };
  EXPECT_EQ(conv("{strides = array<i64: 1>, pads = array<i64: 1, 0>, "
                 "dilations = array<i64: 1>}"),
            "1x1x4: 10 21 32 43");
  EXPECT_EQ(conv("{strides = array<i64: 2>, pads = array<i64: 1, 1>, "
                 "dilations = array<i64: 2>}"),
            "1x1x2: 20 42");
}

TEST(Conv, GroupsKeepToThemselves) {
  EXPECT_EQ(evaluated(R"(
    %x = graph.constant dense<[[[[1.0, 2.0]], [[3.0, 4.0]]]]> : tensor<1x2x1x2xf32>
    %w = graph.constant dense<[[[[1.0]]], [[[2.0]]], [[[3.0]]], [[[4.0]]]]> : tensor<4x1x1x1xf32>
    %y = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>,
      dilations = array<i64: 1, 1>, group = 2} : tensor<1x2x1x2xf32>, tensor<4x1x1x1xf32>)"),
            "1x4x1x2: 1 2 2 4 9 12 12 16");
}

TEST(Conv, ChannelsAndTapsAreSummed) {
  EXPECT_EQ(evaluated(R"(
    %x = graph.constant dense<[[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]]> : tensor<1x2x2x2xf32>
    %w = graph.constant dense<[[[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]]]> : tensor<1x2x2x2xf32>
    %y = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 1, 1>,
      dilations = array<i64: 1, 1>} : tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>)"),
            "1x1x2x2: 18 10 11 4");
}

TEST(ConvTranspose, IsTheAdjoint) {
  EXPECT_EQ(evaluated(R"(
    %x = graph.constant dense<[[[1.0, 2.0]]]> : tensor<1x1x2xf32>
    %w = graph.constant dense<[[[1.0, 10.0, 100.0]]]> : tensor<1x1x3xf32>
    %y = graph.conv_transpose %x, %w {strides = array<i64: 2>, pads = array<i64: 1, 0>,
      dilations = array<i64: 1>, output_pads = array<i64: 1>} : tensor<1x1x2xf32>, tensor<1x1x3xf32>)"),
            "1x1x5: 10 102 20 200 0");
  EXPECT_EQ(evaluated(R"(
    %x = graph.constant dense<[[[1.0], [2.0]]]> : tensor<1x2x1xf32>
    %w = graph.constant dense<[[[3.0], [4.0]], [[5.0], [6.0]]]> : tensor<2x2x1xf32>
    %y = graph.conv_transpose %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0>,
      dilations = array<i64: 1>, output_pads = array<i64: 0>} : tensor<1x2x1xf32>, tensor<2x2x1xf32>)"),
            "1x2x1: 13 16");
}

/// Returns [-1, -2, -3] pooled by windows of 2, with one padding element before
/// and two after them.
static std::string pooled(const std::string &kind) {
  return evaluated(R"(
    %x = graph.constant dense<[[[-1.0, -2.0, -3.0]]]> : tensor<1x1x3xf64>
    %y = graph.pool )" +
                   kind + R"( %x {window = array<i64: 2>,
      strides = array<i64: 2>, pads = array<i64: 1, 2>,
      dilations = array<i64: 1>} : tensor<1x1x3xf64>)");
}

TEST(Pool, PaddingNeverCountsUnlessAsked) {
  EXPECT_EQ(pooled("max"), "1x1x3: -1 -2 -inf");
  EXPECT_EQ(pooled("average"), "1x1x3: -1 -2.5 nan");
  EXPECT_EQ(pooled("average_with_padding"), "1x1x3: -0.5 -2.5 0");
}

TEST(Pool, TwoDims) {
  EXPECT_EQ(evaluated(R"(
    %x = graph.constant dense<[[[[1, 2, 3], [4, 5, 6], [7, 8, 9]]]]> : tensor<1x1x3x3xui8>
    %y = graph.pool max %x {window = array<i64: 2, 2>, strides = array<i64: 1, 1>,
      pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 2>}
      : tensor<1x1x3x3xui8>)"),
            "1x1x2x1: 6 9");
}
