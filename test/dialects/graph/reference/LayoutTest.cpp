//===- LayoutTest.cpp - the meaning of ops that move elements -------------===//

#include "test/dialects/graph/reference/Evaluated.h"
#include <gtest/gtest.h>

using namespace pcc::graph;

/// Returns the result of `op` on %x = [[1, 2, 3], [4, 5, 6]].
static std::string onMatrix(const std::string &op) {
  return evaluated("%x = graph.constant dense<[[1, 2, 3], [4, 5, 6]]> : "
                   "tensor<2x3xi64>\n%z = graph.constant dense<0> : "
                   "tensor<i64>\n%y = " +
                   op);
}

TEST(Layout, MovesElements) {
  EXPECT_EQ(onMatrix("graph.transpose %x [1, 0] : tensor<2x3xi64>"),
            "3x2: 1 4 2 5 3 6");
  EXPECT_EQ(onMatrix("graph.reshape %x : tensor<2x3xi64> to tensor<6xi64>"),
            "6: 1 2 3 4 5 6");
  EXPECT_EQ(onMatrix("graph.slice %x starts [1, 2] sizes [1, 2] steps [1, -2] "
                     ": tensor<2x3xi64>"),
            "1x2: 6 4");
  EXPECT_EQ(onMatrix("graph.concat %x, %x along 1 : tensor<2x3xi64>, "
                     "tensor<2x3xi64>"),
            "2x6: 1 2 3 1 2 3 4 5 6 4 5 6");
}

TEST(Layout, TensorsMayBeEmpty) {
  EXPECT_EQ(onMatrix("graph.slice %x starts [1, 2] sizes [0, 1] steps [1, 1] "
                     ": tensor<2x3xi64>"),
            "0x1:");
  EXPECT_EQ(evaluated(R"(
    %x = graph.constant dense<> : tensor<4x0xi64>
    %y = graph.slice %x starts [2, 0] sizes [2, 0] steps [1, 1] : tensor<4x0xi64>
    %z = graph.concat %x, %y along 0 : tensor<4x0xi64>, tensor<2x0xi64>)"),
            "6x0:");
}

TEST(Layout, BroadcastRepeatsAndPrepends) {
  EXPECT_EQ(evaluated(R"(
    %x = graph.constant dense<[[1], [2]]> : tensor<2x1xi64>
    %y = graph.broadcast %x : tensor<2x1xi64> to tensor<2x2x2xi64>)"),
            "2x2x2: 1 1 2 2 1 1 2 2");
}

TEST(Layout, PadFillsAndCuts) {
  EXPECT_EQ(onMatrix("graph.pad constant %x with %z : tensor<i64>, low [0, 1] "
                     "high [1, -1] : tensor<2x3xi64>"),
            "3x3: 0 1 2 0 4 5 0 0 0");
  EXPECT_EQ(
      onMatrix("graph.pad edge %x low [0, 2] high [0, 1] : tensor<2x3xi64>"),
      "2x6: 1 1 1 2 3 3 4 4 4 5 6 6");
  EXPECT_EQ(
      onMatrix("graph.pad reflect %x low [0, 2] high [0, 1] : tensor<2x3xi64>"),
      "2x6: 3 2 1 2 3 2 6 5 4 5 6 5");
  EXPECT_EQ(
      onMatrix("graph.pad wrap %x low [0, 2] high [0, 1] : tensor<2x3xi64>"),
      "2x6: 2 3 1 2 3 1 5 6 4 5 6 4");
}

TEST(Layout, RotaryTurnsHalvesOrPairs) {
  const char *tables = R"(
    %x = graph.constant dense<[[1.0, 2.0, 3.0, 4.0]]> : tensor<1x4xf32>
    %c = graph.constant dense<[0.0, 1.0, 0.0, 1.0]> : tensor<4xf32>
    %s = graph.constant dense<[1.0, 0.5, 1.0, 0.5]> : tensor<4xf32>
  )";
  EXPECT_EQ(evaluated(std::string(tables) +
                      "%y = graph.rotary %x, %c, %s : tensor<1x4xf32>, "
                      "tensor<4xf32>, tensor<4xf32>"),
            "1x4: -3 0 1 5");
  EXPECT_EQ(evaluated(std::string(tables) +
                      "%y = graph.rotary %x, %c, %s interleaved : "
                      "tensor<1x4xf32>, tensor<4xf32>, tensor<4xf32>"),
            "1x4: -2 2.5 -4 5.5");
}

/// Returns [1, 2, 4] resized to `size`.
static std::string resized(const std::string &mode, const std::string &scale,
                           const std::string &size,
                           const std::string &coordinates,
                           const std::string &more = "") {
  return evaluated("%x = graph.constant dense<[1.0, 2.0, 4.0]> : tensor<3xf64>"
                   "\n%y = graph.resize " +
                   mode + " %x {scales = array<f64: " + scale +
                   ">, coordinates = \"" + coordinates +
                   "\", rounding = \"floor\"" + more +
                   "} : tensor<3xf64> to tensor<" + size + "xf64>");
}

TEST(Layout, ResizeSamples) {
  EXPECT_EQ(resized("nearest", "2.0", "6", "asymmetric"), "6: 1 1 2 2 4 4");
  EXPECT_EQ(resized("linear", "2.0", "6", "half_pixel"),
            "6: 1 1.25 1.75 2.5 3.5 4");
  EXPECT_EQ(resized("linear", "1.6666", "5", "align_corners"),
            "5: 1 1.5 2 3 4");
  EXPECT_EQ(resized("linear", "0.3333", "1", "pytorch_half_pixel"), "1: 1");
  // At 0.5: (-0.09375, 0.59375, 0.59375, -0.09375) · (1, 1, 2, 4).
  EXPECT_EQ(resized("cubic", "2.0", "6", "asymmetric", ", cubic = -0.75"),
            "6: 1 1.3125 2 3.09375 4 4.1875");
}
