//===- FoldTest.cpp - graph ops on constants become constants -------------===//

#include "test/dialects/graph/reference/Evaluated.h"
#include <gtest/gtest.h>

using namespace pcc::graph;

TEST(Fold, ShapeArithmetic) {
  EXPECT_EQ(folded(R"(
    %a = graph.constant dense<[2, 3]> : tensor<2xi64>
    %b = graph.constant dense<4> : tensor<i64>
    %c = graph.mul %a, %b : tensor<2xi64>, tensor<i64>)"),
            "dense<[8, 12]> : tensor<2xi64>");
}

TEST(Fold, BooleansAreBits) {
  EXPECT_EQ(folded(R"(
    %a = graph.constant dense<[1, 5, 3]> : tensor<3xi64>
    %b = graph.constant dense<[2, 2, 3]> : tensor<3xi64>
    %c = graph.compare lt %a, %b : tensor<3xi64>, tensor<3xi64>)"),
            "dense<[true, false, false]> : tensor<3xi1>");
  EXPECT_EQ(folded(R"(
    %a = graph.constant dense<[true, false]> : tensor<2xi1>
    %b = graph.cast %a : tensor<2xi1> to tensor<2xf32>)"),
            "dense<[1.000000e+00, 0.000000e+00]> : tensor<2xf32>");
}

TEST(Fold, EqualElementsAreASplat) {
  EXPECT_EQ(folded(R"(
    %a = graph.constant dense<1.0> : tensor<f16>
    %b = graph.broadcast %a : tensor<f16> to tensor<4x4xf16>)"),
            "dense<1.000000e+00> : tensor<4x4xf16>");
}

TEST(Fold, SeveralResults) {
  EXPECT_EQ(folded(R"(
    %a = graph.constant dense<[3, 9, 4]> : tensor<3xi32>
    %v, %i = graph.topk %a, 2 along 0 : tensor<3xi32>)"),
            "dense<[9, 4]> : tensor<2xi32>; dense<[1, 2]> : tensor<2xi64>");
}

TEST(Fold, IndicesWithoutOperands) {
  EXPECT_EQ(folded("%a = graph.iota 0 : tensor<3xi64>"),
            "dense<[0, 1, 2]> : tensor<3xi64>");
}

TEST(Fold, TypesRoundAndWrap) {
  EXPECT_EQ(folded(R"(
    %a = graph.constant dense<[200, 100]> : tensor<2xui8>
    %b = graph.add %a, %a : tensor<2xui8>, tensor<2xui8>)"),
            "dense<[144, 200]> : tensor<2xui8>");
  EXPECT_EQ(folded(R"(
    %a = graph.constant dense<1.00390625> : tensor<1xf32>
    %b = graph.cast %a : tensor<1xf32> to tensor<1xbf16>)"),
            "dense<1.000000e+00> : tensor<1xbf16>");
  EXPECT_EQ(folded(R"(
    %a = graph.constant dense<70000.0> : tensor<1xf32>
    %b = graph.cast %a : tensor<1xf32> to tensor<1xf16>)"),
            "dense<0x7C00> : tensor<1xf16>");
}

TEST(Fold, LargeTensorsStay) {
  EXPECT_EQ(folded(R"(
    %a = graph.constant dense<0> : tensor<1xi64>
    %b = graph.broadcast %a : tensor<1xi64> to tensor<16385xi64>)"),
            "not folded");
}

TEST(Fold, WrongIndicesStay) {
  const char *ops = R"(
    %a = graph.constant dense<[2, 3]> : tensor<2xi64>
    %b = graph.constant dense<2> : tensor<i64>
    %c = graph.gather %a, %b along 0 : tensor<2xi64>, tensor<i64>)";
  EXPECT_EQ(folded(ops), "not folded");
  EXPECT_EQ(evaluated(ops), "error: has index 2 outside [-2, 2) of dim 0");
}
