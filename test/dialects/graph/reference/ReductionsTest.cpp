//===- ReductionsTest.cpp - the meaning of reductions and norms -----------===//

#include "test/dialects/graph/reference/Evaluated.h"
#include <gtest/gtest.h>

using namespace pcc::graph;

/// Returns the result of `op` on %x = [[1, 2, 6], [4, 5, 3]] of `type`.
static std::string onMatrix(const std::string &type, const std::string &op) {
  bool floats = type[0] == 'f';
  return evaluated(std::string("%x = graph.constant dense<") +
                   (floats ? "[[1.0, 2.0, 6.0], [4.0, 5.0, 3.0]]"
                           : "[[1, 2, 6], [4, 5, 3]]") +
                   "> : tensor<2x3x" + type + ">\n%y = " + op +
                   " : tensor<2x3x" + type + ">");
}

TEST(Reductions, EachKind) {
  EXPECT_EQ(onMatrix("i64", "graph.reduce sum %x over [0]"), "3: 5 7 9");
  EXPECT_EQ(onMatrix("f32", "graph.reduce mean %x over [1] keep"), "2x1: 3 4");
  EXPECT_EQ(onMatrix("i64", "graph.reduce mean %x over [1]"), "2: 3 4");
  EXPECT_EQ(onMatrix("f32", "graph.reduce mean %x over [1] divisor 4"),
            "2: 2.25 3");
  EXPECT_EQ(onMatrix("ui8", "graph.reduce max %x over [0, 1]"), ": 6");
  EXPECT_EQ(onMatrix("f32", "graph.reduce min %x over [0]"), "3: 1 2 3");
  EXPECT_EQ(onMatrix("i64", "graph.reduce prod %x over [1]"), "2: 12 60");
}

TEST(Reductions, NothingIsNeutral) {
  EXPECT_EQ(evaluated(R"(
    %x = graph.constant dense<> : tensor<0x2xf32>
    %y = graph.reduce max %x over [0] : tensor<0x2xf32>)"),
            "2: -inf -inf");
  EXPECT_EQ(onMatrix("f32", "graph.reduce sum %x over []"), "2x3: 1 2 6 4 5 3");
}

TEST(Reductions, ArgReduceTakesTheFirstOrLast) {
  EXPECT_EQ(onMatrix("f32", "graph.arg_reduce max %x over 1"), "2: 2 1");
  EXPECT_EQ(onMatrix("i64", "graph.arg_reduce min %x over 0 keep"),
            "1x3: 0 0 1");
  const char *equal = "%x = graph.constant dense<[3, 3, 1]> : tensor<3xi64>\n";
  EXPECT_EQ(evaluated(std::string(equal) +
                      "%y = graph.arg_reduce max %x over 0 : tensor<3xi64>"),
            ": 0");
  EXPECT_EQ(
      evaluated(std::string(equal) +
                "%y = graph.arg_reduce max %x over 0 last : tensor<3xi64>"),
      ": 1");
}

TEST(Reductions, TopKIsSortedAndStable) {
  EXPECT_EQ(evaluated(R"(
    %x = graph.constant dense<[2.0, 7.0, 2.0, 5.0]> : tensor<4xf32>
    %v, %i = graph.topk %x, 3 along 0 {largest = false} : tensor<4xf32>)"),
            "3: 2 2 5; 3: 0 2 3");
}

TEST(Reductions, CumSum) {
  EXPECT_EQ(onMatrix("i64", "graph.cumsum %x along 1"), "2x3: 1 3 9 4 9 12");
  EXPECT_EQ(onMatrix("i64", "graph.cumsum %x along 0 exclusive reverse"),
            "2x3: 4 5 3 0 0 0");
}

TEST(Norms, SoftmaxAlongEachDim) {
  EXPECT_EQ(evaluated(R"(
    %x = graph.constant dense<[[0.0, 1000.0], [0.0, 1000.0]]> : tensor<2x2xf64>
    %y = graph.softmax %x over 0 : tensor<2x2xf64>)"),
            "2x2: 0.5 0.5 0.5 0.5");
  EXPECT_EQ(evaluated(R"(
    %x = graph.constant dense<[0.0, 1000.0]> : tensor<2xf64>
    %y = graph.log_softmax %x over 0 : tensor<2xf64>)"),
            "2: -1000 0");
  EXPECT_EQ(evaluated(R"(
    %x = graph.constant dense<> : tensor<2x0x3xf64>
    %y = graph.softmax %x over 1 : tensor<2x0x3xf64>)"),
            "2x0x3:");
}

TEST(Norms, LayerNormCentres) {
  EXPECT_EQ(evaluated(R"(
    %x = graph.constant dense<[[1.0, 3.0], [5.0, 5.0]]> : tensor<2x2xf64>
    %s = graph.constant dense<[2.0, 1.0]> : tensor<2xf64>
    %b = graph.constant dense<[0.5, 0.0]> : tensor<2xf64>
    %y = graph.layer_norm %x, %s, %b from 1 epsilon 3.0
      : tensor<2x2xf64>, tensor<2xf64>, tensor<2xf64>)"),
            "2x2: -0.5 0.5 0.5 0");
}

TEST(Norms, RmsNormDoesNotCentre) {
  EXPECT_EQ(evaluated(R"(
    %x = graph.constant dense<[[3.0, 4.0]]> : tensor<1x2xf64>
    %s = graph.constant dense<[5.0, 10.0]> : tensor<2xf64>
    %y = graph.rms_norm %x, %s from 1 epsilon 12.5 : tensor<1x2xf64>, tensor<2xf64>)"),
            "1x2: 3 8");
}
